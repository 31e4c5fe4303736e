/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A setup with devices that take another time to start processes, or to end them. */
#ifndef GSIM_APP_SCALED_H
#define GSIM_APP_SCALED_H

#include "sim/app/setup/setup.h"

/* The times of keys.def for a process that starts, and for one that ends. */
enum gsim_process_part { GSIM_PROCESS_START, GSIM_PROCESS_END };

/* A copy of the setup in which that part takes factor_ppm of its time; all else is shared with
 * `from`. NULL: there is no memory. */
struct gsim_setup *gsim_setup_scaled(const struct gsim_setup *from, enum gsim_process_part part,
                                     int64_t factor_ppm, struct gsim_arena *arena);

#endif
