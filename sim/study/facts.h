/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of a trace on which schedulers depend. */
#ifndef GSIM_STUDY_FACTS_H
#define GSIM_STUDY_FACTS_H

#include "gsim/trace.h"

enum gsim_fact {
#define GSIM_FACT(symbol, name, unit, help) GSIM_FACT_##symbol,
#include "sim/study/facts.def"
#undef GSIM_FACT
    GSIM_FACT_COUNT
};

struct gsim_fact_def {
    const char *name, *unit, *help;
};
extern const struct gsim_fact_def gsim_fact_defs[GSIM_FACT_COUNT];

/* Fills value[GSIM_FACT_COUNT]; NaN where the trace does not say. false: no memory. */
bool gsim_facts_of(const struct gsim_trace *trace, struct gsim_arena *arena, double *value);

/* How many jobs come in each of the n_parts parts of a cycle, such as the hours of a day, for each
 * time that the trace has that part; NaN where it has none. Of the last part it has what lies
 * before the last submission, which ends the trace and counts for none. since_s: n submissions in
 * order, the first at 0. */
void gsim_cycle_rates(const double *since_s, size_t n, double part_s, size_t n_parts, double *rate);

/* The autocorrelation of n values in order with those 1 to n_lags places behind; NaN where all are
 * equal. */
void gsim_autocorrelations(const double *x, size_t n, size_t n_lags, double *out);

#endif
