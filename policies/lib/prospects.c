/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that is due gains service as time passes, so the time is known from which on it gives way
 * to a gang that waits: the first node to have enough says how long all searches are in vain. Jobs
 * that become due, end or are pushed out change their nodes, and only these are looked at again. A
 * gang for which jobs need more service finds no more room than the one that was searched for. */
#include "policies/lib/prospects.h"

bool gsim_prospects_init(struct gsim_prospects *prospects, const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    prospects->is_used = !view->pool.is_used && !ctx->devices &&
                         !view->trace->column[GSIM_COL_SHARE_PPM] && !gsim_ask_has_wishes(view);
    if (!prospects->is_used)
        return true;
    prospects->by_gpus =
        gsim_arena_array(ctx->arena, view->cluster.widest_node + 1, sizeof *prospects->by_gpus);
    return prospects->by_gpus != NULL;
}

/* --- one node --------------------------------------------------------------------------------- */

/* From when on the job, which is due, gives way. */
static int64_t yields_ns(const struct gsim_prospect *prospect, const struct gsim_due *due,
                         gsim_slot victim) {
    uint32_t class = gsim_due_class_of(due, victim);
    uint64_t least = class < prospect->n_classes ? prospect->least[class] : 0;
    uint64_t ahead = gsim_due_ahead(due, victim);
    if (least == UINT64_MAX)
        return GSIM_NEVER;
    return least > ahead ? (int64_t)(least - ahead) : 0;
}

/* The first time after this one at which a job of the node gives way, and the GPUs of these. */
static int64_t next_ns(const struct gsim_prospect *prospect, const struct gsim_due *due,
                       const struct gsim_node_jobs *nodes, uint32_t node, int64_t after_ns,
                       uint32_t *gpus) {
    const struct gsim_node_jobs_part *part = nodes->part;
    int64_t first_ns = GSIM_NEVER;
    *gpus = 0;
    for (uint32_t i = nodes->node[node].end[0]; i != GSIM_NO_ID && part[i].is_due;
         i = part[i].beside[1]) {
        int64_t ns = yields_ns(prospect, due, part[i].slot);
        if (ns <= after_ns || ns > first_ns)
            continue;
        *gpus = (ns < first_ns ? 0 : *gpus) + part[i].gpus;
        first_ns = ns;
    }
    return first_ns;
}

/* When the node has enough, at most until_ns. Nodes where too many jobs stay until then are left
 * after a look at these. */
static int64_t ready_ns(const struct gsim_prospect *prospect, const struct gsim_ctx *ctx,
                        const struct gsim_due *due, const struct gsim_node_jobs *nodes,
                        uint32_t node, uint32_t need, int64_t until_ns) {
    const struct gsim_node_jobs_part *part = nodes->part;
    uint32_t room = gsim_node_idle_gpus(ctx->view, node), most = room + nodes->node[node].gpus;
    for (uint32_t i = nodes->node[node].end[0]; i != GSIM_NO_ID && part[i].is_due && most >= need;
         i = part[i].beside[1])
        most -= yields_ns(prospect, due, part[i].slot) < until_ns ? 0 : part[i].gpus;
    if (most < need)
        return until_ns;
    int64_t ns = INT64_MIN;
    while (room < need) {
        uint32_t gpus;
        ns = next_ns(prospect, due, nodes, node, ns, &gpus);
        room += gpus;
    }
    return ns;
}

/* --- all nodes -------------------------------------------------------------------------------- */

/* The service as it does not change while time passes. */
static uint64_t least_of(const struct gsim_due *due, uint32_t class, int64_t now_ns) {
    uint64_t least = due->class[class].least;
    return least == 0 || least == UINT64_MAX ? least : least + (uint64_t)now_ns;
}

static bool is_no_easier(const struct gsim_prospect *prospect, const struct gsim_due *due,
                         int64_t now_ns) {
    for (uint32_t i = 0; i < due->n_filled; i++) {
        uint32_t class = due->filled[i];
        if (class < prospect->n_classes && least_of(due, class, now_ns) < prospect->least[class])
            return false;
    }
    return true;
}

static uint32_t n_outages(const struct gsim_view *view) {
    return view->cluster.n_failures + view->cluster.n_repairs;
}

bool gsim_prospects_ask(const struct gsim_prospects *prospects, const struct gsim_ctx *ctx,
                        const struct gsim_due *due, const struct gsim_node_jobs *nodes,
                        uint32_t need, void (*ask)(void *of, uint32_t node), void *of) {
    const struct gsim_view *view = ctx->view;
    const struct gsim_prospect *prospect = &prospects->by_gpus[need];
    if (view->now_ns >= prospect->until_ns || prospect->n_outages != n_outages(view) ||
        nodes->n_changes - prospect->n_changes > view->cluster.n_nodes ||
        !is_no_easier(prospect, due, view->now_ns))
        return false;
    for (uint64_t i = prospect->n_changes; i < nodes->n_changes; i++)
        ask(of, nodes->changed[i % view->cluster.n_nodes]);
    return true;
}

static bool set_least(struct gsim_prospect *prospect, const struct gsim_ctx *ctx,
                      const struct gsim_due *due) {
    while (prospect->n_classes < due->classes.n) {
        uint64_t *grown = gsim_arena_room(ctx->arena, prospect->least, prospect->n_classes,
                                          &prospect->capacity, sizeof *grown);
        if (!grown)
            return false;
        prospect->least = grown;
        prospect->least[prospect->n_classes++] = 0;
    }
    for (uint32_t class = 0; class < prospect->n_classes; class ++)
        prospect->least[class] = 0;
    for (uint32_t i = 0; i < due->n_filled; i++)
        prospect->least[due->filled[i]] = least_of(due, due->filled[i], ctx->view->now_ns);
    return true;
}

struct look {
    struct gsim_prospect *prospect;
    const struct gsim_ctx *ctx;
    const struct gsim_due *due;
    const struct gsim_node_jobs *nodes;
    uint32_t need;
};

static void look_at(void *of, uint32_t node) {
    const struct look *look = of;
    look->prospect->until_ns = ready_ns(look->prospect, look->ctx, look->due, look->nodes, node,
                                        look->need, look->prospect->until_ns);
}

/* Without memory there is nothing to be noted. */
void gsim_prospects_note(struct gsim_prospects *prospects, const struct gsim_ctx *ctx,
                         const struct gsim_due *due, const struct gsim_node_jobs *nodes,
                         uint32_t need, bool is_known) {
    struct gsim_prospect *prospect = &prospects->by_gpus[need];
    struct look look = {prospect, ctx, due, nodes, need};
    uint64_t from = prospect->n_changes;
    if (!is_known)
        prospect->until_ns = GSIM_NEVER;
    prospect->n_changes = nodes->n_changes;
    prospect->n_outages = n_outages(ctx->view);
    if (!set_least(prospect, ctx, due))
        prospect->until_ns = 0;
    else if (!is_known)
        gsim_node_jobs_each(nodes, ctx, need, look_at, &look);
    for (uint64_t i = from; is_known && i < nodes->n_changes; i++)
        look_at(&look, nodes->changed[i % ctx->view->cluster.n_nodes]);
}
