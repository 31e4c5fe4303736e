/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim compare: several policies on one trace with one seed, on all cores. Each run has its own
 * arena and log and writes its own slot of the results, so no output depends on the number of
 * threads. */
#include <string.h>

#include "sim/app/compare/compare.h"
#include "sim/app/sweep/parallel.h"
#include "sim/app/cli/progress.h"
#include "sim/app/figures/report.h"
#include "traces/first_jobs.h"

/* CHANGED: the number of shaken or resampled traces without --reps. Fewer than about ten say little
 * about a
 * spread. */
enum { MAX_REPS = 10000, CHANGED = 10 };

/* --- runs ------------------------------------------------------------------------------------- */

struct running {
    struct gsim_compare *c;
    struct gsim_progress_bar bar; /* counts runs */
};

static void run_task(void *arg, int64_t at) {
    struct running *running = arg;
    struct gsim_compare *c = running->c;
    struct gsim_compare_task *task = &c->tasks[at];
    const char *name = c->setup->contender[task->contender].policy->name;
    gsim_progress_start(&running->bar, name);
    task->arena = gsim_arena_new();
    if (task->arena)
        task->status = gsim_setup_run(c->setup, task->contender, (uint64_t)task->replication,
                                      &c->traces[task->replication], c->cli->io, NULL, task->arena,
                                      &task->result, &task->log);
    else
        task->status = gsim_no_memory(&task->log, "starting a run");
    gsim_progress_add(&running->bar, name);
}

static void run_all(struct gsim_compare *c, const char *what) {
    struct running running = {.c = c};
    gsim_progress_begin(&running.bar, c->cli, what, c->n_tasks);
    gsim_progress_set(&running.bar, 0);
    c->setup->live = running.bar.live;
    gsim_in_parallel(c->n_threads, c->n_tasks, run_task, &running);
    c->setup->live = NULL;
    gsim_progress_end(&running.bar);
}

static enum gsim_status make_traces(struct gsim_compare *c) {
    enum gsim_status status = GSIM_OK;
    const struct gsim_setup *setup = c->setup;
    c->traces = gsim_arena_array(c->cli->arena, (size_t)c->n_traces, sizeof *c->traces);
    if (!c->traces)
        return gsim_no_memory(c->cli->log, "generating traces");
    c->traces[0] = setup->trace;
    for (int r = 1; r < c->n_traces && status == GSIM_OK; r++)
        status = gsim_setup_draw(setup, (uint64_t)r, c->cli->arena, &c->traces[r], c->cli->log);
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
        return gsim_fail(c->cli->log, GSIM_INCOMPLETE, NULL, 0,
                         "interrupted: nothing is compared%s",
                         c->cli->value[GSIM_OPT_DB] ? ", and no run is kept; gsim sweep keeps "
                                                      "those that are complete"
                                                    : "");
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

/* --- output ----------------------------------------------------------------------------------- */

static enum gsim_status write_by(const struct gsim_compare *c) {
    int n = c->setup->n_contenders;
    struct gsim_result *results =
        gsim_arena_array(c->cli->arena, (size_t)n * (size_t)c->n_reps, sizeof *results);
    if (!results)
        return gsim_no_memory(c->cli->log, "breaking results down");
    for (int r = 0; r < c->n_reps; r++)
        for (int i = 0; i < n; i++)
            results[i * c->n_reps + r] = gsim_compare_at(c, i, c->first_rep + r)->result;
    struct gsim_results all = {
        .result = results, .n = n, .n_reps = c->n_reps, .window = &c->setup->window};
    return gsim_report_by(c->cli, &all);
}

void gsim_compare_put_wrapped(FILE *out, const char *prefix, const char *text) {
    enum { WIDTH = 98 };
    int column = fprintf(out, "%s", prefix);
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column + 1 + word > WIDTH)
            column = fprintf(out, "\n   ") - 1;
        column += fprintf(out, " %.*s", word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void gsim_compare_write_verdict(FILE *out, const char *const *lines) {
    if (!*lines)
        return;
    fputc('\n', out);
    for (int i = 0; lines[i]; i++)
        gsim_compare_put_wrapped(out, i == 0 ? "verdict:" : " ", lines[i]);
}

/* Prints the table before other values of assumed constants are tried, which may take as long as
 * the runs did. */
static enum gsim_status write_all(const struct gsim_compare *c, enum gsim_output_format format) {
    FILE *out = c->cli->io->out;
    struct gsim_comparison *s = gsim_arena_alloc(c->cli->arena, sizeof *s);
    const char *const *verdict = NULL;
    struct gsim_whatif whatif = {0};
    enum gsim_status status =
        s ? gsim_compare_statistics(c, s) : gsim_no_memory(c->cli->log, "comparing");
    if (status == GSIM_OK)
        status = gsim_compare_logged(c, &s->logged);
    if (status == GSIM_OK && format == GSIM_OUTPUT_TABLE) {
        gsim_compare_write_tables(c, s);
        if (s->skewed_why)
            gsim_compare_put_wrapped(out, "note:", s->skewed_why);
        (void)fflush(out);
    }
    if (status == GSIM_OK && format != GSIM_OUTPUT_CSV)
        status = gsim_compare_verdict(c, s, &verdict, &whatif);
    if (status == GSIM_OK)
        status = gsim_compare_keep(c, s, verdict, NULL);
    if (status != GSIM_OK)
        return status;
    if (format == GSIM_OUTPUT_CSV && c->cli->value[GSIM_OPT_BY])
        return write_by(c); /* CSV has room for one table */
    if (format == GSIM_OUTPUT_TABLE) {
        gsim_compare_write_verdict(out, verdict);
        status = write_by(c);
    } else {
        status = gsim_compare_write_rows(c, s, verdict, format);
    }
    if (whatif.is_interrupted && status == GSIM_OK)
        return gsim_fail(c->cli->log, GSIM_INCOMPLETE, NULL, 0,
                         "interrupted: the table is whole, the verdict was not tried with all "
                         "assumed constants");
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static enum gsim_status plan_replications(struct gsim_compare *c) {
    int64_t reps;
    bool is_changed = c->setup->shake_ppm > 0 || c->setup->resampling.block_ns > 0;
    enum gsim_status status =
        gsim_option_int(c->cli, GSIM_OPT_REPS, is_changed ? CHANGED : 1, 1, MAX_REPS, &reps);
    if (status != GSIM_OK)
        return status;
    if (reps > 1 && !c->setup->spec && !is_changed)
        return gsim_fail(c->cli->log, GSIM_USAGE, NULL, 0,
                         "--reps needs a trace that can be drawn again: a spec .ini in place of "
                         "%s, --resample user or --shake 5%%",
                         c->setup->trace_path);
    c->n_reps = (int)reps;
    c->first_rep = is_changed;
    c->n_traces = c->first_rep + c->n_reps;
    return GSIM_OK;
}

static bool make_tasks(struct gsim_compare *c) {
    int n = c->n_traces * c->setup->n_contenders;
    c->tasks = gsim_arena_array(c->cli->arena, (size_t)n, sizeof *c->tasks);
    c->n_tasks = c->tasks ? n : 0;
    for (int t = 0; t < c->n_tasks; t++) {
        c->tasks[t].contender = t % c->setup->n_contenders;
        c->tasks[t].replication = t / c->setup->n_contenders;
    }
    return c->tasks != NULL;
}

static enum gsim_status prepare(struct gsim_compare *c) {
    int64_t n_threads;
    enum gsim_status status = plan_replications(c);
    if (status == GSIM_OK)
        status =
            gsim_option_int(c->cli, GSIM_OPT_JOBS, gsim_cores(), 1, GSIM_MAX_THREADS, &n_threads);
    if (status != GSIM_OK)
        return status;
    c->n_threads = (int)n_threads;
    return make_tasks(c) ? make_traces(c) : gsim_no_memory(c->cli->log, "starting");
}

static void warn_of_held(const struct gsim_compare *c) {
    const char *held =
        gsim_option_is_on(c->cli, GSIM_OPT_QUIET) ? NULL : gsim_held_say(c->setup, c->cli->arena);
    if (held)
        fprintf(c->cli->io->err, "gsim: %s\n", held);
}

enum gsim_status gsim_compare_runs(struct gsim_compare *c) {
    enum gsim_status status = prepare(c);
    if (status == GSIM_OK)
        status = gsim_report_look_up(c->cli, c->setup, 0, c->n_traces, &c->asked);
    if (status != GSIM_OK)
        return status;
    run_all(c, "");
    status = collect(c);
    if (status != GSIM_OK)
        return status;
    const struct gsim_summary *summaries[GSIM_MAX_COMPARED];
    for (int i = 0; i < c->setup->n_contenders; i++)
        summaries[i] = gsim_compare_summary(c, i, 0);
    gsim_report_notes(c->cli, summaries, c->setup->n_contenders);
    for (int i = 0; i < c->setup->n_contenders; i++)
        gsim_report_requests(c->cli, &gsim_compare_at(c, i, 0)->result);
    gsim_compare_warn_of_load(c);
    warn_of_held(c);
    return store(c); /* stored before printing, so that a failing output loses no run */
}

bool gsim_compare_part(const struct gsim_compare *c, uint32_t n, struct gsim_compare *part) {
    struct gsim_log log = {0}; /* warnings are those of the runs of all jobs */
    struct gsim_setup *setup = gsim_arena_alloc(c->cli->arena, sizeof *setup);
    if (!setup)
        return false;
    *setup = *c->setup;
    setup->n_samples = 0; /* of runs that are not stored */
    *part = *c;
    part->setup = setup;
    part->n_traces = part->n_reps = 1;
    part->first_rep = 0;
    part->asked = NULL;
    part->traces = gsim_arena_alloc(c->cli->arena, sizeof *part->traces);
    bool is_ok = make_tasks(part) && part->traces &&
                 gsim_trace_first(&c->traces[0], n, c->cli->arena, part->traces, &log) == GSIM_OK;
    if (is_ok)
        run_all(part, "first jobs ");
    for (int t = 0; t < part->n_tasks; t++)
        is_ok = is_ok && part->tasks[t].status == GSIM_OK;
    return is_ok;
}

void gsim_compare_free(struct gsim_compare *c) {
    for (int t = 0; t < c->n_tasks; t++)
        gsim_arena_free(c->tasks[t].arena);
}

static enum gsim_status compare(struct gsim_compare *c) {
    enum gsim_output_format format;
    enum gsim_status status = gsim_report_format(c->cli, &format);
    if (status == GSIM_OK)
        status = gsim_setup_load(c->cli, c->cli->value[GSIM_OPT_POLICIES], c->setup);
    if (status == GSIM_OK)
        status = gsim_report_check_by(c->cli, c->setup);
    if (status == GSIM_OK)
        status = gsim_compare_runs(c);
    return status == GSIM_OK ? write_all(c, format) : status;
}

enum gsim_status gsim_command_compare(struct gsim_cli *cli) {
    struct gsim_compare *c = gsim_arena_alloc(cli->arena, sizeof *c);
    struct gsim_setup *setup = gsim_arena_alloc(cli->arena, sizeof *setup);
    if (!c || !setup)
        return gsim_no_memory(cli->log, "starting");
    c->cli = cli;
    c->setup = setup;
    if (cli->value[GSIM_OPT_REAL])
        return gsim_compare_real(cli, setup);
    if (cli->value[GSIM_OPT_OUTPUT] || gsim_option_is_on(cli, GSIM_OPT_DOUBLE))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "-o and --double are of compare --real; --db keeps these runs, and gsim "
                         "plot draws them");
    if (!cli->value[GSIM_OPT_POLICIES])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which policies? gsim compare --policies fifo,srtf,las trace.csv");
    enum gsim_status status = compare(c);
    gsim_compare_free(c);
    return status;
}
