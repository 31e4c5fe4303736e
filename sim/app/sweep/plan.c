/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans the runs of a grid: first the traces, then the identity of each run, both on all cores. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "sim/app/cli/invocation.h"
#include "sim/app/sweep/parallel.h"
#include "sim/app/sweep/sweep.h"
#include "sim/base/sort.h"
#include "traces/spec_read.h"

/* --- a run ------------------------------------------------------------------------------------ */

enum gsim_status gsim_sweep_set_up(const struct gsim_sweep *sweep, int64_t grid_run, uint32_t trace,
                                   struct gsim_arena *arena, struct gsim_log *log,
                                   struct gsim_cli *cli, struct gsim_setup *setup) {
    const struct gsim_sweep_trace *shared = &sweep->trace[trace];
    cli->io = sweep->cli->io;
    cli->arena = arena;
    cli->log = log;
    cli->devices = sweep->devices;
    cli->contents = sweep->cli->contents;
    cli->foreign = sweep->cli->foreign;
    enum gsim_status status = gsim_grid_apply(&sweep->grid, grid_run, cli);
    if (status != GSIM_OK)
        return status;
    if (shared->loaded)
        setup->trace = shared->loaded->trace;
    setup->spec = shared->spec;
    setup->trace_path = cli->operand[0];
    setup->seed = shared->seed;
    setup->n_samples = sweep->n_samples;
    setup->policy_timeout_ns = sweep->policy_timeout_ns;
    setup->widest_gang = shared->widest_gang;
    setup->shake_ppm = shared->shake_ppm;
    setup->resampling = shared->resampling;
    const char *replication = cli->value[GSIM_OPT_REPLICATION];
    setup->replication = replication ? strtoull(replication, NULL, 10) : 0;
    status = gsim_setup_scales(cli, setup);
    if (status != GSIM_OK)
        return status;
    status = gsim_setup_policies(cli, cli->value[GSIM_OPT_POLICY], setup);
    return status == GSIM_OK ? gsim_setup_cluster(cli, setup) : status;
}

/* --- traces ----------------------------------------------------------------------------------- */

/* Whether two lists of a spec's keys are equal, text by text. */
static bool are_equal(const char *const *a, const char *const *b) {
    while (a && b && *a && *b && strcmp(*a, *b) == 0)
        a++, b++;
    return !(a && *a) && !(b && *b);
}

/* A copy of a spec's keys that lasts as long as the sweep; NULL: none, or no memory left. */
static const char *const *keep_keys(struct gsim_arena *arena, const char *const *keys) {
    size_t n = 0;
    while (keys && keys[n])
        n++;
    const char **kept = gsim_arena_array(arena, n + 1, sizeof *kept);
    for (size_t i = 0; kept && i < n; i++) {
        kept[i] = gsim_arena_strdup(arena, keys[i]);
        if (!kept[i])
            return NULL;
    }
    return kept;
}

/* Takes the spec of a path with these keys; *out is NULL if the path is no spec. */
static enum gsim_status take_spec(struct gsim_sweep *sweep, const char *path,
                                  const char *const *keys, const struct gsim_spec **out,
                                  struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    *out = NULL;
    if (!gsim_setup_is_spec(path))
        return GSIM_OK;
    (void)pthread_mutex_lock(&sweep->lock);
    struct gsim_arena *arena = sweep->cli->arena;
    struct gsim_sweep_spec *at = sweep->specs;
    while (at && (strcmp(at->path, path) != 0 || !are_equal(at->keys, keys)))
        at = at->next;
    if (!at) {
        at = gsim_arena_alloc(arena, sizeof *at);
        const char *own = gsim_arena_strdup(arena, path);
        const char *const *own_keys = keep_keys(arena, keys);
        status = at && own && own_keys ? gsim_spec_read(own, own_keys, arena, &at->spec, log)
                                       : gsim_no_memory(log, "reading a spec");
        if (status == GSIM_OK) {
            at->path = own;
            at->keys = own_keys;
            at->next = sweep->specs;
            sweep->specs = at;
        }
    }
    if (status == GSIM_OK)
        *out = at->spec;
    (void)pthread_mutex_unlock(&sweep->lock);
    return status;
}

/* Reads or draws the trace into an arena of its own. */
static enum gsim_status load(struct gsim_sweep *sweep, const struct gsim_sweep_trace *trace,
                             bool is_drawn, struct gsim_arena *arena, struct gsim_setup **out,
                             struct gsim_log *log) {
    struct gsim_cli *cli = arena ? gsim_arena_alloc(arena, sizeof *cli) : NULL;
    *out = cli ? gsim_arena_alloc(arena, sizeof **out) : NULL;
    if (!*out)
        return gsim_no_memory(log, "reading a trace");
    cli->io = sweep->cli->io;
    cli->arena = arena;
    cli->log = log;
    enum gsim_status status = gsim_grid_apply(&sweep->grid, trace->first_run, cli);
    if (status == GSIM_OK && cli->n_operands) {
        (*out)->trace_path = cli->operand[0];
        cli->devices = sweep->devices;
        status = gsim_setup_scales(cli, *out);
    }
    if (status == GSIM_OK && cli->n_operands)
        status = take_spec(sweep, cli->operand[0], (*out)->spec_keys, &(*out)->spec, log);
    return status == GSIM_OK ? gsim_setup_trace(cli, *out, is_drawn) : status;
}

enum gsim_status gsim_sweep_take_trace(struct gsim_sweep *sweep, uint32_t trace,
                                       struct gsim_log *log) {
    struct gsim_sweep_trace *shared = &sweep->trace[trace];
    enum gsim_status status = GSIM_OK;
    (void)pthread_mutex_lock(&shared->lock);
    if (!shared->arena) {
        struct gsim_setup *loaded;
        struct gsim_arena *arena = gsim_arena_new();
        status = load(sweep, shared, true, arena, &loaded, log);
        if (status == GSIM_OK) {
            shared->arena = arena;
            shared->loaded = loaded;
            shared->seed = loaded->seed;
            shared->widest_gang = loaded->widest_gang;
        } else {
            gsim_arena_free(arena);
        }
    }
    (void)pthread_mutex_unlock(&shared->lock);
    return status;
}

void gsim_sweep_drop_trace(struct gsim_sweep *sweep, uint32_t trace) {
    struct gsim_sweep_trace *shared = &sweep->trace[trace];
    (void)pthread_mutex_lock(&shared->lock);
    gsim_arena_free(shared->arena);
    shared->arena = NULL;
    shared->loaded = NULL;
    (void)pthread_mutex_unlock(&shared->lock);
}

/* --- planning --------------------------------------------------------------------------------- */

struct planning {
    struct gsim_sweep *sweep;
    struct gsim_sweep_run *run; /* by run of the grid */
    atomic_bool is_out_of_memory;
};

/* Passes on warnings, and keeps the errors of the first faulty run in the order of the grid: a
 * mistake that a thousand runs share is reported once. */
static void note_log(struct gsim_sweep *sweep, int64_t grid_run, const struct gsim_log *log) {
    (void)pthread_mutex_lock(&sweep->lock);
    if (log->n_errors && (sweep->bad_run < 0 || grid_run < sweep->bad_run)) {
        sweep->bad_run = grid_run;
        *sweep->bad_log = *log;
    } else if (!log->n_errors) {
        gsim_log_merge(sweep->cli->log, log);
    }
    (void)pthread_mutex_unlock(&sweep->lock);
}

static bool is_stopped(const struct gsim_sweep *sweep) {
    return sweep->cli->io->stop && *sweep->cli->io->stop;
}

/* Whether the number of GPUs follows from the widest gang, since the grid does not set it; a search
 * has to know on which numbers of nodes that gang fits. */
static bool needs_widest_gang(const struct gsim_sweep *sweep) {
    const struct gsim_grid *grid = &sweep->grid;
    if (sweep->is_search)
        return true;
    for (int k = 0; k < grid->n_keys; k++)
        if (grid->key[k].option == GSIM_OPT_NODES || grid->key[k].option == GSIM_OPT_CLUSTER ||
            grid->key[k].option == GSIM_OPT_SLURM_CONF ||
            grid->key[k].option == GSIM_OPT_GPUS_PER_NODE)
            return false;
    return true;
}

/* Reads a trace file, or a spec. A spec is drawn now only if its widest gang is needed. */
static enum gsim_status prepare_trace(struct gsim_sweep *sweep, uint32_t at,
                                      struct gsim_arena *arena, struct gsim_log *log) {
    struct gsim_sweep_trace *trace = &sweep->trace[at];
    struct gsim_setup *read;
    enum gsim_status status = load(sweep, trace, false, arena, &read, log);
    if (status != GSIM_OK)
        return status;
    trace->seed = read->seed;
    trace->shake_ppm = read->shake_ppm;
    trace->resampling = read->resampling;
    trace->spec = read->spec;
    if (!gsim_setup_is_spec(read->trace_path)) {
        trace->arena = arena;
        trace->loaded = read;
        trace->widest_gang = read->widest_gang;
        trace->n_jobs = read->trace.n_jobs;
    } else if (needs_widest_gang(sweep)) {
        status = gsim_sweep_take_trace(sweep, at, log);
        gsim_sweep_drop_trace(sweep, at);
    }
    return status;
}

/* Stores the identity and the command line that the writer needs. */
static enum gsim_status note_identity(struct gsim_sweep *sweep, struct gsim_sweep_run *run,
                                      const struct gsim_identity *identity, const char *argv,
                                      struct gsim_log *log) {
    memcpy(run->config, identity->config, sizeof run->config);
    memcpy(run->build, identity->build, sizeof run->build);
    memcpy(run->inputs, identity->inputs, sizeof run->inputs);
    (void)pthread_mutex_lock(&sweep->lock);
    run->argv = argv ? gsim_arena_strdup(sweep->cli->arena, argv) : NULL;
    (void)pthread_mutex_unlock(&sweep->lock);
    return run->argv ? GSIM_OK : gsim_no_memory(log, "planning");
}

/* Warns of a grid over devices of which none is known to be faster: a duration is then the time on
 * whatever device the run has, and the runs say nothing about the devices' speeds. */
static void doubt_devices(const struct gsim_sweep *sweep, const struct gsim_setup *setup,
                          struct gsim_log *log) {
    const struct gsim_profile *profile = setup->cluster.profiles[0];
    for (int k = 0; k < sweep->grid.n_keys; k++) {
        const struct gsim_grid_key *key = &sweep->grid.key[k];
        if (key->option == GSIM_OPT_DEVICE && key->n > 1 &&
            profile->tag[GSIM_KEY_SPEED_MILLI] == GSIM_TAG_ASSUMED)
            gsim_warn(log, sweep->grid.path, key->line,
                      "device: durations of a trace are taken as they are on each device, since "
                      "how fast one is to another is not known (speed_milli is assumed 1000). So "
                      "runs differ by memory and costs alone; jobs with applications (column "
                      "'app') take what their kernels take on each device");
    }
}

static enum gsim_status hash_run(struct gsim_sweep *sweep, struct gsim_sweep_run *run,
                                 struct gsim_arena *arena, struct gsim_log *log) {
    struct gsim_cli *cli = gsim_arena_alloc(arena, sizeof *cli);
    struct gsim_setup *setup = gsim_arena_alloc(arena, sizeof *setup);
    if (!cli || !setup)
        return gsim_no_memory(log, "planning");
    enum gsim_status status =
        gsim_sweep_set_up(sweep, run->grid_run, run->trace, arena, log, cli, setup);
    struct gsim_identity identity;
    if (status == GSIM_OK)
        status = gsim_identify_asked(cli, setup, 0, setup->replication, &identity);
    if (status != GSIM_OK)
        return status;
    doubt_devices(sweep, setup, log);
    return note_identity(sweep, run, &identity, gsim_run_command(cli, setup, 0, setup->replication),
                         log);
}

static void plan_trace(void *arg, int64_t at) {
    struct planning *p = arg;
    struct gsim_sweep_trace *trace = &p->sweep->trace[at];
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log *log = arena ? gsim_arena_alloc(arena, sizeof *log) : NULL;
    if (!log)
        atomic_store(&p->is_out_of_memory, true);
    else if (!is_stopped(p->sweep)) {
        (void)prepare_trace(p->sweep, (uint32_t)at, arena, log);
        note_log(p->sweep, trace->first_run, log);
    }
    if (trace->arena != arena)
        gsim_arena_free(arena);
}

static void plan_run(void *arg, int64_t at) {
    struct planning *p = arg;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log *log = arena ? gsim_arena_alloc(arena, sizeof *log) : NULL;
    if (!log)
        atomic_store(&p->is_out_of_memory, true);
    else if (!is_stopped(p->sweep)) {
        (void)hash_run(p->sweep, &p->run[at], arena, log);
        note_log(p->sweep, p->run[at].grid_run, log);
    }
    gsim_arena_free(arena);
}

/* Numbers the traces in the order in which the grid first names them. */
static enum gsim_status find_traces(struct planning *p) {
    struct gsim_sweep *sweep = p->sweep;
    size_t n = (size_t)sweep->grid.n_runs;
    int64_t *key = gsim_arena_array(sweep->cli->arena, n, sizeof *key);
    uint32_t *order = gsim_arena_array(sweep->cli->arena, n, sizeof *order);
    sweep->trace = gsim_arena_array(sweep->cli->arena, n, sizeof *sweep->trace);
    if (!key || !order || !sweep->trace)
        return gsim_no_memory(sweep->cli->log, "planning");
    for (size_t i = 0; i < n; i++) {
        key[i] = (int64_t)gsim_grid_trace_of(&sweep->grid, (int64_t)i);
        p->run[i].grid_run = (int64_t)i;
    }
    if (!gsim_sort_order(key, order, n))
        return gsim_no_memory(sweep->cli->log, "planning");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || key[order[i]] != key[order[i - 1]]) {
            struct gsim_sweep_trace *trace = &sweep->trace[sweep->n_traces++];
            trace->first_run = order[i];
            (void)pthread_mutex_init(&trace->lock, NULL);
        }
        p->run[order[i]].trace = sweep->n_traces - 1;
    }
    return GSIM_OK;
}

/* --- equal runs ------------------------------------------------------------------------------- */

static int by_config(const void *a, const void *b) {
    const struct gsim_sweep_run *x = *(const struct gsim_sweep_run *const *)a,
                                *y = *(const struct gsim_sweep_run *const *)b;
    int order = strcmp(x->config, y->config);
    return order ? order : (x->grid_run > y->grid_run) - (x->grid_run < y->grid_run);
}

/* Keeps different runs. Of several combinations with equal identities (a value written in two ways,
 * say) the first stays. */
static enum gsim_status keep_different(struct planning *p) {
    struct gsim_sweep *sweep = p->sweep;
    size_t n = (size_t)sweep->grid.n_runs;
    struct gsim_sweep_run **sorted = gsim_arena_array(sweep->cli->arena, n, sizeof *sorted);
    const char **configs = gsim_arena_array(sweep->cli->arena, n, sizeof *configs);
    bool *is_twin = gsim_arena_array(sweep->cli->arena, n, sizeof *is_twin);
    if (!sorted || !configs || !is_twin)
        return gsim_no_memory(sweep->cli->log, "planning");
    for (size_t i = 0; i < n; i++)
        sorted[i] = &p->run[i];
    qsort(sorted, n, sizeof *sorted, by_config);
    for (size_t i = 1; i < n; i++)
        is_twin[sorted[i]->grid_run] = strcmp(sorted[i]->config, sorted[i - 1]->config) == 0;
    for (size_t i = 0; i < n; i++)
        if (!is_twin[i])
            sweep->run[sweep->n_runs++] = p->run[i];
    for (int64_t i = 0; i < sweep->n_runs; i++)
        configs[i] = sweep->run[i].config;
    gsim_config_combine(configs, sweep->n_runs, sweep->id);
    return GSIM_OK;
}

static enum gsim_status report_bad(const struct gsim_sweep *sweep, const struct planning *p) {
    if (atomic_load(&p->is_out_of_memory))
        return gsim_no_memory(sweep->cli->log, "planning");
    if (is_stopped(sweep))
        return gsim_fail(sweep->cli->log, GSIM_INCOMPLETE, NULL, 0,
                         "interrupted before anything was run");
    if (sweep->bad_run < 0)
        return GSIM_OK;
    for (int64_t i = 0; i < sweep->bad_log->n_errors && i < GSIM_LOG_ENTRIES; i++)
        (void)gsim_fail(sweep->cli->log, GSIM_BAD_INPUT, sweep->grid.path, 0,
                        "combination %lld: %.400s", (long long)sweep->bad_run + 1,
                        sweep->bad_log->errors[i].text);
    return sweep->bad_log->status == GSIM_FAILED ? GSIM_FAILED : GSIM_BAD_INPUT;
}

enum gsim_status gsim_sweep_plan(struct gsim_sweep *sweep) {
    struct gsim_arena *arena = sweep->cli->arena;
    struct planning p = {.sweep = sweep};
    size_t n = (size_t)sweep->grid.n_runs;
    p.run = gsim_arena_array(arena, n, sizeof *p.run);
    sweep->run = gsim_arena_array(arena, n, sizeof *sweep->run);
    sweep->bad_log = gsim_arena_alloc(arena, sizeof *sweep->bad_log);
    sweep->bad_run = -1;
    sweep->devices = gsim_devices_new();
    (void)pthread_mutex_init(&sweep->lock, NULL);
    if (!p.run || !sweep->run || !sweep->bad_log || !sweep->devices)
        return gsim_no_memory(sweep->cli->log, "planning");
    enum gsim_status status = find_traces(&p);
    if (status != GSIM_OK)
        return status;
    gsim_in_parallel(sweep->n_threads, sweep->n_traces, plan_trace, &p);
    status = report_bad(sweep, &p);
    if (status != GSIM_OK)
        return status;
    gsim_in_parallel(sweep->n_threads, sweep->grid.n_runs, plan_run, &p);
    status = report_bad(sweep, &p);
    return status == GSIM_OK ? keep_different(&p) : status;
}

void gsim_sweep_end(struct gsim_sweep *sweep) {
    for (uint32_t t = 0; t < sweep->n_traces; t++) {
        gsim_arena_free(sweep->trace[t].arena);
        (void)pthread_mutex_destroy(&sweep->trace[t].lock);
    }
    gsim_devices_free(sweep->devices);
}
