/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the cluster with policies of their own: each policy sees the nodes of its part, numbered
 * from 0, and the jobs that go there, as in a run of these alone. */
#ifndef GSIM_CORE_PARTS_H
#define GSIM_CORE_PARTS_H

#include "sim/core/core.h"

/* A part in the run: the part of a spec, or the nodes of the run's policy. */
struct gsim_core_part {
    const struct gsim_part *what; /* NULL: of the run's policy */
    const struct gsim_policy *policy;
    struct gsim_ctx ctx;
    struct gsim_view view;
    struct gsim_trace trace; /* its jobs, as the policy sees them */
    struct gsim_domain domain;
    uint32_t *nth_of; /* view.jobs.nth_of */
    uint32_t first_node, n_nodes, n_jobs;
    gsim_slot *active; /* its active jobs; the view has their number */
    struct gsim_slots arrived, completed, settled; /* since its last decide */
    int64_t timer_ns;
    bool must_decide;
    /* idle GPUs of the part, and of the cluster, when its decide began */
    uint32_t n_idle, n_idle_of_all;
};

struct gsim_parts {
    struct gsim_core_part *list;
    uint32_t n;
    struct gsim_core_part *now; /* the hook under way is of its policy; NULL: there is none */
    uint16_t *of_job; /* by job of the trace: the part where it goes */
    uint32_t *nth; /* by job: its position among the jobs of its part */
    uint32_t *index, *active_at; /* by slot: that position; place in the part's `active` */
    uint32_t capacity; /* slots */
    struct gsim_policy policy; /* the run's: hands each hook to the part that it is of */
};

/* Finds the parts and the part of each job. core->parts stays NULL where no node group has a
 * part. */
enum gsim_status gsim_parts_open(struct gsim_core *core);
/* Refuses jobs that may use a few nodes only of a part with a policy that names GPUs itself. */
enum gsim_status gsim_parts_check(const struct gsim_core *core);
/* Whether the part's nodes include this group of the cluster's description. */
static inline bool gsim_parts_has_group(const struct gsim_core_part *part, uint32_t group) {
    return group - part->domain.first_group < part->domain.n_groups;
}
/* A node of a part has failed, or is repaired. */
void gsim_parts_node(struct gsim_core *core, uint32_t node, bool is_down);
/* Sets the timer of a part's policy. */
void gsim_parts_wake(struct gsim_core *core, uint32_t part, int64_t time_ns);
/* Idle GPUs as the policy sees them that fills a plan. */
void gsim_parts_refresh(struct gsim_core *core);

#endif
