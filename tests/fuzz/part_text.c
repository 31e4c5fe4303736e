/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Languages of a line, and texts between quotes: what a formatter writes, its parser reads as it
 * was. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gsim/params.h"
#include "sim/app/sweep/expression.h"
#include "sim/base/calendar.h"
#include "sim/base/features.h"
#include "sim/base/hostlist.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "tests/fuzz/parts.h"
#include "traces/cells.h"
#include "traces/csv.h"
#include "traces/estimate.h"
#include "traces/input.h"
#include "traces/json.h"
#include "traces/submit_line.h"

/* The one spelling of an estimate is an estimate, and its own spelling. */
enum gsim_status fuzz_estimate(struct fuzz_in *in) {
    struct gsim_estimate estimate, again;
    enum gsim_status status = gsim_estimate_read(in->bytes, in->arena, &estimate, in->log);
    if (status != GSIM_OK || !estimate.text)
        return status;
    static struct gsim_log log;
    log.n_errors = 0;
    if (gsim_estimate_read(estimate.text, in->arena, &again, &log) != GSIM_OK)
        fuzz_wrong(in, "'%.200s' is not read: %.200s", estimate.text, log.errors[0].text);
    else if (strcmp(estimate.text, again.text) != 0)
        fuzz_wrong(in, "'%.200s' becomes '%.200s'", estimate.text, again.text);
    return status;
}

static enum gsim_status value_of(void *arg, const struct gsim_call *call, double *out) {
    (void)arg;
    *out = call->n_arguments;
    return GSIM_OK;
}

enum gsim_status fuzz_expression(struct fuzz_in *in) {
    struct gsim_expression expression = {in->bytes, "expression", 1, value_of, NULL};
    double value;
    return gsim_expression_value(&expression, in->arena, &value, in->log);
}

static bool count_node(void *arg, const char *node, size_t length) {
    (void)node;
    *(size_t *)arg += length;
    return true;
}

enum gsim_status fuzz_words(struct fuzz_in *in) {
    struct gsim_constraint constraint;
    struct gsim_submit_line line;
    size_t sum = 0;
    int64_t seconds;
    (void)gsim_hostlist_each(in->bytes, count_node, &sum);
    if (gsim_constraint_read(in->bytes, &constraint))
        for (uint32_t choice = 0; choice <= constraint.n_choices && choice < 4; choice++)
            (void)gsim_constraint_meets(in->bytes, "a100,ib",
                                        choice ? choice - 1 : GSIM_ANY_CHOICE);
    gsim_submit_line_read(in->bytes, &line);
    (void)gsim_calendar_parse(in->bytes, strlen(in->bytes), &seconds);
    return GSIM_OK;
}

/* --- quantities ------------------------------------------------------------------------------- */

static void check_time(struct fuzz_in *in, int64_t ns) {
    char text[64];
    int64_t again = -1;
    (void)gsim_format_time(text, ns);
    if (gsim_parse_time(text, 1, &again) != GSIM_PARSE_OK || again != ns)
        fuzz_wrong(in, "%lld ns is %s, which is %lld", (long long)ns, text, (long long)again);
    int n = gsim_format_seconds(text, ns, 9);
    if (gsim_parse_decimal(text, (size_t)n, GSIM_NS_PER_S, &again) != GSIM_PARSE_OK || again != ns)
        fuzz_wrong(in, "%lld ns is %s s, which is %lld", (long long)ns, text, (long long)again);
    n = gsim_cell_decimal(text, ns, GSIM_NS_PER_S);
    if (ns >= 0 && (gsim_cell_seconds(text, (size_t)n, &again) != GSIM_PARSE_OK || again != ns))
        fuzz_wrong(in, "%lld ns is the cell %s, which is %lld", (long long)ns, text,
                   (long long)again);
}

enum gsim_status fuzz_units(struct fuzz_in *in) {
    char text[64];
    int64_t value, again = -1;
    if (gsim_parse_time(in->bytes, GSIM_NS_PER_S, &value) == GSIM_PARSE_OK)
        check_time(in, value);
    if (gsim_parse_bytes(in->bytes, &value) == GSIM_PARSE_OK) {
        (void)gsim_format_bytes(text, value);
        if (gsim_parse_bytes(text, &again) != GSIM_PARSE_OK || again != value)
            fuzz_wrong(in, "%lld bytes are %s, which are %lld", (long long)value, text,
                       (long long)again);
        (void)gsim_format_size(text, value);
    }
    if (gsim_parse_ppm(in->bytes, &value) == GSIM_PARSE_OK) {
        (void)gsim_format_ppm(text, value);
        if (gsim_parse_ppm(text, &again) != GSIM_PARSE_OK || again != value)
            fuzz_wrong(in, "%lld ppm are %s, which are %lld", (long long)value, text,
                       (long long)again);
    }
    (void)gsim_parse_rate(in->bytes, &value);
    (void)gsim_parse_size(in->bytes, &value);
    (void)gsim_parse_speed(in->bytes, &value);
    (void)gsim_parse_int(in->bytes, &value);
    return GSIM_OK;
}

/* KEY=VALUE of a table with each type: a value is formatted, and set again. */
enum gsim_status fuzz_params(struct fuzz_in *in) {
    static const struct gsim_param_def defs[] = {
        {.name = "bool", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "a switch"},
        {.name = "int", .type = GSIM_PARAM_INT, .fallback = "1", .help = "a number"},
        {.name = "time", .type = GSIM_PARAM_TIME, .fallback = "1s", .help = "a time"},
        {.name = "bytes", .type = GSIM_PARAM_BYTES, .fallback = "1GiB", .help = "memory"},
        {.name = "rate", .type = GSIM_PARAM_RATE, .fallback = "1GB/s", .help = "a rate"},
        {.name = "ppm", .type = GSIM_PARAM_PPM, .fallback = "5%", .help = "a share"},
        {.name = "list", .type = GSIM_PARAM_INT_LIST, .fallback = "1,2", .help = "numbers"},
        {0}};
    struct gsim_params params;
    char *equals = strchr(in->bytes, '='), text[64];
    if (!equals || gsim_params_init(&params, "p", defs, in->arena, in->log) != GSIM_OK)
        return in->log->status;
    const char *key = gsim_arena_strndup(in->arena, in->bytes, (size_t)(equals - in->bytes));
    enum gsim_status status = gsim_params_set(&params, key, equals + 1, in->arena, in->log);
    int at = status == GSIM_OK ? gsim_params_find(&params, key) : -1;
    if (at < 0 || defs[at].type == GSIM_PARAM_INT_LIST)
        return status;
    int64_t value = params.values[at].value;
    (void)gsim_param_format(text, defs[at].type, value);
    if (gsim_params_set(&params, key, text, in->arena, in->log) != GSIM_OK ||
        params.values[at].value != value)
        fuzz_wrong(in, "%s=%lld is written as %s", key, (long long)value, text);
    return GSIM_OK;
}

/* --- quotes ----------------------------------------------------------------------------------- */

struct quoted {
    struct fuzz_in *in;
    const char *text;
    int n_met;
};

static void compare(struct quoted *q, const char *text) {
    q->n_met++;
    if (strcmp(text, q->text) != 0)
        fuzz_wrong(q->in, "'%.200s' is read as '%.200s'", q->text, text);
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    (void)arg, (void)names, (void)n, (void)line;
    return GSIM_OK;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    (void)length;
    if (column == 0)
        compare(arg, text);
}

static enum gsim_status on_row(void *arg, int64_t line) {
    (void)arg, (void)line;
    return GSIM_OK;
}

static bool is_name(const struct fuzz_in *in) {
    return in->n > 0 && in->n <= GSIM_MAX_FIELD_BYTES && strlen(in->bytes) == in->n &&
           gsim_text_is_utf8(in->bytes, in->n);
}

enum gsim_status fuzz_quoted_csv(struct fuzz_in *in) {
    struct quoted q = {in, in->bytes, 0};
    struct gsim_csv_user user = {&q, on_header, on_field, on_row, NULL};
    struct gsim_input *input = NULL;
    char *text = NULL;
    size_t n = 0;
    FILE *out = is_name(in) ? open_memstream(&text, &n) : NULL;
    if (!out)
        return GSIM_OK;
    (void)fputs("name,more\n", out);
    gsim_csv_put(in->bytes, out);
    (void)fputs(",1\n", out);
    (void)fclose(out);
    enum gsim_status status =
        gsim_input_open_bytes("quoted.csv", text, n, in->arena, &input, in->log);
    if (status == GSIM_OK)
        status = gsim_csv_read(input, &user, in->arena, in->log);
    gsim_input_close(input);
    if (status != GSIM_OK || q.n_met != 1)
        fuzz_wrong(in, "'%.200s' is not read where it was written", in->bytes);
    free(text);
    return status;
}

static enum gsim_status on_open(void *arg, enum gsim_json_kind kind, const char *key,
                                int64_t line) {
    (void)arg, (void)kind, (void)key, (void)line;
    return GSIM_OK;
}

static enum gsim_status on_close(void *arg, int64_t line) {
    (void)arg, (void)line;
    return GSIM_OK;
}

static enum gsim_status on_value(void *arg, enum gsim_json_kind kind, const char *key,
                                 const char *text, size_t length, int64_t line) {
    (void)kind, (void)key, (void)length, (void)line;
    compare(arg, text);
    return GSIM_OK;
}

enum gsim_status fuzz_quoted_json(struct fuzz_in *in) {
    struct quoted q = {in, in->bytes, 0};
    struct gsim_json_user user = {&q, on_open, on_close, on_value, false};
    struct gsim_input *input = NULL;
    char piece[8], *text = NULL;
    size_t n = 0;
    FILE *out = is_name(in) ? open_memstream(&text, &n) : NULL;
    if (!out)
        return GSIM_OK;
    (void)fputs("[\"", out);
    for (const char *at = in->bytes; *at;) {
        at += gsim_text_json(at, piece);
        (void)fputs(piece, out);
    }
    (void)fputs("\"]", out);
    (void)fclose(out);
    enum gsim_status status =
        gsim_input_open_bytes("quoted.json", text, n, in->arena, &input, in->log);
    if (status == GSIM_OK)
        status = gsim_json_read(input, &user, in->arena, in->log);
    gsim_input_close(input);
    if (status != GSIM_OK || q.n_met != 1)
        fuzz_wrong(in, "'%.200s' is not read where it was written", in->bytes);
    free(text);
    return status;
}
