/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbered pieces of work on several threads. */
#ifndef GSIM_APP_PARALLEL_H
#define GSIM_APP_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { GSIM_MAX_THREADS = 256 };

struct gsim_crew {
    pthread_t thread[GSIM_MAX_THREADS];
    int n_threads;
    int64_t n_pieces;
    atomic_llong next;
    void (*work)(void *arg, int64_t piece);
    void *arg;
};

/* The number of processors that this process may use, which a batch system may limit; at most
 * GSIM_MAX_THREADS. */
int gsim_cores(void);
/* Starts up to n_threads threads that take the pieces 0 .. n_pieces - 1 in order, each once.
 * Returns the number of threads; 0 if the system can start none, and then no piece is done. */
int gsim_crew_start(struct gsim_crew *crew, int n_threads, int64_t n_pieces,
                    void (*work)(void *arg, int64_t piece), void *arg);
void gsim_crew_join(struct gsim_crew *crew);
/* Does all pieces, with the caller as one of the threads. */
void gsim_in_parallel(int n_threads, int64_t n_pieces, void (*work)(void *arg, int64_t piece),
                      void *arg);

#endif
