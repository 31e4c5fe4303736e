/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of conic.h share. A side is what a constraint leaves and what that is worth: first
 * the bound of each column, then the lines of the linear system, which are rows and free columns.
 * Free columns have no side: its kind is GSIM_CONIC_NONE at both places. */
#ifndef GSIM_POLICIES_LIB_CONIC_WORK_H
#define GSIM_POLICIES_LIB_CONIC_WORK_H

#include "policies/lib/conic.h"
#include "policies/lib/skyline.h"

enum gsim_conic_side { GSIM_CONIC_NONE = 0, GSIM_CONIC_ROW, GSIM_CONIC_CONE };

/* Static regularisation of ECOS, DELTASTAT. */
#define GSIM_CONIC_DELTA 7e-8

struct gsim_conic_work {
    uint32_t n_sides, n_added, room_columns, room_lines, room_entries;
    /* By column. */
    double *cost, *column_scale, *column_count, *bound_entry; /* the entry in its own bound */
    uint32_t *start, *line_of; /* line_of: of a free column; UINT32_MAX: it has a bound */
    double *off_x, *x_step, *x_aim, *column_right, *weight, *part, *kept;
    /* By entry. */
    uint32_t *entry_line;
    double *entry, *times;
    /* By side. */
    enum gsim_conic_side *kind;
    double *count, *bound, *row_scale;
    double *left, *worth; /* what the constraint leaves, s, and its price, z */
    double *ratio; /* s / z; in a cone: its square of the scaling, times the price */
    double *off, *left_step, *worth_step, *worth_aim, *wanted, *side_right;
    /* By line. */
    double *system;
    bool *is_free;
    struct gsim_conic_cone *cone;
    struct gsim_skyline matrix;
    /* Of the refinement. */
    double *x_fix, *worth_fix, *x_error, *side_error;
};

/* The scaling of a cone of three sides (Nesterov and Todd): of each member alike. */
struct gsim_conic_cone {
    uint32_t side; /* the first of three */
    double eta, a, q[2];
    double lambda[3], scaled_left[3], scaled_worth[3];
};

static inline uint32_t gsim_conic_line_side(const struct gsim_conic *p, uint32_t line) {
    return p->n_columns + line;
}

/* Sets what a unit of the prices of all sides takes (ratio), from left and worth; false: a cone is
 * left. is_first: one of all. */
bool gsim_conic_scale(struct gsim_conic *p, bool is_first);
/* out = W v, and W^2 v, of a cone. */
void gsim_conic_by_scaling(const struct gsim_conic_cone *cone, const double *v, double *out);
void gsim_conic_by_square(const struct gsim_conic_cone *cone, const double *v, double *out);
/* out = u o v, and the v for which u o v = w. */
void gsim_conic_product(const double *u, const double *v, double *out);
void gsim_conic_quotient(const double *u, const double *w, double *out);
/* The longest step for which lambda + step * direction is in the cone; at most `most`. */
double gsim_conic_cone_room(const double *lambda, const double *direction, double most);

/* G x by side, without bounds; and G' z by column. */
void gsim_conic_times_x(const struct gsim_conic *p, const double *x, double *out);
void gsim_conic_times_worth(const struct gsim_conic *p, const double *worth, double *out);
/* The pattern of the linear system; its factors for the scaling that there is. */
bool gsim_conic_shape(struct gsim_conic *p);
void gsim_conic_factorise(struct gsim_conic *p);
/* Solves (delta, G'; G, -(W^2 + delta)) (x, z) = (right_x, right_side). */
void gsim_conic_solve_system(struct gsim_conic *p, const double *right_x, const double *right_side,
                             double *x, double *worth);

#endif
