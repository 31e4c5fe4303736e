/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/muri/order.h"

#include <string.h>

#include "sim/base/units.h"

typedef bool (*is_before_fn)(const struct muri_job *a, const struct muri_job *b);

static bool ranks_before(const struct muri_job *a, const struct muri_job *b) {
    return a->rank < b->rank;
}

static bool both_rank_before(const struct muri_job *a, const struct muri_job *b) {
    return a->rank < b->rank || (a->rank == b->rank && a->second < b->second);
}

static bool is_wider(const struct muri_job *a, const struct muri_job *b) {
    return a->gpus > b->gpus;
}

static bool stands_before(const struct muri_job *a, const struct muri_job *b) {
    return a->width < b->width || (a->width == b->width && a->place < b->place);
}

static void merge(const struct muri *muri, const uint32_t *list, uint32_t *out, uint32_t middle,
                  uint32_t n, is_before_fn is_before) {
    uint32_t a = 0, b = middle;
    for (uint32_t i = 0; i < n; i++) {
        bool takes_b =
            a == middle || (b < n && is_before(&muri->job[list[b]], &muri->job[list[a]]));
        out[i] = takes_b ? list[b++] : list[a++];
    }
}

/* Where the jobs end that stand sorted from `from` on. */
static uint32_t end_of_run(const struct muri *muri, const uint32_t *list, uint32_t from, uint32_t n,
                           is_before_fn is_before) {
    while (++from < n && !is_before(&muri->job[list[from]], &muri->job[list[from - 1]]))
        continue;
    return from < n ? from : n;
}

/* Merges what stands sorted already, two parts at a time: of one decision to the next, few jobs
 * change places. */
static void sort(struct muri *muri, uint32_t *list, uint32_t n, is_before_fn is_before) {
    for (uint32_t first = 0; first < n;) {
        first = end_of_run(muri, list, 0, n, is_before);
        if (first == n)
            return;
        for (uint32_t from = 0, middle = first, end; from < n; from = end) {
            middle = from > 0 ? end_of_run(muri, list, from, n, is_before) : first;
            end = middle < n ? end_of_run(muri, list, middle, n, is_before) : n;
            merge(muri, list + from, muri->scratch + from, middle - from, end - from, is_before);
        }
        memcpy(list, muri->scratch, n * sizeof *list);
    }
}

double muri_own_rank(const struct gsim_ctx *ctx, const struct muri *muri,
                     const struct muri_job *job) {
    int64_t ns = muri->rule == MURI_S ? gsim_remaining_ns(ctx->view, job->slot)
                                      : gsim_ran_ns(ctx->view, job->slot);
    return (double)ns / (double)GSIM_NS_PER_S * job->gpus;
}

void muri_sort_by_rank(struct muri *muri, uint32_t *list, uint32_t n) {
    sort(muri, list, n, ranks_before);
}

void muri_sort_by_ranks(struct muri *muri, uint32_t *list, uint32_t n) {
    sort(muri, list, n, both_rank_before);
}

void muri_sort_by_place(struct muri *muri, uint32_t *list, uint32_t n) {
    sort(muri, list, n, stands_before);
}

void muri_sort_by_width(struct muri *muri, uint32_t *list, uint32_t n) {
    sort(muri, list, n, is_wider);
}

uint32_t muri_keep_active(const struct muri *muri, uint32_t *list, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (muri->job[list[i]].is_active)
            list[kept++] = list[i];
    return kept;
}

/* --- queues ----------------------------------------------------------------------------------- */

void muri_demote(struct muri *muri, uint32_t number) {
    struct muri_job *job = &muri->job[number];
    uint32_t from = job->queue, kept = 0;
    if (from + 1 >= MURI_N_QUEUES || job->executed * job->gpus < muri->limit[from])
        return;
    for (uint32_t i = 0; i < muri->queue[from].n; i++)
        if (muri->queue[from].job[i] != number)
            muri->queue[from].job[kept++] = muri->queue[from].job[i];
    muri->queue[from].n = kept;
    job->queue = from + 1;
    muri->queue[from + 1].job[muri->queue[from + 1].n++] = number;
}

void muri_part_queues(struct muri *muri) {
    for (uint32_t q = 0; q < MURI_N_QUEUES; q++) {
        uint32_t *list = muri->queue[q].job, n = muri->queue[q].n, n_running = 0, n_waiting = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (muri->job[list[i]].runs)
                list[n_running++] = list[i];
            else
                muri->scratch[n_waiting++] = list[i];
        }
        memcpy(list + n_running, muri->scratch, n_waiting * sizeof *list);
    }
}

void muri_line_up(struct muri *muri) {
    muri->n_line = 0;
    if (!muri_has_queues(muri)) {
        memcpy(muri->line, muri->order, muri->n_order * sizeof *muri->line);
        muri->n_line = muri->n_order;
        return;
    }
    for (uint32_t q = 0; q < MURI_N_QUEUES; q++)
        for (uint32_t i = 0; i < muri->queue[q].n; i++) {
            muri->job[muri->queue[q].job[i]].rank = muri->n_line;
            muri->line[muri->n_line++] = muri->queue[q].job[i];
        }
}
