/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A temporary folder, made under an unused name and removed together with its files. */
#ifndef GSIM_APP_FOLDER_H
#define GSIM_APP_FOLDER_H

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_folder {
    char *path; /* NULL: no folder */
    struct gsim_arena *arena;
};

/* Makes the folder beside `file`, which need not exist. */
enum gsim_status gsim_folder_open(struct gsim_folder *folder, const char *file,
                                  struct gsim_arena *arena, struct gsim_log *log);
/* The path of a file in the folder; NULL: no memory. */
char *gsim_folder_path(const struct gsim_folder *folder, const char *name);
/* Writes a file into the folder. */
enum gsim_status gsim_folder_put(const struct gsim_folder *folder, const char *name,
                                 const void *bytes, size_t n, struct gsim_log *log);
void gsim_folder_close(struct gsim_folder *folder);

#endif
