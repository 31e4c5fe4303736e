/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue that is served in order of arrival: the whole state of fifo. */
#ifndef GSIM_POLICIES_LIB_LINE_H
#define GSIM_POLICIES_LIB_LINE_H

#include "policies/lib/queue.h"

/* A queue that is served in order of arrival; a job that does not fit blocks it (strict) or is
 * passed over. The hook serves policies with this state and no other. */
struct gsim_line {
    struct gsim_queue queue;
    enum gsim_rule rule;
    bool is_strict;
    uint32_t n_repairs; /* seen so far */
};

void gsim_line_init(struct gsim_line *line, const struct gsim_ctx *ctx, bool is_strict);
void gsim_line_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
