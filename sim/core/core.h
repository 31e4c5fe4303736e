/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of one run, shared by the files of the core only. */
#ifndef GSIM_CORE_CORE_H
#define GSIM_CORE_CORE_H

#include "sim/base/eventq.h"
#include "sim/base/rng.h"
#include "sim/core/cluster.h"
#include "sim/core/node_counts.h"
#include "sim/core/node_sets.h"
#include "sim/core/ran_on.h"
#include "gsim/run.h"
#include "sim/api/compat.h"
#include "sim/core/stats.h"
#include "sim/base/hints.h"

#define GSIM_MAX_ROUNDS 1000u /* decides at one instant before the run counts as a live-lock */
#define GSIM_UNIT_CLASSES 21 /* gangs up to 2^20 units */

/* The core's record of an active job beside the view's columns. */
struct gsim_core_job {
    struct gsim_unit *next_units; /* of a move: the units where the job goes after it has stopped */
    uint32_t n_next_units;
    /* GPUs that the job asked for, did not get, and does not need for its rate */
    uint32_t ignored_gpus;
    uint8_t keep; /* enum gsim_keep of its last preemption */
    bool is_admitted; /* holds its units physically */
    bool came_new; /* was last admitted with no state to bring */
    bool is_sharing; /* was admitted to units that are arranged */
    bool is_wanting; /* waits for GPUs, and is counted in gsim_wanting */
    bool is_waiting; /* placed, waits for its units to clear */
    bool is_vacating; /* stopping or saving: its units are reserved by others, but not clear */
    bool is_pinned; /* paused: its memory stays on left_units */
    /* its memory is on the hosts of left_units, or on its way there or back */
    bool is_hosted;
    bool is_host_short; /* waits, and was refused a GPU because its host had no room */
    bool is_ending; /* the job is done as soon as it is off its units */
    bool is_declined; /* it then has no end in the result */
    bool has_left; /* the model has completed the job */
    bool is_resized; /* is on another number of GPUs than it asks for (widths.c) */
    bool was_resized; /* has an entry of widths.c */
    bool was_discarded; /* since the last heartbeat, a stop took what it had done */
    int64_t discarded_ns; /* the most work that a stop has taken from it */
    int64_t wait_ns, stall_ns;
    int64_t ran_ns; /* time on its GPUs, including waits for pages there */
    gsim_work held; /* GPU time of its stays (held.c) */
    int64_t undone_ns; /* work that it had done when a stop or a failure took work from it */
    /* Fields above are zeroed when a slot is reused; fields below are assigned before use. */
    int64_t last_ns; /* time up to which wait, stall and run times are counted */
    int64_t held_since_ns;
    int64_t came_ran_ns, came_done_ns; /* ran_ns, and the work done, when its stay began */
    uint32_t wait_next, wait_before; /* in the list of waiting jobs */
    uint64_t wait_nth; /* counts jobs that came to wait */
    bool waits_alone; /* for whole GPUs */
    struct gsim_request request;
    gsim_i128 crowd_before; /* jobs in the system, summed over the time until its arrival */
};

/* What a job did on another number of GPUs than it asks for. */
struct gsim_resized {
    int64_t work_ns;
    gsim_i128 gpu_ppm_ns; /* the time that this took, times the share of GPUs held */
    int64_t began_ns; /* the job's work when it came to where it is */
    int64_t booked_ns; /* its work, and its time on GPUs, up to which this is booked */
    int64_t ran_ns;
};

/* The active jobs: columns by slot, and the slots not in use. */
struct gsim_jobs {
    uint32_t capacity;
    uint32_t n_free;
    gsim_slot *free_list;
    gsim_slot *active;
    uint32_t *active_at; /* by slot: the slot's index in `active` */
    uint32_t *job;
    int64_t *submit_ns;
    uint32_t *gpus;
    uint32_t *share_ppm;
    uint8_t *state;
    int64_t *changed_ns;
    int64_t *service_ns;
    int64_t *foreseen_ns; /* durations as policies see them; NULL: the true ones */
    struct gsim_job *info; /* for the model */
    struct gsim_core_job *core;
};

/* A list of slots, or of GPUs. */
struct gsim_slots {
    gsim_slot *list;
    uint32_t n, capacity;
};

/* Lists of units for reuse, all of one size. */
struct gsim_free_units {
    struct gsim_unit **list;
    uint32_t n, capacity; /* capacity: lists of this size in existence */
};

enum gsim_op_kind {
    GSIM_OP_PLACE,
    GSIM_OP_PREEMPT,
    GSIM_OP_MOVE,
    GSIM_OP_END,
    GSIM_OP_SUPPOSE,
    GSIM_OP_ARRANGE,
    GSIM_OP_PARTITION,
    GSIM_OP_BATCH,
    GSIM_OP_WATCH,
    GSIM_OP_WAKE,
};

struct gsim_op {
    uint8_t kind, stop, keep, watch;
    bool was_pinned, was_hosted;
    uint16_t part; /* of a timer: the part of the cluster with the policy that sets it */
    uint8_t *was_arranged, *was_memory, *was_split,
        *was_paired; /* by unit, in the plan's scratch */
    uint32_t *was_limit;
    gsim_slot slot;
    uint32_t n_units;
    struct gsim_unit *units; /* of a move: the target; of an arrangement: the units arranged */
    int64_t value; /* threshold, time or bound */
    struct gsim_batch batch;
    const struct gsim_arrangement *arrangement;
    const char *layout; /* of a partition */
    const struct gsim_instances *was_cut; /* instances before the partition */
};

/* The transaction. Reservations are made while verbs are called, so a later verb sees them; the
 * list of operations is applied at the end, or undone from its end. */
struct gsim_plan {
    struct gsim_core *core;
    struct gsim_op *ops;
    uint32_t n, capacity;
    /* by slot: the operation (index + 1) of this plan that moves the job, or 0 */
    uint32_t *touched;
    struct gsim_arena *scratch; /* copies of arrangements; lives for one decide */
    bool is_broken;
    uint32_t n_supposed; /* operations that are questions */
};

/* GPU time in which no job computes. */
struct gsim_unused {
    gsim_i128 fragmented_ns; /* idle on nodes that are partly in use */
    gsim_i128 wanted_ns; /* idle while a waiting job asks for no more GPUs than are idle */
};

/* Results under way, in trace order, and the sums of the summary. */
struct gsim_metrics {
    int64_t *start_ns, *end_ns, *wait_ns;
    int64_t *held_ns; /* GPU time held, 0 while the job is there */
    int64_t *stall_ns, *bytes_in, *bytes_out, *faults; /* NULL: all zero so far */
    uint8_t *declined; /* likewise */
    uint32_t *preemptions, *migrations;
    uint32_t n_completed;
    uint32_t n_declined; /* ended by a policy that declined them: they have no end in the result */
    gsim_i128 ended_wait_ns; /* summed over jobs that ended */
    int64_t n_events;
    gsim_i128 busy_ppm_ns; /* in a pool: GPU time held, times the share */
    int64_t *gpu_busy_ns; /* by GPU: time held whole */
    gsim_i128 *gpu_busy_ppm_ns; /* by GPU: time held in part, times the share */
    gsim_work *gpu_still; /* by GPU, of a pool its first: held without kernels (held.c) */
    unsigned keeps; /* bits of enum gsim_keep: of preemptions so far */
    int64_t n_preemptions, n_migrations, n_faults, n_bytes_in, n_bytes_out;
    int64_t n_stall_ns; /* summed over jobs */
    int64_t n_host_waits; /* times a job began to wait for room on a host */
    gsim_i128 host_wait_ns; /* time in which some job did */
    int64_t n_bytes_stored; /* of stopped jobs, where their hosts had no room */
    gsim_i128 work_ppm_ns; /* service done, times GPUs and share */
    gsim_i128 gap_ppm_ns; /* part of the service in which the GPU has nothing to run */
    bool has_gaps; /* the trace describes the iterations of jobs */
    bool has_requests;
    gsim_i128 switch_ns; /* GPU time in transitions */
    int64_t n_node_failures, n_restarts, n_killed;
    gsim_i128 lost_ppm_ns; /* work lost to failures, times GPUs and share */
    struct gsim_unused unused; /* since the first submission */
    struct gsim_unused unused_at_end; /* `unused` at last_end_ns, for the reported shares */
    int64_t first_submit_ns, last_submit_ns, last_end_ns;
};

/* An arranged GPU, of which the jobs on it have parts (held.c). */
struct gsim_shared_gpu {
    uint32_t n_jobs; /* admitted */
    uint64_t weight_ppm; /* by which its time is divided, summed over them */
    int64_t since_ns; /* the time up to which it is divided */
    /* what a job that had been there all the time, with a weight of 1, would have, in 2^-52 ns */
    gsim_i128 each_q52;
};

/* The number of jobs in the system, and the ratio of a job's completion time to that on a fair
 * share. */
struct gsim_crowd {
    gsim_i128 area; /* jobs, summed over the time until now */
    double gpus; /* GPUs of the cluster */
    uint32_t n;
    uint32_t n_rho; /* of jobs with work that ended */
    double rho_sum; /* in the order of ends */
    struct gsim_tail rho;
};

/* Heartbeats: instants until the next one or, where all jobs have come and no node fails, stops for
 * each active job that discard what a job has done. */
enum { GSIM_HEARTBEAT_EVERY = 1 << 18, GSIM_HEARTBEAT_DISCARDS = 1 << 10 };

/* The state of progress at the last heartbeat. */
struct gsim_heartbeat {
    gsim_i128 served_ns; /* of active jobs: the most that each has got to */
    int64_t now_ns;
    uint32_t next_arrival, n_completed;
};

/* Jobs that wait for GPUs, by gang size; not kept for a pool. */
struct gsim_wanting {
    uint32_t *n_jobs; /* by gang size */
    struct gsim_bitset sizes; /* gang sizes with waiting jobs */
    uint32_t n; /* waiting jobs of all sizes */
    uint32_t n_host_short; /* of these, jobs that a host has no room for */
};

/* Failures of nodes; empty when no node fails. */
/* Time for which a node was down since the first submission. The last end of a job is not known
 * before the run is over, and nodes fail after it: both sums are kept. */
struct gsim_outage {
    int64_t since_ns; /* the last failure or repair */
    int64_t before_ns; /* down until then */
    int64_t at_end_ns; /* down until the last end of a job, if it was before that */
};

struct gsim_failures {
    struct gsim_eventq queue; /* by node: time of its next failure or repair */
    gsl_rng **rng; /* by node */
    uint32_t n_rng;
    struct gsim_outage *outages; /* by node; NULL: none fails */
    uint32_t widest; /* GPUs of the largest node */
    uint32_t *in_vain; /* by job: failures since its kept work last grew */
    int64_t *kept_ns; /* by job of the trace: work kept at its last failure */
    int64_t *most_ns; /* by job: the most work that one of these failures took */
    struct gsim_slots hit; /* jobs of the node that fails */
};

/* GPUs under one policy, and the jobs that go there. */
struct gsim_domain {
    const struct gsim_ctx *ctx;
    const struct gsim_trace *trace;
    uint32_t first_gpu, n_gpus, first_group, n_groups;
    /* memory of a job's context beside its own memory; 0: contexts are not counted */
    int64_t context_bytes;
    /* largest memory that a job can have on a GPU, where contexts are counted */
    int64_t largest_bytes;
};

/* What a policy calls its first GPU and node, 0, is this GPU and node of the cluster, and it has
 * this number of GPUs. */
struct gsim_here {
    uint32_t first_gpu, first_node, n_gpus;
};

struct gsim_parts; /* parts.h */

/* GPUs without a job, and those of them on nodes of which no GPU has one. */
struct gsim_idle {
    uint32_t n, n_whole;
};

struct gsim_core {
    const struct gsim_run_options *options;
    const struct gsim_trace *trace;
    struct gsim_node_sets node_sets;
    struct gsim_node_counts node_counts;
    struct gsim_ran_on ran_on;
    uint32_t *nth_of; /* view.jobs.nth_of; with loops, of the jobs that have been submitted */
    struct gsim_trace seen; /* the trace as policies see it */
    const struct gsim_compat *compat; /* of options->reference */
    const struct gsim_policy *policy;
    struct gsim_arena *arena;
    struct gsim_log *log;
    const struct gsim_model_ops *ops;
    const struct gsim_observer *observer; /* the first observer; usually NULL */
    struct gsim_model *model;
    struct gsim_team *team; /* of the model; NULL: it has one thread */
    struct gsim_cluster cluster;
    struct gsim_jobs jobs;
    struct gsim_view view;
    struct gsim_ctx ctx;
    struct gsim_parts *parts; /* with policies of their own; NULL: the run has one policy */
    struct gsim_plan plan;
    struct gsim_metrics metrics;
    struct gsim_crowd crowd;
    struct gsim_wanting wanting;
    struct gsim_failures failures;
    struct gsim_events events;
    struct gsim_slots arrived, completed, settled;
    struct gsim_domain domain; /* all of the cluster, under the run's policy */
    struct gsim_here here;
    uint32_t next_arrival; /* position in arrival order */
    uint32_t n_open; /* jobs that arrive without another one's end: the first in that order */
    int64_t arrival_ns; /* time of that arrival */
    int64_t model_ns; /* time of the model's next event */
    struct gsim_heartbeat heartbeat;
    uint32_t beat_nth, n_discards; /* the instant of the last heartbeat; such stops since then */
    int64_t timer_ns;
    struct gsim_loops *loops; /* jobs that come after others; NULL: the trace has none */
    const int64_t *file_submit_ns; /* with loops: submissions as the trace's file has them */
    struct gsim_watches *watches; /* of the time that jobs have run; NULL: none was set */
    struct gsim_resized *resized; /* by slot, of the first n_resized slots (widths.c) */
    uint32_t n_resized;
    int64_t watch_ns; /* time of the next watch */
    /* Verbs note their job there, for a watcher of the policy; own_at_hand: there is none. */
    volatile gsim_slot *at_hand;
    gsim_slot own_at_hand;
    bool has_changed; /* since the last decide something changed that a policy can see */
    /* By GPU: shares that stopping and saving jobs still hold, and shares reserved by jobs that
     * wait for these to clear. */
    uint32_t *vacating_ppm;
    uint32_t *waiting_ppm;
    uint32_t *leaving_alone; /* by GPU: leaving jobs that did not share it */
    uint32_t waiting_first, waiting_last;
    uint32_t n_waiting, n_waiting_alone; /* all; those for whole GPUs */
    gsim_slot *waiter; /* by GPU: the job that waits for the whole of it */
    uint64_t n_waited;
    /* Until all that happens in the instant without the policy has been served, or all jobs of a
     * node that fails, no waiting job is admitted: the first that was placed has the room that all
     * leave together. */
    bool holds_admission;
    struct gsim_slots left_gpus; /* GPUs that jobs have left while others wait */
    bool must_look_at_all; /* a waiting job may be clear that no job's leaving has made clear */
    uint32_t n_vacating; /* jobs that still hold units which they gave up */
    struct gsim_bitset vacated; /* the GPUs of these units */
    /* Of them, those that no other job has reserved: in all, and by node, but for nodes in
     * cluster.unused_changed as they are. */
    struct gsim_idle vacated_idle, *node_vacated_idle;
    struct gsim_shared_gpu *shared_gpus; /* by GPU */
    struct gsim_free_units free_units[GSIM_UNIT_CLASSES];
    enum gsim_status status; /* the first failure */
};

/* jobs.c: slots and unit lists */
/* Numbers rows by submission, where their order is another one. */
enum gsim_status gsim_jobs_number(struct gsim_core *core);
bool gsim_jobs_open(struct gsim_core *core);
gsim_slot gsim_jobs_enter(struct gsim_core *core, uint32_t job); /* GSIM_NO_SLOT: no memory */
/* Submits the job of a failed slot again, with the work of its last checkpoint. */
gsim_slot gsim_jobs_reenter(struct gsim_core *core, gsim_slot failed);
/* Tells the policy and the observers about a job that has entered; false: no memory. */
bool gsim_jobs_announce(struct gsim_core *core, gsim_slot slot);
void gsim_jobs_leave(struct gsim_core *core, gsim_slot slot);
/* Memory of a job of the trace with its context; a job that fills the largest GPU is assumed to
 * have run there alone, and keeps fitting. */
int64_t gsim_jobs_with_context(const struct gsim_core *core, uint32_t job, int64_t bytes);
struct gsim_unit *gsim_units_new(struct gsim_core *core, uint32_t n);
struct gsim_unit *gsim_units_copy(struct gsim_core *core, const struct gsim_unit *units,
                                  uint32_t n);
/* The exponent of the power of two at or above n > 0. */
static inline uint32_t gsim_units_class(uint32_t n) {
    return 31u - (uint32_t)__builtin_clz(2 * n - 1);
}
static inline void gsim_units_free(struct gsim_core *core, struct gsim_unit *units, uint32_t n) {
    if (!units)
        return;
    struct gsim_free_units *free_units = &core->free_units[gsim_units_class(n)];
    free_units->list[free_units->n++] = units;
}
GSIM_COLD bool gsim_slots_grow(struct gsim_core *core, struct gsim_slots *slots);
/* false: no memory. */
static inline bool gsim_slots_add(struct gsim_core *core, struct gsim_slots *slots,
                                  gsim_slot slot) {
    if (gsim_rarely(slots->n == slots->capacity) && !gsim_slots_grow(core, slots))
        return false;
    slots->list[slots->n++] = slot;
    return true;
}

/* hosts.c: memory of stopped jobs on the hosts of their nodes */
static inline bool gsim_hosts_has(enum gsim_keep keep) {
    return keep == GSIM_KEEP_HOST || keep == GSIM_KEEP_IMAGE;
}
/* The way in which a stopped job is kept: SPILT or IMAGE_SPILT where `keep` names a host without
 * room. */
GSIM_APART enum gsim_keep gsim_hosts_choose(struct gsim_core *core, gsim_slot slot,
                                            enum gsim_keep keep);
static inline enum gsim_keep gsim_hosts_keep(struct gsim_core *core, gsim_slot slot,
                                             enum gsim_keep keep) {
    return gsim_hosts_has(keep) ? gsim_hosts_choose(core, slot, keep) : keep;
}
/* Bytes of the job's memory on each GPU, without the context of its process. */
int64_t gsim_hosts_bytes(const struct gsim_core *core, gsim_slot slot);
/* hold reserves host memory when a plan is made, so that later verbs see it as taken; release gives
 * it back when the job runs again, or never will. */
void gsim_hosts_hold(struct gsim_core *core, gsim_slot slot, enum gsim_keep keep);
GSIM_APART void gsim_hosts_give_back(struct gsim_core *core, gsim_slot slot);
static inline void gsim_hosts_release(struct gsim_core *core, gsim_slot slot) {
    if (gsim_rarely(core->jobs.core[slot].is_hosted))
        gsim_hosts_give_back(core, slot);
}
/* Notes that a waiting job was not placed: on these units, or by its shape (NULL). */
GSIM_APART void gsim_hosts_refuse(struct gsim_core *core, gsim_slot slot,
                                  const struct gsim_unit *units, uint32_t n_units);
/* The most memory that a node's host held; *is_assumed: a host that held memory has no limit from
 * the user, and its device is not ideal. */
int64_t gsim_hosts_peak(const struct gsim_core *core, bool *is_assumed);

/* states.c: effects of the model's events and of plans on the state of jobs */
GSIM_APART void gsim_job_move(struct gsim_core *core, gsim_slot slot, struct gsim_unit *units,
                              uint32_t n_units, enum gsim_stop stop, enum gsim_keep keep);
void gsim_job_place(struct gsim_core *core, gsim_slot slot);
/* Where jobs hold shares of a GPU, what the plan under way frees there last must not look free to a
 * job that it has placed there before, nor what it reserves there last look taken. All that leave
 * or come are announced, and each is no more when it does. */
void gsim_jobs_will_change(struct gsim_core *core, const struct gsim_op *ops, uint32_t n);
void gsim_job_changes_now(struct gsim_core *core, const struct gsim_op *op);
GSIM_APART void gsim_job_preempt(struct gsim_core *core, gsim_slot slot, enum gsim_stop stop,
                                 enum gsim_keep keep);
/* Ends a running or waiting job, with the rest of its work undone. */
void gsim_job_end(struct gsim_core *core, gsim_slot slot);
/* A node that fails holds units or memory of the job, which falls back to its last checkpoint. A
 * job that waits for GPUs, or is about to wait, waits on; a job that runs or is on its way to run
 * ends here and is submitted again, so that policies need to know nothing about failures. */
GSIM_APART void gsim_job_fail(struct gsim_core *core, gsim_slot slot);
void gsim_job_event(struct gsim_core *core, const struct gsim_event *event);
/* Admits those that have become clear while admission was held, in the order of placement. */
void gsim_jobs_admit_held(struct gsim_core *core);
/* Brings the job's wait, stall and held times up to now. */
void gsim_job_account(struct gsim_core *core, gsim_slot slot);

/* held.c: the GPU time that jobs hold */
/* For a job that serves requests: the GPU time of their kernels, whatever service its row has. A
 * job that was ended early has not served all of them. */
GSIM_APART int64_t gsim_served_ns(const struct gsim_trace *trace, uint32_t job, int64_t work_ns,
                                  bool has_served);
/* A stay begins, on units that are arranged or in a trace with requests. */
GSIM_APART void gsim_held_begin(struct gsim_core *core, gsim_slot slot);
/* Counts the time that an admitted job has held its units; called once, when it leaves them or is
 * cut off. */
void gsim_held_book(struct gsim_core *core, gsim_slot slot);
/* The stay goes on, and the model is about to take work that the job has done. */
GSIM_APART void gsim_held_undone(struct gsim_core *core, gsim_slot slot);
/* All that the job has held in stays that are over. */
int64_t gsim_held_ns(const struct gsim_core_job *own);
/* Time in which kernels ran on a GPU, of that for which it was held. */
gsim_work gsim_held_computing(const struct gsim_core *core, uint32_t gpu);

/* observe.c: tells the observers; called only when there are any. was_on: the value before the
 * change. */
GSIM_APART void gsim_observe_change(const struct gsim_core *core, gsim_slot slot,
                                    enum gsim_state from, bool was_on);
void gsim_observe_begin(const struct gsim_core *core);
void gsim_observe_end(const struct gsim_core *core);

/* paranoid.c: asserts that sums kept by the cluster match the jobs. */
GSIM_APART void gsim_core_count_again(const struct gsim_core *core);
/* Builds with sanitizers are always paranoid. */
static inline void gsim_core_check(const struct gsim_core *core) {
#ifdef GSIM_PARANOID
    const bool is_paranoid = true;
#else
    const bool is_paranoid = core->options->is_paranoid;
#endif
    if (gsim_rarely(is_paranoid))
        gsim_core_count_again(core);
}

/* plan.c */
extern const char *const gsim_state_names[GSIM_STATE_COUNT];
void gsim_plan_open(struct gsim_plan *plan, struct gsim_core *core);
bool gsim_plan_reserve(struct gsim_plan *plan, uint32_t old_capacity, uint32_t capacity);
/* plan_apply.c */
void gsim_plan_apply(struct gsim_plan *plan);
/* plan_units.c: units that the request can have, taken, in *units. In a pool there are none to
 * name. */
struct gsim_found gsim_plan_find_units(struct gsim_core *core, gsim_slot slot,
                                       struct gsim_unit **units);
/* Whether the job goes on on the units that it left, or waits for these. */
static inline bool gsim_plan_stays_in_place(const struct gsim_core *core, gsim_slot slot) {
    return gsim_rarely(core->options->pauses_in_place) && core->jobs.state[slot] == GSIM_PAUSED;
}
/* plan_names.c: why a job cannot have the units that a policy names; NULL: it can, where they have
 * room. */
const char *gsim_plan_misnames(const struct gsim_plan *plan, gsim_slot slot,
                               const struct gsim_unit *units, uint32_t n_units);
/* Whether the table of speeds lets the job run on the units that it is given. */
bool gsim_plan_has_speed(const struct gsim_core *core, gsim_slot slot);
/* Whether it does not, or the job would share GPUs in a pair that it does not allow; the plan is
 * then broken. */
bool gsim_plan_breaks_table(struct gsim_plan *plan, gsim_slot slot);
/* For plan_arrange.c: a policy broke a rule (false); a new operation, NULL when there is no
 * memory. */
GSIM_COLD bool gsim_plan_broke(struct gsim_plan *plan, gsim_slot slot, const char *verb,
                               const char *why);
struct gsim_op *gsim_plan_append(struct gsim_plan *plan, enum gsim_op_kind kind);
/* Undoes an arrangement of units. */
void gsim_plan_unarrange(struct gsim_cluster *cluster, const struct gsim_op *op);
/* Whether an active job has that slot. */
static inline bool gsim_core_has_job(const struct gsim_core *core, gsim_slot slot) {
    return slot < core->jobs.capacity && core->jobs.state[slot] != GSIM_FREE;
}
/* Free capacity as policies see it. */
void gsim_plan_refresh_view(struct gsim_core *core);

/* widths.c */
/* The job has come onto GPUs, not as many as it asks for or less of each. */
GSIM_APART void gsim_widths_begin(struct gsim_core *core, gsim_slot slot);
/* Of a job with an entry, and with its times counted until now: books its work until now, or what
 * it has lost. */
GSIM_APART void gsim_widths_book(struct gsim_core *core, gsim_slot slot);
/* The GPU time of this work of the job, times the share of the GPUs. */
gsim_i128 gsim_widths_gpu_time(const struct gsim_core *core, gsim_slot slot, int64_t work_ns);
/* whole * part / of, for part <= of; 0 of nothing. */
gsim_i128 gsim_widths_part(gsim_i128 whole, int64_t part, int64_t of);
/* The job goes on in another slot. */
void gsim_widths_inherit(struct gsim_core *core, gsim_slot slot, gsim_slot failed);

/* metrics.c */
bool gsim_metrics_open(struct gsim_core *core);
void gsim_metrics_job_arrived(struct gsim_core *core, uint32_t job);
/* has_costs: the model may have costs to report. */
void gsim_metrics_job_done(struct gsim_core *core, gsim_slot slot, bool has_costs);
void gsim_metrics_job_cut(struct gsim_core *core, gsim_slot slot); /* the run ends before the job */
/* metrics_summary.c */
enum gsim_status gsim_metrics_finish(struct gsim_core *core, struct gsim_result *result);

/* Adds up to until_ns; idle GPUs and waiting jobs do not change before until_ns. */
void gsim_metrics_pass(struct gsim_core *core, int64_t until_ns);
/* A job begins to wait for GPUs, or stops waiting. An arriving job is counted when its decide has
 * left it waiting: most never wait. */
void gsim_metrics_wants(struct gsim_core *core, gsim_slot slot, bool begins);
static inline void gsim_metrics_host_short(struct gsim_core *core, bool is_short) {
    core->wanting.n_host_short += is_short;
    core->metrics.n_host_waits += is_short;
}

/* failures.c */
enum gsim_status gsim_failures_open(struct gsim_core *core);
void gsim_failures_close(struct gsim_core *core);
/* Ends the sums of the time for which nodes were down. */
void gsim_failures_finish(struct gsim_core *core);
/* How long a node was down from the first submission to the last end, when the run is over. */
int64_t gsim_failures_down_ns(const struct gsim_core *core, uint32_t node);
/* A node took a job along, which is left with what it has kept, and lost lost_ns of work; it ran at
 * that pace. Ends a run in which the job has no hope to finish. */
void gsim_failures_note(struct gsim_core *core, gsim_slot slot, uint64_t pace_q32, int64_t lost_ns);
/* Fails for the active job that failures have thrown back most often in vain; GSIM_OK: there is
 * none of which that could be said. */
enum gsim_status gsim_failures_accuse(struct gsim_core *core);
/* Serves the failures and repairs of this instant. */
GSIM_APART void gsim_failures_serve(struct gsim_core *core);

/* fairness.c: rho of jobs that arrive, come back after a failure, and end; false: no memory */
bool gsim_fairness_open(struct gsim_core *core);
void gsim_fairness_enter(struct gsim_core *core, gsim_slot slot);
void gsim_fairness_reenter(struct gsim_core *core, gsim_slot slot, gsim_slot failed);
void gsim_fairness_leave(struct gsim_core *core, gsim_slot slot);
void gsim_fairness_fill(struct gsim_core *core, struct gsim_summary *summary);

/* watches.c: watches of running time. A negative threshold removes the job's watch. */
GSIM_APART void gsim_watches_set(struct gsim_core *core, gsim_slot slot, int64_t threshold_ns);
/* To be called where there are watches: a job has changed its state, or leaves. */
GSIM_APART void gsim_watches_follow(struct gsim_core *core, gsim_slot slot);
GSIM_APART void gsim_watches_forget(struct gsim_core *core, gsim_slot slot);
/* Serves the watches that are due now. */
GSIM_APART void gsim_watches_serve(struct gsim_core *core);

/* foreseen.c: what policies see of the trace, and whether they can run with it */
enum gsim_status gsim_foreseen_open(struct gsim_core *core);

/* hopeless.c: ". Job 'a' can never have ..." of the first job by arrival that waits for what the
 * cluster has not; "" if each could run alone. */
const char *gsim_core_why_waits(struct gsim_core *core);

/* loops.c: jobs that are submitted after the end of others. open takes the run's trace over; the
 * other functions are for runs that have such jobs (core->loops). */
enum gsim_status gsim_loops_open(struct gsim_core *core);
uint32_t gsim_loops_count_open(const struct gsim_core *core); /* jobs that come after none */
GSIM_APART void gsim_loops_begin(struct gsim_core *core, uint32_t begun); /* for the first time */
/* that begin was none: jobs that it has not submitted yet wait on */
GSIM_APART void gsim_loops_forget_begin(struct gsim_core *core, uint32_t begun);
GSIM_APART void gsim_loops_release(struct gsim_core *core, uint32_t ended);
int64_t gsim_loops_next_ns(const struct gsim_core *core);
/* Takes the next job that is due, and notes its submission. */
GSIM_APART uint32_t gsim_loops_take(struct gsim_core *core);
/* A job is submitted: its number is that of those before it. */
GSIM_APART void gsim_loops_number(struct gsim_core *core, uint32_t job);
bool gsim_loops_finish(struct gsim_core *core, struct gsim_result *result); /* false: no memory */

/* parts.c: the policy of a job's part has something to decide */
GSIM_APART void gsim_parts_changed(struct gsim_core *core, gsim_slot slot);
/* Where a job of the trace goes. */
GSIM_APART const struct gsim_domain *gsim_parts_domain(const struct gsim_core *core, uint32_t job);
static inline const struct gsim_domain *gsim_domain_of(const struct gsim_core *core, uint32_t job) {
    return gsim_rarely(core->parts) ? gsim_parts_domain(core, job) : &core->domain;
}
/* Units as the core numbers them, of units as the policy does, and back; the lists live for one
 * decide. NULL: no memory. */
GSIM_APART const struct gsim_unit *gsim_parts_shift(struct gsim_core *core,
                                                    const struct gsim_unit *units, uint32_t n_units,
                                                    uint32_t by);
static inline const struct gsim_unit *
gsim_units_in(struct gsim_core *core, const struct gsim_unit *units, uint32_t n_units) {
    return gsim_mostly(core->here.first_gpu == 0)
               ? units
               : gsim_parts_shift(core, units, n_units, core->here.first_gpu);
}
static inline const struct gsim_unit *
gsim_units_out(struct gsim_core *core, const struct gsim_unit *units, uint32_t n_units) {
    return gsim_mostly(core->here.first_gpu == 0)
               ? units
               : gsim_parts_shift(core, units, n_units, 0 - core->here.first_gpu);
}
/* Whether the GPU, as the core numbers it, is one of those that the policy sees. */
static inline bool gsim_is_here(const struct gsim_core *core, uint32_t gpu) {
    return gpu - core->here.first_gpu < core->here.n_gpus;
}

/* opening.c: opens all parts of a run, and refuses what cannot run */
enum gsim_status gsim_core_open(struct gsim_core *core);

/* engine.c: finds the time of the next arrival again */
void gsim_core_look_ahead(struct gsim_core *core);

/* distributions.c: of completion times and slowdowns; false: no memory */
bool gsim_distributions_fill(struct gsim_core *core, struct gsim_summary *summary);

/* latency.c: the model's requests and shortcuts; false: no memory */
bool gsim_metrics_model(struct gsim_core *core, struct gsim_result *result);

GSIM_COLD enum gsim_status gsim_core_no_memory(struct gsim_core *core);

/* The policy of the job sees a change, and decides at this instant. */
static inline void gsim_core_changed(struct gsim_core *core, gsim_slot slot) {
    core->has_changed = true;
    if (gsim_rarely(core->parts))
        gsim_parts_changed(core, slot);
}

/* After each hook: one that cannot go on ends the run before anything else happens. */
/* A policy that goes on where there was no memory for it is heeded, too. */
static inline void gsim_core_heed(struct gsim_core *core) {
    if (gsim_rarely(gsim_arena_has_failed(core->arena) && core->status == GSIM_OK))
        (void)gsim_core_no_memory(core);
    if (gsim_rarely(core->ctx.status != GSIM_OK && core->status == GSIM_OK))
        core->status = core->ctx.status;
}

#endif
