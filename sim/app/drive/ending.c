/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
/* The end of a drive: processes that are left are asked to end, then ended; their jobs are cut. */
#include "sim/app/drive/executor.h"
#include "sim/app/drive/guard.h"
#include "sim/app/drive/tasks.h"

#include <time.h>

/* Whether a second Ctrl-C, or another signal that asks for the end, waits to be served. */
static bool is_hurried(const sigset_t *ends) {
    sigset_t pending;
    (void)sigpending(&pending);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(ends, number) == 1 && sigismember(&pending, number) == 1)
            return true;
    return false;
}

/* Waits until the processes have ended, for so long of the wall at most, or until a signal asks for
 * the end again. */
static void await_ends(struct gsim_model *model, int64_t until_ns, const sigset_t *ends) {
    bool is_any = true;
    while (is_any && gsim_tasks_wall_ns() < until_ns && !(ends && is_hurried(ends))) {
        is_any = false;
        struct timespec nap = {.tv_nsec = 2 * GSIM_NS_PER_MS};
        for (gsim_slot slot = 0; slot < model->capacity; slot++) {
            is_any |= !gsim_tasks_has_ended(model, &model->tasks[slot]);
        }
        if (is_any)
            (void)nanosleep(&nap, NULL);
    }
}

static void signal_all(struct gsim_model *model, int number) {
    for (gsim_slot slot = 0; slot < model->capacity; slot++)
        gsim_tasks_signal(&model->tasks[slot], number);
}

static void end_all(struct gsim_model *model) {
    sigset_t ends, before;
    struct timespec at_once = {0};
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ends, &before);
    signal_all(model, SIGTERM);
    signal_all(model, SIGCONT); /* a stopped process obeys SIGKILL alone until it goes on */
    await_ends(model, gsim_tasks_wall_ns() + model->executor->grace_ns, &ends);
    signal_all(model, SIGKILL);
    await_ends(model, gsim_tasks_wall_ns() + GSIM_HANGS_NS, NULL);
    while (sigtimedwait(&ends, NULL, &at_once) > 0)
        ; /* what it asked for has been done; rows are written now */
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

void gsim_executor_close(struct gsim_executor *executor) {
    struct gsim_model *model = executor->model;
    if (!model)
        return;
    int64_t now_ns = gsim_tasks_clock_ns(model);
    for (gsim_slot slot = 0; slot < model->capacity; slot++) {
        struct gsim_task *task = &model->tasks[slot];
        task->driven.is_cut = gsim_tasks_is_alive(task);
        if (task->driven.is_cut)
            gsim_tasks_set_rate(model, slot, 0, now_ns);
    }
    for (gsim_slot slot = 0; slot < model->capacity; slot++)
        gsim_image_abandon(&model->tasks[slot].image);
    end_all(model);
    for (gsim_slot slot = 0; slot < model->capacity; slot++)
        if (model->tasks[slot].driven.is_cut)
            gsim_tasks_report(model, slot, now_ns);
    gsim_tasks_report_ended(model);
    gsim_tasks_write_record(model, true);
    if (*model->mps.folder)
        gsim_mps_end(&model->mps, &model->guard);
    gsim_cutting_close(executor->cutting);
    gsim_guard_close(&model->guard);
    executor->model = NULL;
}
