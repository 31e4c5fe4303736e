/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program says of the policies of list.def, beyond gsim/policy.h. */
#ifndef GSIM_POLICIES_REGISTRY_H
#define GSIM_POLICIES_REGISTRY_H

#include "gsim/policy.h"

/* "easy_backfill", as in policies/list.def; "" when it is not listed. */
const char *gsim_policies_symbol(const struct gsim_policy *policy);

#endif
