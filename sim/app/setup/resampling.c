/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/setup/resampling.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"

static const int64_t day_ns = 86400 * GSIM_NS_PER_S;

static enum gsim_status read_by(struct gsim_cli *cli, const char *by,
                                const struct gsim_trace *trace, int *out) {
    static const enum gsim_column columns[] = {GSIM_COL_USER, GSIM_COL_VC, GSIM_COL_CLASS,
                                               GSIM_COL_MODEL};
    *out = trace->column[GSIM_COL_USER] ? GSIM_COL_USER
           : trace->column[GSIM_COL_VC] ? GSIM_COL_VC
                                        : -1;
    if (!by)
        return GSIM_OK;
    int choice = gsim_text_choice(by, "user|vc|class|model");
    if (choice < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "'%s' is not one of user, vc, class, model, whose jobs stay together", by);
    *out = (int)columns[choice];
    if (!trace->column[columns[choice]])
        return gsim_fail(cli->log, GSIM_BAD_INPUT, trace->path, 0, "the trace has no column '%s'",
                         by);
    return GSIM_OK;
}

static enum gsim_status read_block(struct gsim_cli *cli, int64_t *out) {
    const char *text = cli->value[GSIM_OPT_BLOCK];
    *out = 7 * day_ns;
    if (!text || strcmp(text, "week") == 0)
        return GSIM_OK;
    if (strcmp(text, "day") == 0)
        *out = day_ns;
    else if (gsim_parse_time(text, GSIM_NS_PER_S, out) != GSIM_PARSE_OK || *out <= 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--block: '%s' is not week, day or a time such as 12h", text);
    if (*out % day_ns != 0)
        gsim_warn(cli->log, NULL, 0,
                  "--block %s is no whole number of days, so the hour of the day is not kept",
                  text);
    return GSIM_OK;
}

static enum gsim_status read_near(struct gsim_cli *cli, int64_t *out) {
    const char *text = cli->value[GSIM_OPT_NEAR];
    *out = -1;
    if (text && strcmp(text, "all") == 0)
        return GSIM_OK;
    return gsim_option_int(cli, GSIM_OPT_NEAR, 1, 0, 1000000, out);
}

static enum gsim_status read_load(struct gsim_cli *cli, const char *text, int64_t *ppm) {
    *ppm = GSIM_PPM;
    if (!text || (gsim_parse_ppm(text, ppm) == GSIM_PARSE_OK && *ppm > 0 && *ppm <= 100 * GSIM_PPM))
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--load: '%s' is not a ratio to the trace's own load up to 100, such as 1.2",
                     text);
}

/* Of two blocks of a user one in eight change places, of one none. */
enum { ENOUGH = 4 };

static int64_t span_of(const struct gsim_trace *trace) {
    return trace->submit_ns[gsim_trace_arrival(trace, trace->n_jobs - 1)] -
           trace->submit_ns[gsim_trace_arrival(trace, 0)];
}

const char *gsim_resampling_advice(const struct gsim_trace *trace) {
    int64_t n_days = trace->n_jobs > 0 ? span_of(trace) / day_ns + 1 : 0;
    return n_days > 7 * (ENOUGH - 1) ? "--resample user draws ten"
           : n_days >= ENOUGH        ? "--resample user --block day draws ten"
                                     : "all jobs come within three days, too short a time to "
                                       "resample";
}

static void tell_of_few_blocks(const struct gsim_trace *trace, const struct gsim_resampling *how,
                               struct gsim_log *log) {
    if (how->near == 0 || how->load_ppm != GSIM_PPM || trace->n_jobs == 0)
        return;
    int64_t span_ns = span_of(trace), n_blocks = span_ns / how->block_ns + 1;
    if (n_blocks < ENOUGH)
        gsim_warn(
            log, trace->path, 0,
            "all jobs come within %.3g days, which are %" PRId64 " block%s of %.3g days: %s, "
            "and intervals over resampled traces are too narrow; a shorter --block (day, 12h) "
            "has more",
            (double)span_ns / (double)day_ns, n_blocks, n_blocks == 1 ? "" : "s",
            (double)how->block_ns / (double)day_ns,
            n_blocks == 1 ? "none changes places" : "few of them change places");
}

enum gsim_status gsim_resampling_read(struct gsim_cli *cli, const char *by, const char *load,
                                      const struct gsim_trace *trace, struct gsim_resampling *out) {
    enum gsim_status status = read_by(cli, by, trace, &out->by);
    if (status == GSIM_OK)
        status = read_block(cli, &out->block_ns);
    if (status == GSIM_OK)
        status = read_near(cli, &out->near);
    if (status == GSIM_OK)
        status = read_load(cli, load, &out->load_ppm);
    if (status == GSIM_OK)
        tell_of_few_blocks(trace, out, cli->log);
    return status;
}
