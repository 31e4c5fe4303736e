/* SPDX-License-Identifier: GPL-3.0-or-later */
/* INI files (device profiles, clusters, generator specs, grids), read through libinih. libinih
 * reports no lines to its handler and cuts lines at 200 bytes, so this reader counts lines itself
 * and refuses longer lines instead of cutting them. */
#ifndef GSIM_BASE_INI_H
#define GSIM_BASE_INI_H

#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_ini_entry {
    const char *section; /* "" before the first [section] */
    const char *key;
    const char *value; /* without an inline "; comment" or "# comment" */
    int64_t line;
};

struct gsim_ini {
    const char *path; /* for messages */
    struct gsim_ini_entry *entries; /* in file order; a repeated key is repeated here */
    int n;
};

enum gsim_status gsim_ini_read_text(const char *path, const char *text, size_t length,
                                    struct gsim_arena *arena, struct gsim_ini *out,
                                    struct gsim_log *log);
enum gsim_status gsim_ini_read_file(const char *path, struct gsim_arena *arena,
                                    struct gsim_ini *out, struct gsim_log *log);
/* Refuses a key that stands twice in a section, wherever the section's lines are: which of the two
 * counts would depend on their order. */
enum gsim_status gsim_ini_once(const struct gsim_ini *ini, struct gsim_arena *arena,
                               struct gsim_log *log);
/* The last entry with that key, or NULL. */
const struct gsim_ini_entry *gsim_ini_find(const struct gsim_ini *ini, const char *section,
                                           const char *key);

#endif
