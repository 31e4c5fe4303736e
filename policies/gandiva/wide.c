/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of gangs of several servers. Such a gang stands in a line of each of its servers, so that a
 * server that has changed finds the gangs for which it may do something, and no other is looked at:
 * gangs that no claim of the server keeps from pushing out jobs, and gangs that ask for no more of
 * its GPUs than are idle. A gang for which none of its changed servers does so may still claim
 * another one, where no job has a claim that has waited longer: there are few such servers, since
 * the first gang that waits for a server claims it. */
#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"
#include "sim/base/index.h"

void gsim_wide_init(struct gsim_servers *servers, struct gsim_arena *arena) {
    struct gsim_wide_lines *wide = &servers->wide;
    wide->unused = GSIM_NO_ID;
    gsim_index_init(&wide->waiting, arena);
    gsim_index_init(&wide->running, arena);
    gsim_index_init(&wide->unclaimed, arena);
    gsim_index_init(&wide->next, arena);
}

/* --- lines ------------------------------------------------------------------------------- */

static uint32_t take_number(struct gsim_wide_lines *wide, struct gsim_arena *arena,
                            gsim_slot slot) {
    uint32_t number = wide->unused;
    if (number != GSIM_NO_ID) {
        wide->unused = wide->job[number];
    } else {
        gsim_slot *job =
            gsim_arena_room(arena, wide->job, wide->n_numbers, &wide->capacity, sizeof *job);
        if (!job)
            return GSIM_NO_ID;
        wide->job = job;
        number = wide->n_numbers++;
    }
    wide->job[number] = slot;
    return number;
}

void gsim_wide_enter(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                     struct gsim_index *line) {
    struct gsim_wide_lines *wide = &servers->wide;
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        struct gsim_gandiva_part *part = &turn->parts[p];
        struct gsim_turn_place at =
            gsim_turn_place(part->server, turn->since_ns, gsim_nth(ctx->view, slot));
        part->number = take_number(wide, ctx->arena, slot);
        if (part->number == GSIM_NO_ID ||
            !gsim_index_insert_sized(line, part->number, at.key, at.tie, part->gpus))
            gsim_common_no_memory(ctx);
        if (line == &wide->waiting && !gsim_claims_before(servers, ctx, part->server, slot))
            gsim_claims_may_be(servers, ctx, part->server);
    }
}

void gsim_wide_leave(struct gsim_servers *servers, const struct gsim_gandiva_turn *turn,
                     struct gsim_index *line) {
    struct gsim_wide_lines *wide = &servers->wide;
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        uint32_t number = turn->parts[p].number;
        if (number == GSIM_NO_ID)
            continue; /* there was no memory */
        gsim_index_remove(line, number);
        wide->job[number] = wide->unused;
        wide->unused = number;
        turn->parts[p].number = GSIM_NO_ID;
    }
}

static uint32_t if_on(const struct gsim_index *line, uint32_t part, uint32_t server) {
    bool is_there = part != GSIM_NO_ID && (uint64_t)gsim_index_key(line, part) >> 32 == server;
    return is_there ? part : GSIM_NO_ID;
}

uint32_t gsim_wide_running_since(const struct gsim_servers *servers, uint32_t server,
                                 int64_t since_ns) {
    const struct gsim_index *running = &servers->wide.running;
    struct gsim_turn_place from = gsim_turn_place(server, since_ns, 0);
    return if_on(running, gsim_index_seek(running, from.key, from.tie), server);
}

uint32_t gsim_wide_running_after(const struct gsim_servers *servers, uint32_t server,
                                 uint32_t part) {
    const struct gsim_index *running = &servers->wide.running;
    return if_on(running, gsim_index_next(running, part), server);
}

/* --- the gangs for which something may be done -------------------------------------------- */

static bool has_dirty_part(const struct gsim_servers *servers,
                           const struct gsim_gandiva_turn *turn) {
    for (uint32_t p = 0; p < turn->n_parts; p++)
        if (servers->of[gsim_turn_parts(turn)[p].server].is_dirty)
            return true;
    return false;
}

/* From this part on, of the line of a server to be served. */
static uint32_t next_served(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                            uint32_t server, uint32_t part) {
    const struct gsim_index *waiting = &servers->wide.waiting;
    if (part == GSIM_NO_ID || !gsim_claims_before(servers, ctx, server, servers->wide.job[part]))
        return part;
    uint32_t idle = gsim_servers_idle(servers, ctx->view, server);
    return idle == 0 ? GSIM_NO_ID : if_on(waiting, gsim_index_fitting(waiting, part, idle), server);
}

/* From this part on, of the line of another server: gangs that claim it now. */
static uint32_t next_claimant(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                              uint32_t server, uint32_t part) {
    const struct gsim_wide_lines *wide = &servers->wide;
    gsim_slot claimant = servers->of[server].claimant;
    for (; part != GSIM_NO_ID;
         part = if_on(&wide->waiting, gsim_index_next(&wide->waiting, part), server)) {
        gsim_slot slot = wide->job[part];
        if (claimant == slot || gsim_claims_before(servers, ctx, server, slot) ||
            !gsim_claims_now(servers, ctx, slot))
            return GSIM_NO_ID; /* nor do those behind */
        if (has_dirty_part(servers, gsim_turn_of(ctx, slot)))
            return part;
    }
    return GSIM_NO_ID;
}

/* Finds the gang of the server that is looked at next. */
static void look(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server) {
    struct gsim_wide_lines *wide = &servers->wide;
    struct gsim_server *at = &servers->of[server];
    gsim_index_remove(&wide->next, server);
    if (at->n_wide_waiting == 0)
        return;
    struct gsim_turn_place from = gsim_turn_place(server, wide->since_ns, wide->nth);
    uint32_t part =
        if_on(&wide->waiting, gsim_index_seek(&wide->waiting, from.key, from.tie), server);
    part = at->is_dirty ? next_served(servers, ctx, server, part)
                        : next_claimant(servers, ctx, server, part);
    if (part == GSIM_NO_ID)
        return;
    at->next_part = part;
    gsim_slot slot = wide->job[part];
    uint64_t tie = (uint64_t)gsim_nth(ctx->view, slot) << 32 | server;
    if (!gsim_index_insert(&wide->next, server, gsim_turn_of(ctx, slot)->since_ns, tie))
        gsim_common_no_memory(ctx);
}

/* When the server without a claim is to be looked at; GSIM_NEVER: it has a claim by a job that has
 * waited as long as any gang there, or no gang waits. */
static int64_t claimed_at_ns(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                             uint32_t server) {
    const struct gsim_wide_lines *wide = &servers->wide;
    struct gsim_turn_place from = gsim_turn_place(server, 0, 0);
    uint32_t first =
        if_on(&wide->waiting, gsim_index_seek(&wide->waiting, from.key, from.tie), server);
    if (first == GSIM_NO_ID)
        return GSIM_NEVER;
    gsim_slot slot = wide->job[first];
    bool is_claimed =
        servers->of[server].claimant == slot || gsim_claims_before(servers, ctx, server, slot);
    return is_claimed ? GSIM_NEVER : gsim_claims_at_ns(servers, gsim_turn_of(ctx, slot));
}

/* Looks at servers without a claim, and leaves out those that have one by now. */
static void look_at_unclaimed(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    struct gsim_index *unclaimed = &servers->wide.unclaimed;
    int64_t now = ctx->view->now_ns;
    uint32_t server = gsim_index_first(unclaimed), after;
    for (; server != GSIM_NO_ID && gsim_index_key(unclaimed, server) <= now; server = after) {
        int64_t at_ns = claimed_at_ns(servers, ctx, server);
        after = gsim_index_next(unclaimed, server);
        if (at_ns > now)
            gsim_index_remove(unclaimed, server);
        if (at_ns > now && at_ns != GSIM_NEVER &&
            !gsim_index_insert(unclaimed, server, at_ns, server))
            gsim_common_no_memory(ctx);
        if (at_ns <= now && !servers->of[server].is_dirty)
            look(servers, ctx, server);
    }
}

static void look_at_touched(struct gsim_servers *servers, struct gsim_ctx *ctx, bool is_looked_at) {
    for (uint32_t t = 0; t < servers->n_touched; t++) {
        servers->of[servers->touched[t]].is_touched = false;
        if (is_looked_at)
            look(servers, ctx, servers->touched[t]);
    }
    servers->n_touched = 0;
    look_at_unclaimed(servers, ctx);
}

void gsim_wide_begin(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    servers->wide.since_ns = 0;
    servers->wide.nth = 0;
    for (uint32_t d = 0; d < servers->n_dirty; d++)
        look(servers, ctx, servers->dirty[d]);
    look_at_touched(servers, ctx, false);
}

/* Servers that the last gang has changed may do something for others behind it now. */
gsim_slot gsim_wide_next(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    struct gsim_wide_lines *wide = &servers->wide;
    uint32_t server;
    if (servers->n_touched > 0)
        look_at_touched(servers, ctx, true);
    while ((server = gsim_index_first(&wide->next)) != GSIM_NO_ID) {
        int64_t since_ns = gsim_index_key(&wide->next, server);
        uint64_t nth = gsim_index_tie(&wide->next, server) >> 32;
        if (since_ns > wide->since_ns || (since_ns == wide->since_ns && nth >= wide->nth)) {
            wide->since_ns = since_ns;
            wide->nth = nth + 1;
            return wide->job[servers->of[server].next_part];
        }
        look(servers, ctx, server);
    }
    return GSIM_NO_SLOT;
}
