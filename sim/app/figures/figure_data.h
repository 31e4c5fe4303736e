/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of a figure, which figure.c writes page by page. */
#ifndef GSIM_APP_FIGURE_DATA_H
#define GSIM_APP_FIGURE_DATA_H

#include "sim/app/figures/figure.h"

enum { GSIM_FIGURE_LINES = 8, GSIM_FIGURE_BARS = 24 }; /* that a page shows */

struct gsim_figure_writing {
    const struct gsim_figure *figure;
    const struct gsim_figure_request *request;
    FILE *out;
    int64_t first, last; /* series of this page */
    int block; /* number of the data block, from 1 */
    int64_t n_rows, n_series, n_bars; /* rows, series and bars of the block */
    int64_t n_all; /* series of all pages */
    int n_pages; /* as the figure's statements set var_pages, or 1 */
    bool is_first_look; /* the number of pages is not known yet */
    uint64_t filled; /* blocks with rows, as bits */
    double series; /* number of the series that is being written */
    int longest; /* characters of the longest label */
    double height_in;
};
/* Writes the rows of all statements; an error if the drawing would find nothing. */
enum gsim_status gsim_figure_write_data(struct gsim_figure_writing *w, struct gsim_db *db,
                                        struct gsim_log *log);

#endif
