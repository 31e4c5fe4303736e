/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of cones of three sides, as in Vandenberghe, "The CVXOPT linear and quadratic cone
 * program solvers", 2010. */
#include "policies/lib/conic_work.h"
#include "policies/lib/real.h"

/* u0^2 - u1^2 - u2^2 */
static double size_of(const double *u) {
    return u[0] * u[0] - u[1] * u[1] - u[2] * u[2];
}

static bool scale_cone(struct gsim_conic_cone *cone, const double *left, const double *worth) {
    double left_size = size_of(left), worth_size = size_of(worth), s[3], z[3], product = 1;
    if (left_size <= 0 || worth_size <= 0)
        return false;
    left_size = gsim_real_root(left_size);
    worth_size = gsim_real_root(worth_size);
    for (int i = 0; i < 3; i++) {
        s[i] = left[i] / left_size;
        z[i] = worth[i] / worth_size;
        product += s[i] * z[i];
    }
    double half = 0.5 / gsim_real_root(0.5 * product);
    cone->eta = gsim_real_root(left_size / worth_size);
    cone->a = half * (s[0] + z[0]);
    cone->q[0] = half * (s[1] - z[1]);
    cone->q[1] = half * (s[2] - z[2]);
    gsim_conic_by_scaling(cone, worth, cone->lambda);
    return true;
}

bool gsim_conic_scale(struct gsim_conic *p, bool is_first) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->ratio[i] = is_first || w->kind[i] != GSIM_CONIC_ROW ? 1 : w->left[i] / w->worth[i];
    for (uint32_t k = 0; k < p->n_cones; k++) {
        struct gsim_conic_cone *cone = &w->cone[k];
        if (is_first)
            *cone = (struct gsim_conic_cone){.side = cone->side, .eta = 1, .a = 1};
        else if (!scale_cone(cone, w->left + cone->side, w->worth + cone->side))
            return false;
    }
    return true;
}

void gsim_conic_by_scaling(const struct gsim_conic_cone *cone, const double *v, double *out) {
    double along = cone->q[0] * v[1] + cone->q[1] * v[2];
    double factor = v[0] + along / (1 + cone->a);
    double first = cone->eta * (cone->a * v[0] + along);
    out[1] = cone->eta * (v[1] + factor * cone->q[0]);
    out[2] = cone->eta * (v[2] + factor * cone->q[1]);
    out[0] = first;
}

/* W^2 = eta^2 (2 w w' - J) with w = (a, q). */
void gsim_conic_by_square(const struct gsim_conic_cone *cone, const double *v, double *out) {
    double square = cone->eta * cone->eta;
    double along = 2 * (cone->a * v[0] + cone->q[0] * v[1] + cone->q[1] * v[2]);
    double first = square * (cone->a * along - v[0]);
    out[1] = square * (cone->q[0] * along + v[1]);
    out[2] = square * (cone->q[1] * along + v[2]);
    out[0] = first;
}

void gsim_conic_product(const double *u, const double *v, double *out) {
    double first = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    out[1] = u[0] * v[1] + v[0] * u[1];
    out[2] = u[0] * v[2] + v[0] * u[2];
    out[0] = first;
}

void gsim_conic_quotient(const double *u, const double *w, double *out) {
    double size = size_of(u), along = u[1] * w[1] + u[2] * w[2], w0 = w[0];
    double factor = (along / u[0] - w0) / size;
    out[0] = (u[0] * w0 - along) / size;
    out[1] = factor * u[1] + w[1] / u[0];
    out[2] = factor * u[2] + w[2] / u[0];
}

double gsim_conic_cone_room(const double *lambda, const double *direction, double most) {
    double size = size_of(lambda);
    if (size <= 0)
        return most;
    size = gsim_real_root(size);
    double bar[3] = {lambda[0] / size, lambda[1] / size, lambda[2] / size}, rho[3];
    double along = bar[0] * direction[0] - bar[1] * direction[1] - bar[2] * direction[2];
    double factor = (along + direction[0]) / (bar[0] + 1);
    rho[0] = along / size;
    rho[1] = (direction[1] - factor * bar[1]) / size;
    rho[2] = (direction[2] - factor * bar[2]) / size;
    double out_of = gsim_real_root(rho[1] * rho[1] + rho[2] * rho[2]) - rho[0];
    return out_of > 0 && 1 / out_of < most ? 1 / out_of : most;
}
