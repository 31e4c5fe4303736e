/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which waiting jobs of a policy that shares GPUs start, and which may pass others:
 * queue=fifo, backfill, easy, fairshare or las, after the policies of these names. They rank and
 * plan as those policies do: by limits of jobs (time_limits.h), decayed usage of users (usage.h),
 * attained service. */
#ifndef GSIM_POLICIES_LIB_ORDER_H
#define GSIM_POLICIES_LIB_ORDER_H

#include "policies/lib/queue.h"
#include "policies/lib/vacancy.h"
#include "policies/lib/usage.h"
#include "policies/lib/waiting.h"

enum gsim_order_kind {
    GSIM_ORDER_FIFO, /* the first job that finds no room holds up all jobs behind it */
    GSIM_ORDER_BACKFILL, /* it is passed over */
    GSIM_ORDER_EASY, /* it is passed by jobs that leave it the room that it will have, by limits */
    GSIM_ORDER_FAIRSHARE, /* as easy, in order of users' decayed usage */
    GSIM_ORDER_LAS, /* in order of attained service; jobs that are a quantum ahead give way */
};

/* A job's part, first in the per-job state. */
struct gsim_order_job {
    struct gsim_queue_link link;
    bool is_charged; /* for the GPUs that it holds */
    int64_t rank; /* lower goes first */
    uint64_t came; /* fairshare: its number in the order of arrival while it waits, else 0 */
};

/* Zeroed, then gsim_order_init, then the hooks. */
struct gsim_order {
    enum gsim_order_kind kind;
    int64_t quantum_ns; /* of las */
    struct gsim_waiting line; /* in place of the queue where the policy has `most` */
    struct gsim_usage usage; /* of fairshare */
    uint64_t n_came; /* of fairshare: the last number that a job has got */
    /* the job that has a reservation in this decide: easy and fairshare */
    gsim_slot head;
    int64_t reserved_ns;
    bool head_is_whole;
    bool wants_few_nodes; /* placement=consolidate */
    struct gsim_vacancy room;
    /* Places a job. false: there is no room. */
    bool (*place)(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot);
    bool (*wants_whole)(const struct gsim_ctx *ctx, gsim_slot slot);
    /* The most memory of jobs that may find room among those of as many GPUs, as in
     * gsim_waiting_rule, by the jobs that were tried in this decide; `of` is the context. It
     * serves backfill and easy, where no job is ever met out of the order of arrival. NULL: each
     * job is tried. */
    int64_t (*most)(const void *of, const struct gsim_waiting_row *row);
    bool keeps_queue; /* jobs in rows stand in the queue as well, which the policy walks */
    /* As in gsim_vacancy_search. */
    bool (*holds)(const struct gsim_ctx *ctx, const struct gsim_vacancy_gpu *room, uint32_t gpu,
                  gsim_slot slot);
    /* Forgets what the policy has noted of a job on a GPU, which was stopped; NULL: nothing. */
    void (*forget)(struct gsim_ctx *ctx, gsim_slot slot);
    /* The policy notes more than a plan's rollback takes back when it places a job on whole GPUs:
     * such a job passes the head only if it is over by then. */
    bool places_for_good;
};

#define GSIM_QUEUE_HELP                                                                            \
    "a job that finds no room holds up the jobs behind it; or is passed over; or (easy) is "       \
    "passed "                                                                                      \
    "by jobs that leave it the room that it will have by limit_s; fairshare: so in order of "      \
    "users'"                                                                                       \
    " decayed usage"
#define GSIM_QUEUE_HALF_LIFE_HELP "queue=fairshare: half-life of past usage, as fairshare's"
/* Parameters of policies with this order. */
#define GSIM_QUEUE_PARAM_WITHOUT_LAS(by_default)                                                   \
    {.name = "queue",                                                                              \
     .type = GSIM_PARAM_CHOICE,                                                                    \
     .fallback = (by_default),                                                                     \
     .choices = "fifo|backfill|easy|fairshare",                                                    \
     .help = GSIM_QUEUE_HELP},                                                                     \
    {                                                                                              \
        .name = "queue_half_life", .type = GSIM_PARAM_TIME, .fallback = "7d", .min = 1,            \
        .max = INT64_MAX, .help = GSIM_QUEUE_HALF_LIFE_HELP                                        \
    }
#define GSIM_QUEUE_PARAM                                                                           \
    {.name = "queue",                                                                              \
     .type = GSIM_PARAM_CHOICE,                                                                    \
     .fallback = "fifo",                                                                           \
     .choices = "fifo|backfill|easy|fairshare|las",                                                \
     .help = GSIM_QUEUE_HELP                                                                       \
     "; las: in order of attained service, and jobs that are queue_quantum ahead are stopped"},    \
        {.name = "queue_half_life",                                                                \
         .type = GSIM_PARAM_TIME,                                                                  \
         .fallback = "7d",                                                                         \
         .min = 1,                                                                                 \
         .max = INT64_MAX,                                                                         \
         .help = GSIM_QUEUE_HALF_LIFE_HELP},                                                       \
    {                                                                                              \
        .name = "queue_quantum", .type = GSIM_PARAM_TIME, .fallback = "3250s", .min = 1,           \
        .max = INT64_MAX,                                                                          \
        .help = "queue=las: how far a running job may get ahead of a waiting one, as las's"        \
    }
/* Of policies that serve classes of jobs apart, and plan no reservation. */
#define GSIM_QUEUE_PARAM_OF_CLASSES(by_default)                                                    \
    {                                                                                              \
        .name = "queue", .type = GSIM_PARAM_CHOICE, .fallback = (by_default),                      \
        .choices = "fifo|backfill",                                                                \
        .help = "of each class: a job that finds no room holds up the jobs behind it; or is "      \
                "passed over"                                                                      \
    }
#define GSIM_QUEUE_ORACLE                                                                          \
    .is_oracle = true,                                                                             \
    .oracle_where = "with queue=easy or fairshare, where the trace has no limit_s"

/* Waiting jobs that found no room: a job that asks for no less in any way finds none either. */
struct gsim_order_misfit {
    uint32_t gpus; /* 0: none has failed */
    int64_t mem_bytes, cpus_milli;
};
bool gsim_order_is_misfit(const struct gsim_order_misfit misfits[2], const struct gsim_ctx *ctx,
                          gsim_slot slot);
/* Notes a job that found no room; jobs of one GPU and gangs are told apart. */
void gsim_order_note_misfit(struct gsim_order_misfit misfits[2], const struct gsim_ctx *ctx,
                            gsim_slot slot);

/* Reads the parameters, where the policy has them; a failure is in ctx->status. */
void gsim_order_init(struct gsim_order *order, struct gsim_ctx *ctx);
/* Begins a decide, before the policy looks at jobs that have left: jobs that were stopped wait
 * again. */
void gsim_order_begin(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx);
/* The job waits behind all that wait. */
void gsim_order_append(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx,
                       gsim_slot slot);
/* The first job to be served; GSIM_NO_SLOT: none waits. */
gsim_slot gsim_order_first(const struct gsim_order *order, const struct gsim_queue *queue);
/* Places waiting jobs. */
void gsim_order_serve(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx,
                      struct gsim_plan *plan);
/* Whether a job may have a place on this GPU, which is not kept for another one. */
bool gsim_order_allows(const struct gsim_order *order, const struct gsim_ctx *ctx, uint32_t gpu,
                       gsim_slot slot);

#endif
