/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep: the runs of a grid with their identities, and the traces that they share. */
#ifndef GSIM_APP_SWEEP_H
#define GSIM_APP_SWEEP_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/app/identity/config.h"
#include "sim/app/results/db.h"
#include "sim/app/setup/devices.h"
#include "sim/app/sweep/grid.h"
#include "sim/app/setup/setup.h"

/* A trace file is read while the sweep is planned and stays until its last run has been written; a
 * trace drawn from a spec comes and goes with its runs. */
struct gsim_sweep_trace {
    pthread_mutex_t lock;
    struct gsim_arena *arena; /* NULL: not in memory */
    const struct gsim_setup *loaded; /* in arena: the trace and what came with it */
    atomic_llong n_waiting; /* runs that are still to be written */
    int64_t first_run; /* of the grid: its options say what the trace is */
    int64_t seed, shake_ppm;
    uint32_t n_jobs; /* of a file; 0: it is drawn */
    uint32_t widest_gang; /* 0: not known, and not needed */
    const struct gsim_generate_spec *spec; /* that it is drawn from; NULL: it is a file */
};

/* A spec is read once, whoever draws from it: one that is edited meanwhile is the same for all. */
struct gsim_sweep_spec {
    struct gsim_sweep_spec *next;
    const char *path;
    const struct gsim_generate_spec *spec;
};

struct gsim_sweep_run {
    int64_t grid_run;
    uint32_t trace;
    enum gsim_db_state state; /* in the database */
    char config[65], build[65], inputs[GSIM_LIST_DIGITS + 1];
    const char *argv;
};

struct gsim_sweep {
    struct gsim_cli *cli;
    struct gsim_grid grid;
    struct gsim_devices *devices;
    struct gsim_sweep_trace *trace;
    uint32_t n_traces;
    struct gsim_sweep_run *run; /* by position - 1; different runs only */
    int64_t n_runs;
    char id[65];
    int n_threads;
    uint32_t n_samples; /* of each run */
    bool is_summary; /* what is kept of it */
    struct gsim_sweep_spec *specs;
    volatile sig_atomic_t stop; /* set by the writer alone: runs under way end */
    pthread_mutex_t
        lock; /* of what follows, of specs, and of the arena of cli while runs are planned */
    int64_t bad_run; /* the first that cannot be set up, in the order of the grid */
    struct gsim_log *bad_log;
};

/* Sets every run up once without running it, so that what is wrong shows before anything runs. */
enum gsim_status gsim_sweep_plan(struct gsim_sweep *sweep);
/* What the run needs, as for `gsim run`; the trace as far as it is in memory. cli and setup are the
 * caller's, zeroed; everything lives in arena. */
enum gsim_status gsim_sweep_set_up(const struct gsim_sweep *sweep, int64_t grid_run, uint32_t trace,
                                   struct gsim_arena *arena, struct gsim_log *log,
                                   struct gsim_cli *cli, struct gsim_setup *setup);
/* Brings the trace into memory if it is not there. */
enum gsim_status gsim_sweep_take_trace(struct gsim_sweep *sweep, uint32_t trace,
                                       struct gsim_log *log);
void gsim_sweep_drop_trace(struct gsim_sweep *sweep, uint32_t trace);
void gsim_sweep_end(struct gsim_sweep *sweep);

/* The runs that --shard asks for and that are not in the database yet. */
struct gsim_sweep_todo {
    struct gsim_sweep *sweep;
    const int64_t *position; /* from 1 */
    int64_t n;
    int64_t n_done, n_failed; /* filled in */
};
/* Runs them on all threads; the calling thread writes. GSIM_INCOMPLETE when it was interrupted. */
enum gsim_status gsim_sweep_execute(struct gsim_sweep_todo *todo, struct gsim_db *db);

#endif
