/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lucid: jobs are profiled first, run in the order of their estimated GPU time, are never stopped,
 * and share a GPU where that costs little. Source: Hu et al., "Lucid: A Non-intrusive, Scalable and
 * Interpretable Scheduler for Deep Learning Training Jobs", ASPLOS 2023.
 *
 * Profiler: a new job runs on GPUs that are kept for that (pool=), the one that asks for the fewest
 * first, for `profile` at most; short ones end there. What it did there is lost, since a job that
 * is not changed has no checkpoint (keeps=on: it is kept). Jobs wider than the pool are not
 * profiled. Order: the estimated time, of the user's jobs that are done (of all jobs, while there
 * is none), times the GPUs. The first in line holds up the jobs behind it. Binder (binder.c): a
 * measured job of one GPU that finds none idle joins another of one GPU, two on a GPU at most,
 * while many jobs arrive.
 *
 * The paper's models are learned from a site's logs and from measured pairs: estimates by gradient
 * boosting over the columns of the log, classes by a decision tree over the profiler's counters,
 * arrivals by a forecast. Here they are means, the table of pairs of --rates or else the
 * utilisation of the GPU, and the arrivals of the last hour. */
#include "policies/lib/common.h"
#include "policies/lib/settings.h"
#include "policies/lucid/lucid.h"

static struct lucid *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

/* --- order ------------------------------------------------------------------------------------ */

static struct lucid_past *past_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t user = gsim_trace_get(ctx->view->trace, GSIM_COL_USER, ctx->view->jobs.index[slot]);
    return user >= 0 ? &own(ctx)->user[user] : &own(ctx)->all;
}

static int64_t key_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct lucid_past *past = past_of(ctx, slot);
    past = past->n > 0 ? past : &own(ctx)->all;
    int64_t usual_ms = past->n > 0 ? past->sum_ms / past->n : 1;
    return gsim_common_times(usual_ms > 0 ? usual_ms : 1, ctx->view->jobs.gpus[slot]);
}

static void note(const struct gsim_ctx *ctx, gsim_slot slot, int64_t took_ms, int64_t n) {
    struct lucid_past *past = past_of(ctx, slot), *all = &own(ctx)->all;
    all->sum_ms += took_ms;
    all->n += n;
    past->sum_ms += past != all ? took_ms : 0;
    past->n += past != all ? n : 0;
}

static void note_end(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t took_ms = gsim_attained_ns(ctx->view, slot) / GSIM_NS_PER_MS;
    own(ctx)->end[ctx->view->jobs.index[slot]].took_ms = took_ms;
    own(ctx)->end[ctx->view->jobs.index[slot]].is_noted = true;
    note(ctx, slot, took_ms, 1);
}

/* Returns whether the job comes again, from a node that failed; it is none of those done then. */
static bool comes_again(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct lucid_end *end = &own(ctx)->end[ctx->view->jobs.index[slot]];
    bool was_noted = end->is_noted;
    if (was_noted)
        note(ctx, slot, -end->took_ms, -1);
    end->is_noted = false;
    return was_noted;
}

/* Jobs stand in line by their keys, equal ones as they came. */
static void stand_in_line(struct gsim_ctx *ctx, gsim_slot slot) {
    struct lucid_job *job = lucid_job(ctx, slot);
    job->stage = LUCID_IN_LINE;
    job->key = key_of(ctx, slot);
    if (!gsim_index_insert_sized(&own(ctx)->line, slot, job->key, gsim_nth(ctx->view, slot),
                                 lucid_asks_to_share(ctx, slot)))
        gsim_common_no_memory(ctx);
    lucid_count_waiting(own(ctx), job, 1);
}

static void leave_line(const struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_index_remove(&own(ctx)->line, slot);
    lucid_count_waiting(own(ctx), lucid_job(ctx, slot), -1);
    lucid_job(ctx, slot)->stage = LUCID_RUNS;
}

/* --- what happens to jobs --------------------------------------------------------------------- */

/* The GPU that a job shared has one job fewer. */
static void leave(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct lucid *lucid = own(ctx);
    uint32_t gpu = lucid_job(ctx, slot)->sharing.gpu;
    if (gpu == 0 || lucid->n_sharers[gpu - 1] == 0)
        return;
    gsim_slot *host = &lucid->host[gpu - 1];
    bool has_other = --lucid->n_sharers[gpu - 1] > 0;
    *host = !has_other ? GSIM_NO_SLOT : *host == slot ? lucid->guest[gpu - 1] : *host;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct lucid *lucid = own(ctx);
    lucid_job(ctx, slot)->use_ppm = -1;
    if (!comes_again(ctx, slot) && !lucid_binder_arrival(ctx, lucid))
        gsim_common_no_memory(ctx);
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    if (!lucid_has_room(ctx, slot, lucid->n_main, ctx->view->cluster.n_gpus))
        stand_in_line(ctx, slot);
    else if (!gsim_index_insert(&lucid->fresh, slot, gpus, gsim_nth(ctx->view, slot)))
        gsim_common_no_memory(ctx);
}

static void note_due(struct lucid *lucid, gsim_slot slot) {
    lucid->due = slot;
    lucid->n_due++;
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    if (kind != GSIM_WATCH_RAN)
        return;
    lucid_job(ctx, slot)->is_due = true;
    note_due(own(ctx), slot);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    note_end(ctx, slot);
    leave(ctx, slot);
}

/* Jobs that have left the profiler. (A job with a node that failed ends, and comes anew.) */
static bool has_stopped(const struct gsim_ctx *ctx, gsim_slot slot) {
    enum lucid_stage stage = lucid_job(ctx, slot)->stage;
    return gsim_common_waits(ctx->view, slot) && stage != LUCID_NEW && stage != LUCID_IN_LINE;
}

/* They stand in line, and GPUs that no job shares any more are whole again. */
static void settle(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        if (has_stopped(ctx, view->changes.settled[i]))
            leave(ctx, view->changes.settled[i]);
    gsim_sharing_give_back(&own(ctx)->sharing, ctx, plan);
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        if (has_stopped(ctx, view->changes.settled[i]))
            stand_in_line(ctx, view->changes.settled[i]);
}

/* --- a decide --------------------------------------------------------------------------------- */

/* Whether the job need not be looked at again. */
static bool end_profile(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct lucid *lucid = own(ctx);
    struct lucid_job *job = lucid_job(ctx, slot);
    if (job->stage != LUCID_PROFILED || !job->is_due)
        return true;
    if (ctx->view->jobs.state[slot] != GSIM_RUNNING)
        return false;
    lucid_measure(ctx, slot);
    if (!gsim_plan_preempt(plan, slot, lucid->keeps ? GSIM_STOP_ITERATION : GSIM_STOP_SAVE,
                           lucid->keeps ? GSIM_KEEP_STORAGE : GSIM_KEEP_DISCARD))
        return false;
    job->stage = LUCID_LEAVING;
    return true;
}

/* Of several jobs the order of all jobs decides which ends first. */
static void end_profiles(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct lucid *lucid = own(ctx);
    uint32_t n = lucid->n_due == 1 ? 1 : lucid->n_due > 0 ? ctx->view->jobs.n_active : 0;
    const gsim_slot only = lucid->due, *slots = lucid->n_due == 1 ? &only : ctx->view->jobs.active;
    lucid->n_due = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!end_profile(ctx, plan, slots[i]))
            note_due(lucid, slots[i]);
}

static void profile(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct lucid *lucid = own(ctx);
    uint32_t slot = gsim_index_first(&lucid->fresh), next;
    for (; slot != GSIM_NO_ID; slot = next) {
        next = gsim_index_next(&lucid->fresh, slot);
        if (!lucid_place(ctx, plan, slot, lucid->n_main, ctx->view->cluster.n_gpus, false))
            return;
        gsim_index_remove(&lucid->fresh, slot);
        lucid_job(ctx, slot)->stage = LUCID_PROFILED;
        gsim_plan_watch(plan, slot, GSIM_WATCH_RAN,
                        gsim_ran_ns(ctx->view, slot) + lucid->profile_ns);
    }
}

/* Has jobs from this one on share GPUs, of those that may find a host with room. */
static void pack_from(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct lucid *lucid = own(ctx);
    uint32_t next;
    lucid_find_hosts(ctx);
    for (; lucid->shares; slot = next) {
        slot = gsim_index_fitting(&lucid->line, slot, lucid_widest_room(lucid));
        if (slot == GSIM_NO_ID)
            return;
        next = gsim_index_next(&lucid->line, slot);
        if (gsim_common_waits(ctx->view, slot) && lucid_pack(ctx, plan, slot))
            leave_line(ctx, slot);
    }
}

/* Places jobs in order until one finds no GPUs; that one and those behind it may still share.
 * Returns whether it needs the profiler's GPUs too. */
static bool serve(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct lucid *lucid = own(ctx);
    uint32_t slot = gsim_index_first(&lucid->line), next;
    for (; slot != GSIM_NO_ID; slot = next) {
        bool is_wide = !lucid_has_room(ctx, slot, 0, lucid->n_main);
        uint32_t end = is_wide ? ctx->view->cluster.n_gpus : lucid->n_main;
        next = gsim_index_next(&lucid->line, slot);
        if (!gsim_common_waits(ctx->view, slot))
            continue;
        if (!lucid_place(ctx, plan, slot, 0, end, true)) {
            pack_from(ctx, plan, slot);
            return is_wide;
        }
        leave_line(ctx, slot);
    }
    return false;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct lucid *lucid = own(ctx);
    settle(ctx, plan);
    lucid_binder_look(lucid, ctx->view->now_ns);
    end_profiles(ctx, plan);
    if (!serve(ctx, plan))
        profile(ctx, plan);
}

/* --- the table -------------------------------------------------------------------------------- */

/* The last GPUs of the cluster are the profiler's: by default those of the last of several nodes,
 * or the last one of several GPUs. */
static enum gsim_status find_pool(struct gsim_ctx *ctx, struct lucid *lucid) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t last = cluster->n_gpus - cluster->node_first_gpu[cluster->n_nodes - 1];
    int64_t pool = gsim_param(ctx->params, "pool");
    uint32_t own_pool = cluster->n_nodes > 1 ? last : cluster->n_gpus > 1;
    if (pool >= cluster->n_gpus)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "lucid.pool=%lld leaves no GPU of %u to jobs that were profiled",
                         (long long)pool, cluster->n_gpus);
    lucid->n_main = cluster->n_gpus - (pool < 0 ? own_pool : (uint32_t)pool);
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t first = cluster->node_first_gpu[node], end = cluster->node_first_gpu[node + 1];
        end = end < lucid->n_main ? end : lucid->n_main;
        if (end > first && end - first > lucid->widest_main)
            lucid->widest_main = end - first;
    }
    return GSIM_OK;
}

static bool open_tables(struct gsim_ctx *ctx, struct lucid *lucid) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n_gpus = ctx->view->cluster.n_gpus, n_users = trace->names[GSIM_COL_USER].n;
    lucid->host = gsim_arena_array(ctx->arena, n_gpus, sizeof *lucid->host);
    lucid->guest = gsim_arena_array(ctx->arena, n_gpus, sizeof *lucid->guest);
    lucid->n_sharers = gsim_arena_array(ctx->arena, n_gpus, sizeof *lucid->n_sharers);
    lucid->unit = gsim_arena_array(ctx->arena, n_gpus, sizeof *lucid->unit);
    lucid->is_taken =
        gsim_arena_array(ctx->arena, ctx->view->cluster.n_nodes, sizeof *lucid->is_taken);
    lucid->user = gsim_arena_array(ctx->arena, n_users, sizeof *lucid->user);
    lucid->end = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *lucid->end);
    for (uint32_t gpu = 0; lucid->host && gpu < n_gpus; gpu++)
        lucid->host[gpu] = GSIM_NO_SLOT;
    if (lucid->pairs)
        lucid->n_of_kind =
            gsim_arena_array(ctx->arena, lucid->pairs->n_kinds, sizeof *lucid->n_of_kind);
    return (!lucid->pairs || lucid->n_of_kind) && lucid->host && lucid->guest && lucid->n_sharers &&
           lucid->unit && lucid->is_taken && lucid->user && lucid->end;
}

/* Where the table of speeds has rows of pairs for the cluster's first device, jobs share by it. */
static void find_pairs(struct gsim_ctx *ctx, struct lucid *lucid) {
    const struct gsim_rates *rates = ctx->view->trace->rates;
    const char *device = gsim_ask_device(ctx, ctx->view->cluster.type[0]);
    if (!rates || rates->n_pairs == 0 || !device)
        return;
    lucid->device = gsim_rates_device(rates, device);
    if (lucid->device == GSIM_NO_KIND)
        return;
    lucid->pairs = rates;
    lucid->sharing.lane = (struct gsim_lane){.discipline = GSIM_DISCIPLINE_PAIR};
}

static enum gsim_status open_lucid(struct gsim_ctx *ctx) {
    struct lucid *lucid = own(ctx);
    gsim_index_init(&lucid->line, ctx->arena);
    gsim_index_init(&lucid->fresh, ctx->arena);
    lucid->sharing.lane = (struct gsim_lane){.discipline = GSIM_DISCIPLINE_RR};
    lucid->sharing.how.max_clients = 2;
    lucid->profile_ns = gsim_param(ctx->params, "profile");
    lucid->keeps = gsim_param(ctx->params, "keeps") != 0;
    lucid->binder = (enum lucid_binding)gsim_param(ctx->params, "binder");
    lucid->look_ns = gsim_param(ctx->params, "look");
    lucid->window_ns = gsim_param(ctx->params, "window");
    lucid->most_score = (uint32_t)gsim_param(ctx->params, "score");
    lucid->tiny_ppm = gsim_param(ctx->params, "tiny");
    lucid->medium_ppm = gsim_param(ctx->params, "medium");
    find_pairs(ctx, lucid);
    if (!lucid->pairs && !gsim_common_sees_use(ctx) && lucid->binder != LUCID_BIND_OFF)
        ctx->deviation = "no column of the trace says how jobs use a GPU, so that none are packed";
    enum gsim_status status = find_pool(ctx, lucid);
    if (status != GSIM_OK)
        return status;
    return open_tables(ctx, lucid) ? GSIM_OK : gsim_no_memory(ctx->log, "opening lucid");
}

static const struct gsim_param_def params[] = {
    {.name = "pool",
     .type = GSIM_PARAM_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000,
     .help = "GPUs that the profiler has, the last ones of the cluster; -1: the last node of "
             "several, or the last GPU of several; 0: no job is profiled, and none shares"},
    {.name = "profile",
     .type = GSIM_PARAM_TIME,
     .fallback = "200s",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "how long a job is profiled at most"},
    {.name = "keeps",
     .type = GSIM_PARAM_BOOL,
     .fallback = "off",
     .help = "whether a job keeps what it did while it was profiled, by a checkpoint"},
    {.name = "binder",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "auto",
     .choices = "auto|on|off",
     .help = "whether jobs share GPUs: auto: while no fewer arrive than on average so far"},
    {.name = "look",
     .type = GSIM_PARAM_TIME,
     .fallback = "100s",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "binder=auto: the time between two looks at the arrivals"},
    {.name = "window",
     .type = GSIM_PARAM_TIME,
     .fallback = "1h",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "binder=auto: the time of which arrivals are held against the average"},
    {.name = "score",
     .type = GSIM_PARAM_INT,
     .fallback = "2",
     .min = 0,
     .max = 4,
     .help = "what the classes of two jobs on a GPU may come to: 0 slows no other, 1 slightly, 2 "
             "clearly"},
    {.name = "tiny",
     .type = GSIM_PARAM_PPM,
     .fallback = "95%",
     .min = 1,
     .max = GSIM_PPM,
     .help = "the mean speed beside another from which a job is of class 0"},
    {.name = "medium",
     .type = GSIM_PARAM_PPM,
     .fallback = "85%",
     .min = 1,
     .max = GSIM_PPM,
     .help = "the mean speed beside another from which a job is of class 1"},
    {0}};

const struct gsim_policy gsim_policy_lucid = {
    .name = "lucid",
    .summary = "jobs are profiled, then run by estimated GPU time, two on a GPU where it costs "
               "little",
    .paper = "Hu et al., ASPLOS 2023",
    .deviations = "means in place of learned models: the user's past jobs, the rows of pairs in "
                  "--rates or else the utilisation of a GPU, the arrivals of the last hour; gangs "
                  "of several GPUs have them to "
                  "themselves; there is one virtual cluster",
    .names_gpus = true,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct lucid),
    .job_size = sizeof(struct lucid_job),
    .open = open_lucid,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .decide = decide,
};
