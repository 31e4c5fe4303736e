/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/ncu.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/units.h"
#include "traces/csv.h"
#include "traces/kernel_name.h"

enum column { NAME, BLOCK, GRID, METRIC, UNIT, VALUE, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {"Kernel Name", "Block Size",  "Grid Size",
                                                    "Metric Name", "Metric Unit", "Metric Value"};
static const char *const metrics[GSIM_NCU_METRICS] = {
    [GSIM_NCU_BYTES] = "dram__bytes.sum", [GSIM_NCU_STORED] = "dram__bytes_write.sum"};

struct reader {
    struct gsim_ncu *out;
    struct gsim_arena *arena;
    struct gsim_log *log;
    int target[GSIM_MAX_FIELD_COLUMNS]; /* column, or -1 */
    char cell[N_COLUMNS][GSIM_MAX_FIELD_BYTES + 1];
};

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct reader *r = arg;
    bool is_there[N_COLUMNS] = {false};
    for (uint32_t i = 0; i < n; i++) {
        r->target[i] = -1;
        for (int c = 0; c < N_COLUMNS; c++)
            if (strcmp(names[i], column_names[c]) == 0)
                r->target[i] = c;
        if (r->target[i] >= 0)
            is_there[r->target[i]] = true;
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (!is_there[c])
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->out->path, line,
                             "no column '%s': this is no output of ncu --csv --metrics %s",
                             column_names[c], metrics[GSIM_NCU_BYTES]);
    return GSIM_OK;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct reader *r = arg;
    if (r->target[column] >= 0)
        memcpy(r->cell[r->target[column]], text, length + 1);
}

static enum gsim_status refuse(const struct reader *r, enum column column, const char *form,
                               int64_t line) {
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->out->path, line, "%s: '%.40s' is not %s",
                     column_names[column], r->cell[column], form);
}

/* Reads "(264, 1, 1)": the product. */
static enum gsim_status take_size(struct reader *r, enum column column, int64_t *out,
                                  int64_t line) {
    const char *p = r->cell[column];
    int64_t product = 1, n = 0;
    while (*(p += strspn(p, "(), "))) {
        int64_t one = 0;
        const char *begin = p;
        for (; isdigit((unsigned char)*p) && one <= INT32_MAX; p++)
            one = 10 * one + (*p - '0');
        if (p == begin || one < 1 || one > INT32_MAX || product > INT64_MAX / one)
            return refuse(r, column, "a size such as (264, 1, 1)", line);
        product *= one;
        n++;
    }
    if (n != 3)
        return refuse(r, column, "a size such as (264, 1, 1)", line);
    *out = product;
    return GSIM_OK;
}

/* Copies a number without the commas between its thousands. A comma of another place is one of a
 * language that writes 9,5 for 9.5. */
static bool copy_number(const char *text, char *out, size_t size) {
    const char *point = strchr(text, '.'), *end = point ? point : text + strlen(text);
    bool has_comma = false;
    size_t n = 0;
    for (const char *p = text; *p && n + 1 < size; p++) {
        if (*p != ',') {
            out[n++] = *p;
            continue;
        }
        size_t next = strcspn(p + 1, ",.");
        if (p > end || next != 3 || p == text || (!has_comma && p - text > 3))
            return false;
        has_comma = true;
    }
    out[n] = '\0';
    return true;
}

/* Reads "1,234.56" in the row's unit; units are powers of 1000. */
static enum gsim_status take_bytes(struct reader *r, int64_t *out, int64_t line) {
    static const char *const units[] = {"byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte"};
    int64_t scale = 1;
    size_t u = 0;
    char text[64];
    while (u < 5 && strcmp(r->cell[UNIT], units[u]) != 0) {
        scale *= 1000;
        u++;
    }
    if (u == 5)
        return refuse(r, UNIT, "byte, Kbyte, Mbyte, Gbyte or Tbyte", line);
    if (copy_number(r->cell[VALUE], text, sizeof text) &&
        gsim_parse_decimal(text, strlen(text), scale, out) == GSIM_PARSE_OK && *out >= 0)
        return GSIM_OK;
    return refuse(r, VALUE, "a number of bytes such as 1,234.5 (LC_ALL=C ncu ...)", line);
}

static enum gsim_status add(struct reader *r, enum gsim_ncu_metric metric, int64_t blocks,
                            int64_t threads, int64_t bytes) {
    struct gsim_ncu *out = r->out;
    uint32_t k = 0;
    while (k < out->n && (out->kernel[k].blocks != blocks || out->kernel[k].threads != threads ||
                          strcmp(out->kernel[k].name, r->cell[NAME]) != 0))
        k++;
    if (k == out->capacity) {
        uint32_t capacity = k ? 2 * k : 64;
        struct gsim_ncu_kernel *grown =
            gsim_arena_grow(r->arena, out->kernel, k * sizeof *grown, capacity * sizeof *grown);
        if (!grown)
            return gsim_no_memory(r->log, "reading the bytes of kernels");
        out->kernel = grown;
        out->capacity = capacity;
    }
    if (k == out->n) {
        const char *name = gsim_arena_strdup(r->arena, r->cell[NAME]);
        if (!name)
            return gsim_no_memory(r->log, "reading the bytes of kernels");
        out->kernel[out->n++] =
            (struct gsim_ncu_kernel){.name = name, .blocks = blocks, .threads = threads};
    }
    out->kernel[k].bytes[metric] += bytes;
    out->kernel[k].n[metric]++;
    out->has[metric] = true;
    return GSIM_OK;
}

static enum gsim_status take_row(struct reader *r, int64_t line) {
    int64_t blocks = 0, threads = 0, bytes = 0;
    int metric = 0;
    while (metric < GSIM_NCU_METRICS && strcmp(r->cell[METRIC], metrics[metric]) != 0)
        metric++;
    if (metric == GSIM_NCU_METRICS)
        return GSIM_OK;
    enum gsim_status status = take_size(r, GRID, &blocks, line);
    if (status == GSIM_OK)
        status = take_size(r, BLOCK, &threads, line);
    if (status == GSIM_OK)
        status = take_bytes(r, &bytes, line);
    return status == GSIM_OK ? add(r, (enum gsim_ncu_metric)metric, blocks, threads, bytes)
                             : status;
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct reader *r = arg;
    enum gsim_status status = take_row(r, line);
    for (int c = 0; c < N_COLUMNS; c++)
        r->cell[c][0] = '\0';
    return status;
}

enum gsim_status gsim_ncu_read(const char *path, struct gsim_arena *arena, struct gsim_ncu *out,
                               struct gsim_log *log) {
    struct reader *r = gsim_arena_alloc(arena, sizeof *r);
    if (!r)
        return gsim_no_memory(log, "reading the bytes of kernels");
    *out = (struct gsim_ncu){.path = path};
    r->out = out;
    r->arena = arena;
    r->log = log;
    /* ncu says what it does in lines that begin with == */
    struct gsim_csv_user user = {r, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read_output(path, '=', &user, arena, log);
    if (status == GSIM_OK && !out->has[GSIM_NCU_BYTES])
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                         "no row has the metric %s: ncu --csv --metrics %s,%s PROGRAM",
                         metrics[GSIM_NCU_BYTES], metrics[GSIM_NCU_BYTES],
                         metrics[GSIM_NCU_STORED]);
    return status;
}

static int64_t mean(const struct gsim_ncu_kernel *sum, enum gsim_ncu_metric metric) {
    int64_t n = sum->n[metric];
    return n > 0 ? (int64_t)((sum->bytes[metric] + n / 2) / n) : -1;
}

/* Counters of two runs of a kernel may say that it stored more than it moved. */
static struct gsim_ncu_traffic traffic_of(const struct gsim_ncu_kernel *sum) {
    struct gsim_ncu_traffic out = {mean(sum, GSIM_NCU_BYTES), mean(sum, GSIM_NCU_STORED)};
    if (out.stored_bytes > out.bytes)
        out.stored_bytes = out.bytes;
    return out;
}

struct gsim_ncu_traffic gsim_ncu_traffic(struct gsim_ncu *ncu, const char *name, int64_t blocks,
                                         int64_t threads) {
    char wanted[GSIM_KERNEL_NAME_SHORT], one[GSIM_KERNEL_NAME_SHORT];
    struct gsim_ncu_kernel sum = {.name = name};
    gsim_kernel_name_shorten(name, wanted);
    for (int is_short = 0; is_short < 2 && !sum.is_matched; is_short++)
        for (uint32_t k = 0; k < ncu->n; k++) {
            struct gsim_ncu_kernel *kernel = &ncu->kernel[k];
            if (kernel->blocks != blocks || kernel->threads != threads)
                continue;
            gsim_kernel_name_shorten(kernel->name, one);
            if (strcmp(is_short ? one : kernel->name, is_short ? wanted : name) != 0)
                continue;
            kernel->is_matched = sum.is_matched = true;
            for (int m = 0; m < GSIM_NCU_METRICS; m++) {
                sum.bytes[m] += kernel->bytes[m];
                sum.n[m] += kernel->n[m];
            }
        }
    return traffic_of(&sum);
}
