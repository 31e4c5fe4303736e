/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/llm_requests.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/calendar.h"
#include "sim/base/units.h"
#include "traces/cells.h"
#include "traces/csv.h"

enum target { ID = 0, MODEL, ARRIVAL, PROMPT, OUTPUT, N_TARGETS, PASSED };
enum form { NATIVE = 0, AZURE, BURSTGPT, N_FORMS };
enum { MOST_ROWS = 100000000, MOST_TOKENS = 100000000 };

/* The columns of each form, by target; NULL: it has none. */
static const char *const names[N_FORMS][N_TARGETS] = {
    [NATIVE] = {"request_id", "model", "arrival_s", "prompt_tokens", "output_tokens"},
    [AZURE] = {NULL, NULL, "TIMESTAMP", "ContextTokens", "GeneratedTokens"},
    [BURSTGPT] = {NULL, "Model", "Timestamp", "Request tokens", "Response tokens"},
};
static const char *const passed[N_FORMS][3] = {
    [BURSTGPT] = {"Total tokens", "Log Type", "Session ID"}};

struct reading {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    const struct gsim_llms *llms;
    enum form form;
    enum target target[GSIM_MAX_FIELD_COLUMNS];
    struct gsim_llm_requests *out;
    uint32_t capacity;
    struct gsim_llm_request next; /* the row under way */
    const char *bad; /* the column of its first bad cell; NULL: none */
    const char *form_of_bad;
    char bad_text[64];
};

/* --- the header ------------------------------------------------------------------------------- */

static enum target target_of(enum form form, const char *name) {
    for (int t = 0; t < N_TARGETS; t++)
        if (names[form][t] && strcmp(names[form][t], name) == 0)
            return (enum target)t;
    for (size_t i = 0; i < sizeof passed[form] / sizeof *passed[form]; i++)
        if (passed[form][i] && strcmp(passed[form][i], name) == 0)
            return PASSED;
    return N_TARGETS;
}

static enum form form_of(const char *const *header, uint32_t n) {
    for (int form = N_FORMS - 1; form > NATIVE; form--)
        for (uint32_t i = 0; i < n; i++)
            if (strcmp(header[i], names[form][ARRIVAL]) == 0)
                return (enum form)form;
    return NATIVE;
}

static enum gsim_status on_header(void *arg, const char *const *header, uint32_t n, int64_t line) {
    struct reading *r = arg;
    bool has[PASSED + 1] = {[ID] = true};
    r->form = form_of(header, n);
    for (uint32_t i = 0; i < n; i++) {
        enum target target = target_of(r->form, header[i]);
        if (target == N_TARGETS)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line,
                             "requests have no column '%.64s'; they have arrival_s, "
                             "prompt_tokens, output_tokens and, if need be, request_id and model",
                             header[i]);
        r->target[i] = target;
        has[target] = true;
    }
    has[MODEL] |= r->llms->n == 1;
    for (int t = 0; t < N_TARGETS; t++)
        if (!has[t])
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "no column '%s'%s",
                             names[r->form][t] ? names[r->form][t] : "model",
                             t == MODEL ? ": the file of the models has several" : "");
    return GSIM_OK;
}

/* --- cells ------------------------------------------------------------------------------------ */

static bool take_tokens(const char *text, int64_t *out) {
    return gsim_parse_int(text, out) == GSIM_PARSE_OK && *out >= 1 && *out <= MOST_TOKENS;
}

/* "2023-11-16 18:17:03.9799600": the fraction of Azure's has seven digits. Those of 2024 have a
 * zone, the one of all rows, and no fraction in a whole second: "2024-05-10 00:00:01+00:00". */
static bool take_stamp(const char *text, int64_t *out) {
    const char *point = strchr(text, '.');
    size_t length = point ? (size_t)(point - text) : strcspn(text, "+Z");
    int64_t seconds, part_ns = 0;
    if (!gsim_calendar_parse(text, length, &seconds) ||
        (point && (gsim_parse_decimal(point, strcspn(point, "+Z"), GSIM_NS_PER_S, &part_ns) !=
                       GSIM_PARSE_OK ||
                   part_ns < 0)))
        return false;
    *out = seconds * GSIM_NS_PER_S + part_ns;
    return true;
}

static bool take_seconds(const char *text, size_t length, int64_t *out) {
    return gsim_cell_seconds(text, length, out) == GSIM_PARSE_OK && *out >= 0 &&
           *out < GSIM_TIME_MAX / 2;
}

static bool take_model(struct reading *r, const char *text) {
    for (uint32_t m = 0; m < r->llms->n; m++)
        if (strcmp(r->llms->list[m].name, text) == 0) {
            r->next.model = m;
            return true;
        }
    return false;
}

/* Returns the form that the text lacks; NULL: it has it. */
static const char *take(struct reading *r, enum target target, const char *text, size_t length) {
    bool is_empty = r->form == BURSTGPT && target == OUTPUT && strcmp(text, "0") == 0;
    switch (target) {
    case ID:
        r->next.id = gsim_arena_strndup(r->arena, text, length);
        return r->next.id ? NULL : "a name (out of memory)";
    case MODEL:
        return take_model(r, text) ? NULL : "a model of the file of models";
    case ARRIVAL:
        if (r->form == AZURE)
            return take_stamp(text, &r->next.arrival_ns) ? NULL
                                                         : "a time such as 2023-11-16 18:17:03.97";
        return take_seconds(text, length, &r->next.arrival_ns) ? NULL : "a time in seconds";
    case PROMPT:
        return take_tokens(text, &r->next.prompt) ? NULL
                                                  : "a number of tokens, from 1 to 100000000";
    case OUTPUT:
        r->next.output = 0;
        return is_empty || take_tokens(text, &r->next.output)
                   ? NULL
                   : "a number of tokens, from 1 to 100000000";
    case N_TARGETS:
    case PASSED:
        break;
    }
    return NULL;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct reading *r = arg;
    const char *form = take(r, r->target[column], text, length);
    if (!form || r->bad)
        return;
    r->bad = names[r->form][r->target[column]];
    r->form_of_bad = form;
    (void)snprintf(r->bad_text, sizeof r->bad_text, "%s", text);
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool grow(struct reading *r) {
    uint32_t n = r->out->n, more = r->capacity ? 2 * r->capacity : 1024;
    struct gsim_llm_request *list =
        gsim_arena_grow(r->arena, r->out->list, n * sizeof *list, more * sizeof *list);
    if (!list)
        return false;
    r->out->list = list;
    r->capacity = more;
    return true;
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct reading *r = arg;
    if (r->bad)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "column '%s': '%s' is not %s",
                         r->bad, r->bad_text, r->form_of_bad);
    struct gsim_llm_request *next = &r->next;
    next->line = line;
    if (next->output == 0) {
        r->out->n_empty++;
    } else {
        if (r->out->n == MOST_ROWS)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "more than %d requests",
                             MOST_ROWS);
        if (!next->id)
            next->id = gsim_arena_printf(r->arena, "%u", r->out->n);
        if (!next->id || (r->out->n == r->capacity && !grow(r)))
            return gsim_no_memory(r->log, "reading requests");
        r->out->list[r->out->n++] = *next;
    }
    r->next = (struct gsim_llm_request){0};
    return GSIM_OK;
}

static int order(const void *left, const void *right) {
    const struct gsim_llm_request *a = left, *b = right;
    if (a->arrival_ns != b->arrival_ns)
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

enum gsim_status gsim_llm_requests_read(const char *path, const struct gsim_llms *llms,
                                        struct gsim_arena *arena, struct gsim_llm_requests *out,
                                        struct gsim_log *log) {
    struct reading r = {.arena = arena, .log = log, .path = path, .llms = llms, .out = out};
    struct gsim_csv_user user = {&r, on_header, on_field, on_row, NULL};
    *out = (struct gsim_llm_requests){.path = path};
    enum gsim_status status = gsim_csv_read_file(path, &user, arena, log);
    if (status == GSIM_OK && out->n == 0)
        status = gsim_fail(log, GSIM_BAD_INPUT, path, 0, "no request");
    if (status != GSIM_OK)
        return status;
    qsort(out->list, out->n, sizeof *out->list, order);
    int64_t from_ns = r.form == NATIVE ? 0 : out->list[0].arrival_ns;
    for (uint32_t i = 0; i < out->n; i++)
        out->list[i].arrival_ns -= from_ns;
    return GSIM_OK;
}
