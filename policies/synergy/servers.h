/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The books of a round: which GPUs, CPUs and memory of each server are given to which job. */
#ifndef GSIM_POLICIES_SYNERGY_SERVERS_H
#define GSIM_POLICIES_SYNERGY_SERVERS_H

#include "policies/synergy/state.h"

/* Reads the cluster; false: no memory. */
bool synergy_open_servers(struct gsim_ctx *ctx, struct synergy *synergy);
/* Makes all GPUs of nodes that are up free, with their hosts. */
void synergy_clear_servers(const struct gsim_ctx *ctx, struct synergy *synergy);
/* Books the GPUs that a job has, with the part of a host beside them. */
void synergy_book_again(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number);
/* Gives GPUs to a job with that part of the host beside each; false: there is no room. */
bool synergy_try(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number,
                 struct gsim_host each);
/* Takes what the round gives to the job, or gives it back (sign -1). */
void synergy_charge(struct synergy *synergy, const struct synergy_job *job, int64_t sign);
/* The server that follows `after` (n_nodes: the first) in the order of free GPUs, the fewest first,
 * of those with at least `least`; n_nodes: none. */
uint32_t synergy_next_server(const struct synergy *synergy, uint32_t n_nodes, uint32_t after,
                             uint32_t least);

#endif
