/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs at random that are worth it, as Gavel's program has it under the name of Gandiva (Xiao et
 * al., OSDI 2018): where jobs want more GPUs than there are, jobs of equal gangs share them in
 * pairs, and pairs and single jobs have equal shares. A pair is parted when its jobs together make
 * less than one of them alone, as a mean over GPUs. Pairs that make more come in a random order; a
 * pair of which one job has a partner already is passed over.
 *
 * reference=gavel: each job without a partner draws one of an equal gang, whatever they make; only
 * with the next shares, which may be as late as the next job comes or ends, are they parted. What a
 * pair makes is added up over all device types, so that with three types nearly each pair stays. */
#include "policies/gavel/packing.h"

#include <string.h>

void gavel_split_equally(const struct gavel *gavel, struct gsim_round_entry *entry, uint32_t n) {
    double sum = 0;
    for (uint32_t t = 0; t < gavel->n_types; t++) {
        uint32_t type = gavel->by_name[t];
        entry->of[type].share = (double)gavel->n_gpus[type] / n / entry->gpus;
        sum += entry->of[type].share;
    }
    for (uint32_t type = 0; type < gavel->n_types; type++)
        entry->of[type].share /= sum > 1 ? sum : 1;
}

double gavel_packed(const struct gavel *gavel, const struct gsim_round_entry *pair, uint32_t type) {
    double sum = 0;
    for (int m = 0; m < 2; m++) {
        double alone = gavel_member(gavel, pair, m)->per_s[type];
        if (pair->per_s[m][type] > 0 && alone > 0)
            sum += pair->per_s[m][type] / alone;
    }
    return sum;
}

struct gsim_round_entry *gavel_pair(const struct gavel *gavel, uint32_t a, uint32_t b) {
    bool is_a_first = gavel->job[a].entry < gavel->job[b].entry;
    uint32_t first = is_a_first ? a : b, second = is_a_first ? b : a;
    uint32_t i = gavel->job[second].entry + 1;
    for (; i < gavel->rounds.n && gavel->rounds.entry[i].member[1] == second; i++)
        if (gavel->rounds.entry[i].member[0] == first)
            return &gavel->rounds.entry[i];
    return NULL;
}

static bool runs_on(const struct gsim_round_entry *pair, uint32_t type) {
    return pair->per_s[0][type] > 0 && pair->per_s[1][type] > 0;
}

static bool is_worth_it(const struct gavel *gavel, const struct gsim_round_entry *pair) {
    double sum = 0, gpus = 0;
    for (uint32_t t = 0; t < gavel->n_types; t++) {
        uint32_t type = gavel->by_name[t];
        if (gavel->is_reference && !runs_on(pair, type))
            return false;
        double weight = gavel->is_reference ? 1 : gavel->n_gpus[type];
        sum += runs_on(pair, type) ? weight * gavel_packed(gavel, pair, type) : 0;
        gpus += weight;
    }
    return sum >= (gavel->is_reference ? 1 : gpus);
}

static void part(struct gavel *gavel, uint32_t number) {
    struct gavel_job *job = &gavel->job[number];
    gavel->job[job->partner - 1].partner = 0;
    job->partner = 0;
}

static bool is_live(const struct gavel *gavel, uint32_t number) {
    const struct gavel_job *job = &gavel->job[number];
    return job->is_active || job->has_ended;
}

/* Parts pairs of which a job is gone, or that are not worth it. */
static void part_pairs(struct gavel *gavel) {
    for (uint32_t i = 0; i < gavel->n_live; i++) {
        uint32_t number = gavel->live[i], partner = gavel->job[number].partner;
        if (partner == 0)
            continue;
        const struct gsim_round_entry *pair =
            is_live(gavel, partner - 1) ? gavel_pair(gavel, number, partner - 1) : NULL;
        if (!pair || !is_worth_it(gavel, pair))
            part(gavel, number);
    }
}

static void drop(uint32_t *list, uint32_t *n, uint32_t at) {
    memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof *list);
    --*n;
}

static void join(struct gavel *gavel, uint32_t a, uint32_t b) {
    gavel->job[a].partner = b + 1;
    gavel->job[b].partner = a + 1;
}

/* The reference: each job without a partner has one draw. */
static void draw_any(struct gavel *gavel, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < gavel->n_live; i++)
        if (gavel->job[gavel->live[i]].partner == 0)
            list[n++] = gavel->live[i];
    for (uint32_t draws = n; draws > 0 && n > 1; draws--) {
        uint32_t at[2];
        gsim_python_sample_two(&gavel->draws, n, at);
        uint32_t a = list[at[0]], b = list[at[1]];
        if (gavel->job[a].gpus != gavel->job[b].gpus)
            continue;
        drop(list, &n, at[0] > at[1] ? at[0] : at[1]);
        drop(list, &n, at[0] > at[1] ? at[1] : at[0]);
        join(gavel, a, b);
    }
}

static bool are_alone(const struct gavel *gavel, const struct gsim_round_entry *pair) {
    return gavel->job[pair->member[0]].partner == 0 && gavel->job[pair->member[1]].partner == 0;
}

static void draw_worthy(struct gavel *gavel, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < gavel->rounds.n; i++) {
        const struct gsim_round_entry *entry = &gavel->rounds.entry[i];
        if (gavel_is_pair(entry) && are_alone(gavel, entry) && is_worth_it(gavel, entry))
            list[n++] = i;
    }
    gsim_python_shuffle(&gavel->draws, list, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct gsim_round_entry *pair = &gavel->rounds.entry[list[i]];
        if (are_alone(gavel, pair))
            join(gavel, pair->member[0], pair->member[1]);
    }
}

/* Whether the entry is a job without a partner, or a pair. */
static bool is_scheduled(const struct gavel *gavel, const struct gsim_round_entry *entry,
                         bool is_packed) {
    uint32_t partner = gavel->job[entry->member[0]].partner;
    if (!gavel_is_pair(entry))
        return !is_packed || partner == 0;
    return is_packed && partner == entry->member[1] + 1;
}

static void share_equally(struct gavel *gavel, bool is_packed) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < gavel->n_live; i++) {
        uint32_t partner = gavel->job[gavel->live[i]].partner;
        n += !is_packed || partner == 0 || partner - 1 > gavel->live[i];
    }
    for (uint32_t i = 0; i < gavel->rounds.n; i++) {
        struct gsim_round_entry *entry = &gavel->rounds.entry[i];
        gsim_rounds_unshare(&gavel->rounds, entry);
        if (is_scheduled(gavel, entry, is_packed))
            gavel_split_equally(gavel, entry, n);
    }
}

bool gavel_pair_at_random(struct gsim_ctx *ctx, struct gavel *gavel) {
    uint64_t wanted = 0, there = 0;
    for (uint32_t i = 0; i < gavel->n_live; i++)
        wanted += gavel->job[gavel->live[i]].gpus;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        there += gavel->n_gpus[type];
    part_pairs(gavel);
    if (wanted <= there) {
        share_equally(gavel, false);
        return true;
    }
    uint32_t *list = gsim_arena_grow_raw(ctx->arena, NULL, (gavel->rounds.n + 1) * sizeof *list);
    if (!list) {
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
        return false;
    }
    if (gavel->is_reference)
        draw_any(gavel, list);
    else
        draw_worthy(gavel, list);
    gsim_arena_drop(ctx->arena, list);
    share_equally(gavel, true);
    return true;
}
