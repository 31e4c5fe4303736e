/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement: which units a request gets, by the rule of its shape (enum gsim_rule). A search takes as
 * it goes, so that what it has is no longer idle; what does not fit as a whole is given back. */
#include "sim/core/cluster.h"

#define PPM ((uint32_t)GSIM_PPM)

struct search {
    uint32_t first_node, end_node; /* where it looks */
    struct gsim_cluster *cluster;
    const struct gsim_request *request;
    struct gsim_unit *units;
    uint32_t n;
    bool is_plain; /* the request */
};

/* Takes up to `most` idle GPUs of a node, lowest numbers first. A candidate is written before it is
 * known to be good: which GPUs are idle is noise to a branch predictor. */
static void take_plain(struct search *s, uint32_t node, uint32_t most) {
    struct gsim_cluster *c = s->cluster;
    uint32_t end = c->node_first_gpu[node + 1], n = 0;
    struct gsim_unit *units = s->units + s->n;
    for (uint32_t gpu = c->node_first_gpu[node]; gpu < end && n < most; gpu++) {
        uint32_t is_idle = c->gpu_free_ppm[gpu] == PPM;
        units[n] = (struct gsim_unit){gpu, 0};
        c->gpu_free_ppm[gpu] -= PPM * is_idle;
        n += is_idle;
    }
    s->n += n;
    gsim_cluster_add_idle(c, node, -(int)n);
}

static void take_from(struct search *s, uint32_t node, uint32_t most) {
    const struct gsim_cluster *c = s->cluster;
    if (s->is_plain) {
        take_plain(s, node, most);
        return;
    }
    uint32_t end = c->node_first_gpu[node + 1], from = s->n, until = s->n + most;
    bool any_memory = s->request->mem_bytes <= 0;
    for (uint32_t gpu = c->node_first_gpu[node]; gpu < end && s->n < until; gpu++) {
        s->units[s->n] = (struct gsim_unit){gpu, 0};
        s->n += c->gpu_free_ppm[gpu] == PPM &&
                (any_memory || gsim_cluster_has_memory(c, s->request, gpu));
    }
    gsim_cluster_charge(s->cluster, s->request, s->units + from, s->n - from, true);
}

/* Idle GPUs of the node that this request may use. */
static uint32_t usable(const struct search *s, uint32_t node) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t n = c->node_idle[node];
    if (s->is_plain)
        return n;
    if (s->request->mem_bytes > 0) {
        n = 0;
        for (uint32_t gpu = c->node_first_gpu[node]; gpu < c->node_first_gpu[node + 1]; gpu++)
            n += c->gpu_free_ppm[gpu] == PPM && gsim_cluster_has_memory(c, s->request, gpu);
    }
    int64_t per_gpu = gsim_cluster_cpus(&s->request->shape, 1);
    if (per_gpu > 0 && c->node_cpus_free[node] < per_gpu * n)
        n = (uint32_t)(c->node_cpus_free[node] / per_gpu);
    return n;
}

/* The fullest node with at least `need` usable GPUs, at most `most` idle; ties by number. */
static uint32_t best_fit(const struct search *s, uint32_t need) {
    const struct gsim_cluster *c = s->cluster;
    for (uint32_t k = gsim_bitset_next(&c->counts, need); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_bitset_next(&c->nodes_with[k], s->first_node); node < s->end_node;
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

/* How many nodes of a kind could ever have the request's memory on each GPU. */
static uint32_t nodes_for(const struct search *s, const struct gsim_node_kind *kind) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t gpu = c->node_first_gpu[kind->first_node];
    bool has_room = s->request->mem_bytes <= c->gpu_hbm_bytes[gpu] ||
                    c->gpu_memory[gpu] != GSIM_MEMORY_RESIDENT;
    return has_room ? kind->count : 0;
}

/* On one node; else on whole ones, as few as the cluster has for so many, and a part of another. */
static bool find_consolidated(struct search *s, bool with_remainder) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t left = s->request->shape.gpus, i = 0;
    while (i + 1 < c->n_kinds && nodes_for(s, &c->kinds[i]) == 0)
        i++;
    if (left <= c->kinds[i].gpus)
        return take_node(s, left);
    for (; i < c->n_kinds; i++) {
        uint32_t width = c->kinds[i].gpus, nodes = nodes_for(s, &c->kinds[i]);
        for (; nodes > 0 && left >= width; nodes--, left -= width)
            if (!take_node(s, width))
                return false;
    }
    return left == 0 || !with_remainder || take_node(s, left);
}

/* Nothing is taken: the search begins anew. */
static void start_over(struct search *s) {
    gsim_cluster_charge(s->cluster, s->request, s->units, s->n, false);
    s->n = 0;
}

/* A gang of several nodes: below the switch that has the fewest idle GPUs and room for it, else
 * across switches. */
static bool find_below_switch(struct search *s) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t need = s->request->shape.gpus, best = c->n_switches, least = UINT32_MAX;
    for (uint32_t i = 0; i < c->n_switches; i++) {
        uint32_t idle = 0;
        s->first_node = c->switch_first_node[i];
        s->end_node = c->switch_first_node[i + 1];
        for (uint32_t node = s->first_node; node < s->end_node; node++)
            idle += c->node_idle[node];
        if (idle < need || idle >= least)
            continue;
        if (find_consolidated(s, true)) {
            best = i;
            least = idle;
        }
        start_over(s);
    }
    s->first_node = best < c->n_switches ? c->switch_first_node[best] : 0;
    s->end_node = best < c->n_switches ? c->switch_first_node[best + 1] : c->n_nodes;
    return find_consolidated(s, true);
}

static bool find_together(struct search *s) {
    bool is_split = s->request->shape.gpus > s->cluster->widest_node;
    return is_split && s->cluster->n_switches > 1 ? find_below_switch(s)
                                                  : find_consolidated(s, true);
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
        return find_together(s);
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
        if (!gsim_cluster_has_memory(c, s->request, gpu) ||
            c->node_cpus_free[c->node_of_gpu[gpu]] < cpus)
            continue;
        s->units[s->n++] = (struct gsim_unit){gpu, 0};
        gsim_cluster_charge(c, s->request, s->units, 1, true);
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
    return find_together(s);
}

uint32_t gsim_cluster_find(struct gsim_cluster *cluster, const struct gsim_request *request,
                           struct gsim_unit *units, bool *fits) {
    if (cluster->is_pool) {
        *fits = gsim_cluster_fits(cluster, request, NULL, 0);
        if (*fits)
            gsim_cluster_take(cluster, request, NULL, 0);
        return 0;
    }
    struct search s = {.end_node = cluster->n_nodes,
                       .cluster = cluster,
                       .request = request,
                       .units = units,
                       .is_plain = gsim_cluster_is_plain(cluster, request)};
    *fits = find_by_rule(&s);
    if (*fits)
        return s.n;
    gsim_cluster_charge(cluster, request, units, s.n, false);
    return 0;
}
