/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/slurm/ways.h"

#include "policies/lib/common.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/outlook.h"
#include "policies/slurm/ranking.h"
#include "sim/base/features.h"

#include <string.h>

/* --- names of partitions ---------------------------------------------------------------------- */

static uint32_t partition_called(const struct gsim_slurm *conf, const char *name, size_t length) {
    for (uint32_t p = 0; p < conf->n_partitions; p++)
        if (gsim_slurm_lists(conf->partition[p].name, name, length))
            return p;
    return GSIM_SLURM_NONE;
}

/* Where the file has no partition of the name, its jobs are of the default one. */
static uint32_t find(const struct gsim_slurm_state *state, struct gsim_ctx *ctx, const char *name,
                     size_t length) {
    const struct gsim_slurm *conf = &state->conf;
    uint32_t p = partition_called(conf, name, length);
    if (p == GSIM_SLURM_NONE && conf->path)
        gsim_warn(ctx->log, conf->path, 0,
                  "the file has no partition '%.*s'; the jobs of that partition are of %.64s",
                  length < 64 ? (int)length : 64, name,
                  conf->partition[state->default_partition].name);
    return p == GSIM_SLURM_NONE ? state->default_partition : p;
}

/* Adds the partitions of "gpu,long", each once, and the end of the list. */
static void list_partitions(struct gsim_slurm_state *state, struct gsim_ctx *ctx, const char *names,
                            uint32_t *n) {
    uint32_t first = *n;
    for (const char *at = names; *at; at += strspn(at, ",|")) {
        size_t length = strcspn(at, ",|");
        uint32_t p = length > 0 ? find(state, ctx, at, length) : GSIM_SLURM_NONE, k = first;
        while (k < *n && state->partition_list[k] != p)
            k++;
        if (p != GSIM_SLURM_NONE && k == *n)
            state->partition_list[(*n)++] = p;
        at += length;
    }
    if (*n == first)
        state->partition_list[(*n)++] = state->default_partition;
    state->partition_list[(*n)++] = GSIM_SLURM_NONE;
}

enum gsim_status gsim_slurm_ways_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const struct gsim_names *names = &ctx->view->trace->names[GSIM_COL_PARTITION];
    const struct gsim_slurm *conf = &state->conf;
    size_t room = 2;
    uint32_t n = 0;
    for (uint32_t i = 0; i < names->n; i++)
        room += strlen(names->name[i]) / 2 + 3;
    const bool *is_named = gsim_common_named(ctx, GSIM_COL_PARTITION);
    state->partitions_of =
        gsim_arena_array(ctx->arena, names->n + 1u, sizeof *state->partitions_of);
    state->partition_list = gsim_arena_array(ctx->arena, room, sizeof *state->partition_list);
    if (!is_named || !state->partitions_of || !state->partition_list)
        return gsim_no_memory(ctx->log, "opening partitions");
    for (uint32_t p = conf->n_partitions; p-- > 0;)
        if (conf->partition[p].is_default || p == conf->n_partitions - 1)
            state->default_partition = p;
    state->first_idle_choice = GSIM_SLURM_NONE;
    for (uint32_t i = 0; i <= names->n; i++) { /* the first place is of jobs that name none */
        state->partitions_of[i] = n;
        list_partitions(state, ctx, i > 0 && is_named[i - 1] ? names->name[i - 1] : "", &n);
    }
    state->n_listed = n;
    return GSIM_OK;
}

/* --- lists of ways ---------------------------------------------------------------------------- */

/* A place for a way; GSIM_SLURM_NONE: no memory. */
static uint32_t new_choice(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t at = state->first_idle_choice;
    if (at != GSIM_SLURM_NONE) {
        state->first_idle_choice = state->choice[at].next;
        return at;
    }
    struct gsim_slurm_choice *grown = gsim_arena_room(ctx->arena, state->choice, state->n_choices,
                                                      &state->choices_capacity, sizeof *grown);
    if (!grown) {
        gsim_common_no_memory(ctx);
        return GSIM_SLURM_NONE;
    }
    state->choice = grown;
    return state->n_choices++;
}

void gsim_slurm_ways_leave(struct gsim_slurm_state *state, const struct gsim_slurm_entry *entry) {
    state->waiting_in[entry->partition]--;
    for (uint32_t at = entry->first_choice, next; at != GSIM_SLURM_NONE; at = next) {
        next = state->choice[at].next;
        state->choice[at].next = state->first_idle_choice;
        state->first_idle_choice = at;
    }
}

void gsim_slurm_ways_tidy(struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    uint32_t kept = 0;
    if (state->n_stale == 0)
        return;
    for (uint32_t i = 0; i < state->n_order; i++)
        if (gsim_slurm_job(ctx, state->order[i].slot)->running_at == GSIM_SLURM_NONE)
            state->order[kept++] = state->order[i];
        else
            gsim_slurm_ways_leave(state, &state->order[i]);
    state->n_order = kept;
    state->n_stale = 0;
}

void gsim_slurm_ways_remove(struct gsim_slurm_state *state, gsim_slot slot) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->n_order; i++)
        if (state->order[i].slot != slot)
            state->order[kept++] = state->order[i];
        else
            gsim_slurm_ways_leave(state, &state->order[i]);
    state->n_order = kept;
}

/* --- the ways of a job ------------------------------------------------------------------------ */

/* What Slurm's backfill takes a job without a limit to be: a year. */
static int64_t limit_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        gsim_slot slot, const struct gsim_slurm_partition *partition) {
    const int64_t year_ns = 365 * 86400 * GSIM_NS_PER_S;
    int64_t own = gsim_trace_get(ctx->view->trace, GSIM_COL_LIMIT_NS, ctx->view->jobs.index[slot]);
    if (!state->has_time_limits)
        return gsim_ask_left_ns(ctx, slot);
    return own >= 0                     ? own
           : partition->default_ns >= 0 ? partition->default_ns
           : partition->max_ns >= 0     ? partition->max_ns
                                        : year_ns;
}

static uint32_t count_choices(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    int64_t name = gsim_trace_get(trace, GSIM_COL_FEATURES, ctx->view->jobs.index[slot]);
    struct gsim_constraint found = {0};
    if (name < 0 || !gsim_constraint_read(trace->names[GSIM_COL_FEATURES].name[name], &found))
        return 1;
    return found.n_choices > 1 ? found.n_choices : 1;
}

/* A partition of a job that is being listed. */
struct entering {
    gsim_slot slot;
    uint32_t listed, nth, n_choices; /* listed: its place in the list of partitions */
    bool has_others; /* the job may have other ways, so that this one need not do */
};

/* As many GPUs have to be free on some node for the job to start in its way. */
static uint32_t part_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        gsim_slot slot) {
    const struct gsim_slurm_way *way = &gsim_slurm_job(ctx, slot)->way;
    uint32_t part = gsim_slurm_outlook_part(state, way, ctx->view->jobs.gpus[slot]);
    return way->is_spread || part == GSIM_SLURM_NONE ? 1 : part;
}

/* Lists the ways of the partition. Where it may be left out, it is if no nodes of it could ever
 * hold the job, or if its MaxTime is shorter than the job's limit. */
static bool add_entry(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                      const struct entering *e, const struct gsim_host *each) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, e->slot);
    uint32_t p = state->partition_list[e->listed];
    const struct gsim_slurm_partition *partition = &state->conf.partition[p];
    struct gsim_slurm_way way = {.partition = p, .each = *each};
    uint32_t first = GSIM_SLURM_NONE, last = GSIM_SLURM_NONE, part = UINT32_MAX;
    way.limit_ns = limit_of(state, ctx, e->slot, partition);
    if (e->has_others && partition->max_ns >= 0 && way.limit_ns > partition->max_ns)
        return false;
    job->way = way;
    if (!gsim_slurm_nodes_enter(state, ctx, e->slot, e->listed, e->n_choices, &way.set))
        return true; /* no memory, which the context says */
    for (uint32_t c = 0; c < e->n_choices; c++) {
        job->way = way;
        job->way.set += e->n_choices > 1 ? c + 1 : 0;
        bool fits = gsim_slurm_nodes_shape(state, ctx, e->slot, !e->has_others);
        uint32_t own = part_of(state, ctx, e->slot);
        part = own < part ? own : part;
        uint32_t at = job->has_choices && fits ? new_choice(state, ctx) : GSIM_SLURM_NONE;
        if (at == GSIM_SLURM_NONE)
            continue;
        state->choice[at] = (struct gsim_slurm_choice){job->way, GSIM_SLURM_NONE};
        if (last == GSIM_SLURM_NONE)
            first = at;
        else
            state->choice[last].next = at;
        last = at;
    }
    if (job->has_choices && first == GSIM_SLURM_NONE)
        return false;
    gsim_slurm_ranking_add(state, ctx, e->slot, e->nth, part, first);
    return true;
}

void gsim_slurm_ways_enter(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    int64_t name = gsim_trace_get(trace, GSIM_COL_PARTITION, ctx->view->jobs.index[slot]);
    uint32_t first = state->partitions_of[name + 1];
    const uint32_t *list = &state->partition_list[first];
    struct entering e = {.slot = slot, .n_choices = count_choices(ctx, slot)};
    struct gsim_host each = job->each;
    bool is_listed = false;
    e.has_others = job->has_choices = list[1] != GSIM_SLURM_NONE || e.n_choices > 1;
    for (; list[e.nth] != GSIM_SLURM_NONE; e.nth++) {
        e.listed = first + e.nth;
        is_listed |= add_entry(state, ctx, &e, &each);
    }
    if (is_listed)
        return;
    /* no way would do; the job of a log ran, so that its first partition is taken to hold it */
    e = (struct entering){.slot = slot, .listed = first, .n_choices = 1};
    job->has_choices = false;
    (void)add_entry(state, ctx, &e, &each);
}
