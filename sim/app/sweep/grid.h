/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grids: an INI file. Its keys are the long options (and `trace`, `set.KEY`, `assume.COLUMN`,
 * `spec.SECTION.KEY`), each with a value, a list or a range. A run of the grid has one value of
 * each key that applies to the run.
 *
 *     trace = a.csv, b.csv
 *     policy = fifo, las
 *     nodes = 1..8                 # a range; 10..100/10 counts in tens
 *     set.las.quantum = 1h, 2h     # applies only to the policies that know it
 *     set.tiresias.queues = "3250,7200", "1000,2000"    # quotes keep a comma in one value
 *     [skip small clusters]        # leaves out the runs for which all of these hold
 *     policy = fifo
 *     nodes = 1, 2 */
#ifndef GSIM_APP_GRID_H
#define GSIM_APP_GRID_H

#include "sim/app/cli/options.h"
#include "sim/base/ini.h"

#define GSIM_GRID_UNMET UINT32_MAX

struct gsim_grid_key {
    const char *name; /* as the file writes it */
    int option; /* enum gsim_option; -1: the trace */
    const char *part; /* "las.quantum" of set.las.quantum, the column of assume.COLUMN; else NULL */
    const char **value;
    uint32_t n;
    int64_t line;
};

struct gsim_grid {
    const char *path;
    /* keys that change the trace first, then the policy, then the others */
    struct gsim_grid_key *key;
    int n_keys;
    uint32_t *choice; /* by run and key: position in value[], or GSIM_GRID_UNMET */
    int64_t n_runs;
};

/* Reads a grid, and loads its policies from outside. The last key counts fastest, so that the runs
 * of one trace are neighbours. */
enum gsim_status gsim_grid_read(const char *path, struct gsim_foreign *foreign,
                                struct gsim_arena *arena, struct gsim_grid *out,
                                struct gsim_log *log);
/* Makes a grid of these keys with their lists of values; ini->path stands in messages. */
enum gsim_status gsim_grid_make(const struct gsim_ini *ini, struct gsim_foreign *foreign,
                                struct gsim_arena *arena, struct gsim_grid *out,
                                struct gsim_log *log);
/* The position of the key, or -1. */
int gsim_grid_find(const struct gsim_grid *grid, const char *name);
/* Puts the options of a run into cli, as parsing its command line would. cli starts zeroed, except
 * for its streams, arena and log. */
enum gsim_status gsim_grid_apply(const struct gsim_grid *grid, int64_t run, struct gsim_cli *cli);
/* A number that is equal for runs that share a trace, and for no others. */
uint64_t gsim_grid_trace_of(const struct gsim_grid *grid, int64_t run);

/* --- grid_keys.c: what keys change --------------------------------------------- */

/* Whether the key says what cells are in which the trace has none. */
bool gsim_grid_fills_gaps(const struct gsim_grid_key *key);
/* Whether the key says how replications of a trace file differ from it. */
bool gsim_grid_is_of_file(const struct gsim_grid_key *key);
/* Whether a trace file can have replications. */
bool gsim_grid_changes_file(const struct gsim_grid *grid);
/* Keys that change the trace first, then the policy, then the others. */
void gsim_grid_order_keys(struct gsim_grid *grid);

#endif
