/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters that cluster policies have in common, each with its effect: placement=, preempt= and
 * memory=. */
#ifndef GSIM_POLICIES_LIB_SETTINGS_H
#define GSIM_POLICIES_LIB_SETTINGS_H

#include "gsim/policy.h"

#define GSIM_PLACEMENT_PARAM_AS(by_default)                                                        \
    {                                                                                              \
        .name = "placement", .type = GSIM_PARAM_CHOICE, .fallback = (by_default),                  \
        .choices = "consolidate|any|spread|fullest|skew|affinity|random",                          \
        .help = "which GPUs a gang takes: fewest nodes, any free ones, one per node, whole nodes " \
                "without the remainder, fewest nodes where the model's skew asks for it, nodes "   \
                "of gangs of its size, or nodes at random"                                         \
    }
#define GSIM_PLACEMENT_PARAM GSIM_PLACEMENT_PARAM_AS("consolidate")

/* own: the way of the policy's source, and the reason. */
#define GSIM_PREEMPT_PARAM_AS(own)                                                                 \
    {                                                                                              \
        .name = "preempt", .type = GSIM_PARAM_CHOICE, .fallback = "auto",                          \
        .choices = "auto|pause|suspend|restart|discard|checkpoint|paging|pause-iteration",         \
        .help = "how a running job gives way: auto is " own "; under memory= it is paging"         \
    }
#define GSIM_PREEMPT_PARAM_FREE                                                                    \
    GSIM_PREEMPT_PARAM_AS("restart, as in Tiresias, since theory, which preempts for free, names " \
                          "no way (for free: --device ideal)")

#define GSIM_MEMORY_PARAM_AS(by_default)                                                           \
    {                                                                                              \
        .name = "memory", .type = GSIM_PARAM_CHOICE, .fallback = (by_default),                     \
        .choices = "resident|uvm|lru|proactive",                                                   \
        .help = "memory on a GPU: resident: that of all its jobs; uvm: the pages that faults "     \
                "bring, the first to come goes out first; lru: these pages, the least recently "   \
                "used goes out first; proactive: the pages that the next job is predicted to "     \
                "use, moved at each switch"                                                        \
    }
#define GSIM_MEMORY_PARAM GSIM_MEMORY_PARAM_AS("resident")

/* Reads memory=, which sets the manager of memory on all GPUs from the start; a manager needs the
 * sizes of jobs' memory. With a manager a job that has GPUs to itself may have more memory than
 * they have, and paused jobs leave theirs to be paged. */
enum gsim_status gsim_settings_open_memory(struct gsim_ctx *ctx);
/* Like gsim_settings_open_memory, with this arrangement apart from its lanes. */
enum gsim_status gsim_settings_manage(struct gsim_ctx *ctx, const struct gsim_arrangement *how);
/* Makes an idle GPU that was shared whole again, its memory managed as before. */
bool gsim_settings_make_whole(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu);

/* The rule of placement=, or the reference simulator's. */
enum gsim_rule gsim_settings_rule(const struct gsim_ctx *ctx);

struct gsim_preemption {
    enum gsim_stop stop;
    enum gsim_keep keep;
};
/* The way of preempt=; own: the way of auto where memory is not managed. */
struct gsim_preemption gsim_settings_preemption(struct gsim_ctx *ctx, enum gsim_keep own);
/* The way of preempt=auto, of a policy without the parameter. */
struct gsim_preemption gsim_settings_preemption_auto(const struct gsim_ctx *ctx,
                                                     enum gsim_keep own);

/* Resolves GSIM_RULE_SKEW by the job's model; other rules stay. */
enum gsim_rule gsim_settings_rule_of(const struct gsim_ctx *ctx, gsim_slot slot,
                                     enum gsim_rule rule);
bool gsim_settings_place(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                         enum gsim_rule rule);
/* As gsim_plan_move, by that way; by way of the host where that leaves memory on the GPU. */
bool gsim_settings_move(struct gsim_plan *plan, gsim_slot slot, const struct gsim_shape *shape,
                        struct gsim_preemption way);

#endif
