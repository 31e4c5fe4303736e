/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures and reports carry a mark, so that a file of the user's is never taken for an earlier one
 * of them: gsim overwrites and removes what it made, and nothing else unless --force is said. */
#ifndef GSIM_APP_MADE_H
#define GSIM_APP_MADE_H

#include "sim/app/cli/cli.h"
#include "sim/app/figures/figure.h"

/* It stands near the beginning or the end of what is marked. */
#define GSIM_MADE_MARK "Made by gsim"

/* Puts the mark into a figure's file, where its format has a place for remarks. */
enum gsim_status gsim_made_mark(const char *path, enum gsim_figure_format format,
                                struct gsim_log *log);
bool gsim_made_is(const char *path); /* false: also where there is no such file */
/* A usage error where something else is there, and --force is not said; devices always are. */
enum gsim_status gsim_made_check(struct gsim_cli *cli, const char *path);

#endif
