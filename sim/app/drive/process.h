/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job as processes of this machine: a group of its own, its output in a file, a socket to
 * `drive` for jobs that cooperate (sim/job/gsim_job.h). The first process tells the
 * guard of its group before it does anything else, and holds the guard's pipe open until then, so
 * that no job is ever out of the guard's sight. */
#ifndef GSIM_APP_PROCESS_H
#define GSIM_APP_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "sim/app/drive/guard.h"

/* What a job's process is to run: a command of the shell, or a function of this program. */
struct gsim_start {
    const char *command; /* NULL: the function */
    int (*work)(const void *arg); /* returns the exit code */
    const void *arg;
    const char *const *environment; /* NAME=VALUE, NULL-terminated, beside that of `drive` */
    const char *log_path; /* standard output and error are appended there */
    const struct rlimit *files; /* its limit on descriptors; NULL: that of `drive` */
};

enum { GSIM_LINE_BYTES = 128 };

struct gsim_job_process {
    pid_t pid; /* and its group; 0: there is none */
    int end_fd; /* readable once the process has ended; -1: the kernel has none (Linux 5.2) */
    int talk_fd; /* the socket; -1: the job has closed it */
    char line[GSIM_LINE_BYTES]; /* what came of its next line */
    size_t n;
};

enum gsim_status gsim_job_process_start(struct gsim_job_process *process,
                                        const struct gsim_start *start,
                                        const struct gsim_guard *guard, struct gsim_log *log);
/* The CPU time so far of the job's processes that have not ended; -1: it is not known. */
int64_t gsim_job_process_cpu_ns(const struct gsim_job_process *process);
/* Sends a signal to all of the job's group. */
void gsim_job_process_signal(const struct gsim_job_process *process, int number);
/* Whether the job's first process has ended. The rest of its group is then killed, the guard told,
 * and *exit_code is that of a shell: 128 and the number of a signal that ended it. */
bool gsim_job_process_ended(struct gsim_job_process *process, const struct gsim_guard *guard,
                            int *exit_code);
/* Takes the next whole line that the job has sent, without its end; false: there is none yet. */
bool gsim_job_process_line(struct gsim_job_process *process, char line[GSIM_LINE_BYTES]);
/* Sends a line to the job; false: the job does not read. */
bool gsim_job_process_say(const struct gsim_job_process *process, const char *line);

#endif
