/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run of `gsim drive` is driven with, and what becomes of it and of its jobs. */
#ifndef GSIM_APP_DRIVEN_H
#define GSIM_APP_DRIVEN_H

#include <signal.h>
#include <sys/resource.h>

#include "sim/api/model.h"
#include "sim/app/drive/gpus.h"
#include "sim/app/drive/record.h"
#include "sim/app/drive/accounting.h"
#include "sim/app/drive/cutting.h"

/* A job that has ended, or was cut off. */
struct gsim_driven {
    uint32_t job; /* in the trace */
    int64_t submit_ns; /* when it arrived */
    int64_t begin_ns, end_ns; /* begin of its first process, end of its last */
    int64_t ran_ns; /* on its GPUs, without the times of its stops */
    int64_t stall_ns; /* on its GPUs without progress: its state is saved, or comes back */
    int64_t iterations; /* iterations that the job has told of; -1: it does not cooperate */
    int64_t gpu_ns; /* GPU time of its kernels by the driver, over all its GPUs; -1: not told */
    bool has_shared; /* it computed beside another job: of that time the driver does not tell */
    uint32_t starts, stops; /* how often a process was started; how often the job lost its GPUs */
    int exit_code; /* 128 and the signal, if one ended it; -1: it never ran */
    bool is_cut; /* `drive` ended it: the run was interrupted, or the policy ended the job */
    const char *log_path;
};

struct gsim_replay;

/* What a run is to be driven with, and what became of it. */
struct gsim_executor {
    struct gsim_log *log;
    const uint32_t *gpus; /* by GPU of the cluster: its number on this machine */
    uint32_t n_gpus;
    const struct gsim_gpu_uuid *uuids; /* of all GPUs of the machine, by number */
    uint32_t n_uuids; /* 0 in a dry run */
    bool is_served; /* jobs are clients of an MPS server */
    const char *mps_folder; /* where the server's pipes are; NULL: there is no server */
    struct gsim_cutting *cutting; /* NULL: in a replay */
    const char *no_mps; /* why there can be no server; NULL: there can */
    const char *logs; /* a folder for the jobs' output and state */
    int64_t speed_up; /* how much faster the clock runs, and sleeps end; 1 on real GPUs */
    int64_t grace_ns; /* how long a job has to end, or to save, on the wall's clock */
    int64_t steps_per_ms; /* how fast the GPUs are, for rows without a command; 0: not measured */
    uint32_t sms; /* of a GPU, likewise; 0: not known */
    bool is_paged; /* the policy has the driver page memory: that of such rows is managed */
    bool is_dry; /* no GPU: rows without a command sleep */
    const char *no_images; /* why the driver cannot take a job's state; NULL: it can */
    const char *no_moves; /* why it cannot bring the state onto another GPU; NULL: it can */
    struct gsim_accounting *usage; /* NULL: there is no driver to ask */
    bool asks_use; /* the policy asks for the counters of jobs */
    bool sees_durations; /* the policy sees durations: it is shown how much of a job is left */
    bool cooperates; /* commands use sim/job/gsim_job.h */
    const char *save_command; /* for rows without one of their own; NULL: none */
    struct rlimit files; /* the limit on descriptors that `drive` found, which its jobs have */
    const volatile sig_atomic_t *asked_to_stop;
    /* Called for the jobs that have ended, as soon as the policy has decided what follows; a
     * failure ends the run. */
    enum gsim_status (*on_end)(void *arg, const struct gsim_driven *ended, uint32_t n);
    /* Called now and then, and before the end, for the notes that came in the meantime. */
    enum gsim_status (*on_notes)(void *arg, const struct gsim_note *notes, uint32_t n);
    /* Called whenever there is nothing else to do, before a wait. */
    void (*on_rest)(void *arg);
    void *arg;
    volatile sig_atomic_t stop; /* for gsim_run_options.stop */
    enum gsim_status status; /* a failure that ended the run; else GSIM_OK */
    bool is_unheard; /* the run's owner cannot take what it is told */
    uint32_t n_died; /* jobs with an exit code other than 0 */
    uint32_t n_shared; /* jobs of which the GPU time is not known, since they shared */
    /* time on the wall's clock from an event until `drive` waits again */
    int64_t n_waits, busy_ns, slowest_ns;
    struct gsim_replay *replay; /* the record to go by; NULL: processes run */
    struct gsim_model *model; /* NULL: not opened */
};

#endif
