/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells are kept as text and parsed again into the row that they fill: names are then interned only
 * where a job has them. */
#include "traces/by_model.h"

#include <string.h>

#include "sim/base/text.h"
#include "traces/cells.h"
#include "traces/csv.h"
#include "sim/base/units.h"

/* The target of a field: an optional column (0 and up), or one of these. */
enum target { TO_MODEL = -1, TO_GPUS = -2, TO_DURATION = -3 };
enum { MAX_MODELS = 10000 };

struct entry {
    const char *model;
    uint32_t gpus; /* 0: any */
    const char **cell; /* a text for each field; "": none */
};

struct gsim_by_model {
    struct gsim_builder *b;
    const char *path;
    int target[GSIM_MAX_FIELD_COLUMNS];
    uint32_t n_fields, n_entries;
    struct entry *entry;
    struct entry next; /* of the row under way */
    enum gsim_status status;
    uint32_t sum;
    bool is_used;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int find_target(const char *name) {
    if (strcmp(name, "model") == 0)
        return TO_MODEL;
    if (strcmp(name, "gpus") == 0)
        return TO_GPUS;
    if (strcmp(name, "duration_s") == 0)
        return TO_DURATION;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (strcmp(name, gsim_columns[c].name) == 0)
            return c;
    return GSIM_COL_COUNT;
}

static enum gsim_status refuse_column(const struct gsim_by_model *t, int64_t line,
                                      const char *name) {
    const char *names[GSIM_COL_COUNT + 1] = {"duration_s"};
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        names[c + 1] = gsim_columns[c].name;
    int close = gsim_text_near_miss(name, names, GSIM_COL_COUNT + 1);
    if (close < 0)
        close = gsim_text_suggest(name, names, GSIM_COL_COUNT + 1);
    return gsim_fail(t->b->log, GSIM_BAD_INPUT, t->path, line,
                     "a trace has no column '%.64s'%s%s%s", name,
                     close >= 0 ? "; did you mean '" : " ('gsim list formats native' shows them)",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct gsim_by_model *t = arg;
    bool has_model = false;
    for (uint32_t i = 0; i < n; i++) {
        int target = find_target(names[i]);
        if (target == GSIM_COL_COUNT)
            return refuse_column(t, line, names[i]);
        for (uint32_t j = 0; j < i; j++)
            if (t->target[j] == target)
                return gsim_fail(t->b->log, GSIM_BAD_INPUT, t->path, line,
                                 "column '%s' stands twice", names[i]);
        t->target[i] = target;
        has_model |= target == TO_MODEL;
    }
    t->n_fields = n;
    if (has_model && n > 1)
        return GSIM_OK;
    return gsim_fail(t->b->log, GSIM_BAD_INPUT, t->path, line,
                     "a table of models has a column 'model' and columns that it gives, such as "
                     "gpu_ms or mem_gib");
}

static bool is_gang(const char *text, uint32_t *gpus) {
    int64_t value;
    bool is_ok =
        gsim_parse_int(text, &value) == GSIM_PARSE_OK && value >= 1 && value <= GSIM_MAX_GANG;
    *gpus = is_ok ? (uint32_t)value : 0;
    return is_ok;
}

/* Whether the cell can be parsed when it is needed later. A name always can. */
static bool check_cell(struct gsim_by_model *t, int target, const char *text, size_t length) {
    int64_t value;
    if (target == TO_MODEL)
        return length > 0;
    if (length == 0)
        return true;
    if (target == TO_GPUS)
        return is_gang(text, &t->next.gpus);
    if (target == TO_DURATION)
        return gsim_cell_seconds(text, length, &value) == GSIM_PARSE_OK && value >= 0;
    return gsim_columns[target].kind == GSIM_CELL_NAME ||
           gsim_cell_parse(t->b, (enum gsim_column)target, text, length, &value);
}

static const char *form_of(int target) {
    if (target == TO_MODEL)
        return "a name";
    if (target == TO_GPUS)
        return "a number of GPUs (1, 2, …)";
    return gsim_cell_form(target == TO_DURATION ? GSIM_CELL_SECONDS : gsim_columns[target].kind);
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct gsim_by_model *t = arg;
    int target = t->target[column];
    t->sum = gsim_text_sum(t->sum, text, length);
    if (!t->next.cell)
        t->next.cell = gsim_arena_array(t->b->arena, t->n_fields, sizeof *t->next.cell);
    char *copy = t->next.cell ? gsim_arena_strndup(t->b->arena, text, length) : NULL;
    if (!copy) {
        t->status = gsim_no_memory(t->b->log, "reading a table of models");
        return;
    }
    t->next.cell[column] = copy;
    if (target == TO_MODEL)
        t->next.model = copy;
    if (!check_cell(t, target, text, length) && t->status == GSIM_OK)
        t->status = GSIM_BAD_INPUT; /* reported at the end of the row, where its line is known */
}

static const char *name_of(int target) {
    static const char *const names[] = {"duration_s", "gpus", "model"};
    return target < 0 ? names[target + 3] : gsim_columns[target].name;
}

static enum gsim_status refuse_row(struct gsim_by_model *t, int64_t line) {
    for (uint32_t i = 0; i < t->n_fields; i++) {
        const char *text = t->next.cell[i];
        if (!check_cell(t, t->target[i], text, strlen(text)))
            return gsim_fail(t->b->log, GSIM_BAD_INPUT, t->path, line,
                             "column '%s': '%.40s' is not %s", name_of(t->target[i]), text,
                             form_of(t->target[i]));
    }
    return t->status;
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct gsim_by_model *t = arg;
    if (t->status != GSIM_OK)
        return t->status == GSIM_BAD_INPUT ? refuse_row(t, line) : t->status;
    for (uint32_t i = 0; i < t->n_entries; i++)
        if (t->entry[i].gpus == t->next.gpus && strcmp(t->entry[i].model, t->next.model) == 0)
            return gsim_fail(t->b->log, GSIM_BAD_INPUT, t->path, line,
                             "model '%.64s' with these GPUs stands there already", t->next.model);
    if (t->n_entries == MAX_MODELS)
        return gsim_fail(t->b->log, GSIM_BAD_INPUT, t->path, line, "more than %d models",
                         MAX_MODELS);
    t->entry[t->n_entries++] = t->next;
    t->next = (struct entry){0};
    return GSIM_OK;
}

enum gsim_status gsim_by_model_read(struct gsim_builder *builder, const char *path,
                                    struct gsim_by_model **out) {
    struct gsim_by_model *t = gsim_arena_alloc(builder->arena, sizeof *t);
    *out = t;
    if (!t || !(t->entry = gsim_arena_array(builder->arena, MAX_MODELS, sizeof *t->entry)))
        return gsim_no_memory(builder->log, "reading a table of models");
    t->b = builder;
    t->path = path;
    t->sum = GSIM_TEXT_SUM;
    struct gsim_csv_user user = {t, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read_file(path, &user, builder->arena, builder->log);
    for (uint32_t i = 0; i < t->n_fields && status == GSIM_OK; i++)
        if (t->target[i] >= 0)
            builder->has_column[t->target[i]] = true;
    return status;
}

/* --- filling ---------------------------------------------------------------------------------- */

/* The entry of the model and gang size, otherwise of the model and any gang size. */
static const struct entry *find(const struct gsim_by_model *t, const char *model, uint32_t gpus) {
    const struct entry *any = NULL;
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const struct entry *entry = &t->entry[i];
        if (strcmp(entry->model, model) != 0)
            continue;
        if (entry->gpus == gpus)
            return entry;
        if (entry->gpus == 0)
            any = entry;
    }
    return any;
}

static bool fill_cell(struct gsim_by_model *t, struct gsim_builder *b, int target,
                      const char *text) {
    struct gsim_row *row = &b->row;
    size_t length = strlen(text);
    if (length == 0 || target == TO_MODEL || target == TO_GPUS)
        return true;
    bool is_duration = target == TO_DURATION;
    if (is_duration ? row->service_ns >= 0 : !gsim_row_is_empty(row, (enum gsim_column)target))
        return true;
    t->is_used = true;
    if (is_duration)
        return gsim_cell_seconds(text, length, &row->service_ns) == GSIM_PARSE_OK;
    return gsim_cell_parse(b, (enum gsim_column)target, text, length, &row->cell[target]);
}

enum gsim_status gsim_by_model_fill(struct gsim_by_model *table, struct gsim_builder *builder) {
    int64_t model = builder->row.cell[GSIM_COL_MODEL];
    if (!table || model < 0)
        return GSIM_OK;
    const struct entry *entry =
        find(table, builder->names[GSIM_COL_MODEL].name[model], builder->row.gpus);
    for (uint32_t i = 0; entry && i < table->n_fields; i++)
        if (!fill_cell(table, builder, table->target[i], entry->cell[i]))
            return gsim_no_memory(builder->log, "filling a trace by its models");
    return GSIM_OK;
}

bool gsim_by_model_is_used(const struct gsim_by_model *table) {
    return table && table->is_used;
}

const char *gsim_by_model_name(const struct gsim_by_model *table) {
    const char *name =
        gsim_arena_printf(table->b->arena, "by-model=%s %08x", table->path, table->sum);
    return name ? name : "by-model";
}
