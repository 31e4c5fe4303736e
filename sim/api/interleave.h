/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of an iteration of jobs that interleave on one set of GPUs: while one job loads data on
 * the host, another computes on the GPU and a third uses the network, so that each stage's resource
 * is one job's at a time. Source: Zhao et al., "Multi-Resource Interleaving for Deep Learning
 * Training", SIGCOMM 2022, section 4, and the arithmetic of its simulator (Rivendile/Muri,
 * simulator/matching.py): four slots in a ring, three stages, a slot is as long as its longest
 * stage, loading spans the slot before; of all orders of the jobs the shortest counts. */
#ifndef GSIM_API_INTERLEAVE_H
#define GSIM_API_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/trace.h"

enum { GSIM_INTERLEAVE_MOST = 4 }; /* jobs: one for each slot */

/* Seconds of one iteration alone. */
struct gsim_stages {
    double host, gpu, net;
};

/* false: the trace does not give the job's stages, or all of them are 0. */
bool gsim_stages_of(const struct gsim_trace *trace, uint32_t job, struct gsim_stages *out);
/* The seconds in which each of n jobs, 2 to GSIM_INTERLEAVE_MOST, makes an iteration. */
double gsim_interleave_s(const struct gsim_stages *jobs, uint32_t n);

static inline double gsim_stages_sum(const struct gsim_stages *stages) {
    return stages->host + stages->gpu + stages->net;
}

#endif
