/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_getaffinity, which respects the limits that taskset and Slurm set */
#include "sim/app/sweep/parallel.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>

#include "sim/app/cli/language.h"

int gsim_cores(void) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    int n = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    return n < 1 ? 1 : n > GSIM_MAX_THREADS ? GSIM_MAX_THREADS : n;
}

static void take_pieces(struct gsim_crew *crew) {
    for (;;) {
        int64_t piece = atomic_fetch_add(&crew->next, 1);
        if (piece >= crew->n_pieces)
            return;
        crew->work(crew->arg, piece);
    }
}

static void *help(void *arg) {
    void *language = gsim_language_begin();
    take_pieces(arg);
    gsim_language_end(language);
    return NULL;
}

int gsim_crew_start(struct gsim_crew *crew, int n_threads, int64_t n_pieces,
                    void (*work)(void *arg, int64_t piece), void *arg) {
    crew->n_threads = 0;
    crew->n_pieces = n_pieces;
    crew->work = work;
    crew->arg = arg;
    atomic_init(&crew->next, 0);
    while (crew->n_threads < n_threads && crew->n_threads < GSIM_MAX_THREADS &&
           crew->n_threads < n_pieces &&
           pthread_create(&crew->thread[crew->n_threads], NULL, help, crew) == 0)
        crew->n_threads++;
    return crew->n_threads;
}

void gsim_crew_join(struct gsim_crew *crew) {
    while (crew->n_threads > 0)
        (void)pthread_join(crew->thread[--crew->n_threads], NULL);
}

void gsim_in_parallel(int n_threads, int64_t n_pieces, void (*work)(void *arg, int64_t piece),
                      void *arg) {
    struct gsim_crew crew;
    int others = n_threads - 1 < n_pieces - 1 ? n_threads - 1 : (int)(n_pieces - 1);
    (void)gsim_crew_start(&crew, others, n_pieces, work, arg);
    take_pieces(&crew);
    gsim_crew_join(&crew);
}
