/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model: what an action costs and what then happens. One instance covers the whole cluster. It
 * executes what it is told (place, stop, arrange) and reports what happened; it never chooses.
 *
 * The core owns the states of jobs and who holds which unit; the model owns progress and time. The
 * core admits a job only when its units are physically clear. */
#ifndef GSIM_API_MODEL_H
#define GSIM_API_MODEL_H

#include "gsim/cluster.h"
#include "gsim/observe.h"
#include "gsim/result.h"
#include "gsim/trace.h"
#include "gsim/arrangement.h"
#include "gsim/arena.h"
#include "gsim/params.h"
#include "gsim/status.h"

/* What a model reports. The order is the order in which equal times are served: phases COMPLETE,
 * BOUNDARY, FAULT of the engine's order. */
enum gsim_event_kind {
    GSIM_EVENT_COMPLETED = 0, /* all work done; units are clear, memory freed: it has left */
    GSIM_EVENT_STOPPED, /* off the SMs: STOPPING -> SAVING */
    GSIM_EVENT_CLEARED, /* saved: SAVING -> PAUSED, HELD or QUEUED; units clear */
    GSIM_EVENT_RUNNING, /* STARTING or RESUMING -> RUNNING */
    GSIM_EVENT_WATCH, /* a watched threshold was reached */
};

struct gsim_event {
    enum gsim_event_kind kind;
    gsim_slot slot;
    enum gsim_watch_kind watch;
    bool has_costs; /* of what is completed: there may be some to ask for */
};

/* Collects events of one instant; the model appends. */
struct gsim_events {
    struct gsim_event *list;
    uint32_t n, capacity;
};

/* What the core tells the model about a job; valid while the job is active. */
struct gsim_job {
    uint32_t index; /* in the trace: the entity number that breaks ties */
    uint32_t n_units; /* 0 while it holds none, and always in a pool */
    int64_t service_ns; /* at the reference rate */
    struct gsim_unit *units;
    struct gsim_unit *left_units; /* where it ran last, until it runs again */
    uint32_t n_left_units;
    uint32_t gpus; /* gang size */
    uint32_t share_ppm;
    bool is_on_one_node; /* all its units, certainly; else one must look */
    bool is_moved; /* resumes on other units than those where its state lies */
    bool keeps_rate; /* as its shape says */
};

/* Facts about the hardware, by device type; see models/profile.h for the keys. */
struct gsim_profile;

/* How GPUs are connected. What is NULL limits nothing, and INT64_MAX is no limit. */
struct gsim_wiring {
    const uint32_t *node_of_gpu;
    const uint32_t *root_of_gpu; /* NULL: every GPU has a PCIe root of its own */
    const int64_t *root_bytes_per_s; /* each way, by root */
    const int64_t *network_bytes_per_s; /* into each node; 0: what its device says */
    const struct gsim_host_wiring *hosts; /* by node; NULL: what their devices say */
    const uint32_t *switch_of_node; /* NULL: one switch above all */
    uint32_t n_nodes;
};

struct gsim_model_setup {
    const struct gsim_trace *trace;
    struct gsim_arena *arena;
    uint32_t n_gpus;
    const struct gsim_profile *const *profiles; /* device types of the cluster */
    uint16_t n_profiles;
    const uint16_t *type_of_gpu; /* position in profiles, by GPU */
    struct gsim_wiring wiring;
    struct gsim_job *const *jobs; /* *jobs is the table by slot; it may move as it grows */
    uint64_t seed, replication; /* of what is drawn at random */
    int64_t context_bytes; /* what a process's context takes beside others; 0: nothing */
    int64_t slice_budget; /* slices without recurrence before anything is extrapolated */
    bool is_exact; /* nothing may be extrapolated */
    bool is_plain; /* nothing may be skipped: the reference that shortcuts are held against */
    const struct gsim_observer *observer; /* for gsim_observe_span; NULL: nobody watches */
};

/* Whether something that takes time began, or it is over already (zero cost). Nothing is reported
 * later for what is over already. */
enum gsim_pace { GSIM_AT_ONCE, GSIM_LATER };

/* How the result was reached. */
struct gsim_model_stats {
    int64_t slices, switch_ns; /* turns in rotations, and the time between them */
    int64_t skipped_ns; /* summed over GPUs: time whose repetitions were skipped, exactly */
    int64_t steps; /* of rotations that were simulated: those of what was skipped are not */
    bool is_approximate; /* something was extrapolated */
};

struct gsim_model; /* the instance; each model casts it to its own */

struct gsim_model_ops {
    const char *name;
    enum gsim_status (*open)(const struct gsim_model_setup *setup, struct gsim_model **out,
                             struct gsim_log *log);
    /* Slots below capacity are about to be used. false: no memory. */
    bool (*reserve)(struct gsim_model *model, uint32_t capacity);
    /* A job appears in a slot (nothing runs yet), or leaves it without having been completed. */
    void (*enter)(struct gsim_model *model, gsim_slot slot);
    void (*leave)(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
    /* Start or resume on job.units, which are clear. from: QUEUED, PAUSED or HELD, and keep says
     * where the state lies. AT_ONCE: it runs now. LATER: a RUNNING event follows. */
    enum gsim_pace (*admit)(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns);
    /* Begin to stop; bound_ns is of GSIM_STOP_CHEAPEST alone. AT_ONCE: stopped and cleared now.
     * LATER: STOPPED, then CLEARED follow; a job that reaches its end first reports COMPLETED
     * instead. */
    enum gsim_pace (*evict)(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                            int64_t bound_ns, enum gsim_keep keep, int64_t now_ns);
    /* How units share from now on; arrange is only called with what is not refused. */
    const char *(*refuses_arrangement)(const struct gsim_model *model,
                                       const struct gsim_arrangement *arrangement);
    void (*arrange)(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns);
    /* What a layout cuts this GPU into, as gsim_ask_layout says. */
    enum gsim_status (*read_layout)(const struct gsim_model *model, uint32_t gpu,
                                    const char *layout, struct gsim_partition *out,
                                    struct gsim_log *log);
    /* Cuts a GPU that nobody is on so; "" makes it whole. */
    void (*partition)(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns);
    /* How many jobs may share this GPU so. */
    uint32_t (*client_limit)(const struct gsim_model *model, uint32_t gpu,
                             const struct gsim_arrangement *arrangement);
    /* NULL when the job can be stopped so, else why not ("needs the column 'mem_gib'"). */
    const char *(*refuses_stop)(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep);
    /* Whether what a waiting job has lies on the nodes where it ran last, and takes time to cross to
     * others. */
    bool (*is_bound)(const struct gsim_model *model, gsim_slot slot);
    /* Loses what it has where it is, running or not, and falls back to its last checkpoint, of which
     * there is one every checkpoint_ns of its work (0: none). Returns the work lost. */
    int64_t (*fail)(struct gsim_model *model, gsim_slot slot, int64_t checkpoint_ns,
                    int64_t now_ns);
    /* A job that failed has entered again: goes on from its checkpoint. */
    void (*inherit)(struct gsim_model *model, gsim_slot slot, gsim_slot failed);
    /* One watch a kind and job; a new one replaces it, a negative threshold removes it. */
    void (*watch)(struct gsim_model *model, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns);
    /* No later than the next thing to report, GSIM_NEVER when there is none. Nothing from outside
     * happens before horizon_ns, so a model may work ahead until there; at that instant it is brought
     * along first only if it is named here. */
    int64_t (*next_time)(struct gsim_model *model, int64_t horizon_ns);
    /* Moves to now_ns <= next_time() and appends what happens at exactly now_ns, by kind and
     * entity. advance(a) then advance(b) equals advance(b). false: no memory. */
    bool (*advance)(struct gsim_model *model, int64_t now_ns, struct gsim_events *events);
    /* Brings a column entry of progress that is untold to now_ns. */
    void (*tell)(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
    /* Of a job whose progress is told. Free of side effects; the same code charges it later. units
     * NULL: where it runs now, or any. */
    struct gsim_quote (*quote)(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units,
                               int64_t now_ns);
    /* How fast a job goes alone on job.units (none: on the device of reference), Q32. */
    uint64_t (*pace)(struct gsim_model *model, gsim_slot slot);
    /* These two: of a job whose progress is told. */
    struct gsim_costs (*costs)(const struct gsim_model *model, gsim_slot slot);
    void (*counters)(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                     struct gsim_counters *out);
    /* The column of progress by slot; it may move when slots are reserved. */
    const struct gsim_progress *(*progress)(const struct gsim_model *model);
    /* How much of so much of a job's work, alone, its GPUs have nothing to run: its host's gaps. 0 where
     * the trace does not say. */
    int64_t (*gap_ns)(const struct gsim_model *model, gsim_slot slot, int64_t work_ns);
    const struct gsim_request_log *(*requests)(const struct gsim_model *model, uint32_t *n);
    void (*stats)(const struct gsim_model *model, struct gsim_model_stats *out); /* adds */
    /* Facts for the result: assumed constants used, those given in place of the device's,
     * and why a result is outside what was validated (NULL: it is not). */
    const char *(*outside_validated)(const struct gsim_model *model);
    const char *const *(*assumed)(const struct gsim_model *model);
    const char *const *(*given)(const struct gsim_model *model);
};

#endif
