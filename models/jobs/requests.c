/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/requests.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/base/units.h"

/* --- laws ------------------------------------------------------------------------------------- */

static bool parse_share(const char *text, size_t length, int64_t *ppm) {
    return gsim_parse_decimal(text, length, GSIM_PPM, ppm) == GSIM_PARSE_OK && *ppm >= 0 &&
           *ppm <= 1000 * GSIM_PPM;
}

bool gsim_request_law_parse(const char *text, struct gsim_request_law *out) {
    *out = (struct gsim_request_law){.low_ppm = GSIM_PPM, .high_ppm = GSIM_PPM};
    if (!text || strcmp(text, "periodic") == 0)
        return true;
    if (strcmp(text, "poisson") == 0) {
        out->kind = GSIM_ARRIVALS_POISSON;
        return true;
    }
    if (strncmp(text, "uniform:", 8) != 0)
        return false;
    const char *low = text + 8, *colon = strchr(low, ':');
    out->kind = GSIM_ARRIVALS_UNIFORM;
    return colon && parse_share(low, (size_t)(colon - low), &out->low_ppm) &&
           parse_share(colon + 1, strlen(colon + 1), &out->high_ppm) &&
           out->low_ppm <= out->high_ppm;
}

/* --- draws ------------------------------------------------------------------------------------ */

/* Uniform over 0 .. n - 1; draws from the end of the range that n does not divide are refused. */
static int64_t draw_below(gsl_rng *rng, int64_t n) {
    uint64_t span = (uint64_t)n, most = UINT64_MAX - UINT64_MAX % span, word;
    do
        word = gsim_rng_word(rng) << 32 | gsim_rng_word(rng);
    while (word >= most);
    return (int64_t)(word % span);
}

static int64_t draw_gap(const struct gsim_request_law *law, int64_t period_ns, gsl_rng *rng) {
    int64_t low_ns = gsim_muldiv_floor(period_ns, law->low_ppm, GSIM_PPM);
    int64_t high_ns = gsim_muldiv_floor(period_ns, law->high_ppm, GSIM_PPM);
    if (law->kind == GSIM_ARRIVALS_UNIFORM)
        return low_ns + draw_below(rng, high_ns - low_ns + 1);
    if (law->kind == GSIM_ARRIVALS_POISSON)
        return (int64_t)(((gsim_u128)gsim_rng_exponential_q32(rng) * (uint64_t)period_ns) >> 32);
    return period_ns;
}

bool gsim_requests_draw(const struct gsim_request_law *law, int64_t period_ns, uint64_t seed,
                        uint64_t replication, uint32_t job, int64_t start_ns, int64_t *arrival_ns,
                        int64_t n) {
    char name[40];
    (void)snprintf(name, sizeof name, "requests %u", job);
    gsl_rng *rng = gsim_rng_stream(seed, replication, name);
    if (!rng)
        return false;
    int64_t now_ns = start_ns;
    for (int64_t i = 0; i < n; i++) {
        int64_t gap_ns = draw_gap(law, period_ns, rng);
        now_ns = now_ns > GSIM_TIME_MAX - gap_ns ? GSIM_TIME_MAX : now_ns + gap_ns;
        arrival_ns[i] = now_ns;
    }
    gsl_rng_free(rng);
    return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

static enum gsim_status refuse_row(const struct gsim_trace *trace, uint32_t job,
                                   struct gsim_log *log, const char *column, const char *why) {
    return gsim_fail(log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                     "column '%s': job '%s' %s", column, gsim_trace_id(trace, job), why);
}

/* Checks the columns that an open-loop job needs. */
static enum gsim_status check_requests(const struct gsim_trace *trace, uint32_t job,
                                       struct gsim_log *log) {
    struct gsim_request_law law;
    int64_t name = gsim_trace_get(trace, GSIM_COL_ARRIVAL, job);
    int64_t kernels = gsim_trace_get(trace, GSIM_COL_KERNELS, job);
    int64_t gpu_ns = gsim_trace_get(trace, GSIM_COL_GPU_NS, job);
    if (gpu_ns <= 0)
        return refuse_row(trace, job, log, "gpu_ms",
                          "has requests: a job with requests needs the GPU time of a "
                          "kernel, above 0");
    if (gpu_ns > GSIM_TIME_MAX / 2 / (kernels > 0 ? kernels : 1))
        return refuse_row(trace, job, log, "kernels", "has requests past the end of the clock");
    if (gsim_trace_get(trace, GSIM_COL_PERIOD_NS, job) <= 0)
        return refuse_row(trace, job, log, "period_ms",
                          "has requests: a job with requests needs the mean time "
                          "between two, above 0");
    if (name >= 0 && !gsim_request_law_parse(trace->names[GSIM_COL_ARRIVAL].name[name], &law))
        return refuse_row(trace, job, log, "arrival",
                          "has neither periodic, poisson nor "
                          "uniform:LO:HI with LO <= HI <= 1000");
    return GSIM_OK;
}

enum gsim_status gsim_requests_check(const struct gsim_trace *trace, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    const int64_t *requests = trace->column[GSIM_COL_REQUESTS], *app = trace->column[GSIM_COL_APP];
    for (uint32_t job = 0; (requests || app) && job < trace->n_jobs; job++) {
        if (requests && requests[job] > 0 && check_requests(trace, job, log) != GSIM_OK)
            status = GSIM_BAD_INPUT;
        if (app && app[job] >= 0 && gsim_trace_get(trace, GSIM_COL_GPU_NS, job) < 0)
            status = refuse_row(trace, job, log, "app",
                                "names a profile that was not looked up (gsim_apps_resolve)");
    }
    return status;
}
