/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/results/db_schema.h"

#include <ctype.h>
#include <string.h>

#include "traces/cells.h"

/* An entry of db_tables.def. */
struct line {
    enum { OF_TABLE, OF_COLUMN, OF_FIELDS, OF_TRACE, OF_END } kind;
    const char *name, *type, *help;
};

static const struct line lines[] = {
#define GSIM_DB_TABLE(name, help) {OF_TABLE, #name, "", help},
#define GSIM_DB_COLUMN(name, type, help) {OF_COLUMN, #name, type, help},
#define GSIM_DB_RESULT_FIELDS {OF_FIELDS, "", "", ""},
#define GSIM_DB_TRACE_COLUMNS {OF_TRACE, "", "", ""},
#define GSIM_DB_END(constraints) {OF_END, "", constraints, ""},
#include "sim/app/results/db_tables.def"
};
enum { N_LINES = sizeof lines / sizeof *lines };

static const struct line fields[] = {
#define GSIM_FIELD_TEXT(name, help) {OF_COLUMN, #name, "TEXT NOT NULL", help},
#define GSIM_FIELD_INT(name, help) {OF_COLUMN, #name, "INTEGER NOT NULL", help},
#define GSIM_FIELD_REAL(name, help) {OF_COLUMN, #name, "REAL", help},
#define GSIM_FIELD_BOOL(name, help)                                                                \
    {OF_COLUMN, #name, "INTEGER NOT NULL CHECK (" #name " IN (0, 1))", help},
#include "gsim/fields.def"
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static const struct line trace_columns[] = {
#define GSIM_COLUMN(symbol, name, kind, help) {OF_COLUMN, #symbol, "", help},
#include "gsim/columns.def"
#undef GSIM_COLUMN
};

/* Views for users: lists by run, and what its devices did, at which watts. Built-in devices and
 * applications are parts of the program, and appear among the inputs as well. A pool has no rows in
 * gpu. */
static const char views[] =
    "CREATE VIEW input AS SELECT run_id, kind, path, i.sha256, size, text FROM run JOIN input_list"
    " AS i USING (inputs) LEFT JOIN input_text USING (sha256)"
    " UNION ALL SELECT run_id, 'built in', part, b.sha256, size, text FROM run JOIN build AS b"
    " USING (build) JOIN input_text USING (sha256);"
    "CREATE VIEW parameter AS SELECT run_id, owner, key, value, tag FROM run JOIN parameter_list"
    " ON list IN (parameters, devices);"
    "CREATE VIEW device_use AS SELECT run_id, device, count(*) AS gpus, sum(busy_ns / 1e9) AS"
    " held_s, sum(computing_ns / 1e9) AS computing_s, sum(down_ns / 1e9) AS down_s FROM gpu"
    " GROUP BY run_id, device"
    " UNION ALL SELECT run_id, device, gpus, gpu_busy * gpus * makespan_s, computing_s, 0.0"
    " FROM run AS r WHERE NOT EXISTS (SELECT 1 FROM gpu AS g WHERE g.run_id = r.run_id);"
    "CREATE VIEW power AS SELECT u.*, CAST(b.value AS REAL) AS busy_w, CAST(i.value AS REAL) AS"
    " idle_w, i.tag = 'assumed' AS is_assumed FROM device_use AS u JOIN run USING (run_id)"
    " LEFT JOIN parameter_list AS b ON b.list = run.devices AND b.owner = u.device AND b.key ="
    " 'energy.busy_w' LEFT JOIN parameter_list AS i ON i.list = run.devices AND i.owner = u.device"
    " AND i.key = 'energy.idle_w';"
    "CREATE INDEX sweep_of_run ON sweep_run (run_id);";

bool gsim_db_keeps_field(const char *name) {
    return strcmp(name, "wall_s") != 0;
}

/* Writes the name of a trace's column in base units, as trace_job has it: "mem_bytes". */
static void trace_column(enum gsim_column column, char name[48]) {
    size_t n = 0;
    for (const char *p = trace_columns[column].name; *p && n < 47; p++)
        name[n++] = (char)tolower((unsigned char)*p);
    name[n] = '\0';
}

/* The SQL type of a trace's column: a cell that is text stays text. */
static const char *trace_type(enum gsim_column column) {
    return gsim_cell_is_text(column) ? "TEXT" : "INTEGER";
}

/* --- each column of a table, wherever it is listed -------------------------------------------- */

typedef void each_column(void *arg, const char *name, const char *type, const char *help);

static void visit_column(const struct line *line, each_column *each, void *arg) {
    if (line->kind == OF_COLUMN)
        each(arg, line->name, line->type, line->help);
    for (int f = 0; line->kind == OF_FIELDS && f < N_FIELDS; f++)
        if (gsim_db_keeps_field(fields[f].name))
            each(arg, fields[f].name, fields[f].type, fields[f].help);
    for (int c = 0; line->kind == OF_TRACE && c < GSIM_COL_COUNT; c++) {
        char name[48];
        trace_column((enum gsim_column)c, name);
        each(arg, name, trace_type((enum gsim_column)c), trace_columns[c].help);
    }
}

/* Visits each column of a table; `at` is the table's own line. Returns the table's last line. */
static const struct line *visit(const struct line *at, each_column *each, void *arg) {
    while ((++at)->kind != OF_END)
        visit_column(at, each, arg);
    return at;
}

struct text {
    struct gsim_arena *arena;
    const char *prefix;
    char *text; /* NULL: no memory */
    size_t n, capacity;
    bool is_first;
};

static struct text open_text(struct gsim_arena *arena, const char *prefix) {
    struct text t = {.arena = arena, .prefix = prefix, .capacity = 1024, .is_first = true};
    t.text = gsim_arena_grow(arena, NULL, 0, t.capacity);
    return t;
}

/* In place: to copy all of the schema for each of its pieces took 1.6 MB. */
static void put_piece(struct text *t, const char *piece) {
    size_t n = strlen(piece);
    if (t->text && t->n + n >= t->capacity) {
        t->capacity = 2 * (t->n + n);
        t->text = gsim_arena_grow_raw(t->arena, t->text, t->capacity);
    }
    if (t->text)
        memcpy(t->text + t->n, piece, n + 1);
    t->n += n;
}

static void append(struct text *t, const char *a, const char *b, const char *c) {
    put_piece(t, a);
    put_piece(t, b);
    put_piece(t, c);
}

static void define(void *arg, const char *name, const char *type, const char *help) {
    struct text *t = arg;
    (void)help;
    append(t, t->is_first ? "" : ", ", name, " ");
    append(t, type, "", "");
    t->is_first = false;
}

const char *gsim_db_schema(struct gsim_arena *arena) {
    struct text t = open_text(arena, "");
    for (const struct line *at = lines; at < lines + N_LINES; at++) {
        append(&t, "CREATE TABLE ", at->name, " (");
        t.is_first = true;
        at = visit(at, define, &t);
        append(&t, at->type, ";", "");
    }
    append(&t, views, "", "");
    return t.text;
}

static void list(void *arg, const char *name, const char *type, const char *help) {
    struct text *t = arg;
    (void)type, (void)help;
    append(t, t->is_first ? "" : ", ", t->prefix, name);
    t->is_first = false;
}

static const struct line *find_line(const char *table) {
    const struct line *at = lines;
    while (at < lines + N_LINES && (at->kind != OF_TABLE || strcmp(at->name, table) != 0))
        at++;
    return at < lines + N_LINES ? at : NULL;
}

const char *gsim_db_columns(struct gsim_arena *arena, const char *table, const char *prefix) {
    struct text t = open_text(arena, prefix);
    (void)visit(find_line(table), list, &t);
    return t.text;
}

/* --- descriptions ----------------------------------------------------------------------------- */

static void describe(void *arg, const char *name, const char *type, const char *help) {
    (void)type;
    fprintf(arg, "| `%s` | %s |\n", name, help);
}

bool gsim_db_describe(FILE *out, const char *name) {
    static const char head[] = "\n| column | meaning |\n|---|---|\n";
    bool is_found = false;
    for (const struct line *at = lines; at < lines + N_LINES; at++) {
        if (at->kind != OF_TABLE || (name && strcmp(name, at->name) != 0))
            continue;
        fprintf(out, "%s**`%s`**: one row is %s.\n%s", is_found ? "\n" : "", at->name, at->help,
                head);
        (void)visit(at, describe, out);
        is_found = true;
    }
    return is_found;
}
