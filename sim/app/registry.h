/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policies of policies/list.def, by name. */
#ifndef GSIM_APP_REGISTRY_H
#define GSIM_APP_REGISTRY_H

#include "sim/api/policy.h"

extern const struct gsim_policy *const gsim_policies[]; /* ends with NULL */

/* By name or alias; NULL and a usage error with a suggestion when there is none. */
const struct gsim_policy *gsim_policy_find(const char *name, struct gsim_log *log);
/* "easy_backfill", as in policies/list.def; "" when it is not listed. */
const char *gsim_policy_symbol(const struct gsim_policy *policy);
/* "tiresias" and so on; by enum gsim_reference. */
const char *gsim_reference_name(enum gsim_reference reference);

#endif
