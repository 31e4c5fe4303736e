/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capacity: the job, share and memory of each GPU. Nodes hang in buckets by the number of their
 * idle GPUs, so that "the fullest node with at least n" is two bit scans (placement.c). */
#include "sim/core/cluster.h"
#include "sim/base/hints.h"

#include <assert.h>

#define PPM ((uint32_t)GSIM_PPM)

/* --- taking and releasing --------------------------------------------------------------------- */

/* Returns the change of the node's idle count; the caller applies it, once per node. */
static int gpu_set_free(struct gsim_cluster *c, uint32_t gpu, uint32_t free_ppm) {
    bool was_idle = gsim_cluster_is_idle(c, gpu), is_idle = free_ppm == PPM;
    if (c->gpu_part_ppm[gpu] > 0)
        gsim_index_remove(&c->partial, gpu);
    if (free_ppm > 0 && !is_idle)
        (void)gsim_index_insert(&c->partial, gpu, free_ppm, gpu);
    c->gpu_part_ppm[gpu] = is_idle ? 0 : free_ppm;
    gsim_cluster_set_idle(c, gpu, is_idle);
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
