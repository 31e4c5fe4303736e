/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA's multi-instance GPUs: a GPU is cut into instances, each with SMs, memory and bandwidth of
 * its own, so that jobs beside each other do not slow each other down. Every job of one GPU has an
 * instance, the smallest that holds its memory and, when it asks for a part of a GPU, that part.
 * Jobs start in order of arrival. Either all GPUs are cut in one way for the whole run
 * (layout=3g+2g+1g), or, layout=auto, an empty GPU is cut for the jobs that wait: for as many as
 * fit, in their order, and the rest into instances as large as possible. A GPU with jobs is never
 * cut, so the first job that finds no instance lets GPUs drain. Gangs and jobs too large have whole
 * GPUs. Source: NVIDIA, "Multi-Instance GPU user guide": profiles, their places, and the rules for
 * changing them. */
#include <stdio.h>
#include <string.h>

#include "policies/lib/common.h"
#include "policies/lib/misfits.h"
#include "policies/lib/order.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "sim/base/bitset.h"

enum { LAYOUT_TEXT = GSIM_INSTANCES_MAX * 32 };

/* The cut of a GPU, and its taken instances. */
struct mig_gpu {
    struct gsim_partition cut; /* n 0: the GPU is whole */
    uint32_t taken; /* instances, as bits */
};

/* Instances that hold equal jobs, and the GPUs with a free one. */
struct mig_size {
    uint32_t part_ppm;
    int64_t mem_bytes;
    struct gsim_bitset with_free;
};

struct mig {
    struct gsim_queue queue;
    struct gsim_order order; /* of the queue */
    enum gsim_rule rule;
    struct mig_gpu *gpu;
    struct gsim_partition *kinds; /* instances that the GPU supports, by type of GPU */
    uint32_t n_types;
    const char *layout; /* NULL: auto */
    bool is_cut; /* all GPUs are cut by the layout */
    struct mig_size *sizes; /* of all instances so far */
    uint32_t n_sizes, size_capacity;
    struct gsim_bitset unused; /* GPUs that are cut, and have no instance taken */
    /* What the jobs that found no room in this decide say of those behind them: no job of one GPU
     * with more memory than this finds any, and no gang that is as wide as this. */
    int64_t most_mem_bytes;
    uint32_t closed_width;
    /* The number of GPUs is all that decides whether a gang fits. Then a gang that finds GPUs
     * enough, but on too many nodes, speaks for those as wide as well: it has made all empty GPUs
     * whole, and one that is cut later in the decide is taken at once by the job that it is cut
     * for. */
    bool is_width_all;
};

struct mig_job {
    struct gsim_order_job order; /* first: the queue finds it there */
    struct gsim_unit unit; /* its instance; slot 0: none */
};

/* A job that asks for whole GPUs does not name the part that it needs. */
static bool can_hold(const struct gsim_view *view, uint32_t part_ppm, int64_t mem_bytes,
                     uint32_t job) {
    uint32_t share = gsim_trace_share(view->trace, job);
    return gsim_trace_get(view->trace, GSIM_COL_MEM_BYTES, job) <= mem_bytes &&
           (share == GSIM_PPM || share <= part_ppm);
}

static bool holds(const struct gsim_view *view, const struct gsim_instance *instance,
                  uint32_t job) {
    return can_hold(view, instance->part_ppm, instance->mem_bytes, job);
}

/* The last of the smallest kinds, as kinds are ordered from the largest on; the number of kinds
 * when none holds the job. */
static uint32_t smallest(const struct gsim_view *view, const struct gsim_partition *kinds,
                         uint32_t job) {
    uint32_t best = kinds->n;
    for (uint32_t i = 0; i < kinds->n; i++)
        if (holds(view, &kinds->instance[i], job) &&
            (best == kinds->n || kinds->instance[i].part_ppm <= kinds->instance[best].part_ppm))
            best = i;
    return best;
}

static const struct gsim_partition *kinds_of(const struct gsim_ctx *ctx, uint32_t gpu) {
    return &((const struct mig *)ctx->state)->kinds[ctx->view->cluster.type[gpu]];
}

static bool needs_whole(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct mig *mig = ctx->state;
    uint32_t n_holding = 0;
    for (uint32_t type = 0; type < mig->n_types; type++)
        n_holding += smallest(ctx->view, &mig->kinds[type], ctx->view->jobs.index[slot]) <
                     mig->kinds[type].n;
    return ctx->view->jobs.gpus[slot] > 1 || n_holding == 0;
}

/* --- which GPUs have free instances */

/* NULL: there is no memory. */
static struct mig_size *size_of(struct gsim_ctx *ctx, const struct gsim_instance *instance) {
    struct mig *mig = ctx->state;
    for (uint32_t i = 0; i < mig->n_sizes; i++)
        if (mig->sizes[i].part_ppm == instance->part_ppm &&
            mig->sizes[i].mem_bytes == instance->mem_bytes)
            return &mig->sizes[i];
    struct mig_size *grown =
        gsim_arena_room(ctx->arena, mig->sizes, mig->n_sizes, &mig->size_capacity, sizeof *grown);
    if (!grown)
        return NULL;
    mig->sizes = grown;
    struct mig_size *size = &mig->sizes[mig->n_sizes];
    *size = (struct mig_size){.part_ppm = instance->part_ppm, .mem_bytes = instance->mem_bytes};
    if (!gsim_bitset_init(&size->with_free, ctx->arena, ctx->view->cluster.n_gpus))
        return NULL;
    mig->n_sizes++;
    return size;
}

/* The GPU has been cut, or one of its instances taken or left. */
static void note_free(struct gsim_ctx *ctx, uint32_t gpu) {
    struct mig *mig = ctx->state;
    const struct mig_gpu *one = &mig->gpu[gpu];
    gsim_bitset_remove(&mig->unused, gpu);
    if (one->cut.n > 0 && one->taken == 0)
        gsim_bitset_add(&mig->unused, gpu);
    for (uint32_t i = 0; i < mig->n_sizes; i++)
        gsim_bitset_remove(&mig->sizes[i].with_free, gpu);
    for (uint32_t i = 0; i < one->cut.n; i++) {
        struct mig_size *size = one->taken >> i & 1 ? NULL : size_of(ctx, &one->cut.instance[i]);
        if (size)
            gsim_bitset_add(&size->with_free, gpu);
        else if (!(one->taken >> i & 1))
            gsim_common_no_memory(ctx);
    }
}

/* The first free instance of the GPU that holds the job and is this part of it. */
static struct gsim_unit first_free(const struct mig *mig, const struct gsim_view *view,
                                   gsim_slot slot, uint32_t gpu, uint32_t part_ppm) {
    const struct mig_gpu *one = &mig->gpu[gpu];
    for (uint32_t i = 0; i < one->cut.n; i++)
        if (!(one->taken >> i & 1) && one->cut.instance[i].part_ppm == part_ppm &&
            holds(view, &one->cut.instance[i], view->jobs.index[slot]))
            return (struct gsim_unit){.gpu = gpu, .slot = (uint16_t)(i + 1)};
    return (struct gsim_unit){0};
}

/* A GPU of a node that has failed keeps its cut, and has room for no job. */
static bool is_down(const struct gsim_view *view, uint32_t gpu) {
    return view->cluster.node_is_down[view->cluster.node_of_gpu[gpu]];
}

/* The first GPU on which the job may have a free instance of the size. */
static uint32_t first_with(const struct mig *mig, const struct gsim_ctx *ctx, gsim_slot slot,
                           const struct mig_size *size) {
    uint32_t gpu = gsim_bitset_first(&size->with_free);
    while (gpu != UINT32_MAX &&
           (is_down(ctx->view, gpu) || !gsim_order_allows(&mig->order, ctx, gpu, slot)))
        gpu = gsim_bitset_next(&size->with_free, gpu + 1);
    return gpu;
}

/* The smallest free instance that holds the job, on the first GPU with one; .slot 0: there is
 * none. */
static struct gsim_unit best_free(const struct mig *mig, const struct gsim_ctx *ctx,
                                  gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    uint32_t best_ppm = UINT32_MAX, best = UINT32_MAX;
    for (uint32_t i = 0; i < mig->n_sizes; i++) {
        const struct mig_size *size = &mig->sizes[i];
        uint32_t gpu = size->part_ppm > best_ppm || !can_hold(view, size->part_ppm, size->mem_bytes,
                                                              view->jobs.index[slot])
                           ? UINT32_MAX
                           : first_with(mig, ctx, slot, size);
        if (gpu == UINT32_MAX || (size->part_ppm == best_ppm && gpu > best))
            continue;
        best = gpu;
        best_ppm = size->part_ppm;
    }
    return best == UINT32_MAX ? (struct gsim_unit){0} : first_free(mig, view, slot, best, best_ppm);
}

static bool cut(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu, const char *layout) {
    struct mig *mig = ctx->state;
    struct gsim_partition partition = {0};
    if (*layout && gsim_ask_layout(ctx, gpu, layout, &partition, ctx->log) != GSIM_OK)
        return false;
    if (!gsim_plan_partition(plan, gpu, layout))
        return false;
    mig->gpu[gpu] = (struct mig_gpu){.cut = partition};
    note_free(ctx, gpu);
    return true;
}

/* The first cut GPU from this one on without a job, and without memory of one that leaves. */
static uint32_t next_unused(const struct mig *mig, const struct gsim_view *view, uint32_t gpu) {
    gpu = gsim_bitset_next(&mig->unused, gpu);
    while (gpu != UINT32_MAX && (view->cluster.mem_used[gpu] != 0 || is_down(view, gpu)))
        gpu = gsim_bitset_next(&mig->unused, gpu + 1);
    return gpu;
}

/* The empty GPUs in their order: idle ones, and cut ones without a job. */
struct empties {
    uint32_t idle, unused; /* the next of each; the cluster's size: none */
};

/* GPUs with jobs in their instances stand behind the idle ones. */
static uint32_t next_idle(struct gsim_ctx *ctx, uint32_t before) {
    uint32_t gpu = gsim_ask_open_gpu(ctx, before, -1), end = ctx->view->cluster.n_gpus;
    return gpu < end && gsim_gpu_is_idle(ctx->view, gpu) ? gpu : end;
}

static uint32_t next_empty(struct gsim_ctx *ctx, struct empties *next) {
    const struct gsim_view *view = ctx->view;
    uint32_t gpu = next->idle < next->unused ? next->idle : next->unused;
    if (gpu >= view->cluster.n_gpus)
        return UINT32_MAX;
    if (gpu == next->idle)
        next->idle = next_idle(ctx, gpu);
    else
        next->unused = next_unused(ctx->state, view, gpu + 1);
    return gpu;
}

static struct empties empties_begin(struct gsim_ctx *ctx) {
    return (struct empties){next_idle(ctx, ctx->view->cluster.n_gpus),
                            next_unused(ctx->state, ctx->view, 0)};
}

/* --- cutting for the jobs that wait ----------------------------------------------------------- */

/* Adds an instance to a layout if the GPU supports it beside the others. */
static bool add(const struct gsim_ctx *ctx, uint32_t gpu, char *layout, const char *name) {
    struct gsim_partition partition;
    struct gsim_log quiet = {0};
    size_t length = strlen(layout);
    int n = snprintf(layout + length, LAYOUT_TEXT - length, "%s%s", length ? "+" : "", name);
    if ((size_t)n < LAYOUT_TEXT - length &&
        gsim_ask_layout(ctx, gpu, layout, &partition, &quiet) == GSIM_OK)
        return true;
    layout[length] = '\0';
    return false;
}

/* Cuts for waiting jobs in their order, as far as they fit; then into large instances first. */
static void plan_layout(const struct gsim_ctx *ctx, uint32_t gpu, char *layout) {
    const struct gsim_view *view = ctx->view;
    const struct gsim_partition *kinds = kinds_of(ctx, gpu);
    bool fits = true;
    layout[0] = '\0';
    const struct mig *mig = ctx->state;
    gsim_slot slot = mig->queue.first;
    for (; fits && slot != GSIM_NO_SLOT; slot = gsim_queue_after(ctx, slot)) {
        if (mig->order.kind != GSIM_ORDER_FIFO && view->jobs.gpus[slot] > 1)
            continue;
        uint32_t kind = smallest(view, kinds, view->jobs.index[slot]);
        fits = view->jobs.gpus[slot] == 1 && kind < kinds->n &&
               add(ctx, gpu, layout, kinds->instance[kind].name);
    }
    for (uint32_t i = 0; i < kinds->n; i++)
        while (add(ctx, gpu, layout, kinds->instance[i].name))
            continue;
}

/* Cuts an empty GPU for the first job, which finds no instance of its size. */
static bool cut_for_queue(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot first) {
    char layout[LAYOUT_TEXT];
    const struct mig *mig = ctx->state;
    struct empties empties = empties_begin(ctx);
    for (uint32_t gpu; (gpu = next_empty(ctx, &empties)) != UINT32_MAX;) {
        const struct gsim_partition *kinds = kinds_of(ctx, gpu);
        if (!gsim_order_allows(&mig->order, ctx, gpu, first) ||
            smallest(ctx->view, kinds, ctx->view->jobs.index[first]) == kinds->n)
            continue;
        plan_layout(ctx, gpu, layout);
        return cut(ctx, plan, gpu, layout);
    }
    return false;
}

static bool is_exact(const struct gsim_ctx *ctx, gsim_slot slot, struct gsim_unit unit) {
    const struct mig *mig = ctx->state;
    if (unit.slot == 0)
        return false;
    const struct gsim_partition *kinds = kinds_of(ctx, unit.gpu);
    uint32_t kind = smallest(ctx->view, kinds, ctx->view->jobs.index[slot]);
    return mig->gpu[unit.gpu].cut.instance[unit.slot - 1].part_ppm ==
           kinds->instance[kind].part_ppm;
}

static uint32_t count_empty(const struct mig *mig, const struct gsim_view *view, uint32_t most) {
    uint32_t n = view->cluster.n_idle_gpus;
    for (uint32_t gpu = next_unused(mig, view, 0); gpu != UINT32_MAX && n < most;
         gpu = next_unused(mig, view, gpu + 1))
        n++;
    return n;
}

/* A job of one GPU found no room. Where no GPU is empty none is cut for another one in this decide,
 * and instances are only taken. A job that fills a GPU with its process's context may be as large
 * as one with less memory of its own, and speaks for none. */
static void note_closed(struct mig *mig, const struct gsim_view *view, gsim_slot slot) {
    int64_t mem_bytes = gsim_job_memory(view, slot);
    if (mem_bytes <= mig->most_mem_bytes && mem_bytes < view->cluster.hbm_bytes[0] &&
        count_empty(mig, view, 1) == 0)
        mig->most_mem_bytes = mem_bytes - 1;
}

/* Takes an instance of the right size; cuts a GPU to get one; otherwise takes a larger instance. */
static bool place_in_instance(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct mig *mig = ctx->state;
    struct mig_job *job = gsim_job_state(ctx, slot);
    struct gsim_unit unit = best_free(mig, ctx, slot);
    if (!mig->layout && !is_exact(ctx, slot, unit) && cut_for_queue(ctx, plan, slot))
        unit = best_free(mig, ctx, slot);
    if (unit.slot == 0)
        note_closed(mig, ctx->view, slot);
    if (unit.slot == 0 || !gsim_plan_place_on(plan, slot, &unit, 1))
        return false;
    mig->gpu[unit.gpu].taken |= 1u << (unit.slot - 1);
    note_free(ctx, unit.gpu);
    job->unit = unit;
    return true;
}

/* Makes empty GPUs whole until there are enough. */
static bool place_whole(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct mig *mig = ctx->state;
    const struct gsim_view *view = ctx->view;
    uint32_t width = view->jobs.gpus[slot];
    if (count_empty(mig, view, width) < width) {
        if (width == 1)
            note_closed(mig, view, slot);
        else if (width < mig->closed_width)
            mig->closed_width = width;
        return false;
    }
    bool is_placed = gsim_settings_place(ctx, plan, slot, mig->rule);
    for (uint32_t gpu = next_unused(mig, view, 0); !is_placed && gpu != UINT32_MAX;
         gpu = next_unused(mig, view, gpu + 1)) {
        if (!cut(ctx, plan, gpu, ""))
            return false;
        is_placed = gsim_settings_place(ctx, plan, slot, mig->rule);
    }
    if (!is_placed && mig->is_width_all && width < mig->closed_width)
        mig->closed_width = width;
    return is_placed;
}

static bool place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    return needs_whole(ctx, slot) ? place_whole(ctx, plan, slot)
                                  : place_in_instance(ctx, plan, slot);
}

static int64_t most(const void *of, const struct gsim_waiting_row *row) {
    const struct gsim_ctx *ctx = of;
    const struct mig *mig = ctx->state;
    uint32_t gpus = mig->order.line.kind[row->kind].gpus;
    return gpus == 1 ? mig->most_mem_bytes : gpus >= mig->closed_width ? -1 : INT64_MAX;
}

/* Whether jobs may speak for others: they differ in memory alone, and all GPUs can be cut alike. */
static bool is_by_memory(const struct gsim_ctx *ctx, const struct mig *mig) {
    return mig->order.kind == GSIM_ORDER_BACKFILL && mig->n_types == 1 &&
           !ctx->view->trace->column[GSIM_COL_SHARE_PPM];
}

/* Whether a GPU with fewer jobs has an instance for the job; an empty one is cut for it. */
static bool has_room(const struct gsim_ctx *ctx, const struct gsim_vacancy_gpu *room, uint32_t gpu,
                     gsim_slot slot) {
    const struct mig *mig = ctx->state;
    const struct gsim_partition *cut_so = &mig->gpu[gpu].cut, *kinds = kinds_of(ctx, gpu);
    uint32_t job = ctx->view->jobs.index[slot];
    bool has = room->n_jobs == 0 && !mig->layout && smallest(ctx->view, kinds, job) < kinds->n;
    for (uint32_t i = 0; i < cut_so->n && !has; i++)
        has = !(room->instances >> i & 1) && holds(ctx->view, &cut_so->instance[i], job);
    return has;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct mig *mig = ctx->state;
    struct mig_job *job = gsim_job_state(ctx, slot);
    if (job->unit.slot == 0)
        return;
    mig->gpu[job->unit.gpu].taken &= ~(1u << (job->unit.slot - 1));
    note_free(ctx, job->unit.gpu);
    job->unit.slot = 0;
}

/* --- the policy ------------------------------------------------------------------------------- */

/* When all GPUs are cut for the whole run, every job must fit an instance. */
static enum gsim_status check_layout(const struct gsim_ctx *ctx, uint32_t gpu, const char *layout) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct gsim_partition cut_so;
    enum gsim_status status = gsim_ask_layout(ctx, gpu, layout, &cut_so, ctx->log);
    const struct gsim_instance *largest = cut_so.instance;
    for (uint32_t i = 1; status == GSIM_OK && i < cut_so.n; i++)
        if (cut_so.instance[i].mem_bytes > largest->mem_bytes)
            largest = &cut_so.instance[i];
    for (uint32_t job = 0; status == GSIM_OK && job < trace->n_jobs; job++)
        if (gsim_trace_gpus(trace, job) > 1 || smallest(ctx->view, &cut_so, job) == cut_so.n)
            status =
                gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                          "job '%s' fits no instance of mig.layout=%s, the largest of which (%s) "
                          "has %lld MiB and %u %% of a GPU; layout=auto gives such jobs whole GPUs",
                          gsim_trace_id(trace, job), layout, largest->name,
                          (long long)(largest->mem_bytes >> 20), largest->part_ppm / 10000);
    return status;
}

/* Asks for the instances of each type of GPU; a GPU that cannot be cut has no kinds. */
static enum gsim_status ask_kinds(const struct gsim_ctx *ctx, struct mig *mig) {
    const struct gsim_view *view = ctx->view;
    enum gsim_status status = GSIM_OK;
    uint32_t n_kinds = 0;
    for (uint32_t gpu = 0; gpu < view->cluster.n_gpus; gpu++) {
        struct gsim_log quiet = {0};
        if (gpu > 0 && view->cluster.type[gpu] < mig->n_types)
            continue;
        mig->n_types = view->cluster.type[gpu] + 1u;
        if (gsim_ask_layout(ctx, gpu, NULL, &mig->kinds[mig->n_types - 1], &quiet) == GSIM_OK)
            n_kinds += mig->kinds[mig->n_types - 1].n;
        if (mig->layout && status == GSIM_OK)
            status = check_layout(ctx, gpu, mig->layout);
    }
    if (status == GSIM_OK && n_kinds == 0)
        gsim_warn(ctx->log, NULL, 0,
                  "policy 'mig': no GPU of the cluster can be cut into instances, so every job has "
                  "whole GPUs");
    return status;
}

/* A job that gives neither its memory nor a part of a GPU has the smallest instance. */
static void warn_of_unknown_sizes(const struct gsim_ctx *ctx, const struct mig *mig) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n = 0, type = 0;
    while (type < mig->n_types && mig->kinds[type].n == 0)
        type++;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        n += gsim_trace_gpus(trace, job) == 1 && gsim_trace_share(trace, job) == GSIM_PPM &&
             gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job) <= 0;
    if (n == 0 || type == mig->n_types || mig->layout)
        return;
    const struct gsim_partition *kinds = &mig->kinds[type];
    const struct gsim_instance *least = &kinds->instance[kinds->n - 1];
    gsim_warn(ctx->log, trace->path, 0,
              "policy 'mig': %u of %u jobs give neither column 'mem_gib' nor a part of a GPU, and "
              "layout=auto cuts GPUs for the memory of jobs: they get instances such as %s, with "
              "%.1f %% of a GPU; give their memory with --assume mem_gib=SIZE, or a layout "
              "(mig.layout)",
              n, trace->n_jobs, least->name, least->part_ppm / 1e4);
}

static enum gsim_status open_mig(struct gsim_ctx *ctx) {
    struct mig *mig = ctx->state;
    const char *layout = gsim_param_full(ctx->params, "layout")->text;
    gsim_queue_init(&mig->queue);
    gsim_order_init(&mig->order, ctx);
    mig->order.place = place;
    mig->order.wants_whole = needs_whole;
    mig->order.holds = has_room;
    mig->order.forget = on_completion;
    mig->order.places_for_good = true;
    mig->rule = gsim_settings_rule(ctx);
    mig->layout = strcmp(layout, "auto") == 0 ? NULL : layout;
    mig->gpu = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *mig->gpu);
    mig->kinds = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *mig->kinds);
    if (!mig->gpu || !mig->kinds ||
        !gsim_bitset_init(&mig->unused, ctx->arena, ctx->view->cluster.n_gpus))
        return gsim_no_memory(ctx->log, "opening policy mig");
    enum gsim_status status = ask_kinds(ctx, mig);
    if (status == GSIM_OK)
        warn_of_unknown_sizes(ctx, mig);
    mig->order.most = is_by_memory(ctx, mig) ? most : NULL;
    mig->order.keeps_queue = true;
    if (!ctx->view->trace->column[GSIM_COL_SM_PPM])
        gsim_warn(ctx->log, ctx->view->trace->path, 0,
                  "the trace has no column 'sm_fraction': under mig every job is taken to fill all "
                  "SMs of a whole GPU, and an instance is slower for it by the SMs that it lacks");
    return status;
}

/* Cuts all GPUs by the layout, those of a node that has failed once it is repaired. */
static bool cut_all(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct mig *mig = ctx->state;
    mig->is_cut = true;
    for (uint32_t gpu = 0; gpu < ctx->view->cluster.n_gpus; gpu++) {
        bool is_up = !is_down(ctx->view, gpu);
        mig->is_cut &= is_up;
        if (is_up && mig->gpu[gpu].cut.n == 0 && !cut(ctx, plan, gpu, mig->layout))
            return false;
    }
    return true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct mig *mig = ctx->state;
    gsim_order_begin(&mig->order, &mig->queue, ctx);
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++)
        gsim_order_append(&mig->order, &mig->queue, ctx, ctx->view->changes.arrived[i]);
    mig->is_width_all = mig->order.most && !gsim_misfits_trial_matters(mig->rule) &&
                        gsim_misfits_none(ctx->view, mig->rule, false).is_size_all;
    mig->most_mem_bytes = INT64_MAX;
    mig->closed_width = UINT32_MAX;
    if (mig->layout && !mig->is_cut && !cut_all(ctx, plan))
        return;
    gsim_order_serve(&mig->order, &mig->queue, ctx, plan);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "layout",
     .type = GSIM_PARAM_TEXT,
     .fallback = "auto",
     .help = "layout of all GPUs, such as 3g+2g+1g ('gsim list devices NAME' has the profiles), or "
             "auto: GPUs are cut for the jobs that wait"},
    {0}};

const struct gsim_policy gsim_policy_mig = {
    .name = "mig",
    .summary = "GPUs cut into isolated instances, by a layout or for the jobs that wait",
    .paper = "NVIDIA Multi-Instance GPU user guide",
    .deviations = "one job an instance; an idle GPU is cut as a whole, where the driver can "
                  "exchange single instances; jobs wait in one queue, of which the head holds up "
                  "all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct mig),
    .job_size = sizeof(struct mig_job),
    .open = open_mig,
    .on_completion = on_completion,
    .decide = decide,
};
