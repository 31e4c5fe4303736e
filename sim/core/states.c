/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job: the order of its states, its physical presence on GPUs, and its wait for a GPU
 * to clear. Reservations (sim/core/cluster.c) run ahead of this: a job that is placed on units from
 * which another job still saves has reserved them, and is admitted here when they are clear. */
#include "sim/core/core.h"
#include "sim/base/hints.h"

#include <assert.h>

static inline void account(struct gsim_core *core, gsim_slot slot, int64_t elapsed) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    bool is_stalled = false;
    switch ((enum gsim_state)core->jobs.state[slot]) {
    case GSIM_RUNNING:
    case GSIM_STOPPING:
        own->ran_ns += elapsed;
        return;
    case GSIM_QUEUED:
    case GSIM_PAUSED:
    case GSIM_HELD:
        break;
    case GSIM_STARTING:
    case GSIM_RESUMING:
        is_stalled = own->is_admitted;
        break;
    case GSIM_SAVING:
        is_stalled = true;
        break;
    default:
        return;
    }
    if (!is_stalled) {
        own->wait_ns += elapsed;
        return;
    }
    own->stall_ns += elapsed;
    uint32_t held = core->jobs.info[slot].n_units; /* 0: a pool */
    core->metrics.switch_ns += (gsim_i128)elapsed * (held ? held : core->jobs.gpus[slot]);
}

/* Most changes of a state follow another change of the job at that instant. */
static inline void account_now(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    int64_t elapsed = core->view.now_ns - own->last_ns;
    own->last_ns = core->view.now_ns;
    if (elapsed > 0)
        account(core, slot, elapsed);
}

void gsim_job_account(struct gsim_core *core, gsim_slot slot) {
    account_now(core, slot);
}

/* Expects that the job's times are booked until now. */
static inline void change_state(struct gsim_core *core, gsim_slot slot, enum gsim_state state) {
    enum gsim_state from = core->jobs.state[slot];
    core->jobs.state[slot] = (uint8_t)state;
    core->jobs.changed_ns[slot] = core->view.now_ns;
    if (core->jobs.core[slot].is_wanting != gsim_state_waits(state))
        gsim_metrics_wants(core, slot, gsim_state_waits(state));
    if (gsim_rarely(core->watches))
        gsim_watches_follow(core, slot);
    if (gsim_rarely(core->observer))
        gsim_observe_change(core, slot, from, core->jobs.core[slot].is_admitted);
}

static inline void set_state(struct gsim_core *core, gsim_slot slot, enum gsim_state state) {
    account_now(core, slot);
    change_state(core, slot, state);
}

/* The state of a job on its way to GPUs, by the state in which it waited for them. */
static enum gsim_state towards(enum gsim_state from) {
    return from == GSIM_QUEUED ? GSIM_STARTING : GSIM_RESUMING;
}

static inline void settle(struct gsim_core *core, gsim_slot slot) {
    if (gsim_rarely(!gsim_slots_add(core, &core->settled, slot)))
        (void)gsim_core_no_memory(core);
}

/* --- physically on the units ------------------------------------------------------------------ */

/* The share that is physically free on a GPU is the share free after all transitions, plus the
 * share reserved by jobs that still wait to get there, minus the share held by jobs that are still
 * leaving. Only the last two are counted here, and only while there are such jobs. */
static bool is_clear(const struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    if (core->n_vacating == 0)
        return true;
    for (uint32_t u = 0; u < job->n_units; u++) {
        uint32_t gpu = job->units[u].gpu;
        bool is_arranged = core->cluster.gpu_is_arranged[gpu];
        if (is_arranged && core->leaving_alone[gpu] > 0)
            return false;
        if (!is_arranged && gsim_cluster_free_ppm(&core->cluster, gpu) + core->waiting_ppm[gpu] <
                                core->vacating_ppm[gpu] + job->share_ppm)
            return false;
    }
    return true;
}

/* The GPU's node has other GPUs that jobs have given up. */
static void note_vacated(struct gsim_core *core, uint32_t gpu) {
    gsim_bitset_add(&core->cluster.unused_changed, core->cluster.node_of_gpu[gpu]);
}

static void begin_vacating(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    core->jobs.core[slot].is_vacating = true;
    core->cluster.notes_unused = true;
    core->n_vacating++;
    for (uint32_t u = 0; u < job->n_units; u++) {
        core->vacating_ppm[job->units[u].gpu] += job->share_ppm;
        core->leaving_alone[job->units[u].gpu] += !core->jobs.core[slot].is_sharing;
        gsim_bitset_add(&core->vacated, job->units[u].gpu);
        note_vacated(core, job->units[u].gpu);
    }
}

static void end_vacating(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    core->jobs.core[slot].is_vacating = false;
    core->n_vacating--;
    for (uint32_t u = 0; u < job->n_units; u++) {
        core->vacating_ppm[job->units[u].gpu] -= job->share_ppm;
        core->leaving_alone[job->units[u].gpu] -= !core->jobs.core[slot].is_sharing;
        if (core->vacating_ppm[job->units[u].gpu] == 0)
            gsim_bitset_remove(&core->vacated, job->units[u].gpu);
        note_vacated(core, job->units[u].gpu);
    }
    core->cluster.notes_unused = gsim_bitset_first(&core->vacated) != UINT32_MAX;
}

static void announce(struct gsim_core *core, const struct gsim_op *op, bool begins) {
    const struct gsim_job *job = &core->jobs.info[op->slot];
    bool comes = op->kind == GSIM_OP_PLACE;
    uint32_t *ppm = comes ? core->waiting_ppm : core->vacating_ppm;
    core->n_vacating += comes ? 0u : begins ? 1u : 0u - 1u;
    for (uint32_t u = 0; u < job->n_units; u++)
        ppm[job->units[u].gpu] += begins ? job->share_ppm : 0u - job->share_ppm;
}

/* Whether the job gives up units that it is on. */
static bool leaves(const struct gsim_op *op) {
    return op->kind == GSIM_OP_PREEMPT || op->kind == GSIM_OP_MOVE || op->kind == GSIM_OP_END;
}

GSIM_APART void gsim_jobs_will_change(struct gsim_core *core, const struct gsim_op *ops,
                                      uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (leaves(&ops[i]) || ops[i].kind == GSIM_OP_PLACE)
            announce(core, &ops[i], true);
}

GSIM_APART void gsim_job_changes_now(struct gsim_core *core, const struct gsim_op *op) {
    if (leaves(op) || op->kind == GSIM_OP_PLACE)
        announce(core, op, false);
    if (leaves(op))
        core->must_look_at_all |= !core->jobs.core[op->slot].is_admitted;
}

GSIM_APART static bool is_elsewhere(const struct gsim_job *job) {
    if (job->n_left_units != job->n_units)
        return true;
    for (uint32_t u = 0; u < job->n_units; u++)
        if (job->left_units[u].gpu != job->units[u].gpu ||
            job->left_units[u].slot != job->units[u].slot)
            return true;
    return false;
}

static inline void note_admission(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    struct gsim_job *job = &core->jobs.info[slot];
    own->is_admitted = true;
    own->held_since_ns = core->view.now_ns;
    own->came_ran_ns = own->ran_ns;
    own->is_sharing = core->cluster.n_arranged > 0 && job->n_units > 0 &&
                      core->cluster.gpu_is_arranged[job->units[0].gpu];
    if (gsim_rarely(own->is_sharing || core->metrics.has_requests))
        gsim_held_begin(core, slot);
    if (gsim_rarely(job->n_units != job->gpus || job->share_ppm != GSIM_PPM || own->is_resized))
        gsim_widths_begin(core, slot);
    if (core->metrics.start_ns[job->index] < 0) {
        core->metrics.start_ns[job->index] = core->view.now_ns;
        if (gsim_rarely(core->loops))
            gsim_loops_begin(core, job->index);
    }
    job->is_moved = job->n_left_units > 0 && is_elsewhere(job);
    if (job->is_moved) {
        core->metrics.migrations[job->index]++;
        core->metrics.n_migrations++;
    }
}

/* The job runs, and its former units hold none of its memory any more. */
static inline void arrive(struct gsim_core *core, gsim_slot slot) {
    struct gsim_job *job = &core->jobs.info[slot];
    change_state(core, slot, GSIM_RUNNING);
    settle(core, slot);
    if (gsim_mostly(job->n_left_units == 0))
        return;
    gsim_hosts_release(core, slot);
    gsim_units_free(core, job->left_units, job->n_left_units);
    job->left_units = NULL;
    job->n_left_units = 0;
}

/* Without an observer, a job that begins at once does not enter STARTING or RESUMING. */
static inline void admit(struct gsim_core *core, gsim_slot slot, enum gsim_state from) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    account_now(core, slot);
    note_admission(core, slot);
    own->came_new = from == GSIM_QUEUED;
    if (gsim_rarely(core->observer))
        gsim_observe_change(core, slot, core->jobs.state[slot], false);
    if (core->ops->admit(core->model, slot, from, own->keep, core->view.now_ns) == GSIM_AT_ONCE) {
        arrive(core, slot);
    } else if (core->jobs.state[slot] == from) {
        change_state(core, slot, towards(from));
    }
}

/* --- waiting for units to clear --------------------------------------------------------------- */

/* A job that waits for whole GPUs is the only one that waits for them: it becomes clear when a job
 * leaves one of them, and not otherwise. */
static bool waits_alone(const struct gsim_core *core, const struct gsim_job *job) {
    if (job->share_ppm != GSIM_PPM)
        return false;
    for (uint32_t u = 0; core->cluster.n_arranged > 0 && u < job->n_units; u++)
        if (core->cluster.gpu_is_arranged[job->units[u].gpu])
            return false;
    return true;
}

static void count_waiting(struct gsim_core *core, gsim_slot slot, bool begins) {
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_core_job *own = &core->jobs.core[slot];
    if (begins)
        own->waits_alone = waits_alone(core, job);
    core->n_waiting += begins ? 1u : 0u - 1u;
    core->n_waiting_alone += !own->waits_alone ? 0u : begins ? 1u : 0u - 1u;
    for (uint32_t u = 0; u < job->n_units; u++) {
        core->waiting_ppm[job->units[u].gpu] += begins ? job->share_ppm : 0u - job->share_ppm;
        if (own->waits_alone)
            core->waiter[job->units[u].gpu] = begins ? slot : GSIM_NO_SLOT;
    }
}

static void wait_for_units(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *jobs = core->jobs.core;
    jobs[slot].is_waiting = true;
    jobs[slot].wait_next = GSIM_NO_SLOT;
    jobs[slot].wait_before = core->waiting_last;
    jobs[slot].wait_nth = core->n_waited++;
    if (core->waiting_last == GSIM_NO_SLOT)
        core->waiting_first = slot;
    else
        jobs[core->waiting_last].wait_next = slot;
    core->waiting_last = slot;
    count_waiting(core, slot, true);
}

/* Takes a placed job from the list of jobs that wait for their units to clear. */
static void stop_waiting(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *jobs = core->jobs.core, *own = &jobs[slot];
    if (own->wait_before == GSIM_NO_SLOT)
        core->waiting_first = own->wait_next;
    else
        jobs[own->wait_before].wait_next = own->wait_next;
    if (own->wait_next == GSIM_NO_SLOT)
        core->waiting_last = own->wait_before;
    else
        jobs[own->wait_next].wait_before = own->wait_before;
    own->is_waiting = false;
    count_waiting(core, slot, false);
}

/* The state that a waiting job came from, which depends on where its memory lies: `keep` says so,
 * unless the job never started or lost its progress. */
static enum gsim_state origin(const struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    if (core->jobs.state[slot] == GSIM_STARTING)
        return GSIM_QUEUED;
    return own->keep == GSIM_KEEP_RESIDENT || own->keep == GSIM_KEEP_PAGEABLE ? GSIM_PAUSED
                                                                              : GSIM_HELD;
}

static void admit_waiter(struct gsim_core *core, gsim_slot slot) {
    stop_waiting(core, slot);
    admit(core, slot, origin(core, slot));
}

/* Admits the waiting jobs with units that are clear now, in the order of their placement. */
GSIM_APART static void admit_waiting(struct gsim_core *core) {
    gsim_slot next;
    core->must_look_at_all = false;
    for (gsim_slot slot = core->waiting_first; slot != GSIM_NO_SLOT; slot = next) {
        next = core->jobs.core[slot].wait_next;
        if (is_clear(core, slot))
            admit_waiter(core, slot);
    }
}

/* Of the jobs that wait for a GPU that has been left and are clear, the one that was placed
 * first. */
static gsim_slot first_clear(const struct gsim_core *core) {
    gsim_slot first = GSIM_NO_SLOT;
    for (uint32_t i = 0; i < core->left_gpus.n; i++) {
        gsim_slot slot = core->waiter[core->left_gpus.list[i]];
        if (slot == GSIM_NO_SLOT || slot == first)
            continue;
        if (first != GSIM_NO_SLOT &&
            core->jobs.core[slot].wait_nth > core->jobs.core[first].wait_nth)
            continue;
        if (is_clear(core, slot))
            first = slot;
    }
    return first;
}

/* As admit_waiting does, once GPUs have been left: looks only at the jobs that wait for them where
 * that is less and no other job can have become clear. */
GSIM_APART static void admit_waiting_for_left(struct gsim_core *core) {
    gsim_slot slot;
    uint32_t n = core->left_gpus.n;
    if (n == 0 || core->must_look_at_all || core->n_vacating == 0 ||
        core->n_waiting_alone < core->n_waiting || n > core->n_waiting / n)
        admit_waiting(core);
    else
        while ((slot = first_clear(core)) != GSIM_NO_SLOT)
            admit_waiter(core, slot);
    core->left_gpus.n = 0;
}

GSIM_APART static void note_left(struct gsim_core *core, const struct gsim_job *job) {
    for (uint32_t u = 0; u < job->n_units; u++)
        if (!gsim_slots_add(core, &core->left_gpus, job->units[u].gpu))
            (void)gsim_core_no_memory(core);
    if (!core->holds_admission)
        admit_waiting_for_left(core);
}

void gsim_jobs_admit_held(struct gsim_core *core) {
    core->holds_admission = false;
    if (gsim_rarely(core->waiting_first != GSIM_NO_SLOT) &&
        (core->left_gpus.n > 0 || core->must_look_at_all))
        admit_waiting_for_left(core);
    core->left_gpus.n = 0;
}

static inline void vacate(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    assert(own->is_admitted);
    own->is_admitted = false;
    gsim_held_book(core, slot);
    if (gsim_rarely(own->was_resized))
        gsim_widths_book(core, slot);
    if (gsim_rarely(own->is_vacating))
        end_vacating(core, slot);
    if (gsim_rarely(core->waiting_first != GSIM_NO_SLOT))
        note_left(core, &core->jobs.info[slot]);
}

/* --- what plans do ---------------------------------------------------------------------------- */

void gsim_job_place(struct gsim_core *core, gsim_slot slot) {
    enum gsim_state from = core->jobs.state[slot];
    bool is_clear_now = core->n_vacating == 0 && !core->holds_admission; /* no job is in the way */
    if (gsim_rarely(!is_clear_now || core->observer))
        set_state(core, slot, towards(from));
    if (gsim_mostly(is_clear_now)) {
        admit(core, slot, from);
        return;
    }
    wait_for_units(core, slot);
    if (gsim_rarely(core->holds_admission))
        core->must_look_at_all = true;
    else if (core->must_look_at_all || !core->jobs.core[slot].waits_alone)
        admit_waiting(core);
    else if (is_clear(core, slot))
        admit_waiter(core, slot);
}

static void completed(struct gsim_core *core, gsim_slot slot, bool has_costs);

/* The job is off its units: notes them as left_units, then enters the state that `keep` names. */
static void cleared(struct gsim_core *core, gsim_slot slot) {
    static const uint8_t next_state[GSIM_KEEP_COUNT] = {
        [GSIM_KEEP_RESIDENT] = GSIM_PAUSED, [GSIM_KEEP_PAGEABLE] = GSIM_PAUSED,
        [GSIM_KEEP_HOST] = GSIM_HELD,       [GSIM_KEEP_STORAGE] = GSIM_HELD,
        [GSIM_KEEP_IMAGE] = GSIM_HELD,      [GSIM_KEEP_DISCARD] = GSIM_QUEUED,
        [GSIM_KEEP_SPILT] = GSIM_HELD,      [GSIM_KEEP_IMAGE_SPILT] = GSIM_HELD,
    };
    struct gsim_core_job *own = &core->jobs.core[slot];
    struct gsim_job *job = &core->jobs.info[slot];
    if (own->is_ending) {
        completed(core, slot, true);
        return;
    }
    set_state(core, slot, next_state[own->keep]);
    vacate(core, slot);
    job->left_units = job->units;
    job->n_left_units = job->n_units;
    job->units = own->next_units;
    job->n_units = own->n_next_units;
    job->is_on_one_node = false;
    if (job->units)
        job->share_ppm = own->request.shape.share_ppm;
    job->keeps_rate = own->request.shape.keeps_rate;
    own->next_units = NULL;
    own->n_next_units = 0;
    if (job->units) {
        gsim_job_place(core, slot); /* the second half of a move */
        return;
    }
    settle(core, slot);
    gsim_core_changed(core, slot); /* the policy may place the job again at this instant */
}

/* The memory of a stopped job counts no more, on these units or their host. */
static void lose_memory(struct gsim_core *core, gsim_slot slot, const struct gsim_unit *units,
                        uint32_t n_units) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    gsim_hosts_release(core, slot);
    if (own->is_pinned)
        gsim_cluster_pin(&core->cluster, units, n_units, -own->request.mem_bytes);
    own->is_pinned = false;
}

/* Whether the job came with nothing, and leaves nothing: where memory is managed, the manager has
 * the job of a pause. */
static bool leaves_nothing(const struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    return own->came_new && (own->keep == GSIM_KEEP_STORAGE ||
                             !gsim_domain_of(core, core->jobs.job[slot])->ctx->devices);
}

/* A stay on GPUs that is over in the instant in which it began: the job has not run there, so that
 * it has neither started nor been preempted. A job that came new has nothing to come back from, and
 * left nothing on those GPUs. */
GSIM_COLD static void forget_stay(struct gsim_core *core, gsim_slot slot) {
    uint32_t job = core->jobs.job[slot];
    if (leaves_nothing(core, slot)) {
        lose_memory(core, slot, core->jobs.info[slot].units, core->jobs.info[slot].n_units);
        core->jobs.core[slot].keep = GSIM_KEEP_DISCARD;
    }
    if (core->metrics.start_ns[job] != core->view.now_ns)
        return;
    core->metrics.start_ns[job] = -1;
    if (core->loops)
        gsim_loops_forget_begin(core, job);
}

static void count_preemption(struct gsim_core *core, gsim_slot slot) {
    core->metrics.preemptions[core->jobs.job[slot]]++;
    core->metrics.n_preemptions++;
}

/* An arrival or a repair that is ahead may end a livelock. */
static void count_discard(struct gsim_core *core) {
    bool may_change =
        core->arrival_ns != GSIM_NEVER || !gsim_eventq_is_empty(&core->failures.queue);
    uint64_t most = (uint64_t)GSIM_HEARTBEAT_DISCARDS * core->view.jobs.n_active;
    if (may_change || ++core->n_discards < most)
        return;
    core->n_discards = 0;
    core->beat_nth -= GSIM_HEARTBEAT_EVERY; /* it is due */
}

/* The heartbeat does not take what the job does once more for progress. */
GSIM_COLD static void note_discard(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    int64_t done_ns = gsim_attained_ns(&core->view, slot);
    gsim_held_undone(core, slot);
    own->was_discarded = true;
    if (done_ns > own->discarded_ns)
        own->discarded_ns = done_ns;
    count_discard(core);
}

static void stop_job(struct gsim_core *core, gsim_slot slot, enum gsim_stop stop,
                     enum gsim_keep keep, bool is_preemption) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    own->keep = (uint8_t)keep;
    if (gsim_rarely(keep == GSIM_KEEP_DISCARD))
        note_discard(core, slot);
    if (gsim_rarely(keep == GSIM_KEEP_SPILT || keep == GSIM_KEEP_IMAGE_SPILT))
        core->metrics.n_bytes_stored +=
            gsim_hosts_bytes(core, slot) * core->jobs.info[slot].n_units;
    bool is_over =
        core->ops->evict(core->model, slot, stop, keep, core->view.now_ns) == GSIM_AT_ONCE;
    if (gsim_rarely(is_over && own->held_since_ns == core->view.now_ns && !own->is_ending))
        forget_stay(core, slot);
    else if (is_preemption)
        count_preemption(core, slot);
    if (is_over) {
        cleared(core, slot);
    } else {
        set_state(core, slot, GSIM_STOPPING);
        begin_vacating(core, slot);
    }
}

void gsim_job_preempt(struct gsim_core *core, gsim_slot slot, enum gsim_stop stop,
                      enum gsim_keep keep) {
    stop_job(core, slot, stop, keep, true);
}

void gsim_job_move(struct gsim_core *core, gsim_slot slot, struct gsim_unit *units,
                   uint32_t n_units, enum gsim_stop stop, enum gsim_keep keep) {
    core->jobs.core[slot].next_units = units;
    core->jobs.core[slot].n_next_units = n_units;
    stop_job(core, slot, stop, keep, false); /* a move is not a preemption */
}

/* --- what the model reports ------------------------------------------------------------------- */

/* Releases the reservations of a finished job: its units while it ran; if it ended before it had
 * stopped, the memory of a pause or the units of a move. */
static inline void release_reservation(struct gsim_core *core, gsim_slot slot, bool was_running) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    struct gsim_job *job = &core->jobs.info[slot];
    gsim_hosts_release(core, slot);
    if (gsim_mostly(was_running))
        gsim_cluster_release(&core->cluster, &own->request, job->units, job->n_units);
    else if (own->is_pinned && job->units)
        gsim_cluster_pin(&core->cluster, job->units, job->n_units, -own->request.mem_bytes);
    else if (own->is_pinned)
        gsim_cluster_pin(&core->cluster, job->left_units, job->n_left_units,
                         -own->request.mem_bytes);
    if (gsim_rarely(own->next_units))
        gsim_cluster_release(&core->cluster, &own->request, own->next_units, own->n_next_units);
    gsim_units_free(core, own->next_units, own->n_next_units);
    gsim_units_free(core, job->units, job->n_units);
    gsim_units_free(core, job->left_units, job->n_left_units);
    own->next_units = job->left_units = NULL;
    job->n_left_units = 0;
    own->is_pinned = false;
    job->units = NULL;
    job->n_units = 0;
}

/* Ends a job and releases all that it holds; has_units: it has reserved the units that it is on or
 * waits for. */
static inline void depart(struct gsim_core *core, gsim_slot slot, bool has_units) {
    set_state(core, slot, GSIM_DONE);
    if (gsim_mostly(core->jobs.core[slot].is_admitted))
        vacate(core, slot);
    bool had_part = core->jobs.info[slot].share_ppm < GSIM_PPM;
    release_reservation(core, slot, has_units);
    if (gsim_mostly(!had_part || core->waiting_first == GSIM_NO_SLOT))
        return;
    core->must_look_at_all = true; /* a part that waits for another to leave may have room here */
    if (!core->holds_admission)
        admit_waiting(core);
}

static inline void tell_completed(struct gsim_core *core, gsim_slot slot) {
    if (gsim_rarely(!gsim_slots_add(core, &core->completed, slot)))
        (void)gsim_core_no_memory(core);
    if (core->policy->on_completion)
        core->policy->on_completion(&core->ctx, slot);
    gsim_core_heed(core);
}

static void completed(struct gsim_core *core, gsim_slot slot, bool has_costs) {
    depart(core, slot, core->jobs.state[slot] == GSIM_RUNNING && !core->jobs.core[slot].is_ending);
    gsim_metrics_job_done(core, slot, has_costs);
    if (gsim_rarely(core->loops))
        gsim_loops_release(core, core->jobs.job[slot]);
    tell_completed(core, slot);
}

/* A process that dies ends its job as a policy can: what it has done counts, and no more. */
GSIM_COLD static void cut_off(struct gsim_core *core, gsim_slot slot) {
    depart(core, slot, core->jobs.state[slot] == GSIM_RUNNING);
    core->jobs.core[slot].is_ending = true;
    gsim_metrics_job_done(core, slot, true);
    tell_completed(core, slot);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Tells the policy, which has placed the job, that the job ended, and announces it anew. */
GSIM_APART static void resubmit(struct gsim_core *core, gsim_slot slot, bool has_units) {
    if (core->jobs.core[slot].is_waiting)
        stop_waiting(core, slot);
    depart(core, slot, has_units);
    gsim_slot again = gsim_jobs_reenter(core, slot);
    tell_completed(core, slot);
    if (again == GSIM_NO_SLOT || !gsim_jobs_announce(core, again))
        (void)gsim_core_no_memory(core);
}

/* The job loses its memory while it waits for GPUs. */
static void fall_back(struct gsim_core *core, gsim_slot slot, bool has_checkpoint) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    lose_memory(core, slot, job->left_units, job->n_left_units);
    own->keep = has_checkpoint ? GSIM_KEEP_STORAGE : GSIM_KEEP_DISCARD;
    set_state(core, slot, has_checkpoint ? GSIM_HELD : GSIM_QUEUED);
}

/* The job was to give up its units, and gives them up now. */
static void be_cleared(struct gsim_core *core, gsim_slot slot, bool has_checkpoint) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    lose_memory(core, slot, job->units, job->n_units);
    own->keep = has_checkpoint ? GSIM_KEEP_STORAGE : GSIM_KEEP_DISCARD;
    cleared(core, slot);
}

/* The GPU time of all that a job has done, where it was on another number of GPUs; else 0. */
static gsim_i128 gpu_time_now(struct gsim_core *core, gsim_slot slot) {
    if (!core->jobs.core[slot].was_resized)
        return 0;
    account_now(core, slot);
    gsim_widths_book(core, slot);
    return gsim_widths_gpu_time(core, slot, gsim_attained_ns(&core->view, slot));
}

void gsim_job_fail(struct gsim_core *core, gsim_slot slot) {
    enum gsim_state state = core->jobs.state[slot];
    int64_t now_ns = core->view.now_ns;
    bool is_placed = core->jobs.core[slot].is_admitted && core->jobs.info[slot].n_units > 0;
    uint64_t pace_q32 = is_placed ? core->ops->pace(core->model, slot) : GSIM_RATE_ONE;
    gsim_i128 had_ppm_ns = gpu_time_now(core, slot);
    gsim_held_undone(core, slot);
    int64_t lost_ns = core->ops->fail(core->model, slot, core->options->checkpoint_ns, now_ns);
    gsim_failures_note(core, slot, pace_q32, lost_ns);
    bool has_checkpoint = gsim_progress_ns(&core->view.jobs.progress[slot], now_ns) > 0;
    bool is_leaving = state == GSIM_STOPPING || state == GSIM_SAVING;
    if (is_placed && core->jobs.core[slot].held_since_ns == now_ns)
        forget_stay(core, slot); /* a job that failed before this one left it the GPUs */
    core->metrics.n_restarts++;
    core->metrics.lost_ppm_ns +=
        core->jobs.core[slot].was_resized
            ? had_ppm_ns - gpu_time_now(core, slot)
            : (gsim_i128)lost_ns * core->jobs.gpus[slot] * core->jobs.share_ppm[slot];
    if (gsim_state_waits(state))
        fall_back(core, slot, has_checkpoint);
    else if (is_leaving && !core->jobs.core[slot].next_units)
        be_cleared(core, slot, has_checkpoint);
    else
        resubmit(core, slot, !is_leaving);
}

void gsim_job_end(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    gsim_core_changed(core, slot);
    own->is_ending = true;
    if (!own->is_admitted) {
        completed(core, slot, true);
        return;
    }
    stop_job(core, slot, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD, false); /* an end is not a preemption */
}

/* Handles every event but a completion. */
GSIM_APART static void other_event(struct gsim_core *core, const struct gsim_event *event) {
    switch (event->kind) {
    case GSIM_EVENT_STOPPED: /* gives a policy nothing to act on */
        set_state(core, event->slot, GSIM_SAVING);
        return;
    case GSIM_EVENT_CLEARED:
        cleared(core, event->slot);
        break;
    case GSIM_EVENT_RUNNING:
        account_now(core, event->slot);
        arrive(core, event->slot);
        break;
    case GSIM_EVENT_WATCH:
        if (core->policy->on_watch)
            core->policy->on_watch(&core->ctx, event->slot, event->watch);
        gsim_core_heed(core);
        break;
    case GSIM_EVENT_COMPLETED:
        break;
    }
    gsim_core_changed(core, event->slot);
}

void gsim_job_event(struct gsim_core *core, const struct gsim_event *event) {
    core->metrics.n_events++;
    if (gsim_rarely(event->kind != GSIM_EVENT_COMPLETED)) {
        other_event(core, event);
        return;
    }
    core->jobs.core[event->slot].has_left = true;
    if (gsim_rarely(event->is_cut && !core->jobs.core[event->slot].is_ending))
        cut_off(core, event->slot);
    else
        completed(core, event->slot, event->has_costs);
    gsim_core_changed(core, event->slot);
}
