/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a job can be stopped: the ends of its iterations and kernels. They come from the trace's
 * columns: one iteration is an even part of the job's service; a kernel is given, or an even part
 * of the iteration. Lengths that the columns do not give are assumed by the device's profile, and
 * noted as soon as a stop waits for them. A job that takes turns as one long kernel has no such
 * places; a job that runs as a stream of kernels has the ends of its kernels. */
#include "models/jobs/boundaries.h"
#include "models/jobs/process.h"
#include "models/jobs/shared_job.h"
#include "sim/base/hints.h"

void gsim_boundaries_fill(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_trace *trace = model->setup.trace;
    struct gsim_machine_job *job = &model->jobs[slot];
    uint32_t index = gsim_machine_info(model, slot)->index;
    int64_t iterations = gsim_trace_get(trace, GSIM_COL_ITERATIONS, index);
    int64_t kernels = gsim_trace_get(trace, GSIM_COL_KERNELS, index);
    int64_t kernel_ns = gsim_trace_get(trace, GSIM_COL_KERNEL_NS, index);
    job->iteration_ns = iterations > 0 ? trace->service_ns[index] / iterations : 0;
    job->has_given_kernel = kernel_ns > 0;
    if (kernel_ns > 0)
        job->kernel_ns = kernel_ns;
    else
        job->kernel_ns = kernels > 0 ? job->iteration_ns / kernels : 0;
}

/* --- assumed boundaries ----------------------------------------------------------------------- */

struct period {
    int64_t ns;
    enum gsim_key length_key; /* GSIM_KEY_COUNT: the trace gives the length of an iteration */
    bool has_assumed_kernels;
};

static bool is_one_kernel(const struct gsim_model *model, gsim_slot slot) {
    return model->jobs[slot].is_turning && model->shared.by_slot[slot].process.iterations == 0;
}

static struct period assumed_iteration(const struct gsim_model *model, gsim_slot slot) {
    uint32_t index = gsim_machine_info(model, slot)->index;
    struct gsim_assumed_iterations assumed = {.key = GSIM_KEY_COUNT};
    if (!is_one_kernel(model, slot) && !gsim_machine_is_open_loop(model, slot))
        assumed =
            gsim_process_assume(model->setup.trace, index, gsim_machine_profile_of(model, slot));
    return (struct period){.ns = assumed.n > 0 ? model->setup.trace->service_ns[index] / assumed.n
                                               : 0,
                           .length_key = assumed.key};
}

GSIM_APART static struct period assumed_period(const struct gsim_model *model, gsim_slot slot,
                                               bool is_iteration) {
    struct period period = {.ns = model->jobs[slot].iteration_ns, .length_key = GSIM_KEY_COUNT};
    if (period.ns == 0)
        period = assumed_iteration(model, slot);
    if (is_iteration || period.ns == 0)
        return period;
    int64_t kernels =
        gsim_trace_get(model->setup.trace, GSIM_COL_KERNELS, gsim_machine_info(model, slot)->index);
    if (kernels <= 0) {
        kernels = gsim_process_kernels(gsim_machine_profile_of(model, slot));
        period.has_assumed_kernels = true;
    }
    period.ns = period.ns > kernels ? period.ns / kernels : 1;
    return period;
}

void gsim_boundaries_note(struct gsim_model *model, gsim_slot slot, bool is_iteration) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    if ((is_iteration ? job->iteration_ns : job->kernel_ns) > 0)
        return;
    struct period period = assumed_period(model, slot, is_iteration);
    if (period.length_key != GSIM_KEY_COUNT)
        model->has_key[period.length_key] = true;
    model->has_key[GSIM_KEY_JOB_KERNELS] |= period.has_assumed_kernels;
}

/* --- where boundaries are --------------------------------------------------------------------- */

static bool has_table_phases(const struct gsim_machine_job *job) {
    return gsim_rarely(job->phases != NULL) && job->phases->phase;
}

/* Where the phase under way begins, from which its iterations are counted; 0 without phases of a
 * table of speeds. */
static int64_t origin_ns(const struct gsim_machine_job *job) {
    return has_table_phases(job) && job->at_phase > 0 ? job->phases->end_ns[job->at_phase - 1] : 0;
}

int64_t gsim_boundaries_ns(const struct gsim_model *model, gsim_slot slot, bool is_iteration) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    if (is_iteration && has_table_phases(job))
        return (job->phases->end_ns[job->at_phase] - origin_ns(job)) /
               job->phases->phase[job->at_phase].iterations;
    int64_t period_ns = is_iteration ? job->iteration_ns : job->kernel_ns;
    return period_ns > 0 ? period_ns : assumed_period(model, slot, is_iteration).ns;
}

bool gsim_boundaries_are_iterations(const struct gsim_model *model, gsim_slot slot,
                                    enum gsim_stop stop) {
    bool is_stream = model->jobs[slot].is_turning && model->shared.by_slot[slot].process.is_stream;
    return stop == GSIM_STOP_ITERATION && !is_stream;
}

/* Where the last boundary is: at the end of the work, or of the phase under way. */
static gsim_work end_of(const struct gsim_machine_job *job) {
    return has_table_phases(job) ? gsim_machine_phase_end(job) : job->need;
}

/* Periods are whole ns, so that all of them together may be some ns shorter than the work: the
 * rest after the last one is no period, but belongs to it. Kernels of a given length may end in a
 * shorter one. */
static bool is_remainder(const struct gsim_machine_job *job, gsim_work left, int64_t period_ns) {
    bool is_division = period_ns == job->iteration_ns || !job->has_given_kernel;
    return is_division && left < gsim_work_of_ns(period_ns);
}

/* The next boundary strictly after the work done, as work. */
static gsim_work next_boundary(const struct gsim_machine_job *job, gsim_work done,
                               int64_t period_ns) {
    if (period_ns <= 0)
        return done;
    int64_t from_ns = origin_ns(job), passed = (gsim_work_to_ns(done) - from_ns) / period_ns;
    gsim_work boundary = gsim_work_of_ns(from_ns + (passed + 1) * period_ns);
    gsim_work most = end_of(job);
    return boundary < most && !is_remainder(job, most - boundary, period_ns) ? boundary : most;
}

/* A program that computes sees what it is asked at the end of an iteration. Where it has just come
 * to its GPUs, it is in the iteration that begins there: a job asked at that moment does that one
 * first, or two jobs that push each other out would never get anywhere. */
static bool is_in_first(const struct gsim_machine_job *job, gsim_work done, bool is_iteration) {
    return is_iteration && !job->is_turning && done == job->came_at;
}

gsim_work gsim_boundaries_stop(const struct gsim_model *model, gsim_slot slot, gsim_work done,
                               enum gsim_stop stop) {
    if (stop == GSIM_STOP_SAVE || gsim_machine_stands_still(model, slot))
        return done;
    bool is_iteration = gsim_boundaries_are_iterations(model, slot, stop);
    int64_t period_ns = gsim_boundaries_ns(model, slot, is_iteration);
    int64_t from_ns = origin_ns(&model->jobs[slot]);
    int64_t whole_ns =
        period_ns > 0 ? (gsim_work_to_ns(done) - from_ns) / period_ns * period_ns : 0;
    const struct gsim_machine_job *job = &model->jobs[slot];
    if (period_ns > 0 && gsim_work_of_ns(from_ns + whole_ns) == done &&
        !is_in_first(job, done, is_iteration) && !is_remainder(job, end_of(job) - done, period_ns))
        return done; /* on a boundary already */
    return next_boundary(&model->jobs[slot], done, period_ns);
}
