/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a contender, with its timeline and its samples over time. A policy from outside of
 * the program runs in a process of its own. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "sim/app/apart/apart.h"
#include "sim/study/outfile.h"
#include "sim/app/live/run.h"
#include "sim/study/samples.h"
#include "sim/app/setup/apps.h"
#include "sim/app/setup/setup.h"

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show_progress(void *bar, uint32_t n_done, uint32_t n_jobs) {
    (void)n_jobs;
    gsim_progress_set(bar, n_done);
}

/* Whether processes stay on their GPUs while others run there, under some policy of the run. */
static bool has_contexts(const struct gsim_setup *setup, const struct gsim_contender *own) {
    bool has = gsim_policy_has_contexts(own->policy, &own->params);
    for (uint32_t g = 0; g < setup->cluster.n_groups; g++) {
        const struct gsim_part *part = setup->cluster.groups[g].part;
        has |= part && gsim_policy_has_contexts(part->policy, part->params);
    }
    return has;
}

/* Memory of a context on the device where it is largest; 0 if contexts do not stand beside each
 * other, or the trace has no column of memory. */
static int64_t context_bytes(const struct gsim_setup *setup, const struct gsim_contender *own,
                             const struct gsim_trace *trace) {
    int64_t most = 0;
    if (!has_contexts(setup, own) || !trace->column[GSIM_COL_MEM_BYTES])
        return 0;
    for (uint16_t p = 0; p < setup->cluster.n_profiles; p++) {
        int64_t bytes = setup->cluster.profiles[p]->value[GSIM_KEY_CONTEXT_BYTES];
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* --- the run, and its observers --------------------------------------------------------------- */

static enum gsim_status run_sampled(const struct gsim_setup *setup,
                                    struct gsim_run_options *options, struct gsim_arena *arena,
                                    struct gsim_result *result, struct gsim_log *log) {
    struct gsim_samples *samples =
        setup->n_samples ? gsim_samples_new(arena, setup->n_samples) : NULL;
    if (setup->n_samples && !samples)
        return gsim_no_memory(log, "starting a run");
    if (samples)
        options->observer = gsim_samples_observer(samples, options->observer);
    double begin_s = now_s();
    enum gsim_status status = gsim_run(options, arena, result, log);
    if (status != GSIM_OK && status != GSIM_INCOMPLETE)
        return status;
    result->summary.wall_s = now_s() - begin_s;
    if (samples && !gsim_samples_finish(samples, result))
        return gsim_no_memory(log, "sampling a run");
    return status;
}

static enum gsim_status run_observed(const void *arg, const struct gsim_run_options *given,
                                     struct gsim_arena *arena, struct gsim_result *result,
                                     struct gsim_log *log) {
    const struct gsim_setup *setup = arg;
    struct gsim_run_options options = *given;
    struct gsim_run_timeline *timeline;
    if (!setup->timeline)
        return run_sampled(setup, &options, arena, result, log);
    enum gsim_status status = gsim_timeline_open(setup->timeline, arena, &timeline, log);
    if (status != GSIM_OK)
        return status;
    options.observer = gsim_timeline_observer(timeline, given->observer);
    status = run_sampled(setup, &options, arena, result, log);
    if (status != GSIM_OK && status != GSIM_INCOMPLETE) {
        gsim_timeline_abandon(timeline);
        return status;
    }
    enum gsim_status closed = gsim_timeline_close(timeline, log);
    return closed != GSIM_OK ? closed : status;
}

static enum gsim_status run_apart(const struct gsim_setup *setup, const char *source,
                                  const struct gsim_run_options *options, const struct gsim_io *io,
                                  struct gsim_progress_bar *bar, struct gsim_arena *arena,
                                  struct gsim_result *result, struct gsim_log *log) {
    struct gsim_apart apart = {.run = run_observed,
                               .arg = setup,
                               .source = source,
                               .timeout_ns = setup->policy_timeout_ns,
                               .io = io,
                               .bar = bar};
    enum gsim_status status = gsim_apart_run(&apart, options, arena, result, log);
    if (status == GSIM_FAILED && setup->timeline) /* of a process that ended in the middle of it */
        gsim_outfile_forget(setup->timeline->path, arena);
    return status;
}

/* A policy from outside has a process of its own, in which the view is not. */
static enum gsim_status run_shown(const struct gsim_setup *setup, const struct gsim_contender *own,
                                  struct gsim_run_options *options, struct gsim_arena *arena,
                                  struct gsim_result *result, struct gsim_log *log) {
    if (!setup->live)
        return run_observed(setup, options, arena, result, log);
    const char *folder = strrchr(setup->trace_path, '/');
    const char *trace = folder ? folder + 1 : setup->trace_path;
    const char *name = options->replication
                           ? gsim_arena_printf(arena, "%s on %s, replication %llu", own->typed,
                                               trace, (unsigned long long)options->replication)
                           : gsim_arena_printf(arena, "%s on %s", own->typed, trace);
    struct gsim_live_run *run =
        name ? gsim_live_open(setup->live, name, arena, options->observer) : NULL;
    if (!run)
        return gsim_no_memory(log, "starting a run");
    options->observer = gsim_live_observer(run);
    enum gsim_status status = run_observed(setup, options, arena, result, log);
    gsim_live_close(run);
    return status;
}

void gsim_setup_options(const struct gsim_setup *setup, int contender,
                        const struct gsim_trace *trace, const struct gsim_io *io,
                        struct gsim_run_options *options) {
    const struct gsim_contender *own = &setup->contender[contender];
    *options = (struct gsim_run_options){.trace = trace,
                                         .cluster = &setup->cluster,
                                         .policy = own->policy,
                                         .policy_params = &own->params,
                                         .model = setup->model ? setup->model : &gsim_model_device,
                                         .model_arg = setup->model_arg,
                                         .reference = setup->reference,
                                         .device_name = setup->device_name,
                                         .seed = setup->seed,
                                         .replication = setup->replication,
                                         .mtbf_ns = setup->mtbf_ns,
                                         .mttr_ns = setup->mttr_ns,
                                         .checkpoint_ns = setup->checkpoint_ns,
                                         .context_bytes = context_bytes(setup, own, trace),
                                         .pauses_in_place = setup->pauses_in_place,
                                         .until_ns = setup->until_ns,
                                         .slice_budget = setup->slice_budget,
                                         .is_exact = setup->is_exact,
                                         .n_threads = setup->n_threads,
                                         .stop = setup->model ? setup->model_stop : io->stop};
}

/* Estimates are of durations as they are, with what profiles of applications say. */
static enum gsim_status estimate(const struct gsim_setup *setup, uint64_t replication,
                                 struct gsim_arena *arena, const struct gsim_trace **trace,
                                 struct gsim_log *log) {
    struct gsim_trace *own = gsim_arena_alloc(arena, sizeof *own);
    if (!own)
        return gsim_no_memory(log, "estimating durations");
    enum gsim_status status = gsim_trace_estimate(*trace, &setup->estimate, (uint64_t)setup->seed,
                                                  replication, arena, own, log);
    *trace = own;
    return status;
}

enum gsim_status gsim_setup_run(const struct gsim_setup *setup, int contender, uint64_t replication,
                                const struct gsim_trace *trace, const struct gsim_io *io,
                                struct gsim_progress_bar *bar, struct gsim_arena *arena,
                                struct gsim_result *result, struct gsim_log *log) {
    const struct gsim_contender *own = &setup->contender[contender];
    struct gsim_run_options options;
    enum gsim_status status = gsim_apps_resolve(trace, &setup->cluster, arena, &trace, log);
    if (status == GSIM_OK && setup->estimate.text)
        status = estimate(setup, replication, arena, &trace, log);
    if (status != GSIM_OK)
        return status;
    gsim_setup_options(setup, contender, trace, io, &options);
    options.replication = replication;
    bool has_bar = gsim_progress_is_shown(bar);
    if (has_bar) {
        options.progress = show_progress;
        options.progress_arg = bar;
    }
    status = own->is_foreign && !setup->model ? run_apart(setup, own->typed, &options, io,
                                                          has_bar ? bar : NULL, arena, result, log)
                                              : run_shown(setup, own, &options, arena, result, log);
    if (status != GSIM_OK && status != GSIM_INCOMPLETE)
        return status;
    enum gsim_status applied = gsim_window_apply(&setup->window, result, arena, log);
    return applied != GSIM_OK ? applied : status;
}
