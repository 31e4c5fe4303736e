/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SQLite sink: one transaction a run, so that an interrupted run leaves no row. */
#ifndef GSIM_APP_DB_H
#define GSIM_APP_DB_H

#include "sim/api/sink.h"

struct gsim_db;

/* Opens or creates; a file that is something else is refused. */
enum gsim_status gsim_db_open(const char *path, struct gsim_arena *arena, struct gsim_db **out,
                              struct gsim_log *log);
void gsim_db_close(struct gsim_db *db);
/* Whether the run of this configuration is there. */
enum gsim_status gsim_db_has(struct gsim_db *db, const char *config, bool *has,
                             struct gsim_log *log);
/* Adds a run, in place of one of the same configuration. */
enum gsim_status gsim_db_add(struct gsim_db *db, const char *config, const char *argv,
                             const struct gsim_result *result, struct gsim_log *log);

#endif
