/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the keys of a grid change: the trace, its file, the cluster, or the run alone. */
#include "sim/app/sweep/grid.h"
#include "sim/app/setup/setup.h"

#include <string.h>

int gsim_grid_find(const struct gsim_grid *grid, const char *name) {
    for (int k = 0; k < grid->n_keys; k++)
        if (strcmp(grid->key[k].name, name) == 0)
            return k;
    return -1;
}

bool gsim_grid_fills_gaps(const struct gsim_grid_key *key) {
    return key->option == GSIM_OPT_ASSUME || key->option == GSIM_OPT_BY_MODEL ||
           key->option == GSIM_OPT_GPU_MEM || key->option == GSIM_OPT_RATES ||
           key->option == GSIM_OPT_GOODPUT || key->option == GSIM_OPT_LOG_FROM;
}

/* Whether the key says how replications of a trace file differ from it. */
bool gsim_grid_is_of_file(const struct gsim_grid_key *key) {
    return key->option == GSIM_OPT_SHAKE || key->option == GSIM_OPT_RESAMPLE ||
           key->option == GSIM_OPT_BLOCK || key->option == GSIM_OPT_NEAR;
}

/* Whether a trace file can have replications. */
bool gsim_grid_changes_file(const struct gsim_grid *grid) {
    return gsim_grid_find(grid, "shake") >= 0 || gsim_grid_find(grid, "resample") >= 0;
}

static bool is_of_cluster(const struct gsim_grid_key *key) {
    return key->option == GSIM_OPT_NODES || key->option == GSIM_OPT_GPUS_PER_NODE ||
           key->option == GSIM_OPT_CLUSTER || key->option == GSIM_OPT_SLURM_CONF;
}

/* Under a load, jobs arrive faster on a larger cluster. */
static bool changes_trace(const struct gsim_grid *grid, const struct gsim_grid_key *key) {
    switch (key->option) {
    case -1:
    case GSIM_OPT_TRACE_FORMAT:
    case GSIM_OPT_SEED:
    case GSIM_OPT_SHAKE:
    case GSIM_OPT_RESAMPLE:
    case GSIM_OPT_BLOCK:
    case GSIM_OPT_NEAR:
    case GSIM_OPT_REPLICATION:
    case GSIM_OPT_SPEC:
    case GSIM_OPT_TIME_SCALE:
    case GSIM_OPT_LOAD:
        return true;
    default:
        return gsim_grid_fills_gaps(key) ||
               (is_of_cluster(key) && gsim_grid_find(grid, "load") >= 0);
    }
}

static int rank(const struct gsim_grid *grid, const struct gsim_grid_key *key) {
    if (key->option == -1)
        return 0;
    return changes_trace(grid, key) ? 1 : key->option == GSIM_OPT_POLICY ? 2 : 3;
}

void gsim_grid_order_keys(struct gsim_grid *grid) {
    for (int i = 1; i < grid->n_keys; i++)
        for (int k = i; k > 0 && rank(grid, &grid->key[k]) < rank(grid, &grid->key[k - 1]); k--) {
            struct gsim_grid_key swapped = grid->key[k];
            grid->key[k] = grid->key[k - 1];
            grid->key[k - 1] = swapped;
        }
}

uint64_t gsim_grid_trace_of(const struct gsim_grid *grid, int64_t run) {
    const uint32_t *choice = grid->choice + run * grid->n_keys;
    bool is_drawn = gsim_setup_is_spec(grid->key[0].value[choice[0]]);
    uint64_t sum = 0;
    for (int k = 0; k < grid->n_keys; k++) /* a changed file depends on the seed as well */
        is_drawn |= grid->key[k].option == GSIM_OPT_REPLICATION && choice[k] != GSIM_GRID_UNMET &&
                    strcmp(grid->key[k].value[choice[k]], "0") != 0;
    for (int k = 0; k < grid->n_keys; k++) {
        const struct gsim_grid_key *key = &grid->key[k];
        bool is_for_it = changes_trace(grid, key) && choice[k] != GSIM_GRID_UNMET &&
                         (is_drawn || key->option != GSIM_OPT_SEED);
        if (changes_trace(grid, key)) /* a number in mixed radix */
            sum = sum * key->n + (is_for_it ? choice[k] : 0);
    }
    return sum;
}
