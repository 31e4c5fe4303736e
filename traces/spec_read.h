/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a spec, the INI file that traces/spec.h describes. */
#ifndef GSIM_TRACES_SPEC_READ_H
#define GSIM_TRACES_SPEC_READ_H

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_spec;

enum gsim_spec_place { GSIM_SPEC_TRACE, GSIM_SPEC_ARRIVAL, GSIM_SPEC_ANY };
struct gsim_spec_key {
    enum gsim_spec_place place;
    const char *name, *help;
};
extern const struct gsim_spec_key gsim_spec_keys[]; /* ends with a NULL name */

/* `keys` are texts "SECTION.KEY=VALUE" that stand in place of the file's, or beside them; ends with
 * NULL, and NULL: none. */
enum gsim_status gsim_spec_read(const char *path, const char *const *keys, struct gsim_arena *arena,
                                const struct gsim_spec **out, struct gsim_log *log);

#endif
