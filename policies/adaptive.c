/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive preemption: each time a job has to give way, it takes the way out with the least
 * expected cost.
 * Source: this project.
 *
 * Waiting jobs are served by least attained GPU time; a job that has run for a quantum gives way to
 * a waiting job that has had at most a third of its GPU time (lead=). The ways: leave the job
 * resident (a pause), evict it to the host, let the driver checkpoint it, let it finish its
 * iteration and then evict it, or restart it from storage. Quotes of the model give their cost now.
 * A resident job costs later: its memory closes its GPU to jobs that need more than it leaves, and
 * each of these then waits until the job has been served again, after a quantum for each round of
 * the GPUs that the jobs in line need, and has run for a quantum. Such jobs are those in line that
 * have no memory on a GPU, and of the arrivals until then, by their rate so far, as large a part as
 * of the jobs seen so far (new ones count once they are a sixteenth of those that do). A job that,
 * by its own past, will end sooner than the
 * cheapest way takes is not preempted: of heavy-tailed jobs half of those that have run for t run
 * for another t.
 *
 * choice= fixes one way, for comparison. Its results (experiments/adaptive, on traces that nothing
 * was tuned on): with a way to the host of 6 GB/s and more, always evicting to the host is as good,
 * to a per cent; at 3 GB/s choosing takes 5 to 6 % off the mean JCT where memory differs from job
 * to job. A single trace may cost a sixth more, at 3 GB/s a quarter more. */
#include "policies/lib/common.h"
#include "policies/lib/gittins.h"
#include "policies/lib/service.h"
#include "policies/lib/settings.h"
#include "policies/lib/slices.h"
#include "sim/base/index.h"

enum way { RESIDENT, HOST, CHECKPOINT, FINISH, RESTART, WAYS };
enum { AUTO = 0 };

static const struct gsim_preemption ways[WAYS] = {
    [RESIDENT] = {GSIM_STOP_KERNEL, GSIM_KEEP_RESIDENT},
    [HOST] = {GSIM_STOP_KERNEL, GSIM_KEEP_HOST},
    [CHECKPOINT] = {GSIM_STOP_KERNEL, GSIM_KEEP_IMAGE},
    [FINISH] = {GSIM_STOP_ITERATION, GSIM_KEEP_HOST},
    [RESTART] = {GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE},
};

struct state {
    struct gsim_slices slices; /* first */
    struct gsim_history seen; /* memory of all arrivals, in MiB */
    struct gsim_index paused; /* jobs that wait in the memory of a GPU, and are not called back */
    struct gsim_index away; /* jobs without memory on a GPU, by memory */
    int64_t n_arrived, first_ns;
    int64_t choice, lead;
};

struct job {
    bool is_called; /* called back to its GPU, where its memory is in the way */
};

static struct job *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

/* With the context of its process; below 0 where the trace does not give the memory. */
static int64_t mem_mib(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t bytes =
        gsim_trace_get(ctx->view->trace, GSIM_COL_MEM_BYTES, ctx->view->jobs.index[slot]);
    return bytes > 0 ? gsim_job_memory(ctx->view, slot) / GSIM_MIB : bytes;
}

/* --- what a resident job costs ---------------------------------------------------------------- */

/* The least free memory of the victim's GPUs while the victim stays. */
static int64_t room_mib(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                        gsim_slot victim) {
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(plan, victim, &units);
    int64_t least = INT64_MAX;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t gpu = units[u].gpu;
        int64_t room = ctx->view->cluster.hbm_bytes[gpu] - ctx->view->cluster.mem_used[gpu];
        least = room < least ? room : least;
    }
    return least / GSIM_MIB;
}

/* Jobs in line without memory on a GPU that need more than the room; counted up to most. Those that
 * have been placed in this decide are in line no more. */
static int64_t blocked_now(const struct gsim_ctx *ctx, int64_t room, int64_t most) {
    const struct state *state = ctx->state;
    int64_t n = 0;
    for (gsim_slot slot = gsim_index_last(&state->away);
         slot != GSIM_NO_ID && n < most && gsim_index_key(&state->away, slot) > room;
         slot = gsim_index_prev(&state->away, slot))
        n += gsim_wish_lines_has(&state->slices.waiting, slot);
    return n;
}

/* The time until the victim is served again, if every waiting job has its turn first. */
static int64_t away_ns(const struct gsim_ctx *ctx) {
    const struct state *state = ctx->state;
    return gsim_common_times(state->slices.slice_ns,
                             (state->slices.waiting.n_jobs + ctx->view->cluster.n_gpus) /
                                 ctx->view->cluster.n_gpus);
}

/* Time that others will wait for its memory: each until the victim has been served again and has
 * run for its quantum. Exact up to most_ns; where it is more than that, so is the answer. */
static int64_t blocking_ns(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                           gsim_slot victim, int64_t most_ns) {
    const struct state *state = ctx->state;
    const struct gsim_history *seen = &state->seen;
    int64_t room = room_mib(ctx, plan, victim), span_ns = ctx->view->now_ns - state->first_ns;
    int64_t each_ns = state->slices.slice_ns + away_ns(ctx);
    int64_t blocked_milli = 1000 * blocked_now(ctx, room, most_ns / each_ns + 1);
    if (span_ns > 0 && seen->n > 0) {
        int64_t larger = seen->n - gsim_history_above(seen, room);
        int64_t coming_milli = gsim_muldiv_floor(state->n_arrived * 1000, away_ns(ctx), span_ns);
        blocked_milli += gsim_muldiv_floor(coming_milli, larger, seen->n);
    }
    return gsim_muldiv_floor(each_ns, blocked_milli, 1000);
}

/* --- choosing --------------------------------------------------------------------------------- */

/* Until it stops the victim works on, which is no cost and spreads the cost of the way out over
 * more work. */
static int64_t quoted_ns(const struct gsim_ctx *ctx, gsim_slot victim, enum way way) {
    struct gsim_quote quote = gsim_ask(ctx, victim, ways[way].stop, ways[way].keep, NULL, 0);
    int64_t slice_ns = ((const struct state *)ctx->state)->slices.slice_ns;
    if (!quote.is_possible)
        return GSIM_NEVER;
    return gsim_muldiv_floor(quote.save_ns + quote.resume_ns + quote.lost_ns, slice_ns,
                             slice_ns + quote.stop_ns);
}

/* Exact up to most_ns, and more than that where it is more. */
static int64_t cost_ns(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot victim,
                       enum way way, int64_t most_ns) {
    int64_t quoted = quoted_ns(ctx, victim, way);
    if (way != RESIDENT || quoted == GSIM_NEVER)
        return quoted;
    bool may_stay = mem_mib(ctx, victim) >= 0 && !own(ctx, victim)->is_called;
    return may_stay ? quoted + blocking_ns(ctx, plan, victim, most_ns) : GSIM_NEVER;
}

static enum way choose(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot victim) {
    const struct state *state = ctx->state;
    if (state->choice != AUTO)
        return (enum way)(state->choice - 1);
    enum way best = RESTART;
    int64_t least = quoted_ns(ctx, victim, best);
    for (enum way way = RESIDENT; way < RESTART; way++) {
        int64_t cost = cost_ns(ctx, plan, victim, way, least);
        if (cost < least) {
            least = cost;
            best = way;
        }
    }
    return best;
}

/* Whether any way costs no more than most_ns. Ways that need no estimate are asked first. */
static bool has_way_within(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                           gsim_slot victim, int64_t most_ns) {
    const struct state *state = ctx->state;
    if (state->choice != AUTO)
        return quoted_ns(ctx, victim, (enum way)(state->choice - 1)) <= most_ns;
    for (enum way way = RESTART; way > RESIDENT; way--)
        if (quoted_ns(ctx, victim, way) <= most_ns)
            return true;
    return cost_ns(ctx, plan, victim, RESIDENT, most_ns) <= most_ns;
}

static struct gsim_preemption way(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                                  gsim_slot victim, gsim_slot slot) {
    (void)slot;
    return ways[choose(ctx, plan, victim)];
}

static int64_t gpu_time_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_common_times(gsim_service_ns(ctx, slot), ctx->view->jobs.gpus[slot]);
}

static int64_t worth(const struct gsim_ctx *ctx, gsim_slot slot, int64_t saved_ns) {
    return gsim_common_times(saved_ns, ctx->view->jobs.gpus[slot]);
}

/* A victim's past running time is the estimate of its remaining time. */
static bool yields(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot victim,
                   gsim_slot slot) {
    (void)slot;
    return has_way_within(ctx, plan, victim, gsim_service_ns(ctx, victim));
}

/* Jobs with nearly equal GPU time would take turns for ever and pay each time, so a job that is
 * ahead by less than the lead stays. */
static int64_t least_service_ns(const struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency,
                                uint32_t gpus) {
    int64_t lead = ((const struct state *)ctx->state)->lead;
    (void)urgency;
    if (own(ctx, slot)->is_called)
        return 0;
    int64_t time_ns = gsim_common_times(gpu_time_ns(ctx, slot), lead);
    return time_ns == GSIM_NEVER ? GSIM_NEVER : time_ns / gpus + (time_ns % gpus > 0);
}

/* If the first waiting job has waited for two quanta, the memory of paused jobs keeps it out: these
 * are called back before it, and leave for good when they give way again. */
static void call_back(struct state *state, struct gsim_ctx *ctx) {
    struct gsim_wish_lines *waiting = &state->slices.waiting;
    gsim_slot slot = gsim_wish_lines_first(waiting), after;
    if (slot == GSIM_NO_ID || ctx->view->jobs.state[slot] == GSIM_PAUSED ||
        ctx->view->now_ns - ctx->view->jobs.changed_ns[slot] < 2 * state->slices.slice_ns)
        return;
    for (slot = gsim_index_first(&state->paused); slot != GSIM_NO_ID; slot = after) {
        after = gsim_index_next(&state->paused, slot);
        gsim_index_remove(&state->paused, slot);
        if (ctx->view->jobs.state[slot] != GSIM_PAUSED)
            continue; /* it has been placed since */
        own(ctx, slot)->is_called = true;
        gsim_wish_lines_remove(waiting, slot);
        gsim_slices_wait(&state->slices, ctx, slot, -1); /* before all others */
    }
}

/* --- hooks ------------------------------------------------------------------------------------ */

static enum gsim_status open_adaptive(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->choice = gsim_param(ctx->params, "choice");
    state->lead = gsim_param(ctx->params, "lead");
    state->slices = (struct gsim_slices){.slice_ns = gsim_param(ctx->params, "quantum"),
                                         .rank = gpu_time_ns,
                                         .yields = yields,
                                         .least_service_ns = least_service_ns,
                                         .worth = worth,
                                         .way = way};
    gsim_slices_init(&state->slices, ctx);
    gsim_index_init(&state->away, ctx->arena);
    gsim_index_init(&state->paused, ctx->arena);
    return gsim_settings_open_memory(ctx);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    if (state->n_arrived++ == 0)
        state->first_ns = ctx->view->now_ns;
    gsim_common_insert(ctx, &state->away, slot, mem_mib(ctx, slot));
    if (mem_mib(ctx, slot) >= 0 && !gsim_history_add(&state->seen, mem_mib(ctx, slot), ctx->arena))
        gsim_common_no_memory(ctx);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_slices_completed(&state->slices, slot);
    gsim_index_remove(&state->away, slot);
    gsim_index_remove(&state->paused, slot);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_settled; i++) {
        gsim_slot slot = view->changes.settled[i];
        gsim_index_remove(&state->away, slot);
        gsim_index_remove(&state->paused, slot);
        own(ctx, slot)->is_called &= view->jobs.state[slot] == GSIM_RUNNING;
        if (view->jobs.state[slot] == GSIM_PAUSED)
            gsim_common_insert(ctx, &state->paused, slot, 0);
        if (view->jobs.state[slot] == GSIM_HELD || view->jobs.state[slot] == GSIM_QUEUED)
            gsim_common_insert(ctx, &state->away, slot, mem_mib(ctx, slot));
    }
    gsim_slices_book(&state->slices, ctx);
    if (state->choice == AUTO)
        call_back(state, ctx);
    gsim_slices_decide(&state->slices, ctx, plan);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_MEMORY_PARAM,
    GSIM_PATIENCE_PARAM_AS("0"),
    {.name = "quantum",
     .type = GSIM_PARAM_TIME,
     .fallback = "10s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "how long a job runs before it may have to give way, from the end of its copy-in"},
    {.name = "lead",
     .type = GSIM_PARAM_INT,
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .help = "a job gives way to a waiting job that has had at most 1/lead of its GPU time; by "
             "trial on seeds 1 to 50 of experiments/adaptive"},
    {.name = "choice",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "auto",
     .choices = "auto|resident|host|checkpoint|finish|restart",
     .help = "the way out: auto takes the least expected cost; else always this way"},
    {0}};

const struct gsim_policy gsim_policy_adaptive = {
    .name = "adaptive",
    .summary = "preempts in the way with the least expected cost, by quotes and estimates",
    .paper = "none: this project's own",
    .deviations =
        "choosing pays where memory differs and the way to the host is slow: 5 to 6 % at 3 "
        "GB/s; "
        "from 6 GB/s on always evicting to the host is as good to a per cent; one trace may cost a "
        "sixth more, at 3 GB/s a quarter; a gang that does not "
        "fit is passed over for ever (patience=0); under memory= a "
        "job left resident is taken to block its GPU, though others may "
        "push it out, so it is hardly ever chosen",
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job),
    .open = open_adaptive,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
