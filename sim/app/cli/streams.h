/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The streams of the program, and what a program gives that calls it as a function. */
#ifndef GSIM_APP_STREAMS_H
#define GSIM_APP_STREAMS_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "gsim/status.h"

struct gsim_policy;

/* A policy of a program that has this one as a function, and the source that stands for its code in
 * identities; NULL: none does. */
struct gsim_callers_policy {
    const struct gsim_policy *policy;
    const char *file;
};

/* The streams of the program, and the flag that asks it to stop. The rest is for a program that has
 * this one as a function (python/): zero in the program itself. */
struct gsim_io {
    FILE *out, *err;
    bool is_err_terminal;
    const volatile sig_atomic_t *stop;
    struct gsim_log *log; /* takes errors and warnings, which are then not printed */
    FILE *jobs; /* the per-job CSV of `run`, beside that of --jobs-csv */
    const struct gsim_callers_policy *policies; /* ends with a NULL policy; may be NULL */
    /* the content of a trace of this name, for which no file is read */
    const char *trace_name;
    const void *trace_bytes;
    size_t n_trace_bytes;
    /* fork() as the caller's own runtime wants it; NULL: fork() as it is */
    pid_t (*fork)(void);
};

#endif
