/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --set KEY=VALUE, and the profiles of devices with these keys. Keys of policies are the business
 * of sim/app/setup/setup.c. */
#ifndef GSIM_APP_SET_H
#define GSIM_APP_SET_H

#include "models/hardware/profile.h"
#include "sim/app/cli/options.h"

/* Cuts KEY=VALUE in two. */
enum gsim_status gsim_set_cut(struct gsim_cli *cli, const char *text, const char **key,
                              const char **value);
/* The device of a key such as "speed.v100": the device's speed relative to the device on which
 * durations were measured. The value is a decimal, and sets the key speed_milli of that device
 * alone. NULL: the key is another one. */
const char *gsim_set_device(const char *key);
/* Whether devices have the key: one of a profile, or speed.DEVICE. */
bool gsim_set_is_of_devices(const char *key);
/* Loads a profile and applies the --set keys of the command line to it. */
enum gsim_status gsim_set_profile(struct gsim_cli *cli, const char *name,
                                  const struct gsim_profile **out);
/* Whether copies between the device and its host take no time: the device is ideal, and so is its
 * host. */
bool gsim_set_is_host_moot(const struct gsim_profile *profile);

#endif
