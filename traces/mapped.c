/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/mapped.h"

#include <stdio.h>
#include <string.h>

#include "traces/assume.h"
#include "traces/cells.h"
#include "traces/csv.h"

struct mapped {
    struct gsim_builder *b;
    const char *format;
    const struct gsim_mapping *mappings;
    bool (*finish_row)(struct gsim_builder *builder);
    const struct gsim_trace_options *options;
    const struct gsim_mapping *of_field[GSIM_MAX_FIELD_COLUMNS];
    const struct gsim_mapping *bad; /* of the row under way */
    char bad_text[64];
    struct gsim_assumption assumed[GSIM_COL_COUNT];
    int n_assumed;
};

static const struct gsim_mapping *find(const struct mapped *m, const char *name) {
    for (const struct gsim_mapping *mapping = m->mappings; mapping->name; mapping++)
        if (strcmp(mapping->name, name) == 0)
            return mapping;
    return NULL;
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct mapped *m = arg;
    for (uint32_t i = 0; i < n; i++) {
        m->of_field[i] = find(m, names[i]);
        if (m->of_field[i] && m->of_field[i]->column >= 0)
            m->b->has_column[m->of_field[i]->column] = true;
    }
    for (const struct gsim_mapping *mapping = m->mappings; mapping->name; mapping++) {
        bool is_there = !mapping->is_required;
        for (uint32_t i = 0; i < n && !is_there; i++)
            is_there = m->of_field[i] == mapping;
        if (!is_there)
            return gsim_fail(m->b->log, GSIM_BAD_INPUT, m->b->path, line,
                             "no column '%s', which the format '%s' has", mapping->name, m->format);
    }
    return gsim_assume_read(m->b, m->options, m->assumed, &m->n_assumed);
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct mapped *m = arg;
    const struct gsim_mapping *mapping = m->of_field[column];
    if (!mapping || !mapping->take || mapping->take(m->b, text, length) || m->bad)
        return;
    m->bad = mapping;
    (void)snprintf(m->bad_text, sizeof m->bad_text, "%s", text);
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct mapped *m = arg;
    enum gsim_status status = GSIM_OK;
    gsim_assume_fill(m->b, m->assumed, m->n_assumed);
    if (m->bad)
        (void)gsim_cell_refuse(m->b, line, m->bad->name, m->bad_text, m->bad->form);
    else if (m->finish_row && !m->finish_row(m->b))
        (void)gsim_fail(m->b->log, GSIM_BAD_INPUT, m->b->path, line,
                        "the row asks for no GPU, or for more than %u", GSIM_MAX_GANG);
    else
        status = gsim_build_add(m->b, line);
    m->bad = NULL;
    gsim_build_clear_row(m->b);
    return status;
}

enum gsim_status gsim_mapped_read(struct gsim_input *input, const char *format,
                                  const struct gsim_mapping *mappings,
                                  bool (*finish_row)(struct gsim_builder *builder),
                                  const struct gsim_trace_options *options,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log) {
    struct mapped *m = gsim_arena_alloc(arena, sizeof *m);
    struct gsim_builder *b = gsim_arena_alloc(arena, sizeof *b);
    if (!m || !b)
        return gsim_no_memory(log, "reading a trace");
    gsim_build_init(b, gsim_input_path(input), arena, log);
    *m = (struct mapped){.b = b,
                         .format = format,
                         .mappings = mappings,
                         .finish_row = finish_row,
                         .options = options};
    struct gsim_csv_user user = {m, on_header, on_field, on_row};
    enum gsim_status status = gsim_csv_read(input, &user, arena, log);
    if (status == GSIM_OK)
        status = gsim_build_finish(b, format, out);
    if (status == GSIM_OK)
        out->assumed = gsim_assume_list(b, m->assumed, m->n_assumed);
    return status;
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

bool gsim_take_gpus(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t gpus;
    if (gsim_parse_decimal(text, length, 1, &gpus) != GSIM_PARSE_OK || gpus < 1 ||
        gpus > GSIM_MAX_GANG)
        return false;
    builder->row.gpus = (uint32_t)gpus;
    return true;
}
