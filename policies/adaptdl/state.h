/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of adaptdl share: its jobs and nodes. */
#ifndef GSIM_POLICIES_ADAPTDL_STATE_H
#define GSIM_POLICIES_ADAPTDL_STATE_H

#include "policies/lib/settings.h"

/* A job, by its number in the trace. */
struct adaptdl_job {
    gsim_slot slot;
    uint32_t gpus; /* that it asks for */
    uint32_t came; /* gsim_nth */
    uint32_t n_nodes; /* entries of `node`: the GPUs that the last tick gave it; 0: none */
    uint32_t *node; /* the node of each, those of one node beside each other */
    struct gsim_unit *units; /* these GPUs by name */
    uint32_t n_room; /* entries that node and units have room for */
    bool is_active;
    bool is_placed; /* it has these GPUs, or is on its way to them */
    bool is_changed; /* the tick under way gives it others than it had */
    uint32_t before, after; /* tiresias, sia: its neighbours in its line */
    /* tiresias: it is to run; it is in the second queue; its place in the queues; the time that it
     * has had with GPUs, up to `last` */
    bool is_chosen, is_demoted;
    uint64_t turn;
    int64_t executed_ns, last_ns;
    /* optimus: the GPUs that the tick gives it, and could at most; the time of an iteration on them
     * and on one more; iterations left; what one GPU more would save */
    uint32_t width, most_gpus;
    bool is_alike; /* on GPUs of all types */
    double step_s, next_s, left, gain;
};

/* tiresias, sia: the jobs of a queue that ask for as many GPUs, first in line first. */
struct adaptdl_line {
    uint32_t gpus, first, last; /* ADAPTDL_NONE: no job */
};

/* The first job of a line that a tick has not looked at. */
struct adaptdl_head {
    uint64_t turn;
    uint32_t number, line;
};

struct adaptdl {
    struct adaptdl_job *job;
    /* the jobs that are not done, in the order in which they came; tiresias has lines, and counts
     * them only */
    uint32_t *active;
    uint32_t n_active;
    /* sia: the active jobs that the tick has looked at, in that order; no other one has GPUs.
     * NULL: all */
    const uint32_t *visited;
    uint32_t n_visited;
    /* the jobs that have GPUs, were given some, or lose them, in the order in which they came */
    uint32_t *holder;
    uint32_t n_holders;
    bool has_lines; /* tiresias */
    struct adaptdl_line *line;
    struct adaptdl_head *head; /* scratch: as many as there are lines */
    uint32_t n_lines, room_lines, room_heads;
    uint32_t *fresh; /* scratch: jobs that the tick chooses, and that have no GPUs yet */
    uint64_t n_turns;
    /* Before that, a tick would change nothing; 0: unknown; INT64_MAX: no tick would from here on,
     * as long as no job comes or ends. */
    int64_t idle_until_ns;
    uint32_t *free; /* by node: the GPUs that the tick has not given out */
    uint32_t *node_gpus; /* by node */
    uint32_t *owner; /* by GPU, within a tick: the job that has it; ADAPTDL_NONE: none */
    uint32_t n_gpus;
    int64_t interval_ns, next_ns, threshold_ns;
    bool has_unplaced; /* jobs may wait for the GPUs that they were given */
    bool is_reference;
    bool passes_starters; /* ticks go on while jobs are on their way, which `give` leaves alone */
    struct gsim_preemption way;
    /* gives each job its GPUs, or takes them away (is_changed says so); false: no memory, or
     * ctx->status says why */
    bool (*give)(struct gsim_ctx *ctx, struct adaptdl *adaptdl);
};

#define ADAPTDL_NONE UINT32_MAX

/* The state of a policy begins with a struct adaptdl, which has its way of giving. */
enum gsim_status adaptdl_open(struct gsim_ctx *ctx, struct adaptdl *adaptdl);
/* Where no table says how jobs learn, the result says so. */
void adaptdl_note_table(struct gsim_ctx *ctx);
void adaptdl_arrive(struct gsim_ctx *ctx, gsim_slot slot);
void adaptdl_complete(struct gsim_ctx *ctx, gsim_slot slot);
void adaptdl_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

/* A job that has GPUs and does not run on them yet, or no longer. */
bool adaptdl_is_on_its_way(const struct gsim_ctx *ctx, const struct adaptdl_job *job);

/* Whether a job was submitted after the one that arrives. */
bool adaptdl_came_later(const struct adaptdl *adaptdl, uint32_t number, uint32_t arrived);
/* Inserts a job into n of them in the order in which jobs came. */
void adaptdl_insert(const struct adaptdl *adaptdl, uint32_t *list, uint32_t n, uint32_t number);

/* No GPU is given out yet. */
void adaptdl_free_all(const struct gsim_ctx *ctx, struct adaptdl *adaptdl);
/* Puts a job among the holders. */
void adaptdl_hold(struct adaptdl *adaptdl, uint32_t number);

/* tiresias: a job comes (false: no memory), and ends. */
bool adaptdl_tiresias_arrive(struct gsim_ctx *ctx, struct adaptdl *adaptdl, uint32_t number);
void adaptdl_tiresias_complete(struct adaptdl *adaptdl, uint32_t number);
/* Two ways of giving. */
bool adaptdl_tiresias(struct gsim_ctx *ctx, struct adaptdl *adaptdl);
bool adaptdl_optimus(struct gsim_ctx *ctx, struct adaptdl *adaptdl);
/* Makes room for that many GPUs of a job; false: no memory. */
bool adaptdl_reserve(struct gsim_ctx *ctx, struct adaptdl_job *job, uint32_t gpus);
/* Takes GPUs from the node with the most free ones, of equals the first, again and again. */
void adaptdl_spread(const struct gsim_ctx *ctx, struct adaptdl *adaptdl, struct adaptdl_job *job,
                    uint32_t gpus);

/* Parameters of several of these policies. */
#define ADAPTDL_INTERVAL_PARAM                                                                     \
    {                                                                                              \
        .name = "interval", .type = GSIM_PARAM_TIME, .fallback = "60s", .min = 1,                  \
        .max = INT64_MAX / 4, .help = "time between two ticks"                                     \
    }
#define ADAPTDL_RESTART_PARAM                                                                      \
    {                                                                                              \
        .name = "restart", .type = GSIM_PARAM_TIME, .fallback = "30s", .min = 1,                   \
        .max = INT64_MAX / 4,                                                                      \
        .help = "what a change of a job's GPUs counts as, against the job's age"                   \
    }

#endif
