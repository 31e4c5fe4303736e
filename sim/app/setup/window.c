/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/setup/window.h"

#include <math.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/core/stats.h"
#include "sim/base/units.h"

static enum gsim_status read_end(struct gsim_cli *cli, enum gsim_option option,
                                 struct gsim_window_end *out) {
    const char *text = cli->value[option];
    struct gsim_window_end end = {0};
    if (gsim_is_bare(text))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--%s: '%s' has no unit; say %s%% of the jobs, or %ss or %sh",
                         gsim_option_defs[option].name, text, text, text, text);
    bool is_share = strchr(text, '%') != NULL;
    enum gsim_parse parsed = is_share ? gsim_parse_ppm(text, &end.share_ppm)
                                      : gsim_parse_time(text, GSIM_NS_PER_S, &end.time_ns);
    if (parsed != GSIM_PARSE_OK || end.share_ppm < 0 || end.share_ppm >= GSIM_PPM ||
        end.time_ns < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--%s: '%s' is neither a share of the jobs below 100 %%, such as 10%%, "
                         "nor a time, such as 2h",
                         gsim_option_defs[option].name, text);
    *out = end;
    return GSIM_OK;
}

enum gsim_status gsim_window_read(struct gsim_cli *cli, struct gsim_window *out) {
    enum gsim_status status = GSIM_OK;
    *out = (struct gsim_window){0};
    if (cli->value[GSIM_OPT_WARMUP])
        status = read_end(cli, GSIM_OPT_WARMUP, &out->warmup);
    out->cooldown = out->warmup;
    if (status == GSIM_OK && cli->value[GSIM_OPT_COOLDOWN])
        status = read_end(cli, GSIM_OPT_COOLDOWN, &out->cooldown);
    if (status == GSIM_OK && out->warmup.share_ppm + out->cooldown.share_ppm >= GSIM_PPM)
        return gsim_fail(
            cli->log, GSIM_USAGE, NULL, 0,
            "a warm-up of %g %% and a cooldown of %g %% leave no job; --cooldown is as "
            "long as --warmup unless it is given",
            (double)out->warmup.share_ppm / 1e4, (double)out->cooldown.share_ppm / 1e4);
    return status;
}

static int64_t arrival_ns(const struct gsim_trace *trace, uint32_t i) {
    return trace->submit_ns[gsim_trace_arrival(trace, i)];
}

struct gsim_window_jobs gsim_window_find(const struct gsim_window *window,
                                         const struct gsim_trace *trace) {
    uint32_t n = trace->n_jobs;
    int64_t front_ns = window->warmup.time_ns, back_ns = window->cooldown.time_ns;
    struct gsim_window_jobs jobs = {
        .first = (uint32_t)((int64_t)n * window->warmup.share_ppm / GSIM_PPM),
        .end = n - (uint32_t)((int64_t)n * window->cooldown.share_ppm / GSIM_PPM)};
    while (front_ns > 0 && jobs.first < n &&
           arrival_ns(trace, jobs.first) - arrival_ns(trace, 0) < front_ns)
        jobs.first++;
    while (back_ns > 0 && jobs.end > jobs.first &&
           arrival_ns(trace, n - 1) - arrival_ns(trace, jobs.end - 1) < back_ns)
        jobs.end--;
    if (jobs.end < jobs.first)
        jobs.end = jobs.first;
    return jobs;
}

/* Values of the jobs in the window, and their sums. */
struct kept {
    double *jct, *wait_ns, *slowdown;
    size_t n, n_slowdowns;
    double jct_sum, wait_sum, slowdown_sum, slowdown_squares;
};

static void keep_job(const struct gsim_result *result, uint32_t job, struct kept *kept) {
    int64_t end_ns = result->jobs.end_ns[job], service_ns = result->trace->service_ns[job];
    if (end_ns < 0)
        return;
    double jct = (double)(end_ns - result->trace->submit_ns[job]) / 1e9;
    kept->wait_ns[kept->n] = (double)result->jobs.wait_ns[job];
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

static void summarise(const struct kept *kept, struct gsim_summary *out) {
    double n = (double)kept->n, m = (double)kept->n_slowdowns;
    out->jct_mean_s = kept->jct_sum / n;
    out->jct_p50_s = gsim_quantile_sorted(kept->jct, kept->n, 0.50);
    out->jct_p95_s = gsim_quantile_sorted(kept->jct, kept->n, 0.95);
    out->jct_p99_s = gsim_quantile_sorted(kept->jct, kept->n, 0.99);
    out->jct_max_s = kept->n ? kept->jct[kept->n - 1] : (double)NAN;
    out->wait_mean_s = kept->wait_sum / n;
    out->wait_p95_s = gsim_quantile_sorted(kept->wait_ns, kept->n, 0.95) / 1e9;
    out->slowdown_mean = kept->slowdown_sum / m;
    out->slowdown_p99 = gsim_quantile_sorted(kept->slowdown, kept->n_slowdowns, 0.99);
    out->jain = kept->slowdown_sum * kept->slowdown_sum / (m * kept->slowdown_squares);
}

enum gsim_status gsim_window_apply(const struct gsim_window *window, struct gsim_result *result,
                                   struct gsim_arena *arena, struct gsim_log *log) {
    if (gsim_window_is_all(window))
        return GSIM_OK;
    struct gsim_window_jobs jobs = gsim_window_find(window, result->trace);
    uint32_t n = jobs.end - jobs.first;
    if (n == 0)
        return gsim_fail(log, GSIM_BAD_INPUT, result->summary.trace, 0,
                         "--warmup and --cooldown leave none of its %u jobs", result->jobs.n);
    struct kept kept = {.jct = gsim_arena_array(arena, n, sizeof(double)),
                        .wait_ns = gsim_arena_array(arena, n, sizeof(double)),
                        .slowdown = gsim_arena_array(arena, n, sizeof(double))};
    if (!kept.jct || !kept.wait_ns || !kept.slowdown)
        return gsim_no_memory(log, "leaving out the warm-up");
    for (uint32_t i = jobs.first; i < jobs.end; i++)
        keep_job(result, gsim_trace_arrival(result->trace, i), &kept);
    if (!gsim_sort_f64(kept.jct, kept.n) || !gsim_sort_f64(kept.wait_ns, kept.n) ||
        !gsim_sort_f64(kept.slowdown, kept.n_slowdowns))
        return gsim_no_memory(log, "leaving out the warm-up");
    summarise(&kept, &result->summary);
    result->summary.warmup_jobs = jobs.first;
    result->summary.cooldown_jobs = result->jobs.n - jobs.end;
    return GSIM_OK;
}
