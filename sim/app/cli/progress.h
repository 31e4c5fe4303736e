/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bar on stderr, where that is a terminal: what is done of what there is to do, and about how long
 * the rest takes. Any thread may say that something is done. */
#ifndef GSIM_APP_PROGRESS_H
#define GSIM_APP_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

#include "sim/app/cli/cli.h"

struct gsim_progress_bar {
    FILE *err; /* NULL: nothing is shown */
    const char *what; /* "what if", or "" */
    int64_t n, n_done;
    double begin_s, shown_s;
    /* What is left, as a multiple of the time that has passed; below 0: that is not known yet. *is_least:
     * and more. NULL: everything takes as long as what is done. */
    double (*share_left)(void *arg, bool *is_least);
    void *arg;
    pthread_mutex_t lock;
};

/* Nothing is shown with --quiet, or where stderr is no terminal. */
void gsim_progress_begin(struct gsim_progress_bar *bar, const struct gsim_cli *cli,
                         const char *what, int64_t n);
/* So many are done by now; shown as often as an eye can follow. */
void gsim_progress_set(struct gsim_progress_bar *bar, int64_t n_done);
void gsim_progress_add(struct gsim_progress_bar *bar);
/* Wipes it. */
void gsim_progress_end(struct gsim_progress_bar *bar);

#endif
