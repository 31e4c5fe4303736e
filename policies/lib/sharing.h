/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing GPUs: which GPU a job goes to, and how that GPU is arranged. */
#ifndef GSIM_POLICIES_LIB_SHARING_H
#define GSIM_POLICIES_LIB_SHARING_H

#include "policies/lib/common.h"
#include "policies/lib/misfits.h"
#include "policies/lib/order.h"
#include "policies/lib/queue.h"

/* Jobs of one GPU share GPUs that are all arranged alike; gangs have whole GPUs to themselves. In
 * the order of queue=, each job goes to the GPU with the fewest jobs that has room, of idle ones to
 * the one that placement= gives. */
struct gsim_sharing {
    struct gsim_queue queue;
    struct gsim_order order; /* of the queue */
    struct gsim_lane lane; /* of the shared GPUs */
    struct gsim_arrangement how; /* their arrangement, without lanes and entries */
    enum gsim_rule rule;
    struct gsim_misfits misfits; /* of this decide: gangs that found no whole GPUs */
    int64_t most_mem_bytes; /* of jobs of one GPU for which a GPU may be open in this decide */
    /* There are two levels: class realtime, with requests that run to their end, and all other
     * jobs; the column `priority` does not matter. */
    bool has_two_levels;
    /* For policies with a lane per job: arranges the GPU for this job too. NULL: all jobs are in
     * one lane. */
    bool (*arrange)(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit);
    /* Adapts the lane to the number of jobs on a GPU and their memory. NULL: the lane is fixed. */
    void (*adapt)(const struct gsim_ctx *ctx, struct gsim_lane *lane, uint32_t n_jobs,
                  bool is_oversubscribed);
    /* Whether the job may share this GPU; NULL: always. */
    bool (*accepts)(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot);
    /* A GPU that does not accept a job accepts none that needs more memory. */
    bool accepts_by_memory;
    /* The load by which the least loaded GPU is taken, which is at least the number of jobs there;
     * NULL: it is that number. */
    int64_t (*load)(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot);
    /* The GPU after that one (the cluster's size: the first one) which has jobs and may accept this
     * one, UINT32_MAX if there is none: all that do accept it are among these, in any order where
     * there is a load, else the best first. NULL: every GPU is asked. */
    uint32_t (*next_shared)(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t before);
};

/* A job's part of the sharing, first in the per-job state. */
struct gsim_sharing_job {
    struct gsim_order_job order;
    uint32_t gpu; /* the GPU that it shares, + 1; 0: none */
};

void gsim_sharing_init(struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                       const struct gsim_lane *lane);
/* Reads memory=, as gsim_settings_open_memory does, into the arrangement of shared GPUs. */
enum gsim_status gsim_sharing_set_memory(struct gsim_sharing *sharing, struct gsim_ctx *ctx);
/* The value of quantum=, or slice=, as GSIM_QUANTUM_... or a time. */
int64_t gsim_sharing_quantum(const struct gsim_ctx *ctx);

#define GSIM_QUANTUM_PARAMS                                                                        \
    {.name = "quantum",                                                                            \
     .type = GSIM_PARAM_CHOICE_TIME,                                                               \
     .fallback = "medium",                                                                         \
     .usual = "2ms",                                                                               \
     .min = 1000,                                                                                  \
     .max = GSIM_TIME_MAX,                                                                         \
     .choices = "short|medium|long",                                                               \
     .help = "a context's turn: a setting of the driver, or a time of 1us or more"},               \
    {                                                                                              \
        .name = "slice", .type = GSIM_PARAM_CHOICE_TIME, .fallback = "as-quantum", .usual = "2ms", \
        .min = 1000, .max = GSIM_TIME_MAX, .choices = "short|medium|long|as-quantum",              \
        .help = "another name for quantum"                                                         \
    }

/* Makes GPUs whole again that the last sharing job has left; to be called before any placement. */
void gsim_sharing_give_back(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                            struct gsim_plan *plan);
/* Arranges a GPU anew with this entry, for a job that is on it or about to be. */
bool gsim_sharing_say(const struct gsim_sharing *sharing, struct gsim_plan *plan, uint32_t gpu,
                      const struct gsim_entry *entry);
/* Places a job of one GPU; false: there is no room. */
bool gsim_sharing_share(struct gsim_sharing *sharing, struct gsim_ctx *ctx, struct gsim_plan *plan,
                        gsim_slot slot);
/* Whether some GPU is open to a job of one GPU: where none is, none is open to a job that needs
 * more memory either. */
bool gsim_sharing_finds_one(const struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                            gsim_slot slot);
/* Places a gang on whole GPUs, within gsim_sharing_serve; false: there is no room. */
bool gsim_sharing_place_whole(struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                              struct gsim_plan *plan, gsim_slot slot);
/* Serves the queue, each job by order.place. */
void gsim_sharing_serve(struct gsim_sharing *sharing, struct gsim_ctx *ctx, struct gsim_plan *plan);
/* Hooks of policies with this state and no other. */
void gsim_sharing_on_arrival(struct gsim_ctx *ctx, gsim_slot slot);
void gsim_sharing_on_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
