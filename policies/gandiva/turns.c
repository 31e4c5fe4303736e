/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns of jobs on their servers, round robin: the job that has waited longest takes idle GPUs of
 * its server, else pushes out jobs with slices that are over, the longest slice first. A job that
 * has just been pushed out pushes out no other for a slice: else one arrival would have all jobs of
 * a server change places at once, to no one's gain. A job that does not fit is passed over; once it
 * has waited for patience= slices it claims its servers: no job that came later pushes out any
 * other there, and jobs that come there meanwhile give back their GPUs when it needs them. A gang
 * of several servers is served before the jobs of one. */
#include <assert.h>

#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"
#include "policies/lib/misfits.h"
#include "policies/lib/settings.h"
#include "policies/lib/slices.h"
#include "policies/lib/taken.h"
#include "sim/base/index.h"

/* --- victims ----------------------------------------------------------------------------- */

int64_t gsim_turn_end_ns(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                         gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    bool runs = turn->list == GSIM_TURN_RUNS || turn->list == GSIM_TURN_WIDE_RUNS;
    return runs ? turn->since_ns + servers->slice_ns : GSIM_NEVER;
}

static uint32_t gpus_on(const struct gsim_gandiva_turn *turn, uint32_t server) {
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    for (uint32_t p = 0; p < turn->n_parts; p++)
        if (parts[p].server == server)
            return parts[p].gpus;
    return 0;
}

/* The running jobs of a server, the longest slice first: its own, and gangs that are on other
 * servers too. */
struct walk {
    gsim_slot own;
    uint32_t wide; /* the gang's part */
    uint32_t server;
};

static struct walk walk_of(const struct gsim_servers *servers, uint32_t server) {
    const struct gsim_server *at = &servers->of[server];
    uint32_t wide = at->n_wide_running ? gsim_wide_running_since(servers, server, 0) : GSIM_NO_ID;
    return (struct walk){at->running.first, wide, server};
}

static gsim_slot walk_next(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                           struct walk *walk) {
    gsim_slot slot = walk->own;
    gsim_slot wide = walk->wide == GSIM_NO_ID ? GSIM_NO_SLOT : servers->wide.job[walk->wide];
    if (wide != GSIM_NO_SLOT && (slot == GSIM_NO_SLOT || gsim_turn_is_older(ctx, wide, slot))) {
        walk->wide = gsim_wide_running_after(servers, walk->server, walk->wide);
        return wide;
    }
    if (slot != GSIM_NO_SLOT)
        walk->own = gsim_turn_of(ctx, slot)->after;
    return slot;
}

static bool is_due(const struct gsim_servers *servers, const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_turn_end_ns(servers, ctx, slot) <= ctx->view->now_ns;
}

/* The next job of the walk that gives way to this one. */
static gsim_slot next_victim(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                             struct walk *walk, gsim_slot slot) {
    const struct gsim_server *at = &servers->of[walk->server];
    bool takes_guests = at->claimant == slot && at->n_guests > 0;
    gsim_slot victim;
    while ((victim = walk_next(servers, ctx, walk)) != GSIM_NO_SLOT) {
        bool due = is_due(servers, ctx, victim);
        if (!due && !takes_guests)
            return GSIM_NO_SLOT;
        bool gives_way = due || gsim_turn_of(ctx, victim)->is_guest;
        if (gives_way && (!servers->yields || servers->yields(ctx, victim)))
            return victim;
    }
    return GSIM_NO_SLOT;
}

/* The idle GPUs of a server and those of all that would give way to the job, up to as many as it
 * needs there. */
static uint64_t room_by_force(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                              struct gsim_gandiva_part part, gsim_slot slot) {
    uint64_t room = gsim_servers_idle(servers, ctx->view, part.server);
    struct walk walk = walk_of(servers, part.server);
    gsim_slot victim;
    while (room < part.gpus && (victim = next_victim(servers, ctx, &walk, slot)) != GSIM_NO_SLOT)
        room += gpus_on(gsim_turn_of(ctx, victim), part.server);
    return room;
}

static bool push_out(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot victim) {
    return gsim_eviction_push_out(&servers->eviction, ctx, plan, victim, servers->preemption);
}

static void victims_have_stopped(struct gsim_servers *servers, struct gsim_ctx *ctx) {
    for (uint32_t v = 0; v < servers->eviction.n; v++)
        gsim_servers_is_pushed_out(servers, ctx, servers->eviction.victims[v].slot);
}

/* --- placing on one server --------------------------------------------------------------- */

static bool place(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  gsim_slot slot) {
    if (servers->is_one)
        return gsim_servers_place_anywhere(servers, ctx, plan, slot);
    servers->mark = gsim_plan_mark(plan);
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_ANY);
    shape.within = gsim_turn_of(ctx, slot)->only.server + 1;
    return gsim_plan_place(plan, slot, &shape);
}

/* Pushes out jobs until this one fits. */
static bool make_room(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    uint32_t server = gsim_turn_of(ctx, slot)->only.server;
    uint64_t room = gsim_servers_idle(servers, ctx->view, server);
    struct walk walk = walk_of(servers, server);
    gsim_slot victim;
    gsim_eviction_begin(&servers->eviction);
    while ((victim = next_victim(servers, ctx, &walk, slot)) != GSIM_NO_SLOT) {
        if (!push_out(servers, ctx, plan, victim))
            return false;
        room += gpus_on(gsim_turn_of(ctx, victim), server);
        if (room >= ctx->view->jobs.gpus[slot] && place(servers, ctx, plan, slot))
            return true;
    }
    return false;
}

static bool force(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  gsim_slot slot) {
    uint32_t mark = gsim_plan_mark(plan);
    if (!make_room(servers, ctx, plan, slot)) {
        gsim_plan_rollback(plan, mark);
        return false;
    }
    gsim_eviction_spare(&servers->eviction, ctx, plan, slot, mark, &servers->mark);
    victims_have_stopped(servers, ctx);
    return true;
}

/* --- a line ------------------------------------------------------------------------------ */

static void leave_line(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    if (servers->placed)
        servers->placed(ctx, plan, slot, servers->mark);
    gsim_servers_has_placed(servers, ctx, plan, slot);
}

/* The narrowest gang that lacks GPUs where one of this width found this room, by force: without
 * patience no job of the line has a claim, so that all of them push out the same jobs. */
static uint32_t lacking_width(const struct gsim_servers *servers, uint64_t room, uint32_t gpus) {
    return servers->patience == 0 ? (uint32_t)room + 1 : gpus;
}

/* A job that lacks only memory, on enough GPUs, waits for the jobs paused there, and its failure
 * says nothing about others. */
static bool try_force(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      struct gsim_line_pass *pass, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    if (gpus < pass->misfits.smallest)
        pass->misfits.smallest = gpus;
    if (gpus >= pass->smallest_unforced || turn->rests_until_ns > ctx->view->now_ns ||
        gsim_claims_keep_out(servers, ctx, slot))
        return false;
    struct gsim_gandiva_part part = {turn->only.server, gpus, GSIM_NO_ID};
    uint64_t room = room_by_force(servers, ctx, part, slot);
    if (room >= gpus && force(servers, ctx, plan, slot)) {
        pass->misfits.smallest = UINT32_MAX; /* the job may leave some of the GPUs that it took */
        return true;
    }
    if (room < gpus)
        pass->smallest_unforced = lacking_width(servers, room, gpus);
    else if (pass->misfits.is_size_all)
        pass->smallest_unforced = gpus;
    return false;
}

static bool try_place(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      const struct gsim_line_pass *pass, gsim_slot slot) {
    bool is_hopeless =
        pass->misfits.is_size_all && ctx->view->jobs.gpus[slot] >= pass->misfits.smallest;
    gsim_eviction_begin(&servers->eviction);
    return !is_hopeless && place(servers, ctx, plan, slot);
}

/* Whether the job would claim its server now. */
static bool has_to_claim(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                         uint32_t server, gsim_slot slot) {
    gsim_slot claimant = servers->of[server].claimant;
    return gsim_claims_now(servers, ctx, slot) &&
           (claimant == GSIM_NO_SLOT || gsim_turn_is_older(ctx, slot, claimant));
}

static bool is_full(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                    uint32_t server) {
    return !ctx->view->trace->column[GSIM_COL_SHARE_PPM] &&
           gsim_servers_idle(servers, ctx->view, server) == 0;
}

/* Jobs of this width and more find no room among the idle GPUs of the server. */
static uint32_t too_wide(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                         const struct gsim_line_pass *pass, uint32_t server) {
    uint32_t smallest = pass->misfits.is_size_all ? pass->misfits.smallest : UINT32_MAX;
    uint32_t idle = gsim_servers_idle(servers, ctx->view, server);
    enum gsim_rule rule = servers->is_one ? servers->rule : GSIM_RULE_ANY;
    return gsim_misfits_need_idle(ctx->view, rule) && idle < smallest ? idle + 1 : smallest;
}

/* The first job from this one on for which anything can be done: by force only a narrower job than
 * those which lack GPUs even so, and none behind a job that has claimed the server; on idle GPUs
 * only one that is not known to be too wide; and the first that is impatient claims the server. */
static gsim_slot pass_over(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                           const struct gsim_line_pass *pass, uint32_t server, gsim_slot slot) {
    if (slot == GSIM_NO_SLOT)
        return slot;
    bool full = is_full(servers, ctx, server);
    if (full && pass->smallest_unforced == 1)
        return GSIM_NO_SLOT;
    uint32_t unforced = pass->smallest_unforced;
    if (gsim_claims_before(servers, ctx, server, slot))
        unforced = 0;
    uint32_t unplaced = full ? 0 : too_wide(servers, ctx, pass, server);
    uint32_t wide = unplaced > unforced ? unplaced : unforced;
    if (ctx->view->jobs.gpus[slot] < wide || has_to_claim(servers, ctx, server, slot))
        return slot;
    return wide == 0 ? GSIM_NO_SLOT : gsim_servers_narrow(servers, ctx, slot, (int64_t)wide - 1);
}

/* Whether no GPU of the server is idle, and no job there gives way: without patience none of the
 * line has a claim either, and there is nothing to serve it with. */
static bool is_in_vain(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                       uint32_t server) {
    const struct gsim_server *at = &servers->of[server];
    bool has_due = at->n_wide_running > 0 ||
                   (at->running.first != GSIM_NO_SLOT && is_due(servers, ctx, at->running.first));
    return servers->patience == 0 && !has_due && is_full(servers, ctx, server);
}

static void begin_pass(struct gsim_servers *servers, const struct gsim_ctx *ctx, uint32_t server) {
    struct gsim_server *at = &servers->of[server];
    bool is_to_be_served = at->line.n > 0 && !is_in_vain(servers, ctx, server);
    at->at = (struct gsim_line_pass){gsim_misfits_none(ctx->view, servers->rule, true), UINT32_MAX,
                                     is_to_be_served ? at->line.first : GSIM_NO_SLOT};
}

/* Whether the job would have the last idle GPU of its server, or one that another job leaves: it
 * may be packed there. */
static bool may_be_packed(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                          uint32_t server, gsim_slot slot) {
    return servers->is_packing && gsim_turn_is_single(ctx, slot) &&
           gsim_servers_idle(servers, ctx->view, server) <= 1;
}

/* Serves the job, and says which is next. */
static gsim_slot serve_job(struct gsim_servers *servers, struct gsim_ctx *ctx,
                           struct gsim_plan *plan, uint32_t server, gsim_slot slot) {
    struct gsim_server *at = &servers->of[server];
    gsim_slot after = gsim_turn_of(ctx, slot)->after;
    if ((!is_full(servers, ctx, server) && try_place(servers, ctx, plan, &at->at, slot)) ||
        try_force(servers, ctx, plan, &at->at, slot)) {
        leave_line(servers, ctx, plan, slot);
        if (after != GSIM_NO_SLOT && gsim_turn_of(ctx, after)->list != GSIM_TURN_LINE)
            after = at->line.first; /* that job was packed with the placed one */
    } else if (gsim_claims_now(servers, ctx, slot)) {
        gsim_claims_make(servers, ctx, slot);
    }
    return after;
}

/* No job that rests is before a job that does not, except where lines have been joined. to_packed:
 * up to the first job that may be packed. */
static void serve_line(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       uint32_t server, bool to_packed) {
    struct gsim_line_pass *pass = &servers->of[server].at;
    while ((pass->next = pass_over(servers, ctx, pass, server, pass->next)) != GSIM_NO_SLOT &&
           !(to_packed && may_be_packed(servers, ctx, server, pass->next)))
        pass->next = serve_job(servers, ctx, plan, server, pass->next);
}

/* --- gangs of several servers ------------------------------------------------------------ */

static uint32_t part_on(const struct gsim_ctx *ctx, const struct gsim_unit *units, uint32_t n,
                        uint32_t server) {
    uint32_t n_there = 0;
    for (uint32_t u = 0; u < n; u++)
        n_there += ctx->view->cluster.node_of_gpu[units[u].gpu] == server;
    return n_there;
}

/* On the GPUs that its memory is bound to, where all of them are idle, and as many on each server
 * as the gang is allotted there. */
static bool place_at_home(struct gsim_servers *servers, struct gsim_ctx *ctx,
                          struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    const struct gsim_unit *home;
    uint32_t n = gsim_ask_home(ctx, slot, &home);
    if (n != ctx->view->jobs.gpus[slot])
        return false;
    for (uint32_t p = 0; p < turn->n_parts; p++)
        if (part_on(ctx, home, n, parts[p].server) != parts[p].gpus)
            return false;
    for (uint32_t u = 0; u < n; u++)
        if (!gsim_gpu_is_idle(ctx->view, home[u].gpu))
            return false;
    servers->mark = gsim_plan_mark(plan);
    return gsim_plan_place_on(plan, slot, home, n);
}

/* On the first idle GPUs of each of its servers. */
static bool place_on_parts(struct gsim_servers *servers, struct gsim_ctx *ctx,
                           struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    struct gsim_taken *taken = &servers->taken;
    uint32_t n = 0, gpus = ctx->view->jobs.gpus[slot];
    if (!gsim_taken_reserve(taken, ctx, gpus))
        return false;
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        uint32_t gpu = ctx->view->cluster.node_first_gpu[parts[p].server], taken_here = 0;
        for (; taken_here < parts[p].gpus &&
               gpu < ctx->view->cluster.node_first_gpu[parts[p].server + 1];
             gpu++)
            if (gsim_gpu_is_idle(ctx->view, gpu)) {
                taken->units[n++] = (struct gsim_unit){.gpu = gpu};
                taken_here++;
            }
        if (taken_here < parts[p].gpus)
            return false;
    }
    servers->mark = gsim_plan_mark(plan);
    return gsim_plan_place_on(plan, slot, taken->units, n);
}

static bool place_wide(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    return place_at_home(servers, ctx, plan, slot) || place_on_parts(servers, ctx, plan, slot);
}

/* On each server jobs are pushed out only until it has enough idle GPUs. */
static bool force_wide(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    const struct gsim_gandiva_part *parts = gsim_turn_parts(turn);
    gsim_eviction_begin(&servers->eviction);
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        struct walk walk = walk_of(servers, parts[p].server);
        gsim_slot victim;
        while (gsim_servers_idle(servers, ctx->view, parts[p].server) < parts[p].gpus) {
            do
                victim = next_victim(servers, ctx, &walk, slot);
            while (victim != GSIM_NO_SLOT && gsim_turn_of(ctx, victim)->is_stopping);
            if (victim == GSIM_NO_SLOT || !push_out(servers, ctx, plan, victim))
                return false;
            gsim_turn_of(ctx, victim)->is_stopping = true;
        }
    }
    return place_wide(servers, ctx, plan, slot);
}

static bool try_force_wide(struct gsim_servers *servers, struct gsim_ctx *ctx,
                           struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    if (turn->rests_until_ns > ctx->view->now_ns || gsim_claims_keep_out(servers, ctx, slot))
        return false;
    for (uint32_t p = 0; p < turn->n_parts; p++)
        if (room_by_force(servers, ctx, gsim_turn_parts(turn)[p], slot) <
            gsim_turn_parts(turn)[p].gpus)
            return false;
    uint32_t mark = gsim_plan_mark(plan);
    bool is_placed = force_wide(servers, ctx, plan, slot);
    for (uint32_t v = 0; v < servers->eviction.n; v++)
        gsim_turn_of(ctx, servers->eviction.victims[v].slot)->is_stopping = false;
    if (!is_placed) {
        gsim_plan_rollback(plan, mark);
        return false;
    }
    gsim_eviction_spare(&servers->eviction, ctx, plan, slot, mark, &servers->mark);
    victims_have_stopped(servers, ctx);
    return true;
}

static void serve_wide(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot slot;
    gsim_wide_begin(servers, ctx);
    while ((slot = gsim_wide_next(servers, ctx)) != GSIM_NO_SLOT) {
        if (place_wide(servers, ctx, plan, slot) || try_force_wide(servers, ctx, plan, slot))
            gsim_servers_has_placed(servers, ctx, plan, slot);
        else if (gsim_claims_now(servers, ctx, slot))
            gsim_claims_make(servers, ctx, slot);
    }
}

/* --- when to look again ------------------------------------------------------------------ */

/* The end of the first slice that is not over. */
static int64_t next_due_ns(struct gsim_servers *servers, const struct gsim_ctx *ctx,
                           uint32_t server) {
    struct gsim_server *at = &servers->of[server];
    while (at->next_due != GSIM_NO_SLOT && is_due(servers, ctx, at->next_due))
        at->next_due = gsim_turn_of(ctx, at->next_due)->after;
    int64_t next_ns =
        at->next_due == GSIM_NO_SLOT ? GSIM_NEVER : gsim_turn_end_ns(servers, ctx, at->next_due);
    int64_t begun_ns = ctx->view->now_ns - servers->slice_ns + 1; /* at the earliest */
    uint32_t wide = at->n_wide_running
                        ? gsim_wide_running_since(servers, server, begun_ns > 0 ? begun_ns : 0)
                        : GSIM_NO_ID;
    if (wide == GSIM_NO_ID)
        return next_ns;
    int64_t end_ns = gsim_turn_end_ns(servers, ctx, servers->wide.job[wide]);
    return end_ns < next_ns ? end_ns : next_ns;
}

/* The first time at which a job of a line may do more than now: it has rested, or claims its
 * servers. */
static int64_t next_right_ns(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                             const struct gsim_turns_list *line) {
    int64_t now = ctx->view->now_ns, next_ns = GSIM_NEVER;
    for (gsim_slot slot = line->last; slot != GSIM_NO_SLOT;
         slot = gsim_turn_of(ctx, slot)->before) {
        const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
        int64_t claims_ns = gsim_claims_at_ns(servers, turn);
        if (turn->rests_until_ns <= now && claims_ns <= now)
            break;
        if (turn->rests_until_ns > now && turn->rests_until_ns < next_ns)
            next_ns = turn->rests_until_ns;
        if (claims_ns > now && claims_ns < next_ns)
            next_ns = claims_ns;
        if (turn->since_ns + servers->slice_ns <= now && claims_ns == GSIM_NEVER)
            break; /* those before have waited, and so rested, for longer */
    }
    return next_ns;
}

/* wide_ns: that time, of the line of gangs of several servers. */
static void look_again(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server,
                       int64_t wide_ns) {
    struct gsim_server *at = &servers->of[server];
    int64_t next_ns = GSIM_NEVER, right_ns = GSIM_NEVER;
    if (at->line.n > 0 || at->n_wide_waiting > 0 || at->n_pairs > 0) {
        next_ns = next_due_ns(servers, ctx, server);
        if (at->has_placed && ctx->view->now_ns + servers->slice_ns < next_ns)
            next_ns = ctx->view->now_ns + servers->slice_ns; /* the job may run at once */
    }
    at->has_placed = false;
    bool has_due = at->running.first != at->next_due || at->n_wide_running > 0;
    if (has_due || servers->patience > 0 || at->n_wide_waiting > 0) {
        right_ns = next_right_ns(servers, ctx, &at->line);
        if (at->n_wide_waiting > 0 && wide_ns < right_ns)
            right_ns = wide_ns;
    }
    next_ns = right_ns < next_ns ? right_ns : next_ns;
    if (gsim_index_has(&servers->timed, server) &&
        gsim_index_key(&servers->timed, server) == next_ns)
        return;
    gsim_index_remove(&servers->timed, server);
    if (next_ns != GSIM_NEVER && !gsim_index_insert(&servers->timed, server, next_ns, server))
        gsim_common_no_memory(ctx);
}

/* --- the decide -------------------------------------------------------------------------- */

static void touch_timed(struct gsim_servers *servers, const struct gsim_ctx *ctx) {
    uint32_t server;
    while ((server = gsim_index_first(&servers->timed)) != GSIM_NO_ID &&
           gsim_index_key(&servers->timed, server) <= ctx->view->now_ns) {
        gsim_index_remove(&servers->timed, server);
        gsim_servers_touch(servers, server);
    }
}

/* Jobs that have come take idle GPUs wherever there are any, else turns on a server. */
static void serve_arrived(struct gsim_servers *servers, struct gsim_ctx *ctx,
                          struct gsim_plan *plan) {
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived && !servers->is_one; i++) {
        gsim_slot slot = ctx->view->changes.arrived[i];
        if (!gsim_common_is_full(ctx->view) &&
            gsim_servers_place_anywhere(servers, ctx, plan, slot))
            gsim_servers_has_placed(servers, ctx, plan, slot);
        else
            gsim_servers_allot(servers, ctx, slot);
    }
}

static void take_dirty(struct gsim_servers *servers, const struct gsim_ctx *ctx) {
    for (; servers->n_dirty > 0; servers->n_dirty--) {
        uint32_t server = servers->dirty[servers->n_dirty - 1];
        servers->of[server].is_dirty = false;
        gsim_bitset_add(&servers->served, server);
        begin_pass(servers, ctx, server);
    }
}

/* Idle GPUs, but for the last one of each server of which a job that may be packed is next. */
static uint32_t left_idle(const struct gsim_servers *servers, const struct gsim_ctx *ctx) {
    const struct gsim_bitset *served = &servers->served;
    uint32_t n = servers->is_one ? 0 : ctx->view->cluster.n_idle_gpus;
    for (uint32_t server = gsim_bitset_first(served); server != UINT32_MAX && n > 0;
         server = gsim_bitset_next(served, server + 1))
        if (servers->of[server].at.next != GSIM_NO_SLOT)
            n -= gsim_servers_idle(servers, ctx->view, server);
    return n;
}

/* A server that is touched while others are served comes behind, also if it has been served. Each
 * goes on to the first job that may be packed before any job is, so that whether a GPU is idle does
 * not depend on which server is first. */
static void serve_dirty(struct gsim_servers *servers, struct gsim_ctx *ctx,
                        struct gsim_plan *plan) {
    struct gsim_bitset *served = &servers->served;
    uint32_t server;
    while (servers->n_dirty > 0) {
        take_dirty(servers, ctx);
        for (server = gsim_bitset_first(served); server != UINT32_MAX;
             server = gsim_bitset_next(served, server + 1))
            serve_line(servers, ctx, plan, server, true);
        servers->idle_elsewhere = left_idle(servers, ctx);
        while ((server = gsim_bitset_first(served)) != UINT32_MAX) {
            serve_line(servers, ctx, plan, server, false);
            gsim_bitset_remove(served, server);
        }
    }
}

static void serve_lines(struct gsim_servers *servers, struct gsim_ctx *ctx,
                        struct gsim_plan *plan) {
    if (servers->wide_line.n > 0 && servers->n_dirty > 0)
        serve_wide(servers, ctx, plan);
    serve_dirty(servers, ctx, plan);
}

static void use_idle(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    servers->pays_ns = GSIM_NEVER;
    if (servers->is_balancing && servers->n_waiting > 0 && !gsim_common_is_full(ctx->view))
        gsim_servers_use_idle(servers, ctx, plan);
}

static void look_again_at_changed(struct gsim_servers *servers, struct gsim_ctx *ctx,
                                  struct gsim_plan *plan) {
    int64_t wide_ns = next_right_ns(servers, ctx, &servers->wide_line);
    for (uint32_t c = 0; c < servers->n_changed; c++) {
        servers->of[servers->changed[c]].is_changed = false;
        look_again(servers, ctx, servers->changed[c], wide_ns);
    }
    servers->n_changed = 0;
    uint32_t first = gsim_index_first(&servers->timed);
    int64_t next_ns = first != GSIM_NO_ID ? gsim_index_key(&servers->timed, first) : GSIM_NEVER;
    next_ns = servers->pays_ns < next_ns ? servers->pays_ns : next_ns;
    if (next_ns != GSIM_NEVER)
        gsim_plan_wake(plan, next_ns);
}

/* Jobs that came may have pushed out wider gangs, and left some of their GPUs, or taken GPUs to
 * which a move did not pay. */
void gsim_servers_serve(struct gsim_servers *servers, struct gsim_ctx *ctx,
                        struct gsim_plan *plan) {
    touch_timed(servers, ctx);
    serve_lines(servers, ctx, plan);
    use_idle(servers, ctx, plan);
    serve_arrived(servers, ctx, plan);
    if (servers->is_balancing && servers->has_freed)
        gsim_servers_balance(servers, ctx);
    servers->has_freed = false;
    uint32_t n_leaving = servers->n_leaving;
    serve_lines(servers, ctx, plan);
    if (ctx->view->changes.n_arrived > 0 || servers->n_leaving > n_leaving)
        use_idle(servers, ctx, plan);
    look_again_at_changed(servers, ctx, plan);
}
