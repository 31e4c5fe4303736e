/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace of a run: read from a file, or drawn from a spec, under the load that was asked for. */
#include <string.h>

#include "sim/app/setup/cluster_file.h"
#include "sim/app/setup/setup.h"
#include "sim/base/units.h"
#include "sim/app/setup/resampling.h"
#include "traces/read.h"
#include "traces/scale.h"
#include "traces/shake.h"
#include "traces/spec.h"
#include "traces/spec_read.h"

bool gsim_setup_is_spec(const char *path) {
    size_t n = strlen(path);
    return n >= 4 && strcmp(path + n - 4, ".ini") == 0;
}

/* --- load and time ---------------------------------------------------------------------------- */

/* The default cluster, as large as the widest gang needs, is no cluster that a load could be meant
 * for, nor is it where the site's file has no node with GPUs. */
static enum gsim_status count_gpus_of_load(struct gsim_cli *cli, int64_t *n_gpus) {
    enum gsim_status status = gsim_setup_count_gpus(cli, n_gpus);
    if (status == GSIM_OK && *n_gpus == 0)
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                           "--load is a share of what the cluster's GPUs can do: say how many "
                           "there are, with --nodes and --gpus-per-node or --cluster");
    return status;
}

/* The keys of the spec that stand on the command line, with those that --load stands for. */
static enum gsim_status find_spec_keys(struct gsim_cli *cli, struct gsim_setup *setup) {
    size_t n = 0;
    while (cli->repeats[GSIM_OPT_SPEC][n])
        n++;
    const char **keys = gsim_arena_array(cli->arena, n + 3, sizeof *keys);
    if (!keys)
        return gsim_no_memory(cli->log, "reading --spec");
    for (size_t i = 0; i < n; i++)
        keys[i] = cli->repeats[GSIM_OPT_SPEC][i];
    setup->spec_keys = n || setup->load_ppm ? keys : NULL;
    if (!setup->load_ppm)
        return GSIM_OK;
    int64_t n_gpus;
    enum gsim_status status = count_gpus_of_load(cli, &n_gpus);
    keys[n++] = gsim_arena_printf(cli->arena, "arrival.load=%lld.%06lld",
                                  (long long)(setup->load_ppm / GSIM_PPM),
                                  (long long)(setup->load_ppm % GSIM_PPM));
    keys[n] = gsim_arena_printf(cli->arena, "arrival.gpus=%lld", (long long)n_gpus);
    if (status == GSIM_OK && (!keys[n - 1] || !keys[n]))
        status = gsim_no_memory(cli->log, "reading --load");
    return status;
}

enum gsim_status gsim_setup_scales(struct gsim_cli *cli, struct gsim_setup *setup) {
    enum gsim_status status = gsim_option_ratio(cli, GSIM_OPT_TIME_SCALE, &setup->time_scale_ppm);
    if (status == GSIM_OK)
        status = gsim_option_ratio(cli, GSIM_OPT_LOAD, &setup->load_ppm);
    if (status == GSIM_OK && setup->load_ppm && setup->time_scale_ppm)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--load and --time-scale both set the times between submissions; give one "
                         "of them");
    if (status == GSIM_OK && *cli->repeats[GSIM_OPT_SPEC] && !gsim_setup_is_spec(setup->trace_path))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--spec sets keys of a spec .ini, which %s is not; --load and "
                         "--time-scale change when the jobs of a trace arrive",
                         setup->trace_path);
    return status == GSIM_OK && gsim_setup_is_spec(setup->trace_path) ? find_spec_keys(cli, setup)
                                                                      : status;
}

static enum gsim_status scale(struct gsim_cli *cli, struct gsim_setup *setup) {
    struct gsim_trace scaled;
    int64_t n_gpus;
    enum gsim_status status = GSIM_OK;
    if (setup->load_ppm) {
        status = count_gpus_of_load(cli, &n_gpus);
        if (status == GSIM_OK)
            status = gsim_trace_scale_to_load(&setup->trace, setup->load_ppm, n_gpus, cli->arena,
                                              &scaled, cli->log);
    } else if (setup->time_scale_ppm) {
        status = gsim_trace_scale(&setup->trace, setup->time_scale_ppm, GSIM_PPM, cli->arena,
                                  &scaled, cli->log);
    } else {
        return GSIM_OK;
    }
    if (status == GSIM_OK)
        setup->trace = scaled;
    return status;
}

enum gsim_status gsim_setup_draw(const struct gsim_setup *setup, uint64_t replication,
                                 struct gsim_arena *arena, struct gsim_trace *out,
                                 struct gsim_log *log) {
    uint64_t seed = (uint64_t)setup->seed;
    if (!setup->spec && setup->resampling.block_ns)
        return gsim_trace_resample(&setup->trace, &setup->resampling, seed, replication, arena, out,
                                   log);
    if (!setup->spec)
        return gsim_trace_shake(&setup->trace, setup->shake_ppm, seed, replication, arena, out,
                                log);
    struct gsim_trace drawn;
    enum gsim_status status =
        gsim_trace_generate(setup->spec, seed, replication, arena, &drawn, log);
    if (status == GSIM_OK && setup->time_scale_ppm)
        return gsim_trace_scale(&drawn, setup->time_scale_ppm, GSIM_PPM, arena, out, log);
    *out = drawn;
    return status;
}

/* --- traces and specs ------------------------------------------------------------------------- */

static enum gsim_status read_spec(struct gsim_cli *cli, struct gsim_setup *setup) {
    if (cli->value[GSIM_OPT_LOG_FROM])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--log-from is of a log; a generated trace begins with its first job");
    if (*cli->repeats[GSIM_OPT_ASSUME] || cli->value[GSIM_OPT_BY_MODEL] ||
        cli->value[GSIM_OPT_GPU_MEM] || cli->value[GSIM_OPT_RATES] || cli->value[GSIM_OPT_GOODPUT])
        return gsim_fail(
            cli->log, GSIM_USAGE, NULL, 0,
            "--assume, --by-model, --gpu-mem, --rates and --goodput are of a trace; a generated "
            "one has no gaps: set the column in the spec");
    if (!setup->spec) {
        enum gsim_status status =
            gsim_spec_read(setup->trace_path, setup->spec_keys, cli->arena, &setup->spec, cli->log);
        if (status != GSIM_OK)
            return status;
    }
    setup->seed = (int64_t)setup->spec->seed;
    return gsim_option_int(cli, GSIM_OPT_SEED, setup->seed, 0, INT64_MAX, &setup->seed);
}

uint32_t gsim_setup_widest_gang(const struct gsim_trace *trace) {
    const uint32_t *gpus = trace->gpus;
    uint32_t widest = 1, n = gpus ? trace->n_jobs : 0;
    for (uint32_t job = 0; job < n; job++)
        widest = gpus[job] > widest ? gpus[job] : widest;
    return widest;
}

static enum gsim_status read_trace(struct gsim_cli *cli, struct gsim_setup *setup) {
    struct gsim_trace_options options = {.assume = cli->repeats[GSIM_OPT_ASSUME],
                                         .by_model = cli->value[GSIM_OPT_BY_MODEL],
                                         .gpu_mem = cli->value[GSIM_OPT_GPU_MEM],
                                         .rates = cli->value[GSIM_OPT_RATES],
                                         .goodput = cli->value[GSIM_OPT_GOODPUT],
                                         .log_from = cli->value[GSIM_OPT_LOG_FROM],
                                         .is_lenient = !gsim_option_is_on(cli, GSIM_OPT_STRICT)};
    const struct gsim_io *io = cli->io;
    if (io->trace_name && strcmp(io->trace_name, setup->trace_path) == 0) {
        options.bytes = io->trace_bytes;
        options.n_bytes = io->n_trace_bytes;
    }
    bool is_resampled = cli->value[GSIM_OPT_RESAMPLE] != NULL;
    if (setup->replication > 0 && setup->shake_ppm == 0 && !is_resampled)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--replication needs a trace that can be drawn again: a spec .ini in "
                         "place of %s, --resample user or --shake 5%%",
                         setup->trace_path);
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_SEED, setup->seed, 0, INT64_MAX, &setup->seed);
    if (status == GSIM_OK)
        status = gsim_cluster_shards(cli, &options.shards);
    if (status == GSIM_OK)
        status = gsim_trace_read(setup->trace_path, cli->value[GSIM_OPT_TRACE_FORMAT], &options,
                                 cli->arena, &setup->trace, cli->log);
    if (status == GSIM_OK)
        status = scale(cli, setup);
    if (status == GSIM_OK && is_resampled)
        status = gsim_resampling_read(cli, cli->value[GSIM_OPT_RESAMPLE], NULL, &setup->trace,
                                      &setup->resampling);
    if (status != GSIM_OK || setup->replication == 0)
        return status;
    struct gsim_trace drawn;
    status = gsim_setup_draw(setup, setup->replication, cli->arena, &drawn, cli->log);
    if (status == GSIM_OK)
        setup->trace = drawn;
    return status;
}

/* Refuses what contradicts each other: a trace is shaken, resampled or drawn, one of them. */
static enum gsim_status check_replication(struct gsim_cli *cli, const struct gsim_setup *setup) {
    const char *resample = cli->value[GSIM_OPT_RESAMPLE];
    if ((cli->value[GSIM_OPT_BLOCK] || cli->value[GSIM_OPT_NEAR]) && !resample)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--block and --near say how --resample resamples: give that as well");
    if (resample && cli->value[GSIM_OPT_SHAKE])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shake and --resample both make replications; give one of them");
    if (resample && gsim_setup_is_spec(setup->trace_path))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--resample is for a trace file; %s is a spec, from which --reps draws "
                         "again",
                         setup->trace_path);
    return GSIM_OK;
}

/* Reads --replication and --shake. */
static enum gsim_status read_replication(struct gsim_cli *cli, struct gsim_setup *setup) {
    int64_t replication;
    const char *shake = cli->value[GSIM_OPT_SHAKE];
    if (shake && (gsim_parse_ppm(shake, &setup->shake_ppm) != GSIM_PARSE_OK ||
                  setup->shake_ppm <= 0 || setup->shake_ppm >= GSIM_PPM))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shake: '%s' is not a share between 0 and 100 %%, such as 5%%", shake);
    if (shake && gsim_setup_is_spec(setup->trace_path))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shake is for a trace file; %s is a spec, from which --reps draws again",
                         setup->trace_path);
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_REPLICATION, 0, 0, INT64_MAX, &replication);
    setup->replication = (uint64_t)replication;
    return status == GSIM_OK ? check_replication(cli, setup) : status;
}

enum gsim_status gsim_setup_trace(struct gsim_cli *cli, struct gsim_setup *setup, bool is_drawn) {
    enum gsim_status status = gsim_one_operand(cli, "trace", "gsim --policy NAME trace.csv");
    if (status != GSIM_OK)
        return status;
    setup->trace_path = cli->operand[0];
    setup->seed = 1;
    status = read_replication(cli, setup);
    if (status == GSIM_OK)
        status = gsim_setup_scales(cli, setup);
    if (status == GSIM_OK && !gsim_setup_is_spec(setup->trace_path))
        status = read_trace(cli, setup);
    else if (status == GSIM_OK)
        status = read_spec(cli, setup);
    if (status == GSIM_OK && setup->spec && is_drawn)
        status = gsim_setup_draw(setup, setup->replication, cli->arena, &setup->trace, cli->log);
    if (status == GSIM_OK)
        setup->widest_gang = gsim_setup_widest_gang(&setup->trace);
    return status;
}
