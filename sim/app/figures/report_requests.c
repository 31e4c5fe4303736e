/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests come whether the last one is served or not. Where they ask for more than GPUs can do, their
 * latency says how long they came for, and nothing about a policy. The usual cause is that gpu_ms is
 * taken for the time of a request: it is that of one of its kernels. */
#include "sim/app/figures/report.h"
#include "sim/base/sort.h"

static int64_t cell(const struct gsim_trace *trace, enum gsim_column column, uint32_t job) {
    int64_t value = gsim_trace_get(trace, column, job);
    return value > 0 ? value : 0;
}

/* GPU time of the requests that come, over the time in which they do; 0: it has none. */
static double load_of(const struct gsim_trace *trace, uint32_t job) {
    int64_t period_ns = cell(trace, GSIM_COL_PERIOD_NS, job);
    int64_t kernels = cell(trace, GSIM_COL_KERNELS, job);
    if (cell(trace, GSIM_COL_REQUESTS, job) == 0 || period_ns == 0)
        return 0;
    return (double)cell(trace, GSIM_COL_GPU_NS, job) * (double)(kernels > 0 ? kernels : 1) /
           (double)period_ns;
}

static int64_t last_ns(const struct gsim_trace *trace, uint32_t job) {
    gsim_i128 span_ns =
        (gsim_i128)cell(trace, GSIM_COL_REQUESTS, job) * cell(trace, GSIM_COL_PERIOD_NS, job);
    gsim_i128 end_ns = trace->submit_ns[job] + span_ns;
    return end_ns < GSIM_TIME_MAX ? (int64_t)end_ns : GSIM_TIME_MAX;
}

/* The most that jobs ask for at once, if each begins when it is submitted; negative: no memory. */
static double most_at_once(const struct gsim_trace *trace, struct gsim_arena *arena) {
    int64_t *end_ns = gsim_arena_array(arena, trace->n_jobs, sizeof *end_ns);
    uint32_t *by_end = gsim_arena_array(arena, trace->n_jobs, sizeof *by_end);
    if (!end_ns || !by_end)
        return -1;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        end_ns[job] = last_ns(trace, job);
    if (!gsim_sort_order(end_ns, by_end, trace->n_jobs))
        return -1;
    double now = 0, most = 0;
    for (uint32_t nth = 0, ended = 0; nth < trace->n_jobs; nth++) {
        uint32_t job = gsim_trace_arrival(trace, nth);
        for (; ended < nth && end_ns[by_end[ended]] <= trace->submit_ns[job]; ended++)
            now -= load_of(trace, by_end[ended]);
        now += load_of(trace, job);
        most = now > most ? now : most;
    }
    return most;
}

static void warn_of_jobs(const struct gsim_trace *trace, FILE *err) {
    uint32_t n = 0, first = 0;
    for (uint32_t job = trace->n_jobs; job-- > 0;)
        if (load_of(trace, job) > 1) {
            n++;
            first = job;
        }
    if (n == 0)
        return;
    int64_t kernels = cell(trace, GSIM_COL_KERNELS, first);
    fprintf(err,
            "gsim: requests of job '%s' (line %lld) take %.4g times what a GPU can do: %lld "
            "kernels of %.6g ms (gpu_ms is the time of one kernel) every %.6g ms",
            gsim_trace_id(trace, first), (long long)gsim_trace_line(trace, first),
            load_of(trace, first), (long long)(kernels > 0 ? kernels : 1),
            (double)cell(trace, GSIM_COL_GPU_NS, first) / 1e6,
            (double)cell(trace, GSIM_COL_PERIOD_NS, first) / 1e6);
    if (n > 1)
        fprintf(err, ", and %u more jobs'", n - 1);
    fputs("; they queue as long as they come, and latencies measure for how long\n", err);
}

void gsim_report_requests(const struct gsim_cli *cli, const struct gsim_result *result) {
    const struct gsim_trace *trace = result->trace;
    FILE *err = cli->io->err;
    if (!trace->column[GSIM_COL_REQUESTS] || gsim_option_is_on(cli, GSIM_OPT_QUIET))
        return;
    warn_of_jobs(trace, err);
    double most = most_at_once(trace, cli->arena);
    if (most > (double)result->summary.gpus)
        fprintf(err,
                "gsim: offered load of requests %.2f: they ask for %.4g GPUs at once, and there "
                "are %lld, so some queue as long as they come\n",
                most / (double)result->summary.gpus, most, (long long)result->summary.gpus);
}
