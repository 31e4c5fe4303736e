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
#include "models/jobs/shared_job.h"
#include "models/jobs/shared_state.h"
#include "models/jobs/speed.h"
#include "models/jobs/suspension.h"
#include "sim/api/interleave.h"
#include "sim/base/hints.h"

/* --- opening ---------------------------------------------------------------------------------- */

/* In a phase by a table of speeds a job runs by the row of that phase. */
static void take_kind(struct gsim_machine_job *job) {
    if (job->phases && job->phases->phase)
        job->kind = job->phases->phase[job->at_phase].kind;
}

/* Finds the phase that the job's work has reached. */
static void find_phase(struct gsim_model *model, gsim_slot slot) {
    struct gsim_machine_job *job = &model->jobs[slot];
    job->at_phase = 0;
    while (job->phases && job->at_phase + 1 < job->phases->n &&
           gsim_machine_phase_end(job) <= model->progress[slot].done)
        job->at_phase++;
    take_kind(job);
}

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
    take_kind(job);
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

/* --- how units share -------------------------------------------------------------------------- */

/* Jobs run side by side at rates of their own, and nothing takes turns. */
static bool is_by_rate(enum gsim_discipline discipline) {
    return discipline == GSIM_DISCIPLINE_PS || discipline == GSIM_DISCIPLINE_INTERLEAVED;
}

static const char *refuses_arrangement(const struct gsim_model *model,
                                       const struct gsim_unit *units, uint32_t n_units,
                                       const struct gsim_arrangement *arrangement) {
    const char *why = gsim_shared_refuse(model, units, n_units, arrangement);
    if (why)
        return why;
    why = gsim_pairs_refuse(model, arrangement);
    if (why)
        return why;
    enum gsim_discipline discipline = arrangement->lanes[0].discipline;
    bool is_known = discipline == GSIM_DISCIPLINE_EXCLUSIVE || discipline == GSIM_DISCIPLINE_PAIR ||
                    is_by_rate(discipline) || gsim_shared_knows(discipline);
    if (arrangement->memory != GSIM_MEMORY_RESIDENT && is_by_rate(discipline))
        return "memory is not managed under processor sharing, or where jobs interleave";
    if (!is_known)
        return "this model knows the disciplines exclusive, processor sharing, interleaved, pairs, "
               "time slices and priority";
    return NULL;
}

static void arrange(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns) {
    const struct gsim_lane *lane = &arrangement->lanes[0];
    for (uint32_t u = 0; u < n_units; u++) {
        struct gsim_machine_gpu *gpu = &model->gpus[units[u].gpu];
        assert(gpu->n_sharers == 0);
        gpu->is_shared = is_by_rate(lane->discipline);
        gpu->is_interleaved = lane->discipline == GSIM_DISCIPLINE_INTERLEAVED;
        gpu->takes_turns = gsim_shared_knows(lane->discipline);
        model->has_shared |= gpu->is_shared;
        model->has_equal_sharing |= lane->discipline == GSIM_DISCIPLINE_PS;
        if (!gpu->takes_turns)
            gsim_shared_disband(model, units[u].gpu, now_ns);
        bool is_done =
            gsim_pairs_arrange(model, units[u].gpu, lane->discipline == GSIM_DISCIPLINE_PAIR);
        if (gpu->takes_turns)
            is_done &= gsim_shared_arrange(model, units[u].gpu, arrangement, now_ns);
        else if (gsim_shared_pages(arrangement->memory))
            is_done &= gsim_shared_manage(model, units[u].gpu, arrangement);
        model->is_out_of_memory |= !is_done;
        model->may_take_turns |= gpu->takes_turns || gsim_shared_pages(arrangement->memory);
    }
}

/* Ideal processor sharing is no real hardware, and has no limit. No limit is documented for
 * processes that take turns; here it is the number of contexts that a lane can hold. */
static uint32_t client_limit(const struct gsim_model *model, uint32_t gpu,
                             const struct gsim_arrangement *arrangement) {
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    if (arrangement->lanes[0].discipline == GSIM_DISCIPLINE_PS)
        return UINT32_MAX;
    if (arrangement->lanes[0].discipline == GSIM_DISCIPLINE_INTERLEAVED)
        return GSIM_INTERLEAVE_MOST;
    if (arrangement->lanes[0].discipline == GSIM_DISCIPLINE_PAIR)
        return 2;
    int64_t limit =
        arrangement->is_served ? profile->value[GSIM_KEY_MAX_CLIENTS] : GSIM_CONTEXTS_MAX;
    if (arrangement->max_clients > 0 && arrangement->max_clients < limit)
        limit = arrangement->max_clients;
    return limit < GSIM_CONTEXTS_MAX ? (uint32_t)limit : GSIM_CONTEXTS_MAX;
}

static uint32_t sms(const struct gsim_model *model, uint32_t gpu, uint32_t part_ppm) {
    return (uint32_t)gsim_sm_array_group(gsim_machine_profile_at(model, gpu), part_ppm);
}

/* --- starting and stopping -------------------------------------------------------------------- */

static inline void run_now(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    model->jobs[slot].phase = RUNNING;
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

/* Whether the cost depends on the job's memory, and the trace does not give it. */
static bool lacks_size(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    const int64_t *value = gsim_machine_profile_of(model, slot)->value;
    bool is_image = keep == GSIM_KEEP_IMAGE || keep == GSIM_KEEP_IMAGE_SPILT;
    return is_image && gsim_machine_mem_bytes(model, slot) < 0 &&
           value[GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB] != 0;
}

/* Whether a pause leaves the job's memory to a manager: other jobs may push it out. */
static bool keeps_memory(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    return (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_PAGEABLE) && about->n_units > 0 &&
           gsim_shared_pages((enum gsim_memory)model->gpus[about->units[0].gpu].memory);
}

static const char *refuses_stop(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep) {
    if (stop != GSIM_STOP_KERNEL && stop != GSIM_STOP_ITERATION && stop != GSIM_STOP_SAVE)
        return "this model stops at a kernel, at an iteration, or saves at once";
    if (keep == GSIM_KEEP_PAGEABLE && !keeps_memory(model, slot, keep))
        return "memory is left to paging only where memory=uvm, lru or proactive manages it";
    if (lacks_size(model, slot, keep))
        return "the time of a driver's checkpoint depends on the job's memory, and the trace has "
               "no column "
               "'mem_gib'; give it with --assume mem_gib=SIZE, or choose preempt=restart";
    return NULL;
}

/* Takes the job off the SMs. */
static void stand_still(struct gsim_model *model, gsim_slot slot, bool is_paused, int64_t now_ns) {
    if (model->jobs[slot].is_turning) {
        gsim_shared_leave(model, slot, is_paused, now_ns);
        return;
    }
    if (gsim_machine_is_sharing(model, slot))
        gsim_processor_sharing_leave(model, slot, now_ns);
    if (gsim_rarely(model->pairs != NULL))
        gsim_pairs_leave(model, slot, now_ns);
    gsim_machine_set_rate(model, slot, 0, now_ns);
}

/* Processor sharing switches at no cost, and a lane charges its switches itself. */
static bool switches_by_itself(const struct gsim_model *model, gsim_slot slot) {
    return model->jobs[slot].is_turning || gsim_machine_is_sharing(model, slot);
}

/* Whether a lane charges the switch, or there is none to charge. */
static bool is_free_pause(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    return keeps_memory(model, slot, keep) ||
           (keep == GSIM_KEEP_RESIDENT && switches_by_itself(model, slot));
}

/* Whether the job is at the boundary at which it is to stop. */
static bool reaches_boundary(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                             int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    bool is_iteration = gsim_boundaries_are_iterations(model, slot, stop);
    if (job->is_turning) { /* a job that runs as one long kernel stops at once */
        if (stop == GSIM_STOP_SAVE || gsim_boundaries_ns(model, slot, is_iteration) == 0)
            return true;
        gsim_boundaries_note(model, slot, is_iteration);
        return gsim_shared_exit(model, slot, is_iteration ? GSIM_STOP_ITERATION : GSIM_STOP_KERNEL,
                                now_ns);
    }
    gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    if (gsim_shared_has_worked(model, slot) || gsim_rarely(gsim_pairs_stand_still(model, slot)))
        return true;
    job->stop_at = gsim_boundaries_stop(model, slot, model->progress[slot].done, stop);
    if (job->stop_at <= model->progress[slot].done && job->stop_at < job->need)
        return true;
    gsim_boundaries_note(model, slot, is_iteration);
    job->phase = STOPPING;
    gsim_machine_expect_progress(model, slot);
    return false;
}

/* The copies of a job on its way out, and the time besides. */
static struct gsim_loading leaving_with(const struct gsim_suspension_cost *cost) {
    return (struct gsim_loading){.cargo = {.way = GSIM_CARGO_OUT,
                                           .bytes = cost->is_out_late ? 0 : cost->bytes_out,
                                           .kept_bytes = cost->kept_bytes,
                                           .stored_bytes = cost->stored_bytes},
                                 .after_ns = cost->save_ns};
}

/* Whether a stop that keeps the job's memory there ends its process. */
static bool ends_process(enum gsim_keep keep) {
    return keep == GSIM_KEEP_STORAGE || keep == GSIM_KEEP_DISCARD;
}

/* Whether no process of the job is on its GPUs then. */
static bool leaves_gpu(enum gsim_keep keep) {
    return ends_process(keep) || keep == GSIM_KEEP_IMAGE || keep == GSIM_KEEP_IMAGE_SPILT;
}

static void begin_saving(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    bool is_free = is_free_pause(model, slot, job->keep);
    stand_still(model, slot, keeps_memory(model, slot, job->keep), now_ns);
    gsim_meetings_leave(model, slot, now_ns);
    if (job->keep == GSIM_KEEP_DISCARD) {
        model->progress[slot].done = 0;
        find_phase(model, slot);
    }
    struct gsim_suspension_cost cost = {0};
    if (!is_free)
        cost = gsim_suspension_cost(gsim_machine_profile_of(model, slot), job->stop, job->keep,
                                    gsim_machine_mem_bytes(model, slot), false);
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_loading leaving = leaving_with(&cost);
    if (ends_process((enum gsim_keep)job->keep))
        leaving.process_ns = cost.save_ns;
    if (leaves_gpu((enum gsim_keep)job->keep))
        gsim_host_driver_has_none(model, slot);
    int64_t takes_ns = gsim_job_copies_ns(model, &leaving, about->units, about->n_units);
    bool is_charged = takes_ns + cost.save_ns + cost.resume_ns > 0;
    if (job->keep == GSIM_KEEP_HOST && gsim_machine_mem_bytes(model, slot) < 0)
        model->has_key[GSIM_KEY_SUSPEND_UNKNOWN_NS] |= is_charged;
    else
        model->is_charged[job->stop][job->keep] |= is_charged;
    job->bytes_out += cost.bytes_out * gsim_machine_held(about);
    job->clear_ns = now_ns + takes_ns + cost.save_ns;
    job->phase = SAVING;
    gsim_job_copies_begin(model, slot, &leaving, takes_ns, now_ns);
}

static enum gsim_when evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                            enum gsim_keep keep, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    assert(job->phase == RUNNING || job->phase == ENDING);
    job->stop = (uint8_t)stop;
    job->keep = (uint8_t)keep;
    job->threshold_ns = -1;
    if (gsim_rarely(job->phase == ENDING)) /* its work is done, and its end comes first */
        return GSIM_LATER;
    if (!reaches_boundary(model, slot, stop, now_ns)) {
        job->phase = STOPPING;
        return GSIM_LATER;
    }
    begin_saving(model, slot, now_ns);
    if (job->clear_ns > now_ns) {
        gsim_machine_expect(model, slot, STOPS, now_ns);
        return GSIM_LATER;
    }
    job->phase = IDLE;
    gsim_machine_expect_nothing(model, slot);
    return GSIM_AT_ONCE;
}

static int64_t fail(struct gsim_model *model, gsim_slot slot, int64_t checkpoint_ns,
                    int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    if (job->is_turning || job->phase == RUNNING || job->phase == STOPPING)
        stand_still(model, slot, false, now_ns);
    gsim_gang_paging_drop(model, slot, now_ns);
    gsim_meetings_leave(model, slot, now_ns);
    gsim_transfers_forget(&model->transfers, slot);
    gsim_host_driver_forget(model, slot, now_ns);
    gsim_machine_expect_nothing(model, slot);
    int64_t done_ns = gsim_shared_job_alone_ns(model, slot, model->progress[slot].done);
    int64_t kept_ns = gsim_shared_job_kept_ns(model, slot, done_ns, checkpoint_ns);
    model->progress[slot] =
        (struct gsim_progress){.done = gsim_work_of_ns(kept_ns), .since_ns = now_ns};
    find_phase(model, slot);
    gsim_shared_lose(model, slot);
    job->phase = IDLE;
    job->is_carried = false;
    job->stop = GSIM_STOP_SAVE;
    job->keep = GSIM_KEEP_STORAGE;
    job->threshold_ns = -1;
    return done_ns - kept_ns;
}

static void inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed) {
    const struct gsim_machine_job *from = &model->jobs[failed];
    struct gsim_machine_job *job = &model->jobs[slot];
    model->progress[slot] = model->progress[failed];
    job->stop = from->stop;
    job->keep = from->keep;
    job->bytes_in = from->bytes_in;
    job->bytes_out = from->bytes_out;
    find_phase(model, slot);
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
    stand_still(model, slot, false, now_ns);
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
    if (gsim_rarely(switches_by_itself(model, slot))) {
        stand_still(model, slot, false, now_ns);
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
        begin_saving(model, slot, now_ns);
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
    take_kind(job);
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

/* The way back after such a stop: work that is lost begins anew. A process that starts does so
 * beside those that are there now. */
static struct gsim_loading back_with(const struct gsim_model *model, gsim_slot slot,
                                     enum gsim_keep keep, const struct gsim_suspension_cost *cost,
                                     const struct gsim_unit *there, uint32_t n_there,
                                     int64_t now_ns) {
    struct gsim_loading back = keep == GSIM_KEEP_DISCARD
                                   ? gsim_job_copies_fresh(model, slot, there, n_there)
                                   : gsim_job_copies_again(model, slot, keep, cost, there, n_there);
    if (back.process_ns > 0)
        back.after_ns +=
            gsim_host_driver_start_ns(model, slot, there, n_there, back.process_ns, now_ns) -
            back.process_ns;
    return back;
}

static struct gsim_quote quote(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units,
                               int64_t now_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    struct gsim_progress progress = model->progress[slot];
    gsim_work done = progress.done + gsim_work_done(progress.rate_q32, now_ns - progress.since_ns);
    if (refuses_stop(model, slot, stop, keep))
        return (struct gsim_quote){.missing = lacks_size(model, slot, keep) ? "mem_gib" : NULL};
    const struct gsim_job *about = gsim_machine_info(model, slot);
    const struct gsim_unit *there = units ? units : about->units;
    uint32_t n_there = units ? n_units : about->n_units;
    bool is_moved = units && gsim_job_copies_are_elsewhere(model, slot, units, n_units);
    struct gsim_suspension_cost cost =
        gsim_suspension_cost(gsim_machine_profile(model, there, n_there), stop, keep,
                             gsim_machine_mem_bytes(model, slot), is_moved);
    struct gsim_loading away = leaving_with(&cost);
    if (is_free_pause(model, slot, keep))
        away.after_ns = 0;
    struct gsim_loading back = back_with(model, slot, keep, &cost, there, n_there, now_ns);
    if (ends_process(keep))
        away.after_ns = gsim_host_driver_end_ns(model, slot, away.after_ns, now_ns);
    struct gsim_quote answer = {
        .save_ns = gsim_job_copies_ns(model, &away, about->units, about->n_units) + away.after_ns,
        .resume_ns = gsim_job_copies_ns(model, &back, there, n_there) + back.after_ns,
        .bytes_out = cost.bytes_out,
        .bytes_in = back.cargo.bytes,
        .is_possible = true};
    gsim_work boundary = gsim_boundaries_stop(model, slot, done, stop);
    uint64_t rate_q32 = job->is_turning ? GSIM_RATE_ONE : progress.rate_q32; /* its rate alone */
    if (rate_q32 > 0 && boundary > done)
        answer.stop_ns = gsim_work_time(boundary - done, rate_q32);
    if (keep == GSIM_KEEP_DISCARD)
        answer.lost_ns = gsim_work_to_ns(boundary);
    model->is_asked[stop][keep] |= answer.save_ns + answer.resume_ns > 0;
    return answer;
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

const struct gsim_model_ops gsim_model_device = {
    .name = "device",
    .open = open_device,
    .reserve = reserve,
    .enter = enter,
    .leave = leave,
    .admit = admit,
    .evict = evict,
    .refuses_arrangement = refuses_arrangement,
    .arrange = arrange,
    .read_layout = gsim_instances_read,
    .sms = sms,
    .partition = gsim_instances_cut,
    .client_limit = client_limit,
    .refuses_stop = refuses_stop,
    .is_bound = gsim_job_copies_is_bound,
    .fail = fail,
    .inherit = inherit,
    .watch = watch,
    .next_time = next_time,
    .advance = advance,
    .tell = tell,
    .quote = quote,
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
