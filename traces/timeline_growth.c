/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launches that take longer each time that the calls of their phase are made, as attention over a
 * cache of keys and values that is a token longer: a line through the times by least squares, where
 * they grow beyond doubt. */
#include "traces/timeline.h"

/* A slope is growth from four standard errors on, over sixteen iterations at least: of launches
 * with times that only scatter, 1 in 1500 grows so (Student's t of 14 degrees of freedom). */
enum { ERRORS_LEAST = 4, ITERATIONS_LEAST = 16 };

/* Sums over the iterations of a phase, of deviations from the mean times n. */
struct sums {
    gsim_i128 places, times; /* of the values themselves */
    double xx, xy, yy;
    uint32_t n;
};

static const struct gsim_timeline_step *step_of(const struct gsim_timeline *timeline,
                                                const struct gsim_timeline_iteration *iteration,
                                                uint32_t step) {
    return &timeline->step[iteration->first + step];
}

static struct sums sums_of(const struct gsim_timeline *timeline,
                           const struct gsim_timeline_phase *phase, uint32_t step) {
    const struct gsim_timeline_iteration *iteration = &timeline->iteration[phase->first];
    struct sums out = {.n = phase->n};
    for (uint32_t i = 0; i < phase->n; i++) {
        out.places += iteration[i].place;
        out.times += step_of(timeline, &iteration[i], step)->dur_ns;
    }
    for (uint32_t i = 0; i < phase->n; i++) {
        double x = (double)((gsim_i128)iteration[i].place * out.n - out.places);
        double y =
            (double)((gsim_i128)step_of(timeline, &iteration[i], step)->dur_ns * out.n - out.times);
        out.xx += x * x;
        out.xy += x * y;
        out.yy += y * y;
    }
    return out;
}

/* Whether the slope xy / xx is above its standard error, the root of
 * (yy - xy * xy / xx) / (n - 2) / xx, as often as it must be. */
static bool is_beyond_doubt(const struct sums *sums) {
    double explained = sums->xy * sums->xy / sums->xx, rest = sums->yy - explained;
    return sums->xy > 0 && explained * (sums->n - 2) >= ERRORS_LEAST * ERRORS_LEAST * rest;
}

struct gsim_timeline_growth gsim_timeline_grows(const struct gsim_timeline *timeline,
                                                const struct gsim_timeline_phase *phase,
                                                uint32_t step) {
    struct sums sums = sums_of(timeline, phase, step);
    int64_t mean_ns = (int64_t)((sums.times + sums.n / 2) / sums.n);
    struct gsim_timeline_growth none = {mean_ns, 0};
    if (phase->count < 2 || phase->n < ITERATIONS_LEAST || sums.xx <= 0 || !is_beyond_doubt(&sums))
        return none;
    int64_t grow_ns = (int64_t)(sums.xy / sums.xx + 0.5);
    /* the mean over the phase's count stays */
    int64_t first_ns = mean_ns - grow_ns * (phase->count - 1) / 2;
    return grow_ns > 0 && first_ns > 0 ? (struct gsim_timeline_growth){first_ns, grow_ns} : none;
}
