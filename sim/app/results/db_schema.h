/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a database, made from the lists that define them. */
#ifndef GSIM_APP_DB_SCHEMA_H
#define GSIM_APP_DB_SCHEMA_H

#include <stdio.h>

#include "sim/app/results/db_private.h"

/* Whether `run` has a field of the result: all but wall time, which is in run_perf, since it does
 * not identify a run. */
bool gsim_db_keeps_field(const char *name);
/* The statements CREATE TABLE, VIEW and INDEX; NULL: no memory. */
const char *gsim_db_schema(struct gsim_arena *arena);
/* The columns of a table, "run_id, config, ...", each with a prefix ("s."); NULL: no memory. */
const char *gsim_db_columns(struct gsim_arena *arena, const char *table, const char *prefix);
/* Prints a table with the meaning of its columns as Markdown; name NULL: all tables. */
bool gsim_db_describe(FILE *out, const char *name);

#endif
