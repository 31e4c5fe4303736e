/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of an empirical distribution. */
#ifndef GSIM_TRACES_VALUES_H
#define GSIM_TRACES_VALUES_H

#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

/* Reads values from a file: a value per line, or a CSV's column. */
enum gsim_status gsim_values_read(const char *path, const char *column, struct gsim_arena *arena,
                                  const double **out, uint32_t *n, struct gsim_log *log);

#endif
