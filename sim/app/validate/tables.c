/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of gsim validate, from the built-in files. */
#include <stdlib.h>
#include <string.h>

#include "sim/app/validate/validate.h"
#include "sim/base/embedded.h"
#include "sim/base/ini.h"
#include "sim/base/text.h"
#include "traces/csv.h"

static const char root[] = "experiments/validate/";

enum { MOST_SUITES = 64 };

/* --- files ------------------------------------------------------------------------------------ */

static const struct gsim_embedded *find_file(const char *name) {
    return name ? gsim_embedded_find(name) : NULL;
}

static bool ends_in(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* The suite of a file: "h200" of "experiments/validate/h200/pcie.csv"; NULL: the file belongs to no
 * suite, or no memory. */
static const char *suite_of(const char *file, struct gsim_arena *arena) {
    const char *name = file + sizeof root - 1;
    if (strncmp(file, root, sizeof root - 1) != 0 || !strchr(name, '/'))
        return NULL;
    return gsim_arena_strndup(arena, name, strcspn(name, "/"));
}

/* The file of scenarios beside a table; NULL: the file is no table. */
static const struct gsim_embedded *scenarios_beside(const char *file, struct gsim_arena *arena) {
    if (!ends_in(file, ".csv"))
        return NULL;
    return find_file(gsim_arena_printf(arena, "%.*s.ini", (int)strlen(file) - 4, file));
}

/* Writes a suite's other files, such as traces, into the folder, as SUITE-FILE. */
static enum gsim_status unpack(const struct gsim_validation *v, const char *suite,
                               const struct gsim_embedded *file) {
    const char *name =
        gsim_arena_printf(v->cli->arena, "%s-%s", suite, strrchr(file->name, '/') + 1);
    return name ? gsim_folder_put(&v->folder, name, file->bytes, file->size, v->cli->log)
                : gsim_no_memory(v->cli->log, "unpacking files");
}

const char *gsim_validate_file(const struct gsim_validation *v, const char *suite, const char *name,
                               struct gsim_arena *arena) {
    if (!find_file(gsim_arena_printf(arena, "%s%s/%s", root, suite, name)))
        return NULL;
    return gsim_arena_printf(arena, "%s/%s-%s", v->folder.path, suite, name);
}

/* --- scenarios -------------------------------------------------------------------------------- */

struct gsim_validate_scenario *gsim_scenario_find(const struct gsim_validate_table *table,
                                                  const char *name) {
    for (int s = 0; s < table->n_scenarios; s++)
        if (strcmp(table->scenario[s].name, name) == 0)
            return &table->scenario[s];
    return NULL;
}

const char *gsim_scenario_key(const struct gsim_validate_scenario *scenario, const char *key) {
    const struct gsim_ini *ini = &scenario->table->ini;
    const struct gsim_ini_entry *entry = gsim_ini_find(ini, scenario->name, key);
    if (!entry)
        entry = gsim_ini_find(ini, "", key);
    return entry ? entry->value : NULL;
}

/* Reads the seeds "1, 2, 3" as texts. */
static enum gsim_status read_seeds(struct gsim_validate_scenario *scenario,
                                   struct gsim_arena *arena, struct gsim_log *log) {
    const char *list = gsim_scenario_key(scenario, "seeds");
    scenario->n_runs = 1;
    if (!list)
        return GSIM_OK;
    scenario->seed = gsim_arena_array(arena, strlen(list) + 1, sizeof *scenario->seed);
    for (scenario->n_runs = 0; scenario->seed && *list; list += *list == ',') {
        list += strspn(list, " ");
        size_t length = strcspn(list, ", ");
        const char *seed = gsim_arena_strndup(arena, list, length);
        if (!seed)
            return gsim_no_memory(log, "reading seeds");
        scenario->seed[scenario->n_runs++] = seed;
        list += length + strspn(list + length, " ");
    }
    return scenario->seed ? GSIM_OK : gsim_no_memory(log, "reading seeds");
}

static enum gsim_status add_scenario(struct gsim_validate_table *table, const char *name,
                                     struct gsim_arena *arena, struct gsim_log *log) {
    struct gsim_validate_scenario *scenario = &table->scenario[table->n_scenarios++];
    *scenario = (struct gsim_validate_scenario){.name = name, .table = table};
    return read_seeds(scenario, arena, log);
}

static enum gsim_status read_scenarios(struct gsim_validate_table *table,
                                       const struct gsim_embedded *file, struct gsim_arena *arena,
                                       struct gsim_log *log) {
    enum gsim_status status = gsim_ini_read_text(file->name, (const char *)file->bytes, file->size,
                                                 arena, &table->ini, log);
    if (status != GSIM_OK)
        return status;
    table->scenario = gsim_arena_array(arena, (size_t)table->ini.n + 1, sizeof *table->scenario);
    if (!table->scenario)
        return gsim_no_memory(log, "reading scenarios");
    status = add_scenario(table, "", arena, log);
    for (int e = 0; e < table->ini.n && status == GSIM_OK; e++)
        if (!gsim_scenario_find(table, table->ini.entries[e].section))
            status = add_scenario(table, table->ini.entries[e].section, arena, log);
    table->title = gsim_scenario_key(&table->scenario[0], "title");
    table->source = gsim_scenario_key(&table->scenario[0], "source");
    table->mean_bound = gsim_scenario_key(&table->scenario[0], "mean_bound");
    if (status == GSIM_OK && (!table->title || !table->source))
        return gsim_fail(log, GSIM_BAD_INPUT, file->name, 0,
                         "a table says its title and its source before the first section");
    return status;
}

/* --- rows ------------------------------------------------------------------------------------- */

enum { SCENARIO, WHAT, SIMULATED, REFERENCE, UNIT, BOUND, USE, N_FIELDS };
static const char header_line[] = "scenario|what|simulated|reference|unit|bound|use";

struct row_reader {
    struct gsim_validate_table *table;
    const char *field[N_FIELDS];
    struct gsim_arena *arena;
    struct gsim_log *log;
};

static enum gsim_status take_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    const struct row_reader *r = arg;
    bool is_right = n == N_FIELDS;
    for (uint32_t i = 0; i < n && is_right; i++)
        is_right = gsim_text_choice(names[i], header_line) == (int)i;
    if (is_right)
        return GSIM_OK;
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->table->csv, line,
                     "the header of a table is %s, with commas", header_line);
}

static void take_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct row_reader *r = arg;
    r->field[column] = gsim_arena_strndup(r->arena, text, length);
}

static enum gsim_status make_room(struct row_reader *r) {
    struct gsim_validate_table *table = r->table;
    if (table->n_rows < table->capacity)
        return GSIM_OK;
    int capacity = table->capacity ? 2 * table->capacity : 32;
    void *grown =
        gsim_arena_grow(r->arena, table->row, (size_t)table->capacity * sizeof *table->row,
                        (size_t)capacity * sizeof *table->row);
    if (!grown)
        return gsim_no_memory(r->log, "reading a table");
    table->row = grown;
    table->capacity = capacity;
    return GSIM_OK;
}

static enum gsim_status take_row(void *arg, int64_t line) {
    struct row_reader *r = arg;
    for (int f = 0; f < N_FIELDS; f++)
        if (!r->field[f])
            return gsim_no_memory(r->log, "reading a table");
    const struct gsim_validate_scenario *scenario =
        gsim_scenario_find(r->table, r->field[SCENARIO]);
    int use = *r->field[USE] ? 1 + gsim_text_choice(r->field[USE], "fitted|aside|shown") : 0;
    if (!scenario)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->table->csv, line,
                         "no scenario is called '%s' in %s", r->field[SCENARIO],
                         r->table->ini.path);
    if (*r->field[USE] && use == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->table->csv, line,
                         "use: '%s' is not one of fitted, aside, shown", r->field[USE]);
    enum gsim_status status = make_room(r);
    if (status != GSIM_OK)
        return status;
    r->table->row[r->table->n_rows++] =
        (struct gsim_validate_row){.table = r->table,
                                   .scenario = scenario,
                                   .what = r->field[WHAT],
                                   .simulated_text = r->field[SIMULATED],
                                   .reference_text = r->field[REFERENCE],
                                   .unit = r->field[UNIT],
                                   .bound = r->field[BOUND],
                                   .use = (enum gsim_row_use)use,
                                   .line = line};
    return GSIM_OK;
}

static enum gsim_status read_rows(struct gsim_validate_table *table,
                                  const struct gsim_embedded *file, struct gsim_arena *arena,
                                  struct gsim_log *log) {
    struct row_reader reader = {.table = table, .arena = arena, .log = log};
    struct gsim_csv_user user = {
        .arg = &reader, .header = take_header, .field = take_field, .row = take_row};
    struct gsim_input *input;
    enum gsim_status status =
        gsim_input_open_bytes(file->name, file->bytes, file->size, arena, &input, log);
    if (status == GSIM_OK)
        status = gsim_csv_read(input, &user, arena, log);
    gsim_input_close(input);
    return status;
}

/* --- suites ----------------------------------------------------------------------------------- */

/* The table of a file: "pcie" of "experiments/validate/h200/pcie.csv"; NULL: no memory. */
static const char *table_of(const char *file, const char *suite, struct gsim_arena *arena) {
    const char *name = file + sizeof root + strlen(suite);
    return gsim_arena_strndup(arena, name, strlen(name) - 4);
}

static enum gsim_status read_table(struct gsim_validation *v, const char *suite,
                                   const struct gsim_embedded *csv,
                                   const struct gsim_embedded *ini) {
    struct gsim_arena *arena = v->cli->arena;
    struct gsim_validate_table *table = &v->table[v->n_tables++];
    *table = (struct gsim_validate_table){
        .suite = suite, .name = table_of(csv->name, suite, arena), .csv = csv->name};
    if (!table->name)
        return gsim_no_memory(v->cli->log, "reading a table");
    enum gsim_status status = read_scenarios(table, ini, arena, v->cli->log);
    return status == GSIM_OK ? read_rows(table, csv, arena, v->cli->log) : status;
}

/* Whether the operand names the suite, or a table of it. A table may use any other file of its
 * suite, so these are asked for with each table. */
static bool names(const char *operand, const char *suite, const char *table) {
    size_t n = strlen(suite);
    if (strncmp(operand, suite, n) != 0 || (operand[n] != '\0' && operand[n] != '/'))
        return false;
    return operand[n] == '\0' || !table || strcmp(operand + n + 1, table) == 0;
}

static bool is_asked_for(const struct gsim_cli *cli, const char *suite, const char *table) {
    bool is_named = cli->n_operands == 0;
    for (int i = 0; i < cli->n_operands; i++)
        is_named |= names(cli->operand[i], suite, table);
    return is_named;
}

/* Lists all suites, each once, and returns their number. */
static int list_suites(struct gsim_arena *arena, const char **out) {
    int n = 0;
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name; file++) {
        const char *suite = suite_of(file->name, arena);
        if (suite && n < MOST_SUITES && (n == 0 || strcmp(out[n - 1], suite) != 0))
            out[n++] = suite;
    }
    return n;
}

/* Whether the operand is SUITE/TABLE. */
static bool is_table(const char *operand, struct gsim_arena *arena) {
    const struct gsim_embedded *csv =
        strchr(operand, '/') ? find_file(gsim_arena_printf(arena, "%s%s.csv", root, operand))
                             : NULL;
    return csv && scenarios_beside(csv->name, arena);
}

static enum gsim_status check_names(struct gsim_cli *cli) {
    const char *suites[MOST_SUITES], *all = "";
    int n = list_suites(cli->arena, suites);
    for (int s = 0; s < n && all; s++)
        all = gsim_arena_printf(cli->arena, "%s%s%s", all, s ? ", " : "", suites[s]);
    for (int i = 0; i < cli->n_operands && all; i++) {
        bool is_there = is_table(cli->operand[i], cli->arena);
        for (int s = 0; s < n; s++)
            is_there |= strcmp(cli->operand[i], suites[s]) == 0;
        int close = gsim_text_suggest(cli->operand[i], suites, n);
        if (!is_there)
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                             "no suite or table is called '%s'%s%s%s", cli->operand[i],
                             close >= 0 ? "; did you mean '" : "; there are ",
                             close >= 0 ? suites[close] : all, close >= 0 ? "'?" : "");
    }
    return all ? GSIM_OK : gsim_no_memory(cli->log, "reading tables");
}

enum gsim_status gsim_validate_load(struct gsim_validation *v) {
    struct gsim_arena *arena = v->cli->arena;
    size_t n = 0;
    while (gsim_embedded_files[n].name)
        n++;
    v->table = gsim_arena_array(arena, n, sizeof *v->table);
    if (!v->table)
        return gsim_no_memory(v->cli->log, "reading tables");
    enum gsim_status status = check_names(v->cli);
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name && status == GSIM_OK;
         file++) {
        const char *suite = suite_of(file->name, arena);
        const struct gsim_embedded *ini = scenarios_beside(file->name, arena);
        const char *table = suite && ini ? table_of(file->name, suite, arena) : NULL;
        if (!suite || !is_asked_for(v->cli, suite, table))
            continue;
        status = ini ? read_table(v, suite, file, ini) : unpack(v, suite, file);
    }
    return status;
}
