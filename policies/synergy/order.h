/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs a round is offered to, and in which order. */
#ifndef GSIM_POLICIES_SYNERGY_ORDER_H
#define GSIM_POLICIES_SYNERGY_ORDER_H

#include "policies/synergy/state.h"

/* false: no memory. */
bool synergy_open_order(const struct gsim_ctx *ctx, struct synergy *synergy);
/* A job comes, or comes again; it has gone. */
void synergy_queue_up(struct synergy *synergy, uint32_t number);
void synergy_leave_queue(struct synergy *synergy, uint32_t number);
/* Lines up the jobs that may be placed; n_gpus GPUs are free. */
void synergy_find_order(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t n_gpus);
/* The job that is next in line, which is in synergy->order then; false: there is none. */
bool synergy_next_in_line(struct synergy *synergy, uint32_t *number);

#endif
