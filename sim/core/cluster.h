/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster: nodes, their GPUs, and the capacity that is free on them. Free capacity is kept in
 * buckets by node, so that a gang finds its nodes without a scan of all nodes. */
#ifndef GSIM_CORE_CLUSTER_H
#define GSIM_CORE_CLUSTER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "gsim/cluster.h"
#include "sim/api/model.h"
#include "sim/base/index.h"
#include "sim/base/bitset.h"
#include "gsim/arrangement.h"
#include "gsim/arena.h"
#include "sim/base/hints.h"
#include "gsim/status.h"

/* Nodes that a job may run on: whole groups of the cluster's description. */
struct gsim_node_set {
    const bool *has_node;
    uint32_t n_gpus;
    uint32_t number; /* from 1 on; of a run no other set has it */
};

/* The request of a job that is placed. */
struct gsim_request {
    struct gsim_shape shape;
    const struct gsim_node_set *nodes; /* NULL: every node */
    uint32_t n_nodes; /* on exactly as many, as evenly as its GPUs allow; 0: on any number */
    int64_t mem_bytes; /* per GPU; -1: unknown, and memory is not counted */
    int64_t beside_bytes; /* memory of the host beside each GPU; 0: not asked for */
    /* The units as bits of their node's idle_gpus, if a plain search found all of them on one node
     * of up to 64 GPUs; 0: look at the units. */
    uint64_t on_node;
};

/* The instances of a GPU: the jobs on each, and the memory that they take. */
struct gsim_instances {
    uint32_t n; /* 0: the GPU is whole */
    int64_t mem_bytes[GSIM_INSTANCES_MAX], mem_used[GSIM_INSTANCES_MAX];
    uint32_t jobs[GSIM_INSTANCES_MAX];
    uint32_t part_ppm[GSIM_INSTANCES_MAX]; /* of the GPU */
};

/* Nodes with an equal number of GPUs. */
struct gsim_node_kind {
    uint32_t gpus, count, first_node;
};

/* Capacity as it will be when the transitions under way are over: plans are made against it. Memory
 * is counted where the trace gives it; it stays taken while a paused job is resident. */
struct gsim_cluster {
    struct gsim_arena *arena;
    uint32_t n_nodes, n_gpus, widest_node;
    uint32_t *node_of_gpu;
    uint32_t *node_first_gpu; /* n_nodes + 1 */
    uint16_t *type_of_gpu;
    int64_t *gpu_hbm_bytes;
    struct gsim_wiring wiring;
    uint32_t n_switches; /* 0: one switch above all nodes, and switches are not counted */
    uint32_t *switch_first_node; /* n_switches + 1 */
    struct gsim_node_kind *kinds; /* the widest nodes first */
    uint32_t n_kinds;
    uint64_t *idle_gpus; /* by node, node_words words each: bits of its wholly free GPUs */
    uint32_t node_words;
    uint32_t *gpu_part_ppm; /* free share of a partly used GPU; 0 if the GPU is idle or full */
    int64_t *gpu_mem_used;
    uint8_t *gpu_memory; /* enum gsim_memory: how the GPU's memory is managed */
    uint8_t *gpu_is_paired; /* its two jobs run at speeds of a table (GSIM_DISCIPLINE_PAIR) */
    uint8_t *gpu_is_split; /* lanes have run beside each other there since it was exclusive */
    /* Host memory: its size, the part that jobs use (paged out, stopped, or on their way back), and
     * the largest part ever used. */
    int64_t *node_host_bytes, *node_host_used, *node_host_peak;
    bool has_host_used; /* a job has used host memory */
    bool has_host_limit; /* some host's memory has a limit */
    bool counts_cpus; /* some node has a number of CPUs, or the pool */
    bool *gpu_is_arranged; /* shared by an arrangement: no placement by shape */
    uint32_t *gpu_clients; /* jobs placed on the GPU while it is arranged */
    uint32_t *gpu_client_limit; /* the most jobs that its arrangement allows */
    /* MIG state by GPU; an entry is NULL if that GPU was never partitioned, the array if none
     * was */
    struct gsim_instances **gpu_instances;
    int64_t *node_cpus_free; /* NULL: no node counts CPUs */
    int64_t *node_beside_free; /* host memory that is not promised to jobs beside their GPUs */
    uint32_t *node_gang; /* the gang size that affinity last placed on the node; 0: none */
    uint64_t random; /* state of the random rule; seeded by the caller of gsim_cluster_open */
    bool *node_is_down; /* failed: it has no capacity */
    uint32_t n_gpus_down;
    uint32_t *node_idle; /* by node: its wholly free GPUs */
    uint32_t n_idle;
    uint32_t *node_empty; /* by node: its arranged GPUs that no job is on, unless it is down */
    uint32_t n_empty;
    uint32_t n_unused_whole; /* GPUs of nodes on which each is wholly free or empty */
    struct gsim_bitset unused_changed; /* nodes on which other GPUs may be so, see metrics.c */
    bool notes_unused; /* some job is still on GPUs that it has given up: it matters then alone */
    uint32_t n_arranged; /* GPUs shared by an arrangement */
    struct gsim_bitset *nodes_with; /* [idle count] -> nodes */
    /* idle counts that may have nodes: a search drops counts without nodes */
    struct gsim_bitset counts;
    struct gsim_index partial; /* GPUs partly free, by free share */
    struct gsim_index open; /* GPUs that further jobs may share, see open_gpus.c */
    struct gsim_bitset open_changed; /* GPUs that may stand elsewhere in it */
    bool lacks_open; /* there was no memory to note one of them */
    bool is_pool;
    int64_t pool_free_ppm, pool_cpus_free;
};

enum gsim_status gsim_cluster_open(struct gsim_cluster *cluster,
                                   const struct gsim_cluster_spec *spec, struct gsim_arena *arena,
                                   struct gsim_log *log);
/* Host memory that a request on the GPU needs beyond the GPU's free memory; INT64_MAX: the GPU does
 * not page. */
int64_t gsim_cluster_host_needs(const struct gsim_cluster *c, const struct gsim_request *request,
                                uint32_t gpu);
/* For cluster_open.c and cluster.c: notes in the bits of its node whether the GPU is idle. */
static inline void gsim_cluster_set_idle(struct gsim_cluster *c, uint32_t gpu, bool is_idle) {
    uint32_t node = c->node_of_gpu[gpu], nth = gpu - c->node_first_gpu[node];
    uint64_t *word = &c->idle_gpus[(size_t)node * c->node_words + nth / 64];
    uint64_t bit = UINT64_C(1) << (nth % 64);
    *word = (*word & ~bit) | (is_idle ? bit : 0);
}
/* For placement.c: charge takes or gives back the capacity of units (nothing for a pool); cpus is
 * the number of CPUs that come with this many GPUs of a gang, evenly spread; has_memory is whether
 * a GPU has the memory left. */
void gsim_cluster_charge(struct gsim_cluster *cluster, const struct gsim_request *request,
                         const struct gsim_unit *units, uint32_t n_units, bool is_taken);
int64_t gsim_cluster_cpus(const struct gsim_shape *shape, uint32_t gpus);
bool gsim_cluster_has_memory(const struct gsim_cluster *cluster, const struct gsim_request *request,
                             uint32_t gpu);
/* The result of a search; in a pool there are no units. */
struct gsim_found {
    uint32_t n_units;
    bool fits;
    bool is_on_one_node; /* true: all units are on one node; false: not known */
    uint64_t on_node; /* the value for the request once it has these units and no others */
};
/* Whether the units lie on as many nodes as the request asks for, evenly. */
bool gsim_cluster_are_spread(const struct gsim_cluster *cluster, const struct gsim_request *request,
                             const struct gsim_unit *units, uint32_t n_units);
/* Finds units for the request, takes them and writes them (at most shape.gpus entries). */
struct gsim_found gsim_cluster_find(struct gsim_cluster *cluster,
                                    const struct gsim_request *request, struct gsim_unit *units);
/* GPUs of a node. */
struct gsim_node_part {
    uint32_t node, gpus;
};
/* Like gsim_cluster_find, as these parts alone, whatever the rule is. */
struct gsim_found gsim_cluster_find_parts(struct gsim_cluster *cluster,
                                          const struct gsim_request *request,
                                          const struct gsim_node_part *part, uint32_t n,
                                          struct gsim_unit *units);
/* Like gsim_cluster_find, on this node only; refused for rules that spread jobs or choose at
 * random. */
struct gsim_found gsim_cluster_find_on(struct gsim_cluster *cluster,
                                       const struct gsim_request *request, uint32_t node,
                                       struct gsim_unit *units);
/* Whether exactly these units can be taken. */
/* Whether the nodes of these units have what the request asks of their hosts beside them. */
bool gsim_cluster_has_beside(const struct gsim_cluster *cluster, const struct gsim_request *request,
                             const struct gsim_unit *units, uint32_t n_units);
bool gsim_cluster_fits(const struct gsim_cluster *cluster, const struct gsim_request *request,
                       const struct gsim_unit *units, uint32_t n_units);
void gsim_cluster_take(struct gsim_cluster *cluster, const struct gsim_request *request,
                       const struct gsim_unit *units, uint32_t n_units);
/* Units that the request fits on; returns which ones of one node these are, as its on_node. */
uint64_t gsim_cluster_take_named(struct gsim_cluster *cluster, const struct gsim_request *request,
                                 const struct gsim_unit *units, uint32_t n_units);
void gsim_cluster_give_back(struct gsim_cluster *cluster, const struct gsim_request *request,
                            const struct gsim_unit *units, uint32_t n_units);
/* Takes memory alone, for jobs that are paused in place. */
void gsim_cluster_pin(struct gsim_cluster *cluster, const struct gsim_unit *units, uint32_t n_units,
                      int64_t bytes);
/* hold: the host of each unit holds `bytes` more (negative: less). can_hold: whether the hosts have
 * room for that. note_hosts: records the peak once a plan with these units is made. */
void gsim_cluster_hold(struct gsim_cluster *cluster, const struct gsim_unit *units,
                       uint32_t n_units, int64_t bytes);
bool gsim_cluster_can_hold(struct gsim_cluster *cluster, const struct gsim_unit *units,
                           uint32_t n_units, int64_t bytes);
void gsim_cluster_note_hosts(struct gsim_cluster *cluster, const struct gsim_unit *units,
                             uint32_t n_units);
static inline int64_t gsim_cluster_host_free(const struct gsim_cluster *c, uint32_t node) {
    return c->node_host_bytes[node] - c->node_host_used[node];
}
static inline void gsim_cluster_host(struct gsim_cluster *c, uint32_t node, int64_t bytes) {
    c->node_host_used[node] += bytes;
    c->has_host_used = true;
    assert(c->node_host_used[node] >= 0 && c->node_host_used[node] <= c->node_host_bytes[node]);
}
/* Notes that the clients of the GPU, their limit or its memory are others, so that further jobs may
 * share it now, or no longer. */
static inline void gsim_cluster_note_open(struct gsim_cluster *c, uint32_t gpu) {
    gsim_bitset_add(&c->open_changed, gpu);
}
/* Takes a failed node out of capacity until it is repaired. No job may be on it. */
void gsim_cluster_set_down(struct gsim_cluster *cluster, uint32_t node, bool is_down);
/* Takes an idle GPU out of placement by shape (it is shared by an arrangement), or gives it
 * back. */
void gsim_cluster_set_arranged(struct gsim_cluster *cluster, uint32_t gpu, bool is_arranged);
/* The instances of a GPU, to be changed while the GPU is idle; NULL: no memory. */
struct gsim_instances *gsim_cluster_instances(struct gsim_cluster *cluster, uint32_t gpu);
/* Puts the GPU's instances into effect, or makes the GPU whole when there are none. */
void gsim_cluster_set_cut(struct gsim_cluster *cluster, uint32_t gpu);
static inline bool gsim_cluster_may_use(const struct gsim_request *request, uint32_t node) {
    return !request->nodes || request->nodes->has_node[node];
}
static inline bool gsim_cluster_is_idle(const struct gsim_cluster *cluster, uint32_t gpu) {
    uint32_t node = cluster->node_of_gpu[gpu], nth = gpu - cluster->node_first_gpu[node];
    return cluster->idle_gpus[(size_t)node * cluster->node_words + nth / 64] >> (nth % 64) & 1;
}
static inline uint32_t gsim_cluster_free_ppm(const struct gsim_cluster *cluster, uint32_t gpu) {
    return gsim_cluster_is_idle(cluster, gpu) ? (uint32_t)GSIM_PPM : cluster->gpu_part_ppm[gpu];
}
/* Whether the GPU is partitioned into instances. */
static inline bool gsim_cluster_is_cut(const struct gsim_cluster *cluster, uint32_t gpu) {
    return cluster->gpu_instances && cluster->gpu_instances[gpu] &&
           cluster->gpu_instances[gpu]->n > 0;
}

/* --- what nearly every job needs -------------------------------------------------------------- */

/* Whether a request is for whole GPUs only: no memory, CPUs, arranged GPUs or sets of nodes. */
static inline bool gsim_cluster_is_plain(const struct gsim_cluster *c,
                                         const struct gsim_request *request) {
    return request->mem_bytes <= 0 && request->beside_bytes == 0 &&
           request->shape.cpus_milli == 0 && request->shape.share_ppm == GSIM_PPM &&
           c->n_arranged == 0 && !request->nodes;
}

static inline void gsim_cluster_note_unused(struct gsim_cluster *c, uint32_t node) {
    if (gsim_rarely(c->notes_unused))
        gsim_bitset_add(&c->unused_changed, node);
}

/* Adds `by` wholly free GPUs to a node. */
static inline void gsim_cluster_add_idle(struct gsim_cluster *c, uint32_t node, int by) {
    uint32_t was = c->node_idle[node], is = was + (uint32_t)by;
    uint32_t size = c->node_first_gpu[node + 1] - c->node_first_gpu[node];
    uint32_t rest = size - c->node_empty[node];
    gsim_bitset_move(&c->nodes_with[was], &c->nodes_with[is], node);
    gsim_bitset_add(&c->counts, is);
    gsim_cluster_note_unused(c, node);
    c->node_idle[node] = is;
    c->n_idle += (uint32_t)by;
    c->n_unused_whole += (is == rest ? size : 0) - (was == rest ? size : 0);
}

/* Of units that were found on one node: all of them at once. */
static inline bool gsim_cluster_is_on_node(const struct gsim_cluster *c,
                                           const struct gsim_request *request) {
    return request->on_node != 0 && gsim_cluster_is_plain(c, request);
}
static inline void gsim_cluster_flip(struct gsim_cluster *c, uint32_t gpu, uint64_t on_node,
                                     int idle) {
    uint32_t node = c->node_of_gpu[gpu];
    c->idle_gpus[node] ^= on_node;
    gsim_cluster_add_idle(c, node, idle);
}

/* What was found on one node is given back as it was taken, and taken again. */
static inline void gsim_cluster_release(struct gsim_cluster *c, const struct gsim_request *request,
                                        const struct gsim_unit *units, uint32_t n_units) {
    if (gsim_mostly(gsim_cluster_is_on_node(c, request)))
        gsim_cluster_flip(c, units[0].gpu, request->on_node, (int)n_units);
    else
        gsim_cluster_give_back(c, request, units, n_units);
}
static inline void gsim_cluster_retake(struct gsim_cluster *c, const struct gsim_request *request,
                                       const struct gsim_unit *units, uint32_t n_units) {
    if (gsim_mostly(gsim_cluster_is_on_node(c, request)))
        gsim_cluster_flip(c, units[0].gpu, request->on_node, -(int)n_units);
    else
        gsim_cluster_take(c, request, units, n_units);
}

#endif
