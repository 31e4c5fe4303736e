/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model: the cost of an action and its course. One instance covers the whole cluster. It executes
 * orders (place, stop, arrange) and reports events; it never chooses.
 *
 * The core owns the states of jobs and the assignment of units; the model owns progress and time.
 * The core admits a job only when its units are physically clear. */
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

/* The events that a model reports, in the order in which events of equal times are served:
 * completions first. */
enum gsim_event_kind {
    /* all work is done; units are clear, memory is freed, the job has left */
    GSIM_EVENT_COMPLETED = 0,
    GSIM_EVENT_STOPPED, /* off the SMs: STOPPING -> SAVING */
    GSIM_EVENT_CLEARED, /* saved: SAVING -> PAUSED, HELD or QUEUED; units clear */
    GSIM_EVENT_RUNNING, /* STARTING or RESUMING -> RUNNING */
    GSIM_EVENT_WATCH, /* a watched threshold was reached */
};

struct gsim_event {
    enum gsim_event_kind kind;
    gsim_slot slot;
    enum gsim_watch_kind watch;
    bool has_costs; /* of a completed job: there may be costs to ask for */
    bool is_cut; /* of a completed job: it ended before its work was done */
};

/* The events of one instant; the model appends. */
struct gsim_events {
    struct gsim_event *list;
    uint32_t n, capacity;
};

/* Facts about a job that the core tells the model; valid while the job is active. */
struct gsim_job {
    uint32_t index; /* in the trace: the entity number that breaks ties */
    uint32_t n_units; /* 0 while the job holds no unit, and always in a pool */
    int64_t service_ns; /* at the reference rate */
    struct gsim_unit *units;
    struct gsim_unit *left_units; /* units where it ran last, until it runs again */
    uint32_t n_left_units;
    uint32_t gpus; /* gang size */
    uint32_t share_ppm;
    bool is_on_one_node; /* true: all its units are on one node; false: not known */
    bool is_moved; /* resumes on other units than those where its state lies */
    bool keeps_rate; /* as its shape says */
    struct gsim_host host; /* beside each unit; 0 of both: its nodes' parts */
};

/* Facts about the hardware, by device type; see models/hardware/profile.h for the keys. */
struct gsim_profile;

/* How GPUs are connected. A NULL column limits nothing, and INT64_MAX is no limit. */
struct gsim_wiring {
    const uint32_t *node_of_gpu;
    const uint32_t *root_of_gpu; /* NULL: every GPU has a PCIe root of its own */
    const int64_t *root_bytes_per_s; /* each way, by root */
    const int64_t *network_bytes_per_s; /* into each node; 0: as in the device profile */
    const struct gsim_host_wiring *hosts; /* by node; NULL: as in the device profiles */
    const uint32_t *switch_of_node; /* NULL: one switch above all */
    /* by node: what of its host falls to each of its GPUs; NULL: nodes do not say */
    const struct gsim_host *part_of_host;
    uint32_t n_nodes;
};

struct gsim_team;

struct gsim_model_setup {
    const struct gsim_trace *trace;
    struct gsim_arena *arena;
    uint32_t n_gpus;
    const struct gsim_profile *const *profiles; /* device types of the cluster */
    uint16_t n_profiles;
    const uint16_t *type_of_gpu; /* position in profiles, by GPU */
    struct gsim_wiring wiring;
    const uint32_t *nth_of; /* by job: its place among all arrivals; NULL: its place in the trace */
    struct gsim_job *const *jobs; /* *jobs is the table by slot; it may move as it grows */
    uint64_t seed, replication; /* of the random draws */
    int64_t context_bytes; /* memory of a process's context beside other contexts; 0: none */
    int64_t slice_budget; /* slices without recurrence before the model extrapolates */
    bool is_exact; /* nothing may be extrapolated */
    int64_t phase_grid_ns; /* phases of jobs end at multiples of it, the nearest; 0: anywhere */
    bool ends_are_told; /* jobs end when the core says so, and never by themselves */
    bool ends_pairs_together; /* gsim_compat.ends_pairs_together */
    bool is_plain; /* nothing may be skipped: the reference for tests of the shortcuts */
    struct gsim_team *team; /* threads for GPUs that walk ahead; NULL: there are none */
    const struct gsim_observer *observer; /* for gsim_observe_span; NULL: no observer */
    void *arg; /* gsim_run_options.model_arg */
};

/* Whether an action takes time, or is over already (zero cost). An action that is over already is
 * not reported later. */
enum gsim_when { GSIM_AT_ONCE, GSIM_LATER };

/* How the result was reached. */
struct gsim_model_stats {
    int64_t slices, switch_ns; /* turns in lanes, and the time between them */
    int64_t skipped_ns; /* summed over GPUs: time of repetitions that were skipped, exactly */
    int64_t steps; /* simulated steps of lanes, without the skipped steps */
    bool is_approximate; /* a part was extrapolated */
};

struct gsim_model; /* the instance; each model casts it to its own */

/* GPUs of the cluster beside each other. */
struct gsim_gpu_span {
    uint32_t first, n;
};

struct gsim_model_ops {
    const char *name;
    enum gsim_status (*open)(const struct gsim_model_setup *setup, struct gsim_model **out,
                             struct gsim_log *log);
    /* Prepares for slots below capacity. false: no memory. */
    bool (*reserve)(struct gsim_model *model, uint32_t capacity);
    /* A job enters a slot (nothing runs yet), or leaves it without having been completed. */
    void (*enter)(struct gsim_model *model, gsim_slot slot);
    void (*leave)(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
    /* Starts or resumes on job.units, which are clear. from: QUEUED, PAUSED or HELD; keep says
     * where the state lies. AT_ONCE: the job runs now. LATER: a RUNNING event follows. */
    enum gsim_when (*admit)(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns);
    /* Begins to stop a job. AT_ONCE: stopped and
     * cleared now. LATER: STOPPED, then CLEARED follow; a job that reaches its end first reports
     * COMPLETED instead. */
    enum gsim_when (*evict)(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                            enum gsim_keep keep, int64_t now_ns);
    /* How units share from now on; arrange is called only with an arrangement that is not
     * refused of these units. */
    const char *(*refuses_arrangement)(const struct gsim_model *model,
                                       const struct gsim_unit *units, uint32_t n_units,
                                       const struct gsim_arrangement *arrangement);
    void (*arrange)(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns);
    /* The instances of a layout on this GPU, as in gsim_ask_layout. */
    enum gsim_status (*read_layout)(const struct gsim_model *model, uint32_t gpu,
                                    const char *layout, struct gsim_partition *out,
                                    struct gsim_log *log);
    /* The SMs of a group within this part of a GPU's, as in gsim_ask_sms. */
    uint32_t (*sms)(const struct gsim_model *model, uint32_t gpu, uint32_t part_ppm);
    /* Partitions a GPU that holds no job; "" makes it whole. */
    void (*partition)(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns);
    /* The number of jobs that may share this GPU in this arrangement. */
    uint32_t (*client_limit)(const struct gsim_model *model, uint32_t gpu,
                             const struct gsim_arrangement *arrangement);
    /* NULL when the model can stop the job in this way, else the reason ("needs the column
     * 'mem_gib'"). */
    const char *(*refuses_stop)(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep);
    /* Whether a waiting job's state lies on the nodes where it ran last, and takes time to cross to
     * other nodes. */
    bool (*is_bound)(const struct gsim_model *model, gsim_slot slot);
    /* The job loses its state on its units, running or not, and falls back to its last checkpoint:
     * one is taken every checkpoint_ns of work (0: never), and by a stop that keeps it on storage.
     * Returns the work lost. */
    int64_t (*fail)(struct gsim_model *model, gsim_slot slot, int64_t checkpoint_ns,
                    int64_t now_ns);
    /* A job that failed has entered again and goes on from its checkpoint. */
    void (*inherit)(struct gsim_model *model, gsim_slot slot, gsim_slot failed);
    /* One watch per kind and job; a new threshold replaces the old, a negative threshold removes
     * the watch. */
    void (*watch)(struct gsim_model *model, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns);
    /* A time no later than the next event to report; GSIM_NEVER when there is none. Nothing outside
     * the model acts before horizon_ns, so the model may work ahead up to it; at horizon_ns the
     * model is advanced first only if it returned that time. */
    int64_t (*next_time)(struct gsim_model *model, int64_t horizon_ns);
    /* Moves to now_ns <= next_time() and appends the events at exactly now_ns, by kind and entity.
     * advance(a) then advance(b) equals advance(b). false: no memory. */
    bool (*advance)(struct gsim_model *model, int64_t now_ns, struct gsim_events *events);
    /* Brings the job's untold entry in the column of progress up to now_ns. */
    void (*tell)(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
    /* For a job with told progress. Free of side effects; the charge later uses the quote's
     * code. units NULL: where the job runs now, or any units. */
    struct gsim_quote (*quote)(const struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units,
                               int64_t now_ns);
    /* The job's speed alone on job.units (without units: on the device of reference), Q32. */
    uint64_t (*pace)(struct gsim_model *model, gsim_slot slot);
    /* The job's speed on these units beside the other job, Q32; NULL: no job shares GPUs so. */
    uint64_t (*pace_beside)(struct gsim_model *model, gsim_slot slot, gsim_slot other);
    /* A speed that the job exceeds nowhere on as many GPUs as it asks for, Q32; 0, or no such
     * function: none is known. */
    uint64_t (*most_pace)(struct gsim_model *model, gsim_slot slot);
    /* Whether the table of speeds lets a job of the trace run on its own number of GPUs like this
     * one, with the part of the host that falls to each, and no more than `most`, in all of its
     * phases. NULL: there is no such table. */
    bool (*can_run_on)(const struct gsim_model *model, uint32_t job, uint32_t gpu,
                       struct gsim_host most);
    /* Whether it can over any nodes, with the least part of a host that falls to a GPU of the
     * cluster. */
    bool (*can_run_across)(const struct gsim_model *model, uint32_t job);
    /* The job's speed alone there, by the code that charges it; of the cluster, the policy has
     * `seen`. */
    struct gsim_rate (*rate)(struct gsim_model *model, gsim_slot slot,
                             const struct gsim_where *where, struct gsim_gpu_span seen);
    /* What a job that learns may do and has measured, and the batch that it has from now on. false,
     * or no such functions: it has no table, or may not have the batch. */
    bool (*learning)(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                     struct gsim_learning *out);
    bool (*learning_on)(const struct gsim_model *model, gsim_slot slot, uint16_t type,
                        struct gsim_learning *out);
    bool (*may_have_batch)(const struct gsim_model *model, gsim_slot slot, struct gsim_batch batch);
    void (*set_batch)(struct gsim_model *model, gsim_slot slot, struct gsim_batch batch,
                      int64_t now_ns);
    /* costs and counters: for a job with told progress. */
    struct gsim_costs (*costs)(const struct gsim_model *model, gsim_slot slot);
    void (*counters)(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                     struct gsim_counters *out);
    /* The column of progress by slot; it may move when slots are reserved. */
    const struct gsim_progress *(*progress)(const struct gsim_model *model);
    /* Of work_ns of a job's work alone, the time in which its GPUs have nothing to run (the host's
     * gaps). 0 where the trace gives none. */
    int64_t (*gap_ns)(const struct gsim_model *model, gsim_slot slot, int64_t work_ns);
    const struct gsim_request_log *(*requests)(const struct gsim_model *model, uint32_t *n);
    void (*stats)(const struct gsim_model *model, struct gsim_model_stats *out); /* adds */
    /* Facts for the result: assumed constants used, constants given in place of the device's, and
     * the reason why a result is outside the validated range (NULL: it is inside). */
    const char *(*outside_validated)(const struct gsim_model *model);
    const char *const *(*assumed)(const struct gsim_model *model);
    const char *const *(*given)(const struct gsim_model *model);
};

/* The item in `assumed` that is about the trace and not about a constant: nothing says on which
 * device its durations were measured, so they count as the device's own. */
#define GSIM_ASSUMED_DURATIONS "durations"

#endif
