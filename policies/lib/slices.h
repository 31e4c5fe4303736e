/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices of time for gangs on a cluster. */
#ifndef GSIM_POLICIES_LIB_SLICES_H
#define GSIM_POLICIES_LIB_SLICES_H

#include "policies/lib/due.h"
#include "policies/lib/node_jobs.h"
#include "policies/lib/eviction.h"
#include "policies/lib/homes.h"
#include "policies/lib/prospects.h"
#include "policies/lib/reach.h"
#include "policies/lib/settings.h"
#include "policies/lib/wish_lines.h"
#include "sim/base/index.h"

#define GSIM_PATIENCE_PARAM_AS(by_default)                                                         \
    {                                                                                              \
        .name = "patience", .type = GSIM_PARAM_INT, .fallback = (by_default), .max = 1000000,      \
        .help =                                                                                    \
            "slices for which a waiting job is passed by others that fit; then no job passes it "  \
            "until it has its GPUs. 0: always passed, so that wide gangs may starve"               \
    }

/* Jobs run for a slice, counted from the end of their copy-in; afterwards they give way to jobs
 * that wait, longest slice first, and run on while no job does. Jobs that wait are served in the
 * order of a rank; a job that does not fit, not even by force, is passed over, but by patience= not
 * for ever. Before the first in line pushes out a job that is due, that job gives way to a job with
 * memory on its node, if that is worth it. Zeroed, settings filled, then gsim_slices_init. */
struct gsim_slices {
    int64_t slice_ns;
    /* Also asked of jobs that run; it does not change while a job waits, unless the policy puts the
     * job into `waiting` anew. Of jobs of one urgency with as many GPUs, the one with more service
     * has no rank before the other's. */
    int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot);
    int64_t (*urgency)(const struct gsim_ctx *ctx, gsim_slot slot); /* NULL: one of all jobs */
    /* Whether no job behind this one in line could have a victim that yields to it and not to this
     * one. NULL: of no job is there one, as ranks leave nothing out. */
    bool (*is_first_of_rank)(const struct gsim_ctx *ctx, gsim_slot slot);
    /* The service from which on jobs of this urgency with as many GPUs, which have run for their
     * slice, may give way to this job, and none of a rank before its own; GSIM_NEVER: none. NULL:
     * all of them. */
    int64_t (*least_service_ns)(const struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency,
                                uint32_t gpus);
    /* Whether a victim that may give way does; NULL: always. */
    bool (*yields)(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot victim,
                   gsim_slot slot);
    struct gsim_preemption preemption; /* how jobs give way, unless the policy chooses each time: */
    struct gsim_preemption (*way)(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                                  gsim_slot victim, gsim_slot slot);

    /* The worth of this time of the job's GPUs in ranks: a job that saves the time by going home
     * may be that far behind the first in line. NULL: no job goes before the first. */
    int64_t (*worth)(const struct gsim_ctx *ctx, gsim_slot slot, int64_t saved_ns);
    /* Whether the victim, which will have run for its slice by then, will give way to this job. If
     * set, a job waits for the GPUs of its home while that takes no longer than its memory would on
     * the network: for that time in all, and only if jobs there are to give way within it. NULL: no
     * job waits so. */
    bool (*will_yield)(const struct gsim_ctx *ctx, gsim_slot victim, gsim_slot slot,
                       int64_t then_ns);

    enum gsim_rule rule; /* placement=, set by init */
    int64_t patience; /* patience=: slices after which no job passes one that waits; 0: never */
    struct gsim_homes homes;
    uint32_t only_node; /* the node of the jobs that may be pushed out now, if set */
    struct gsim_wish_lines waiting; /* by rank */
    struct gsim_index running; /* by when the slice began */
    struct gsim_index left; /* jobs that gave way with memory on GPUs, until they run or leave */
    struct gsim_due due; /* those of them with slices that are over, as of the last look */
    struct gsim_node_jobs node_jobs; /* the jobs of `running`, outside a pool */
    int64_t looked_ns; /* of slices that began later, none was over then */
    int64_t last_due_rank; /* none of them had a rank behind this one */
    bool has_looked; /* in this decide */
    /* where the job that was asked about last goes to one node, and could fit: that node, and the
     * last of the jobs that have to give way there */
    uint32_t cleared_node;
    gsim_slot last_victim;
    bool waits_for_home; /* the job that was placed last, and taken back */
    /* where that job stood, and where its memory lies, if it goes to the fullest node with room;
     * else GSIM_NO_NODE */
    uint32_t refused_node, refused_home;
    int64_t home_until_ns; /* when the first of the jobs that wait so waits no longer */
    uint32_t mark; /* where the plan stood before the last placement */
    struct gsim_eviction eviction;
    struct gsim_reach reach;
    struct gsim_prospects prospects; /* of gangs that go to one node */
};
void gsim_slices_init(struct gsim_slices *slices, struct gsim_ctx *ctx);
void gsim_slices_completed(struct gsim_slices *slices, gsim_slot slot);
/* Puts the job into the line by this rank; it is not in the line. */
void gsim_slices_wait(struct gsim_slices *slices, struct gsim_ctx *ctx, gsim_slot slot,
                      int64_t rank);
/* Books the changes; then the policy may act, then the slices decide. */
void gsim_slices_book(struct gsim_slices *slices, struct gsim_ctx *ctx);
void gsim_slices_decide(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan);
/* When the job is due to give way; GSIM_NEVER when it does not run. */
int64_t gsim_slices_end_ns(const struct gsim_slices *slices, gsim_slot slot);

/* --- slices_room.c: how jobs get GPUs ------------------------------------------ */

/* Whether the slice of the job is over. */
bool gsim_slices_is_due(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                        gsim_slot slot);
/* Places the job on GPUs that are free, unless it waits for its home. */
bool gsim_slices_place(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot);
/* Whether, of all that was due at the last look, no job may give way to this one, by its rank. */
bool gsim_slices_is_behind_due(const struct gsim_slices *slices, gsim_slot slot);
/* Whether a job that is due may give way to this one. */
bool gsim_slices_has_victims(struct gsim_slices *slices, struct gsim_ctx *ctx, gsim_slot slot);
/* Whether the job could have GPUs if all such jobs gave way. */
bool gsim_slices_could_fit(struct gsim_slices *slices, struct gsim_ctx *ctx,
                           const struct gsim_plan *plan, gsim_slot slot);
/* Places the job on GPUs of jobs that give way; false: the plan is as it was. */
bool gsim_slices_force(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot);

/* --- clearing.c: the node that jobs which are due clear first ------------------ */

/* Whether the victim, which may, gives way to the job: on the only node, if that is set. */
bool gsim_clearing_yields(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                          const struct gsim_plan *plan, gsim_slot victim, gsim_slot slot);
/* Notes the node that has room first for the asker of slices->due, and the last of its jobs that
 * give way; false: no node has enough. */
bool gsim_clearing_find(struct gsim_slices *slices, struct gsim_ctx *ctx,
                        const struct gsim_plan *plan, gsim_slot slot);

#endif
