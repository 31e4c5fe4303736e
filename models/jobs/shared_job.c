/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that takes turns, as its row describes it: its process, the arrival times of its requests,
 * the overflow of its memory, and the member as which it joins its arbiter. */
#include <assert.h>

#include "models/jobs/shared_job.h"
#include "models/jobs/process.h"
#include "models/jobs/requests.h"

bool gsim_shared_job_reserve(struct gsim_model *model, gsim_slot slot) {
    struct gsim_shared *shared = &model->shared;
    if (slot < shared->capacity)
        return true;
    struct gsim_shared_job *grown =
        gsim_arena_grow(model->setup.arena, shared->by_slot, shared->capacity * sizeof *grown,
                        model->capacity * sizeof *grown);
    if (!grown)
        return false;
    shared->by_slot = grown;
    shared->capacity = model->capacity;
    return true;
}

static bool add_log(struct gsim_model *model, const struct gsim_request_log *log) {
    struct gsim_shared *shared = &model->shared;
    struct gsim_request_log *grown = gsim_arena_room(
        model->setup.arena, shared->logs, shared->n_logs, &shared->logs_capacity, sizeof *grown);
    if (!grown)
        return false;
    shared->logs = grown;
    shared->logs[shared->n_logs++] = *log;
    return true;
}

/* Draws the arrival times of an open-loop job's requests, from the moment its process stands. */
static bool draw_requests(struct gsim_model *model, struct gsim_process *process, uint32_t index,
                          int64_t now_ns) {
    const struct gsim_trace *trace = model->setup.trace;
    struct gsim_request_law law;
    size_t n = (size_t)process->context.spec.iterations;
    int64_t *arrival_ns = gsim_arena_array(model->setup.arena, n, sizeof *arrival_ns);
    int64_t *latency_ns = gsim_arena_array(model->setup.arena, n, sizeof *latency_ns);
    int64_t name = gsim_trace_get(trace, GSIM_COL_ARRIVAL, index);
    const char *text = name >= 0 ? trace->names[GSIM_COL_ARRIVAL].name[name] : NULL;
    bool is_law = gsim_request_law_parse(text, &law);
    assert(is_law); /* checked when the model was opened */
    process->context.spec.arrival_ns = arrival_ns;
    process->context.spec.latency_ns = latency_ns;
    return arrival_ns && latency_ns &&
           gsim_requests_draw(&law, gsim_trace_get(trace, GSIM_COL_PERIOD_NS, index),
                              model->setup.seed, model->setup.replication, index, now_ns,
                              arrival_ns, (int64_t)n) &&
           add_log(model, &(struct gsim_request_log){index, 0, arrival_ns, latency_ns});
}

static struct gsim_shared_job *describe(struct gsim_model *model, gsim_slot slot,
                                        const struct gsim_profile *profile, int64_t now_ns) {
    if (!gsim_shared_job_reserve(model, slot))
        return NULL;
    struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (sharer->is_described)
        return sharer;
    sharer->process = gsim_process_of(model->setup.trace, about->index, profile,
                                      model->gpus[about->units[0].gpu].parts);
    if (sharer->process.is_open_loop &&
        !draw_requests(model, &sharer->process, about->index, now_ns))
        return NULL;
    sharer->log = model->shared.n_logs - 1; /* of an open-loop job */
    sharer->is_described = true;
    return sharer;
}

static int64_t working_set(const struct gsim_trace *trace, uint32_t index) {
    int64_t bytes = gsim_trace_get(trace, GSIM_COL_WORKING_SET_BYTES, index);
    return bytes >= 0 ? bytes : gsim_trace_get(trace, GSIM_COL_MEM_BYTES, index);
}

/* Memory that the job does not touch goes out first. An iteration of its context is several of the
 * row's, or a part of one. */
struct gsim_overflow gsim_shared_job_overflow(struct gsim_model *model, gsim_slot slot,
                                              const struct gsim_profile *profile) {
    const struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    uint32_t index = gsim_machine_info(model, slot)->index;
    const struct gsim_process *process = &sharer->process;
    int64_t beyond = working_set(model->setup.trace, index) - sharer->how.mem_cap_bytes;
    if (sharer->how.mem_cap_bytes == 0 || beyond <= 0)
        return (struct gsim_overflow){0};
    if (process->iterations > 0)
        beyond = gsim_muldiv_ceil(beyond, process->iterations, process->context.spec.iterations);
    model->shared.has_overflown = true;
    model->shared.has_key[GSIM_KEY_PCIE_D2H] = model->shared.has_key[GSIM_KEY_PCIE_H2D] = true;
    return gsim_overflow_of(beyond, profile);
}

/* The job's lane: that of its instance, or of its entry; without either the first lane. */
static uint16_t lane_entered(const struct gsim_model *model, gsim_slot slot, uint32_t gpu) {
    uint16_t instance = gsim_machine_info(model, slot)->units[0].slot;
    uint16_t lane = model->shared.by_slot[slot].how.lane;
    if (instance > 0)
        return (uint16_t)(instance - 1);
    return lane < model->gpus[gpu].n_lanes ? lane : 0;
}

/* The order in which the job's program touches its memory. The row may say another size of it, and
 * a gang's memory lies on several GPUs: then it is not known. */
static const struct gsim_touch_order *order_of(const struct gsim_model *model, gsim_slot slot,
                                               const struct gsim_profile *profile) {
    const struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    const struct gsim_program *program = sharer->process.context.spec.program;
    uint32_t index = gsim_machine_info(model, slot)->index;
    if (!program || !program->order || gsim_machine_info(model, slot)->gpus != 1)
        return NULL;
    uint32_t n_chunks = gsim_chunks_of(working_set(model->setup.trace, index),
                                       profile->value[GSIM_KEY_UVM_CHUNK_BYTES]);
    return program->order->n_chunks == n_chunks ? program->order : NULL;
}

static struct gsim_tenant_spec tenant_of(struct gsim_model *model, gsim_slot slot,
                                         const struct gsim_profile *profile) {
    const struct gsim_trace *trace = model->setup.trace;
    uint32_t index = gsim_machine_info(model, slot)->index;
    return (struct gsim_tenant_spec){.owner = slot,
                                     .used_bytes = working_set(trace, index),
                                     .allocated_bytes =
                                         gsim_trace_get(trace, GSIM_COL_MEM_BYTES, index),
                                     .yields = model->shared.by_slot[slot].how.memory_yields,
                                     .overflow = gsim_shared_job_overflow(model, slot, profile),
                                     .order = order_of(model, slot, profile)};
}

/* On a GPU that is not arranged each job has a lane of its own, in which nothing halts it. */
static struct gsim_lane lane_of(const struct gsim_model *model, uint32_t gpu, uint16_t place) {
    if (!model->gpus[gpu].takes_turns)
        return (struct gsim_lane){.discipline = GSIM_DISCIPLINE_RR};
    return gsim_arbiter_lane(model->shared.of_gpu[gpu], place);
}

struct gsim_member gsim_shared_job_member(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                          const struct gsim_profile *profile) {
    const struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    const struct gsim_site site = {model->setup.trace, gsim_machine_info(model, slot)->index,
                                   profile, sharer->rate_q32};
    struct gsim_member member = gsim_process_member(&sharer->process, &site);
    member.how = sharer->how;
    member.how.job = slot;
    member.how.lane = lane_entered(model, slot, gpu);
    member.tenant.spec = tenant_of(model, slot, profile);
    struct gsim_lane lane = lane_of(model, gpu, member.how.lane);
    if (!sharer->how.keeps_kernels)
        member.context.spec.gpu_ns = gsim_kernel_stop_form_ns(
            &lane, profile, member.context.spec.gpu_ns, member.context.spec.kernels);
    member.context.spec.gpu_ns += member.tenant.spec.overflow.ns;
    return member;
}

/* Elsewhere than where the job left its context, service is time, and behind its last kernel. */
int64_t gsim_shared_job_alone_ns(const struct gsim_model *model, gsim_slot slot, gsim_work done) {
    int64_t done_ns = gsim_work_to_ns(done);
    if (slot >= model->shared.capacity)
        return done_ns;
    const struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    bool is_there = sharer->has_left && sharer->left_done == done;
    if (!is_there || sharer->has_worked || sharer->process.is_open_loop)
        return done_ns;
    int64_t pause_ns = gsim_context_pause_ns(&sharer->left, sharer->left_ns);
    pause_ns = gsim_work_to_ns((gsim_work)pause_ns * sharer->rate_q32);
    return gsim_process_alone_ns(&sharer->process, done_ns, pause_ns);
}

/* Requests are served anew: they are not work that a checkpoint holds. */
int64_t gsim_shared_job_kept_ns(const struct gsim_model *model, gsim_slot slot, int64_t done_ns,
                                int64_t checkpoint_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    uint32_t index = gsim_machine_info(model, slot)->index;
    if (gsim_trace_get(model->setup.trace, GSIM_COL_REQUESTS, index) > 0)
        return 0;
    bool is_stored = job->phase == IDLE && job->keep == GSIM_KEEP_STORAGE;
    int64_t stored_ns = is_stored ? done_ns : gsim_shared_job_alone_ns(model, slot, job->stored);
    int64_t kept_ns = checkpoint_ns > 0 ? done_ns / checkpoint_ns * checkpoint_ns : 0;
    return kept_ns > stored_ns ? kept_ns : stored_ns;
}

/* Finds where the job goes on: where it left, unless it ran elsewhere meanwhile or lost its
 * work. */
static void find_place(struct gsim_shared_job *sharer, gsim_work done,
                       const struct gsim_context *whole) {
    bool is_there = sharer->has_left ? done == sharer->left_done : done == 0;
    if (!is_there && !sharer->process.is_open_loop) {
        int64_t taken_ns = sharer->left.sums.taken_ns;
        sharer->left = *whole;
        sharer->left.sums.taken_ns = taken_ns;
        int64_t pause_ns = gsim_process_put(&sharer->process, gsim_work_to_ns(done), &sharer->left);
        sharer->left.times.launch_ns = gsim_process_time_ns(pause_ns, sharer->rate_q32);
        sharer->left_ns = 0;
        sharer->has_left = true;
    }
    if (sharer->has_left)
        gsim_process_repace(&sharer->left, whole);
    sharer->has_worked =
        gsim_context_is_done(sharer->has_left ? &sharer->left : &sharer->process.context);
}

struct gsim_shared_job *gsim_shared_job_come(struct gsim_model *model, gsim_slot slot,
                                             uint64_t rate_q32, int64_t now_ns,
                                             struct gsim_member *newcomer) {
    const struct gsim_profile *profile = gsim_machine_profile_of(model, slot);
    struct gsim_shared_job *sharer = describe(model, slot, profile, now_ns);
    if (!sharer)
        return NULL;
    sharer->how.job = slot;
    sharer->rate_q32 = rate_q32;
    *newcomer =
        gsim_shared_job_member(model, slot, gsim_machine_info(model, slot)->units[0].gpu, profile);
    find_place(sharer, model->progress[slot].done, &newcomer->context);
    return sharer;
}

/* --- joining ---------------------------------------------------------------------------------- */

/* A kernel begins if some of the blocks are left. The cap is in kernels, and in blocks where a
 * program says how many its kernels have. */
static struct gsim_launch_cap launch_cap(const struct gsim_model *model,
                                         const struct gsim_entry *how) {
    int64_t blocks = gsim_trace_get(model->setup.trace, GSIM_COL_BLOCKS,
                                    gsim_machine_info(model, how->job)->index);
    return (struct gsim_launch_cap){how->launch_cap / (blocks > 0 ? blocks : 1) + 1,
                                    how->launch_refill_ns, blocks <= 0};
}

/* A share of the time is a number of kernels at once, in a period that is long enough for them: at
 * least the named period. How a context uses the time that other contexts leave is not limited. */
static struct gsim_launch_cap share_time(const struct gsim_entry *how,
                                         const struct gsim_context *context) {
    int64_t kernel_ns = (context->spec.gpu_ns + context->spec.kernels - 1) / context->spec.kernels;
    int64_t part_ns = gsim_muldiv_ceil(how->launch_refill_ns, how->launch_share_ppm, GSIM_PPM);
    struct gsim_launch_cap cap = {(part_ns + kernel_ns - 1) / kernel_ns, GSIM_TIME_MAX, false};
    if (kernel_ns < GSIM_TIME_MAX / GSIM_PPM / cap.n)
        cap.refill_ns = gsim_muldiv_ceil(cap.n * kernel_ns, GSIM_PPM, how->launch_share_ppm);
    return cap;
}

struct gsim_launch_cap gsim_shared_job_cap(const struct gsim_model *model,
                                           const struct gsim_entry *how,
                                           const struct gsim_context *context) {
    if (how->launch_share_ppm > 0 && how->launch_refill_ns > 0)
        return share_time(how, context);
    return launch_cap(model, how);
}

bool gsim_shared_job_is_capped_alike(const struct gsim_model *model, const struct gsim_entry *was,
                                     const struct gsim_entry *is) {
    return was->launch_refill_ns == is->launch_refill_ns &&
           was->launch_share_ppm == is->launch_share_ppm &&
           (was->launch_refill_ns == 0 || launch_cap(model, was).n == launch_cap(model, is).n);
}

struct gsim_watched_work gsim_shared_job_watched(const struct gsim_model *model, gsim_slot slot,
                                                 const struct gsim_context *context) {
    struct gsim_watched_work watched = {.iterations = -1};
    if (model->jobs[slot].threshold_ns >= 0)
        gsim_process_locate(&model->shared.by_slot[slot].process, context,
                            model->jobs[slot].threshold_ns, &watched.iterations, &watched.done);
    return watched;
}

/* Memory that the job has parked here is that of the newcomer; bytes that it moves are counted from
 * zero. */
static enum gsim_arrival fetch_memory(struct gsim_shared_job *sharer,
                                      struct gsim_member *newcomer) {
    const struct gsim_tenant *parked = &sharer->parked.tenant;
    struct gsim_overflow overflow = newcomer->tenant.spec.overflow;
    if (!sharer->has_left)
        return GSIM_ARRIVAL_NEW;
    if (!sharer->is_parked)
        return GSIM_ARRIVAL_CARRIED;
    sharer->is_parked = false;
    newcomer->tenant =
        (struct gsim_tenant){.spec = parked->spec, .used = parked->used, .unused = parked->unused};
    newcomer->tenant.spec.overflow = overflow;
    newcomer->state.stall_ns = sharer->parked.stall_ns;
    return GSIM_ARRIVAL_PARKED;
}

enum gsim_arrival gsim_shared_job_ready(struct gsim_model *model, gsim_slot slot,
                                        struct gsim_member *newcomer, int64_t now_ns) {
    struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    struct gsim_context *context = &newcomer->context;
    bool is_capped = sharer->has_left || sharer->how.launch_refill_ns > 0;
    if (sharer->has_left)
        *context = sharer->left;
    struct gsim_launch_cap cap = gsim_shared_job_cap(model, &sharer->how, context);
    enum gsim_arrival arrival = fetch_memory(sharer, newcomer);
    struct gsim_watched_work watched = gsim_shared_job_watched(model, slot, context);
    newcomer->watch_iterations = watched.iterations;
    newcomer->watch_done = watched.done;
    if (sharer->has_left)
        gsim_context_restart(context, sharer->left_ns, now_ns);
    else
        gsim_context_start(context, now_ns);
    if (is_capped)
        gsim_context_cap(context, &cap, now_ns);
    return arrival;
}
