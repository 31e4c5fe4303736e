/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warns of requests that arrive faster than the policy serves them. Requests arrive whether or not
 * the previous request is served, so their latency then measures how long they arrived, and is no
 * property of the policy. The rate of service depends on the number of jobs on a GPU, on shares,
 * caps and priorities, so the warning rests on the queue in the run itself. The usual cause is a
 * gpu_ms that is taken for the time of a request: it is the time of one of its kernels. */
#include "sim/app/figures/report.h"

static int64_t cell(const struct gsim_trace *trace, enum gsim_column column, uint32_t job) {
    int64_t value = gsim_trace_get(trace, column, job);
    return value > 0 ? value : 0;
}

static int64_t kernels_of(const struct gsim_trace *trace, uint32_t job) {
    int64_t kernels = cell(trace, GSIM_COL_KERNELS, job);
    return kernels > 0 ? kernels : 1;
}

/* GPU time of a request over the mean time between requests; 0: the job has no requests. */
static double load_of(const struct gsim_trace *trace, uint32_t job) {
    int64_t period_ns = cell(trace, GSIM_COL_PERIOD_NS, job);
    if (cell(trace, GSIM_COL_REQUESTS, job) == 0 || period_ns == 0)
        return 0;
    return (double)cell(trace, GSIM_COL_GPU_NS, job) * (double)kernels_of(trace, job) /
           (double)period_ns;
}

/* --- whether requests queue as long as they arrive -------------------------------------------- */

/* A queue that is a few requests longer at the end than before may be chance. A queue that is a
 * share of all requests builds up only if they arrive faster than they are served. */
enum { LEAST_REQUESTS = 8, LEAST_WAITING = 4, LEAST_SHARE = 50 };

/* Requests that have arrived by then and are not served. */
static int64_t waiting_at(const struct gsim_request_log *log, int64_t time_ns) {
    int64_t n = 0;
    for (int64_t k = 0; k < log->n_served && log->arrival_ns[k] <= time_ns; k++)
        n += log->latency_ns[k] > time_ns - log->arrival_ns[k];
    return n;
}

static bool falls_behind(const struct gsim_trace *trace, const struct gsim_request_log *log) {
    int64_t n = log->n_served;
    if (n < LEAST_REQUESTS)
        return n > 0 && load_of(trace, log->job) > 1;
    int64_t half = waiting_at(log, log->arrival_ns[n / 2]);
    int64_t later = waiting_at(log, log->arrival_ns[n - n / 4]);
    int64_t last = waiting_at(log, log->arrival_ns[n - 1]);
    return last > later && later > half && last > LEAST_WAITING && last > n / LEAST_SHARE;
}

/* The GPUs that requests ask for when the last request of a job arrives: the load of all jobs that
 * have had a first request by then and have not had their last request before. */
static double asked_with(const struct gsim_result *result, const struct gsim_request_log *one) {
    int64_t now_ns = one->arrival_ns[one->n_served - 1];
    double asked = 0;
    for (uint32_t i = 0; i < result->n_request_logs; i++) {
        const struct gsim_request_log *log = &result->requests[i];
        bool is_there = log->n_served > 0 && log->arrival_ns[0] <= now_ns &&
                        log->arrival_ns[log->n_served - 1] >= now_ns;
        asked += is_there ? load_of(result->trace, log->job) : 0;
    }
    return asked;
}

/* --- the message ------------------------------------------------------------------------------ */

static void say_why(const struct gsim_result *result, const struct gsim_request_log *log,
                    FILE *err) {
    const struct gsim_trace *trace = result->trace;
    uint32_t job = log->job, share_ppm = gsim_trace_share(trace, job);
    double load = load_of(trace, job), asked = asked_with(result, log);
    if (load > 1)
        fprintf(err,
                ": they take %.4g times what a GPU can do, %lld kernels of %.6g ms (gpu_ms is the "
                "time of one kernel) every %.6g ms",
                load, (long long)kernels_of(trace, job),
                (double)cell(trace, GSIM_COL_GPU_NS, job) / 1e6,
                (double)cell(trace, GSIM_COL_PERIOD_NS, job) / 1e6);
    else if (share_ppm < GSIM_PPM && load * GSIM_PPM > share_ppm)
        fprintf(err, ": they take %.4g of a GPU, and the row asks for %.4g of one", load,
                (double)share_ppm / (double)GSIM_PPM);
    if (asked > (double)result->summary.gpus)
        fprintf(err, "; requests ask for %.4g GPUs at once, and there %s %lld (offered load %.2f)",
                asked, result->summary.gpus == 1 ? "is" : "are", (long long)result->summary.gpus,
                asked / (double)result->summary.gpus);
    fputs("; they queue as long as they come, and latencies measure for how long\n", err);
}

/* The first job in the trace behind `before` with requests that queue; NULL: there is none. */
static const struct gsim_request_log *next_behind(const struct gsim_result *result,
                                                  const bool *is_behind, int64_t before) {
    const struct gsim_request_log *next = NULL;
    for (uint32_t i = 0; i < result->n_request_logs; i++) {
        const struct gsim_request_log *log = &result->requests[i];
        if (is_behind[i] && (int64_t)log->job > before && (!next || log->job < next->job))
            next = log;
    }
    return next;
}

/* Prints the jobs: "'a' (line 2), 'b' (line 3) and 4 more". */
static void name_rows(const struct gsim_result *result, const bool *is_behind, uint32_t n,
                      FILE *err) {
    enum { NAMED = 3 };
    int64_t before = -1;
    for (uint32_t i = 0; i < n && i < NAMED; i++) {
        const struct gsim_request_log *log = next_behind(result, is_behind, before);
        before = log->job;
        fputs(i ? ", '" : "'", err);
        gsim_put_plain(err, 0, gsim_trace_id(result->trace, log->job));
        fprintf(err, "' (line %lld)", (long long)gsim_trace_line(result->trace, log->job));
    }
    if (n > NAMED)
        fprintf(err, " and %u more", n - NAMED);
}

void gsim_report_requests(const struct gsim_cli *cli, const struct gsim_result *result) {
    bool *is_behind = gsim_arena_array(cli->arena, result->n_request_logs + 1, sizeof *is_behind);
    uint32_t n = 0;
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET) || !is_behind)
        return;
    for (uint32_t i = 0; i < result->n_request_logs; i++)
        n += is_behind[i] = falls_behind(result->trace, &result->requests[i]);
    if (n == 0)
        return;
    FILE *err = cli->io->err;
    fprintf(err, "gsim: %s: requests of job%s ", result->summary.policy, n == 1 ? "" : "s");
    name_rows(result, is_behind, n, err);
    fputs(" come faster than they are served", err);
    say_why(result, next_behind(result, is_behind, -1), err);
}
