/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ideal processor sharing: all jobs on the GPU run at an equal rate, and switching costs nothing.
 * This is the limit of small slices, and the theory's M/G/1 processor sharing. Rates are rounded
 * down to 2^-32: a job of 100 s ends some 25 ns late per sharer. */
#include "models/jobs/processor_sharing.h"

#include "models/jobs/interleaving.h"
#include "models/jobs/speed.h"

static void share_again(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    const struct gsim_machine_gpu *shared = &model->gpus[gpu];
    if (shared->n_sharers == 0)
        return;
    gsim_slot slot = shared->first_sharer;
    for (uint32_t i = 0; i < shared->n_sharers; i++, slot = model->jobs[slot].next_sharer) {
        uint64_t rate_q32 = shared->is_interleaved
                                ? gsim_interleaving_q32(model, slot)
                                : gsim_speed_q32(model, slot) / shared->n_sharers;
        gsim_machine_run_at(model, slot, rate_q32, now_ns);
    }
}

void gsim_processor_sharing_join(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                 int64_t now_ns) {
    struct gsim_machine_gpu *shared = &model->gpus[gpu];
    model->jobs[slot].sharing_gpu = gpu;
    model->jobs[slot].next_sharer = shared->first_sharer;
    shared->first_sharer = slot;
    shared->n_sharers++;
    model->progress[slot].since_ns = now_ns;
    share_again(model, gpu, now_ns);
}

void gsim_processor_sharing_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    struct gsim_machine_gpu *shared = &model->gpus[job->sharing_gpu];
    uint32_t *link = &shared->first_sharer;
    while (*link != slot)
        link = &model->jobs[*link].next_sharer;
    *link = job->next_sharer;
    shared->n_sharers--;
    uint32_t gpu = job->sharing_gpu;
    job->sharing_gpu = UINT32_MAX;
    share_again(model, gpu, now_ns);
}
