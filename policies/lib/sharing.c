/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of a GPU for a job to share, and the return of a shared GPU to be had whole. */
#include "policies/lib/sharing.h"

#include "policies/lib/common.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

/* The choices of GSIM_QUANTUM_PARAMS. */
enum { SHORT = -1, MEDIUM = -2, LONG = -3, AS_QUANTUM = -4 };

int64_t gsim_sharing_quantum(const struct gsim_ctx *ctx) {
    int64_t value = gsim_param(ctx->params, "slice");
    if (value == AS_QUANTUM)
        value = gsim_param(ctx->params, "quantum");
    switch (value) {
    case SHORT:
        return GSIM_QUANTUM_SHORT;
    case MEDIUM:
        return GSIM_QUANTUM_DEFAULT;
    case LONG:
        return GSIM_QUANTUM_LONG;
    default:
        return value;
    }
}

enum gsim_status gsim_sharing_set_memory(struct gsim_sharing *sharing, struct gsim_ctx *ctx) {
    sharing->how.memory = (enum gsim_memory)gsim_param(ctx->params, "memory");
    return sharing->how.memory ? gsim_settings_manage(ctx, &sharing->how) : GSIM_OK;
}

void gsim_sharing_on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_sharing *sharing = ctx->state;
    gsim_order_append(&sharing->order, &sharing->queue, ctx, slot);
}

static bool arrange_as(const struct gsim_sharing *sharing, struct gsim_plan *plan, uint32_t gpu,
                       const struct gsim_lane *lane, const struct gsim_entry *entry) {
    struct gsim_unit unit = {.gpu = gpu};
    struct gsim_arrangement how = sharing->how;
    how.lanes = lane;
    how.n_lanes = 1;
    how.entries = entry;
    how.n_entries = entry != NULL;
    return gsim_plan_arrange(plan, &unit, 1, &how);
}

bool gsim_sharing_say(const struct gsim_sharing *sharing, struct gsim_plan *plan, uint32_t gpu,
                      const struct gsim_entry *entry) {
    return arrange_as(sharing, plan, gpu, &sharing->lane, entry);
}

/* Arranges a GPU for n_jobs jobs with mem_bytes of memory on it. */
static bool arrange(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                    struct gsim_plan *plan, uint32_t gpu, const struct gsim_entry *entry,
                    uint32_t n_jobs, int64_t mem_bytes) {
    struct gsim_lane lane = sharing->lane;
    if (sharing->adapt)
        sharing->adapt(ctx, &lane, n_jobs, mem_bytes > ctx->view->cluster.hbm_bytes[gpu]);
    return arrange_as(sharing, plan, gpu, &lane, entry);
}

/* Whether jobs that were stopped are still on the GPU. */
static bool is_being_left(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                          uint32_t gpu) {
    bool is_any = false;
    uint32_t n = sharing->order.kind == GSIM_ORDER_LAS ? ctx->view->jobs.n_active : 0;
    for (uint32_t i = 0; i < n && !is_any; i++) {
        gsim_slot slot = ctx->view->jobs.active[i];
        const struct gsim_sharing_job *job = gsim_job_state(ctx, slot);
        uint8_t state = ctx->view->jobs.state[slot];
        is_any = job->gpu == gpu + 1 && (state == GSIM_STOPPING || state == GSIM_SAVING);
    }
    return is_any;
}

static void leave(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                  struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    struct gsim_sharing_job *job = gsim_job_state(ctx, slot);
    struct gsim_unit unit = {.gpu = job->gpu - 1};
    /* Other jobs on their way out may have left the GPU before, and a job may have it whole by
     * now. */
    bool is_empty = job->gpu && view->cluster.is_arranged[unit.gpu] &&
                    view->cluster.clients[unit.gpu] == 0 && !is_being_left(sharing, ctx, unit.gpu);
    if (is_empty)
        (void)gsim_settings_make_whole(ctx, plan, unit.gpu);
    else if (job->gpu && sharing->adapt && view->cluster.clients[unit.gpu] > 0)
        (void)arrange(sharing, ctx, plan, unit.gpu, NULL, view->cluster.clients[unit.gpu],
                      view->cluster.mem_used[unit.gpu]);
    job->gpu = 0;
}

void gsim_sharing_give_back(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                            struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_completed; i++)
        leave(sharing, ctx, plan, view->changes.completed[i]);
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        if (gsim_common_waits(view, view->changes.settled[i]))
            leave(sharing, ctx, plan, view->changes.settled[i]);
}

static int64_t needs(const struct gsim_sharing *sharing, const struct gsim_view *view,
                     gsim_slot slot) {
    return sharing->how.memory == GSIM_MEMORY_RESIDENT ? gsim_job_memory(view, slot) : -1;
}

/* Whether a GPU that is not idle takes one more job. */
static bool is_open(const struct gsim_view_cluster *cluster, uint32_t gpu, int64_t mem_bytes) {
    return cluster->is_arranged[gpu] && cluster->clients[gpu] > 0 &&
           cluster->clients[gpu] < cluster->client_limit[gpu] &&
           (mem_bytes < 0 || cluster->mem_used[gpu] + mem_bytes <= cluster->hbm_bytes[gpu]);
}

/* The GPU that the core shows after that one, but for one that waits to be given back: its last job
 * is on the way out. */
static uint32_t next_with_jobs(struct gsim_ctx *ctx, uint32_t before, int64_t mem_bytes) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t gpu = gsim_ask_open_gpu(ctx, before, mem_bytes);
    while (gpu != cluster->n_gpus && cluster->is_arranged[gpu] && cluster->clients[gpu] == 0)
        gpu = gsim_ask_open_gpu(ctx, gpu, mem_bytes);
    return gpu;
}

/* The open GPU after that one, of those with jobs one that the policy names where it names some;
 * from the cluster's size on the first one, and that size when there is no other. */
static uint32_t next_open(const struct gsim_sharing *sharing, struct gsim_ctx *ctx, gsim_slot slot,
                          uint32_t before, int64_t mem_bytes) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t end = cluster->n_gpus;
    if (!sharing->next_shared)
        return next_with_jobs(ctx, before, mem_bytes);
    if (before == end || gsim_gpu_is_idle(ctx->view, before)) {
        uint32_t idle = gsim_ask_open_gpu(ctx, before, mem_bytes);
        if (idle != end && gsim_gpu_is_idle(ctx->view, idle))
            return idle;
        before = end;
    }
    uint32_t gpu = sharing->next_shared(ctx, slot, before);
    while (gpu < end && !is_open(cluster, gpu, mem_bytes))
        gpu = sharing->next_shared(ctx, slot, gpu);
    return gpu < end ? gpu : end;
}

/* The GPU with the least load that has room; the cluster's size when there is none. Idle GPUs come
 * first, and without a load of the policy the best of the others. */
static uint32_t emptiest(const struct gsim_sharing *sharing, struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t end = ctx->view->cluster.n_gpus, best = end;
    int64_t least = 0, mem_bytes = needs(sharing, ctx->view, slot);
    for (uint32_t gpu = next_open(sharing, ctx, slot, end, mem_bytes); gpu != end;
         gpu = next_open(sharing, ctx, slot, gpu, mem_bytes)) {
        if (!gsim_order_allows(&sharing->order, ctx, gpu, slot) ||
            (sharing->accepts && !sharing->accepts(ctx, gpu, slot)))
            continue;
        if (!sharing->load)
            return gpu;
        int64_t load = sharing->load(ctx, gpu, slot);
        if (best == end || load < least || (load == least && gpu < best)) {
            best = gpu;
            least = load;
        }
        if (least == 0)
            break;
    }
    return best;
}

/* The idle GPU that placement= gives a job, so that jobs of one GPU break up the nodes as they do
 * under a policy that shares nothing; `first` where its GPUs may not be had. */
static uint32_t idle_by_rule(const struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                             struct gsim_plan *plan, gsim_slot slot, uint32_t first) {
    const struct gsim_unit *units;
    uint32_t mark = gsim_plan_mark(plan), gpu = first;
    if (gsim_settings_place(ctx, plan, slot, sharing->rule) &&
        gsim_plan_units(plan, slot, &units) == 1)
        gpu = units[0].gpu;
    gsim_plan_rollback(plan, mark);
    bool is_had = gsim_order_allows(&sharing->order, ctx, gpu, slot) &&
                  (!sharing->accepts || sharing->accepts(ctx, gpu, slot));
    return is_had ? gpu : first;
}

static uint32_t choose(const struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                       struct gsim_plan *plan, gsim_slot slot) {
    uint32_t gpu = emptiest(sharing, ctx, slot);
    bool is_idle = gpu < ctx->view->cluster.n_gpus && gsim_gpu_is_idle(ctx->view, gpu);
    return is_idle ? idle_by_rule(sharing, ctx, plan, slot, gpu) : gpu;
}

static int32_t urgency(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                       gsim_slot slot) {
    if (!sharing->has_two_levels)
        return gsim_common_urgency(ctx, slot);
    return gsim_common_is_realtime(ctx->view, slot);
}

/* Enters the job into one lane with the other jobs; the arrangement is repeated only where the job
 * changes it. The kernels of a real-time job, which no other job halts, stay as they are. */
static bool enter_lane(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                       struct gsim_unit unit) {
    const struct gsim_sharing *sharing = ctx->state;
    const struct gsim_view *view = ctx->view;
    bool is_realtime = gsim_common_is_realtime(view, slot);
    struct gsim_entry entry = {
        .job = slot, .priority = urgency(sharing, ctx, slot), .keeps_kernels = is_realtime};
    if (sharing->has_two_levels && is_realtime)
        entry.quantum_ns = GSIM_TIME_MAX;
    uint32_t n_jobs = view->cluster.clients[unit.gpu] + 1;
    bool says_something = n_jobs == 1 || sharing->adapt ||
                          sharing->lane.discipline == GSIM_DISCIPLINE_PRIORITY ||
                          sharing->lane.discipline == GSIM_DISCIPLINE_PADDING;
    return !says_something ||
           arrange(sharing, ctx, plan, unit.gpu, &entry, n_jobs,
                   view->cluster.mem_used[unit.gpu] + gsim_job_memory(view, slot));
}

/* No GPU is open to the job; with a reservation GPUs are kept from a job by its time, too. */
static void note_closed(struct gsim_sharing *sharing, const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t mem_bytes = gsim_job_memory(ctx->view, slot);
    bool is_by_memory =
        sharing->order.head == GSIM_NO_SLOT && (!sharing->accepts || sharing->accepts_by_memory);
    if (is_by_memory && mem_bytes <= sharing->most_mem_bytes)
        sharing->most_mem_bytes = mem_bytes - 1;
}

bool gsim_sharing_share(struct gsim_sharing *sharing, struct gsim_ctx *ctx, struct gsim_plan *plan,
                        gsim_slot slot) {
    struct gsim_unit unit = {.gpu = choose(sharing, ctx, plan, slot)};
    struct gsim_sharing_job *job = gsim_job_state(ctx, slot);
    if (unit.gpu == ctx->view->cluster.n_gpus) {
        note_closed(sharing, ctx, slot);
        return false;
    }
    uint32_t mark = gsim_plan_mark(plan);
    if (!(sharing->arrange ? sharing->arrange : enter_lane)(ctx, plan, slot, unit) ||
        !gsim_plan_place_on(plan, slot, &unit, 1)) {
        gsim_plan_rollback(plan, mark);
        return false;
    }
    job->gpu = unit.gpu + 1;
    return true;
}

bool gsim_sharing_finds_one(const struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                            gsim_slot slot) {
    return emptiest(sharing, ctx, slot) < ctx->view->cluster.n_gpus;
}

/* --- the queue -------------------------------------------------------------------------------- */

/* A job that comes back may have units that it prefers. */
bool gsim_sharing_place_whole(struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                              struct gsim_plan *plan, gsim_slot slot) {
    return ctx->view->jobs.state[slot] == GSIM_QUEUED
               ? gsim_misfits_place(&sharing->misfits, ctx, plan, slot, sharing->rule)
               : gsim_settings_place(ctx, plan, slot, sharing->rule);
}

static bool place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_sharing *sharing = ctx->state;
    return ctx->view->jobs.gpus[slot] == 1 ? gsim_sharing_share(sharing, ctx, plan, slot)
                                           : gsim_sharing_place_whole(sharing, ctx, plan, slot);
}

static bool wants_whole(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.gpus[slot] > 1;
}

/* A GPU without a job takes any; of one with jobs it is asked as it is now, when there are at least
 * as many. */
static bool holds(const struct gsim_ctx *ctx, const struct gsim_vacancy_gpu *room, uint32_t gpu,
                  gsim_slot slot) {
    const struct gsim_sharing *sharing = ctx->state;
    const struct gsim_view *view = ctx->view;
    if (room->n_jobs > 0 &&
        (!view->cluster.is_arranged[gpu] || room->n_jobs >= view->cluster.client_limit[gpu] ||
         (sharing->accepts && !sharing->accepts(ctx, gpu, slot))))
        return false;
    return sharing->how.memory != GSIM_MEMORY_RESIDENT ||
           room->mem_bytes + gsim_job_memory(view, slot) <= view->cluster.hbm_bytes[gpu];
}

/* The most memory with which a job behind those that found no room may still find some; below 0: no
 * job of this width does. */
static int64_t most(const void *of, const struct gsim_waiting_row *row) {
    const struct gsim_ctx *ctx = of;
    const struct gsim_sharing *sharing = ctx->state;
    uint32_t gpus = sharing->order.line.kind[row->kind].gpus;
    if (gpus == 1)
        return sharing->most_mem_bytes;
    return gsim_misfits_has_width(&sharing->misfits, ctx->view, gpus) ? -1 : INT64_MAX;
}

void gsim_sharing_init(struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                       const struct gsim_lane *lane) {
    gsim_queue_init(&sharing->queue);
    sharing->lane = *lane;
    sharing->rule = gsim_settings_rule(ctx);
    gsim_order_init(&sharing->order, ctx);
    sharing->order.place = place;
    sharing->order.wants_whole = wants_whole;
    sharing->order.most = most;
    sharing->order.holds = holds;
    sharing->order.forget = ctx->policy->on_completion;
}

/* Under las jobs that are stopped leave GPUs within a decide: there no gang speaks for others. */
static struct gsim_misfits misfits_of(const struct gsim_sharing *sharing,
                                      const struct gsim_view *view) {
    struct gsim_misfits none = gsim_misfits_none(view, sharing->rule, false);
    none.is_size_all &=
        sharing->order.kind != GSIM_ORDER_LAS && !gsim_misfits_trial_matters(sharing->rule);
    return none;
}

void gsim_sharing_serve(struct gsim_sharing *sharing, struct gsim_ctx *ctx,
                        struct gsim_plan *plan) {
    gsim_order_begin(&sharing->order, &sharing->queue, ctx);
    gsim_sharing_give_back(sharing, ctx, plan);
    sharing->misfits = misfits_of(sharing, ctx->view);
    sharing->most_mem_bytes = INT64_MAX;
    gsim_order_serve(&sharing->order, &sharing->queue, ctx, plan);
}

void gsim_sharing_on_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_sharing_serve(ctx->state, ctx, plan);
}
