/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/warmup.h"

#include <math.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/core/stats.h"

enum gsim_status gsim_warmup_read(struct gsim_cli *cli, struct gsim_warmup *out) {
    const char *text = cli->value[GSIM_OPT_WARMUP];
    *out = (struct gsim_warmup){0};
    if (!text)
        return GSIM_OK;
    if (gsim_is_bare(text))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--warmup: '%s' has no unit; say %s%% of the jobs, or %ss or %sh", text,
                         text, text, text);
    bool is_share = strchr(text, '%') != NULL;
    enum gsim_parse parsed = is_share ? gsim_parse_ppm(text, &out->share_ppm)
                                      : gsim_parse_time(text, GSIM_NS_PER_S, &out->time_ns);
    if (parsed == GSIM_PARSE_OK && out->share_ppm >= 0 && out->share_ppm < GSIM_PPM &&
        out->time_ns >= 0)
        return GSIM_OK;
    return gsim_fail(
        cli->log, GSIM_USAGE, NULL, 0,
        "--warmup: '%s' is neither a share of the jobs below 100 %%, such as 10%%, nor "
        "a time, such as 2h",
        text);
}

uint32_t gsim_warmup_jobs(const struct gsim_warmup *warmup, const struct gsim_trace *trace) {
    uint32_t n = trace->n_jobs;
    if (warmup->share_ppm > 0)
        return (uint32_t)((int64_t)n * warmup->share_ppm / GSIM_PPM);
    uint32_t i = 0;
    int64_t first_ns = n ? trace->submit_ns[gsim_arrival(trace, 0)] : 0;
    while (warmup->time_ns > 0 && i < n &&
           trace->submit_ns[gsim_arrival(trace, i)] - first_ns < warmup->time_ns)
        i++;
    return i;
}

/* Columns of the jobs that count. */
struct kept {
    double *jct, *slowdown;
    size_t n, n_slowdowns;
    double jct_sum, wait_sum, slowdown_sum, slowdown_squares;
};

static void keep_job(const struct gsim_result *result, uint32_t job, struct kept *kept) {
    int64_t end_ns = result->jobs.end_ns[job], service_ns = result->trace->service_ns[job];
    if (end_ns < 0)
        return;
    double jct = (double)(end_ns - result->trace->submit_ns[job]) / 1e9;
    kept->jct[kept->n++] = jct;
    kept->jct_sum += jct;
    kept->wait_sum += (double)result->jobs.wait_ns[job] / 1e9;
    if (service_ns <= 0)
        return;
    double slowdown = jct / ((double)service_ns / 1e9);
    kept->slowdown[kept->n_slowdowns++] = slowdown;
    kept->slowdown_sum += slowdown;
    kept->slowdown_squares += slowdown * slowdown;
}

static void fill(const struct kept *kept, struct gsim_summary *out) {
    double n = (double)kept->n, m = (double)kept->n_slowdowns;
    out->jct_mean_s = kept->jct_sum / n;
    out->jct_p50_s = gsim_quantile_sorted(kept->jct, kept->n, 0.50);
    out->jct_p95_s = gsim_quantile_sorted(kept->jct, kept->n, 0.95);
    out->jct_p99_s = gsim_quantile_sorted(kept->jct, kept->n, 0.99);
    out->jct_max_s = kept->n ? kept->jct[kept->n - 1] : (double)NAN;
    out->wait_mean_s = kept->wait_sum / n;
    out->slowdown_mean = kept->slowdown_sum / m;
    out->slowdown_p99 = gsim_quantile_sorted(kept->slowdown, kept->n_slowdowns, 0.99);
    out->jain = kept->slowdown_sum * kept->slowdown_sum / (m * kept->slowdown_squares);
}

enum gsim_status gsim_warmup_trim(const struct gsim_warmup *warmup,
                                  const struct gsim_result *result, struct gsim_arena *arena,
                                  struct gsim_summary *out, struct gsim_log *log) {
    uint32_t n = result->jobs.n, n_skipped = gsim_warmup_jobs(warmup, result->trace);
    *out = result->summary;
    if (n_skipped == 0)
        return GSIM_OK;
    struct kept kept = {.jct = gsim_arena_array(arena, n, sizeof(double)),
                        .slowdown = gsim_arena_array(arena, n, sizeof(double))};
    if (!kept.jct || !kept.slowdown)
        return gsim_no_memory(log, "leaving out the warm-up");
    for (uint32_t i = n_skipped; i < n; i++)
        keep_job(result, gsim_arrival(result->trace, i), &kept);
    if (!gsim_sort_f64(kept.jct, kept.n) || !gsim_sort_f64(kept.slowdown, kept.n_slowdowns))
        return gsim_no_memory(log, "leaving out the warm-up");
    fill(&kept, out);
    return GSIM_OK;
}
