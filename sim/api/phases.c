/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/api/phases.h"

#include "sim/base/units.h"

struct gsim_phases *gsim_phases_find(const struct gsim_rates *rates, int64_t text, uint32_t gpus) {
    struct gsim_phases *phases = text >= 0 && text < rates->n_phases ? rates->phases[text] : NULL;
    while (phases && phases->gpus != gpus)
        phases = phases->next;
    return phases;
}

const struct gsim_phases *gsim_phases_of_job(const struct gsim_trace *trace, uint32_t job) {
    int64_t text = gsim_trace_get(trace, GSIM_COL_PHASES, job);
    return trace->rates && text >= 0
               ? gsim_phases_find(trace->rates, text, gsim_trace_gpus(trace, job))
               : NULL;
}

int64_t gsim_phases_iterations(const struct gsim_phases *phases) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < phases->n; i++)
        sum += phases->phase[i].iterations;
    return sum;
}

static int64_t begin_ns(const struct gsim_phases *phases, uint32_t i) {
    return i > 0 ? phases->end_ns[i - 1] : 0;
}

int64_t gsim_phases_service_ns(const struct gsim_phases *phases, int64_t iterations) {
    for (uint32_t i = 0; i < phases->n; i++) {
        int64_t n = phases->phase[i].iterations, from_ns = begin_ns(phases, i);
        if (iterations < n)
            return from_ns + gsim_muldiv_ceil(phases->end_ns[i] - from_ns, iterations, n);
        iterations -= n;
    }
    return phases->end_ns[phases->n - 1];
}

/* --- what may be known ------------------------------------------------------------------------ */

/* Epochs of that many iterations of a phase, in millionths. */
static int64_t epochs_ppm(const struct gsim_phase *phase, int64_t iterations) {
    return gsim_muldiv_floor(iterations, GSIM_PPM, phase->epoch_iterations);
}

/* The mode of a phase, which is added if it is new. A job with more modes than there is room for
 * has the others under its last. */
static uint32_t mode_of(struct gsim_modes *modes, const struct gsim_phases *phases, uint32_t i) {
    const struct gsim_phase *phase = &phases->phase[i];
    uint32_t at = 0;
    while (at < modes->n && modes->mode[at].model != phase->kind)
        at++;
    if (at < modes->n || at == GSIM_MOST_MODES)
        return at < modes->n ? at : at - 1;
    int64_t takes_ns = phases->end_ns[i] - begin_ns(phases, i);
    modes->n++;
    modes->mode[at] = (struct gsim_mode){
        .model = phase->kind,
        .epoch_iterations = phase->epoch_iterations,
        .epoch_ns = gsim_muldiv_ceil(takes_ns, phase->epoch_iterations, phase->iterations)};
    return at;
}

void gsim_phases_modes(const struct gsim_phases *phases, int64_t done_ns, struct gsim_modes *out) {
    *out = (struct gsim_modes){0};
    for (uint32_t i = 0; i < phases->n; i++) {
        int64_t from_ns = begin_ns(phases, i), takes_ns = phases->end_ns[i] - from_ns;
        int64_t past_ns = done_ns - from_ns, all_ppm;
        uint32_t at = mode_of(out, phases, i);
        out->epochs_ppm += all_ppm = epochs_ppm(&phases->phase[i], phases->phase[i].iterations);
        if (past_ns < 0)
            continue;
        past_ns = past_ns < takes_ns ? past_ns : takes_ns;
        int64_t made_ppm = takes_ns > 0 ? gsim_muldiv_floor(all_ppm, past_ns, takes_ns) : all_ppm;
        out->at = at;
        out->mode[at].made_ppm += made_ppm;
        out->made_ppm += made_ppm;
    }
}
