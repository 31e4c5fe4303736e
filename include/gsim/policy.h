/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy decides which action is taken, and when. It is one table of optional hooks at the end of
 * one file, listed in policies/list.def, or exported by a shared object (GSIM_POLICY_EXPORT). Hooks
 * update the policy's private state; only `decide` changes the world, by filling a plan. A policy
 * never computes a cost: it asks for a quote. policies/skeleton.c is a documented example. */
#ifndef GSIM_POLICY_H
#define GSIM_POLICY_H

#include <stddef.h>

#include "gsim/arena.h"
#include "gsim/arrangement.h"
#include "gsim/params.h"
#include "gsim/status.h"
#include "gsim/view.h"

struct gsim_plan; /* the transaction; opaque here */
struct gsim_policy;

/* The interface of the installed headers: raised whenever a program or a policy that was compiled
 * with older ones would misread a struct, or miss a function. */
#define GSIM_ABI 4

/* A simulator with semantics that a policy can copy exactly. */
enum gsim_reference {
    GSIM_REFERENCE_NONE = 0,
    GSIM_REFERENCE_TIRESIAS,
    GSIM_REFERENCE_PAI,
    GSIM_REFERENCE_HELIOS,
    GSIM_REFERENCE_GAVEL,
    GSIM_REFERENCE_SYNERGY,
    GSIM_REFERENCE_ELASTICFLOW,
    GSIM_REFERENCE_POLLUX,
    GSIM_REFERENCE_MURI,
    GSIM_REFERENCE_SIA,
    GSIM_REFERENCE_COUNT
};

/* The context that hooks are given. */
struct gsim_ctx {
    const struct gsim_policy *policy;
    const struct gsim_view *view;
    const struct gsim_params *params;
    enum gsim_reference reference;
    void *state; /* state_size zeroed bytes */
    /* job_size zeroed bytes for each slot, by slot; the block moves as slots grow */
    char *job_states;
    size_t job_size;
    /* of the run; a policy that draws lots draws them from a stream of these (gsim_random_open) */
    uint64_t seed, replication;
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_core *core;
    /* The arrangement of all GPUs when the run begins, set by open; NULL: exclusive and
     * resident. */
    const struct gsim_arrangement *devices;
    /* set by a hook that cannot go on; the log has the reason and the run ends */
    enum gsim_status status;
    /* "key=value" that the policy assumed because the trace does not give it; NULL: nothing */
    const char *assumed;
    /* how the policy, with these parameters, deviates from its source; NULL: it does not */
    const char *deviation;
};

static inline void *gsim_job_state(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->job_states + (size_t)slot * ctx->job_size;
}

struct gsim_policy {
    const char *name;
    const char *alias; /* or NULL */
    const char *summary; /* one line, no full stop */
    const char *paper; /* source of the policy */
    const char *deviations; /* known differences from the source, or "none known" */
    bool is_oracle; /* sees true durations */
    const char *oracle_where; /* "where ...": the part that uses durations; NULL: always */
    bool names_gpus; /* it chooses GPUs itself, without regard to partitions and types */
    /* with names_gpus: it asks for the speed on GPUs (gsim_ask_rate) before it gives them */
    bool asks_speeds;
    bool chooses_widths; /* jobs get more or fewer GPUs than they ask for */
    bool shares_gpus; /* jobs share a GPU with others and run longer than alone */
    bool has_contexts; /* jobs that share a GPU are processes of their own, and all stay resident */
    /* unless memory= says otherwise, jobs may have more memory than their GPU */
    bool oversubscribes;
    unsigned references; /* bits 1 << enum gsim_reference */
    const struct gsim_param_def *params; /* may be NULL */
    size_t state_size;
    size_t job_size;
    /* Reads parameters and checks that the trace has the columns needed. */
    enum gsim_status (*open)(struct gsim_ctx *ctx);
    void (*on_arrival)(struct gsim_ctx *ctx, gsim_slot slot);
    void (*on_completion)(struct gsim_ctx *ctx, gsim_slot slot);
    void (*on_watch)(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind);
    void (*on_timer)(struct gsim_ctx *ctx);
    void (*decide)(struct gsim_ctx *ctx, struct gsim_plan *plan);
    /* Gives back memory and files that are not in the arena; called once, also after an open that
     * refused. */
    void (*close)(struct gsim_ctx *ctx);
    /* For a table that a program makes while it runs: the hooks find it as ctx->policy->user. */
    void *user;
};

/* A part of the cluster with a policy of its own: whole groups of nodes, beside each other
 * (gsim_node_group.part). Its policy sees these nodes, numbered from 0, and the jobs that go there:
 * those that name one of its partitions, or are of one of its classes. All other jobs go to the
 * nodes of the run's policy. */
struct gsim_part {
    const char *name; /* for messages */
    const struct gsim_policy *policy;
    const struct gsim_params *params;
    const char *partitions; /* "notebooks,debug"; NULL: jobs of its classes, of any partition */
    unsigned classes; /* bits 1 << enum gsim_class; 0: jobs of its partitions, of any class */
};

/* --- the plan: one transaction per decide ---
 * Verbs take effect at once in the plan's picture of the world, so that later verbs of the plan see
 * them; in the world they take effect when decide returns. A verb that returns false changed
 * nothing. false means "does not fit"; a verb that breaks a rule (placing a running job, preempting
 * a job in transition, an arrangement that the model does not support) is an error of the policy's
 * program: the run ends with a message that names the policy and the job. */

/* Starts or resumes a job on units of this shape (gangs: all or none). A shape may ask for other
 * GPUs than the job does. With more GPUs the job is faster by gang.grown_ppm of each; with fewer,
 * or with less of each, it is slower in proportion (gang.fewer_ppm), and the result lists that. A
 * larger share of as many GPUs changes nothing (exclusive rounds shares up). Where the shape says
 * keeps_rate, fewer GPUs change nothing either: reference=helios ignores the remainder of a
 * gang. */
bool gsim_plan_place(struct gsim_plan *plan, gsim_slot job, const struct gsim_shape *shape);
/* Places a job on these units; where a unit is being vacated, the job waits for it. */
bool gsim_plan_place_on(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                        uint32_t n_units);
/* Like gsim_plan_place_on, with all of each unit, whatever share the job asks for. */
bool gsim_plan_place_whole(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                           uint32_t n_units);
/* Like gsim_plan_place_on, with a part of the host beside each unit, which is reserved too; on it
 * the job's speed may depend (--rates). A job that is placed by another verb has the part of its
 * nodes that falls to each GPU. */
bool gsim_plan_place_beside(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                            uint32_t n_units, struct gsim_host each);
/* Preempts a running job: it gives up its units. */
bool gsim_plan_preempt(struct gsim_plan *plan, gsim_slot job, enum gsim_stop stop,
                       enum gsim_keep keep);
/* Migrates a running job: it stops at an iteration, is transferred by way of the host, and resumes
 * on the new units. These may be more or fewer than it has, and some of its own. Where the width
 * changes, the column rescale_s takes the place of the way back. */
bool gsim_plan_move(struct gsim_plan *plan, gsim_slot job, const struct gsim_shape *shape);
/* As gsim_plan_move, to these units, with a stop of the policy's choice; keep is none of the ways
 * that leave memory on the GPU. */
bool gsim_plan_move_on(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                       uint32_t n_units, enum gsim_stop stop, enum gsim_keep keep);
/* Ends a running or waiting job before its work is done (a reference simulator ends some jobs
 * early). Its memory is freed at once, its progress is lost. */
bool gsim_plan_end(struct gsim_plan *plan, gsim_slot job);
/* Declines a job: it ends as by gsim_plan_end, but has no end in the result, which counts it among
 * the jobs that did not finish. */
bool gsim_plan_decline(struct gsim_plan *plan, gsim_slot job);
/* Treats a job that runs, or is on its way to its units, as ended: a question, to be rolled back
 * before the decide ends. */
bool gsim_plan_suppose_over(struct gsim_plan *plan, gsim_slot job);
/* Sets how these units share. Entries may name jobs that the plan places later. */
bool gsim_plan_arrange(struct gsim_plan *plan, const struct gsim_unit *units, uint32_t n_units,
                       const struct gsim_arrangement *arrangement);
/* Partitions an idle GPU into instances (gsim_ask_layout says which), each for one job at a time;
 * the layout "" makes the GPU whole again. A partition takes time, except the first of a GPU, which
 * counts as there before the run. */
bool gsim_plan_partition(struct gsim_plan *plan, uint32_t gpu, const char *layout);
/* Sets the batch of a job that learns by a table (--goodput), wherever it runs from now on. Nothing
 * stops: a job that runs goes on at the speed of that batch. false: the job has no such table, or
 * its limits do not allow the batch. */
bool gsim_plan_batch(struct gsim_plan *plan, gsim_slot job, struct gsim_batch batch);
void gsim_plan_watch(struct gsim_plan *plan, gsim_slot job, enum gsim_watch_kind kind,
                     int64_t threshold);
/* Calls on_timer at time_ns, which must be after now. A policy has one timer: a new time replaces
 * the old, GSIM_NEVER cancels it. */
void gsim_plan_wake(struct gsim_plan *plan, int64_t time_ns);

/* The current position in the plan; rollback undoes every verb since. Marks nest. */
uint32_t gsim_plan_mark(const struct gsim_plan *plan);
void gsim_plan_rollback(struct gsim_plan *plan, uint32_t mark);
/* Memory for this decide alone, given back when the decide is over; NULL: no memory. */
struct gsim_arena *gsim_plan_scratch(struct gsim_plan *plan);
/* The units of a job in the plan's picture; 0 when the job holds none (or the cluster is a
 * pool). */
uint32_t gsim_plan_units(const struct gsim_plan *plan, gsim_slot job,
                         const struct gsim_unit **units);

/* --- questions ------------------------------------------------------------------------------- */

/* The cost of stopping this job now, and of resuming it later on units (NULL: its own). */
struct gsim_quote gsim_ask(const struct gsim_ctx *ctx, gsim_slot job, enum gsim_stop stop,
                           enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units);
/* The units where a waiting job's state lies, if bringing the state to other nodes takes time; else
 * 0. */
uint32_t gsim_ask_home(const struct gsim_ctx *ctx, gsim_slot job, const struct gsim_unit **units);
/* The time to bring a stopped job's state back to these units from its present place. */
int64_t gsim_ask_back_ns(const struct gsim_ctx *ctx, gsim_slot job, const struct gsim_unit *units,
                         uint32_t n_units);
/* The instances of a layout ("3g.20gb+2g.10gb", "3g+2g@4") on this GPU; NULL: the instances that
 * the GPU supports, the largest first. The log gives the reason when the GPU does not support the
 * layout. */
enum gsim_status gsim_ask_layout(const struct gsim_ctx *ctx, uint32_t gpu, const char *layout,
                                 struct gsim_partition *out, struct gsim_log *log);
/* The SMs of the largest group (a green context) within this part of the GPU's SMs, at least those
 * of the smallest there is; GSIM_PPM: all SMs. 0: not known. */
uint32_t gsim_ask_sms(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t part_ppm);
/* The name of a device type, as tables have it: of a device of a file, the name of the file. NULL:
 * there is no such type, the cluster's description does not name it, or no memory. */
const char *gsim_ask_device(const struct gsim_ctx *ctx, uint16_t type);
/* Whether the job may run on this GPU, by its partition and its type of GPU. */
bool gsim_ask_may_use(const struct gsim_ctx *ctx, gsim_slot job, uint32_t gpu);
/* On how many nodes the job's gang has to lie (column num_nodes), as evenly as its GPUs allow; 0:
 * on any number. gsim_plan_place sees to it, a policy that names units has to. */
uint32_t gsim_ask_nodes(const struct gsim_ctx *ctx, gsim_slot job);
/* Whether jobs differ in the nodes that they may have, or in how many nodes they have to lie on:
 * then a job that does not fit says nothing of wider ones. */
bool gsim_ask_has_wishes(const struct gsim_view *view);
/* Whether they do where all are placed by this rule: a count of nodes on which the rule puts a gang
 * anyhow binds nothing. */
bool gsim_ask_has_wishes_under(const struct gsim_view *view, enum gsim_rule rule);
/* Whether CPUs of hosts, or of the pool, are counted: else those that jobs ask for bind nothing. */
bool gsim_ask_counts_cpus(const struct gsim_view *view);
/* Whether a paused job goes on on the GPUs that it left, or not at all, as processes do: then it
 * fits nowhere else, and says nothing of other jobs. */
bool gsim_ask_pauses_in_place(const struct gsim_view *view);
/* A number for the nodes that the job may have, by its wish, and for how many of them it asks: jobs
 * of one number are alike in both. It stays with the job; 0: any nodes, and any number of them. */
uint64_t gsim_ask_wish(const struct gsim_ctx *ctx, gsim_slot job);
/* Whether both jobs have one such number. */
bool gsim_ask_are_alike(const struct gsim_ctx *ctx, gsim_slot job, gsim_slot other);
/* The GPUs that one more job could go to, those with the fewest jobs first, then by number: idle
 * GPUs, then arranged ones with fewer clients than their limit. `before` is the GPU that was
 * given last, at first the number of GPUs, which is also given at the end. GPUs with less memory
 * left than mem_bytes are passed over in log n; below 0: memory does not matter. */
uint32_t gsim_ask_open_gpu(struct gsim_ctx *ctx, uint32_t before, int64_t mem_bytes);
/* How fast the job would run there, alone or beside another, by the code that charges it. */
struct gsim_rate gsim_ask_rate(const struct gsim_ctx *ctx, gsim_slot job,
                               const struct gsim_where *where);
/* What a job that learns by a table (--goodput) may do, and has measured. false: it has no
 * table. */
bool gsim_ask_learning(const struct gsim_ctx *ctx, gsim_slot job, struct gsim_learning *out);
/* The modes of a job in phases, and its epochs so far. false: it has no phases, or the trace was
 * read without a table of speeds. */
bool gsim_ask_modes(const struct gsim_ctx *ctx, gsim_slot job, struct gsim_modes *out);
/* What such a job may do on GPUs of a type, and, as a profile of it there, a step with the largest
 * batch on one GPU in its first epoch. false: it has no table, or cannot run there. */
bool gsim_ask_learning_on(const struct gsim_ctx *ctx, gsim_slot job, uint16_t type,
                          struct gsim_learning *out);
/* CPUs and memory of a node's host; 0: not counted, as much as any job wants. */
struct gsim_host gsim_ask_host(const struct gsim_ctx *ctx, uint32_t node);
/* The attained service of a job that has made this number of its iterations; -1: the trace does
 * not say how many it has. */
int64_t gsim_ask_service_ns(const struct gsim_ctx *ctx, gsim_slot job, int64_t iterations);
struct gsim_counters gsim_count(const struct gsim_ctx *ctx, gsim_slot job);
/* Oracles only: the time to the job's end, alone on the units that it has in the plan's picture
 * (without units: on the device of reference, or where it cannot run there, on that by which its
 * service counts). */
int64_t gsim_ask_left_ns(const struct gsim_ctx *ctx, gsim_slot job);
/* Oracles only: a time that no placement on as many GPUs as the job asks for can beat; 0: none is
 * known. */
int64_t gsim_ask_least_ns(const struct gsim_ctx *ctx, gsim_slot job);

/* --- policies that are shared objects of their own -------------------------------------------- */

struct gsim_policy_export {
    uint32_t abi; /* GSIM_ABI of the headers that the object was compiled with; always first */
    uint32_t policy_size, ctx_size;
    const struct gsim_policy *policy;
};

/* Shows the policy of a shared object to gsim (--policy ./mine.so); stands once, in one file:
 *     static const struct gsim_policy mine = {.name = "mine", ...};
 *     GSIM_POLICY_EXPORT(mine) */
#define GSIM_POLICY_EXPORT(table)                                                                  \
    extern const struct gsim_policy_export gsim_policy_exported;                                   \
    __attribute__((visibility("default")))                                                         \
    const struct gsim_policy_export gsim_policy_exported = {GSIM_ABI, sizeof(struct gsim_policy),  \
                                                            sizeof(struct gsim_ctx), &(table)};

/* Loads the policy that a shared object exports. It stays loaded: the table and its texts are valid
 * until the process ends. NULL: the log says why. */
const struct gsim_policy *gsim_policies_load(const char *path, struct gsim_log *log);

/* Whether processes of jobs stay on their GPUs while others run there, with these parameters. */
bool gsim_policy_has_contexts(const struct gsim_policy *policy, const struct gsim_params *params);

/* --- the policies that are built in ----------------------------------------------------------- */

extern const struct gsim_policy *const gsim_policies[]; /* ends with NULL */

/* The policy of that name or alias; NULL and a usage error with a suggestion when there is none. */
const struct gsim_policy *gsim_policies_find(const char *name, struct gsim_log *log);

#endif
