/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far to go along a way that leads down: until the fall is large enough and the way has become
 * flat enough. Moré and Thuente, "Line search algorithms with guaranteed sufficient decrease", ACM
 * TOMS 1994, as MINPACK-2 has it. */
#ifndef GSIM_POLICIES_LIB_LINE_SEARCH_H
#define GSIM_POLICIES_LIB_LINE_SEARCH_H

#include <stdbool.h>

/* A step along the way, the value there, and the slope along the way. */
struct gsim_line_point {
    double step, value, slope;
};

struct gsim_line_search {
    struct gsim_line_point begin, best, other; /* the best so far, and the other end */
    double least, most; /* where the next step may lie */
    double furthest; /* of all steps */
    double width, width_before;
    bool is_between; /* a minimum lies between best and other */
    bool is_late; /* a step has fallen enough */
};

/* From where the way begins; the first step is to be tried next. */
void gsim_line_begin(struct gsim_line_search *line, double value, double slope, double first,
                     double furthest);
/* Looks at a step that was tried. true: it is the last one; else *next is to be tried. */
bool gsim_line_look(struct gsim_line_search *line, struct gsim_line_point tried, double *next);

#endif
