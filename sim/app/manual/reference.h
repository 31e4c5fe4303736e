/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of docs/reference, in Markdown, from the lists that the program itself uses: `gsim list
 * KIND --format md` prints one of them. */
#ifndef GSIM_APP_REFERENCE_H
#define GSIM_APP_REFERENCE_H

#include "sim/app/cli/options.h"

/* Prints the page of a kind; a kind without a page is a usage error. */
enum gsim_status gsim_reference_print(struct gsim_cli *cli, const char *kind);

/* Prints plain lists of a native trace's columns and of a result's fields, one a line. */
void gsim_reference_list_columns(FILE *out);
void gsim_reference_list_results(FILE *out);

#endif
