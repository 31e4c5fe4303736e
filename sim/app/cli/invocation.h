/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines as text: the line that the user typed, and a line that repeats a run. */
#ifndef GSIM_APP_INVOCATION_H
#define GSIM_APP_INVOCATION_H

#include "sim/app/cli/options.h"
#include "sim/app/results/db.h"
#include "sim/app/setup/setup.h"

/* The text quoted so that a shell reads it back unchanged; NULL: no memory. */
const char *gsim_shell_quote(struct gsim_arena *arena, const char *text);
/* The command line that the user typed, without the option left_out (GSIM_OPT_COUNT: with all
 * options); NULL: no memory. */
const char *gsim_typed_command(const struct gsim_cli *cli, enum gsim_option left_out);
/* "gsim run ..." for a contender's run; keys that its policy does not know are left out. */
const char *gsim_run_command(const struct gsim_cli *cli, const struct gsim_setup *setup,
                             int contender, uint64_t replication);
/* The options of that run as keys of a grid; the list ends with a NULL key. NULL: no memory. */
const struct gsim_setting *gsim_run_settings(const struct gsim_cli *cli,
                                             const struct gsim_setup *setup, int contender,
                                             uint64_t replication);

#endif
