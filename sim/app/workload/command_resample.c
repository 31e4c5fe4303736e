/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim resample: another month that might have been, from a trace. */
#include <string.h>

#include "sim/app/cli/input_trace.h"
#include "sim/app/cli/output_file.h"
#include "sim/app/cli/options.h"
#include "sim/study/outfile.h"
#include "sim/app/setup/resampling.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

static const char usage[] = "gsim resample trace.csv --by user --seed 2 -o other.csv";

/* Writes the command that repeats it, and the trace. */
static void write_trace(struct gsim_cli *cli, const struct gsim_trace *trace, int64_t seed,
                        FILE *out) {
    static const enum gsim_option options[] = {GSIM_OPT_BY, GSIM_OPT_BLOCK, GSIM_OPT_NEAR,
                                               GSIM_OPT_LOAD, GSIM_OPT_REPLICATION};
    const char *slash = strrchr(cli->operand[0], '/');
    fprintf(out, "# by gsim resample %s", slash ? slash + 1 : cli->operand[0]);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (cli->value[options[i]])
            fprintf(out, " --%s %s", gsim_option_defs[options[i]].name, cli->value[options[i]]);
    fprintf(out, " --seed %lld\n", (long long)seed);
    gsim_trace_write(trace, out);
}

enum gsim_status gsim_command_resample(struct gsim_cli *cli) {
    struct gsim_trace trace, drawn;
    struct gsim_resampling how;
    struct gsim_outfile out;
    int64_t seed = 1, replication = 0;
    enum gsim_status status = gsim_one_operand(cli, "trace", usage);
    if (status == GSIM_OK)
        status = gsim_input_trace(cli, cli->operand[0], &trace);
    if (status == GSIM_OK)
        status = gsim_resampling_read(cli, cli->value[GSIM_OPT_BY], cli->value[GSIM_OPT_LOAD],
                                      &trace, &how);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_SEED, 1, 0, INT64_MAX, &seed);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_REPLICATION, 0, 0, INT64_MAX, &replication);
    if (status == GSIM_OK)
        status = gsim_trace_resample(&trace, &how, (uint64_t)seed, (uint64_t)replication,
                                     cli->arena, &drawn, cli->log);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    write_trace(cli, &drawn, seed, out.file);
    return gsim_output_file_close(cli, &out);
}
