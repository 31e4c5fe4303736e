/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random small traces that are full of corners: ties, jobs without work, gangs, memory, classes and
 * priorities. */
#ifndef GSIM_STUDY_SMALL_H
#define GSIM_STUDY_SMALL_H

#include "gsim/trace.h"

enum { GSIM_SMALL_JOBS = 40 };

/* Draws a trace; its times are multiples of scale_ns, the longest job has 19 of them. false: no
 * memory. */
bool gsim_small_draw(uint64_t seed, int64_t scale_ns, struct gsim_arena *arena,
                     struct gsim_trace *out);
/* Adds columns that schedulers of clusters read: time limits, users, shares of one GPU. */
bool gsim_small_describe(struct gsim_trace *trace, uint64_t seed, bool has_shares,
                         struct gsim_arena *arena);
/* The jobs that are not left out, in their order. */
bool gsim_small_subset(const struct gsim_trace *trace, const bool *is_out, struct gsim_arena *arena,
                       struct gsim_trace *out);

#endif
