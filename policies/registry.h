/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts about policies that the program shows, beyond gsim/policy.h. */
#ifndef GSIM_POLICIES_REGISTRY_H
#define GSIM_POLICIES_REGISTRY_H

#include "gsim/policy.h"

/* "easy_backfill", as in policies/list.def; "" when it is not listed. */
const char *gsim_policies_symbol(const struct gsim_policy *policy);

/* Whether the file could be a shared object: it is there, and no folder. */
enum gsim_status gsim_policies_check_file(const char *path, struct gsim_log *log);

#endif
