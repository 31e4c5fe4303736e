/* SPDX-License-Identifier: GPL-3.0-or-later */
/* priority/multifactor (slurm.schedmd.com/priority_multifactor.html): the sum of weights times
 * factors in 0..1, cut to a whole number. Age counts from when the job could start, up to
 * PriorityMaxAge; fair share is the user's; size is the mean of the job's part of the nodes (those
 * that it asks for, else one) and of the CPUs; QOS and partition are relative to the largest of
 * their kind, GPUs (PriorityWeightTRES) to the partition's. Slurm computes the factors every
 * PriorityCalcPeriod, and those of a new job at once; so does this file, with periods that begin at
 * the trace's time 0. Jobs that can preempt come first, then those of a higher PriorityTier, of
 * higher priority, and those that were submitted first. With preempt/partition_prio the first of
 * these is the tier; with preempt/qos a job comes before those of each QOS that its own may
 * preempt. That is an order where the lists of QOS are ladders, as they are at most sites: a QOS is
 * above those that it lists. */
#include "policies/slurm/ranking.h"

#include "policies/lib/common.h"
#include "policies/slurm/accounts.h"
#include "policies/slurm/nodes.h"
#include "sim/base/sort.h"
#include "sim/base/wide.h"

#include <string.h>

/* Bits behind the point of a sum of factors, and the part of one that rounding may lack. */
enum { POINT = 20, SLACK = 1 << 6, TIER_SHIFT = 33, LEVEL_SHIFT = TIER_SHIFT + 16 };

/* --- levels of QOS ---------------------------------------------------------------------------- */

/* Raises the QOS above those that it may preempt. */
static bool raise(const struct gsim_slurm *conf, uint32_t *level, uint32_t q) {
    uint32_t before = level[q];
    for (uint32_t other = 0; other < conf->n_qos; other++) {
        const char *name = conf->qos[other].name;
        if (other != q && level[other] >= level[q] &&
            gsim_slurm_lists(conf->qos[q].preempts, name, strlen(name)))
            level[q] = level[other] + 1;
    }
    return level[q] > before;
}

/* The steps of a QOS above those that none is below of. sacctmgr makes no lists that go round; in a
 * file that has some they end at MOST. */
static bool find_levels(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    enum { MOST = 64 };
    const struct gsim_slurm *conf = &state->conf;
    bool is_raised = conf->preempts_by_qos && conf->mode != GSIM_SLURM_PREEMPT_OFF;
    if (!is_raised)
        return true;
    state->qos_level = gsim_arena_array(arena, conf->n_qos + 1u, sizeof *state->qos_level);
    for (int round = 0; state->qos_level && is_raised && round < MOST; round++) {
        is_raised = false;
        for (uint32_t q = 0; q < conf->n_qos; q++)
            is_raised |= state->qos_level[q] < MOST && raise(conf, state->qos_level, q);
    }
    return state->qos_level != NULL;
}

/* --- the cluster ------------------------------------------------------------------------------ */

/* Nodes of the file without GPUs are nodes of Slurm's as well; one that says no CPUs has one. */
static void measure_cluster(struct gsim_slurm_state *state) {
    bool is_known = true;
    state->all_nodes = state->n_nodes;
    for (uint32_t n = 0; n < state->n_nodes; n++) {
        int64_t cpus = state->of_file[n] ? state->of_file[n]->cpus : 0;
        state->all_cpus += cpus;
        is_known &= cpus > 0;
    }
    for (uint32_t n = 0; n < state->conf.n_nodes; n++) {
        const struct gsim_slurm_node *node = &state->conf.node[n];
        state->all_nodes += node->gpus == 0;
        state->all_cpus += node->gpus > 0 ? 0 : node->cpus > 0 ? node->cpus : 1;
    }
    state->all_cpus = is_known ? state->all_cpus : 0;
}

/* What PriorityWeightTRES is relative to: the GPUs of the partition, not of the cluster. */
static bool count_gpus(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    uint32_t n = state->conf.n_partitions;
    int64_t *gpus = gsim_arena_array(arena, n + 1u, sizeof *gpus);
    for (uint32_t p = 0; gpus && p < n; p++)
        for (uint32_t node = 0; node < state->n_nodes; node++)
            gpus[p] += gsim_slurm_nodes_has(state, p, node) ? state->node[node].n_gpus : 0;
    state->gpus_of_partition = gpus;
    return gpus != NULL;
}

enum gsim_status gsim_slurm_ranking_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const struct gsim_slurm *conf = &state->conf;
    for (uint32_t q = 0; q < conf->n_qos; q++)
        if (conf->qos[q].priority > state->most_priority)
            state->most_priority = conf->qos[q].priority;
    for (uint32_t p = 0; p < conf->n_partitions; p++)
        if (conf->partition[p].factor > state->most_factor)
            state->most_factor = conf->partition[p].factor;
    if (!find_levels(state, ctx->arena))
        return gsim_no_memory(ctx->log, "opening QOS");
    measure_cluster(state);
    if (!count_gpus(state, ctx->arena))
        return gsim_no_memory(ctx->log, "opening partitions");
    state->decay_q32 = conf->half_life_ns > 0
                           ? gsim_exp2_neg_q32(conf->period_ns, conf->half_life_ns)
                           : GSIM_RATE_ONE;
    if (conf->weight[GSIM_SLURM_FAIRSHARE] > 0)
        gsim_slurm_accounts_rank(state, ctx->view->now_ns);
    return GSIM_OK;
}

/* --- factors ---------------------------------------------------------------------------------- */

static int64_t part(int64_t weight, int64_t of, int64_t all) {
    if (weight == 0 || all <= 0 || of <= 0)
        return 0;
    return gsim_muldiv_floor(weight << POINT, of < all ? of : all, all);
}

/* A part of one, without a division. */
static int64_t by_share(int64_t weight, int64_t of_q32) {
    int64_t least_q32 = of_q32 < (int64_t)GSIM_RATE_ONE ? of_q32 : (int64_t)GSIM_RATE_ONE;
    return of_q32 <= 0 ? 0 : (int64_t)((gsim_i128)(weight << POINT) * least_q32 >> 32);
}

/* The mean of the job's part of the nodes and of the CPUs; where CPUs are not known, that of the
 * nodes. */
static int64_t by_size(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       gsim_slot slot) {
    int64_t weight = state->conf.weight[GSIM_SLURM_SIZE], all_nodes = state->all_nodes;
    int64_t nodes =
        gsim_trace_get(ctx->view->trace, GSIM_COL_NUM_NODES, ctx->view->jobs.index[slot]);
    int64_t cpus = gsim_slurm_job(ctx, slot)->wants[GSIM_SLURM_CPUS], all_cpus = state->all_cpus;
    nodes = nodes < 1 ? 1 : nodes < all_nodes ? nodes : all_nodes;
    cpus = cpus < all_cpus ? cpus : all_cpus;
    int64_t of = nodes, all = all_nodes;
    if (cpus > 0) {
        of = nodes * all_cpus + cpus * all_nodes;
        all = 2 * all_nodes * all_cpus;
    }
    return part(weight, state->conf.favors_small ? all - of : of, all);
}

/* What size and QOS give the job's priority. */
static int64_t lasting_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    const struct gsim_slurm *conf = &state->conf;
    uint32_t qos = gsim_slurm_job(ctx, slot)->qos;
    return by_size(state, ctx, slot) + part(conf->weight[GSIM_SLURM_QOS],
                                            qos == GSIM_SLURM_NONE ? 0 : conf->qos[qos].priority,
                                            state->most_priority);
}

/* Of the job in a partition. */
static int64_t priority_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot, const struct gsim_slurm_partition *partition) {
    const struct gsim_slurm *conf = &state->conf;
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    const int64_t *weight = conf->weight;
    if (!conf->is_multifactor)
        return 0;
    int64_t sum =
        part(weight[GSIM_SLURM_AGE], state->ranked_ns - job->eligible_ns, conf->max_age_ns) +
        by_share(weight[GSIM_SLURM_FAIRSHARE], state->account[job->assoc].factor_q32) +
        job->lasting + part(weight[GSIM_SLURM_PARTITION], partition->factor, state->most_factor) +
        part(weight[GSIM_SLURM_BY_GPUS], job->wants[GSIM_SLURM_GPUS],
             state->gpus_of_partition[partition - conf->partition]);
    sum = (sum + SLACK) >> POINT;
    return sum < 1 ? 1 : sum > UINT32_MAX ? UINT32_MAX : sum;
}

/* --- the order -------------------------------------------------------------------------------- */

static void rank(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                 struct gsim_slurm_entry *entry) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    const struct gsim_slurm_partition *partition = &state->conf.partition[entry->partition];
    int64_t level =
        state->qos_level && job->qos != GSIM_SLURM_NONE ? state->qos_level[job->qos] : 0;
    entry->key =
        -(level * (INT64_C(1) << LEVEL_SHIFT) + partition->tier * (INT64_C(1) << TIER_SHIFT) +
          priority_of(state, ctx, entry->slot, partition));
}

int64_t gsim_slurm_ranking_priority(const struct gsim_slurm_entry *entry) {
    return -entry->key & ((INT64_C(1) << TIER_SHIFT) - 1);
}

/* Jobs by submission, those of one by the order in which it names its partitions. */
static int64_t number_of(const struct gsim_ctx *ctx, const struct gsim_slurm_entry *entry) {
    enum { SHIFT = 16 };
    return ((int64_t)gsim_slurm_id(ctx, entry->slot) << SHIFT) + entry->nth;
}

static bool comes_before(const struct gsim_ctx *ctx, const struct gsim_slurm_entry *a,
                         const struct gsim_slurm_entry *b) {
    return a->key != b->key ? a->key < b->key : number_of(ctx, a) < number_of(ctx, b);
}

/* Where the block is full, the order goes back to its beginning, and to a larger one where it fills
 * more than half of it: an entry moves for no more than one that is added. */
static bool reserve_ranks(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    if (state->n_skipped + state->n_order < state->order_capacity)
        return true;
    if (state->n_skipped > 0) {
        state->order -= state->n_skipped;
        memmove(state->order, state->order + state->n_skipped,
                state->n_order * sizeof *state->order);
        state->n_skipped = 0;
    }
    if (state->n_order < state->order_capacity / 2)
        return true;
    uint32_t room = state->order_capacity ? 2 * state->order_capacity : 64;
    struct gsim_slurm_entry *order = gsim_arena_grow_raw(arena, state->order, room * sizeof *order);
    state->order = order ? order : state->order;
    struct gsim_slurm_entry *before =
        gsim_arena_grow_raw(arena, state->before, room * sizeof *before);
    state->before = before ? before : state->before;
    int64_t *key = gsim_arena_grow_raw(arena, state->key, room * sizeof *key);
    state->key = key ? key : state->key;
    uint32_t *sorted = gsim_arena_grow_raw(arena, state->sorted, room * sizeof *sorted);
    state->sorted = sorted ? sorted : state->sorted;
    state->order_capacity = order && before && key && sorted ? room : state->order_capacity;
    return order && before && key && sorted;
}

void gsim_slurm_ranking_add(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                            uint32_t nth, uint32_t part, uint32_t first_choice) {
    struct gsim_slurm_entry own = {
        .slot = slot, .first_choice = first_choice, .nth = nth, .part = part};
    own.partition = gsim_slurm_job(ctx, slot)->way.partition;
    own.array = gsim_slurm_job(ctx, slot)->array;
    if (!reserve_ranks(state, ctx->arena)) {
        gsim_common_no_memory(ctx);
        return;
    }
    gsim_slurm_job(ctx, slot)->lasting = lasting_of(state, ctx, slot);
    rank(state, ctx, &own);
    uint32_t low = 0, high = state->n_order;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (comes_before(ctx, &state->order[middle], &own))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&state->order[low + 1], &state->order[low],
            (state->n_order - low) * sizeof *state->order);
    state->order[low] = own;
    state->n_order++;
    state->waiting_in[own.partition]++;
}

void gsim_slurm_ranking_drop(struct gsim_slurm_state *state, uint32_t kept, uint32_t end) {
    uint32_t n = end - kept;
    memmove(&state->order[n], state->order, kept * sizeof *state->order);
    state->order += n;
    state->n_skipped += n;
    state->n_order -= n;
}

/* Sorts by one key after the other; equal keys stay in their order. */
static bool sort_by(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, bool by_index) {
    memcpy(state->before, state->order, state->n_order * sizeof *state->order);
    for (uint32_t i = 0; i < state->n_order; i++)
        state->key[i] = by_index ? number_of(ctx, &state->before[i]) : state->before[i].key;
    if (!gsim_sort_order(state->key, state->sorted, state->n_order))
        return false;
    for (uint32_t i = 0; i < state->n_order; i++)
        state->order[i] = state->before[state->sorted[i]];
    return true;
}

static bool may_change(const struct gsim_slurm_state *state) {
    return state->conf.is_multifactor &&
           (state->conf.weight[GSIM_SLURM_AGE] > 0 || state->conf.weight[GSIM_SLURM_FAIRSHARE] > 0);
}

bool gsim_slurm_ranking_catch_up(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    int64_t now_ns = ctx->view->now_ns, at_ns = now_ns - now_ns % state->conf.period_ns;
    if (at_ns == state->ranked_ns || !may_change(state))
        return false;
    state->ranked_ns = at_ns;
    if (state->conf.weight[GSIM_SLURM_FAIRSHARE] > 0)
        gsim_slurm_accounts_rank(state, at_ns);
    for (uint32_t i = 0; i < state->n_order; i++)
        rank(state, ctx, &state->order[i]);
    if (state->n_order > 1 && (!sort_by(state, ctx, true) || !sort_by(state, ctx, false)))
        gsim_common_no_memory(ctx);
    return true;
}

int64_t gsim_slurm_ranking_next(const struct gsim_slurm_state *state, int64_t now_ns) {
    return may_change(state) ? now_ns - now_ns % state->conf.period_ns + state->conf.period_ns
                             : GSIM_NEVER;
}
