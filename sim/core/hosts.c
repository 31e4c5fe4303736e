/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of stopped jobs, where it is copied to the host: it counts against the memory of each
 * node's host, together with memory that managers page out (cluster.c). A job holds it from the
 * plan that stops it until it runs again: while two jobs change places, the host has room for both.
 * A job's memory that does not fit goes to the node's storage, as a whole. */
#include "sim/core/core.h"
#include "sim/base/hints.h"

#include <assert.h>

/* The units where the job's memory is, or was when it was stopped. */
static uint32_t units_of(const struct gsim_job *job, const struct gsim_unit **units) {
    bool has_left = job->n_left_units > 0;
    *units = has_left ? job->left_units : job->units;
    return has_left ? job->n_left_units : job->n_units;
}

int64_t gsim_hosts_bytes(const struct gsim_core *core, gsim_slot slot) {
    return gsim_trace_get(core->trace, GSIM_COL_MEM_BYTES, core->jobs.job[slot]);
}

enum gsim_keep gsim_hosts_choose(struct gsim_core *core, gsim_slot slot, enum gsim_keep keep) {
    int64_t bytes = gsim_hosts_bytes(core, slot);
    const struct gsim_unit *units;
    uint32_t n_units = units_of(&core->jobs.info[slot], &units);
    bool is_there = core->jobs.core[slot].is_hosted; /* true of a job that is stopped already */
    if (bytes <= 0 || is_there || gsim_cluster_can_hold(&core->cluster, units, n_units, bytes))
        return keep;
    return keep == GSIM_KEEP_HOST ? GSIM_KEEP_SPILT : GSIM_KEEP_IMAGE_SPILT;
}

void gsim_hosts_hold(struct gsim_core *core, gsim_slot slot, enum gsim_keep keep) {
    int64_t bytes = gsim_hosts_has(keep) ? gsim_hosts_bytes(core, slot) : 0;
    const struct gsim_unit *units;
    uint32_t n_units = units_of(&core->jobs.info[slot], &units);
    core->jobs.core[slot].is_hosted = bytes > 0 && n_units > 0;
    if (gsim_rarely(core->jobs.core[slot].is_hosted))
        gsim_cluster_hold(&core->cluster, units, n_units, bytes);
}

void gsim_hosts_give_back(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n_units = units_of(&core->jobs.info[slot], &units);
    gsim_cluster_hold(&core->cluster, units, n_units, -gsim_hosts_bytes(core, slot));
    core->jobs.core[slot].is_hosted = false;
}

/* Whether the GPU would take the job if its host had room. */
static bool is_short(const struct gsim_core *core, const struct gsim_request *request,
                     uint32_t gpu) {
    const struct gsim_cluster *c = &core->cluster;
    int64_t needs = gsim_cluster_host_needs(c, request, gpu);
    return needs < INT64_MAX && needs > gsim_cluster_host_free(c, c->node_of_gpu[gpu]);
}

void gsim_hosts_refuse(struct gsim_core *core, gsim_slot slot, const struct gsim_unit *units,
                       uint32_t n_units) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    bool is_refused = false;
    if (own->is_wanting && own->is_host_short)
        return;
    for (uint32_t u = 0; units && u < n_units; u++)
        is_refused |= is_short(core, &own->request, units[u].gpu);
    for (uint32_t gpu = 0; !units && gpu < core->cluster.n_gpus; gpu++)
        is_refused |=
            gsim_cluster_is_idle(&core->cluster, gpu) && is_short(core, &own->request, gpu);
    own->is_host_short = is_refused;
    if (own->is_wanting) /* an arrival counts once the policy is done with it */
        gsim_metrics_host_short(core, is_refused);
}

int64_t gsim_hosts_peak(const struct gsim_core *core, bool *is_assumed) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    int64_t peak = 0;
    uint32_t node = 0;
    *is_assumed = false;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        for (uint32_t i = 0; i < spec->groups[g].count; i++, node++) {
            int64_t one = core->cluster.node_host_peak[node];
            peak = one > peak ? one : peak;
            /* all host memory was given back */
            assert(core->cluster.node_host_used[node] == 0 ||
                   core->metrics.n_completed + core->metrics.n_declined < core->trace->n_jobs);
            *is_assumed |= one > 0 && !spec->groups[g].host_bytes && !spec->groups[g].is_host_moot;
        }
    return peak;
}
