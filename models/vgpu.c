/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/vgpu.h"

#include <assert.h>

#include "sim/base/units.h"

struct gsim_vgpu_rule gsim_vgpu_rule(const struct gsim_profile *profile,
                                     enum gsim_vgpu_scheduler scheduler, uint32_t n_running,
                                     uint32_t n_most, int64_t slice_ns) {
    assert(n_running > 0 && n_running <= n_most && slice_ns >= 0);
    bool are_few = n_most <= profile->value[GSIM_KEY_VGPU_FEW];
    enum gsim_key key = are_few ? GSIM_KEY_VGPU_SLICE_FEW_NS : GSIM_KEY_VGPU_SLICE_MANY_NS;
    struct gsim_vgpu_rule rule = {.quantum_ns = slice_ns > 0 ? slice_ns : profile->value[key],
                                  .is_work_conserving = scheduler == GSIM_VGPU_BEST_EFFORT};
    if (scheduler == GSIM_VGPU_EQUAL)
        rule.n_turns = n_running;
    else if (scheduler == GSIM_VGPU_FIXED)
        rule.n_turns = n_most;
    return rule;
}

uint32_t gsim_vgpu_share_ppm(const struct gsim_vgpu_rule *rule, uint32_t n_running) {
    uint32_t turns = rule->n_turns > 0 ? rule->n_turns : n_running;
    return (uint32_t)GSIM_PPM / turns;
}
