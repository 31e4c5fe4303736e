/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU time that jobs hold, by GPU and by job, which are two sums of one thing: all that a GPU is
 * held for, jobs have among them. A job has the GPUs that it is on, from its admission until it is
 * off them, with all its waits there; of a GPU that it has a share of, that share. A GPU that jobs
 * share in turns, side by side, or by instances, is held while any job is on it, and each instant of
 * it is divided among the jobs on it: by the parts of the GPU that their instances are, else by the
 * shares that they ask for. */
#include "sim/core/core.h"
#include "sim/base/hints.h"
#include "sim/base/units.h"

/* Parts of a ns in which each_q52 counts, which is divided by millionths, beyond those of work. */
enum { FINER_BITS = 20 };

/* How much of a shared GPU's time is the job's, against that of other jobs there. */
static uint32_t weight_ppm(const struct gsim_core *core, gsim_slot slot,
                           const struct gsim_unit *unit) {
    return gsim_cluster_is_cut(&core->cluster, unit->gpu)
               ? core->cluster.gpu_instances[unit->gpu]->part_ppm[unit->slot - 1]
               : core->jobs.share_ppm[slot];
}

/* Divides the time since the last change of a shared GPU among its jobs. */
static void pass_shared(struct gsim_core *core, uint32_t gpu) {
    struct gsim_shared_gpu *shared = &core->shared_gpus[gpu];
    int64_t elapsed_ns = core->view.now_ns - shared->since_ns;
    shared->since_ns = core->view.now_ns;
    if (shared->n_jobs == 0 || elapsed_ns == 0)
        return;
    core->metrics.gpu_busy_ns[gpu] += elapsed_ns;
    shared->each_q52 += (gsim_work_of_ns(elapsed_ns) << FINER_BITS) / (int64_t)shared->weight_ppm;
}

GSIM_APART void gsim_held_join(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_core_job *own = &core->jobs.core[slot];
    for (uint32_t u = 0; u < job->n_units; u++) {
        struct gsim_shared_gpu *shared = &core->shared_gpus[job->units[u].gpu];
        uint32_t ppm = weight_ppm(core, slot, &job->units[u]);
        pass_shared(core, job->units[u].gpu);
        shared->n_jobs++;
        shared->weight_ppm += ppm;
        own->held -= shared->each_q52 * ppm >> FINER_BITS;
    }
}

static void leave_shared(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_core_job *own = &core->jobs.core[slot];
    for (uint32_t u = 0; u < job->n_units; u++) {
        struct gsim_shared_gpu *shared = &core->shared_gpus[job->units[u].gpu];
        uint32_t ppm = weight_ppm(core, slot, &job->units[u]);
        pass_shared(core, job->units[u].gpu);
        shared->n_jobs--;
        shared->weight_ppm -= ppm;
        own->held += shared->each_q52 * ppm >> FINER_BITS;
    }
}

GSIM_APART static void book_part(struct gsim_core *core, gsim_slot slot, int64_t held_ns) {
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_metrics *m = &core->metrics;
    gsim_i128 ppm_ns = (gsim_i128)held_ns * job->share_ppm;
    if (core->cluster.is_pool)
        m->busy_ppm_ns += ppm_ns * job->gpus;
    for (uint32_t u = 0; u < job->n_units; u++)
        m->gpu_busy_ppm_ns[job->units[u].gpu] += ppm_ns;
    int64_t n = core->cluster.is_pool ? job->gpus : job->n_units;
    core->jobs.core[slot].held += gsim_work_of_ns(held_ns) * n * job->share_ppm / GSIM_PPM;
}

void gsim_held_book(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    int64_t held_ns = core->view.now_ns - own->held_since_ns;
    if (gsim_rarely(own->is_sharing)) {
        leave_shared(core, slot);
    } else if (gsim_rarely(core->cluster.is_pool || job->share_ppm != GSIM_PPM)) {
        book_part(core, slot, held_ns);
    } else {
        for (uint32_t u = 0; u < job->n_units; u++)
            core->metrics.gpu_busy_ns[job->units[u].gpu] += held_ns;
        own->held += gsim_work_of_ns(held_ns) * job->n_units;
    }
}

int64_t gsim_held_ns(const struct gsim_core_job *own) {
    gsim_i128 held_ns = own->held >> 32;
    return held_ns < INT64_MAX ? (int64_t)held_ns : INT64_MAX;
}
