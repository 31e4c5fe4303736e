/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of accounts and users: associations of jobs, jobs that run below each, past usage. */
#ifndef GSIM_POLICIES_SLURM_ACCOUNTS_H
#define GSIM_POLICIES_SLURM_ACCOUNTS_H

#include "policies/slurm/state.h"

/* Builds the tree from the site's associations and the trace's accounts and users. */
enum gsim_status gsim_slurm_accounts_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* The association of a job of the trace. */
uint32_t gsim_slurm_accounts_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                uint32_t job);
/* Changes what an association uses from now on. */
void gsim_slurm_accounts_change(struct gsim_slurm_state *state, uint32_t assoc, int64_t now_ns,
                                int64_t billing_milli);
/* Brings usage up to a time, and computes the fair-share factor of each user anew. */
void gsim_slurm_accounts_rank(struct gsim_slurm_state *state, int64_t at_ns);

#endif
