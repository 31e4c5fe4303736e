/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mark in figures and reports, which tells them from a user's own files: gsim overwrites and
 * removes files with the mark, and no others unless --force is given. */
#ifndef GSIM_APP_MADE_H
#define GSIM_APP_MADE_H

#include "sim/app/cli/options.h"
#include "sim/app/figures/figure.h"

/* The mark stands near the beginning or the end of a file. */
#define GSIM_MADE_MARK "Made by gsim"

/* Puts the mark into a figure's file, where its format has a place for remarks. */
enum gsim_status gsim_made_mark(const char *path, enum gsim_figure_format format,
                                struct gsim_log *log);
bool gsim_made_is(const char *path); /* false also if there is no such file */
/* A usage error if the file exists without the mark and --force is not given. An empty file and a
 * device may always be written. */
enum gsim_status gsim_made_check(struct gsim_cli *cli, const char *path);

#endif
