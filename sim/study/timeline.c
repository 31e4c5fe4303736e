/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the timeline of a run. A span is written when it ends, so that memory does not grow with
 * the run; rows get their names at the end, when their number is known. */
#define _POSIX_C_SOURCE 200809L
#include "sim/study/timeline.h"
#include "sim/study/outfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/study/occupancy.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

enum { PID_JOBS = 1, PID_CLUSTER = 2, PID_FIRST_GPU = 10 };
/* Numbers of a GPU's rows: those of jobs come first, then the kinds of spans that models report,
 * and the streams of programs. */
enum { ROWS_OF_A_KIND = 1000000 };

/* The state that a row shows: that of a job of the trace, or that of a lane of a GPU. */
struct lane {
    int64_t since_ns; /* begin of the present state */
    uint8_t state; /* enum gsim_state */
    bool is_moving;
};

/* The rows of one kind of a GPU: for each, the end of its last span. */
struct rows {
    int64_t *end_ns;
    uint32_t n;
};

/* A row of a GPU: a stream of a job's program. */
struct stream {
    uint32_t gpu, job, row; /* number of the row, of the GPU's */
    uint16_t number;
};

struct gpu {
    struct lane *lanes;
    uint32_t n_lanes;
    struct rows spans[GSIM_SPAN_COUNT];
    struct stream *streams;
    uint32_t n_streams;
};

/* The SMs of a job's kernel. */
struct level {
    int64_t at_ns, sms, blocks; /* blocks -1: not known */
};

/* The kernel of a job that was told last: its parts make one span. */
struct kernel {
    struct gsim_span span;
    bool is_open;
    int64_t most_blocks; /* at one time */
    struct level now, written; /* its present SMs; the counters as last written */
    uint32_t gpu;
    struct stream *streams; /* the rows of the job */
    uint32_t n_streams;
};

struct gsim_run_timeline {
    struct gsim_observer observer;
    struct gsim_timeline_options options;
    struct gsim_arena *arena;
    struct gsim_outfile file;
    gzFile gz;
    struct gsim_occupancy occupancy;
    struct lane *jobs; /* by position in the trace */
    uint32_t *row_of_job; /* by position in the trace, from 1; 0: the job has no row */
    uint32_t *free_rows; /* stack of unused rows */
    uint32_t n_free_rows, n_rows;
    struct gpu *gpus;
    struct kernel **kernels; /* by position in the trace; NULL: none was told */
    int64_t n_events, n_left_out;
    int64_t full_ns; /* time of the first event that was left out */
    int64_t counted_ns, n_queue, busy_ppm; /* the counters as last written; -1: never written */
    int64_t now_ns;
    bool has_begun, has_failed, has_written, cannot_write;
};

/* --- writing ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(struct gsim_run_timeline *t,
                                                      const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text || gzwrite(t->gz, text, (unsigned)n) != n)
        t->cannot_write = true;
}

static void put_text(struct gsim_run_timeline *t, const char *text) {
    char piece[8];
    while (*text) {
        text += gsim_text_json(text, piece);
        put(t, "%s", piece);
    }
}

static void put_us(struct gsim_run_timeline *t, const char *key, int64_t time_ns) {
    put(t, ",\"%s\":%lld.%03d", key, (long long)(time_ns / 1000), (int)(time_ns % 1000));
}

static void put_separator(struct gsim_run_timeline *t) {
    put(t, t->has_written ? ",\n" : "\n");
    t->has_written = true;
}

/* Begins an event, or counts it as left out and returns false. */
static bool begin_event(struct gsim_run_timeline *t) {
    if (t->n_events >= t->options.most) {
        if (t->n_left_out++ == 0)
            t->full_ns = t->now_ns;
        return false;
    }
    put_separator(t);
    put(t, "{");
    t->n_events++;
    return true;
}

/* Writes a span clipped to the window, up to its name, and leaves the event open; false if no part
 * of the span is in the window. */
static bool open_span(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, int64_t begin_ns,
                      int64_t end_ns) {
    begin_ns = begin_ns > t->options.from_ns ? begin_ns : t->options.from_ns;
    end_ns = end_ns < t->options.to_ns ? end_ns : t->options.to_ns;
    if (end_ns <= begin_ns || !begin_event(t))
        return false;
    put(t, "\"ph\":\"X\",\"pid\":%u,\"tid\":%u", pid, tid);
    put_us(t, "ts", begin_ns);
    put_us(t, "dur", end_ns - begin_ns);
    put(t, ",\"name\":\"");
    return true;
}

/* A span of a job; the text `name` stands before the job's name. */
static bool put_span(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, int64_t begin_ns,
                     int64_t end_ns, const char *name, uint32_t job, const char *category) {
    if (!open_span(t, pid, tid, begin_ns, end_ns))
        return false;
    put(t, "%s", name);
    put_text(t, gsim_trace_id(t->occupancy.scene.trace, job));
    put(t, "\",\"cat\":\"%s\"", category);
    return true;
}

static void put_counter(struct gsim_run_timeline *t, const char *name, int64_t at_ns,
                        int64_t value_ppm) {
    if (!begin_event(t))
        return;
    put(t, "\"ph\":\"C\",\"pid\":%d,\"name\":\"%s\"", PID_CLUSTER, name);
    put_us(t, "ts", at_ns);
    put(t, ",\"args\":{\"value\":%lld", (long long)(value_ppm / GSIM_PPM));
    if (value_ppm % GSIM_PPM)
        put(t, ".%06lld", (long long)(value_ppm % GSIM_PPM));
    put(t, "}}");
}

/* Writes the counters for the instant that is over: a counter gets one value an instant, the
 * last. */
static void count_until(struct gsim_run_timeline *t, int64_t now_ns) {
    int64_t at_ns = t->counted_ns > t->options.from_ns ? t->counted_ns : t->options.from_ns;
    t->counted_ns = now_ns;
    if (at_ns >= now_ns || at_ns > t->options.to_ns)
        return;
    if (t->n_queue != t->occupancy.n_waiting) {
        t->n_queue = t->occupancy.n_waiting;
        put_counter(t, "queue length", at_ns, t->n_queue * GSIM_PPM);
    }
    if (t->busy_ppm != t->occupancy.busy_ppm) {
        t->busy_ppm = t->occupancy.busy_ppm;
        put_counter(t, "busy GPUs", at_ns, t->busy_ppm);
    }
}

/* --- jobs ------------------------------------------------------------------------------------- */

static const char *state_name(const struct lane *lane) {
    static const char *const names[GSIM_STATE_COUNT] = {
        [GSIM_QUEUED] = "queued",     [GSIM_STARTING] = "starting", [GSIM_RUNNING] = "running",
        [GSIM_STOPPING] = "stopping", [GSIM_SAVING] = "saving",     [GSIM_PAUSED] = "preempted",
        [GSIM_HELD] = "preempted",    [GSIM_RESUMING] = "resuming",
    };
    bool is_in_transition = lane->state == GSIM_SAVING || lane->state == GSIM_RESUMING;
    return lane->is_moving && is_in_transition ? "moving" : names[lane->state];
}

static bool take_place(struct gsim_run_timeline *t, uint32_t job) {
    if (t->n_free_rows == 0) {
        uint32_t *grown = gsim_arena_grow(t->arena, t->free_rows, t->n_rows * sizeof *grown,
                                          (t->n_rows + 1) * sizeof *grown);
        if (!grown)
            return false;
        t->free_rows = grown;
        t->free_rows[t->n_free_rows++] = ++t->n_rows;
    }
    t->row_of_job[job] = t->free_rows[--t->n_free_rows];
    return true;
}

static void end_job_state(struct gsim_run_timeline *t, uint32_t job, int64_t now_ns) {
    const struct lane *lane = &t->jobs[job];
    char name[24];
    (void)snprintf(name, sizeof name, "%s ", state_name(lane));
    if (!put_span(t, PID_JOBS, t->row_of_job[job], lane->since_ns, now_ns, name, job,
                  state_name(lane)))
        return;
    put(t, ",\"args\":{\"job\":\"");
    put_text(t, gsim_trace_id(t->occupancy.scene.trace, job));
    put(t, "\"}}");
}

static void change_job(struct gsim_run_timeline *t, const struct gsim_change *change) {
    struct lane *lane = &t->jobs[change->job];
    if (change->from == GSIM_FREE)
        t->has_failed |= !take_place(t, change->job);
    else
        end_job_state(t, change->job, change->now_ns);
    lane->since_ns = change->now_ns;
    lane->state = (uint8_t)change->to;
    lane->is_moving = change->is_moving || (lane->is_moving && change->to == GSIM_RESUMING);
    if (change->to != GSIM_DONE || t->has_failed)
        return;
    t->free_rows[t->n_free_rows++] = t->row_of_job[change->job];
    t->row_of_job[change->job] = 0;
}

/* --- kernels of programs ---------------------------------------------------------------------- */

static uint32_t row_id(int kind, uint32_t row) {
    return (uint32_t)(kind + 1) * ROWS_OF_A_KIND + row + 1;
}

static struct kernel *kernel_of(struct gsim_run_timeline *t, uint32_t job) {
    if (!t->kernels[job]) {
        t->kernels[job] = gsim_arena_alloc(t->arena, sizeof **t->kernels);
        t->has_failed |= !t->kernels[job];
    }
    return t->kernels[job];
}

static bool add_stream(struct gsim_run_timeline *t, struct stream **list, uint32_t *n,
                       const struct stream *stream) {
    struct stream *grown =
        gsim_arena_grow(t->arena, *list, *n * sizeof *grown, (*n + 1) * sizeof *grown);
    t->has_failed |= !grown;
    if (!grown)
        return false;
    *list = grown;
    grown[(*n)++] = *stream;
    return true;
}

/* The number of the row of a kernel's stream, on its GPU; 0: no memory left. */
static uint32_t stream_row(struct gsim_run_timeline *t, struct kernel *kernel) {
    struct gpu *gpu = &t->gpus[kernel->span.gpu];
    struct stream new = {.gpu = kernel->span.gpu,
                         .job = kernel->span.job,
                         .row = gpu->n_streams,
                         .number = kernel->span.launch.stream};
    for (uint32_t i = 0; i < kernel->n_streams; i++)
        if (kernel->streams[i].gpu == new.gpu && kernel->streams[i].number == new.number)
            return row_id(GSIM_SPAN_COUNT, kernel->streams[i].row);
    bool is_there = add_stream(t, &kernel->streams, &kernel->n_streams, &new) &&
                    add_stream(t, &gpu->streams, &gpu->n_streams, &new);
    return is_there ? row_id(GSIM_SPAN_COUNT, new.row) : 0;
}

static void put_kernel(struct gsim_run_timeline *t, struct kernel *kernel) {
    const struct gsim_span *span = &kernel->span;
    uint32_t row = kernel->is_open ? stream_row(t, kernel) : 0;
    int64_t blocks =
        kernel->most_blocks > kernel->now.blocks ? kernel->most_blocks : kernel->now.blocks;
    kernel->is_open = false;
    kernel->most_blocks = 0;
    if (row == 0 || !open_span(t, PID_FIRST_GPU + span->gpu, row, span->begin_ns, span->end_ns))
        return;
    put_text(t, span->launch.kernel);
    put(t, "\",\"cat\":\"kernel\",\"args\":{\"job\":\"");
    put_text(t, gsim_trace_id(t->occupancy.scene.trace, span->job));
    put(t, "\",\"iteration\":%lld,\"launch\":%u", (long long)span->launch.iteration,
        span->launch.number);
    if (span->launch.blocks > 0)
        put(t, ",\"grid\":%lld,\"threads\":%u", (long long)span->launch.blocks,
            span->launch.threads);
    if (span->launch.blocks > 0 && blocks > 0)
        put(t, ",\"resident\":%lld", (long long)blocks);
    put(t, span->launch.is_end ? "}}" : ",\"cut\":true}}");
}

static void take_kernel(struct gsim_run_timeline *t, const struct gsim_span *span) {
    struct kernel *kernel = kernel_of(t, span->job);
    if (!kernel)
        return;
    const struct gsim_span *before = &kernel->span;
    bool goes_on = kernel->is_open && before->end_ns == span->begin_ns &&
                   before->launch.number == span->launch.number &&
                   before->launch.iteration == span->launch.iteration && before->gpu == span->gpu;
    int64_t begin_ns = goes_on ? before->begin_ns : span->begin_ns;
    if (kernel->is_open && !goes_on)
        put_kernel(t, kernel);
    kernel->span = *span;
    kernel->span.begin_ns = begin_ns;
    kernel->is_open = true;
    if (span->launch.is_end)
        put_kernel(t, kernel);
}

static void put_level(struct gsim_run_timeline *t, uint32_t gpu, uint32_t job, const char *what,
                      int64_t at_ns, int64_t value) {
    if (at_ns < t->options.from_ns || at_ns >= t->options.to_ns || !begin_event(t))
        return;
    put(t, "\"ph\":\"C\",\"pid\":%u,\"name\":\"%s: ", PID_FIRST_GPU + gpu, what);
    put_text(t, gsim_trace_id(t->occupancy.scene.trace, job));
    put(t, "\"");
    put_us(t, "ts", at_ns);
    put(t, ",\"args\":{\"%s\":%lld}}", what, (long long)value);
}

/* A counter gets one value an instant, the last. */
static void put_levels(struct gsim_run_timeline *t, uint32_t job, struct kernel *kernel) {
    const struct level *now = &kernel->now;
    if (now->sms != kernel->written.sms)
        put_level(t, kernel->gpu, job, "SMs", now->at_ns, now->sms);
    if (now->blocks >= 0 && now->blocks != kernel->written.blocks)
        put_level(t, kernel->gpu, job, "blocks", now->at_ns, now->blocks);
    kernel->written = *now;
}

static void take_sms(struct gsim_run_timeline *t, const struct gsim_span *span) {
    struct kernel *kernel = kernel_of(t, span->job);
    if (!kernel)
        return;
    if (kernel->now.at_ns != span->begin_ns || kernel->gpu != span->gpu)
        put_levels(t, span->job, kernel);
    kernel->gpu = span->gpu;
    kernel->now = (struct level){span->begin_ns, span->sms, span->blocks};
    if (span->blocks > kernel->most_blocks)
        kernel->most_blocks = span->blocks;
}

/* The job leaves its GPU, or the run ends. */
static void end_kernel(struct gsim_run_timeline *t, uint32_t job, int64_t now_ns) {
    struct kernel *kernel = t->kernels ? t->kernels[job] : NULL;
    if (!kernel)
        return;
    put_kernel(t, kernel);
    if (kernel->now.at_ns != now_ns)
        put_levels(t, job, kernel);
    kernel->now = (struct level){.at_ns = now_ns};
    put_levels(t, job, kernel);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static void end_gpu_state(struct gsim_run_timeline *t, uint32_t gpu, uint32_t lane, uint32_t job,
                          int64_t now_ns) {
    const struct lane *held = &t->gpus[gpu].lanes[lane];
    if (put_span(t, PID_FIRST_GPU + gpu, lane + 1, held->since_ns, now_ns, "", job,
                 state_name(held)))
        put(t, ",\"args\":{\"state\":\"%s\"}}", state_name(held));
}

static struct lane *lane_of(struct gsim_run_timeline *t, uint32_t gpu, uint32_t lane) {
    struct gpu *g = &t->gpus[gpu];
    if (lane >= g->n_lanes) {
        struct lane *grown = gsim_arena_grow(t->arena, g->lanes, g->n_lanes * sizeof *grown,
                                             (lane + 1) * sizeof *grown);
        if (!grown)
            return NULL;
        g->lanes = grown;
        g->n_lanes = lane + 1;
    }
    return &g->lanes[lane];
}

static void begin_gpu_state(struct gsim_run_timeline *t, uint32_t gpu, uint32_t job) {
    struct lane *lane = lane_of(t, gpu, gsim_occupancy_lane(&t->occupancy, gpu, job));
    if (lane)
        *lane = t->jobs[job];
    else
        t->has_failed = true;
}

/* Declares the timeline full if n_events do not fit, so that a gang's state is written for all of
 * its GPUs or for none. */
static void make_room(struct gsim_run_timeline *t, int64_t n_events) {
    if (t->n_events + n_events > t->options.most)
        t->options.most = t->n_events;
}

static void change(void *arg, const struct gsim_change *change) {
    struct gsim_run_timeline *t = arg;
    t->now_ns = change->now_ns;
    if (t->has_failed)
        return;
    count_until(t, change->now_ns);
    make_room(t, 1 + (change->was_on ? change->n_units : 0));
    for (uint32_t u = 0; u < change->n_units && change->was_on; u++) {
        uint32_t gpu = change->units[u].gpu;
        end_gpu_state(t, gpu, gsim_occupancy_lane(&t->occupancy, gpu, change->job), change->job,
                      change->now_ns);
    }
    change_job(t, change);
    if (change->was_on && !change->is_on)
        end_kernel(t, change->job, change->now_ns);
    gsim_occupancy_apply(&t->occupancy, change);
    t->has_failed |= t->occupancy.has_failed;
    for (uint32_t u = 0; u < change->n_units && change->is_on && !t->has_failed; u++)
        begin_gpu_state(t, change->units[u].gpu, change->job);
}

/* --- spans of models -------------------------------------------------------------------------- */

static const struct {
    const char *row, *category;
} kinds[GSIM_SPAN_COUNT] = {
    {"slices", "slice"}, {"copies in", "copy in"}, {"copies out", "copy out"}, {"faults", "fault"}};

/* Finds the first row in which the last span has ended when this span begins. */
static bool find_row(struct gsim_run_timeline *t, struct rows *rows, const struct gsim_span *span,
                     uint32_t *row) {
    *row = 0;
    while (*row < rows->n && rows->end_ns[*row] > span->begin_ns)
        ++*row;
    if (*row == rows->n) {
        int64_t *grown = gsim_arena_grow(t->arena, rows->end_ns, rows->n * sizeof *grown,
                                         (rows->n + 1) * sizeof *grown);
        if (!grown)
            return false;
        rows->end_ns = grown;
        rows->n++;
    }
    rows->end_ns[*row] = span->end_ns;
    return true;
}

static void put_resident(struct gsim_run_timeline *t, const struct gsim_span *span) {
    if (span->begin_ns < t->options.from_ns || span->begin_ns >= t->options.to_ns ||
        !begin_event(t))
        return;
    put(t, "\"ph\":\"C\",\"pid\":%u,\"name\":\"resident: ", PID_FIRST_GPU + span->gpu);
    put_text(t, gsim_trace_id(t->occupancy.scene.trace, span->job));
    put(t, "\"");
    put_us(t, "ts", span->begin_ns);
    put(t, ",\"args\":{\"bytes\":%lld}}", (long long)span->bytes);
}

static void span(void *arg, const struct gsim_span *span) {
    struct gsim_run_timeline *t = arg;
    uint32_t row;
    if (span->kind == GSIM_SPAN_RESIDENT && !t->has_failed)
        put_resident(t, span);
    if (span->kind == GSIM_SPAN_KERNEL && !t->has_failed)
        take_kernel(t, span);
    if (span->kind == GSIM_SPAN_SMS && !t->has_failed)
        take_sms(t, span);
    if (span->kind >= GSIM_SPAN_COUNT)
        return;
    if (t->has_failed || span->end_ns <= span->begin_ns)
        return;
    if (!find_row(t, &t->gpus[span->gpu].spans[span->kind], span, &row)) {
        t->has_failed = true;
        return;
    }
    if (put_span(t, PID_FIRST_GPU + span->gpu, row_id((int)span->kind, row), span->begin_ns,
                 span->end_ns, "", span->job, kinds[span->kind].category))
        put(t, ",\"args\":{\"bytes\":%lld}}", (long long)span->bytes);
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void begin(void *arg, const struct gsim_scene *scene) {
    struct gsim_run_timeline *t = arg;
    gsim_occupancy_begin(&t->occupancy, scene, t->arena);
    t->jobs = gsim_arena_array(t->arena, scene->trace->n_jobs, sizeof *t->jobs);
    t->row_of_job = gsim_arena_array(t->arena, scene->trace->n_jobs, sizeof *t->row_of_job);
    t->gpus = gsim_arena_array(t->arena, scene->n_gpus, sizeof *t->gpus);
    if (t->options.has_kernels)
        t->kernels = gsim_arena_array(t->arena, scene->trace->n_jobs, sizeof *t->kernels);
    t->n_queue = t->busy_ppm = -1;
    t->has_begun = true;
    t->has_failed = t->occupancy.has_failed || !t->jobs || !t->row_of_job || !t->gpus ||
                    (t->options.has_kernels && !t->kernels);
}

/* States that still go on end with the run. */
static void end(void *arg, int64_t now_ns) {
    struct gsim_run_timeline *t = arg;
    if (!t->has_begun || t->has_failed)
        return;
    t->now_ns = now_ns;
    count_until(t, now_ns);
    count_until(t, GSIM_NEVER); /* writes the counters of the last instant */
    int64_t n_lanes = 0;
    for (uint32_t gpu = 0; gpu < t->occupancy.scene.n_gpus; gpu++)
        n_lanes += t->occupancy.gpu[gpu].n;
    make_room(t, n_lanes);
    for (uint32_t gpu = 0; gpu < t->occupancy.scene.n_gpus; gpu++)
        for (uint32_t lane = 0; lane < t->occupancy.gpu[gpu].n; lane++)
            if (t->occupancy.gpu[gpu].job[lane])
                end_gpu_state(t, gpu, lane, t->occupancy.gpu[gpu].job[lane] - 1, now_ns);
    for (uint32_t job = 0; job < t->occupancy.scene.trace->n_jobs; job++)
        if (t->row_of_job[job]) {
            end_kernel(t, job, now_ns);
            end_job_state(t, job, now_ns);
        }
}

/* Names are not counted as events: they are few, and a viewer needs them to label the rows. */
static void name_process(struct gsim_run_timeline *t, uint32_t pid, const char *name) {
    put_separator(t);
    put(t,
        "{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"%s\"}}",
        pid, name);
    put(t,
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_sort_index\",\"args\":"
        "{\"sort_index\":%u}}",
        pid, pid);
}

static void name_row(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, const char *name,
                     uint32_t number) {
    put(t,
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"%s %u\"}}",
        pid, tid, name, number);
    put(t,
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":"
        "{\"sort_index\":%u}}",
        pid, tid, tid);
}

static void name_stream(struct gsim_run_timeline *t, const struct stream *stream) {
    uint32_t pid = PID_FIRST_GPU + stream->gpu, tid = row_id(GSIM_SPAN_COUNT, stream->row);
    put(t,
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"kernels of ",
        pid, tid);
    put_text(t, gsim_trace_id(t->occupancy.scene.trace, stream->job));
    put(t,
        ", stream %u\"}},\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\","
        "\"args\":{\"sort_index\":%u}}",
        stream->number, pid, tid, tid);
}

static void name_gpu(struct gsim_run_timeline *t, uint32_t gpu) {
    const struct gpu *g = &t->gpus[gpu];
    uint32_t pid = PID_FIRST_GPU + gpu;
    char name[64];
    (void)snprintf(name, sizeof name, "GPU %u (node %u)", gpu, t->occupancy.scene.node_of_gpu[gpu]);
    name_process(t, pid, name);
    for (uint32_t lane = 0; lane < g->n_lanes; lane++)
        name_row(t, pid, lane + 1, "compute", lane + 1);
    for (int kind = 0; kind < GSIM_SPAN_COUNT; kind++)
        for (uint32_t row = 0; row < g->spans[kind].n; row++)
            name_row(t, pid, row_id(kind, row), kinds[kind].row, row + 1);
    for (uint32_t i = 0; i < g->n_streams; i++)
        name_stream(t, &g->streams[i]);
}

static void name_all(struct gsim_run_timeline *t) {
    name_process(t, PID_JOBS, "jobs");
    for (uint32_t row = 1; row <= t->n_rows; row++)
        name_row(t, PID_JOBS, row, "lane", row);
    name_process(t, PID_CLUSTER, "cluster");
    for (uint32_t gpu = 0; gpu < t->occupancy.scene.n_gpus && !t->occupancy.scene.is_pool; gpu++)
        name_gpu(t, gpu);
}

enum gsim_status gsim_timeline_window(const char *text, struct gsim_timeline_options *options,
                                      struct gsim_log *log) {
    options->from_ns = 0;
    options->to_ns = GSIM_NEVER;
    options->has_kernels = text != NULL;
    if (!text)
        return GSIM_OK;
    const char *colon = strchr(text, ':');
    char from[64];
    size_t n = colon ? (size_t)(colon - text) : 0;
    bool is_good = colon && n < sizeof from;
    if (is_good) {
        memcpy(from, text, n);
        from[n] = '\0';
        is_good =
            (n == 0 || gsim_parse_time(from, GSIM_NS_PER_S, &options->from_ns) == GSIM_PARSE_OK) &&
            (!colon[1] ||
             gsim_parse_time(colon + 1, GSIM_NS_PER_S, &options->to_ns) == GSIM_PARSE_OK) &&
            options->from_ns >= 0 && options->from_ns < options->to_ns;
    }
    return is_good ? GSIM_OK
                   : gsim_fail(log, GSIM_USAGE, NULL, 0,
                               "--timeline-window: '%s' is not A:B, two times of which A is the "
                               "earlier, such as 1h:90min, :10min or 2h:",
                               text);
}

static bool is_compressed(const char *path) {
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

static enum gsim_status open_file(struct gsim_run_timeline *t, struct gsim_log *log) {
    enum gsim_status status = gsim_outfile_open(&t->file, t->options.path, t->arena, log);
    if (status != GSIM_OK)
        return status;
    int copy = dup(fileno(t->file.file)); /* gzclose closes the copy */
    t->gz = copy < 0 ? NULL : gzdopen(copy, is_compressed(t->options.path) ? "wb6" : "wbT");
    if (t->gz)
        return GSIM_OK;
    if (copy >= 0)
        (void)close(copy);
    gsim_outfile_abandon(&t->file);
    return gsim_fail(log, GSIM_FAILED, t->options.path, 0, "the file cannot be written: %s",
                     strerror(errno));
}

enum gsim_status gsim_timeline_open(const struct gsim_timeline_options *options,
                                    struct gsim_arena *arena, struct gsim_run_timeline **out,
                                    struct gsim_log *log) {
    struct gsim_run_timeline *t = gsim_arena_alloc(arena, sizeof *t);
    *out = t;
    if (!t)
        return gsim_no_memory(log, "opening a timeline");
    t->observer = (struct gsim_observer){.arg = t,
                                         .begin = begin,
                                         .change = change,
                                         .span = span,
                                         .slices_from_ns = options->from_ns,
                                         .slices_until_ns = options->to_ns,
                                         .wants_kernels = options->has_kernels,
                                         .end = end};
    t->options = *options;
    t->arena = arena;
    enum gsim_status status = open_file(t, log);
    if (status == GSIM_OK)
        put(t, GSIM_TIMELINE_BEGINS "\"ms\",\"traceEvents\":[");
    return status;
}

const struct gsim_observer *gsim_timeline_observer(struct gsim_run_timeline *timeline,
                                                   const struct gsim_observer *next) {
    timeline->observer.next = next;
    return &timeline->observer;
}

void gsim_timeline_abandon(struct gsim_run_timeline *t) {
    if (t->gz)
        (void)gzclose(t->gz);
    t->gz = NULL;
    gsim_outfile_abandon(&t->file);
}

enum gsim_status gsim_timeline_close(struct gsim_run_timeline *t, struct gsim_log *log) {
    if (t->has_failed) {
        gsim_timeline_abandon(t);
        return gsim_no_memory(log, "writing a timeline");
    }
    name_all(t);
    put(t, "\n]");
    if (t->n_left_out)
        put(t, ",\"otherData\":{\"events_left_out\":%lld,\"from_ns\":%lld}",
            (long long)t->n_left_out, (long long)t->full_ns);
    put(t, "}\n");
    errno = 0;
    bool is_bad = gzclose(t->gz) != Z_OK || t->cannot_write;
    t->gz = NULL;
    if (is_bad) {
        int error = errno ? errno : EIO;
        gsim_outfile_abandon(&t->file);
        return gsim_fail(log, GSIM_FAILED, t->options.path, 0, "the file cannot be written: %s",
                         strerror(error));
    }
    char full[32];
    gsim_format_time(full, t->full_ns);
    if (t->n_left_out)
        gsim_warn(log, t->options.path, 0,
                  "the timeline has %lld events and no more: %lld that ended from %s on are left "
                  "out; choose "
                  "a part with --timeline-window A:B",
                  (long long)t->n_events, (long long)t->n_left_out, full);
    return gsim_outfile_close(&t->file, log);
}
