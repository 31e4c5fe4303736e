/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An Ousterhout matrix: columns are GPUs, rows are slices of time. Which gang has which columns of which
 * row; policies/gang_rr.c says whose turn it is. */
#ifndef GSIM_POLICIES_COMMON_MATRIX_H
#define GSIM_POLICIES_COMMON_MATRIX_H

#include "policies/lib/queue.h"

struct gsim_matrix_row {
    gsim_slot *column; /* the gang that has it; GSIM_NO_SLOT: none */
    struct gsim_queue gangs;
    uint32_t n_free;
};

/* The start of the per-job state. */
struct gsim_matrix_job {
    struct gsim_queue_link link; /* in its row, or among those that wait for columns */
    bool is_in; /* it has columns */
    uint32_t row;
    uint32_t first; /* its lowest column */
};

/* The start of the policy's state. */
struct gsim_matrix {
    struct gsim_matrix_row *rows;
    uint32_t n_rows, n_used; /* used: with gangs in them */
    struct gsim_queue outside; /* gangs that have no columns: new ones, or where nodes are down */
    struct gsim_unit *units; /* scratch */
    uint32_t n_failures, n_repairs; /* that it knows of */
    bool has_changed; /* who is in it, since this was last cleared */
};

static inline struct gsim_matrix_job *gsim_matrix_own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

enum gsim_status gsim_matrix_init(struct gsim_matrix *matrix, struct gsim_ctx *ctx);
void gsim_matrix_add(struct gsim_matrix *matrix, const struct gsim_ctx *ctx, gsim_slot slot);
void gsim_matrix_remove(struct gsim_matrix *matrix, const struct gsim_ctx *ctx, gsim_slot slot);
/* First in a decide: gangs that wait on failed nodes lose their columns, and those without get some,
 * where there are any on nodes that are up. */
void gsim_matrix_settle(struct gsim_matrix *matrix, struct gsim_ctx *ctx);
/* The gang's columns, into matrix->units; how many. */
uint32_t gsim_matrix_columns(struct gsim_matrix *matrix, const struct gsim_ctx *ctx,
                             gsim_slot slot);

#endif
