/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder for a while: made under a name that nobody has, removed with the files that are in it. */
#ifndef GSIM_APP_FOLDER_H
#define GSIM_APP_FOLDER_H

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_folder {
    char *path; /* NULL: there is none */
    struct gsim_arena *arena;
};

/* Makes it beside the file, whether that is there or not. */
enum gsim_status gsim_folder_open(struct gsim_folder *folder, const char *file,
                                  struct gsim_arena *arena, struct gsim_log *log);
/* The path of a file in it; NULL: no memory. */
char *gsim_folder_path(const struct gsim_folder *folder, const char *name);
/* Writes a file into it. */
enum gsim_status gsim_folder_put(const struct gsim_folder *folder, const char *name,
                                 const void *bytes, size_t n, struct gsim_log *log);
void gsim_folder_close(struct gsim_folder *folder);

#endif
