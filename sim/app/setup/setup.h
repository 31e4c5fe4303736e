/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From options to the inputs of a run: the trace, the cluster, the device, the policies with their
 * parameters. A command loads them once, and all of its runs share them. */
#ifndef GSIM_APP_SETUP_H
#define GSIM_APP_SETUP_H

#include "models/hardware/profile.h"
#include "sim/app/cli/options.h"
#include "sim/app/cli/progress.h"
#include "policies/registry.h"
#include "sim/study/timeline.h"
#include "sim/app/setup/foreign.h"
#include "sim/app/setup/window.h"
#include "gsim/run.h"
#include "traces/estimate.h"
#include "traces/generate.h"
#include "traces/resample.h"

enum { GSIM_MAX_COMPARED = 64 };

struct gsim_contender {
    const struct gsim_policy *policy;
    const char *typed; /* as on a command line: its name, or ./mine.so */
    bool is_foreign; /* it is from outside of the program, and runs in a process of its own */
    struct gsim_params params;
};

struct gsim_setup {
    const char *trace_path;
    struct gsim_trace trace;
    /* the spec that the trace is drawn from; NULL: the trace is a file */
    const struct gsim_spec *spec;
    uint32_t widest_gang; /* GPUs of the trace's widest gang */
    struct gsim_cluster_spec cluster;
    const char *device_name;
    bool is_cluster_guessed; /* no option and no file says how many GPUs a node has */
    const char *cluster_note; /* "1 node x 4 GPUs (default: the widest gang)" */
    enum gsim_reference reference;
    int64_t seed, until_ns;
    int64_t mtbf_ns, mttr_ns, checkpoint_ns; /* failures of nodes; see include/gsim/run.h */
    uint64_t replication;
    int64_t slice_budget;
    bool is_exact;
    bool pauses_in_place; /* see include/gsim/run.h */
    int n_threads; /* of each run; 0: one */
    int64_t shake_ppm; /* strength of shaking a trace file, for replications above 0 */
    /* how a trace file is resampled, for replications above 0; block_ns 0: it is not */
    struct gsim_resampling resampling;
    /* What changes the times between submissions; 0: they stay. The load is that of the trace as it
     * was read or of the spec's means, so shaken and drawn traces differ in load by chance. */
    int64_t time_scale_ppm, load_ppm;
    const char *const *spec_keys; /* --spec, and what --load sets; NULL: none */
    struct gsim_estimate estimate; /* what policies are told of durations; text NULL: the truth */
    struct gsim_window window; /* the jobs that count in JCT, waiting and slowdown */
    uint32_t n_samples; /* steps of quantities over time; 0: no samples */
    /* of a command with a single run; may be NULL */
    const struct gsim_timeline_options *timeline;
    struct gsim_live *live; /* the view that shows the runs; NULL: none */
    int64_t policy_timeout_ns; /* of a hook of a policy from outside, on the clock; 0: no limit */
    /* In place of the model of devices, with its own flag that ends a run; the policy then runs in
     * this process. NULL: the model of devices. */
    const struct gsim_model_ops *model;
    void *model_arg;
    const volatile sig_atomic_t *model_stop;
    struct gsim_contender contender[GSIM_MAX_COMPARED];
    int n_contenders;
};

/* Loads everything. `names` are policies separated by commas. */
enum gsim_status gsim_setup_load(struct gsim_cli *cli, const char *names, struct gsim_setup *setup);
/* The parts of gsim_setup_load, for commands with runs that share a trace. `setup` starts
 * zeroed. */
enum gsim_status gsim_setup_policies(struct gsim_cli *cli, const char *names,
                                     struct gsim_setup *setup);
/* Loads the trace, its spec, seed and widest gang. is_drawn false leaves a spec without its trace.
 * A spec that is in `setup` already is not read again. */
enum gsim_status gsim_setup_trace(struct gsim_cli *cli, struct gsim_setup *setup, bool is_drawn);
/* Loads the nodes with their devices. It needs the widest gang if no option sets the GPUs. */
enum gsim_status gsim_setup_nodes(struct gsim_cli *cli, struct gsim_setup *setup);
/* Without --device, the listed device that has the GPU among its products becomes its value. Fails
 * where there is none. */
enum gsim_status gsim_setup_name_device(struct gsim_cli *cli, const char *gpu);
/* The GPUs of the cluster; 0 where no option and no file says how many a node has. */
enum gsim_status gsim_setup_count_gpus(struct gsim_cli *cli, int64_t *n_gpus);
/* Reads the options that change the times between submissions, and keys of the spec, for
 * setup->trace_path. */
enum gsim_status gsim_setup_scales(struct gsim_cli *cli, struct gsim_setup *setup);
/* Draws a replication of the spec, or shakes or resamples the trace, which is `setup->trace` in
 * replication 0 of a file. */
enum gsim_status gsim_setup_draw(const struct gsim_setup *setup, uint64_t replication,
                                 struct gsim_arena *arena, struct gsim_trace *out,
                                 struct gsim_log *log);
/* GPUs of the trace's widest gang. */
uint32_t gsim_setup_widest_gang(const struct gsim_trace *trace);
/* Whether a trace of that name is a spec, from which traces are drawn. */
bool gsim_setup_is_spec(const char *path);
/* Loads the cluster, the devices and the clock. It needs the seed and, if no option sets the GPUs,
 * the widest gang. */
enum gsim_status gsim_setup_cluster(struct gsim_cli *cli, struct gsim_setup *setup);
/* Reads --policy-timeout. */
enum gsim_status gsim_setup_policy_timeout(struct gsim_cli *cli, int64_t *timeout_ns);
/* Reads --samples. The default is enough for figures if there is a --db, else 0. */
enum gsim_status gsim_setup_samples(struct gsim_cli *cli, uint32_t *n_samples);
/* Whether --set KEY can change runs of the policy: the policy knows the key, or no policy does
 * (then it is a key of the device, or an error that the setup reports). */
bool gsim_setup_meets(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                      const char *key);
/* The options of a contender's run, without observers. */
void gsim_setup_options(const struct gsim_setup *setup, int contender,
                        const struct gsim_trace *trace, const struct gsim_io *io,
                        struct gsim_run_options *options);
/* Makes one run of a contender; the trace is that of the replication. arena and log are the run's
 * own; the result has the wall time.
 * `bar` shows the jobs that are done; it may be NULL. */
enum gsim_status gsim_setup_run(const struct gsim_setup *setup, int contender, uint64_t replication,
                                const struct gsim_trace *trace, const struct gsim_io *io,
                                struct gsim_progress_bar *bar, struct gsim_arena *arena,
                                struct gsim_result *result, struct gsim_log *log);

#endif
