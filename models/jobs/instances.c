/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that are cut into instances (MIG): each instance is a lane in a space of its own
 * (models/gpu/side_by_side.h), with its own SMs, memory and part of the bandwidth. */
#include "models/jobs/instances.h"

#include "models/jobs/shared_gpus.h"

#include <assert.h>

enum gsim_status gsim_instances_read(const struct gsim_model *model, uint32_t gpu,
                                     const char *layout, struct gsim_partition *out,
                                     struct gsim_log *log) {
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    return gsim_mig_partition(profile->mig, profile->name, layout, out, log);
}

/* Charges a cut: a layout at the first arrival counts as found, and takes no time; each later cut
 * takes the device's time, also of a GPU that was whole until then. */
static void charge(struct gsim_model *model, struct gsim_machine_gpu *gpu,
                   const struct gsim_profile *profile, int64_t now_ns) {
    const struct gsim_trace *trace = model->setup.trace;
    if (now_ns > trace->submit_ns[gsim_trace_arrival(trace, 0)]) {
        gpu->cut_until_ns = now_ns + profile->value[GSIM_KEY_INSTANCES_NS];
        model->has_recut = model->has_key[GSIM_KEY_INSTANCES_NS] = true;
    }
    model->has_cut = true;
}

static uint16_t read_spaces(const struct gsim_profile *profile, const char *layout,
                            struct gsim_space *spaces) {
    struct gsim_mig_layout parsed;
    struct gsim_log log = {0};
    enum gsim_status status = gsim_mig_parse(profile->mig, layout, &parsed, &log);
    assert(status == GSIM_OK); /* the plan has read it before */
    for (int i = 0; i < parsed.n; i++)
        spaces[i] =
            gsim_space_of_instance(profile, &profile->mig->profile[parsed.instance[i].profile]);
    return (uint16_t)parsed.n;
}

void gsim_instances_cut(struct gsim_model *model, uint32_t gpu, const char *layout,
                        int64_t now_ns) {
    struct gsim_machine_gpu *cut = &model->gpus[gpu];
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    struct gsim_space spaces[GSIM_SPACES_MAX];
    charge(model, cut, profile, now_ns);
    cut->is_cut = cut->takes_turns = *layout != '\0';
    model->may_take_turns |= cut->takes_turns;
    cut->is_shared = false;
    if (!cut->is_cut)
        gsim_shared_disband(model, gpu, now_ns);
    else if (!gsim_shared_cut(model, gpu, spaces, read_spaces(profile, layout, spaces), now_ns))
        model->is_out_of_memory = true;
}

int64_t gsim_instances_wait_ns(const struct gsim_model *model, const struct gsim_unit *units,
                               uint32_t n_units, int64_t now_ns) {
    int64_t until_ns = now_ns;
    for (uint32_t u = 0; model->has_recut && u < n_units; u++)
        if (model->gpus[units[u].gpu].cut_until_ns > until_ns)
            until_ns = model->gpus[units[u].gpu].cut_until_ns;
    return until_ns - now_ns;
}
