/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot: without a shell, in a folder of its own beside the output, so that a figure
 * appears only when it is complete. */
#ifndef GSIM_APP_GNUPLOT_H
#define GSIM_APP_GNUPLOT_H

#include "sim/app/figure.h"
#include "sim/app/folder.h"

/* Writes the script into the folder as script.gp and runs it there. */
enum gsim_status gsim_gnuplot_draw(struct gsim_folder *folder, const struct gsim_figure *figure,
                                   struct gsim_db *db, const struct gsim_figure_request *request,
                                   struct gsim_log *log);

#endif
