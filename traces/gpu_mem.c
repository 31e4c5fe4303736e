/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/gpu_mem.h"
#include "traces/gpu_mem_state.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/calendar.h"
#include "traces/cells.h"
#include "traces/csv.h"
#include "sim/base/hostlist.h"
#include "traces/input.h"
#include "traces/prometheus.h"
#include "sim/base/units.h"

/* --- the file --------------------------------------------------------------------------------- */

static const struct {
    const char *names;
    enum gsim_gpu_mem_target target;
    int64_t unit;
} known[] = {
    {"job_id|jobid|JobID|JobIDRaw|hpc_job|slurm_job_id|job_name", GSIM_GPU_MEM_JOB, 0},
    {"node|host|hostname|Hostname", GSIM_GPU_MEM_NODE, 0},
    {"timestamp|time", GSIM_GPU_MEM_TIME, 0},
    {"memory.used [MiB]|mem_mib|fb_used|DCGM_FI_DEV_FB_USED", GSIM_GPU_MEM_MEMORY, GSIM_MIB},
    /* PAI's column says GB, but its example, 2.3994140625, is a whole number of MiB: 2457 */
    {"mem_gib|max_gpu_wrk_mem", GSIM_GPU_MEM_MEMORY, GSIM_GIB},
    {"memory.used [B]|mem_bytes|max_gpu_memory_used|nvidia_gpu_memory_used_bytes",
     GSIM_GPU_MEM_MEMORY, 1},
    {"nvidia_smi_memory_used_bytes", GSIM_GPU_MEM_MEMORY, 1},
};

/* "job, host, mem", cut where they are many. */
static const char *list_columns(const struct gsim_gpu_mem *g) {
    enum { MOST_SHOWN = 12 };
    const char *list = g->column[0];
    for (uint32_t i = 1; i < g->n_columns && i < MOST_SHOWN && list; i++)
        list = gsim_arena_printf(g->b->arena, "%s, %.60s", list, g->column[i]);
    if (list && g->n_columns > MOST_SHOWN)
        list = gsim_arena_printf(g->b->arena, "%s and %u more", list, g->n_columns - MOST_SHOWN);
    return list ? list : "others";
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct gsim_gpu_mem *g = arg;
    bool has[GSIM_GPU_MEM_MEMORY + 1] = {false};
    g->n_columns = n;
    for (uint32_t i = 0; i < n; i++) {
        g->column[i] = gsim_arena_strdup(g->b->arena, names[i]);
        if (!g->column[i])
            return gsim_no_memory(g->b->log, "reading measured memory");
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            if (gsim_text_choice(names[i], known[k].names) < 0)
                continue;
            if (has[known[k].target])
                return gsim_fail(g->b->log, GSIM_BAD_INPUT, g->path, line,
                                 "column '%s' is of a kind that stands there already", names[i]);
            has[known[k].target] = true;
            g->target[i] = known[k].target;
            g->unit = known[k].unit ? known[k].unit : g->unit;
        }
    }
    g->is_by_job = has[GSIM_GPU_MEM_JOB];
    if (has[GSIM_GPU_MEM_MEMORY] &&
        (has[GSIM_GPU_MEM_JOB] || (has[GSIM_GPU_MEM_NODE] && has[GSIM_GPU_MEM_TIME])))
        return GSIM_OK;
    return gsim_fail(g->b->log, GSIM_BAD_INPUT, g->path, line,
                     "measured memory has a column such as memory.used [MiB] or "
                     "DCGM_FI_DEV_FB_USED, and job_id, or hostname and timestamp; here are %s",
                     list_columns(g));
}

/* Parses 2024/05/31 12:00:00.123 as nvidia-smi writes it, 2024-05-31T12:00:00, or seconds since
 * 1970. */
static bool parse_time(struct gsim_gpu_mem *g, const char *text, size_t length, int64_t *seconds) {
    char date[20] = "";
    int64_t ns;
    for (size_t i = 0; i < length && i < sizeof date - 1; i++)
        date[i] = text[i];
    date[4] = date[4] == '/' ? '-' : date[4];
    date[7] = date[7] == '/' ? '-' : date[7];
    bool is_rest_fraction = length <= 19 || text[19] == '.' || text[19] == 'Z';
    if (is_rest_fraction && gsim_calendar_parse(date, strlen(date), seconds)) {
        *(text[length - 1] == 'Z' ? &g->has_seconds : &g->has_dates) = true;
        return true;
    }
    g->has_seconds = true;
    if (gsim_cell_seconds(text, length, &ns) != GSIM_PARSE_OK || ns < 0)
        return false;
    *seconds = ns / GSIM_NS_PER_S;
    return *seconds < INT64_C(1) << GSIM_GPU_MEM_TIME_BITS;
}

/* Parses "1234", or "1234 MiB" as nvidia-smi writes it without nounits. */
static bool parse_memory(const struct gsim_gpu_mem *g, const char *text, size_t length,
                         int64_t *bytes) {
    if (length > 4 && g->unit == GSIM_MIB && strcmp(text + length - 4, " MiB") == 0)
        length -= 4;
    return gsim_parse_decimal(text, length, g->unit, bytes) == GSIM_PARSE_OK && *bytes >= 0;
}

/* nvidia-smi writes [N/A], [Not Supported], [Unknown Error] or [GPU is lost] for no value. */
static bool is_no_value(const char *text, size_t length) {
    return length == 0 || (text[0] == '[' && text[length - 1] == ']') ||
           gsim_text_choice(text, "N/A|NaN|nan|null") >= 0;
}

static bool parse_field(struct gsim_gpu_mem *g, enum gsim_gpu_mem_target target, const char *text,
                        size_t length) {
    g->is_empty |= target == GSIM_GPU_MEM_MEMORY && is_no_value(text, length);
    if (target == GSIM_GPU_MEM_MEMORY)
        return is_no_value(text, length) || parse_memory(g, text, length, &g->bytes);
    if (target == GSIM_GPU_MEM_TIME)
        return g->is_by_job || parse_time(g, text, length, &g->time_s);
    if (target == (g->is_by_job ? GSIM_GPU_MEM_JOB : GSIM_GPU_MEM_NODE)) {
        g->name = gsim_build_intern(g->names, GSIM_COL_USER, text, length);
        return length > 0 && g->name >= 0 && g->name < INT64_C(1) << (62 - GSIM_GPU_MEM_TIME_BITS);
    }
    return true;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct gsim_gpu_mem *g = arg;
    g->sum = gsim_text_sum(g->sum, text, length);
    g->n_like_header += strcmp(text, g->column[column]) == 0;
    bool fits = parse_field(g, g->target[column], text, length); /* also notes an empty value */
    if (g->is_bad || fits)
        return;
    g->is_bad = true;
    g->bad_column = column;
    (void)snprintf(g->bad_text, sizeof g->bad_text, "%.40s", text);
}

static bool make_room(struct gsim_arena *arena, void *array_ptr, uint32_t n, uint32_t *capacity,
                      size_t size) {
    void *array;
    memcpy(&array, array_ptr, sizeof array);
    if (n < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 1024;
    array = wanted > n ? gsim_arena_grow(arena, array, n * size, wanted * size) : NULL;
    if (!array)
        return false;
    *capacity = wanted;
    memcpy(array_ptr, &array, sizeof array);
    return true;
}

static void leave_out(struct gsim_gpu_mem *g, int64_t line) {
    char why[96];
    (void)snprintf(why, sizeof why, "the column '%.48s' has no measurement",
                   g->column[g->bad_column]);
    gsim_fates_add(&g->fates, GSIM_FATE_BAD, line, "", why, g->bad_text);
}

static bool on_misfit(void *arg, int64_t line, uint32_t n, uint32_t n_columns) {
    struct gsim_gpu_mem *g = arg;
    if (!g->b->is_lenient)
        return false;
    g->is_bad = g->is_empty = false;
    g->n_like_header = 0;
    gsim_fates_add(&g->fates, GSIM_FATE_BAD, line, "",
                   n < n_columns ? "they have fewer fields than the header"
                                 : "they have more fields than the header",
                   NULL);
    return true;
}

static const char *form_of(const struct gsim_gpu_mem *g, enum gsim_gpu_mem_target target) {
    if (target == GSIM_GPU_MEM_TIME)
        return "a date such as 2024-05-31 08:00:00, or seconds since 1970";
    if (target != GSIM_GPU_MEM_MEMORY)
        return "a name";
    return g->unit == GSIM_MIB   ? "a decimal number of MiB, 0 or more"
           : g->unit == GSIM_GIB ? "a decimal number of GiB, 0 or more"
                                 : "a number of bytes, 0 or more";
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct gsim_gpu_mem *g = arg;
    bool is_empty = g->is_empty;
    bool is_header = g->n_like_header == g->n_columns; /* files that were joined by cat */
    bool is_bad = g->is_bad && !is_header;
    g->is_empty = g->is_bad = false;
    g->n_like_header = 0;
    if (is_header || is_empty) {
        gsim_fates_add(&g->fates, GSIM_FATE_LEFT_OUT, line, "",
                       is_header ? "they repeat the header" : "they have no value", NULL);
        return GSIM_OK;
    }
    if (is_bad && g->b->is_lenient) {
        leave_out(g, line);
        return GSIM_OK;
    }
    if (is_bad) {
        return gsim_fail(g->b->log, GSIM_BAD_INPUT, g->path, line,
                         "column '%s': '%s' is no measurement of that kind; accepted: %s",
                         g->column[g->bad_column], g->bad_text,
                         form_of(g, g->target[g->bad_column]));
    }
    if (!make_room(g->b->arena, &g->sample, g->n_samples, &g->samples_capacity, sizeof *g->sample))
        return gsim_no_memory(g->b->log, "reading measured memory");
    int64_t key = g->is_by_job ? g->name : g->name << GSIM_GPU_MEM_TIME_BITS | g->time_s;
    g->sample[g->n_samples++] = (struct gsim_gpu_mem_sample){key, g->bytes};
    return GSIM_OK;
}

/* Slurm calls the host gpu01.cluster.example gpu01. A first label that two nodes
 * have, or that may be a part of an address, stands for none. */
static bool index_labels(struct gsim_gpu_mem *g) {
    const struct gsim_names *names = &g->names->names[GSIM_COL_USER];
    g->alias = gsim_arena_array(g->b->arena, g->n_names + 1, sizeof *g->alias);
    g->is_of_log = gsim_arena_array(g->b->arena, g->n_names + 1, sizeof *g->is_of_log);
    if (!g->alias || !g->is_of_log)
        return false;
    for (uint32_t i = 0; i < g->n_names && !g->is_by_job; i++) {
        size_t length = strcspn(names->name[i], ".");
        if (!names->name[i][length] || strspn(names->name[i], "0123456789") == length)
            continue;
        int64_t label = gsim_build_intern(g->names, GSIM_COL_USER, names->name[i], length);
        if (label < 0)
            return false;
        if (label >= g->n_names) {
            uint32_t at = (uint32_t)label - g->n_names;
            g->alias[at] = at < g->n_aliases ? 0 : i + 1;
            g->n_aliases = at < g->n_aliases ? g->n_aliases : at + 1;
        }
    }
    return true;
}

static enum gsim_status index_jobs(struct gsim_gpu_mem *g) {
    g->n_names = g->names->names[GSIM_COL_USER].n;
    if (!index_labels(g))
        return gsim_no_memory(g->b->log, "reading measured memory");
    g->largest = gsim_arena_array(g->b->arena, g->n_names + 1, sizeof *g->largest);
    if (!g->largest)
        return gsim_no_memory(g->b->log, "reading measured memory");
    for (uint32_t i = 0; i < g->n_names; i++)
        g->largest[i] = -1;
    for (uint32_t i = 0; g->is_by_job && i < g->n_samples; i++)
        if (g->sample[i].bytes > g->largest[g->sample[i].key])
            g->largest[g->sample[i].key] = g->sample[i].bytes;
    return GSIM_OK;
}

static enum gsim_status read_rows(const char *path, const struct gsim_csv_user *user,
                                  struct gsim_builder *builder) {
    struct gsim_input *input = NULL;
    bool is_json = false;
    enum gsim_status status = gsim_input_open(path, builder->arena, &input, builder->log);
    if (status == GSIM_OK)
        status = gsim_prometheus_is(input, &is_json, builder->log);
    if (status == GSIM_OK)
        status = is_json ? gsim_prometheus_read(input, user, builder->arena, builder->log)
                         : gsim_csv_read(input, user, builder->arena, builder->log);
    gsim_input_close(input);
    return status;
}

enum gsim_status gsim_gpu_mem_read(struct gsim_builder *builder, const char *path,
                                   struct gsim_gpu_mem **out) {
    struct gsim_gpu_mem *g = gsim_arena_alloc(builder->arena, sizeof *g);
    struct gsim_builder *names = gsim_arena_alloc(builder->arena, sizeof *names);
    *out = g;
    if (!g || !names)
        return gsim_no_memory(builder->log, "reading measured memory");
    gsim_build_init(names, path, builder->arena, builder->log);
    g->b = builder;
    g->names = names;
    g->path = gsim_input_name(path);
    g->sum = GSIM_TEXT_SUM;
    g->fates.arena = builder->arena;
    struct gsim_csv_user user = {g, on_header, on_field, on_row, on_misfit};
    enum gsim_status status = read_rows(path, &user, builder);
    builder->has_column[GSIM_COL_MEM_BYTES] = true;
    (void)gsim_fates_say(&g->fates, path, builder->log);
    return status == GSIM_OK ? index_jobs(g) : status;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static bool add_stay(void *arg, const char *node, size_t length) {
    struct gsim_gpu_mem *g = arg;
    const struct gsim_row *row = &g->b->row;
    int64_t name = gsim_build_intern(g->names, GSIM_COL_USER, node, length);
    if (name < 0 ||
        !make_room(g->b->arena, &g->stay, g->n_stays, &g->stays_capacity, sizeof *g->stay))
        return false;
    if (name >= g->n_names && name - g->n_names < g->n_aliases && g->alias[name - g->n_names])
        name = g->alias[name - g->n_names] - 1;
    if (name < g->n_names) { /* a node with measurements */
        g->is_of_log[name] = true;
        g->stay[g->n_stays++] = (struct gsim_gpu_mem_stay){
            name << GSIM_GPU_MEM_TIME_BITS | row->ran_from_s, row->ran_to_s, g->of_stay};
    }
    return true;
}

static enum gsim_status note_stay(struct gsim_gpu_mem *g, int64_t line) {
    const struct gsim_row *row = &g->b->row;
    if (g->b->n >= g->given_capacity &&
        !make_room(g->b->arena, &g->is_given, g->b->n, &g->given_capacity, sizeof *g->is_given))
        return gsim_no_memory(g->b->log, "joining measured memory");
    g->is_given[g->b->n] = row->cell[GSIM_COL_MEM_BYTES] >= 0;
    g->of_stay = g->b->n;
    if (!*row->nodes || row->ran_from_s < 0 || row->ran_to_s < row->ran_from_s)
        return GSIM_OK;
    if (gsim_hostlist_each(row->nodes, add_stay, g))
        return GSIM_OK;
    if (g->b->is_lenient)
        return GSIM_OK; /* no sample is joined */
    return gsim_fail(g->b->log, GSIM_BAD_INPUT, g->b->path, line,
                     "job '%.64s': '%.64s' is no list of nodes such as gpu[01-03,7],login1",
                     row->id, row->nodes);
}

enum gsim_status gsim_gpu_mem_pass(struct gsim_gpu_mem *g, struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    if (!g || g->is_by_job || !(row->is_beside || row->part_of >= 0) || !*row->nodes ||
        row->ran_from_s < 0)
        return GSIM_OK;
    g->of_stay = row->part_of >= 0 ? (uint32_t)row->part_of : GSIM_GPU_MEM_NO_JOB;
    if (row->ran_to_s < 0)
        row->ran_to_s = INT64_MAX;
    if (row->ran_to_s >= row->ran_from_s)
        (void)gsim_hostlist_each(row->nodes, add_stay, g); /* of no list no node is known */
    return gsim_arena_has_failed(builder->arena)
               ? gsim_no_memory(builder->log, "joining measured memory")
               : GSIM_OK;
}

enum gsim_status gsim_gpu_mem_fill(struct gsim_gpu_mem *measured, struct gsim_builder *builder,
                                   int64_t line) {
    if (!measured)
        return GSIM_OK;
    if (!measured->is_by_job)
        return note_stay(measured, line);
    struct gsim_row *row = &builder->row;
    int64_t name = gsim_build_intern(measured->names, GSIM_COL_USER, row->id, row->id_length);
    if (name < 0)
        return gsim_no_memory(builder->log, "joining measured memory");
    if (row->cell[GSIM_COL_MEM_BYTES] >= 0 || name >= measured->n_names ||
        measured->largest[name] < 0)
        return GSIM_OK;
    row->cell[GSIM_COL_MEM_BYTES] = measured->largest[name];
    measured->n_jobs++;
    return GSIM_OK;
}

const char *gsim_gpu_mem_name(const struct gsim_gpu_mem *measured) {
    if (!measured || measured->n_jobs == 0)
        return NULL;
    const char *name =
        gsim_arena_printf(measured->b->arena, "gpu-mem=%s %08x", measured->path, measured->sum);
    return name ? name : "gpu-mem";
}
