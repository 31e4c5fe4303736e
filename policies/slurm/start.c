/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that start and stop: the list of running ones, usage and limits. */
#include <inttypes.h>

#include "policies/slurm/accounts.h"
#include "policies/slurm/limits.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/passes.h"
#include "policies/slurm/shards.h"

/* By TRESBillingWeights, in thousandths: the sum, or with PriorityFlags=MAX_TRES the largest. GPUs
 * of a type are those that the job has. */
static int64_t weighted(const struct gsim_slurm_job *job, const struct gsim_slurm_partition *of,
                        int64_t cpus_milli, bool is_largest) {
    int64_t sum = 0, largest = 0;
    for (int t = GSIM_SLURM_JOBS + 1; t < GSIM_SLURM_TRES; t++) {
        bool is_type = t >= GSIM_SLURM_FIRST_TYPE;
        int64_t amount = is_type ? job->of_type[t - GSIM_SLURM_FIRST_TYPE] : job->wants[t];
        int64_t unit = t == GSIM_SLURM_MEM ? of->mem_unit_mib : 1;
        if (t == GSIM_SLURM_CPUS) {
            amount = cpus_milli > 0 ? cpus_milli : 0;
            unit = 1000;
        }
        int64_t part = gsim_muldiv_floor(amount, of->billing_milli[t], unit);
        sum += part;
        largest = part > largest ? part : largest;
    }
    return is_largest ? largest : sum;
}

/* Of the partition's weights. "If TRESBillingWeights is not defined then the job is billed against
 * the total number of allocated CPUs" (slurm.conf(5)): its GPUs where the trace does not know
 * these. */
static int64_t by_weights(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    const struct gsim_slurm_partition *partition = gsim_slurm_partition_of(state, job);
    int64_t gpus = ctx->view->jobs.gpus[slot];
    int64_t cpus_milli =
        gsim_trace_get(ctx->view->trace, GSIM_COL_CPUS_MILLI, ctx->view->jobs.index[slot]);
    return partition->has_billing ? weighted(job, partition, cpus_milli, state->conf.bills_most)
           : cpus_milli > 0       ? cpus_milli
           : job->share_ppm > 0   ? job->share_ppm / 1000
                                  : gpus * 1000;
}

/* What a job is billed, in thousandths, times the QOS' UsageFactor. AllocTRES has the whole number
 * alone of what Slurm keeps as a sum with a fraction, which weights give that agree with it. */
static int64_t billing_of(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t index = ctx->view->jobs.index[slot];
    int64_t all = by_weights(state, ctx, slot);
    int64_t logged = gsim_trace_get(ctx->view->trace, GSIM_COL_BILLING_MILLI, index);
    if (logged >= 0 && state->bills_as_logged && logged != all - all % 1000) {
        if (gsim_slurm_partition_of(state, job)->has_billing && !state->has_told_billing)
            gsim_warn(ctx->log, state->conf.path, 0,
                      "job '%s' is billed %" PRId64 " by TRESBillingWeights, and was %" PRId64
                      " in the log, which counts (--set slurm.billing=weights: the weights count)",
                      gsim_trace_id(ctx->view->trace, index), all / 1000, logged / 1000);
        state->has_told_billing |= gsim_slurm_partition_of(state, job)->has_billing;
        all = logged;
    }
    return job->qos == GSIM_SLURM_NONE
               ? all
               : gsim_muldiv_floor(all, state->conf.qos[job->qos].usage_milli, 1000);
}

/* Books a job as running. false: no memory. */
static bool start_of(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    gsim_slot *running = gsim_arena_room(ctx->arena, state->running, state->n_running,
                                         &state->running_capacity, sizeof *running);
    if (!running)
        return false;
    state->running = running;
    job->running_at = state->n_running;
    job->end_ns = ctx->view->now_ns + job->way.limit_ns;
    state->running[state->n_running++] = slot;
    state->n_stale += job->has_choices;
    if (job->array != GSIM_SLURM_NONE)
        state->array_running[job->array]++;
    gsim_slurm_limits_book(state, ctx, slot, 1);
    job->billed_milli = billing_of(state, ctx, slot);
    gsim_slurm_accounts_change(state, job->assoc, ctx->view->now_ns, job->billed_milli);
    state->has_changed = true;
    return true;
}

void gsim_slurm_stop(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (job->running_at == GSIM_SLURM_NONE)
        return;
    gsim_slurm_limits_book(state, ctx, slot, -1);
    gsim_slurm_nodes_leave(state, ctx, slot);
    if (job->array != GSIM_SLURM_NONE)
        state->array_running[job->array]--;
    gsim_slurm_accounts_change(state, job->assoc, ctx->view->now_ns, -job->billed_milli);
    gsim_slot last = state->running[--state->n_running];
    state->running[job->running_at] = last;
    gsim_slurm_job(ctx, last)->running_at = job->running_at;
    job->running_at = GSIM_SLURM_NONE;
    state->has_changed = true;
}

/* --- placing ---------------------------------------------------------------------------------- */

/* Names idle GPUs of the nodes that were chosen; false: a node has fewer. */
static bool name_units(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, uint32_t *n) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    *n = 0;
    for (uint32_t i = 0; i < state->n_chosen; i++) {
        uint32_t node = state->chosen[i], left = state->chosen_gpus[i];
        for (uint32_t gpu = first[node]; gpu < first[node + 1] && left > 0; gpu++)
            if (gsim_gpu_is_idle(ctx->view, gpu)) {
                state->unit[(*n)++] = (struct gsim_unit){.gpu = gpu};
                left--;
            }
        if (left > 0)
            return false;
    }
    return true;
}

/* Places a job with shards on a GPU of the node that was chosen. */
static bool place_shards(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         struct gsim_plan *plan, gsim_slot slot) {
    uint32_t gpu = gsim_slurm_shards_find(state, ctx, gsim_slurm_job(ctx, slot), state->chosen[0]);
    if (gpu == GSIM_SLURM_NONE)
        return false;
    state->unit[0] = (struct gsim_unit){.gpu = gpu};
    return gsim_plan_place_on(plan, slot, state->unit, 1);
}

/* Starts the job on the nodes that were chosen. */
static bool start_on_chosen(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                            struct gsim_plan *plan, gsim_slot slot, bool *is_placed) {
    uint32_t n_units;
    *is_placed = gsim_slurm_job(ctx, slot)->share_ppm > 0
                     ? place_shards(state, ctx, plan, slot)
                     : name_units(state, ctx, &n_units) &&
                           gsim_plan_place_whole(plan, slot, state->unit, n_units);
    return *is_placed && gsim_slurm_nodes_take(state, ctx, slot) && start_of(state, ctx, slot);
}

bool gsim_slurm_place(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    bool is_placed;
    while (gsim_slurm_nodes_choose(state, job, ctx->view->jobs.gpus[slot], state->usable)) {
        bool has_started = start_on_chosen(state, ctx, plan, slot, &is_placed);
        if (is_placed)
            return has_started;
        state->usable[state->chosen[0]] = 0;
    }
    return false;
}

/* Where a node lacks more than free GPUs, the others are looked at one by one. */
bool gsim_slurm_place_now(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                          struct gsim_plan *plan, gsim_slot slot) {
    uint32_t refused = GSIM_SLURM_NONE;
    bool is_placed;
    if (gsim_slurm_nodes_choose_ran_on(state, ctx, slot)) {
        bool has_started = start_on_chosen(state, ctx, plan, slot, &is_placed);
        if (is_placed)
            return has_started;
    }
    if (gsim_slurm_nodes_are_plain(state, ctx, slot)) {
        if (!gsim_slurm_nodes_choose_plain(state, gsim_slurm_job(ctx, slot),
                                           ctx->view->jobs.gpus[slot]))
            return false;
        bool has_started = start_on_chosen(state, ctx, plan, slot, &is_placed);
        if (is_placed)
            return has_started;
        refused = state->chosen[0];
    }
    for (uint32_t node = 0; node < state->n_nodes; node++)
        state->usable[node] = node == refused ? 0
                                              : gsim_slurm_nodes_usable(state, ctx, slot, node,
                                                                        ctx->view->now_ns, NULL);
    return gsim_slurm_place(state, ctx, plan, slot);
}
