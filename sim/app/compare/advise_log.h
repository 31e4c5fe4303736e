/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a log has for gsim advise: the columns that it lacks, and the policies that can use it. */
#ifndef GSIM_APP_ADVISE_LOG_H
#define GSIM_APP_ADVISE_LOG_H

#include "sim/app/compare/advise.h"

bool gsim_advise_has(const struct gsim_trace *trace, enum gsim_column column);
/* Says what the log lacks, and what cannot be known without it. */
void gsim_advise_missing(struct gsim_advice *advice, const struct gsim_cli *cli,
                         const struct gsim_setup *setup);
/* The names of the policies to be run: the user's, or those for which the log has all columns, with
 * their settings added to the command line. NULL: no memory. */
const char *gsim_advise_policies(struct gsim_cli *cli, const struct gsim_setup *setup);

#endif
