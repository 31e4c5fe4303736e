/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/tgs/throttle.h"

#include "gsim/units.h"

enum {
    LEAST_STEP = 1000, /* blocks */
    UP_PPM = 250, /* of the best rate */
    DOWN_PPM = 80000, /* of the budget */
    /* times the tolerance: the budget falls to a tenth, and slow start begins again */
    COLLAPSE = 3,
    FAR_PPM = 120000, /* for FAR_REPORTS in a row: the best rate was overestimated */
    FAR_REPORTS = 20,
    CHANGED_PPM = 200000, /* of the window's maximum against the best: the job has changed */
    HIGHER_PPM = 100000, /* a maximum higher by up to this becomes the best rate as it is */
    SETTLED_PPM = 50000, /* as HIGHER_PPM, while the rate is measured again */
    MARGIN_PPM = 25000, /* distance that the best rate keeps from a maximum farther away */
};

static int64_t part(int64_t value, int64_t ppm) {
    return gsim_muldiv_floor(value, ppm, GSIM_PPM);
}

static int64_t at_least(int64_t value, int64_t least) {
    return value > least ? value : least;
}

/* Reports jitter by launches that fall to either side of their ends, so neighbours are averaged. */
static int64_t window_maximum(const struct gsim_throttle *throttle) {
    int64_t most = 0;
    for (int i = 0; i + 1 < GSIM_THROTTLE_WINDOW; i++)
        if (throttle->window[i] >= 0 && throttle->window[i + 1] >= 0)
            most = at_least((throttle->window[i] + throttle->window[i + 1]) / 2, most);
    return most;
}

void gsim_throttle_start(struct gsim_throttle *throttle) {
    throttle->best = 0;
    throttle->phase = GSIM_THROTTLE_PROFILING;
    throttle->budget = 0;
    throttle->n_profiled = throttle->n_far = 0;
    for (int i = 0; i < GSIM_THROTTLE_WINDOW; i++)
        throttle->window[i] = -1;
}

static int64_t difference_ppm(int64_t rate, int64_t best) {
    int64_t apart = rate > best ? rate - best : best - rate;
    return best > 0 ? gsim_muldiv_floor(apart, GSIM_PPM, best) : rate > 0 ? GSIM_PPM : 0;
}

/* Follows the window's maximum; returns its distance. */
static int64_t follow(struct gsim_throttle *throttle, int64_t most, int64_t near_ppm,
                      int64_t far_ppm) {
    int64_t apart_ppm = difference_ppm(most, throttle->best);
    int64_t below = most - part(most, MARGIN_PPM), above = most + part(most, MARGIN_PPM);
    if (apart_ppm <= near_ppm)
        throttle->best = at_least(throttle->best, most);
    else if (apart_ppm > far_ppm && most > throttle->best)
        throttle->best = at_least(throttle->best, below);
    else if (apart_ppm > far_ppm && above < throttle->best)
        throttle->best = above;
    return apart_ppm;
}

static void end_profile(struct gsim_throttle *throttle) {
    throttle->best = at_least(window_maximum(throttle), throttle->window[0]);
    throttle->phase = GSIM_THROTTLE_PROFILED;
}

static void open_cap(struct gsim_throttle *throttle) {
    throttle->phase = GSIM_THROTTLE_SLOW_START;
    /* a job that launches nothing loses nothing */
    throttle->budget = throttle->best > 0 ? throttle->initial : GSIM_THROTTLE_FREE;
}

static void slow_start(struct gsim_throttle *throttle, int64_t lost_ppm) {
    if (lost_ppm <= throttle->tolerance_ppm) {
        throttle->budget += throttle->budget / 2 + 1; /* the 1 lets it leave 0 */
    } else {
        throttle->budget = throttle->budget * 2 / 3;
        throttle->phase = GSIM_THROTTLE_AVOIDANCE;
    }
}

static void avoid(struct gsim_throttle *throttle, int64_t lost_ppm) {
    if (lost_ppm <= throttle->tolerance_ppm)
        throttle->budget += at_least(part(throttle->best, UP_PPM), LEAST_STEP);
    else
        throttle->budget -= at_least(part(throttle->budget, DOWN_PPM), LEAST_STEP);
    throttle->budget = at_least(throttle->budget, 0);
    if (lost_ppm >= COLLAPSE * throttle->tolerance_ppm) {
        throttle->budget /= 10;
        throttle->phase = GSIM_THROTTLE_SLOW_START;
    }
}

/* The best rate is not reached any more: the production job has changed. */
static void doubt_best(struct gsim_throttle *throttle, int64_t lost_ppm) {
    throttle->n_far = lost_ppm >= FAR_PPM ? throttle->n_far + 1 : 0;
    if (throttle->n_far < FAR_REPORTS)
        return;
    throttle->n_far = 0;
    throttle->best -= part(throttle->best, CHANGED_PPM);
    throttle->budget /= 2;
    throttle->phase = GSIM_THROTTLE_SLOW_START;
}

static void adjust(struct gsim_throttle *throttle, int64_t launched) {
    int64_t lost_ppm = difference_ppm(launched, throttle->best);
    if (throttle->phase == GSIM_THROTTLE_SLOW_START)
        slow_start(throttle, lost_ppm);
    else
        avoid(throttle, lost_ppm);
    doubt_best(throttle, lost_ppm);
    if (throttle->budget > GSIM_THROTTLE_FREE)
        throttle->budget = GSIM_THROTTLE_FREE;
}

/* Measures the production job again, while the opportunistic job keeps its budget. */
static void profile_again(struct gsim_throttle *throttle, int64_t most) {
    bool is_settled = follow(throttle, most, SETTLED_PPM, SETTLED_PPM) <= SETTLED_PPM;
    if (++throttle->n_profiled < throttle->profile_reports || !is_settled)
        return;
    throttle->phase = throttle->resumed;
    if (throttle->best == 0)
        throttle->budget = GSIM_THROTTLE_FREE;
}

static void check_and_control(struct gsim_throttle *throttle, int64_t most, int64_t launched) {
    if (follow(throttle, most, HIGHER_PPM, CHANGED_PPM) > CHANGED_PPM) {
        throttle->resumed = throttle->phase;
        throttle->phase = GSIM_THROTTLE_REPROFILING;
        throttle->n_profiled = 0;
    } else if (throttle->phase == GSIM_THROTTLE_PROFILED) {
        open_cap(throttle);
    } else {
        adjust(throttle, launched);
    }
}

void gsim_throttle_report(struct gsim_throttle *throttle, int64_t launched) {
    int64_t most = window_maximum(throttle); /* without this report */
    if (throttle->best == 0 && launched > 0 && throttle->phase != GSIM_THROTTLE_PROFILING) {
        gsim_throttle_start(throttle);
        return;
    }
    for (int i = GSIM_THROTTLE_WINDOW - 1; i > 0; i--)
        throttle->window[i] = throttle->window[i - 1];
    throttle->window[0] = launched;
    switch (throttle->phase) {
    case GSIM_THROTTLE_PROFILING:
        if (++throttle->n_profiled >= throttle->profile_reports)
            end_profile(throttle);
        break;
    case GSIM_THROTTLE_REPROFILING:
        profile_again(throttle, most);
        break;
    case GSIM_THROTTLE_PROFILED:
    case GSIM_THROTTLE_SLOW_START:
    case GSIM_THROTTLE_AVOIDANCE:
        check_and_control(throttle, most, launched);
        break;
    }
}
