/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A figure that a command draws of its own numbers, without a database, into the file that -o
 * names: the common style, the data that the command puts, and a drawing of plots/. */
#ifndef GSIM_APP_SHEET_H
#define GSIM_APP_SHEET_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/app/cli/options.h"
#include "sim/app/figures/figure.h"

/* Writes the data, as gnuplot reads it; false: there is no memory. */
typedef bool gsim_sheet_put(void *arg, enum gsim_figure_format format, FILE *out);

struct gsim_sheet {
    const char *drawing; /* a file of plots/ */
    double height_in;
    bool is_double; /* two columns wide */
    gsim_sheet_put *put;
    void *arg;
};

/* A usage error where -o names no form of a figure, or a file of something else. */
enum gsim_status gsim_sheet_check(struct gsim_cli *cli);
/* Draws into the file of -o, which has been checked. */
enum gsim_status gsim_sheet_draw(struct gsim_cli *cli, const struct gsim_sheet *sheet);

#endif
