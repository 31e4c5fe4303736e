/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim compare: several policies on the same trace and the same randomness, on all cores. Each run
 * has an arena and a log of its own and writes its own slot of the results, so that the number of
 * threads cannot show in anything. */
#define _POSIX_C_SOURCE 200809L
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "sim/app/parallel.h"
#include "sim/app/report.h"

enum { MAX_REPS = 10000 };

/* One run of the grid replication x policy. */
struct task {
    int contender, replication;
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_result result;
    enum gsim_status status;
};

struct compare {
    struct gsim_cli *cli;
    struct gsim_setup *setup;
    struct gsim_trace *traces; /* by replication */
    int n_reps, n_tasks;
    struct task *tasks; /* replication by replication */
};

static void run_task(void *arg, int64_t at) {
    struct compare *c = arg;
    struct task *task = &c->tasks[at];
    task->arena = gsim_arena_new();
    if (task->arena)
        task->status = gsim_setup_run(c->setup, task->contender, &c->traces[task->replication],
                                      c->cli->io, false, task->arena, &task->result, &task->log);
    else
        task->status = gsim_no_memory(&task->log, "starting a run");
}

/* --- replications
 * ------------------------------------------------------------------------------------ */

static enum gsim_status make_traces(struct compare *c) {
    c->traces = gsim_arena_array(c->cli->arena, (size_t)c->n_reps, sizeof *c->traces);
    if (!c->traces)
        return gsim_no_memory(c->cli->log, "generating traces");
    c->traces[0] = c->setup->trace;
    for (int r = 1; r < c->n_reps; r++) {
        enum gsim_status status =
            gsim_trace_generate(c->setup->spec, (uint64_t)c->setup->seed, (uint64_t)r,
                                c->cli->arena, &c->traces[r], c->cli->log);
        if (status != GSIM_OK)
            return status;
    }
    return GSIM_OK;
}

static double mean_jct(const struct compare *c, int contender, int replication) {
    return c->tasks[replication * c->setup->n_contenders + contender].result.summary.jct_mean_s;
}

/* Mean over replications and the half width of its 95 % interval by Student's t. */
static double over_reps(const struct compare *c, int contender, double *half_width) {
    double sum = 0, squares = 0;
    int n = c->n_reps;
    for (int r = 0; r < n; r++)
        sum += mean_jct(c, contender, r);
    for (int r = 0; r < n; r++) {
        double off = mean_jct(c, contender, r) - sum / n;
        squares += off * off;
    }
    *half_width = n > 1 ? gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(squares / (n - 1) / n) : 0;
    return sum / n;
}

static void write_intervals(const struct compare *c, FILE *out) {
    fprintf(out, "\n95 %% intervals of the mean JCT over %d replications (Student's t):\n",
            c->n_reps);
    for (int i = 0; i < c->setup->n_contenders; i++) {
        double half, mean = over_reps(c, i, &half);
        fprintf(out, "  %-14s %14.3f s +- %.3f s\n", c->setup->contender[i].policy->name, mean,
                half);
    }
}

/* --- what is printed
 * ------------------------------------------------------------------------------------ */

static void write_verdict(const struct compare *c, FILE *out) {
    int n = c->setup->n_contenders, best = 0, second = -1;
    double half;
    for (int i = 1; i < n; i++)
        if (over_reps(c, i, &half) < over_reps(c, best, &half))
            best = i;
    for (int i = 0; i < n; i++)
        if (i != best && (second < 0 || over_reps(c, i, &half) < over_reps(c, second, &half)))
            second = i;
    if (second < 0)
        return;
    double winner = over_reps(c, best, &half), runner_up = over_reps(c, second, &half);
    if (!(winner < runner_up)) {
        fprintf(out, "\nverdict: %s and %s tie in mean JCT\n",
                c->setup->contender[best].policy->name, c->setup->contender[second].policy->name);
        return;
    }
    fprintf(out, "\nverdict: %s has the lowest mean JCT, %.1f %% below %s\n",
            c->setup->contender[best].policy->name, 100 * (1 - winner / runner_up),
            c->setup->contender[second].policy->name);
}

static void write_all(const struct compare *c, enum gsim_output_format format) {
    FILE *out = c->cli->io->out;
    int n = format == GSIM_OUTPUT_TABLE ? c->setup->n_contenders : c->n_tasks;
    if (format == GSIM_OUTPUT_CSV)
        gsim_write_csv_header(out);
    for (int i = 0; i < n && format == GSIM_OUTPUT_CSV; i++)
        gsim_write_csv_row(out, &c->tasks[i].result.summary);
    for (int i = 0; i < n && format == GSIM_OUTPUT_JSON; i++) {
        fputs(i == 0 ? "[" : ",\n", out);
        gsim_write_json(out, &c->tasks[i].result.summary);
    }
    if (format == GSIM_OUTPUT_JSON)
        fputs("]\n", out);
    if (format != GSIM_OUTPUT_TABLE)
        return;
    struct gsim_summary summaries[GSIM_MAX_COMPARED];
    for (int i = 0; i < n; i++)
        summaries[i] = c->tasks[i].result.summary;
    fprintf(out, "%s: %lld jobs on %s, device %s\n", c->setup->trace_path,
            (long long)summaries[0].jobs, c->setup->cluster_note, c->setup->device_name);
    gsim_write_comparison(out, summaries, n);
    if (c->n_reps > 1)
        write_intervals(c, out);
    write_verdict(c, out);
}

static enum gsim_status write_by(const struct compare *c) {
    struct gsim_result results[GSIM_MAX_COMPARED];
    for (int i = 0; i < c->setup->n_contenders; i++)
        results[i] = c->tasks[i].result;
    return gsim_report_by(c->cli, results, c->setup->n_contenders);
}

/* --- the command
 * ---------------------------------------------------------------------------------------- */

static enum gsim_status collect(struct compare *c) {
    enum gsim_status worst = GSIM_OK;
    for (int t = 0; t < c->n_tasks; t++) {
        gsim_log_merge(c->cli->log, &c->tasks[t].log);
        if (c->tasks[t].status != GSIM_OK && worst == GSIM_OK)
            worst = c->tasks[t].status;
    }
    if (worst == GSIM_INCOMPLETE)
        return gsim_fail(c->cli->log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is compared");
    return worst;
}

static enum gsim_status store(struct compare *c) {
    enum gsim_status status = GSIM_OK;
    for (int t = 0; t < c->n_tasks && status == GSIM_OK; t++)
        status = gsim_report_db(c->cli, c->setup, c->tasks[t].contender,
                                (uint64_t)c->tasks[t].replication, &c->tasks[t].result);
    return status;
}

static enum gsim_status prepare(struct compare *c, int64_t *n_threads) {
    int64_t reps;
    enum gsim_status status = gsim_option_int(c->cli, GSIM_OPT_REPS, 1, 1, MAX_REPS, &reps);
    if (status == GSIM_OK)
        status =
            gsim_option_int(c->cli, GSIM_OPT_JOBS, gsim_cores(), 1, GSIM_MAX_THREADS, n_threads);
    if (status != GSIM_OK)
        return status;
    c->n_reps = (int)reps;
    if (reps > 1 && !c->setup->spec)
        return gsim_fail(c->cli->log, GSIM_USAGE, NULL, 0,
                         "--reps needs a trace that can be drawn again: a spec .ini in place of "
                         "%s",
                         c->setup->trace_path);
    c->n_tasks = c->n_reps * c->setup->n_contenders;
    c->tasks = gsim_arena_array(c->cli->arena, (size_t)c->n_tasks, sizeof *c->tasks);
    for (int t = 0; c->tasks && t < c->n_tasks; t++) {
        c->tasks[t].contender = t % c->setup->n_contenders;
        c->tasks[t].replication = t / c->setup->n_contenders;
    }
    return c->tasks ? make_traces(c) : gsim_no_memory(c->cli->log, "starting");
}

static enum gsim_status compare(struct compare *c) {
    enum gsim_output_format format;
    int64_t n_threads = 1;
    enum gsim_status status = gsim_report_format(c->cli, &format);
    if (status == GSIM_OK)
        status = gsim_setup_load(c->cli, c->cli->value[GSIM_OPT_POLICIES], c->setup);
    if (status == GSIM_OK)
        status = gsim_report_check_by(c->cli, c->setup);
    if (status == GSIM_OK)
        status = prepare(c, &n_threads);
    if (status != GSIM_OK)
        return status;
    gsim_in_parallel((int)n_threads, c->n_tasks, run_task, c);
    status = collect(c);
    if (status != GSIM_OK)
        return status;
    for (int i = 0; i < c->setup->n_contenders; i++)
        gsim_report_notes(c->cli, &c->tasks[i].result.summary);
    write_all(c, format);
    status = write_by(c);
    return status == GSIM_OK ? store(c) : status;
}

enum gsim_status gsim_command_compare(struct gsim_cli *cli) {
    struct compare *c = gsim_arena_alloc(cli->arena, sizeof *c);
    struct gsim_setup *setup = gsim_arena_alloc(cli->arena, sizeof *setup);
    if (!c || !setup)
        return gsim_no_memory(cli->log, "starting");
    c->cli = cli;
    c->setup = setup;
    if (!cli->value[GSIM_OPT_POLICIES])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which policies? gsim compare --policies fifo,srtf,las trace.csv");
    enum gsim_status status = compare(c);
    for (int t = 0; t < c->n_tasks; t++)
        gsim_arena_free(c->tasks[t].arena);
    return status;
}
