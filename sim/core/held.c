/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU time that jobs hold, by GPU and by job, which are two sums of one thing: all that a GPU
 * is held for, jobs have among them. A job has the GPUs that it is on, from its admission until it
 * is off them, with all its waits there; of a GPU that it has a share of, that share. A GPU that
 * jobs share in turns, side by side, or by instances, is held while any job is on it, and each
 * instant of it is divided among the jobs on it: by the parts of the GPU that their instances are,
 * else by the shares that they ask for.
 *
 * Of the time for which a GPU is held, kernels run in a part: not while a job starts, saves or
 * comes back, nor in the gaps of its host. Work that is lost later was computed, too. On a GPU of
 * its own a job's time there says how long that was, at any speed of the device; where jobs share a
 * GPU, the work that each did there, over its speed there alone, as the kernels of requests
 * everywhere. */
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

GSIM_APART int64_t gsim_served_ns(const struct gsim_trace *trace, uint32_t job, int64_t work_ns,
                                  bool has_served) {
    int64_t requests = gsim_trace_get(trace, GSIM_COL_REQUESTS, job);
    int64_t kernels = gsim_trace_get(trace, GSIM_COL_KERNELS, job);
    int64_t kernel_ns = gsim_trace_get(trace, GSIM_COL_GPU_NS, job);
    if (requests <= 0)
        return work_ns;
    gsim_i128 all_ns =
        (gsim_i128)requests * (kernels > 0 ? kernels : 1) * (kernel_ns > 0 ? kernel_ns : 0);
    return has_served || work_ns > all_ns ? (int64_t)(all_ns < INT64_MAX ? all_ns : INT64_MAX)
                                          : work_ns;
}

/* Of a time in which the job went on, the part in which it had kernels to run. */
static int64_t without_gaps(const struct gsim_core *core, gsim_slot slot, int64_t ran_ns) {
    int64_t service_ns = core->jobs.service_ns[slot];
    if (gsim_mostly(!core->metrics.has_gaps) || ran_ns == 0)
        return ran_ns;
    int64_t gap_ns = core->ops->gap_ns(core->model, slot, service_ns);
    return ran_ns - (int64_t)gsim_widths_part(ran_ns, gap_ns, service_ns);
}

/* The work that the job has done, as GPU time where it serves requests. */
static int64_t done_ns(const struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    bool is_whole = own->has_left && !own->is_ending;
    int64_t ns = is_whole ? core->jobs.service_ns[slot] : gsim_attained_ns(&core->view, slot);
    return core->metrics.has_requests
               ? gsim_served_ns(core->trace, core->jobs.job[slot], ns, is_whole)
               : ns;
}

/* Kernels run for nearly all of the time for which most GPUs are held: the rest is counted. */
GSIM_APART static void add_still(struct gsim_core *core, gsim_slot slot, gsim_work still) {
    const struct gsim_job *job = &core->jobs.info[slot];
    for (uint32_t u = 0; u < job->n_units; u++)
        core->metrics.gpu_still[job->units[u].gpu] += still;
}

/* The work of a stay, in the time that it takes alone where it was done. */
GSIM_APART static void book_work(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    int64_t now_ns = done_ns(core, slot);
    int64_t work_ns = (now_ns > own->undone_ns ? now_ns : own->undone_ns) - own->came_done_ns;
    uint64_t pace_q32 = core->ops->pace(core->model, slot);
    if (work_ns <= 0)
        return;
    int64_t took_ns = pace_q32 > 0 ? gsim_work_time(gsim_work_of_ns(work_ns), pace_q32) : work_ns;
    add_still(core, slot, -gsim_work_of_ns(without_gaps(core, slot, took_ns)));
}

gsim_work gsim_held_computing(const struct gsim_core *core, uint32_t gpu) {
    const struct gsim_metrics *m = &core->metrics;
    gsim_work still = m->gpu_still[gpu];
    gsim_work held = core->cluster.is_pool ? (m->busy_ppm_ns << 32) / GSIM_PPM
                                           : gsim_work_of_ns(m->gpu_busy_ns[gpu]) +
                                                 (m->gpu_busy_ppm_ns[gpu] << 32) / GSIM_PPM;
    return still > 0 ? held - still : held; /* kernels of jobs may run beside each other */
}

/* Divides the time since the last change of a shared GPU among its jobs. */
static void pass_shared(struct gsim_core *core, uint32_t gpu) {
    struct gsim_shared_gpu *shared = &core->shared_gpus[gpu];
    int64_t elapsed_ns = core->view.now_ns - shared->since_ns;
    shared->since_ns = core->view.now_ns;
    if (shared->n_jobs == 0 || elapsed_ns == 0)
        return;
    core->metrics.gpu_busy_ns[gpu] += elapsed_ns;
    core->metrics.gpu_still[gpu] += gsim_work_of_ns(elapsed_ns);
    shared->each_q52 += (gsim_work_of_ns(elapsed_ns) << FINER_BITS) / (int64_t)shared->weight_ppm;
}

GSIM_APART void gsim_held_begin(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_core_job *own = &core->jobs.core[slot];
    own->came_done_ns = done_ns(core, slot);
    own->undone_ns = 0;
    for (uint32_t u = 0; own->is_sharing && u < job->n_units; u++) {
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

GSIM_APART void gsim_held_undone(struct gsim_core *core, gsim_slot slot) {
    core->jobs.core[slot].undone_ns = done_ns(core, slot);
}

GSIM_APART static void book_part(struct gsim_core *core, gsim_slot slot, int64_t held_ns,
                                 int64_t ran_ns) {
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_metrics *m = &core->metrics;
    gsim_i128 ppm_ns = (gsim_i128)held_ns * job->share_ppm;
    if (core->cluster.is_pool)
        m->busy_ppm_ns += ppm_ns * job->gpus;
    for (uint32_t u = 0; u < job->n_units; u++)
        m->gpu_busy_ppm_ns[job->units[u].gpu] += ppm_ns;
    int64_t n = core->cluster.is_pool ? job->gpus : job->n_units;
    core->jobs.core[slot].held += gsim_work_of_ns(held_ns) * n * job->share_ppm / GSIM_PPM;
    gsim_work still = gsim_work_of_ns(held_ns - ran_ns) * job->share_ppm / GSIM_PPM;
    add_still(core, slot, still);
    if (core->cluster.is_pool)
        core->metrics.gpu_still[0] += still * job->gpus;
}

static inline void book_whole(struct gsim_core *core, gsim_slot slot, int64_t held_ns,
                              int64_t ran_ns) {
    const struct gsim_job *job = &core->jobs.info[slot];
    for (uint32_t u = 0; u < job->n_units; u++)
        core->metrics.gpu_busy_ns[job->units[u].gpu] += held_ns;
    core->jobs.core[slot].held += gsim_work_of_ns(held_ns) * job->n_units;
    if (gsim_rarely(ran_ns != held_ns))
        add_still(core, slot, gsim_work_of_ns(held_ns - ran_ns));
}

/* On shared GPUs, on parts of them or in a pool, or of jobs with requests or gaps. */
GSIM_APART static void book_other(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    if (own->is_sharing) {
        leave_shared(core, slot);
        book_work(core, slot);
        return;
    }
    bool serves = core->metrics.has_requests &&
                  gsim_trace_get(core->trace, GSIM_COL_REQUESTS, job->index) > 0;
    if (serves)
        book_work(core, slot);
    int64_t held_ns = core->view.now_ns - own->held_since_ns;
    int64_t ran_ns = serves ? 0 : without_gaps(core, slot, own->ran_ns - own->came_ran_ns);
    if (core->cluster.is_pool || job->share_ppm != GSIM_PPM)
        book_part(core, slot, held_ns, ran_ns);
    else
        book_whole(core, slot, held_ns, ran_ns);
}

void gsim_held_book(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_metrics *m = &core->metrics;
    if (gsim_rarely(own->is_sharing || m->has_requests || m->has_gaps || core->cluster.is_pool ||
                    core->jobs.info[slot].share_ppm != GSIM_PPM))
        book_other(core, slot);
    else
        book_whole(core, slot, core->view.now_ns - own->held_since_ns,
                   own->ran_ns - own->came_ran_ns);
}

int64_t gsim_held_ns(const struct gsim_core_job *own) {
    gsim_i128 held_ns = (own->held + ((gsim_work)1 << 31)) >> 32;
    return held_ns < INT64_MAX ? (int64_t)held_ns : INT64_MAX;
}
