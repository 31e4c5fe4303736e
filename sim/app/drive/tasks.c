/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/tasks.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/app/drive/start.h"

enum { MANY_NOTES = 4096 };

/* --- clocks ----------------------------------------------------------------------------------- */

int64_t gsim_tasks_wall_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

/* The run's clock. */
int64_t gsim_tasks_clock_ns(const struct gsim_model *model) {
    return (gsim_tasks_wall_ns() - model->began_ns) * model->executor->speed_up;
}

/* --- small things ----------------------------------------------------------------------------- */

const struct gsim_job *gsim_tasks_job(const struct gsim_model *model, gsim_slot slot) {
    return &(*model->setup.jobs)[slot];
}

bool gsim_tasks_is_alive(const struct gsim_task *task) {
    return task->process.pid > 0 || task->hook.pid > 0;
}

void gsim_tasks_signal(const struct gsim_task *task, int number) {
    gsim_job_process_signal(&task->process, number);
    gsim_job_process_signal(&task->hook, number);
}

bool gsim_tasks_has_ended(struct gsim_model *model, struct gsim_task *task) {
    int unheard;
    (void)gsim_job_process_ended(&task->process, &model->guard, &task->driven.exit_code);
    (void)gsim_job_process_ended(&task->hook, &model->guard, &unheard);
    return !gsim_tasks_is_alive(task);
}

/* Ends the run: the executor can do no more for it. */
void gsim_tasks_give_up(struct gsim_model *model, enum gsim_status status) {
    if (model->executor->status == GSIM_OK)
        model->executor->status = status;
}

struct gsim_note *gsim_tasks_note(struct gsim_model *model, gsim_slot slot,
                                  enum gsim_note_kind kind, int64_t at_ns, int64_t value) {
    bool is_of_job = slot != GSIM_NO_SLOT;
    int64_t job = is_of_job ? (int64_t)gsim_tasks_job(model, slot)->index : GSIM_NOTE_NO_JOB;
    struct gsim_note *note = gsim_record_add(&model->record, model->setup.arena, kind, job, at_ns);
    if (note)
        note->value = value;
    else
        gsim_tasks_give_up(model, gsim_no_memory(model->executor->log, "recording a run"));
    return note;
}

/* Takes how the owner took what it was told. A run that ends for another reason tells it of what
 * had ended before. */
static void tell_owner(struct gsim_model *model, enum gsim_status status) {
    model->executor->is_unheard = status != GSIM_OK;
    if (status != GSIM_OK)
        gsim_tasks_give_up(model, status);
}

void gsim_tasks_write_record(struct gsim_model *model, bool is_due) {
    struct gsim_executor *executor = model->executor;
    if (model->record.n == 0 || (!is_due && model->record.n < MANY_NOTES))
        return;
    if (!executor->is_unheard)
        tell_owner(model, executor->on_notes(executor->arg, model->record.list, model->record.n));
    model->record.n = 0;
}

struct gsim_suspension_cost gsim_tasks_listed_cost(const struct gsim_model *model, gsim_slot slot,
                                                   enum gsim_keep keep) {
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    const struct gsim_model_setup *setup = &model->setup;
    uint16_t type = about->n_units > 0 ? setup->type_of_gpu[about->units[0].gpu] : 0;
    int64_t mem_bytes = gsim_trace_get(setup->trace, GSIM_COL_MEM_BYTES, about->index);
    return gsim_suspension_cost(setup->profiles[type], GSIM_STOP_ITERATION, keep, mem_bytes, false);
}

static void note_cleared(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    const struct gsim_stop_times *times = &model->tasks[slot].times;
    struct gsim_suspension_cost listed =
        gsim_tasks_listed_cost(model, slot, (enum gsim_keep)times->keep);
    gsim_stop_costs_cleared(&model->costs, times, &listed, at_ns);
}

void gsim_tasks_expect(struct gsim_model *model, gsim_slot slot, enum gsim_event_kind kind,
                       int64_t at_ns) {
    static const uint8_t note[] = {[GSIM_EVENT_COMPLETED] = GSIM_NOTE_COMPLETED,
                                   [GSIM_EVENT_STOPPED] = GSIM_NOTE_STOPPED,
                                   [GSIM_EVENT_CLEARED] = GSIM_NOTE_CLEARED,
                                   [GSIM_EVENT_RUNNING] = GSIM_NOTE_RUNNING,
                                   [GSIM_EVENT_WATCH] = GSIM_NOTE_WATCHED};
    bool is_cut = kind == GSIM_EVENT_COMPLETED && model->tasks[slot].driven.exit_code != 0;
    assert(model->n_pending < 4 * model->capacity);
    model->tasks[slot].driven.stops += kind == GSIM_EVENT_STOPPED;
    (void)gsim_tasks_note(model, slot, (enum gsim_note_kind)note[kind], at_ns, is_cut);
    if (kind == GSIM_EVENT_CLEARED)
        note_cleared(model, slot, at_ns);
    model->pending[model->n_pending++] = (struct gsim_pending){
        .at_ns = at_ns, .event = {.kind = kind, .slot = slot, .is_cut = is_cut}};
}

bool gsim_tasks_has_completed(const struct gsim_model *model, gsim_slot slot) {
    for (uint32_t i = 0; i < model->n_pending; i++)
        if (model->pending[i].event.slot == slot &&
            model->pending[i].event.kind == GSIM_EVENT_COMPLETED)
            return true;
    return false;
}

void gsim_tasks_forget(struct gsim_model *model, gsim_slot slot) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_pending; i++)
        if (model->pending[i].event.slot != slot)
            model->pending[n++] = model->pending[i];
    model->n_pending = n;
}

/* --- GPU time --------------------------------------------------------------------------------- */

static bool has_unit(const struct gsim_model *model, gsim_slot slot, struct gsim_unit unit) {
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    for (uint32_t u = 0; u < about->n_units; u++)
        if (about->units[u].gpu == unit.gpu && about->units[u].slot == unit.slot)
            return true;
    return false;
}

/* The job that computes on the GPU; as gsim_accounting_hold has it. */
static int64_t holder(const struct gsim_model *model, uint32_t gpu) {
    int64_t job = GSIM_HELD_BY_NONE;
    for (gsim_slot slot = 0; slot < model->capacity; slot++)
        if (model->progress[slot].rate_q32 > 0 &&
            has_unit(model, slot, (struct gsim_unit){.gpu = gpu}))
            job = job == GSIM_HELD_BY_NONE ? (int64_t)model->tasks[slot].driven.job
                                           : GSIM_HELD_BY_SEVERAL;
    return job;
}

static void note_holders(struct gsim_model *model) {
    struct gsim_accounting *usage = model->executor->usage;
    for (uint32_t gpu = 0; model->counts_use && gpu < usage->n; gpu++)
        gsim_accounting_hold(usage, gpu, holder(model, gpu));
}

static void add_use(struct gsim_driven *driven, int64_t gpu_ns) {
    driven->gpu_ns = (driven->gpu_ns > 0 ? driven->gpu_ns : 0) + gpu_ns;
}

/* Of a job that has ended and is not reported yet, or that is there. */
static void take_use(void *arg, int64_t job, int64_t gpu_ns) {
    struct gsim_model *model = arg;
    for (uint32_t i = 0; i < model->n_ended; i++)
        if (model->ended[i].job == job) {
            add_use(&model->ended[i], gpu_ns);
            return;
        }
    for (gsim_slot slot = 0; slot < model->capacity; slot++)
        if (model->tasks[slot].process.pid > 0 && model->tasks[slot].driven.job == job)
            add_use(&model->tasks[slot].driven, gpu_ns);
}

void gsim_tasks_ask_usage(struct gsim_model *model) {
    const struct gsim_accounting_taker taker = {take_use, model};
    if (model->counts_use)
        gsim_accounting_ask(model->executor->usage, gsim_tasks_wall_ns(), model->n_ended > 0,
                            &taker);
}

/* --- progress --------------------------------------------------------------------------------- */

/* Counts what has come since the rate changed last. */
static void settle(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_progress *progress = &model->progress[slot];
    struct gsim_task *task = &model->tasks[slot];
    int64_t elapsed_ns = now_ns > progress->since_ns ? now_ns - progress->since_ns : 0;
    if (progress->rate_q32 > 0) {
        task->driven.ran_ns += elapsed_ns;
        task->shared_ns += task->is_sharing ? elapsed_ns : 0;
    }
    progress->done += gsim_work_done(progress->rate_q32, elapsed_ns);
    progress->since_ns += elapsed_ns;
}

/* Whether another job computes on one of the job's GPUs. */
static bool shares(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    for (gsim_slot other = 0; other < model->capacity; other++)
        for (uint32_t u = 0;
             other != slot && model->progress[other].rate_q32 > 0 && u < about->n_units; u++)
            if (has_unit(model, other, about->units[u]))
                return true;
    return false;
}

/* A job has begun to compute, or does no longer: others share GPUs with it, or do no longer. */
static void note_sharing(struct gsim_model *model, int64_t now_ns) {
    for (gsim_slot slot = 0; slot < model->capacity; slot++) {
        struct gsim_task *task = &model->tasks[slot];
        bool is_sharing = model->progress[slot].rate_q32 > 0 && shares(model, slot);
        if (is_sharing == task->is_sharing)
            continue;
        settle(model, slot, now_ns);
        task->is_sharing = is_sharing;
        task->driven.has_shared |= is_sharing;
    }
}

void gsim_tasks_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                         int64_t now_ns) {
    struct gsim_progress *progress = &model->progress[slot];
    settle(model, slot, now_ns);
    if (progress->rate_q32 != rate_q32)
        (void)gsim_tasks_note(model, slot, rate_q32 > 0 ? GSIM_NOTE_COMPUTES : GSIM_NOTE_HALTS,
                              progress->since_ns,
                              rate_q32 > 0 ? model->tasks[slot].of_iterations : 0);
    bool turns = (progress->rate_q32 > 0) != (rate_q32 > 0);
    progress->rate_q32 = rate_q32;
    if (!turns)
        return;
    struct gsim_stop_times *times = &model->tasks[slot].times;
    struct gsim_suspension_cost listed =
        gsim_tasks_listed_cost(model, slot, (enum gsim_keep)times->keep);
    if (rate_q32 > 0)
        gsim_stop_costs_computes(&model->costs, times, &listed, now_ns);
    else
        gsim_stop_costs_halts(times, now_ns);
    note_sharing(model, progress->since_ns);
    note_holders(model);
}

void gsim_tasks_lose(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    model->progress[slot].done = 0;
    task->shared_ns = task->shared_iterations = 0;
    (void)gsim_tasks_note(model, slot, GSIM_NOTE_LOST, at_ns, 0);
}

/* A job that has told how many iterations it has is as far as these say, and not as the time that
 * it ran: a policy that sees durations sees the rest of this one. */
void gsim_tasks_see_iterations(struct gsim_model *model, gsim_slot slot, int64_t n, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    int64_t of = task->of_iterations, service_ns = gsim_tasks_job(model, slot)->service_ns;
    settle(model, slot, at_ns);
    if (task->is_sharing && n > task->seen_iterations)
        task->shared_iterations += n - (task->seen_iterations > 0 ? task->seen_iterations : 0);
    if (model->executor->sees_durations && of > 0 && n >= 0 && n <= of)
        model->progress[slot].done = gsim_work_of_ns(gsim_muldiv_floor(service_ns, n, of));
    task->seen_iterations = n;
    (void)gsim_tasks_note(model, slot, GSIM_NOTE_TOLD, at_ns, n);
}

static void see_gpu_time(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    task->seen_gpu_ns = task->driven.gpu_ns;
    (void)gsim_tasks_note(model, slot, GSIM_NOTE_USED, at_ns, task->seen_gpu_ns);
}

void gsim_tasks_show_progress(struct gsim_model *model, int64_t at_ns) {
    for (gsim_slot slot = 0; slot < model->capacity; slot++) {
        const struct gsim_task *task = &model->tasks[slot];
        if (task->phase != GSIM_PHASE_RUNNING)
            continue;
        if (task->driven.iterations != task->seen_iterations)
            gsim_tasks_see_iterations(model, slot, task->driven.iterations, at_ns);
        if (task->driven.gpu_ns != task->seen_gpu_ns)
            see_gpu_time(model, slot, at_ns);
    }
}

int64_t gsim_tasks_shared_ns(const struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_task *task = &model->tasks[slot];
    int64_t since_ns = model->progress[slot].since_ns;
    return task->shared_ns + (task->is_sharing && now_ns > since_ns ? now_ns - since_ns : 0);
}

/* How long an iteration takes alone, the job's iterations alone say; where there are none, its row
 * does. */
int64_t gsim_tasks_work_ns(const struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_task *task = &model->tasks[slot];
    int64_t had_ns = gsim_progress_ns(&model->progress[slot], now_ns);
    int64_t shared_ns = gsim_tasks_shared_ns(model, slot, now_ns), of = task->of_iterations;
    int64_t alone_ns = had_ns - shared_ns, n = task->seen_iterations - task->shared_iterations;
    if (shared_ns == 0 || (model->executor->sees_durations && of > 0))
        return had_ns;
    if (task->seen_iterations < 0 || (n <= 0 && of <= 0))
        return -1;
    if (n > 0)
        return alone_ns + gsim_muldiv_floor(task->shared_iterations, alone_ns, n);
    return gsim_muldiv_floor(gsim_tasks_job(model, slot)->service_ns, task->seen_iterations, of);
}

/* Tells of the jobs that have ended, of all at once: a report may wait for a disk. */
void gsim_tasks_report_ended(struct gsim_model *model) {
    struct gsim_executor *executor = model->executor;
    for (uint32_t i = 0; i < model->n_ended; i++) {
        struct gsim_driven *driven = &model->ended[i];
        executor->n_shared += model->counts_use && driven->has_shared;
        driven->gpu_ns = driven->has_shared ? -1 : driven->gpu_ns;
    }
    if (model->n_ended > 0 && !executor->is_unheard)
        tell_owner(model, executor->on_end(executor->arg, model->ended, model->n_ended));
    model->n_ended = 0;
}

/* A job that died, and of which signal: a shell, too, ends with 128 and its number. */
static void tell_death(const struct gsim_model *model, const struct gsim_driven *driven) {
    enum { OF_SIGNAL = 128 };
    const struct gsim_trace *trace = model->setup.trace;
    int number = driven->exit_code - OF_SIGNAL;
    const char *name = number > 0 ? sigabbrev_np(number) : NULL;
    gsim_warn(model->executor->log, trace->path, gsim_trace_line(trace, driven->job),
              "job '%s' ended with exit code %d%s%s%s: its work counts as undone; its output is in "
              "%s",
              gsim_trace_id(trace, driven->job), driven->exit_code, name ? " (SIG" : "",
              name ? name : "", name ? ")" : "", driven->log_path);
}

void gsim_tasks_report(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_executor *executor = model->executor;
    struct gsim_driven *driven = &model->tasks[slot].driven;
    const struct gsim_trace *trace = model->setup.trace;
    driven->submit_ns = trace->submit_ns[driven->job];
    driven->end_ns = at_ns;
    if (!driven->is_cut && driven->exit_code != 0) {
        executor->n_died++;
        tell_death(model, driven);
    }
    if (model->n_ended == model->capacity)
        gsim_tasks_report_ended(model);
    model->ended[model->n_ended++] = *driven;
    model->n_gone++;
}
