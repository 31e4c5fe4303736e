/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as text, CSV and JSON. */
#include <math.h>
#include <string.h>

#include "sim/app/plan/plan.h"

/* The answers of a series, as positions of numbers of nodes; n_nodes: none. */
struct answers {
    int of[GSIM_PLAN_ENDS];
};

static struct answers answers_of(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    struct answers a;
    for (int end = 0; end < GSIM_PLAN_ENDS; end++)
        a.of[end] = gsim_plan_answer(p, s, (enum gsim_plan_end)end);
    return a;
}

/* The largest number below the answer that was tried; -1: none. */
static int below(const struct gsim_plan_series *s, int answer) {
    do
        answer--;
    while (answer >= s->first && !s->cell[answer].is_known);
    return answer >= s->first ? answer : -1;
}

/* What the GPUs of a cell draw and cost in a day. */
struct day {
    double energy_kwh, cost, idle_cost;
};

static struct day day_of(const struct gsim_planned *p, const struct gsim_plan_cell *cell) {
    double hours = 24 * cell->gpus;
    return (struct day){.energy_kwh = hours * cell->watts / 1000,
                        .cost = hours * p->price,
                        .idle_cost = hours * p->price * cell->idle};
}

/* --- text ------------------------------------------------------------------------------------- */

/* Whether the least number that was tried meets the target, and fewer nodes were not asked for. */
static bool is_open_below(const struct gsim_planned *p, const struct gsim_plan_series *s,
                          int answer) {
    return answer == s->first && s->first == 0 && p->n[0] > 1;
}

/* Whether the most nodes miss the target, and are farther from it than the least: no larger number
 * of nodes is an answer. */
static bool is_moving_away(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    const struct gsim_plan_cell *least = &s->cell[s->first], *most = &s->cell[p->n_nodes - 1];
    if (!least->is_known || isnan(most->value.mean) || most->unfinished > 0)
        return false;
    return p->target.is_above ? least->value.mean > most->value.mean
                              : least->value.mean < most->value.mean;
}

/* Whether the most nodes miss the target, and the number before them is as far from it: what holds
 * jobs back is not the number of nodes. */
static bool is_at_rest(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    const struct gsim_plan_cell *most = &s->cell[p->n_nodes - 1];
    if (p->n_nodes - 2 < s->first || most->unfinished > 0 || !most[-1].is_known)
        return false;
    return !isless(most->value.mean, most[-1].value.mean) &&
           !isgreater(most->value.mean, most[-1].value.mean) && !isnan(most->value.mean);
}

/* "12 [10, 15]", times what a node has; "> 64" where the most nodes are not enough, "<= 4" where
 * the least are, "none" where more nodes move away from the target, or change nothing. */
static void put_numbers(const struct gsim_planned *p, const struct gsim_plan_series *s,
                        struct answers a, double each, int width) {
    char text[128], low[32], high[32];
    const int64_t most = p->n[p->n_nodes - 1];
    char *out[] = {low, text, high};
    for (int end = 0; end < GSIM_PLAN_ENDS; end++) {
        bool is_there = a.of[end] < p->n_nodes;
        double n = (double)(is_there ? p->n[a.of[end]] : most) * each;
        const char *sign = !is_there ? "> " : is_open_below(p, s, a.of[end]) ? "<= " : "";
        if (!is_there && (is_moving_away(p, s) || is_at_rest(p, s)))
            (void)strcpy(out[end], "none");
        else
            (void)snprintf(out[end], 32, "%s%.0f", sign, n);
    }
    if (p->n_reps > 1)
        (void)snprintf(text + strlen(text), sizeof text - 32, " [%.30s, %.30s]", low, high);
    fprintf(p->cli->io->out, " %*s", width, text);
}

static void put_value(const struct gsim_planned *p, const struct gsim_plan_series *s, int at) {
    char text[96] = "-";
    const struct gsim_plan_cell *cell = at >= 0 && at < p->n_nodes ? &s->cell[at] : NULL;
    if (cell && cell->unfinished > 0)
        (void)snprintf(text, sizeof text, "%.0f jobs do not end", cell->unfinished);
    else if (cell && p->target.is_time)
        (void)gsim_format_between(text, cell->value.mean, cell->value.low, cell->value.high);
    else if (cell && isnan(cell->value.low))
        (void)snprintf(text, sizeof text, "%.4g", cell->value.mean);
    else if (cell)
        (void)snprintf(text, sizeof text, "%.4g [%.4g, %.4g]", cell->value.mean, cell->value.low,
                       cell->value.high);
    fprintf(p->cli->io->out, " %24s", text);
}

static void put_row(const struct gsim_planned *p, const struct gsim_plan_series *s, int width) {
    FILE *out = p->cli->io->out;
    struct answers a = answers_of(p, s);
    int answer = a.of[GSIM_PLAN_MEAN], shown = answer < p->n_nodes ? answer : p->n_nodes - 1;
    fprintf(out, "%-*s %8s", width, s->policy, s->arrivals);
    put_numbers(p, s, a, 1, 16);
    put_numbers(p, s, a, s->cell[shown].gpus / (double)p->n[shown], 18);
    put_value(p, s, shown);
    put_value(p, s, answer < p->n_nodes ? below(s, answer) : -1);
    gsim_put_cell(out, 4, 0, 100 * s->cell[shown].held);
    fputc('%', out);
    gsim_put_cell(out, 10, 1, day_of(p, &s->cell[shown]).energy_kwh);
    if (!isnan(p->price)) {
        gsim_put_cell(out, 12, 2, day_of(p, &s->cell[shown]).cost);
        gsim_put_cell(out, 12, 2, day_of(p, &s->cell[shown]).idle_cost);
    }
    fputc('\n', out);
}

/* Why no number of nodes is an answer. */
static const char *why_none(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    const struct gsim_plan_cell *most = &s->cell[p->n_nodes - 1];
    if (isnan(most->value.mean))
        return "and fewer: no run has that number";
    if (most->unfinished > 0)
        return "leave jobs that do not end";
    if (gsim_plan_is_met(p, &s->cell[s->first]))
        return gsim_arena_printf(
            p->cli->arena,
            "do not meet the target, with %lld it is met: more nodes move away from "
            "it, so no number is the least from which on all meet it",
            (long long)p->n[s->first]);
    if (is_at_rest(p, s) && !is_moving_away(p, s))
        return gsim_arena_printf(
            p->cli->arena,
            "do not meet the target, and %lld are as near: more change nothing where array limits, "
            "dependencies, or limits of users and partitions hold jobs back",
            (long long)p->n[p->n_nodes - 2]);
    return is_moving_away(p, s)
               ? "do not meet the target, and fewer come nearer: more do not reach it"
               : "do not meet the target; give --nodes more";
}

/* What a reader of a row has to know besides. */
static void put_notes(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    FILE *out = p->cli->io->out;
    long long least = p->n[s->first], most = p->n[p->n_nodes - 1];
    if (gsim_plan_answer(p, s, GSIM_PLAN_MEAN) == p->n_nodes)
        fprintf(out, "%s x %s: %lld nodes %s\n", s->policy, s->arrivals, most, why_none(p, s));
    else if (s->is_scanned)
        fprintf(out,
                "%s x %s: more nodes did not always help, so all numbers from %lld to %lld were "
                "tried: the answer is the least from which on all meet the target\n",
                s->policy, s->arrivals, least, most);
    if (is_open_below(p, s, gsim_plan_answer(p, s, GSIM_PLAN_MEAN)))
        fprintf(out, "%s x %s: %lld nodes meet the target; fewer may, too: give --nodes less\n",
                s->policy, s->arrivals, least);
    if (s->first > 0)
        fprintf(out, "%s x %s: the widest job does not fit on fewer than %lld nodes\n", s->policy,
                s->arrivals, least);
}

static void write_text(const struct gsim_planned *p) {
    FILE *out = p->cli->io->out;
    int width = 6;
    for (int i = 0; i < p->n_series; i++)
        if ((int)strlen(p->series[i].policy) > width)
            width = (int)strlen(p->series[i].policy);
    fprintf(out, "%s: nodes until %s, %s\n", p->sweep->grid.path, p->target.text,
            p->n_reps == 1 ? gsim_arena_printf(p->cli->arena, "of %s: no intervals", p->over)
                           : gsim_arena_printf(p->cli->arena, "%s over %s",
                                               p->is_range ? "ranges" : "95 % intervals", p->over));
    fprintf(out, "%-*s %8s %16s %18s %24s %24s %5s %10s", width, "policy", "arrivals", "nodes",
            "GPUs", p->target.field, "with fewer nodes", "held", "kWh/day");
    if (!isnan(p->price))
        fprintf(out, " %12s %12s", "cost/day", "of idle GPUs");
    fputc('\n', out);
    for (int i = 0; i < p->n_series; i++)
        put_row(p, &p->series[i], width);
    for (int i = 0; i < p->n_series; i++)
        put_notes(p, &p->series[i]);
    if (p->n_reps > 1 && !p->is_range)
        fprintf(out, "%s\n", gsim_intervals_caution);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void write_csv(const struct gsim_planned *p) {
    FILE *out = p->cli->io->out;
    fprintf(out,
            "policy,arrivals,nodes,gpus,replications,%s,low,high,unfinished,held,energy_kwh_day,"
            "cost_day,idle_cost_day,answer\n",
            p->target.field);
    for (int i = 0; i < p->n_series; i++) {
        const struct gsim_plan_series *s = &p->series[i];
        int answer = gsim_plan_answer(p, s, GSIM_PLAN_MEAN);
        for (int k = s->first; k < p->n_nodes; k++) {
            const struct gsim_plan_cell *cell = &s->cell[k];
            if (!cell->is_known)
                continue;
            const struct day day = day_of(p, cell);
            const double numbers[] = {cell->value.mean, cell->value.low, cell->value.high,
                                      cell->unfinished, cell->held,      day.energy_kwh,
                                      day.cost,         day.idle_cost};
            gsim_put_csv_text(out, s->policy);
            fprintf(out, ",%s,%lld,%.0f,%d", s->arrivals, (long long)p->n[k], cell->gpus,
                    p->n_reps);
            for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++) {
                fputc(',', out);
                gsim_put_real(out, numbers[c], false);
            }
            fprintf(out, ",%d\n", k == answer);
        }
    }
}

static void put_json_cells(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    FILE *out = p->cli->io->out;
    const char *comma = "";
    fputs(",\"tried\":[", out);
    for (int k = s->first; k < p->n_nodes; k++) {
        const struct gsim_plan_cell *cell = &s->cell[k];
        if (!cell->is_known)
            continue;
        fprintf(out, "%s{\"nodes\":%lld,\"gpus\":%.0f", comma, (long long)p->n[k], cell->gpus);
        gsim_put_json_interval(out, p->target.field, &cell->value);
        fprintf(out, ",\"unfinished\":%.0f,\"held\":", cell->unfinished);
        gsim_put_real(out, cell->held, true);
        const struct day day = day_of(p, cell);
        fputs(",\"energy_kwh_day\":", out);
        gsim_put_real(out, day.energy_kwh, true);
        fputs(",\"cost_day\":", out);
        gsim_put_real(out, day.cost, true);
        fputs(",\"idle_cost_day\":", out);
        gsim_put_real(out, day.idle_cost, true);
        fputc('}', out);
        comma = ",";
    }
    fputc(']', out);
}

static void write_json(const struct gsim_planned *p) {
    static const char *const names[] = {"nodes_low", "nodes", "nodes_high"};
    FILE *out = p->cli->io->out;
    for (int i = 0; i < p->n_series; i++) {
        const struct gsim_plan_series *s = &p->series[i];
        struct answers a = answers_of(p, s);
        fputs(i == 0 ? "[" : ",\n", out);
        fputs("{\"policy\":", out);
        gsim_put_json_text(out, s->policy);
        fprintf(out, ",\"arrivals\":%s,\"target\":", s->arrivals);
        gsim_put_json_text(out, p->target.text);
        fprintf(out, ",\"replications\":%d,\"over\":", p->n_reps);
        gsim_put_json_text(out, p->over);
        fputs(",\"assumed\":", out);
        gsim_put_json_text(out, p->notes.assumed ? p->notes.assumed : "");
        fputs(",\"watts_assumed\":", out);
        gsim_put_json_text(out, p->watts_assumed ? p->watts_assumed : "");
        for (int end = 0; end < GSIM_PLAN_ENDS; end++) {
            bool is_shown = a.of[end] < p->n_nodes && (end == GSIM_PLAN_MEAN || p->n_reps > 1);
            fprintf(out, ",\"%s\":", names[end]);
            gsim_put_real(out, is_shown ? (double)p->n[a.of[end]] : (double)NAN, true);
        }
        fprintf(out, ",\"all_tried\":%s", s->is_scanned ? "true" : "false");
        put_json_cells(p, s);
        fputc('}', out);
    }
    fputs("]\n", out);
}

void gsim_plan_write(const struct gsim_planned *p, enum gsim_output_format format) {
    if (format == GSIM_OUTPUT_TABLE)
        write_text(p);
    else if (format == GSIM_OUTPUT_CSV)
        write_csv(p);
    else
        write_json(p);
}
