/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs of a plan that are not about a job: arranging GPUs, cutting them into instances, and
 * the policy's timer. */
#include "sim/core/parts.h"

static bool is_exclusive(const struct gsim_arrangement *arrangement) {
    return arrangement->lanes[0].discipline == GSIM_DISCIPLINE_EXCLUSIVE;
}

static bool is_paired(const struct gsim_arrangement *arrangement) {
    return arrangement->lanes[0].discipline == GSIM_DISCIPLINE_PAIR;
}

static const char *cannot_arrange(const struct gsim_plan *plan, const struct gsim_unit *units,
                                  uint32_t n_units, const struct gsim_arrangement *arrangement) {
    const struct gsim_cluster *cluster = &plan->core->cluster;
    if (cluster->is_pool)
        return "a pool has no units to arrange";
    for (uint32_t u = 0; u < n_units; u++) {
        if (!gsim_is_here(plan->core, units[u].gpu))
            return "the cluster has no such unit";
        if (gsim_cluster_is_cut(cluster, units[u].gpu))
            return "the unit is cut into instances, which are not arranged";
        bool is_down = cluster->node_is_down[cluster->node_of_gpu[units[u].gpu]]; /* then empty */
        if (!is_down && !cluster->gpu_is_arranged[units[u].gpu] &&
            !gsim_cluster_is_idle(cluster, units[u].gpu))
            return "the unit holds a reservation; it must be idle to be arranged";
        if (cluster->gpu_clients[units[u].gpu] > 0 && is_exclusive(arrangement))
            return "jobs share the unit; it must be empty to become exclusive";
        if (cluster->gpu_clients[units[u].gpu] > 0 &&
            is_paired(arrangement) != cluster->gpu_is_paired[units[u].gpu])
            return "jobs share the unit; it must be empty to be shared in pairs, or otherwise "
                   "again";
        if (cluster->gpu_clients[units[u].gpu] > 0 && gsim_arrangement_is_split(arrangement) &&
            !cluster->gpu_is_split[units[u].gpu])
            return "jobs take turns on the whole unit; it must be empty for lanes beside each "
                   "other, or its first lane have a cap from the beginning";
    }
    return plan->core->ops->refuses_arrangement(plan->core->model, units, n_units, arrangement);
}

struct gsim_arena *gsim_plan_scratch(struct gsim_plan *plan) {
    if (!plan->scratch)
        plan->scratch = gsim_arena_new();
    return plan->scratch;
}

static const struct gsim_arrangement *copy_arrangement(struct gsim_plan *plan,
                                                       const struct gsim_arrangement *from) {
    if (!gsim_plan_scratch(plan))
        return NULL;
    struct gsim_arrangement *copy = gsim_arena_alloc(plan->scratch, sizeof *copy);
    struct gsim_lane *lanes = gsim_arena_array(plan->scratch, from->n_lanes, sizeof *lanes);
    struct gsim_entry *entries = gsim_arena_array(plan->scratch, from->n_entries, sizeof *entries);
    if (!copy || !lanes || !entries)
        return NULL;
    *copy = *from;
    for (uint32_t i = 0; i < from->n_lanes; i++)
        lanes[i] = from->lanes[i];
    for (uint32_t i = 0; i < from->n_entries; i++)
        entries[i] = from->entries[i];
    copy->lanes = lanes;
    copy->entries = entries;
    return copy;
}

static bool note_arrangement(struct gsim_plan *plan, const struct gsim_unit *units,
                             uint32_t n_units, const struct gsim_arrangement *arrangement) {
    struct gsim_cluster *cluster = &plan->core->cluster;
    const struct gsim_arrangement *copy = copy_arrangement(plan, arrangement);
    uint8_t *was = copy ? gsim_arena_array(plan->scratch, 4 * n_units, sizeof *was) : NULL;
    uint32_t *limits = was ? gsim_arena_array(plan->scratch, n_units, sizeof *limits) : NULL;
    struct gsim_unit *list = limits ? gsim_arena_array(plan->scratch, n_units, sizeof *list) : NULL;
    struct gsim_op *op = list ? gsim_plan_append(plan, GSIM_OP_ARRANGE) : NULL;
    if (!op)
        return gsim_core_no_memory(plan->core) == GSIM_OK;
    *op = (struct gsim_op){.kind = GSIM_OP_ARRANGE,
                           .slot = GSIM_NO_SLOT,
                           .n_units = n_units,
                           .units = list,
                           .was_arranged = was,
                           .was_memory = was + n_units,
                           .was_split = was + 2 * n_units,
                           .was_paired = was + 3 * n_units,
                           .was_limit = limits,
                           .arrangement = copy};
    for (uint32_t u = 0; u < n_units; u++) {
        list[u] = units[u];
        was[u] = cluster->gpu_is_arranged[units[u].gpu];
        was[n_units + u] = cluster->gpu_memory[units[u].gpu];
        was[2 * n_units + u] = cluster->gpu_is_split[units[u].gpu];
        was[3 * n_units + u] = cluster->gpu_is_paired[units[u].gpu];
        limits[u] = cluster->gpu_client_limit[units[u].gpu];
        gsim_cluster_set_arranged(cluster, units[u].gpu, !is_exclusive(arrangement));
        cluster->gpu_memory[units[u].gpu] = (uint8_t)arrangement->memory;
        cluster->gpu_is_split[units[u].gpu] =
            !is_exclusive(arrangement) &&
            (gsim_arrangement_is_split(arrangement) || cluster->gpu_is_split[units[u].gpu]);
        cluster->gpu_is_paired[units[u].gpu] = is_paired(arrangement);
        cluster->gpu_client_limit[units[u].gpu] =
            plan->core->ops->client_limit(plan->core->model, units[u].gpu, arrangement);
        gsim_cluster_note_open(cluster, units[u].gpu);
    }
    return true;
}

bool gsim_plan_arrange(struct gsim_plan *plan, const struct gsim_unit *units, uint32_t n_units,
                       const struct gsim_arrangement *arrangement) {
    units = gsim_units_in(plan->core, units, n_units);
    if (!units && n_units > 0)
        return gsim_core_no_memory(plan->core) == GSIM_OK;
    const char *why = cannot_arrange(plan, units, n_units, arrangement);
    if (why)
        return gsim_plan_broke(plan, GSIM_NO_SLOT, "arranging units", why);
    bool is_noted = note_arrangement(plan, units, n_units, arrangement);
    gsim_plan_refresh_view(plan->core);
    return is_noted;
}

void gsim_plan_unarrange(struct gsim_cluster *cluster, const struct gsim_op *op) {
    for (uint32_t u = op->n_units; u-- > 0;) {
        gsim_cluster_set_arranged(cluster, op->units[u].gpu, op->was_arranged[u]);
        cluster->gpu_memory[op->units[u].gpu] = op->was_memory[u];
        cluster->gpu_is_split[op->units[u].gpu] = op->was_split[u];
        cluster->gpu_is_paired[op->units[u].gpu] = op->was_paired[u];
        cluster->gpu_client_limit[op->units[u].gpu] = op->was_limit[u];
        gsim_cluster_note_open(cluster, op->units[u].gpu);
    }
}

/* No job may have anything on the GPU: jobs that leave it are on it until they have left. */
static const char *cannot_partition(const struct gsim_plan *plan, uint32_t gpu) {
    const struct gsim_core *core = plan->core;
    const struct gsim_cluster *cluster = &core->cluster;
    if (cluster->is_pool || !gsim_is_here(core, gpu))
        return "the cluster has no such GPU";
    bool is_idle = cluster->gpu_is_arranged[gpu] ? cluster->gpu_clients[gpu] == 0
                                                 : gsim_cluster_is_idle(cluster, gpu);
    if (!is_idle || cluster->gpu_mem_used[gpu] > 0 || core->shared_gpus[gpu].n_jobs > 0 ||
        core->vacating_ppm[gpu] > 0)
        return "the GPU must be idle to be cut into instances, or to become whole";
    return NULL;
}

static bool note_partition(struct gsim_plan *plan, uint32_t gpu, const char *layout,
                           const struct gsim_partition *partition) {
    struct gsim_instances *now = gsim_cluster_instances(&plan->core->cluster, gpu);
    bool is_open = now && gsim_plan_scratch(plan);
    struct gsim_unit *unit = is_open ? gsim_arena_alloc(plan->scratch, sizeof *unit) : NULL;
    struct gsim_instances *was = unit ? gsim_arena_alloc(plan->scratch, sizeof *was) : NULL;
    const char *copy = was ? gsim_arena_strdup(plan->scratch, layout) : NULL;
    struct gsim_op *op = copy ? gsim_plan_append(plan, GSIM_OP_PARTITION) : NULL;
    if (!op)
        return gsim_core_no_memory(plan->core) == GSIM_OK;
    unit->gpu = gpu;
    *was = *now;
    op->units = unit;
    op->n_units = 1;
    op->layout = copy;
    op->was_cut = was;
    *now = (struct gsim_instances){.n = partition->n};
    for (uint32_t i = 0; i < partition->n; i++) {
        now->mem_bytes[i] = partition->instance[i].mem_bytes;
        now->part_ppm[i] = partition->instance[i].part_ppm;
    }
    gsim_cluster_set_cut(&plan->core->cluster, gpu);
    return true;
}

bool gsim_plan_partition(struct gsim_plan *plan, uint32_t gpu, const char *layout) {
    struct gsim_core *core = plan->core;
    struct gsim_partition partition = {0};
    struct gsim_log log = {0};
    gpu += core->here.first_gpu;
    const char *why = cannot_partition(plan, gpu);
    if (!why && *layout &&
        core->ops->read_layout(core->model, gpu, layout, &partition, &log) != GSIM_OK)
        why = log.errors[0].text;
    if (why)
        return gsim_plan_broke(plan, GSIM_NO_SLOT, "partitioning a GPU", why);
    bool is_noted = note_partition(plan, gpu, layout, &partition);
    gsim_plan_refresh_view(core);
    return is_noted;
}

void gsim_plan_wake(struct gsim_plan *plan, int64_t time_ns) {
    if (time_ns <= plan->core->view.now_ns) {
        (void)gsim_plan_broke(plan, GSIM_NO_SLOT, "setting a timer",
                              "the time of a timer lies after now");
        return;
    }
    struct gsim_op *op = gsim_plan_append(plan, GSIM_OP_WAKE);
    const struct gsim_parts *parts = plan->core->parts;
    if (!op)
        return;
    op->value = time_ns;
    op->part = parts ? (uint16_t)(parts->now - parts->list) : 0;
}
