/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPUs that one more job could go to, in the order in which policies that share GPUs fill them:
 * those with the fewest jobs first, then by number. Idle GPUs are found by the bits of placement;
 * arranged ones, with clients or without, stand in an index by clients and number, with the memory
 * that each lacks (negative: has left) as its size. Most policies never ask, so that a GPU that
 * changes is noted, and the index renewed when it is asked for. */
#include "sim/core/core.h"

static void renew(struct gsim_cluster *c, uint32_t gpu) {
    uint32_t clients = c->gpu_clients[gpu];
    gsim_index_remove(&c->open, gpu);
    if (c->gpu_is_arranged[gpu] && clients < c->gpu_client_limit[gpu] &&
        !c->node_is_down[c->node_of_gpu[gpu]])
        c->lacks_open |= !gsim_index_insert_sized(&c->open, gpu, clients, gpu,
                                                  c->gpu_mem_used[gpu] - c->gpu_hbm_bytes[gpu]);
}

static void renew_changed(struct gsim_cluster *c) {
    for (uint32_t gpu = gsim_bitset_next(&c->open_changed, 0); gpu < c->n_gpus;
         gpu = gsim_bitset_next(&c->open_changed, gpu + 1)) {
        gsim_bitset_remove(&c->open_changed, gpu);
        renew(c, gpu);
    }
}

/* The first idle GPU of the node from its nth on. */
static uint32_t idle_on(const struct gsim_cluster *c, uint32_t node, uint32_t nth) {
    for (uint32_t w = nth / 64; w < c->node_words; w++) {
        uint64_t bits = c->idle_gpus[(size_t)node * c->node_words + w];
        bits &= w == nth / 64 ? UINT64_MAX << (nth % 64) : UINT64_MAX;
        if (bits)
            return c->node_first_gpu[node] + w * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return UINT32_MAX;
}

static uint32_t next_idle(const struct gsim_cluster *c, uint32_t gpu) {
    if (gpu >= c->n_gpus)
        return UINT32_MAX;
    uint32_t node = c->node_of_gpu[gpu], next = UINT32_MAX;
    uint32_t found = idle_on(c, node, gpu - c->node_first_gpu[node]);
    if (found != UINT32_MAX)
        return found;
    for (uint32_t k = gsim_bitset_next(&c->counts, 1); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1)) {
        uint32_t with = gsim_bitset_next(&c->nodes_with[k], node + 1);
        next = with < next ? with : next;
    }
    return next == UINT32_MAX ? UINT32_MAX : idle_on(c, next, 0);
}

static uint32_t idle_from(const struct gsim_core *core, uint32_t gpu, int64_t mem_bytes) {
    const struct gsim_cluster *c = &core->cluster;
    uint32_t end = core->here.first_gpu + core->here.n_gpus;
    for (gpu = next_idle(c, gpu); gpu < end; gpu = next_idle(c, gpu + 1))
        if (mem_bytes < 0 || c->gpu_mem_used[gpu] + mem_bytes <= c->gpu_hbm_bytes[gpu])
            return gpu;
    return UINT32_MAX;
}

/* GPUs of other parts of the cluster are stepped over. */
static uint32_t shared_from(const struct gsim_core *core, int64_t clients, uint32_t gpu,
                            int64_t mem_bytes) {
    const struct gsim_index *open = &core->cluster.open;
    uint32_t first = core->here.first_gpu, end = first + core->here.n_gpus;
    int64_t most = mem_bytes < 0 ? INT64_MAX : -mem_bytes;
    for (;;) {
        uint32_t id = gsim_index_fitting(open, gsim_index_seek(open, clients, gpu), most);
        if (id == GSIM_NO_ID || (id >= first && id < end))
            return id;
        clients = gsim_index_key(open, id) + (id >= end);
        gpu = first;
    }
}

static uint32_t open_gpu(const struct gsim_core *core, uint32_t before, int64_t mem_bytes) {
    uint32_t gpu = core->here.first_gpu + before, clients = 0;
    if (before == core->here.n_gpus || gsim_cluster_is_idle(&core->cluster, gpu)) {
        uint32_t from = before == core->here.n_gpus ? core->here.first_gpu : gpu + 1;
        uint32_t idle = idle_from(core, from, mem_bytes);
        if (idle != UINT32_MAX)
            return idle;
        gpu = core->here.first_gpu;
    } else {
        clients = core->cluster.gpu_clients[gpu++];
    }
    return shared_from(core, clients, gpu, mem_bytes);
}

uint32_t gsim_ask_open_gpu(struct gsim_ctx *ctx, uint32_t before, int64_t mem_bytes) {
    struct gsim_core *core = ctx->core;
    renew_changed(&core->cluster);
    if (core->cluster.lacks_open)
        (void)gsim_core_no_memory(core);
    uint32_t gpu = core->cluster.lacks_open ? UINT32_MAX : open_gpu(core, before, mem_bytes);
    return gpu == UINT32_MAX ? core->here.n_gpus : gpu - core->here.first_gpu;
}
