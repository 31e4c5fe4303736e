/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least value of a smooth function of few numbers within bounds: L-BFGS-B (Byrd, Lu, Nocedal
 * and Zhu, SIAM J. Scientific Computing 1995; Morales and Nocedal, ACM TOMS 2011), with the steps
 * and ends of that program as SciPy calls it. With few numbers the matrix of curvatures is kept
 * as it is, where the program keeps it in parts. It needs + - * / and comparisons alone, so that
 * every machine ends at one and the same numbers. */
#ifndef GSIM_POLICIES_LIB_DESCENT_H
#define GSIM_POLICIES_LIB_DESCENT_H

#include <stdint.h>

enum { GSIM_DESCENT_MOST = 8 };

struct gsim_descent {
    uint32_t n; /* numbers, at most GSIM_DESCENT_MOST */
    double low[GSIM_DESCENT_MOST], high[GSIM_DESCENT_MOST]; /* +-DBL_MAX: none */
    /* The value at x, and its slopes. */
    double (*value)(const void *arg, const double *x, double *slope);
    const void *arg;
};

/* Goes down from x, and leaves the end there. */
void gsim_descend(const struct gsim_descent *descent, double *x);

#endif
