/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a cluster: its nodes and GPUs by the groups of its spec, and the wires between them. */
#include "sim/core/cluster.h"

static enum gsim_status count_spec(struct gsim_cluster *c, const struct gsim_cluster_spec *spec,
                                   struct gsim_log *log) {
    uint64_t nodes = 0, gpus = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        if (group->gpus_per_node == 0 || group->gpus_per_node > GSIM_MAX_GPUS_PER_NODE)
            return gsim_fail(log, GSIM_USAGE, NULL, 0, "a node of %u GPUs; a node has 1 to %u GPUs",
                             group->gpus_per_node, GSIM_MAX_GPUS_PER_NODE);
        nodes += group->count;
        gpus += (uint64_t)group->count * group->gpus_per_node;
        if (group->gpus_per_node > c->widest_node)
            c->widest_node = group->gpus_per_node;
    }
    if (nodes == 0 || nodes > GSIM_MAX_NODES || gpus > GSIM_MAX_GPUS)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "a cluster of %llu nodes with %llu GPUs; 1 to %u nodes and at most %u "
                         "GPUs can be simulated",
                         (unsigned long long)nodes, (unsigned long long)gpus, GSIM_MAX_NODES,
                         GSIM_MAX_GPUS);
    c->n_nodes = (uint32_t)nodes;
    c->n_gpus = (uint32_t)gpus;
    return GSIM_OK;
}

static bool allocate(struct gsim_cluster *c) {
    struct gsim_arena *arena = c->arena;
    c->node_of_gpu = gsim_arena_array(arena, c->n_gpus, sizeof *c->node_of_gpu);
    c->node_first_gpu = gsim_arena_array(arena, c->n_nodes + 1u, sizeof *c->node_first_gpu);
    c->type_of_gpu = gsim_arena_array(arena, c->n_gpus, sizeof *c->type_of_gpu);
    c->gpu_hbm_bytes = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_hbm_bytes);
    c->node_words = (c->widest_node + 63) / 64;
    c->idle_gpus =
        gsim_arena_array(arena, (size_t)c->n_nodes * c->node_words, sizeof *c->idle_gpus);
    c->gpu_part_ppm = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_part_ppm);
    c->gpu_mem_used = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_mem_used);
    c->node_beside_free = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_beside_free);
    c->node_host_bytes = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_host_bytes);
    c->node_host_used = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_host_used);
    c->node_host_peak = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_host_peak);
    c->gpu_memory = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_memory);
    c->gpu_is_paired = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_is_paired);
    c->gpu_is_split = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_is_split);
    c->gpu_is_arranged = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_is_arranged);
    c->gpu_clients = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_clients);
    c->gpu_client_limit = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_client_limit);
    c->node_cpus_free = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_cpus_free);
    c->node_gang = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_gang);
    c->node_is_down = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_is_down);
    c->node_idle = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_idle);
    c->node_empty = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_empty);
    c->nodes_with = gsim_arena_array(arena, c->widest_node + 1u, sizeof *c->nodes_with);
    bool ok = c->idle_gpus && c->gpu_part_ppm && c->node_of_gpu && c->node_first_gpu &&
              c->type_of_gpu && c->gpu_hbm_bytes && c->gpu_mem_used && c->gpu_memory &&
              c->gpu_is_paired && c->gpu_is_split && c->node_host_bytes && c->node_host_used &&
              c->node_host_peak && c->gpu_is_arranged && c->gpu_clients && c->gpu_client_limit &&
              c->node_cpus_free && c->node_beside_free && c->node_gang && c->node_idle &&
              c->node_empty && c->node_is_down && c->nodes_with &&
              gsim_bitset_init(&c->counts, arena, c->widest_node + 1) &&
              gsim_bitset_init(&c->unused_changed, arena, c->n_nodes) &&
              gsim_bitset_init(&c->open_changed, arena, c->n_gpus);
    for (uint32_t k = 0; ok && k <= c->widest_node; k++)
        ok = gsim_bitset_init(&c->nodes_with[k], arena, c->n_nodes);
    return ok;
}

static void add_group(struct gsim_cluster *c, const struct gsim_node_group *group, uint32_t *node,
                      uint32_t *gpu) {
    c->has_host_limit |= group->host_bytes > 0;
    c->counts_cpus |= group->cpus_milli > 0;
    for (uint32_t i = 0; i < group->count; i++, (*node)++) {
        c->node_first_gpu[*node] = *gpu;
        c->node_cpus_free[*node] = group->cpus_milli ? group->cpus_milli : INT64_MAX / 4;
        c->node_host_bytes[*node] = group->host_bytes ? group->host_bytes : INT64_MAX / 4;
        c->node_beside_free[*node] = c->node_host_bytes[*node];
        for (uint32_t k = 0; k < group->gpus_per_node; k++, (*gpu)++) {
            c->node_of_gpu[*gpu] = *node;
            c->type_of_gpu[*gpu] = group->device;
            c->gpu_hbm_bytes[*gpu] = group->hbm_bytes;
            gsim_cluster_set_idle(c, *gpu, true);
        }
        gsim_bitset_add(&c->nodes_with[group->gpus_per_node], *node);
        gsim_bitset_add(&c->counts, group->gpus_per_node);
        c->node_idle[*node] = group->gpus_per_node;
        c->n_idle += group->gpus_per_node;
        c->n_unused_whole += group->gpus_per_node;
    }
}

static bool list_kinds(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    uint32_t node = 0;
    c->kinds = gsim_arena_array(c->arena, spec->n_groups, sizeof *c->kinds);
    for (uint32_t g = 0; c->kinds && g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        uint32_t at = c->n_kinds++;
        for (; at > 0 && c->kinds[at - 1].gpus < group->gpus_per_node; at--)
            c->kinds[at] = c->kinds[at - 1];
        c->kinds[at] = (struct gsim_node_kind){group->gpus_per_node, group->count, node};
        node += group->count;
    }
    return c->kinds != NULL;
}

/* Roots are numbered across the cluster; each GPU of a node without shared roots has a root of its
 * own. */
static bool wire_roots(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    uint32_t *root_of_gpu = gsim_arena_array(c->arena, c->n_gpus, sizeof *root_of_gpu);
    int64_t *bytes_per_s = gsim_arena_array(c->arena, c->n_gpus, sizeof *bytes_per_s);
    if (!root_of_gpu || !bytes_per_s)
        return false;
    uint32_t gpu = 0, root = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        uint32_t below = group->gpus_per_root ? group->gpus_per_root : 1;
        for (uint32_t node = 0; node < group->count; node++)
            for (uint32_t k = 0; k < group->gpus_per_node; k++, gpu++) {
                root += gpu > 0 && k % below == 0;
                root_of_gpu[gpu] = root;
                bytes_per_s[root] = group->gpus_per_root ? group->root_bytes_per_s : INT64_MAX;
            }
    }
    c->wiring.root_of_gpu = root_of_gpu;
    c->wiring.root_bytes_per_s = bytes_per_s;
    return true;
}

static bool wire_network(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    int64_t *bytes_per_s = gsim_arena_array(c->arena, c->n_nodes, sizeof *bytes_per_s);
    if (!bytes_per_s)
        return false;
    uint32_t node = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        for (uint32_t i = 0; i < spec->groups[g].count; i++)
            bytes_per_s[node++] = spec->groups[g].network_bytes_per_s;
    c->wiring.network_bytes_per_s = bytes_per_s;
    return true;
}

static bool wire_hosts(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    struct gsim_host_wiring *hosts = gsim_arena_array(c->arena, c->n_nodes, sizeof *hosts);
    uint32_t node = 0;
    for (uint32_t g = 0; hosts && g < spec->n_groups; g++)
        for (uint32_t i = 0; i < spec->groups[g].count; i++)
            hosts[node++] = spec->groups[g].host;
    c->wiring.hosts = hosts;
    return hosts != NULL;
}

static bool says_host(const struct gsim_host_wiring *host) {
    return host->numa_gpus > 0 || host->bytes_per_s[GSIM_HOST_IN] > 0 ||
           host->bytes_per_s[GSIM_HOST_OUT] > 0 || host->bytes_per_s[GSIM_HOST_BOTH] > 0;
}

/* Switches are numbered across the cluster; a group without switches hangs below a switch of its
 * own. */
static bool wire_switches(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    uint32_t *switch_of_node = gsim_arena_array(c->arena, c->n_nodes, sizeof *switch_of_node);
    uint32_t *first_node = gsim_arena_array(c->arena, c->n_nodes + 1u, sizeof *first_node);
    if (!switch_of_node || !first_node)
        return false;
    uint32_t node = 0, n = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        uint32_t below = group->nodes_per_switch ? group->nodes_per_switch : group->count;
        for (uint32_t i = 0; i < group->count; i++, node++) {
            if (i % below == 0)
                first_node[n++] = node;
            switch_of_node[node] = n - 1;
        }
    }
    first_node[n] = node;
    c->wiring.switch_of_node = switch_of_node;
    c->switch_first_node = first_node;
    c->n_switches = n;
    return true;
}

/* What of its host falls to each GPU of a node. */
static bool wire_parts(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    struct gsim_host *part = gsim_arena_array(c->arena, c->n_nodes, sizeof *part);
    uint32_t node = 0;
    for (uint32_t g = 0; part && g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        for (uint32_t i = 0; i < group->count; i++)
            part[node++] = (struct gsim_host){group->cpus_milli / group->gpus_per_node,
                                              group->host_bytes / group->gpus_per_node};
    }
    c->wiring.part_of_host = part;
    return part != NULL;
}

/* Allocates a column of the wiring only where a node group sets it: most clusters do not describe
 * links. */
static bool wire(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    bool has_roots = false, has_network = false, has_switches = false, has_hosts = false;
    bool has_parts = false;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        has_roots |= spec->groups[g].gpus_per_root > 0;
        has_network |= spec->groups[g].network_bytes_per_s > 0;
        has_switches |= spec->groups[g].nodes_per_switch > 0;
        has_hosts |= says_host(&spec->groups[g].host);
        has_parts |= spec->groups[g].cpus_milli > 0 || spec->groups[g].host_bytes > 0;
    }
    c->wiring.node_of_gpu = c->node_of_gpu;
    c->wiring.n_nodes = c->n_nodes;
    return (!has_roots || wire_roots(c, spec)) && (!has_network || wire_network(c, spec)) &&
           (!has_switches || wire_switches(c, spec)) && (!has_hosts || wire_hosts(c, spec)) &&
           (!has_parts || wire_parts(c, spec));
}

enum gsim_status gsim_cluster_open(struct gsim_cluster *cluster,
                                   const struct gsim_cluster_spec *spec, struct gsim_arena *arena,
                                   struct gsim_log *log) {
    *cluster = (struct gsim_cluster){.arena = arena, .is_pool = spec->is_pool};
    enum gsim_status status = count_spec(cluster, spec, log);
    if (status != GSIM_OK)
        return status;
    if (!allocate(cluster))
        return gsim_no_memory(log, "building the cluster");
    gsim_index_init(&cluster->partial, arena);
    gsim_index_init(&cluster->open, arena);
    uint32_t node = 0, gpu = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        add_group(cluster, &spec->groups[g], &node, &gpu);
    cluster->node_first_gpu[node] = gpu;
    if (!list_kinds(cluster, spec) || !wire(cluster, spec))
        return gsim_no_memory(log, "building the cluster");
    cluster->pool_free_ppm = (int64_t)cluster->n_gpus * GSIM_PPM;
    cluster->counts_cpus |= spec->pool_cpus_milli > 0;
    cluster->pool_cpus_free = spec->pool_cpus_milli ? spec->pool_cpus_milli : INT64_MAX / 4;
    return GSIM_OK;
}
