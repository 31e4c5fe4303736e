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
/* A script that stands in a folder, and the file that it draws there. */
struct gsim_drawing {
    const char *script, *output;
    const char *error; /* why it is not drawn; NULL: it is */
};

/* Writes the script of a page into the folder, under the name `script`; *n_pages is the number of
 * the figure's pages. */
enum gsim_status gsim_gnuplot_write(const struct gsim_folder *folder, const char *script,
                                    const struct gsim_figure *figure, struct gsim_db *db,
                                    const struct gsim_figure_request *request, int *n_pages,
                                    struct gsim_log *log);
/* Runs a script that stands in the folder, and draws `output` there. GSIM_INCOMPLETE if *stop
 * becomes true meanwhile; stop may be NULL. */
enum gsim_status gsim_gnuplot_draw(const struct gsim_folder *folder, const char *script,
                                   const char *output, const volatile sig_atomic_t *stop,
                                   struct gsim_log *log);
/* Draws SVGs by one gnuplot, with the bytes of gsim_gnuplot_draw: a start of gnuplot takes ten
 * times as long as a drawing. If it fails, each is drawn by a gnuplot of its own, and those that
 * fail have an error. GSIM_OK or GSIM_INCOMPLETE. */
enum gsim_status gsim_gnuplot_draw_all(const struct gsim_folder *folder,
                                       struct gsim_drawing *drawings, int n,
                                       const volatile sig_atomic_t *stop);

#endif
