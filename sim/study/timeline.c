/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the timeline of a run. A span is written when it ends, so that memory does not grow with
 * the run; rows get their names at the end, when their number is known. */
#define _POSIX_C_SOURCE 200809L
#include "sim/study/timeline.h"
#include "sim/study/timeline_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/units.h"

/* --- counters --------------------------------------------------------------------------------- */

/* Writes the counters for the instant that is over: a counter gets one value an instant, the
 * last. */
static void count_until(struct gsim_run_timeline *t, int64_t now_ns) {
    int64_t at_ns = t->counted_ns > t->options.from_ns ? t->counted_ns : t->options.from_ns;
    t->counted_ns = now_ns;
    if (at_ns >= now_ns || at_ns > t->options.to_ns)
        return;
    if (t->n_queue != t->occupancy.n_waiting) {
        t->n_queue = t->occupancy.n_waiting;
        gsim_event_counter(t, "queue length", at_ns, t->n_queue * GSIM_PPM);
    }
    if (t->busy_ppm != t->occupancy.busy_ppm) {
        t->busy_ppm = t->occupancy.busy_ppm;
        gsim_event_counter(t, "busy GPUs", at_ns, t->busy_ppm);
    }
}

/* --- jobs ------------------------------------------------------------------------------------- */

static const char *state_name(const struct gsim_timeline_lane *lane) {
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
    const struct gsim_timeline_lane *lane = &t->jobs[job];
    char name[24];
    (void)snprintf(name, sizeof name, "%s ", state_name(lane));
    if (!gsim_event_span(t, GSIM_PID_JOBS, t->row_of_job[job], lane->since_ns, now_ns, name, job,
                         state_name(lane)))
        return;
    gsim_event_put(t, ",\"args\":{\"job\":\"");
    gsim_event_text(t, gsim_trace_id(t->occupancy.scene.trace, job));
    gsim_event_put(t, "\"}}");
}

static void change_job(struct gsim_run_timeline *t, const struct gsim_change *change) {
    struct gsim_timeline_lane *lane = &t->jobs[change->job];
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

/* --- GPUs ------------------------------------------------------------------------------------- */

static void end_gpu_state(struct gsim_run_timeline *t, uint32_t gpu, uint32_t lane, uint32_t job,
                          int64_t now_ns) {
    const struct gsim_timeline_lane *held = &t->gpus[gpu].lanes[lane];
    if (gsim_event_span(t, GSIM_PID_FIRST_GPU + gpu, lane + 1, held->since_ns, now_ns, "", job,
                        state_name(held)))
        gsim_event_put(t, ",\"args\":{\"state\":\"%s\"}}", state_name(held));
}

static struct gsim_timeline_lane *lane_of(struct gsim_run_timeline *t, uint32_t gpu,
                                          uint32_t lane) {
    struct gsim_timeline_gpu *g = &t->gpus[gpu];
    if (lane >= g->n_lanes) {
        struct gsim_timeline_lane *grown = gsim_arena_grow(
            t->arena, g->lanes, g->n_lanes * sizeof *grown, (lane + 1) * sizeof *grown);
        if (!grown)
            return NULL;
        g->lanes = grown;
        g->n_lanes = lane + 1;
    }
    return &g->lanes[lane];
}

static void begin_gpu_state(struct gsim_run_timeline *t, uint32_t gpu, uint32_t job) {
    struct gsim_timeline_lane *lane = lane_of(t, gpu, gsim_occupancy_lane(&t->occupancy, gpu, job));
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
        gsim_timeline_end_kernel(t, change->job, change->now_ns);
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
static bool find_row(struct gsim_run_timeline *t, struct gsim_timeline_rows *rows,
                     const struct gsim_span *span, uint32_t *row) {
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
        !gsim_event_begin(t))
        return;
    gsim_event_put(t,
                   "\"ph\":\"C\",\"pid\":%u,\"name\":\"resident: ", GSIM_PID_FIRST_GPU + span->gpu);
    gsim_event_text(t, gsim_trace_id(t->occupancy.scene.trace, span->job));
    gsim_event_put(t, "\"");
    gsim_event_us(t, "ts", span->begin_ns);
    gsim_event_put(t, ",\"args\":{\"bytes\":%lld}}", (long long)span->bytes);
}

static void span(void *arg, const struct gsim_span *span) {
    struct gsim_run_timeline *t = arg;
    uint32_t row;
    if (span->kind == GSIM_SPAN_RESIDENT && !t->has_failed)
        put_resident(t, span);
    if (span->kind == GSIM_SPAN_KERNEL && !t->has_failed)
        gsim_timeline_take_kernel(t, span);
    if (span->kind == GSIM_SPAN_SMS && !t->has_failed)
        gsim_timeline_take_sms(t, span);
    if (span->kind >= GSIM_SPAN_COUNT)
        return;
    if (t->has_failed || span->end_ns <= span->begin_ns)
        return;
    if (!find_row(t, &t->gpus[span->gpu].spans[span->kind], span, &row)) {
        t->has_failed = true;
        return;
    }
    if (gsim_event_span(t, GSIM_PID_FIRST_GPU + span->gpu,
                        gsim_timeline_row_id((int)span->kind, row), span->begin_ns, span->end_ns,
                        "", span->job, kinds[span->kind].category))
        gsim_event_put(t, ",\"args\":{\"bytes\":%lld}}", (long long)span->bytes);
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
            gsim_timeline_end_kernel(t, job, now_ns);
            end_job_state(t, job, now_ns);
        }
}

/* Names are not counted as events: they are few, and a viewer needs them to label the rows. */
static void name_process(struct gsim_run_timeline *t, uint32_t pid, const char *name) {
    gsim_event_separate(t);
    gsim_event_put(
        t,
        "{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"%s\"}}",
        pid, name);
    gsim_event_put(t,
                   ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_sort_index\",\"args\":"
                   "{\"sort_index\":%u}}",
                   pid, pid);
}

static void name_row(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, const char *name,
                     uint32_t number) {
    gsim_event_put(
        t,
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"%s %u\"}}",
        pid, tid, name, number);
    gsim_event_put(t,
                   ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":"
                   "{\"sort_index\":%u}}",
                   pid, tid, tid);
}

static void name_stream(struct gsim_run_timeline *t, const struct gsim_timeline_stream *stream) {
    uint32_t pid = GSIM_PID_FIRST_GPU + stream->gpu,
             tid = gsim_timeline_row_id(GSIM_SPAN_COUNT, stream->row);
    gsim_event_put(
        t,
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"kernels of ",
        pid, tid);
    gsim_event_text(t, gsim_trace_id(t->occupancy.scene.trace, stream->job));
    gsim_event_put(
        t,
        ", stream %u\"}},\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\","
        "\"args\":{\"sort_index\":%u}}",
        stream->number, pid, tid, tid);
}

static void name_gpu(struct gsim_run_timeline *t, uint32_t gpu) {
    const struct gsim_timeline_gpu *g = &t->gpus[gpu];
    uint32_t pid = GSIM_PID_FIRST_GPU + gpu;
    char name[64];
    (void)snprintf(name, sizeof name, "GPU %u (node %u)", gpu, t->occupancy.scene.node_of_gpu[gpu]);
    name_process(t, pid, name);
    for (uint32_t lane = 0; lane < g->n_lanes; lane++)
        name_row(t, pid, lane + 1, "compute", lane + 1);
    for (int kind = 0; kind < GSIM_SPAN_COUNT; kind++)
        for (uint32_t row = 0; row < g->spans[kind].n; row++)
            name_row(t, pid, gsim_timeline_row_id(kind, row), kinds[kind].row, row + 1);
    for (uint32_t i = 0; i < g->n_streams; i++)
        name_stream(t, &g->streams[i]);
}

static void name_all(struct gsim_run_timeline *t) {
    name_process(t, GSIM_PID_JOBS, "jobs");
    for (uint32_t row = 1; row <= t->n_rows; row++)
        name_row(t, GSIM_PID_JOBS, row, "lane", row);
    name_process(t, GSIM_PID_CLUSTER, "cluster");
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
        gsim_event_put(t, GSIM_TIMELINE_BEGINS "\"ms\",\"traceEvents\":[");
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
    gsim_event_put(t, "\n]");
    if (t->n_left_out)
        gsim_event_put(t, ",\"otherData\":{\"events_left_out\":%lld,\"from_ns\":%lld}",
                       (long long)t->n_left_out, (long long)t->full_ns);
    gsim_event_put(t, "}\n");
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
