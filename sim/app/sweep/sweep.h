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

/* A trace of the sweep. A trace file is read while the sweep is planned and stays in memory until
 * its last run has been written; a trace drawn from a spec is in memory only during its runs. */
struct gsim_sweep_trace {
    pthread_mutex_t lock;
    struct gsim_arena *arena; /* NULL: not in memory */
    const struct gsim_setup *loaded; /* in arena: the trace with its options */
    atomic_llong n_waiting; /* runs that are not written yet */
    int64_t first_run; /* a run of the grid, with the options that define the trace */
    int64_t seed, shake_ppm;
    struct gsim_resampling resampling;
    uint32_t n_jobs; /* jobs of a file; 0: the trace is drawn */
    uint32_t widest_gang; /* 0: not known, and not needed */
    const struct gsim_spec *spec; /* the spec that it is drawn from; NULL: a file */
};

/* A spec with its keys, which is read once for all traces drawn from it: an edit during the sweep
 * changes none of them. */
struct gsim_sweep_spec {
    struct gsim_sweep_spec *next;
    const char *path;
    const char *const *keys; /* of --spec and --load; ends with NULL */
    const struct gsim_spec *spec;
};

struct gsim_sweep_run {
    int64_t grid_run;
    uint32_t trace;
    enum gsim_db_state state; /* state in the database */
    char config[65], build[65], inputs[GSIM_LIST_DIGITS + 1];
    const char *argv;
};

struct gsim_sweep {
    struct gsim_cli *cli;
    struct gsim_grid grid;
    struct gsim_devices *devices;
    struct gsim_sweep_trace *trace;
    uint32_t n_traces;
    struct gsim_sweep_run *run; /* by position - 1, without equal runs */
    int64_t n_runs;
    char id[65];
    int n_threads;
    int64_t policy_timeout_ns; /* see struct gsim_setup */
    uint32_t n_samples; /* steps that each run samples */
    bool is_summary; /* runs are kept without their jobs */
    bool is_search; /* which runs are made depends on earlier ones: no sweep is to be completed */
    struct gsim_sweep_spec *specs;
    volatile sig_atomic_t stop; /* set only by the writer, to end the runs under way */
    pthread_mutex_t
        lock; /* guards the fields below, the specs, and during planning the arena of cli */
    int64_t bad_run; /* the first run of the grid that cannot be set up; -1: none */
    struct gsim_log *bad_log;
};

/* Reads the options that hold for all runs, before the grid is read. */
enum gsim_status gsim_sweep_begin(struct gsim_sweep *sweep);
/* Sets every run up once without running it, so that mistakes show before the first run begins. */
enum gsim_status gsim_sweep_plan(struct gsim_sweep *sweep);
/* Sets a run up, as `gsim run` does, with the trace if that is in memory. The caller provides cli
 * and setup, zeroed; the rest is allocated in arena. */
enum gsim_status gsim_sweep_set_up(const struct gsim_sweep *sweep, int64_t grid_run, uint32_t trace,
                                   struct gsim_arena *arena, struct gsim_log *log,
                                   struct gsim_cli *cli, struct gsim_setup *setup);
/* Brings the trace into memory unless it is there. */
enum gsim_status gsim_sweep_take_trace(struct gsim_sweep *sweep, uint32_t trace,
                                       struct gsim_log *log);
void gsim_sweep_drop_trace(struct gsim_sweep *sweep, uint32_t trace);
void gsim_sweep_end(struct gsim_sweep *sweep);

/* Looks up which runs the database has; the answers are by position - 1. */
enum gsim_status gsim_sweep_find_states(struct gsim_sweep *sweep, struct gsim_db *db,
                                        struct gsim_db_asked **out);
/* Whether the database has the run: an old one was refused before, or is kept. */
bool gsim_sweep_is_done(const struct gsim_sweep *sweep, const struct gsim_sweep_run *run);

/* The runs of the shard that the database lacks. */
struct gsim_sweep_todo {
    struct gsim_sweep *sweep;
    const int64_t *position; /* positions, from 1 */
    int64_t n;
    int64_t n_done, n_failed; /* set by gsim_sweep_execute */
};
/* How many of n runs rest on assumed constants, and are outside what was validated. */
struct gsim_sweep_notes {
    int64_t n, n_assumed, n_outside;
    const char *assumed; /* the constants; NULL: they stand in the database alone */
};
void gsim_sweep_note(struct gsim_sweep_notes *notes, const char *assumed, const char *outside);
void gsim_sweep_say(const struct gsim_cli *cli, const struct gsim_sweep_notes *notes);

/* Makes the runs on all threads; the calling thread writes. GSIM_INCOMPLETE after an
 * interruption. */
enum gsim_status gsim_sweep_execute(struct gsim_sweep_todo *todo, struct gsim_db *db);

#endif
