/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/identity/program.h"

#include <stdio.h>
#include <string.h>

#include "policies/registry.h"

void gsim_program_name(char text[64]) {
    (void)snprintf(text, 64, GSIM_VERSION " (build %.*s)", GSIM_PROGRAM_DIGITS, gsim_sources_sum);
}

const char *gsim_program_compiler(void) {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

/* Whether the source is what policies share, and the first of that name: it stands once for each
 * policy that has it. */
static bool is_shared(const struct gsim_source *source) {
    static const char room[] = "policies/lib/";
    const struct gsim_source *first = gsim_sources;
    while (strcmp(first->part, source->part) != 0)
        first++;
    return first == source && strncmp(source->part, room, sizeof room - 1) == 0;
}

bool gsim_source_counts(const struct gsim_source *source, const struct gsim_policy *policy) {
    const char *symbol = gsim_policies_symbol(policy);
    if (strcmp(source->owner, "all") == 0)
        return true;
    return *symbol ? strcmp(source->owner, symbol) == 0 : is_shared(source);
}
