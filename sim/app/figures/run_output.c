/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/figures/run_output.h"
#include "sim/study/jobs_csv.h"
#include "sim/study/outfile.h"

#include "sim/app/cli/output_file.h"
#include "sim/app/figures/report.h"
#include "sim/study/timeline.h"
#include "sim/study/dependence.h"
#include "sim/study/latencies.h"

/* Writes the interval of the requests' latency as a member of the JSON object; writes no byte
 * without requests. */
static enum gsim_status write_latencies(struct gsim_cli *cli, const struct gsim_result *result) {
    struct gsim_latencies latencies;
    if (!result->trace->column[GSIM_COL_REQUESTS])
        return GSIM_OK;
    if (!gsim_latencies_of_run(result, cli->arena, &latencies))
        return gsim_no_memory(cli->log, "computing statistics");
    fprintf(cli->io->out, ",\"latency\":{\"over\":\"batches of requests\",\"units\":%d",
            latencies.none_why ? 0 : GSIM_BATCHES);
    gsim_latencies_put_json(cli->io->out, &latencies);
    fputc('}', cli->io->out);
    return GSIM_OK;
}

enum gsim_status gsim_run_output_make(struct gsim_cli *cli, struct gsim_setup *setup,
                                      struct gsim_result *result) {
    struct gsim_timeline_options options = {.path = cli->value[GSIM_OPT_TIMELINE],
                                            .most = GSIM_TIMELINE_MOST};
    enum gsim_status status =
        gsim_timeline_window(cli->value[GSIM_OPT_TIMELINE_WINDOW], &options, cli->log);
    if (status != GSIM_OK)
        return status;
    struct gsim_progress_bar bar;
    setup->timeline = options.path ? &options : NULL;
    gsim_progress_begin(&bar, cli, "", setup->trace.n_jobs);
    setup->live = bar.live;
    status = gsim_setup_run(setup, 0, setup->replication, &setup->trace, cli->io, &bar, cli->arena,
                            result, cli->log);
    gsim_progress_end(&bar);
    setup->live = NULL;
    setup->timeline = NULL;
    return status;
}

enum gsim_status gsim_run_output_write(struct gsim_cli *cli, const struct gsim_setup *setup,
                                       const struct gsim_result *result) {
    enum gsim_output_format format;
    enum gsim_status status = gsim_report_format(cli, &format);
    if (status != GSIM_OK)
        return status;
    FILE *out = cli->io->out;
    struct gsim_results all = {.result = result, .n = 1, .n_reps = 1, .window = &setup->window};
    if (format == GSIM_OUTPUT_JSON) {
        gsim_write_json_fields(out, &result->summary);
        status = write_latencies(cli, result);
        if (status == GSIM_OK)
            status = gsim_report_by_json(cli, &setup->window, result);
        fputs("}\n", out);
        return status;
    }
    if (format == GSIM_OUTPUT_CSV && !cli->value[GSIM_OPT_BY]) {
        gsim_write_csv_names(out);
        fputc('\n', out);
        gsim_write_csv_fields(out, &result->summary);
        fputc('\n', out);
    } else if (format == GSIM_OUTPUT_TABLE) {
        gsim_write_summary_table(out, &result->summary, setup->cluster_note,
                                 gsim_option_is_on(cli, GSIM_OPT_VERBOSE));
    }
    return gsim_report_by(cli, &all);
}

enum gsim_status gsim_run_output_open(struct gsim_cli *cli, struct gsim_outfile *jobs) {
    const char *path = cli->value[GSIM_OPT_JOBS_CSV], *timeline = cli->value[GSIM_OPT_TIMELINE];
    enum gsim_status status =
        timeline ? gsim_output_file_check_own(cli, timeline, GSIM_TIMELINE_BEGINS) : GSIM_OK;
    *jobs = (struct gsim_outfile){0};
    if (status == GSIM_OK && path)
        status = gsim_output_file_check_own(cli, path, GSIM_JOBS_CSV_BEGINS);
    return status == GSIM_OK && path ? gsim_outfile_open(jobs, path, cli->arena, cli->log) : status;
}

enum gsim_status gsim_run_output_jobs(struct gsim_cli *cli, const struct gsim_result *result,
                                      struct gsim_outfile *jobs) {
    if (cli->io->jobs)
        gsim_write_jobs_csv(cli->io->jobs, result);
    if (!jobs->path)
        return GSIM_OK;
    gsim_write_jobs_csv(jobs->file, result);
    return gsim_outfile_close(jobs, cli->log);
}
