/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/replay.h"

#include <stdio.h>
#include <string.h>

#include "sim/app/drive/executor.h"
#include "sim/app/drive/tasks.h"
#include "sim/base/units.h"

/* --- opening ---------------------------------------------------------------------------------- */

static enum gsim_status open_replay(const struct gsim_model_setup *setup, struct gsim_model **out,
                                    struct gsim_log *log) {
    struct gsim_model *model = gsim_arena_alloc(setup->arena, sizeof *model);
    struct gsim_executor *executor = setup->arg;
    struct gsim_replay *replay = executor->replay;
    replay->slot_of_job =
        gsim_arena_array(setup->arena, setup->trace->n_jobs, sizeof *replay->slot_of_job);
    if (!model || !replay->slot_of_job)
        return gsim_no_memory(log, "replaying a run");
    model->setup = *setup;
    model->executor = executor;
    *out = model;
    return GSIM_OK;
}

static void enter(struct gsim_model *model, gsim_slot slot) {
    gsim_model_executor.enter(model, slot);
    model->executor->replay->slot_of_job[gsim_tasks_job(model, slot)->index] = slot;
}

/* --- decisions that differ -------------------------------------------------------------------- */

static void say(char text[256], const struct gsim_trace *trace, const struct gsim_note *note) {
    char when[32];
    gsim_format_seconds(when, note->time_ns, 3);
    const char *job = note->job >= 0 ? gsim_trace_id(trace, (uint32_t)note->job) : "GPUs";
    (void)snprintf(text, 256, "%s '%s'%s%s at %s s", gsim_note_text(note->kind), job,
                   *note->detail ? ", " : "", note->detail, when);
}

static enum gsim_status differ(const struct gsim_executor *executor, const struct gsim_trace *trace,
                               const struct gsim_note *made) {
    const struct gsim_replay *replay = executor->replay;
    char was[256] = "none", is[256] = "none";
    if (replay->at < replay->n && gsim_note_is_decision(replay->notes[replay->at].kind))
        say(was, trace, &replay->notes[replay->at]);
    if (made)
        say(is, trace, made);
    return gsim_fail(executor->log, GSIM_FAILED, replay->path, 0,
                     "after %u decisions as recorded the policy decides otherwise: recorded is "
                     "'%s', and it decides '%s'",
                     replay->n_decisions, was, is);
}

static void give_up(struct gsim_model *model, const struct gsim_note *made) {
    struct gsim_executor *executor = model->executor;
    if (executor->status == GSIM_OK)
        executor->status = differ(executor, model->setup.trace, made);
    executor->stop = 1;
}

/* --- what happened ---------------------------------------------------------------------------- */

static void happen_event(struct gsim_model *model, gsim_slot slot, const struct gsim_note *note,
                         enum gsim_event_kind kind) {
    struct gsim_task *task = &model->tasks[slot];
    task->driven.exit_code = note->value != 0;
    if (kind == GSIM_EVENT_COMPLETED)
        task->phase = GSIM_PHASE_IDLE;
    if (kind == GSIM_EVENT_RUNNING)
        task->phase = GSIM_PHASE_RUNNING;
    if (kind == GSIM_EVENT_CLEARED)
        task->phase = task->keep == GSIM_KEEP_IMAGE || task->keep == GSIM_KEEP_RESIDENT
                          ? GSIM_PHASE_PAUSED
                          : GSIM_PHASE_IDLE;
    gsim_tasks_expect(model, slot, kind, note->time_ns);
}

static void happen(struct gsim_model *model, const struct gsim_note *note) {
    gsim_slot slot =
        note->job >= 0 ? model->executor->replay->slot_of_job[note->job] : GSIM_NO_SLOT;
    switch (note->kind) {
    case GSIM_NOTE_COMPUTES:
        model->tasks[slot].of_iterations = note->value;
        gsim_tasks_set_rate(model, slot, GSIM_RATE_ONE, note->time_ns);
        break;
    case GSIM_NOTE_HALTS:
        gsim_tasks_set_rate(model, slot, 0, note->time_ns);
        break;
    case GSIM_NOTE_LOST:
        gsim_tasks_lose(model, slot, note->time_ns);
        break;
    case GSIM_NOTE_TOLD:
        gsim_tasks_see_iterations(model, slot, note->value, note->time_ns);
        break;
    case GSIM_NOTE_USED:
        model->tasks[slot].seen_gpu_ns = note->value;
        break;
    case GSIM_NOTE_COMPLETED:
        happen_event(model, slot, note, GSIM_EVENT_COMPLETED);
        break;
    case GSIM_NOTE_STOPPED:
        happen_event(model, slot, note, GSIM_EVENT_STOPPED);
        break;
    case GSIM_NOTE_CLEARED:
        happen_event(model, slot, note, GSIM_EVENT_CLEARED);
        break;
    case GSIM_NOTE_RUNNING:
        happen_event(model, slot, note, GSIM_EVENT_RUNNING);
        break;
    case GSIM_NOTE_WATCHED:
        happen_event(model, slot, note, GSIM_EVENT_WATCH);
        break;
    default: /* of processes alone */
        break;
    }
}

/* What happened up to the next decision, or the next time that the run waited: the next note then.
 * NULL: there is none. */
static const struct gsim_note *catch_up(struct gsim_model *model) {
    struct gsim_replay *replay = model->executor->replay;
    for (; replay->at < replay->n; replay->at++) {
        const struct gsim_note *note = &replay->notes[replay->at];
        if (note->kind == GSIM_NOTE_WAITED || gsim_note_is_decision(note->kind))
            return note;
        happen(model, note);
    }
    return NULL;
}

static int64_t next_time(struct gsim_model *model, int64_t horizon_ns) {
    const struct gsim_note *note = catch_up(model);
    model->record.n = 0; /* nothing is recorded of a replay */
    if (note && note->kind == GSIM_NOTE_WAITED) {
        model->executor->replay->at++;
        return note->value;
    }
    if (note) {
        give_up(model, NULL);
        return note->time_ns + 1;
    }
    return horizon_ns; /* the record ends where all jobs have */
}

/* --- decisions -------------------------------------------------------------------------------- */

/* The recorded decision, if the policy makes it; its note is then taken. NULL: it makes another. */
static const struct gsim_note *take(struct gsim_model *model, const struct gsim_note *made) {
    struct gsim_replay *replay = model->executor->replay;
    const struct gsim_note *note = catch_up(model);
    bool is_equal = note && note->kind == made->kind && note->job == made->job &&
                    note->time_ns == made->time_ns && strcmp(note->detail, made->detail) == 0;
    if (!is_equal) {
        give_up(model, made);
        return NULL;
    }
    replay->at++;
    replay->n_decisions++;
    return note;
}

static struct gsim_note of_job(const struct gsim_model *model, gsim_slot slot,
                               enum gsim_note_kind kind, int64_t now_ns) {
    return (struct gsim_note){
        .kind = kind, .job = gsim_tasks_job(model, slot)->index, .time_ns = now_ns};
}

static enum gsim_when admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns) {
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    struct gsim_note made = of_job(model, slot, GSIM_NOTE_START, now_ns);
    gsim_note_place(&made, from, about->units, about->n_units);
    const struct gsim_note *note = take(model, &made);
    gsim_stop_costs_admit(&model->tasks[slot].times, from, keep, now_ns);
    enum gsim_when when = note ? (enum gsim_when)note->value : GSIM_LATER;
    model->tasks[slot].phase = when == GSIM_AT_ONCE ? GSIM_PHASE_RUNNING : GSIM_PHASE_LOADING;
    return when;
}

static enum gsim_when evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                            enum gsim_keep keep, int64_t now_ns) {
    struct gsim_note made = of_job(model, slot, GSIM_NOTE_STOP, now_ns);
    gsim_note_stop(&made, stop, keep);
    const struct gsim_note *note = take(model, &made);
    gsim_stop_costs_evict(&model->tasks[slot].times, keep, now_ns);
    enum gsim_when when = note ? (enum gsim_when)note->value : GSIM_LATER;
    model->tasks[slot].keep = (uint8_t)keep;
    model->tasks[slot].phase = when == GSIM_AT_ONCE ? GSIM_PHASE_PAUSED : GSIM_PHASE_STOPPING;
    return when;
}

static void leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_note made = of_job(model, slot, GSIM_NOTE_DROP, now_ns);
    (void)take(model, &made);
    gsim_tasks_forget(model, slot);
    model->tasks[slot].phase = GSIM_PHASE_IDLE;
}

static void arrange(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns) {
    struct gsim_note made = {.kind = GSIM_NOTE_ARRANGE, .job = GSIM_NOTE_NO_JOB, .time_ns = now_ns};
    gsim_note_arrangement(&made, units, n_units, arrangement);
    (void)take(model, &made);
}

static void partition(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns) {
    struct gsim_note made = {
        .kind = GSIM_NOTE_PARTITION, .job = GSIM_NOTE_NO_JOB, .time_ns = now_ns};
    gsim_note_partition(&made, gpu, layout);
    (void)take(model, &made);
}

static void watch(struct gsim_model *model, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns) {
    struct gsim_note made = of_job(model, slot, GSIM_NOTE_WATCH, now_ns);
    if (kind != GSIM_WATCH_ATTAINED)
        return;
    made.value = threshold;
    const struct gsim_note *note = take(model, &made);
    if (note && note->value != threshold)
        give_up(model, &made);
}

struct gsim_model_ops gsim_replay_ops(void) {
    struct gsim_model_ops ops = gsim_model_executor;
    ops.name = "replay";
    ops.open = open_replay;
    ops.enter = enter;
    ops.leave = leave;
    ops.admit = admit;
    ops.evict = evict;
    ops.arrange = arrange;
    ops.partition = partition;
    ops.watch = watch;
    ops.next_time = next_time;
    return ops;
}

enum gsim_status gsim_replay_close(const struct gsim_executor *executor,
                                   const struct gsim_trace *trace) {
    struct gsim_replay *replay = executor->replay;
    while (replay->at < replay->n && !gsim_note_is_decision(replay->notes[replay->at].kind))
        replay->at++;
    return replay->at < replay->n ? differ(executor, trace, NULL) : GSIM_OK;
}
