/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws of a timeline: spans of a row, of jobs or of kernels, follow each other, and so do the
 * slices of a job on a GPU, a gang is on all of its GPUs at once, a GPU that is not shared has one
 * job, and no GPU holds more memory than it has. A timeline writes the spans of a gang's GPUs
 * before the span of the job that they are parts of (timeline.c). */
#include <stdlib.h>
#include <string.h>

#include "gsim/observe.h"
#include "sim/app/check/written.h"
#include "sim/base/text.h"
#include "traces/chrome_event.h"

enum { PID_JOBS = 1, PID_FIRST_GPU = 10, ROWS_OF_A_KIND = 1000000 };
/* Rows of streams come after those of the kinds of spans (timeline.c). */
enum { STREAM_ROWS = (GSIM_SPAN_COUNT + 1) * ROWS_OF_A_KIND };

/* Before a job's name, in the name of the counter of its memory on a GPU. */
static const char RESIDENT[] = "resident: ";

/* A job as the timeline shows it. */
struct shown {
    uint32_t n_gpus; /* of its spans on GPUs since its last own span */
    int64_t begin_ns, end_ns; /* of these */
    bool is_split; /* they are not at one time */
    bool is_there; /* it had an own span */
    int64_t until_ns; /* the end of the last one */
};

/* An end (before) or a begin of a span on a GPU, of this part of it. */
struct edge {
    int64_t time_ns;
    uint32_t gpu;
    int32_t ppm;
};

/* The memory of a job on a GPU. */
struct held {
    uint32_t job;
    int64_t bytes;
};
/* The end of the last slice that a job had on a GPU. */
struct slice_end {
    uint32_t gpu;
    int64_t ns;
};

/* Of a job on each GPU on which it had any. */
struct slice_ends {
    struct slice_end *list;
    uint32_t n, capacity;
};

/* The end of the last span of each row. */
struct row_ends {
    int64_t *ns;
    uint32_t n;
};

struct gpu {
    struct held *held;
    uint32_t n, capacity;
    int64_t bytes, since_ns; /* their sum, and when it was last changed */
    struct row_ends jobs, streams; /* of the rows of jobs, and of streams of programs */
};

struct event {
    struct gsim_chrome_event chrome;
    int64_t pid, tid, bytes;
    char phase;
    char job[GSIM_MAX_FIELD_BYTES + 1];
};

struct timeline {
    struct gsim_written *w;
    enum gsim_chrome_place place[GSIM_CHROME_DEPTH];
    int depth;
    struct event event;
    const struct gsim_written_job **by_id;
    struct shown *shown; /* by job */
    struct slice_ends *slices; /* by job */
    struct gpu *gpus;
    uint32_t n_gpus;
    struct edge *edges;
    size_t n_edges, capacity;
    bool is_cut; /* it was full: the last instant may be there in part */
    bool has_odd_ids; /* ids that are no UTF-8 are written in another way */
};

/* --- jobs by name ----------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b) {
    return strcmp((*(const struct gsim_written_job *const *)a)->id,
                  (*(const struct gsim_written_job *const *)b)->id);
}

static bool is_odd(const char *text) {
    for (int n; *text; text += n)
        if ((n = gsim_text_utf8_length(text)) == 0)
            return true;
    return false;
}

static bool index_jobs(struct timeline *t) {
    uint32_t n = t->w->n_jobs;
    t->by_id = gsim_arena_array(t->w->arena, n + 1, sizeof *t->by_id);
    t->shown = gsim_arena_array(t->w->arena, n + 1, sizeof *t->shown);
    t->slices = gsim_arena_array(t->w->arena, n + 1, sizeof *t->slices);
    if (!t->by_id || !t->shown || !t->slices)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        t->by_id[i] = &t->w->jobs[i];
        t->has_odd_ids |= is_odd(t->w->jobs[i].id);
    }
    if (n > 0)
        qsort(t->by_id, n, sizeof *t->by_id, compare_ids);
    return true;
}

/* UINT32_MAX: the rows are not known, or have no job of that name. */
static uint32_t find_job(const struct timeline *t, const char *id) {
    struct gsim_written_job wanted = {.id = id};
    const struct gsim_written_job *key = &wanted, *const *found = NULL;
    if (t->w->n_jobs > 0)
        found = bsearch(&key, t->by_id, t->w->n_jobs, sizeof *t->by_id, compare_ids);
    return found ? (uint32_t)(*found - t->w->jobs) : UINT32_MAX;
}

static enum gsim_status unknown(const struct timeline *t, const char *id) {
    return !t->w->has_jobs || t->has_odd_ids
               ? GSIM_OK
               : gsim_written_broken(t->w, "job '%s' of the timeline is none of the run", id);
}

/* --- spans ------------------------------------------------------------------------------------ */

static struct gpu *gpu_of(struct timeline *t, uint32_t gpu) {
    if (gpu >= t->n_gpus) {
        struct gpu *grown = gsim_arena_grow(t->w->arena, t->gpus, t->n_gpus * sizeof *grown,
                                            (gpu + 1) * sizeof *grown);
        if (!grown)
            return NULL;
        t->gpus = grown;
        t->n_gpus = gpu + 1;
    }
    return &t->gpus[gpu];
}

static bool add_edges(struct timeline *t, uint32_t gpu, int32_t ppm) {
    if (t->n_edges + 2 > t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 1024;
        struct edge *grown = gsim_arena_grow_raw(t->w->arena, t->edges, capacity * sizeof *grown);
        if (!grown)
            return false;
        t->edges = grown;
        t->capacity = capacity;
    }
    const struct gsim_chrome_event *e = &t->event.chrome;
    t->edges[t->n_edges++] = (struct edge){e->begin_ns, gpu, ppm};
    t->edges[t->n_edges++] = (struct edge){e->begin_ns + e->dur_ns, gpu, -ppm};
    return true;
}

/* Spans come in the order in which they end. */
static enum gsim_status follow_row(struct timeline *t, const struct gpu *gpu, struct row_ends *rows,
                                   uint32_t row) {
    const struct gsim_chrome_event *e = &t->event.chrome;
    if (row >= rows->n) {
        int64_t *grown = gsim_arena_grow(t->w->arena, rows->ns, rows->n * sizeof *grown,
                                         (row + 1) * sizeof *grown);
        if (!grown)
            return gsim_no_memory(t->w->log, "checking");
        rows->ns = grown;
        rows->n = row + 1;
    }
    if (e->begin_ns < rows->ns[row])
        return gsim_written_broken(t->w,
                                   "GPU %u, row %u: the span of '%s' begins %lld ns before "
                                   "the one before it ends",
                                   (uint32_t)(gpu - t->gpus), row, e->name,
                                   (long long)(rows->ns[row] - e->begin_ns));
    rows->ns[row] = e->begin_ns + e->dur_ns;
    return GSIM_OK;
}

static enum gsim_status take_gpu_span(struct timeline *t) {
    const struct gsim_chrome_event *e = &t->event.chrome;
    struct gpu *gpu = gpu_of(t, (uint32_t)(t->event.pid - PID_FIRST_GPU));
    if (!gpu)
        return gsim_no_memory(t->w->log, "checking");
    enum gsim_status status = follow_row(t, gpu, &gpu->jobs, (uint32_t)t->event.tid);
    uint32_t job = find_job(t, e->name);
    if (status != GSIM_OK || job == UINT32_MAX)
        return status == GSIM_OK ? unknown(t, e->name) : status;
    struct shown *shown = &t->shown[job];
    int64_t end_ns = e->begin_ns + e->dur_ns;
    shown->is_split |=
        shown->n_gpus > 0 && (shown->begin_ns != e->begin_ns || shown->end_ns != end_ns);
    shown->begin_ns = e->begin_ns;
    shown->end_ns = end_ns;
    shown->n_gpus++;
    int64_t ppm = t->w->jobs[job].value[GSIM_WRITTEN_GPUS_PPM];
    bool is_fine =
        add_edges(t, (uint32_t)(gpu - t->gpus), (int32_t)(ppm < GSIM_PPM ? ppm : GSIM_PPM));
    return is_fine ? GSIM_OK : gsim_no_memory(t->w->log, "checking");
}

/* A stream runs one kernel at a time. */
static enum gsim_status take_kernel(struct timeline *t) {
    struct gpu *gpu = gpu_of(t, (uint32_t)(t->event.pid - PID_FIRST_GPU));
    if (!gpu)
        return gsim_no_memory(t->w->log, "checking");
    bool is_known = find_job(t, t->event.job) != UINT32_MAX;
    enum gsim_status status = is_known ? GSIM_OK : unknown(t, t->event.job);
    return status == GSIM_OK
               ? follow_row(t, gpu, &gpu->streams, (uint32_t)(t->event.tid - STREAM_ROWS))
               : status;
}

static struct slice_end *slice_end_of(struct timeline *t, uint32_t job, uint32_t gpu) {
    struct slice_ends *ends = &t->slices[job];
    for (uint32_t i = 0; i < ends->n; i++)
        if (ends->list[i].gpu == gpu)
            return &ends->list[i];
    struct slice_end *grown =
        gsim_arena_room(t->w->arena, ends->list, ends->n, &ends->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    ends->list = grown;
    ends->list[ends->n] = (struct slice_end){.gpu = gpu, .ns = INT64_MIN};
    return &ends->list[ends->n++];
}

/* A job has the SMs of a GPU once at a time. Slices that overlap lie in rows of their own. */
static enum gsim_status take_slice(struct timeline *t) {
    const struct gsim_chrome_event *e = &t->event.chrome;
    uint32_t job = find_job(t, e->name), gpu = (uint32_t)(t->event.pid - PID_FIRST_GPU);
    if (job == UINT32_MAX)
        return unknown(t, e->name);
    struct slice_end *last = slice_end_of(t, job, gpu);
    if (!last)
        return gsim_no_memory(t->w->log, "checking");
    if (e->begin_ns < last->ns)
        return gsim_written_broken(t->w, "job '%s' has a second slice of GPU %u at %.9f s", e->name,
                                   gpu, (double)e->begin_ns / 1e9);
    last->ns = e->begin_ns + e->dur_ns;
    return GSIM_OK;
}

/* A job that runs is on as many GPUs as it asks for, from the begin of the span to its end. */
static enum gsim_status hold_gang(struct timeline *t, const struct gsim_written_job *job,
                                  const struct shown *shown) {
    const struct gsim_chrome_event *e = &t->event.chrome;
    int64_t ppm = job->value[GSIM_WRITTEN_GPUS_PPM], gpus = ppm < GSIM_PPM ? 1 : ppm / GSIM_PPM;
    bool is_running = strcmp(e->category, "running") == 0;
    bool is_together = !shown->is_split && shown->begin_ns == e->begin_ns &&
                       shown->end_ns == e->begin_ns + e->dur_ns;
    if (shown->n_gpus > 0 && !is_together)
        return gsim_written_broken(t->w, "job '%s' was %s on its GPUs at different times", job->id,
                                   e->category);
    bool is_whole = shown->n_gpus == gpus || t->w->is_resized;
    if (shown->n_gpus > 0 ? is_whole : !is_running || t->n_gpus == 0)
        return GSIM_OK;
    return gsim_written_broken(t->w, "job '%s' was %s on %u GPUs at %.9f s and asks for %lld",
                               job->id, e->category, shown->n_gpus, (double)e->begin_ns / 1e9,
                               (long long)gpus);
}

static enum gsim_status take_job_span(struct timeline *t) {
    const struct gsim_chrome_event *e = &t->event.chrome;
    uint32_t index = find_job(t, t->event.job);
    if (index == UINT32_MAX)
        return unknown(t, t->event.job);
    const struct gsim_written_job *job = &t->w->jobs[index];
    struct shown *shown = &t->shown[index];
    const int64_t *v = job->value;
    int64_t end_ns = e->begin_ns + e->dur_ns;
    if (shown->is_there && shown->until_ns != e->begin_ns)
        return gsim_written_broken(t->w, "job '%s' has no state, or two, at %.9f s", job->id,
                                   (double)shown->until_ns / 1e9);
    if (e->begin_ns < v[GSIM_WRITTEN_SUBMIT] ||
        (v[GSIM_WRITTEN_END] >= 0 && end_ns > v[GSIM_WRITTEN_END]))
        return gsim_written_broken(t->w, "job '%s' is shown before its submission or after its end",
                                   job->id);
    enum gsim_status status = hold_gang(t, job, shown);
    *shown = (struct shown){.is_there = true, .until_ns = end_ns};
    return status;
}

/* --- memory ----------------------------------------------------------------------------------- */

static enum gsim_status hold_memory(struct timeline *t, struct gpu *gpu) {
    uint32_t g = (uint32_t)(gpu - t->gpus);
    int64_t has = g < t->w->n_gpus ? t->w->gpus[g].hbm_bytes : -1;
    if (has < 0 || gpu->bytes <= has)
        return GSIM_OK;
    return gsim_written_broken(t->w, "GPU %u holds %lld bytes at %.9f s and has %lld", g,
                               (long long)gpu->bytes, (double)gpu->since_ns / 1e9, (long long)has);
}

static struct held *held_of(struct timeline *t, struct gpu *gpu, uint32_t job) {
    for (uint32_t i = 0; i < gpu->n; i++)
        if (gpu->held[i].job == job)
            return &gpu->held[i];
    struct held *grown =
        gsim_arena_room(t->w->arena, gpu->held, gpu->n, &gpu->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    gpu->held = grown;
    gpu->held[gpu->n] = (struct held){.job = job};
    return &gpu->held[gpu->n++];
}

/* What a GPU holds at an instant is what it holds when the instant is over. */
static enum gsim_status take_resident(struct timeline *t) {
    const struct gsim_chrome_event *e = &t->event.chrome;
    struct gpu *gpu = gpu_of(t, (uint32_t)(t->event.pid - PID_FIRST_GPU));
    uint32_t job = find_job(t, e->name + sizeof RESIDENT - 1);
    if (!gpu)
        return gsim_no_memory(t->w->log, "checking");
    if (job == UINT32_MAX)
        return unknown(t, e->name);
    enum gsim_status status = gpu->since_ns < e->begin_ns ? hold_memory(t, gpu) : GSIM_OK;
    struct held *held = held_of(t, gpu, job);
    if (!held)
        return gsim_no_memory(t->w->log, "checking");
    gpu->bytes += t->event.bytes - held->bytes;
    gpu->since_ns = e->begin_ns;
    held->bytes = t->event.bytes;
    if (held->bytes == 0)
        *held = gpu->held[--gpu->n];
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum gsim_status end_event(struct timeline *t) {
    const struct event *e = &t->event;
    t->w->n_spans++;
    bool is_span = e->phase == 'X' && e->chrome.dur_ns >= 0;
    if (is_span && e->pid >= PID_FIRST_GPU && e->tid < ROWS_OF_A_KIND)
        return take_gpu_span(t);
    if (is_span && e->pid >= PID_FIRST_GPU && e->tid >= STREAM_ROWS &&
        strcmp(e->chrome.category, "kernel") == 0)
        return take_kernel(t);
    if (is_span && e->pid >= PID_FIRST_GPU && strcmp(e->chrome.category, "slice") == 0)
        return take_slice(t);
    if (is_span && e->pid == PID_JOBS)
        return take_job_span(t);
    bool is_memory = e->phase == 'C' && e->pid >= PID_FIRST_GPU && e->bytes >= 0;
    return is_memory && strncmp(e->chrome.name, RESIDENT, sizeof RESIDENT - 1) == 0
               ? take_resident(t)
               : GSIM_OK;
}

static enum gsim_status open_bracket(void *arg, enum gsim_json_kind kind, const char *key,
                                     int64_t line) {
    struct timeline *t = arg;
    (void)line;
    enum gsim_chrome_place inside = gsim_chrome_inside(t->place[t->depth], kind, key);
    t->place[++t->depth] = inside;
    if (inside == GSIM_CHROME_EVENT) {
        gsim_chrome_event_begin(&t->event.chrome);
        t->event.pid = t->event.tid = t->event.bytes = -1;
        t->event.phase = '\0';
        t->event.job[0] = '\0';
    }
    return GSIM_OK;
}

static enum gsim_status close_bracket(void *arg, int64_t line) {
    struct timeline *t = arg;
    (void)line;
    return t->place[t->depth--] == GSIM_CHROME_EVENT ? end_event(t) : GSIM_OK;
}

static enum gsim_status take_event_value(void *arg, enum gsim_json_kind kind, const char *key,
                                         const char *text, size_t length, int64_t line) {
    struct timeline *t = arg;
    struct event *e = &t->event;
    t->is_cut |= strcmp(key, "events_left_out") == 0;
    if (t->place[t->depth] == GSIM_CHROME_ARGS && strcmp(key, "job") == 0)
        memcpy(e->job, text, length + 1);
    if (t->place[t->depth] == GSIM_CHROME_ARGS && strcmp(key, "bytes") == 0)
        gsim_chrome_number(kind, text, &e->bytes);
    if (t->place[t->depth] != GSIM_CHROME_EVENT)
        return GSIM_OK;
    if (strcmp(key, "pid") == 0)
        gsim_chrome_number(kind, text, &e->pid);
    if (strcmp(key, "tid") == 0)
        gsim_chrome_number(kind, text, &e->tid);
    if (strcmp(key, "ph") == 0)
        e->phase = *text;
    return gsim_chrome_event_take(&e->chrome, kind, key, text, length, t->w->path, line, t->w->log);
}

/* --- when all spans are known ----------------------------------------------------------------- */

/* Ends come before begins at one time. */
static int compare_edges(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->ppm > y->ppm) - (x->ppm < y->ppm);
}

static enum gsim_status hold_exclusive(struct timeline *t) {
    int64_t ppm = 0;
    qsort(t->edges, t->n_edges, sizeof *t->edges, compare_edges);
    for (size_t i = 0; i < t->n_edges; i++) {
        ppm += t->edges[i].ppm;
        if (ppm > GSIM_PPM)
            return gsim_written_broken(t->w, "jobs held more than all of GPU %u at %.9f s",
                                       t->edges[i].gpu, (double)t->edges[i].time_ns / 1e9);
    }
    return GSIM_OK;
}

static enum gsim_status hold_end(struct timeline *t) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t gpu = 0; gpu < t->n_gpus && status == GSIM_OK && !t->is_cut; gpu++)
        status = hold_memory(t, &t->gpus[gpu]);
    bool is_exclusive = t->w->has_policy && !t->w->is_shared && t->n_edges > 0;
    return status == GSIM_OK && is_exclusive ? hold_exclusive(t) : status;
}

enum gsim_status gsim_written_check_timeline(struct gsim_written *w, const char *path) {
    struct timeline *t = gsim_arena_alloc(w->arena, sizeof *t);
    struct gsim_input *input;
    w->path = path;
    if (!t)
        return gsim_no_memory(w->log, "checking");
    t->w = w;
    struct gsim_json_user user = {t, open_bracket, close_bracket, take_event_value, true};
    enum gsim_status status = index_jobs(t) ? GSIM_OK : gsim_no_memory(w->log, "checking");
    if (status == GSIM_OK)
        status = gsim_input_open(path, w->arena, &input, w->log);
    if (status != GSIM_OK)
        return status;
    status = gsim_json_read(input, &user, w->arena, w->log);
    gsim_input_close(input);
    return status == GSIM_OK ? hold_end(t) : status;
}
