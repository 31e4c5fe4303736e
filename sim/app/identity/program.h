/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this program was built from, as sums of its sources (tools/sources.sh): a result is of the
 * program that made it as much as of its inputs. */
#ifndef GSIM_APP_PROGRAM_H
#define GSIM_APP_PROGRAM_H

#include "gsim/policy.h"

/* A room of the program (owner "all") or a file of a policy (owner: its symbol). */
struct gsim_source {
    const char *owner, *part;
    const char *sha256; /* 64 hexadecimal digits */
};
extern const struct gsim_source gsim_sources[]; /* ends with a NULL owner */
extern const char gsim_sources_sum[]; /* of all there is, built-in data included */

/* Digits of that sum that people see. */
enum { GSIM_PROGRAM_DIGITS = 12 };

/* "0.1.0 (build 5f0c1d2e3a4b)" */
void gsim_program_name(char text[64]);
/* The compiler and its version. */
const char *gsim_program_compiler(void);
/* Whether the part can change results of the policy. */
bool gsim_source_counts(const struct gsim_source *source, const struct gsim_policy *policy);

#endif
