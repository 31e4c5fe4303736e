/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/nsight.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

struct nsight {
    struct gsim_timeline *timeline;
    sqlite3 *db;
    uint32_t n_ranges; /* iterations, and the begin of the last one */
    int64_t last_range_ns;
};

/* A query of which each row is a record: begin, end, correlation, stream, blocks, threads,
 * registers, shared bytes, name. */
struct table {
    const char *name;
    enum gsim_timeline_what what;
    bool is_required;
    const char *sql;
};

#define NO_SIZES "0, 0, 0, 0"
/* A wait of the type 3 is for a stream (CUpti_ActivitySynchronizationType). */
static const struct table sync_table = {
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", GSIM_TIMELINE_CALL, false,
    "SELECT r.start, r.end, r.correlationId, max(CASE WHEN y.syncType = 3 THEN y.streamId ELSE -1 "
    "END), " NO_SIZES ", s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = "
    "r.nameId LEFT JOIN CUPTI_ACTIVITY_KIND_SYNCHRONIZATION y ON y.correlationId = "
    "r.correlationId GROUP BY r.rowid ORDER BY r.start"};
static const struct table calls_table = {
    "CUPTI_ACTIVITY_KIND_RUNTIME", GSIM_TIMELINE_CALL, true,
    "SELECT r.start, r.end, r.correlationId, -1, " NO_SIZES ", s.value FROM "
    "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId ORDER BY r.start"};
static const struct table works[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", GSIM_TIMELINE_KERNEL, true,
     "SELECT k.start, k.end, k.correlationId, k.streamId, k.gridX * k.gridY * k.gridZ, k.blockX * "
     "k.blockY * k.blockZ, k.registersPerThread, k.staticSharedMemory + k.dynamicSharedMemory, "
     "s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName ORDER "
     "BY k.start"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", GSIM_TIMELINE_COPY, false,
     "SELECT start, end, correlationId, streamId, " NO_SIZES ", 'Memcpy ' || copyKind FROM "
     "CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", GSIM_TIMELINE_SET, false,
     "SELECT start, end, correlationId, streamId, " NO_SIZES ", 'Memset' FROM "
     "CUPTI_ACTIVITY_KIND_MEMSET ORDER BY start"},
};
static const struct table ranges_table = {
    "NVTX_EVENTS", GSIM_TIMELINE_ITERATION, true,
    "SELECT n.start, n.end, -1, -1, " NO_SIZES ", coalesce(n.text, s.value, '') FROM NVTX_EVENTS n "
    "LEFT JOIN StringIds s ON s.id = n.textId WHERE n.end IS NOT NULL ORDER BY n.start"};

bool gsim_nsight_is_database(const char *path) {
    static const char magic[] = "SQLite format 3";
    char start[sizeof magic];
    FILE *file = fopen(path, "rb");
    bool is_it = file && fread(start, 1, sizeof start, file) == sizeof start &&
                 memcmp(start, magic, sizeof magic) == 0;
    if (file)
        (void)fclose(file);
    return is_it;
}

static enum gsim_status broken(const struct nsight *n) {
    return gsim_fail(n->timeline->log, GSIM_BAD_INPUT, n->timeline->path, 0,
                     "the file cannot be read as a database of Nsight Systems: %s",
                     sqlite3_errmsg(n->db));
}

static bool has_table(const struct nsight *n, const char *name) {
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(n->db, "SELECT 1 FROM sqlite_master WHERE name = ?", -1,
                                  &statement, NULL) == SQLITE_OK &&
               sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    return has;
}

/* Whether the range is an iteration: it has the name that is wanted, as "step", "step 12" or
 * "step_12". */
static bool is_wanted(const struct gsim_timeline *timeline, const char *name) {
    size_t n = timeline->kind ? strlen(timeline->kind) : 0;
    if (!timeline->kind)
        return true;
    if (strncmp(name, timeline->kind, n) != 0)
        return false;
    name += n;
    name += strspn(name, " _#:-");
    return name[strspn(name, "0123456789")] == '\0';
}

static enum gsim_status take_row(struct nsight *n, const struct table *table, sqlite3_stmt *row) {
    const char *name = (const char *)sqlite3_column_text(row, 8);
    int64_t begin_ns = sqlite3_column_int64(row, 0);
    struct gsim_timeline_record record = {.begin_ns = begin_ns,
                                          .dur_ns = sqlite3_column_int64(row, 1) - begin_ns,
                                          .corr = sqlite3_column_int64(row, 2),
                                          .stream = sqlite3_column_int64(row, 3),
                                          .blocks = sqlite3_column_int64(row, 4),
                                          .threads = sqlite3_column_int64(row, 5),
                                          .registers = sqlite3_column_int64(row, 6),
                                          .shared_bytes = sqlite3_column_int64(row, 7),
                                          .what = (uint8_t)table->what};
    if (!name)
        name = "";
    if (table->what == GSIM_TIMELINE_ITERATION && !is_wanted(n->timeline, name))
        return GSIM_OK;
    if (table->what == GSIM_TIMELINE_ITERATION) {
        n->last_range_ns = begin_ns;
        n->n_ranges++;
    }
    return gsim_timeline_add(n->timeline, &record, name, strlen(name));
}

static enum gsim_status read_table(struct nsight *n, const struct table *table) {
    sqlite3_stmt *statement = NULL;
    enum gsim_status status = GSIM_OK;
    int step = SQLITE_DONE;
    if (!has_table(n, table->name) && !table->is_required)
        return GSIM_OK;
    if (!has_table(n, table->name))
        return gsim_fail(
            n->timeline->log, GSIM_BAD_INPUT, n->timeline->path, 0,
            "the database has no table %s: profile with nsys profile --trace=cuda,nvtx, and "
            "with a range of NVTX around each iteration",
            table->name);
    if (sqlite3_prepare_v2(n->db, table->sql, -1, &statement, NULL) != SQLITE_OK)
        return broken(n);
    while (status == GSIM_OK && (step = sqlite3_step(statement)) == SQLITE_ROW)
        status = take_row(n, table, statement);
    if (status == GSIM_OK && step != SQLITE_DONE)
        status = broken(n);
    (void)sqlite3_finalize(statement);
    return status;
}

/* A range that began before another iteration and never ended: its end is not known. One that is
 * the last was cut off with the profile, and is left out, unless it is the only one. */
static enum gsim_status check_ranges(struct nsight *n) {
    static const char sql[] =
        "SELECT n.start, coalesce(n.text, s.value, '') FROM NVTX_EVENTS n LEFT JOIN StringIds s ON "
        "s.id = n.textId WHERE n.end IS NULL AND n.eventType IN (59, 60) ORDER BY n.start";
    sqlite3_stmt *row = NULL;
    enum gsim_status status = GSIM_OK;
    if (sqlite3_prepare_v2(n->db, sql, -1, &row, NULL) != SQLITE_OK)
        return GSIM_OK; /* a file without kinds of events has whole ranges only */
    while (status == GSIM_OK && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 1);
        int64_t begin_ns = sqlite3_column_int64(row, 0);
        if (name && is_wanted(n->timeline, name) &&
            (n->n_ranges == 0 || begin_ns < n->last_range_ns))
            status =
                gsim_fail(n->timeline->log, GSIM_BAD_INPUT, n->timeline->path, 0,
                          "the range of NVTX '%.64s' that begins at %lld ns never ends, and "
                          "%s: each push has a pop",
                          name, (long long)begin_ns,
                          n->n_ranges == 0 ? "no other is an iteration" : "others begin after it");
    }
    (void)sqlite3_finalize(row);
    return status;
}

/* The number that a query gives; 0: the file has no such table or column. */
static int64_t count(const struct nsight *n, const char *sql) {
    sqlite3_stmt *row = NULL;
    int64_t value = 0;
    if (sqlite3_prepare_v2(n->db, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        value = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return value;
}

/* Correlations are each process's own, and a program is of one GPU. */
static enum gsim_status check_kernels(const struct nsight *n) {
    static const struct {
        const char *sql, *what;
    } mixed[] = {{"SELECT count(DISTINCT globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL", "processes"},
                 {"SELECT count(DISTINCT deviceId) FROM CUPTI_ACTIVITY_KIND_KERNEL", "GPUs"}};
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
        int64_t several = count(n, mixed[i].sql);
        if (several > 1)
            return gsim_fail(n->timeline->log, GSIM_BAD_INPUT, n->timeline->path, 0,
                             "the database has kernels of %lld %s; a program is of one process on "
                             "one GPU: profile one rank alone",
                             (long long)several, mixed[i].what);
    }
    int64_t graphs = count(n, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    if (graphs > 0)
        gsim_warn(n->timeline->log, n->timeline->path, 0,
                  "%lld CUDA graphs ran of which the database does not have the kernels, so that "
                  "their time is missing: nsys profile --cuda-graph-trace=node",
                  (long long)graphs);
    return GSIM_OK;
}

/* The GPU of the kernels by its number in the process, else the only kind of GPU that the computer
 * has. */
static void read_gpu(struct nsight *n) {
    static const char *const names[] = {
        "SELECT g.name FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN TARGET_INFO_CUDA_DEVICE d ON "
        "d.cudaId = k.deviceId AND d.pid = k.globalPid >> 24 & 16777215 JOIN TARGET_INFO_GPU g ON "
        "g.id = d.gpuId LIMIT 1",
        "SELECT min(name) FROM TARGET_INFO_GPU HAVING count(DISTINCT name) = 1"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !n->timeline->gpu; i++) {
        sqlite3_stmt *row = NULL;
        if (sqlite3_prepare_v2(n->db, names[i], -1, &row, NULL) == SQLITE_OK &&
            sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0))
            n->timeline->gpu =
                gsim_arena_strdup(n->timeline->arena, (const char *)sqlite3_column_text(row, 0));
        (void)sqlite3_finalize(row);
    }
}

/* Other processes than the one that has the kernels, such as workers that load data, may have calls
 * and ranges, too, with correlations of their own: a view hides them, in the place of its table.
 * The process is the part of a global number above its lowest 24 bits. */
static enum gsim_status keep_process(struct nsight *n) {
    static const char *const numbers[][2] = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"},
                                             {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "globalPid"},
                                             {"CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid"},
                                             {"CUPTI_ACTIVITY_KIND_MEMSET", "globalPid"},
                                             {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid"},
                                             {"NVTX_EVENTS", "globalTid"}};
    char sql[512];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *table = numbers[i][0], *number = numbers[i][1];
        (void)snprintf(sql, sizeof sql,
                       "SELECT EXISTS(SELECT 1 FROM main.%s WHERE %s >> 24 IN (SELECT globalPid >> "
                       "24 FROM CUPTI_ACTIVITY_KIND_KERNEL))",
                       table, number);
        if (count(n, sql) == 0) /* no such column, or none that can be told */
            continue;
        (void)snprintf(sql, sizeof sql,
                       "CREATE TEMP VIEW %s AS SELECT rowid, * FROM main.%s WHERE %s >> 24 = "
                       "(SELECT globalPid >> 24 FROM main.CUPTI_ACTIVITY_KIND_KERNEL)",
                       table, table, number);
        if (sqlite3_exec(n->db, sql, NULL, NULL, NULL) != SQLITE_OK)
            return broken(n);
    }
    return GSIM_OK;
}

static enum gsim_status read_all(struct nsight *n) {
    enum gsim_status status = check_kernels(n);
    if (status == GSIM_OK)
        status = keep_process(n);
    if (status == GSIM_OK)
        status = read_table(n, &ranges_table);
    if (status == GSIM_OK)
        status = check_ranges(n);
    if (status == GSIM_OK)
        status = read_table(n, has_table(n, sync_table.name) ? &sync_table : &calls_table);
    for (size_t i = 0; i < sizeof works / sizeof *works && status == GSIM_OK; i++)
        status = read_table(n, &works[i]);
    read_gpu(n);
    return status;
}

enum gsim_status gsim_nsight_read(struct gsim_timeline *timeline) {
    struct nsight n = {.timeline = timeline};
    enum gsim_status status =
        sqlite3_open_v2(timeline->path, &n.db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
            ? read_all(&n)
            : broken(&n);
    (void)sqlite3_close(n.db);
    return status;
}
