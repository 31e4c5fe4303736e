/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a database, from the lists that say what they hold. */
#ifndef GSIM_APP_DB_SCHEMA_H
#define GSIM_APP_DB_SCHEMA_H

#include <stdio.h>

#include "sim/app/results/db_private.h"

/* Fields of a result that `run` has: wall time is in run_perf, outside what identifies a run. */
bool gsim_db_keeps_field(const char *name);
/* CREATE TABLE, VIEW and INDEX; NULL: no memory. */
const char *gsim_db_schema(struct gsim_arena *arena);
/* "run_id, config, ..." of a table, each with a prefix ("s."); NULL: no memory. */
const char *gsim_db_columns(struct gsim_arena *arena, const char *table, const char *prefix);
/* "mem_bytes": a column of a trace in base units, as trace_job names it. */
void gsim_db_trace_column(enum gsim_column column, char name[48]);
/* Every table with its columns and what they are, as Markdown. name: of one table; NULL: of all. */
bool gsim_db_describe(FILE *out, const char *name);

#endif
