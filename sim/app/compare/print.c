/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as text, CSV and JSON. */
#include <math.h>
#include <string.h>

#include "sim/app/compare/compare.h"
#include "sim/app/figures/report.h"
#include "sim/base/text.h"

/* --- the table -------------------------------------------------------------------------------- */

static void put_interval(FILE *out, const struct gsim_interval *i) {
    char text[64];
    (void)gsim_format_between(text, i->mean, i->low, i->high);
    fprintf(out, " %24s", text);
}

static void put_ratio(FILE *out, const struct gsim_interval *i) {
    char all[96];
    if (isnan(i->mean))
        (void)snprintf(all, sizeof all, "-");
    else if (isnan(i->low) || isnan(i->high))
        (void)snprintf(all, sizeof all, "%.3f", i->mean);
    else
        (void)snprintf(all, sizeof all, "%.3f [%.3f, %.3f]", i->mean, i->low, i->high);
    fprintf(out, " %20s", all);
}

void gsim_format_p(char *buffer, double p) {
    if (isnan(p))
        (void)snprintf(buffer, 16, "-");
    else if (p < 0.001)
        (void)snprintf(buffer, 16, "< 0.001");
    else
        (void)snprintf(buffer, 16, "%.2g", p);
}

/* The policies of the table that no cluster can run. */
static void put_oracles(const struct gsim_compare *c, FILE *out) {
    int n = 0;
    for (int i = 0; i < c->setup->n_contenders; i++)
        if (gsim_compare_knows_durations(c, i))
            fprintf(out, "%s%s", n++ ? ", " : "oracles, which know how long jobs run: ",
                    c->setup->contender[i].policy->name);
    fputs(n ? "\n" : "", out);
}

const char *gsim_compare_say_over(const struct gsim_compare *c, const struct gsim_comparison *s) {
    struct gsim_arena *arena = c->cli->arena;
    if (s->none_why)
        return gsim_arena_printf(arena, "no intervals: %s", s->none_why);
    if (s->units == GSIM_UNITS_REPS)
        return gsim_arena_printf(
            arena, "95 %% intervals over %d replications (Johnson's t; ratios and p by Holm)",
            s->n_units);
    if (s->units == GSIM_UNITS_CHANGED)
        return gsim_arena_printf(
            arena, "ranges over %d %s (how sensitive this one is, no chance of others)", s->n_units,
            s->over);
    return gsim_arena_printf(arena,
                             "95 %% intervals over %d batches of this trace's jobs (Student's t or "
                             "wider; ratios and p by Holm)",
                             s->n_units);
}

static void put_heading(const struct gsim_comparison *s, const char *over, int width, FILE *out) {
    fprintf(out, "\n%s:\n", over);
    fprintf(out, "%-*s %24s %24s %20s %8s\n", width, "policy", "JCT mean",
            s->units == GSIM_UNITS_BATCHES ? "difference" : "p99", "ratio",
            s->units == GSIM_UNITS_CHANGED ? "below" : "p");
}

/* A single run has no interval of the p99; the difference of the means stands in its place. */
static void write_intervals(const struct gsim_compare *c, const struct gsim_comparison *s,
                            int width, FILE *out) {
    const char *over = gsim_compare_say_over(c, s);
    over = over ? over : ""; /* no memory, which the verdict meets as well */
    if (s->none_why) {
        fprintf(out, "\n%s\n", over);
        return;
    }
    put_heading(s, over, width, out);
    for (int i = 0; i < c->setup->n_contenders; i++) {
        const struct gsim_compared *about = &s->policy[i];
        bool is_run = s->units == GSIM_UNITS_BATCHES;
        char last[32];
        fprintf(out, "%-*s", width, c->setup->contender[i].policy->name);
        put_interval(out, &about->mean_s);
        if (!is_run)
            put_interval(out, &about->p99_s);
        else if (i > 0)
            put_interval(out, &about->difference_s);
        if (i > 0) {
            gsim_format_p(last, about->p);
            if (s->units == GSIM_UNITS_CHANGED)
                (void)snprintf(last, sizeof last, "%d/%d", about->n_below, s->n_units);
            put_ratio(out, &about->ratio);
            fprintf(out, " %8s", last);
        }
        fputc('\n', out);
    }
}

void gsim_compare_write_tables(const struct gsim_compare *c, const struct gsim_comparison *s) {
    FILE *out = c->cli->io->out;
    const struct gsim_summary *summaries[GSIM_MAX_COMPARED];
    for (int i = 0; i < c->setup->n_contenders; i++)
        summaries[i] = gsim_compare_summary(c, i, 0);
    fprintf(out, "%s: %lld job%s on %s, device %s", summaries[0]->trace,
            (long long)summaries[0]->jobs, gsim_plural(summaries[0]->jobs), c->setup->cluster_note,
            c->setup->device_name);
    if (s->units == GSIM_UNITS_REPS && !c->first_rep)
        fprintf(out, ": the first of %d draws", s->n_units);
    fprintf(out, "%s\n", c->first_rep ? ": as it is" : "");
    if (summaries[0]->warmup_jobs + summaries[0]->cooldown_jobs)
        fprintf(out,
                "JCT, waiting and slowdown are without the first %lld and the last %lld jobs\n",
                (long long)summaries[0]->warmup_jobs, (long long)summaries[0]->cooldown_jobs);
    gsim_write_comparison(out, summaries, c->setup->n_contenders);
    put_oracles(c, out);
    gsim_write_latencies(out, summaries, c->setup->n_contenders);
    gsim_compare_write_logged(c, &s->logged, gsim_name_width(summaries, c->setup->n_contenders));
    if (c->setup->n_contenders > 1 || !s->none_why)
        write_intervals(c, s, gsim_name_width(summaries, c->setup->n_contenders), out);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put_json_verdict(FILE *out, const char *const *verdict) {
    fputs(",\"verdict\":[", out);
    for (const char *const *line = verdict; *line; line++) {
        fputs(line == verdict ? "" : ",", out);
        gsim_put_json_text(out, *line);
    }
    fputc(']', out);
}

/* Writes the statistics of a run's policy over all its runs; every object repeats the verdict. */
static void put_json_comparison(FILE *out, const struct gsim_compare_task *task,
                                const struct gsim_comparison *s, const char *const *verdict) {
    const struct gsim_compared *about = &s->policy[task->contender];
    fprintf(out, ",\"comparison\":{\"replication\":%d,\"over\":", task->replication);
    gsim_put_json_text(out, s->over);
    fprintf(out, ",\"units\":%d,\"no_intervals_because\":", s->none_why ? 0 : s->n_units);
    if (s->none_why)
        gsim_put_json_text(out, s->none_why);
    else
        fputs("null", out);
    fputs(",\"intervals_miss_because\":", out);
    if (s->skewed_why)
        gsim_put_json_text(out, s->skewed_why);
    else
        fputs("null", out);
    gsim_put_json_interval(out, "jct_mean_s", &about->mean_s);
    gsim_put_json_interval(out, "jct_p99_s", &about->p99_s);
    gsim_put_json_interval(out, "difference_s", &about->difference_s);
    gsim_put_json_interval(out, "ratio", &about->ratio);
    gsim_latencies_put_json(out, &about->latency);
    fputs(",\"p\":", out);
    gsim_put_real(out, about->p, true);
    if (s->units == GSIM_UNITS_CHANGED)
        fprintf(out, ",\"below\":%d", about->n_below);
    gsim_compare_put_json_logged(out, &s->logged, task->contender);
    put_json_verdict(out, verdict);
    fputc('}', out);
}

static void put_csv_interval(FILE *out, const struct gsim_interval *i) {
    const double cells[] = {i->mean, i->low, i->high};
    for (int k = 0; k < 3; k++) {
        fputc(',', out);
        gsim_put_real(out, cells[k], false);
    }
}

static void put_csv_row(FILE *out, const struct gsim_compare_task *task,
                        const struct gsim_comparison *s) {
    const struct gsim_compared *about = &s->policy[task->contender];
    gsim_write_csv_fields(out, &task->result.summary);
    fprintf(out, ",%d,%s,%d", task->replication, s->over, s->none_why ? 0 : s->n_units);
    put_csv_interval(out, &about->mean_s);
    put_csv_interval(out, &about->p99_s);
    for (int l = 0; l < GSIM_LATENCY_COUNT; l++)
        put_csv_interval(out, &about->latency.of_s[l]);
    put_csv_interval(out, &about->difference_s);
    put_csv_interval(out, &about->ratio);
    fputc(',', out);
    gsim_put_real(out, about->p, false);
    fputc('\n', out);
}

enum gsim_status gsim_compare_write_rows(const struct gsim_compare *c,
                                         const struct gsim_comparison *s,
                                         const char *const *verdict,
                                         enum gsim_output_format format) {
    FILE *out = c->cli->io->out;
    enum gsim_status status = GSIM_OK;
    if (format == GSIM_OUTPUT_CSV) {
        gsim_write_csv_names(out);
        fputs(",replication,over,units,all_jct_mean_s,all_jct_mean_low_s,all_jct_mean_high_s,"
              "all_jct_p99_s,all_jct_p99_low_s,all_jct_p99_high_s,all_latency_mean_s,"
              "all_latency_mean_low_s,all_latency_mean_high_s,all_latency_p50_s,"
              "all_latency_p50_low_s,all_latency_p50_high_s,all_latency_p99_s,"
              "all_latency_p99_low_s,all_latency_p99_high_s,difference_s,difference_low_s,"
              "difference_high_s,ratio,ratio_low,ratio_high,p\n",
              out);
    }
    for (int i = 0; i < c->n_tasks && status == GSIM_OK; i++) {
        const struct gsim_compare_task *task = &c->tasks[i];
        if (format == GSIM_OUTPUT_CSV) {
            put_csv_row(out, task, s);
            continue;
        }
        fputs(i == 0 ? "[" : ",\n", out);
        gsim_write_json_fields(out, &task->result.summary);
        put_json_comparison(out, task, s, verdict);
        status = gsim_report_by_json(c->cli, &c->setup->window, &task->result);
        fputc('}', out);
    }
    if (format == GSIM_OUTPUT_JSON)
        fputs("]\n", out);
    return status;
}
