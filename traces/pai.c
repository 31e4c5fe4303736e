/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV derived from Alibaba's PAI traces, as its simulator reads them: GPUs and CPUs in percent. A
 * job of 150 % is two GPUs of 75 % each, exactly 150 % together; in a pool only the sum counts. A
 * job of 0 % GPU (CPU only) is kept with a share of 0: only a pool can run it. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/input.h"
#include "traces/mapped.h"
#include "traces/pai_tables.h"
#include "traces/format.h"

static bool take_gpu_ppm(struct gsim_builder *builder, const char *text, size_t length,
                         int64_t scale) {
    int64_t ppm;
    struct gsim_row *row = &builder->row;
    if (gsim_parse_decimal(text, length, scale, &ppm) != GSIM_PARSE_OK || ppm < 0 ||
        ppm > (int64_t)GSIM_MAX_GANG * GSIM_PPM)
        return false;
    int64_t gpus = ppm ? (ppm + GSIM_PPM - 1) / GSIM_PPM : 1;
    if (ppm % gpus != 0) /* thirds of a per cent: more, smaller parts make the sum exact */
        while (gpus < ppm && ppm % gpus != 0)
            gpus++;
    row->gpus = (uint32_t)gpus;
    if (ppm / gpus != GSIM_PPM)
        row->cell[GSIM_COL_SHARE_PPM] = ppm / gpus;
    return gpus <= GSIM_MAX_GANG;
}

static bool take_gpu_pct(struct gsim_builder *builder, const char *text, size_t length) {
    return take_gpu_ppm(builder, text, length, GSIM_PPM / 100);
}

static bool take_gpu(struct gsim_builder *builder, const char *text, size_t length) {
    return take_gpu_ppm(builder, text, length, GSIM_PPM);
}

static bool take_cpu_pct(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *cpus = &builder->row.cell[GSIM_COL_CPUS_MILLI];
    return gsim_parse_decimal(text, length, 10, cpus) == GSIM_PARSE_OK && *cpus >= 0;
}

static const struct gsim_mapping pct_mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"submit_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"duration", true, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {"num_gpu_pct", true, "a per cent of GPUs", take_gpu_pct, GSIM_COL_SHARE_PPM},
    {"num_cpu_pct", false, "a per cent of CPUs", take_cpu_pct, GSIM_COL_CPUS_MILLI},
    {0},
};

/* The input of PAI's simulator: GPUs and CPUs as numbers, not per cent. */
static const struct gsim_mapping plain_mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"submit_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"duration", true, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {"num_gpu", true, "a number of GPUs, 0 or more", take_gpu, GSIM_COL_SHARE_PPM},
    {"num_cpu", true, "a number of CPUs, 0 or more", NULL, GSIM_COL_CPUS_MILLI},
    {"user", false, "a name", NULL, GSIM_COL_USER},
    {0},
};

static enum gsim_status read_pai(struct gsim_input *input, const struct gsim_trace_options *options,
                                 struct gsim_arena *arena, struct gsim_trace *out,
                                 struct gsim_log *log) {
    const char *header;
    enum gsim_status status = gsim_input_peek_line(input, &header, log);
    if (status != GSIM_OK)
        return status;
    if (gsim_pai_is_task_table(header))
        return gsim_pai_tables_read(input, options, arena, out, log);
    const struct gsim_mapped_form form = {
        .name = "pai",
        .mappings = strstr(header, "num_gpu_pct") ? pct_mappings : plain_mappings,
    };
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_pai(const char *header) {
    bool is_pct = strstr(header, "num_gpu_pct") != NULL;
    bool is_plain = strstr(header, "num_gpu") && strstr(header, "num_cpu");
    if (gsim_pai_is_task_table(header))
        return 2;
    return strstr(header, "submit_time") && (is_pct || is_plain) ? 2 : 0;
}

const struct gsim_trace_format gsim_format_pai = {
    .name = "pai",
    .summary =
        "PAI's tables of 2020, and the derived CSV: job_id,submit_time,duration,num_gpu_pct,...",
    .source = "github.com/alibaba/clusterdata, cluster-trace-gpu-v2020",
    .notes = "the published tables need two files, whose headers may be in front or not:\n"
             "  gsim import pai pai_task_table.csv pai_job_table.csv -o trace.csv\n"
             "and measured memory may come from a third, with its header in front:\n"
             "  cat pai_sensor_table.header pai_sensor_table.csv >usage.csv\n"
             "  gsim import pai pai_task_table.csv pai_job_table.csv --gpu-mem usage.csv\n",
    .sniff = sniff_pai,
    .read = read_pai,
};
