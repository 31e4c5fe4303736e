/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watches of the time that a job has its GPUs: the core counts that time, so the core sets the
 * watches off and no model has to know them. No watch exists until a policy asks for one. */
#include "sim/core/core.h"

enum { NO_THRESHOLD = -1 };

struct gsim_watches {
    struct gsim_eventq due; /* by slot: running jobs with a threshold ahead of them */
    int64_t *threshold_ns; /* by slot */
    uint32_t capacity;
};

static bool reserve_watches(struct gsim_core *core, uint32_t capacity) {
    struct gsim_watches *watches = core->watches;
    int64_t *thresholds =
        gsim_arena_grow(core->arena, watches->threshold_ns, watches->capacity * sizeof *thresholds,
                        capacity * sizeof *thresholds);
    if (!thresholds || !gsim_eventq_reserve(&watches->due, capacity))
        return false;
    for (uint32_t slot = watches->capacity; slot < capacity; slot++)
        thresholds[slot] = NO_THRESHOLD;
    watches->threshold_ns = thresholds;
    watches->capacity = capacity;
    return true;
}

static bool open_watches(struct gsim_core *core) {
    core->watches = gsim_arena_alloc(core->arena, sizeof *core->watches);
    if (core->watches)
        gsim_eventq_init(&core->watches->due, core->arena);
    return core->watches;
}

/* A job that is past its threshold when it begins to run is due at once. */
void gsim_watches_follow(struct gsim_core *core, gsim_slot slot) {
    struct gsim_watches *watches = core->watches;
    if (slot >= watches->capacity || watches->threshold_ns[slot] == NO_THRESHOLD)
        return;
    gsim_eventq_cancel(&watches->due, slot);
    if (core->jobs.state[slot] == GSIM_RUNNING) {
        int64_t left_ns = watches->threshold_ns[slot] - gsim_ran_ns(&core->view, slot);
        gsim_eventq_set(&watches->due, slot, core->view.now_ns + (left_ns > 0 ? left_ns : 0),
                        core->jobs.job[slot]);
    }
    core->watch_ns = gsim_eventq_next(&watches->due);
}

void gsim_watches_set(struct gsim_core *core, gsim_slot slot, int64_t threshold_ns) {
    if ((!core->watches && !open_watches(core)) ||
        (slot >= core->watches->capacity && !reserve_watches(core, core->jobs.capacity))) {
        (void)gsim_core_no_memory(core);
        return;
    }
    gsim_watches_forget(core, slot);
    core->watches->threshold_ns[slot] = threshold_ns;
    gsim_watches_follow(core, slot);
}

void gsim_watches_forget(struct gsim_core *core, gsim_slot slot) {
    struct gsim_watches *watches = core->watches;
    if (slot >= watches->capacity)
        return;
    watches->threshold_ns[slot] = NO_THRESHOLD;
    gsim_eventq_cancel(&watches->due, slot);
    core->watch_ns = gsim_eventq_next(&watches->due);
}

void gsim_watches_serve(struct gsim_core *core) {
    while (core->watch_ns <= core->view.now_ns && core->status == GSIM_OK) {
        gsim_slot slot = gsim_eventq_first(&core->watches->due);
        gsim_watches_forget(core, slot);
        gsim_core_changed(core, slot);
        core->metrics.n_events++;
        if (core->policy->on_watch)
            core->policy->on_watch(&core->ctx, slot, GSIM_WATCH_RAN);
        gsim_core_heed(core);
    }
}
