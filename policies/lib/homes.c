/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting jobs by the node where their memory lies, for gsim_slices: a job that is due there gives
 * way to such a job, if the copies over the network that this saves (by quotes) are worth more than
 * the place in the line that it jumps. Jobs over several nodes are not among them. */
#include "policies/lib/homes.h"
#include "policies/lib/common.h"
#include "sim/base/index.h"

void gsim_homes_init(struct gsim_homes *homes, struct gsim_ctx *ctx) {
    uint32_t n = ctx->view->pool.is_used ? 0 : ctx->view->cluster.n_nodes;
    *homes = (struct gsim_homes){.arena = ctx->arena};
    gsim_index_init(&homes->turns, ctx->arena);
    homes->first = gsim_arena_array(ctx->arena, n, sizeof *homes->first);
    homes->tried = gsim_arena_array(ctx->arena, n, sizeof *homes->tried);
    homes->best = gsim_arena_array(ctx->arena, n, sizeof *homes->best);
    homes->is_known = gsim_arena_array(ctx->arena, n, sizeof *homes->is_known);
    if (!homes->first || !homes->tried || !homes->best || !homes->is_known)
        gsim_common_no_memory(ctx);
    for (uint32_t node = 0; homes->first && node < n; node++)
        homes->first[node] = GSIM_NO_SLOT;
}

static bool reserve(struct gsim_homes *homes, gsim_slot slot) {
    if (slot < homes->capacity)
        return true;
    uint32_t capacity = homes->capacity ? homes->capacity : 64;
    while (capacity <= slot)
        capacity *= 2;
    struct gsim_home *of = gsim_arena_grow(homes->arena, homes->of, homes->capacity * sizeof *of,
                                           capacity * sizeof *of);
    if (!of)
        return false;
    homes->of = of;
    homes->capacity = capacity;
    return true;
}

/* The one node of some units; GSIM_NO_NODE: the units are on several, or there are none. */
static uint32_t node_of(const struct gsim_ctx *ctx, const struct gsim_unit *units,
                        uint32_t n_units) {
    const uint32_t *node_of_gpu = ctx->view->cluster.node_of_gpu;
    for (uint32_t u = 1; u < n_units; u++)
        if (node_of_gpu[units[u].gpu] != node_of_gpu[units->gpu])
            return GSIM_NO_NODE;
    return n_units ? node_of_gpu[units->gpu] : GSIM_NO_NODE;
}

uint32_t gsim_homes_node(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    return node_of(ctx, units, n_units);
}

bool gsim_homes_has_units_on(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                             gsim_slot slot, uint32_t node) {
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    for (uint32_t u = 0; u < n_units; u++)
        if (ctx->view->cluster.node_of_gpu[units[u].gpu] == node)
            return true;
    return false;
}

void gsim_homes_add(struct gsim_homes *homes, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n_units = gsim_ask_home(ctx, slot, &units), node = node_of(ctx, units, n_units);
    if (node == GSIM_NO_NODE)
        return;
    if (!reserve(homes, slot)) {
        gsim_common_no_memory(ctx);
        return;
    }
    gsim_slot first = homes->first[node];
    homes->of[slot] =
        (struct gsim_home){.before = GSIM_NO_SLOT, .after = first, .node = node, .is_in = true};
    if (first != GSIM_NO_SLOT)
        homes->of[first].before = slot;
    homes->first[node] = slot;
    homes->n++;
}

void gsim_homes_remove(struct gsim_homes *homes, gsim_slot slot) {
    if (slot >= homes->capacity || !homes->of[slot].is_in)
        return;
    struct gsim_home *home = &homes->of[slot];
    if (home->before == GSIM_NO_SLOT)
        homes->first[home->node] = home->after;
    else
        homes->of[home->before].after = home->after;
    if (home->after != GSIM_NO_SLOT)
        homes->of[home->after].before = home->before;
    if (homes->best[home->node] == slot)
        homes->is_known[home->node] = false;
    home->is_in = false;
    homes->n--;
}

/* Of equal ranks the job that came first, as in the line. */
static bool is_ahead(const struct gsim_ctx *ctx, const struct gsim_wish_lines *waiting, gsim_slot a,
                     gsim_slot b) {
    int64_t rank_a = gsim_wish_lines_rank(waiting, a), rank_b = gsim_wish_lines_rank(waiting, b);
    return rank_a != rank_b ? rank_a < rank_b : gsim_nth(ctx->view, a) < gsim_nth(ctx->view, b);
}

static gsim_slot find_best(const struct gsim_homes *homes, const struct gsim_ctx *ctx,
                           const struct gsim_wish_lines *waiting, uint32_t node) {
    gsim_slot best = GSIM_NO_SLOT;
    for (gsim_slot slot = homes->first[node]; slot != GSIM_NO_SLOT; slot = homes->of[slot].after)
        if (gsim_wish_lines_has(waiting, slot) &&
            (best == GSIM_NO_SLOT || is_ahead(ctx, waiting, slot, best)))
            best = slot;
    return best;
}

/* Ranks stay as long as a job is in line, so that the first one is sought again where it leaves
 * alone. */
gsim_slot gsim_homes_best(struct gsim_homes *homes, const struct gsim_ctx *ctx,
                          const struct gsim_wish_lines *waiting, uint32_t node) {
    gsim_slot best = homes->best[node];
    if (homes->is_known[node] && (best == GSIM_NO_SLOT || gsim_wish_lines_has(waiting, best)))
        return best;
    homes->is_known[node] = true;
    return homes->best[node] = find_best(homes, ctx, waiting, node);
}

void gsim_homes_wait(struct gsim_homes *homes, const struct gsim_ctx *ctx,
                     const struct gsim_wish_lines *waiting, gsim_slot slot) {
    if (slot >= homes->capacity || !homes->of[slot].is_in)
        return;
    uint32_t node = homes->of[slot].node;
    gsim_slot best = homes->best[node];
    if (!homes->is_known[node])
        return;
    if (best == slot || (best != GSIM_NO_SLOT && !gsim_wish_lines_has(waiting, best)))
        homes->is_known[node] = false;
    else if (best == GSIM_NO_SLOT || is_ahead(ctx, waiting, slot, best))
        homes->best[node] = slot;
}

int64_t gsim_homes_extra_ns(const struct gsim_ctx *ctx, gsim_slot slot,
                            const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_unit *home;
    uint32_t n_home = gsim_ask_home(ctx, slot, &home);
    if (n_home == 0)
        return 0;
    return gsim_ask_back_ns(ctx, slot, units, n_units) - gsim_ask_back_ns(ctx, slot, home, n_home);
}

uint32_t gsim_homes_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_unit *home;
    uint32_t n = gsim_ask_home(ctx, slot, &home);
    return node_of(ctx, home, n);
}

/* How much longer the job would take to come back on the next node than where its memory is. */
static int64_t quoted_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    enum { MOST_UNITS = 64 };
    struct gsim_unit elsewhere[MOST_UNITS];
    const struct gsim_unit *home;
    const struct gsim_view *view = ctx->view;
    uint32_t n = gsim_ask_home(ctx, slot, &home), node = node_of(ctx, home, n);
    if (node == GSIM_NO_NODE || n > MOST_UNITS || view->cluster.n_nodes == 1)
        return 0;
    uint32_t next = node + 1 < view->cluster.n_nodes ? node + 1 : 0,
             first = view->cluster.node_first_gpu[next];
    for (uint32_t u = 0; u < n; u++)
        elsewhere[u] =
            (struct gsim_unit){.gpu = first + u % (view->cluster.node_first_gpu[next + 1] - first)};
    return gsim_homes_extra_ns(ctx, slot, elsewhere, n);
}

/* As long as a job waits, its memory and the place of it stay as they are: quotes are asked for
 * once. */
int64_t gsim_homes_saves_ns(struct gsim_homes *homes, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_home *home = &homes->of[slot];
    if (!home->is_asked)
        home->saves_ns = quoted_ns(ctx, slot);
    home->is_asked = true;
    return home->saves_ns;
}
