/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which numbers of nodes are tried. If more nodes never hurt, halving finds the least number that
 * meets the target, once for each end of the intervals. Policies and gangs can break that: a job
 * that starts sooner may stand in the way of a wider one. So the neighbours of the answer are tried
 * as well; where a larger number of those tried misses what a smaller one meets, every number of
 * the range is tried, and the answer is the least from which on all meet it. */
#include <math.h>
#include <string.h>

#include "sim/api/model.h"
#include "sim/app/plan/plan.h"
#include "sim/app/results/db_figure.h"

/* --- one cell --------------------------------------------------------------------------------- */

static bool is_met(const struct gsim_planned *p, const struct gsim_plan_cell *cell,
                   enum gsim_plan_end end) {
    const struct gsim_interval *v = &cell->value;
    bool takes_low = (end == GSIM_PLAN_NEAR) != p->target.is_above;
    double value = end == GSIM_PLAN_MEAN || isnan(v->low) ? v->mean : takes_low ? v->low : v->high;
    /* jobs that never ended waited longer than any field says */
    if (isnan(value) || cell->unfinished > 0)
        return false;
    return p->target.is_above ? value > p->target.value : value < p->target.value;
}

bool gsim_plan_is_met(const struct gsim_planned *p, const struct gsim_plan_cell *cell) {
    return cell->is_known && is_met(p, cell, GSIM_PLAN_MEAN);
}

static struct gsim_interval range_of(const double *values, int n, double mean) {
    struct gsim_interval range = {mean, values[0], values[0]};
    for (int i = 1; i < n; i++) {
        range.low = fmin(range.low, values[i]);
        range.high = fmax(range.high, values[i]);
    }
    return range;
}

static enum gsim_status describe(const struct gsim_planned *p, struct gsim_plan_cell *cell) {
    double *values = gsim_arena_array(p->cli->arena, (size_t)p->n_reps, sizeof *values);
    double n = p->n_reps, mean = 0;
    if (!values)
        return gsim_no_memory(p->cli->log, "planning");
    cell->held = cell->idle = cell->unfinished = cell->watts = 0;
    for (int r = 0; r < p->n_reps; r++) {
        values[r] = cell->run[r].value;
        mean += values[r] / n;
        cell->held += cell->run[r].held / n;
        cell->idle += cell->run[r].idle / n;
        cell->watts += cell->run[r].watts / n;
        cell->unfinished += cell->run[r].unfinished;
    }
    cell->gpus = cell->run[0].gpus;
    cell->value = p->n_reps == 1 ? (struct gsim_interval){mean, (double)NAN, (double)NAN}
                  : p->is_range  ? range_of(values, p->n_reps, mean)
                                 : gsim_t_log_interval(values, (size_t)p->n_reps);
    if (cell->value.high > gsim_db_most(p->target.field))
        cell->value.high = gsim_db_most(p->target.field);
    cell->is_known = true;
    return GSIM_OK;
}

/* --- one series ------------------------------------------------------------------------------- */

int gsim_plan_answer(const struct gsim_planned *p, const struct gsim_plan_series *s,
                     enum gsim_plan_end end) {
    int answer = p->n_nodes;
    for (int i = p->n_nodes - 1; i >= s->first; i--) {
        if (!s->cell[i].is_known)
            continue;
        if (!is_met(p, &s->cell[i], end))
            break;
        answer = i;
    }
    return answer;
}

/* Whether a number that was tried misses what a smaller one meets. */
static bool is_broken(const struct gsim_planned *p, const struct gsim_plan_series *s) {
    int answer = gsim_plan_answer(p, s, GSIM_PLAN_MEAN);
    for (int i = s->first; i < answer && answer < p->n_nodes; i++)
        if (s->cell[i].is_known && is_met(p, &s->cell[i], GSIM_PLAN_MEAN))
            return true;
    return false;
}

/* The number between an answer and the largest one below it that was tried; -1: none is left. */
static int halve(const struct gsim_planned *p, const struct gsim_plan_series *s,
                 enum gsim_plan_end end) {
    int answer = gsim_plan_answer(p, s, end), below = answer - 1;
    if (answer == p->n_nodes)
        return s->cell[answer - 1].is_known ? -1 : answer - 1;
    while (below >= s->first && !s->cell[below].is_known)
        below--;
    return answer - below > 1 ? below + (answer - below) / 2 : -1;
}

static int want(const struct gsim_plan_series *s, int at, int n, int *wanted, int n_wanted) {
    if (at < s->first || at >= n || s->cell[at].is_known)
        return n_wanted;
    for (int i = 0; i < n_wanted; i++)
        if (wanted[i] == at)
            return n_wanted;
    wanted[n_wanted] = at;
    return n_wanted + 1;
}

/* Says which numbers of nodes a series needs next; 0: its answers are found. */
static int next_of(const struct gsim_planned *p, struct gsim_plan_series *s, int *wanted) {
    int n = 0;
    s->is_scanned |= is_broken(p, s);
    for (int i = s->first; s->is_scanned && i < p->n_nodes; i++)
        n = want(s, i, p->n_nodes, wanted, n);
    if (s->is_scanned)
        return n;
    for (int end = 0; end < GSIM_PLAN_ENDS; end++)
        n = want(s, halve(p, s, (enum gsim_plan_end)end), p->n_nodes, wanted, n);
    int answer = gsim_plan_answer(p, s, GSIM_PLAN_MEAN);
    static const int neighbours[] = {1, 2, -2};
    if (n == 0 && answer == p->n_nodes) { /* do fewer nodes meet it, and did the last one help? */
        n = want(s, s->first, p->n_nodes, wanted, n);
        return want(s, p->n_nodes - 2, p->n_nodes, wanted, n);
    }
    for (int i = 0; i < 3 && n == 0; i++)
        n = want(s, answer + neighbours[i], p->n_nodes, wanted, n);
    return n;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* A run to be read, and the plan that is told of its assumptions. */
struct reading {
    struct gsim_plan_run *run;
    struct gsim_planned *p;
};

static bool is_listed(const char *list, const char *item, size_t n) {
    for (const char *at = list; at; at = strstr(at, ", ")) {
        at += at == list ? 0 : 2;
        if (strncmp(at, item, n) == 0 && (at[n] == '\0' || at[n] == ','))
            return true;
    }
    return false;
}

/* Adds the constants that a run assumed to those of the plan. Durations that count as the device's
 * own are about the trace, and are no constant. */
static void note_assumed(struct gsim_planned *p, const char *list) {
    static const char durations[] = GSIM_ASSUMED_DURATIONS "=";
    const char **all = &p->notes.assumed;
    for (const char *end, *at = list; *at; at = end + (*end ? 2 : 0)) {
        end = strstr(at, ", ");
        end = end ? end : at + strlen(at);
        int n = (int)(end - at);
        if (strncmp(at, durations, strlen(durations)) == 0 ||
            (*all && is_listed(*all, at, (size_t)n)))
            continue;
        const char *more =
            gsim_arena_printf(p->cli->arena, "%s%s%.*s", *all ? *all : "", *all ? ", " : "", n, at);
        *all = more ? more : *all;
    }
}

static void take_numbers(void *arg, const struct gsim_db_value *v, int n) {
    const struct reading *reading = arg;
    struct gsim_plan_run *run = reading->run;
    if (n < 9)
        return;
    run->value = v[0].is_null ? (double)NAN : v[0].number;
    run->unfinished = v[1].number;
    run->gpus = v[2].number;
    run->held = v[3].number;
    gsim_sweep_note(&reading->p->notes, v[4].text, v[5].text);
    note_assumed(reading->p, v[4].text);
    run->idle = v[6].number;
    run->watts = v[7].is_null ? (double)NAN : v[7].number;
    if (!reading->p->watts_assumed && !v[7].is_null && !v[8].is_null)
        reading->p->watts_assumed = gsim_arena_strdup(reading->p->cli->arena, v[8].text);
}

/* The numbers of a run. Shares are of the time over which jobs arrive, by the GPU time of all jobs:
 * from the last arrival to the last end ever fewer GPUs are held, which says nothing of a cluster
 * to which jobs go on to come. Nodes fail as often in either time. A GPU draws its idle watts, and
 * those of its datasheet while jobs compute, what a failure then takes included; one that is down
 * draws nothing, and is not idle. */
static const char one_run[] =
    "SELECT %s, unfinished, gpus, held, assumed, outside_validated, max(0.0, 1 - held - down),"
    " (SELECT sum(p.gpus * (idle_w * (1 - coalesce(down_s / (p.gpus * makespan_s), 0)) +"
    "   (busy_w - idle_w) * min(1.0, computing_s / (p.gpus * span_s)))) / r.gpus"
    "  FROM power AS p WHERE run_id = %lld"
    "  HAVING min(busy_w) > 0), "
    " (SELECT group_concat(key || '=' || value || ' (' || owner || ')', ', ') FROM parameter AS i"
    "  WHERE i.run_id = r.run_id AND key IN ('energy.idle_w', 'energy.busy_w') AND value > 0"
    "  AND tag = 'assumed') "
    "FROM (SELECT *, coalesce(gpu_down, 0) AS down,"
    "      min(1.0, gpu_busy * makespan_s / span_s) AS held FROM"
    "      (SELECT *, CASE WHEN arrivals_s > 0 AND arrivals_s < makespan_s THEN arrivals_s"
    "       ELSE makespan_s END AS span_s FROM run WHERE run_id = %lld)) AS r";

static enum gsim_status read_cell(struct gsim_planned *p, const struct gsim_db_asked *asked,
                                  struct gsim_plan_cell *cell) {
    enum gsim_status status = GSIM_OK;
    for (int r = 0; r < p->n_reps && status == GSIM_OK; r++) {
        struct gsim_plan_run *run = &cell->run[r];
        struct reading reading = {run, p};
        long long id = asked[run->position - 1].run_id;
        const char *sql = gsim_arena_printf(p->cli->arena, one_run, p->target.field, id, id);
        run->value = run->unfinished = (double)NAN;
        status = sql ? gsim_db_query(p->db, &sql, take_numbers, &reading, p->cli->log)
                     : gsim_no_memory(p->cli->log, "planning");
        if (status == GSIM_OK && isnan(run->unfinished))
            status = gsim_fail(p->cli->log, GSIM_FAILED, NULL, 0, "a run is missing");
    }
    return status == GSIM_OK ? describe(p, cell) : status;
}

/* Makes the runs of the cells that the database lacks. */
static enum gsim_status make_runs(struct gsim_planned *p, struct gsim_plan_cell *const *cell,
                                  int n) {
    struct gsim_sweep *sweep = p->sweep;
    int64_t *position =
        gsim_arena_array(p->cli->arena, (size_t)n * (size_t)p->n_reps, sizeof *position);
    if (!position)
        return gsim_no_memory(p->cli->log, "planning");
    struct gsim_sweep_todo todo = {.sweep = sweep, .position = position};
    for (int i = 0; i < n; i++)
        for (int r = 0; r < p->n_reps; r++) {
            const struct gsim_sweep_run *run = &sweep->run[cell[i]->run[r].position - 1];
            if (gsim_sweep_is_done(sweep, run))
                continue;
            position[todo.n++] = cell[i]->run[r].position;
            atomic_fetch_add(&sweep->trace[run->trace].n_waiting, 1);
        }
    if (todo.n == 0)
        return GSIM_OK;
    p->n_made += (int)todo.n;
    return gsim_sweep_execute(&todo, p->db);
}

static enum gsim_status try_cells(struct gsim_planned *p, struct gsim_plan_cell *const *cell,
                                  int n) {
    struct gsim_db_asked *asked;
    enum gsim_status status = make_runs(p, cell, n);
    if (status == GSIM_OK)
        status = gsim_sweep_find_states(p->sweep, p->db, &asked);
    for (int i = 0; i < n && status == GSIM_OK; i++)
        status = read_cell(p, asked, cell[i]);
    return status;
}

enum gsim_status gsim_plan_search(struct gsim_planned *p) {
    size_t n_cells = (size_t)p->n_series * (size_t)p->n_nodes;
    struct gsim_plan_cell **cell = gsim_arena_array(p->cli->arena, n_cells, sizeof *cell);
    int *wanted = gsim_arena_array(p->cli->arena, (size_t)p->n_nodes, sizeof *wanted);
    if (!cell || !wanted)
        return gsim_no_memory(p->cli->log, "planning");
    for (;;) {
        int n = 0;
        for (int s = 0; s < p->n_series; s++)
            for (int i = next_of(p, &p->series[s], wanted); i > 0; i--)
                cell[n++] = &p->series[s].cell[wanted[i - 1]];
        if (n == 0)
            return GSIM_OK;
        enum gsim_status status = try_cells(p, cell, n);
        if (status != GSIM_OK)
            return status;
    }
}
