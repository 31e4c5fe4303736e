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
