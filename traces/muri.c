/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Muri's traces: the columns of Tiresias and more, but with times in milliseconds (duration is
 * iterations * iteration_time). The times that an iteration needs of each resource
 * (resource_time_*) and the priority have no counterpart here and are not used. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/mapped.h"
#include "traces/format.h"

static bool take_ms(const char *text, size_t length, int64_t *out) {
    return gsim_parse_decimal(text, length, GSIM_NS_PER_MS, out) == GSIM_PARSE_OK && *out >= 0;
}

static bool take_submit_ms(struct gsim_builder *builder, const char *text, size_t length) {
    return take_ms(text, length, &builder->row.submit_ns);
}

static bool take_duration_ms(struct gsim_builder *builder, const char *text, size_t length) {
    return take_ms(text, length, &builder->row.service_ns);
}

static const struct gsim_mapping mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"num_gpu", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"submit_time", true, "a time in milliseconds", take_submit_ms, -1},
    {"duration", true, "a time in milliseconds", take_duration_ms, -1},
    {"model_name", false, "a name", gsim_take_model, GSIM_COL_MODEL},
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
