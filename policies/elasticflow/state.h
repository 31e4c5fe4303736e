/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of elasticflow share: its jobs, and the GPUs that are free over time. Times are
 * counted in ticks: milliseconds, of the reference seconds. */
#ifndef GSIM_POLICIES_ELASTICFLOW_STATE_H
#define GSIM_POLICIES_ELASTICFLOW_STATE_H

#include "policies/elasticflow/steps.h"
#include "policies/lib/settings.h"

/* In the order of the parameter's choices. */
enum elasticflow_mode {
    ELASTICFLOW_ADMIT = 0,
    ELASTICFLOW_ALL,
    ELASTICFLOW_EDF,
    ELASTICFLOW_LAS,
    ELASTICFLOW_GANDIVA
};

enum { ELASTICFLOW_LEVELS = 21 }; /* powers of two up to the widest gang of a trace */
/* The deadline of a job that has none. */
#define ELASTICFLOW_NEVER (INT64_MAX / 8)
/* Times of a run, and shares added up, are below this: sums of three are still below NEVER. */
#define ELASTICFLOW_FAR (ELASTICFLOW_NEVER / 4)

struct elasticflow_level {
    int64_t gpus;
    double per_tick; /* work */
};

/* A job, by its number in the trace. A plan of a long line looks at all that wait: what it looks at
 * stands first, as far as the first level. */
struct elasticflow_job {
    gsim_slot slot;
    bool is_active; /* it has come, is not declined, and has not ended */
    bool is_admitted;
    bool is_late; /* its deadline cannot be met any more */
    bool is_through; /* reference: its work is done, and the end that it is given is to come */
    bool is_changed; /* by the plan under way */
    bool is_read; /* its work was, while it waited */
    bool has_slower_level; /* a level that is slower than the one below */
    bool is_behind; /* as n_behind says */
    /* the gain stays while the edges of the free GPUs do (patient.h), and more GPUs get free at the
     * first of these than the plan releases then */
    bool is_steady;
    uint32_t n_came, n_start; /* its place among the jobs that have come, and started */
    double left; /* work: ms of service; of the reference iterations */
    int64_t deadline;
    /* The level of the plan now, from 1 on; 0: none. */
    uint32_t now_level;
    uint32_t n_levels;
    double gain; /* of the next level, per GPU */
    int64_t releases;
    struct elasticflow_steps plan; /* the GPUs that it is to have */
    int64_t end, real_end; /* of the plan: aligned to slots, and as computed */
    struct elasticflow_level level[ELASTICFLOW_LEVELS];
    struct elasticflow_steps promise; /* its last plan beside which all others kept theirs */
    int64_t promised_end;
    /* reference */
    bool has_started, is_ending;
    int64_t event_at; /* the event in which it ends; -1: none */
    int64_t overhead;
    /* the reference's baselines: ticks that it needs, and that it has run */
    int64_t needs, served;
    uint32_t queue; /* las */
    bool is_next_end, ends_with_start; /* las: it ends first; it ends when others come */
    uint32_t next_in_set; /* gandiva */
    bool has_waited; /* gandiva: it had no set when it came */
};

struct elasticflow_reference;

#define ELASTICFLOW_NONE UINT32_MAX

/* A job on a node, and the next one there. */
struct elasticflow_on_node {
    uint32_t number, next;
};

struct elasticflow {
    struct elasticflow_job *job;
    uint32_t *order; /* the active jobs */
    uint32_t n_order;
    /* Those of order as they stood by their deadlines, before their gains were sorted. */
    uint32_t *due, n_due;
    /* The last ones of due that a plan need not look at (behind.h), and the ticks of their shares;
     * when the first of them begins. */
    uint32_t n_behind;
    int64_t behind_ticks, behind_from;
    uint32_t n_unlisted; /* of order, the last ones: they wait, and the plan made now gives none */
    uint32_t *mover; /* scratch */
    uint32_t *moved, n_moved; /* scratch: those that have moved for others in this plan */
    /* Jobs that may move, by node: where the list of each begins; as many as there are GPUs. */
    uint32_t *first_on_node;
    struct elasticflow_on_node *on_node;
    uint32_t n_on_nodes;
    bool has_on_nodes; /* they are listed in this plan */
    /* Those of order that have GPUs or shall have some, in that order: all others wait, and are
     * left alone, until a plan is made. */
    uint32_t *placed, n_placed;
    uint32_t *open, n_open; /* those of placed that are not known to be as they shall be */
    uint32_t n_failures, n_repairs; /* of nodes, at the last look */
    uint32_t n_failures_read; /* of nodes, when the work that is left was read last */
    bool has_changed; /* jobs did, at the last look */
    bool is_listed; /* placed is of the plan that was made last */
    uint32_t *arrived; /* not looked at yet */
    uint32_t n_arrived, n_came;
    int64_t n_gpus; /* that are up */
    enum elasticflow_mode mode;
    bool is_reference, is_due;
    bool is_one_type; /* all GPUs are */
    struct gsim_preemption way;
    int64_t slot, tick_ns; /* slot in ticks */
    int64_t next_ns; /* when the plan has its next change */
    int64_t held_until_ns; /* no new plan before that */
    int64_t due_ns; /* when the policy looks again, if nothing happens before */
    struct elasticflow_steps free; /* GPUs that no plan has */
    struct elasticflow_steps without; /* scratch: as free, without one job */
    struct elasticflow_steps plan_to_be, free_to_be; /* scratch: of the answer that is computed */
    struct elasticflow_reference *reference;
    bool is_out_of_memory;
    bool has_no_slots; /* of the plan under way: its times are those of its jobs */
    bool is_as_promised; /* the plan under way is the last one that kept all promises */
    /* All jobs of order have their shares of now, in slots, in the order of their deadlines, and
     * none of them is late: to plan them all again would change nothing. */
    bool is_planned;
};

struct elasticflow_question {
    const struct elasticflow_job *job;
    const struct elasticflow_steps *free; /* without the job; begins now */
    int64_t now;
    uint32_t level; /* that it begins with, until the first change of free; 0: any */
    bool asks_plan_alone; /* the free GPUs of the answer are of no meaning */
};

/* The answer's plan and free GPUs stand in elasticflow's plan_to_be and free_to_be. */
struct elasticflow_answer {
    int64_t end, real_end;
    bool meets; /* its deadline */
};

/* The GPUs of a level. */
static inline int64_t elasticflow_gpus(const struct elasticflow_job *job, uint32_t level) {
    return level > 0 ? job->level[level - 1].gpus : 0;
}

/* The widest level with at most that many GPUs. */
static inline uint32_t elasticflow_level(const struct elasticflow_job *job, int64_t gpus) {
    uint32_t level = 0;
    while (level < job->n_levels && job->level[level].gpus <= gpus)
        level++;
    return level;
}

/* The level that its plan begins with. */
static inline uint32_t elasticflow_level_now(const struct elasticflow_job *job) {
    int64_t gpus = job->plan.n > 0 ? job->plan.step[0].gpus : 0;
    return gpus > 0 ? elasticflow_level(job, gpus) : 0;
}

/* Whole numbers not below x, which is at least 0; past any time of a run: that. */
static inline int64_t elasticflow_ceil(double x) {
    if (!(x < (double)ELASTICFLOW_NEVER))
        return ELASTICFLOW_NEVER;
    int64_t whole = (int64_t)x;
    return (double)whole < x ? whole + 1 : whole;
}

/* The first end of a slot at or after time, where slots begin at `from`. */
static inline int64_t elasticflow_align(const struct elasticflow *elasticflow, int64_t from,
                                        int64_t time) {
    int64_t slot = elasticflow->has_no_slots ? 1 : elasticflow->slot;
    int64_t n = (time - from) / slot;
    if ((time - from) % slot > 0)
        n++;
    return from + n * slot;
}

#endif
