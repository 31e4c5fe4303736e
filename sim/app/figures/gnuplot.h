/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs gnuplot: without a shell, in a folder of its own beside the output, so that a figure appears
 * only when it is complete. */
#ifndef GSIM_APP_GNUPLOT_H
#define GSIM_APP_GNUPLOT_H

#include <signal.h>

#include "sim/app/figures/figure.h"
#include "sim/app/figures/folder.h"

/* Whether a program named gnuplot is found in PATH. */
bool gsim_gnuplot_is_there(void);
/* Writes the script of a page into the folder as script.gp and runs it there; *n_pages is the
 * number of the figure's pages. GSIM_INCOMPLETE if *stop becomes true meanwhile; stop may be
 * NULL. */
enum gsim_status gsim_gnuplot_draw(struct gsim_folder *folder, const struct gsim_figure *figure,
                                   struct gsim_db *db, const struct gsim_figure_request *request,
                                   const volatile sig_atomic_t *stop, int *n_pages,
                                   struct gsim_log *log);

/* Runs the script that stands in the folder, and draws `output` there. */
enum gsim_status gsim_gnuplot_run(const struct gsim_folder *folder, const char *output,
                                  const volatile sig_atomic_t *stop, struct gsim_log *log);

#endif
