/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gandiva's servers: their loads, the lists of jobs that wait and run on each, and the server
 * that a job is allotted to. Algorithm 1 of the paper: servers with gangs of its size, else
 * empty ones, else any idle GPUs (these three are the placement rule, while GPUs are idle); else
 * the job takes turns on the least loaded server with gangs of its size. Deviation: where there
 * is none, or where another server has fewer rounds (its height, in the paper), the job takes
 * turns on the least loaded server of all; the paper lets it wait in a queue until a job ends. */
#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"
#include "policies/lib/settings.h"
#include "sim/base/index.h"

#include <assert.h>

/* --- lists ------------------------------------------------------------------------------- */

static struct gsim_turns_list *list_of(struct gsim_servers *servers,
                                       const struct gsim_gandiva_turn *turn,
                                       enum gsim_turn_list list) {
    struct gsim_server *server = &servers->of[gsim_turn_parts(turn)->server];
    switch (list) {
    case GSIM_TURN_LINE:
        return &server->line;
    case GSIM_TURN_RUNS:
        return &server->running;
    case GSIM_TURN_WIDE_LINE:
        return &servers->wide_line;
    case GSIM_TURN_WIDE_RUNS:
        return &servers->wide_running;
    case GSIM_TURN_UNPLACED:
        return &servers->unplaced;
    case GSIM_TURN_NONE:
        break;
    }
    return NULL;
}

/* The lines of servers in which jobs of a list stand that are on several of them. */
static struct gsim_index *parts_in(struct gsim_servers *servers, enum gsim_turn_list list) {
    return list == GSIM_TURN_WIDE_LINE   ? &servers->wide.waiting
           : list == GSIM_TURN_WIDE_RUNS ? &servers->wide.running
                                         : NULL;
}

static bool is_waiting_list(enum gsim_turn_list list) {
    return list == GSIM_TURN_LINE || list == GSIM_TURN_WIDE_LINE;
}

static uint32_t width_class(const struct gsim_servers *servers, uint32_t gpus) {
    return gpus < servers->widths ? gpus : servers->widths - 1;
}

/* Adds the job to the counts of its list, or takes it out of them. */
static void count(struct gsim_servers *servers, const struct gsim_ctx *ctx, gsim_slot slot,
                  enum gsim_turn_list list, int sign) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    uint32_t one = (uint32_t)sign;
    if (is_waiting_list(list)) {
        servers->n_waiting += one;
        servers->n_of_width[width_class(servers, ctx->view->jobs.gpus[slot])] += one;
    }
    if (list == GSIM_TURN_LINE)
        servers->of[parts->server].waiting_gpus += sign * (int64_t)ctx->view->jobs.gpus[slot];
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        struct gsim_server *server = &servers->of[parts[p].server];
        if (list == GSIM_TURN_WIDE_LINE)
            server->n_wide_waiting += one;
        if (list == GSIM_TURN_WIDE_RUNS)
            server->n_wide_running += one;
    }
}

static void add_to_lines(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    uint32_t server = gsim_turn_parts(turn)->server;
    struct gsim_turn_place at = gsim_turn_place(server, turn->since_ns, gsim_nth(ctx->view, slot));
    if (!gsim_index_insert_after(&servers->lines, slot, at.key, at.tie, ctx->view->jobs.gpus[slot],
                                 servers->of[server].line.last))
        gsim_common_no_memory(ctx);
}

gsim_slot gsim_servers_narrow(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                              gsim_slot slot, int64_t most_gpus) {
    gsim_slot found = gsim_index_fitting(&servers->lines, slot, most_gpus);
    bool is_here = found != GSIM_NO_ID &&
                   gsim_turn_of(ctx, found)->only.server == gsim_turn_of(ctx, slot)->only.server;
    return is_here ? found : GSIM_NO_SLOT;
}

/* The last job of the list that stands before this one. */
static gsim_slot seek_before(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                             const struct gsim_turns_list *list, enum gsim_turn_list which) {
    gsim_slot before = list->last;
    if (before == GSIM_NO_SLOT || !gsim_turn_is_older(ctx, slot, before))
        return before;
    if (which == GSIM_TURN_LINE && gsim_index_has(&servers->lines, slot))
        return gsim_turn_is_older(ctx, slot, list->first) ? GSIM_NO_SLOT
                                                          : gsim_index_prev(&servers->lines, slot);
    while (before != GSIM_NO_SLOT && gsim_turn_is_older(ctx, slot, before))
        before = gsim_turn_of(ctx, before)->before;
    return before;
}

static void count_guest(struct gsim_servers *servers, struct gsim_gandiva_turn *turn) {
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    for (uint32_t p = 0; p < turn->n_parts && turn->is_guest; p++)
        servers->of[parts[p].server].n_guests--;
    turn->is_guest = false;
}

static void unlist(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    enum gsim_turn_list which = (enum gsim_turn_list)turn->list;
    if (which == GSIM_TURN_NONE)
        return;
    struct gsim_turns_list *list = list_of(servers, turn, which);
    struct gsim_server *server = &servers->of[gsim_turn_parts(turn)->server];
    if (which == GSIM_TURN_RUNS && server->next_due == slot)
        server->next_due = turn->after;
    *(turn->before == GSIM_NO_SLOT ? &list->first : &gsim_turn_of(ctx, turn->before)->after) =
        turn->after;
    *(turn->after == GSIM_NO_SLOT ? &list->last : &gsim_turn_of(ctx, turn->after)->before) =
        turn->before;
    list->n--;
    if (which == GSIM_TURN_LINE)
        gsim_index_remove(&servers->lines, slot);
    if (parts_in(servers, which))
        gsim_wide_leave(servers, turn, parts_in(servers, which));
    count(servers, ctx, slot, which, -1);
    if (is_waiting_list(which)) {
        turn->waited_ns += ctx->view->now_ns - turn->since_ns;
        gsim_claims_end(servers, ctx, slot);
    } else {
        count_guest(servers, turn);
    }
    turn->list = GSIM_TURN_NONE;
}

void gsim_servers_enlist(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                         enum gsim_turn_list which) {
    unlist(servers, ctx, slot);
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    struct gsim_turns_list *list = list_of(servers, turn, which);
    if (which == GSIM_TURN_LINE)
        add_to_lines(servers, ctx, slot);
    gsim_slot before = seek_before(servers, ctx, slot, list, which);
    gsim_slot after = before == GSIM_NO_SLOT ? list->first : gsim_turn_of(ctx, before)->after;
    turn->list = (uint8_t)which;
    turn->before = before;
    turn->after = after;
    *(before == GSIM_NO_SLOT ? &list->first : &gsim_turn_of(ctx, before)->after) = slot;
    *(after == GSIM_NO_SLOT ? &list->last : &gsim_turn_of(ctx, after)->before) = slot;
    list->n++;
    if (parts_in(servers, which))
        gsim_wide_enter(servers, ctx, slot, parts_in(servers, which));
    count(servers, ctx, slot, which, 1);
    struct gsim_server *server = &servers->of[gsim_turn_parts(turn)->server];
    if (which == GSIM_TURN_RUNS && server->next_due == after)
        server->next_due = slot; /* its slice has just begun */
}

void gsim_servers_touch(struct gsim_servers *servers, uint32_t server) {
    struct gsim_server *at = &servers->of[server];
    if (!at->is_dirty)
        servers->dirty[servers->n_dirty++] = server;
    if (!at->is_changed) /* also where the last decide left the server to be served by this one */
        servers->changed[servers->n_changed++] = server;
    if (!at->is_touched)
        servers->touched[servers->n_touched++] = server;
    at->is_dirty = at->is_changed = at->is_touched = true;
}

/* --- loads ------------------------------------------------------------------------------- */

int64_t gsim_server_height(const struct gsim_server *server, int64_t more_ppm) {
    int64_t all_ppm = (int64_t)server->n_gpus * GSIM_PPM;
    return (server->load_ppm + more_ppm + all_ppm - 1) / all_ppm;
}

int64_t gsim_servers_need_ppm(const struct gsim_ctx *ctx, gsim_slot slot) {
    return (int64_t)ctx->view->jobs.gpus[slot] * ctx->view->jobs.share_ppm[slot];
}

bool gsim_servers_can_hold(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                           uint32_t server, gsim_slot slot) {
    const struct gsim_server *at = &servers->of[server];
    bool has_room = servers->is_one || ctx->devices ||
                    gsim_job_memory(ctx->view, slot) <=
                        ctx->view->cluster.hbm_bytes[ctx->view->cluster.node_first_gpu[server]];
    return at->is_up && has_room;
}

static void order_by_load(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server,
                          bool is_in) {
    const struct gsim_server *at = &servers->of[server];
    struct gsim_index *orders[] = {&servers->loads,
                                   &servers->akin[width_class(servers, at->affinity)]};
    for (int i = 0; i < 2; i++)
        if (!is_in)
            gsim_index_remove(orders[i], server);
        else if (!gsim_index_insert(orders[i], server, at->load_ppm / at->n_gpus, server))
            gsim_common_no_memory(ctx);
}

static void add_load(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server,
                     int64_t load_ppm, uint32_t gang) {
    struct gsim_server *at = &servers->of[server];
    if (at->is_up && !servers->is_one)
        order_by_load(servers, ctx, server, false);
    if (at->load_ppm == 0)
        at->affinity = gang;
    at->load_ppm += load_ppm;
    if (at->load_ppm == 0)
        at->affinity = 0;
    if (at->is_up && !servers->is_one)
        order_by_load(servers, ctx, server, true);
}

static void add_loads(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                      int sign) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    for (uint32_t p = 0; p < turn->n_parts; p++)
        add_load(servers, ctx, parts[p].server,
                 sign * (int64_t)parts[p].gpus * ctx->view->jobs.share_ppm[slot],
                 ctx->view->jobs.gpus[slot]);
}

static void stand_in(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                     enum gsim_turn_list line) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    gsim_servers_enlist(servers, ctx, slot, line);
    for (uint32_t p = 0; p < turn->n_parts; p++)
        gsim_servers_touch(servers, gsim_turn_parts(turn)[p].server);
}

/* --- allotting --------------------------------------------------------------------------- */

/* The job leaves the servers to which it was allotted: what it has waited there, also of the wait
 * that goes on elsewhere, counts no more. */
static void leave(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    bool waits = is_waiting_list((enum gsim_turn_list)turn->list);
    unlist(servers, ctx, slot);
    add_loads(servers, ctx, slot, -1);
    turn->n_parts = 0;
    turn->parts = NULL;
    turn->waited_ns = waits ? turn->since_ns - ctx->view->now_ns : 0;
}

void gsim_servers_allot_to(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                           uint32_t server) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    leave(servers, ctx, slot);
    turn->only = (struct gsim_gandiva_part){server, ctx->view->jobs.gpus[slot], GSIM_NO_ID};
    turn->n_parts = 1;
    add_loads(servers, ctx, slot, 1);
    stand_in(servers, ctx, slot, GSIM_TURN_LINE);
}

/* The first server of an order that could hold the gang at once. */
static uint32_t first_that_holds(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                                 const struct gsim_index *order, gsim_slot slot) {
    uint32_t server = gsim_index_first(order);
    while (server != GSIM_NO_ID && (servers->of[server].n_gpus < ctx->view->jobs.gpus[slot] ||
                                    !gsim_servers_can_hold(servers, ctx, server, slot)))
        server = gsim_index_next(order, server);
    return server;
}

static uint32_t choose(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                       gsim_slot slot) {
    if (servers->is_one)
        return 0;
    int64_t need_ppm = gsim_servers_need_ppm(ctx, slot);
    uint32_t least = first_that_holds(servers, ctx, &servers->loads, slot);
    uint32_t akin = first_that_holds(
        servers, ctx, &servers->akin[width_class(servers, ctx->view->jobs.gpus[slot])], slot);
    bool is_as_low = akin != GSIM_NO_ID && gsim_server_height(&servers->of[akin], need_ppm) <=
                                               gsim_server_height(&servers->of[least], need_ppm);
    return is_as_low ? akin : least;
}

static struct gsim_gandiva_part *new_parts(struct gsim_ctx *ctx, uint32_t n) {
    struct gsim_gandiva_part *parts = gsim_arena_array(ctx->arena, n, sizeof *parts);
    if (!parts)
        gsim_common_no_memory(ctx);
    return parts;
}

/* The least loaded servers with enough GPUs together; 0: all of them have too few. */
static uint32_t choose_several(const struct gsim_servers *servers, struct gsim_ctx *ctx,
                               gsim_slot slot, struct gsim_gandiva_part *parts) {
    uint32_t left = ctx->view->jobs.gpus[slot], n = 0;
    for (uint32_t server = gsim_index_first(&servers->loads); server != GSIM_NO_ID && left > 0;
         server = gsim_index_next(&servers->loads, server)) {
        uint32_t gpus = servers->of[server].n_gpus;
        if (!gsim_servers_can_hold(servers, ctx, server, slot))
            continue;
        gpus = gpus < left ? gpus : left;
        parts[n++] = (struct gsim_gandiva_part){server, gpus, GSIM_NO_ID};
        left -= gpus;
    }
    return left == 0 ? n : 0;
}

static void allot_wide(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    struct gsim_gandiva_part *parts = new_parts(ctx, ctx->view->jobs.gpus[slot]);
    uint32_t n = parts ? choose_several(servers, ctx, slot, parts) : 0;
    if (n == 0) {
        gsim_servers_enlist(servers, ctx, slot, GSIM_TURN_UNPLACED);
        return;
    }
    turn->parts = parts;
    turn->n_parts = n;
    add_loads(servers, ctx, slot, 1);
    stand_in(servers, ctx, slot, GSIM_TURN_WIDE_LINE);
}

void gsim_servers_allot(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    leave(servers, ctx, slot);
    uint32_t server = choose(servers, ctx, slot);
    if (server != GSIM_NO_ID)
        gsim_servers_allot_to(servers, ctx, slot, server);
    else
        allot_wide(servers, ctx, slot);
}

/* Whether these units are those GPUs of servers, in their order, that the job is allotted. */
static bool is_allotted_there(const struct gsim_gandiva_turn *turn, const struct gsim_view *view,
                              const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    uint32_t u = 0;
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        uint32_t end = u + parts[p].gpus;
        for (; u < end; u++)
            if (u == n_units || view->cluster.node_of_gpu[units[u].gpu] != parts[p].server)
                return false;
    }
    return turn->n_parts > 0 && u == n_units;
}

/* Counts the GPUs on each server. GPUs of one node stand together in a list of units, except those
 * that gangs of several nodes share. */
static uint32_t count_parts(const struct gsim_view *view, const struct gsim_unit *units,
                            uint32_t n_units, struct gsim_gandiva_part *parts) {
    uint32_t n = 0;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t server = view->cluster.node_of_gpu[units[u].gpu], p = 0;
        while (p < n && parts[p].server != server)
            p++;
        if (p == n)
            parts[n++] = (struct gsim_gandiva_part){server, 0, GSIM_NO_ID};
        parts[p].gpus++;
    }
    return n;
}

void gsim_servers_note_units(struct gsim_servers *servers, struct gsim_ctx *ctx,
                             const struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    unlist(servers, ctx, slot);
    if ((servers->is_one && turn->n_parts == 1) ||
        is_allotted_there(turn, ctx->view, units, n_units))
        return;
    leave(servers, ctx, slot);
    if (servers->is_one) {
        turn->only = (struct gsim_gandiva_part){0, ctx->view->jobs.gpus[slot], GSIM_NO_ID};
        turn->n_parts = 1;
    } else {
        struct gsim_gandiva_part one, *parts = n_units > 1 ? new_parts(ctx, n_units) : &one;
        if (!parts)
            return;
        turn->n_parts = count_parts(ctx->view, units, n_units, parts);
        turn->only = parts[0];
        turn->parts = turn->n_parts > 1 ? parts : NULL;
    }
    add_loads(servers, ctx, slot, 1);
}

/* --- changes of jobs and nodes ----------------------------------------------------------- */

static void has_left(struct gsim_servers *servers, struct gsim_gandiva_turn *turn) {
    servers->n_leaving -= turn->is_leaving;
    turn->is_leaving = false;
}

void gsim_servers_completed(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    for (uint32_t p = 0; p < turn->n_parts; p++)
        gsim_servers_touch(servers, parts[p].server);
    has_left(servers, turn);
    leave(servers, ctx, slot);
    servers->has_freed = true;
}

static bool has_part_down(const struct gsim_servers *servers,
                          const struct gsim_gandiva_turn *turn) {
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    for (uint32_t p = 0; p < turn->n_parts; p++)
        if (!servers->of[parts[p].server].is_up)
            return true;
    return false;
}

/* A job that has been pushed out goes back in line on its server; a gang that was scattered over
 * more servers than it needs is allotted to one anew. */
static void put_in_line(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    has_left(servers, turn);
    turn->since_ns = ctx->view->now_ns;
    turn->rests_until_ns = ctx->view->now_ns + servers->slice_ns;
    bool is_up = turn->n_parts > 0 && !has_part_down(servers, turn);
    if (is_up && turn->n_parts == 1 && turn->only.gpus == ctx->view->jobs.gpus[slot])
        stand_in(servers, ctx, slot, GSIM_TURN_LINE);
    else if (is_up && turn->n_parts > 1 && choose(servers, ctx, slot) == GSIM_NO_ID)
        stand_in(servers, ctx, slot, GSIM_TURN_WIDE_LINE);
    else
        gsim_servers_allot(servers, ctx, slot);
}

static void book_settled(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    if (servers->profile)
        servers->profile(ctx, slot);
    if (ctx->view->jobs.state[slot] == GSIM_RUNNING) {
        turn->since_ns = ctx->view->jobs.changed_ns[slot];
        gsim_servers_enlist(servers, ctx, slot,
                            turn->n_parts == 1 ? GSIM_TURN_RUNS : GSIM_TURN_WIDE_RUNS);
        for (uint32_t p = 0; p < turn->n_parts; p++)
            gsim_servers_touch(servers, gsim_turn_parts(turn)[p].server);
    } else if (gsim_common_waits(ctx->view, slot) && turn->n_parts > 1) {
        if (!gsim_index_insert(&servers->scattered, slot, gsim_nth(ctx->view, slot), 0))
            gsim_common_no_memory(ctx);
    } else if (gsim_common_waits(ctx->view, slot)) {
        put_in_line(servers, ctx, slot);
    }
}

/* Where the first of them goes decides where the next one does: in the order of the trace. */
static void put_scattered_in_line(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    gsim_slot slot;
    while ((slot = gsim_index_first(&servers->scattered)) != GSIM_NO_ID) {
        gsim_index_remove(&servers->scattered, slot);
        put_in_line(servers, ctx, slot);
    }
}

static void allot_list_anew(struct gsim_servers *servers, struct gsim_ctx *ctx,
                            const struct gsim_turns_list *list) {
    gsim_slot after;
    for (gsim_slot slot = list->first, last = list->last; slot != GSIM_NO_SLOT;
         slot = slot == last ? GSIM_NO_SLOT : after) {
        const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
        after = turn->after;
        if (turn->list == GSIM_TURN_UNPLACED || has_part_down(servers, turn))
            gsim_servers_allot(servers, ctx, slot);
    }
}

static void book_nodes(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    if (view->cluster.n_failures == servers->n_failures &&
        view->cluster.n_repairs == servers->n_repairs)
        return;
    servers->has_freed |= view->cluster.n_repairs != servers->n_repairs;
    servers->n_failures = view->cluster.n_failures;
    servers->n_repairs = view->cluster.n_repairs;
    if (servers->is_one) {
        gsim_servers_touch(servers, 0);
        return;
    }
    for (uint32_t server = 0; server < servers->n; server++) {
        bool is_up = !view->cluster.node_is_down[server];
        if (is_up != servers->of[server].is_up)
            order_by_load(servers, ctx, server, is_up);
        servers->of[server].is_up = is_up;
        gsim_servers_touch(servers, server);
    }
    for (uint32_t server = 0; server < servers->n; server++)
        if (!servers->of[server].is_up)
            allot_list_anew(servers, ctx, &servers->of[server].line);
    allot_list_anew(servers, ctx, &servers->wide_line);
    allot_list_anew(servers, ctx, &servers->unplaced);
}

void gsim_servers_book(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    book_nodes(servers, ctx);
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        book_settled(servers, ctx, view->changes.settled[i]);
    put_scattered_in_line(servers, ctx);
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        gsim_turn_of(ctx, view->changes.arrived[i])->since_ns = view->now_ns;
    for (uint32_t i = 0; i < view->changes.n_arrived && servers->is_one; i++)
        gsim_servers_allot(servers, ctx, view->changes.arrived[i]);
}

/* --- opening ----------------------------------------------------------------------------- */

static void init_server(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server) {
    const struct gsim_view *view = ctx->view;
    struct gsim_server *at = &servers->of[server];
    static const struct gsim_turns_list empty = {GSIM_NO_SLOT, GSIM_NO_SLOT, 0};
    at->line = at->running = empty;
    at->next_due = at->claimant = GSIM_NO_SLOT;
    at->is_up = true;
    at->n_gpus = servers->is_one ? view->cluster.n_gpus
                                 : view->cluster.node_first_gpu[server + 1] -
                                       view->cluster.node_first_gpu[server];
    if (!servers->is_one)
        order_by_load(servers, ctx, server, true);
}

enum gsim_status gsim_servers_init(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    struct gsim_arena *arena = ctx->arena;
    static const struct gsim_turns_list empty = {GSIM_NO_SLOT, GSIM_NO_SLOT, 0};
    servers->rule = gsim_settings_rule(ctx);
    servers->patience = gsim_param(ctx->params, "patience");
    servers->n = servers->is_one ? 1 : ctx->view->cluster.n_nodes;
    servers->widths = ctx->view->cluster.widest_node + 2;
    servers->wide_line = servers->wide_running = servers->unplaced = empty;
    gsim_index_init(&servers->loads, arena);
    gsim_index_init(&servers->timed, arena);
    gsim_index_init(&servers->lines, arena);
    gsim_index_init(&servers->scattered, arena);
    gsim_wide_init(servers, arena);
    servers->of = gsim_arena_array(arena, servers->n, sizeof *servers->of);
    servers->dirty = gsim_arena_array(arena, servers->n, sizeof *servers->dirty);
    servers->changed = gsim_arena_array(arena, servers->n, sizeof *servers->changed);
    servers->touched = gsim_arena_array(arena, servers->n, sizeof *servers->touched);
    servers->akin = gsim_arena_array(arena, servers->widths, sizeof *servers->akin);
    servers->n_of_width = gsim_arena_array(arena, servers->widths, sizeof *servers->n_of_width);
    if (!servers->of || !servers->dirty || !servers->changed || !servers->touched ||
        !servers->akin || !servers->n_of_width ||
        !gsim_bitset_init(&servers->served, arena, servers->n))
        return gsim_no_memory(ctx->log, "opening gandiva");
    for (uint32_t width = 0; width < servers->widths; width++)
        gsim_index_init(&servers->akin[width], arena);
    for (uint32_t server = 0; server < servers->n; server++)
        init_server(servers, ctx, server);
    return GSIM_OK;
}

/* --- what the plan has placed and stopped ------------------------------------------------ */

bool gsim_servers_place_anywhere(struct gsim_servers *servers, struct gsim_ctx *ctx,
                                 struct gsim_plan *plan, gsim_slot slot) {
    servers->mark = gsim_plan_mark(plan);
    return gsim_settings_place(ctx, plan, slot, servers->rule) ||
           (servers->scatters && gsim_settings_place(ctx, plan, slot, GSIM_RULE_ANY));
}

void gsim_servers_is_coming(struct gsim_servers *servers, const struct gsim_ctx *ctx,
                            gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        servers->of[gsim_turn_parts(turn)[p].server].has_placed = true;
        gsim_servers_touch(servers, gsim_turn_parts(turn)[p].server);
    }
}

/* Where a job that has waited longer has a claim, one that has been placed is a guest. */
static void note_guest(struct gsim_servers *servers, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        gsim_slot claimant = servers->of[parts[p].server].claimant;
        turn->is_guest |= claimant != GSIM_NO_SLOT && gsim_turn_is_older(ctx, claimant, slot);
    }
    for (uint32_t p = 0; p < turn->n_parts && turn->is_guest; p++)
        servers->of[parts[p].server].n_guests++;
}

void gsim_servers_has_placed(struct gsim_servers *servers, struct gsim_ctx *ctx,
                             struct gsim_plan *plan, gsim_slot slot) {
    gsim_servers_note_units(servers, ctx, plan, slot);
    gsim_servers_is_coming(servers, ctx, slot);
    note_guest(servers, ctx, slot);
}

void gsim_servers_has_stopped(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    /* the job may leave more GPUs than it was stopped for */
    for (uint32_t p = 0; p < turn->n_parts; p++)
        gsim_servers_touch(servers, gsim_turn_parts(turn)[p].server);
    unlist(servers, ctx, slot);
    if (servers->profile)
        servers->profile(ctx, slot);
}

void gsim_servers_is_pushed_out(struct gsim_servers *servers, struct gsim_ctx *ctx,
                                gsim_slot slot) {
    gsim_servers_has_stopped(servers, ctx, slot);
    gsim_turn_of(ctx, slot)->is_leaving = true;
    servers->n_leaving++;
}

bool gsim_servers_suffice(const struct gsim_servers *servers) {
    return servers->n_waiting == 0 && servers->n_leaving == 0;
}
