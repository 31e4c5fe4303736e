/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arbiters of GPUs on which contexts take turns: each is made when the first job or arrangement
 * needs it, from the GPU's profile. */
#include "models/jobs/arbiters.h"

static struct gsim_vgpu_rule vgpu_rule(const struct gsim_lane *lane,
                                       const struct gsim_profile *profile) {
    static const enum gsim_vgpu_scheduler schedulers[] = {[GSIM_TURNS_USED] = GSIM_VGPU_BEST_EFFORT,
                                                          [GSIM_TURNS_EQUAL] = GSIM_VGPU_EQUAL,
                                                          [GSIM_TURNS_FIXED] = GSIM_VGPU_FIXED};
    return gsim_vgpu_rule(profile, schedulers[gsim_lane_turns(lane)], 1, gsim_lane_most_vgpus(lane),
                          lane->quantum_ns > 0 ? lane->quantum_ns : 0);
}

int64_t gsim_arbiters_quantum_ns(const struct gsim_lane *lane, const struct gsim_profile *profile) {
    if (gsim_lane_most_vgpus(lane) > 0)
        return vgpu_rule(lane, profile).quantum_ns;
    if (lane->quantum_ns == GSIM_QUANTUM_SHORT)
        return profile->value[GSIM_KEY_SLICE_SHORT_NS];
    if (lane->quantum_ns == GSIM_QUANTUM_LONG)
        return profile->value[GSIM_KEY_SLICE_LONG_NS];
    return lane->quantum_ns > 0 ? lane->quantum_ns : profile->value[GSIM_KEY_SLICE_QUANTUM_NS];
}

static bool open_table(struct gsim_model *model) {
    struct gsim_shared *shared = &model->shared;
    uint32_t n = model->setup.n_gpus;
    if (shared->of_gpu)
        return true;
    shared->active = gsim_arena_array(model->setup.arena, n, sizeof *shared->active);
    shared->of_gpu = gsim_arena_array(model->setup.arena, n, sizeof *shared->of_gpu);
    shared->close = gsim_arena_array(model->setup.arena, n, sizeof *shared->close);
    shared->is_close = gsim_arena_array(model->setup.arena, n, sizeof *shared->is_close);
    shared->is_due = gsim_arena_array(model->setup.arena, n, sizeof *shared->is_due);
    shared->taken_by = gsim_arena_array(model->setup.arena, n, sizeof *shared->taken_by);
    gsim_eventq_init(&shared->ahead, model->setup.arena);
    return shared->taken_by && shared->active && shared->of_gpu && shared->close &&
           shared->is_close && shared->is_due && gsim_eventq_reserve(&shared->ahead, n);
}

struct gsim_switch_costs gsim_arbiters_switch_costs(const struct gsim_profile *profile) {
    return (struct gsim_switch_costs){.preempt_ns = profile->value[GSIM_KEY_SWITCH_PREEMPT_NS],
                                      .preempt_full_ns =
                                          profile->value[GSIM_KEY_SWITCH_PREEMPT_FULL_NS],
                                      .idle_ns = profile->value[GSIM_KEY_SWITCH_IDLE_NS],
                                      .halt = gsim_kernel_stop_costs_of(profile),
                                      .cold_ns = profile->value[GSIM_KEY_SWITCH_COLD_NS],
                                      .lookahead_ns = profile->value[GSIM_KEY_SWITCH_LOOKAHEAD_NS]};
}

struct gsim_arbiter *gsim_arbiters_at(struct gsim_model *model, uint32_t gpu) {
    struct gsim_shared *shared = &model->shared;
    if (!open_table(model))
        return NULL;
    if (shared->of_gpu[gpu])
        return shared->of_gpu[gpu];
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    struct gsim_arbiter_options options = {.costs = gsim_arbiters_switch_costs(profile),
                                           .quantum_ns = profile->value[GSIM_KEY_SLICE_QUANTUM_NS],
                                           .slice_budget = model->setup.slice_budget,
                                           .is_plain = model->setup.is_plain,
                                           .is_exact = model->setup.is_exact};
    (void)gsim_observe_slices(model->setup.observer, &options.watch_from_ns,
                              &options.watch_until_ns);
    options.watches_kernels = gsim_observe_kernels(model->setup.observer);
    options.profile = profile;
    shared->of_gpu[gpu] = gsim_arbiter_new(&options, model->setup.arena);
    if (shared->of_gpu[gpu])
        shared->active[shared->n_active++] = gpu;
    return shared->of_gpu[gpu];
}
