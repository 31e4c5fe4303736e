/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From options to what a run needs: the trace, the cluster, the device, the policies with their
 * parameters. Loaded once, then shared by all runs of the command. */
#ifndef GSIM_APP_SETUP_H
#define GSIM_APP_SETUP_H

#include "models/hardware/profile.h"
#include "sim/app/cli/cli.h"
#include "sim/app/cli/progress.h"
#include "policies/registry.h"
#include "sim/app/setup/window.h"
#include "gsim/run.h"
#include "traces/generate.h"

enum { GSIM_MAX_COMPARED = 64 };

struct gsim_contender {
    const struct gsim_policy *policy;
    struct gsim_params params;
};

struct gsim_setup {
    const char *trace_path;
    struct gsim_trace trace;
    const struct gsim_generate_spec *spec; /* the trace is drawn from it; NULL: it is read */
    uint32_t widest_gang; /* of the trace */
    struct gsim_cluster_spec cluster;
    const char *device_name;
    const char *cluster_note; /* "1 node x 4 GPUs (default: the widest gang)" */
    enum gsim_reference reference;
    int64_t seed, until_ns;
    int64_t mtbf_ns, mttr_ns, checkpoint_ns; /* failures of nodes; see include/gsim/run.h */
    uint64_t replication;
    int64_t slice_budget;
    bool is_exact;
    int64_t shake_ppm; /* replications above 0 of a trace file are shaken by so much */
    struct gsim_window window; /* jobs that JCT, waiting and slowdown are of */
    uint32_t n_samples; /* steps of quantities over time; 0: none are taken */
    const struct gsim_observer *observer; /* NULL, or of a command that runs once */
    struct gsim_contender contender[GSIM_MAX_COMPARED];
    int n_contenders;
};

/* names: policies separated by commas. */
enum gsim_status gsim_setup_load(struct gsim_cli *cli, const char *names, struct gsim_setup *setup);
/* Its parts, for those whose runs share a trace: setup starts zeroed. */
enum gsim_status gsim_setup_policies(struct gsim_cli *cli, const char *names,
                                     struct gsim_setup *setup);
/* The trace, its spec, seed and widest gang. is_drawn: false leaves a spec without its trace. A spec
 * that setup has already is not read again. */
enum gsim_status gsim_setup_trace(struct gsim_cli *cli, struct gsim_setup *setup, bool is_drawn);
/* Whether a trace of that name is drawn from a spec. */
bool gsim_setup_is_spec(const char *path);
/* Cluster, devices and clock; needs the seed, and the widest gang where no option gives GPUs. */
enum gsim_status gsim_setup_cluster(struct gsim_cli *cli, struct gsim_setup *setup);
/* --samples, or the default: as many as figures need, where there is a --db to keep them. */
enum gsim_status gsim_setup_samples(struct gsim_cli *cli, uint32_t *n_samples);
/* Whether --set KEY can change runs of the policy: it knows the key, or no policy does (then it is
 * a key of the device, or an error that the setup reports). */
bool gsim_setup_meets(const struct gsim_policy *policy, const char *key);
/* One run of a contender. arena and log are the run's own; wall time is filled in. bar: told of jobs
 * that are done; NULL: none. */
enum gsim_status gsim_setup_run(const struct gsim_setup *setup, int contender,
                                const struct gsim_trace *trace, const struct gsim_io *io,
                                struct gsim_progress_bar *bar, struct gsim_arena *arena,
                                struct gsim_result *result, struct gsim_log *log);

/* cluster_file.c: [node NAME] sections with count, gpus, device, cpus and links. Devices that the file does
 * not name are the default one. */
enum gsim_status gsim_cluster_file_read(struct gsim_cli *cli, const char *path,
                                        const char *default_device, struct gsim_cluster_spec *out);
bool gsim_setup_is_host_moot(const struct gsim_profile *profile);
/* A profile with the --set keys of the command line applied. */
enum gsim_status gsim_setup_profile(struct gsim_cli *cli, const char *name,
                                    const struct gsim_profile **out);

#endif
