/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several policies share: the parameters that all cluster policies have, a queue in arrival
 * order, the pass over ranked queues, EASY's reservation, and the Tiresias simulator's pass. */
#ifndef GSIM_POLICIES_COMMON_H
#define GSIM_POLICIES_COMMON_H

#include "sim/api/policy.h"
#include "sim/base/index.h"

/* --- parameters ------------------------------------------------------------------------------- */

#define GSIM_PLACEMENT_PARAM_AS(by_default)                                                        \
    {                                                                                              \
        .name = "placement", .type = GSIM_PARAM_CHOICE, .fallback = (by_default),                  \
        .choices = "consolidate|any|spread|fullest|skew|affinity|random",                          \
        .help = "which GPUs a gang takes: fewest nodes, any free ones, one per node, whole nodes " \
                "without the remainder, fewest nodes where the model's skew asks for it, nodes "   \
                "of gangs of its size, or nodes at random"                                         \
    }
#define GSIM_PLACEMENT_PARAM GSIM_PLACEMENT_PARAM_AS("consolidate")

/* own: what the policy's source does, and why. */
#define GSIM_PREEMPT_PARAM_AS(own)                                                                 \
    {                                                                                              \
        .name = "preempt", .type = GSIM_PARAM_CHOICE, .fallback = "auto",                          \
        .choices = "auto|pause|suspend|restart|discard|checkpoint|paging",                         \
        .help = "how a running job gives way: auto is " own "; under memory= it is paging"         \
    }
#define GSIM_PREEMPT_PARAM_FREE                                                                    \
    GSIM_PREEMPT_PARAM_AS("restart, as in Tiresias, since theory, which preempts for free, names " \
                          "no way (for free: --device ideal)")

#define GSIM_MEMORY_PARAM_AS(by_default)                                                           \
    {                                                                                              \
        .name = "memory", .type = GSIM_PARAM_CHOICE, .fallback = (by_default),                     \
        .choices = "resident|uvm|lru|proactive",                                                   \
        .help = "whose memory is on a GPU: everybody's; what faults bring, out goes what came "    \
                "first; the same, out goes what was used longest ago; what the next one is "       \
                "predicted to use, moved at each switch"                                           \
    }
#define GSIM_MEMORY_PARAM GSIM_MEMORY_PARAM_AS("resident")

/* memory=: who moves it, on all GPUs from the start; a manager needs to know how much there is to
 * move. Where jobs have GPUs to themselves one may then have more memory than there is, and paused
 * ones leave theirs to be paged. */
enum gsim_status gsim_common_open_memory(struct gsim_ctx *ctx);
/* The same, in this way, lanes apart. */
enum gsim_status gsim_common_manage(struct gsim_ctx *ctx, const struct gsim_arrangement *how);
/* An idle GPU that was shared can be had whole again, its memory managed as before. */
bool gsim_common_make_whole(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu);

/* placement=, or what the reference simulator does. */
enum gsim_rule gsim_common_rule(const struct gsim_ctx *ctx);

struct gsim_preemption {
    enum gsim_stop stop;
    enum gsim_keep keep;
};
/* preempt=; own: what auto is where memory is not managed. */
struct gsim_preemption gsim_common_preemption(struct gsim_ctx *ctx, enum gsim_keep own);

/* GSIM_RULE_SKEW becomes what the job's model asks for; other rules stay. */
enum gsim_rule gsim_common_rule_of(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_rule rule);
bool gsim_common_place(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                       enum gsim_rule rule);
/* What shares of GPUs are counted in, in ppm: GPUs where the trace has no shares, else the largest part
 * in whole per cents that goes into all of them. */
int64_t gsim_common_share_unit(const struct gsim_trace *trace);
/* a * b for ranks; a product too large is the largest rank. */
int64_t gsim_common_times(int64_t a, int64_t b);
/* Into an index of jobs, ties by the trace's order; a lack of memory goes into the log. */
void gsim_common_insert(struct gsim_ctx *ctx, struct gsim_index *index, gsim_slot slot,
                        int64_t key);
void gsim_common_no_memory(struct gsim_ctx *ctx);
/* Sets the timer for the first of an index by time, or cancels it when there is none. *set_ns: what it
 * was set to last, GSIM_NEVER at first. */
void gsim_common_wake_first(struct gsim_plan *plan, const struct gsim_index *timed,
                            int64_t *set_ns);
/* Whether it could be placed. */
static inline bool gsim_common_waits(const struct gsim_view *view, gsim_slot slot) {
    enum gsim_state state = (enum gsim_state)view->state[slot];
    return state == GSIM_QUEUED || state == GSIM_PAUSED || state == GSIM_HELD;
}
/* Whether the trace says of any job how it uses its GPU: for how long an iteration, and how much. */
bool gsim_common_sees_use(const struct gsim_ctx *ctx);
/* Whether nothing at all could be placed: no idle GPU, and no share of one. */
bool gsim_common_is_full(const struct gsim_view *view);

/* --- a queue in arrival order ------------------------------------------------------------------
 */

/* Links of a job; the first member of the per-job state of policies that use the queue. */
struct gsim_link {
    gsim_slot before, after;
};

struct gsim_queue {
    gsim_slot first, last;
};

void gsim_queue_init(struct gsim_queue *queue);
void gsim_queue_append(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot);
/* Those that have come since the last decide; sparing a hook for each. */
void gsim_queue_append_arrived(struct gsim_queue *queue, const struct gsim_ctx *ctx);
/* before: one of the queue, or GSIM_NO_SLOT for its end. */
void gsim_queue_insert(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot before,
                       gsim_slot slot);
void gsim_queue_remove(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot);
static inline gsim_slot gsim_queue_before(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ((const struct gsim_link *)gsim_job_state(ctx, slot))->before;
}
static inline gsim_slot gsim_queue_after(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ((const struct gsim_link *)gsim_job_state(ctx, slot))->after;
}

/* A queue that is served in order of arrival; what does not fit blocks it (strict) or is passed
 * over. For policies whose state is nothing else, the hook is ready made. */
struct gsim_line {
    struct gsim_queue queue;
    enum gsim_rule rule;
    bool is_strict;
    uint32_t n_repairs; /* that it knows of */
};

void gsim_line_init(struct gsim_line *line, const struct gsim_ctx *ctx, bool is_strict);
void gsim_line_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

/* Remembers the smallest whole gang that did not fit in a pass: as long as only the number of GPUs
 * matters, nothing at least as large can fit either. */
struct gsim_misfits {
    uint32_t smallest;
    bool is_size_all; /* nothing but whole GPUs can be missing, and all are placed by one rule */
};
/* keeps_paused: paused jobs may leave their memory on GPUs. */
struct gsim_misfits gsim_misfits_none(const struct gsim_view *view, enum gsim_rule rule,
                                      bool keeps_paused);
/* Whether the job is known not to fit, without asking the plan: in a pool two comparisons tell. */
static inline bool gsim_misfits_has(const struct gsim_misfits *misfits,
                                    const struct gsim_view *view, gsim_slot slot) {
    if (!view->is_pool)
        return misfits->is_size_all && view->gpus[slot] >= misfits->smallest;
    return (int64_t)view->gpus[slot] * view->share_ppm[slot] > view->pool_free_ppm ||
           gsim_trace_get(view->trace, GSIM_COL_CPUS_MILLI, view->job[slot]) >
               view->pool_free_cpus_milli;
}
/* Places the job unless it is known not to fit. */
bool gsim_misfits_place(struct gsim_misfits *misfits, const struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot, enum gsim_rule rule);

/* --- service ------------------------------------------------------------------------------------
 */

/* Attained service: the time that a job has had its GPUs to run on (for GPU time, times their number);
 * waits for pages there count, and transitions do not. */
int64_t gsim_common_served_ns(const struct gsim_ctx *ctx, gsim_slot slot);

/* Amounts of service at which jobs are to be looked at. Policies say them again whenever a job
 * settles. */
struct gsim_limits {
    struct gsim_index reached; /* whom the watch told of, or who is past its limit already */
};
void gsim_limits_init(struct gsim_limits *limits, struct gsim_ctx *ctx);
void gsim_limits_set(struct gsim_limits *limits, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot, int64_t served_ns);
void gsim_limits_forget(struct gsim_limits *limits, gsim_slot slot);
void gsim_limits_watched(struct gsim_limits *limits, struct gsim_ctx *ctx, gsim_slot slot);
/* Takes one that is at its limit; GSIM_NO_SLOT: none. */
gsim_slot gsim_limits_take(struct gsim_limits *limits);

/* --- units that a plan gave ---------------------------------------------------------------------
 */

/* What a job was given, noted before the plan is rolled back. */
struct gsim_taken {
    struct gsim_unit *units;
    uint32_t n, capacity;
};
/* Room for so many units; false: no memory. */
bool gsim_taken_reserve(struct gsim_taken *taken, struct gsim_ctx *ctx, uint32_t n);
/* false: none (a pool), or no memory. */
bool gsim_taken_note(struct gsim_taken *taken, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                     gsim_slot slot);
/* Whether the job has one of these units in the plan's picture. */
bool gsim_taken_overlaps(const struct gsim_taken *taken, const struct gsim_plan *plan,
                         gsim_slot slot);

/* --- ranked, preemptive scheduling --------------------------------------------------------------
 */

/* A running job's rank moves with time: rank = (key + slope_sign * now) * weight. Jobs of one
 * weight keep their order while they run, so there is one ordered index a weight. Where GPUs page,
 * ranks that fall do so at any speed: a key is then the rank / weight when it was last asked for, and
 * no rank is above that. */
struct gsim_rank_group {
    int64_t weight;
    struct gsim_index running; /* by key */
};

/* Waiting jobs by rank (smaller goes first), running jobs in groups. The policy says what a job's
 * rank is made of; the pass does the rest. */
struct gsim_ranked {
    struct gsim_index waiting; /* key: rank */
    struct gsim_rank_group *group;
    uint32_t n_groups, groups_capacity;
    int slope_sign; /* -1: ranks of running jobs fall with time, +1: they rise */
    int64_t slack_rank; /* a victim's rank exceeds the waiting job's by more than this */
    bool breaks_ties; /* of equal ranks the later job is a victim too */
    enum gsim_rule rule;
    struct gsim_preemption preemption;
    bool is_preemptive;
    int64_t decided_ns; /* time of the last decide */
    uint32_t n_repairs; /* that it knows of */
    bool needs_full_pass; /* capacity was freed, or ranks of waiting jobs may have been passed */
    int64_t (*value)(const struct gsim_ctx *ctx, gsim_slot slot); /* rank / weight, now */
    int64_t (*weight)(const struct gsim_ctx *ctx, gsim_slot slot); /* 1 for most */
    gsim_slot *victims;
    uint32_t n_victims, victims_capacity;
    struct gsim_taken taken;
};

/* The rank of a running or waiting job has changed by itself. */
void gsim_ranked_changed(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot);
/* Ranks of running jobs have changed in a way of their own; is_all: those of waiting ones too. To be
 * called when nothing but what has settled or arrived since is unbooked. */
void gsim_ranked_rerank(struct gsim_ranked *ranked, struct gsim_ctx *ctx, bool is_all);
void gsim_ranked_init(struct gsim_ranked *ranked, const struct gsim_ctx *ctx);
/* Hooks to be called from the policy's own. */
void gsim_ranked_completed(struct gsim_ranked *ranked, gsim_slot slot);
/* Books what changed, then places waiting jobs in order of rank, preempting worse ones. */
void gsim_ranked_decide(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan);

/* --- slices of time -----------------------------------------------------------------------------
 */

/* Jobs run for a slice, counted from the end of their copy-in; afterwards they give way to jobs
 * that wait, longest slice first, and run on while none does. Jobs that wait are served in the order
 * of a rank; one that does not fit, not even by force, is passed over, but by patience= not for ever.
 * Before the first pushes out a job that is due, that job gives way to one whose memory lies there, if
 * that is worth it.
 * Zeroed, settings filled, then gsim_slices_init. */
struct gsim_victim {
    gsim_slot slot;
    struct gsim_preemption way;
};

#define GSIM_PATIENCE_PARAM_AS(by_default)                                                         \
    {                                                                                              \
        .name = "patience", .type = GSIM_PARAM_INT, .fallback = (by_default), .max = 1000000,      \
        .help = "slices for which one that waits is passed by others that fit; then nobody "       \
                "passes it until it has its GPUs. 0: always passed, so that wide gangs may starve" \
    }

/* common_homes.c: waiting jobs whose memory lies on one node, by node. */
#define GSIM_NO_NODE UINT32_MAX
struct gsim_home {
    gsim_slot before, after;
    uint32_t node;
    bool is_in;
};
struct gsim_homes {
    struct gsim_arena *arena;
    gsim_slot *first; /* by node */
    struct gsim_home *of; /* by slot */
    uint32_t capacity;
    uint64_t *tried, n_tries; /* by node: when it was looked at last */
};
void gsim_homes_init(struct gsim_homes *homes, struct gsim_ctx *ctx);
void gsim_homes_add(struct gsim_homes *homes, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_homes_remove(struct gsim_homes *homes, gsim_slot slot);
/* Of those at home on the node the first in line; GSIM_NO_SLOT: none. */
gsim_slot gsim_homes_best(const struct gsim_homes *homes, const struct gsim_index *waiting,
                          uint32_t node);
/* The one node that a job has all its units on; else GSIM_NO_NODE. */
uint32_t gsim_homes_node(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot);
/* How much sooner it is back at home than elsewhere, by quotes. */
int64_t gsim_homes_saves_ns(const struct gsim_ctx *ctx, gsim_slot slot);
/* The one node where the memory of a waiting job lies, if bringing it to another takes time; else
 * GSIM_NO_NODE. */
uint32_t gsim_homes_of(const struct gsim_ctx *ctx, gsim_slot slot);
/* How much longer it takes to bring the job to these units than to where its memory lies. */
int64_t gsim_homes_extra_ns(const struct gsim_ctx *ctx, gsim_slot slot,
                            const struct gsim_unit *units, uint32_t n_units);

struct gsim_slices {
    int64_t slice_ns;
    int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot); /* when it begins to wait */
    /* Whether the victim, whose slice is over, gives way to this one; NULL: always. */
    bool (*yields)(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot victim,
                   gsim_slot slot);
    struct gsim_preemption preemption; /* how they do, unless the policy chooses each time: */
    struct gsim_preemption (*way)(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                                  gsim_slot victim, gsim_slot slot);
    /* Told what was placed last, and where the plan stood before; may undo that to place it with
     * others. NULL: nothing to do. */
    void (*placed)(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t mark);

    /* What so much time of its GPUs is worth in ranks: by so much a job that saves it by going home may
     * be behind the first in line. NULL: no job goes before the first. */
    int64_t (*worth)(const struct gsim_ctx *ctx, gsim_slot slot, int64_t saved_ns);
    /* Whether the victim, whose slice is over by then, will give way to this one. If set, a job waits for
     * the GPUs of its home while that takes no longer than its memory would on the network: for that
     * time in all, and only if jobs there are to give way within it. NULL: no job does. */
    bool (*will_yield)(const struct gsim_ctx *ctx, gsim_slot victim, gsim_slot slot,
                       int64_t then_ns);

    enum gsim_rule rule; /* placement=, set by init */
    int64_t patience; /* patience=: slices after which no job passes one that waits; 0: never */
    struct gsim_homes homes;
    uint32_t only_node; /* whose jobs may be pushed out now, if set */
    struct gsim_index waiting; /* by rank */
    struct gsim_index running; /* by when the slice began */
    uint32_t mark; /* where the plan stood before the last placement */
    struct gsim_victim *victims;
    uint32_t n_victims, victims_capacity;
    struct gsim_taken taken;
};
void gsim_slices_init(struct gsim_slices *slices, struct gsim_ctx *ctx);
void gsim_slices_completed(struct gsim_slices *slices, gsim_slot slot);
/* Books what changed; then the policy may act, then the slices decide. */
void gsim_slices_book(struct gsim_slices *slices, struct gsim_ctx *ctx);
void gsim_slices_decide(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan);
/* When it is due to give way, GSIM_NEVER when it does not run. */
int64_t gsim_slices_end_ns(const struct gsim_slices *slices, gsim_slot slot);

/* --- EASY backfilling
 * ----------------------------------------------------------------------------- */

/* Places waiting jobs in an order: strictly until one does not fit; that one gets a reservation at
 * the earliest time at which running jobs' limits make room for it; later jobs start only if it can
 * still start then. One that would not fit if all ended has none, and the next is the head. Zeroed,
 * then gsim_easy_init. */
struct gsim_easy_placed;
struct gsim_easy {
    enum gsim_rule rule;
    struct gsim_index ending; /* running jobs by latest end */
    struct gsim_index coming; /* those on their way to their GPUs, by limit */
    bool kills, is_booked; /* kill=; whether these two are kept */
    gsim_slot *order; /* waiting jobs, first to last */
    bool *is_placed; /* after the pass */
    uint32_t n, capacity;
    struct gsim_easy_placed *placed; /* in this pass, with their units */
    struct gsim_unit *units;
    uint32_t n_placed, n_units, units_capacity;
};
/* plans: by limits; says once that true durations stand in for them, if they do. Reads kill=. */
enum gsim_status gsim_easy_init(struct gsim_easy *easy, struct gsim_ctx *ctx, const char *policy,
                                bool plans);
/* limit_s, or the time that the job takes where it is, where the trace gives none: then the policy is
 * an oracle. */
int64_t gsim_easy_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot);
/* Books jobs that began to run, that were placed by the plan under way, and that are gone. */
void gsim_easy_settled(struct gsim_easy *easy, struct gsim_ctx *ctx);
void gsim_easy_started(struct gsim_easy *easy, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot);
/* kill=on: ends those that are at their limit; sets the timer for the next, last in a decide. */
void gsim_easy_kill(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan);
void gsim_easy_wake(const struct gsim_easy *easy, const struct gsim_ctx *ctx,
                    struct gsim_plan *plan);
#define GSIM_KILL_PARAM                                                                            \
    {                                                                                              \
        .name = "kill", .type = GSIM_PARAM_BOOL, .fallback = "off",                                \
        .help = "jobs end when they have run for their limit_s, as Slurm has it; off: nobody is "  \
                "stopped, since a trace says how long jobs ran"                                    \
    }
/* A new order of n jobs at most, none of them placed. false: no memory, and the log says so. */
bool gsim_easy_begin(struct gsim_easy *easy, const struct gsim_ctx *ctx, uint32_t n);
void gsim_easy_add(struct gsim_easy *easy, gsim_slot slot);
void gsim_easy_pass(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan);

/* --- the Tiresias simulator's pass (reference=tiresias)
 * ------------------------------------------- */

/* Stable-sorts the runnable list by rank, frees everything, allocates greedily with skip by count
 * alone; jobs that were running and are chosen again are left alone. The list keeps its order
 * from event to event, new jobs are appended. */
struct gsim_tiresias {
    gsim_slot *runnable;
    uint32_t n, capacity;
    int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot);
};
void gsim_tiresias_decide(struct gsim_tiresias *tiresias, struct gsim_ctx *ctx,
                          struct gsim_plan *plan);

/* --- policies that rank jobs by what they know of them
 * ---------------------------------------------- */

/* The whole state of sjf, srtf and srsf: their ranks are all that differs. The hooks are ready
 * made; open sets the ranks. */
struct gsim_ranking {
    struct gsim_ranked ranked;
    struct gsim_tiresias tiresias;
    int64_t share_unit; /* of srsf: what GPUs are counted in, in ppm */
};
void gsim_ranking_on_completion(struct gsim_ctx *ctx, gsim_slot slot);
void gsim_ranking_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

/* How urgent a job is: class realtime before all others, then the column `priority`. */
int32_t gsim_common_urgency(const struct gsim_ctx *ctx, gsim_slot slot);

/* --- sharing GPUs ------------------------------------------------------------------------------ */

/* Jobs of one GPU share GPUs that are arranged in one way; gangs have whole GPUs to themselves.
 * Strictly in order of arrival: each job goes to the GPU with the fewest jobs that has room. */
struct gsim_sharing {
    struct gsim_queue queue;
    struct gsim_lane lane; /* of the GPUs that are shared */
    struct gsim_arrangement how; /* they share, but for lanes and entries */
    enum gsim_rule rule;
    /* Class realtime, whose requests run to their end, and all others: column `priority` does not
     * matter. */
    bool has_two_levels;
    /* Where every job has a lane of its own: arranges the GPU for this one too. NULL: all are in
     * the one lane. */
    bool (*arrange)(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit);
    /* Sets what of the lane goes by who is on a GPU: so many jobs, with so much memory. NULL: nothing
     * does. */
    void (*adapt)(const struct gsim_ctx *ctx, struct gsim_lane *lane, uint32_t n_jobs,
                  bool is_oversubscribed);
    /* Whether the job may share this GPU; NULL: always. */
    bool (*accepts)(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot);
    /* The GPU where this is least is taken; NULL: the number of jobs there. */
    int64_t (*load)(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot);
};

/* A job's part of it, first in the per-job state. */
struct gsim_sharing_job {
    struct gsim_link link;
    uint32_t gpu; /* where it shares, + 1; 0: it does not */
};

void gsim_sharing_init(struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                       const struct gsim_lane *lane);
/* memory=, as gsim_common_open_memory, with what else the arrangement says of it. */
enum gsim_status gsim_sharing_set_memory(struct gsim_sharing *sharing, struct gsim_ctx *ctx);
/* quantum=, or slice=, as GSIM_QUANTUM_... or a time. */
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

/* GPUs that the last sharer has left can be had whole again; before anything is placed. */
void gsim_sharing_give_back(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                            struct gsim_plan *plan);
/* What this entry says of a job that is on a GPU or about to be. */
bool gsim_sharing_say(const struct gsim_sharing *sharing, struct gsim_plan *plan, uint32_t gpu,
                      const struct gsim_entry *entry);
/* Places a job of one GPU; false: there is no room. */
bool gsim_sharing_share(const struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot);
/* Hooks of policies whose state is nothing else. */
void gsim_sharing_on_arrival(struct gsim_ctx *ctx, gsim_slot slot);
void gsim_sharing_on_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
