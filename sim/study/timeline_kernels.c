/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of programs in a timeline: a row for each stream, and counters of SMs and blocks. */
#include "sim/study/timeline_private.h"

uint32_t gsim_timeline_row_id(int kind, uint32_t row) {
    return (uint32_t)(kind + 1) * GSIM_ROWS_OF_A_KIND + row + 1;
}

static struct gsim_timeline_kernel *kernel_of(struct gsim_run_timeline *t, uint32_t job) {
    if (!t->kernels[job]) {
        t->kernels[job] = gsim_arena_alloc(t->arena, sizeof **t->kernels);
        t->has_failed |= !t->kernels[job];
    }
    return t->kernels[job];
}

static bool add_stream(struct gsim_run_timeline *t, struct gsim_timeline_stream **list, uint32_t *n,
                       const struct gsim_timeline_stream *stream) {
    struct gsim_timeline_stream *grown =
        gsim_arena_grow(t->arena, *list, *n * sizeof *grown, (*n + 1) * sizeof *grown);
    t->has_failed |= !grown;
    if (!grown)
        return false;
    *list = grown;
    grown[(*n)++] = *stream;
    return true;
}

/* The number of the row of a kernel's stream, on its GPU; 0: no memory left. */
static uint32_t stream_row(struct gsim_run_timeline *t, struct gsim_timeline_kernel *kernel) {
    struct gsim_timeline_gpu *gpu = &t->gpus[kernel->span.gpu];
    struct gsim_timeline_stream new = {.gpu = kernel->span.gpu,
                                       .job = kernel->span.job,
                                       .row = gpu->n_streams,
                                       .number = kernel->span.launch.stream};
    for (uint32_t i = 0; i < kernel->n_streams; i++)
        if (kernel->streams[i].gpu == new.gpu && kernel->streams[i].number == new.number)
            return gsim_timeline_row_id(GSIM_SPAN_COUNT, kernel->streams[i].row);
    bool is_there = add_stream(t, &kernel->streams, &kernel->n_streams, &new) &&
                    add_stream(t, &gpu->streams, &gpu->n_streams, &new);
    return is_there ? gsim_timeline_row_id(GSIM_SPAN_COUNT, new.row) : 0;
}

static void put_kernel(struct gsim_run_timeline *t, struct gsim_timeline_kernel *kernel) {
    const struct gsim_span *span = &kernel->span;
    uint32_t row = kernel->is_open ? stream_row(t, kernel) : 0;
    int64_t blocks =
        kernel->most_blocks > kernel->now.blocks ? kernel->most_blocks : kernel->now.blocks;
    kernel->is_open = false;
    kernel->most_blocks = 0;
    if (row == 0 ||
        !gsim_event_open_span(t, GSIM_PID_FIRST_GPU + span->gpu, row, span->begin_ns, span->end_ns))
        return;
    gsim_event_text(t, span->launch.kernel);
    gsim_event_put(t, "\",\"cat\":\"kernel\",\"args\":{\"job\":\"");
    gsim_event_text(t, gsim_trace_id(t->occupancy.scene.trace, span->job));
    gsim_event_put(t, "\",\"iteration\":%lld,\"launch\":%u", (long long)span->launch.iteration,
                   span->launch.number);
    if (span->launch.blocks > 0)
        gsim_event_put(t, ",\"grid\":%lld,\"threads\":%u", (long long)span->launch.blocks,
                       span->launch.threads);
    if (span->launch.blocks > 0 && blocks > 0)
        gsim_event_put(t, ",\"resident\":%lld", (long long)blocks);
    gsim_event_put(t, span->launch.is_end ? "}}" : ",\"cut\":true}}");
}

void gsim_timeline_take_kernel(struct gsim_run_timeline *t, const struct gsim_span *span) {
    struct gsim_timeline_kernel *kernel = kernel_of(t, span->job);
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
    if (at_ns < t->options.from_ns || at_ns >= t->options.to_ns || !gsim_event_begin(t))
        return;
    gsim_event_put(t, "\"ph\":\"C\",\"pid\":%u,\"name\":\"%s: ", GSIM_PID_FIRST_GPU + gpu, what);
    gsim_event_text(t, gsim_trace_id(t->occupancy.scene.trace, job));
    gsim_event_put(t, "\"");
    gsim_event_us(t, "ts", at_ns);
    gsim_event_put(t, ",\"args\":{\"%s\":%lld}}", what, (long long)value);
}

/* A counter gets one value an instant, the last. */
static void put_levels(struct gsim_run_timeline *t, uint32_t job,
                       struct gsim_timeline_kernel *kernel) {
    const struct gsim_timeline_level *now = &kernel->now;
    if (now->sms != kernel->written.sms)
        put_level(t, kernel->gpu, job, "SMs", now->at_ns, now->sms);
    if (now->blocks >= 0 && now->blocks != kernel->written.blocks)
        put_level(t, kernel->gpu, job, "blocks", now->at_ns, now->blocks);
    kernel->written = *now;
}

void gsim_timeline_take_sms(struct gsim_run_timeline *t, const struct gsim_span *span) {
    struct gsim_timeline_kernel *kernel = kernel_of(t, span->job);
    if (!kernel)
        return;
    if (kernel->now.at_ns != span->begin_ns || kernel->gpu != span->gpu)
        put_levels(t, span->job, kernel);
    kernel->gpu = span->gpu;
    kernel->now = (struct gsim_timeline_level){span->begin_ns, span->sms, span->blocks};
    if (span->blocks > kernel->most_blocks)
        kernel->most_blocks = span->blocks;
}

/* The job leaves its GPU, or the run ends. */
void gsim_timeline_end_kernel(struct gsim_run_timeline *t, uint32_t job, int64_t now_ns) {
    struct gsim_timeline_kernel *kernel = t->kernels ? t->kernels[job] : NULL;
    if (!kernel)
        return;
    put_kernel(t, kernel);
    if (kernel->now.at_ns != now_ns)
        put_levels(t, job, kernel);
    kernel->now = (struct gsim_timeline_level){.at_ns = now_ns};
    put_levels(t, job, kernel);
}
