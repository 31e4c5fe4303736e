/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/mapped.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/calendar.h"
#include "traces/cells.h"
#include "traces/csv.h"
#include "traces/rows.h"
#include "sim/base/units.h"

struct mapped {
    struct gsim_builder *b;
    const struct gsim_mapped_form *form;
    const struct gsim_trace_options *options;
    const struct gsim_mapping *of_field[GSIM_MAX_FIELD_COLUMNS];
    const char *name[GSIM_MAX_FIELD_COLUMNS]; /* of the header */
    uint32_t n_names, n_like_header; /* fields of the row under way that repeat the header's */
    const struct gsim_mapping *bad; /* of the row under way */
    char bad_text[64];
    struct gsim_rows rows;
};

static const struct gsim_mapping *find(const struct mapped *m, const char *name) {
    for (const struct gsim_mapping *mapping = m->form->mappings; mapping->name; mapping++)
        if (strcmp(mapping->name, name) == 0)
            return mapping;
    return NULL;
}

/* A column of gsim's own that was added to a trace in a format which has none of that name would
 * silently be lost. Columns of a file without a header are those of its format. */
static void tell_unread(const struct mapped *m, const char *name, int64_t line) {
    int column = m->form->lines && m->form->lines->names ? GSIM_COL_COUNT : 0;
    while (column < GSIM_COL_COUNT && strcmp(gsim_columns[column].name, name) != 0)
        column++;
    if (column < GSIM_COL_COUNT)
        gsim_warn(m->b->log, m->b->path, line,
                  "the column '%s' is not read: traces of the format '%s' have none of that name; "
                  "'gsim import %s' writes a native trace, to which it can be added",
                  name, m->form->name, m->form->name);
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct mapped *m = arg;
    m->n_names = n;
    for (uint32_t i = 0; i < n; i++) {
        m->name[i] = gsim_arena_strdup(m->b->arena, names[i]);
        if (!m->name[i])
            return gsim_no_memory(m->b->log, "reading a trace");
        m->of_field[i] = find(m, names[i]);
        if (!m->of_field[i])
            tell_unread(m, names[i], line);
        for (const struct gsim_mapping *at = m->form->mappings; at->name; at++)
            if (at->column >= 0 && strcmp(at->name, names[i]) == 0)
                m->b->has_column[at->column] = true;
    }
    for (const struct gsim_mapping *mapping = m->form->mappings; mapping->name; mapping++) {
        bool is_there = !mapping->is_required;
        for (uint32_t i = 0; i < n && !is_there; i++)
            is_there = m->of_field[i] == mapping;
        if (!is_there)
            return gsim_fail(m->b->log, GSIM_BAD_INPUT, m->b->path, line,
                             "no column '%s', which the format '%s' has%s", mapping->name,
                             m->form->name,
                             m->form->why_absent ? m->form->why_absent(names[0], n) : "");
    }
    enum gsim_status status = gsim_rows_begin(&m->rows, m->b, m->options);
    bool is_known =
        m->b->has_column[GSIM_COL_GPU_NS] || m->rows.by_model || m->rows.rates || m->rows.goodput;
    if (status != GSIM_OK || !m->form->no_times || is_known)
        return status;
    return gsim_fail(m->b->log, GSIM_BAD_INPUT, m->b->path, 0,
                     "no column 'duration_s' or 'gpu_ms': the format '%s' %s; --by-model FILE.csv "
                     "gives them by model (and GPUs), --assume gpu_ms=TIME gives one value for all",
                     m->form->name, m->form->no_times);
}

bool gsim_take_cell(struct gsim_builder *builder, enum gsim_column column, const char *text,
                    size_t length) {
    return length == 0 ||
           gsim_cell_parse(builder, column, text, length, &builder->row.cell[column]);
}

static bool take(struct gsim_builder *b, const struct gsim_mapping *mapping, const char *text,
                 size_t length) {
    return mapping->take ? mapping->take(b, text, length)
                         : gsim_take_cell(b, (enum gsim_column)mapping->column, text, length);
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct mapped *m = arg;
    const struct gsim_mapping *mapping = m->of_field[column];
    m->n_like_header += strcmp(text, m->name[column]) == 0;
    if (!mapping || take(m->b, mapping, text, length) || m->bad)
        return;
    m->bad = mapping;
    (void)snprintf(m->bad_text, sizeof m->bad_text, "%s", text);
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct mapped *m = arg;
    enum gsim_status status = GSIM_OK;
    struct gsim_row *row = &m->b->row;
    if (m->n_like_header == m->n_names && m->b->is_lenient) {
        row->drop = "they repeat the header";
        gsim_build_drop(m->b, line);
        gsim_build_clear_row(m->b);
    } else if (m->bad) {
        (void)gsim_cell_refuse(m->b, line, m->bad->name, m->bad_text, m->bad->form);
        gsim_build_clear_row(m->b);
    } else {
        if (!row->drop && m->form->finish_row)
            m->form->finish_row(m->b);
        else if (row->drop && m->form->look_at_dropped)
            m->form->look_at_dropped(m->b);
        status = gsim_rows_add(&m->rows, line);
    }
    m->bad = NULL;
    m->n_like_header = 0;
    return status;
}

/* A row that was cut short, or that has the separator in a text. */
static bool on_misfit(void *arg, int64_t line, uint32_t n, uint32_t n_columns) {
    struct mapped *m = arg;
    char why[96];
    if (!m->b->is_lenient)
        return false;
    if (n == 0)
        (void)snprintf(why, sizeof why, "they have NUL bytes, and a trace is text");
    else
        (void)snprintf(why, sizeof why, "they have %s fields than the %u of the header",
                       n < n_columns ? "fewer" : "more", n_columns);
    gsim_build_refuse(m->b, line, why);
    gsim_build_clear_row(m->b);
    m->bad = NULL;
    m->n_like_header = 0;
    return true;
}

enum gsim_status gsim_mapped_read(struct gsim_input *input, const struct gsim_mapped_form *form,
                                  const struct gsim_trace_options *options,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log) {
    struct mapped *m = gsim_arena_alloc(arena, sizeof *m);
    struct gsim_builder *b = gsim_arena_alloc(arena, sizeof *b);
    if (!m || !b)
        return gsim_no_memory(log, "reading a trace");
    gsim_build_init(b, gsim_input_path(input), arena, log);
    b->is_absolute = form->is_absolute;
    b->has_runs = form->has_runs;
    *m = (struct mapped){.b = b, .form = form, .options = options};
    struct gsim_csv_user user = {m, on_header, on_field, on_row, on_misfit};
    enum gsim_status status = form->lines ? gsim_lines_read(input, form->lines, &user, arena, log)
                                          : gsim_csv_read(input, &user, arena, log);
    return status == GSIM_OK ? gsim_rows_finish(&m->rows, form->name, out) : status;
}

bool gsim_take_id(struct gsim_builder *builder, const char *text, size_t length) {
    memcpy(builder->row.id, text, length);
    builder->row.id_length = length;
    return length > 0;
}

static bool take_time(const char *text, size_t length, int64_t *out) {
    return gsim_cell_seconds(text, length, out) == GSIM_PARSE_OK && *out >= 0 &&
           *out <= GSIM_TIME_MAX / 2;
}

bool gsim_take_submit(struct gsim_builder *builder, const char *text, size_t length) {
    return take_time(text, length, &builder->row.submit_ns);
}

bool gsim_take_duration(struct gsim_builder *builder, const char *text, size_t length) {
    return take_time(text, length, &builder->row.service_ns);
}

bool gsim_take_gpus_or_none(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t gpus;
    (void)length;
    if (gsim_parse_int(text, &gpus) != GSIM_PARSE_OK || gpus < 0 || gpus > GSIM_MAX_GANG)
        return false;
    builder->row.gpus = (uint32_t)gpus;
    if (gpus == 0)
        builder->row.drop = GSIM_DROP_NO_GPU;
    return true;
}

bool gsim_take_gpus(struct gsim_builder *builder, const char *text, size_t length) {
    return gsim_take_gpus_or_none(builder, text, length) && builder->row.gpus > 0;
}

bool gsim_take_submit_date(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t seconds;
    if (!gsim_calendar_parse(text, length, &seconds))
        return false;
    builder->row.submit_ns = seconds * GSIM_NS_PER_S;
    return true;
}

static bool take_moment(const char *text, size_t length, int64_t *seconds) {
    return length == 0 || gsim_text_choice(text, "None|null") >= 0 ||
           gsim_calendar_parse(text, length, seconds);
}

bool gsim_take_start_date(struct gsim_builder *builder, const char *text, size_t length) {
    builder->is_zoneless = true;
    return take_moment(text, length, &builder->row.ran_from_s);
}

bool gsim_take_end_date(struct gsim_builder *builder, const char *text, size_t length) {
    return take_moment(text, length, &builder->row.ran_to_s);
}
