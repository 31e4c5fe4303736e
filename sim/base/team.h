/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that stand by for a loop's pieces of work, which are too short to start threads for. The
 * threads begin with the first loop that is done by the team. */
#ifndef GSIM_BASE_TEAM_H
#define GSIM_BASE_TEAM_H

#include <stdint.h>

#include "gsim/arena.h"

enum { GSIM_TEAM_MOST = 256 };

struct gsim_team;

/* n_threads: the caller's thread is one of them. NULL: there is no memory. */
struct gsim_team *gsim_team_new(int n_threads, struct gsim_arena *arena);
/* Does the pieces 0 .. n - 1, each once, and returns when all are done. Pieces share nothing that
 * one of them changes. The caller's thread does pieces too, and all of them where the system gives
 * no threads. */
void gsim_team_do(struct gsim_team *team, uint32_t n, void (*work)(void *arg, uint32_t piece),
                  void *arg);
/* Ends the threads; team may be NULL. */
void gsim_team_close(struct gsim_team *team);

#endif
