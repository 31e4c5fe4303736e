/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capacity: the job, share and memory of each GPU. Nodes hang in buckets by the number of their
 * idle GPUs, so that "the fullest node with at least n" is two bit scans (placement.c). */
#include "sim/core/cluster.h"
#include "sim/base/hints.h"

#include <assert.h>

#define PPM ((uint32_t)GSIM_PPM)

/* --- opening ---------------------------------------------------------------------------------- */

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

static void set_idle(struct gsim_cluster *c, uint32_t gpu, bool is_idle) {
    uint32_t node = c->node_of_gpu[gpu], nth = gpu - c->node_first_gpu[node];
    uint64_t *word = &c->idle_gpus[(size_t)node * c->node_words + nth / 64];
    uint64_t bit = UINT64_C(1) << (nth % 64);
    *word = (*word & ~bit) | (is_idle ? bit : 0);
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
            set_idle(c, *gpu, true);
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

/* --- taking and releasing --------------------------------------------------------------------- */

/* Returns the change of the node's idle count; the caller applies it, once per node. */
static int gpu_set_free(struct gsim_cluster *c, uint32_t gpu, uint32_t free_ppm) {
    bool was_idle = gsim_cluster_is_idle(c, gpu), is_idle = free_ppm == PPM;
    if (c->gpu_part_ppm[gpu] > 0)
        gsim_index_remove(&c->partial, gpu);
    if (free_ppm > 0 && !is_idle)
        (void)gsim_index_insert(&c->partial, gpu, free_ppm, gpu);
    c->gpu_part_ppm[gpu] = is_idle ? 0 : free_ppm;
    set_idle(c, gpu, is_idle);
    return is_idle - was_idle;
}

int64_t gsim_cluster_cpus(const struct gsim_shape *shape, uint32_t gpus) {
    return shape->cpus_milli ? gsim_muldiv_ceil(shape->cpus_milli, gpus, shape->gpus) : 0;
}

/* The part of `bytes`, the memory of a GPU's jobs, that is on the host. */
static int64_t spilt(const struct gsim_cluster *c, uint32_t gpu, int64_t bytes) {
    if (bytes <= c->gpu_hbm_bytes[gpu] || c->gpu_memory[gpu] == GSIM_MEMORY_LANES)
        return 0;
    return bytes - c->gpu_hbm_bytes[gpu];
}

static void add_memory(struct gsim_cluster *c, uint32_t gpu, int64_t bytes) {
    int64_t now = c->gpu_mem_used[gpu] + bytes;
    int64_t paged = spilt(c, gpu, now) - spilt(c, gpu, now - bytes);
    if (gsim_rarely(paged != 0))
        gsim_cluster_host(c, c->node_of_gpu[gpu], paged);
    c->gpu_mem_used[gpu] = now;
}

static void charge_memory(struct gsim_cluster *c, const struct gsim_unit *unit, int64_t bytes) {
    add_memory(c, unit->gpu, bytes);
    if (unit->slot > 0)
        c->gpu_instances[unit->gpu]->mem_used[unit->slot - 1] += bytes;
}

/* Notes that jobs come to or leave an arranged GPU, or that it becomes one. */
static void add_empty(struct gsim_cluster *c, uint32_t gpu, bool is_empty) {
    uint32_t node = c->node_of_gpu[gpu], by = is_empty ? 1u : UINT32_MAX;
    uint32_t size = c->node_first_gpu[node + 1] - c->node_first_gpu[node];
    uint32_t was = c->node_idle[node] + c->node_empty[node], is = was + by;
    gsim_cluster_note_unused(c, node);
    c->node_empty[node] += by;
    c->n_empty += by;
    c->n_unused_whole += (is == size ? size : 0) - (was == size ? size : 0);
}

static int charge_gpu(struct gsim_cluster *c, const struct gsim_request *request,
                      const struct gsim_unit *unit, bool is_taken) {
    uint32_t gpu = unit->gpu;
    int64_t sign = is_taken ? 1 : -1;
    if (request->mem_bytes > 0)
        charge_memory(c, unit, sign * request->mem_bytes);
    if (unit->slot > 0)
        c->gpu_instances[gpu]->jobs[unit->slot - 1] += is_taken ? 1u : UINT32_MAX;
    if (request->beside_bytes > 0)
        c->node_beside_free[c->node_of_gpu[gpu]] -= sign * request->beside_bytes;
    if (request->shape.cpus_milli)
        c->node_cpus_free[c->node_of_gpu[gpu]] -= sign * gsim_cluster_cpus(&request->shape, 1);
    if (c->gpu_is_arranged[gpu]) {
        if (c->gpu_clients[gpu] == (is_taken ? 0 : 1))
            add_empty(c, gpu, !is_taken);
        c->gpu_clients[gpu] += is_taken ? 1u : UINT32_MAX;
        gsim_cluster_note_open(c, gpu);
        return 0;
    }
    uint32_t share = request->shape.share_ppm, is_free = gsim_cluster_free_ppm(c, gpu);
    return gpu_set_free(c, gpu, is_taken ? is_free - share : is_free + share);
}

/* Units of a node mostly follow each other, so that its bucket changes once. */
void gsim_cluster_charge(struct gsim_cluster *c, const struct gsim_request *request,
                         const struct gsim_unit *units, uint32_t n_units, bool is_taken) {
    uint32_t node = 0;
    int idle = 0;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t own_node = c->node_of_gpu[units[u].gpu];
        if (own_node != node) {
            gsim_cluster_add_idle(c, node, idle);
            node = own_node;
            idle = 0;
        }
        idle += charge_gpu(c, request, &units[u], is_taken);
    }
    gsim_cluster_add_idle(c, node, idle);
}

static int64_t pool_ppm(const struct gsim_request *request) {
    return (int64_t)request->shape.gpus * request->shape.share_ppm;
}

void gsim_cluster_take(struct gsim_cluster *cluster, const struct gsim_request *request,
                       const struct gsim_unit *units, uint32_t n_units) {
    if (cluster->is_pool) {
        cluster->pool_free_ppm -= pool_ppm(request);
        cluster->pool_cpus_free -= request->shape.cpus_milli;
    }
    gsim_cluster_charge(cluster, request, units, n_units, true);
}

/* Which ones of one node these are, where nothing but whole GPUs is counted; else 0. */
static uint64_t bits_on_node(const struct gsim_cluster *c, const struct gsim_request *request,
                             const struct gsim_unit *units, uint32_t n_units) {
    uint64_t bits = 0;
    if (n_units == 0 || c->node_words > 1 || !gsim_cluster_is_plain(c, request))
        return 0;
    uint32_t node = c->node_of_gpu[units[0].gpu], first = c->node_first_gpu[node];
    for (uint32_t u = 0; u < n_units; u++) {
        if (c->node_of_gpu[units[u].gpu] != node || units[u].slot > 0)
            return 0;
        bits |= UINT64_C(1) << (units[u].gpu - first);
    }
    return bits;
}

uint64_t gsim_cluster_take_named(struct gsim_cluster *cluster, const struct gsim_request *request,
                                 const struct gsim_unit *units, uint32_t n_units) {
    uint64_t bits = bits_on_node(cluster, request, units, n_units);
    if (bits)
        gsim_cluster_flip(cluster, units[0].gpu, bits, -(int)n_units);
    else
        gsim_cluster_take(cluster, request, units, n_units);
    return bits;
}

void gsim_cluster_give_back(struct gsim_cluster *cluster, const struct gsim_request *request,
                            const struct gsim_unit *units, uint32_t n_units) {
    if (cluster->is_pool) {
        cluster->pool_free_ppm += pool_ppm(request);
        cluster->pool_cpus_free += request->shape.cpus_milli;
    }
    gsim_cluster_charge(cluster, request, units, n_units, false);
}

void gsim_cluster_pin(struct gsim_cluster *cluster, const struct gsim_unit *units, uint32_t n_units,
                      int64_t bytes) {
    for (uint32_t u = 0; u < n_units; u++) {
        charge_memory(cluster, &units[u], bytes);
        if (cluster->gpu_is_arranged[units[u].gpu])
            gsim_cluster_note_open(cluster, units[u].gpu);
    }
}

/* --- hosts ------------------------------------------------------------------------------------ */

void gsim_cluster_hold(struct gsim_cluster *cluster, const struct gsim_unit *units,
                       uint32_t n_units, int64_t bytes) {
    for (uint32_t u = 0; u < n_units; u++)
        gsim_cluster_host(cluster, cluster->node_of_gpu[units[u].gpu], bytes);
}

bool gsim_cluster_can_hold(struct gsim_cluster *cluster, const struct gsim_unit *units,
                           uint32_t n_units, int64_t bytes) {
    uint32_t n = 0;
    for (; n < n_units; n++) {
        uint32_t node = cluster->node_of_gpu[units[n].gpu];
        if (bytes > gsim_cluster_host_free(cluster, node))
            break;
        cluster->node_host_used[node] += bytes;
    }
    for (uint32_t u = 0; u < n; u++)
        cluster->node_host_used[cluster->node_of_gpu[units[u].gpu]] -= bytes;
    return n == n_units;
}

void gsim_cluster_note_hosts(struct gsim_cluster *cluster, const struct gsim_unit *units,
                             uint32_t n_units) {
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t node = cluster->node_of_gpu[units[u].gpu];
        if (cluster->node_host_used[node] > cluster->node_host_peak[node])
            cluster->node_host_peak[node] = cluster->node_host_used[node];
    }
}

void gsim_cluster_set_down(struct gsim_cluster *cluster, uint32_t node, bool is_down) {
    int idle = 0;
    uint32_t first = cluster->node_first_gpu[node], end = cluster->node_first_gpu[node + 1];
    for (uint32_t gpu = first; gpu < end; gpu++) {
        assert(cluster->gpu_clients[gpu] == 0);
        if (cluster->gpu_is_arranged[gpu]) {
            add_empty(cluster, gpu, !is_down);
            continue;
        }
        assert(gsim_cluster_free_ppm(cluster, gpu) == (is_down ? PPM : 0));
        idle += gpu_set_free(cluster, gpu, is_down ? 0 : PPM);
    }
    gsim_cluster_add_idle(cluster, node, idle);
    cluster->node_is_down[node] = is_down;
    cluster->n_gpus_down += is_down ? end - first : first - end;
    for (uint32_t gpu = first; gpu < end && cluster->n_arranged > 0; gpu++)
        gsim_cluster_note_open(cluster, gpu);
}

void gsim_cluster_set_arranged(struct gsim_cluster *cluster, uint32_t gpu, bool is_arranged) {
    if (cluster->gpu_is_arranged[gpu] == is_arranged)
        return;
    assert(cluster->gpu_clients[gpu] == 0);
    assert(!is_arranged || gsim_cluster_is_idle(cluster, gpu) ||
           cluster->node_is_down[cluster->node_of_gpu[gpu]]);
    cluster->gpu_is_arranged[gpu] = is_arranged;
    cluster->n_arranged += is_arranged ? 1u : UINT32_MAX;
    if (cluster->node_is_down[cluster->node_of_gpu[gpu]])
        return;
    add_empty(cluster, gpu, is_arranged);
    gsim_cluster_add_idle(cluster, cluster->node_of_gpu[gpu],
                          gpu_set_free(cluster, gpu, is_arranged ? 0 : PPM));
}

int64_t gsim_cluster_host_needs(const struct gsim_cluster *c, const struct gsim_request *request,
                                uint32_t gpu) {
    int64_t used = c->gpu_mem_used[gpu], then = used + request->mem_bytes;
    if (request->mem_bytes <= 0 || then <= c->gpu_hbm_bytes[gpu])
        return 0;
    if (c->gpu_memory[gpu] == GSIM_MEMORY_RESIDENT)
        return INT64_MAX;
    return spilt(c, gpu, then) - spilt(c, gpu, used);
}

bool gsim_cluster_has_memory(const struct gsim_cluster *c, const struct gsim_request *request,
                             uint32_t gpu) {
    return gsim_cluster_host_needs(c, request, gpu) <=
           gsim_cluster_host_free(c, c->node_of_gpu[gpu]);
}

/* A gang's GPUs of one node page to one host: the last of these units must have room behind the
 * earlier ones. */
static bool host_has_room(const struct gsim_cluster *c, const struct gsim_request *request,
                          const struct gsim_unit *units, uint32_t last) {
    uint32_t node = c->node_of_gpu[units[last].gpu];
    int64_t left = gsim_cluster_host_free(c, node);
    int64_t needs = gsim_cluster_host_needs(c, request, units[last].gpu);
    for (uint32_t u = 0; u < last && needs > 0 && needs <= left; u++)
        if (c->node_of_gpu[units[u].gpu] == node)
            left -= gsim_cluster_host_needs(c, request, units[u].gpu);
    return needs <= left;
}

/* --- instances -------------------------------------------------------------------------------- */

struct gsim_instances *gsim_cluster_instances(struct gsim_cluster *cluster, uint32_t gpu) {
    if (!cluster->gpu_instances)
        cluster->gpu_instances =
            gsim_arena_array(cluster->arena, cluster->n_gpus, sizeof *cluster->gpu_instances);
    if (!cluster->gpu_instances)
        return NULL;
    struct gsim_instances **instances = &cluster->gpu_instances[gpu];
    if (!*instances)
        *instances = gsim_arena_alloc(cluster->arena, sizeof **instances);
    return *instances;
}

void gsim_cluster_set_cut(struct gsim_cluster *cluster, uint32_t gpu) {
    uint32_t n = cluster->gpu_instances[gpu]->n;
    gsim_cluster_set_arranged(cluster, gpu, n > 0);
    cluster->gpu_client_limit[gpu] = n;
    gsim_cluster_note_open(cluster, gpu);
}

/* Whether the unit is a whole GPU, or an instance that no job has. */
static bool has_unit(const struct gsim_cluster *c, const struct gsim_request *request,
                     const struct gsim_unit *unit) {
    if (!gsim_cluster_is_cut(c, unit->gpu))
        return unit->slot == 0;
    const struct gsim_instances *instances = c->gpu_instances[unit->gpu];
    /* slot 0, the whole GPU, wraps to a number past the last instance */
    uint32_t at = unit->slot - 1u;
    return at < instances->n && instances->jobs[at] == 0 &&
           (request->mem_bytes <= 0 ||
            instances->mem_used[at] + request->mem_bytes <= instances->mem_bytes[at]);
}

bool gsim_cluster_has_beside(const struct gsim_cluster *cluster, const struct gsim_request *request,
                             const struct gsim_unit *units, uint32_t n_units) {
    int64_t cpus = gsim_cluster_cpus(&request->shape, 1);
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t node = cluster->node_of_gpu[units[u].gpu], n = 0;
        for (uint32_t other = 0; other < n_units; other++)
            n += cluster->node_of_gpu[units[other].gpu] == node;
        if (cpus * n > cluster->node_cpus_free[node] ||
            request->beside_bytes * n > cluster->node_beside_free[node])
            return false;
    }
    return true;
}

bool gsim_cluster_fits(const struct gsim_cluster *cluster, const struct gsim_request *request,
                       const struct gsim_unit *units, uint32_t n_units) {
    if (cluster->is_pool)
        return cluster->pool_free_ppm >= pool_ppm(request) &&
               cluster->pool_cpus_free >= request->shape.cpus_milli;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t gpu = units[u].gpu;
        if (cluster->n_gpus_down > 0 && cluster->node_is_down[cluster->node_of_gpu[gpu]])
            return false;
        if (!gsim_cluster_may_use(request, cluster->node_of_gpu[gpu]))
            return false;
        if (!has_unit(cluster, request, &units[u]) || !host_has_room(cluster, request, units, u))
            return false;
        if (cluster->gpu_is_arranged[gpu] &&
            cluster->gpu_clients[gpu] >= cluster->gpu_client_limit[gpu])
            return false;
        if (!cluster->gpu_is_arranged[gpu] &&
            gsim_cluster_free_ppm(cluster, gpu) < request->shape.share_ppm)
            return false;
    }
    return true;
}
