/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/api/interleave.h"

enum { SLOTS = 4, ROUNDS = 2 };
static const double repeats_within = 1e-3; /* of a round, for the next one to count as equal */

static double ms_of(const struct gsim_trace *trace, enum gsim_column column, uint32_t job) {
    int64_t ns = gsim_trace_get(trace, column, job);
    return ns > 0 ? (double)ns / (double)GSIM_NS_PER_MS : 0;
}

bool gsim_stages_of(const struct gsim_trace *trace, uint32_t job, struct gsim_stages *out) {
    *out = (struct gsim_stages){ms_of(trace, GSIM_COL_STAGE_HOST_NS, job) / 1000,
                                ms_of(trace, GSIM_COL_STAGE_GPU_NS, job) / 1000,
                                ms_of(trace, GSIM_COL_STAGE_NET_NS, job) / 1000};
    return gsim_stages_sum(out) > 0;
}

static double larger(double a, double b) {
    return b > a ? b : a;
}

static bool is_close(double a, double b) {
    double apart = a > b ? a - b : b - a;
    return apart <= repeats_within * larger(a > 0 ? a : -a, b > 0 ? b : -b);
}

/* The end of a slot, in which the jobs of the ring are each at another stage. */
static double end_of(const struct gsim_stages *const *ring, uint32_t n, const double *end,
                     uint32_t slot) {
    uint32_t sends = (slot + 1) % SLOTS, computes = (slot + 2) % SLOTS, loads = (slot + 3) % SLOTS;
    double at = 0;
    if (sends < n)
        at = larger(at, end[slot] + ring[sends]->net);
    if (computes < n)
        at = larger(at, end[slot] + ring[computes]->gpu);
    if (slot > 0 && loads < n)
        at = larger(at, end[slot - 1] + ring[loads]->host);
    return at;
}

/* The length of a round, once it repeats. */
static double round_of(const struct gsim_stages *const *ring, uint32_t n) {
    double end[SLOTS * ROUNDS + 1] = {0};
    for (uint32_t slot = 0; slot < SLOTS * ROUNDS; slot++) {
        end[slot + 1] = end_of(ring, n, end, slot);
        if (slot < SLOTS)
            continue;
        double round = end[slot + 1] - end[slot + 1 - SLOTS];
        if (round > 0 && is_close(round, end[slot] - end[slot - SLOTS]))
            return round;
    }
    return end[SLOTS * ROUNDS] - end[SLOTS * ROUNDS - SLOTS];
}

/* The shortest round of all orders of the jobs from `first` on. */
static double best_of(const struct gsim_stages **ring, uint32_t n, uint32_t first) {
    if (first + 1 >= n)
        return round_of(ring, n);
    double best = best_of(ring, n, first + 1);
    for (uint32_t i = first + 1; i < n; i++) {
        const struct gsim_stages *other = ring[i];
        ring[i] = ring[first];
        ring[first] = other;
        double round = best_of(ring, n, first + 1);
        best = round < best ? round : best;
        ring[first] = ring[i];
        ring[i] = other;
    }
    return best;
}

double gsim_interleave_s(const struct gsim_stages *jobs, uint32_t n) {
    const struct gsim_stages *ring[GSIM_INTERLEAVE_MOST];
    for (uint32_t i = 0; i < n; i++)
        ring[i] = &jobs[i];
    double best = best_of(ring, n, 0);
    if (n != 2)
        return best;
    double opposite = larger(jobs[0].host, jobs[1].gpu + jobs[1].net) +
                      larger(jobs[1].host, jobs[0].gpu + jobs[0].net);
    return opposite < best ? opposite : best;
}
