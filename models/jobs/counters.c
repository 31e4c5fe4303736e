/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters that a policy may ask of a job: the work done so far, the time that it took, and the
 * cost of sharing. */
#include "models/jobs/counters.h"

#include "models/jobs/shared_gpus.h"
#include "models/jobs/shared_job.h"

/* Service of an iteration, or of a request; 0: unknown. */
static int64_t iteration_ns_of(const struct gsim_model *model, gsim_slot slot) {
    return gsim_machine_is_open_loop(model, slot) ? gsim_shared_request_ns(model, slot)
                                                  : model->jobs[slot].iteration_ns;
}

static int64_t launched_kernels(const struct gsim_model *model, gsim_slot slot, int64_t work_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    int64_t iteration_ns = iteration_ns_of(model, slot);
    int64_t kernels =
        gsim_trace_get(model->setup.trace, GSIM_COL_KERNELS, gsim_machine_info(model, slot)->index);
    if (kernels > 0 && iteration_ns > 0)
        return gsim_muldiv_floor(work_ns, kernels, iteration_ns);
    return job->kernel_ns > 0 ? work_ns / job->kernel_ns : -1;
}

/* Of a program with blocks, as evenly over its iterations as its kernels; -1: unknown. */
static int64_t launched_blocks(const struct gsim_model *model, gsim_slot slot, int64_t work_ns,
                               int64_t kernels) {
    const struct gsim_trace *trace = model->setup.trace;
    uint32_t index = gsim_machine_info(model, slot)->index;
    int64_t blocks = gsim_trace_get(trace, GSIM_COL_BLOCKS, index);
    int64_t iteration_ns = iteration_ns_of(model, slot);
    const struct gsim_program *program = gsim_process_program(trace, index);
    if (blocks > 0 || !program || iteration_ns <= 0)
        return blocks > 0 && kernels >= 0 ? kernels * blocks : -1;
    int64_t all = program->steps[program->n_kernels - 1].blocks;
    return all > program->n_kernels ? gsim_muldiv_floor(work_ns, all, iteration_ns) : -1;
}

/* The part of the job's service in which kernels run. */
static int64_t on_device(const struct gsim_model *model, gsim_slot slot, int64_t work_ns) {
    int64_t iteration_ns = model->jobs[slot].iteration_ns;
    int64_t gpu_ns =
        gsim_trace_get(model->setup.trace, GSIM_COL_GPU_NS, gsim_machine_info(model, slot)->index);
    if (gpu_ns <= 0 || gpu_ns >= iteration_ns || gsim_machine_is_open_loop(model, slot))
        return work_ns;
    return gsim_muldiv_floor(work_ns, gpu_ns, iteration_ns);
}

struct gsim_costs gsim_counters_costs(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    struct gsim_memory_use memory = gsim_shared_memory_use(model, slot);
    return (struct gsim_costs){.bytes_in = job->bytes_in + memory.bytes_in,
                               .bytes_out = job->bytes_out + memory.bytes_out,
                               .faults = memory.faults,
                               .stall_ns = memory.stall_ns + job->ending_ns};
}

void gsim_counters_of(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                      struct gsim_counters *out) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    int64_t work_ns = gsim_progress_ns(&model->progress[slot], now_ns);
    bool is_bounded = !gsim_machine_is_open_loop(model, slot); /* the trace gives its service */
    if (is_bounded && gsim_work_of_ns(work_ns) > job->need)
        work_ns = gsim_work_to_ns(job->need);
    int64_t taken_ns = gsim_shared_taken_ns(model, slot);
    int64_t iteration_ns = iteration_ns_of(model, slot);
    int64_t kernels = launched_kernels(model, slot, work_ns);
    *out = (struct gsim_counters){
        .work_ns = work_ns,
        .kernels = kernels,
        .blocks = launched_blocks(model, slot, work_ns, kernels),
        .iterations = iteration_ns > 0 ? work_ns / iteration_ns : -1,
        .busy_ns = on_device(model, slot, work_ns),
        .taken_ns = taken_ns >= 0 ? taken_ns : work_ns,
        .gpu_time_ns = work_ns * gsim_machine_info(model, slot)->gpus,
        .costs = gsim_counters_costs(model, slot),
    };
}
