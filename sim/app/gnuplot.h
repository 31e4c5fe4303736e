/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot: without a shell, in a folder of its own beside the output, so that a figure
 * appears only when it is complete. */
#ifndef GSIM_APP_GNUPLOT_H
#define GSIM_APP_GNUPLOT_H

#include "sim/app/figure.h"

struct gsim_gnuplot {
    char *folder;
    struct gsim_arena *arena;
};

/* Makes the folder beside the file. */
enum gsim_status gsim_gnuplot_open(struct gsim_gnuplot *gnuplot, const char *file,
                                   struct gsim_arena *arena, struct gsim_log *log);
/* Removes the folder and what is in it. */
void gsim_gnuplot_close(struct gsim_gnuplot *gnuplot);
/* The path of a file in the folder; NULL: no memory. */
char *gsim_gnuplot_path(const struct gsim_gnuplot *gnuplot, const char *name);
/* Writes the script into the folder as script.gp and runs it there. */
enum gsim_status gsim_gnuplot_draw(struct gsim_gnuplot *gnuplot, const struct gsim_figure *figure,
                                   struct gsim_db *db, const struct gsim_figure_request *request,
                                   struct gsim_log *log);

#endif
