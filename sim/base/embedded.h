/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files built into the program (tools/embed.sh makes the table): devices, applications,
 * samples, figures and the tables of `gsim validate`. */
#ifndef GSIM_BASE_EMBEDDED_H
#define GSIM_BASE_EMBEDDED_H

#include <stddef.h>
#include <string.h>

struct gsim_embedded {
    const char *name; /* "models/devices/h200.ini" */
    const unsigned char *bytes;
    unsigned long size;
};
/* Ends with a NULL name; sorted by name. */
extern const struct gsim_embedded gsim_embedded_files[];

/* NULL: there is no such file. */
static inline const struct gsim_embedded *gsim_embedded_find(const char *name) {
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

#endif
