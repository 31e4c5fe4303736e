/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a site's file. */
#ifndef GSIM_SITE_FILE_H
#define GSIM_SITE_FILE_H

#include "gsim/arena.h"
#include "gsim/status.h"

/* Reads a file of at most 64 MiB without NUL bytes; the text ends with one. */
enum gsim_status gsim_site_read_text(const char *path, struct gsim_arena *arena, char **text,
                                     struct gsim_log *log);

#endif
