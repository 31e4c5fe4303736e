/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For programs that run under `gsim drive`: they tell how far they are, and pause, or save their
 * state, at the end of an iteration when they are asked to. One file, no library, any C or C++
 * program; without `gsim drive` every call does nothing and the program runs as it always did.
 *
 *     long i = gsim_worker_begin(n) ? load(gsim_worker_state()) : 0;
 *     for (; i < n; i++) {
 *         train_one_iteration();
 *         if (gsim_worker_iteration(i + 1)) {
 *             save(gsim_worker_state(), i + 1);
 *             gsim_worker_saved();
 *             return 0;
 *         }
 *     }
 *     gsim_worker_end();
 *
 * One thread of one process makes all calls: `drive` and the job have one line between them, and of
 * two threads that wait for a word one would take the word of the other. */
#ifndef GSIM_JOB_LIBRARY_H
#define GSIM_JOB_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif

/* The job is ready to compute; it has this many iterations in all (0: it does not know). Returns
 * 1 where an earlier process of the job saved its state, with which this one goes on. */
int gsim_worker_begin(long long iterations);
/* That many iterations of all are done, and the GPU is idle. Returns 1 when the job is to save its
 * state and leave; where the job is to pause, the call returns when its turn comes again. */
int gsim_worker_iteration(long long done);
/* The state is saved as a whole; the program ends now. */
void gsim_worker_saved(void);
/* All iterations are done; what follows does not need the GPU. */
void gsim_worker_end(void);
/* The name that the job's state is to be saved under: a file or a folder. NULL without `drive`. */
const char *gsim_worker_state(void);

#ifdef __cplusplus
}
#endif

#endif
