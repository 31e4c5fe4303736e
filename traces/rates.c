/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/rates.h"

#include <stdlib.h>
#include <string.h>

#include "sim/api/goodput.h"
#include "sim/base/decimal.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/csv.h"
#include "traces/phases.h"

enum target { DEVICE = 0, MODEL, GPUS, NODES, CPUS, MEMORY, BESIDE, RATE, N_TARGETS };
static const char *const names[N_TARGETS] = {"device", "model",           "gpus",
                                             "nodes",  "cpus_per_gpu",    "host_gib_per_gpu",
                                             "beside", "iterations_per_s"};
enum { MOST_ROWS = 1000000, MOST_NAMES = 100000, MOST_CPUS = 1000000, MOST_GIB = 1000000 };

struct reading {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    enum target target[GSIM_MAX_FIELD_COLUMNS];
    struct gsim_rates *rates;
    struct gsim_rate_row *rows;
    uint32_t *beside; /* by row: the other model; GSIM_NO_KIND: the job was alone */
    uint32_t capacity, devices_capacity, kinds_capacity;
    struct gsim_rate_row next; /* the row under way */
    uint32_t next_beside;
    const char *bad; /* the column of its first bad cell; NULL: none */
    char bad_text[64];
    enum gsim_status status;
};

/* --- reading ---------------------------------------------------------------------------------- */

static enum gsim_status on_header(void *arg, const char *const *header, uint32_t n, int64_t line) {
    struct reading *r = arg;
    bool has[N_TARGETS] = {[NODES] = true, [CPUS] = true, [MEMORY] = true, [BESIDE] = true};
    for (uint32_t i = 0; i < n; i++) {
        int t = 0;
        while (t < N_TARGETS && strcmp(header[i], names[t]) != 0)
            t++;
        if (t == N_TARGETS)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line,
                             "a table of speeds has no column '%.64s'; it has device, model, gpus, "
                             "iterations_per_s and, if need be, nodes, cpus_per_gpu, "
                             "host_gib_per_gpu and beside",
                             header[i]);
        r->target[i] = (enum target)t;
        has[t] = true;
    }
    for (int t = 0; t < N_TARGETS; t++)
        if (!has[t])
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "no column '%s'", names[t]);
    return GSIM_OK;
}

/* The position of a name in a list, to which it is added if it is new. */
static uint32_t intern(struct reading *r, const char ***list, uint32_t *n, uint32_t *capacity,
                       const char *text) {
    for (uint32_t i = *n; i-- > 0;)
        if (strcmp((*list)[i], text) == 0)
            return i;
    if (*n == *capacity) {
        uint32_t more = *capacity ? 2 * *capacity : 16;
        const char **grown =
            gsim_arena_grow(r->arena, *list, *n * sizeof *grown, more * sizeof *grown);
        r->status = grown ? r->status : gsim_no_memory(r->log, "reading a table of speeds");
        if (!grown)
            return 0;
        *list = grown;
        *capacity = more;
    }
    (*list)[*n] = gsim_arena_strdup(r->arena, text);
    if (!(*list)[*n])
        r->status = gsim_no_memory(r->log, "reading a table of speeds");
    return (*n)++;
}

static bool take_number(const char *text, uint32_t *out) {
    int64_t value;
    bool is_ok =
        gsim_parse_int(text, &value) == GSIM_PARSE_OK && value >= 1 && value <= GSIM_MAX_GANG;
    *out = is_ok ? (uint32_t)value : 0;
    return is_ok;
}

/* A decimal above 0, in units of 1 / scale. */
static bool take_scaled(const char *text, int64_t scale, int64_t most, int64_t *out) {
    return gsim_parse_decimal(text, strlen(text), scale, out) == GSIM_PARSE_OK && *out > 0 &&
           *out <= most * scale;
}

static bool take_rate(const char *text, struct gsim_rate_row *row) {
    char *end;
    double per_s = gsim_decimal_read(text, &end);
    bool is_ok = *text && !*end && per_s <= 1e9 && (per_s >= 1e-9 || !(per_s < 0 || per_s > 0));
    if (is_ok)
        row->tempo = gsim_tempo_near(per_s);
    return is_ok;
}

static bool take(struct reading *r, enum target target, const char *text) {
    struct gsim_rates *rates = r->rates;
    switch (target) {
    case DEVICE:
        r->next.device = intern(r, &rates->device, &rates->n_devices, &r->devices_capacity, text);
        return *text;
    case MODEL:
        r->next.kind = intern(r, &rates->kind, &rates->n_kinds, &r->kinds_capacity, text);
        return *text;
    case GPUS:
        return take_number(text, &r->next.gpus);
    case NODES:
        return !*text || take_number(text, &r->next.nodes);
    case CPUS:
        return !*text || take_scaled(text, 1000, MOST_CPUS, &r->next.host.cpus_milli);
    case MEMORY:
        return !*text || take_scaled(text, GSIM_GIB, MOST_GIB, &r->next.host.mem_bytes);
    case BESIDE:
        r->next_beside = GSIM_NO_KIND;
        if (*text)
            r->next_beside = intern(r, &rates->kind, &rates->n_kinds, &r->kinds_capacity, text);
        return true;
    case RATE:
        return take_rate(text, &r->next);
    case N_TARGETS:
        break;
    }
    return false;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct reading *r = arg;
    (void)length;
    if (take(r, r->target[column], text) || r->bad)
        return;
    r->bad = names[r->target[column]];
    (void)snprintf(r->bad_text, sizeof r->bad_text, "%s", text);
}

static enum gsim_status refuse(struct reading *r, int64_t line) {
    static const char *const forms[N_TARGETS] = {
        "a device's name",
        "a model's name",
        "a number of GPUs (1, 2, …)",
        "a number of nodes (1, 2, …)",
        "a number of CPUs above 0, as 3 or 4.8",
        "a number of GiB above 0, as 62.5",
        "a model's name",
        "a number of iterations per second from 1e-9 to 1e9 (0: it cannot run so)"};
    int t = 0;
    while (names[t] != r->bad)
        t++;
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "column '%s': '%s' is not %s", r->bad,
                     r->bad_text, forms[t]);
}

static bool grow_rows(struct reading *r) {
    uint32_t n = r->rates->n_rows, more = r->capacity ? 2 * r->capacity : 256;
    struct gsim_rate_row *rows =
        gsim_arena_grow(r->arena, r->rows, n * sizeof *rows, more * sizeof *rows);
    uint32_t *beside =
        gsim_arena_grow(r->arena, r->beside, n * sizeof *beside, more * sizeof *beside);
    if (!rows || !beside)
        return false;
    r->rows = rows;
    r->beside = beside;
    r->capacity = more;
    return true;
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct reading *r = arg;
    if (r->status != GSIM_OK)
        return r->status;
    if (r->bad)
        return refuse(r, line);
    if (r->rates->n_rows == MOST_ROWS || r->rates->n_kinds > MOST_NAMES)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "more than %d rows or %d models",
                         MOST_ROWS, MOST_NAMES);
    if (r->rates->n_rows == r->capacity && !grow_rows(r))
        return gsim_no_memory(r->log, "reading a table of speeds");
    r->rates->has_host_memory |= r->next.host.mem_bytes > 0;
    r->next.line = (uint32_t)line;
    r->beside[r->rates->n_rows] = r->next_beside;
    r->rows[r->rates->n_rows++] = r->next;
    r->next = (struct gsim_rate_row){0};
    r->next_beside = GSIM_NO_KIND;
    return GSIM_OK;
}

/* --- compiling -------------------------------------------------------------------------------- */

static int order(const void *left, const void *right) {
    const struct gsim_rate_row *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->nodes != b->nodes)
        return a->nodes < b->nodes ? -1 : 1;
    if (a->gpus != b->gpus)
        return a->gpus < b->gpus ? -1 : 1;
    if (a->host.cpus_milli != b->host.cpus_milli)
        return a->host.cpus_milli < b->host.cpus_milli ? -1 : 1;
    if (a->host.mem_bytes != b->host.mem_bytes)
        return a->host.mem_bytes < b->host.mem_bytes ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Whether two rows are for one place, but for the host. */
static bool are_beside(const struct gsim_rate_row *a, const struct gsim_rate_row *b) {
    return a->kind == b->kind && a->device == b->device && a->nodes == b->nodes &&
           a->gpus == b->gpus;
}

static bool stand_twice(const struct gsim_rate_row *a, const struct gsim_rate_row *b) {
    return are_beside(a, b) && a->host.cpus_milli == b->host.cpus_milli &&
           a->host.mem_bytes == b->host.mem_bytes;
}

/* The model of a row, as an error names it. */
static const char *named(const struct reading *r, uint32_t kind) {
    const struct gsim_rates *rates = r->rates;
    if (kind < rates->n_kinds)
        return rates->kind[kind];
    const struct gsim_rates_pair *pair = &rates->pair[kind - rates->n_kinds];
    const char *text = gsim_arena_printf(r->arena, "%.64s' beside '%.64s", rates->kind[pair->kind],
                                         rates->kind[pair->beside]);
    return text ? text : rates->kind[pair->kind];
}

static enum gsim_status check_rows(const struct reading *r) {
    const struct gsim_rates *rates = r->rates;
    for (uint32_t i = 1; i < rates->n_rows; i++) {
        const struct gsim_rate_row *row = &r->rows[i];
        if (stand_twice(row - 1, row))
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, row->line,
                             "model '%.160s' stands twice for %u GPUs of %s%s: also in line %u",
                             named(r, row->kind), row->gpus, rates->device[row->device],
                             row->nodes ? " and that number of nodes" : "", row[-1].line);
        if (are_beside(row - 1, row) &&
            ((row[-1].host.cpus_milli > 0) != (row->host.cpus_milli > 0) ||
             (row[-1].host.mem_bytes > 0) != (row->host.mem_bytes > 0)))
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, row->line,
                             "of the rows of model '%.160s' for %u GPUs of %s some say %s and "
                             "others do not",
                             named(r, row->kind), row->gpus, rates->device[row->device],
                             (row[-1].host.cpus_milli > 0) != (row->host.cpus_milli > 0)
                                 ? "cpus_per_gpu"
                                 : "host_gib_per_gpu");
    }
    return GSIM_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static int order_of_pairs(const void *left, const void *right) {
    const struct gsim_rates_pair *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->beside == b->beside ? 0 : a->beside < b->beside ? -1 : 1;
}

/* The work of a job is counted by rows of its model alone. */
static enum gsim_status check_alone(const struct reading *r) {
    const struct gsim_rates *rates = r->rates;
    bool *is_alone = gsim_arena_array(r->arena, rates->n_kinds + 1, sizeof *is_alone);
    if (!is_alone)
        return gsim_no_memory(r->log, "reading a table of speeds");
    for (uint32_t i = 0; i < rates->n_rows; i++)
        is_alone[r->rows[i].kind] |= r->beside[i] == GSIM_NO_KIND;
    for (uint32_t i = 0; i < rates->n_rows; i++) {
        bool has_both =
            is_alone[r->rows[i].kind] && (r->beside[i] == GSIM_NO_KIND || is_alone[r->beside[i]]);
        if (!has_both)
            return gsim_fail(
                r->log, GSIM_BAD_INPUT, r->path, r->rows[i].line,
                "model '%.64s' beside another has no row without 'beside', by which "
                "its work would be counted",
                rates->kind[is_alone[r->rows[i].kind] ? r->beside[i] : r->rows[i].kind]);
    }
    return GSIM_OK;
}

/* Gives each model beside another a kind of its own, and its rows that kind. */
static enum gsim_status number_pairs(struct reading *r) {
    struct gsim_rates *rates = r->rates;
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < rates->n_rows; i++)
        n += r->beside[i] != GSIM_NO_KIND;
    struct gsim_rates_pair *pair = gsim_arena_array(r->arena, n + 1, sizeof *pair);
    if (!pair)
        return gsim_no_memory(r->log, "reading a table of speeds");
    n = 0;
    for (uint32_t i = 0; i < rates->n_rows; i++)
        if (r->beside[i] != GSIM_NO_KIND)
            pair[n++] = (struct gsim_rates_pair){r->rows[i].kind, r->beside[i]};
    qsort(pair, n, sizeof *pair, order_of_pairs);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || order_of_pairs(&pair[i - 1], &pair[i]) != 0)
            pair[kept++] = pair[i];
    rates->pair = pair;
    rates->n_pairs = kept;
    for (uint32_t i = 0; i < rates->n_rows; i++)
        if (r->beside[i] != GSIM_NO_KIND)
            r->rows[i].kind = gsim_rates_beside(rates, r->rows[i].kind, r->beside[i]);
    return GSIM_OK;
}

static enum gsim_status compile(struct reading *r) {
    struct gsim_rates *rates = r->rates;
    if (rates->n_rows == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, 0, "a table of speeds without a row");
    enum gsim_status status = check_alone(r);
    if (status == GSIM_OK)
        status = number_pairs(r);
    if (status != GSIM_OK)
        return status;
    qsort(r->rows, rates->n_rows, sizeof *r->rows, order);
    size_t cells = ((size_t)rates->n_kinds + rates->n_pairs) * rates->n_devices;
    uint32_t *first = gsim_arena_array(r->arena, cells + 1, sizeof *first);
    if (!first)
        return gsim_no_memory(r->log, "reading a table of speeds");
    uint32_t row = 0;
    for (size_t cell = 0; cell <= cells; cell++) {
        while (row < rates->n_rows &&
               (size_t)r->rows[row].kind * rates->n_devices + r->rows[row].device < cell)
            row++;
        first[cell] = row;
    }
    rates->first = first;
    rates->rows = r->rows;
    return check_rows(r);
}

enum gsim_status gsim_rates_read(const char *path, struct gsim_arena *arena,
                                 struct gsim_rates **out, struct gsim_log *log) {
    struct reading *r = gsim_arena_alloc(arena, sizeof *r);
    struct gsim_rates *rates = gsim_arena_alloc(arena, sizeof *rates);
    if (!r || !rates)
        return gsim_no_memory(log, "reading a table of speeds");
    rates->path = path;
    *r = (struct reading){
        .arena = arena, .log = log, .path = path, .rates = rates, .next_beside = GSIM_NO_KIND};
    struct gsim_csv_user user = {r, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read_file(path, &user, arena, log);
    if (status == GSIM_OK)
        status = compile(r);
    *out = rates;
    return status;
}

/* --- jobs ------------------------------------------------------------------------------------- */

enum gsim_status gsim_rates_fill(struct gsim_rates *rates, struct gsim_builder *builder,
                                 int64_t line) {
    struct gsim_row *row = &builder->row;
    int64_t model = row->cell[GSIM_COL_MODEL];
    builder->lacking = NULL;
    if (rates && row->cell[GSIM_COL_PHASES] >= 0)
        return gsim_phases_fill(rates, builder, line);
    if (!rates || model < 0)
        return GSIM_OK;
    const char *name = builder->names[GSIM_COL_MODEL].name[model];
    uint32_t kind = gsim_rates_kind(rates, name);
    builder->lacking = kind == GSIM_NO_KIND ? rates->path : NULL;
    if (kind == GSIM_NO_KIND)
        return GSIM_OK;
    uint32_t widest = gsim_rates_widest(rates, kind);
    if (row->gpus > widest)
        return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                         "job '%.64s' asks for %u GPUs; the widest row of model '%.64s' in %s has "
                         "%u",
                         row->id_length ? row->id : "", row->gpus, name, rates->path, widest);
    if (gsim_rates_reference(rates, kind, row->gpus).digits == 0)
        return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                         "job '%.64s': by %s, model '%.64s' cannot run on %u GPUs of any device",
                         row->id_length ? row->id : "", rates->path, name, row->gpus);
    if (row->cell[GSIM_COL_ITERATIONS] < 0)
        return GSIM_OK;
    row->cell[GSIM_COL_GPU_NS] = -1; /* of another device than those of the table */
    row->service_ns = gsim_tempo_time_ns(gsim_rates_reference(rates, kind, row->gpus),
                                         row->cell[GSIM_COL_ITERATIONS]);
    if (row->service_ns >= 0)
        return GSIM_OK;
    return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                     "column 'iterations': by its row in %s the job lasts past the end of the "
                     "clock (146 years)",
                     rates->path);
}

const char *gsim_rates_name(const struct gsim_rates *rates, const struct gsim_trace *trace,
                            struct gsim_arena *arena) {
    uint32_t n = 0, first = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_rates_of_job(trace, job) == GSIM_NO_KIND && n++ == 0)
            first = job;
    if (n == 0)
        return NULL;
    const char *text = gsim_arena_printf(
        arena, "rates=own columns (%u of %u jobs have no row in %s; the first is '%s')", n,
        trace->n_jobs, rates->path, gsim_trace_id(trace, first));
    return text ? text : "rates=own columns";
}
