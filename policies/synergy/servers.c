/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/synergy/servers.h"

/* --- what servers have ------------------------------------------------------------------------ */

static int64_t or_ample(int64_t amount) {
    return amount > 0 ? amount : INT64_MAX / 4;
}

static struct gsim_host host_of(const struct gsim_ctx *ctx, uint32_t node) {
    struct gsim_host host = gsim_ask_host(ctx, node);
    return (struct gsim_host){or_ample(host.cpus_milli), or_ample(host.mem_bytes)};
}

static uint32_t gpus_of(const struct gsim_ctx *ctx, uint32_t node) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    return first[node + 1] - first[node];
}

bool synergy_open_servers(struct gsim_ctx *ctx, struct synergy *synergy) {
    uint32_t n = ctx->view->cluster.n_nodes;
    size_t n_gpus = ctx->view->cluster.n_gpus;
    synergy->server = gsim_arena_array(ctx->arena, n, sizeof *synergy->server);
    synergy->listed = gsim_arena_array(ctx->arena, n_gpus, sizeof *synergy->listed);
    synergy->owner = gsim_arena_array(ctx->arena, n_gpus, sizeof *synergy->owner);
    if (!synergy->server || !synergy->listed || !synergy->owner)
        return false;
    synergy->fair = (struct gsim_host){INT64_MAX, INT64_MAX};
    for (uint32_t node = 0; node < n; node++) {
        struct gsim_host host = host_of(ctx, node);
        uint32_t gpus = gpus_of(ctx, node);
        struct gsim_host part = {host.cpus_milli / gpus, host.mem_bytes / gpus};
        if (part.cpus_milli < synergy->fair.cpus_milli)
            synergy->fair.cpus_milli = part.cpus_milli;
        if (part.mem_bytes < synergy->fair.mem_bytes)
            synergy->fair.mem_bytes = part.mem_bytes;
        if (gpus > synergy->server_gpus) {
            synergy->server_gpus = gpus;
            synergy->server_host = host;
        }
    }
    return true;
}

void synergy_clear_servers(const struct gsim_ctx *ctx, struct synergy *synergy) {
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++) {
        bool is_down = ctx->view->cluster.node_is_down[node];
        synergy->server[node] = (struct synergy_server){.gpus = is_down ? 0 : gpus_of(ctx, node),
                                                        .host = host_of(ctx, node)};
    }
    for (uint32_t gpu = 0; gpu < ctx->view->cluster.n_gpus; gpu++)
        synergy->owner[gpu] = GSIM_NO_OWNER;
}

/* How many GPUs a server can give, with that part of its host beside each. */
static uint32_t room(const struct synergy_server *server, struct gsim_host each, uint32_t most) {
    int64_t n = server->gpus < most ? server->gpus : most;
    if (each.cpus_milli > 0 && server->host.cpus_milli / each.cpus_milli < n)
        n = server->host.cpus_milli / each.cpus_milli;
    if (each.mem_bytes > 0 && server->host.mem_bytes / each.mem_bytes < n)
        n = server->host.mem_bytes / each.mem_bytes;
    return n > 0 ? (uint32_t)n : 0;
}

static void take(struct synergy_server *server, struct gsim_host each, int64_t n) {
    server->gpus -= (uint32_t)n;
    server->host.cpus_milli -= n * each.cpus_milli;
    server->host.mem_bytes -= n * each.mem_bytes;
}

/* --- where a job goes ------------------------------------------------------------------------- */

/* A place for a job under construction: its nodes, and how many GPUs it has so far. */
struct spot {
    struct synergy_job *job;
    uint32_t n;
};

static void add(struct spot *spot, uint32_t node, uint32_t n) {
    while (n-- > 0)
        spot->job->node[spot->n++] = node;
}

/* Servers in order, each as far as it goes. */
static bool find_first(const struct synergy *synergy, uint32_t n_nodes, struct gsim_host each,
                       struct spot *spot) {
    for (uint32_t node = 0; node < n_nodes && spot->n < spot->job->gpus; node++)
        add(spot, node, room(&synergy->server[node], each, spot->job->gpus - spot->n));
    return spot->n == spot->job->gpus;
}

uint32_t synergy_next_server(const struct synergy *synergy, uint32_t n_nodes, uint32_t after,
                             uint32_t least) {
    uint32_t best = n_nodes;
    const struct synergy_server *server = synergy->server;
    for (uint32_t node = 0; node < n_nodes; node++) {
        bool is_past = after == n_nodes || server[node].gpus > server[after].gpus ||
                       (server[node].gpus == server[after].gpus && node > after);
        if (is_past && server[node].gpus >= least &&
            (best == n_nodes || server[node].gpus < server[best].gpus))
            best = node;
    }
    return best;
}

/* One server for the whole gang, the one with the fewest free GPUs of those with room; else servers
 * in the order of free GPUs. */
static bool find_together(const struct synergy *synergy, uint32_t n_nodes, struct gsim_host each,
                          struct spot *spot) {
    uint32_t gpus = spot->job->gpus, node = n_nodes;
    while (gpus > 1 && (node = synergy_next_server(synergy, n_nodes, node, gpus)) < n_nodes)
        if (room(&synergy->server[node], each, gpus) == gpus) {
            add(spot, node, gpus);
            return true;
        }
    node = n_nodes;
    while (spot->n < gpus && (node = synergy_next_server(synergy, n_nodes, node, 1)) < n_nodes)
        add(spot, node, room(&synergy->server[node], each, gpus - spot->n));
    return spot->n == gpus;
}

static void sort_nodes(struct synergy_job *job) {
    for (uint32_t i = 1; i < job->gpus; i++) {
        uint32_t node = job->node[i], at = i;
        for (; at > 0 && job->node[at - 1] > node; at--)
            job->node[at] = job->node[at - 1];
        job->node[at] = node;
    }
}

void synergy_charge(struct synergy *synergy, const struct synergy_job *job, int64_t sign) {
    for (uint32_t u = 0; u < job->gpus; u++)
        take(&synergy->server[job->node[u]], job->each, sign);
}

static void list(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number) {
    const struct synergy_job *job = &synergy->job[number];
    for (uint32_t u = 0; u < job->gpus; u++) {
        struct synergy_server *server = &synergy->server[job->node[u]];
        if (u == 0 || job->node[u] != job->node[u - 1])
            synergy->listed[ctx->view->cluster.node_first_gpu[job->node[u]] + server->n_jobs++] =
                number;
    }
}

bool synergy_try(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number,
                 struct gsim_host each) {
    struct synergy_job *job = &synergy->job[number];
    struct spot spot = {.job = job};
    uint32_t n_nodes = ctx->view->cluster.n_nodes;
    bool fits = synergy->consolidates ? find_together(synergy, n_nodes, each, &spot)
                                      : find_first(synergy, n_nodes, each, &spot);
    if (!fits)
        return false;
    sort_nodes(job);
    job->each = each;
    job->is_chosen = true;
    synergy_charge(synergy, job, 1);
    list(ctx, synergy, number);
    return true;
}

void synergy_book_again(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number) {
    struct synergy_job *job = &synergy->job[number];
    for (uint32_t u = 0; u < job->gpus; u++)
        job->node[u] = ctx->view->cluster.node_of_gpu[job->units[u].gpu];
    job->each = job->had;
    job->is_chosen = true;
    synergy_charge(synergy, job, 1);
    list(ctx, synergy, number);
}
