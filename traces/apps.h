/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles, as CSV. Lines that begin with # give the source of the numbers. Each row is
 * of a `kind`:
 *
 *     title       name: one line about it
 *     buffer      name, bytes: memory that it allocates
 *     kernel      name, count (per iteration, default 1), and of one launch
 *                   flops, bytes, precision (fp32 tf32 fp16 int8), efficiency (share of the roof
 *                     that binds it, default 100%): the time on any device follows, or
 *                   time_us, device: the time on that device, in place of the above
 *                 and touches (names of buffers, whole or a part: "weights kv:0%-25%"),
 *                   sm_fraction (of the SMs that it can fill, default 1), sms (needed at
 *                   once), registers_kib and shared_kib (of one block)
 *     host        name launch or gap, time_us: launching an iteration; between two iterations
 *     sync        name kernel, iteration (default) or none: where the host waits
 *     idempotent  name yes or no (default): whether a kernel may be killed and run again
 *
 * Columns that no row needs may be left out. */
#ifndef GSIM_TRACES_APPS_H
#define GSIM_TRACES_APPS_H

#include "sim/api/app.h"
#include "traces/input.h"

enum gsim_status gsim_app_read(struct gsim_input *input, struct gsim_arena *arena,
                               struct gsim_app *out, struct gsim_log *log);

#endif
