/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/synergy/tune.h"
#include "policies/synergy/servers.h"

static bool wants_more(const struct synergy_job *job) {
    return job->wants.cpus_milli > job->fair.cpus_milli ||
           job->wants.mem_bytes > job->fair.mem_bytes;
}

static uint32_t count_nodes(const struct synergy_job *job) {
    uint32_t n = 1;
    for (uint32_t u = 1; u < job->gpus; u++)
        n += job->node[u] != job->node[u - 1];
    return n;
}

/* GPUs of the job on a node, by the round. */
static uint32_t count_on(const struct synergy_job *job, uint32_t node) {
    uint32_t n = 0;
    for (uint32_t u = 0; u < job->gpus; u++)
        n += job->node[u] == node;
    return n;
}

/* Jobs on the fewest servers are put back first, then those with the most CPUs, then memory, beside
 * each GPU. */
static bool is_before(const struct synergy_job *a, const struct synergy_job *b) {
    uint32_t nodes_a = count_nodes(a), nodes_b = count_nodes(b);
    if (nodes_a != nodes_b)
        return nodes_a < nodes_b;
    if (a->each.cpus_milli != b->each.cpus_milli)
        return a->each.cpus_milli > b->each.cpus_milli;
    return a->each.mem_bytes > b->each.mem_bytes;
}

static void sort_list(const struct synergy *synergy, uint32_t *list, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        uint32_t number = list[i], at = i;
        for (; at > 0 && is_before(&synergy->job[number], &synergy->job[list[at - 1]]); at--)
            list[at] = list[at - 1];
        list[at] = number;
    }
}

static int64_t above_zero(int64_t amount) {
    return amount > 0 ? amount : 0;
}

static bool is_nothing(struct gsim_host host) {
    return host.cpus_milli == 0 && host.mem_bytes == 0;
}

/* Whether all servers of the job have what the round gives it. */
static bool is_covered(const struct synergy *synergy, const struct synergy_job *job) {
    bool is_covered = true;
    for (uint32_t u = 0; u < job->gpus; u++)
        is_covered &= synergy->server[job->node[u]].host.cpus_milli >= 0 &&
                      synergy->server[job->node[u]].host.mem_bytes >= 0;
    return is_covered;
}

/* Puts a job of the round back to its fair part, if it wants more than that. */
static void put_back(struct synergy *synergy, struct synergy_job *peer) {
    struct gsim_host before = peer->each;
    synergy_charge(synergy, peer, -1);
    peer->each = wants_more(peer) ? peer->fair : peer->wants;
    synergy_charge(synergy, peer, 1);
    if (is_covered(synergy, peer))
        return;
    synergy_charge(synergy, peer, -1);
    peer->each = before;
    synergy_charge(synergy, peer, 1);
}

/* Puts jobs of a server back, the first in the order above, until n GPUs have `each` beside
 * them. */
static void make_room(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t node,
                      struct gsim_host each, int64_t n) {
    struct synergy_server *server = &synergy->server[node];
    uint32_t *list = &synergy->listed[ctx->view->cluster.node_first_gpu[node]];
    struct gsim_host short_of = {above_zero(n * each.cpus_milli - server->host.cpus_milli),
                                 above_zero(n * each.mem_bytes - server->host.mem_bytes)};
    if (is_nothing(short_of))
        return;
    sort_list(synergy, list, server->n_jobs);
    for (uint32_t i = 0; i < server->n_jobs && !is_nothing(short_of); i++) {
        struct synergy_job *peer = &synergy->job[list[i]];
        int64_t here = count_on(peer, node);
        short_of.cpus_milli = above_zero(
            short_of.cpus_milli - here * above_zero(peer->each.cpus_milli - peer->fair.cpus_milli));
        short_of.mem_bytes = above_zero(
            short_of.mem_bytes - here * above_zero(peer->each.mem_bytes - peer->fair.mem_bytes));
        put_back(synergy, peer);
    }
}

/* Makes room for the job's GPUs: on the first server that has all of them free, else on servers
 * with free GPUs, the fewest first. */
static void make_room_for(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number,
                          struct gsim_host each) {
    uint32_t gpus = synergy->job[number].gpus, n_nodes = ctx->view->cluster.n_nodes, n = 0;
    for (uint32_t node = 0; gpus > 1 && node < n_nodes; node++)
        if (synergy->server[node].gpus >= gpus) {
            make_room(ctx, synergy, node, each, gpus);
            return;
        }
    uint32_t node = synergy_next_server(synergy, n_nodes, n_nodes, 1);
    while (n < gpus && node < n_nodes) {
        uint32_t here =
            synergy->server[node].gpus < gpus - n ? synergy->server[node].gpus : gpus - n;
        make_room(ctx, synergy, node, each, here);
        n += here;
        node = synergy_next_server(synergy, n_nodes, node, 1);
    }
}

static void tune(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number) {
    struct synergy_job *job = &synergy->job[number];
    if (synergy_try(ctx, synergy, number, job->wants))
        return;
    struct gsim_host each = wants_more(job) ? job->fair : job->wants;
    if (synergy_try(ctx, synergy, number, each))
        return;
    make_room_for(ctx, synergy, number, each);
    (void)synergy_try(ctx, synergy, number, each);
}

void synergy_offer(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number) {
    const struct synergy_job *job = &synergy->job[number];
    if (synergy->mode == SYNERGY_TUNE)
        tune(ctx, synergy, number);
    else
        (void)synergy_try(ctx, synergy, number,
                          synergy->mode == SYNERGY_FAIR ? job->fair : job->wants);
}
