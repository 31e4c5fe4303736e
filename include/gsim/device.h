/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices: profiles of GPUs, and the model that runs jobs on them. */
#ifndef GSIM_DEVICE_H
#define GSIM_DEVICE_H

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_profile; /* facts about the hardware of a device */
struct gsim_model_ops;

/* The built-in model of devices, for gsim_run_options. */
extern const struct gsim_model_ops gsim_model_device;

/* name_or_path: a listed device, or a file when it contains '/' or ends in ".ini". An unknown name
 * is a usage error with a suggestion; a bad file is bad input with its line. NULL: the log says
 * why. */
const struct gsim_profile *gsim_device_load(const char *name_or_path, struct gsim_arena *arena,
                                            struct gsim_log *log);
/* The memory of one GPU that jobs can use. */
int64_t gsim_device_memory(const struct gsim_profile *profile);

#endif
