/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced Philly trace: timestamp,duration,num_gpus,gpu_time,cluster. It has no ids, so a job
 * is named by its row, from 0. Time starts at the earliest timestamp; `cluster` is the virtual
 * cluster; gpu_time is the product of two other columns and is not used. */
#include <string.h>

#include "traces/mapped.h"
#include "traces/philly_log.h"
#include "traces/format.h"

static const struct gsim_mapping mappings[] = {
    {"timestamp", true, GSIM_FORM_DATE, gsim_take_submit_date, -1},
    {"duration", true, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {"num_gpus", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"cluster", false, "a name", NULL, GSIM_COL_VC},
    {0},
};

static enum gsim_status read_philly(struct gsim_input *input,
                                    const struct gsim_trace_options *options,
                                    struct gsim_arena *arena, struct gsim_trace *out,
                                    struct gsim_log *log) {
    static const struct gsim_mapped_form form = {
        .name = "philly", .mappings = mappings, .is_absolute = true};
    const char *line;
    enum gsim_status status = gsim_input_peek_line(input, &line, log);
    if (status != GSIM_OK)
        return status;
    if (line[strspn(line, " \t")] == '[')
        return gsim_philly_log_read(input, options, arena, out, log);
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_philly(const char *header) {
    if (header[strspn(header, " \t")] == '[')
        return 1; /* a list in JSON: no other format begins so */
    return strstr(header, "timestamp") && strstr(header, "duration") && strstr(header, "num_gpus")
               ? 2
               : 0;
}

const struct gsim_trace_format gsim_format_philly = {
    .name = "philly",
    .summary =
        "Philly's cluster_job_log (JSON), and the reduced CSV: timestamp,duration,num_gpus,...",
    .source = "github.com/msr-fiddle/philly-traces; the CSV is the Pollux artifact's",
    .sniff = sniff_philly,
    .read = read_philly,
};
