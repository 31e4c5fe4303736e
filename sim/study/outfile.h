/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear only when they are complete. */
#ifndef GSIM_STUDY_OUTFILE_H
#define GSIM_STUDY_OUTFILE_H

#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/status.h"

/* A file that appears only when it is complete: gsim writes a file beside it, then renames that. */
struct gsim_outfile {
    FILE *file;
    const char *path;
    char *beside;
};
enum gsim_status gsim_outfile_open(struct gsim_outfile *out, const char *path,
                                   struct gsim_arena *arena, struct gsim_log *log);
/* Removes the unfinished file; an earlier file of that name stays. */
void gsim_outfile_abandon(struct gsim_outfile *out);
/* Removes what an outfile of that path leaves behind where its process ended before it. */
void gsim_outfile_forget(const char *path, struct gsim_arena *arena);
enum gsim_status gsim_outfile_close(struct gsim_outfile *out, struct gsim_log *log);

#endif
