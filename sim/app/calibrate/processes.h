/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim calibrate processes: what processes take to start and to end on this machine, alone and
 * several at once, and the driver to take their state off the GPU and to bring it back: the keys
 * [start], [end], [restart] and [checkpoint] of a simulation of what `gsim drive` will do. */
#ifndef GSIM_APP_CALIBRATE_PROCESSES_H
#define GSIM_APP_CALIBRATE_PROCESSES_H

#include "sim/app/cli/options.h"

enum gsim_status gsim_calibrate_processes(struct gsim_cli *cli);

#endif
