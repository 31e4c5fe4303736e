/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of the sources that this program was built from (tools/sources.sh): a result depends on
 * the program that made it as much as on its inputs. */
#ifndef GSIM_APP_PROGRAM_H
#define GSIM_APP_PROGRAM_H

#include "gsim/policy.h"

#define GSIM_VERSION "0.1.0"

/* A folder of the program's sources (owner "all") or a file of a policy (owner: its symbol). There
 * are a thousand: as addresses of texts, the loader would have to move them at each start. */
struct gsim_source {
    char owner[24], part[72];
    char sha256[65]; /* 64 hexadecimal digits */
};
extern const struct gsim_source gsim_sources[]; /* ends with an empty owner */
extern const char gsim_sources_sum[]; /* sum of all sources, built-in data included */

/* The number of digits of that sum in texts for users. */
enum { GSIM_PROGRAM_DIGITS = 12 };

/* Writes "0.1.0 (build 5f0c1d2e3a4b)". */
void gsim_program_name(char text[64]);
/* The compiler and its version. */
const char *gsim_program_compiler(void);
/* Whether the part can change results of the policy. Any of policies/lib may be called by a policy
 * from outside. */
bool gsim_source_counts(const struct gsim_source *source, const struct gsim_policy *policy);

#endif
