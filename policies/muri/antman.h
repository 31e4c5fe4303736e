/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=muri, rule=antman: guaranteed jobs, with opportunistic ones beside them. */
#ifndef GSIM_POLICIES_MURI_ANTMAN_H
#define GSIM_POLICIES_MURI_ANTMAN_H

#include "policies/muri/state.h"

enum gsim_status muri_antman_open(struct gsim_ctx *ctx, struct muri *muri);
/* Gives GPUs to jobs that wait, and each guest its speed. */
void muri_antman(struct muri *muri);
/* Gives back the GPUs of a job that has ended. */
void muri_antman_release(struct muri *muri, uint32_t number);

#endif
