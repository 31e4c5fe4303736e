/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which jobs are served. */
#ifndef GSIM_POLICIES_MURI_ORDER_H
#define GSIM_POLICIES_MURI_ORDER_H

#include "policies/muri/state.h"

/* The rank of a job on the cluster as gsim models it: GPU time that is left, or that the job has
 * had. */
double muri_own_rank(const struct gsim_ctx *ctx, const struct muri *muri,
                     const struct muri_job *job);
/* Sorts jobs, by a stable sort: the least rank first, or the widest gang. */
void muri_sort_by_rank(struct muri *muri, uint32_t *list, uint32_t n);
/* Sorts jobs as well, those with equal ranks by their second rank. */
void muri_sort_by_ranks(struct muri *muri, uint32_t *list, uint32_t n);
/* Sorts jobs by their lines, and by their places there. */
void muri_sort_by_place(struct muri *muri, uint32_t *list, uint32_t n);
void muri_sort_by_width(struct muri *muri, uint32_t *list, uint32_t n);
/* Removes from a list those jobs that are over. */
uint32_t muri_keep_active(const struct muri *muri, uint32_t *list, uint32_t n);
/* A job that has had its queue's limit goes to the tail of the next one. */
void muri_demote(struct muri *muri, uint32_t number);
/* In each queue the jobs that run stand before those that wait. */
void muri_part_queues(struct muri *muri);
/* Makes the line from the order or the queues, and ranks jobs by their place in queues. */
void muri_line_up(struct muri *muri);

#endif
