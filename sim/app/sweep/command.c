/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim sweep: runs every combination of a grid that the database does not have yet. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/app/cli/invocation.h"
#include "sim/app/sweep/parallel.h"
#include "sim/app/figures/report.h"
#include "sim/app/sweep/sweep.h"
#include "sim/base/units.h"

/* Shard number `at` of `n`, from 1. */
struct shard {
    int64_t at, n;
};

/* --- --shard ---------------------------------------------------------------------------------- */

static bool read_variable(const char *name, int64_t *out) {
    const char *text = getenv(name);
    return text && gsim_parse_int(text, out) == GSIM_PARSE_OK;
}

/* Takes the place of this task in its Slurm array: (ID - MIN) / STEP of COUNT (sbatch(1), "output
 * environment variables"). An array with gaps, such as 1,7,8, is refused. */
static enum gsim_status shard_of_array(struct gsim_cli *cli, struct shard *shard) {
    int64_t id, least = 0, most = 0, step = 1;
    if (!read_variable("SLURM_ARRAY_TASK_ID", &id) ||
        !read_variable("SLURM_ARRAY_TASK_COUNT", &shard->n))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shard auto: this is no task of a Slurm array (no "
                         "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT); say --shard I/N");
    (void)read_variable("SLURM_ARRAY_TASK_STEP", &step);
    if (!read_variable("SLURM_ARRAY_TASK_MIN", &least) ||
        !read_variable("SLURM_ARRAY_TASK_MAX", &most) || step < 1 ||
        (most - least) / step + 1 != shard->n || (id - least) % step != 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shard auto: the array has holes; submit it as --array=1-N");
    shard->at = (id - least) / step + 1;
    return GSIM_OK;
}

static enum gsim_status read_shard(struct gsim_cli *cli, struct shard *shard) {
    const char *text = cli->value[GSIM_OPT_SHARD];
    *shard = (struct shard){1, 1};
    if (!text)
        return GSIM_OK;
    if (strcmp(text, "auto") == 0)
        return shard_of_array(cli, shard);
    const char *slash = strchr(text, '/');
    char *first = slash ? gsim_arena_strndup(cli->arena, text, (size_t)(slash - text)) : NULL;
    if (first && gsim_parse_int(first, &shard->at) == GSIM_PARSE_OK &&
        gsim_parse_int(slash + 1, &shard->n) == GSIM_PARSE_OK && shard->at >= 1 &&
        shard->at <= shard->n)
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--shard: '%s' is not I/N with I from 1 to N, nor auto", text);
}

/* Whether the run is part of the shard. Runs go to the shards in turn: neighbours in the grid take
 * about as long as each other, so the shards do as well. */
static bool is_in_shard(const struct shard *shard, int64_t position) {
    return (position - 1) % shard->n == shard->at - 1;
}

/* --- --list and --emit ------------------------------------------------------------------------ */

enum gsim_status gsim_sweep_find_states(struct gsim_sweep *sweep, struct gsim_db *db,
                                        struct gsim_db_asked **out) {
    struct gsim_cli *cli = sweep->cli;
    struct gsim_db_asked *asked =
        gsim_arena_array(cli->arena, (size_t)sweep->n_runs, sizeof *asked);
    *out = asked;
    if (!asked)
        return gsim_no_memory(cli->log, "starting");
    for (int64_t i = 0; i < sweep->n_runs; i++)
        asked[i] = (struct gsim_db_asked){.config = sweep->run[i].config,
                                          .build = sweep->run[i].build,
                                          .inputs = sweep->run[i].inputs,
                                          .argv = sweep->run[i].argv};
    enum gsim_status status = gsim_db_look_up(db, asked, sweep->n_runs, cli->log);
    for (int64_t i = 0; i < sweep->n_runs; i++)
        sweep->run[i].state = asked[i].state;
    return status;
}

/* Looks the runs up in the database of -o, if that exists; a file without a byte becomes one. */
static enum gsim_status look_up(struct gsim_sweep *sweep) {
    struct gsim_cli *cli = sweep->cli;
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    struct gsim_db *db;
    struct gsim_db_asked *asked;
    struct stat file;
    if (!path || stat(path, &file) != 0 || file.st_size == 0)
        return GSIM_OK;
    enum gsim_status status = gsim_db_open_existing(path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_sweep_find_states(sweep, db, &asked);
    gsim_db_close(db);
    return status;
}

/* Prints a run. old: another build made it; changed: its files have other contents now. */
static void list_run(const struct gsim_sweep *sweep, int64_t position) {
    static const char *const states[] = {[GSIM_DB_MISSING] = "-",
                                         [GSIM_DB_THERE] = "done",
                                         [GSIM_DB_OLD] = "old",
                                         [GSIM_DB_CHANGED] = "changed"};
    const struct gsim_sweep_run *run = &sweep->run[position - 1];
    fprintf(sweep->cli->io->out, "%lld\t%s\t%s\n", (long long)position, states[run->state],
            run->argv);
}

static enum gsim_status list_runs(struct gsim_sweep *sweep, const struct shard *shard) {
    enum gsim_status status = look_up(sweep);
    for (int64_t p = 1; p <= sweep->n_runs && status == GSIM_OK; p++)
        if (is_in_shard(shard, p))
            list_run(sweep, p);
    return status;
}

/* The path without ".db": "dir/results" for "dir/results.db". */
static const char *stem(struct gsim_arena *arena, const char *path) {
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".db") == 0 ? gsim_arena_strndup(arena, path, n - 3)
                                                     : path;
}

static enum gsim_status emit(struct gsim_sweep *sweep) {
    struct gsim_cli *cli = sweep->cli;
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    int64_t n = sweep->n_runs < 8 ? sweep->n_runs : 8;
    if (strcmp(cli->value[GSIM_OPT_EMIT], "slurm") != 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--emit: '%s' is not one of slurm",
                         cli->value[GSIM_OPT_EMIT]);
    enum gsim_status status = gsim_option_int(cli, GSIM_OPT_SHARDS, n, 1, sweep->n_runs, &n);
    if (status != GSIM_OK)
        return status;
    path = path ? path : "results.db";
    const char *grid = gsim_shell_quote(cli->arena, sweep->grid.path);
    const char *base = gsim_shell_quote(cli->arena, stem(cli->arena, path));
    const char *all = gsim_shell_quote(cli->arena, path);
    const char *program = gsim_shell_quote(cli->arena, cli->argv[0]);
    if (!grid || !base || !all || !program)
        return gsim_no_memory(cli->log, "writing a script");
    fprintf(cli->io->out,
            "#!/bin/sh\n"
            "# %lld runs in %lld tasks. Submit with: sbatch --cpus-per-task=4 SCRIPT\n"
            "# A task that is killed goes on where it was when it is submitted again. Then join:\n"
            "#   %s merge -o %s %s-*.shard\n"
            "#SBATCH --job-name=gsim\n"
            "#SBATCH --array=1-%lld\n"
            "#SBATCH --signal=TERM@30\n"
            "set -eu\n"
            "exec %s sweep %s -o %s-\"$SLURM_ARRAY_TASK_ID\".shard --shard auto \\\n"
            "    -j \"${SLURM_CPUS_PER_TASK:-1}\"\n",
            (long long)sweep->n_runs, (long long)n, program, all, base, (long long)n, program, grid,
            base);
    return GSIM_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

static void say_how_to_go_on(const struct gsim_cli *cli) {
    const char *line = gsim_typed_command(cli, GSIM_OPT_FORCE);
    fprintf(cli->io->err, "gsim: to go on: %s\n", line ? line : "the same command again");
}

static enum gsim_status open_database(struct gsim_sweep *sweep, const struct shard *shard,
                                      struct gsim_db **db) {
    struct gsim_cli *cli = sweep->cli;
    struct gsim_db_asked *asked;
    struct gsim_db_sweep about = {
        .id = sweep->id, .grid = sweep->grid.path, .n_runs = sweep->n_runs};
    enum gsim_status status =
        gsim_contents_take(cli->contents, sweep->grid.path, false, &about.content, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_open(cli->value[GSIM_OPT_OUTPUT], cli->arena, db, cli->log);
    if (status == GSIM_OK)
        status = gsim_sweep_find_states(sweep, *db, &asked);
    if (status != GSIM_OK)
        return status;
    for (int64_t i = 0; i < sweep->n_runs; i++)
        asked[i].is_passed_over = !is_in_shard(shard, i + 1);
    status = gsim_report_old(cli, *db, asked, sweep->n_runs, cli->value[GSIM_OPT_OUTPUT]);
    about.asked = asked;
    return status == GSIM_OK ? gsim_db_begin_sweep(*db, &about, cli->log) : status;
}

bool gsim_sweep_is_done(const struct gsim_sweep *sweep, const struct gsim_sweep_run *run) {
    bool is_there = run->state == GSIM_DB_THERE || run->state == GSIM_DB_OLD;
    return is_there && !gsim_report_replaces(sweep->cli, run->state);
}

static enum gsim_status find_todo(struct gsim_sweep *sweep, const struct shard *shard,
                                  struct gsim_sweep_todo *todo, int64_t *n_in_shard) {
    int64_t *position =
        gsim_arena_array(sweep->cli->arena, (size_t)sweep->n_runs, sizeof *position);
    if (!position)
        return gsim_no_memory(sweep->cli->log, "starting");
    *n_in_shard = 0;
    *todo = (struct gsim_sweep_todo){.sweep = sweep, .position = position};
    for (int64_t p = 1; p <= sweep->n_runs; p++) {
        if (!is_in_shard(shard, p))
            continue;
        ++*n_in_shard;
        const struct gsim_sweep_run *run = &sweep->run[p - 1];
        if (gsim_sweep_is_done(sweep, run))
            continue;
        position[todo->n++] = p;
        atomic_fetch_add(&sweep->trace[sweep->run[p - 1].trace].n_waiting, 1);
    }
    for (uint32_t t = 0; t < sweep->n_traces; t++)
        if (atomic_load(&sweep->trace[t].n_waiting) == 0)
            gsim_sweep_drop_trace(sweep, t);
    return GSIM_OK;
}

static enum gsim_status run_missing(struct gsim_sweep *sweep, const struct shard *shard,
                                    struct gsim_db *db) {
    struct gsim_cli *cli = sweep->cli;
    struct gsim_sweep_todo todo;
    int64_t n = 0;
    enum gsim_status status = find_todo(sweep, shard, &todo, &n);
    if (status != GSIM_OK)
        return status;
    status = gsim_sweep_execute(&todo, db);
    enum gsim_status tidied = gsim_db_tidy(db, cli->log);
    enum gsim_status checked = todo.n ? gsim_contents_check(cli->contents, cli->log) : GSIM_OK;
    status = status == GSIM_OK ? tidied : status;
    status = status == GSIM_OK ? checked : status;
    fprintf(cli->io->out, "%s", sweep->grid.path);
    if (shard->n > 1)
        fprintf(cli->io->out, ", shard %lld/%lld", (long long)shard->at, (long long)shard->n);
    fprintf(cli->io->out, ": %lld of %lld runs are in %s, %lld of them new",
            (long long)(n - todo.n + todo.n_done), (long long)n, cli->value[GSIM_OPT_OUTPUT],
            (long long)todo.n_done);
    if (todo.n_failed)
        fprintf(cli->io->out, "; %lld failed", (long long)todo.n_failed);
    fputc('\n', cli->io->out);
    if (status == GSIM_INCOMPLETE)
        (void)gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0,
                        "interrupted: %lld runs are missing, complete runs were kept",
                        (long long)(todo.n - todo.n_done));
    if (status == GSIM_INCOMPLETE || (status == GSIM_FAILED && !todo.n_failed))
        say_how_to_go_on(cli);
    return status;
}

enum gsim_status gsim_sweep_begin(struct gsim_sweep *sweep) {
    struct gsim_cli *cli = sweep->cli;
    int64_t n_threads = 1;
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_JOBS, gsim_cores(), 1, GSIM_MAX_THREADS, &n_threads);
    sweep->n_threads = (int)n_threads;
    if (status == GSIM_OK)
        status = gsim_setup_samples(cli, &sweep->n_samples);
    if (status == GSIM_OK)
        status = gsim_setup_policy_timeout(cli, &sweep->policy_timeout_ns);
    if (status == GSIM_OK)
        status = gsim_report_kept(cli, &sweep->is_summary);
    return status == GSIM_OK ? gsim_identity_open(cli) : status;
}

static enum gsim_status sweep_grid(struct gsim_sweep *sweep) {
    struct gsim_cli *cli = sweep->cli;
    struct shard shard;
    struct gsim_db *db = NULL;
    bool is_run = !gsim_option_is_on(cli, GSIM_OPT_LIST) && !cli->value[GSIM_OPT_EMIT];
    enum gsim_status status = gsim_one_operand(cli, "grid", "gsim sweep GRID.ini -o results.db");
    if (status != GSIM_OK)
        return status;
    if (is_run && !cli->value[GSIM_OPT_OUTPUT])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "where do the results go? gsim sweep %s -o results.db", cli->operand[0]);
    status = read_shard(cli, &shard);
    if (status == GSIM_OK)
        status = gsim_sweep_begin(sweep);
    if (status == GSIM_OK)
        status = gsim_grid_read(cli->operand[0], cli->foreign, cli->arena, &sweep->grid, cli->log);
    if (status != GSIM_OK)
        return status;
    status = gsim_sweep_plan(sweep);
    if (status == GSIM_OK && cli->value[GSIM_OPT_EMIT])
        return emit(sweep);
    if (status == GSIM_OK && !is_run)
        return list_runs(sweep, &shard);
    if (status == GSIM_OK)
        status = open_database(sweep, &shard, &db);
    if (status == GSIM_OK)
        status = run_missing(sweep, &shard, db);
    gsim_db_close(db);
    return status;
}

enum gsim_status gsim_command_sweep(struct gsim_cli *cli) {
    struct gsim_sweep *sweep = gsim_arena_alloc(cli->arena, sizeof *sweep);
    if (!sweep)
        return gsim_no_memory(cli->log, "starting");
    sweep->cli = cli;
    enum gsim_status status = sweep_grid(sweep);
    gsim_sweep_end(sweep);
    return status;
}
