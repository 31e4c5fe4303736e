/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The devices of a cluster: exclusive execution, ideal processor sharing, and the transitions of
 * jobs (load, stop at a boundary, save, restore). Each active job has at most one event ahead, in
 * one indexed queue; a job that runs undisturbed costs one event however long it runs.
 *
 * Copies of jobs share the cluster's links (models/links/transfers.c), except the way out of a
 * paused job that is moved. Approximations: processor sharing is the limit of small slices at no
 * switching cost, its rates are rounded down to 2^-32 (a job of 100 s ends some 25 ns late per
 * sharer); a job without iteration columns that takes turns as one long kernel reaches a boundary
 * at once. */
#include "gsim/device.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "models/gpu/sm_array.h"
#include "models/jobs/boundaries.h"
#include "models/jobs/claims.h"
#include "models/jobs/counters.h"
#include "models/jobs/disciplines.h"
#include "models/jobs/gang_paging.h"
#include "models/jobs/host_driver.h"
#include "models/jobs/instances.h"
#include "models/jobs/job_copies.h"
#include "models/jobs/link_shares.h"
#include "models/jobs/meetings.h"
#include "models/jobs/next_report.h"
#include "models/jobs/pairs.h"
#include "models/jobs/process.h"
#include "models/jobs/processor_sharing.h"
#include "models/jobs/requests.h"
#include "models/jobs/shared_gpus.h"
#include "models/jobs/shared_state.h"
#include "models/jobs/speed.h"
#include "models/jobs/stopping.h"
#include "sim/base/hints.h"

/* --- opening ---------------------------------------------------------------------------------- */

static bool takes_to_end(const struct gsim_model *model) {
    const struct gsim_model_setup *setup = &model->setup;
    bool takes = false;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        takes |= setup->profiles[type]->value[GSIM_KEY_END_NS] > 0;
    return takes || model->processes != NULL;
}

static bool takes_to_start(const struct gsim_model_setup *setup) {
    bool takes = setup->trace->column[GSIM_COL_LOAD_BYTES] ||
                 setup->trace->column[GSIM_COL_STARTUP_NS] || setup->trace->goodput;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        takes |= setup->profiles[type]->value[GSIM_KEY_START_NS] > 0;
    return takes;
}

static enum gsim_status open_device(const struct gsim_model_setup *setup, struct gsim_model **out,
                                    struct gsim_log *log) {
    enum gsim_status status = gsim_requests_check(setup->trace, log);
    if (status != GSIM_OK)
        return status;
    struct gsim_model *model = gsim_arena_alloc(setup->arena, sizeof *model);
    if (!model)
        return gsim_no_memory(log, "opening the device model");
    model->setup = *setup;
    model->gpus = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *model->gpus);
    model->is_asked = gsim_arena_array(setup->arena, GSIM_STOP_COUNT, sizeof *model->is_asked);
    if (!model->gpus || !model->is_asked || !gsim_transfers_init(&model->transfers, setup) ||
        !gsim_meetings_init(model) || !gsim_host_driver_init(model))
        return gsim_no_memory(log, "opening the device model");
    gsim_link_shares_init(model);
    model->may_take_turns = setup->trace->column[GSIM_COL_REQUESTS] != NULL;
    gsim_eventq_init(&model->queue, setup->arena);
    model->takes_to_start = takes_to_start(setup) || model->processes != NULL;
    model->takes_to_end = takes_to_end(model);
    *out = model;
    return gsim_speed_init(model, log);
}

static bool reserve(struct gsim_model *model, uint32_t capacity) {
    struct gsim_arena *arena = model->setup.arena;
    struct gsim_machine_job *jobs = gsim_arena_grow(
        arena, model->jobs, model->capacity * sizeof *jobs, capacity * sizeof *jobs);
    if (!jobs)
        return false;
    model->jobs = jobs;
    struct gsim_progress *progress = gsim_arena_grow(
        arena, model->progress, model->capacity * sizeof *progress, capacity * sizeof *progress);
    if (!progress)
        return false;
    model->progress = progress;
    model->capacity = capacity;
    return gsim_transfers_reserve(&model->transfers, capacity) &&
           gsim_eventq_reserve(&model->queue, capacity);
}

static void enter(struct gsim_model *model, gsim_slot slot) {
    struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    memset(job, 0, offsetof(struct gsim_machine_job, stop_at));
    job->need = gsim_work_of_ns(model->setup.ends_are_told ? GSIM_TIME_MAX : about->service_ns);
    job->threshold_ns = -1;
    job->sharing_gpu = UINT32_MAX;
    job->kind = gsim_rarely(model->rates_device != NULL)
                    ? gsim_rates_of_job(model->setup.trace, about->index)
                    : GSIM_NO_KIND;
    if (gsim_rarely(model->setup.trace->goodput != NULL))
        job->phases = gsim_goodput_phases(model->setup.trace, about->index);
    else if (gsim_rarely(model->setup.trace->column[GSIM_COL_PHASES] != NULL))
        job->phases = gsim_phases_of_job(model->setup.trace, about->index);
    gsim_machine_take_kind(job);
    model->progress[slot] = (struct gsim_progress){0};
    gsim_shared_forget(model, slot);
    if (gsim_rarely(model->setup.trace->column[GSIM_COL_ITERATIONS] ||
                    model->setup.trace->column[GSIM_COL_KERNEL_NS]))
        gsim_boundaries_fill(model, slot);
}

static void leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    if (model->jobs[slot].is_turning)
        gsim_shared_leave(model, slot, false, now_ns);
    gsim_gang_paging_drop(model, slot, now_ns);
    gsim_meetings_leave(model, slot, now_ns);
    gsim_transfers_forget(&model->transfers, slot);
    gsim_host_driver_forget(model, slot, now_ns);
    gsim_eventq_cancel(&model->queue, slot);
}

/* --- starting --------------------------------------------------------------------------------- */

static inline void run_now(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    model->jobs[slot].phase = RUNNING;
    model->jobs[slot].lost_units = 0;
    model->jobs[slot].came_at = model->progress[slot].done;
    if (gsim_rarely(gsim_machine_takes_turns(model, slot))) {
        gsim_shared_join(model, slot, now_ns);
        return;
    }
    if (gsim_rarely(model->has_shared && about->n_units > 0 &&
                    model->gpus[about->units[0].gpu].is_shared &&
                    (about->n_units == 1 || model->gpus[about->units[0].gpu].is_interleaved))) {
        gsim_processor_sharing_join(model, slot, about->units[0].gpu, now_ns);
        return;
    }
    if (gsim_rarely(model->pairs && gsim_pairs_take(model, slot))) {
        gsim_pairs_join(model, slot, now_ns);
        return;
    }
    model->progress[slot].since_ns = now_ns;
    gsim_speed_take(model, slot);
    gsim_machine_expect_progress(model, slot);
}

static enum gsim_when admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns) {
    /* a checkpoint that the job brings from storage stays there */
    if (gsim_rarely(keep == GSIM_KEEP_STORAGE || from == GSIM_QUEUED))
        model->jobs[slot].stored = from == GSIM_QUEUED ? 0 : model->progress[slot].done;
    bool brings_nothing = from == GSIM_QUEUED && !model->takes_to_start;
    gsim_meetings_join(model, slot, now_ns);
    if (gsim_rarely(!brings_nothing || model->has_recut) &&
        gsim_job_copies_bring(model, slot, from, now_ns))
        return GSIM_LATER;
    run_now(model, slot, now_ns);
    return GSIM_AT_ONCE;
}

static void inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed) {
    const struct gsim_machine_job *from = &model->jobs[failed];
    struct gsim_machine_job *job = &model->jobs[slot];
    model->progress[slot] = model->progress[failed];
    job->stop = from->stop;
    job->keep = from->keep;
    job->lost_units = from->lost_units;
    job->bytes_in = from->bytes_in;
    job->bytes_out = from->bytes_out;
    gsim_machine_find_phase(model, slot);
    gsim_shared_inherit(model, slot, failed);
}

static void watch(struct gsim_model *model, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    assert(kind != GSIM_WATCH_RAN); /* the core counts the time that a job has run */
    if (kind == GSIM_WATCH_EPOCHS) {
        job->tells_epochs = threshold >= 0;
        return;
    }
    job->threshold_ns = threshold;
    if (job->phase != RUNNING)
        return;
    if (job->is_turning) {
        gsim_shared_watch(model, slot, now_ns);
        return;
    }
    if (!gsim_pairs_stand_still(model, slot))
        gsim_machine_run_at(model, slot, model->progress[slot].rate_q32, now_ns);
}

/* --- time ------------------------------------------------------------------------------------- */

/* The next event of jobs and their copies. */
static inline int64_t next_of_jobs(struct gsim_model *model) {
    int64_t next_ns = gsim_eventq_next(&model->queue);
    int64_t carried_next_ns = gsim_transfers_next_time(&model->transfers);
    return carried_next_ns < next_ns ? carried_next_ns : next_ns;
}

/* The next event where jobs take turns, or GPUs page. */
GSIM_APART static int64_t next_of_turns(struct gsim_model *model, int64_t horizon_ns) {
    int64_t window_ns = GSIM_NEVER;
    if (model->link_shares.is_open)
        window_ns = gsim_link_shares_next_ns(model); /* it sets the rates of copies */
    int64_t next_ns = next_of_jobs(model);
    next_ns = window_ns < next_ns ? window_ns : next_ns;
    return gsim_next_report_ns(model, next_ns < horizon_ns ? next_ns : horizon_ns);
}

static int64_t next_time(struct gsim_model *model, int64_t horizon_ns) {
    return gsim_mostly(model->shared.n_active == 0) ? next_of_jobs(model)
                                                    : next_of_turns(model, horizon_ns);
}

GSIM_COLD static bool grow_events(struct gsim_model *model, struct gsim_events *events) {
    uint32_t capacity = events->capacity ? events->capacity * 2 : 64;
    struct gsim_event *list = gsim_arena_grow(
        model->setup.arena, events->list, events->capacity * sizeof *list, capacity * sizeof *list);
    if (!list)
        return false;
    events->list = list;
    events->capacity = capacity;
    return true;
}

static inline bool report(struct gsim_model *model, struct gsim_events *events, gsim_slot slot,
                          enum gsim_event_kind kind, enum gsim_watch_kind watched) {
    if (gsim_rarely(events->n == events->capacity) && !grow_events(model, events))
        return false;
    events->list[events->n++] = (struct gsim_event){.kind = kind, .slot = slot, .watch = watched};
    return true;
}

/* The work of a job is done, and its process ends: other contexts have its GPUs to themselves,
 * but no job has its place yet. */
GSIM_APART static void begin_ending(struct gsim_model *model, gsim_slot slot, int64_t end_ns,
                                    int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    gsim_stopping_stand_still(model, slot, false, now_ns);
    model->progress[slot].done = job->need;
    job->phase = ENDING;
    job->clear_ns = now_ns;
    model->has_key[GSIM_KEY_END_NS] = true;
    gsim_host_driver_expect(model, slot, ENDS, end_ns, now_ns + end_ns, now_ns);
}

/* Whether the process of a job that has done its work ends later. */
static bool ends_later(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    int64_t end_ns = gsim_machine_profile_of(model, slot)->value[GSIM_KEY_END_NS];
    if (job->phase == ENDING) {
        job->ending_ns = now_ns - job->clear_ns;
        return false;
    }
    gsim_host_driver_has_none(model, slot);
    if (end_ns > 0)
        begin_ending(model, slot, end_ns, now_ns);
    return end_ns > 0;
}

static inline bool serve_end(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                             struct gsim_events *events) {
    struct gsim_machine_job *job = &model->jobs[slot];
    if (gsim_rarely(model->takes_to_end) && ends_later(model, slot, now_ns))
        return true;
    if (gsim_rarely(gsim_stopping_is_switched(model, slot))) {
        gsim_stopping_stand_still(model, slot, false, now_ns);
        gsim_eventq_cancel(&model->queue, slot);
    }
    if (gsim_rarely(model->pairs != NULL))
        gsim_pairs_leave(model, slot, now_ns);
    assert(!gsim_eventq_has(&model->queue, slot)); /* its event was just served */
    gsim_gang_paging_drop(model, slot, now_ns);
    gsim_meetings_leave(model, slot, now_ns);
    struct gsim_progress *progress = &model->progress[slot];
    progress->done = job->need; /* the last work of its host is service too */
    progress->since_ns = now_ns;
    progress->rate_q32 = 0;
    job->ahead = NOTHING;
    job->phase = IDLE;
    if (!report(model, events, slot, GSIM_EVENT_COMPLETED, 0))
        return false;
    events->list[events->n - 1].has_costs =
        (job->bytes_in | job->bytes_out | job->ending_ns) != 0 || gsim_shared_knows_of(model, slot);
    return true;
}

static bool serve_stop(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                       struct gsim_events *events) {
    struct gsim_machine_job *job = &model->jobs[slot];
    if (job->phase == STOPPING)
        gsim_stopping_save(model, slot, now_ns);
    if (job->is_carried)
        gsim_machine_expect_nothing(model, slot);
    else
        gsim_host_driver_expect(model, slot, CLEARS, job->process_ns, job->clear_ns, now_ns);
    return report(model, events, slot, GSIM_EVENT_STOPPED, 0);
}

static bool serve_clear(struct gsim_model *model, gsim_slot slot, struct gsim_events *events) {
    model->jobs[slot].phase = IDLE;
    gsim_machine_expect_nothing(model, slot);
    return report(model, events, slot, GSIM_EVENT_CLEARED, 0);
}

static bool serve_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                        struct gsim_events *events) {
    struct gsim_machine_job *job = &model->jobs[slot];
    if (!job->is_turning)
        gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    job->threshold_ns = -1;
    gsim_machine_expect_nothing(model, slot);
    if (job->is_turning)
        gsim_shared_watch(model, slot, now_ns);
    else
        gsim_machine_expect_progress(model, slot);
    return report(model, events, slot, GSIM_EVENT_WATCH, GSIM_WATCH_ATTAINED);
}

/* The next phase begins where the last one ended, at a speed of its own. */
static void begin_phase(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    model->progress[slot].done = gsim_machine_phase_end(job);
    job->done_low = 0;
    job->at_phase++;
    gsim_machine_take_kind(job);
    if (gsim_rarely(model->pairs && job->phase == RUNNING && gsim_pairs_take(model, slot))) {
        gsim_pairs_change(model, slot, now_ns);
    } else {
        gsim_speed_take(model, slot);
        gsim_machine_expect_progress(model, slot);
    }
}

static void set_batch(struct gsim_model *model, gsim_slot slot, struct gsim_batch batch,
                      int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    bool is_other = job->batch.local != batch.local || job->batch.summed != batch.summed;
    if (job->phase == RUNNING && is_other)
        gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    job->batch = batch;
    if (job->phase == RUNNING && is_other) {
        gsim_speed_take(model, slot);
        gsim_machine_expect_progress(model, slot);
    }
}

/* Serves all events except ends. */
GSIM_APART static bool serve_other(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                                   struct gsim_events *events) {
    switch ((enum ahead)model->jobs[slot].ahead) {
    case STOPS:
        return serve_stop(model, slot, now_ns, events);
    case CLEARS:
        return serve_clear(model, slot, events);
    case RUNS:
        run_now(model, slot, now_ns);
        return report(model, events, slot, GSIM_EVENT_RUNNING, 0);
    case IS_WATCHED:
        return serve_watch(model, slot, now_ns, events);
    case PASSES:
        gsim_host_driver_pass(model, slot, now_ns);
        return true;
    case NEXT_PHASE:
        begin_phase(model, slot, now_ns);
        return !model->jobs[slot].tells_epochs ||
               report(model, events, slot, GSIM_EVENT_WATCH, GSIM_WATCH_EPOCHS);
    case ENDS:
    case NOTHING:
        break;
    }
    assert(false); /* an event without a meaning */
    return true;
}

static inline bool serve(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                         struct gsim_events *events) {
    if (gsim_rarely(model->pairs != NULL) && gsim_pairs_waits(model, slot, now_ns))
        return true;
    return gsim_mostly(model->jobs[slot].ahead == ENDS) /* a jump that is predicted */
               ? serve_end(model, slot, now_ns, events)
               : serve_other(model, slot, now_ns, events);
}

static bool advance(struct gsim_model *model, int64_t now_ns, struct gsim_events *events) {
    if (gsim_rarely(model->shared.n_active > 0))
        gsim_shared_settle(model, now_ns);
    if (gsim_rarely(model->link_shares.is_open))
        gsim_link_shares_serve(model, now_ns);
    if (gsim_rarely(gsim_transfers_next_time(&model->transfers) <= now_ns) &&
        !gsim_job_copies_serve(model, now_ns))
        return false;
    /* Events that an event causes at its own instant (a job with no work left after it starts) are
     * served in this call, in the queue's order. */
    while (gsim_eventq_next(&model->queue) <= now_ns) {
        struct gsim_event_key key;
        gsim_slot slot = gsim_eventq_pop(&model->queue, &key);
        assert(key.time_ns == now_ns);
        if (!serve(model, slot, now_ns, events))
            return false;
    }
    return !model->is_out_of_memory;
}

/* --- questions -------------------------------------------------------------------------------- */

static void tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    if (model->jobs[slot].is_turning && model->progress[slot].since_ns != now_ns)
        gsim_shared_tell(model, slot, now_ns);
}

static const struct gsim_progress *progress_column(const struct gsim_model *model) {
    return model->progress;
}

static int64_t gap_ns(const struct gsim_model *model, gsim_slot slot, int64_t work_ns) {
    struct gsim_process process = gsim_process_of(
        model->setup.trace, gsim_machine_info(model, slot)->index,
        /* the device of reference, by which work is measured */
        model->setup.profiles[0], 0); /* by the row alone: assumed iterations have no gaps */
    return work_ns - gsim_process_gpu_ns(&process, work_ns);
}

static const struct gsim_request_log *requests(const struct gsim_model *model, uint32_t *n) {
    *n = model->shared.n_logs;
    return model->shared.logs;
}

static void stats(const struct gsim_model *model, struct gsim_model_stats *out) {
    gsim_shared_stats(&model->shared, out);
}

static uint32_t sms(const struct gsim_model *model, uint32_t gpu, uint32_t part_ppm) {
    return (uint32_t)gsim_sm_array_group(gsim_machine_profile_at(model, gpu), part_ppm);
}

const struct gsim_model_ops gsim_model_device = {
    .name = "device",
    .open = open_device,
    .reserve = reserve,
    .enter = enter,
    .leave = leave,
    .admit = admit,
    .evict = gsim_stopping_evict,
    .refuses_arrangement = gsim_disciplines_refuse,
    .arrange = gsim_disciplines_arrange,
    .read_layout = gsim_instances_read,
    .sms = sms,
    .partition = gsim_instances_cut,
    .client_limit = gsim_disciplines_client_limit,
    .refuses_stop = gsim_stopping_refuses,
    .is_bound = gsim_job_copies_is_bound,
    .fail = gsim_stopping_fail,
    .inherit = inherit,
    .watch = watch,
    .next_time = next_time,
    .advance = advance,
    .tell = tell,
    .quote = gsim_stopping_quote,
    .pace = gsim_speed_q32,
    .pace_beside = gsim_speed_beside_q32,
    .most_pace = gsim_speed_most_q32,
    .can_run_on = gsim_speed_can_run_on,
    .can_run_across = gsim_speed_can_run_across,
    .rate = gsim_speed_there,
    .learning = gsim_speed_learning,
    .learning_on = gsim_speed_learning_on,
    .may_have_batch = gsim_speed_may_have_batch,
    .set_batch = set_batch,
    .costs = gsim_counters_costs,
    .counters = gsim_counters_of,
    .progress = progress_column,
    .gap_ns = gap_ns,
    .requests = requests,
    .stats = stats,
    .outside_validated = gsim_claims_outside_validated,
    .assumed = gsim_claims_assumed,
    .given = gsim_claims_given,
};
