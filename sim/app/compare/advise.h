/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that the files of gsim advise share. */
#ifndef GSIM_APP_ADVISE_H
#define GSIM_APP_ADVISE_H

#include "sim/app/compare/compare.h"

/* Paragraphs, NULL-terminated. */
struct gsim_advice {
    struct gsim_arena *arena;
    const char *text[64];
    int n;
    bool is_out_of_memory;
};

__attribute__((format(printf, 2, 3))) void gsim_advice_add(struct gsim_advice *advice,
                                                           const char *format, ...);

/* What the runs say to do, against contender 0: a paragraph for each alternative that is better,
 * with what it rests on and what would overturn it. */
void gsim_advice_alternatives(struct gsim_advice *advice, const struct gsim_compare *c,
                              const struct gsim_comparison *s, const struct gsim_whatif *whatif);

/* --- advise_log.c: what the log has -------------------------------------------- */

bool gsim_advise_has(const struct gsim_trace *trace, enum gsim_column column);
/* Says what the log lacks, and what cannot be known without it. */
void gsim_advise_missing(struct gsim_advice *advice, const struct gsim_cli *cli,
                         const struct gsim_setup *setup);
/* The names of the policies to be run: the user's, or those for which the log has all columns, with
 * their settings added to the command line. NULL: no memory. */
const char *gsim_advise_policies(struct gsim_cli *cli, const struct gsim_setup *setup);

#endif
