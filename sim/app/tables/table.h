/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a database: the cells that plots/table.sql computes, and how they are written. */
#ifndef GSIM_APP_TABLE_H
#define GSIM_APP_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/study/stats.h"
#include "gsim/arena.h"

/* A result of the runs of a row: over n replications, with its ratio to the policy that the table
 * is against. Numbers that are not known are NaN. */
struct gsim_cell {
    const char *head, *row; /* the column of the table, and the row */
    double n;
    struct gsim_interval value, ratio;
    double p; /* of "no difference"; it and the ratio's ends are adjusted for all of the table */
    double pairs; /* the runs that have one of that policy beside them */
};

struct gsim_table {
    struct gsim_cell *cell; /* column by column */
    int n, capacity;
    const char *against; /* a policy */
    bool is_shaken; /* intervals are ranges over shaken traces */
    bool has_repeated; /* runs of some cell are all equal: they are one, and have no interval */
    bool has_original; /* the means beside the ranges are of the trace as it is */
};

enum gsim_table_format { GSIM_TABLE_TEXT, GSIM_TABLE_CSV, GSIM_TABLE_LATEX };

void gsim_table_write(FILE *out, const struct gsim_table *table, enum gsim_table_format format);

#endif
