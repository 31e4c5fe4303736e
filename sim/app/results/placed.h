/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restores files of a database into a temporary folder, at their old places relative to one
 * another: a spec finds its values beside it, a cluster its devices. The process works in that
 * folder until the files are removed. */
#ifndef GSIM_APP_PLACED_H
#define GSIM_APP_PLACED_H

#include "sim/app/results/db_repro.h"

struct gsim_placed {
    struct gsim_arena *arena;
    const struct gsim_db_file *file;
    int n;
    const char **name; /* the present path of each file, from the working folder */
    char *folder; /* NULL: no file is placed, and each is read at its own path */
    int here; /* descriptor of the earlier working folder */
};

/* Places the files. A file without bytes must lie at its own path, to which the folder then
 * links. */
enum gsim_status gsim_placed_open(struct gsim_placed *placed, const struct gsim_db_file *file,
                                  int n, struct gsim_arena *arena, struct gsim_log *log);
void gsim_placed_close(struct gsim_placed *placed);
/* The present name of a file: its own, or that of the placed file. */
const char *gsim_placed_name(const struct gsim_placed *placed, const char *path);
/* The text with the files' own names in place of their present ones; NULL: no memory. */
const char *gsim_placed_restore(const struct gsim_placed *placed, const char *text);

#endif
