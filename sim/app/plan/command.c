/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim plan: how many nodes until a target is met. Its options make the grid of a sweep, and the
 * search (search.c) says which of its runs are made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/cli/invocation.h"
#include "sim/app/figures/report.h"
#include "sim/app/plan/plan.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

/* CHANGED: the number of shaken or resampled traces without --reps, as in gsim compare. */
enum { CHANGED = 10, MAX_REPS = 10000, MAX_ENTRIES = 4 * GSIM_MAX_REPEATS };

static const char usage[] = "gsim plan --target 'wait_p95_s < 1h' --policies fifo,easy-backfill "
                            "--nodes 1..64 --gpus-per-node 8 trace.csv";

/* --- the grid --------------------------------------------------------------------------------- */

struct making {
    struct gsim_planned *p;
    struct gsim_ini ini;
};

static enum gsim_status add(struct making *m, const char *key, const char *value) {
    if (!key || !value || m->ini.n == MAX_ENTRIES)
        return gsim_no_memory(m->p->cli->log, "planning");
    m->ini.entries[m->ini.n++] = (struct gsim_ini_entry){.section = "", .key = key, .value = value};
    return GSIM_OK;
}

/* A value in quotes is one value of a grid, whatever commas it has. */
static const char *whole(const struct making *m, const char *value) {
    return gsim_arena_printf(m->p->cli->arena, "\"%s\"", value);
}

static enum gsim_status add_repeats(struct making *m, int option) {
    enum gsim_status status = GSIM_OK;
    const struct gsim_cli *cli = m->p->cli;
    for (const char *const *at = cli->repeats[option]; *at && status == GSIM_OK; at++) {
        const char *sign = strchr(*at, '=');
        if (!sign)
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s: '%s' is not KEY=VALUE",
                             gsim_option_defs[option].name, *at);
        status = add(m,
                     gsim_arena_printf(cli->arena, "%s.%.*s", gsim_option_defs[option].name,
                                       (int)(sign - *at), *at),
                     whole(m, sign + 1));
    }
    return status;
}

/* The options of a run become keys of the grid. */
static enum gsim_status add_options(struct making *m) {
    const struct gsim_cli *cli = m->p->cli;
    enum gsim_status status = GSIM_OK;
    for (int o = 0; o < GSIM_OPT_COUNT && status == GSIM_OK; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        unsigned both = GSIM_IN_PLAN | GSIM_IN_GRID;
        if ((def->commands & both) != both || o == GSIM_OPT_REPS || o == GSIM_OPT_NODES)
            continue;
        if (def->is_repeatable)
            status = add_repeats(m, o);
        else if (cli->value[o])
            status = add(m, def->name, def->argument ? whole(m, cli->value[o]) : "on");
    }
    return status;
}

/* --arrivals as factors of the times between submissions. */
static enum gsim_status add_arrivals(struct making *m) {
    struct gsim_planned *p = m->p;
    const char *text = p->cli->value[GSIM_OPT_ARRIVALS];
    char *list = gsim_arena_strdup(p->cli->arena, text ? text : "1");
    char **arrivals =
        list ? gsim_arena_array(p->cli->arena, strlen(list) + 1, sizeof *arrivals) : NULL;
    const char *scales = NULL;
    if (!arrivals)
        return gsim_no_memory(p->cli->log, "planning");
    for (char *at = strtok(list, ", "); at; at = strtok(NULL, ", ")) {
        int64_t ppm;
        if (gsim_parse_ppm(at, &ppm) != GSIM_PARSE_OK || ppm < 10000 || ppm > 100 * GSIM_PPM)
            return gsim_fail(p->cli->log, GSIM_USAGE, NULL, 0,
                             "--arrivals: '%s' is not a factor from 0.01 to 100, such as 1.5", at);
        int64_t scale = (GSIM_PPM * GSIM_PPM + ppm / 2) / ppm;
        scales = gsim_arena_printf(p->cli->arena, "%s%s%lld.%06lld", scales ? scales : "",
                                   scales ? "," : "", (long long)(scale / GSIM_PPM),
                                   (long long)(scale % GSIM_PPM));
        arrivals[p->n_arrivals++] = gsim_arena_printf(p->cli->arena, "%g", (double)ppm / 1e6);
    }
    p->arrivals = arrivals;
    if (p->n_arrivals == 0)
        return gsim_fail(p->cli->log, GSIM_USAGE, NULL, 0, "--arrivals: no factor is given");
    return add(m, "time-scale", scales);
}

/* Replication 0 of a changed trace is the trace as it is, and no draw. */
static enum gsim_status add_replications(struct making *m) {
    struct gsim_planned *p = m->p;
    struct gsim_cli *cli = p->cli;
    bool is_spec = gsim_setup_is_spec(cli->operand[0]);
    int64_t reps;
    p->is_range = !is_spec && (cli->value[GSIM_OPT_SHAKE] || cli->value[GSIM_OPT_RESAMPLE]);
    enum gsim_status status = gsim_option_int(
        cli, GSIM_OPT_REPS, p->is_range || is_spec ? CHANGED : 1, 1, MAX_REPS, &reps);
    if (status != GSIM_OK)
        return status;
    if (reps > 1 && !is_spec && !p->is_range)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--reps needs a trace that can be drawn again: a spec .ini in place of "
                         "%s, --resample user or --shake 5%%",
                         cli->operand[0]);
    p->n_reps = (int)reps;
    const char *of = !p->is_range                    ? "replication"
                     : cli->value[GSIM_OPT_RESAMPLE] ? "resampled trace"
                                                     : "shaken trace";
    p->over = is_spec || p->is_range
                  ? gsim_arena_printf(cli->arena, "%d %s%s", p->n_reps, of, gsim_plural(p->n_reps))
                  : "this trace alone";
    if (!p->over)
        return gsim_no_memory(cli->log, "planning");
    if (!is_spec && !p->is_range)
        return GSIM_OK;
    return add(m, "replication",
               gsim_arena_printf(cli->arena, "%d..%d", p->is_range, p->n_reps - 1 + p->is_range));
}

static enum gsim_status make_grid(struct gsim_planned *p) {
    struct gsim_cli *cli = p->cli;
    struct making m = {.p = p, .ini = {.path = cli->operand[0]}};
    m.ini.entries = gsim_arena_array(cli->arena, MAX_ENTRIES, sizeof *m.ini.entries);
    if (!m.ini.entries)
        return gsim_no_memory(cli->log, "planning");
    enum gsim_status status = add(&m, "trace", whole(&m, cli->operand[0]));
    if (status == GSIM_OK)
        status = add(&m, "policy", cli->value[GSIM_OPT_POLICIES]);
    if (status == GSIM_OK)
        status = add(&m, "nodes", cli->value[GSIM_OPT_NODES]);
    if (status == GSIM_OK)
        status = add_arrivals(&m);
    if (status == GSIM_OK)
        status = add_replications(&m);
    if (status == GSIM_OK)
        status = add_options(&m);
    cli->value[GSIM_OPT_KEEP_ROWS] = "summary";
    if (status == GSIM_OK)
        status = gsim_sweep_begin(p->sweep);
    p->sweep->is_search = true;
    return status == GSIM_OK
               ? gsim_grid_make(&m.ini, cli->foreign, cli->arena, &p->sweep->grid, cli->log)
               : status;
}

/* --- the cells -------------------------------------------------------------------------------- */

static const struct gsim_grid_key *key_of(const struct gsim_grid *grid, const char *name) {
    return &grid->key[gsim_grid_find(grid, name)];
}

static enum gsim_status read_nodes(struct gsim_planned *p) {
    p->n_nodes = (int)p->nodes->n;
    p->n = gsim_arena_array(p->cli->arena, p->nodes->n, sizeof *p->n);
    if (!p->n)
        return gsim_no_memory(p->cli->log, "planning");
    for (int i = 0; i < p->n_nodes; i++)
        if (gsim_parse_int(p->nodes->value[i], &p->n[i]) != GSIM_PARSE_OK || p->n[i] < 1 ||
            (i > 0 && p->n[i] <= p->n[i - 1]))
            return gsim_fail(p->cli->log, GSIM_USAGE, NULL, 0,
                             "--nodes: '%s' does not go on with ascending numbers of nodes, such "
                             "as 1..64 or 2,4,8,16",
                             p->nodes->value[i]);
    return GSIM_OK;
}

static enum gsim_status make_cells(struct gsim_planned *p) {
    struct gsim_arena *arena = p->cli->arena;
    size_t n_nodes = (size_t)p->n_nodes, n_reps = (size_t)p->n_reps;
    p->n_policies = (int)p->policies->n;
    p->n_series = p->n_policies * p->n_arrivals;
    p->series = gsim_arena_array(arena, (size_t)p->n_series, sizeof *p->series);
    for (int i = 0; p->series && i < p->n_series; i++) {
        struct gsim_plan_series *s = &p->series[i];
        s->policy = p->policies->value[i / p->n_arrivals];
        s->arrivals = p->arrivals[i % p->n_arrivals];
        s->cell = gsim_arena_array(arena, n_nodes, sizeof *s->cell);
        for (size_t k = 0; s->cell && k < n_nodes; k++) {
            s->cell[k].run = gsim_arena_array(arena, n_reps, sizeof *s->cell[k].run);
            if (!s->cell[k].run)
                return gsim_no_memory(p->cli->log, "planning");
        }
        if (!s->cell)
            return gsim_no_memory(p->cli->log, "planning");
    }
    return p->series ? GSIM_OK : gsim_no_memory(p->cli->log, "planning");
}

/* The GPUs of each number of nodes: one a node where no option says more. */
static enum gsim_status count_gpus(struct gsim_planned *p, int64_t **n_gpus) {
    struct gsim_cli *one = gsim_arena_alloc(p->cli->arena, sizeof *one);
    enum gsim_status status = GSIM_OK;
    *n_gpus = gsim_arena_array(p->cli->arena, (size_t)p->n_nodes, sizeof **n_gpus);
    if (!one || !*n_gpus)
        return gsim_no_memory(p->cli->log, "planning");
    *one = *p->cli;
    for (int i = 0; i < p->n_nodes && status == GSIM_OK; i++) {
        one->value[GSIM_OPT_NODES] = p->nodes->value[i];
        status = gsim_setup_count_gpus(one, &(*n_gpus)[i]);
        if ((*n_gpus)[i] == 0)
            (*n_gpus)[i] = p->n[i];
    }
    return status;
}

/* Tells each cell the positions of its runs, and each series where its jobs fit. */
static void find_runs(struct gsim_planned *p, const int64_t *n_gpus) {
    const struct gsim_grid *grid = &p->sweep->grid;
    int policy = gsim_grid_find(grid, "policy"), scale = gsim_grid_find(grid, "time-scale");
    int nodes = gsim_grid_find(grid, "nodes"), rep = gsim_grid_find(grid, "replication");
    for (int64_t i = 0; i < p->sweep->n_runs; i++) {
        const struct gsim_sweep_run *run = &p->sweep->run[i];
        const uint32_t *choice = grid->choice + run->grid_run * grid->n_keys;
        struct gsim_plan_series *s =
            &p->series[choice[policy] * (uint32_t)p->n_arrivals + choice[scale]];
        s->cell[choice[nodes]].run[rep >= 0 ? choice[rep] : 0].position = i + 1;
        uint32_t widest = p->sweep->trace[run->trace].widest_gang;
        while (s->first < p->n_nodes && n_gpus[s->first] < (int64_t)widest)
            s->first++;
    }
}

static enum gsim_status check_cells(const struct gsim_planned *p) {
    for (int i = 0; i < p->n_series; i++) {
        const struct gsim_plan_series *s = &p->series[i];
        for (int k = 0; k < p->n_nodes * p->n_reps; k++)
            if (s->cell[k / p->n_reps].run[k % p->n_reps].position == 0)
                return gsim_fail(p->cli->log, GSIM_USAGE, NULL, 0,
                                 "%s x %s is named twice among --policies and --arrivals",
                                 s->policy, s->arrivals);
        if (s->first == p->n_nodes)
            return gsim_fail(p->cli->log, GSIM_USAGE, NULL, 0,
                             "--nodes: the widest job does not fit on %lld nodes",
                             (long long)p->n[p->n_nodes - 1]);
    }
    return GSIM_OK;
}

/* Traces that were read stay in memory until the plan is over. */
static void hold_traces(struct gsim_planned *p) {
    for (uint32_t t = 0; t < p->sweep->n_traces; t++)
        if (p->sweep->trace[t].arena)
            atomic_fetch_add(&p->sweep->trace[t].n_waiting, 1);
}

static enum gsim_status prepare(struct gsim_planned *p) {
    int64_t *n_gpus;
    enum gsim_status status = make_grid(p);
    if (status != GSIM_OK)
        return status;
    p->policies = key_of(&p->sweep->grid, "policy");
    p->nodes = key_of(&p->sweep->grid, "nodes");
    status = read_nodes(p);
    if (status == GSIM_OK)
        status = gsim_sweep_plan(p->sweep);
    if (status == GSIM_OK)
        status = make_cells(p);
    if (status != GSIM_OK)
        return status;
    status = count_gpus(p, &n_gpus);
    if (status != GSIM_OK)
        return status;
    find_runs(p, n_gpus);
    hold_traces(p);
    return check_cells(p);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum gsim_status open_database(struct gsim_planned *p) {
    struct gsim_db_asked *asked;
    const char *path = p->cli->value[GSIM_OPT_OUTPUT];
    enum gsim_status status =
        gsim_db_open(path ? path : ":memory:", p->cli->arena, &p->db, p->cli->log);
    if (status == GSIM_OK)
        status = gsim_sweep_find_states(p->sweep, p->db, &asked);
    return status == GSIM_OK && path ? gsim_report_old(p->cli, p->db, asked, p->sweep->n_runs, path)
                                     : status;
}

static enum gsim_status search(struct gsim_planned *p) {
    struct gsim_cli *cli = p->cli;
    enum gsim_status status = open_database(p);
    if (status != GSIM_OK)
        return status;
    status = gsim_plan_search(p);
    enum gsim_status tidied = gsim_db_tidy(p->db, cli->log);
    enum gsim_status checked = p->n_made ? gsim_contents_check(cli->contents, cli->log) : GSIM_OK;
    if (status == GSIM_INCOMPLETE)
        return gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0, "interrupted: %s",
                         cli->value[GSIM_OPT_OUTPUT]
                             ? "complete runs were kept, and the same command goes on from them"
                             : "nothing was kept; with -o plan.db complete runs are");
    status = status == GSIM_OK ? tidied : status;
    return status == GSIM_OK ? checked : status;
}

static enum gsim_status plan(struct gsim_planned *p) {
    struct gsim_cli *cli = p->cli;
    enum gsim_output_format format;
    enum gsim_status status = gsim_one_operand(cli, "trace", usage);
    if (status == GSIM_OK)
        status = gsim_report_format(cli, &format);
    if (status == GSIM_OK)
        status = gsim_target_read(cli, &p->target);
    if (status == GSIM_OK)
        status = gsim_price_read(cli, &p->price);
    if (status == GSIM_OK && (!cli->value[GSIM_OPT_POLICIES] || !cli->value[GSIM_OPT_NODES]))
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "which %s? %s",
                           cli->value[GSIM_OPT_POLICIES] ? "nodes" : "policies", usage);
    if (status == GSIM_OK)
        status = prepare(p);
    if (status == GSIM_OK)
        status = search(p);
    if (status != GSIM_OK)
        return status;
    gsim_sweep_say(cli, &p->notes);
    if (p->watts_assumed && !gsim_option_is_on(cli, GSIM_OPT_QUIET))
        fprintf(cli->io->err,
                "gsim: the energy of idle GPUs rests on watts that are assumed, not known: %s\n",
                p->watts_assumed);
    gsim_plan_write(p, format);
    return GSIM_OK;
}

enum gsim_status gsim_command_plan(struct gsim_cli *cli) {
    struct gsim_planned *p = gsim_arena_alloc(cli->arena, sizeof *p);
    struct gsim_sweep *sweep = gsim_arena_alloc(cli->arena, sizeof *sweep);
    if (!p || !sweep)
        return gsim_no_memory(cli->log, "starting");
    p->cli = sweep->cli = cli;
    p->sweep = sweep;
    enum gsim_status status = plan(p);
    gsim_db_close(p->db);
    gsim_sweep_end(sweep);
    return status;
}
