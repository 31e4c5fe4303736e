/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves between Gandiva's servers. Source: Xiao et al., "Gandiva", OSDI 2018, sections 3.2.3, 3.3
 * and 4.2; numbers for when a move pays are not published, so a quote decides.
 *
 * While jobs wait: GPUs that no job of their server wants go to jobs that wait on others, the most
 * loaded server first, if bringing the job's memory there takes no longer than the job has waited
 * on its server and will wait until its next turn; and when a job has ended, waiting jobs of the
 * most loaded server are allotted to the least loaded one, if they have fewer rounds there and the
 * wait for their next turn becomes shorter by at least the time of the copy. A job that waits takes
 * its memory along when it is placed; until then nothing is copied.
 *
 * A running job that is moved goes by the way of preempt= (jobs of the paper go by checkpoints, or
 * by way of the host): where that leaves memory on the GPU it goes by way of the host, and where it
 * loses what the job has done the job is not moved.
 *
 * While no job waits, or is on its way off its GPUs: a running gang that is scattered over more
 * nodes than it needs is gathered; and with grow=on a job gets idle GPUs of its node beside those
 * that it asked for, twice as many or four times and so on, and gives them back as soon as another
 * job waits. It moves once, to as many as it gets: each move costs a suspension and a copy. What
 * more GPUs are worth is the device's business (gang.grown_ppm); for how long no job must have
 * waited is not published.
 */
#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"
#include "policies/lib/taken.h"
#include "sim/base/index.h"

/* --- cost and gain of a move -------------------------------------------------------- */

/* Time of the rounds of slices until waiting jobs of this many GPUs have had a turn. */
static int64_t wait_ns(const struct gsim_servers *servers, const struct gsim_server *at,
                       int64_t gpus) {
    return gsim_common_times((gpus + at->n_gpus - 1) / at->n_gpus, servers->slice_ns);
}

/* How much longer it takes to bring the job to these units than to where its memory lies. */
static int64_t extra_ns(const struct gsim_ctx *ctx, gsim_slot slot, const struct gsim_unit *units,
                        uint32_t n_units) {
    const struct gsim_unit *home;
    uint32_t n_home = gsim_ask_home(ctx, slot, &home);
    if (n_home == 0)
        return 0;
    return gsim_ask_back_ns(ctx, slot, units, n_units) - gsim_ask_back_ns(ctx, slot, home, n_home);
}

/* --- idle GPUs ---------------------------------------------------------------------- */

/* The time that the job has waited on its server tells how long it will wait: a move is put off for
 * no longer than it takes. */
static bool take_idle(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot, int64_t next_turn_ns) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    int64_t wait_here_ns = turn->waited_ns + ctx->view->now_ns - turn->since_ns + next_turn_ns;
    const struct gsim_unit *units;
    uint32_t mark = gsim_plan_mark(plan);
    if (!gsim_servers_place_anywhere(servers, ctx, plan, slot))
        return false;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    int64_t lacks_ns = extra_ns(ctx, slot, units, n_units) - wait_here_ns;
    if (lacks_ns <= 0) {
        gsim_servers_has_placed(servers, ctx, plan, slot);
        return true;
    }
    if (ctx->view->now_ns + lacks_ns < servers->pays_ns)
        servers->pays_ns = ctx->view->now_ns + lacks_ns;
    gsim_plan_rollback(plan, mark);
    return false;
}

/* The smallest gang that waits. */
static uint32_t smallest_waiting(const struct gsim_servers *servers) {
    uint32_t width = 0;
    while (width < servers->widths && servers->n_of_width[width] == 0)
        width++;
    return width;
}

/* From the end of the line, where jobs wait longest. Whether any has left it. */
static bool empty_line(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       uint32_t server, uint32_t *smallest) {
    struct gsim_server *at = &servers->of[server];
    int64_t ahead = at->waiting_gpus;
    uint32_t n = at->line.n;
    gsim_slot before;
    for (gsim_slot slot = at->line.last;
         slot != GSIM_NO_SLOT && *smallest <= ctx->view->cluster.n_idle_gpus; slot = before) {
        uint32_t gpus = ctx->view->jobs.gpus[slot];
        before = gsim_turn_of(ctx, slot)->before;
        if (gpus <= ctx->view->cluster.n_idle_gpus &&
            take_idle(servers, ctx, plan, slot, wait_ns(servers, at, ahead)))
            *smallest = smallest_waiting(servers);
        ahead -= gpus;
    }
    return at->line.n < n;
}

/* Each server once, of those that are left the most loaded one first: a job that moves changes the
 * loads, and so the order of those behind. */
static void empty_lines(struct gsim_servers *servers, struct gsim_ctx *ctx,
                        struct gsim_plan *plan) {
    uint32_t smallest = smallest_waiting(servers), n_left = servers->n_waiting;
    uint32_t server = gsim_index_last(&servers->loads);
    servers->n_passes++;
    while (server != GSIM_NO_ID && n_left > 0 && smallest <= ctx->view->cluster.n_idle_gpus) {
        struct gsim_server *at = &servers->of[server];
        bool is_new = at->pass != servers->n_passes;
        at->pass = servers->n_passes;
        n_left -= is_new ? at->line.n : 0;
        if (is_new && empty_line(servers, ctx, plan, server, &smallest))
            server = gsim_index_last(&servers->loads);
        else
            server = gsim_index_prev(&servers->loads, server);
    }
}

void gsim_servers_use_idle(struct gsim_servers *servers, struct gsim_ctx *ctx,
                           struct gsim_plan *plan) {
    gsim_slot slot, next;
    empty_lines(servers, ctx, plan);
    for (slot = servers->wide_line.first; slot != GSIM_NO_SLOT; slot = next) {
        next = gsim_turn_of(ctx, slot)->after;
        if (ctx->view->jobs.gpus[slot] <= ctx->view->cluster.n_idle_gpus)
            (void)take_idle(servers, ctx, plan, slot, servers->slice_ns);
    }
}

/* --- balance ------------------------------------------------------------------------ */

/* How much longer it takes to bring the job to any GPUs of the server than to where its memory
 * lies. */
static int64_t extra_on_ns(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                           uint32_t server) {
    uint32_t n = ctx->view->jobs.gpus[slot];
    struct gsim_taken *taken = &servers->taken;
    if (!gsim_taken_reserve(taken, ctx, n))
        return GSIM_NEVER;
    for (uint32_t u = 0; u < n; u++)
        taken->units[u] = (struct gsim_unit){.gpu = ctx->view->cluster.node_first_gpu[server] + u};
    return extra_ns(ctx, slot, taken->units, n);
}

/* Whether the job, which waits in a line of `ahead` GPUs, is better off on the other server. */
static bool gains(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                  const struct gsim_server *here, int64_t ahead, uint32_t there) {
    const struct gsim_server *at = &servers->of[there];
    int64_t need_ppm = gsim_servers_need_ppm(ctx, slot);
    if (at->n_gpus < ctx->view->jobs.gpus[slot] ||
        !gsim_servers_can_hold(servers, ctx, there, slot) ||
        gsim_server_height(at, need_ppm) >= gsim_server_height(here, 0))
        return false;
    int64_t less_ns = wait_ns(servers, here, ahead) -
                      wait_ns(servers, at, at->waiting_gpus + ctx->view->jobs.gpus[slot]);
    return less_ns >= 0 && extra_on_ns(servers, ctx, slot, there) <= less_ns;
}

/* No gang that is wider than this leaves the other server with fewer rounds than this one has. */
static int64_t widest_to_move(const struct gsim_ctx *ctx, const struct gsim_server *here,
                              const struct gsim_server *at) {
    if (ctx->view->trace->column[GSIM_COL_SHARE_PPM])
        return INT64_MAX;
    int64_t all_ppm = (int64_t)at->n_gpus * GSIM_PPM;
    return ((gsim_server_height(here, 0) - 1) * all_ppm - at->load_ppm) / GSIM_PPM;
}

/* From the end of the line; where the wait is shorter than any on the other server it stays so up
 * to the head. */
static bool relieve(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t from,
                    uint32_t to) {
    struct gsim_server *here = &servers->of[from], *at = &servers->of[to];
    int64_t ahead = here->waiting_gpus;
    int64_t least_ns = wait_ns(servers, at, at->waiting_gpus + 1);
    if (here->line.n == 0 || gsim_servers_narrow(servers, ctx, here->line.first,
                                                 widest_to_move(ctx, here, at)) == GSIM_NO_SLOT)
        return false;
    for (gsim_slot slot = here->line.last;
         slot != GSIM_NO_SLOT && wait_ns(servers, here, ahead) >= least_ns;
         slot = gsim_turn_of(ctx, slot)->before) {
        if (gains(servers, ctx, slot, here, ahead, to)) {
            gsim_servers_allot_to(servers, ctx, slot, to);
            return true;
        }
        ahead -= ctx->view->jobs.gpus[slot];
    }
    return false;
}

/* Each move makes the rounds of the most loaded server fewer, or the GPUs beyond them: it ends. */
void gsim_servers_balance(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    uint32_t from = gsim_index_last(&servers->loads);
    while (from != GSIM_NO_ID) {
        uint32_t to = gsim_index_first(&servers->loads);
        const struct gsim_server *here = &servers->of[from];
        if (gsim_server_height(here, 0) <= gsim_server_height(&servers->of[to], 1))
            return;
        if (relieve(servers, ctx, from, to))
            from = gsim_index_last(&servers->loads);
        else if (here->line.n == 0)
            from = gsim_index_prev(&servers->loads, from);
        else
            return;
    }
}

/* --- gathering ---------------------------------------------------------------------- */

struct gsim_preemption gsim_servers_way(const struct gsim_servers *servers) {
    enum gsim_keep keep = servers->preemption.keep;
    if (keep == GSIM_KEEP_STORAGE || keep == GSIM_KEEP_IMAGE || keep == GSIM_KEEP_DISCARD)
        return servers->preemption;
    return (struct gsim_preemption){GSIM_STOP_ITERATION, GSIM_KEEP_HOST};
}

bool gsim_servers_move(const struct gsim_servers *servers, struct gsim_plan *plan, gsim_slot slot,
                       const struct gsim_shape *shape) {
    return gsim_settings_move(plan, slot, shape, gsim_servers_way(servers));
}

static bool may_move(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                     gsim_slot slot) {
    struct gsim_preemption way = gsim_servers_way(servers);
    return way.keep != GSIM_KEEP_DISCARD &&
           gsim_ask(ctx, slot, way.stop, way.keep, NULL, 0).is_possible;
}

static uint32_t nodes_of(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units), nodes = n > 0;
    for (uint32_t u = 1; u < n; u++)
        nodes += ctx->view->cluster.node_of_gpu[units[u].gpu] !=
                 ctx->view->cluster.node_of_gpu[units[u - 1].gpu];
    return nodes;
}

/* Moves the job to GPUs of this shape on most_nodes nodes at most. It may run there at once,
 * without another decide, and its slice is over a slice from now. */
static bool move(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                 gsim_slot slot, const struct gsim_shape *shape, uint32_t most_nodes) {
    uint32_t mark = gsim_plan_mark(plan);
    if (gsim_servers_move(servers, plan, slot, shape) && nodes_of(ctx, plan, slot) <= most_nodes) {
        gsim_servers_has_stopped(servers, ctx, slot);
        gsim_servers_note_units(servers, ctx, plan, slot);
        gsim_servers_is_coming(servers, ctx, slot);
        return true;
    }
    gsim_plan_rollback(plan, mark);
    return false;
}

bool gsim_servers_gather(struct gsim_servers *servers, struct gsim_ctx *ctx,
                         struct gsim_plan *plan) {
    uint32_t widest = ctx->view->cluster.widest_node;
    for (gsim_slot slot = servers->wide_running.first; slot != GSIM_NO_SLOT;
         slot = gsim_turn_of(ctx, slot)->after) {
        uint32_t nodes = gsim_turn_of(ctx, slot)->n_parts, gpus = ctx->view->jobs.gpus[slot];
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
        if (nodes > (gpus + widest - 1) / widest && may_move(servers, ctx, slot) &&
            move(servers, ctx, plan, slot, &shape, nodes - 1))
            return true;
    }
    return false;
}

/* --- growing ------------------------------------------------------------------------ */

/* Whether the job's memory can be carried, and it has whole GPUs of its own. */
static bool may_grow(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                     const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    const struct gsim_unit *units;
    return gsim_plan_units(plan, slot, &units) > 0 && view->jobs.share_ppm[slot] == GSIM_PPM &&
           view->cluster.clients[units[0].gpu] == 0 && may_move(servers, ctx, slot);
}

/* The job gets this many GPUs of its node in place of those that it has. */
static void resize(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                   gsim_slot slot, uint32_t gpus) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_ANY);
    shape.gpus = gpus;
    shape.within = gsim_turn_of(ctx, slot)->only.server + 1;
    (void)move(servers, ctx, plan, slot, &shape, 1);
}

/* GPUs beyond those that the job asked for. */
static uint32_t grown_by(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units), gpus = ctx->view->jobs.gpus[slot];
    return n > gpus ? n - gpus : 0;
}

/* Jobs of the server give back GPUs until `wanted` are idle there, or in all of the cluster. */
static void shrink_on(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      uint32_t server, int64_t wanted, bool in_all) {
    gsim_slot slot, after;
    for (slot = servers->of[server].running.first;
         slot != GSIM_NO_SLOT && (in_all ? ctx->view->cluster.n_idle_gpus
                                         : gsim_servers_idle(servers, ctx->view, server)) < wanted;
         slot = after) {
        after = gsim_turn_of(ctx, slot)->after;
        if (grown_by(ctx, plan, slot) > 0)
            resize(servers, ctx, plan, slot, ctx->view->jobs.gpus[slot]);
    }
}

/* GPUs of the server that are idle, or that its jobs can give back, beyond those that are wanted
 * there. */
static int64_t room_on(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                       const struct gsim_plan *plan, uint32_t server, bool with_grown) {
    int64_t room = gsim_servers_idle(servers, ctx->view, server) - servers->of[server].wanted;
    gsim_slot slot = with_grown ? servers->of[server].running.first : GSIM_NO_SLOT;
    for (; slot != GSIM_NO_SLOT; slot = gsim_turn_of(ctx, slot)->after)
        room += grown_by(ctx, plan, slot);
    return room;
}

/* Makes room for a job that comes on the first server that has room, else on the first where jobs
 * can give back enough. Spread over servers it would be slower than where no job had grown. */
static void shrink_for(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       uint32_t gpus) {
    for (int with_grown = 0; with_grown < 2; with_grown++)
        for (uint32_t server = 0; server < servers->n; server++) {
            struct gsim_server *at = &servers->of[server];
            if (!at->is_up || room_on(servers, ctx, plan, server, with_grown) < gpus)
                continue;
            at->wanted += gpus;
            shrink_on(servers, ctx, plan, server, at->wanted, false);
            return;
        }
}

void gsim_servers_shrink(struct gsim_servers *servers, struct gsim_ctx *ctx,
                         struct gsim_plan *plan) {
    int64_t wanted = 0;
    for (uint32_t server = 0; server < servers->n; server++) {
        struct gsim_server *at = &servers->of[server];
        at->wanted = at->waiting_gpus;
        wanted += at->waiting_gpus;
        shrink_on(servers, ctx, plan, server, at->wanted, false);
    }
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++) {
        uint32_t gpus = ctx->view->jobs.gpus[ctx->view->changes.arrived[i]];
        wanted += gpus;
        shrink_for(servers, ctx, plan, gpus);
    }
    for (gsim_slot slot = servers->wide_line.first; slot != GSIM_NO_SLOT;
         slot = gsim_turn_of(ctx, slot)->after)
        wanted += ctx->view->jobs.gpus[slot];
    for (uint32_t server = 0; server < servers->n; server++)
        shrink_on(servers, ctx, plan, server, wanted, true);
}

/* Jobs get as many GPUs again in turn, as long as there are as many, and move there once. */
static void grow_on(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    uint32_t server) {
    gsim_slot first = servers->of[server].running.first, slot, after;
    uint32_t idle = gsim_servers_idle(servers, ctx->view, server);
    const struct gsim_unit *units;
    if (idle == 0)
        return;
    for (slot = first; slot != GSIM_NO_SLOT; slot = gsim_turn_of(ctx, slot)->after)
        gsim_turn_of(ctx, slot)->next_gpus =
            may_grow(servers, ctx, plan, slot) ? gsim_plan_units(plan, slot, &units) : 0;
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        for (slot = first; slot != GSIM_NO_SLOT; slot = gsim_turn_of(ctx, slot)->after) {
            uint32_t more = gsim_turn_of(ctx, slot)->next_gpus;
            if (more == 0 || more > idle)
                continue;
            gsim_turn_of(ctx, slot)->next_gpus += more;
            idle -= more;
            has_grown = true;
        }
    }
    for (slot = first; slot != GSIM_NO_SLOT; slot = after) {
        uint32_t gpus = gsim_turn_of(ctx, slot)->next_gpus;
        after = gsim_turn_of(ctx, slot)->after;
        if (gpus > gsim_plan_units(plan, slot, &units))
            resize(servers, ctx, plan, slot, gpus);
    }
}

void gsim_servers_grow(struct gsim_growth *growth, struct gsim_servers *servers,
                       struct gsim_ctx *ctx, struct gsim_plan *plan) {
    int64_t now = ctx->view->now_ns;
    bool suffices = gsim_servers_suffice(servers);
    if (!suffices || growth->is_short || ctx->view->changes.n_arrived > 0)
        growth->calm_ns = now;
    growth->is_short = !suffices;
    if (!suffices || ctx->view->cluster.n_idle_gpus == 0)
        return;
    if (now - growth->calm_ns < growth->after_ns) {
        gsim_plan_wake(plan, growth->calm_ns + growth->after_ns);
        return;
    }
    for (uint32_t server = 0; server < servers->n; server++)
        grow_on(servers, ctx, plan, server);
}
