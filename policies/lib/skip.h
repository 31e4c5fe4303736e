/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk over waiting jobs without reservations: jobs that find no room are passed over, with all
 * others that are known to find none by then. */
#ifndef GSIM_POLICIES_LIB_SKIP_H
#define GSIM_POLICIES_LIB_SKIP_H

#include "policies/lib/misfits.h"
#include "policies/lib/unmet.h"
#include "policies/lib/waiting.h"

struct gsim_skip {
    const struct gsim_view *view;
    const struct gsim_waiting *waiting;
    struct gsim_misfits misfits;
    struct gsim_unmet unmet;
    enum gsim_rule rule;
};

/* Begins a pass that places all jobs by the rule. */
void gsim_skip_begin(struct gsim_skip *skip, const struct gsim_view *view,
                     const struct gsim_waiting *waiting, enum gsim_rule rule);
/* For gsim_waiting_rule; of: the gsim_skip. */
int64_t gsim_skip_most(const void *of, const struct gsim_waiting_row *row);
/* Places the job unless it is known not to fit. */
bool gsim_skip_place(struct gsim_skip *skip, const struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot);

#endif
