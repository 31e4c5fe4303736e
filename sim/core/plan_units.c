/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which units a job gets that is placed by shape: those that it has left, where its memory is,
 * others on the node that it has to go to, or any that the placement rule finds. */
#include "sim/core/core.h"
#include "sim/base/hints.h"

/* Whether an arrangement shares one of the units; placement by shape avoids these. */
static bool has_arranged(const struct gsim_cluster *cluster, const struct gsim_unit *units,
                         uint32_t n_units) {
    for (uint32_t u = 0; cluster->n_arranged > 0 && u < n_units; u++)
        if (cluster->gpu_is_arranged[units[u].gpu])
            return true;
    return false;
}

/* A job goes back to where its memory is when it can: anywhere else is a migration. */
static struct gsim_found take_back(struct gsim_core *core, gsim_slot slot,
                                   struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    uint32_t n = job->n_left_units;
    if (n != own->request.shape.gpus || has_arranged(&core->cluster, job->left_units, n) ||
        !gsim_cluster_fits(&core->cluster, &own->request, job->left_units, n))
        return (struct gsim_found){0};
    for (uint32_t u = 0; u < n; u++)
        units[u] = job->left_units[u];
    return (struct gsim_found){
        .n_units = n,
        .fits = true,
        .on_node = gsim_cluster_take_named(&core->cluster, &own->request, units, n)};
}

/* Memory on the host of a node is equally near to all GPUs of the node. */
static struct gsim_found find_at_home(struct gsim_core *core, gsim_slot slot,
                                      struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_found found = take_back(core, slot, units);
    uint32_t node = core->cluster.node_of_gpu[job->left_units->gpu];
    for (uint32_t u = 1; u < job->n_left_units; u++)
        if (core->cluster.node_of_gpu[job->left_units[u].gpu] != node)
            return found;
    return found.fits ? found : gsim_cluster_find_on(&core->cluster, &own->request, node, units);
}

/* Looks where the job's memory is, if bringing it to other nodes would cross a network. */
GSIM_APART static struct gsim_found find_back(struct gsim_core *core, gsim_slot slot,
                                              struct gsim_unit *units) {
    enum gsim_state state = core->jobs.state[slot];
    struct gsim_found found = {0};
    if (state == GSIM_PAUSED)
        found = take_back(core, slot, units);
    bool is_on_node =
        state == GSIM_HELD || (state == GSIM_PAUSED && !core->options->pauses_in_place);
    if (!found.fits && is_on_node && core->jobs.info[slot].n_left_units > 0 &&
        core->ops->is_bound(core->model, slot))
        found = find_at_home(core, slot, units);
    return found;
}

/* Copies the units into a list of their number, where a gang has fewer than it asks for. */
GSIM_COLD static struct gsim_unit *shorten(struct gsim_core *core, struct gsim_unit *units,
                                           uint32_t most, uint32_t n_units) {
    struct gsim_unit *fewer = gsim_units_copy(core, units, n_units);
    gsim_units_free(core, units, most);
    if (!fewer)
        (void)gsim_core_no_memory(core);
    return fewer;
}

/* On one node, and there on the units that the job has left, if it can have them. */
static struct gsim_found find_within(struct gsim_core *core, gsim_slot slot, uint32_t node,
                                     struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_found found = {0};
    bool is_left_there = job->n_left_units > 0 && core->jobs.state[slot] != GSIM_QUEUED;
    for (uint32_t u = 0; is_left_there && u < job->n_left_units; u++)
        is_left_there = core->cluster.node_of_gpu[job->left_units[u].gpu] == node;
    if (is_left_there)
        found = take_back(core, slot, units);
    return found.fits || gsim_plan_stays_in_place(core, slot)
               ? found
               : gsim_cluster_find_on(&core->cluster, &own->request, node, units);
}

/* A job that ran when the log begins goes on where it was, if its nodes have room. */
GSIM_COLD static struct gsim_found find_ran_on(struct gsim_core *core, gsim_slot slot,
                                               struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_node_part *part = NULL;
    uint32_t n = gsim_ran_on_parts(core, core->jobs.job[slot], &part);
    bool is_whole = own->request.shape.gpus == core->jobs.gpus[slot] &&
                    own->request.shape.share_ppm == GSIM_PPM;
    return n > 0 && is_whole
               ? gsim_cluster_find_parts(&core->cluster, &own->request, part, n, units)
               : (struct gsim_found){0};
}

/* Units that the request can have, taken, in *units. In a pool there are none to name. */
struct gsim_found gsim_plan_find_units(struct gsim_core *core, gsim_slot slot,
                                       struct gsim_unit **units) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    uint32_t most = own->request.shape.gpus;
    struct gsim_found found = {0};
    *units = NULL;
    if (gsim_rarely(core->cluster.is_pool))
        return gsim_cluster_find(&core->cluster, &own->request, NULL);
    struct gsim_unit *list = gsim_units_new(core, most);
    if (gsim_rarely(!list)) {
        (void)gsim_core_no_memory(core);
        return found;
    }
    uint32_t within = own->request.shape.within;
    if (gsim_rarely(within > 0))
        found = find_within(core, slot, within - 1, list);
    else if (gsim_rarely(core->jobs.state[slot] != GSIM_QUEUED))
        found = find_back(core, slot, list);
    else if (gsim_rarely(core->ran_on.count != NULL))
        found = find_ran_on(core, slot, list);
    if (!found.fits && within == 0 && !gsim_plan_stays_in_place(core, slot))
        found = gsim_cluster_find(&core->cluster, &own->request, list);
    if (!found.fits)
        gsim_units_free(core, list, most);
    else
        *units = found.n_units == most ? list : shorten(core, list, most, found.n_units);
    found.fits &= *units != NULL;
    return found;
}
