/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An Ousterhout matrix: columns are GPUs, rows are slices of time. It holds the columns and the row
 * of each gang; policies/gang_rr/gang_rr.c gives the turns. */
#ifndef GSIM_POLICIES_GANG_RR_MATRIX_H
#define GSIM_POLICIES_GANG_RR_MATRIX_H

#include "policies/lib/queue.h"
#include "sim/base/bitset.h"
#include "sim/base/index.h"

#define GSIM_MATRIX_NEWS 64u /* entries of a list; beyond, all gangs are looked at */

struct gsim_matrix_row {
    gsim_slot *column; /* the gang in the column; GSIM_NO_SLOT: none */
    struct gsim_queue gangs;
    uint32_t n_free; /* columns */
    uint32_t *n_free_on; /* by node */
    struct gsim_bitset *nodes_with; /* [free columns] -> nodes */
    uint32_t most_free; /* on one node */
};

/* The start of the per-job state. */
struct gsim_matrix_job {
    struct gsim_queue_link link; /* in its row, or among gangs that wait for columns */
    bool is_in; /* the gang has columns */
    uint32_t row;
    uint32_t first; /* its lowest column */
    uint64_t entered; /* counts the gangs that got columns */
};

/* The gangs that got columns since this was last cleared, and the columns that gangs left. */
struct gsim_matrix_news {
    gsim_slot entered[GSIM_MATRIX_NEWS];
    uint32_t left[GSIM_MATRIX_NEWS];
    uint32_t n_entered, n_left;
    bool is_much; /* more than can be listed, or nodes failed or were repaired */
};

/* The start of the policy's state. */
struct gsim_matrix {
    struct gsim_matrix_row *rows;
    uint32_t n_rows;
    struct gsim_index used; /* rows with gangs: a trace leaves many empty behind its peak */
    struct gsim_index
        room; /* rows by number; the size is the most free columns of a node, negated */
    uint64_t n_entered;
    /* gangs without columns: new gangs, or gangs of nodes that are down */
    struct gsim_queue outside;
    struct gsim_unit *units; /* scratch */
    uint32_t n_failures, n_repairs; /* seen so far */
    bool has_changed; /* its gangs have changed since this was last cleared */
    struct gsim_matrix_news news;
};

static inline struct gsim_matrix_job *gsim_matrix_own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

enum gsim_status gsim_matrix_init(struct gsim_matrix *matrix, struct gsim_ctx *ctx);
void gsim_matrix_add(struct gsim_matrix *matrix, const struct gsim_ctx *ctx, gsim_slot slot);
void gsim_matrix_remove(struct gsim_matrix *matrix, const struct gsim_ctx *ctx, gsim_slot slot);
/* To be called first in a decide: gangs that wait on failed nodes lose their columns, and gangs
 * without columns get some, where nodes that are up have any. */
void gsim_matrix_settle(struct gsim_matrix *matrix, struct gsim_ctx *ctx);
/* The next row with gangs behind this one, the first one behind the last; there is one. */
static inline uint32_t gsim_matrix_row_after(const struct gsim_matrix *matrix, uint32_t r) {
    uint32_t after = gsim_index_has(&matrix->used, r) ? gsim_index_next(&matrix->used, r)
                                                      : gsim_index_seek(&matrix->used, r, 0);
    return after == GSIM_NO_ID ? gsim_index_first(&matrix->used) : after;
}

/* Puts the gang's columns into matrix->units; returns their number. */
uint32_t gsim_matrix_columns(struct gsim_matrix *matrix, const struct gsim_ctx *ctx,
                             gsim_slot slot);

#endif
