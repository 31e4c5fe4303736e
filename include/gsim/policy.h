/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy: which action, when. It is one table of optional hooks at the end of one file, listed in
 * policies/list.def. Hooks only update the policy's private state; only `decide` changes the world,
 * by filling a plan. A policy never computes a cost: it asks for a quote.
 * policies/skeleton.c is a documented example. */
#ifndef GSIM_POLICY_H
#define GSIM_POLICY_H

#include <stddef.h>

#include "gsim/arena.h"
#include "gsim/arrangement.h"
#include "gsim/params.h"
#include "gsim/status.h"
#include "gsim/view.h"

struct gsim_plan; /* the transaction; opaque here */

/* A simulator whose semantics a policy can copy exactly. */
enum gsim_reference {
    GSIM_REFERENCE_NONE = 0,
    GSIM_REFERENCE_TIRESIAS,
    GSIM_REFERENCE_PAI,
    GSIM_REFERENCE_HELIOS,
    GSIM_REFERENCE_COUNT
};

/* What hooks are given. */
struct gsim_ctx {
    const struct gsim_view *view;
    const struct gsim_params *params;
    enum gsim_reference reference;
    void *state; /* state_size zeroed bytes */
    char *job_states; /* job_size zeroed bytes for each slot, by slot; moves as slots grow */
    size_t job_size;
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_core *core;
    /* How all GPUs are arranged when the run begins; set by open, NULL: exclusive and resident. */
    const struct gsim_arrangement *devices;
    enum gsim_status status; /* set by a hook that cannot go on, the log says why: the run ends */
    const char *assumed; /* "key=value" that the policy took for want of another; NULL: nothing */
    const char
        *deviation; /* with these parameters it is not its source's policy: how; NULL: it is */
};

static inline void *gsim_job_state(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->job_states + (size_t)slot * ctx->job_size;
}

struct gsim_policy {
    const char *name;
    const char *alias; /* or NULL */
    const char *summary; /* one line, no full stop */
    const char *paper; /* where it comes from */
    const char *deviations; /* known differences from that, or "none known" */
    bool is_oracle; /* sees true durations */
    const char *oracle_where; /* "where ...": it looks at them there alone; NULL: always */
    bool shares_gpus; /* jobs run beside others on a GPU, and longer there than alone */
    bool has_contexts; /* jobs that share a GPU are processes of their own, all of them resident */
    bool
        oversubscribes; /* unless memory= says otherwise, jobs may have more memory than their GPU */
    unsigned references; /* bits 1 << enum gsim_reference */
    const struct gsim_param_def *params; /* may be NULL */
    size_t state_size;
    size_t job_size;
    /* Reads parameters, checks what the trace must have. */
    enum gsim_status (*open)(struct gsim_ctx *ctx);
    void (*on_arrival)(struct gsim_ctx *ctx, gsim_slot slot);
    void (*on_completion)(struct gsim_ctx *ctx, gsim_slot slot);
    void (*on_watch)(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind);
    void (*on_timer)(struct gsim_ctx *ctx);
    void (*decide)(struct gsim_ctx *ctx, struct gsim_plan *plan);
};

/* --- the plan: one transaction a decide ------------------------------------------------------
 * Verbs take effect in the plan's picture of the world at once, so that later verbs of the same
 * plan see them; in the world, when decide returns. A verb that returns false changed nothing.
 * false means "does not fit"; a verb that breaks a rule (placing what runs, preempting a job in
 * transition, an arrangement no model can do) is a programmer's error of the policy: the run ends
 * with a message that names the policy and the job. */

/* Start or resume a job on units of this shape (gangs: all or none). A shape may ask for other GPUs
 * than the job does. With more of them the job is faster by gang.grown_ppm of each; with fewer, or with
 * less of each, it is slower in proportion (gang.fewer_ppm), and the result lists that. A larger share
 * of as many GPUs changes nothing (exclusive rounds shares up). Where the shape says keeps_rate, fewer
 * change nothing either: reference=helios ignores the remainder of a gang. */
bool gsim_plan_place(struct gsim_plan *plan, gsim_slot job, const struct gsim_shape *shape);
/* On these units; they may be units that are being vacated, then the job waits for them. */
bool gsim_plan_place_on(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                        uint32_t n_units);
/* The same, with all of each unit, whatever share the job asks for. */
bool gsim_plan_place_whole(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                           uint32_t n_units);
/* A running job gives up its units. */
bool gsim_plan_preempt(struct gsim_plan *plan, gsim_slot job, enum gsim_stop stop,
                       enum gsim_keep keep);
/* The same, by whatever is cheapest and leaves the SMs within bound_ns (GSIM_STOP_CHEAPEST). */
bool gsim_plan_preempt_within(struct gsim_plan *plan, gsim_slot job, int64_t bound_ns,
                              enum gsim_keep keep);
/* Migrate a running job: stop at an iteration, transfer, resume on the new units. */
bool gsim_plan_move(struct gsim_plan *plan, gsim_slot job, const struct gsim_shape *shape);
/* A running or waiting job ends before its work is done (a reference simulator ends some early). Its
 * memory is freed at once, its progress is lost. */
bool gsim_plan_end(struct gsim_plan *plan, gsim_slot job);
/* As if the job, which runs or is on its way to its units, had ended: a question, to be rolled back
 * before the decide ends. */
bool gsim_plan_suppose_over(struct gsim_plan *plan, gsim_slot job);
/* All these units share in this way; coscheduled ones switch together. Entries may name jobs that
 * the same plan places later. */
bool gsim_plan_arrange(struct gsim_plan *plan, const struct gsim_unit *units, uint32_t n_units,
                       const struct gsim_arrangement *arrangement);
/* An idle GPU is cut into these instances (gsim_ask_layout says into which), each had by one job at
 * a time; the layout "" makes it whole again. It takes time, but for the first cut of a GPU: so it
 * was found. */
bool gsim_plan_partition(struct gsim_plan *plan, uint32_t gpu, const char *layout);
void gsim_plan_watch(struct gsim_plan *plan, gsim_slot job, enum gsim_watch_kind kind,
                     int64_t threshold);
/* Calls on_timer at time_ns, which lies after now (one timer a policy; a new one replaces it;
 * GSIM_NEVER cancels). */
void gsim_plan_wake(struct gsim_plan *plan, int64_t time_ns);

/* Where the plan stands now; rollback undoes every verb since. Marks nest. */
uint32_t gsim_plan_mark(const struct gsim_plan *plan);
void gsim_plan_rollback(struct gsim_plan *plan, uint32_t mark);
/* The units of a job in the plan's picture; 0 when it holds none (or the cluster is a pool). */
uint32_t gsim_plan_units(const struct gsim_plan *plan, gsim_slot job,
                         const struct gsim_unit **units);

/* --- questions ------------------------------------------------------------------------------- */

/* What stopping this job, and later resuming it on units (NULL: where it is), would cost now. */
struct gsim_quote gsim_ask(const struct gsim_ctx *ctx, gsim_slot job, enum gsim_stop stop,
                           enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units);
/* Where what a waiting job has lies, if bringing it to other nodes takes time; else 0. */
uint32_t gsim_ask_home(const struct gsim_ctx *ctx, gsim_slot job, const struct gsim_unit **units);
/* What it takes to bring a stopped job back to these units, from where it is. */
int64_t gsim_ask_back_ns(const struct gsim_ctx *ctx, gsim_slot job, const struct gsim_unit *units,
                         uint32_t n_units);
/* What a layout ("3g.20gb+2g.10gb", "3g+2g@4") would cut this GPU into; NULL: what instances there
 * are, the largest first. When it cannot be cut so, the log says why. */
enum gsim_status gsim_ask_layout(const struct gsim_ctx *ctx, uint32_t gpu, const char *layout,
                                 struct gsim_partition *out, struct gsim_log *log);
struct gsim_counters gsim_count(const struct gsim_ctx *ctx, gsim_slot job);
/* Oracles only: how long it takes a job to its end, alone on the units that it has in the plan's picture
 * (without any: on the device of reference). */
int64_t gsim_ask_left_ns(const struct gsim_ctx *ctx, gsim_slot job);

/* --- the policies that are built in ----------------------------------------------------------- */

extern const struct gsim_policy *const gsim_policies[]; /* ends with NULL */

/* By name or alias; NULL and a usage error with a suggestion when there is none. */
const struct gsim_policy *gsim_policies_find(const char *name, struct gsim_log *log);

#endif
