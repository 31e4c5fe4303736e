/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Muri's traces: the columns of Tiresias and more, but with times in milliseconds (duration is
 * iterations * iteration_time). resource_time_0, 1, 2 are the times that an iteration needs of the
 * host, the GPU and the network, which overlap to iteration_time. Priority 0 is Muri's
 * guaranteed job, 1 its opportunistic job. */
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/mapped.h"
#include "traces/format.h"

#define FORM_MS "a time in milliseconds"

static bool take_ms(const char *text, size_t length, int64_t *out) {
    return gsim_parse_decimal(text, length, GSIM_NS_PER_MS, out) == GSIM_PARSE_OK && *out >= 0;
}

static bool take_submit_ms(struct gsim_builder *builder, const char *text, size_t length) {
    return take_ms(text, length, &builder->row.submit_ns);
}

static bool take_duration_ms(struct gsim_builder *builder, const char *text, size_t length) {
    return take_ms(text, length, &builder->row.service_ns);
}

static bool take_priority(struct gsim_builder *builder, const char *text, size_t length) {
    static const enum gsim_class classes[] = {GSIM_CLASS_PRODUCTION, GSIM_CLASS_OPPORTUNISTIC};
    int known = gsim_text_choice(text, "0|1");
    if (known >= 0)
        builder->row.cell[GSIM_COL_CLASS] = classes[known];
    return known >= 0 || length == 0;
}

static const struct gsim_mapping mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"num_gpu", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"submit_time", true, FORM_MS, take_submit_ms, -1},
    {"duration", true, FORM_MS, take_duration_ms, -1},
    {"model_name", false, "a name", NULL, GSIM_COL_MODEL},
    {"iterations", false, "a number of iterations", NULL, GSIM_COL_ITERATIONS},
    {"batch_size", false, "a batch size", NULL, GSIM_COL_BATCH},
    {"iteration_time", false, FORM_MS, NULL, GSIM_COL_ITERATION_NS},
    {"resource_time_0", false, FORM_MS, NULL, GSIM_COL_STAGE_HOST_NS},
    {"resource_time_1", false, FORM_MS, NULL, GSIM_COL_STAGE_GPU_NS},
    {"resource_time_2", false, FORM_MS, NULL, GSIM_COL_STAGE_NET_NS},
    {"priority", false, "0 or 1", take_priority, GSIM_COL_CLASS},
    {0},
};

static enum gsim_status read_muri(struct gsim_input *input,
                                  const struct gsim_trace_options *options,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log) {
    static const struct gsim_mapped_form form = {.name = "muri", .mappings = mappings};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_muri(const char *header) {
    return strstr(header, "resource_time_0") && strstr(header, "submit_time") ? 2 : 0;
}

const struct gsim_trace_format gsim_format_muri = {
    .name = "muri",
    .summary = "Muri's traces (milliseconds): job_id,num_gpu,submit_time,...,resource_time_0,...",
    .source = "github.com/Rivendile/Muri, simulator/trace-data",
    .sniff = sniff_muri,
    .read = read_muri,
};
