/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capacity and placement. Nodes hang in buckets by the number of their idle GPUs, so that "the
 * fullest node with at least n" is two bit scans. */
#include "sim/core/cluster.h"

#include <assert.h>

#define PPM ((uint32_t)GSIM_PPM)

/* --- opening ---------------------------------------------------------------------------------- */

static enum gsim_status count_nodes(struct gsim_cluster *c, const struct gsim_cluster_spec *spec,
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
    c->gpu_free_ppm = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_free_ppm);
    c->gpu_mem_used = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_mem_used);
    c->gpu_is_arranged = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_is_arranged);
    c->gpu_clients = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_clients);
    c->gpu_client_limit = gsim_arena_array(arena, c->n_gpus, sizeof *c->gpu_client_limit);
    c->node_cpus_free = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_cpus_free);
    c->node_gang = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_gang);
    c->node_idle = gsim_arena_array(arena, c->n_nodes, sizeof *c->node_idle);
    c->nodes_with = gsim_arena_array(arena, c->widest_node + 1u, sizeof *c->nodes_with);
    c->n_nodes_with = gsim_arena_array(arena, c->widest_node + 1u, sizeof *c->n_nodes_with);
    bool ok = c->n_nodes_with && c->node_of_gpu && c->node_first_gpu && c->type_of_gpu &&
              c->gpu_hbm_bytes && c->gpu_free_ppm && c->gpu_mem_used && c->gpu_is_arranged &&
              c->gpu_clients && c->gpu_client_limit && c->node_cpus_free && c->node_gang &&
              c->node_idle && c->nodes_with &&
              gsim_bitset_init(&c->counts, arena, c->widest_node + 1);
    for (uint32_t k = 0; ok && k <= c->widest_node; k++)
        ok = gsim_bitset_init(&c->nodes_with[k], arena, c->n_nodes);
    return ok;
}

static void bucket_add(struct gsim_cluster *c, uint32_t idle, uint32_t node) {
    gsim_bitset_add(&c->nodes_with[idle], node);
    if (c->n_nodes_with[idle]++ == 0)
        gsim_bitset_add(&c->counts, idle);
}

static void bucket_remove(struct gsim_cluster *c, uint32_t idle, uint32_t node) {
    gsim_bitset_remove(&c->nodes_with[idle], node);
    if (--c->n_nodes_with[idle] == 0)
        gsim_bitset_remove(&c->counts, idle);
}

static void add_group(struct gsim_cluster *c, const struct gsim_node_group *group, uint32_t *node,
                      uint32_t *gpu) {
    for (uint32_t i = 0; i < group->count; i++, (*node)++) {
        c->node_first_gpu[*node] = *gpu;
        c->node_cpus_free[*node] = group->cpus_milli ? group->cpus_milli : INT64_MAX / 4;
        for (uint32_t k = 0; k < group->gpus_per_node; k++, (*gpu)++) {
            c->node_of_gpu[*gpu] = *node;
            c->type_of_gpu[*gpu] = group->device;
            c->gpu_hbm_bytes[*gpu] = group->hbm_bytes;
            c->gpu_free_ppm[*gpu] = PPM;
        }
        bucket_add(c, group->gpus_per_node, *node);
        c->node_idle[*node] = group->gpus_per_node;
        c->n_idle += group->gpus_per_node;
        c->n_idle_whole += group->gpus_per_node;
    }
}

/* Roots are numbered through; GPUs of a node without shared roots have one each. */
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
            bytes_per_s[node++] = spec->groups[g].network_bytes_per_s
                                      ? spec->groups[g].network_bytes_per_s
                                      : INT64_MAX;
    c->wiring.network_bytes_per_s = bytes_per_s;
    return true;
}

/* Only what somebody set: most clusters say nothing of links. */
static bool wire(struct gsim_cluster *c, const struct gsim_cluster_spec *spec) {
    bool has_roots = false, has_network = false;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        has_roots |= spec->groups[g].gpus_per_root > 0;
        has_network |= spec->groups[g].network_bytes_per_s > 0;
    }
    c->wiring.node_of_gpu = c->node_of_gpu;
    c->wiring.n_nodes = c->n_nodes;
    return (!has_roots || wire_roots(c, spec)) && (!has_network || wire_network(c, spec));
}

enum gsim_status gsim_cluster_open(struct gsim_cluster *cluster,
                                   const struct gsim_cluster_spec *spec, struct gsim_arena *arena,
                                   struct gsim_log *log) {
    *cluster = (struct gsim_cluster){.arena = arena, .is_pool = spec->is_pool};
    enum gsim_status status = count_nodes(cluster, spec, log);
    if (status != GSIM_OK)
        return status;
    if (!allocate(cluster))
        return gsim_no_memory(log, "building the cluster");
    gsim_index_init(&cluster->partial, arena);
    uint32_t node = 0, gpu = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        add_group(cluster, &spec->groups[g], &node, &gpu);
    cluster->node_first_gpu[node] = gpu;
    if (!wire(cluster, spec))
        return gsim_no_memory(log, "building the cluster");
    cluster->pool_free_ppm = (int64_t)cluster->n_gpus * GSIM_PPM;
    cluster->pool_cpus_free = spec->pool_cpus_milli ? spec->pool_cpus_milli : INT64_MAX / 4;
    return GSIM_OK;
}

/* --- taking and releasing --------------------------------------------------------------------- */

/* Returns by how much the node's idle count changes; the caller applies it, once a node. */
static int gpu_set_free(struct gsim_cluster *c, uint32_t gpu, uint32_t free_ppm) {
    uint32_t was = c->gpu_free_ppm[gpu];
    c->gpu_free_ppm[gpu] = free_ppm;
    if (was > 0 && was < PPM)
        gsim_index_remove(&c->partial, gpu);
    if (free_ppm > 0 && free_ppm < PPM)
        (void)gsim_index_insert(&c->partial, gpu, free_ppm, gpu);
    return (free_ppm == PPM) - (was == PPM);
}

static void node_add_idle(struct gsim_cluster *c, uint32_t node, int by) {
    if (by == 0)
        return;
    uint32_t was = c->node_idle[node], is = was + (uint32_t)by;
    bucket_remove(c, was, node);
    bucket_add(c, is, node);
    c->node_idle[node] = is;
    c->n_idle += (uint32_t)by;
    uint32_t size = c->node_first_gpu[node + 1] - c->node_first_gpu[node];
    c->n_idle_whole += (is == size ? size : 0) - (was == size ? size : 0);
}

/* A gang's CPUs are spread evenly over its GPUs. */
static int64_t cpus_for(const struct gsim_shape *shape, uint32_t gpus) {
    return shape->cpus_milli ? gsim_muldiv_ceil(shape->cpus_milli, gpus, shape->gpus) : 0;
}

static int charge_gpu(struct gsim_cluster *c, const struct gsim_request *request, uint32_t gpu,
                      bool is_taken) {
    int64_t sign = is_taken ? 1 : -1;
    if (request->mem_bytes > 0)
        c->gpu_mem_used[gpu] += sign * request->mem_bytes;
    if (request->shape.cpus_milli)
        c->node_cpus_free[c->node_of_gpu[gpu]] -= sign * cpus_for(&request->shape, 1);
    if (c->gpu_is_arranged[gpu]) {
        c->gpu_clients[gpu] += is_taken ? 1u : UINT32_MAX;
        return 0;
    }
    uint32_t share = request->shape.share_ppm, is_free = c->gpu_free_ppm[gpu];
    return gpu_set_free(c, gpu, is_taken ? is_free - share : is_free + share);
}

/* Whole GPUs, and nothing else is counted: most requests of most traces. */
static bool is_plain(const struct gsim_request *request) {
    return request->mem_bytes <= 0 && request->shape.cpus_milli == 0 &&
           request->shape.share_ppm == PPM;
}

/* Units that are all of one node: its bucket is changed once. */
static void charge_node(struct gsim_cluster *c, const struct gsim_request *request, uint32_t node,
                        const struct gsim_unit *units, uint32_t n_units, bool is_taken) {
    int idle = 0;
    if (is_plain(request) && c->n_arranged == 0) {
        for (uint32_t u = 0; u < n_units; u++)
            c->gpu_free_ppm[units[u].gpu] = is_taken ? 0 : PPM;
        idle = is_taken ? -(int)n_units : (int)n_units;
    } else {
        for (uint32_t u = 0; u < n_units; u++)
            idle += charge_gpu(c, request, units[u].gpu, is_taken);
    }
    node_add_idle(c, node, idle);
}

/* Units of one node mostly stand together. */
static void charge(struct gsim_cluster *c, const struct gsim_request *request,
                   const struct gsim_unit *units, uint32_t n_units, bool is_taken) {
    for (uint32_t from = 0, end; from < n_units; from = end) {
        uint32_t node = c->node_of_gpu[units[from].gpu];
        for (end = from + 1; end < n_units && c->node_of_gpu[units[end].gpu] == node;)
            end++;
        charge_node(c, request, node, units + from, end - from, is_taken);
    }
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
    charge(cluster, request, units, n_units, true);
}

void gsim_cluster_release(struct gsim_cluster *cluster, const struct gsim_request *request,
                          const struct gsim_unit *units, uint32_t n_units) {
    if (cluster->is_pool) {
        cluster->pool_free_ppm += pool_ppm(request);
        cluster->pool_cpus_free += request->shape.cpus_milli;
    }
    charge(cluster, request, units, n_units, false);
}

void gsim_cluster_pin(struct gsim_cluster *cluster, const struct gsim_unit *units, uint32_t n_units,
                      int64_t bytes) {
    for (uint32_t u = 0; u < n_units; u++)
        cluster->gpu_mem_used[units[u].gpu] += bytes;
}

void gsim_cluster_set_arranged(struct gsim_cluster *cluster, uint32_t gpu, bool is_arranged) {
    if (cluster->gpu_is_arranged[gpu] == is_arranged)
        return;
    assert(cluster->gpu_clients[gpu] == 0);
    assert(!is_arranged || cluster->gpu_free_ppm[gpu] == PPM);
    cluster->gpu_is_arranged[gpu] = is_arranged;
    cluster->n_arranged += is_arranged ? 1u : UINT32_MAX;
    node_add_idle(cluster, cluster->node_of_gpu[gpu],
                  gpu_set_free(cluster, gpu, is_arranged ? 0 : PPM));
}

static bool has_memory(const struct gsim_cluster *c, const struct gsim_request *request,
                       uint32_t gpu) {
    return request->mem_bytes <= 0 ||
           c->gpu_mem_used[gpu] + request->mem_bytes <= c->gpu_hbm_bytes[gpu];
}

bool gsim_cluster_fits(const struct gsim_cluster *cluster, const struct gsim_request *request,
                       const struct gsim_unit *units, uint32_t n_units) {
    if (cluster->is_pool)
        return cluster->pool_free_ppm >= pool_ppm(request) &&
               cluster->pool_cpus_free >= request->shape.cpus_milli;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t gpu = units[u].gpu;
        if (!has_memory(cluster, request, gpu))
            return false;
        if (cluster->gpu_is_arranged[gpu] &&
            cluster->gpu_clients[gpu] >= cluster->gpu_client_limit[gpu])
            return false;
        if (!cluster->gpu_is_arranged[gpu] && cluster->gpu_free_ppm[gpu] < request->shape.share_ppm)
            return false;
    }
    return true;
}

/* --- finding ---------------------------------------------------------------------------------- */

struct search {
    struct gsim_cluster *cluster;
    const struct gsim_request *request;
    struct gsim_unit *units;
    uint32_t n;
};

/* Takes up to `most` idle GPUs of a node, lowest numbers first. A candidate is written before it is
 * known to be good: which GPUs are idle is noise to a branch predictor. */
static void take_from(struct search *s, uint32_t node, uint32_t most) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t end = c->node_first_gpu[node + 1], from = s->n, until = s->n + most;
    bool any_memory = s->request->mem_bytes <= 0;
    for (uint32_t gpu = c->node_first_gpu[node]; gpu < end && s->n < until; gpu++) {
        s->units[s->n] = (struct gsim_unit){gpu, 0};
        s->n += c->gpu_free_ppm[gpu] == PPM && (any_memory || has_memory(c, s->request, gpu));
    }
    charge_node(s->cluster, s->request, node, s->units + from, s->n - from, true);
}

/* Idle GPUs of the node that this request may use. */
static uint32_t usable(const struct search *s, uint32_t node) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t n = c->node_idle[node];
    if (s->request->mem_bytes > 0) {
        n = 0;
        for (uint32_t gpu = c->node_first_gpu[node]; gpu < c->node_first_gpu[node + 1]; gpu++)
            n += c->gpu_free_ppm[gpu] == PPM && has_memory(c, s->request, gpu);
    }
    int64_t per_gpu = cpus_for(&s->request->shape, 1);
    if (per_gpu > 0 && c->node_cpus_free[node] < per_gpu * n)
        n = (uint32_t)(c->node_cpus_free[node] / per_gpu);
    return n;
}

/* The fullest node with at least `need` usable GPUs, at most `most` idle; ties by number. */
static uint32_t best_fit(const struct search *s, uint32_t need) {
    const struct gsim_cluster *c = s->cluster;
    for (uint32_t k = gsim_bitset_next(&c->counts, need); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_bitset_next(&c->nodes_with[k], 0); node != UINT32_MAX;
             node = gsim_bitset_next(&c->nodes_with[k], node + 1))
            if (usable(s, node) >= need)
                return node;
    return UINT32_MAX;
}

static bool take_node(struct search *s, uint32_t need) {
    uint32_t node = best_fit(s, need);
    if (node == UINT32_MAX)
        return false;
    take_from(s, node, need);
    return true;
}

static bool find_consolidated(struct search *s, bool with_remainder) {
    uint32_t left = s->request->shape.gpus, widest = s->cluster->widest_node;
    while (left > widest) {
        if (!take_node(s, widest))
            return false;
        left -= widest;
    }
    bool is_multi = s->n > 0;
    if (is_multi && left == widest)
        return take_node(s, widest);
    return (is_multi && !with_remainder) || take_node(s, left);
}

static bool find_any(struct search *s) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t left = s->request->shape.gpus;
    if (left > c->n_idle)
        return false;
    uint32_t k = gsim_bitset_next(&c->counts, 1), node = 0;
    while (left > 0 && k <= c->widest_node) {
        node = gsim_bitset_next(&c->nodes_with[k], node);
        if (node == UINT32_MAX) {
            k = gsim_bitset_next(&c->counts, k + 1);
            node = 0;
            continue;
        }
        uint32_t before = s->n, can = usable(s, node);
        take_from(s, node, can < left ? can : left);
        left -= s->n - before;
        node++;
    }
    return left == 0;
}

/* The node with the most idle GPUs that has a usable one. */
static uint32_t emptiest(const struct search *s) {
    const struct gsim_cluster *c = s->cluster;
    for (uint32_t k = c->widest_node; k > 0; k--)
        for (uint32_t node = gsim_bitset_next(&c->nodes_with[k], 0); node != UINT32_MAX;
             node = gsim_bitset_next(&c->nodes_with[k], node + 1))
            if (usable(s, node) > 0)
                return node;
    return UINT32_MAX;
}

/* The fullest node that has room and where gangs of this size were placed last; else an empty one. */
static uint32_t akin(const struct search *s) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t need = s->request->shape.gpus, empty = UINT32_MAX;
    for (uint32_t k = gsim_bitset_next(&c->counts, need); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_bitset_next(&c->nodes_with[k], 0); node != UINT32_MAX;
             node = gsim_bitset_next(&c->nodes_with[k], node + 1)) {
            bool is_empty = k == c->node_first_gpu[node + 1] - c->node_first_gpu[node];
            if ((!is_empty && c->node_gang[node] != need) || usable(s, node) < need)
                continue;
            if (!is_empty)
                return node;
            if (empty == UINT32_MAX)
                empty = node;
        }
    return empty;
}

static bool find_akin(struct search *s) {
    uint32_t node = akin(s);
    if (node == UINT32_MAX)
        return find_consolidated(s, true);
    s->cluster->node_gang[node] = s->request->shape.gpus;
    take_from(s, node, s->request->shape.gpus);
    return true;
}

static bool find_random(struct search *s) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t left = s->request->shape.gpus;
    if (left > c->n_idle)
        return false;
    uint32_t first = (uint32_t)(gsim_mix_next(&s->cluster->random) % c->n_nodes);
    for (uint32_t i = 0; i < c->n_nodes && left > 0; i++) {
        uint32_t node = (first + i) % c->n_nodes, before = s->n, can = usable(s, node);
        take_from(s, node, can < left ? can : left);
        left -= s->n - before;
    }
    return left == 0;
}

static bool find_spread(struct search *s) {
    if (s->request->shape.gpus > s->cluster->n_idle)
        return false;
    while (s->n < s->request->shape.gpus) {
        uint32_t node = emptiest(s);
        if (node == UINT32_MAX)
            return false;
        take_from(s, node, 1);
    }
    return true;
}

/* A share of one GPU: the partly free GPU that it fills best, else a whole one is broken. */
static bool find_share(struct search *s) {
    struct gsim_cluster *c = s->cluster;
    int64_t cpus = s->request->shape.cpus_milli;
    for (uint32_t gpu = gsim_index_seek(&c->partial, s->request->shape.share_ppm, 0);
         gpu != GSIM_NO_ID; gpu = gsim_index_next(&c->partial, gpu)) {
        if (!has_memory(c, s->request, gpu) || c->node_cpus_free[c->node_of_gpu[gpu]] < cpus)
            continue;
        s->units[s->n++] = (struct gsim_unit){gpu, 0};
        charge(c, s->request, s->units, 1, true);
        return true;
    }
    return take_node(s, 1);
}

static bool find_by_rule(struct search *s) {
    const struct gsim_shape *shape = &s->request->shape;
    if (shape->gpus == 1 && shape->share_ppm < PPM)
        return find_share(s);
    switch (shape->rule) {
    case GSIM_RULE_ANY:
        return find_any(s);
    case GSIM_RULE_SPREAD:
        return find_spread(s);
    case GSIM_RULE_FULLEST:
        return find_consolidated(s, false);
    case GSIM_RULE_AFFINITY:
        return find_akin(s);
    case GSIM_RULE_RANDOM:
        return find_random(s);
    case GSIM_RULE_CONSOLIDATE:
    case GSIM_RULE_SKEW:
    case GSIM_RULE_COUNT:
        break;
    }
    return find_consolidated(s, true);
}

uint32_t gsim_cluster_find(struct gsim_cluster *cluster, const struct gsim_request *request,
                           struct gsim_unit *units, bool *fits) {
    if (cluster->is_pool) {
        *fits = gsim_cluster_fits(cluster, request, NULL, 0);
        if (*fits)
            gsim_cluster_take(cluster, request, NULL, 0);
        return 0;
    }
    struct search s = {.cluster = cluster, .request = request, .units = units};
    *fits = find_by_rule(&s);
    if (*fits)
        return s.n;
    charge(cluster, request, units, s.n, false);
    return 0;
}
