/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A progress bar on stderr, if that is a terminal: how many of the runs are done, and about how
 * long the rest takes. Any thread may report progress. */
#ifndef GSIM_APP_PROGRESS_H
#define GSIM_APP_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

#include "sim/app/cli/options.h"
#include "sim/app/live/live.h"

/* Runs under way that a line has room to name. */
enum { GSIM_PROGRESS_NAMED = 4 };

struct gsim_progress_bar {
    FILE *err; /* NULL: the bar is not drawn */
    struct gsim_live *live; /* the view of the runs, with the bar in its first line; NULL: none */
    const char *what; /* the label of the bar, "what if" or "" */
    const char *running[GSIM_PROGRESS_NAMED]; /* names of runs under way, the oldest first */
    int n_running;
    int64_t n_begun; /* runs that began, of those that tell so */
    int64_t n, n_done;
    double begin_s, shown_s;
    /* The work left, as a multiple of the time that has passed; below 0 if that is not known yet.
     * *is_least becomes true if the work left may be more. NULL: every step is taken to last as
     * long as those that are done. */
    double (*share_left)(void *arg, bool *is_least);
    void *arg;
    pthread_mutex_t lock;
};

/* Starts a bar of n steps, with --live also the view of the runs. The bar is hidden with --quiet,
 * or if stderr is no terminal. */
void gsim_progress_begin(struct gsim_progress_bar *bar, const struct gsim_cli *cli,
                         const char *what, int64_t n);
/* Sets the number of steps that are done; the bar is redrawn ten times a second at most. */
void gsim_progress_set(struct gsim_progress_bar *bar, int64_t n_done);
/* A run begins, and one of that name is done: the bar names those under way, so that the one for
 * which all wait is seen. */
void gsim_progress_start(struct gsim_progress_bar *bar, const char *name);
void gsim_progress_add(struct gsim_progress_bar *bar, const char *name);
/* Whether a bar is drawn anywhere. bar may be NULL. */
bool gsim_progress_is_shown(const struct gsim_progress_bar *bar);
/* Wipes the bar. */
void gsim_progress_end(struct gsim_progress_bar *bar);

#endif
