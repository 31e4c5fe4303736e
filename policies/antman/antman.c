/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AntMan: guaranteed jobs have GPUs of their own, opportunistic jobs use the rest of these GPUs. A
 * GPU has one guaranteed job and many opportunistic jobs, its guests. Jobs of class opportunistic
 * are opportunistic, all others guaranteed.
 *
 * Cluster: guaranteed jobs start in order of arrival (with antman.queue=backfill, jobs that find no
 * room are passed by others on GPUs that are not reserved); a gang that cannot start reserves the
 * GPUs that it waits for, and opportunistic jobs run there meanwhile. An opportunistic job goes to
 * the GPU that was used least in the last antman.window, also by jobs that have ended in it, if
 * that was below antman.busy; a GPU without jobs counts as unused. Windows follow each other from
 * the first arrival on. A guest that is suspended waits behind those that wait then. A guaranteed
 * job that has waited for antman.patience starts as an opportunistic job too. As soon as a GPU has
 * no guaranteed job, the first to arrive of these guests is upgraded in place.
 *
 * GPU, launches: the guaranteed job's pace (time by iteration, or by request) is measured for one
 * window while the guests rest, after one kernel each. Then the launches of guests are capped so
 * that each guest has a share of the time, in whole per cents as in the public code: the share
 * grows by half as long as the pace is within antman.tolerance, and halves when it is not. Idle
 * time of the GPU plays no part.
 *
 * GPU, memory: a guaranteed job has all the memory that it needs, and starts at once on a GPU with
 * guests: they have the rest, first come first, and memory that an iteration touches beyond is
 * pinned memory of the host, written once and read once over the bus, which makes the guest's
 * kernels longer. Room that becomes free is used from then on. The first guest starts wherever the
 * GPU's use allows, further guests where they fit beside it: guests do not make each other
 * overflow. With antman.overflow=off guests wait for room and are suspended (antman.preempt) when
 * it is needed, as they always are for a gang.
 *
 * Not modelled: gangs of several GPUs that share them. Memory caps need no trying out: the trace
 * gives the most that a guaranteed job needs. They hold at once, where the code waits for the end
 * of an iteration.
 * Source: Xiao et al., "AntMan: Dynamic scaling on GPU clusters for deep learning", OSDI 2020, and
 * its public code (github.com/alibaba/GPU-scheduler-for-deep-learning). */
#include "policies/antman/guests.h"
#include "policies/lib/common.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

/* Whether the job is of class opportunistic, and not only without a GPU of its own for now. */
static bool is_born_guest(const struct gsim_view *view, gsim_slot slot) {
    return gsim_trace_get(view->trace, GSIM_COL_CLASS, view->jobs.index[slot]) ==
           GSIM_CLASS_OPPORTUNISTIC;
}

/* --- the choice of a GPU ---------------------------------------------------------------------- */

/* Its use in the last window; a GPU without jobs has none: those that used it have ended. */
static int64_t use_of(const struct gsim_ctx *ctx, uint32_t gpu) {
    const struct antman *antman = ctx->state;
    return ctx->view->cluster.clients[gpu] > 0 ? antman->gpu[gpu].busy_ppm : 0;
}

static bool accepts(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    const struct antman *antman = ctx->state;
    const struct antman_gpu *here = &antman->gpu[gpu];
    bool is_kept = gsim_bitset_has(&antman->kept, gpu);
    if (!gsim_antman_job(ctx, slot)->is_opportunistic)
        return here->guaranteed == GSIM_NO_SLOT && !is_kept;
    return !is_kept && use_of(ctx, gpu) < antman->busy_ppm &&
           gsim_antman_may_overflow(ctx, gpu, slot);
}

static int64_t load(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    bool is_guest = gsim_antman_job(ctx, slot)->is_opportunistic;
    return ctx->view->cluster.clients[gpu] + (is_guest ? use_of(ctx, gpu) * 1000 : 0);
}

/* Guests go where use lets them in, other jobs where no guaranteed job is. */
static uint32_t next_shared(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t before) {
    const struct antman *antman = ctx->state;
    uint32_t from = before == ctx->view->cluster.n_gpus ? 0 : before + 1;
    bool is_guest = gsim_antman_job(ctx, slot)->is_opportunistic;
    return gsim_bitset_next(is_guest ? &antman->quiet : &antman->unowned, from);
}

/* --- placing ---------------------------------------------------------------------------------- */

/* Places a gang on idle GPUs, none of which is kept for the first guaranteed job: also while guests
 * leave the others that this one waits for. */
static bool place_alone(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    const struct antman *antman = ctx->state;
    const struct gsim_unit *units;
    uint32_t mark = gsim_plan_mark(plan);
    if (!gsim_settings_place(ctx, plan, slot, antman->sharing.rule))
        return false;
    bool is_kept = false;
    for (uint32_t u = gsim_plan_units(plan, slot, &units); u-- > 0;)
        is_kept = is_kept || gsim_bitset_has(&antman->kept, units[u].gpu);
    if (is_kept)
        gsim_plan_rollback(plan, mark);
    return !is_kept;
}

/* Starts a waiting job, which leaves its queue. */
static bool start(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gsim_queue *queue,
                  gsim_slot slot) {
    struct antman *antman = ctx->state;
    const struct antman_job *job = gsim_antman_job(ctx, slot);
    bool is_alone = ctx->view->jobs.gpus[slot] > 1;
    if (!(is_alone ? place_alone(ctx, plan, slot)
                   : gsim_sharing_share(&antman->sharing, ctx, plan, slot)))
        return false;
    gsim_queue_remove(queue, ctx, slot);
    gsim_index_remove(&antman->patient, slot);
    gsim_index_remove(&antman->singles, slot);
    if (is_alone)
        return true;
    uint32_t gpu = job->sharing.gpu - 1;
    gsim_queue_append(&antman->gpu[gpu].jobs, ctx, slot);
    gsim_antman_note(ctx, gpu);
    if (!job->is_opportunistic)
        gsim_antman_take(ctx, plan, slot, gpu);
    else
        gsim_antman_welcome(ctx, plan, gpu);
    return true;
}

/* The job is on its GPU no more. */
static void leave(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct antman *antman = ctx->state;
    uint32_t gpu = gsim_antman_job(ctx, slot)->sharing.gpu;
    if (gpu == 0)
        return;
    (void)gsim_antman_count(ctx, slot, gpu - 1);
    gsim_queue_remove(&antman->gpu[gpu - 1].jobs, ctx, slot);
    gsim_antman_note(ctx, gpu - 1);
}

/* Suspends the guests of a GPU. */
static void clear(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct antman *antman = ctx->state;
    for (gsim_slot slot = antman->gpu[gpu].jobs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        if (gsim_antman_is_guest(ctx, slot, gpu) && ctx->view->jobs.state[slot] == GSIM_RUNNING)
            (void)gsim_plan_preempt(plan, slot, antman->way.stop, antman->way.keep);
}

/* True if no guaranteed job owns the GPU and every job on it is opportunistic, so preemptible, or
 * on its way out. */
static bool is_to_be_had(const struct gsim_ctx *ctx, uint32_t gpu) {
    const struct antman *antman = ctx->state;
    return antman->gpu[gpu].guaranteed == GSIM_NO_SLOT &&
           (ctx->view->cluster.is_arranged[gpu] || gsim_gpu_is_idle(ctx->view, gpu));
}

static uint32_t width_of(const struct gsim_view_cluster *cluster, uint32_t node) {
    return cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
}

static bool may_keep(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    const struct antman *antman = ctx->state;
    return !gsim_bitset_has(&antman->kept, gpu) && is_to_be_had(ctx, gpu) &&
           gsim_ask_may_use(ctx, slot, gpu) &&
           gsim_job_memory(ctx->view, slot) <= ctx->view->cluster.hbm_bytes[gpu];
}

/* Keeps the first GPUs from there on that may be kept; the number that is still needed. */
static uint32_t keep(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t from, uint32_t to,
                     uint32_t needed) {
    struct antman *antman = ctx->state;
    for (uint32_t gpu = from; gpu < to && needed > 0; gpu++)
        if (may_keep(ctx, slot, gpu)) {
            gsim_bitset_add(&antman->kept, gpu);
            needed--;
        }
    return needed;
}

/* How many GPUs of the node can be had at the most. GPUs of a node that is down may stay arranged
 * without jobs. */
static uint32_t most_to_be_had(const struct gsim_ctx *ctx, uint32_t node) {
    const struct antman *antman = ctx->state;
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    return cluster->n_failures > 0
               ? width_of(cluster, node)
               : gsim_node_idle_gpus(ctx->view, node) + antman->n_unowned_of[node];
}

/* Keeps GPUs of the node with the fewest that is wide enough. */
static bool keep_node(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t needed) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++) {
        uint32_t n = 0, most = most_to_be_had(ctx, node);
        for (uint32_t gpu = first[node]; gpu < first[node + 1] && most >= needed; gpu++)
            n += may_keep(ctx, slot, gpu);
        if (n >= needed && n < least) {
            least = n;
            best = node;
        }
    }
    return least < UINT32_MAX && keep(ctx, slot, first[best], first[best + 1], needed) == 0;
}

/* Keeps a node where one is wide enough, else whole nodes, the widest first, and a part of one for
 * the remainder, since the gang is placed on no others. */
static bool keep_nodes(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t needed = ctx->view->jobs.gpus[slot], widest = 0;
    for (uint32_t node = 0; node < cluster->n_nodes; node++)
        if (width_of(cluster, node) > widest &&
            gsim_ask_may_use(ctx, slot, cluster->node_first_gpu[node]))
            widest = width_of(cluster, node);
    for (uint32_t width = needed > widest ? widest : 0; width > 0; width--)
        for (uint32_t node = 0; node < cluster->n_nodes && needed >= width; node++)
            if (width_of(cluster, node) == width &&
                gsim_ask_may_use(ctx, slot, cluster->node_first_gpu[node])) {
                if (!keep_node(ctx, slot, width))
                    return false;
                needed -= width;
            }
    return needed == 0 || keep_node(ctx, slot, needed);
}

/* Whether so few GPUs can be had that none needs to be looked at. */
static bool are_too_few(const struct gsim_ctx *ctx, uint32_t needed) {
    const struct antman *antman = ctx->state;
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    return cluster->n_failures == 0 && cluster->n_idle_gpus + antman->n_unowned < needed;
}

static void keep_none(struct antman *antman) {
    for (uint32_t gpu = gsim_bitset_first(&antman->kept); gpu != UINT32_MAX;
         gpu = gsim_bitset_next(&antman->kept, gpu + 1))
        gsim_bitset_remove(&antman->kept, gpu);
}

/* Keeps GPUs without a guaranteed job free for the first waiting job, once they are enough for it
 * by its rule of placement: until then opportunistic jobs may use the GPUs that it reserves. */
static void make_room(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct antman *antman = ctx->state;
    uint32_t n_gpus = ctx->view->cluster.n_gpus, needed = ctx->view->jobs.gpus[slot];
    if (are_too_few(ctx, needed))
        return;
    enum gsim_rule rule = gsim_settings_rule_of(ctx, slot, antman->sharing.rule);
    bool is_any = rule == GSIM_RULE_ANY || rule == GSIM_RULE_SPREAD || rule == GSIM_RULE_RANDOM;
    bool has_room = is_any ? keep(ctx, slot, 0, n_gpus, needed) == 0 : keep_nodes(ctx, slot);
    if (!has_room)
        keep_none(antman);
    for (uint32_t gpu = gsim_bitset_first(&antman->kept); gpu != UINT32_MAX;
         gpu = gsim_bitset_next(&antman->kept, gpu + 1))
        clear(ctx, plan, gpu);
}

/* Guaranteed jobs behind the first one take GPUs that are not kept for it. */
static void pass_first(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    struct gsim_queue *queue = &antman->sharing.queue;
    struct gsim_order_misfit misfits[2] = {{0}};
    for (gsim_slot slot = gsim_queue_after(ctx, queue->first), next; slot != GSIM_NO_SLOT;
         slot = next) {
        next = gsim_queue_after(ctx, slot);
        if (gsim_order_is_misfit(misfits, ctx, slot))
            continue;
        if (!start(ctx, plan, queue, slot))
            gsim_order_note_misfit(misfits, ctx, slot);
    }
}

static void start_guaranteed(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    struct gsim_queue *queue = &antman->sharing.queue;
    keep_none(antman);
    while (queue->first != GSIM_NO_SLOT && start(ctx, plan, queue, queue->first))
        continue;
    if (queue->first == GSIM_NO_SLOT)
        return;
    make_room(ctx, plan, queue->first);
    if (antman->sharing.order.kind == GSIM_ORDER_BACKFILL)
        pass_first(ctx, plan);
}

/* Whether some GPU takes another opportunistic job of one GPU, whichever it is. */
static bool takes_guests(const struct gsim_ctx *ctx) {
    const struct antman *antman = ctx->state;
    uint32_t gpu = 0, n_gpus = ctx->view->cluster.n_gpus;
    while (gpu < n_gpus &&
           (gsim_bitset_has(&antman->kept, gpu) || use_of(ctx, gpu) >= antman->busy_ppm))
        gpu++;
    return gpu < n_gpus;
}

/* A job that finds no room does not block later jobs. */
static void start_opportunistic(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    for (gsim_slot slot = antman->opportunistic.first, next; slot != GSIM_NO_SLOT; slot = next) {
        next = gsim_queue_after(ctx, slot);
        if (gsim_common_waits(ctx->view, slot))
            (void)start(ctx, plan, &antman->opportunistic, slot);
    }
}

/* Moves jobs that have no patience left; when the next one will have none. */
static int64_t note_impatient(struct gsim_ctx *ctx) {
    struct antman *antman = ctx->state;
    const struct gsim_view *view = ctx->view;
    for (;;) {
        gsim_slot slot = gsim_index_first(&antman->patient);
        if (slot == GSIM_NO_SLOT)
            return GSIM_NEVER;
        int64_t left_ns = antman->patience_ns - (view->now_ns - view->jobs.submit_ns[slot]);
        if (left_ns > 0)
            return left_ns < GSIM_NEVER - view->now_ns ? view->now_ns + left_ns : GSIM_NEVER;
        gsim_index_remove(&antman->patient, slot);
        if (!gsim_index_insert_sized(&antman->singles, slot, gsim_antman_job(ctx, slot)->nth,
                                     gsim_nth(view, slot), gsim_job_memory(view, slot)))
            gsim_common_no_memory(ctx);
    }
}

/* Starts guaranteed jobs that have waited too long as opportunistic jobs; when the next one will
 * have. A job to which no GPU is open speaks for those that need as much memory, until one has
 * started. */
static int64_t lose_patience(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    int64_t next_ns = note_impatient(ctx), most = INT64_MAX;
    gsim_slot slot = gsim_index_first(&antman->singles);
    for (slot = gsim_index_fitting(&antman->singles, slot, most); slot != GSIM_NO_SLOT;
         slot = gsim_index_fitting(&antman->singles, slot, most)) {
        gsim_slot next = gsim_index_next(&antman->singles, slot);
        struct antman_job *job = gsim_antman_job(ctx, slot);
        job->is_opportunistic = true;
        bool has_started = start(ctx, plan, &antman->sharing.queue, slot);
        if (has_started)
            most = INT64_MAX;
        else if (!gsim_sharing_finds_one(&antman->sharing, ctx, slot))
            most = gsim_job_memory(ctx->view, slot) - 1;
        job->is_opportunistic = has_started;
        slot = next;
    }
    return next_ns;
}

/* Whether the job is opportunistic only because it lost patience; one on its way out waits
 * again. */
static bool can_be_upgraded(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_antman_job(ctx, slot)->is_opportunistic && !is_born_guest(ctx->view, slot) &&
           ctx->view->jobs.state[slot] == GSIM_RUNNING;
}

/* The first to arrive of the jobs of the GPU that can be upgraded; GSIM_NO_SLOT: there is none. */
static gsim_slot first_upgradable(const struct gsim_ctx *ctx, const struct antman_gpu *here) {
    gsim_slot first = GSIM_NO_SLOT;
    for (gsim_slot slot = here->jobs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        if (can_be_upgraded(ctx, slot) &&
            (first == GSIM_NO_SLOT || gsim_nth(ctx->view, slot) < gsim_nth(ctx->view, first)))
            first = slot;
    return first;
}

/* On a GPU without a guaranteed job, upgrades the first job that is opportunistic only because it
 * lost patience. */
static void upgrade(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct antman *antman = ctx->state;
    for (uint32_t gpu = gsim_bitset_first(&antman->unowned); gpu != UINT32_MAX;
         gpu = gsim_bitset_next(&antman->unowned, gpu + 1)) {
        bool is_kept = gsim_bitset_has(&antman->kept, gpu);
        gsim_slot slot = is_kept ? GSIM_NO_SLOT : first_upgradable(ctx, &antman->gpu[gpu]);
        if (slot == GSIM_NO_SLOT)
            continue;
        gsim_antman_job(ctx, slot)->is_opportunistic = false;
        gsim_antman_cap(ctx, plan, slot);
        gsim_antman_take(ctx, plan, slot, gpu);
    }
}

/* --- hooks ------------------------------------------------------------------------------------ */

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct antman *antman = ctx->state;
    struct antman_job *job = gsim_antman_job(ctx, slot);
    job->is_opportunistic = is_born_guest(ctx->view, slot);
    job->busy_ns = 0;
    job->nth = antman->n_queued++;
    if (antman->look_ns == GSIM_NEVER) /* the first arrival */
        antman->look_ns = ctx->view->now_ns;
    gsim_queue_append(job->is_opportunistic ? &antman->opportunistic : &antman->sharing.queue, ctx,
                      slot);
    if (!job->is_opportunistic && ctx->view->jobs.gpus[slot] == 1)
        gsim_common_insert(ctx, &antman->patient, slot, ctx->view->jobs.submit_ns[slot]);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct antman *antman = ctx->state;
    const struct antman_job *job = gsim_antman_job(ctx, slot);
    if (job->sharing.gpu == 0)
        return;
    leave(ctx, slot);
    gsim_bitset_add(&antman->freed, job->sharing.gpu - 1);
    if (!job->is_opportunistic)
        antman->gpu[job->sharing.gpu - 1].guaranteed = GSIM_NO_SLOT;
    gsim_antman_note(ctx, job->sharing.gpu - 1);
}

/* Puts suspended guests back into the queue. */
static void book(struct gsim_ctx *ctx) {
    struct antman *antman = ctx->state;
    for (uint32_t i = 0; i < ctx->view->changes.n_settled; i++) {
        gsim_slot slot = ctx->view->changes.settled[i];
        if (!gsim_common_waits(ctx->view, slot))
            continue;
        leave(ctx, slot);
        gsim_queue_append(&antman->opportunistic, ctx, slot);
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    book(ctx);
    gsim_sharing_give_back(&antman->sharing, ctx, plan);
    for (uint32_t gpu = gsim_bitset_first(&antman->freed); gpu != UINT32_MAX;
         gpu = gsim_bitset_next(&antman->freed, gpu + 1)) {
        gsim_bitset_remove(&antman->freed, gpu);
        gsim_antman_cap_guests(ctx, plan, gpu);
    }
    if (ctx->view->now_ns >= antman->look_ns)
        gsim_antman_look(ctx, plan);
    start_guaranteed(ctx, plan);
    upgrade(ctx, plan);
    bool takes_some = takes_guests(ctx);
    /* A gang may have idle GPUs, however busy they were within the last window. */
    if (takes_some || ctx->view->cluster.n_idle_gpus > 1)
        start_opportunistic(ctx, plan);
    int64_t wake_ns = takes_some ? lose_patience(ctx, plan) : GSIM_NEVER;
    wake_ns = wake_ns < antman->look_ns ? wake_ns : antman->look_ns;
    gsim_plan_wake(plan, ctx->view->jobs.n_active > 0 ? wake_ns : GSIM_NEVER);
}

static enum gsim_status open_antman(struct gsim_ctx *ctx) {
    struct antman *antman = ctx->state;
    uint32_t n = ctx->view->cluster.n_gpus;
    gsim_sharing_init(&antman->sharing, ctx,
                      &(struct gsim_lane){.discipline = GSIM_DISCIPLINE_RR, .caps_launches = true});
    antman->sharing.accepts = accepts;
    antman->sharing.load = load;
    antman->sharing.next_shared = next_shared;
    gsim_queue_init(&antman->opportunistic);
    gsim_index_init(&antman->patient, ctx->arena);
    gsim_index_init(&antman->singles, ctx->arena);
    antman->overflows = gsim_param(ctx->params, "overflow") != 0;
    if (antman->overflows)
        antman->sharing.how.memory = GSIM_MEMORY_OVERFLOW;
    antman->way = gsim_settings_preemption(ctx, GSIM_KEEP_HOST);
    antman->window_ns = gsim_param(ctx->params, "window");
    antman->refill_ns = gsim_param(ctx->params, "refill");
    antman->patience_ns = gsim_param(ctx->params, "patience");
    antman->tolerance_ppm = gsim_param(ctx->params, "tolerance");
    antman->busy_ppm = gsim_param(ctx->params, "busy");
    antman->look_ns = GSIM_NEVER;
    antman->gpu = gsim_arena_array(ctx->arena, n > 0 ? n : 1, sizeof *antman->gpu);
    antman->n_unowned_of =
        gsim_arena_array(ctx->arena, ctx->view->cluster.n_nodes + 1, sizeof *antman->n_unowned_of);
    if (!antman->gpu || !antman->n_unowned_of || !gsim_bitset_init(&antman->used, ctx->arena, n) ||
        !gsim_bitset_init(&antman->unowned, ctx->arena, n) ||
        !gsim_bitset_init(&antman->quiet, ctx->arena, n) ||
        !gsim_bitset_init(&antman->freed, ctx->arena, n) ||
        !gsim_bitset_init(&antman->kept, ctx->arena, n))
        return gsim_no_memory(ctx->log, "opening policy antman");
    for (uint32_t gpu = 0; gpu < n; gpu++) {
        antman->gpu[gpu].guaranteed = GSIM_NO_SLOT;
        gsim_queue_init(&antman->gpu[gpu].jobs);
    }
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM_OF_CLASSES("fifo"),
    GSIM_PREEMPT_PARAM_AS("suspend, AntMan's for guests that have no room"),
    {.name = "overflow",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "memory that opportunistic jobs touch beyond the free memory of a GPU is on its host "
             "(AntMan); off: they wait for room, and are preempted when it is needed"},
    {.name = "window",
     .type = GSIM_PARAM_TIME,
     .fallback = "10s",
     .min = 1000000,
     .max = GSIM_TIME_MAX,
     .help = "window over which GPUs and guaranteed jobs are measured (AntMan)"},
    {.name = "busy",
     .type = GSIM_PARAM_PPM,
     .fallback = "80%",
     .min = 1,
     .max = 10 * GSIM_PPM,
     .help = "a GPU that was used less than this takes another opportunistic job (AntMan)"},
    {.name = "tolerance",
     .type = GSIM_PARAM_PPM,
     .fallback = "3%",
     .min = 0,
     .max = GSIM_PPM,
     .help = "loss of a guaranteed job's pace that is ignored (assumed: TGS's)"},
    {.name = "refill",
     .type = GSIM_PARAM_TIME,
     .fallback = "50ms",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .help = "period in which opportunistic jobs have their share of the time at once (assumed: "
             "TGS's)"},
    {.name = "patience",
     .type = GSIM_PARAM_TIME,
     .fallback = "10m",
     .min = 0,
     .max = GSIM_TIME_MAX,
     .help = "wait after which a guaranteed job starts as an opportunistic job (assumed)"},
    {0}};

const struct gsim_policy gsim_policy_antman = {
    .name = "antman",
    .summary = "guaranteed jobs first, opportunistic jobs use the rest of their GPUs",
    .paper = "Xiao et al., AntMan: Dynamic scaling on GPU clusters for deep learning, OSDI 2020",
    .deviations =
        "memory caps follow what a guaranteed job needs at most, not what it uses by the "
        "minute; a guest launches its share of antman.refill at once, where the code waits "
        "after each operator; how fast shares move is ours, the paper does not say; gangs "
        "of several GPUs have them to themselves",
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct antman),
    .job_size = sizeof(struct antman_job),
    .open = open_antman,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
