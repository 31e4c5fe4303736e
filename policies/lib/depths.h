/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How deep the GPUs of each node lie in the ranks of running jobs: by node and number of GPUs, the
 * rank down to which enough jobs would have to give way. So that a gang cannot fit even by force is
 * found without counting running jobs. */
#ifndef GSIM_POLICIES_LIB_DEPTHS_H
#define GSIM_POLICIES_LIB_DEPTHS_H

#include "gsim/policy.h"
#include "policies/lib/reach.h"

struct gsim_depths_job {
    int64_t rank;
    uint32_t first; /* GPU, plus 1; 0: its GPUs are not known yet, or it has none */
    bool is_running, is_fresh;
};

/* Of the nodes of a list (the last: of all nodes) and a width: the worst depth. */
struct gsim_depths_worst {
    bool is_known;
    uint32_t node; /* that has it */
    int64_t depth;
};

/* Whether a waiting job would have its GPUs if certain jobs gave way: this is to be counted. */
enum gsim_depths_answer { GSIM_DEPTHS_TO_COUNT, GSIM_DEPTHS_TOO_FEW, GSIM_DEPTHS_ENOUGH };

/* Zeroed at first. */
struct gsim_depths {
    uint32_t n_nodes, width; /* GPUs of the largest node; 0: no depths are kept */
    int64_t *depth; /* by width and node: of the node's GPUs those with the worst ranks come first;
                       an idle GPU has the worst of all, and one that no job gives up the best */
    struct gsim_depths_worst *worst; /* by list, then width */
    bool is_current; /* no node has changed since depths were sorted */
    uint64_t *idle; /* by node: its idle GPUs as of its depths */
    bool *is_stale; /* by node */
    uint32_t *node; /* by GPU, and below */
    gsim_slot *owner; /* a running job, or GSIM_NO_SLOT */
    uint32_t *next; /* the owner's next GPU, plus 1; 0: its last */
    struct gsim_depths_job *job; /* by slot */
    uint32_t jobs_capacity;
    gsim_slot *fresh; /* jobs of which the GPUs are to be looked up */
    uint32_t n_fresh, fresh_capacity;
};

/* Keeps depths where a count by nodes decides (gsim_reach_init) and each GPU is of one job. false:
 * no memory. */
bool gsim_depths_init(struct gsim_depths *depths, const struct gsim_ctx *ctx,
                      const struct gsim_reach *reach);
/* The job runs and could give way, with this rank from now on. false: no memory. */
bool gsim_depths_note(struct gsim_depths *depths, const struct gsim_ctx *ctx, gsim_slot slot,
                      int64_t rank);
/* The job runs no more, or gives way in the plan. */
void gsim_depths_forget(struct gsim_depths *depths, gsim_slot slot);
/* Jobs were placed, preempted or brought back, or time has passed. */
void gsim_depths_changed(struct gsim_depths *depths);
/* Whether the waiting job has GPUs enough if jobs of this rank and of worse ones give way. If not,
 * gsim_reach_beyond of `reach` knows the smallest gang that has too few either. */
enum gsim_depths_answer gsim_depths_ask(struct gsim_depths *depths, const struct gsim_ctx *ctx,
                                        const struct gsim_plan *plan, struct gsim_reach *reach,
                                        gsim_slot slot, int64_t rank);

#endif
