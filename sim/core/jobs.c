/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The active jobs. A slot is taken at arrival and given back after the decide that follows the
 * job's end; columns double when all slots are in use. */
#include "sim/core/core.h"
#include "sim/base/hints.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static bool grow(struct gsim_core *core, void *column_ptr, size_t size, uint32_t old_n,
                 uint32_t new_n) {
    void *column;
    memcpy(&column, column_ptr, sizeof column); /* any kind of object pointer */
    column = gsim_arena_grow(core->arena, column, old_n * size, new_n * size);
    if (!column)
        return false;
    memcpy(column_ptr, &column, sizeof column);
    return true;
}

#define GROW(column) grow(core, &(column), sizeof *(column), old_n, new_n)

static bool grow_columns(struct gsim_core *core, uint32_t old_n, uint32_t new_n) {
    struct gsim_jobs *jobs = &core->jobs;
    return GROW(jobs->free_list) && GROW(jobs->active) && GROW(jobs->active_at) &&
           GROW(jobs->job) && GROW(jobs->submit_ns) && GROW(jobs->gpus) && GROW(jobs->share_ppm) &&
           GROW(jobs->state) && GROW(jobs->changed_ns) && GROW(jobs->service_ns) &&
           (!core->trace->column[GSIM_COL_ESTIMATE_NS] || GROW(jobs->foreseen_ns)) &&
           GROW(jobs->info) && GROW(jobs->core) && gsim_plan_reserve(&core->plan, old_n, new_n) &&
           core->ops->reserve(core->model, new_n);
}

static void point_view_at_columns(struct gsim_core *core) {
    const struct gsim_jobs *jobs = &core->jobs;
    struct gsim_view *view = &core->view;
    view->jobs.active = jobs->active;
    view->jobs.index = jobs->job;
    view->jobs.submit_ns = jobs->submit_ns;
    view->jobs.gpus = jobs->gpus;
    view->jobs.share_ppm = jobs->share_ppm;
    view->jobs.state = jobs->state;
    view->jobs.changed_ns = jobs->changed_ns;
    bool sees_ends = core->policy->is_oracle || core->compat->shows_ends;
    const int64_t *seen_ns = jobs->foreseen_ns ? jobs->foreseen_ns : jobs->service_ns;
    view->jobs.service_ns = sees_ends ? seen_ns : NULL;
    view->jobs.progress = core->ops->progress(core->model);
}

GSIM_COLD static bool grow_slots(struct gsim_core *core) {
    struct gsim_jobs *jobs = &core->jobs;
    uint32_t old_n = jobs->capacity, new_n = old_n ? old_n * 2 : 256;
    if (!grow_columns(core, old_n, new_n))
        return false;
    size_t job_size = core->policy->job_size;
    if (job_size) {
        char *states =
            gsim_arena_grow(core->arena, core->ctx.job_states, old_n * job_size, new_n * job_size);
        if (!states)
            return false;
        core->ctx.job_states = states;
    }
    for (uint32_t slot = new_n; slot-- > old_n;) /* low slots are handed out first */
        jobs->free_list[jobs->n_free++] = slot;
    jobs->capacity = new_n;
    point_view_at_columns(core);
    return true;
}

/* Whether rows are in the order in which their jobs were submitted. */
static bool are_rows_in_order(const struct gsim_trace *trace) {
    int64_t last_ns = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        if (trace->submit_ns[job] < last_ns)
            return false;
        last_ns = trace->submit_ns[job];
    }
    return true;
}

enum gsim_status gsim_jobs_number(struct gsim_core *core) {
    const struct gsim_trace *trace = core->trace;
    if (!trace->column[GSIM_COL_AFTER] && (!trace->order || are_rows_in_order(trace)))
        return GSIM_OK;
    uint32_t *nth_of = gsim_arena_array(core->arena, trace->n_jobs, sizeof *nth_of);
    for (uint32_t nth = 0; nth_of && nth < trace->n_jobs; nth++)
        nth_of[gsim_trace_arrival(trace, nth)] = nth;
    core->nth_of = nth_of;
    return nth_of ? GSIM_OK : gsim_core_no_memory(core);
}

bool gsim_jobs_open(struct gsim_core *core) {
    return grow_slots(core);
}

int64_t gsim_jobs_with_context(const struct gsim_core *core, uint32_t job, int64_t bytes) {
    const struct gsim_domain *domain = gsim_domain_of(core, job);
    int64_t room = domain->largest_bytes - bytes;
    int64_t context = domain->context_bytes < room ? domain->context_bytes : room;
    return bytes > 0 && context > 0 ? bytes + context : bytes;
}

int64_t gsim_job_memory(const struct gsim_view *view, gsim_slot slot) {
    int64_t bytes = view->core->jobs.core[slot].request.mem_bytes;
    return bytes > 0 ? bytes : 0;
}

static inline void begin(struct gsim_core *core, gsim_slot slot, uint32_t job) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    memset(own, 0, offsetof(struct gsim_core_job, last_ns));
    own->last_ns = core->view.now_ns;
    own->request.mem_bytes = gsim_trace_get(core->trace, GSIM_COL_MEM_BYTES, job);
    if (gsim_rarely(core->node_sets.table != NULL))
        own->request.nodes = gsim_node_sets_of(&core->node_sets, core->trace, job);
    if (gsim_rarely(core->node_counts.of_job != NULL))
        own->request.n_nodes = core->node_counts.of_job[job];
    if (gsim_rarely(core->options->context_bytes > 0))
        own->request.mem_bytes = gsim_jobs_with_context(core, job, own->request.mem_bytes);
}

gsim_slot gsim_jobs_enter(struct gsim_core *core, uint32_t job) {
    struct gsim_jobs *jobs = &core->jobs;
    if (gsim_rarely(jobs->n_free == 0) && !grow_slots(core))
        return GSIM_NO_SLOT;
    gsim_slot slot = jobs->free_list[--jobs->n_free];
    const struct gsim_trace *trace = core->trace;
    jobs->job[slot] = job;
    jobs->submit_ns[slot] = trace->submit_ns[job];
    jobs->gpus[slot] = gsim_trace_gpus(trace, job);
    jobs->share_ppm[slot] = gsim_trace_share(trace, job);
    jobs->changed_ns[slot] = core->view.now_ns;
    jobs->service_ns[slot] = trace->service_ns[job];
    if (gsim_rarely(jobs->foreseen_ns != NULL))
        jobs->foreseen_ns[slot] = gsim_trace_get(trace, GSIM_COL_ESTIMATE_NS, job);
    jobs->info[slot] = (struct gsim_job){.index = job,
                                         .service_ns = trace->service_ns[job],
                                         .gpus = jobs->gpus[slot],
                                         .share_ppm = jobs->share_ppm[slot]};
    begin(core, slot, job);
    jobs->active_at[slot] = core->view.jobs.n_active;
    jobs->active[core->view.jobs.n_active++] = slot;
    if (slot >= core->view.jobs.n_slots)
        core->view.jobs.n_slots = slot + 1;
    jobs->state[slot] = GSIM_QUEUED;
    core->ops->enter(core->model, slot);
    gsim_metrics_job_arrived(core, job);
    gsim_fairness_enter(core, slot);
    return slot;
}

gsim_slot gsim_jobs_reenter(struct gsim_core *core, gsim_slot failed) {
    uint32_t job = core->jobs.job[failed];
    int64_t start_ns = core->metrics.start_ns[job];
    gsim_slot slot = gsim_jobs_enter(core, job);
    if (slot == GSIM_NO_SLOT)
        return slot;
    const struct gsim_core_job *from = &core->jobs.core[failed];
    struct gsim_core_job *own = &core->jobs.core[slot];
    core->metrics.start_ns[job] = start_ns;
    own->wait_ns = from->wait_ns;
    own->stall_ns = from->stall_ns;
    own->held = from->held;
    gsim_widths_inherit(core, slot, failed);
    gsim_fairness_reenter(core, slot, failed);
    core->ops->inherit(core->model, slot, failed);
    own->ran_ns = gsim_progress_ns(&core->view.jobs.progress[slot], core->view.now_ns);
    if (own->ran_ns > 0) {
        core->jobs.state[slot] = GSIM_HELD;
        own->keep = GSIM_KEEP_STORAGE;
    }
    return slot;
}

bool gsim_jobs_announce(struct gsim_core *core, gsim_slot slot) {
    if (!gsim_slots_add(core, &core->arrived, slot))
        return false;
    if (gsim_rarely(core->observer))
        gsim_observe_change(core, slot, GSIM_FREE, false);
    if (core->policy->on_arrival)
        core->policy->on_arrival(&core->ctx, slot);
    gsim_core_heed(core);
    return true;
}

/* Zeroes the policy's per-job state. 8 bytes (most policies) are a constant-size memset, which
 * needs no call. */
static void clear_state(struct gsim_core *core, gsim_slot slot) {
    size_t job_size = core->policy->job_size;
    if (job_size == sizeof(uint64_t))
        memset(core->ctx.job_states + slot * sizeof(uint64_t), 0, sizeof(uint64_t));
    else if (job_size)
        memset(core->ctx.job_states + slot * job_size, 0, job_size);
}

void gsim_jobs_leave(struct gsim_core *core, gsim_slot slot) {
    struct gsim_jobs *jobs = &core->jobs;
    if (gsim_rarely(!jobs->core[slot].has_left))
        core->ops->leave(core->model, slot, core->view.now_ns);
    if (gsim_rarely(core->watches))
        gsim_watches_forget(core, slot);
    gsim_slot last = jobs->active[--core->view.jobs.n_active];
    jobs->active[jobs->active_at[slot]] = last;
    jobs->active_at[last] = jobs->active_at[slot];
    jobs->state[slot] = GSIM_FREE;
    jobs->free_list[jobs->n_free++] = slot;
    clear_state(core, slot);
}

/* --- lists of units: blocks of powers of two, kept for reuse ---------------------------------- */

/* Allocates blocks of a class; the list has room to note all of them as free. */
GSIM_COLD static struct gsim_unit *more_units(struct gsim_core *core,
                                              struct gsim_free_units *free_units, uint32_t class) {
    uint32_t old_n = free_units->capacity, new_n = old_n + old_n / 2 + 1;
    size_t size = (size_t)1 << class;
    struct gsim_unit **list =
        gsim_arena_grow(core->arena, free_units->list, old_n * sizeof *list, new_n * sizeof *list);
    if (!list)
        return NULL;
    free_units->list = list;
    struct gsim_unit *blocks =
        gsim_arena_array(core->arena, (new_n - old_n) * size, sizeof *blocks);
    if (!blocks)
        return NULL;
    free_units->capacity = new_n;
    for (uint32_t i = new_n - old_n; i-- > 1;)
        list[free_units->n++] = blocks + i * size;
    return blocks;
}

struct gsim_unit *gsim_units_new(struct gsim_core *core, uint32_t n) {
    uint32_t class = gsim_units_class(n);
    assert(n > 0 && class < GSIM_UNIT_CLASSES);
    struct gsim_free_units *free_units = &core->free_units[class];
    if (gsim_rarely(free_units->n == 0))
        return more_units(core, free_units, class);
    return free_units->list[--free_units->n];
}

struct gsim_unit *gsim_units_copy(struct gsim_core *core, const struct gsim_unit *units,
                                  uint32_t n) {
    struct gsim_unit *copy = gsim_units_new(core, n);
    for (uint32_t u = 0; copy && u < n; u++)
        copy[u] = units[u];
    return copy;
}

bool gsim_slots_grow(struct gsim_core *core, struct gsim_slots *slots) {
    uint32_t capacity = slots->capacity ? slots->capacity * 2 : 64;
    gsim_slot *list = gsim_arena_grow(core->arena, slots->list, slots->capacity * sizeof *list,
                                      capacity * sizeof *list);
    if (!list)
        return false;
    slots->list = list;
    slots->capacity = capacity;
    core->view.changes.arrived = core->arrived.list;
    core->view.changes.completed = core->completed.list;
    core->view.changes.settled = core->settled.list;
    return true;
}
