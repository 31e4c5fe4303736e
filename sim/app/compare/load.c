/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cluster that gets more work than it can do has no steady state: mean completion times then grow
 * with the length of the trace. */
#include <math.h>

#include "sim/app/compare/compare.h"

/* In fewer jobs a trend of the backlog cannot be seen. */
enum { LEAST_JOBS = 50 };

double gsim_work_of_job_s(const struct gsim_trace *trace, uint32_t job) {
    return (double)trace->service_ns[job] / 1e9 * gsim_trace_gpus(trace, job) *
           ((double)gsim_trace_share(trace, job) / (double)GSIM_PPM);
}

double gsim_compare_capacity(const struct gsim_compare *c) {
    const struct gsim_cluster_spec *cluster = &c->setup->cluster;
    double gpus = 0;
    if (cluster->is_pool)
        return (double)gsim_compare_summary(c, 0, 0)->gpus;
    for (uint32_t g = 0; g < cluster->n_groups; g++) {
        const struct gsim_node_group *group = &cluster->groups[g];
        const struct gsim_profile *profile = cluster->profiles[group->device];
        gpus += (double)group->count * group->gpus_per_node *
                (double)profile->value[GSIM_KEY_SPEED_MILLI] / 1000;
    }
    return gpus;
}

/* The work of all jobs, as a part of the work that the GPUs can do between the first arrival and
 * the last. */
static double offered_load(const struct gsim_trace *trace, double gpus, int64_t span_ns) {
    double work_s = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        work_s += gsim_work_of_job_s(trace, job);
    return work_s * 1e9 / ((double)span_ns * gpus);
}

/* The mean number of jobs in the system between two instants. */
static double jobs_between(const struct gsim_result *result, int64_t from_ns, int64_t to_ns) {
    double sum = 0;
    for (uint32_t job = 0; job < result->jobs.n; job++) {
        int64_t begin_ns = result->trace->submit_ns[job], end_ns = result->jobs.end_ns[job];
        if (end_ns < 0 || end_ns > to_ns)
            end_ns = to_ns;
        if (begin_ns < from_ns)
            begin_ns = from_ns;
        if (end_ns > begin_ns)
            sum += (double)(end_ns - begin_ns);
    }
    return sum / (double)(to_ns - from_ns);
}

/* Whether the last quarter of the arrivals has twice as many jobs in the system as the second
 * quarter, and more than twice as many as there are GPUs: then most jobs wait, and the queue
 * grows. */
static bool falls_behind(const struct gsim_result *result, int64_t first_ns, int64_t span_ns) {
    double early = jobs_between(result, first_ns + span_ns / 4, first_ns + span_ns / 2);
    double late = jobs_between(result, first_ns + span_ns - span_ns / 4, first_ns + span_ns);
    return late > 2 * early && late > 2 * (double)result->summary.gpus;
}

/* From the first arrival to the last; below LEAST_NS all jobs arrive at once, and a batch has no
 * load. */
enum { LEAST_NS = 4 };

static int64_t span_of(const struct gsim_trace *trace) {
    return trace->submit_ns[gsim_trace_arrival(trace, trace->n_jobs - 1)] -
           trace->submit_ns[gsim_trace_arrival(trace, 0)];
}

double gsim_compare_load(const struct gsim_compare *c) {
    const struct gsim_trace *trace = &c->traces[0];
    if (trace->n_jobs < LEAST_JOBS || span_of(trace) < LEAST_NS)
        return (double)NAN;
    return offered_load(trace, gsim_compare_capacity(c), span_of(trace));
}

void gsim_compare_warn_of_load(const struct gsim_compare *c) {
    const struct gsim_trace *trace = &c->traces[0];
    FILE *err = c->cli->io->err;
    double load = gsim_compare_load(c);
    if (isnan(load) || gsim_option_is_on(c->cli, GSIM_OPT_QUIET))
        return;
    int64_t first_ns = trace->submit_ns[gsim_trace_arrival(trace, 0)], span_ns = span_of(trace);
    int64_t n_gpus = gsim_compare_at(c, 0, 0)->result.summary.gpus;
    if (load > 1)
        fprintf(
            err,
            "gsim: offered load %.2f: more work arrives than %lld GPUs can do, so the queue grows "
            "as long as jobs arrive and JCTs measure the trace's length\n",
            load, (long long)n_gpus);
    for (int i = 0; i < c->setup->n_contenders; i++)
        if (falls_behind(&gsim_compare_at(c, i, 0)->result, first_ns, span_ns))
            fprintf(err, "gsim: %s: the backlog grows until the last arrival: no steady state\n",
                    c->setup->contender[i].policy->name);
}
