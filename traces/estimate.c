/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A factor is rounded to millionths and a time to microseconds before it meets a duration, so that
 * a last bit of libm does not reach a run unnoticed, and a factor of 1 is exactly 1. */
#include "traces/estimate.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "gsim/units.h"
#include "sim/base/decimal.h"
#include "sim/base/rng.h"

static const char form[] = "'duration x lognormal(0, 0.5)', 'duration x uniform(0.5, 2)', or a "
                           "distribution of seconds alone, such as 'exponential(3600)'";

static const char *skip_spaces(const char *at) {
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Reads "duration x"; returns what follows. */
static const char *read_base(const char *at, bool *times_duration) {
    static const char word[] = "duration";
    at = skip_spaces(at);
    *times_duration = strncmp(at, word, sizeof word - 1) == 0;
    if (!*times_duration)
        return at;
    at = skip_spaces(at + sizeof word - 1);
    return *at == 'x' || *at == '*' ? skip_spaces(at + 1) : NULL;
}

static int count_params(const struct gsim_dist_def *def) {
    int n = 0;
    while (n < GSIM_DIST_PARAMS && def->param[n])
        n++;
    return n;
}

/* Reads a number; returns what follows it and the spaces behind it. NULL: there is none. */
static const char *read_number(const char *at, double *out) {
    char *end;
    *out = gsim_decimal_read(at, &end);
    return end != at && isfinite(*out) ? skip_spaces(end) : NULL;
}

static const char *read_params(const char *at, struct gsim_dist *dist) {
    int n = count_params(&gsim_dists[dist->kind]);
    at = *at == '(' ? at + 1 : NULL;
    for (int i = 0; at && i < n; i++) {
        at = read_number(at, &dist->param[i]);
        if (at && i + 1 < n)
            at = *at == ',' ? at + 1 : NULL;
    }
    return at && *at == ')' ? skip_spaces(at + 1) : NULL;
}

static const char *read_dist(const char *at, struct gsim_dist *dist) {
    size_t length = strcspn(at, "( \t");
    *dist = (struct gsim_dist){.kind = GSIM_DIST_DETERMINISTIC};
    if (isdigit((unsigned char)*at) || *at == '.')
        return read_number(at, &dist->param[0]);
    for (int kind = 0; kind < GSIM_DIST_COUNT; kind++) {
        const char *name = gsim_dists[kind].name;
        if (count_params(&gsim_dists[kind]) == 0 || strlen(name) != length ||
            strncmp(name, at, length) != 0)
            continue;
        dist->kind = (enum gsim_dist_kind)kind;
        return read_params(skip_spaces(at + length), dist);
    }
    return NULL;
}

static const char *spell(const struct gsim_estimate *e, struct gsim_arena *arena) {
    const struct gsim_dist_def *def = &gsim_dists[e->dist.kind];
    const char *text =
        gsim_arena_printf(arena, "%s%s(", e->times_duration ? "duration x " : "", def->name);
    for (int i = 0; text && i < count_params(def); i++)
        text = gsim_arena_printf(arena, "%s%s%.12g", text, i > 0 ? ", " : "", e->dist.param[i]);
    return text ? gsim_arena_printf(arena, "%s)", text) : NULL;
}

enum gsim_status gsim_estimate_read(const char *text, struct gsim_arena *arena,
                                    struct gsim_estimate *out, struct gsim_log *log) {
    *out = (struct gsim_estimate){0};
    const char *at = read_base(text, &out->times_duration);
    if (at)
        at = read_dist(at, &out->dist);
    if (!at || *at)
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "--estimate: '%.80s' is not of the form %s",
                         text, form);
    if (!gsim_dist_is_valid(&out->dist))
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "--estimate: '%.80s': %s needs %s", text,
                         gsim_dists[out->dist.kind].name, gsim_dists[out->dist.kind].accepts);
    out->text = spell(out, arena);
    return out->text ? GSIM_OK : gsim_no_memory(log, "reading --estimate");
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* A whole number of units of 1e-6, at most 2^62. */
static int64_t millionths(double x) {
    double n = nearbyint(x * 1e6);
    return n < 4.6e18 ? (int64_t)n : INT64_C(4600000000000000000);
}

static int64_t draw(const struct gsim_estimate *how, int64_t service_ns, gsl_rng *rng) {
    int64_t drawn = millionths(gsim_dist_draw(&how->dist, rng));
    gsim_i128 ns = how->times_duration ? (gsim_i128)service_ns * drawn / GSIM_PPM
                                       : (gsim_i128)drawn * GSIM_NS_PER_US;
    return ns > GSIM_TIME_MAX / 2 ? GSIM_TIME_MAX / 2 : (int64_t)ns;
}

static const char *const *say(const struct gsim_trace *from, const struct gsim_estimate *how,
                              struct gsim_arena *arena) {
    size_t n = 0;
    while (from->assumed && from->assumed[n])
        n++;
    const char **list = gsim_arena_array(arena, n + 2, sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        list[i] = from->assumed[i];
    if (list)
        list[n] = gsim_arena_printf(arena, "estimate_s=%s", how->text);
    return list && list[n] ? list : NULL;
}

enum gsim_status gsim_trace_estimate(const struct gsim_trace *from, const struct gsim_estimate *how,
                                     uint64_t seed, uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log) {
    int64_t *estimate_ns = gsim_arena_array(arena, from->n_jobs, sizeof *estimate_ns);
    gsl_rng *rng = gsim_rng_stream(seed, replication, "estimate");
    const char *const *assumed = say(from, how, arena);
    bool is_fine = estimate_ns && rng && assumed;
    for (uint32_t job = 0; is_fine && job < from->n_jobs; job++)
        estimate_ns[job] = draw(how, from->service_ns[job], rng);
    gsl_rng_free(rng);
    *out = *from;
    out->column[GSIM_COL_ESTIMATE_NS] = estimate_ns;
    out->assumed = assumed;
    return is_fine ? GSIM_OK : gsim_no_memory(log, "estimating durations");
}
