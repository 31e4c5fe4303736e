/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/identity/program.h"

#include <stdio.h>
#include <string.h>

#include "sim/app/cli/cli.h"
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

bool gsim_source_counts(const struct gsim_source *source, const struct gsim_policy *policy) {
    return strcmp(source->owner, "all") == 0 ||
           strcmp(source->owner, gsim_policies_symbol(policy)) == 0;
}
