/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device profiles that the runs of a sweep share: reading one takes longer than many a short run,
 * and a file that changes meanwhile is the same for all. */
#ifndef GSIM_APP_DEVICES_H
#define GSIM_APP_DEVICES_H

#include "models/hardware/profile.h"

struct gsim_devices;

/* NULL when there is no memory. */
struct gsim_devices *gsim_devices_new(void);
void gsim_devices_free(struct gsim_devices *devices);
/* As gsim_profile_load, once for each name; from any thread. What *out points to lives as long as
 * devices. */
enum gsim_status gsim_devices_take(struct gsim_devices *devices, const char *name_or_path,
                                   const struct gsim_profile **out, struct gsim_log *log);

/* Whether a GPU, by the name that its driver gives it, is one of the products of a profile, which stand
 * between commas. */
bool gsim_product_is(const char *gpu, const char *products);
/* The listed device that has the GPU among its products; NULL: none. */
enum gsim_status gsim_product_device(const char *gpu, struct gsim_arena *arena, const char **device,
                                     struct gsim_log *log);

#endif
