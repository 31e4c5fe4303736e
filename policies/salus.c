/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Salus: jobs share a GPU at the end of iterations, in lanes of memory. Memory that a job keeps
 * between iterations (column persistent_gib) stays resident; memory that it needs beyond, up to
 * mem_gib, is used by one job of a lane at a time. Iterations of a lane run one after the other,
 * lanes at once.
 *
 * A job opens a lane of its size where that much memory is free (salus.reserve stays free);
 * otherwise it enters the smallest lane that holds the kept memory of all its jobs and the largest
 * need beyond; otherwise it waits, and later jobs may pass. A lane is as large as its first job, so
 * a job that keeps memory and needs as much as the first does not fit beside it; with
 * salus.lanes=one the first job's lane is the whole GPU (SALUS_DISABLE_LANEMGR of the code), and as
 * many jobs share it as fit.
 *
 * salus.order chooses the next job in a lane: the first come (fifo), the last come (preempt), the
 * job with the least left to do (srtf), all in turn (pack), or the job with the least memory x time
 * since a job came last (fair).
 *
 * Not modelled: the cost of its proxy of every operation, lanes that shrink or are merged while
 * they hold a job, and another job's iteration while the first job of a lane waits for its host.
 * Source: Yu and Chowdhury, "Salus: Fine-grained GPU sharing primitives for deep learning
 * applications", MLSys 2020, and its public code. */
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"
#include "sim/base/index.h"

enum { MOST_LANES = 64 }; /* as many as a mask has bits */
enum order { FIFO, SRTF, PACK, FAIR, PREEMPT };

struct memory_lane {
    int64_t size, kept; /* bytes; kept: between iterations, by its jobs */
    uint32_t n_jobs;
};

struct salus_gpu {
    struct memory_lane lane[MOST_LANES];
    int64_t size; /* of its lanes */
    uint64_t used; /* lanes with jobs, as bits */
    uint32_t n_jobs;
    uint16_t n_lanes; /* lanes ever open */
    gsim_slot first; /* of its jobs; GSIM_NO_SLOT: none */
};

struct salus {
    struct gsim_sharing sharing; /* first */
    struct salus_gpu *gpu;
    /* GPUs with jobs that may have one more, by their number of jobs. Sized, less than 0, by the
     * memory of a lane that may open there; and by the most that a lane has left. */
    struct gsim_index by_free, by_lane;
    int64_t reserve;
    enum order order;
    bool has_one_lane; /* one lane of all memory */
    int64_t n_came;
};

struct salus_job {
    struct gsim_sharing_job sharing; /* first */
    uint16_t lane;
    gsim_slot next; /* on its GPU; GSIM_NO_SLOT: none */
    int64_t came; /* how many had come before it */
};

/* --- memory ----------------------------------------------------------------------------------- */

static int64_t whole_of(const struct gsim_view *view, gsim_slot slot) {
    int64_t bytes = gsim_trace_get(view->trace, GSIM_COL_MEM_BYTES, view->jobs.index[slot]);
    return bytes > 0 ? bytes : 0;
}

static int64_t kept_of(const struct gsim_view *view, gsim_slot slot) {
    int64_t bytes = gsim_trace_get(view->trace, GSIM_COL_PERSISTENT_BYTES, view->jobs.index[slot]);
    int64_t whole = whole_of(view, slot);
    return bytes >= 0 && bytes < whole ? bytes : whole;
}

static struct salus_job *job_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

/* The most memory that any of a lane's jobs needs beyond its kept memory. */
static int64_t peak_of(const struct gsim_ctx *ctx, uint32_t gpu, uint16_t lane) {
    int64_t most = 0;
    gsim_slot slot = ((const struct salus *)ctx->state)->gpu[gpu].first;
    for (; slot != GSIM_NO_SLOT; slot = job_of(ctx, slot)->next) {
        int64_t beyond = whole_of(ctx->view, slot) - kept_of(ctx->view, slot);
        if (job_of(ctx, slot)->lane == lane && beyond > most)
            most = beyond;
    }
    return most;
}

/* Memory of the GPU that no lane has; a job alone has the reserve, too. */
static int64_t free_of(const struct gsim_ctx *ctx, uint32_t at) {
    const struct salus *salus = ctx->state;
    return ctx->view->cluster.hbm_bytes[at] - salus->reserve - salus->gpu[at].size;
}

/* The place of a new lane for the job, where memory is free; MOST_LANES: there is none. */
static uint16_t open_lane(const struct gsim_ctx *ctx, uint32_t at, gsim_slot slot) {
    const struct salus *salus = ctx->state;
    const struct salus_gpu *gpu = &salus->gpu[at];
    bool is_free = gpu->n_jobs == 0 || (!salus->has_one_lane && gpu->used != UINT64_MAX &&
                                        free_of(ctx, at) >= whole_of(ctx->view, slot));
    return is_free ? (uint16_t)__builtin_ctzll(~gpu->used) : MOST_LANES;
}

static bool is_safe(const struct gsim_ctx *ctx, uint32_t gpu, uint16_t lane, gsim_slot slot) {
    const struct memory_lane *one = &((const struct salus *)ctx->state)->gpu[gpu].lane[lane];
    int64_t kept = kept_of(ctx->view, slot), beyond = whole_of(ctx->view, slot) - kept;
    return one->n_jobs > 0 && one->kept + kept + beyond <= one->size &&
           one->kept + kept + peak_of(ctx, gpu, lane) <= one->size;
}

/* The smallest lane of a GPU that can take the job. */
static uint16_t fitting_lane(const struct gsim_ctx *ctx, uint32_t at, gsim_slot slot) {
    const struct salus_gpu *gpu = &((const struct salus *)ctx->state)->gpu[at];
    uint16_t best = MOST_LANES;
    for (uint16_t lane = 0; lane < gpu->n_lanes; lane++)
        if ((best == MOST_LANES || gpu->lane[lane].size < gpu->lane[best].size) &&
            is_safe(ctx, at, lane, slot))
            best = lane;
    return best;
}

/* --- placing ---------------------------------------------------------------------------------- */

static void note_in(struct gsim_ctx *ctx, struct gsim_index *index, uint32_t at, int64_t bytes) {
    const struct salus_gpu *gpu = &((struct salus *)ctx->state)->gpu[at];
    if (!gsim_index_insert_sized(index, at, gpu->n_jobs, at, -bytes))
        gsim_common_no_memory(ctx);
}

/* Jobs have come to the GPU, or left it. */
static void note_room(struct gsim_ctx *ctx, uint32_t at) {
    struct salus *salus = ctx->state;
    const struct salus_gpu *gpu = &salus->gpu[at];
    gsim_index_remove(&salus->by_free, at);
    gsim_index_remove(&salus->by_lane, at);
    if (gpu->n_jobs == 0 || gpu->n_jobs >= ctx->view->cluster.client_limit[at])
        return;
    if (!salus->has_one_lane && gpu->used != UINT64_MAX)
        note_in(ctx, &salus->by_free, at, free_of(ctx, at));
    int64_t most = INT64_MIN + 1;
    for (uint16_t lane = 0; lane < gpu->n_lanes; lane++)
        if (gpu->lane[lane].n_jobs > 0 && gpu->lane[lane].size - gpu->lane[lane].kept > most)
            most = gpu->lane[lane].size - gpu->lane[lane].kept;
    note_in(ctx, &salus->by_lane, at, most);
}

/* The first GPU behind that one (from the first one on for n_gpus) with that memory or more. */
static uint32_t next_with(const struct gsim_index *index, uint32_t n_gpus, uint32_t before,
                          int64_t bytes) {
    uint32_t from = before == n_gpus ? gsim_index_first(index) : gsim_index_next(index, before);
    return gsim_index_fitting(index, from, -bytes);
}

/* New lanes come before old lanes, on any GPU; then GPUs with fewer jobs. */
static uint32_t next_shared(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t before) {
    const struct salus *salus = ctx->state;
    uint32_t end = ctx->view->cluster.n_gpus, gpu;
    int64_t bytes = whole_of(ctx->view, slot);
    if (before == end || open_lane(ctx, before, slot) < MOST_LANES) {
        gpu = next_with(&salus->by_free, end, before, bytes);
        if (gpu != GSIM_NO_ID)
            return gpu;
        before = end;
    }
    do
        before = gpu = next_with(&salus->by_lane, end, before, bytes);
    while (gpu != GSIM_NO_ID && open_lane(ctx, gpu, slot) < MOST_LANES);
    return gpu;
}

static bool accepts(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    return open_lane(ctx, gpu, slot) < MOST_LANES || fitting_lane(ctx, gpu, slot) < MOST_LANES;
}

static int64_t mebibytes(const struct gsim_view *view, gsim_slot slot) {
    int64_t value = whole_of(view, slot) >> 20;
    return value > 0 ? value : 1;
}

/* The more the earlier, among the jobs of a lane. */
static int64_t urgency(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct salus_job *job = job_of(ctx, slot);
    switch (((const struct salus *)ctx->state)->order) {
    case FIFO:
        return -job->came;
    case PREEMPT:
        return job->came;
    case SRTF:
        return -gsim_remaining_ns(ctx->view, slot);
    case PACK:
    case FAIR:
        break;
    }
    return 0;
}

/* Each entry has as its priority how many are less urgent. Of jobs with as much left the first that
 * came goes first, which has less left from then on; under pack and fair all are equal. */
static void rank(const struct gsim_ctx *ctx, struct gsim_entry *entries, uint32_t n) {
    int64_t urgent[UINT8_MAX + 1];
    bool is_ranked = ((const struct salus *)ctx->state)->order == SRTF;
    for (uint32_t i = 0; i < n; i++)
        urgent[i] = urgency(ctx, entries[i].job);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t other = 0; other < n; other++)
            entries[i].priority +=
                urgent[other] < urgent[i] || (is_ranked && urgent[other] == urgent[i] && other < i);
}

static struct gsim_entry entry_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return (struct gsim_entry){
        .job = slot, .lane = job_of(ctx, slot)->lane, .weight = mebibytes(ctx->view, slot)};
}

/* Sets the entries of all jobs of the lane again, with the new job. Those of other lanes keep their
 * order, and their time counts on. */
static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    const struct salus *salus = ctx->state;
    const struct salus_gpu *gpu = &salus->gpu[unit.gpu];
    struct salus_job *job = job_of(ctx, slot);
    struct gsim_lane lanes[MOST_LANES];
    struct gsim_entry entries[UINT8_MAX + 1];
    uint16_t lane = open_lane(ctx, unit.gpu, slot);
    job->lane = lane < MOST_LANES ? lane : fitting_lane(ctx, unit.gpu, slot);
    uint16_t n_lanes = job->lane < gpu->n_lanes ? gpu->n_lanes : (uint16_t)(job->lane + 1);
    for (uint16_t i = 0; i < n_lanes; i++)
        lanes[i] = salus->sharing.lane;
    struct gsim_arrangement how = salus->sharing.how;
    how.lanes = lanes;
    how.n_lanes = n_lanes;
    how.entries = entries;
    entries[how.n_entries++] = entry_of(ctx, slot);
    for (gsim_slot one = gpu->first; one != GSIM_NO_SLOT && how.n_entries < UINT8_MAX;
         one = job_of(ctx, one)->next)
        if (job_of(ctx, one)->lane == job->lane)
            entries[how.n_entries++] = entry_of(ctx, one);
    rank(ctx, entries, how.n_entries);
    return gsim_plan_arrange(plan, &unit, 1, &how);
}

static int64_t size_of_new(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    const struct salus *salus = ctx->state;
    int64_t own = whole_of(ctx->view, slot),
            all = ctx->view->cluster.hbm_bytes[gpu] - salus->reserve;
    return salus->has_one_lane && all > own ? all : own;
}

static void book(struct gsim_ctx *ctx, gsim_slot slot) {
    struct salus_job *job = job_of(ctx, slot);
    uint32_t at = job->sharing.gpu - 1;
    struct salus_gpu *gpu = &((struct salus *)ctx->state)->gpu[at];
    struct memory_lane *lane = &gpu->lane[job->lane];
    if (lane->n_jobs++ == 0) {
        *lane = (struct memory_lane){.size = size_of_new(ctx, at, slot), .n_jobs = 1};
        gpu->size += lane->size;
        gpu->used |= UINT64_C(1) << job->lane;
    }
    gpu->n_jobs++;
    lane->kept += kept_of(ctx->view, slot);
    job->next = gpu->first;
    gpu->first = slot;
    if (job->lane >= gpu->n_lanes)
        gpu->n_lanes = (uint16_t)(job->lane + 1);
    note_room(ctx, at);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct salus_job *job = job_of(ctx, slot);
    job->came = ((struct salus *)ctx->state)->n_came++;
    gsim_sharing_on_arrival(ctx, slot);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    const struct salus_job *job = job_of(ctx, slot);
    if (job->sharing.gpu == 0)
        return;
    struct salus_gpu *gpu = &((struct salus *)ctx->state)->gpu[job->sharing.gpu - 1];
    struct memory_lane *lane = &gpu->lane[job->lane];
    gsim_slot *link = &gpu->first;
    while (*link != slot)
        link = &job_of(ctx, *link)->next;
    *link = job->next;
    lane->kept -= kept_of(ctx->view, slot);
    gpu->n_jobs--;
    if (--lane->n_jobs == 0) {
        gpu->size -= lane->size;
        gpu->used &= ~(UINT64_C(1) << job->lane);
        *lane = (struct memory_lane){0};
    }
    note_room(ctx, job->sharing.gpu - 1);
}

static bool place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct salus *salus = ctx->state;
    if (ctx->view->jobs.gpus[slot] > 1)
        return gsim_sharing_place_whole(&salus->sharing, ctx, plan, slot);
    if (!gsim_sharing_share(&salus->sharing, ctx, plan, slot))
        return false;
    book(ctx, slot);
    return true;
}

static enum gsim_status open_salus(struct gsim_ctx *ctx) {
    struct salus *salus = ctx->state;
    uint32_t n = ctx->view->cluster.n_gpus;
    /* the cap declares lanes that run beside each other, even while there is one */
    gsim_sharing_init(
        &salus->sharing, ctx,
        &(struct gsim_lane){.discipline = GSIM_DISCIPLINE_BOUNDARY,
                            .cap_ppm = GSIM_PPM,
                            .whole.is_fair = gsim_param(ctx->params, "order") == FAIR});
    salus->sharing.how.memory = GSIM_MEMORY_LANES;
    salus->sharing.accepts = accepts;
    salus->sharing.accepts_by_memory = !ctx->view->trace->column[GSIM_COL_PERSISTENT_BYTES];
    salus->sharing.next_shared = next_shared;
    salus->sharing.arrange = arrange;
    salus->sharing.order.place = place;
    salus->order = (enum order)gsim_param(ctx->params, "order");
    salus->reserve = gsim_param(ctx->params, "reserve");
    salus->has_one_lane = gsim_param(ctx->params, "lanes") != 0;
    gsim_index_init(&salus->by_free, ctx->arena);
    gsim_index_init(&salus->by_lane, ctx->arena);
    salus->gpu = gsim_arena_array(ctx->arena, n > 0 ? n : 1, sizeof *salus->gpu);
    if (!salus->gpu)
        return gsim_no_memory(ctx->log, "opening policy salus");
    for (uint32_t gpu = 0; gpu < n; gpu++)
        salus->gpu[gpu].first = GSIM_NO_SLOT;
    if (!ctx->view->trace->column[GSIM_COL_PERSISTENT_BYTES])
        gsim_warn(
            ctx->log, ctx->view->trace->path, 0,
            "the trace has no column 'persistent_gib': under salus jobs keep all their memory "
            "between iterations, so none shares a lane");
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM_WITHOUT_LAS("backfill"),
    {.name = "order",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "fair",
     .choices = "fifo|srtf|pack|fair|preempt",
     .help = "order of iterations in a lane: first come, least left, in turn, least memory x time, "
             "last come (Salus' code)"},
    {.name = "lanes",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "many",
     .choices = "many|one",
     .help = "a lane for each job as long as memory is free, or one lane of the whole GPU's "
             "memory, in which all jobs take turns (Salus' code)"},
    {.name = "reserve",
     .type = GSIM_PARAM_BYTES,
     .fallback = "300MiB",
     .min = 0,
     .max = INT64_MAX,
     .help = "memory of a GPU that no lane gets (Salus' code)"},
    {0}};

const struct gsim_policy gsim_policy_salus = {
    .name = "salus",
    .summary = "lanes of memory: iterations take turns in a lane, lanes run at once",
    .paper = "Yu and Chowdhury, Salus: Fine-grained GPU sharing primitives for deep learning "
             "applications, MLSys 2020, and its public code",
    .deviations = "lanes keep their size until they are empty; while the first job of a lane waits "
                  "for its host between iterations no job behind it runs; true remaining times for "
                  "order=srtf; gangs of several GPUs have them to themselves",
    .is_oracle = true,
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct salus),
    .job_size = sizeof(struct salus_job),
    .open = open_salus,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = gsim_sharing_on_decide,
};
