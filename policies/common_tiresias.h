/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the policies around Tiresias share: the Gittins index of a history of service, the promotion
 * of starved jobs, and the loop of the public simulator's discretised policies. */
#ifndef GSIM_POLICIES_COMMON_TIRESIAS_H
#define GSIM_POLICIES_COMMON_TIRESIAS_H

#include "policies/common.h"

/* --- the Gittins index --------------------------------------------------------------------------
 */

/* Service of past jobs, in whole seconds (or GPU seconds), ascending. What is added waits beside
 * until it is worth sorting in. Zeroed at first. */
struct gsim_history {
    int64_t *sample;
    int64_t *sum; /* sum[i]: of the samples before i; n + 1 entries */
    int64_t *added;
    uint32_t n, n_added, capacity, added_capacity;
};

/* One number a line; a first line that is not a number is a header. */
enum gsim_status gsim_history_read(struct gsim_history *history, const char *path,
                                   struct gsim_arena *arena, struct gsim_log *log);
/* false: no memory. */
bool gsim_history_add(struct gsim_history *history, int64_t sample, struct gsim_arena *arena);
/* The textbook index of a job of that age: the chance to end within delta over the expected
 * service until then, in 2^-40 per second; 0 when no job of the past was older. delta GSIM_NEVER:
 * until it ends. */
int64_t gsim_gittins_index(const struct gsim_history *history, int64_t age, int64_t delta);
/* The same of a job whose index was asked for before: near is where its age and its next limit were
 * found then, or anything. */
int64_t gsim_gittins_index_near(const struct gsim_history *history, int64_t age, int64_t delta,
                                uint32_t near[2]);
/* The public simulator's index, in 10^-4 of its own unit, for every sample (a column of n): it
 * rounds the chance to five digits and the expected service, which counts a job's age again, down
 * to whole seconds. NULL: no memory. */
int64_t *gsim_gittins_public(const struct gsim_history *history, int64_t delta,
                             struct gsim_arena *arena);
/* The first sample above age; n when there is none. */
uint32_t gsim_history_above(const struct gsim_history *history, int64_t age);

/* --- promotion of starved jobs ------------------------------------------------------------------
 */

/* Ranks: the queue, then the order within it. Those that have started come by when they did; behind
 * them, by when they came into the queue, those that have not. */
#define GSIM_QUEUE_RANK (INT64_C(1) << 44)
#define GSIM_NOT_STARTED (INT64_C(1) << 43)

/* Of a job: what it has had since its last promotion, and its place in a queue. */
struct gsim_promotion_job {
    int64_t base_ns; /* attained when it was last promoted */
    int64_t waited_ns, since_ns; /* after it has run; up to since_ns, when it began to wait */
    int64_t order;
    bool is_counting; /* its waiting counts */
};

struct gsim_promotion {
    int64_t knob_ppm; /* after waiting so many times what it ran; 0: never */
    struct gsim_index due; /* waiting jobs by the time of their promotion */
    int64_t n_started, n_rounds; /* rounds: instants at which jobs were promoted */
};

void gsim_promotion_arrive(const struct gsim_promotion *promotion, struct gsim_promotion_job *job);
/* A job of another queue than the first begins to wait, or one of the first does. */
void gsim_promotion_wait(struct gsim_promotion *promotion, struct gsim_ctx *ctx, gsim_slot slot,
                         struct gsim_promotion_job *job, bool is_in_first);
void gsim_promotion_run(struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                        gsim_slot slot, struct gsim_promotion_job *job);
/* Takes a waiting job that is due; GSIM_NO_SLOT: none. */
gsim_slot gsim_promotion_take(struct gsim_promotion *promotion, const struct gsim_ctx *ctx);
/* Jobs that this plan has placed wait no more: nothing is to happen when the first of them were due. */
void gsim_promotion_forget_placed(struct gsim_promotion *promotion, const struct gsim_plan *plan);
/* A clean sheet: it is the last of those that wait in the first queue now. */
void gsim_promotion_promote(const struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_promotion_job *job);

/* --- the public simulator's loop (reference=tiresias) -------------------------------------------
 */

#define GSIM_DLAS_QUEUES 65 /* a list of limits has 64 at most */

/* What the loop keeps of a job; the start of the policy's per-job state. */
struct gsim_dlas_job {
    struct gsim_link link; /* while it waits */
    int64_t executed_ns, pending_ns; /* since its last promotion, up to since_ns */
    int64_t since_ns; /* when it last began to run or to wait */
    int64_t key; /* the order within a queue: by key, instant of arrival, position */
    int64_t position;
    uint32_t instant, arrival;
    uint32_t size; /* which of the gang sizes */
    uint8_t queue;
    bool is_running, is_over;
};

/* A queue: who runs, in the order in which they were chosen, who was demoted into it in this event,
 * and who waits, in a line for each gang size. */
struct gsim_dlas_queue {
    gsim_slot *running, *moved;
    uint32_t n_running, n_moved;
    struct gsim_queue *waiting; /* by size */
};

/* Settings first; the rest is the loop's own. Zeroed, settings filled, then gsim_dlas_open. */
struct gsim_dlas {
    const int64_t *limits; /* between queues, in seconds (or GPU seconds) */
    uint32_t n_queues; /* one more than limits */
    bool is_gpu_time;
    int64_t knob_ppm; /* promote after waiting so many times the service; 0: never */
    const struct gsim_history *history; /* NULL: least attained service */

    const int64_t *index; /* of the history's samples */
    struct gsim_dlas_queue queue[GSIM_DLAS_QUEUES];
    uint32_t *sizes; /* the gang sizes there are */
    uint32_t n_sizes, sizes_capacity;
    gsim_slot *chosen; /* scratch: who runs in a queue after this event */
    gsim_slot *preempted, *started; /* of one event */
    uint32_t n_preempted, n_started;
    struct gsim_index starving; /* waiting jobs by the time of their promotion */
    struct gsim_index promoted; /* in this event, by arrival */
    struct gsim_index ending; /* running jobs by the time of their end */
    gsim_slot *attached; /* jobs that ended with the next arrival when that was last looked at */
    uint32_t n_attached;
    int64_t arrived_ns; /* the last arrival */
    uint32_t n_arrived, n_instants;
    int64_t front, back; /* positions before and behind all waiting jobs */
    bool has_event, has_left;
};

enum gsim_status gsim_dlas_open(struct gsim_dlas *dlas, struct gsim_ctx *ctx);
void gsim_dlas_arrived(struct gsim_dlas *dlas, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_dlas_completed(struct gsim_dlas *dlas, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_dlas_woken(struct gsim_dlas *dlas);
void gsim_dlas_decide(struct gsim_dlas *dlas, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
