/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Alibaba's GPU trace of 2023, openb_pod_list_*.csv: a row per Kubernetes pod. A pod runs from its
 * scheduled_time to its deletion_time, and was submitted at its creation_time. qos becomes the
 * class: LS (latency-sensitive) and Guaranteed are production, BE (best effort) is opportunistic,
 * Burstable is batch. gpu_spec lists the GPU models that will do. memory_mib is host memory and not
 * used. */
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/cells.h"
#include "traces/mapped.h"
#include "traces/format.h"

enum { CREATED, DELETED, SCHEDULED, GPU_MILLI }; /* row.extra */

static bool take_seconds(struct gsim_builder *builder, int extra, const char *text, size_t length) {
    int64_t *value = &builder->row.extra[extra];
    return length == 0 || (gsim_cell_seconds(text, length, value) == GSIM_PARSE_OK && *value >= 0 &&
                           *value <= GSIM_TIME_MAX / 2);
}

static bool take_created(struct gsim_builder *builder, const char *text, size_t length) {
    return length > 0 && take_seconds(builder, CREATED, text, length);
}

static bool take_deleted(struct gsim_builder *builder, const char *text, size_t length) {
    return take_seconds(builder, DELETED, text, length);
}

static bool take_scheduled(struct gsim_builder *builder, const char *text, size_t length) {
    return take_seconds(builder, SCHEDULED, text, length);
}

static bool take_gpu_milli(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *milli = &builder->row.extra[GPU_MILLI];
    (void)length;
    return gsim_parse_int(text, milli) == GSIM_PARSE_OK && *milli >= 0 && *milli <= 1000;
}

static bool take_cpu_milli(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *cpus = &builder->row.cell[GSIM_COL_CPUS_MILLI];
    (void)length;
    return gsim_parse_int(text, cpus) == GSIM_PARSE_OK && *cpus >= 0;
}

static bool take_qos(struct gsim_builder *builder, const char *text, size_t length) {
    static const enum gsim_class classes[] = {GSIM_CLASS_PRODUCTION, GSIM_CLASS_PRODUCTION,
                                              GSIM_CLASS_OPPORTUNISTIC, GSIM_CLASS_BATCH};
    int known = gsim_text_choice(text, "LS|Guaranteed|BE|Burstable");
    if (known >= 0)
        builder->row.cell[GSIM_COL_CLASS] = classes[known];
    return known >= 0 || length == 0;
}

static void finish_pod(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    if (row->extra[SCHEDULED] < 0) {
        row->drop = "they were never scheduled (no scheduled_time)";
        return;
    }
    if (row->extra[DELETED] < 0) {
        row->drop = "they were not deleted in the trace's time (no deletion_time)";
        return;
    }
    if (row->extra[DELETED] < row->extra[SCHEDULED]) {
        row->wrong = "deletion_time is before scheduled_time";
        return;
    }
    row->submit_ns = row->extra[CREATED];
    row->service_ns = row->extra[DELETED] - row->extra[SCHEDULED];
    if (row->extra[GPU_MILLI] == 1000)
        return;
    if (row->gpus > 1 || row->extra[GPU_MILLI] == 0)
        row->wrong = "gpu_milli: several GPUs are asked for whole (1000), one in part (1 to 1000)";
    row->cell[GSIM_COL_SHARE_PPM] = row->extra[GPU_MILLI] * (GSIM_PPM / 1000);
}

static const struct gsim_mapping mappings[] = {
    {"name", true, "an id", gsim_take_id, -1},
    {"cpu_milli", true, "a number of CPUs, times 1000", take_cpu_milli, GSIM_COL_CPUS_MILLI},
    {"num_gpu", true, GSIM_FORM_GPUS_OR_NONE, gsim_take_gpus_or_none, -1},
    {"gpu_milli", true, "a share of a GPU, 0 to 1000", take_gpu_milli, GSIM_COL_SHARE_PPM},
    {"gpu_spec", false, "a name", NULL, GSIM_COL_GPU_TYPE},
    {"qos", false, "one of LS, Guaranteed, BE, Burstable", take_qos, GSIM_COL_CLASS},
    {"creation_time", true, GSIM_FORM_SECONDS, take_created, -1},
    {"deletion_time", true, "a time in seconds, or nothing", take_deleted, -1},
    {"scheduled_time", true, "a time in seconds, or nothing", take_scheduled, -1},
    {0},
};

static enum gsim_status read_openb(struct gsim_input *input,
                                   const struct gsim_trace_options *options,
                                   struct gsim_arena *arena, struct gsim_trace *out,
                                   struct gsim_log *log) {
    static const struct gsim_mapped_form form = {
        .name = "openb", .mappings = mappings, .finish_row = finish_pod, .is_absolute = true};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_openb(const char *header) {
    return strstr(header, "gpu_milli") && strstr(header, "cpu_milli") ? 2 : 0;
}

const struct gsim_trace_format gsim_format_openb = {
    .name = "openb",
    .summary = "Alibaba's pods of 2023: name,cpu_milli,...,num_gpu,gpu_milli,...,scheduled_time",
    .source = "github.com/alibaba/clusterdata, cluster-trace-gpu-v2023/csv",
    .sniff = sniff_openb,
    .read = read_openb,
};
