/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim fit: a trace as a spec (fit spec), or the GPU time of a trace's jobs, or of a history of
 * service, as a distribution. That output is a list of quantiles, a history for Gittins' index
 * (--set tiresias.history=FILE). So floating point is done with before a simulation begins. */
#include <math.h>
#include <string.h>

#include "sim/app/cli/input_trace.h"
#include "sim/app/cli/output_file.h"
#include "sim/app/cli/options.h"
#include "sim/app/workload/fit_spec.h"
#include "sim/study/outfile.h"
#include "sim/base/sort.h"
#include "sim/base/text.h"
#include "traces/fit.h"

/* The length of the history that comes with Tiresias' simulator. */
enum { QUANTILES = 1001 };

struct samples {
    double *value;
    uint32_t n;
    uint32_t n_left_out; /* jobs that did no work */
};

static bool find_kind(const char *name, enum gsim_dist_kind *out) {
    for (int kind = 0; kind < GSIM_DIST_COUNT; kind++)
        if (gsim_fit_knows((enum gsim_dist_kind)kind) && strcmp(gsim_dists[kind].name, name) == 0) {
            *out = (enum gsim_dist_kind)kind;
            return true;
        }
    return false;
}

/* GPU seconds of all jobs with a duration above 0, ascending. */
static enum gsim_status read_service(struct gsim_cli *cli, const char *path, struct samples *out) {
    struct gsim_trace trace;
    enum gsim_status status = gsim_input_trace(cli, path, &trace);
    if (status != GSIM_OK)
        return status;
    int64_t *gpu_us = gsim_arena_array(cli->arena, trace.n_jobs, sizeof *gpu_us);
    out->value = gsim_arena_array(cli->arena, trace.n_jobs, sizeof *out->value);
    if (!gpu_us || !out->value)
        return gsim_no_memory(cli->log, "reading service times");
    for (uint32_t job = 0; job < trace.n_jobs; job++) {
        if (trace.service_ns[job] > 0) /* in microseconds, years of thousands of GPUs fit 64 bits */
            gpu_us[out->n++] = gsim_muldiv_ceil(trace.service_ns[job], gsim_trace_gpus(&trace, job),
                                                GSIM_NS_PER_US);
        else
            out->n_left_out++;
    }
    if (!gsim_sort_i64(gpu_us, out->n))
        return gsim_no_memory(cli->log, "sorting service times");
    for (uint32_t i = 0; i < out->n; i++)
        out->value[i] = (double)gpu_us[i] / 1e6;
    return GSIM_OK;
}

static void describe(const struct gsim_fit *fit, char *text, size_t size) {
    const struct gsim_dist_def *def = &gsim_dists[fit->dist.kind];
    int n = snprintf(text, size, "%s(", def->name);
    for (int p = 0; p < GSIM_DIST_PARAMS && def->param[p] && n > 0 && (size_t)n < size; p++)
        n += snprintf(text + n, size - (size_t)n, "%s%s=%.9g", p ? ", " : "", def->param[p],
                      fit->dist.param[p]);
    if (n > 0 && (size_t)n < size)
        (void)snprintf(text + n, size - (size_t)n, ")");
}

/* Writes whole seconds, as a history has them, rounded up: a job of 0 s would end before it
 * begins. */
static void write_quantiles(FILE *file, const struct gsim_fit *fit, const char *text) {
    fprintf(file, "gpu_s, fitted: %s\n", text);
    for (int i = 0; i < QUANTILES; i++) {
        double s = ceil(gsim_fit_quantile(&fit->dist, (i + 0.5) / QUANTILES));
        const double most = (double)(GSIM_TIME_MAX / GSIM_NS_PER_S);
        fprintf(file, "%.0f\n", s < most ? s : most);
    }
}

/* gsim fit spec: the whole trace, not its GPU time alone. */
static enum gsim_status fit_spec(struct gsim_cli *cli) {
    struct gsim_trace trace;
    struct gsim_outfile out;
    const char *unfitted = "", *path = cli->operand[1];
    enum gsim_status status = gsim_input_trace(cli, path, &trace);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    const char *slash = strrchr(path, '/');
    fprintf(out.file, "; by gsim fit spec %s\n", slash ? slash + 1 : path);
    status = gsim_fit_spec(&trace, cli->arena, out.file, &unfitted, cli->log);
    if (status == GSIM_OK && *unfitted && !gsim_option_is_on(cli, GSIM_OPT_QUIET))
        fprintf(cli->io->err, "gsim: %s: columns that the spec leaves out: %s\n", path, unfitted);
    enum gsim_status closed = gsim_output_file_close(cli, &out);
    return status == GSIM_OK ? closed : status;
}

enum gsim_status gsim_command_fit(struct gsim_cli *cli) {
    enum gsim_dist_kind kind;
    struct samples samples = {0};
    struct gsim_fit fit;
    struct gsim_outfile out;
    char text[160];
    if (cli->n_operands == 2 && strcmp(cli->operand[0], "spec") == 0)
        return fit_spec(cli);
    if (cli->n_operands != 2 || !find_kind(cli->operand[0], &kind))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "gsim fit spec TRACE -o trace.ini, or "
                         "gsim fit exponential|lognormal|weibull|pareto TRACE -o history.csv");
    enum gsim_status status = read_service(cli, cli->operand[1], &samples);
    if (status != GSIM_OK)
        return status;
    if (!gsim_fit_samples(kind, samples.value, samples.n, &fit))
        return gsim_fail(cli->log, GSIM_BAD_INPUT, cli->operand[1], 0,
                         "%u jobs that take any time, all equally long: nothing to fit", samples.n);
    status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    describe(&fit, text, sizeof text);
    write_quantiles(out.file, &fit, text);
    if (!gsim_option_is_on(cli, GSIM_OPT_QUIET))
        fprintf(cli->io->err,
                "gsim: %s: %s, GPU seconds of %u jobs (%u take no time); largest distance of the "
                "distribution functions %.3f\n",
                cli->operand[1], text, samples.n, samples.n_left_out, fit.distance);
    return gsim_output_file_close(cli, &out);
}
