/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a database back on the disk, in a folder of their own, as they lay to one another: a spec
 * finds its values beside it, a cluster its devices. The process works there until they are gone. */
#ifndef GSIM_APP_PLACED_H
#define GSIM_APP_PLACED_H

#include "sim/app/results/db_repro.h"

struct gsim_placed {
    struct gsim_arena *arena;
    const struct gsim_db_file *file;
    int n;
    const char **name; /* where each stands now, from the working folder */
    char *folder; /* NULL: nothing is placed, files are where they were */
    int here; /* the folder in which the process was */
};

/* Files without bytes must lie where they were: the folder points to them. */
enum gsim_status gsim_placed_open(struct gsim_placed *placed, const struct gsim_db_file *file,
                                  int n, struct gsim_arena *arena, struct gsim_log *log);
void gsim_placed_close(struct gsim_placed *placed);
/* The name that stands for it now: its own, or that of the file that was placed. */
const char *gsim_placed_name(const struct gsim_placed *placed, const char *path);
/* The text with the files' own names; NULL: no memory. */
const char *gsim_placed_restore(const struct gsim_placed *placed, const char *text);

#endif
