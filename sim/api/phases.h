/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs in phases: parts of their work with speeds of their own, between which they change without a
 * stop. They come from a table of goodput, a phase an epoch (sim/api/goodput.h), or from the column
 * phases and a table of speeds: a phase is then a number of iterations of a model of the table,
 * which names the batch size as a rule. */
#ifndef GSIM_API_PHASES_H
#define GSIM_API_PHASES_H

#include "sim/api/rates.h"

/* Of the column phases. */
struct gsim_phase {
    uint32_t kind; /* in the table of speeds */
    int64_t iterations, epoch_iterations;
};

/* The work of jobs that are alike: the time at which each phase ends, alone on as many GPUs as the
 * job asks for (goodput: on nodes as full as any placement has). */
struct gsim_phases {
    uint32_t app, batch; /* by goodput */
    uint32_t gpus;
    uint32_t n;
    const int64_t *end_ns;
    const struct gsim_phase *phase; /* NULL: by goodput */
    struct gsim_phases *next; /* of a list; NULL: the last */
};

/* The phases of the trace's text with that number, for a gang; NULL: none were read. */
struct gsim_phases *gsim_phases_find(const struct gsim_rates *rates, int64_t text, uint32_t gpus);
/* Those of a job by the column phases; NULL: it has none. */
const struct gsim_phases *gsim_phases_of_job(const struct gsim_trace *trace, uint32_t job);
int64_t gsim_phases_iterations(const struct gsim_phases *phases);
/* The work at the end of that many iterations, rounded up. */
int64_t gsim_phases_service_ns(const struct gsim_phases *phases, int64_t iterations);
/* What a scheduler may know after that much work. */
void gsim_phases_modes(const struct gsim_phases *phases, int64_t done_ns, struct gsim_modes *out);

#endif
