/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units that a policy names: which ones a job cannot have, by the rules of a plan. */
#include "sim/core/core.h"

static bool are_equal(struct gsim_unit a, struct gsim_unit b) {
    return a.gpu == b.gpu && a.slot == b.slot;
}

/* Policies name units in order, mostly: then one comparison for each is enough. */
static bool names_twice(const struct gsim_unit *units, uint32_t n_units) {
    uint32_t rising = 1;
    while (rising < n_units && (units[rising - 1].gpu < units[rising].gpu ||
                                (units[rising - 1].gpu == units[rising].gpu &&
                                 units[rising - 1].slot < units[rising].slot)))
        rising++;
    for (uint32_t u = rising; u < n_units; u++)
        for (uint32_t before = 0; before < u; before++)
            if (are_equal(units[before], units[u]))
                return true;
    return false;
}

const char *gsim_plan_misnames(const struct gsim_plan *plan, gsim_slot slot,
                               const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_core *core = plan->core;
    if (core->cluster.is_pool)
        return "a pool has no units to name";
    for (uint32_t u = 0; u < n_units; u++) {
        if (!gsim_is_here(core, units[u].gpu) || units[u].slot > GSIM_INSTANCES_MAX)
            return "the cluster has no such unit";
        if (!gsim_cluster_may_use(&core->jobs.core[slot].request,
                                  core->cluster.node_of_gpu[units[u].gpu]))
            return "on a GPU outside its partition or of another type";
    }
    if (names_twice(units, n_units))
        return "on a unit that is named twice";
    if (!gsim_cluster_are_spread(&core->cluster, &core->jobs.core[slot].request, units, n_units))
        return "on other numbers of nodes than it asked for (column num_nodes, gsim_ask_nodes)";
    return n_units > 0 ? NULL : "on no unit at all";
}
