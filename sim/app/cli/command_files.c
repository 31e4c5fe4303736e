/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim generate and gsim import: both end in a native trace file. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "models/gpu/program.h"
#include "models/hardware/profile.h"
#include "sim/app/cli/output_file.h"
#include "sim/app/cli/options.h"
#include "sim/app/setup/cluster_file.h"
#include "sim/app/setup/devices.h"
#include "sim/base/text.h"
#include "sim/study/outfile.h"
#include "sim/study/nsight.h"
#include "sim/app/setup/setup.h"
#include "traces/fates.h"
#include "traces/input.h"
#include "traces/profiler.h"
#include "traces/timeline.h"
#include "traces/read.h"

enum { MOST_DEVICES = 256, DEVICE_NAME = 48 };

/* The options that change the drawn or scaled trace, as they would be typed. */
static const char *options_of_trace(struct gsim_cli *cli) {
    const char *text = "";
    for (const char *const *key = cli->repeats[GSIM_OPT_SPEC]; text && *key; key++)
        text = gsim_arena_printf(cli->arena, "%s --spec '%s'", text, *key);
    if (text && cli->value[GSIM_OPT_SHAKE])
        text = gsim_arena_printf(cli->arena, "%s --shake %s", text, cli->value[GSIM_OPT_SHAKE]);
    if (text && cli->value[GSIM_OPT_TIME_SCALE])
        text = gsim_arena_printf(cli->arena, "%s --time-scale %s", text,
                                 cli->value[GSIM_OPT_TIME_SCALE]);
    return text;
}

/* Writes a trace that was shaken or scaled, with the command that repeats it in its first line. */
static enum gsim_status write_changed(struct gsim_cli *cli, const struct gsim_setup *setup,
                                      const char *options, FILE *file) {
    const char *slash = strrchr(setup->trace_path, '/');
    (void)fprintf(file, "# by gsim generate %s%s", slash ? slash + 1 : setup->trace_path, options);
    if (cli->value[GSIM_OPT_SHAKE])
        (void)fprintf(file, " --seed %lld --replication %llu", (long long)setup->seed,
                      (unsigned long long)setup->replication);
    (void)fputc('\n', file);
    gsim_trace_write(&setup->trace, file);
    return GSIM_OK;
}

static enum gsim_status refuse_as_it_is(struct gsim_cli *cli) {
    return gsim_fail(
        cli->log, GSIM_USAGE, NULL, 0,
        "generate draws from a spec .ini; of a trace, --shake 5%% --replication 1 writes "
        "what --shake 5%% runs, and --time-scale 0.5 a trace that arrives twice as fast");
}

enum gsim_status gsim_command_generate(struct gsim_cli *cli) {
    struct gsim_setup *setup = gsim_arena_alloc(cli->arena, sizeof *setup);
    struct gsim_outfile out;
    if (!setup)
        return gsim_no_memory(cli->log, "starting");
    enum gsim_status status = gsim_one_operand(cli, "spec", "gsim generate SPEC.ini -o trace.csv");
    if (status == GSIM_OK && !gsim_setup_is_spec(cli->operand[0]) && !cli->value[GSIM_OPT_SHAKE] &&
        !cli->value[GSIM_OPT_TIME_SCALE])
        status = refuse_as_it_is(cli);
    if (status == GSIM_OK)
        status = gsim_setup_trace(cli, setup, true);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    const char *options = options_of_trace(cli);
    if (!options)
        status = gsim_no_memory(cli->log, "writing a trace");
    else
        status = setup->spec
                     ? gsim_generate_write(setup->spec, (uint64_t)setup->seed, setup->replication,
                                           options, &setup->trace, out.file, cli->log)
                     : write_changed(cli, setup, options, out.file);
    enum gsim_status closed = gsim_output_file_close(cli, &out);
    return status != GSIM_OK ? status : closed;
}

/* Reports the jobs that the native format cannot hold: they are left out, and counted. */
static void say_what_came(const struct gsim_cli *cli, const struct gsim_trace *trace) {
    uint32_t n_cpu_only = 0, n_parts = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        bool is_cpu_only = gsim_trace_share(trace, job) == 0;
        n_cpu_only += is_cpu_only;
        n_parts += !is_cpu_only && !gsim_trace_is_writable(trace, job);
    }
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET))
        return;
    fprintf(cli->io->err, "gsim: %s: %u job%s of %u\n", gsim_input_name(cli->operand[1]),
            trace->n_jobs - n_cpu_only - n_parts,
            gsim_plural((int64_t)trace->n_jobs - n_cpu_only - n_parts),
            trace->n_jobs + trace->n_dropped);
    if (n_cpu_only)
        fprintf(cli->io->err, "gsim: left out %u job%s without a GPU\n", n_cpu_only,
                gsim_plural(n_cpu_only));
    if (n_parts)
        fprintf(
            cli->io->err,
            "gsim: left out %u job%s with more than one GPU, but not whole ones: the native format "
            "cannot say that\n",
            n_parts, gsim_plural(n_parts));
}

static const struct gsim_profiler *find_profiler(const char *name) {
    for (int i = 0; gsim_profilers[i]; i++)
        if (strcmp(gsim_profilers[i]->name, name) == 0)
            return gsim_profilers[i];
    return NULL;
}

/* Refuses an option that has no meaning for the imported file, instead of ignoring it. */
static enum gsim_status refuse_options(struct gsim_cli *cli, const enum gsim_option *options,
                                       size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        if (cli->value[options[i]] || *cli->repeats[options[i]])
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s is for %s, which %s is not",
                             gsim_option_defs[options[i]].name, what, cli->operand[0]);
    return GSIM_OK;
}

/* Refuses a file that names the GPU of its kernels as the profile of another GPU. A device file of
 * the user's own may describe any GPU. */
static enum gsim_status check_gpu(struct gsim_cli *cli, const char *gpu,
                                  const struct gsim_profile *profile) {
    const char *other = NULL;
    bool is_own_file = strstr(profile->name, ".ini") || strchr(profile->name, '/');
    if (!gpu || is_own_file || !profile->products || gsim_product_is(gpu, profile->products))
        return GSIM_OK;
    enum gsim_status status = gsim_product_device(gpu, cli->arena, &other, cli->log);
    if (status != GSIM_OK)
        return status;
    return gsim_fail(cli->log, GSIM_USAGE, cli->operand[1], 0,
                     "the profile was measured on '%.80s', and --device says %s%s%s%s a device "
                     "file of your own (--device FILE.ini) is taken as it is",
                     gpu, profile->name, other ? "; did you mean '" : ";", other ? other : "",
                     other ? "'?" : "");
}

/* Reads the profile of the device on which a program was measured, which is required. */
static enum gsim_status take_device(struct gsim_cli *cli, const char *format,
                                    struct gsim_profile *out) {
    static const enum gsim_option of_traces[] = {GSIM_OPT_ASSUME,   GSIM_OPT_BY_MODEL,
                                                 GSIM_OPT_GPU_MEM,  GSIM_OPT_STRICT,
                                                 GSIM_OPT_LEFT_OUT, GSIM_OPT_LOG_FROM};
    if (refuse_options(cli, of_traces, 6, "traces") != GSIM_OK)
        return GSIM_USAGE;
    if (cli->n_operands != 2)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "a profile of %s is one file, not also %s",
                         format, cli->operand[2]);
    if (!cli->value[GSIM_OPT_DEVICE])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "a profile was measured on a device: gsim import %s FILE --device NAME "
                         "-o app.csv",
                         format);
    return gsim_profile_load(cli->value[GSIM_OPT_DEVICE], cli->arena, out, cli->log);
}

/* Refuses Nsight Systems' own file, which its tools make a database of. */
static enum gsim_status refuse_report(struct gsim_cli *cli) {
    static const char ending[] = ".nsys-rep";
    const char *path = cli->operand[1];
    size_t n = strlen(path), length = sizeof ending - 1;
    if (n < length || strcmp(path + n - length, ending) != 0)
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_BAD_INPUT, path, 0,
                     "a report of Nsight Systems; gsim reads its database: nsys export --type "
                     "sqlite --output run.sqlite %s && gsim import timeline run.sqlite --device %s "
                     "-o app.csv",
                     path, cli->value[GSIM_OPT_DEVICE]);
}

/* Every kernel fits the device on which it is said to have been measured. */
static enum gsim_status check_blocks(const struct gsim_timeline *timeline,
                                     const struct gsim_profile *profile) {
    enum { REGISTER_BYTES = 4 };
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < timeline->n && status == GSIM_OK; i++) {
        const struct gsim_timeline_record *record = &timeline->record[i];
        struct gsim_program_block block = {
            .path = timeline->path,
            .kernel = timeline->names->names[GSIM_COL_APP].name[record->name],
            .line = record->line,
            .threads = record->threads,
            .register_bytes = record->registers * record->threads * REGISTER_BYTES,
            .shared_bytes = record->shared_bytes};
        if (record->what == GSIM_TIMELINE_KERNEL)
            status = gsim_program_check_block(profile, &block, timeline->log);
    }
    return status;
}

/* Imports a program, launch by launch. */
static enum gsim_status import_timeline(struct gsim_cli *cli) {
    static const enum gsim_option of_profiles[] = {GSIM_OPT_ITERATIONS};
    struct gsim_timeline timeline;
    struct gsim_profile profile;
    struct gsim_outfile out;
    struct gsim_ncu bytes;
    const char *of_bytes = cli->value[GSIM_OPT_BYTES];
    int64_t sync_every = 0;
    if (refuse_options(cli, of_profiles, 1, "profiles (nsys, kineto)") != GSIM_OK)
        return GSIM_USAGE;
    enum gsim_status status = take_device(cli, "timeline", &profile);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_SYNC_EVERY, 0, 1, 1000000000, &sync_every);
    if (status == GSIM_OK && sync_every > 0 && gsim_option_is_on(cli, GSIM_OPT_PHASES))
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                           "--sync-every counts iterations, which --phases makes parts of one: "
                           "name one of them; with --phases the host waits where the timeline "
                           "shows a wait");
    if (status == GSIM_OK)
        status = gsim_timeline_init(&timeline, cli->operand[1], cli->value[GSIM_OPT_KIND],
                                    cli->arena, cli->log);
    timeline.has_phases = gsim_option_is_on(cli, GSIM_OPT_PHASES);
    if (status == GSIM_OK)
        status = refuse_report(cli);
    if (status == GSIM_OK)
        status = gsim_nsight_is_database(cli->operand[1]) ? gsim_nsight_read(&timeline)
                                                          : gsim_timeline_read(&timeline);
    if (status == GSIM_OK)
        status = check_gpu(cli, timeline.gpu, &profile);
    if (status == GSIM_OK)
        status = check_blocks(&timeline, &profile);
    if (status == GSIM_OK)
        status = gsim_timeline_fold(&timeline);
    if (status == GSIM_OK && of_bytes)
        status = gsim_ncu_read(of_bytes, cli->arena, &bytes, cli->log);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    status = gsim_timeline_write(&timeline, profile.name, sync_every, of_bytes ? &bytes : NULL,
                                 out.file);
    if (status != GSIM_OK && out.path)
        gsim_outfile_abandon(&out);
    return status == GSIM_OK ? gsim_output_file_close(cli, &out) : status;
}

/* Imports an application profile. Its times are those of one device, so --device is required. */
static enum gsim_status import_profile(struct gsim_cli *cli, const struct gsim_profiler *profiler) {
    static const enum gsim_option of_timelines[] = {GSIM_OPT_KIND, GSIM_OPT_SYNC_EVERY,
                                                    GSIM_OPT_BYTES, GSIM_OPT_PHASES};
    struct gsim_profile profile;
    struct gsim_kernels kernels;
    struct gsim_outfile out;
    int64_t iterations;
    if (refuse_options(cli, of_timelines, 4, "a timeline") != GSIM_OK)
        return GSIM_USAGE;
    enum gsim_status status = take_device(cli, profiler->name, &profile);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_ITERATIONS, 0, 1, 1000000000, &iterations);
    if (status == GSIM_OK)
        status = gsim_profiler_read(cli->operand[1], profiler, &iterations, cli->arena, &kernels,
                                    cli->log);
    if (status == GSIM_OK)
        status = check_gpu(cli, kernels.gpu, &profile);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    status = gsim_kernels_write(&kernels, profile.name, iterations, out.file, cli->log);
    enum gsim_status closed = gsim_output_file_close(cli, &out);
    return status != GSIM_OK ? status : closed;
}

/* Reads a trace, and writes what became of its rows beside it. */
static enum gsim_status read_log(struct gsim_cli *cli, struct gsim_trace_options *options,
                                 struct gsim_trace *trace) {
    const char *path = cli->value[GSIM_OPT_LEFT_OUT];
    struct gsim_outfile fates = {0};
    enum gsim_status status =
        path ? gsim_output_file_check_own(cli, path, GSIM_FATES_HEADER) : GSIM_OK;
    if (status == GSIM_OK)
        status = gsim_cluster_shards(cli, &options->shards);
    if (status == GSIM_OK && path)
        status = gsim_outfile_open(&fates, path, cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    options->is_lenient = !gsim_option_is_on(cli, GSIM_OPT_STRICT);
    options->left_out = fates.file;
    status =
        gsim_trace_read(cli->operand[1], cli->operand[0], options, cli->arena, trace, cli->log);
    enum gsim_status closed = path ? gsim_outfile_close(&fates, cli->log) : GSIM_OK;
    return status != GSIM_OK ? status : closed;
}

enum gsim_status gsim_command_import(struct gsim_cli *cli) {
    struct gsim_trace trace;
    struct gsim_outfile out;
    struct gsim_trace_options options = {.assume = cli->repeats[GSIM_OPT_ASSUME],
                                         .by_model = cli->value[GSIM_OPT_BY_MODEL],
                                         .table = cli->n_operands == 3 ? cli->operand[2] : NULL,
                                         .gpu_mem = cli->value[GSIM_OPT_GPU_MEM],
                                         .log_from = cli->value[GSIM_OPT_LOG_FROM]};
    if (cli->n_operands != 2 && cli->n_operands != 3)
        return gsim_fail(
            cli->log, GSIM_USAGE, NULL, 0,
            "gsim import FORMAT FILE [TABLE] -o trace.csv; 'gsim list formats' shows the "
            "formats");
    const struct gsim_profiler *profiler = find_profiler(cli->operand[0]);
    if (profiler)
        return profiler->read ? import_profile(cli, profiler) : import_timeline(cli);
    static const enum gsim_option of_profiles[] = {GSIM_OPT_DEVICE, GSIM_OPT_ITERATIONS,
                                                   GSIM_OPT_KIND,   GSIM_OPT_SYNC_EVERY,
                                                   GSIM_OPT_BYTES,  GSIM_OPT_PHASES};
    if (refuse_options(cli, of_profiles, 6, "profiles (nsys, kineto, timeline)") != GSIM_OK)
        return GSIM_USAGE;
    enum gsim_status status = read_log(cli, &options, &trace);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    gsim_trace_write(&trace, out.file);
    say_what_came(cli, &trace);
    return gsim_output_file_close(cli, &out);
}
