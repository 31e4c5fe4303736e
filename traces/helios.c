/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helios: cluster_log.csv of SenseTime's clusters, a row per Slurm job. `duration` is end - start,
 * whole seconds; queue, node_num and the state at the end are not used: failed and cancelled jobs
 * held their GPUs as well. */
#include <string.h>

#include "traces/mapped.h"
#include "traces/format.h"

static const struct gsim_mapping mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"submit_time", true, GSIM_FORM_DATE, gsim_take_submit_date, -1},
    {"start_time", false, GSIM_FORM_DATE, gsim_take_start_date, GSIM_COL_LOGGED_START_NS},
    {"end_time", false, GSIM_FORM_DATE, gsim_take_end_date, GSIM_COL_LOGGED_END_NS},
    {"duration", true, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {"gpu_num", true, GSIM_FORM_GPUS_OR_NONE, gsim_take_gpus_or_none, -1},
    {"cpu_num", false, "a number of CPUs", NULL, GSIM_COL_CPUS_MILLI},
    {"user", false, "a name", NULL, GSIM_COL_USER},
    {"vc", false, "a name", NULL, GSIM_COL_VC},
    {0},
};

static enum gsim_status read_helios(struct gsim_input *input,
                                    const struct gsim_trace_options *options,
                                    struct gsim_arena *arena, struct gsim_trace *out,
                                    struct gsim_log *log) {
    static const struct gsim_mapped_form form = {
        .name = "helios", .mappings = mappings, .is_absolute = true};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_helios(const char *header) {
    return strstr(header, "gpu_num") && strstr(header, "submit_time") && strstr(header, "duration")
               ? 2
               : 0;
}

const struct gsim_trace_format gsim_format_helios = {
    .name = "helios",
    .summary = "Helios' cluster_log.csv: job_id,user,vc,gpu_num,cpu_num,...,submit_time,duration",
    .source = "github.com/S-Lab-System-Group/HeliosData",
    .sniff = sniff_helios,
    .read = read_helios,
};
