/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells observers about changes. Not used in a run without observers. */
#include "sim/core/core.h"

/* A job in one of these states is off its units, or leaves them at this instant. */
static bool is_off(enum gsim_state state) {
    return state == GSIM_QUEUED || state == GSIM_PAUSED || state == GSIM_HELD || state == GSIM_DONE;
}

void gsim_observe_change(const struct gsim_core *core, gsim_slot slot, enum gsim_state from,
                         bool was_on) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    enum gsim_state to = core->jobs.state[slot];
    struct gsim_change change = {
        .now_ns = core->view.now_ns,
        .job = core->jobs.job[slot],
        .from = from,
        .to = to,
        .was_on = was_on,
        .is_on = own->is_admitted && !is_off(to),
        .is_moving = own->next_units || (to == GSIM_RESUMING && own->is_admitted && job->is_moved),
        .is_sharing = own->is_sharing,
        .gpus = job->gpus,
        .share_ppm = job->share_ppm,
        .units = job->units,
        .n_units = job->n_units};
    for (const struct gsim_observer *o = core->observer; o; o = o->next)
        o->change(o->arg, &change);
}

void gsim_observe_begin(const struct gsim_core *core) {
    struct gsim_scene scene = {.trace = core->trace,
                               .n_gpus = core->cluster.n_gpus,
                               .node_of_gpu = core->cluster.node_of_gpu,
                               .is_pool = core->cluster.is_pool};
    for (const struct gsim_observer *o = core->observer; o; o = o->next)
        o->begin(o->arg, &scene);
}

void gsim_observe_end(const struct gsim_core *core) {
    for (const struct gsim_observer *o = core->observer; o; o = o->next)
        o->end(o->arg, core->view.now_ns);
}
