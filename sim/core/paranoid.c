/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the cluster's running sums (free shares, idle GPUs by node, memory, clients) again from
 * the jobs that hold capacity, and asserts that they agree. In paranoid runs, after every
 * decide; it finds a drifting sum at the decide that made it drift. */
#include "sim/core/core.h"

#include <assert.h>
#include <stdlib.h>

enum { EVERY = 64, FEW_GPUS = 64 }; /* a large cluster is counted at each 64th decide */

struct tally {
    int64_t share_ppm, mem_bytes;
    uint32_t n_jobs;
};

/* The units that a job has reserved in the picture of plans; for a move, the target units. */
static uint32_t reserved(const struct gsim_core *core, gsim_slot slot,
                         const struct gsim_unit **units) {
    const struct gsim_job *job = &core->jobs.info[slot];
    const struct gsim_core_job *own = &core->jobs.core[slot];
    switch ((enum gsim_state)core->jobs.state[slot]) {
    case GSIM_STARTING:
    case GSIM_RUNNING:
    case GSIM_RESUMING:
        *units = job->units;
        return job->n_units;
    case GSIM_STOPPING:
    case GSIM_SAVING:
        *units = own->next_units;
        return own->next_units ? own->n_next_units : 0;
    case GSIM_FREE:
    case GSIM_QUEUED:
    case GSIM_PAUSED:
    case GSIM_HELD:
    case GSIM_DONE:
    case GSIM_STATE_COUNT:
        break;
    }
    return 0;
}

static void count_job(const struct gsim_core *core, gsim_slot slot, struct tally *tally) {
    const struct gsim_job *job = &core->jobs.info[slot];
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_unit *units = NULL;
    uint32_t n = reserved(core, slot, &units);
    int64_t mem_bytes = own->request.mem_bytes > 0 ? own->request.mem_bytes : 0;
    for (uint32_t u = 0; u < n; u++) {
        struct tally *gpu = &tally[units[u].gpu];
        gpu->share_ppm += own->request.shape.share_ppm;
        gpu->mem_bytes += mem_bytes;
        gpu->n_jobs++;
    }
    if (!own->is_pinned)
        return;
    bool has_left = core->jobs.state[slot] == GSIM_PAUSED;
    n = has_left ? job->n_left_units : job->n_units;
    for (uint32_t u = 0; u < n; u++)
        tally[(has_left ? job->left_units : job->units)[u].gpu].mem_bytes += mem_bytes;
}

static void check_gpu(const struct gsim_cluster *c, uint32_t gpu, const struct tally *tally) {
    assert(tally->mem_bytes == c->gpu_mem_used[gpu]);
    bool is_open = c->gpu_is_arranged[gpu] && tally->n_jobs < c->gpu_client_limit[gpu] &&
                   !c->node_is_down[c->node_of_gpu[gpu]];
    if (!gsim_bitset_has(&c->open_changed, gpu)) {
        assert(c->lacks_open || gsim_index_has(&c->open, gpu) == is_open);
        assert(!gsim_index_has(&c->open, gpu) || gsim_index_key(&c->open, gpu) == tally->n_jobs);
    }
    if (c->gpu_is_arranged[gpu])
        assert(tally->n_jobs == c->gpu_clients[gpu] && !gsim_cluster_is_idle(c, gpu));
    else if (c->node_is_down[c->node_of_gpu[gpu]])
        assert(tally->n_jobs == 0 && gsim_cluster_free_ppm(c, gpu) == 0);
    else
        assert(tally->share_ppm + gsim_cluster_free_ppm(c, gpu) == GSIM_PPM);
}

static void check_nodes(const struct gsim_cluster *c) {
    uint32_t n_idle = 0, n_empty = 0, n_whole = 0;
    for (uint32_t node = 0; node < c->n_nodes; node++) {
        uint32_t idle = 0, empty = 0;
        uint32_t size = c->node_first_gpu[node + 1] - c->node_first_gpu[node];
        for (uint32_t gpu = c->node_first_gpu[node]; gpu < c->node_first_gpu[node + 1]; gpu++) {
            idle += gsim_cluster_is_idle(c, gpu);
            empty += c->gpu_is_arranged[gpu] && c->gpu_clients[gpu] == 0 && !c->node_is_down[node];
        }
        assert(idle == c->node_idle[node] && empty == c->node_empty[node]);
        assert(gsim_bitset_next(&c->nodes_with[idle], node) == node);
        assert(c->node_host_used[node] >= 0 && c->node_host_used[node] <= c->node_host_bytes[node]);
        n_idle += idle;
        n_empty += empty;
        n_whole += idle + empty == size ? size : 0;
    }
    assert(n_idle == c->n_idle && n_empty == c->n_empty && n_whole == c->n_unused_whole);
}

/* What metrics.c keeps of GPUs that jobs have given up, by the nodes of which it knows. */
static void check_vacated(const struct gsim_core *core) {
    const struct gsim_cluster *c = &core->cluster;
    for (uint32_t node = 0; node < c->n_nodes; node++) {
        uint32_t n = 0, unused = c->node_idle[node] + c->node_empty[node];
        for (uint32_t gpu = c->node_first_gpu[node]; gpu < c->node_first_gpu[node + 1]; gpu++)
            n += unused > 0 && gsim_bitset_has(&core->vacated, gpu) &&
                 (gsim_cluster_is_idle(c, gpu) ||
                  (c->gpu_is_arranged[gpu] && c->gpu_clients[gpu] == 0));
        assert(gsim_bitset_has(&c->unused_changed, node) || n == core->node_vacated_idle[node].n);
    }
}

static void check_pool(const struct gsim_core *core) {
    int64_t taken_ppm = 0, all_ppm = (int64_t)core->cluster.n_gpus * GSIM_PPM;
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++) {
        gsim_slot slot = core->view.jobs.active[i];
        const struct gsim_shape *shape = &core->jobs.core[slot].request.shape;
        if (core->jobs.state[slot] == GSIM_RUNNING || core->jobs.state[slot] == GSIM_STARTING)
            taken_ppm += (int64_t)shape->gpus * shape->share_ppm;
    }
    assert(taken_ppm + core->cluster.pool_free_ppm == all_ppm);
}

void gsim_core_count_again(const struct gsim_core *core) {
    const struct gsim_cluster *c = &core->cluster;
    if (core->status != GSIM_OK || (c->n_gpus > FEW_GPUS && core->metrics.n_events % EVERY != 0))
        return;
    if (c->is_pool) {
        check_pool(core);
        return;
    }
    struct tally *tally = calloc(c->n_gpus, sizeof *tally);
    if (!tally)
        return;
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++)
        count_job(core, core->view.jobs.active[i], tally);
    for (uint32_t gpu = 0; gpu < c->n_gpus; gpu++)
        check_gpu(c, gpu, &tally[gpu]);
    check_nodes(c);
    check_vacated(core);
    free(tally);
}
