/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The devices of a cluster: exclusive execution, ideal processor sharing, and the transitions of
 * jobs (load, stop at a boundary, save, restore). Each active job has at most one event ahead, in
 * one indexed queue; a job that runs undisturbed costs one event however long it runs.
 *
 * Approximations: transfers of different jobs do not queue on a link yet; processor sharing is the
 * limit of small slices at no switching cost, its rates are rounded down to 2^-32 (a job of 100 s
 * ends some 25 ns late per sharer); a job without iteration columns reaches a boundary at once. */
#include "models/device.h"

#include <assert.h>
#include <string.h>

#include "models/suspend.h"
#include "sim/base/eventq.h"

enum phase { IDLE = 0, LOADING, RUNNING, STOPPING, SAVING };

/* What the next event of a job will be. */
enum ahead { NOTHING = 0, ENDS, STOPS, CLEARS, RUNS, IS_WATCHED };

struct job {
    gsim_work need; /* total work */
    gsim_work stop_at; /* while stopping: the boundary */
    gsim_work kept; /* work that a discard falls back to */
    int64_t clear_ns; /* while saving: when it is over */
    int64_t iteration_ns, kernel_ns; /* 0: unknown */
    int64_t threshold_ns; /* GSIM_WATCH_ATTAINED, or -1 */
    int64_t bytes_in, bytes_out;
    uint32_t next_sharer; /* in the ring of an arranged GPU's sharers, by slot */
    uint32_t sharing_gpu; /* UINT32_MAX: not sharing */
    uint8_t phase, ahead, stop, keep, watch_kind;
    bool is_boundary_watched;
};

struct gpu {
    bool is_shared; /* ideal processor sharing */
    uint32_t n_sharers;
    uint32_t first_sharer;
};

struct gsim_model {
    struct gsim_model_setup setup;
    struct gsim_eventq queue;
    struct job *jobs;
    struct gsim_progress *progress;
    struct gpu *gpus;
    uint32_t capacity;
    bool has_shared;
    bool is_charged[GSIM_STOP_COUNT][GSIM_KEEP_COUNT]; /* stops that cost something */
    bool has_loaded;
};

/* --- opening ---------------------------------------------------------------------------------- */

static enum gsim_status check_supported(const struct gsim_trace *trace, struct gsim_log *log) {
    static const enum gsim_column unsupported[] = {GSIM_COL_APP, GSIM_COL_REQUESTS};
    for (uint32_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        for (uint32_t job = 0; trace->column[unsupported[i]] && job < trace->n_jobs; job++)
            if (trace->column[unsupported[i]][job] >= 0)
                return gsim_fail(log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                                 "column '%s': this version cannot simulate it yet; give "
                                 "'duration_s', or 'iterations' and 'gpu_ms'",
                                 unsupported[i] == GSIM_COL_APP ? "app" : "requests");
    return GSIM_OK;
}

static enum gsim_status open_device(const struct gsim_model_setup *setup, struct gsim_model **out,
                                    struct gsim_log *log) {
    enum gsim_status status = check_supported(setup->trace, log);
    if (status != GSIM_OK)
        return status;
    struct gsim_model *model = gsim_arena_alloc(setup->arena, sizeof *model);
    if (!model)
        return gsim_no_memory(log, "opening the device model");
    model->setup = *setup;
    model->gpus = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *model->gpus);
    if (!model->gpus)
        return gsim_no_memory(log, "opening the device model");
    gsim_eventq_init(&model->queue, setup->arena);
    *out = model;
    return GSIM_OK;
}

static bool reserve(struct gsim_model *model, uint32_t capacity) {
    struct gsim_arena *arena = model->setup.arena;
    struct job *jobs = gsim_arena_grow(arena, model->jobs, model->capacity * sizeof *jobs,
                                       capacity * sizeof *jobs);
    if (!jobs)
        return false;
    model->jobs = jobs;
    struct gsim_progress *progress = gsim_arena_grow(
        arena, model->progress, model->capacity * sizeof *progress, capacity * sizeof *progress);
    if (!progress)
        return false;
    model->progress = progress;
    model->capacity = capacity;
    return gsim_eventq_reserve(&model->queue, capacity);
}

static const struct gsim_job *info(const struct gsim_model *model, gsim_slot slot) {
    return &(*model->setup.jobs)[slot];
}

static const struct gsim_profile *profile_on(const struct gsim_model *model,
                                             const struct gsim_unit *units, uint32_t n_units) {
    uint16_t type = n_units ? model->setup.type_of_gpu[units[0].gpu] : 0;
    return model->setup.profiles[type];
}

static const struct gsim_profile *profile_of(const struct gsim_model *model, gsim_slot slot) {
    return profile_on(model, info(model, slot)->units, info(model, slot)->n_units);
}

static int64_t mem_bytes(const struct gsim_model *model, gsim_slot slot) {
    return gsim_trace_get(model->setup.trace, GSIM_COL_MEM_BYTES, info(model, slot)->index);
}

/* Boundaries come from the trace's columns: one iteration is the larger of GPU and host time and
 * the gap; a kernel is given, or an even part of the iteration's GPU time. */
static void fill_boundaries(const struct gsim_model *model, struct job *job, uint32_t index) {
    const struct gsim_trace *trace = model->setup.trace;
    int64_t iterations = gsim_trace_get(trace, GSIM_COL_ITERATIONS, index);
    int64_t kernels = gsim_trace_get(trace, GSIM_COL_KERNELS, index);
    int64_t kernel_ns = gsim_trace_get(trace, GSIM_COL_KERNEL_NS, index);
    if (iterations > 0)
        job->iteration_ns = trace->service_ns[index] / iterations;
    if (kernel_ns > 0)
        job->kernel_ns = kernel_ns;
    else if (kernels > 0)
        job->kernel_ns = job->iteration_ns / kernels;
    if (job->kernel_ns <= 0)
        job->kernel_ns = job->iteration_ns;
}

static void enter(struct gsim_model *model, gsim_slot slot) {
    struct job *job = &model->jobs[slot];
    const struct gsim_job *about = info(model, slot);
    *job = (struct job){
        .need = gsim_work_of_ns(about->service_ns), .threshold_ns = -1, .sharing_gpu = UINT32_MAX};
    model->progress[slot] = (struct gsim_progress){0};
    if (model->setup.trace->column[GSIM_COL_ITERATIONS])
        fill_boundaries(model, job, about->index);
}

static void leave(struct gsim_model *model, gsim_slot slot) {
    gsim_eventq_cancel(&model->queue, slot);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Phases of the engine's order: what completes comes before what reaches a boundary. */
static void expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead, int64_t time_ns) {
    uint64_t phase = ahead == ENDS ? 0 : 1;
    model->jobs[slot].ahead = (uint8_t)ahead;
    gsim_eventq_set(&model->queue, slot, time_ns, phase << 32 | info(model, slot)->index);
}

static void expect_nothing(struct gsim_model *model, gsim_slot slot) {
    model->jobs[slot].ahead = NOTHING;
    gsim_eventq_cancel(&model->queue, slot);
}

static int64_t reached_at(const struct gsim_progress *progress, gsim_work work) {
    if (work <= progress->done)
        return progress->since_ns;
    return progress->since_ns + gsim_work_time(work - progress->done, progress->rate_q32);
}

/* The next boundary strictly after the work done, as work; the end when there is none known. */
static gsim_work next_boundary(const struct job *job, gsim_work done, int64_t period_ns) {
    if (period_ns <= 0)
        return done;
    int64_t passed = gsim_work_to_ns(done) / period_ns;
    gsim_work boundary = gsim_work_of_ns((passed + 1) * period_ns);
    return boundary < job->need ? boundary : job->need;
}

static int64_t period_of(const struct job *job, bool is_iteration) {
    return is_iteration ? job->iteration_ns : job->kernel_ns;
}

/* Work at which the watch fires, or -1. */
static gsim_work watched_work(const struct job *job, const struct gsim_progress *progress) {
    gsim_work at = -1;
    if (job->threshold_ns >= 0)
        at = gsim_work_of_ns(job->threshold_ns);
    if (job->is_boundary_watched) {
        int64_t period = period_of(job, job->watch_kind == GSIM_WATCH_ITERATION);
        gsim_work boundary = next_boundary(job, progress->done, period);
        if (at < 0 || boundary < at)
            at = boundary;
    }
    return at;
}

static void expect_progress(struct gsim_model *model, gsim_slot slot) {
    const struct job *job = &model->jobs[slot];
    const struct gsim_progress *progress = &model->progress[slot];
    if (job->phase == STOPPING && job->stop_at < job->need) {
        expect(model, slot, STOPS, reached_at(progress, job->stop_at));
        return;
    }
    int64_t end_ns = reached_at(progress, job->need);
    gsim_work watched = job->phase == RUNNING ? watched_work(job, progress) : -1;
    if (watched >= 0 && watched < job->need) {
        int64_t watch_ns = reached_at(progress, watched);
        if (watch_ns < end_ns) {
            expect(model, slot, IS_WATCHED, watch_ns);
            return;
        }
    }
    expect(model, slot, ENDS, end_ns);
}

/* Books what was done until now, and goes on at another rate. */
static void set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32, int64_t now_ns) {
    struct gsim_progress *progress = &model->progress[slot];
    progress->done += gsim_work_done(progress->rate_q32, now_ns - progress->since_ns);
    if (progress->done >
        model->jobs[slot].need) /* the last nanosecond may hold more than was left */
        progress->done = model->jobs[slot].need;
    progress->since_ns = now_ns;
    progress->rate_q32 = rate_q32;
}

/* --- processor sharing ------------------------------------------------------------------------ */

static void share_again(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    const struct gpu *shared = &model->gpus[gpu];
    if (shared->n_sharers == 0)
        return;
    uint64_t rate = GSIM_RATE_ONE / shared->n_sharers;
    gsim_slot slot = shared->first_sharer;
    for (uint32_t i = 0; i < shared->n_sharers; i++, slot = model->jobs[slot].next_sharer) {
        set_rate(model, slot, rate, now_ns);
        expect_progress(model, slot);
    }
}

static void join_sharers(struct gsim_model *model, gsim_slot slot, uint32_t gpu, int64_t now_ns) {
    struct gpu *shared = &model->gpus[gpu];
    model->jobs[slot].sharing_gpu = gpu;
    model->jobs[slot].next_sharer = shared->first_sharer;
    shared->first_sharer = slot;
    shared->n_sharers++;
    model->progress[slot].since_ns = now_ns;
    share_again(model, gpu, now_ns);
}

static void leave_sharers(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct job *job = &model->jobs[slot];
    struct gpu *shared = &model->gpus[job->sharing_gpu];
    uint32_t *link = &shared->first_sharer;
    while (*link != slot)
        link = &model->jobs[*link].next_sharer;
    *link = job->next_sharer;
    shared->n_sharers--;
    uint32_t gpu = job->sharing_gpu;
    job->sharing_gpu = UINT32_MAX;
    share_again(model, gpu, now_ns);
}

static const char *refuses_arrangement(const struct gsim_model *model,
                                       const struct gsim_arrangement *arrangement) {
    (void)model;
    if (arrangement->n_lanes != 1)
        return "this model shares a device in one lane only";
    if (arrangement->memory != GSIM_MEMORY_RESIDENT)
        return "this model keeps memory resident only";
    enum gsim_discipline discipline = arrangement->lanes[0].discipline;
    if (discipline != GSIM_DISCIPLINE_EXCLUSIVE && discipline != GSIM_DISCIPLINE_PS)
        return "this model knows the disciplines exclusive and processor sharing only";
    return NULL;
}

static void arrange(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns) {
    (void)now_ns;
    for (uint32_t u = 0; u < n_units; u++) {
        assert(model->gpus[units[u].gpu].n_sharers == 0);
        model->gpus[units[u].gpu].is_shared =
            arrangement->lanes[0].discipline == GSIM_DISCIPLINE_PS;
        model->has_shared |= model->gpus[units[u].gpu].is_shared;
    }
}

/* --- starting and stopping -------------------------------------------------------------------- */

static void run_now(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = info(model, slot);
    model->jobs[slot].phase = RUNNING;
    if (about->n_units == 1 && model->gpus[about->units[0].gpu].is_shared) {
        join_sharers(model, slot, about->units[0].gpu, now_ns);
        return;
    }
    model->progress[slot].since_ns = now_ns;
    model->progress[slot].rate_q32 = GSIM_RATE_ONE;
    expect_progress(model, slot);
}

static int64_t start_ns(struct gsim_model *model, gsim_slot slot, enum gsim_state from) {
    struct job *job = &model->jobs[slot];
    const struct gsim_profile *profile = profile_of(model, slot);
    if (from == GSIM_QUEUED) {
        int64_t bytes =
            gsim_trace_get(model->setup.trace, GSIM_COL_LOAD_BYTES, info(model, slot)->index);
        model->has_loaded |= bytes > 0;
        job->bytes_in += bytes > 0 ? bytes * info(model, slot)->gpus : 0;
        return gsim_load_ns(profile, bytes);
    }
    struct gsim_suspend_cost cost = gsim_suspend_cost(
        profile, job->stop, job->keep, mem_bytes(model, slot), info(model, slot)->is_moved);
    job->bytes_in += cost.bytes_in * info(model, slot)->gpus;
    if (from == GSIM_PAUSED) /* of a pause, both directions move now, when it is moved at all */
        job->bytes_out += cost.bytes_out * info(model, slot)->gpus;
    return cost.resume_ns;
}

static enum gsim_pace admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns) {
    (void)keep;
    int64_t takes_ns = start_ns(model, slot, from);
    if (takes_ns == 0) {
        run_now(model, slot, now_ns);
        return GSIM_AT_ONCE;
    }
    model->jobs[slot].phase = LOADING;
    expect(model, slot, RUNS, now_ns + takes_ns);
    return GSIM_LATER;
}

static const char *refuses_stop(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep) {
    if (stop != GSIM_STOP_KERNEL && stop != GSIM_STOP_ITERATION && stop != GSIM_STOP_SAVE)
        return "this model stops at a kernel, at an iteration, or saves at once";
    if (keep == GSIM_KEEP_PAGEABLE)
        return "this model has no paging";
    bool is_free = profile_of(model, slot)->value[GSIM_KEY_PCIE_D2H] == INT64_MAX;
    if (keep == GSIM_KEEP_HOST && mem_bytes(model, slot) < 0 && !is_free)
        return "copying a job out needs its memory, and the trace has no column 'mem_gib'; "
               "give it with --assume mem_gib=SIZE, or choose preempt=restart";
    return NULL;
}

static gsim_work stop_boundary(const struct job *job, gsim_work done, enum gsim_stop stop) {
    if (stop == GSIM_STOP_SAVE)
        return done;
    int64_t period_ns = period_of(job, stop == GSIM_STOP_ITERATION);
    if (period_ns > 0 && gsim_work_of_ns(gsim_work_to_ns(done) / period_ns * period_ns) == done)
        return done; /* on a boundary already */
    return next_boundary(job, done, period_ns);
}

static void begin_saving(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct job *job = &model->jobs[slot];
    if (job->sharing_gpu != UINT32_MAX)
        leave_sharers(model, slot, now_ns);
    set_rate(model, slot, 0, now_ns);
    if (job->keep == GSIM_KEEP_DISCARD)
        model->progress[slot].done = job->kept;
    bool is_free = model->has_shared && job->keep == GSIM_KEEP_RESIDENT &&
                   info(model, slot)->n_units == 1 &&
                   model->gpus[info(model, slot)->units[0].gpu].is_shared;
    struct gsim_suspend_cost cost = {0};
    if (!is_free) /* ideal processor sharing switches for nothing */
        cost = gsim_suspend_cost(profile_of(model, slot), job->stop, job->keep,
                                 mem_bytes(model, slot), false);
    model->is_charged[job->stop][job->keep] |= cost.save_ns > 0 || cost.resume_ns > 0;
    job->bytes_out += cost.bytes_out * info(model, slot)->gpus;
    job->clear_ns = now_ns + cost.save_ns;
    job->phase = SAVING;
}

static enum gsim_pace evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                            int64_t bound_ns, enum gsim_keep keep, int64_t now_ns) {
    (void)bound_ns; /* GSIM_STOP_CHEAPEST is refused */
    struct job *job = &model->jobs[slot];
    assert(job->phase == RUNNING);
    set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    job->stop = (uint8_t)stop;
    job->keep = (uint8_t)keep;
    job->threshold_ns = -1;
    job->is_boundary_watched = false;
    job->stop_at = stop_boundary(job, model->progress[slot].done, stop);
    if (job->stop_at > model->progress[slot].done || job->stop_at >= job->need) {
        job->phase = STOPPING;
        expect_progress(model, slot);
        return GSIM_LATER;
    }
    begin_saving(model, slot, now_ns);
    if (job->clear_ns > now_ns) {
        expect(model, slot, STOPS, now_ns);
        return GSIM_LATER;
    }
    job->phase = IDLE;
    expect_nothing(model, slot);
    return GSIM_AT_ONCE;
}

static void watch(struct gsim_model *model, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns) {
    struct job *job = &model->jobs[slot];
    if (kind == GSIM_WATCH_ATTAINED) {
        job->threshold_ns = threshold;
    } else {
        job->is_boundary_watched = threshold >= 0;
        job->watch_kind = (uint8_t)kind;
    }
    if (job->phase != RUNNING)
        return;
    set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    expect_progress(model, slot);
}

/* --- time ------------------------------------------------------------------------------------- */

static int64_t next_time(const struct gsim_model *model) {
    return gsim_eventq_next(&model->queue);
}

static bool report(struct gsim_model *model, struct gsim_events *events, gsim_slot slot,
                   enum gsim_event_kind kind, enum gsim_watch_kind watched) {
    if (events->n == events->capacity) {
        uint32_t capacity = events->capacity ? events->capacity * 2 : 64;
        struct gsim_event *list =
            gsim_arena_grow(model->setup.arena, events->list, events->capacity * sizeof *list,
                            capacity * sizeof *list);
        if (!list)
            return false;
        events->list = list;
        events->capacity = capacity;
    }
    events->list[events->n++] = (struct gsim_event){kind, slot, watched};
    return true;
}

static bool serve_end(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                      struct gsim_events *events) {
    struct job *job = &model->jobs[slot];
    if (job->sharing_gpu != UINT32_MAX)
        leave_sharers(model, slot, now_ns);
    set_rate(model, slot, 0, now_ns);
    expect_nothing(model, slot);
    job->phase = IDLE;
    return report(model, events, slot, GSIM_EVENT_COMPLETED, 0);
}

static bool serve_stop(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                       struct gsim_events *events) {
    struct job *job = &model->jobs[slot];
    if (job->phase == STOPPING)
        begin_saving(model, slot, now_ns);
    expect(model, slot, CLEARS, job->clear_ns);
    return report(model, events, slot, GSIM_EVENT_STOPPED, 0);
}

static bool serve_clear(struct gsim_model *model, gsim_slot slot, struct gsim_events *events) {
    model->jobs[slot].phase = IDLE;
    expect_nothing(model, slot);
    return report(model, events, slot, GSIM_EVENT_CLEARED, 0);
}

static bool serve_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                        struct gsim_events *events) {
    struct job *job = &model->jobs[slot];
    enum gsim_watch_kind kind = GSIM_WATCH_ATTAINED;
    set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    if (job->threshold_ns >= 0 &&
        model->progress[slot].done >= gsim_work_of_ns(job->threshold_ns)) {
        job->threshold_ns = -1;
    } else {
        kind = job->watch_kind;
        job->is_boundary_watched = false;
    }
    expect_progress(model, slot);
    return report(model, events, slot, GSIM_EVENT_WATCH, kind);
}

static bool serve(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                  struct gsim_events *events) {
    switch ((enum ahead)model->jobs[slot].ahead) {
    case ENDS:
        return serve_end(model, slot, now_ns, events);
    case STOPS:
        return serve_stop(model, slot, now_ns, events);
    case CLEARS:
        return serve_clear(model, slot, events);
    case RUNS:
        run_now(model, slot, now_ns);
        return report(model, events, slot, GSIM_EVENT_RUNNING, 0);
    case IS_WATCHED:
        return serve_watch(model, slot, now_ns, events);
    case NOTHING:
        break;
    }
    assert(false); /* an event without a meaning */
    return true;
}

static bool advance(struct gsim_model *model, int64_t now_ns, struct gsim_events *events) {
    /* What an event causes at the same instant (a job with no work left after it starts) is served
     * in the same call, in the queue's order. */
    while (gsim_eventq_next(&model->queue) <= now_ns) {
        struct gsim_event_key key;
        gsim_slot slot = gsim_eventq_pop(&model->queue, &key);
        assert(key.time_ns == now_ns);
        if (!serve(model, slot, now_ns, events))
            return false;
    }
    return true;
}

/* --- questions -------------------------------------------------------------------------------- */

static struct gsim_quote quote(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units,
                               int64_t now_ns) {
    const struct job *job = &model->jobs[slot];
    struct gsim_progress progress = model->progress[slot];
    gsim_work done = progress.done + gsim_work_done(progress.rate_q32, now_ns - progress.since_ns);
    if (refuses_stop(model, slot, stop, keep))
        return (struct gsim_quote){
            .missing = keep == GSIM_KEEP_HOST && mem_bytes(model, slot) < 0 ? "mem_gib" : NULL};
    const struct gsim_profile *there =
        units ? profile_on(model, units, n_units) : profile_of(model, slot);
    bool is_moved = units && (info(model, slot)->n_units != n_units ||
                              info(model, slot)->units[0].gpu != units[0].gpu);
    struct gsim_suspend_cost cost =
        gsim_suspend_cost(there, stop, keep, mem_bytes(model, slot), is_moved);
    struct gsim_quote answer = {.save_ns = cost.save_ns,
                                .resume_ns = cost.resume_ns,
                                .bytes_out = cost.bytes_out,
                                .bytes_in = cost.bytes_in,
                                .is_possible = true};
    gsim_work boundary = stop_boundary(job, done, stop);
    if (progress.rate_q32 > 0 && boundary > done)
        answer.stop_ns = gsim_work_time(boundary - done, progress.rate_q32);
    if (keep == GSIM_KEEP_DISCARD)
        answer.lost_ns = gsim_work_to_ns(boundary - job->kept);
    return answer;
}

static void counters(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                     struct gsim_counters *out) {
    const struct job *job = &model->jobs[slot];
    int64_t work_ns = gsim_progress_ns(&model->progress[slot], now_ns);
    if (gsim_work_of_ns(work_ns) > job->need)
        work_ns = gsim_work_to_ns(job->need);
    *out = (struct gsim_counters){
        .work_ns = work_ns,
        .kernels = job->kernel_ns > 0 ? work_ns / job->kernel_ns : -1,
        .blocks = -1,
        .iterations = job->iteration_ns > 0 ? work_ns / job->iteration_ns : -1,
        .last_iteration_ns = job->iteration_ns,
        .busy_ns = work_ns,
        .gpu_time_ns = work_ns * info(model, slot)->gpus,
        .bytes_in = job->bytes_in,
        .bytes_out = job->bytes_out,
    };
}

static const struct gsim_progress *progress_column(const struct gsim_model *model) {
    return model->progress;
}

static bool is_validated(const struct gsim_profile *profile) {
    /* What was measured was measured on an H200; `ideal` is true by definition. */
    return strcmp(profile->name, "h200") == 0 || strcmp(profile->name, "ideal") == 0;
}

static const char *outside_validated(const struct gsim_model *model) {
    bool is_charged = model->has_loaded;
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        for (int keep = 0; keep < GSIM_KEEP_COUNT; keep++)
            is_charged |= model->is_charged[stop][keep];
    bool is_known = true, is_ideal = true;
    for (uint16_t type = 0; type < model->setup.n_profiles; type++) {
        is_known &= is_validated(model->setup.profiles[type]);
        is_ideal &= strcmp(model->setup.profiles[type]->name, "ideal") == 0;
    }
    if (is_charged && !is_known)
        return "switching and loading costs were validated on an H200 only";
    if (model->has_shared && !is_ideal)
        return "processor sharing without switching costs is an idealisation";
    return NULL;
}

/* Marks the assumed keys of a profile that some charged stop was computed from. */
static void mark_assumed(const struct gsim_model *model, const struct gsim_profile *profile,
                         bool *is_used) {
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        for (int keep = 0; keep < GSIM_KEEP_COUNT; keep++) {
            if (!model->is_charged[stop][keep])
                continue;
            const enum gsim_key *key =
                gsim_suspend_keys((enum gsim_stop)stop, (enum gsim_keep)keep);
            for (; *key != GSIM_KEY_COUNT; key++)
                is_used[*key] |= profile->tag[*key] == GSIM_TAG_ASSUMED;
        }
    if (model->has_loaded)
        is_used[GSIM_KEY_PCIE_H2D] |= profile->tag[GSIM_KEY_PCIE_H2D] == GSIM_TAG_ASSUMED;
}

static const char *const *assumed(const struct gsim_model *model) {
    uint32_t n = 0, most = (uint32_t)model->setup.n_profiles * GSIM_KEY_COUNT + 1;
    const char **list = gsim_arena_array(model->setup.arena, most, sizeof *list);
    for (uint16_t type = 0; list && type < model->setup.n_profiles; type++) {
        const struct gsim_profile *profile = model->setup.profiles[type];
        bool is_used[GSIM_KEY_COUNT] = {false};
        mark_assumed(model, profile, is_used);
        for (int key = 0; key < GSIM_KEY_COUNT; key++)
            if (is_used[key])
                list[n++] = gsim_arena_printf(model->setup.arena, "%s=%s (%s)",
                                              gsim_key_name((enum gsim_key)key), profile->text[key],
                                              profile->name);
    }
    return list;
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
    .refuses_stop = refuses_stop,
    .watch = watch,
    .next_time = next_time,
    .advance = advance,
    .quote = quote,
    .counters = counters,
    .progress = progress_column,
    .outside_validated = outside_validated,
    .assumed = assumed,
};
