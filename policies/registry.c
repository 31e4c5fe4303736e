/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policies of list.def, by name. */
#include "policies/registry.h"

#include <string.h>

#include "sim/base/text.h"

#define GSIM_POLICY(symbol) extern const struct gsim_policy gsim_policy_##symbol;
#include "policies/list.def"
#undef GSIM_POLICY

const struct gsim_policy *const gsim_policies[] = {
#define GSIM_POLICY(symbol) &gsim_policy_##symbol,
#include "policies/list.def"
#undef GSIM_POLICY
    NULL};

static const char *const symbols[] = {
#define GSIM_POLICY(symbol) #symbol,
#include "policies/list.def"
#undef GSIM_POLICY
};

enum { MAX_POLICIES = 128 };

const struct gsim_policy *gsim_policies_find(const char *name, struct gsim_log *log) {
    const char *names[MAX_POLICIES];
    int n = 0;
    for (; gsim_policies[n]; n++) {
        const struct gsim_policy *policy = gsim_policies[n];
        names[n] = policy->name;
        if (strcmp(name, policy->name) == 0 || (policy->alias && strcmp(name, policy->alias) == 0))
            return policy;
    }
    int close = gsim_text_suggest(name, names, n);
    (void)gsim_fail(log, GSIM_USAGE, NULL, 0, "no policy is called '%s'%s%s%s", name,
                    close >= 0 ? "; did you mean '" : "; 'gsim list policies' shows them",
                    close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
    return NULL;
}

const char *gsim_policies_symbol(const struct gsim_policy *policy) {
    for (int n = 0; gsim_policies[n]; n++)
        if (gsim_policies[n] == policy)
            return symbols[n];
    return "";
}
