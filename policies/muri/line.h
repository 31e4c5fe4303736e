/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events while jobs wait that share no GPUs: what a whole decision would change, and no more. */
#ifndef GSIM_POLICIES_MURI_LINE_H
#define GSIM_POLICIES_MURI_LINE_H

#include "policies/muri/state.h"

/* Opens lines where sums of GPUs say which jobs fit. */
bool muri_line_open(struct gsim_ctx *ctx, struct muri *muri);
/* After a whole decision: takes the jobs into lines, unless one cannot leave its GPUs yet. */
void muri_line_note(struct muri *muri);
/* Makes the order and the packings of them again. */
void muri_line_leave(struct muri *muri);
/* Serves an event, and decides without one. false: it needs a whole decision, for which the order
 * and the packings are as the last event left them. */
bool muri_line_serve(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri,
                     bool is_event);

#endif
