/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced Philly trace: timestamp,duration,num_gpus,gpu_time,cluster. It has no ids, so a job
 * is called by its row, from 0. Time starts at the earliest timestamp; `cluster` is the virtual
 * cluster; gpu_time is the product of two other columns and is not used. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/mapped.h"

/* Days from 1970-01-01 in the proleptic Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(const char *text, size_t n, int64_t low, int64_t high, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return *out >= low && *out <= high;
}

static int64_t days_in_month(int64_t year, int64_t month) {
    int64_t next = month < 12 ? days_of(year, month + 1, 1) : days_of(year + 1, 1, 1);
    return next - days_of(year, month, 1);
}

/* "2017-10-09 07:01:55" */
static bool take_timestamp(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t year, month, day, hour, minute, second;
    if (length != 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
        text[13] != ':' || text[16] != ':')
        return false;
    if (!digits(text, 4, 1970, 2099, &year) || !digits(text + 5, 2, 1, 12, &month) ||
        !digits(text + 8, 2, 1, days_in_month(year, month), &day) ||
        !digits(text + 11, 2, 0, 23, &hour) || !digits(text + 14, 2, 0, 59, &minute) ||
        !digits(text + 17, 2, 0, 60, &second))
        return false;
    int64_t seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    builder->row.submit_ns = seconds * GSIM_NS_PER_S;
    return true;
}

static bool take_cluster(struct gsim_builder *builder, const char *text, size_t length) {
    builder->row.cell[GSIM_COL_VC] = gsim_build_intern(builder, GSIM_COL_VC, text, length);
    return builder->row.cell[GSIM_COL_VC] >= 0;
}

static const struct gsim_mapping mappings[] = {
    {"timestamp", true, "a timestamp such as 2017-10-09 07:01:55", take_timestamp, -1},
    {"duration", true, "a time in seconds", gsim_take_duration, -1},
    {"num_gpus", true, "a number of GPUs (1, 2, …)", gsim_take_gpus, -1},
    {"cluster", false, "a name", take_cluster, GSIM_COL_VC},
    {0},
};

static enum gsim_status read_philly(struct gsim_input *input,
                                    const struct gsim_trace_options *options,
                                    struct gsim_arena *arena, struct gsim_trace *out,
                                    struct gsim_log *log) {
    enum gsim_status status =
        gsim_mapped_read(input, "philly", mappings, NULL, options, arena, out, log);
    if (status != GSIM_OK)
        return status;
    int64_t *submit_ns = gsim_arena_array(arena, out->n_jobs, sizeof *submit_ns);
    if (!submit_ns)
        return gsim_no_memory(log, "reading a trace");
    int64_t first = out->submit_ns[out->order ? out->order[0] : 0];
    for (uint32_t i = 0; i < out->n_jobs; i++)
        submit_ns[i] = out->submit_ns[i] - first;
    out->submit_ns = submit_ns;
    return GSIM_OK;
}

static int sniff_philly(const char *header) {
    return strstr(header, "timestamp") && strstr(header, "duration") && strstr(header, "num_gpus")
               ? 2
               : 0;
}

const struct gsim_trace_format gsim_format_philly = {
    .name = "philly",
    .summary = "the reduced Philly CSV: timestamp,duration,num_gpus,gpu_time,cluster",
    .source = "derived from github.com/msr-fiddle/philly-traces (as in the Pollux artifact)",
    .sniff = sniff_philly,
    .read = read_philly,
};
