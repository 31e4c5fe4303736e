/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a job's process is started: its command or workload, its log and state, and what it finds in
 * its environment. */
#ifndef GSIM_APP_START_H
#define GSIM_APP_START_H

#include "sim/app/drive/driven.h"
#include "sim/app/drive/process.h"

/* The job's log, and the name of its state: files of its own in the executor's folder. NULL: no
 * memory. */
const char *gsim_start_log_path(const struct gsim_executor *executor, struct gsim_arena *arena,
                                const struct gsim_trace *trace, uint32_t job);
/* Starts a process for the job on its units. is_resumed: its state was saved before. cap_percent:
 * of the SMs, for a client of MPS; 0: no cap. */
enum gsim_status gsim_start_job(const struct gsim_executor *executor,
                                const struct gsim_trace *trace, const struct gsim_job *about,
                                bool is_resumed, uint32_t cap_percent,
                                const struct gsim_guard *guard, struct gsim_job_process *process);
/* The command of the job's row; NULL: it has none. */
const char *gsim_start_command(const struct gsim_trace *trace, uint32_t job);
/* Whether the job tells of its progress, and saves when it is asked to. */
bool gsim_start_cooperates(const struct gsim_executor *executor, const struct gsim_trace *trace,
                           uint32_t job);
/* Whether the run asks for GPU time, on GPUs that are there: a job does not cooperate, or the
 * policy asks for the counters of jobs. */
bool gsim_start_counts_use(const struct gsim_executor *executor, const struct gsim_trace *trace);

/* What saves the state of a job that does not cooperate; NULL: nothing does. */
const char *gsim_start_save_command(const struct gsim_executor *executor,
                                    const struct gsim_trace *trace, uint32_t job);
/* Starts that command, for the processes of the group. Its output goes to the job's log. */
enum gsim_status gsim_start_hook(const struct gsim_executor *executor,
                                 const struct gsim_trace *trace, uint32_t job, pid_t group,
                                 const struct gsim_guard *guard, struct gsim_job_process *hook);

#endif
