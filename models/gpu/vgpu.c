/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/vgpu.h"

#include <assert.h>

#include "gsim/units.h"

enum gsim_key gsim_vgpu_slice_key(const struct gsim_profile *profile, uint32_t n_most) {
    bool are_few = n_most <= profile->value[GSIM_KEY_VGPU_FEW];
    return are_few ? GSIM_KEY_VGPU_SLICE_FEW_NS : GSIM_KEY_VGPU_SLICE_MANY_NS;
}

struct gsim_vgpu_rule gsim_vgpu_rule(const struct gsim_profile *profile,
                                     enum gsim_vgpu_scheduler scheduler, uint32_t n_running,
                                     uint32_t n_most, int64_t slice_ns) {
    assert(n_running > 0 && n_running <= n_most && slice_ns >= 0);
    enum gsim_key key = gsim_vgpu_slice_key(profile, n_most);
    struct gsim_vgpu_rule rule = {.quantum_ns = slice_ns > 0 ? slice_ns : profile->value[key],
                                  .is_work_conserving = scheduler == GSIM_VGPU_BEST_EFFORT};
    if (scheduler == GSIM_VGPU_EQUAL)
        rule.n_turns = n_running;
    else if (scheduler == GSIM_VGPU_FIXED)
        rule.n_turns = n_most;
    return rule;
}

int64_t gsim_vgpu_offset_ns(const struct gsim_vgpu_grid *grid, int64_t at_ns) {
    int64_t round_ns = grid->quantum_ns * grid->n;
    int64_t offset_ns = (at_ns - grid->origin_ns) % round_ns;
    return offset_ns < 0 ? offset_ns + round_ns : offset_ns;
}

/* Time from the begin of this place's last turn to at_ns. */
static int64_t into_turn_ns(const struct gsim_vgpu_grid *grid, int64_t place, int64_t at_ns) {
    return gsim_vgpu_offset_ns(grid, at_ns - place * grid->quantum_ns);
}

int64_t gsim_vgpu_turn_ns(const struct gsim_vgpu_grid *grid, int64_t place, int64_t from_ns,
                          int64_t need_ns) {
    int64_t into_ns = into_turn_ns(grid, place, from_ns);
    assert(need_ns < grid->quantum_ns);
    if (into_ns < grid->quantum_ns - need_ns)
        return from_ns;
    return from_ns - into_ns + grid->quantum_ns * grid->n;
}

int64_t gsim_vgpu_end_ns(const struct gsim_vgpu_grid *grid, int64_t place, int64_t at_ns) {
    int64_t into_ns = into_turn_ns(grid, place, at_ns);
    return into_ns < grid->quantum_ns ? at_ns - into_ns + grid->quantum_ns : at_ns;
}
