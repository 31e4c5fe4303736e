/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/program.h"

#include "gsim/units.h"
#include "models/gpu/roofline.h"
#include "models/gpu/sm_array.h"
#include "models/gpu/space.h"
#include "models/memory/residency.h"

struct maker {
    const struct gsim_app *app;
    const struct gsim_profile *profile;
    struct gsim_program *out;
    struct gsim_program_call *calls;
    struct gsim_program_kernel *kernels;
    struct gsim_program_step *steps;
    int64_t *kernel_ns; /* by app->kernels: of a launch without a time of its own */
    /* the launches, counted from 1, behind which an event or the end of a stream stands; 0: none */
    uint32_t *event_at, *stream_at;
};

static bool reserve(struct maker *m, struct gsim_arena *arena) {
    const struct gsim_app *app = m->app;
    size_t n_launches = 0;
    for (uint32_t k = 0; k < app->n_kernels; k++)
        n_launches += (size_t)app->kernels[k].count;
    m->calls = gsim_arena_array(arena, app->n_calls, sizeof *m->calls);
    m->kernels = gsim_arena_array(arena, n_launches, sizeof *m->kernels);
    m->steps = gsim_arena_array(arena, n_launches, sizeof *m->steps);
    m->kernel_ns = gsim_arena_array(arena, app->n_kernels, sizeof *m->kernel_ns);
    m->event_at = gsim_arena_array(arena, app->n_events + 1U, sizeof *m->event_at);
    m->stream_at = gsim_arena_array(arena, app->n_streams + 1U, sizeof *m->stream_at);
    return m->calls && m->kernels && m->steps && m->kernel_ns && m->event_at && m->stream_at;
}

static enum gsim_status time_kernels(struct maker *m, struct gsim_log *log) {
    for (uint32_t k = 0; k < m->app->n_kernels; k++) {
        struct gsim_roofline_time time;
        enum gsim_status status =
            gsim_roofline_time_kernel(m->app, &m->app->kernels[k], m->profile, &time, log);
        if (status != GSIM_OK)
            return status;
        m->kernel_ns[k] = time.whole_ns;
    }
    return GSIM_OK;
}

static enum gsim_status no_room(const struct gsim_profile *profile,
                                const struct gsim_program_block *block, const char *what,
                                int64_t needed, int64_t there, struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, block->path, block->line,
                     "a block of kernel '%.64s' has %lld %s, which no SM can hold; one of device "
                     "%s holds %lld",
                     block->kernel, (long long)needed, what, profile->name, (long long)there);
}

static enum gsim_status too_large(const struct gsim_profile *profile,
                                  const struct gsim_program_block *block, struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, block->path, block->line,
                     "a block of kernel '%.64s' has %lld threads; device %s launches blocks of at "
                     "most %lld",
                     block->kernel, (long long)block->threads, profile->name,
                     (long long)profile->value[GSIM_KEY_SM_BLOCK_THREADS]);
}

enum gsim_status gsim_program_check_block(const struct gsim_profile *profile,
                                          const struct gsim_program_block *block,
                                          struct gsim_log *log) {
    struct gsim_sm_room sm = gsim_sm_room(profile);
    if (sm.threads == 0 || block->threads <= 0)
        return GSIM_OK;
    if (block->threads > profile->value[GSIM_KEY_SM_BLOCK_THREADS])
        return too_large(profile, block, log);
    if (block->threads > sm.threads)
        return no_room(profile, block, "threads", block->threads, sm.threads, log);
    struct gsim_sm_room need =
        gsim_sm_room_of_block(profile, block->threads, block->register_bytes, block->shared_bytes);
    if (sm.register_bytes > 0 && need.register_bytes > sm.register_bytes)
        return no_room(profile, block, "bytes of registers (whole warps, a thread's by eight)",
                       need.register_bytes, sm.register_bytes, log);
    if (sm.shared_bytes > 0 && need.shared_bytes > sm.shared_bytes)
        return no_room(profile, block, "bytes of shared memory (with the system's)",
                       need.shared_bytes, sm.shared_bytes, log);
    return GSIM_OK;
}

static enum gsim_status check_blocks(const struct maker *m, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t k = 0; k < m->app->n_kernels && status == GSIM_OK; k++) {
        const struct gsim_app_kernel *kernel = &m->app->kernels[k];
        struct gsim_program_block block = {.path = m->app->path,
                                           .kernel = kernel->name,
                                           .line = kernel->line,
                                           .threads = kernel->threads,
                                           .register_bytes = kernel->register_bytes,
                                           .shared_bytes = kernel->shared_bytes};
        status = gsim_program_check_block(m->profile, &block, log);
    }
    return status;
}

/* How far memory binds a kernel: by the bandwidth that it draws alone, where its bytes are known. A
 * launch with a time of its own moves as many bytes a second as others of its kernel. */
static void bind_to_memory(const struct maker *m, uint32_t kind, struct gsim_program_kernel *out) {
    const struct gsim_app_kernel *kernel = &m->app->kernels[kind];
    int64_t bytes = kernel->dram_bytes >= 0 ? kernel->dram_bytes : kernel->bytes;
    int64_t sms = m->profile->value[GSIM_KEY_SMS];
    out->memory_ppm = (uint32_t)m->profile->value[GSIM_KEY_JOB_MEMORY_PPM];
    out->is_traffic_known = bytes >= 0 && m->kernel_ns[kind] > 0;
    if (!out->is_traffic_known)
        return;
    int64_t fill = kernel->blocks > 0 && kernel->blocks < sms ? kernel->blocks : sms;
    struct gsim_space device = gsim_space_of_device(m->profile);
    int64_t most = gsim_space_is_staged(m->profile, kernel->shared_bytes)
                       ? gsim_space_staged_bandwidth(&device, fill * GSIM_SM)
                       : gsim_space_bandwidth(&device, fill * GSIM_SM);
    int64_t drawn = gsim_muldiv_floor(bytes, GSIM_NS_PER_S, m->kernel_ns[kind]);
    out->memory_ppm =
        (uint32_t)(drawn >= most ? GSIM_PPM : gsim_muldiv_floor(drawn, GSIM_PPM, most));
    out->hbm_bytes_per_s = drawn;
    if (kernel->stored_bytes >= 0 && bytes > 0)
        out->loads_ppm =
            gsim_space_loads_ppm(gsim_muldiv_floor(bytes - kernel->stored_bytes, GSIM_PPM, bytes));
}

/* The part of its time by which a kernel is longer with the smallest L1. */
static uint32_t small_l1_ppm(const struct gsim_app_kernel *kernel) {
    if (kernel->small_l1_ns < 0)
        return 0;
    return (uint32_t)gsim_muldiv_floor(kernel->small_l1_ns - kernel->time_ns, GSIM_PPM,
                                       kernel->time_ns);
}

static int64_t blocks_before(const struct maker *m) {
    return m->out->n_kernels > 0 ? m->steps[m->out->n_kernels - 1].blocks : 0;
}

/* A queued kernel begins some time after the one before it in its stream. Kernels of different
 * streams do not wait for each other's ends: queued ones overlapped by 4 us in the measured program
 * that has several (models/apps/h200-lstm-train.csv). */
static void launch(struct maker *m, const struct gsim_app_call *call, int64_t host_ns) {
    struct gsim_program *out = m->out;
    const struct gsim_app_kernel *kernel = &m->app->kernels[call->kernel];
    int64_t ns = gsim_roofline_launch_ns(m->app, call, m->profile, m->kernel_ns[call->kernel]);
    m->kernels[out->n_kernels] =
        (struct gsim_program_kernel){.ns = ns,
                                     .register_bytes = kernel->register_bytes,
                                     .shared_bytes = kernel->shared_bytes,
                                     .lowers_ppm = (uint32_t)GSIM_PPM - kernel->clock_ppm,
                                     .blocks = kernel->blocks,
                                     .threads = (uint32_t)kernel->threads,
                                     .kind = call->kernel,
                                     .stream = call->stream,
                                     .unit = (uint8_t)kernel->unit,
                                     .small_l1_ppm = small_l1_ppm(kernel),
                                     .parted_bytes = kernel->parted_bytes,
                                     .spreads = kernel->spreads,
                                     .is_alike = kernel->is_alike,
                                     .busy = kernel->busy,
                                     .again = call->again};
    bind_to_memory(m, call->kernel, &m->kernels[out->n_kernels]);
    if (kernel->blocks > 0 && kernel->threads > 0)
        m->kernels[out->n_kernels].per_sm = gsim_sm_array_per_sm(
            m->profile, kernel->threads, kernel->register_bytes, kernel->shared_bytes);
    if (out->n_kernels > 0 && m->kernels[out->n_kernels - 1].stream == call->stream)
        out->gpu_ns += m->profile->value[GSIM_KEY_LAUNCH_BETWEEN_NS];
    out->gpu_ns += ns > 0 ? ns : 1;
    out->kernels_ns += ns;
    out->hbm_bytes +=
        gsim_muldiv_floor(m->kernels[out->n_kernels].hbm_bytes_per_s, ns, GSIM_NS_PER_S);
    m->steps[out->n_kernels] = (struct gsim_program_step){
        .launched_ns = host_ns,
        .end_ns = out->gpu_ns,
        .blocks = blocks_before(m) + (kernel->blocks > 0 ? kernel->blocks : 1),
        .wait_ns = -1};
    out->n_kernels++;
}

/* The host goes on past a wait when the launch before `at` has ended; the first such wait is that
 * which the host comes to first. Launches of the next iteration are past the last one. */
static void wait_for(struct maker *m, uint32_t at, int64_t host_ns) {
    if (at > 0 && at <= m->out->n_kernels && m->steps[at - 1].wait_ns < 0)
        m->steps[at - 1].wait_ns = host_ns;
}

/* Kernels run in the order of their launches, so an event, or what follows it, waits for what was
 * launched before in its stream, or in any stream after which that one waits. n_launched: launches
 * up to this call. */
static void follow(struct maker *m, const struct gsim_app_call *call, uint32_t n_launched,
                   int64_t host_ns) {
    uint32_t *stream_at = &m->stream_at[call->stream], *event_at = &m->event_at[call->event];
    switch (call->kind) {
    case GSIM_CALL_LAUNCH:
        *stream_at = n_launched;
        break;
    case GSIM_CALL_WAIT_DEVICE:
        wait_for(m, n_launched, host_ns);
        break;
    case GSIM_CALL_WAIT_STREAM:
        wait_for(m, *stream_at, host_ns);
        break;
    case GSIM_CALL_WAIT_EVENT:
        wait_for(m, *event_at, host_ns);
        break;
    case GSIM_CALL_RECORD:
        *event_at = *stream_at;
        break;
    case GSIM_CALL_AFTER:
        if (*event_at > *stream_at)
            *stream_at = *event_at;
        break;
    }
}

/* The energy of an iteration, and of it memory's by the bytes of its kernels: at most all but the
 * last millionth of a joule. */
static void set_energy(struct maker *m) {
    enum { PJ_OF_UJ = 1000000 };
    struct gsim_program *out = m->out;
    int64_t all_uj = m->app->energy_uj;
    out->powered_ns = out->gpu_ns;
    if (all_uj == 0)
        return;
    int64_t memory_uj =
        gsim_muldiv_floor(out->hbm_bytes, m->profile->value[GSIM_KEY_POWER_BYTE_PJ], PJ_OF_UJ);
    memory_uj = memory_uj < all_uj ? memory_uj : all_uj - 1;
    out->energy = (struct gsim_clock_energy){.core_uj = all_uj - memory_uj, .memory_uj = memory_uj};
    out->powered_ns = gsim_clock_iteration_ns(m->profile, &out->energy, out->gpu_ns);
}

static void make_calls(struct maker *m) {
    struct gsim_program *out = m->out;
    for (uint32_t c = 0; c < m->app->n_calls; c++) {
        const struct gsim_app_call *call = &m->app->calls[c];
        out->host_ns += call->host_ns;
        m->calls[c] = (struct gsim_program_call){.host_ns = call->host_ns,
                                                 .kind = (uint8_t)call->kind,
                                                 .stream = call->stream,
                                                 .event = call->event,
                                                 .kernel = out->n_kernels};
        if (call->kind == GSIM_CALL_LAUNCH)
            launch(m, call, out->host_ns);
        follow(m, call, out->n_kernels, out->host_ns);
    }
    out->rest_ns = m->app->gap_ns;
    out->host_ns += out->rest_ns;
    out->launch_ns = m->app->launch_ns > 0 ? m->app->launch_ns : out->host_ns;
}

/* A wait at the begin of an iteration may be for launches of the iteration before. */
static void wait_for_last_iteration(struct maker *m) {
    int64_t host_ns = m->out->host_ns;
    for (uint32_t c = 0; c < m->app->n_calls; c++) {
        const struct gsim_app_call *call = &m->app->calls[c];
        uint32_t n_launched = m->calls[c].kernel + (call->kind == GSIM_CALL_LAUNCH);
        host_ns += call->host_ns;
        follow(m, call, m->out->n_kernels + n_launched, host_ns);
    }
}

/* A program that only copies takes turns: there would be no end of what it does without one. */
static void set_apart(struct maker *m) {
    bool takes_turns = false;
    for (uint32_t k = 0; k < m->out->n_kernels; k++)
        takes_turns |= m->kernels[k].unit != GSIM_APP_HOST_COPY;
    for (uint32_t k = 0; k < m->out->n_kernels; k++)
        m->steps[k].is_apart = takes_turns && m->kernels[k].unit == GSIM_APP_HOST_COPY;
}

/* --- the order of touches --------------------------------------------------------------------- */

struct place {
    int64_t from_bytes, to_bytes; /* of the buffer: the first and the last that are touched */
    int64_t at_bytes; /* where the first lies in the memory of an iteration */
};

static void place_behind(struct place *place, int64_t *end_bytes) {
    place->at_bytes = *end_bytes;
    *end_bytes += place->to_bytes - place->from_bytes;
}

/* Buffers of a phase lie behind those that are always there, where those of the other phases lie as
 * well: an iteration has the memory of its largest phase. */
static int64_t lay_out(const struct gsim_app *app, struct place *places) {
    int64_t ends[GSIM_APP_PHASES_MOST + 1] = {0}, end_bytes;
    for (uint32_t b = 0; b < app->n_buffers; b++)
        if (app->buffers[b].phase == 0)
            place_behind(&places[b], &ends[0]);
    end_bytes = ends[0];
    for (uint32_t b = 0; b < app->n_buffers; b++) {
        uint32_t phase = app->buffers[b].phase;
        if (phase == 0)
            continue;
        if (ends[phase] == 0)
            ends[phase] = ends[0];
        place_behind(&places[b], &ends[phase]);
        end_bytes = ends[phase] > end_bytes ? ends[phase] : end_bytes;
    }
    return end_bytes;
}

/* What a launch touches of a buffer, in the size that the buffer has then. */
struct reach {
    int64_t from_bytes, to_bytes;
};

static struct reach reach_of(const struct maker *m, const struct gsim_program_kernel *kernel,
                             const struct gsim_app_extent *extent) {
    const struct gsim_app_buffer *buffer = &m->app->buffers[extent->buffer];
    int64_t bytes = buffer->first_bytes + kernel->again * buffer->grow_bytes;
    return (struct reach){gsim_muldiv_floor(bytes, extent->from_ppm, GSIM_PPM),
                          gsim_muldiv_ceil(bytes, extent->to_ppm, GSIM_PPM)};
}

static void place_buffers(const struct maker *m, struct place *places) {
    for (uint32_t k = 0; k < m->out->n_kernels; k++) {
        const struct gsim_app_kernel *kind = &m->app->kernels[m->kernels[k].kind];
        for (uint32_t t = 0; t < kind->n_touches; t++) {
            struct reach touched = reach_of(m, &m->kernels[k], &kind->touches[t]);
            struct place *place = &places[kind->touches[t].buffer];
            bool is_first = place->to_bytes == 0;
            if (is_first || touched.from_bytes < place->from_bytes)
                place->from_bytes = touched.from_bytes;
            if (touched.to_bytes > place->to_bytes)
                place->to_bytes = touched.to_bytes;
        }
    }
    m->out->order_bytes = lay_out(m->app, places);
}

static uint64_t n_touches_of(const struct maker *m) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < m->out->n_kernels; k++)
        n += m->app->kernels[m->kernels[k].kind].n_touches;
    return n;
}

/* Appends what a kernel touches; returns false where all positions are past 32 bits. */
static bool append_touches(const struct maker *m, uint32_t k, const struct place *places,
                           struct gsim_touch_order *order, struct gsim_touch_part *parts) {
    const struct gsim_program_kernel *kernel = &m->kernels[k];
    int64_t chunk_bytes = m->profile->value[GSIM_KEY_UVM_CHUNK_BYTES];
    int64_t to_ns = m->steps[k].end_ns, from_ns = to_ns - (kernel->ns > 0 ? kernel->ns : 1);
    const struct gsim_app_kernel *kind = &m->app->kernels[kernel->kind];
    uint32_t first_part = order->n_parts, begins_at = order->n;
    for (uint32_t t = 0; t < kind->n_touches; t++) {
        const struct gsim_app_extent *extent = &kind->touches[t];
        const struct place *place = &places[extent->buffer];
        struct reach touched = reach_of(m, kernel, extent);
        int64_t begin = place->at_bytes + touched.from_bytes - place->from_bytes;
        int64_t end = begin + touched.to_bytes - touched.from_bytes;
        uint32_t first = (uint32_t)(begin / chunk_bytes);
        uint32_t n = gsim_chunks_of(end, chunk_bytes) - first;
        if (end <= begin)
            continue;
        if (n > UINT32_MAX - order->n)
            return false;
        parts[order->n_parts++] =
            (struct gsim_touch_part){.from_ns = from_ns,
                                     .to_ns = to_ns,
                                     .first = first,
                                     .n = n,
                                     .at = order->n,
                                     .before = order->n - begins_at,
                                     .is_written = (extent->access & GSIM_ACCESS_WRITE) != 0};
        order->n += n;
    }
    for (uint32_t p = first_part; p < order->n_parts; p++)
        parts[p].all = order->n - begins_at;
    return true;
}

static enum gsim_status order_touches(struct maker *m, struct gsim_arena *arena,
                                      struct gsim_log *log) {
    uint64_t n = n_touches_of(m);
    if (n == 0)
        return GSIM_OK;
    struct place *places = gsim_arena_array(arena, m->app->n_buffers + 1U, sizeof *places);
    struct gsim_touch_order *order = gsim_arena_alloc(arena, sizeof *order);
    struct gsim_touch_part *parts = gsim_arena_array(arena, n, sizeof *parts);
    int64_t *ends_ns = gsim_arena_array(arena, m->out->n_kernels, sizeof *ends_ns);
    if (!places || !order || !parts || !ends_ns)
        return gsim_no_memory(log, "reading the touches of a program");
    place_buffers(m, places);
    *order = (struct gsim_touch_order){.parts = parts,
                                       .ends_ns = ends_ns,
                                       .n_kernels = m->out->n_kernels,
                                       .all_ns = m->out->gpu_ns};
    for (uint32_t k = 0; k < m->out->n_kernels; k++)
        ends_ns[k] = m->steps[k].end_ns;
    order->n_chunks =
        gsim_chunks_of(m->out->order_bytes, m->profile->value[GSIM_KEY_UVM_CHUNK_BYTES]);
    for (uint32_t k = 0; k < m->out->n_kernels; k++)
        if (!append_touches(m, k, places, order, parts))
            return gsim_fail(
                log, GSIM_BAD_INPUT, m->app->path, 0,
                "the kernels of an iteration touch more than 2^32 chunks of %lld bytes "
                "one after another; a kernel that touches a buffer anew counts again",
                (long long)m->profile->value[GSIM_KEY_UVM_CHUNK_BYTES]);
    m->out->order = order->n_parts > 0 ? order : NULL;
    return GSIM_OK;
}

enum gsim_status gsim_program_of(const struct gsim_app *app, const struct gsim_profile *profile,
                                 struct gsim_arena *arena, const struct gsim_program **out,
                                 struct gsim_log *log) {
    *out = NULL;
    if (app->n_calls == 0)
        return GSIM_OK;
    struct gsim_program *program = gsim_arena_alloc(arena, sizeof *program);
    struct maker m = {.app = app, .profile = profile, .out = program};
    if (!program || !reserve(&m, arena))
        return gsim_no_memory(log, "reading a program");
    *program =
        (struct gsim_program){.app = app,
                              .calls = m.calls,
                              .kernels = m.kernels,
                              .steps = m.steps,
                              .n_calls = app->n_calls,
                              .n_streams = app->n_streams,
                              .n_events = app->n_events,
                              .sync_every = app->sync == GSIM_SYNC_NONE ? 0 : app->sync_every};
    enum gsim_status status = time_kernels(&m, log);
    if (status == GSIM_OK)
        status = check_blocks(&m, log);
    if (status != GSIM_OK)
        return status;
    make_calls(&m);
    wait_for_last_iteration(&m);
    set_apart(&m);
    if (program->gpu_ns > GSIM_PROGRAM_MOST_NS)
        return gsim_fail(log, GSIM_BAD_INPUT, app->path, 0,
                         "an iteration of a program takes the GPU ten days at most");
    set_energy(&m);
    *out = program;
    return order_touches(&m, arena, log);
}
