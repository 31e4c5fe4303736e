/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles, as CSV. Lines that begin with # give the source of the numbers. Each row is
 * of a `kind`:
 *
 *     title       name: one line about it
 *     buffer      name, bytes: memory that it allocates; phase: in this phase only, and grow_bytes:
 *                   how much larger it is each time that the phase's calls are made
 *     kernel      name, count (per iteration, default 1), and of one launch
 *                   flops, bytes, precision (fp32 tf32 fp16 int8), efficiency (share of the roof
 *                     that binds it, default 100%): the time on any device follows, or
 *                   time_us, device: the time on that device, in place of the above
 *                 and touches (names of buffers, whole or a part, and the access:
 *                   "weights kv:0%-25%@rw"; r, w or rw), sm_fraction (of the SMs that it can
 *                   fill, default 1), sms (needed at once), blocks, and of one block threads,
 *                   shared_kib, and registers_kib or registers (of a thread)
 *                 and dram_bytes: what a launch that takes time_us moved to and from the memory,
 *                   as counters of the device say, stored_bytes: how many of these it stored
 *                   (without them half, as copies do), and clock: the clock that the GPU has at
 *                   most while the kernel runs, of its highest one (default 100%); in programs
 *                 and small_l1_us: what a launch that takes time_us takes on SMs with the smallest
 *                   L1, where others' shared memory leaves no more (default: as long), and of an SM
 *                   that has its blocks, alone: issue, the part of the slots in which it issues an
 *                   instruction, and tensor, the part of the time that its tensor cores work
 *                   (default: not known, so that its blocks crowd none); and parted_kib: the shared
 *                   memory that an empty SM is given for it (default: as the driver would choose);
 *                   and spreads (yes or no, the default): whether a program that has fewer SMs, as
 *                   a client with a cap, launches it as no more blocks than these hold; and alike
 *                   (yes or no, the default): whether its blocks all do as much, so that those
 *                   that begin together end together
 *     copy, host_copy, set   as kernel, for the GPU's other engines; in programs. A host_copy takes
 *                 no turn of the SMs
 *     host        name launch or gap, time_us: launching an iteration; between two iterations
 *     sync        name kernel, iteration (default) or none: where the host waits; count: it waits
 *                 after that many iterations (default 1)
 *     energy      name iteration, joules: what an iteration draws at the device's highest clock
 *     idempotent  name yes or no (default): whether a kernel may be killed and run again
 *
 * and, where the file has a program, the host's calls in order, each with host_us, the host's time
 * from the call before to this one's end:
 *
 *     launch      name of a kernel, copy or set before; stream (default: one of its own), time_us:
 *                 of this launch, on the kernel's device; grow_us: in a phase, how much longer it
 *                 takes each time than the time before
 *     wait        name device, stream (with the column stream) or an event: the host waits
 *     record      name of an event, stream: it stands behind what was launched there
 *     after       name of an event, stream: what follows there waits for it
 *     phase       name, count (default 1): the calls from here to the next phase, or to the end,
 *                 are made that often, one after another
 *
 * A program's kernels run as often as they are launched. Columns that no row needs may be left
 * out. */
#ifndef GSIM_TRACES_APPS_H
#define GSIM_TRACES_APPS_H

#include "sim/api/app.h"
#include "traces/input.h"

/* Of a kernel. A thread has 255 registers at most (CUDA C++ programming guide, technical
 * specifications of compute capabilities 5.0 to 12.0). */
enum { GSIM_APP_MOST_THREADS = 1 << 16, GSIM_APP_MOST_REGISTERS = 255 };
#define GSIM_APP_MOST_BLOCKS (INT64_C(1) << 48)

enum gsim_status gsim_app_read(struct gsim_input *input, struct gsim_arena *arena,
                               struct gsim_app *out, struct gsim_log *log);

#endif
