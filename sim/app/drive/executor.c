/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/executor.h"

#include <assert.h>
#include <time.h>

#include "sim/app/drive/guard.h"
#include "sim/app/drive/refusals.h"
#include "sim/app/drive/rows.h"
#include "sim/app/drive/start.h"
#include "sim/app/drive/stops.h"
#include "sim/app/drive/work.h"

enum { PPM_PER_PERCENT = GSIM_PPM / 100 };

/* Without a signal or a descriptor that wakes it, the executor looks about this often. */
#define LOOK_NS (100 * GSIM_NS_PER_MS)
#define LOOK_WITHOUT_PIDFD_NS (5 * GSIM_NS_PER_MS)
/* It looks before a timer is served if it has not for so long. */
#define LATE_NS (5 * GSIM_NS_PER_MS)

/* --- opening ---------------------------------------------------------------------------------- */

/* In the guard. */
static void clean_up(const void *arg) {
    const struct gsim_model *model = arg;
    gsim_mps_clean(&model->mps);
    gsim_cutting_clean(model->executor->cutting);
}

/* Instances are there before the run begins, and on one of them its speed is measured: that of an
 * SM, as on the whole GPU. */
static enum gsim_status cut_first(struct gsim_model *model, struct gsim_log *log) {
    struct gsim_executor *executor = model->executor;
    const struct gsim_profile *profile = model->setup.profiles[model->setup.type_of_gpu[0]];
    enum gsim_status status = gsim_cutting_open(executor->cutting, log);
    if (status != GSIM_OK || !gsim_rows_need_work(model->setup.trace))
        return status;
    for (uint32_t gpu = 0; gpu < executor->n_gpus; gpu++)
        if (executor->cutting->cut[gpu].is_cut)
            return gsim_work_measure(executor, executor->cutting->cut[gpu].uuid[0],
                                     executor->gpus[gpu], (uint32_t)profile->value[GSIM_KEY_SMS]);
    return GSIM_OK;
}

static enum gsim_status open_executor(const struct gsim_model_setup *setup, struct gsim_model **out,
                                      struct gsim_log *log) {
    struct gsim_model *model = gsim_arena_alloc(setup->arena, sizeof *model);
    if (!model)
        return gsim_no_memory(log, "starting");
    model->setup = *setup;
    model->executor = setup->arg;
    model->executor->model = *out = model;
    bool is_served = model->executor->is_served && !model->executor->is_dry;
    bool is_cut = model->executor->cutting->is_needed && !model->executor->is_dry;
    enum gsim_status status = is_served ? gsim_mps_open(&model->mps, log) : GSIM_OK;
    if (status == GSIM_OK && is_cut)
        status = gsim_cutting_prepare(model->executor->cutting, log);
    if (status == GSIM_OK)
        status = gsim_guard_open(&model->guard, clean_up, model, log);
    if (status == GSIM_OK && is_cut)
        status = cut_first(model, log);
    if (status == GSIM_OK && is_served)
        status = gsim_mps_start(&model->mps, model->executor, &model->guard);
    model->executor->mps_folder = *model->mps.folder ? model->mps.folder : NULL;
    model->began_ns = model->woken_ns = gsim_tasks_wall_ns();
    model->counts_use = gsim_start_counts_use(model->executor, setup->trace);
    if (model->executor->steps_per_ms > 0)
        (void)gsim_tasks_note(model, GSIM_NO_SLOT, GSIM_NOTE_SPEED, 0,
                              model->executor->steps_per_ms);
    return status;
}

static bool grow(struct gsim_model *model, void **list, size_t size, uint32_t capacity) {
    void *more =
        gsim_arena_grow(model->setup.arena, *list, model->capacity * size, capacity * size);
    if (more)
        *list = more;
    return more != NULL;
}

static bool reserve(struct gsim_model *model, uint32_t capacity) {
    void *tasks = model->tasks, *progress = model->progress, *pending = model->pending;
    void *poll_fds = model->poll, *polled = model->polled, *ended = model->ended;
    bool is_done = grow(model, &tasks, sizeof *model->tasks, capacity) &&
                   grow(model, &progress, sizeof *model->progress, capacity) &&
                   grow(model, &pending, 4 * sizeof *model->pending, capacity) &&
                   grow(model, &poll_fds, GSIM_POLL_BY_TASK * sizeof *model->poll, capacity) &&
                   grow(model, &polled, GSIM_POLL_BY_TASK * sizeof *model->polled, capacity) &&
                   grow(model, &ended, sizeof *model->ended, capacity);
    if (!is_done)
        return false;
    model->tasks = tasks;
    model->progress = progress;
    model->pending = pending;
    model->poll = poll_fds;
    model->polled = polled;
    model->ended = ended;
    model->capacity = capacity;
    return true;
}

static void enter(struct gsim_model *model, gsim_slot slot) {
    uint32_t job = gsim_tasks_job(model, slot)->index;
    model->progress[slot] = (struct gsim_progress){0};
    model->tasks[slot] = (struct gsim_task){
        .process = {.end_fd = -1, .talk_fd = -1},
        .hook = {.end_fd = -1, .talk_fd = -1},
        .image = {.end_fd = -1, .words_fd = -1},
        .driven = {.job = job,
                   .begin_ns = -1,
                   .end_ns = -1,
                   .iterations = -1,
                   .gpu_ns = -1,
                   .exit_code = -1,
                   .log_path = gsim_start_log_path(model->executor, model->setup.arena,
                                                   model->setup.trace, job)},
        .seen_iterations = -1,
        .seen_gpu_ns = -1,
        .threshold_ns = -1,
        .deadline_ns = GSIM_NEVER};
    if (!model->tasks[slot].driven.log_path)
        gsim_tasks_give_up(model, gsim_no_memory(model->executor->log, "starting a job"));
}

/* --- time ------------------------------------------------------------------------------------- */

/* The earliest of the events that have happened. */
static int64_t first_pending_ns(const struct gsim_model *model) {
    int64_t first_ns = GSIM_NEVER;
    for (uint32_t i = 0; i < model->n_pending; i++)
        if (model->pending[i].at_ns < first_ns)
            first_ns = model->pending[i].at_ns;
    return first_ns;
}

/* When the job reaches the watched service. */
static int64_t watch_ns(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_progress *progress = &model->progress[slot];
    int64_t threshold_ns = model->tasks[slot].threshold_ns;
    if (threshold_ns < 0 || progress->rate_q32 == 0)
        return GSIM_NEVER;
    gsim_work left = gsim_work_of_ns(threshold_ns) - progress->done;
    return progress->since_ns + (left > 0 ? gsim_work_time(left, progress->rate_q32) : 0);
}

/* Whether the kernel tells nothing of an end that is waited for. */
static bool lacks_pidfd(const struct gsim_task *task) {
    return (task->process.pid > 0 && task->process.end_fd < 0) ||
           (task->hook.pid > 0 && task->hook.end_fd < 0) ||
           (task->image.pid > 0 && task->image.end_fd < 0);
}

/* Whether what the job says can wait until `drive` looks about for another reason, or because it
 * has not for LOOK_NS: it computes, so that its lines are iterations, which decide nothing before
 * the policy is asked. A hundred lines a second of each job would wake `drive` as often. */
static bool tells_in_time(const struct gsim_task *task) {
    return task->phase == GSIM_PHASE_RUNNING && task->process.talk_fd >= 0;
}

/* Only open descriptors, since poll(2) takes no more descriptors than a process may have. */
static void list_task(struct gsim_model *model, gsim_slot slot) {
    struct gsim_task *task = &model->tasks[slot];
    int talk_fd = tells_in_time(task) ? -1 : task->process.talk_fd;
    const int fds[GSIM_POLL_BY_TASK] = {task->process.end_fd, talk_fd, task->hook.end_fd,
                                        task->image.end_fd};
    task->has_news = lacks_pidfd(task);
    for (int i = 0; i < GSIM_POLL_BY_TASK; i++)
        if (fds[i] >= 0) {
            model->polled[model->n_poll] = slot;
            model->poll[model->n_poll++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        }
}

/* Notes what to wait for. Returns the wall's time by which to look again. */
static int64_t list_descriptors(struct gsim_model *model) {
    int64_t look_ns = gsim_tasks_wall_ns() + LOOK_NS;
    model->n_poll = 0;
    for (gsim_slot slot = 0; slot < model->capacity; slot++) {
        const struct gsim_task *task = &model->tasks[slot];
        if (!gsim_tasks_is_alive(task))
            continue;
        list_task(model, slot);
        if (task->has_news)
            look_ns = gsim_tasks_wall_ns() + LOOK_WITHOUT_PIDFD_NS;
        if (task->deadline_ns < look_ns)
            look_ns = task->deadline_ns;
    }
    return look_ns;
}

static void serve_all(struct gsim_model *model) {
    for (gsim_slot slot = 0; slot < model->capacity; slot++) {
        gsim_stops_serve_deadline(model, slot);
        if (model->tasks[slot].has_news)
            gsim_stops_serve(model, slot);
        else if (tells_in_time(&model->tasks[slot]))
            gsim_stops_hear(model, slot);
        model->tasks[slot].has_news = false;
        int64_t due_ns = watch_ns(model, slot), now_ns = gsim_tasks_clock_ns(model);
        if (due_ns > now_ns)
            continue;
        model->tasks[slot].threshold_ns = -1;
        gsim_tasks_expect(model, slot, GSIM_EVENT_WATCH, now_ns);
    }
}

static int64_t first_watch_ns(const struct gsim_model *model) {
    int64_t first_ns = GSIM_NEVER;
    for (gsim_slot slot = 0; slot < model->capacity; slot++) {
        int64_t due_ns = watch_ns(model, slot);
        first_ns = due_ns < first_ns ? due_ns : first_ns;
    }
    return first_ns;
}

/* Tasks without news are left alone: a look at each would cost two system calls, with many jobs
 * more than all else that drive does. */
static void hear(struct gsim_model *model, int n_ready) {
    for (uint32_t i = 0; i < model->n_poll; i++)
        if (n_ready < 0 || model->poll[i].revents != 0)
            model->tasks[model->polled[i]].has_news = true;
}

static int poll_for(struct gsim_model *model, int64_t wait_ns) {
    wait_ns = wait_ns > 0 ? wait_ns : 0;
    struct timespec wait = {.tv_sec = wait_ns / GSIM_NS_PER_S, .tv_nsec = wait_ns % GSIM_NS_PER_S};
    return ppoll(model->poll, model->n_poll, &wait, NULL);
}

/* Waits until something happens, or until that time of the run. What has happened before the wait
 * may be as old as free_ns, since when drive has looked at nothing: its delay counts from then. */
static void wait_until(struct gsim_model *model, int64_t until_ns, int64_t free_ns) {
    int64_t look_ns = list_descriptors(model);
    int64_t speed_up = model->executor->speed_up;
    if (until_ns < GSIM_TIME_MAX && model->began_ns + until_ns / speed_up + 1 < look_ns)
        look_ns = model->began_ns + until_ns / speed_up + 1;
    int n_ready = poll_for(model, 0);
    model->woken_ns = look_ns > free_ns ? look_ns : free_ns;
    if (n_ready > 0)
        model->woken_ns = free_ns;
    else if ((n_ready = poll_for(model, look_ns - gsim_tasks_wall_ns())) != 0)
        model->woken_ns = gsim_tasks_wall_ns(); /* a signal ends a wait before its time, too */
    hear(model, n_ready);
}

/* Whether anything can happen by itself. */
static bool is_alive(const struct gsim_model *model) {
    for (gsim_slot slot = 0; slot < model->capacity; slot++)
        if (gsim_tasks_is_alive(&model->tasks[slot]) &&
            model->tasks[slot].phase != GSIM_PHASE_PAUSED)
            return true;
    return false;
}

static void note_busy(struct gsim_model *model) {
    struct gsim_executor *executor = model->executor;
    int64_t busy_ns = gsim_tasks_wall_ns() - model->woken_ns;
    executor->n_waits++;
    executor->busy_ns += busy_ns;
    if (busy_ns > executor->slowest_ns)
        executor->slowest_ns = busy_ns;
}

static bool is_asked_to_stop(const struct gsim_model *model) {
    const struct gsim_executor *executor = model->executor;
    return executor->status != GSIM_OK || (executor->asked_to_stop && *executor->asked_to_stop);
}

/* The engine comes to the time of the interruption first, so that what ran until then counts; then
 * it is told to stop. */
static int64_t stop_ns(struct gsim_model *model) {
    if (model->is_stopping)
        model->executor->stop = 1;
    model->is_stopping = true;
    return gsim_tasks_clock_ns(model);
}

/* Ends a wait. Of what jobs have told, the policy is shown as much as happened by the time that the
 * engine serves next. */
static void end_wait(struct gsim_model *model, int64_t next_ns, int64_t horizon_ns) {
    int64_t now_ns = gsim_tasks_clock_ns(model);
    int64_t served_ns = next_ns < horizon_ns ? next_ns : horizon_ns;
    gsim_tasks_show_progress(model, served_ns < now_ns ? served_ns : now_ns);
    (void)gsim_tasks_note(model, GSIM_NO_SLOT, GSIM_NOTE_WAITED, now_ns, next_ns);
}

/* Tells the run's owner of what has ended, and of the notes if these are many. */
static void report(struct gsim_model *model) {
    if (model->n_ended > 0)
        gsim_tasks_ask_usage(model);
    gsim_tasks_report_ended(model);
    gsim_tasks_write_record(model, false);
    model->executor->on_rest(model->executor->arg);
}

static int64_t next_time(struct gsim_model *model, int64_t horizon_ns) {
    int64_t next_ns;
    /* jobs may have ended since, of which nothing is known yet */
    bool is_late = gsim_tasks_wall_ns() - model->woken_ns > LATE_NS;
    note_busy(model);
    if (gsim_tasks_wall_ns() - model->woken_ns > LOOK_NS)
        report(model);
    for (;;) {
        next_ns = first_pending_ns(model);
        if (next_ns == GSIM_NEVER && is_asked_to_stop(model))
            next_ns = stop_ns(model);
        /* a timer of the policy is no reason to wait once no job is left and none comes */
        bool is_over = (horizon_ns == GSIM_NEVER || model->n_gone == model->setup.trace->n_jobs) &&
                       !is_alive(model);
        if (next_ns < GSIM_NEVER || is_over ||
            (gsim_tasks_clock_ns(model) >= horizon_ns && !is_late))
            break;
        int64_t watched_ns = first_watch_ns(model);
        int64_t free_ns = gsim_tasks_wall_ns();
        report(model); /* waits for a disk, so what has happened is decided first */
        gsim_tasks_ask_usage(model);
        wait_until(model, watched_ns < horizon_ns ? watched_ns : horizon_ns, free_ns);
        serve_all(model);
        is_late = false;
    }
    end_wait(model, next_ns, horizon_ns);
    return next_ns;
}

/* Puts the event where its kind and entity belong. */
static void append(const struct gsim_model *model, struct gsim_events *events,
                   const struct gsim_event *event) {
    uint32_t at = events->n++;
    for (; at > 0; at--) {
        const struct gsim_event *before = &events->list[at - 1];
        bool is_before = before->kind != event->kind
                             ? before->kind < event->kind
                             : gsim_tasks_job(model, before->slot)->index <
                                   gsim_tasks_job(model, event->slot)->index;
        if (is_before)
            break;
        events->list[at] = *before;
    }
    events->list[at] = *event;
}

static bool make_room(const struct gsim_model *model, struct gsim_events *events) {
    uint32_t needed = events->n + model->n_pending;
    if (needed <= events->capacity)
        return true;
    uint32_t capacity = 2 * needed;
    struct gsim_event *list = gsim_arena_grow(
        model->setup.arena, events->list, events->capacity * sizeof *list, capacity * sizeof *list);
    if (!list)
        return false;
    events->list = list;
    events->capacity = capacity;
    return true;
}

static bool advance(struct gsim_model *model, int64_t now_ns, struct gsim_events *events) {
    uint32_t n = 0;
    if (!make_room(model, events))
        return false;
    for (uint32_t i = 0; i < model->n_pending; i++)
        if (model->pending[i].at_ns <= now_ns)
            append(model, events, &model->pending[i].event);
        else
            model->pending[n++] = model->pending[i];
    model->n_pending = n;
    return true;
}

static void watch(struct gsim_model *model, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns) {
    assert(kind != GSIM_WATCH_RAN); /* the core counts the time that a job has run */
    if (kind != GSIM_WATCH_ATTAINED)
        return; /* processes have no epochs */
    (void)gsim_tasks_note(model, slot, GSIM_NOTE_WATCH, now_ns, threshold);
    model->tasks[slot].threshold_ns = threshold;
}

/* --- decisions, noted ------------------------------------------------------------------------- */

static void leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    (void)gsim_tasks_note(model, slot, GSIM_NOTE_DROP, now_ns, 0);
    gsim_stops_leave(model, slot, now_ns);
}

/* A note of what comes of a decision has its place after that of the decision. */
static enum gsim_when admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns) {
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    uint32_t nth = model->record.n;
    struct gsim_note *note = gsim_tasks_note(model, slot, GSIM_NOTE_START, now_ns, 0);
    if (note)
        gsim_note_place(note, from, about->units, about->n_units);
    gsim_stop_costs_admit(&model->tasks[slot].times, from, keep, now_ns);
    enum gsim_when when = gsim_stops_admit(model, slot, from, keep, now_ns);
    if (note)
        model->record.list[nth].value = when;
    return when;
}

static enum gsim_when evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                            enum gsim_keep keep, int64_t now_ns) {
    uint32_t nth = model->record.n;
    struct gsim_note *note = gsim_tasks_note(model, slot, GSIM_NOTE_STOP, now_ns, 0);
    if (note)
        gsim_note_stop(note, stop, keep);
    gsim_stop_costs_evict(&model->tasks[slot].times, keep, now_ns);
    enum gsim_when when = gsim_stops_evict(model, slot, stop, keep, now_ns);
    if (note)
        model->record.list[nth].value = when;
    return when;
}

/* --- questions -------------------------------------------------------------------------------- */

static const char *refuses_stop(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep) {
    return gsim_refusals_of_stop(model->executor, model->setup.trace,
                                 gsim_tasks_job(model, slot)->index, stop, keep);
}

static const char *refuses_arrangement(const struct gsim_model *model,
                                       const struct gsim_unit *units, uint32_t n_units,
                                       const struct gsim_arrangement *arrangement) {
    (void)units, (void)n_units;
    return gsim_refusals_of_arrangement(model->executor, arrangement);
}

/* A client's cap goes with its process's environment, and is that of the process for good. */
static void cap(struct gsim_model *model, gsim_slot slot, uint32_t cap_ppm) {
    struct gsim_task *task = &model->tasks[slot];
    const struct gsim_trace *trace = model->setup.trace;
    uint32_t percent = (cap_ppm + PPM_PER_PERCENT / 2) / PPM_PER_PERCENT;
    percent = cap_ppm == 0 || cap_ppm == GSIM_PPM ? 0 : percent > 0 ? percent : 1;
    if (task->process.pid > 0 && task->cap_percent != percent)
        gsim_tasks_give_up(
            model, gsim_fail(model->executor->log, GSIM_FAILED, trace->path,
                             gsim_trace_line(trace, task->driven.job),
                             "the policy gives job '%s', which runs, another part of the SMs: a "
                             "client of MPS has that of its start",
                             gsim_trace_id(trace, task->driven.job)));
    task->cap_percent = percent;
}

/* The driver's time slices come by themselves to processes that are on one GPU. */
static void arrange(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns) {
    struct gsim_executor *executor = model->executor;
    struct gsim_note *note = gsim_tasks_note(model, GSIM_NO_SLOT, GSIM_NOTE_ARRANGE, now_ns, 0);
    if (note)
        gsim_note_arrangement(note, units, n_units, arrangement);
    if (arrangement->is_served && !executor->is_served)
        gsim_tasks_give_up(model, gsim_fail(executor->log, GSIM_FAILED, NULL, 0,
                                            "the policy shares GPUs through MPS, which it did not "
                                            "do in its rehearsal: no server was started"));
    if (arrangement->memory == GSIM_MEMORY_UVM && !executor->is_paged)
        gsim_tasks_give_up(model, gsim_fail(executor->log, GSIM_FAILED, NULL, 0,
                                            "the policy has the driver page memory, which it did "
                                            "not do in its rehearsal: jobs have plain memory"));
    for (uint32_t i = 0; arrangement->is_served && i < arrangement->n_entries; i++)
        cap(model, arrangement->entries[i].job,
            arrangement->lanes[arrangement->entries[i].lane].cap_ppm);
}

static enum gsim_status read_layout(const struct gsim_model *model, uint32_t gpu,
                                    const char *layout, struct gsim_partition *out,
                                    struct gsim_log *log) {
    const struct gsim_profile *profile = model->setup.profiles[model->setup.type_of_gpu[gpu]];
    return gsim_mig_partition(profile->mig, profile->name, layout, out, log);
}

/* Processes have no groups of SMs. */
static uint32_t sms(const struct gsim_model *model, uint32_t gpu, uint32_t part_ppm) {
    (void)model, (void)gpu, (void)part_ppm;
    return 0;
}

static void partition(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns) {
    struct gsim_executor *executor = model->executor;
    struct gsim_note *note = gsim_tasks_note(model, GSIM_NO_SLOT, GSIM_NOTE_PARTITION, now_ns, 0);
    if (note)
        gsim_note_partition(note, gpu, layout);
    if (executor->is_dry)
        return;
    if (executor->cutting->made)
        gsim_tasks_give_up(model, gsim_cutting_cut(executor->cutting, gpu, layout, executor->log));
    else if (*layout)
        gsim_tasks_give_up(model, gsim_fail(executor->log, GSIM_FAILED, NULL, 0,
                                            "the policy cuts a GPU into instances, which it did "
                                            "not do in its rehearsal"));
}

static uint32_t client_limit(const struct gsim_model *model, uint32_t gpu,
                             const struct gsim_arrangement *arrangement) {
    (void)model, (void)gpu;
    return arrangement->max_clients > 0 ? arrangement->max_clients : UINT32_MAX;
}

/* A paused process stays where it is. */
static bool is_bound(const struct gsim_model *model, gsim_slot slot) {
    return model->tasks[slot].phase == GSIM_PHASE_PAUSED;
}

/* Nodes do not fail: --mtbf is no option of drive. */
static int64_t fail(struct gsim_model *model, gsim_slot slot, int64_t checkpoint_ns,
                    int64_t now_ns) {
    (void)model, (void)slot, (void)checkpoint_ns, (void)now_ns;
    assert(false);
    return 0;
}

static void inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed) {
    (void)model, (void)slot, (void)failed;
    assert(false);
}

static void tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    (void)model, (void)slot, (void)now_ns; /* progress is shown as soon as it is known */
}

static struct gsim_quote quote(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units,
                               int64_t now_ns) {
    (void)units, (void)n_units;
    if (refuses_stop(model, slot, stop, keep))
        return (struct gsim_quote){0};
    struct gsim_suspension_cost listed = gsim_tasks_listed_cost(model, slot, keep);
    struct gsim_quote answer =
        gsim_stop_costs_quote(&model->costs, &model->tasks[slot].times, keep, &listed);
    if (keep == GSIM_KEEP_DISCARD)
        answer.lost_ns = gsim_progress_ns(&model->progress[slot], now_ns);
    return answer;
}

static uint64_t pace(struct gsim_model *model, gsim_slot slot) {
    (void)model, (void)slot;
    return GSIM_RATE_ONE;
}

/* A process is started for the GPUs that its row asks for; how fast it would be on more or fewer,
 * the executor does not know. */
static struct gsim_rate rate(struct gsim_model *model, gsim_slot slot,
                             const struct gsim_where *where, struct gsim_gpu_span seen) {
    (void)seen;
    return (struct gsim_rate){
        .pace_q32 = where->gpus == gsim_tasks_job(model, slot)->gpus ? GSIM_RATE_ONE : 0,
        .iterations_after_epoch = -1};
}

static struct gsim_costs costs(const struct gsim_model *model, gsim_slot slot) {
    (void)model, (void)slot;
    return (struct gsim_costs){0};
}

/* What a policy cannot be told in the course of a run ends the run. */
static void refuse_counters(const struct gsim_model *model, gsim_slot slot) {
    struct gsim_executor *executor = model->executor;
    if (executor->status == GSIM_OK)
        executor->status =
            gsim_refuse_counters(executor, model->setup.trace, gsim_tasks_job(model, slot)->index);
}

/* Of the time in which the job shared a GPU, all counts as time with kernels. */
static void counters(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                     struct gsim_counters *out) {
    int64_t had_ns = gsim_progress_ns(&model->progress[slot], now_ns);
    int64_t work_ns = gsim_tasks_work_ns(model, slot, now_ns);
    int64_t shared_ns = gsim_tasks_shared_ns(model, slot, now_ns);
    int64_t gpus = gsim_tasks_job(model, slot)->gpus, gpu_ns = model->tasks[slot].seen_gpu_ns;
    if (work_ns < 0)
        refuse_counters(model, slot);
    *out = (struct gsim_counters){.work_ns = work_ns >= 0 ? work_ns : had_ns,
                                  .kernels = -1,
                                  .blocks = -1,
                                  .iterations = model->tasks[slot].seen_iterations,
                                  .busy_ns = gpu_ns >= 0 ? gpu_ns / gpus + shared_ns : had_ns,
                                  .taken_ns = had_ns,
                                  .gpu_time_ns = had_ns * gpus};
}

static const struct gsim_progress *progress_column(const struct gsim_model *model) {
    return model->progress;
}

/* By the row, as for a simulated job. */
static int64_t gap_ns(const struct gsim_model *model, gsim_slot slot, int64_t work_ns) {
    uint32_t job = gsim_tasks_job(model, slot)->index;
    const struct gsim_trace *trace = model->setup.trace;
    int64_t n = gsim_trace_get(trace, GSIM_COL_ITERATIONS, job);
    int64_t gpu_ns = gsim_trace_get(trace, GSIM_COL_GPU_NS, job),
            service_ns = trace->service_ns[job];
    if (n <= 0 || gpu_ns < 0 || service_ns <= 0)
        return 0;
    gsim_i128 gaps_ns = service_ns - (gsim_i128)n * gpu_ns;
    return gaps_ns > 0 ? (int64_t)(gaps_ns * work_ns / service_ns) : 0;
}

static const struct gsim_request_log *requests(const struct gsim_model *model, uint32_t *n) {
    (void)model;
    *n = 0;
    return NULL;
}

static void stats(const struct gsim_model *model, struct gsim_model_stats *out) {
    (void)model, (void)out;
}

static const char *outside_validated(const struct gsim_model *model) {
    (void)model;
    return NULL;
}

/* How long a job would have taken alone is not observed: results that need it take the row's. */
static const char *const *assumed(const struct gsim_model *model) {
    static const char *const texts[] = {
        "solo times=those of the rows (for slowdown, fairness, GPUs useful and own time)", NULL};
    (void)model;
    return texts;
}

static const char *const *given(const struct gsim_model *model) {
    (void)model;
    return NULL;
}

const struct gsim_model_ops gsim_model_executor = {
    .name = "executor",
    .open = open_executor,
    .reserve = reserve,
    .enter = enter,
    .leave = leave,
    .admit = admit,
    .evict = evict,
    .refuses_arrangement = refuses_arrangement,
    .arrange = arrange,
    .read_layout = read_layout,
    .sms = sms,
    .partition = partition,
    .client_limit = client_limit,
    .refuses_stop = refuses_stop,
    .is_bound = is_bound,
    .fail = fail,
    .inherit = inherit,
    .watch = watch,
    .next_time = next_time,
    .advance = advance,
    .tell = tell,
    .quote = quote,
    .pace = pace,
    .rate = rate,
    .costs = costs,
    .counters = counters,
    .progress = progress_column,
    .gap_ns = gap_ns,
    .requests = requests,
    .stats = stats,
    .outside_validated = outside_validated,
    .assumed = assumed,
    .given = given,
};
