/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quota of a tree of cohorts: what a ClusterQueue may still use, by its nominal quota, what others
 * lend, and limits of both. */
#ifndef GSIM_POLICIES_KUEUE_QUOTA_H
#define GSIM_POLICIES_KUEUE_QUOTA_H

#include "policies/kueue/state.h"

/* Adds up subtrees and heights. Expects the site's objects. false: no memory. */
bool gsim_kueue_quota_open(struct gsim_kueue_state *state, struct gsim_arena *arena);
/* GPUs that the queue may use besides those in use; at least 0. */
int64_t gsim_kueue_quota_left(const struct gsim_kueue_state *state, uint32_t queue,
                              uint32_t flavor);
/* GPUs that the queue could use if none were in use. */
int64_t gsim_kueue_quota_most(const struct gsim_kueue_state *state, uint32_t queue,
                              uint32_t flavor);
/* gpus < 0 gives quota back. */
void gsim_kueue_quota_use(struct gsim_kueue_state *state, uint32_t queue, uint32_t flavor,
                          int64_t gpus);
/* Whether the node would use more than its own quota. */
bool gsim_kueue_quota_borrows(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor,
                              int64_t gpus);
/* The part of a node's unused quota that no other node may borrow. */
int64_t gsim_kueue_quota_own(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor);
/* The height of the lowest subtree that has room for these GPUs; 0: the queue itself. *is_below:
 * that subtree is not the whole tree. */
int gsim_kueue_quota_height(const struct gsim_kueue_state *state, uint32_t queue, uint32_t flavor,
                            int64_t gpus, bool *is_below);
uint32_t gsim_kueue_quota_root(const struct gsim_kueue_state *state, uint32_t node);

#endif
