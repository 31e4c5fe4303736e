/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement: the units for a request, by the rule of its shape (enum gsim_rule). A search takes
 * units as it goes, so that they are no longer idle; if the whole request does not fit, they are
 * given back. */
#include "sim/core/cluster.h"
#include "sim/core/search.h"
#include "sim/base/wide.h"
#include "sim/base/hints.h"

#define PPM ((uint32_t)GSIM_PPM)

/* Takes up to `most` idle GPUs of a node, lowest numbers first. */
static inline void take_plain(struct gsim_search *s, uint32_t node, uint32_t most) {
    struct gsim_cluster *c = s->cluster;
    uint64_t *idle = &c->idle_gpus[(size_t)node * c->node_words];
    struct gsim_unit *unit = s->units + s->n, *end = unit + most;
    uint32_t gpu = c->node_first_gpu[node];
    for (uint32_t w = 0; w < c->node_words && unit < end; w++, gpu += 64) {
        uint64_t left = idle[w];
        for (; left && unit < end; left &= left - 1)
            *unit++ = (struct gsim_unit){gpu + (uint32_t)__builtin_ctzll(left), 0};
        s->on_node = idle[w] ^ left;
        idle[w] = left;
    }
    uint32_t n = (uint32_t)(unit - s->units) - s->n;
    s->n += n;
    gsim_cluster_add_idle(c, node, -(int)n);
}

/* Whether the request's memory fits the GPU, and the remainder the host, after the GPUs that the
 * request takes before on the node. */
static bool takes_of_host(const struct gsim_search *s, uint32_t gpu, int64_t *host_bytes) {
    int64_t needs = gsim_cluster_host_needs(s->cluster, s->request, gpu);
    if (needs > *host_bytes)
        return false;
    *host_bytes -= needs;
    return true;
}

GSIM_APART static void take_counted(struct gsim_search *s, uint32_t node, uint32_t most) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t end = c->node_first_gpu[node + 1], from = s->n, until = s->n + most;
    int64_t host_bytes = gsim_cluster_host_free(c, node);
    for (uint32_t gpu = c->node_first_gpu[node]; gpu < end && s->n < until; gpu++) {
        s->units[s->n] = (struct gsim_unit){gpu, 0};
        s->n += gsim_cluster_is_idle(c, gpu) && takes_of_host(s, gpu, &host_bytes);
    }
    gsim_cluster_charge(s->cluster, s->request, s->units + from, s->n - from, true);
}

void gsim_search_take(struct gsim_search *s, uint32_t node, uint32_t most) {
    s->n_takes++;
    if (gsim_mostly(s->is_plain))
        take_plain(s, node, most);
    else
        take_counted(s, node, most);
}

uint32_t gsim_search_usable(const struct gsim_search *s, uint32_t node) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t n = c->node_idle[node];
    if (s->is_plain)
        return n;
    if (!gsim_cluster_may_use(s->request, node))
        return 0;
    if (s->request->mem_bytes > 0) {
        int64_t host_bytes = gsim_cluster_host_free(c, node);
        n = 0;
        for (uint32_t gpu = c->node_first_gpu[node]; gpu < c->node_first_gpu[node + 1]; gpu++)
            n += gsim_cluster_is_idle(c, gpu) && takes_of_host(s, gpu, &host_bytes);
    }
    int64_t per_gpu = gsim_cluster_cpus(&s->request->shape, 1);
    if (per_gpu > 0 && c->node_cpus_free[node] < per_gpu * n)
        n = (uint32_t)(c->node_cpus_free[node] / per_gpu);
    return n;
}

/* The fullest node with at least `need` usable GPUs; ties by number. */
static inline uint32_t best_fit(const struct gsim_search *s, uint32_t need) {
    struct gsim_cluster *c = s->cluster;
    for (uint32_t k = gsim_bitset_next(&c->counts, need); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_search_next_node(c, k, s->first_node); node < s->end_node;
             node = gsim_search_next_node(c, k, node + 1))
            if (gsim_mostly(s->is_plain) || gsim_search_usable(s, node) >= need)
                return node;
    return UINT32_MAX;
}

static inline bool take_node(struct gsim_search *s, uint32_t need) {
    uint32_t node = best_fit(s, need);
    if (node == UINT32_MAX)
        return false;
    gsim_search_take(s, node, need);
    return true;
}

/* The number of nodes of a kind that the request may use, with enough memory on each GPU. */
GSIM_APART static uint32_t nodes_for(const struct gsim_search *s,
                                     const struct gsim_node_kind *kind) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t gpu = c->node_first_gpu[kind->first_node];
    bool has_room = s->request->mem_bytes <= c->gpu_hbm_bytes[gpu] ||
                    c->gpu_memory[gpu] != GSIM_MEMORY_RESIDENT;
    return has_room && gsim_cluster_may_use(s->request, kind->first_node) ? kind->count : 0;
}

/* Takes whole nodes, the widest first, and a part of another node for the remainder. */
GSIM_APART static bool find_nodes(struct gsim_search *s, uint32_t kind, bool with_remainder) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t left = s->request->shape.gpus;
    for (uint32_t i = kind; i < c->n_kinds; i++) {
        uint32_t width = c->kinds[i].gpus, nodes = nodes_for(s, &c->kinds[i]);
        for (; nodes > 0 && left >= width; nodes--, left -= width)
            if (!take_node(s, width))
                return false;
    }
    return left == 0 || !with_remainder || take_node(s, left);
}

/* The widest kind of nodes that the request may use; the last one where it may use none. */
static inline uint32_t widest_kind(const struct gsim_search *s) {
    uint32_t i = 0;
    while (gsim_rarely(i + 1 < s->cluster->n_kinds) && nodes_for(s, &s->cluster->kinds[i]) == 0)
        i++;
    return i;
}

/* Takes one node where a node is wide enough. */
static inline bool find_consolidated(struct gsim_search *s, bool with_remainder) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t gpus = s->request->shape.gpus, i = widest_kind(s);
    return gpus <= c->kinds[i].gpus ? take_node(s, gpus) : find_nodes(s, i, with_remainder);
}

/* Takes the fewest nodes, or as many as the gang asked for. */
static inline bool find_few(struct gsim_search *s) {
    return gsim_rarely(s->request->n_nodes > 1) ? gsim_search_split_fullest(s)
                                                : find_consolidated(s, true);
}

/* --- by rule ---------------------------------------------------------------------------------- */

/* Gives all units back: the search begins anew. */
static void start_over(struct gsim_search *s) {
    gsim_cluster_charge(s->cluster, s->request, s->units, s->n, false);
    s->n = s->n_takes = 0;
}

/* Places a gang of several nodes below the switch that has the fewest idle GPUs and room for the
 * gang, else across switches. */
GSIM_APART static bool find_below_switch(struct gsim_search *s) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t need = s->request->shape.gpus, best = c->n_switches, least = UINT32_MAX;
    for (uint32_t i = 0; i < c->n_switches; i++) {
        uint32_t idle = 0;
        s->first_node = c->switch_first_node[i];
        s->end_node = c->switch_first_node[i + 1];
        for (uint32_t node = s->first_node; node < s->end_node; node++)
            idle += gsim_search_usable(s, node);
        if (idle < need || idle >= least)
            continue;
        if (find_few(s)) {
            best = i;
            least = idle;
        }
        start_over(s);
    }
    s->first_node = best < c->n_switches ? c->switch_first_node[best] : 0;
    s->end_node = best < c->n_switches ? c->switch_first_node[best + 1] : c->n_nodes;
    return find_few(s);
}

static inline bool find_together(struct gsim_search *s) {
    const struct gsim_cluster *c = s->cluster;
    if (c->n_switches <= 1)
        return find_few(s);
    bool is_split = s->request->shape.gpus > c->kinds[widest_kind(s)].gpus ||
                    gsim_rarely(s->request->n_nodes > 1);
    return is_split ? find_below_switch(s) : find_few(s);
}

GSIM_APART static bool find_any(struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    uint32_t left = s->request->shape.gpus;
    if (left > c->n_idle)
        return false;
    uint32_t k = gsim_bitset_next(&c->counts, 1), node = 0;
    while (left > 0 && k <= c->widest_node) {
        node = gsim_search_next_node(c, k, node);
        if (node == UINT32_MAX) {
            k = gsim_bitset_next(&c->counts, k + 1);
            node = 0;
            continue;
        }
        uint32_t before = s->n, can = gsim_search_usable(s, node);
        gsim_search_take(s, node, can < left ? can : left);
        left -= s->n - before;
        node++;
    }
    return left == 0;
}

/* The node with the most idle GPUs, among nodes with a usable GPU. */
static uint32_t emptiest(const struct gsim_search *s) {
    const struct gsim_cluster *c = s->cluster;
    for (uint32_t k = c->widest_node; k > 0; k--)
        for (uint32_t node = gsim_bitset_next(&c->nodes_with[k], 0); node != UINT32_MAX;
             node = gsim_bitset_next(&c->nodes_with[k], node + 1))
            if (gsim_search_usable(s, node) > 0)
                return node;
    return UINT32_MAX;
}

/* The fullest node with room among those where a gang of this size was placed last; else an empty
 * node. */
static uint32_t akin(const struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    uint32_t need = s->request->shape.gpus, empty = UINT32_MAX;
    for (uint32_t k = gsim_bitset_next(&c->counts, need); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_search_next_node(c, k, 0); node != UINT32_MAX;
             node = gsim_search_next_node(c, k, node + 1)) {
            bool is_empty = k == c->node_first_gpu[node + 1] - c->node_first_gpu[node];
            if (is_empty && empty != UINT32_MAX && k == c->widest_node)
                break; /* nodes as wide as any with as many idle GPUs are all empty */
            if ((is_empty && empty != UINT32_MAX) || (!is_empty && c->node_gang[node] != need) ||
                gsim_search_usable(s, node) < need)
                continue;
            if (!is_empty)
                return node;
            if (empty == UINT32_MAX)
                empty = node;
        }
    return empty;
}

GSIM_APART static bool find_akin(struct gsim_search *s) {
    uint32_t node = akin(s);
    if (node == UINT32_MAX)
        return find_together(s);
    s->cluster->node_gang[node] = s->request->shape.gpus;
    gsim_search_take(s, node, s->request->shape.gpus);
    return true;
}

GSIM_APART static bool find_random(struct gsim_search *s) {
    const struct gsim_cluster *c = s->cluster;
    uint32_t left = s->request->shape.gpus;
    if (left > c->n_idle)
        return false;
    uint32_t first = gsim_search_random_node(s);
    for (uint32_t i = 0; i < c->n_nodes && left > 0; i++) {
        uint32_t node = (first + i) % c->n_nodes, before = s->n, can = gsim_search_usable(s, node);
        gsim_search_take(s, node, can < left ? can : left);
        left -= s->n - before;
    }
    return left == 0;
}

GSIM_APART static bool find_spread(struct gsim_search *s) {
    if (s->request->shape.gpus > s->cluster->n_idle)
        return false;
    while (s->n < s->request->shape.gpus) {
        uint32_t node = emptiest(s);
        if (node == UINT32_MAX)
            return false;
        gsim_search_take(s, node, 1);
    }
    return true;
}

/* Takes a share of one GPU: of the partly free GPU that it fills best, else of an idle GPU. */
GSIM_APART static bool find_share(struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    int64_t cpus = s->request->shape.cpus_milli;
    for (uint32_t gpu = gsim_index_seek(&c->partial, s->request->shape.share_ppm, 0);
         gpu != GSIM_NO_ID; gpu = gsim_index_next(&c->partial, gpu)) {
        uint32_t node = c->node_of_gpu[gpu];
        if (node < s->first_node || node >= s->end_node ||
            !gsim_cluster_may_use(s->request, node) ||
            !gsim_cluster_has_memory(c, s->request, gpu) || c->node_cpus_free[node] < cpus)
            continue;
        s->units[s->n++] = (struct gsim_unit){gpu, 0};
        gsim_cluster_charge(c, s->request, s->units, 1, true);
        return true;
    }
    return take_node(s, 1);
}

/* On the nodes that the gang asked for; on one node the rules that keep gangs together do as
 * always. */
GSIM_APART static bool find_split(struct gsim_search *s) {
    switch (s->request->shape.rule) {
    case GSIM_RULE_SPREAD:
        return gsim_search_split_emptiest(s);
    case GSIM_RULE_RANDOM:
        return gsim_search_split_random(s);
    case GSIM_RULE_AFFINITY:
        return s->request->n_nodes == 1 ? find_akin(s) : find_together(s);
    case GSIM_RULE_ANY:
        return gsim_search_split_fullest(s);
    case GSIM_RULE_FULLEST:
    case GSIM_RULE_CONSOLIDATE:
    case GSIM_RULE_SKEW:
    case GSIM_RULE_COUNT:
        break;
    }
    return find_together(s);
}

static inline bool find_by_rule(struct gsim_search *s) {
    const struct gsim_shape *shape = &s->request->shape;
    if (gsim_rarely(s->request->n_nodes > 0))
        return find_split(s);
    if (gsim_rarely(shape->gpus == 1 && shape->share_ppm < PPM))
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

static inline struct gsim_found found(const struct gsim_search *s) {
    bool is_on_one_node = s->n_takes <= 1;
    bool has_bits = s->is_plain && is_on_one_node && s->cluster->node_words == 1;
    return (struct gsim_found){s->n, true, is_on_one_node, has_bits ? s->on_node : 0};
}

bool gsim_cluster_are_spread(const struct gsim_cluster *cluster, const struct gsim_request *request,
                             const struct gsim_unit *units, uint32_t n_units) {
    uint32_t nodes = 0;
    if (gsim_mostly(request->n_nodes == 0))
        return true;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t node = cluster->node_of_gpu[units[u].gpu], here = 0;
        bool is_new = true;
        for (uint32_t v = 0; v < n_units; v++) {
            bool is_here = cluster->node_of_gpu[units[v].gpu] == node;
            here += is_here;
            is_new &= !is_here || v >= u;
        }
        nodes += is_new;
        if (here < n_units / request->n_nodes ||
            here > (n_units + request->n_nodes - 1) / request->n_nodes)
            return false;
    }
    return nodes == request->n_nodes;
}

struct gsim_found gsim_cluster_find_on(struct gsim_cluster *cluster,
                                       const struct gsim_request *request, uint32_t node,
                                       struct gsim_unit *units) {
    struct gsim_search s = {.first_node = node,
                            .end_node = node + 1,
                            .cluster = cluster,
                            .request = request,
                            .units = units,
                            .is_plain = gsim_cluster_is_plain(cluster, request)};
    uint32_t gpus = request->shape.gpus;
    bool is_bound = request->shape.within > 0;
    bool is_rule =
        request->shape.rule != GSIM_RULE_SPREAD && request->shape.rule != GSIM_RULE_RANDOM;
    if (is_bound && request->shape.share_ppm < PPM)
        return find_share(&s) ? found(&s) : (struct gsim_found){0};
    if ((!is_rule && !is_bound) || request->shape.share_ppm < PPM || request->n_nodes > 1 ||
        cluster->node_idle[node] < gpus || gsim_search_usable(&s, node) < gpus)
        return (struct gsim_found){0};
    gsim_search_take(&s, node, gpus);
    return found(&s);
}

struct gsim_found gsim_cluster_find_parts(struct gsim_cluster *cluster,
                                          const struct gsim_request *request,
                                          const struct gsim_node_part *part, uint32_t n,
                                          struct gsim_unit *units) {
    struct gsim_search s = {.end_node = cluster->n_nodes,
                            .cluster = cluster,
                            .request = request,
                            .units = units,
                            .is_plain = gsim_cluster_is_plain(cluster, request)};
    for (uint32_t i = 0; i < n; i++) {
        if (gsim_search_usable(&s, part[i].node) < part[i].gpus) {
            start_over(&s);
            return (struct gsim_found){0};
        }
        gsim_search_take(&s, part[i].node, part[i].gpus);
    }
    return found(&s);
}

GSIM_WHOLE struct gsim_found gsim_cluster_find(struct gsim_cluster *cluster,
                                               const struct gsim_request *request,
                                               struct gsim_unit *units) {
    if (gsim_rarely(cluster->is_pool)) {
        bool fits = gsim_cluster_fits(cluster, request, NULL, 0);
        if (fits)
            gsim_cluster_take(cluster, request, NULL, 0);
        return (struct gsim_found){.fits = fits};
    }
    struct gsim_search s = {.end_node = cluster->n_nodes,
                            .cluster = cluster,
                            .request = request,
                            .units = units,
                            .is_plain = gsim_cluster_is_plain(cluster, request)};
    if (find_by_rule(&s))
        return found(&s);
    gsim_cluster_charge(cluster, request, units, s.n, false);
    return (struct gsim_found){0};
}
