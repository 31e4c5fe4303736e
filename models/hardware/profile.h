/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device profiles: every number about hardware, with its tag and its source, as data.
 *
 * A profile is models/devices/NAME.ini (built into the program) or a file of the user's. Lines are
 *     key = value | tag | source
 * under [section]; the full key is "section.key", [device] adds no prefix, and has a plain `title`
 * and the `products` that a driver may call the device; [mig] and [validated] have lines of their
 * own (models/hardware/mig.h, models/hardware/validated.h). The tag is measured, published, fitted
 * or assumed. A key that the device's file lacks is taken from assumed.ini.
 * Values are plain numbers in the key's unit (units are read too); a rate may be `unlimited`. A
 * value may also be a share of another key of the same kind, `88% of pcie.peak_bytes_per_s`, a
 * curve may give its points as shares of `sms` and of `hbm_bytes_per_s` (`3%:8%,100%:98%`), and a
 * time may be that of moving the SMs' registers and shared memory at a share of a rate, `sm state
 * over 90% of hbm_bytes_per_s`: so assumed.ini scales with the device. A ';' after a space starts a
 * comment: keep it out of sources. */
#ifndef GSIM_MODELS_HARDWARE_PROFILE_H
#define GSIM_MODELS_HARDWARE_PROFILE_H

#include <stdbool.h>

#include "gsim/status.h"
#include "models/hardware/keys.h"

/* name_or_path: a listed device, or a file when it contains '/' or ends in ".ini". An unknown name
 * is a usage error with a suggestion; a bad file is bad input with its line. */
enum gsim_status gsim_profile_load(const char *name_or_path, struct gsim_arena *arena,
                                   struct gsim_profile *out, struct gsim_log *log);
bool gsim_profile_is_path(const char *name_or_path);
/* Applies `--set key=value`. *known is false, and the profile stays as it is, when no profile key
 * is called `key`. Values that are shares of this key follow. */
enum gsim_status gsim_profile_set(struct gsim_profile *profile, const char *key, const char *text,
                                  bool *known, struct gsim_arena *arena, struct gsim_log *log);
/* Writes the names of the built-in devices, sorted; returns their number. */
int gsim_profile_names(char (*out)[48], int most);

/* --- values.c: values of keys --------------------------------------------------- */

/* Shares of shares: one that goes through more of them is taken for one that comes back to
 * itself. */
enum { GSIM_LONGEST_CHAIN = 4 };

/* Sets the key of the profile by a text; false: not of the key's form. A share is noted only. */
bool gsim_value_parse(struct gsim_profile *profile, int key, const char *text,
                      struct gsim_arena *arena);
/* The least and the most that a key accepts. */
int64_t gsim_value_least(int key);
int64_t gsim_value_most(int key);
bool gsim_value_is_in_range(const struct gsim_profile *profile, int key);
/* Computes the key's value if it is a share of others; false: a chain longer than depth. */
bool gsim_value_derive(struct gsim_profile *profile, int key, int depth, struct gsim_arena *arena);
/* Computes all shares; an error names the path and has the status `bad`. */
enum gsim_status gsim_values_derive(struct gsim_profile *profile, const char *path,
                                    enum gsim_status bad, struct gsim_arena *arena,
                                    struct gsim_log *log);

#endif
