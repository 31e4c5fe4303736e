/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The executor's jobs as tasks: their processes, the phases of these, and the events that the
 * engine has not heard of yet. */
#ifndef GSIM_APP_TASKS_H
#define GSIM_APP_TASKS_H

#include <poll.h>

#include "gsim/units.h"
#include "sim/app/drive/driven.h"
#include "sim/app/drive/image.h"
#include "sim/app/drive/mps.h"
#include "sim/app/drive/process.h"
#include "sim/app/drive/record.h"
#include "sim/app/drive/stop_costs.h"

/* How long a job that is killed has until it is passed over: it waits for a device that hangs. */
#define GSIM_HANGS_NS (30 * GSIM_NS_PER_S)

/* A task is woken by the end of its process, of its hook and of its transfer, and by lines. */
enum { GSIM_POLL_BY_TASK = 4 };

enum gsim_phase {
    GSIM_PHASE_IDLE = 0,
    GSIM_PHASE_LOADING,
    GSIM_PHASE_RUNNING,
    GSIM_PHASE_STOPPING,
    GSIM_PHASE_SAVING,
    GSIM_PHASE_PAUSED
};

/* A job in a slot. */
struct gsim_task {
    struct gsim_job_process process;
    struct gsim_job_process hook; /* saves the state of a job that does not cooperate */
    struct gsim_driven driven;
    struct gsim_image image; /* a transfer of its state */
    uint8_t phase, keep;
    int64_t of_iterations; /* iterations that the job says it has in all; 0: not known */
    int64_t seen_iterations; /* iterations done, as the policy was last shown; -1: none */
    int64_t seen_gpu_ns; /* GPU time, as the policy was last shown; -1: none */
    bool has_news; /* one of its descriptors has something, or the kernel tells nothing of them */
    bool is_sharing; /* another job computes on one of its GPUs */
    int64_t shared_ns, shared_iterations; /* of its progress, what it made in such times */
    bool has_told_end; /* its work is done, whatever its process does after that */
    bool pauses; /* it has said that it pauses at the end of an iteration when it is asked to */
    bool is_asked; /* its process was asked to pause since it last went on */
    bool is_imaged; /* the job is paused, with its state in host memory */
    bool is_lost; /* its process ended while it was paused */
    bool is_killed; /* its grace was over, and `drive` killed it */
    int64_t threshold_ns; /* GSIM_WATCH_ATTAINED, or -1 */
    int64_t deadline_ns; /* when its grace ends, on the wall's clock; GSIM_NEVER: it has no end */
    int64_t stalled_since_ns; /* since when the job loads, or saves */
    struct gsim_stop_times times;
    uint32_t cap_percent; /* of the SMs, as a client of the MPS server; 0: no cap */
};

struct gsim_pending {
    int64_t at_ns;
    struct gsim_event event;
};

struct gsim_model {
    struct gsim_model_setup setup;
    struct gsim_executor *executor;
    struct gsim_guard guard;
    struct gsim_mps mps;
    struct gsim_task *tasks;
    struct gsim_progress *progress;
    struct gsim_pending *pending;
    struct pollfd *poll; /* GSIM_POLL_BY_TASK by slot at most */
    gsim_slot *polled; /* by place in poll */
    struct gsim_driven *ended; /* jobs to report when the policy has decided what follows */
    struct gsim_record record; /* what goes to the run's owner with them */
    struct gsim_stop_costs costs;
    uint32_t capacity, n_pending, n_poll, n_ended;
    uint32_t n_gone; /* jobs of the trace that have ended */
    int64_t began_ns, woken_ns; /* begin of the run, end of the last wait; on the wall's clock */
    bool is_stopping; /* the engine has been told of the interruption */
    bool counts_use; /* the driver is asked for the GPU time of jobs */
};

/* The time of the wall, and of the run's clock. */
int64_t gsim_tasks_wall_ns(void);
int64_t gsim_tasks_clock_ns(const struct gsim_model *model);
const struct gsim_job *gsim_tasks_job(const struct gsim_model *model, gsim_slot slot);
/* Ends the run: the executor can do no more for it. */
void gsim_tasks_give_up(struct gsim_model *model, enum gsim_status status);

/* Whether a process of the job can still do something. */
bool gsim_tasks_is_alive(const struct gsim_task *task);
/* A signal for all processes of the job. */
void gsim_tasks_signal(const struct gsim_task *task, int number);
/* Takes note of what has ended; true: no process of the job is left. */
bool gsim_tasks_has_ended(struct gsim_model *model, struct gsim_task *task);

/* Adds a note to the record, of no job where the slot is GSIM_NO_SLOT. NULL: no memory, and the run
 * ends. */
struct gsim_note *gsim_tasks_note(struct gsim_model *model, gsim_slot slot,
                                  enum gsim_note_kind kind, int64_t at_ns, int64_t value);
/* Hands the notes to the run's owner, if that is due, or there are many. */
void gsim_tasks_write_record(struct gsim_model *model, bool is_due);

/* What the keys of the device say that such a way out costs the job. */
struct gsim_suspension_cost gsim_tasks_listed_cost(const struct gsim_model *model, gsim_slot slot,
                                                   enum gsim_keep keep);
/* An event that the engine is to hear of. */
void gsim_tasks_expect(struct gsim_model *model, gsim_slot slot, enum gsim_event_kind kind,
                       int64_t at_ns);
void gsim_tasks_forget(struct gsim_model *model, gsim_slot slot);
/* Whether the engine is to hear that the job is over. */
bool gsim_tasks_has_completed(const struct gsim_model *model, gsim_slot slot);
/* The job's work is lost. */
void gsim_tasks_lose(struct gsim_model *model, gsim_slot slot, int64_t at_ns);
/* Asks the driver for the GPU time of jobs, now and then, and where one has ended. */
void gsim_tasks_ask_usage(struct gsim_model *model);
/* From at_ns on the policy sees the iterations that jobs have told of, and their GPU time. */
void gsim_tasks_show_progress(struct gsim_model *model, int64_t at_ns);
/* The progress that the policy then sees of a job. */
void gsim_tasks_see_iterations(struct gsim_model *model, gsim_slot slot, int64_t n, int64_t at_ns);
/* The job runs from now on (GSIM_RATE_ONE), or does not (0). */
void gsim_tasks_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                         int64_t now_ns);

/* What the job would have needed alone, so far, for what it has done: its time on its GPUs, and of
 * the time in which it shared one as much as the iterations that it told of then take alone.
 * -1: it shared, and tells of none. */
int64_t gsim_tasks_work_ns(const struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Of its time on its GPUs, what it shared. */
int64_t gsim_tasks_shared_ns(const struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* Notes that a job has ended; report_ended tells the run's owner of all that are noted. */
void gsim_tasks_report(struct gsim_model *model, gsim_slot slot, int64_t at_ns);
void gsim_tasks_report_ended(struct gsim_model *model);

#endif
