/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim compare --real: a run of gsim drive beside its simulation, and the parts of each job's
 * error. Three simulations tell them apart: one of the trace as it is, one in which each process
 * takes as long until it computes as it really took, and one in which each job besides takes as
 * long on its GPUs as it really took, the end of its process included. What the first of them has
 * wrong and the second has not is due to starts, with all that they do to the queue; what the
 * second has wrong and the third has not, to durations. The rest is exactly the sum of two
 * differences between reality and the third simulation: of the time in which the job's state was
 * saved or came back (overhead), and of the time in which it waited (queueing). Where jobs share
 * GPUs, the time that a job took there has its neighbours in it and is no duration: there is no
 * third simulation, and the difference on the GPUs is called sharing. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>

#include "sim/app/compare/compare.h"
#include "sim/app/compare/real.h"
#include "sim/app/compare/scaled.h"
#include "sim/app/figures/report.h"
#include "sim/app/figures/sheet.h"

/* --- inputs ----------------------------------------------------------------------------------- */

static bool is_set(const struct gsim_cli *cli, const char *setting) {
    size_t key = strcspn(setting, "=") + 1;
    for (const char *const *set = cli->repeats[GSIM_OPT_SET]; *set; set++)
        if (strncmp(*set, setting, key) == 0)
            return true;
    return false;
}

/* The simulation has the run's settings, but for those given here. */
static void take_settings(struct gsim_cli *cli, char *settings) {
    const char **set = cli->repeats[GSIM_OPT_SET];
    uint32_t n = 0;
    char *rest = NULL;
    while (set[n])
        n++;
    for (char *line = strtok_r(settings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (n < GSIM_MAX_REPEATS && !is_set(cli, line))
            set[n++] = line;
    if (n > 0)
        cli->value[GSIM_OPT_SET] = set[n - 1];
}

static enum gsim_status find_run(struct gsim_real *r, struct gsim_db *db) {
    struct gsim_cli *cli = r->cli;
    enum gsim_status status =
        gsim_db_real_find(db, cli->value[GSIM_OPT_POLICIES], &r->run, cli->log);
    if (status == GSIM_OK)
        take_settings(cli, r->run.settings);
    /* GPUs of the run's product, unless the cluster is described: their memory decides too */
    if (status == GSIM_OK && gsim_db_real_product(&r->run) && !cli->value[GSIM_OPT_CLUSTER])
        status = gsim_setup_name_device(cli, gsim_db_real_product(&r->run));
    if (status != GSIM_OK || cli->value[GSIM_OPT_GPUS_PER_NODE] || cli->value[GSIM_OPT_CLUSTER] ||
        cli->value[GSIM_OPT_SLURM_CONF])
        return status;
    uint32_t n_gpus = 1;
    for (const char *p = r->run.gpus; (p = strchr(p, ',')) != NULL; p++)
        n_gpus++;
    cli->value[GSIM_OPT_GPUS_PER_NODE] = gsim_arena_printf(cli->arena, "%u", n_gpus);
    return cli->value[GSIM_OPT_GPUS_PER_NODE] ? GSIM_OK : gsim_no_memory(cli->log, "starting");
}

/* Refuses a trace that is not the run's. */
static enum gsim_status check_jobs(const struct gsim_real *r) {
    const struct gsim_trace *trace = &r->setup->trace;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        const struct gsim_db_real_job *real = &r->jobs[job];
        /* a job of a closed loop arrives when others have ended */
        bool is_moved = gsim_trace_get(trace, GSIM_COL_AFTER, job) < 0 && real->id &&
                        real->submit_ns != trace->submit_ns[job];
        if (!real->id || is_moved || strcmp(real->id, gsim_trace_id(trace, job)) != 0)
            return gsim_fail(r->cli->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "job '%s' is not that of run %lld in %s: it was driven with another "
                             "trace, or with another --time-scale",
                             gsim_trace_id(trace, job), (long long)r->run.id,
                             r->cli->value[GSIM_OPT_REAL]);
    }
    return GSIM_OK;
}

static enum gsim_status load_real(struct gsim_real *r) {
    struct gsim_cli *cli = r->cli;
    struct gsim_db *db = NULL;
    enum gsim_status status =
        gsim_db_open_existing(cli->value[GSIM_OPT_REAL], cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = find_run(r, db);
    if (status == GSIM_OK)
        status = gsim_setup_load(cli, r->run.policy, r->setup);
    if (status == GSIM_OK) {
        r->setup->pauses_in_place = true; /* its jobs were processes */
        uint32_t n = r->setup->trace.n_jobs;
        r->jobs = gsim_arena_array(cli->arena, n, sizeof *r->jobs);
        r->beside = gsim_arena_array(cli->arena, n, sizeof *r->beside);
        status = r->jobs && r->beside ? gsim_db_real_jobs(db, r->run.id, r->jobs, n, cli->log)
                                      : gsim_no_memory(cli->log, "comparing");
    }
    if (status == GSIM_OK)
        status = gsim_real_read_processes(r, db);
    gsim_db_close(db);
    return status == GSIM_OK ? check_jobs(r) : status;
}

/* --- the simulations -------------------------------------------------------------------------- */

static enum gsim_status simulate(const struct gsim_real *r, const struct gsim_setup *setup,
                                 const struct gsim_trace *trace, struct gsim_result *result) {
    enum gsim_status status = gsim_setup_run(setup, 0, setup->replication, trace, r->cli->io, NULL,
                                             r->cli->arena, result, r->cli->log);
    return status == GSIM_INCOMPLETE ? gsim_fail(r->cli->log, GSIM_INCOMPLETE, NULL, 0,
                                                 "interrupted: nothing is compared")
                                     : status;
}

/* The trace with the times that jobs really had their GPUs. */
static enum gsim_status simulate_observed(struct gsim_real *r, const struct gsim_setup *endless) {
    const uint32_t n = r->setup->trace.n_jobs;
    struct gsim_trace *trace = gsim_real_started_trace(r);
    int64_t *service_ns = gsim_arena_array(r->cli->arena, n, sizeof *service_ns);
    if (!trace || !service_ns)
        return gsim_no_memory(r->cli->log, "comparing");
    for (uint32_t job = 0; job < n; job++)
        service_ns[job] = r->jobs[job].ran_ns;
    trace->service_ns = service_ns;
    return simulate(r, endless, trace, &r->observed);
}

static enum gsim_status simulate_started(struct gsim_real *r) {
    struct gsim_trace *trace = gsim_real_started_trace(r); /* the result refers to it */
    r->started = r->asked;
    if (!r->knows_starts)
        return GSIM_OK;
    return trace ? simulate(r, r->setup, trace, &r->started)
                 : gsim_no_memory(r->cli->log, "comparing");
}

static enum gsim_status simulate_all(struct gsim_real *r) {
    r->shares = r->setup->contender[0].policy->shares_gpus;
    const struct gsim_setup *endless =
        gsim_setup_scaled(r->setup, GSIM_PROCESS_END, 0, r->cli->arena);
    if (!endless)
        return gsim_no_memory(r->cli->log, "comparing");
    enum gsim_status status = simulate(r, r->setup, &r->setup->trace, &r->asked);
    if (status == GSIM_OK)
        status = simulate(r, endless, &r->setup->trace, &r->endless);
    if (status == GSIM_OK)
        status = simulate_started(r);
    if (r->shares)
        r->observed = r->started;
    return status == GSIM_OK && !r->shares ? simulate_observed(r, endless) : status;
}

/* --- the parts of the error ------------------------------------------------------------------- */

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

static double real_jct_s(const struct gsim_result *result, uint32_t job) {
    return seconds(result->jobs.end_ns[job] - result->trace->submit_ns[job]);
}

static int64_t cell(const int64_t *column, uint32_t job) {
    return column ? column[job] : 0;
}

/* The parts add up to the whole error. */
static void tell_apart(struct gsim_real *r, uint32_t job) {
    const struct gsim_db_real_job *real = &r->jobs[job];
    struct gsim_beside *b = &r->beside[job];
    double stall_s = seconds(cell(r->observed.jobs.stall_ns, job));
    double wait_s = seconds(cell(r->observed.jobs.wait_ns, job));
    double jct_started_s = real_jct_s(&r->started, job),
           jct_observed_s = real_jct_s(&r->observed, job);
    b->real_s = seconds(real->end_ns - real->submit_ns);
    b->simulated_s = real_jct_s(&r->asked, job);
    b->part_s[GSIM_REAL_STARTS] = jct_started_s - b->simulated_s;
    b->part_s[GSIM_REAL_DURATIONS] = jct_observed_s - jct_started_s;
    b->part_s[GSIM_REAL_OVERHEAD] = seconds(real->stall_ns) - stall_s;
    b->part_s[GSIM_REAL_SHARING] = seconds(real->ran_ns) - (jct_observed_s - wait_s - stall_s);
    b->part_s[GSIM_REAL_QUEUEING] =
        b->real_s - seconds(real->ran_ns) - seconds(real->stall_ns) - wait_s;
}

static void add_beside(struct gsim_beside *sum, const struct gsim_beside *b, double times) {
    sum->real_s += times * b->real_s;
    sum->simulated_s += times * b->simulated_s;
    for (int part = 0; part < GSIM_REAL_PARTS; part++)
        sum->part_s[part] += times * b->part_s[part];
}

/* A start that was no less than nothing: a larger error would turn it round. */
static int64_t start_off_ppm(int64_t real_ns, int64_t simulated_ns) {
    int64_t off_ns = real_ns > simulated_ns ? real_ns - simulated_ns : simulated_ns - real_ns;
    return off_ns < simulated_ns ? gsim_muldiv_floor(off_ns, GSIM_PPM, simulated_ns) : GSIM_PPM - 1;
}

/* Whether all of the job's stall is its start, in reality, where it has told of it, and in the
 * simulation. */
static bool is_start(const struct gsim_real *r, uint32_t job) {
    const struct gsim_db_real_job *real = &r->jobs[job];
    const uint32_t *preemptions = r->endless.jobs.preemptions;
    return gsim_real_finished(r, job) && real->stall_ns > 0 && real->starts == 1 &&
           real->stops == 0 && (!preemptions || preemptions[job] == 0);
}

static void measure_starts(struct gsim_real *r) {
    struct gsim_real_starts *starts = &r->starts;
    for (uint32_t job = 0; job < r->setup->trace.n_jobs; job++) {
        int64_t real_ns = r->jobs[job].stall_ns, simulated_ns = cell(r->endless.jobs.stall_ns, job);
        if (!is_start(r, job))
            continue;
        starts->n++;
        starts->real_s += seconds(real_ns);
        starts->simulated_s += seconds(simulated_ns);
        starts->off_ppm += simulated_ns > 0 ? start_off_ppm(real_ns, simulated_ns) : 0;
    }
    int64_t n = starts->n ? starts->n : 1;
    starts->real_s /= (double)n;
    starts->simulated_s /= (double)n;
    starts->off_ppm /= n;
}

/* Beside a simulation in which processes end at once, all of a job's further stall is its end, of
 * jobs that never lose their GPUs. */
static void measure_ends(struct gsim_real *r) {
    struct gsim_real_ends *ends = &r->ends;
    const uint32_t *preemptions = r->endless.jobs.preemptions;
    for (uint32_t job = 0; job < r->setup->trace.n_jobs; job++) {
        if (!gsim_real_finished(r, job) || r->ending_ns[job] < 0 || r->jobs[job].stops > 0 ||
            (preemptions && preemptions[job] > 0))
            continue;
        ends->n++;
        ends->real_s += seconds(r->ending_ns[job]);
        ends->simulated_s +=
            seconds(cell(r->asked.jobs.stall_ns, job) - cell(r->endless.jobs.stall_ns, job));
    }
    double n = ends->n ? ends->n : 1;
    ends->real_s /= n;
    ends->simulated_s /= n;
}

static void tell_all_apart(struct gsim_real *r) {
    struct gsim_beside sum = {0};
    for (uint32_t job = 0; job < r->setup->trace.n_jobs; job++) {
        if (!gsim_real_finished(r, job))
            continue;
        tell_apart(r, job);
        add_beside(&sum, &r->beside[job], 1);
        r->n_beside++;
    }
    if (r->n_beside > 0)
        add_beside(&r->mean, &sum, 1.0 / r->n_beside);
}

/* --- output ----------------------------------------------------------------------------------- */

static double error_percent(const struct gsim_beside *b) {
    return b->real_s > 0 ? 100 * (b->simulated_s - b->real_s) / b->real_s : (double)NAN;
}

static void print_row(const struct gsim_real *r, const char *name, const struct gsim_beside *b) {
    FILE *out = r->cli->io->out;
    fputs("  ", out);
    gsim_put_plain(out, 20, name);
    gsim_put_cell(out, 11, 3, b->real_s);
    gsim_put_cell(out, 11, 3, b->simulated_s);
    gsim_put_cell(out, 8, 1, error_percent(b));
    for (int part = 0; part < GSIM_REAL_PARTS; part++)
        if (gsim_real_has(r, (enum gsim_real_part)part))
            gsim_put_cell(out, 10, 3, b->part_s[part]);
    fputc('\n', out);
}

/* A start that the simulation has otherwise is a constant of the machine, which can be given. */
static void print_starts(const struct gsim_real *r) {
    const struct gsim_real_starts *starts = &r->starts;
    if (starts->n == 0 || !gsim_real_is_notable(starts->real_s, starts->simulated_s))
        return;
    fprintf(r->cli->io->out,
            "From its start until it computed a job took %.3f s (mean of %u), in the simulation "
            "%.3f s: --set start.first_ns=%.0fms takes that over.\n",
            starts->real_s, starts->n, starts->simulated_s, starts->real_s * 1e3);
}

static void print_ends(const struct gsim_real *r) {
    const struct gsim_real_ends *ends = &r->ends;
    if (ends->n == 0 || !gsim_real_is_notable(ends->real_s, ends->simulated_s))
        return;
    fprintf(
        r->cli->io->out,
        "From the end of its work until its process was gone a job took %.3f s (mean of %u), in "
        "the simulation %.3f s: --set end.process_ns=%.0fms takes that over.\n",
        ends->real_s, ends->n, ends->simulated_s, ends->real_s * 1e3);
}

static bool is_within(double s, const struct gsim_lengths_job *range) {
    return s >= range->least_s && s <= range->most_s;
}

static void print_range(const struct gsim_real *r, const char *name, const struct gsim_beside *b,
                        const struct gsim_lengths_job *range) {
    FILE *out = r->cli->io->out;
    fputs("  ", out);
    gsim_put_plain(out, 20, name);
    gsim_put_cell(out, 11, 3, b->real_s);
    gsim_put_cell(out, 11, 3, b->simulated_s);
    gsim_put_cell(out, 11, 3, range->least_s);
    gsim_put_cell(out, 11, 3, range->most_s);
    if (range->hangs_on_ppm > 0)
        gsim_put_cell(out, 11, 2, (double)range->hangs_on_ppm / 1e4);
    fputc('\n', out);
}

/* The rows of the jobs that hang on lengths; returns how many really ended within their range. */
static uint32_t print_ranges(const struct gsim_real *r) {
    uint32_t n_within = 0;
    for (uint32_t job = 0; job < r->setup->trace.n_jobs; job++) {
        const struct gsim_lengths_job *range = &r->lengths.job[job];
        if (!gsim_real_finished(r, job) || range->hangs_on_ppm == 0)
            continue;
        n_within += is_within(r->beside[job].real_s, range);
        print_range(r, gsim_trace_id(&r->setup->trace, job), &r->beside[job], range);
    }
    print_range(r, "mean", &r->mean, &r->lengths.mean);
    return n_within;
}

static void print_lengths(const struct gsim_real *r) {
    const struct gsim_lengths *l = &r->lengths;
    FILE *out = r->cli->io->out;
    fprintf(out, "With the length of each job off by up to %.4g %% (--shake, --reps), ",
            (double)l->off_ppm / 1e4);
    if (l->starts_off_ppm > 0)
        fprintf(out, "and starts by up to %.3g %%\n(the mean of this run), ",
                (double)l->starts_off_ppm / 1e4);
    fprintf(out, "%u of %u jobs end elsewhere%s\n", l->n_hanging, r->setup->trace.n_jobs,
            l->n_hanging > 0 ? ":" : ".");
    if (l->n_hanging == 0)
        return;
    fprintf(out, "  %-20s %11s %11s %11s %11s %11s\n", "JCT, s", "real", "simulated", "least",
            "most", "hangs on %");
    uint32_t n_within = print_ranges(r);
    fprintf(
        out,
        "The last column is the smallest change of lengths that put the job elsewhere. Of these "
        "jobs %u\nreally ended within the range: the order in which they came is not predicted "
        "more closely.\n",
        n_within);
}

static void print_table(const struct gsim_real *r) {
    FILE *out = r->cli->io->out;
    fprintf(out, "%s on %s: run %lld of %s, %s\n  %-20s %11s %11s %8s", r->run.policy,
            r->setup->trace_path, (long long)r->run.id, r->run.started_at, r->run.device, "JCT, s",
            "real", "simulated", "error %");
    for (int part = 0; part < GSIM_REAL_PARTS; part++)
        if (gsim_real_has(r, (enum gsim_real_part)part))
            fprintf(out, " %10s", gsim_real_part_names[part]);
    fputc('\n', out);
    for (uint32_t job = 0; job < r->setup->trace.n_jobs; job++)
        if (gsim_real_finished(r, job))
            print_row(r, gsim_trace_id(&r->setup->trace, job), &r->beside[job]);
    print_row(r, "mean", &r->mean);
    fprintf(out, "The last columns are the parts, in s, of real less simulated JCT.\n");
    print_starts(r);
    print_ends(r);
    gsim_real_print_images(r);
    print_lengths(r);
    if (r->n_beside < r->setup->trace.n_jobs)
        fprintf(out, "%u of %u jobs are left out: they did not finish in both.\n",
                r->setup->trace.n_jobs - r->n_beside, r->setup->trace.n_jobs);
}

static void put_json(const struct gsim_real *r, const struct gsim_beside *b) {
    FILE *out = r->cli->io->out;
    fputs("\"real_s\":", out);
    gsim_put_real(out, b->real_s, true);
    fputs(",\"simulated_s\":", out);
    gsim_put_real(out, b->simulated_s, true);
    for (int part = 0; part < GSIM_REAL_PARTS; part++) {
        bool is_known = gsim_real_has(r, (enum gsim_real_part)part);
        fprintf(out, ",\"%s_s\":", gsim_real_part_names[part]);
        gsim_put_real(out, is_known ? b->part_s[part] : (double)NAN, true);
    }
}

static void put_json_range(FILE *out, const struct gsim_lengths_job *range) {
    fputs(",\"least_s\":", out);
    gsim_put_real(out, range->least_s, true);
    fputs(",\"most_s\":", out);
    gsim_put_real(out, range->most_s, true);
}

static void put_json_lengths(FILE *out, const struct gsim_lengths *l) {
    fprintf(out,
            "\"lengths\":{\"off_percent\":%.4g,\"starts_off_percent\":%.4g,\"runs\":%lld,"
            "\"elsewhere\":%u}",
            (double)l->off_ppm / 1e4, (double)l->starts_off_ppm / 1e4, (long long)l->runs,
            l->n_hanging);
}

static void put_json_process(FILE *out, const char *name, uint32_t n, double real_s,
                             double simulated_s) {
    fprintf(out, ",\"%s\":{\"jobs\":%u,\"real_s\":", name, n);
    gsim_put_real(out, n ? real_s : (double)NAN, true);
    fputs(",\"simulated_s\":", out);
    gsim_put_real(out, n ? simulated_s : (double)NAN, true);
    fputc('}', out);
}

static void put_json_images(const struct gsim_real *r, const char *name,
                            enum gsim_real_image_way way) {
    const struct gsim_real_images *images = &r->images[way];
    double n = images->n;
    put_json_process(r->cli->io->out, name, images->n, images->y / n, images->keys_y / n);
}

static void print_json(const struct gsim_real *r) {
    FILE *out = r->cli->io->out;
    const char *comma = "";
    fprintf(out, "{\"policy\":");
    gsim_put_json_text(out, r->run.policy);
    fprintf(out, ",\"real_run\":%lld,\"device\":", (long long)r->run.id);
    gsim_put_json_text(out, r->run.device);
    fprintf(out, ",\"jobs\":%u,\"compared\":%u,\"mean\":{", r->setup->trace.n_jobs, r->n_beside);
    put_json(r, &r->mean);
    put_json_range(out, &r->lengths.mean);
    fputs("},", out);
    put_json_lengths(out, &r->lengths);
    put_json_process(out, "starts", r->starts.n, r->starts.real_s, r->starts.simulated_s);
    put_json_process(out, "ends", r->ends.n, r->ends.real_s, r->ends.simulated_s);
    put_json_images(r, "images_out", GSIM_REAL_OUT);
    put_json_images(r, "images_back", GSIM_REAL_BACK);
    fputs(",\"by_job\":[", out);
    for (uint32_t job = 0; job < r->setup->trace.n_jobs; job++) {
        if (!gsim_real_finished(r, job))
            continue;
        fprintf(out, "%s{\"job\":", comma);
        gsim_put_json_text(out, gsim_trace_id(&r->setup->trace, job));
        fprintf(out, ",\"start_s\":");
        gsim_put_real(out, seconds(r->jobs[job].begin_ns), true);
        fprintf(out, ",\"observed_start_s\":");
        gsim_put_real(out, seconds(r->observed.jobs.start_ns[job]), true);
        const uint32_t *preemptions = r->observed.jobs.preemptions;
        fprintf(out, ",\"stops\":%lld,\"observed_stops\":%u,", (long long)r->jobs[job].stops,
                preemptions ? preemptions[job] : 0);
        put_json(r, &r->beside[job]);
        put_json_range(out, &r->lengths.job[job]);
        int64_t hangs_on_ppm = r->lengths.job[job].hangs_on_ppm;
        fputs(",\"hangs_on_percent\":", out);
        gsim_put_real(out, hangs_on_ppm ? (double)hangs_on_ppm / 1e4 : (double)NAN, true);
        fputc('}', out);
        comma = ",";
    }
    fputs("]}\n", out);
}

enum gsim_status gsim_compare_real(struct gsim_cli *cli, struct gsim_setup *setup) {
    enum gsim_output_format format;
    struct gsim_real r = {.cli = cli, .setup = setup};
    enum gsim_status status = gsim_report_format(cli, &format);
    if (status == GSIM_OK && format == GSIM_OUTPUT_CSV)
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--real writes a table or json");
    if (status == GSIM_OK && cli->value[GSIM_OPT_OUTPUT])
        status = gsim_sheet_check(cli);
    if (status == GSIM_OK)
        status = load_real(&r);
    if (status == GSIM_OK)
        status = simulate_all(&r);
    if (status == GSIM_OK) {
        measure_starts(&r);
        measure_ends(&r);
        status = gsim_real_measure_images(&r);
    }
    if (status == GSIM_OK)
        status = gsim_lengths_try(cli, setup, &r.asked, r.starts.off_ppm, &r.lengths);
    if (status != GSIM_OK)
        return status;
    tell_all_apart(&r);
    gsim_report_notes(cli, (const struct gsim_summary *[]){&r.asked.summary}, 1);
    if (format == GSIM_OUTPUT_JSON)
        print_json(&r);
    else
        print_table(&r);
    return cli->value[GSIM_OPT_OUTPUT] ? gsim_real_draw(&r) : GSIM_OK;
}
