/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device profiles that the runs of a sweep share: reading a profile takes longer than many a short
 * run, and a file that changes during the sweep is read once, so that all runs use one version. */
#ifndef GSIM_APP_DEVICES_H
#define GSIM_APP_DEVICES_H

#include "models/hardware/profile.h"

struct gsim_devices;

/* NULL: no memory. */
struct gsim_devices *gsim_devices_new(void);
void gsim_devices_free(struct gsim_devices *devices);
/* As gsim_profile_load, but a name is loaded only once. Any thread may call this; *out lives as
 * long as `devices`. */
enum gsim_status gsim_devices_take(struct gsim_devices *devices, const char *name_or_path,
                                   const struct gsim_profile **out, struct gsim_log *log);

/* Whether a GPU, under the name that its driver reports, is among the products of a profile.
 * `products` is a list separated by commas. */
bool gsim_product_is(const char *gpu, const char *products);
/* Finds the listed device that has the GPU among its products; *out is NULL if there is none. */
enum gsim_status gsim_product_device(const char *gpu, struct gsim_arena *arena, const char **device,
                                     struct gsim_log *log);

#endif
