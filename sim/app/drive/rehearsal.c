/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/rehearsal.h"

#include "gsim/device.h"
#include "sim/app/drive/moves.h"
#include "sim/app/drive/refusals.h"
#include "sim/app/drive/start.h"

/* What the policy asks for in the rehearsal that the executor may be unable to do. */
struct rehearsal {
    struct gsim_executor *executor;
    bool has_moved; /* a paused job went to other GPUs than those with its memory */
    const char *no_move; /* why a job cannot take its image elsewhere; NULL: none has to */
    bool has_arranged; /* the policy says how jobs share GPUs */
    int64_t part_job; /* it had a part of a GPU beside another job; -1: none did */
    int64_t blind_job; /* it shared a GPU, and does not tell what it did then; -1: none is asked */
};

/* The model of devices, which computes the run, and the executor, which says what it could not
 * do. */
struct gsim_model {
    struct gsim_model *inner;
    const struct gsim_executor *executor;
    const struct gsim_trace *trace;
    struct gsim_job *const *jobs;
    struct rehearsal *heard;
    struct gsim_arena *arena;
    bool *has_shared; /* by slot: the job has been on a GPU beside another */
    uint32_t capacity;
};

static enum gsim_status open_both(const struct gsim_model_setup *setup, struct gsim_model **out,
                                  struct gsim_log *log) {
    struct gsim_model *m = gsim_arena_alloc(setup->arena, sizeof *m);
    struct rehearsal *rehearsal = setup->arg;
    if (!m)
        return gsim_no_memory(log, "rehearsing a run");
    *m = (struct gsim_model){.executor = rehearsal->executor,
                             .trace = setup->trace,
                             .jobs = setup->jobs,
                             .heard = rehearsal,
                             .arena = setup->arena};
    *out = m;
    return gsim_model_device.open(setup, &m->inner, log);
}

/* --- what the executor has a say in ----------------------------------------------------------- */

static bool is_on(const struct gsim_job *about, struct gsim_unit unit) {
    for (uint32_t u = 0; u < about->n_units; u++)
        if (about->units[u].gpu == unit.gpu && about->units[u].slot == unit.slot)
            return true;
    return false;
}

static void note_sharing(struct gsim_model *m, gsim_slot slot) {
    const struct gsim_job *about = &(*m->jobs)[slot];
    for (gsim_slot other = 0; other < m->capacity; other++)
        for (uint32_t u = 0; other != slot && u < about->n_units; u++)
            if (is_on(&(*m->jobs)[other], about->units[u]))
                m->has_shared[slot] = m->has_shared[other] = true;
}

/* Parts of GPUs have places of their own in the cluster. */
static void note_parts(struct gsim_model *m, gsim_slot slot) {
    const struct gsim_job *about = &(*m->jobs)[slot];
    for (gsim_slot other = 0; other < m->capacity; other++) {
        const struct gsim_job *it = &(*m->jobs)[other];
        if (other != slot && it->n_units == 1 && about->n_units == 1 &&
            it->units[0].gpu == about->units[0].gpu)
            m->heard->part_job = about->index;
    }
}

static enum gsim_when admit(struct gsim_model *m, gsim_slot slot, enum gsim_state from,
                            enum gsim_keep keep, int64_t now_ns) {
    const struct gsim_job *about = &(*m->jobs)[slot];
    note_sharing(m, slot);
    note_parts(m, slot);
    m->heard->has_moved |= from == GSIM_PAUSED && about->is_moved;
    if (from == GSIM_HELD && keep == GSIM_KEEP_IMAGE && about->is_moved && !m->heard->no_move)
        m->heard->no_move = gsim_moves_refusal(m->executor, about);
    return gsim_model_device.admit(m->inner, slot, from, keep, now_ns);
}

static const char *refuses_stop(const struct gsim_model *m, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep) {
    const char *why =
        gsim_refusals_of_stop(m->executor, m->trace, (*m->jobs)[slot].index, stop, keep);
    return why ? why : gsim_model_device.refuses_stop(m->inner, slot, stop, keep);
}

static const char *refuses_arrangement(const struct gsim_model *m, const struct gsim_unit *units,
                                       uint32_t n_units,
                                       const struct gsim_arrangement *arrangement) {
    const char *why = gsim_refusals_of_arrangement(m->executor, arrangement);
    return why ? why : gsim_model_device.refuses_arrangement(m->inner, units, n_units, arrangement);
}

static enum gsim_status read_layout(const struct gsim_model *m, uint32_t gpu, const char *layout,
                                    struct gsim_partition *out, struct gsim_log *log) {
    return gsim_model_device.read_layout(m->inner, gpu, layout, out, log);
}

static struct gsim_quote quote(const struct gsim_model *m, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units,
                               int64_t now_ns) {
    if (refuses_stop(m, slot, stop, keep))
        return (struct gsim_quote){0};
    return gsim_model_device.quote(m->inner, slot, stop, keep, units, n_units, now_ns);
}

/* --- what the model of devices does ----------------------------------------------------------- */

static bool reserve(struct gsim_model *m, uint32_t capacity) {
    bool *more = gsim_arena_grow(m->arena, m->has_shared, m->capacity * sizeof *more,
                                 capacity * sizeof *more);
    if (!more)
        return false;
    m->has_shared = more;
    m->capacity = capacity;
    return gsim_model_device.reserve(m->inner, capacity);
}

static void enter(struct gsim_model *m, gsim_slot slot) {
    m->has_shared[slot] = false;
    gsim_model_device.enter(m->inner, slot);
}

static void leave(struct gsim_model *m, gsim_slot slot, int64_t now_ns) {
    gsim_model_device.leave(m->inner, slot, now_ns);
}

static enum gsim_when evict(struct gsim_model *m, gsim_slot slot, enum gsim_stop stop,
                            enum gsim_keep keep, int64_t now_ns) {
    return gsim_model_device.evict(m->inner, slot, stop, keep, now_ns);
}

static void arrange(struct gsim_model *m, const struct gsim_unit *units, uint32_t n_units,
                    const struct gsim_arrangement *arrangement, int64_t now_ns) {
    m->heard->has_arranged = true;
    m->heard->executor->is_served |= arrangement->is_served;
    m->heard->executor->is_paged |= arrangement->memory == GSIM_MEMORY_UVM;
    gsim_model_device.arrange(m->inner, units, n_units, arrangement, now_ns);
}

static uint32_t sms(const struct gsim_model *m, uint32_t gpu, uint32_t part_ppm) {
    return gsim_model_device.sms(m->inner, gpu, part_ppm);
}

static void partition(struct gsim_model *m, uint32_t gpu, const char *layout, int64_t now_ns) {
    gsim_cutting_hear(m->heard->executor->cutting, gpu, layout);
    gsim_model_device.partition(m->inner, gpu, layout, now_ns);
}

static uint32_t client_limit(const struct gsim_model *m, uint32_t gpu,
                             const struct gsim_arrangement *arrangement) {
    return gsim_model_device.client_limit(m->inner, gpu, arrangement);
}

static bool is_bound(const struct gsim_model *m, gsim_slot slot) {
    return gsim_model_device.is_bound(m->inner, slot);
}

static int64_t fail(struct gsim_model *m, gsim_slot slot, int64_t checkpoint_ns, int64_t now_ns) {
    return gsim_model_device.fail(m->inner, slot, checkpoint_ns, now_ns);
}

static void inherit(struct gsim_model *m, gsim_slot slot, gsim_slot failed) {
    gsim_model_device.inherit(m->inner, slot, failed);
}

static void watch(struct gsim_model *m, gsim_slot slot, enum gsim_watch_kind kind,
                  int64_t threshold, int64_t now_ns) {
    gsim_model_device.watch(m->inner, slot, kind, threshold, now_ns);
}

static int64_t next_time(struct gsim_model *m, int64_t horizon_ns) {
    return gsim_model_device.next_time(m->inner, horizon_ns);
}

static bool advance(struct gsim_model *m, int64_t now_ns, struct gsim_events *events) {
    return gsim_model_device.advance(m->inner, now_ns, events);
}

static void tell(struct gsim_model *m, gsim_slot slot, int64_t now_ns) {
    gsim_model_device.tell(m->inner, slot, now_ns);
}

static uint64_t pace(struct gsim_model *m, gsim_slot slot) {
    return gsim_model_device.pace(m->inner, slot);
}

/* As the executor has it, no job runs on more or fewer GPUs than its row asks for. */
static struct gsim_rate rate(struct gsim_model *m, gsim_slot slot, const struct gsim_where *where,
                             struct gsim_gpu_span seen) {
    return where->gpus == (*m->jobs)[slot].gpus
               ? gsim_model_device.rate(m->inner, slot, where, seen)
               : (struct gsim_rate){.iterations_after_epoch = -1};
}

static struct gsim_costs costs(const struct gsim_model *m, gsim_slot slot) {
    return gsim_model_device.costs(m->inner, slot);
}

static void counters(const struct gsim_model *m, gsim_slot slot, int64_t now_ns,
                     struct gsim_counters *out) {
    uint32_t job = (*m->jobs)[slot].index;
    m->heard->executor->asks_use = true;
    if (m->has_shared[slot] && m->heard->blind_job < 0 &&
        !gsim_start_cooperates(m->executor, m->trace, job))
        m->heard->blind_job = job;
    gsim_model_device.counters(m->inner, slot, now_ns, out);
}

static const struct gsim_progress *progress(const struct gsim_model *m) {
    return gsim_model_device.progress(m->inner);
}

static int64_t gap_ns(const struct gsim_model *m, gsim_slot slot, int64_t work_ns) {
    return gsim_model_device.gap_ns(m->inner, slot, work_ns);
}

static const struct gsim_request_log *requests(const struct gsim_model *m, uint32_t *n) {
    return gsim_model_device.requests(m->inner, n);
}

static void stats(const struct gsim_model *m, struct gsim_model_stats *out) {
    gsim_model_device.stats(m->inner, out);
}

static const char *outside_validated(const struct gsim_model *m) {
    return gsim_model_device.outside_validated(m->inner);
}

static const char *const *assumed(const struct gsim_model *m) {
    return gsim_model_device.assumed(m->inner);
}

static const char *const *given(const struct gsim_model *m) {
    return gsim_model_device.given(m->inner);
}

static const struct gsim_model_ops rehearsed = {
    .name = "rehearsal",
    .open = open_both,
    .admit = admit,
    .refuses_stop = refuses_stop,
    .refuses_arrangement = refuses_arrangement,
    .read_layout = read_layout,
    .sms = sms,
    .quote = quote,
    .reserve = reserve,
    .enter = enter,
    .leave = leave,
    .evict = evict,
    .arrange = arrange,
    .partition = partition,
    .client_limit = client_limit,
    .is_bound = is_bound,
    .fail = fail,
    .inherit = inherit,
    .watch = watch,
    .next_time = next_time,
    .advance = advance,
    .tell = tell,
    .pace = pace,
    .rate = rate,
    .costs = costs,
    .counters = counters,
    .progress = progress,
    .gap_ns = gap_ns,
    .requests = requests,
    .stats = stats,
    .outside_validated = outside_validated,
    .assumed = assumed,
    .given = given,
};

/* What memory a command takes is its own matter: plain memory is never paged, and a program that
 * finds none dies. */
static enum gsim_status refuse_plain_memory(const struct gsim_trace *trace, const char *policy,
                                            struct gsim_log *log) {
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_start_command(trace, job))
            return gsim_fail(log, GSIM_FAILED, trace->path, gsim_trace_line(trace, job),
                             "policy '%s' has the driver page the memory of jobs on demand, for "
                             "which it has to be managed memory: gsim drive knows that of rows "
                             "without a command, and job '%s' has one",
                             policy, gsim_trace_id(trace, job));
    return GSIM_OK;
}

/* CUDA shows a process one instance, of whatever GPU. */
static enum gsim_status refuse_gangs(const struct gsim_executor *executor,
                                     const struct gsim_trace *trace, const char *policy,
                                     struct gsim_log *log) {
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_gpus(trace, job) > 1)
            return gsim_fail(log, GSIM_FAILED, trace->path, gsim_trace_line(trace, job),
                             "policy '%s' cuts GPUs into instances (MIG), of which a process sees "
                             "one alone: job '%s' asks for %u GPUs",
                             policy, gsim_trace_id(trace, job), gsim_trace_gpus(trace, job));
    return executor->is_served
               ? gsim_fail(log, GSIM_FAILED, NULL, 0,
                           "policy '%s' cuts GPUs into instances (MIG) and shares others through "
                           "MPS: gsim drive does one of the two in a run",
                           policy)
               : GSIM_OK;
}

static enum gsim_status judge(const struct rehearsal *rehearsal, const struct gsim_trace *trace,
                              const char *policy, struct gsim_log *log) {
    if (rehearsal->executor->cutting->is_needed)
        return refuse_gangs(rehearsal->executor, trace, policy, log);
    if (rehearsal->has_moved)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "policy '%s' would resume paused jobs on other GPUs, where their memory "
                         "is not; say preempt=restart, or use one GPU",
                         policy);
    if (rehearsal->no_move)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "policy '%s' would resume paused jobs on other GPUs: %s; say "
                         "preempt=restart, or use one GPU",
                         policy, rehearsal->no_move);
    if (rehearsal->executor->is_paged && !rehearsal->executor->is_dry)
        return refuse_plain_memory(trace, policy, log);
    if (rehearsal->blind_job >= 0)
        return gsim_refuse_counters(rehearsal->executor, trace, (uint32_t)rehearsal->blind_job);
    return GSIM_OK;
}

/* A simulation takes a part of a GPU for one that its job has to itself; without an arrangement,
 * processes share the GPU by time slices, each all of it. */
static void warn_of_parts(const struct rehearsal *rehearsal, const struct gsim_trace *trace,
                          const char *policy, struct gsim_log *log) {
    if (rehearsal->part_job < 0 || rehearsal->has_arranged ||
        rehearsal->executor->cutting->is_needed)
        return;
    uint32_t job = (uint32_t)rehearsal->part_job;
    gsim_warn(
        log, trace->path, gsim_trace_line(trace, job),
        "policy '%s' puts job '%s' on a part of a GPU beside another job, and says nothing of "
        "how they share it: the simulation has each run as if alone, and the driver gives "
        "them time slices, in which they take longer; policy mps gives each its part",
        policy, gsim_trace_id(trace, job));
}

enum gsim_status gsim_rehearse(const struct gsim_setup *setup, struct gsim_executor *executor,
                               const struct gsim_io *io, struct gsim_log *log) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_setup *own = arena ? gsim_arena_alloc(arena, sizeof *own) : NULL;
    struct rehearsal rehearsal = {.executor = executor, .part_job = -1, .blind_job = -1};
    struct gsim_log *notes = own ? gsim_arena_alloc(arena, sizeof *notes) : NULL;
    struct gsim_result result;
    if (!notes) {
        gsim_arena_free(arena);
        return gsim_no_memory(log, "rehearsing a run");
    }
    *own = *setup;
    own->model = &rehearsed;
    own->model_arg = &rehearsal;
    own->model_stop = io->stop;
    own->n_samples = 0;
    own->timeline = NULL;
    enum gsim_status status =
        gsim_setup_run(own, 0, setup->replication, &setup->trace, io, NULL, arena, &result, notes);
    if (status != GSIM_OK) /* warnings come again in the run itself */
        gsim_log_merge(log, notes);
    if (status == GSIM_OK)
        status = judge(&rehearsal, &setup->trace, setup->contender[0].policy->name, log);
    if (status == GSIM_OK)
        warn_of_parts(&rehearsal, &setup->trace, setup->contender[0].policy->name, log);
    gsim_arena_free(arena);
    return status;
}
