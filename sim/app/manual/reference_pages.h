/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of sim/app/manual/reference.h that have files of their own. */
#ifndef GSIM_APP_REFERENCE_PAGES_H
#define GSIM_APP_REFERENCE_PAGES_H

#include "sim/app/cli/options.h"
#include "gsim/params.h"

/* Prints a heading, and a comment that names the command which made the page. */
void gsim_reference_title(FILE *out, const char *title, const char *kind);
/* Prints text for a cell of a table, where a plain '|' would end the cell. */
void gsim_reference_cell(FILE *out, const char *text);

enum gsim_status gsim_reference_devices(struct gsim_cli *cli);
void gsim_reference_parameters(FILE *out);
void gsim_reference_policies(FILE *out);

/* Prints " [a|b|c] [1 to 10]", the values of a parameter; prints no byte if its type says all. */
void gsim_reference_range(FILE *out, const struct gsim_param_def *def);

#endif
