/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/member_alone.h"

#include "models/gpu/program_alone.h"

/* What it moves in the mean of an iteration. */
static int64_t draws(const struct gsim_member *member, int64_t iteration_ns) {
    const struct gsim_context_spec *spec = &member->context.spec;
    if (iteration_ns <= 0)
        return 0;
    return spec->program
               ? gsim_muldiv_floor(spec->program->hbm_bytes, GSIM_NS_PER_S, iteration_ns)
               : gsim_muldiv_floor(member->spec.demand.hbm_bytes_per_s, spec->gpu_ns, iteration_ns);
}

void gsim_member_find_alone(struct gsim_member *member) {
    struct gsim_context once = {.spec = member->context.spec};
    once.spec.iterations = 1;
    once.spec.arrival_ns = NULL;
    once.spec.latency_ns = NULL;
    once.spec.refill_ns = 0;
    int64_t ns = once.spec.gpu_ns > once.spec.host_ns ? once.spec.gpu_ns : once.spec.host_ns;
    ns = once.spec.program ? gsim_program_alone_ns(&once) : ns;
    member->alone = (struct gsim_member_alone){once.spec.gpu_ns, once.spec.host_ns, ns,
                                               draws(member, ns)};
}
