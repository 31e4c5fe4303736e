/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns are raw blocks that grow fourfold: a page that holds no job is never touched, and the
 * longer a new block is, the more of it is in large pages. */
#include "traces/build.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/hints.h"
#include "sim/base/sort.h"
#include "traces/service.h"
#include "sim/base/units.h"

enum { FIRST_CAPACITY = 1024, GROWTH = 4 };

void gsim_build_init(struct gsim_builder *builder, const char *path, struct gsim_arena *arena,
                     struct gsim_log *log) {
    *builder = (struct gsim_builder){.arena = arena, .log = log, .path = path};
    builder->fates.arena = arena;
    builder->is_numbered = true;
    builder->last_number = builder->leader_number = -1;
    gsim_build_clear_row(builder);
}

void gsim_build_clear_row(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    row->id_length = 0;
    row->submit_ns = row->service_ns = -1;
    row->gpus = 1;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        row->cell[c] = -1;
    row->cell[GSIM_COL_PRIORITY] = GSIM_EMPTY_PRIORITY;
    for (int i = 0; i < GSIM_ROW_EXTRAS; i++)
        row->extra[i] = -1;
    row->nodes[0] = row->text[0] = '\0';
    row->ran_from_s = row->ran_to_s = row->part_of = -1;
    row->is_beside = false;
    row->drop = row->loss = row->wrong = NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

uint64_t gsim_build_hash(const char *text, size_t length) {
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    return h ^ h >> 29;
}

static bool grow_names(struct gsim_builder *b, enum gsim_column column) {
    uint32_t buckets = b->names_buckets[column] ? b->names_buckets[column] * 2 : 64;
    uint32_t *table = gsim_arena_grow(b->arena, NULL, 0, buckets * sizeof *table);
    const char **name =
        gsim_arena_grow_raw(b->arena, b->names[column].name, buckets / 2 * sizeof *name);
    if (!table || !name)
        return false;
    b->names[column].name = name;
    for (uint32_t i = 0; i < b->names[column].n; i++) {
        uint32_t at = (uint32_t)gsim_build_hash(name[i], strlen(name[i])) & (buckets - 1);
        while (table[at])
            at = (at + 1) & (buckets - 1);
        table[at] = i + 1;
    }
    gsim_arena_drop(b->arena, b->names_table[column]);
    b->names_table[column] = table;
    b->names_buckets[column] = buckets;
    return true;
}

int64_t gsim_build_intern(struct gsim_builder *builder, enum gsim_column column, const char *text,
                          size_t length) {
    struct gsim_names *names = &builder->names[column];
    if (names->n * 2 >= builder->names_buckets[column] && !grow_names(builder, column))
        return -1;
    uint32_t mask = builder->names_buckets[column] - 1;
    uint32_t at = (uint32_t)gsim_build_hash(text, length) & mask;
    for (; builder->names_table[column][at]; at = (at + 1) & mask) {
        uint32_t i = builder->names_table[column][at] - 1;
        if (strncmp(names->name[i], text, length) == 0 && !names->name[i][length])
            return i;
    }
    names->name[names->n] = gsim_arena_strndup(builder->arena, text, length);
    if (!names->name[names->n])
        return -1;
    builder->names_table[column][at] = ++names->n;
    return names->n - 1;
}

/* Numbers the names of a column anew, in the order of the jobs that have them. */
static bool name_jobs(struct gsim_builder *b, enum gsim_column column) {
    struct gsim_names *names = &b->names[column], used = {0};
    int64_t *cell = b->column[column];
    /* 1 + the number of each name */
    uint32_t *place = gsim_arena_grow(b->arena, NULL, 0, names->n * sizeof *place);
    used.name = gsim_arena_grow_raw(b->arena, NULL, names->n * sizeof *used.name);
    if (!place || !used.name)
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        if (cell[i] < 0)
            continue;
        uint32_t *at = &place[cell[i]];
        if (*at == 0) {
            used.name[used.n++] = names->name[cell[i]];
            *at = used.n;
        }
        cell[i] = *at - 1;
    }
    gsim_arena_drop(b->arena, place);
    gsim_arena_drop(b->arena, names->name);
    *names = used;
    return true;
}

bool gsim_build_forget_names(struct gsim_builder *builder) {
    bool is_ok = true;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (builder->column[c] && builder->names[c].n > 0)
            is_ok = is_ok && name_jobs(builder, (enum gsim_column)c);
    return is_ok;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool grow_column(struct gsim_builder *b, void *column_ptr, size_t size, uint32_t capacity) {
    void *column;
    memcpy(&column, column_ptr, sizeof column);
    column = gsim_arena_grow_raw(b->arena, column, capacity * size);
    if (column)
        memcpy(column_ptr, &column, sizeof column);
    return column != NULL;
}

static bool grow_rows(struct gsim_builder *b) {
    uint32_t capacity = b->capacity ? b->capacity * GROWTH : FIRST_CAPACITY;
    bool ok = grow_column(b, &b->submit_ns, sizeof *b->submit_ns, capacity) &&
              grow_column(b, &b->service_ns, sizeof *b->service_ns, capacity) &&
              grow_column(b, &b->gpus, sizeof *b->gpus, capacity) &&
              grow_column(b, &b->id_at, sizeof *b->id_at, capacity);
    if (ok && b->is_irregular)
        ok = grow_column(b, &b->line, sizeof *b->line, capacity);
    if (b->has_column[GSIM_COL_GPU_NS]) /* iterations follow from the duration */
        b->has_column[GSIM_COL_ITERATIONS] = true;
    for (uint8_t c = 0; b->capacity == 0 && c < GSIM_COL_COUNT; c++)
        if (b->has_column[c])
            b->kept[b->n_kept++] = c;
    for (uint8_t k = 0; ok && k < b->n_kept; k++)
        ok = grow_column(b, &b->column[b->kept[k]], sizeof *b->column[0], capacity);
    if (ok)
        b->capacity = capacity;
    return ok;
}

bool gsim_build_late_column(struct gsim_builder *b, enum gsim_column column) {
    if (b->column[column])
        return true;
    if (!grow_column(b, &b->column[column], sizeof *b->column[0], b->capacity))
        return false;
    b->has_column[column] = true;
    b->kept[b->n_kept++] = (uint8_t)column;
    for (uint32_t i = 0; i < b->n; i++)
        b->column[column][i] = -1;
    return true;
}

/* Notes the row's line. After a comment or a blank line between rows each job's line is kept. */
static bool note_line(struct gsim_builder *b, int64_t line) {
    if (b->n == 0)
        b->first_line = line;
    if (!b->is_irregular && line == b->first_line + b->n)
        return true;
    if (!b->is_irregular) {
        b->line = gsim_arena_grow_raw(b->arena, NULL, b->capacity * sizeof *b->line);
        if (!b->line)
            return false;
        for (uint32_t i = 0; i < b->n; i++)
            b->line[i] = (uint32_t)(b->first_line + i);
        b->is_irregular = true;
    }
    b->line[b->n] = (uint32_t)line;
    return true;
}

/* Rising whole numbers without leading zeros cannot repeat, so that duplicates need no search. */
static void note_number(struct gsim_builder *b, const char *id, size_t length) {
    int64_t number = 0;
    bool is_short = length > 0 && length < 18 && (id[0] != '0' || length == 1);
    b->is_numbered = b->is_numbered && is_short && gsim_read_digits(id, &number) == id + length &&
                     number > b->last_number;
    b->last_number = number;
}

static size_t write_number(char *text, uint32_t number) {
    char digits[12];
    size_t n = 0, length;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    length = n;
    while (n > 0)
        *text++ = digits[--n];
    return length;
}

/* Names a row without an id by its number. */
static inline void name_row(struct gsim_builder *b) {
    struct gsim_row *row = &b->row;
    if (row->id_length == 0)
        row->id_length = write_number(row->id, b->n);
    row->id[row->id_length] = '\0';
}

bool gsim_build_room_for_id(struct gsim_builder *b, size_t length) {
    if (b->id_used + length + 1 > b->id_capacity) {
        size_t capacity = b->id_capacity * GROWTH + FIRST_CAPACITY + GSIM_MAX_FIELD_BYTES;
        char *text = gsim_arena_grow_raw(b->arena, b->id_text, capacity);
        if (!text)
            return false;
        b->id_text = text;
        b->id_capacity = capacity;
    }
    return true;
}

static bool add_id(struct gsim_builder *b) {
    struct gsim_row *row = &b->row;
    if (!gsim_build_room_for_id(b, row->id_length))
        return false;
    memcpy(b->id_text + b->id_used, row->id, row->id_length);
    b->id_text[b->id_used + row->id_length] = '\0';
    b->id_at[b->n] = (uint32_t)b->id_used;
    b->id_used += row->id_length + 1;
    note_number(b, row->id, row->id_length);
    return true;
}

/* Reports both numbers, and a remedy. */
static bool refuse_contradiction(struct gsim_builder *b, int64_t line) {
    const struct gsim_row *row = &b->row;
    int64_t described_ns = gsim_service_described(row->cell);
    bool is_long = described_ns >= 0 && described_ns < row->service_ns;
    const char *described = described_ns < 0
                                ? "past the end of the clock"
                                : gsim_arena_printf(b->arena, "%.9g s", (double)described_ns / 1e9);
    (void)gsim_fail(b->log, GSIM_BAD_INPUT, b->path, line,
                    "job '%.64s': duration_s is %.9g s, but iterations (%lld) of gpu_ms (%.9g ms) "
                    "and the host's part come to %s%s; leave out iterations, in the trace or in "
                    "--assume: they follow from duration_s and gpu_ms%s",
                    row->id, (double)row->service_ns / 1e9,
                    (long long)row->cell[GSIM_COL_ITERATIONS],
                    (double)row->cell[GSIM_COL_GPU_NS] / 1e6,
                    described ? described : "another time", is_long ? ", less than a twelfth" : "",
                    is_long ? "; or give the host's time in host_gap_ms" : "");
    return false;
}

/* Derives the iterations of a job with a duration. A profile (app) is looked up later, by the
 * device. */
static bool derive_iterations(struct gsim_builder *b, int64_t line) {
    struct gsim_row *row = &b->row;
    if (row->cell[GSIM_COL_REQUESTS] >= 0 || row->cell[GSIM_COL_APP] >= 0)
        return true;
    if (row->cell[GSIM_COL_ITERATIONS] < 0)
        row->cell[GSIM_COL_ITERATIONS] = gsim_service_iterations(row->cell, row->service_ns);
    else if (!gsim_service_agrees(row->cell, row->service_ns))
        return refuse_contradiction(b, line);
    else if (gsim_service_described(row->cell) < row->service_ns / 3 * 2)
        b->n_gappy++;
    return true;
}

static bool derive_service(struct gsim_builder *b, int64_t line) {
    struct gsim_row *row = &b->row;
    if (row->service_ns >= 0)
        return row->cell[GSIM_COL_GPU_NS] < 0 || derive_iterations(b, line);
    if (row->cell[GSIM_COL_APP] >= 0 || row->cell[GSIM_COL_REQUESTS] >= 0) {
        row->service_ns = 0; /* only a model that has the profile knows the time */
        return true;
    }
    if (row->cell[GSIM_COL_ITERATIONS] < 0 || row->cell[GSIM_COL_GPU_NS] < 0) {
        int64_t model = row->cell[GSIM_COL_MODEL];
        (void)gsim_fail(b->log, GSIM_BAD_INPUT, b->path, line,
                        "job '%.64s'%s%.64s%s has neither duration_s nor iterations and gpu_ms%s%s",
                        row->id, model >= 0 ? " of model '" : "",
                        model >= 0 ? b->names[GSIM_COL_MODEL].name[model] : "",
                        model >= 0 ? "'" : "", b->lacking ? ", and its model no row in " : "",
                        b->lacking ? b->lacking : "");
        return false;
    }
    row->service_ns = gsim_service_described(row->cell);
    if (row->service_ns < 0)
        (void)gsim_fail(b->log, GSIM_BAD_INPUT, b->path, line,
                        "iterations * gpu_ms is past the end of the clock (146 years)");
    return row->service_ns >= 0;
}

bool gsim_build_times(struct gsim_builder *builder, int64_t line) {
    const struct gsim_row *row = &builder->row;
    name_row(builder);
    if (!derive_service(builder, line))
        return false;
    if (row->submit_ns <= GSIM_TIME_MAX / 2 && row->service_ns <= GSIM_TIME_MAX / 2)
        return true;
    (void)gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                    "column '%s': the time lies past the end of the clock (73 years)",
                    row->submit_ns > GSIM_TIME_MAX / 2 ? "submit_s" : "duration_s");
    return false;
}

void gsim_build_drop(struct gsim_builder *builder, int64_t line) {
    builder->row.id[builder->row.id_length] = '\0';
    gsim_fates_add(&builder->fates, GSIM_FATE_LEFT_OUT, line, builder->row.id, builder->row.drop,
                   NULL);
}

void gsim_build_refuse(struct gsim_builder *builder, int64_t line, const char *why) {
    builder->row.id[builder->row.id_length] = '\0';
    if (builder->is_lenient)
        gsim_fates_add(&builder->fates, GSIM_FATE_BAD, line, builder->row.id, why, NULL);
    else
        (void)gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line, "%s", why);
}

void gsim_build_keep(struct gsim_builder *builder, int64_t line) {
    if (builder->row.loss)
        gsim_fates_add(&builder->fates, GSIM_FATE_LESS, line, builder->row.id, builder->row.loss,
                       NULL);
    else if (gsim_rarely(builder->fates.list != NULL))
        gsim_fates_add_job(&builder->fates, line, builder->row.id);
}

enum gsim_status gsim_build_add(struct gsim_builder *builder, int64_t line) {
    struct gsim_row *row = &builder->row;
    if (builder->n >= GSIM_MAX_JOBS || builder->id_used > UINT32_MAX - GSIM_MAX_FIELD_BYTES - 16)
        return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                         "more than %u jobs, or more than 4 GiB of ids", GSIM_MAX_JOBS);
    if (builder->n == builder->capacity && !grow_rows(builder))
        return gsim_no_memory(builder->log, "reading a trace");
    if (!note_line(builder, line) || !add_id(builder))
        return gsim_no_memory(builder->log, "reading a trace");
    uint32_t i = builder->n++;
    builder->submit_ns[i] = row->submit_ns;
    builder->service_ns[i] = row->service_ns;
    builder->gpus[i] = row->gpus;
    builder->is_wide |= row->gpus > 1;
    builder->is_unsorted |= i > 0 && row->submit_ns < builder->submit_ns[i - 1];
    for (uint8_t k = 0; k < builder->n_kept; k++) {
        enum gsim_column c = builder->kept[k];
        bool is_empty = gsim_row_is_empty(row, c);
        builder->column[c][i] = c == GSIM_COL_PRIORITY && is_empty ? 0 : row->cell[c];
        builder->is_used[c] |= !is_empty;
    }
    return GSIM_OK;
}

/* --- the whole trace -------------------------------------------------------------------------- */

int64_t gsim_build_line(const struct gsim_builder *b, uint32_t i) {
    return b->line ? b->line[i] : b->first_line + i;
}

static enum gsim_status set_order(struct gsim_builder *b, struct gsim_trace *out) {
    uint32_t *order = gsim_arena_grow_raw(b->arena, NULL, b->n * sizeof *order);
    if (!order || !gsim_sort_order(b->submit_ns, order, b->n))
        return gsim_no_memory(b->log, "sorting a trace");
    out->order = order;
    return GSIM_OK;
}

/* Time that the row does not explain counts as host time, in which other jobs may use the GPU. */
static void say_what_is_gap(struct gsim_builder *b) {
    if (b->n_gappy > 0)
        gsim_warn(b->log, b->path, 0,
                  "%u of %u jobs last more than 1.5 times as long as their iterations of gpu_ms "
                  "and host_gap_ms; the rest counts as gaps of the host, in which other jobs may "
                  "use the GPU: check gpu_ms, or give host_gap_ms",
                  b->n_gappy, b->n);
}

static bool name_lines(struct gsim_builder *b) {
    if (b->line)
        return true;
    b->line = gsim_arena_grow_raw(b->arena, NULL, b->capacity * sizeof *b->line);
    for (uint32_t i = 0; b->line && i < b->n; i++)
        b->line[i] = (uint32_t)(b->first_line + i);
    b->is_irregular = b->line;
    return b->line;
}

bool gsim_build_take_out(struct gsim_builder *b, const bool *is_out) {
    uint32_t n = 0;
    if (!name_lines(b))
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        if (is_out[i])
            continue;
        b->submit_ns[n] = b->submit_ns[i];
        b->service_ns[n] = b->service_ns[i];
        b->gpus[n] = b->gpus[i];
        b->id_at[n] = b->id_at[i];
        b->line[n] = b->line[i];
        for (uint8_t k = 0; k < b->n_kept; k++)
            b->column[b->kept[k]][n] = b->column[b->kept[k]][i];
        n++;
    }
    b->n = n;
    return true;
}

void gsim_build_look_at_order(struct gsim_builder *b) {
    b->is_unsorted = false;
    for (uint32_t i = 1; i < b->n; i++)
        b->is_unsorted |= b->submit_ns[i] < b->submit_ns[i - 1];
}

/* Times on the calendar become times since the first submission. */
static int64_t start_at_the_first(struct gsim_builder *b) {
    static const enum gsim_column times[] = {GSIM_COL_LOGGED_START_NS, GSIM_COL_LOGGED_END_NS};
    int64_t first = b->submit_ns[0];
    for (uint32_t i = 1; i < b->n; i++)
        first = b->submit_ns[i] < first ? b->submit_ns[i] : first;
    for (uint32_t i = 0; i < b->n; i++)
        b->submit_ns[i] -= first;
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        for (uint32_t i = 0; b->column[times[t]] && i < b->n; i++)
            if (b->column[times[t]][i] >= 0)
                b->column[times[t]][i] -= first;
    return first;
}

static enum gsim_status refuse_empty(struct gsim_builder *b) {
    bool is_all_out = gsim_fates_say(&b->fates, b->path, b->log) > 0;
    return gsim_fail(b->log, GSIM_BAD_INPUT, b->path, 0,
                     is_all_out
                         ? "no job is left"
                         : "the trace has a header but no jobs; each line below it is a job");
}

enum gsim_status gsim_build_finish(struct gsim_builder *builder, const char *format,
                                   struct gsim_trace *out) {
    if (builder->n == 0)
        return refuse_empty(builder);
    uint32_t n_dropped = gsim_fates_say(&builder->fates, builder->path, builder->log);
    const char *dropped = gsim_fates_left_out(&builder->fates, builder->arena);
    say_what_is_gap(builder);
    if (builder->fates.is_failed || !dropped)
        return gsim_no_memory(builder->log, "reading a trace");
    int64_t first_ns = builder->is_absolute ? start_at_the_first(builder) : 0;
    *out = (struct gsim_trace){.path = builder->path,
                               .format = format,
                               .n_jobs = builder->n,
                               .n_dropped = n_dropped,
                               .dropped = dropped,
                               .id_text = builder->id_text,
                               .id_at = builder->id_at,
                               .line = builder->line,
                               .first_line = builder->first_line,
                               .submit_ns = builder->submit_ns,
                               .service_ns = builder->service_ns,
                               .origin_s = builder->is_zoneless ? first_ns / GSIM_NS_PER_S : 0};
    if (builder->is_wide)
        out->gpus = builder->gpus;
    else
        gsim_arena_drop(builder->arena, builder->gpus);
    for (int c = 0; c < GSIM_COL_COUNT; c++) {
        gsim_arena_drop(builder->arena, builder->names_table[c]);
        out->names[c] = builder->names[c];
        if (builder->is_used[c])
            out->column[c] = builder->column[c];
        else
            gsim_arena_drop(builder->arena, builder->column[c]);
    }
    return builder->is_unsorted ? set_order(builder, out) : GSIM_OK;
}
