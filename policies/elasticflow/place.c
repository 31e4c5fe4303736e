/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/place.h"

#include <string.h>

static struct gsim_shape shape_of(int64_t gpus) {
    return (struct gsim_shape){
        .gpus = (uint32_t)gpus, .share_ppm = GSIM_PPM, .rule = GSIM_RULE_CONSOLIDATE};
}

static int64_t wanted(const struct elasticflow_job *job) {
    return job->is_through ? 0 : elasticflow_gpus(job, job->now_level);
}

static bool runs(const struct gsim_ctx *ctx, const struct elasticflow_job *job) {
    return ctx->view->jobs.state[job->slot] == GSIM_RUNNING;
}

/* --- room on a node --------------------------------------------------------------------------- */

/* GPUs of a node that the job has in the plan's picture. */
static uint32_t has_there(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                          const struct elasticflow_job *job, uint32_t node) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, job->slot, &units), there = 0;
    for (uint32_t i = 0; i < n; i++)
        there += ctx->view->cluster.node_of_gpu[units[i].gpu] == node;
    return there;
}

/* Notes the job on each node where it has as many GPUs as it shall have, before others there. */
static void note_on_nodes(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                          struct elasticflow *own, uint32_t number) {
    const uint32_t *node_of_gpu = ctx->view->cluster.node_of_gpu;
    const struct elasticflow_job *job = &own->job[number];
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, job->slot, &units);
    for (uint32_t i = 0, before = 0; i < n; i++, before = 0) {
        uint32_t node = node_of_gpu[units[i].gpu];
        while (before < i && node_of_gpu[units[before].gpu] != node)
            before++;
        if (before < i || has_there(ctx, plan, job, node) != wanted(job))
            continue;
        own->on_node[own->n_on_nodes] =
            (struct elasticflow_on_node){number, own->first_on_node[node]};
        own->first_on_node[node] = own->n_on_nodes++;
    }
}

/* Lists the jobs that may move by node, in the order of the plan. One that does not change in this
 * plan stays where it is, and so the lists hold until the plan is done. */
static void list_on_nodes(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                          struct elasticflow *own) {
    if (own->has_on_nodes)
        return;
    own->has_on_nodes = true;
    own->n_on_nodes = 0;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++)
        own->first_on_node[node] = ELASTICFLOW_NONE;
    for (uint32_t i = own->n_placed; i-- > 0;) {
        const struct elasticflow_job *job = &own->job[own->placed[i]];
        if (!job->is_changed && job->is_active && runs(ctx, job) && wanted(job) > 0 &&
            wanted(job) <= ctx->view->cluster.widest_node)
            note_on_nodes(ctx, plan, own, own->placed[i]);
    }
}

/* The narrowest job but for one of those that run, as wide as they shall be, on this node alone. */
static struct elasticflow_job *narrowest_on(const struct elasticflow *own, uint32_t node,
                                            const struct elasticflow_job *but) {
    struct elasticflow_job *narrowest = NULL;
    for (uint32_t at = own->first_on_node[node]; at != ELASTICFLOW_NONE;
         at = own->on_node[at].next) {
        struct elasticflow_job *job = &own->job[own->on_node[at].number];
        if (job != but && !job->is_changed && (!narrowest || wanted(job) < wanted(narrowest)))
            narrowest = job;
    }
    return narrowest;
}

/* A job's place, with the moves that make it, is all in the plan or not at all. */
struct attempt {
    uint32_t mark, n_moved;
};

static struct attempt attempt_of(const struct gsim_plan *plan, const struct elasticflow *own) {
    return (struct attempt){gsim_plan_mark(plan), own->n_moved};
}

static void take_back(struct gsim_plan *plan, struct elasticflow *own, struct attempt attempt) {
    gsim_plan_rollback(plan, attempt.mark);
    while (own->n_moved > attempt.n_moved)
        own->job[own->moved[--own->n_moved]].is_changed = false;
}

/* Moves a job from its node to the one with the fewest idle GPUs of those with room, which
 * are fewer than most_idle. */
static bool move_away(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                      struct elasticflow_job *job, uint32_t from, uint32_t most_idle) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    struct gsim_shape shape = shape_of(wanted(job));
    uint32_t fewest = 0;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t idle = gsim_node_idle_gpus(ctx->view, node);
        bool is_up = node != from && !cluster->node_is_down[node];
        if (!is_up || idle < shape.gpus || idle >= most_idle ||
            (shape.within > 0 && idle >= fewest) ||
            !gsim_ask_may_use(ctx, job->slot, cluster->node_first_gpu[node]))
            continue;
        fewest = idle;
        shape.within = node + 1;
    }
    if (shape.within == 0 || !gsim_settings_move(plan, job->slot, &shape, own->way))
        return false;
    job->is_changed = true;
    own->moved[own->n_moved++] = ctx->view->jobs.index[job->slot];
    return true;
}

/* Other jobs move to nodes with fewer than most_idle idle GPUs, until `gpus` of a node are idle or
 * the job's. */
static bool clear_node(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                       const struct elasticflow_job *job, uint32_t node, int64_t gpus,
                       uint32_t most_idle) {
    struct attempt attempt = attempt_of(plan, own);
    uint32_t has = has_there(ctx, plan, job, node);
    while (gsim_node_idle_gpus(ctx->view, node) + has < gpus) {
        struct elasticflow_job *other = narrowest_on(own, node, job);
        if (!other || !move_away(ctx, plan, own, other, node, most_idle)) {
            take_back(plan, own, attempt);
            return false;
        }
    }
    return true;
}

/* GPUs of a node that others use; of one that is down, narrower than others, or not for this job,
 * more than all. */
static uint32_t in_use(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                       const struct elasticflow_job *job, uint32_t node) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t first = cluster->node_first_gpu[node],
             n_gpus = cluster->node_first_gpu[node + 1] - first;
    if (cluster->node_is_down[node] || n_gpus < cluster->widest_node ||
        !gsim_ask_may_use(ctx, job->slot, first))
        return UINT32_MAX;
    return n_gpus - gsim_node_idle_gpus(ctx->view, node) - has_there(ctx, plan, job, node);
}

/* Gives the job the GPUs that it shall have, if as many are idle where it can have them. */
static bool put(const struct gsim_ctx *ctx, struct gsim_plan *plan, const struct elasticflow *own,
                const struct elasticflow_job *job) {
    struct gsim_shape shape = shape_of(wanted(job));
    return runs(ctx, job) ? gsim_settings_move(plan, job->slot, &shape, own->way)
                          : gsim_plan_place(plan, job->slot, &shape);
}

/* A gang wider than a node has whole nodes: those with the fewest GPUs in use are cleared, and no
 * job moves to one that is idle. */
static bool put_on_nodes(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                         struct elasticflow *own, const struct elasticflow_job *job) {
    uint32_t n_nodes = ctx->view->cluster.n_nodes, widest = ctx->view->cluster.widest_node;
    struct attempt attempt = attempt_of(plan, own);
    int64_t lacks = wanted(job) / widest;
    for (uint32_t used = 0; lacks > 0 && used < widest; used++)
        for (uint32_t node = 0; lacks > 0 && node < n_nodes; node++)
            lacks -= in_use(ctx, plan, job, node) == used &&
                     clear_node(ctx, plan, own, job, node, widest, widest);
    if (lacks <= 0 && put(ctx, plan, own, job))
        return true;
    take_back(plan, own, attempt);
    return false;
}

/* Clears a node for a job, and puts it there. It fails where the node's GPUs are not for the job,
 * by partition or type, or lack the memory. */
static bool put_on_node(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                        const struct elasticflow_job *job, uint32_t node) {
    struct attempt attempt = attempt_of(plan, own);
    if (!gsim_ask_may_use(ctx, job->slot, ctx->view->cluster.node_first_gpu[node]) ||
        !clear_node(ctx, plan, own, job, node, wanted(job), UINT32_MAX))
        return false;
    if (put(ctx, plan, own, job))
        return true;
    take_back(plan, own, attempt);
    return false;
}

/* Idle GPUs of several nodes become those of one, where jobs in the way move: a node with most of
 * them first. Levels are powers of two, so that they fit, as the paper's buddies do. */
static bool put_by_moves(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                         struct elasticflow *own, const struct elasticflow_job *job) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    const struct gsim_unit *units;
    int64_t most = cluster->n_idle_gpus + gsim_plan_units(plan, job->slot, &units);
    if (own->is_reference || most < wanted(job))
        return false;
    list_on_nodes(ctx, plan, own);
    if (wanted(job) > cluster->widest_node)
        return put_on_nodes(ctx, plan, own, job);
    for (int64_t lacks = 1; lacks <= wanted(job); lacks++)
        for (uint32_t node = 0; node < cluster->n_nodes; node++) {
            int64_t n_gpus = cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
            int64_t has = gsim_node_idle_gpus(ctx->view, node) + has_there(ctx, plan, job, node);
            if (has + lacks == wanted(job) && n_gpus >= wanted(job) &&
                !cluster->node_is_down[node] && put_on_node(ctx, plan, own, job, node))
                return true;
        }
    return false;
}

/* --- the plan --------------------------------------------------------------------------------- */

/* The reference's jobs change their width at once: they stop, and are placed again. */
static void change(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                   struct elasticflow_job *job) {
    if (wanted(job) == 0 || own->is_reference)
        (void)gsim_plan_preempt(plan, job->slot, own->way.stop, own->way.keep);
    else
        job->is_changed = put(ctx, plan, own, job) || put_by_moves(ctx, plan, own, job);
}

static void place(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                  const struct elasticflow_job *job) {
    bool is_placed = put(ctx, plan, own, job) || put_by_moves(ctx, plan, own, job);
    if (is_placed && own->is_reference)
        gsim_plan_watch(plan, job->slot, GSIM_WATCH_ATTAINED,
                        ctx->view->jobs.service_ns[job->slot] - 1000000);
}

/* Whether a job has fewer GPUs than it shall have, after this plan. */
static bool is_short(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                     const struct elasticflow_job *job) {
    const struct gsim_unit *units;
    bool has_settled =
        runs(ctx, job) || gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]);
    return job->is_active && !job->is_changed && has_settled &&
           gsim_plan_units(plan, job->slot, &units) < wanted(job);
}

/* The first look at a plan that is due then, where the plan is looked at each tick from now on. */
static int64_t look_at_ns(const struct gsim_ctx *ctx, const struct elasticflow *own,
                          int64_t due_ns) {
    int64_t now_ns = ctx->view->now_ns, rest_ns = (due_ns - now_ns) % own->tick_ns;
    return due_ns + (rest_ns > 0 ? own->tick_ns - rest_ns : 0);
}

/* Jobs that change in this plan are not in the way of others before it is done, of which there is
 * no news where that takes no time; in the reference no job makes way. Where no job changes after
 * all, a look would find all as it is until the next plan is due. */
static void look_again(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                       bool is_plan_empty) {
    bool is_any_short = false, is_any_changed = own->n_moved > 0;
    uint32_t n = own->is_reference ? 0 : own->n_open;
    for (uint32_t i = 0; i < n && !is_any_changed; i++)
        is_any_changed = own->job[own->open[i]].is_changed;
    for (uint32_t i = 0; i < n && is_any_changed && !is_any_short; i++)
        is_any_short = is_short(ctx, plan, &own->job[own->open[i]]);
    own->has_changed = is_any_changed;
    if (!is_any_short)
        return;
    if (!is_plan_empty)
        gsim_plan_wake(plan, ctx->view->now_ns + own->tick_ns);
    else if (own->due_ns < GSIM_NEVER)
        gsim_plan_wake(plan, look_at_ns(ctx, own, own->due_ns));
}

static void list_placed(const struct gsim_ctx *ctx, struct elasticflow *own) {
    own->n_placed = 0;
    for (uint32_t i = 0; i < own->n_order - own->n_unlisted; i++) {
        struct elasticflow_job *job = &own->job[own->order[i]];
        bool waits = gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]);
        job->is_changed = false;
        if (job->is_active && (job->now_level > 0 || !waits))
            own->placed[own->n_placed++] = own->order[i];
    }
    own->is_listed = !own->is_reference; /* there the loop gives levels anew at any time */
}

/* Whether all is as it shall be until a plan is made, or a node fails. */
static bool is_at_rest(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                       const struct elasticflow_job *job) {
    const struct gsim_unit *units;
    if (!job->is_active)
        return true;
    if (runs(ctx, job))
        return gsim_plan_units(plan, job->slot, &units) == wanted(job);
    return wanted(job) == 0 && gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]);
}

/* All placed jobs are looked at when the plan is new, jobs moved in the last look, or nodes failed
 * or came back; then those alone that were not at rest. None has changed in this plan. */
static void open_jobs(const struct gsim_ctx *ctx, struct elasticflow *own) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    bool is_every = !own->is_listed || own->has_changed || cluster->n_failures != own->n_failures ||
                    cluster->n_repairs != own->n_repairs;
    own->n_failures = cluster->n_failures;
    own->n_repairs = cluster->n_repairs;
    if (!own->is_listed)
        list_placed(ctx, own);
    if (is_every) {
        memcpy(own->open, own->placed, own->n_placed * sizeof *own->open);
        own->n_open = own->n_placed;
    }
    for (uint32_t i = 0; i < own->n_open; i++)
        own->job[own->open[i]].is_changed = false;
    own->n_moved = 0;
    own->has_on_nodes = false;
}

static void close_jobs(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                       struct elasticflow *own) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < own->n_open; i++)
        if (!is_at_rest(ctx, plan, &own->job[own->open[i]]))
            own->open[n++] = own->open[i];
    own->n_open = n;
}

void elasticflow_place(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                       struct elasticflow *own) {
    const struct gsim_unit *units;
    uint32_t mark = gsim_plan_mark(plan);
    open_jobs(ctx, own);
    for (uint32_t i = 0; i < own->n_open; i++) {
        struct elasticflow_job *job = &own->job[own->open[i]];
        if (job->is_active && runs(ctx, job) &&
            gsim_plan_units(plan, job->slot, &units) > wanted(job))
            change(ctx, plan, own, job);
    }
    for (uint32_t i = 0; i < own->n_open; i++) {
        struct elasticflow_job *job = &own->job[own->open[i]];
        if (!job->is_active || wanted(job) == 0)
            continue;
        uint32_t had = gsim_plan_units(plan, job->slot, &units);
        if (runs(ctx, job) && had > 0 && had < wanted(job))
            change(ctx, plan, own, job);
        else if (gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]))
            place(ctx, plan, own, job);
    }
    look_again(ctx, plan, own, gsim_plan_mark(plan) == mark);
    close_jobs(ctx, plan, own);
}
