/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a job gets, of those that it can use, and which shape of gangs they make. */
#include "policies/slurm/nodes.h"
#include "policies/slurm/shards.h"

#include "sim/base/hostlist.h"

#include <string.h>

static bool is_chosen(const struct gsim_slurm_state *state, uint32_t node) {
    for (uint32_t i = 0; i < state->n_chosen; i++)
        if (state->chosen[i] == node)
            return true;
    return false;
}

/* Nodes of which one is chosen, and what the job could have of each. */
struct offer {
    const uint32_t *usable; /* by node */
    const uint32_t *among; /* NULL: all nodes */
    uint32_t n;
};

static uint32_t nth_of(const struct offer *offer, uint32_t i) {
    return offer->among ? offer->among[i] : i;
}

static bool is_better(const struct gsim_slurm_state *state, const struct offer *offer,
                      uint32_t node, uint32_t other, bool is_whole) {
    const struct gsim_slurm_node_state *a = &state->node[node], *b = &state->node[other];
    const uint32_t *usable = offer->usable;
    return is_whole && a->n_gpus != b->n_gpus ? a->n_gpus > b->n_gpus
           : a->weight != b->weight           ? a->weight < b->weight
           : usable[node] != usable[other]    ? usable[node] < usable[other]
                                              : node < other;
}

/* The best node with that number of usable GPUs; whole: with all of its GPUs usable, the widest
 * that the job fills. */
static uint32_t best(const struct gsim_slurm_state *state, const struct offer *offer, uint32_t gpus,
                     bool is_whole) {
    uint32_t found = GSIM_SLURM_NONE;
    for (uint32_t i = 0; i < offer->n; i++) {
        uint32_t node = nth_of(offer, i), n = offer->usable[node], all = state->node[node].n_gpus;
        bool fits = is_whole ? n == all && all <= gpus : n >= gpus;
        if (fits && !is_chosen(state, node) &&
            (found == GSIM_SLURM_NONE || is_better(state, offer, node, found, is_whole)))
            found = node;
    }
    return found;
}

static bool choose(struct gsim_slurm_state *state, const struct offer *offer, uint32_t gpus,
                   bool is_whole) {
    uint32_t node = best(state, offer, gpus, is_whole);
    if (node == GSIM_SLURM_NONE)
        return false;
    state->chosen[state->n_chosen] = node;
    state->chosen_gpus[state->n_chosen++] = is_whole ? state->node[node].n_gpus : gpus;
    return true;
}

static bool choose_whole(struct gsim_slurm_state *state, uint32_t widest, uint32_t gpus,
                         const struct offer *offer) {
    uint32_t left = gpus;
    state->n_chosen = 0;
    while (left > widest || (left == widest && state->n_chosen > 0)) {
        if (!choose(state, offer, left, true))
            return false;
        left -= state->chosen_gpus[state->n_chosen - 1];
    }
    return left == 0 || choose(state, offer, left, false);
}

/* Takes all usable GPUs of the nodes that have most of them. */
static bool choose_spread(struct gsim_slurm_state *state, uint32_t gpus,
                          const struct offer *offer) {
    state->n_chosen = 0;
    for (uint32_t left = gpus; left > 0;) {
        uint32_t found = GSIM_SLURM_NONE, most = 0;
        for (uint32_t i = 0; i < offer->n; i++) {
            uint32_t node = nth_of(offer, i), n = offer->usable[node];
            if (n > 0 && (n > most || (n == most && node < found)) && !is_chosen(state, node)) {
                found = node;
                most = n;
            }
        }
        if (found == GSIM_SLURM_NONE)
            return false;
        uint32_t n = most < left ? most : left;
        state->chosen[state->n_chosen] = found;
        state->chosen_gpus[state->n_chosen++] = n;
        left -= n;
    }
    return true;
}

/* As many nodes as the job asked for, evenly. */
static bool choose_evenly(struct gsim_slurm_state *state, uint32_t n_nodes, uint32_t gpus,
                          const struct offer *offer) {
    state->n_chosen = 0;
    for (uint32_t i = 0; i < n_nodes; i++)
        if (!choose(state, offer, gpus / n_nodes + (i < gpus % n_nodes), false))
            return false;
    return true;
}

bool gsim_slurm_nodes_choose_of(struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                                uint32_t gpus, const uint32_t *usable, const uint32_t *among,
                                uint32_t n) {
    const struct offer offer = {usable, among, n};
    if (job->way.n_nodes > 0)
        return choose_evenly(state, job->way.n_nodes, gpus, &offer);
    return job->way.is_spread ? choose_spread(state, gpus, &offer)
                              : choose_whole(state, job->way.widest, gpus, &offer);
}

/* --- jobs that ran when the log begins ------------------------------------------------------ */

struct ran_on {
    struct gsim_slurm_state *state;
    const struct gsim_ctx *ctx;
    gsim_slot slot;
};

/* Notes what the job can have of a node on which it ran; false: the site's file has none of that
 * name. */
static bool note_ran_on(void *arg, const char *name, size_t length) {
    const struct ran_on *r = arg;
    struct gsim_slurm_state *state = r->state;
    for (uint32_t node = 0; node < state->n_nodes; node++) {
        const struct gsim_slurm_node *of_file = state->of_file[node];
        if (!of_file || strlen(of_file->name) != length ||
            strncmp(of_file->name, name, length) != 0)
            continue;
        state->usable[node] =
            gsim_slurm_nodes_usable(state, r->ctx, r->slot, node, r->ctx->view->now_ns, NULL);
        return true;
    }
    return false;
}

bool gsim_slurm_nodes_choose_ran_on(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                    gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    int64_t list = gsim_trace_get(view->trace, GSIM_COL_RAN_ON, view->jobs.index[slot]);
    struct ran_on r = {state, ctx, slot};
    if (list < 0 || view->jobs.submit_ns[slot] != view->now_ns)
        return false;
    memset(state->usable, 0, state->n_nodes * sizeof *state->usable);
    if (!gsim_hostlist_each(view->trace->names[GSIM_COL_RAN_ON].name[list], note_ran_on, &r))
        return false;
    uint32_t gpus = view->jobs.gpus[slot];
    return gsim_slurm_nodes_choose(state, gsim_slurm_job(ctx, slot), gpus, state->usable) ||
           choose_spread(state, gpus, &(struct offer){state->usable, NULL, state->n_nodes});
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* What the job could have of each node if all were empty; returns the sum. */
static uint64_t look_at_empty(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                              struct gsim_slurm_job *job) {
    uint64_t sum = 0;
    job->way.widest = 1;
    for (uint32_t node = 0; node < state->n_nodes; node++) {
        struct gsim_slurm_room all = {state->node[node].n_gpus, state->node[node].host};
        uint32_t n = gsim_slurm_nodes_has(state, job->way.set, node)
                         ? gsim_slurm_nodes_fit_at(state, ctx, job, node, &all, GSIM_NEVER)
                         : 0;
        state->usable[node] = n;
        job->way.widest = n > job->way.widest ? n : job->way.widest;
        sum += n;
    }
    return sum;
}

/* Whether the nodes could hold the job if all were empty. */
static bool could_hold(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       struct gsim_slurm_job *job, uint32_t gpus) {
    return look_at_empty(state, ctx, job) >= gpus &&
           (job->way.n_nodes == 0 ||
            choose_evenly(state, job->way.n_nodes, gpus,
                          &(struct offer){state->usable, NULL, state->n_nodes}));
}

/* Memory that no nodes of the set have together holds no job back, as a limit that it exceeds
 * alone; of CPUs the core has refused such a job. */
static bool find_shape(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       struct gsim_slurm_job *job, uint32_t gpus, bool is_forced) {
    bool fits = could_hold(state, ctx, job, gpus);
    if (!fits && is_forced) {
        job->way.each = (struct gsim_host){0};
        (void)look_at_empty(state, ctx, job);
    }
    job->way.is_spread = gpus > job->way.widest &&
                         !choose_whole(state, job->way.widest, gpus,
                                       &(struct offer){state->usable, NULL, state->n_nodes});
    return fits;
}

static bool asks_alike(const struct gsim_slurm_shape *a, const struct gsim_slurm_shape *b) {
    return a->set == b->set && a->gpus == b->gpus && a->n_nodes == b->n_nodes &&
           a->share_ppm == b->share_ppm && a->each.cpus_milli == b->each.cpus_milli &&
           a->each.mem_bytes == b->each.mem_bytes && a->is_forced == b->is_forced;
}

/* What empty nodes could hold does not change: jobs that ask for as much lie alike. */
bool gsim_slurm_nodes_shape(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, bool is_forced) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    struct gsim_slurm_shape own = {.set = job->way.set,
                                   .gpus = ctx->view->jobs.gpus[slot],
                                   .n_nodes = gsim_ask_nodes(ctx, slot),
                                   .share_ppm = job->share_ppm,
                                   .each = job->way.each,
                                   .is_forced = is_forced};
    uint32_t at = 0;
    job->way.n_nodes = own.n_nodes;
    while (at < state->n_shapes && at < GSIM_SLURM_SHAPES && !asks_alike(&state->shape[at], &own))
        at++;
    if (at == state->n_shapes || at == GSIM_SLURM_SHAPES) {
        at = state->n_shapes++ % GSIM_SLURM_SHAPES;
        own.fits = find_shape(state, ctx, job, own.gpus, is_forced);
        own.widest = job->way.widest;
        own.is_spread = job->way.is_spread;
        state->shape[at] = own;
    }
    const struct gsim_slurm_shape *known = &state->shape[at];
    if (!known->fits && is_forced)
        job->way.each = (struct gsim_host){0};
    job->way.widest = known->widest;
    job->way.is_spread = known->is_spread;
    return known->fits;
}
