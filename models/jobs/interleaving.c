/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that interleave the stages of their iterations on one set of GPUs: each makes one iteration
 * in the time that sim/api/interleave.h computes from all their stages, times the device's measured
 * factor for as many jobs. A policy puts jobs beside each other that are on the GPUs of each other,
 * and no others. Where the trace does not give the stages of one of them, they take turns as in
 * ideal processor sharing. */
#include "models/jobs/interleaving.h"

#include "models/jobs/speed.h"
#include "sim/api/interleave.h"

/* false: some job has no stages, or there are more jobs than slots. */
static bool stages_of(const struct gsim_model *model, const struct gsim_machine_gpu *shared,
                      struct gsim_stages *stages) {
    gsim_slot slot = shared->first_sharer;
    if (shared->n_sharers > GSIM_INTERLEAVE_MOST)
        return false;
    for (uint32_t i = 0; i < shared->n_sharers; i++, slot = model->jobs[slot].next_sharer) {
        uint32_t index = gsim_machine_info(model, slot)->index;
        if (!gsim_stages_of(model->setup.trace, index, &stages[i]) ||
            gsim_trace_get(model->setup.trace, GSIM_COL_ITERATION_NS, index) <= 0)
            return false;
    }
    return true;
}

static int64_t factor_ppm(const struct gsim_model *model, gsim_slot slot, uint32_t n) {
    const int64_t *value = gsim_machine_profile_of(model, slot)->value;
    return n == 2   ? value[GSIM_KEY_INTERLEAVE_PAIR_PPM]
           : n == 3 ? value[GSIM_KEY_INTERLEAVE_THREE_PPM]
                    : value[GSIM_KEY_INTERLEAVE_FOUR_PPM];
}

/* No job is faster than alone: what an iteration has beside its stages is not in their sum. */
uint64_t gsim_interleaving_q32(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_machine_gpu *shared = &model->gpus[model->jobs[slot].sharing_gpu];
    uint32_t index = gsim_machine_info(model, slot)->index, n = shared->n_sharers;
    uint64_t speed_q32 = gsim_speed_q32(model, slot);
    struct gsim_stages stages[GSIM_INTERLEAVE_MOST];
    if (n == 1)
        return speed_q32;
    bool has_stages = stages_of(model, shared, stages);
    model->has_equal_sharing |= !has_stages;
    model->has_interleaved |= has_stages;
    if (!has_stages)
        return speed_q32 / n;
    double alone_ns = (double)gsim_trace_get(model->setup.trace, GSIM_COL_ITERATION_NS, index);
    double together_ns = gsim_interleave_s(stages, n) * (double)GSIM_NS_PER_S;
    double part = alone_ns / together_ns * (double)factor_ppm(model, slot, n) / (double)GSIM_PPM;
    return part < 1 ? (uint64_t)((double)speed_q32 * part) : speed_q32;
}
