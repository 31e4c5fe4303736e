/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/line_search.h"

#include "policies/lib/real.h"

/* How much of the first slope the fall has to keep, and how much the slope has to lose; how narrow
 * the range may become. */
static const double enough_fall = 1e-3, enough_flat = 0.9, narrow = 0.1;

static double size(double x) {
    return x < 0 ? -x : x;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double within(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

void gsim_line_begin(struct gsim_line_search *line, double value, double slope, double first,
                     double furthest) {
    struct gsim_line_point begin = {0, value, slope};
    *line = (struct gsim_line_search){.begin = begin,
                                      .best = begin,
                                      .other = begin,
                                      .most = 5 * first,
                                      .furthest = furthest,
                                      .width = furthest,
                                      .width_before = 2 * furthest};
}

/* --- the minimum of a cubic through two points ----------------------------------------------- */

struct cubic {
    double theta, gamma;
};

static struct cubic cubic_of(struct gsim_line_point a, struct gsim_line_point p) {
    double theta = 3 * (a.value - p.value) / (p.step - a.step) + a.slope + p.slope;
    double s = larger(size(theta), larger(size(a.slope), size(p.slope)));
    double root = theta / s * (theta / s) - a.slope / s * (p.slope / s);
    return (struct cubic){theta, s * gsim_real_root(larger(root, 0))};
}

static double by_slopes(struct gsim_line_point a, struct gsim_line_point p) {
    return p.step + p.slope / (p.slope - a.slope) * (a.step - p.step);
}

/* The step went too far: the value rose. */
static double after_rise(struct gsim_line_point x, struct gsim_line_point p) {
    struct cubic c = cubic_of(x, p);
    double gamma = p.step < x.step ? -c.gamma : c.gamma, way = p.step - x.step;
    double ratio = (gamma - x.slope + c.theta) / (gamma - x.slope + gamma + p.slope);
    double cubic = x.step + ratio * way;
    double square = x.step + x.slope / ((x.value - p.value) / way + x.slope) / 2 * way;
    return size(cubic - x.step) < size(square - x.step) ? cubic : cubic + (square - cubic) / 2;
}

/* The value fell, and the slope has changed its sign. */
static double after_turn(struct gsim_line_point x, struct gsim_line_point p) {
    struct cubic c = cubic_of(x, p);
    double gamma = p.step > x.step ? -c.gamma : c.gamma;
    double ratio = (gamma - p.slope + c.theta) / (gamma - p.slope + gamma + x.slope);
    double cubic = p.step + ratio * (x.step - p.step), line = by_slopes(x, p);
    return size(cubic - p.step) > size(line - p.step) ? cubic : line;
}

/* The value fell, and the slope became flatter. */
static double after_flatter(const struct gsim_line_search *s, struct gsim_line_point x,
                            struct gsim_line_point y, struct gsim_line_point p) {
    struct cubic c = cubic_of(x, p);
    bool is_up = p.step > x.step;
    double gamma = is_up ? -c.gamma : c.gamma;
    double ratio = (gamma - p.slope + c.theta) / (gamma + (x.slope - p.slope) + gamma);
    double cubic = is_up ? s->most : s->least, line = by_slopes(x, p);
    if (ratio < 0 && gamma != 0)
        cubic = p.step + ratio * (x.step - p.step);
    bool is_nearer = size(cubic - p.step) < size(line - p.step);
    if (!s->is_between)
        return within(is_nearer ? line : cubic, s->least, s->most);
    double next = is_nearer ? cubic : line, end = p.step + 0.66 * (y.step - p.step);
    return is_up ? (next < end ? next : end) : larger(next, end);
}

/* The value fell, and the slope did not become flatter. */
static double after_fall(const struct gsim_line_search *s, struct gsim_line_point x,
                         struct gsim_line_point y, struct gsim_line_point p) {
    if (!s->is_between)
        return p.step > x.step ? s->most : s->least;
    double theta = 3 * (p.value - y.value) / (y.step - p.step) + y.slope + p.slope;
    double most = larger(size(theta), larger(size(y.slope), size(p.slope)));
    double root = theta / most * (theta / most) - y.slope / most * (p.slope / most);
    double gamma = most * gsim_real_root(larger(root, 0));
    gamma = p.step > y.step ? -gamma : gamma;
    double ratio = (gamma - p.slope + theta) / (gamma - p.slope + gamma + y.slope);
    return p.step + ratio * (y.step - p.step);
}

/* Moves the ends to where the minimum still lies between them, and chooses the next step. */
static double narrow_down(struct gsim_line_search *s, struct gsim_line_point *x,
                          struct gsim_line_point *y, struct gsim_line_point p) {
    bool turned = p.slope * (x->slope / size(x->slope)) < 0;
    double next;
    if (p.value > x->value)
        next = after_rise(*x, p);
    else if (turned)
        next = after_turn(*x, p);
    else if (size(p.slope) < size(x->slope))
        next = after_flatter(s, *x, *y, p);
    else
        next = after_fall(s, *x, *y, p);
    s->is_between |= p.value > x->value || turned;
    if (p.value > x->value) {
        *y = p;
    } else {
        if (turned)
            *y = *x;
        *x = p;
    }
    return next;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* Less the fall that is wanted of each step, or with it again. */
static struct gsim_line_point tilted(struct gsim_line_point p, double slope) {
    return (struct gsim_line_point){p.step, p.value - p.step * slope, p.slope - slope};
}

static bool is_too_narrow(const struct gsim_line_search *s, double step) {
    return s->is_between &&
           (step <= s->least || step >= s->most || s->most - s->least <= narrow * s->most);
}

bool gsim_line_look(struct gsim_line_search *s, struct gsim_line_point p, double *next) {
    double wanted = enough_fall * s->begin.slope, line = s->begin.value + p.step * wanted;
    s->is_late |= p.value <= line && p.slope >= 0;
    bool is_end = p.step >= s->furthest && p.value <= line && p.slope <= wanted;
    bool is_good = p.value <= line && size(p.slope) <= enough_flat * -s->begin.slope;
    if (is_too_narrow(s, p.step) || is_end || is_good || !(p.step > 0))
        return true;
    if (!s->is_late && p.value <= s->best.value && p.value > line) {
        struct gsim_line_point x = tilted(s->best, wanted), y = tilted(s->other, wanted);
        *next = narrow_down(s, &x, &y, tilted(p, wanted));
        s->best = tilted(x, -wanted);
        s->other = tilted(y, -wanted);
    } else {
        *next = narrow_down(s, &s->best, &s->other, p);
    }
    double x = s->best.step, y = s->other.step;
    if (s->is_between) {
        if (size(y - x) >= 0.66 * s->width_before)
            *next = x + 0.5 * (y - x);
        s->width_before = s->width;
        s->width = size(y - x);
    }
    s->least = s->is_between ? (x < y ? x : y) : *next + 1.1 * (*next - x);
    s->most = s->is_between ? larger(x, y) : *next + 4 * (*next - x);
    *next = within(*next, 0, s->furthest);
    if (is_too_narrow(s, *next))
        *next = x;
    return false;
}
