/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least attained service first, with gangs: the job that has run least goes first; the length of
 * jobs is not known. Source: Nuyens and Wierman, "The foreground-background queue: a survey"
 * (2008); for clusters the continuous form of Tiresias' 2D-LAS without the width.
 *
 * quantum=share: jobs of equal attained service share the GPU as in the theory (processor sharing);
 * this needs a cluster of one GPU, one-GPU jobs and no memory column. quantum=TIME: a running job
 * keeps its GPUs until it is a quantum ahead of a waiting job. auto: share where it is possible,
 * else 3250 s, the first queue limit of Tiresias; the theory's limit of small quanta would preempt
 * all the time. */
#include "policies/lib/common.h"
#include "policies/lib/ranked.h"
#include "policies/lib/service.h"
#include "policies/lib/settings.h"
#include "sim/base/index.h"

#define DEFAULT_QUANTUM_NS (3250 * GSIM_NS_PER_S) /* the first queue limit of Tiresias */

struct state {
    struct gsim_ranked ranked;
    bool is_sharing;
    bool is_arranged;
    int64_t quantum_ns;
    struct gsim_index waiting; /* when sharing: by attained service */
    struct gsim_index sharing;
    uint32_t n_failures; /* of nodes, seen so far */
};

enum { SHARE = -1, AUTO = -2 };

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_service_ns(ctx, slot);
}

/* The service of a job that shares a GPU: its share of the time. */
static int64_t share_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_attained_ns(ctx->view, slot);
}

static bool can_share(const struct gsim_view *view) {
    const struct gsim_trace *trace = view->trace;
    return view->cluster.n_gpus == 1 && !view->pool.is_used && !trace->gpus &&
           !trace->column[GSIM_COL_SHARE_PPM] && !trace->column[GSIM_COL_MEM_BYTES];
}

static enum gsim_status open_las(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    int64_t quantum = gsim_param(ctx->params, "quantum");
    enum gsim_status status = gsim_settings_open_memory(ctx);
    bool may_share = can_share(ctx->view) && !ctx->devices;
    state->is_sharing = quantum == SHARE || (quantum == AUTO && may_share);
    if (state->is_sharing && !may_share)
        return gsim_fail(
            ctx->log, GSIM_USAGE, NULL, 0,
            "las.quantum=share needs one GPU, jobs of one whole GPU, and no column mem_gib or "
            "memory= (jobs that share stay resident); give a time, such as las.quantum=60s");
    state->quantum_ns = quantum > 0 ? quantum : DEFAULT_QUANTUM_NS;
    gsim_index_init(&state->waiting, ctx->arena);
    gsim_index_init(&state->sharing, ctx->arena);
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.is_preemptive = true;
    state->ranked.preemption = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    state->ranked.slope_sign = 1;
    state->ranked.value = value;
    state->ranked.slack_rank = state->quantum_ns - 1; /* a whole quantum ahead is enough */
    return status;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_ranked_completed(&state->ranked, slot);
    gsim_index_remove(&state->sharing, slot);
    gsim_index_remove(&state->waiting, slot);
}

/* --- a quantum -------------------------------------------------------------------------------- */

static void on_timer(struct gsim_ctx *ctx) {
    ((struct state *)ctx->state)->ranked.needs_full_pass = true;
}

/* The time at which the next running job of the group gets so far ahead. */
static int64_t next_past_ns(const struct gsim_ctx *ctx, const struct gsim_index *running,
                            int64_t threshold_ns) {
    /* key = attained - now: a job with a key at or past this threshold is ahead already */
    gsim_slot ahead = gsim_index_seek(running, threshold_ns - ctx->view->now_ns, 0);
    gsim_slot next =
        ahead == GSIM_NO_ID ? gsim_index_last(running) : gsim_index_prev(running, ahead);
    return next == GSIM_NO_ID ? GSIM_NEVER : threshold_ns - gsim_index_key(running, next);
}

/* The time at which the next running job gets a quantum ahead of the waiting job with the least
 * service; jobs that were placed in this round are looked at again within a quantum. */
static int64_t next_overtaking_ns(const struct state *state, const struct gsim_ctx *ctx,
                                  gsim_slot least) {
    int64_t threshold_ns = gsim_wish_lines_rank(&state->ranked.waiting, least) + state->quantum_ns;
    int64_t next_ns = GSIM_NEVER;
    for (uint32_t g = 0; g < state->ranked.n_groups; g++) {
        int64_t past_ns = next_past_ns(ctx, &state->ranked.group[g].running, threshold_ns);
        next_ns = past_ns < next_ns ? past_ns : next_ns;
    }
    return next_ns;
}

/* Whether a look at each job that waits has found room for none on the idle cluster: no later one
 * will. */
static bool is_in_vain(const struct gsim_ctx *ctx, const struct gsim_plan *plan, bool was_full) {
    return was_full && gsim_plan_mark(plan) == 0 &&
           ctx->view->cluster.n_idle_gpus == ctx->view->cluster.n_gpus;
}

static void decide_quantum(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    bool was_full = state->ranked.needs_full_pass;
    gsim_ranked_decide(&state->ranked, ctx, plan);
    gsim_slot least = gsim_wish_lines_first(&state->ranked.waiting);
    if (least == GSIM_NO_ID || is_in_vain(ctx, plan, was_full))
        return;
    /* Other waiting jobs may overtake before the first can: the policy looks at least once a
     * quantum. */
    int64_t latest = ctx->view->now_ns + state->quantum_ns;
    int64_t next = next_overtaking_ns(state, ctx, least);
    gsim_plan_wake(plan, next < latest ? next : latest);
}

/* --- sharing ---------------------------------------------------------------------------------- */

static const struct gsim_unit the_gpu = {0, 0};

static void arrange_once(struct state *state, struct gsim_plan *plan) {
    static const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PS};
    static const struct gsim_arrangement arrangement = {.lanes = &lane, .n_lanes = 1};
    if (!state->is_arranged)
        state->is_arranged = gsim_plan_arrange(plan, &the_gpu, 1, &arrangement);
}

static void book(struct state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    (void)gsim_index_insert(&state->waiting, slot, share_ns(ctx, slot), gsim_nth(ctx->view, slot));
}

/* A job that waits loses service with the node that has its memory, and moves to the front. */
static void book_failures(struct state *state, struct gsim_ctx *ctx) {
    gsim_slot slot = gsim_index_first(&state->waiting), next;
    if (ctx->view->cluster.n_failures == state->n_failures)
        return;
    state->n_failures = ctx->view->cluster.n_failures;
    for (; slot != GSIM_NO_ID; slot = next) {
        next = gsim_index_next(&state->waiting, slot);
        if (gsim_index_key(&state->waiting, slot) == share_ns(ctx, slot))
            continue;
        gsim_index_remove(&state->waiting, slot);
        book(state, ctx, slot);
    }
}

static void book_changes(struct state *state, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    book_failures(state, ctx);
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        if (gsim_common_waits(view, view->changes.settled[i]) &&
            !gsim_index_has(&state->waiting, view->changes.settled[i]))
            book(state, ctx, view->changes.settled[i]);
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        book(state, ctx, view->changes.arrived[i]);
}

/* The service of the jobs that share, which is equal for all of them; GSIM_NEVER: none does. */
static int64_t level_ns(const struct state *state, struct gsim_ctx *ctx) {
    gsim_slot any = gsim_index_first(&state->sharing);
    return any == GSIM_NO_ID ? GSIM_NEVER : share_ns(ctx, any);
}

static void pause(struct state *state, struct gsim_plan *plan, gsim_slot slot) {
    gsim_index_remove(&state->sharing, slot);
    (void)gsim_plan_preempt(plan, slot, GSIM_STOP_SAVE, GSIM_KEEP_RESIDENT);
}

static void pause_all(struct state *state, struct gsim_plan *plan) {
    gsim_slot slot;
    while ((slot = gsim_index_first(&state->sharing)) != GSIM_NO_ID)
        pause(state, plan, slot);
}

/* Rounded rates leave jobs a nanosecond apart, which still counts as equal. Returns whether a job
 * was placed. */
static bool admit_up_to(struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                        int64_t level) {
    bool is_any = false;
    gsim_slot slot;
    while ((slot = gsim_index_first(&state->waiting)) != GSIM_NO_ID &&
           gsim_index_key(&state->waiting, slot) <= level + 1 &&
           gsim_plan_place_on(plan, slot, &the_gpu, 1)) {
        gsim_index_remove(&state->waiting, slot);
        (void)gsim_index_insert(&state->sharing, slot, 0, gsim_nth(ctx->view, slot));
        is_any = true;
    }
    return is_any;
}

static void decide_even(struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot least = gsim_index_first(&state->waiting);
    if (least == GSIM_NO_ID)
        return;
    int64_t level = level_ns(state, ctx), least_ns = gsim_index_key(&state->waiting, least);
    if (level != GSIM_NEVER && least_ns + 1 < level)
        pause_all(state, plan);
    if (level == GSIM_NEVER || least_ns + 1 < level)
        level = least_ns;
    (void)admit_up_to(state, ctx, plan, level);
    gsim_slot next = gsim_index_first(&state->waiting), one = gsim_index_first(&state->sharing);
    if (next != GSIM_NO_ID && one != GSIM_NO_ID)
        gsim_plan_watch(plan, one, GSIM_WATCH_ATTAINED, gsim_index_key(&state->waiting, next));
}

/* --- sharing with jobs that come late --------------------------------------------------------- */

/* Jobs start up for a while, or come back from storage after a failure: until then they share
 * nothing, cannot be stopped, and may have had another service than those that run. */
static bool may_come_late(const struct gsim_view *view) {
    return view->cluster.n_failures > 0 || view->trace->column[GSIM_COL_STARTUP_NS];
}

/* The least service of the jobs that run; GSIM_NEVER: none does. */
static int64_t least_running_ns(const struct state *state, struct gsim_ctx *ctx) {
    gsim_slot slot = gsim_index_first(&state->sharing);
    int64_t least_ns = GSIM_NEVER;
    for (; slot != GSIM_NO_ID; slot = gsim_index_next(&state->sharing, slot))
        if (ctx->view->jobs.state[slot] == GSIM_RUNNING && share_ns(ctx, slot) < least_ns)
            least_ns = share_ns(ctx, slot);
    return least_ns;
}

/* Stops the jobs that run and have had more than those with the least. */
static void level_out(struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      int64_t level) {
    gsim_slot slot = gsim_index_first(&state->sharing), next;
    for (; slot != GSIM_NO_ID; slot = next) {
        next = gsim_index_next(&state->sharing, slot);
        if (ctx->view->jobs.state[slot] == GSIM_RUNNING && share_ns(ctx, slot) > level + 1)
            pause(state, plan, slot);
    }
}

/* Jobs that run tell when they have had as much as the next one, all others when they run. */
static void watch_all(const struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot next = gsim_index_first(&state->waiting), one = gsim_index_first(&state->sharing);
    for (; one != GSIM_NO_ID; one = gsim_index_next(&state->sharing, one)) {
        if (ctx->view->jobs.state[one] != GSIM_RUNNING)
            gsim_plan_watch(plan, one, GSIM_WATCH_ATTAINED, share_ns(ctx, one));
        else if (next != GSIM_NO_ID)
            gsim_plan_watch(plan, one, GSIM_WATCH_ATTAINED, gsim_index_key(&state->waiting, next));
    }
}

/* Jobs with more service run on until one with less does. Those that wait are placed by their
 * service: one that runs at once tells so by its watch, and stops the others in this instant. While
 * it is on its way the next one may run, a timer's least time later. */
static void decide_uneven(struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    int64_t level = least_running_ns(state, ctx);
    gsim_slot least = gsim_index_first(&state->waiting);
    int64_t least_ns = least == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(&state->waiting, least);
    if (level != GSIM_NEVER)
        level_out(state, ctx, plan, level);
    if (least != GSIM_NO_ID && least_ns - 1 <= level && admit_up_to(state, ctx, plan, least_ns))
        gsim_plan_wake(plan, ctx->view->now_ns + 1);
    watch_all(state, ctx, plan);
}

static void decide_sharing(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    arrange_once(state, plan);
    book_changes(state, ctx);
    if (may_come_late(ctx->view))
        decide_uneven(state, ctx, plan);
    else
        decide_even(state, ctx, plan);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    if (((struct state *)ctx->state)->is_sharing)
        decide_sharing(ctx, plan);
    else
        decide_quantum(ctx, plan);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_PREEMPT_PARAM_FREE,
    GSIM_MEMORY_PARAM,
    {.name = "quantum",
     .type = GSIM_PARAM_CHOICE_TIME,
     .fallback = "auto",
     .min = 1,
     .max = INT64_MAX,
     .choices = "share|auto",
     .help = "how far a running job may get ahead of a waiting job; share: not at all; auto: share "
             "where there is one GPU, jobs of one GPU and no mem_gib, else 3250 s, the first queue "
             "limit of Tiresias: jobs that have had less keep their GPUs"},
    {0}};

const struct gsim_policy gsim_policy_las = {
    .name = "las",
    .summary = "least attained service first, preemptive, without knowing durations",
    .paper = "Nuyens and Wierman, The foreground-background queue: a survey, 2008",
    .deviations = "on more than one GPU equal jobs alternate by a quantum instead of sharing; "
                  "behind a gang that finds no room others overtake when a job ends, or a "
                  "quantum after the last change; service is time, whatever the number and the "
                  "share of GPUs",
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_las,
    .on_completion = on_completion,
    .on_timer = on_timer,
    .decide = decide,
};
