/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /api/v1/query_range and /api/v1/query of Prometheus (prometheus.io/docs, HTTP API):
 *     {"status": "success", "data": {"resultType": "matrix", "result": [
 *         {"metric": {"__name__": "DCGM_FI_DEV_FB_USED", "Hostname": "gpu01", "gpu": "0"},
 *          "values": [[1709251200, "2048"], ...]}, ...]}}
 * A vector has "value": [time, "value"] instead. The label hpc_job of dcgm-exporter is the job. */
#include "traces/prometheus.h"

#include <string.h>

#include "sim/base/text.h"
#include "traces/json.h"

enum { MAX_DEPTH = 64, MAX_LABEL = 256 };
/* Open brackets within a series (those of the file, of data, of result, its own), and within its
 * labels or values. */
enum { IN_SERIES = 4, IN_METRIC = 5 };
enum label { NAME, JOB, HOST, INSTANCE, LABELS };

/* Whether measurements are of jobs is known from the first series with a job; those of idle GPUs
 * may stand before it, and are held back until then. Beyond that many they are of nodes. */
enum { MOST_HELD = 1000000 };
struct held {
    const char *host;
    char time[24], value[24];
    int64_t line;
};

struct prometheus {
    const struct gsim_csv_user *user;
    struct gsim_log *log;
    struct gsim_arena *arena;
    struct held *held;
    uint32_t n_held, held_capacity;
    char held_host[256]; /* of the last one that was held, and its copy */
    const char *held_copy;
    const char *path;
    int depth;
    bool is_in_metric, is_in_values, has_header, is_by_job;
    char label[LABELS][MAX_LABEL]; /* of the series under way */
    char time[32];
    int n_of_pair;
};

static const char *const labels[LABELS] = {[NAME] = "__name__",
                                           [JOB] = "hpc_job|slurm_job_id|job_id|jobid",
                                           [HOST] = "Hostname|hostname|host|node",
                                           [INSTANCE] = "instance"};

static enum gsim_status on_open(void *arg, enum gsim_json_kind kind, const char *key,
                                int64_t line) {
    struct prometheus *p = arg;
    if (p->depth++ == 0 && kind != GSIM_JSON_OBJECT)
        return gsim_fail(p->log, GSIM_BAD_INPUT, p->path, line,
                         "an answer of Prometheus is an object with 'data'");
    if (p->depth == IN_SERIES)
        memset(p->label, 0, sizeof p->label);
    if (p->depth == IN_METRIC) {
        p->is_in_metric = kind == GSIM_JSON_OBJECT && strcmp(key, "metric") == 0;
        p->is_in_values = kind == GSIM_JSON_LIST && gsim_text_choice(key, "values|value") >= 0;
    }
    p->n_of_pair = 0;
    return p->depth > MAX_DEPTH ? gsim_fail(p->log, GSIM_BAD_INPUT, p->path, line,
                                            "more than %d brackets", MAX_DEPTH)
                                : GSIM_OK;
}

static enum gsim_status on_close(void *arg, int64_t line) {
    struct prometheus *p = arg;
    (void)line;
    if (p->depth-- == IN_METRIC)
        p->is_in_metric = p->is_in_values = false;
    return GSIM_OK;
}

static void take_label(struct prometheus *p, const char *key, const char *text) {
    for (int i = 0; i < LABELS; i++)
        if (gsim_text_choice(key, labels[i]) >= 0 && strlen(text) < MAX_LABEL)
            memcpy(p->label[i], text, strlen(text) + 1);
    if (strcmp(key, "instance") == 0)
        p->label[INSTANCE][strcspn(p->label[INSTANCE], ":")] = '\0'; /* gpu01:9400 */
}

static enum gsim_status begin(struct prometheus *p, int64_t line) {
    p->has_header = true;
    p->is_by_job = *p->label[JOB] != '\0';
    if (!*p->label[NAME])
        return gsim_fail(p->log, GSIM_BAD_INPUT, p->path, line,
                         "the series has no label __name__, so that its unit is not known: query "
                         "the metric itself, such as DCGM_FI_DEV_FB_USED");
    const char *names[] = {p->is_by_job ? "job_id" : "hostname", "timestamp", p->label[NAME]};
    return p->user->header(p->user->arg, names, 3, line);
}

static enum gsim_status put_row(struct prometheus *p, const char *name, const char *time,
                                const char *value, size_t length, int64_t line) {
    p->user->field(p->user->arg, 0, name, strlen(name));
    p->user->field(p->user->arg, 1, time, strlen(time));
    p->user->field(p->user->arg, 2, *name ? value : "", *name ? length : 0); /* no job was there */
    return p->user->row(p->user->arg, line);
}

/* Writes the rows that were held back. Where the measurements of an answer name jobs, these rows
 * are of GPUs without one. */
static enum gsim_status put_held(struct prometheus *p) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < p->n_held && status == GSIM_OK; i++) {
        const struct held *h = &p->held[i];
        status =
            put_row(p, p->is_by_job ? "" : h->host, h->time, h->value, strlen(h->value), h->line);
    }
    p->n_held = 0;
    return status;
}

static bool grow_held(struct prometheus *p) {
    uint32_t capacity = p->held_capacity ? 2 * p->held_capacity : 1024;
    struct held *grown =
        gsim_arena_grow(p->arena, p->held, p->n_held * sizeof *grown, capacity * sizeof *grown);
    if (grown) {
        p->held = grown;
        p->held_capacity = capacity;
    }
    return grown != NULL;
}

static enum gsim_status hold(struct prometheus *p, const char *host, const char *value,
                             size_t length, int64_t line) {
    struct held h = {.line = line};
    if (!p->held_copy || strcmp(p->held_host, host) != 0) {
        (void)snprintf(p->held_host, sizeof p->held_host, "%s", host);
        p->held_copy = gsim_arena_strdup(p->arena, host);
    }
    h.host = p->held_copy;
    (void)snprintf(h.time, sizeof h.time, "%.23s", p->time);
    (void)snprintf(h.value, sizeof h.value, "%.*s", (int)(length < 23 ? length : 23), value);
    if (!h.host || (p->n_held == p->held_capacity && !grow_held(p)))
        return gsim_no_memory(p->log, "reading measurements");
    p->held[p->n_held++] = h;
    return GSIM_OK;
}

static enum gsim_status put_pair(struct prometheus *p, const char *value, size_t length,
                                 int64_t line) {
    const char *host = *p->label[HOST] ? p->label[HOST] : p->label[INSTANCE];
    enum gsim_status status = GSIM_OK;
    if (!p->has_header && !*p->label[JOB] && *p->label[NAME] && p->n_held < MOST_HELD)
        return hold(p, host, value, length, line);
    if (!p->has_header)
        status = begin(p, line);
    if (status == GSIM_OK)
        status = put_held(p);
    return status == GSIM_OK
               ? put_row(p, p->is_by_job ? p->label[JOB] : host, p->time, value, length, line)
               : status;
}

/* No series has a job: all are of nodes. */
static enum gsim_status finish(struct prometheus *p) {
    if (!p->has_header && p->n_held == 0)
        return gsim_fail(p->log, GSIM_BAD_INPUT, p->path, 0,
                         "the answer of Prometheus has no series");
    enum gsim_status status = p->has_header ? GSIM_OK : begin(p, p->held[0].line);
    return status == GSIM_OK ? put_held(p) : status;
}

static enum gsim_status on_value(void *arg, enum gsim_json_kind kind, const char *key,
                                 const char *text, size_t length, int64_t line) {
    struct prometheus *p = arg;
    if (p->depth == 1 && strcmp(key, "error") == 0)
        return gsim_fail(p->log, GSIM_BAD_INPUT, p->path, line, "Prometheus answered: %.200s",
                         text);
    if (p->is_in_metric && kind == GSIM_JSON_TEXT)
        take_label(p, key, text);
    if (!p->is_in_values)
        return GSIM_OK;
    if (p->n_of_pair++ == 0) {
        (void)snprintf(p->time, sizeof p->time, "%.31s", text);
        return GSIM_OK;
    }
    return p->n_of_pair == 2 ? put_pair(p, text, length, line) : GSIM_OK;
}

/* The text format of an exporter (prometheus.io/docs, Exposition formats) begins with comments. */
static bool is_exposition(const char *bytes, size_t n) {
    return n > 7 && (memcmp(bytes, "# HELP ", 7) == 0 || memcmp(bytes, "# TYPE ", 7) == 0);
}

enum gsim_status gsim_prometheus_is(struct gsim_input *input, bool *is, struct gsim_log *log) {
    const char *text;
    size_t n;
    enum gsim_status status = gsim_input_peek_text(input, &text, &n, log);
    *is = n > 0 && *text == '{';
    if (is_exposition(text, n))
        return gsim_fail(log, GSIM_BAD_INPUT, gsim_input_path(input), 1,
                         "what an exporter shows (/metrics) is one moment, without its time; ask "
                         "Prometheus for a range: /api/v1/query_range?query=DCGM_FI_DEV_FB_USED");
    return status;
}

enum gsim_status gsim_prometheus_read(struct gsim_input *input, const struct gsim_csv_user *user,
                                      struct gsim_arena *arena, struct gsim_log *log) {
    struct prometheus *p = gsim_arena_alloc(arena, sizeof *p);
    if (!p)
        return gsim_no_memory(log, "reading measurements");
    *p = (struct prometheus){
        .user = user, .log = log, .arena = arena, .path = gsim_input_path(input)};
    struct gsim_json_user events = {
        .arg = p, .open = on_open, .close = on_close, .value = on_value};
    enum gsim_status status = gsim_json_read(input, &events, arena, log);
    return status == GSIM_OK ? finish(p) : status;
}
