/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of keys: how they are written, the ranges in which they lie, and those that are shares of
 * other values. */
#ifndef GSIM_VALUES_H
#define GSIM_VALUES_H

#include "models/hardware/profile.h"

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
