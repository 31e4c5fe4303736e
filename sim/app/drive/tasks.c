/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/tasks.h"

#include <assert.h>
#include <time.h>

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

void gsim_tasks_expect(struct gsim_model *model, gsim_slot slot, enum gsim_event_kind kind,
                       int64_t at_ns) {
    assert(model->n_pending < 4 * model->capacity);
    model->pending[model->n_pending++] =
        (struct gsim_pending){.at_ns = at_ns, .event = {.kind = kind, .slot = slot}};
}

void gsim_tasks_expect_end(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    gsim_tasks_expect(model, slot, GSIM_EVENT_COMPLETED, at_ns);
    model->pending[model->n_pending - 1].event.is_cut = model->tasks[slot].driven.exit_code != 0;
}

void gsim_tasks_forget(struct gsim_model *model, gsim_slot slot) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_pending; i++)
        if (model->pending[i].event.slot != slot)
            model->pending[n++] = model->pending[i];
    model->n_pending = n;
}

void gsim_tasks_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                         int64_t now_ns) {
    struct gsim_progress *progress = &model->progress[slot];
    int64_t elapsed_ns = now_ns > progress->since_ns ? now_ns - progress->since_ns : 0;
    if (progress->rate_q32 > 0)
        model->tasks[slot].driven.ran_ns += elapsed_ns;
    progress->done += gsim_work_done(progress->rate_q32, elapsed_ns);
    progress->since_ns = now_ns > progress->since_ns ? now_ns : progress->since_ns;
    progress->rate_q32 = rate_q32;
}

/* Tells of the jobs that have ended. A report may wait for a disk, so the policy decides first. */
void gsim_tasks_report_ended(struct gsim_model *model) {
    struct gsim_executor *executor = model->executor;
    for (uint32_t i = 0; i < model->n_ended && executor->status == GSIM_OK; i++)
        gsim_tasks_give_up(model, executor->on_end(executor->arg, &model->ended[i]));
    model->n_ended = 0;
}

void gsim_tasks_report(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_executor *executor = model->executor;
    struct gsim_driven *driven = &model->tasks[slot].driven;
    const struct gsim_trace *trace = model->setup.trace;
    driven->submit_ns = trace->submit_ns[driven->job];
    driven->end_ns = at_ns;
    if (!driven->is_cut && driven->exit_code != 0) {
        executor->n_died++;
        gsim_warn(executor->log, trace->path, gsim_trace_line(trace, driven->job),
                  "job '%s' ended with exit code %d: its work counts as undone; its output is in "
                  "%s",
                  gsim_trace_id(trace, driven->job), driven->exit_code, driven->log_path);
    }
    if (model->n_ended == model->capacity)
        gsim_tasks_report_ended(model);
    model->ended[model->n_ended++] = *driven;
}
