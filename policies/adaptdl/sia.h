/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of sia share: kinds of nodes, and what a tick gives each job. */
#ifndef GSIM_POLICIES_ADAPTDL_SIA_H
#define GSIM_POLICIES_ADAPTDL_SIA_H

#include "policies/adaptdl/learn.h"
#include "policies/lib/knapsack.h"

/* What a job may have other than it asks for. */
enum sia_adapts { SIA_ADAPTS_BATCH = 0, SIA_ADAPTS_GPUS, SIA_ADAPTS_TYPE };

/* Nodes of equal GPUs, and as many of them. */
struct sia_kind {
    uint16_t type;
    uint32_t node_gpus, n_nodes;
    uint32_t learners; /* which of all `learners` are of this type of GPU */
};

struct sia_job {
    uint32_t kind, gpus; /* that the tick gives it; 0 GPUs: none */
    bool is_to_place; /* the tick has not found its GPUs yet */
    bool is_rigid; /* it has as many GPUs as it asks for, or none */
    int64_t submit_ns, restart_ns; /* restart: what a change counts as */
    uint32_t n_restarts;
    bool has_started, is_in_line;
};

struct sia {
    struct adaptdl adaptdl; /* first: what adaptdl_* functions see */
    struct pollux_jobs learners[GSIM_KNAPSACK_KINDS]; /* what jobs know of each type of GPU */
    uint16_t type[GSIM_KNAPSACK_KINDS];
    uint32_t n_learners;
    struct sia_kind kind[GSIM_KNAPSACK_KINDS];
    uint32_t n_kinds;
    uint32_t *kind_of_node;
    uint32_t *could; /* by node: GPUs that could be free, where room is made for a job */
    struct sia_job *job; /* by number */
    /* active jobs in the order in which they came: those in no line; those that the tick looks
     * at */
    uint32_t *shown, n_shown, *listed, n_listed;
    int64_t *key; /* scratch: by which these are sorted */
    bool has_lines;
    struct adaptdl_line *line;
    uint32_t n_lines, room_lines;
    struct gsim_knapsack knapsack;
    struct gsim_choice_row *row; /* by row: its choices */
    uint32_t *number; /* by row: the job */
    uint32_t room_rows;
    struct gsim_choice *choice;
    double *value; /* by choice: how fast the job would learn, beside its other choices */
    double *power_of; /* scratch: by choice */
    uint32_t n_choices, room_choices;
    enum sia_adapts adapts;
    uint32_t widest; /* GPUs of a job at most */
    double power; /* by which a slow choice costs more */
    int64_t none_cost;
    bool is_reference;
    bool has_learners; /* a job that learns by a table has come */
};

enum { SIA_COST_ONE = 100 << 24 };

/* Whether there is a configuration that the job could run in. */
bool sia_fits(struct gsim_ctx *ctx, struct sia *sia, uint32_t number);
/* Whether jobs stand in lines, by the kinds of nodes. */
void sia_open_lines(struct sia *sia);
/* A job comes. false: no memory. */
bool sia_line_up(struct gsim_ctx *ctx, struct sia *sia, uint32_t number);
/* A job that is given GPUs leaves its line, if it is in one. */
void sia_step_forth(struct sia *sia, uint32_t number);
/* A job has ended. */
void sia_leave(struct sia *sia, uint32_t number);
/* Lists the jobs that may have GPUs, or be given some; the capacities are those of the tick.
 * false: no memory. */
bool sia_list(const struct gsim_ctx *ctx, struct sia *sia);
/* Lists what each listed job that is not on its way could have, with its cost, in rows. false: no
 * memory. */
bool sia_weigh(struct gsim_ctx *ctx, struct sia *sia);
/* Finds GPUs for what the tick gives: a job that is given as many of one kind as before keeps its
 * own, but where a wider one would not find room. false: no memory. */
bool sia_place(struct gsim_ctx *ctx, struct sia *sia);
/* What the job learns by on GPUs of that type. */
static inline struct pollux_job *sia_learner(struct sia *sia, uint32_t learners, uint32_t number) {
    return &sia->learners[learners].job[number];
}

#endif
