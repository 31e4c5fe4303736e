/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public way to run a simulation: a trace, a cluster, a policy and a model give a result. One
 * run per thread; runs share nothing but immutable inputs. */
#ifndef GSIM_RUN_H
#define GSIM_RUN_H

#include <signal.h>

#include "gsim/cluster.h"
#include "gsim/device.h"
#include "gsim/observe.h"
#include "gsim/policy.h"
#include "gsim/result.h"

#define GSIM_SLICE_BUDGET INT64_C(10000000)

struct gsim_run_options {
    const struct gsim_trace *trace;
    const struct gsim_cluster_spec *cluster;
    const struct gsim_policy *policy;
    const struct gsim_params *policy_params;
    const struct gsim_model_ops *model;
    void *model_arg; /* for the model's own use; the model of devices has none */
    enum gsim_reference reference;
    const char *device_name; /* for the result */
    int64_t seed;
    uint64_t replication;
    int64_t slice_budget; /* 0: GSIM_SLICE_BUDGET */
    bool is_exact, is_plain; /* is_exact: nothing is extrapolated; is_plain: nothing is skipped */
    /* Mean time of a node between a repair and the next failure (0: none fails), mean time to its
     * repair, and the work of a job between two checkpoints (0: a failed job begins anew). */
    int64_t mtbf_ns, mttr_ns, checkpoint_ns;
    /* memory of a process's context, where the policy lets several share a GPU's memory */
    int64_t context_bytes;
    /* A paused job goes on on the GPUs that it left, or not at all, as a process does; else its
     * memory may be moved. */
    bool pauses_in_place;
    int64_t until_ns; /* GSIM_NEVER: until the last job ends */
    /* Set from a signal handler to stop early; may be NULL. The run then returns GSIM_INCOMPLETE
     * and its result counts the unfinished jobs. */
    const volatile sig_atomic_t *stop;
    /* Called at every instant with the jobs finished so far; may be NULL. */
    void (*progress)(void *arg, uint32_t n_done, uint32_t n_jobs);
    void *progress_arg;
    const struct gsim_observer *observer; /* may be NULL */
    /* After every decide the core counts its sums again from its jobs, and aborts if they differ:
     * for tests of policies. */
    bool is_paranoid;
    /* Number of threads on which GPUs that jobs share advance; 0 and 1: the caller's. The result
     * does not depend on it. */
    int n_threads;
};

/* The result and everything else of the run live in arena. */
enum gsim_status gsim_run(const struct gsim_run_options *options, struct gsim_arena *arena,
                          struct gsim_result *result, struct gsim_log *log);

#endif
