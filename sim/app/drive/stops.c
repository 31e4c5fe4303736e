/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/stops.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/app/drive/moves.h"
#include "sim/app/drive/start.h"

/* --- starting and stopping -------------------------------------------------------------------- */

static void start(struct gsim_model *model, gsim_slot slot, bool is_resumed, int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    if (model->executor->status != GSIM_OK)
        return; /* the run ends, and the engine has not heard of it yet */
    enum gsim_status status =
        gsim_start_job(model->executor, model->setup.trace, gsim_tasks_job(model, slot), is_resumed,
                       task->cap_percent, &model->guard, &task->process);
    if (status != GSIM_OK)
        gsim_tasks_give_up(model, status);
    if (task->driven.begin_ns < 0)
        task->driven.begin_ns = now_ns;
    task->driven.starts++;
    task->has_told_end = task->is_killed = task->pauses = task->is_asked = false;
    task->deadline_ns = GSIM_NEVER;
}

/* The job stalled until now: it loads or saves, or stands still while its state is taken. */
static void end_stall(const struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    bool is_taken = task->phase == GSIM_PHASE_STOPPING && model->progress[slot].rate_q32 == 0;
    if (task->phase == GSIM_PHASE_LOADING || task->phase == GSIM_PHASE_SAVING || is_taken)
        task->driven.stall_ns += at_ns - task->stalled_since_ns;
    task->stalled_since_ns = at_ns;
}

static void run_on(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    end_stall(model, slot, now_ns);
    model->tasks[slot].phase = GSIM_PHASE_RUNNING;
    gsim_tasks_set_rate(model, slot, GSIM_RATE_ONE, now_ns);
}

/* A paused process cannot go on anywhere but where its memory is. */
static void check_place(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_trace *trace = model->setup.trace;
    uint32_t job = model->tasks[slot].driven.job;
    if (gsim_tasks_job(model, slot)->is_moved)
        gsim_tasks_give_up(
            model,
            gsim_fail(model->executor->log, GSIM_FAILED, trace->path, gsim_trace_line(trace, job),
                      "the policy moves job '%s', which is paused, to other GPUs: the "
                      "memory of a process stays on its GPU; say preempt=restart",
                      gsim_trace_id(trace, job)));
}

/* Begins to move the state of a job's processes; the end of that is served as it comes. */
static void begin_transfer(struct gsim_model *model, gsim_slot slot, struct gsim_image_order order,
                           int64_t now_ns) {
    const struct gsim_executor *executor = model->executor;
    struct gsim_task *task = &model->tasks[slot];
    order.group = task->process.pid;
    order.lock_ms = executor->grace_ns / GSIM_NS_PER_MS;
    order.is_dry = executor->is_dry;
    enum gsim_status status = gsim_image_begin(&task->image, &order, &model->guard, executor->log);
    if (status != GSIM_OK)
        gsim_tasks_give_up(model, status);
    task->stalled_since_ns = now_ns;
}

static void begin_move(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_executor *executor = model->executor;
    struct gsim_image_order order = {.way = GSIM_IMAGE_BRING_BACK, .n_pairs = executor->n_uuids};
    struct gsim_arena *arena = gsim_arena_new();
    order.pairs = arena ? gsim_moves_pairs(executor, gsim_tasks_job(model, slot), arena) : NULL;
    if (order.pairs)
        begin_transfer(model, slot, order, now_ns);
    else
        gsim_tasks_give_up(model, gsim_no_memory(executor->log, "moving a job"));
    gsim_arena_free(arena);
}

/* The driver has the job's state, and brings it onto the job's GPUs, which may be others now. */
static void bring_back(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_executor *executor = model->executor;
    const struct gsim_trace *trace = model->setup.trace;
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    const char *why = gsim_moves_refusal(executor, about);
    model->tasks[slot].phase = GSIM_PHASE_LOADING;
    if (why)
        gsim_tasks_give_up(model, gsim_fail(executor->log, GSIM_FAILED, trace->path,
                                            gsim_trace_line(trace, about->index),
                                            "the policy moves job '%s' to other GPUs: %s; say "
                                            "preempt=restart",
                                            gsim_trace_id(trace, about->index), why));
    else if (gsim_moves_is_due(about) && !executor->is_dry)
        begin_move(model, slot, now_ns);
    else
        begin_transfer(model, slot, (struct gsim_image_order){.way = GSIM_IMAGE_BRING_BACK},
                       now_ns);
}

static void go_on(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    check_place(model, slot);
    gsim_job_process_signal(&task->process, SIGCONT);
    if (task->is_asked)
        (void)gsim_job_process_say(&task->process, "go\n");
    task->is_asked = false;
    run_on(model, slot, now_ns);
}

static void complete(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    gsim_tasks_set_rate(model, slot, 0, at_ns);
    task->phase = GSIM_PHASE_IDLE;
    task->deadline_ns = GSIM_NEVER;
    gsim_tasks_report(model, slot, at_ns);
    gsim_tasks_expect(model, slot, GSIM_EVENT_COMPLETED, at_ns);
}

/* The job's process ended while the job was paused. The core learns that it runs, and then that it
 * ended. */
static enum gsim_when end_lost(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    run_on(model, slot, now_ns);
    complete(model, slot, now_ns + 1);
    return GSIM_AT_ONCE;
}

enum gsim_when gsim_stops_admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                                enum gsim_keep keep, int64_t now_ns) {
    (void)keep;
    if (model->tasks[slot].is_lost)
        return end_lost(model, slot, now_ns);
    if (from == GSIM_PAUSED) {
        go_on(model, slot, now_ns);
        return GSIM_AT_ONCE;
    }
    if (model->tasks[slot].is_imaged) {
        bring_back(model, slot, now_ns);
        return GSIM_LATER;
    }
    start(model, slot, from == GSIM_HELD, now_ns);
    if (gsim_start_cooperates(model->executor, model->setup.trace,
                              gsim_tasks_job(model, slot)->index)) {
        model->tasks[slot].phase = GSIM_PHASE_LOADING;
        model->tasks[slot].stalled_since_ns = now_ns;
        return GSIM_LATER;
    }
    run_on(model, slot, now_ns);
    return GSIM_AT_ONCE;
}

/* A command of the row or of the run saves the state of the job; what the job does in the meantime
 * is no progress. */
static void begin_hook(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    enum gsim_status status = gsim_start_hook(model->executor, model->setup.trace, task->driven.job,
                                              task->process.pid, &model->guard, &task->hook);
    if (status != GSIM_OK)
        gsim_tasks_give_up(model, status);
    gsim_tasks_set_rate(model, slot, 0, now_ns);
    task->stalled_since_ns = now_ns;
}

/* All processes of the job stand still, whatever they do beside its iterations. */
static void stand_still(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    gsim_job_process_signal(&task->process, SIGSTOP);
    task->phase = GSIM_PHASE_PAUSED;
    task->deadline_ns = GSIM_NEVER;
    gsim_tasks_set_rate(model, slot, 0, now_ns);
}

/* The job, which was to pause at the end of an iteration, stands still. */
static void serve_paused(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    stand_still(model, slot, at_ns);
    gsim_tasks_expect(model, slot, GSIM_EVENT_STOPPED, at_ns);
    gsim_tasks_expect(model, slot, GSIM_EVENT_CLEARED, at_ns);
}

/* At the end of an iteration the job's GPUs are idle. A process that is stopped at once has
 * launched kernels that run to their end. */
static enum gsim_when begin_pause(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                  int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    bool is_to_wait = stop == GSIM_STOP_ITERATION && task->pauses;
    if (is_to_wait && gsim_job_process_say(&task->process, "pause\n")) {
        task->is_asked = true;
        task->deadline_ns = gsim_tasks_wall_ns() + model->executor->grace_ns;
        return GSIM_LATER;
    }
    task->driven.stops++;
    stand_still(model, slot, now_ns);
    return GSIM_AT_ONCE;
}

enum gsim_when gsim_stops_evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep, int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    /* its process ended while drive was late with this decision: the core hears of that next */
    if (gsim_tasks_has_completed(model, slot))
        return GSIM_LATER;
    task->keep = (uint8_t)keep;
    task->phase = GSIM_PHASE_STOPPING;
    /* the job ends by itself; its work is done, and its state need not be saved */
    if (task->has_told_end)
        return GSIM_LATER;
    if (keep == GSIM_KEEP_RESIDENT)
        return begin_pause(model, slot, stop, now_ns);
    if (keep == GSIM_KEEP_IMAGE) {
        gsim_tasks_set_rate(model, slot, 0, now_ns);
        begin_transfer(model, slot, (struct gsim_image_order){.way = GSIM_IMAGE_TAKE}, now_ns);
        return GSIM_LATER;
    }
    task->deadline_ns = gsim_tasks_wall_ns() + model->executor->grace_ns;
    if (keep == GSIM_KEEP_DISCARD)
        gsim_job_process_signal(&task->process, SIGTERM);
    else if (gsim_start_save_command(model->executor, model->setup.trace, task->driven.job))
        begin_hook(model, slot, now_ns);
    else if (!gsim_job_process_say(&task->process, "save\n"))
        /* the job does not read its socket, so it will not save */
        task->deadline_ns = gsim_tasks_wall_ns();
    return GSIM_LATER;
}

/* Kills a process, and waits for its end; one that hangs in a device is left to the guard. */
static void put_an_end(struct gsim_model *model, struct gsim_task *task) {
    int64_t until_ns = gsim_tasks_wall_ns() + GSIM_HANGS_NS;
    gsim_image_abandon(&task->image);
    gsim_tasks_signal(task, SIGKILL);
    while (!gsim_tasks_has_ended(model, task) && gsim_tasks_wall_ns() < until_ns) {
        struct timespec nap = {.tv_nsec = GSIM_NS_PER_MS};
        (void)nanosleep(&nap, NULL);
    }
}

/* The job is out of the run before its work is done: a policy has ended it while it waited. */
void gsim_stops_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_task *task = &model->tasks[slot];
    gsim_tasks_forget(model, slot);
    put_an_end(model, task);
    task->driven.is_cut = true;
    gsim_tasks_set_rate(model, slot, 0, now_ns);
    gsim_tasks_report(model, slot, now_ns);
    task->phase = GSIM_PHASE_IDLE;
}

/* --- what happens to processes ---------------------------------------------------------------- */

static void stopped_for_good(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    gsim_tasks_set_rate(model, slot, 0, at_ns);
    if (task->keep == GSIM_KEEP_DISCARD)
        gsim_tasks_lose(model, slot, at_ns);
    task->deadline_ns = GSIM_NEVER;
}

/* The job's process has ended. */
static void serve_end(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    bool is_given_up = task->keep == GSIM_KEEP_DISCARD && !task->has_told_end;
    gsim_image_abandon(&task->image);
    end_stall(model, slot, at_ns);
    switch ((enum gsim_phase)task->phase) {
    case GSIM_PHASE_LOADING: /* the core learns that it ran, and then that it ended */
        gsim_tasks_expect(model, slot, GSIM_EVENT_RUNNING, at_ns);
        complete(model, slot, at_ns + 1);
        break;
    case GSIM_PHASE_STOPPING:
        if (task->hook.pid > 0) /* the end of that command says whether the state is saved */
            break;
        if (!is_given_up) {
            complete(model, slot, at_ns);
            break;
        }
        stopped_for_good(model, slot, at_ns);
        task->phase = GSIM_PHASE_IDLE;
        gsim_tasks_expect(model, slot, GSIM_EVENT_STOPPED, at_ns);
        gsim_tasks_expect(model, slot, GSIM_EVENT_CLEARED, at_ns);
        break;
    case GSIM_PHASE_SAVING:
        task->phase = GSIM_PHASE_IDLE;
        gsim_tasks_expect(model, slot, GSIM_EVENT_CLEARED, at_ns);
        break;
    case GSIM_PHASE_PAUSED:
        task->is_lost = true;
        break;
    case GSIM_PHASE_RUNNING:
        complete(model, slot, at_ns);
        break;
    case GSIM_PHASE_IDLE:
        break;
    }
}

/* The state is saved: the processes that still run end now. */
static void serve_saved(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    stopped_for_good(model, slot, at_ns);
    task->phase = GSIM_PHASE_SAVING;
    gsim_tasks_expect(model, slot, GSIM_EVENT_STOPPED, at_ns);
    if (task->process.pid <= 0) {
        serve_end(model, slot, at_ns);
        return;
    }
    task->deadline_ns = gsim_tasks_wall_ns() + model->executor->grace_ns;
    gsim_job_process_signal(&task->process, SIGTERM);
    gsim_job_process_signal(&task->process, SIGCONT); /* the command may have left it stopped */
}

/* The command that was to save the job's state has ended. A job that ended meanwhile, without a
 * state, has done its work, or died; one that runs on can neither go on later nor give up its GPUs
 * with its work kept. */
static void serve_hook(struct gsim_model *model, gsim_slot slot, int exit_code, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    const struct gsim_trace *trace = model->setup.trace;
    if (exit_code == 0 && !task->has_told_end) {
        serve_saved(model, slot, at_ns);
    } else if (task->process.pid <= 0) {
        end_stall(model, slot, at_ns);
        complete(model, slot, at_ns);
    } else if (!task->is_killed && !task->has_told_end) {
        gsim_warn(model->executor->log, trace->path, gsim_trace_line(trace, task->driven.job),
                  "job '%s' was killed: the command that was to save its state ended with exit "
                  "code %d; its output is in %s",
                  gsim_trace_id(trace, task->driven.job), exit_code, task->driven.log_path);
        task->is_killed = true;
        gsim_job_process_signal(&task->process, SIGKILL);
    }
}

/* The state of a job is off its GPUs, or back on them. */
static void serve_transfer(struct gsim_model *model, gsim_slot slot, bool is_fine,
                           const char *words, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    const struct gsim_trace *trace = model->setup.trace;
    if (!is_fine) {
        gsim_warn(model->executor->log, trace->path, gsim_trace_line(trace, task->driven.job),
                  "job '%s' was killed: the driver could not %s%s%s",
                  gsim_trace_id(trace, task->driven.job),
                  task->phase == GSIM_PHASE_LOADING ? "bring its state back to its GPUs"
                                                    : "take its state from its GPUs",
                  *words ? ": " : "", words);
        gsim_job_process_signal(&task->process, SIGKILL);
    } else if (task->phase == GSIM_PHASE_LOADING) {
        task->is_imaged = false;
        run_on(model, slot, at_ns);
        gsim_tasks_expect(model, slot, GSIM_EVENT_RUNNING, at_ns);
    } else {
        task->is_imaged = true;
        task->phase = GSIM_PHASE_PAUSED;
        task->driven.stall_ns += at_ns - task->stalled_since_ns;
        gsim_tasks_expect(model, slot, GSIM_EVENT_STOPPED, at_ns);
        gsim_tasks_expect(model, slot, GSIM_EVENT_CLEARED, at_ns);
    }
}

/* How much of a start, or of a job, was work of its process on the host. */
static void note_cpu(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    int64_t cpu_ns = gsim_job_process_cpu_ns(&model->tasks[slot].process);
    if (cpu_ns >= 0)
        (void)gsim_tasks_note(model, slot, GSIM_NOTE_CPU, at_ns, cpu_ns);
}

/* The run's time at which the job told its end by its own clock, which is that of `drive` too; 0:
 * it did not say, or cannot have. */
static int64_t told_at_ns(const struct gsim_model *model, int64_t job_clock_ns, int64_t heard_ns) {
    int64_t at_ns = (job_clock_ns - model->began_ns) * model->executor->speed_up;
    return job_clock_ns > model->began_ns && at_ns <= heard_ns ? at_ns : 0;
}

/* Takes in a line that a job which cooperates has written. */
static void serve_line(struct gsim_model *model, gsim_slot slot, const char *line, int64_t at_ns) {
    struct gsim_task *task = &model->tasks[slot];
    char word[16];
    long long number = 0;
    if (sscanf(line, "%15s %lld", word, &number) < 1)
        return;
    if (strcmp(word, "iteration") == 0 || strcmp(word, "paused") == 0)
        task->driven.iterations = number;
    if (strcmp(word, "begin") == 0)
        task->of_iterations = number;
    if (strcmp(word, "begin") == 0 || strcmp(word, "end") == 0)
        note_cpu(model, slot, at_ns);
    if (strcmp(word, "begin") == 0 && task->phase == GSIM_PHASE_LOADING) {
        run_on(model, slot, at_ns);
        gsim_tasks_expect(model, slot, GSIM_EVENT_RUNNING, at_ns);
    }
    if (strcmp(word, "pauses") == 0)
        task->pauses = true;
    if (strcmp(word, "paused") == 0 && task->phase == GSIM_PHASE_STOPPING && task->is_asked)
        serve_paused(model, slot, at_ns);
    if (strcmp(word, "saved") == 0 && task->phase == GSIM_PHASE_STOPPING && task->hook.pid <= 0) {
        stopped_for_good(model, slot, at_ns);
        task->phase = GSIM_PHASE_SAVING;
        task->stalled_since_ns = at_ns;
        gsim_tasks_expect(model, slot, GSIM_EVENT_STOPPED, at_ns);
    }
    if (strcmp(word, "end") == 0) {
        task->has_told_end = true;
        (void)gsim_tasks_note(model, slot, GSIM_NOTE_TOLD_END, at_ns,
                              told_at_ns(model, number, at_ns));
    }
    if (task->has_told_end && task->hook.pid <= 0)
        task->deadline_ns = GSIM_NEVER;
}

void gsim_stops_hear(struct gsim_model *model, gsim_slot slot) {
    char line[GSIM_LINE_BYTES];
    while (gsim_job_process_line(&model->tasks[slot].process, line))
        serve_line(model, slot, line, gsim_tasks_clock_ns(model));
}

void gsim_stops_serve(struct gsim_model *model, gsim_slot slot) {
    struct gsim_task *task = &model->tasks[slot];
    char words[GSIM_IMAGE_WORDS];
    bool is_fine;
    int exit_code;
    if (gsim_job_process_ended(&task->hook, &model->guard, &exit_code))
        serve_hook(model, slot, exit_code, gsim_tasks_clock_ns(model));
    if (task->process.pid <= 0)
        return;
    if (gsim_image_ended(&task->image, &is_fine, words))
        serve_transfer(model, slot, is_fine, words, gsim_tasks_clock_ns(model));
    bool has_ended = gsim_job_process_ended(&task->process, &model->guard, &task->driven.exit_code);
    gsim_stops_hear(model, slot); /* what it said last comes before its end */
    if (has_ended)
        (void)gsim_tasks_note(model, slot, GSIM_NOTE_ENDED, gsim_tasks_clock_ns(model),
                              task->driven.exit_code);
    if (has_ended)
        serve_end(model, slot, gsim_tasks_clock_ns(model));
}

/* The grace of a job that was to end, or to save, is over. */
void gsim_stops_serve_deadline(struct gsim_model *model, gsim_slot slot) {
    struct gsim_task *task = &model->tasks[slot];
    const struct gsim_trace *trace = model->setup.trace;
    if (!gsim_tasks_is_alive(task) || gsim_tasks_wall_ns() < task->deadline_ns)
        return;
    /* the job is done: the command that was to save its state is not needed */
    if (task->has_told_end) {
        gsim_job_process_signal(&task->hook, SIGKILL);
        task->deadline_ns = GSIM_NEVER;
        return;
    }
    if (task->is_asked) { /* its iteration is longer: it pauses in the midst of it */
        serve_paused(model, slot, gsim_tasks_clock_ns(model));
        return;
    }
    bool was_to_save = task->keep != GSIM_KEEP_DISCARD && task->phase != GSIM_PHASE_SAVING;
    if (!task->is_killed)
        gsim_warn(model->executor->log, trace->path, gsim_trace_line(trace, task->driven.job),
                  "job '%s' was killed: it did not %s in the time of --grace",
                  gsim_trace_id(trace, task->driven.job),
                  was_to_save ? "save its state" : "end after SIGTERM");
    task->is_killed = true;
    task->deadline_ns = gsim_tasks_wall_ns() + GSIM_HANGS_NS;
    gsim_tasks_signal(task, SIGKILL);
}
