/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The value of a profile's key from its rounds: their median, and how far the middle half
 * spreads. */
#include <math.h>
#include <string.h>

#include "sim/calibrate/calibrate.h"
#include "sim/base/sort.h"

/* Rounds go on until they agree as well as large copies do on a quiet host (3 %). A key with rounds
 * that then still spread by more than gaps of microseconds do (10 %) is named in a warning. The
 * figures are in docs/calibrate.md. */
static const double steady = 0.03, disturbed = 0.10;

static void put(struct gsim_calibrate_rounds *rounds, double value) {
    if (value > 0 && !isinf(value) && rounds->n < GSIM_ROUNDS_MOST) /* NaN: a call failed */
        rounds->value[rounds->n++] = value;
}

void gsim_measured_put(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how) {
    put(&m->of[key].rounds, value);
    m->of[key].how = how;
    m->of[key].part = m->part;
}

void gsim_measured_say(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how) {
    gsim_measured_put(m, key, value, how);
    m->of[key].is_said = true;
}

void gsim_measured_put_point(struct gsim_measurement *m, unsigned sms, double value,
                             const char *how) {
    int i = 0;
    while (i < m->n_points && m->curve[i].x != sms)
        i++;
    if (i == GSIM_CURVE_MOST)
        return;
    if (i == m->n_points)
        m->curve[m->n_points++] = (struct gsim_measured_point){.x = sms};
    put(&m->curve[i].rounds, value);
    m->of[GSIM_KEY_HBM_BY_SMS].how = how;
    m->of[GSIM_KEY_HBM_BY_SMS].part = m->part;
}

/* The value that the fraction part / of of the rounds does not exceed. */
static double quantile(const struct gsim_calibrate_rounds *rounds, int part, int of) {
    double value[GSIM_ROUNDS_MOST];
    memcpy(value, rounds->value, sizeof value);
    if (rounds->n == 0 || !gsim_sort_f64(value, (size_t)rounds->n))
        return (double)NAN;
    return value[(rounds->n - 1) * part / of];
}

double gsim_rounds_spread(const struct gsim_calibrate_rounds *rounds) {
    if (rounds->n < 2)
        return 0;
    return (quantile(rounds, 3, 4) - quantile(rounds, 1, 4)) / quantile(rounds, 1, 2);
}

static bool is_steady(const struct gsim_calibrate_rounds *rounds) {
    return rounds->n >= GSIM_ROUNDS_LEAST && gsim_rounds_spread(rounds) <= steady;
}

static bool is_key_steady(const struct gsim_measurement *m, int key) {
    bool all = true;
    if (!m->of[key].how || m->of[key].is_said)
        return true;
    if (key != GSIM_KEY_HBM_BY_SMS)
        return is_steady(&m->of[key].rounds);
    for (int i = 0; i < m->n_points; i++)
        all &= is_steady(&m->curve[i].rounds);
    return all;
}

bool gsim_part_is_steady(const struct gsim_measurement *m, int part) {
    bool all = true;
    for (int key = 0; key < GSIM_KEY_COUNT; key++)
        if (m->of[key].how && m->of[key].part == part)
            all &= is_key_steady(m, key);
    return all;
}

/* The spread of a key's rounds, or of the worst point of the curve. */
static double spread_of(const struct gsim_measurement *m, int key) {
    double worst = gsim_rounds_spread(&m->of[key].rounds);
    for (int i = 0; key == GSIM_KEY_HBM_BY_SMS && i < m->n_points; i++)
        worst = fmax(worst, gsim_rounds_spread(&m->curve[i].rounds));
    return worst;
}

static void settle_plain(struct gsim_measurement *m, struct gsim_measured *measured, int key) {
    const struct gsim_calibrate_rounds *rounds = &measured->rounds;
    if (rounds->n == 0)
        return;
    measured->text = gsim_arena_printf(m->arena, "%.0f", quantile(rounds, 1, 2));
    if (!measured->is_said)
        measured->how =
            gsim_arena_printf(m->arena, "%s; median of %d rounds, middle half within %.1f %%",
                              measured->how, rounds->n, 100 * spread_of(m, key));
}

static void settle_curve(struct gsim_measurement *m, struct gsim_measured *measured, int key) {
    char text[512] = "";
    int n = 0;
    for (int i = 0; i < m->n_points; i++) {
        const struct gsim_measured_point *point = &m->curve[i];
        size_t used = strlen(text);
        if (point->rounds.n == 0)
            continue;
        (void)snprintf(text + used, sizeof text - used, "%s%u:%.0fe6", used ? "," : "", point->x,
                       quantile(&point->rounds, 1, 2) / 1e6);
        n = point->rounds.n;
    }
    if (!*text)
        return;
    measured->text = gsim_arena_strdup(m->arena, text);
    measured->how =
        gsim_arena_printf(m->arena, "%s; medians of %d rounds, middle half within %.1f %%",
                          measured->how, n, 100 * spread_of(m, key));
}

/* "launch.kernel_ns 12 %, ...": the keys with rounds that still spread; NULL if there are none. */
static const char *list_disturbed(const struct gsim_measurement *m) {
    const char *list = NULL;
    for (int key = 0; key < GSIM_KEY_COUNT; key++) {
        double spread = m->of[key].how && !m->of[key].is_said ? spread_of(m, key) : 0;
        if (spread > disturbed)
            list = gsim_arena_printf(m->arena, "%s%s%s %.0f %%", list ? list : "", list ? ", " : "",
                                     gsim_key_name((enum gsim_key)key), 100 * spread);
    }
    return list;
}

void gsim_measured_settle(struct gsim_measurement *m) {
    const char *list = list_disturbed(m);
    if (list)
        gsim_warn(m->log, NULL, 0,
                  "the middle half of the rounds of these keys still spreads by more than %.0f %%: "
                  "%s; the host, its memory or the bus was busy with other work",
                  100 * disturbed, list);
    for (int key = 0; key < GSIM_KEY_COUNT; key++) {
        if (!m->of[key].how)
            continue;
        if (key == GSIM_KEY_HBM_BY_SMS)
            settle_curve(m, &m->of[key], key);
        else
            settle_plain(m, &m->of[key], key);
    }
}
