/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim compare: several policies on the same trace and the same randomness, on all cores. Each run
 * has an arena and a log of its own and writes its own slot of the results, so that the number of
 * threads cannot show in anything. */
#include <math.h>
#include <string.h>

#include "sim/app/compare.h"
#include "sim/app/parallel.h"
#include "sim/app/report.h"
#include "traces/shake.h"

/* SHAKEN: how often a trace is shaken unless --reps says. Student's t needs about ten. */
enum { MAX_REPS = 10000, SHAKEN = 10 };

/* --- runs ------------------------------------------------------------------------------------- */

static void run_task(void *arg, int64_t at) {
    struct gsim_compare *c = arg;
    struct gsim_compare_task *task = &c->tasks[at];
    task->arena = gsim_arena_new();
    if (!task->arena) {
        task->status = gsim_no_memory(&task->log, "starting a run");
        return;
    }
    task->status = gsim_setup_run(c->setup, task->contender, &c->traces[task->replication],
                                  c->cli->io, false, task->arena, &task->result, &task->log);
    if (task->status == GSIM_OK)
        task->status =
            gsim_warmup_trim(&c->warmup, &task->result, task->arena, &task->trimmed, &task->log);
}

static enum gsim_status make_traces(struct gsim_compare *c) {
    enum gsim_status status = GSIM_OK;
    const struct gsim_setup *setup = c->setup;
    c->traces = gsim_arena_array(c->cli->arena, (size_t)c->n_traces, sizeof *c->traces);
    if (!c->traces)
        return gsim_no_memory(c->cli->log, "generating traces");
    c->traces[0] = setup->trace;
    for (int r = 1; r < c->n_traces && status == GSIM_OK; r++)
        status = setup->spec
                     ? gsim_trace_generate(setup->spec, (uint64_t)setup->seed, (uint64_t)r,
                                           c->cli->arena, &c->traces[r], c->cli->log)
                     : gsim_trace_shake(&setup->trace, setup->shake_ppm, (uint64_t)setup->seed,
                                        (uint64_t)r, c->cli->arena, &c->traces[r], c->cli->log);
    return status;
}

static enum gsim_status collect(struct gsim_compare *c) {
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

static enum gsim_status store(struct gsim_compare *c) {
    enum gsim_status status = GSIM_OK;
    for (int t = 0; t < c->n_tasks && status == GSIM_OK; t++)
        status = gsim_report_db(c->cli, c->setup, c->tasks[t].contender,
                                (uint64_t)c->tasks[t].replication,
                                &c->traces[c->tasks[t].replication], &c->tasks[t].result);
    return status;
}

/* --- what is printed -------------------------------------------------------------------------- */

static void put_margin(const struct gsim_comparison *s, FILE *out) {
    const struct gsim_compared *second = &s->policy[s->second];
    /* The interval is of second / best; the margin is 1 - best / second. */
    double low = 100 * (1 - 1 / second->to_best.low), high = 100 * (1 - 1 / second->to_best.high);
    double p = 0;
    char text[16];
    low = fabs(low) < 0.05 ? 0 : low; /* no "-0.0" */
    for (int i = 0; i < GSIM_MAX_COMPARED; i++) /* best against each of the others */
        if (i != s->best && s->policy[i].p_to_best > p)
            p = s->policy[i].p_to_best;
    gsim_format_p(text, p);
    fprintf(out, "%s (95 %% interval %.1f to %.1f %%, p %s%s)",
            p > 0.05 ? ", which may be chance" : "", low, high, *text == '<' ? "" : "= ", text);
}

static enum gsim_status put_whatif(const struct gsim_compare *c, int winner, FILE *out) {
    struct gsim_whatif whatif;
    enum gsim_status status = gsim_compare_whatif(c, winner, &whatif);
    if (status != GSIM_OK)
        return status;
    if (whatif.flip)
        fprintf(out, "; it does not survive +-20 %% on assumed constants: %s", whatif.flip);
    else if (whatif.is_interrupted)
        fputs("; not tried with other values of assumed constants", out);
    else if (whatif.n_varied)
        fprintf(out, "; it survives +-20 %% on each of %d assumed constant%s", whatif.n_varied,
                whatif.n_varied == 1 ? "" : "s");
    else if (!whatif.n_not_varied)
        fputs("; it rests on no assumed constant", out);
    if (whatif.n_not_varied)
        fprintf(out, "; %d assumed value%s not varied", whatif.n_not_varied,
                whatif.n_not_varied == 1 ? " was" : "s were");
    return GSIM_OK;
}

static enum gsim_status write_verdict(const struct gsim_compare *c, const struct gsim_comparison *s,
                                      FILE *out) {
    if (s->second < 0)
        return GSIM_OK;
    const char *best = c->setup->contender[s->best].policy->name;
    const char *second = c->setup->contender[s->second].policy->name;
    double winner = s->policy[s->best].mean_s.mean, other = s->policy[s->second].mean_s.mean;
    if (!(winner < other)) {
        fprintf(out, "\nverdict: %s and %s tie in mean JCT\n", best, second);
        return GSIM_OK;
    }
    fprintf(out, "\nverdict: %s has the lowest mean JCT, %.1f %% below %s", best,
            100 * (1 - winner / other), second);
    if (s->has_intervals)
        put_margin(s, out);
    enum gsim_status status = put_whatif(c, s->best, out);
    fputc('\n', out);
    return status;
}

static enum gsim_status write_tables(const struct gsim_compare *c) {
    FILE *out = c->cli->io->out;
    struct gsim_comparison *s = gsim_arena_alloc(c->cli->arena, sizeof *s);
    struct gsim_summary summaries[GSIM_MAX_COMPARED];
    if (!s)
        return gsim_no_memory(c->cli->log, "comparing");
    for (int i = 0; i < c->setup->n_contenders; i++)
        summaries[i] = gsim_compare_at(c, i, 0)->trimmed;
    fprintf(out, "%s: %lld jobs on %s, device %s\n", c->setup->trace_path,
            (long long)summaries[0].jobs, c->setup->cluster_note, c->setup->device_name);
    uint32_t n_skipped = gsim_warmup_jobs(&c->warmup, &c->traces[0]);
    if (n_skipped)
        fprintf(out, "the first %u jobs are warm-up: JCT, waiting and slowdown are of the others\n",
                n_skipped);
    gsim_write_comparison(out, summaries, c->setup->n_contenders);
    enum gsim_status status = gsim_compare_statistics(c, s);
    if (status != GSIM_OK)
        return status;
    gsim_compare_write_intervals(c, s, out);
    return write_verdict(c, s, out);
}

static void write_rows(const struct gsim_compare *c, enum gsim_output_format format) {
    FILE *out = c->cli->io->out;
    if (format == GSIM_OUTPUT_CSV)
        gsim_write_csv_header(out);
    for (int i = 0; i < c->n_tasks && format == GSIM_OUTPUT_CSV; i++)
        gsim_write_csv_row(out, &c->tasks[i].trimmed);
    for (int i = 0; i < c->n_tasks && format == GSIM_OUTPUT_JSON; i++) {
        fputs(i == 0 ? "[" : ",\n", out);
        gsim_write_json(out, &c->tasks[i].trimmed);
    }
    if (format == GSIM_OUTPUT_JSON)
        fputs("]\n", out);
}

static enum gsim_status write_by(const struct gsim_compare *c) {
    int n = c->setup->n_contenders;
    struct gsim_result *results =
        gsim_arena_array(c->cli->arena, (size_t)n * (size_t)c->n_reps, sizeof *results);
    uint32_t *n_skipped = gsim_arena_array(c->cli->arena, (size_t)c->n_reps, sizeof *n_skipped);
    if (!results || !n_skipped)
        return gsim_no_memory(c->cli->log, "breaking results down");
    for (int r = 0; r < c->n_reps; r++) {
        n_skipped[r] = gsim_warmup_jobs(&c->warmup, &c->traces[c->first_rep + r]);
        for (int i = 0; i < n; i++)
            results[i * c->n_reps + r] = gsim_compare_at(c, i, c->first_rep + r)->result;
    }
    struct gsim_results all = {
        .result = results, .n = n, .n_reps = c->n_reps, .n_skipped = n_skipped};
    return gsim_report_by(c->cli, &all);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum gsim_status plan_replications(struct gsim_compare *c) {
    int64_t reps;
    bool is_shaken = c->setup->shake_ppm > 0;
    enum gsim_status status =
        gsim_option_int(c->cli, GSIM_OPT_REPS, is_shaken ? SHAKEN : 1, 1, MAX_REPS, &reps);
    if (status != GSIM_OK)
        return status;
    if (reps > 1 && !c->setup->spec && !is_shaken)
        return gsim_fail(c->cli->log, GSIM_USAGE, NULL, 0,
                         "--reps needs a trace that can be drawn again: a spec .ini in place of "
                         "%s, or --shake 5%%",
                         c->setup->trace_path);
    c->n_reps = (int)reps;
    c->first_rep = is_shaken;
    c->n_traces = c->first_rep + c->n_reps;
    return GSIM_OK;
}

static enum gsim_status prepare(struct gsim_compare *c) {
    int64_t n_threads;
    enum gsim_status status = plan_replications(c);
    if (status == GSIM_OK)
        status =
            gsim_option_int(c->cli, GSIM_OPT_JOBS, gsim_cores(), 1, GSIM_MAX_THREADS, &n_threads);
    if (status == GSIM_OK)
        status = gsim_warmup_read(c->cli, &c->warmup);
    if (status != GSIM_OK)
        return status;
    c->n_threads = (int)n_threads;
    c->n_tasks = c->n_traces * c->setup->n_contenders;
    c->tasks = gsim_arena_array(c->cli->arena, (size_t)c->n_tasks, sizeof *c->tasks);
    if (!c->tasks) {
        c->n_tasks = 0;
        return gsim_no_memory(c->cli->log, "starting");
    }
    for (int t = 0; t < c->n_tasks; t++) {
        c->tasks[t].contender = t % c->setup->n_contenders;
        c->tasks[t].replication = t / c->setup->n_contenders;
    }
    return make_traces(c);
}

static enum gsim_status compare(struct gsim_compare *c) {
    enum gsim_output_format format;
    enum gsim_status status = gsim_report_format(c->cli, &format);
    if (status == GSIM_OK)
        status = gsim_setup_load(c->cli, c->cli->value[GSIM_OPT_POLICIES], c->setup);
    if (status == GSIM_OK)
        status = gsim_report_check_by(c->cli, c->setup);
    if (status == GSIM_OK)
        status = prepare(c);
    if (status == GSIM_OK)
        status =
            gsim_report_look_up(c->cli, c->setup, 0, c->n_traces, &(struct gsim_db_asked *){0});
    if (status != GSIM_OK)
        return status;
    gsim_in_parallel(c->n_threads, c->n_tasks, run_task, c);
    status = collect(c);
    if (status != GSIM_OK)
        return status;
    for (int i = 0; i < c->setup->n_contenders; i++)
        gsim_report_notes(c->cli, &c->tasks[i].result.summary);
    gsim_report_requests(c->cli, &c->tasks[0].result);
    gsim_compare_warn_of_load(c);
    status = store(c); /* first: what has been run is not lost to what is printed */
    if (status == GSIM_OK && format == GSIM_OUTPUT_TABLE)
        status = write_tables(c);
    else if (status == GSIM_OK)
        write_rows(c, format);
    return status == GSIM_OK ? write_by(c) : status;
}

enum gsim_status gsim_command_compare(struct gsim_cli *cli) {
    struct gsim_compare *c = gsim_arena_alloc(cli->arena, sizeof *c);
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
