/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One iteration of a member of a lane, where it has the GPU alone; found once. */
#ifndef GSIM_MODELS_GPU_MEMBER_ALONE_H
#define GSIM_MODELS_GPU_MEMBER_ALONE_H

#include "models/gpu/lane_state.h"

void gsim_member_find_alone(struct gsim_member *member);

static inline const struct gsim_member_alone *gsim_member_alone(struct gsim_member *member) {
    const struct gsim_context_spec *spec = &member->context.spec;
    if (member->alone.gpu_ns != spec->gpu_ns || member->alone.host_ns != spec->host_ns)
        gsim_member_find_alone(member);
    return &member->alone;
}
static inline int64_t gsim_member_iteration_ns(struct gsim_member *member) {
    return gsim_member_alone(member)->iteration_ns;
}

#endif
