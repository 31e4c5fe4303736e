/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/process.h"

#include "gsim/units.h"
#include "models/gpu/program_alone.h"

/* How many kernels the host launches in an iteration when the row does not give their number: as
 * many as a host can launch in that time, at the device's launch rate. Where launching costs
 * nothing any number is as good, as long as one kernel is a small part of the whole. */
enum { FINE = 1024 };

static int64_t guess_kernels(const struct gsim_profile *profile, int64_t host_ns) {
    int64_t launch_ns = profile->value[GSIM_KEY_LAUNCH_NS];
    if (host_ns == 0)
        return 1;
    int64_t kernels = launch_ns > 0 ? host_ns / launch_ns : FINE;
    return kernels > 0 ? kernels : 1;
}

static int64_t given(const struct gsim_trace *trace, enum gsim_column column, uint32_t index) {
    int64_t value = gsim_trace_get(trace, column, index);
    return value > 0 ? value : 0;
}

/* --- numbers that a row does not give --------------------------------------------------------- */

/* The length by the job's memory, but no shorter than a kernel, or than the time to launch its
 * kernels. */
static int64_t assumed_length(const struct gsim_trace *trace, uint32_t index,
                              const struct gsim_profile *profile, enum gsim_key *key) {
    int64_t mem_bytes = given(trace, GSIM_COL_MEM_BYTES, index);
    if (mem_bytes == 0)
        mem_bytes = given(trace, GSIM_COL_WORKING_SET_BYTES, index);
    *key = mem_bytes > 0 ? GSIM_KEY_JOB_ITERATION_NS_PER_GIB : GSIM_KEY_JOB_ITERATION_NS;
    if (profile->value[*key] == 0)
        return 0;
    int64_t length_ns = mem_bytes > 0 ? gsim_muldiv_ceil(profile->value[*key], mem_bytes, GSIM_GIB)
                                      : profile->value[*key];
    int64_t least_ns = given(trace, GSIM_COL_KERNEL_NS, index);
    if (least_ns == 0)
        least_ns = profile->value[GSIM_KEY_JOB_KERNELS] * profile->value[GSIM_KEY_LAUNCH_NS];
    return length_ns > least_ns ? length_ns : least_ns;
}

static struct gsim_assumed_iterations as_long_as(int64_t length_ns, enum gsim_key key,
                                                 const struct gsim_trace *trace, uint32_t index) {
    int64_t busy_ns = trace->service_ns[index] - given(trace, GSIM_COL_HOST_TAIL_NS, index);
    if (busy_ns <= 0 || length_ns <= 0)
        return (struct gsim_assumed_iterations){.key = GSIM_KEY_COUNT};
    int64_t n = busy_ns / length_ns + (busy_ns % length_ns >= length_ns - length_ns / 2);
    return (struct gsim_assumed_iterations){n > 0 ? n : 1, key};
}

struct gsim_assumed_iterations gsim_process_assume(const struct gsim_trace *trace, uint32_t index,
                                                   const struct gsim_profile *profile) {
    enum gsim_key key;
    int64_t length_ns = assumed_length(trace, index, profile, &key);
    return as_long_as(length_ns, key, trace, index);
}

static struct gsim_assumed_iterations of_a_quantum(const struct gsim_trace *trace, uint32_t index,
                                                   const struct gsim_profile *profile) {
    int64_t quantum_ns = profile->value[GSIM_KEY_SLICE_QUANTUM_NS];
    int64_t least_ns = trace->service_ns[index] / GSIM_PROCESS_ITERATIONS_MOST;
    return as_long_as(quantum_ns > least_ns ? quantum_ns : least_ns, GSIM_KEY_COUNT, trace, index);
}

/* On a device without a length of iterations (ideal) nothing costs anything either: pages are
 * resident, and a job can stop anywhere. Only where turns end at iterations the job has to have
 * some there: iterations of a quantum, but no more than ten thousand of a job. */
static int64_t assume_iterations(struct gsim_process *process, const struct gsim_trace *trace,
                                 uint32_t index, const struct gsim_profile *profile,
                                 unsigned parts) {
    struct gsim_assumed_iterations assumed = gsim_process_assume(trace, index, profile);
    if (assumed.n == 0 && parts & GSIM_PARTS_TURNS)
        assumed = of_a_quantum(trace, index, profile);
    process->length_key = assumed.key;
    return assumed.n;
}

int64_t gsim_process_kernels(const struct gsim_profile *profile) {
    int64_t kernels = profile->value[GSIM_KEY_JOB_KERNELS];
    return kernels > 0 ? kernels : 1;
}

/* The assumed kernels of an iteration with this GPU time. */
static int64_t assume_kernels(struct gsim_process *process, const struct gsim_trace *trace,
                              uint32_t index, const struct gsim_profile *profile, int64_t gpu_ns) {
    int64_t kernel_ns = given(trace, GSIM_COL_KERNEL_NS, index);
    process->has_assumed_kernels = kernel_ns == 0;
    if (kernel_ns == 0)
        return gsim_process_kernels(profile);
    return gpu_ns > kernel_ns ? (gpu_ns + kernel_ns - 1) / kernel_ns : 1;
}

/* --- numbers of the row ----------------------------------------------------------------------- */

/* Where no column gives the working set, a host that launches ahead (host_ms) is that of an
 * application, of which none fits L2; kernels alone are taken for small. */
static bool is_beyond_l2(const struct gsim_trace *trace, uint32_t index,
                         const struct gsim_profile *profile) {
    int64_t bytes = gsim_trace_get(trace, GSIM_COL_WORKING_SET_BYTES, index);
    if (bytes < 0)
        bytes = gsim_trace_get(trace, GSIM_COL_MEM_BYTES, index);
    if (bytes < 0)
        return given(trace, GSIM_COL_HOST_NS, index) > 0;
    return bytes > profile->value[GSIM_KEY_L2_BYTES];
}

/* Splits the pace of one iteration into GPU, host and gap. */
static void fill_iteration(struct gsim_context *context, int64_t pace_ns, int64_t gpu_ns,
                           int64_t host_ns, int64_t gap_ns) {
    int64_t least_gap_ns = gap_ns < pace_ns / 2 ? gap_ns : pace_ns / 2;
    int64_t most_ns = pace_ns - least_gap_ns;
    context->spec.gpu_ns = gpu_ns > 0 && gpu_ns < most_ns ? gpu_ns : most_ns;
    context->spec.host_ns = host_ns < most_ns ? host_ns : most_ns;
    int64_t longer_ns =
        context->spec.gpu_ns > context->spec.host_ns ? context->spec.gpu_ns : context->spec.host_ns;
    context->spec.gap_ns = pace_ns - longer_ns;
    if (context->spec.kernels > context->spec.gpu_ns)
        context->spec.kernels = context->spec.gpu_ns;
}

/* A process that never waits for the GPU: its host launches the next iteration at once. */
static void run_through(struct gsim_process *process) {
    struct gsim_context *context = &process->context;
    context->spec.host_ns =
        context->spec.host_ns > 0 ? context->spec.host_ns + context->spec.gap_ns : 0;
    context->spec.gap_ns = 0;
    context->spec.never_waits = true;
    process->pace_ns =
        context->spec.gpu_ns > context->spec.host_ns ? context->spec.gpu_ns : context->spec.host_ns;
}

/* A process that never waits, where iterations decide nothing: all of them are one long stream of
 * launches. */
static void unroll(struct gsim_process *process, int64_t n) {
    struct gsim_context *context = &process->context;
    context->spec.host_ns =
        context->spec.host_ns > 0 ? (context->spec.host_ns + context->spec.gap_ns) * n : 0;
    context->spec.gpu_ns *= n;
    context->spec.kernels *= n;
    context->spec.gap_ns = 0;
    context->spec.iterations = 1;
    process->is_stream = true;
    process->pace_ns =
        context->spec.gpu_ns > context->spec.host_ns ? context->spec.gpu_ns : context->spec.host_ns;
}

static struct gsim_process open_loop(const struct gsim_trace *trace, uint32_t index,
                                     const struct gsim_profile *profile) {
    struct gsim_process process = {
        .is_open_loop = true, .per_iteration = 1, .length_key = GSIM_KEY_COUNT};
    int64_t kernels = given(trace, GSIM_COL_KERNELS, index);
    kernels = kernels > 0 ? kernels : 1;
    process.context = (struct gsim_context){
        .spec.iterations = given(trace, GSIM_COL_REQUESTS, index),
        .spec.gpu_ns = given(trace, GSIM_COL_GPU_NS, index) * kernels,
        .spec.kernels = kernels,
        .spec.queue = profile->value[GSIM_KEY_LAUNCH_QUEUE],
        .spec.launch_lag_ns = profile->value[GSIM_KEY_LAUNCH_GAP_NS],
    };
    process.pace_ns = process.context.spec.gpu_ns;
    return process;
}

/* --- programs --------------------------------------------------------------------------------- */

const struct gsim_program *gsim_process_program(const struct gsim_trace *trace, uint32_t index) {
    int64_t app = gsim_trace_get(trace, GSIM_COL_APP, index);
    return app >= 0 && trace->programs ? trace->programs[app] : NULL;
}

static struct gsim_process loop_of_program(const struct gsim_trace *trace, uint32_t index,
                                           const struct gsim_profile *profile,
                                           const struct gsim_program *program) {
    struct gsim_process process = {.per_iteration = 1, .length_key = GSIM_KEY_COUNT};
    int64_t tail_ns = given(trace, GSIM_COL_HOST_TAIL_NS, index);
    int64_t n = given(trace, GSIM_COL_ITERATIONS, index);
    int64_t service_ns = trace->service_ns[index] - tail_ns;
    process.context =
        gsim_program_context(program, profile, given(trace, GSIM_COL_GPU_NS, index), 0, n);
    process.iterations = n;
    int64_t alone_ns =
        gsim_program_fit(&process.context, service_ns, given(trace, GSIM_COL_HOST_NS, index));
    process.pace_ns = alone_ns / n > 0 ? alone_ns / n : 1;
    int64_t paced_ns = process.pace_ns * n;
    process.tail_ns = service_ns > paced_ns ? service_ns - paced_ns + tail_ns : tail_ns;
    return process;
}

static struct gsim_process requests_of_program(const struct gsim_trace *trace, uint32_t index,
                                               const struct gsim_profile *profile,
                                               const struct gsim_program *program) {
    struct gsim_process process = {
        .is_open_loop = true, .per_iteration = 1, .length_key = GSIM_KEY_COUNT};
    enum { AS_IN_PROGRAM = 0 }; /* the cell of gpu_ms is of one kernel here */
    process.context =
        gsim_program_context(program, profile, AS_IN_PROGRAM, given(trace, GSIM_COL_HOST_NS, index),
                             given(trace, GSIM_COL_REQUESTS, index));
    process.context.spec.launch_lag_ns = profile->value[GSIM_KEY_LAUNCH_GAP_NS];
    process.pace_ns = process.context.spec.gpu_ns;
    return process;
}

/* --- rows without a program ------------------------------------------------------------------- */

/* The host waits for each kernel: each is an iteration of the context. */
static void wait_for_each(struct gsim_process *process, int64_t *gpu_ns, int64_t *host_ns,
                          int64_t *gap_ns) {
    struct gsim_context_spec *spec = &process->context.spec;
    process->per_iteration = spec->per_sweep = spec->kernels;
    process->left_gpu_ns = *gpu_ns % spec->kernels;
    *gpu_ns /= spec->kernels;
    *gap_ns = (*gap_ns + *host_ns) / spec->kernels;
    *host_ns = 0;
    spec->kernels = 1;
}

/* A row without iterations: one kernel, and the host's time behind it where the row has it, which
 * may be all of its time. */
static void one_kernel(struct gsim_process *process, int64_t service_ns, int64_t tail_ns) {
    process->tail_ns = tail_ns < service_ns ? tail_ns : service_ns;
    process->pace_ns = service_ns - process->tail_ns;
    process->context = (struct gsim_context){.spec.iterations = process->pace_ns > 0,
                                             .spec.gpu_ns = process->pace_ns,
                                             .spec.kernels = 1};
}

static struct gsim_process closed_loop(const struct gsim_trace *trace, uint32_t index,
                                       const struct gsim_profile *profile, unsigned parts) {
    struct gsim_process process = {.per_iteration = 1, .length_key = GSIM_KEY_COUNT};
    struct gsim_context *context = &process.context;
    int64_t service_ns = trace->service_ns[index];
    int64_t tail_ns = given(trace, GSIM_COL_HOST_TAIL_NS, index);
    int64_t n = given(trace, GSIM_COL_ITERATIONS, index);
    int64_t host_ns = given(trace, GSIM_COL_HOST_NS, index);
    int64_t kernels = given(trace, GSIM_COL_KERNELS, index);
    int64_t gpu_ns = given(trace, GSIM_COL_GPU_NS, index);
    int64_t gap_ns = given(trace, GSIM_COL_HOST_GAP_NS, index);
    int64_t sync = given(trace, GSIM_COL_SYNC, index);
    if (n == 0 && parts & ~(uint32_t)GSIM_PARTS_LENGTHS) {
        n = assume_iterations(&process, trace, index, profile, parts);
        process.is_assumed = true;
        if (!(parts & GSIM_PARTS_ITERATIONS) && sync != GSIM_SYNC_KERNEL)
            sync = GSIM_SYNC_NONE;
    }
    bool is_structured = n > 0 && tail_ns < service_ns && (service_ns - tail_ns) / n > 0;
    if (!is_structured) {
        one_kernel(&process, service_ns, tail_ns);
        return process;
    }
    process.iterations = n;
    context->spec.kernels = kernels > 0 ? kernels : guess_kernels(profile, host_ns);
    if (kernels == 0 && host_ns == 0 && parts & GSIM_PARTS_KERNELS)
        context->spec.kernels = assume_kernels(&process, trace, index, profile,
                                               gpu_ns > 0 ? gpu_ns : (service_ns - tail_ns) / n);
    if (sync == GSIM_SYNC_KERNEL && (service_ns - tail_ns) / n > 2 * context->spec.kernels) {
        wait_for_each(&process, &gpu_ns, &host_ns, &gap_ns);
        n *= process.per_iteration;
    }
    if (sync != GSIM_SYNC_NONE && gap_ns < profile->value[GSIM_KEY_LAUNCH_GAP_NS])
        gap_ns = profile->value[GSIM_KEY_LAUNCH_GAP_NS];
    process.pace_ns = (service_ns - tail_ns) / n;
    if (kernels > 0 && gpu_ns > 0) /* the context holds the GPU between its kernels too */
        gpu_ns += (context->spec.kernels - 1) * profile->value[GSIM_KEY_LAUNCH_BETWEEN_NS];
    context->spec.iterations = n;
    fill_iteration(context, process.pace_ns, gpu_ns, host_ns, gap_ns);
    if (context->spec.gpu_ns != gpu_ns) /* it is longer than the row's time leaves room for */
        process.left_gpu_ns = 0;
    if (sync == GSIM_SYNC_NONE && parts & (GSIM_PARTS_ITERATIONS | GSIM_PARTS_LENGTHS))
        run_through(&process);
    else if (sync == GSIM_SYNC_NONE)
        unroll(&process, n);
    if (process.is_stream && process.is_assumed) /* to the nanosecond */
        process.pace_ns = context->spec.gpu_ns = service_ns - tail_ns;
    process.tail_ns = service_ns - process.pace_ns * context->spec.iterations;
    return process;
}

struct gsim_process gsim_process_of(const struct gsim_trace *trace, uint32_t index,
                                    const struct gsim_profile *profile, unsigned parts) {
    const struct gsim_program *program = gsim_process_program(trace, index);
    bool is_open_loop = gsim_trace_get(trace, GSIM_COL_REQUESTS, index) > 0;
    struct gsim_process process;
    if (program && is_open_loop)
        process = requests_of_program(trace, index, profile, program);
    else if (program && given(trace, GSIM_COL_ITERATIONS, index) > 0)
        process = loop_of_program(trace, index, profile, program);
    else if (is_open_loop)
        process = open_loop(trace, index, profile);
    else
        process = closed_loop(trace, index, profile, parts);
    if (!process.context.spec.program)
        process.context.spec.queue = profile->value[GSIM_KEY_LAUNCH_QUEUE];
    process.is_cold = is_beyond_l2(trace, index, profile);
    return process;
}

/* Whether the assumed iterations of a row take as long as the host needs to launch their assumed
 * kernels, since that is longer than the assumed length. */
static bool is_launch_bound(const struct gsim_trace *trace, uint32_t index,
                            const struct gsim_profile *profile) {
    enum gsim_key key;
    return given(trace, GSIM_COL_KERNEL_NS, index) == 0 &&
           assumed_length(trace, index, profile, &key) ==
               profile->value[GSIM_KEY_JOB_KERNELS] * profile->value[GSIM_KEY_LAUNCH_NS];
}

unsigned gsim_process_keys(const struct gsim_trace *trace, uint32_t index,
                           const struct gsim_profile *profile) {
    if (gsim_trace_get(trace, GSIM_COL_REQUESTS, index) > 0)
        return GSIM_PROCESS_HAS_GAP;
    bool is_waiting = given(trace, GSIM_COL_SYNC, index) == GSIM_SYNC_KERNEL;
    unsigned keys = 0;
    if (gsim_process_program(trace, index) && given(trace, GSIM_COL_ITERATIONS, index) > 0)
        return GSIM_PROCESS_HAS_BETWEEN;
    if (given(trace, GSIM_COL_KERNELS, index) == 0 && given(trace, GSIM_COL_HOST_NS, index) > 0)
        keys |= GSIM_PROCESS_HAS_LAUNCHES | GSIM_PROCESS_HAS_GUESS |
                (is_waiting ? GSIM_PROCESS_HAS_SYNCS : 0U);
    if (given(trace, GSIM_COL_ITERATIONS, index) == 0)
        return keys | (is_launch_bound(trace, index, profile) ? GSIM_PROCESS_HAS_LAUNCHES : 0U);
    if (is_waiting && given(trace, GSIM_COL_KERNELS, index) == 0 &&
        given(trace, GSIM_COL_HOST_NS, index) == 0)
        keys |= GSIM_PROCESS_HAS_ONE;
    if (given(trace, GSIM_COL_SYNC, index) != GSIM_SYNC_NONE &&
        given(trace, GSIM_COL_HOST_GAP_NS, index) < profile->value[GSIM_KEY_LAUNCH_GAP_NS])
        keys |= GSIM_PROCESS_HAS_GAP;
    if (given(trace, GSIM_COL_KERNELS, index) > 1 && given(trace, GSIM_COL_GPU_NS, index) > 0)
        keys |= GSIM_PROCESS_HAS_BETWEEN;
    return keys;
}

gsim_work gsim_process_done(const struct gsim_process *process,
                            const struct gsim_context *context) {
    gsim_work whole = gsim_work_of_ns(process->pace_ns) * context->sums.done_iterations;
    if (context->done == 0 || process->pace_ns == context->spec.gpu_ns)
        return whole + context->done;
    /* within an iteration the GPU's part stands for the whole */
    int64_t part_ns =
        gsim_muldiv_floor(gsim_work_to_ns(context->done), process->pace_ns, context->spec.gpu_ns);
    return whole + gsim_work_of_ns(part_ns);
}

int64_t gsim_process_gpu_ns(const struct gsim_process *process, int64_t service_ns) {
    int64_t paced_ns = process->pace_ns * process->context.spec.iterations; /* without the tail */
    if (process->pace_ns <= 0)
        return 0;
    int64_t done_ns = service_ns < paced_ns ? service_ns : paced_ns;
    int64_t gpu_ns =
        gsim_muldiv_floor(done_ns, process->context.spec.gpu_ns, process->pace_ns) +
        gsim_muldiv_floor(done_ns / process->per_iteration, process->left_gpu_ns, process->pace_ns);
    return gpu_ns < service_ns ? gpu_ns : service_ns;
}

/* What an iteration takes alone until the pause of its host. */
static int64_t until_pause_ns(const struct gsim_process *process) {
    return process->pace_ns - process->context.spec.gap_ns;
}

static bool is_within_iterations(const struct gsim_process *process, int64_t service_ns) {
    return process->pace_ns > 0 && service_ns / process->pace_ns < process->context.spec.iterations;
}

int64_t gsim_process_alone_ns(const struct gsim_process *process, int64_t service_ns,
                              int64_t pause_ns) {
    if (pause_ns > 0 || !is_within_iterations(process, service_ns))
        return service_ns - pause_ns;
    int64_t part_ns = service_ns % process->pace_ns;
    return service_ns - part_ns +
           gsim_muldiv_floor(part_ns, until_pause_ns(process), process->pace_ns);
}

void gsim_process_locate(const struct gsim_process *process, const struct gsim_context *context,
                         int64_t service_ns, int64_t *iterations, gsim_work *done) {
    *iterations = service_ns / process->pace_ns;
    *done = gsim_work_of_ns(
        gsim_muldiv_ceil(service_ns % process->pace_ns, context->spec.gpu_ns, process->pace_ns));
}

int64_t gsim_process_time_ns(int64_t service_ns, uint64_t rate_q32) {
    if (rate_q32 == GSIM_RATE_ONE)
        return service_ns;
    return gsim_muldiv_ceil(service_ns, (int64_t)GSIM_RATE_ONE, (int64_t)rate_q32);
}

/* --- a process on a device -------------------------------------------------------------------- */

static void pace(struct gsim_context *context, uint64_t rate_q32) {
    context->spec.gpu_ns = gsim_process_time_ns(context->spec.gpu_ns, rate_q32);
    context->spec.host_ns = gsim_process_time_ns(context->spec.host_ns, rate_q32);
    context->spec.gap_ns = gsim_process_time_ns(context->spec.gap_ns, rate_q32);
    context->spec.pace_ns = gsim_process_time_ns(context->spec.pace_ns, rate_q32);
    if (context->spec.gpu_ns < context->spec.kernels) /* of at least 1 ns each */
        context->spec.gpu_ns = context->spec.kernels;
}

/* The demand of the kernels when they are alone on the device: without columns they fill all SMs,
 * or the part of a GPU that the job asks for, and draw nothing from memory. */
static struct gsim_demand demand_of(const struct gsim_trace *trace, uint32_t index,
                                    const struct gsim_profile *profile) {
    int64_t fill_ppm = gsim_trace_get(trace, GSIM_COL_SM_PPM, index);
    int64_t share_ppm = gsim_trace_share(trace, index);
    struct gsim_demand demand = {.hbm_bytes_per_s = given(trace, GSIM_COL_HBM_BYTES_PER_S, index)};
    if (fill_ppm <= 0 || fill_ppm > share_ppm)
        fill_ppm = share_ppm;
    demand.fill_ppm = fill_ppm > 0 ? (uint32_t)fill_ppm : 1;
    demand.memory_ppm = gsim_space_memory_ppm(profile, demand.fill_ppm, demand.hbm_bytes_per_s);
    demand.loads_ppm = gsim_space_loads_ppm(gsim_trace_get(trace, GSIM_COL_LOADED_PPM, index));
    return demand;
}

struct gsim_member gsim_process_member(const struct gsim_process *process,
                                       const struct gsim_site *site) {
    int64_t block_ns = gsim_trace_get(site->trace, GSIM_COL_KERNEL_NS, site->index);
    struct gsim_member member = {
        .spec = {.is_cold = process->is_cold,
                 .is_idempotent = gsim_trace_get(site->trace, GSIM_COL_IDEMPOTENT, site->index) > 0,
                 .block_ns =
                     block_ns > 0 ? gsim_process_time_ns(block_ns, site->rate_q32) : block_ns},
        .context = process->context};
    pace(&member.context, site->rate_q32);
    member.spec.demand = demand_of(site->trace, site->index, site->profile);
    return member;
}

void gsim_process_repace(struct gsim_context *left, const struct gsim_context *whole) {
    if (left->spec.gpu_ns != whole->spec.gpu_ns)
        left->done = gsim_work_of_ns(
            gsim_muldiv_floor(gsim_work_to_ns(left->done), whole->spec.gpu_ns, left->spec.gpu_ns));
    left->spec.gpu_ns = whole->spec.gpu_ns;
    left->spec.host_ns = whole->spec.host_ns;
    left->spec.gap_ns = whole->spec.gap_ns;
    left->spec.pace_ns = whole->spec.pace_ns;
}

int64_t gsim_process_put(const struct gsim_process *process, int64_t alone_ns,
                         struct gsim_context *context) {
    context->done = 0;
    context->sums.done_iterations = context->spec.iterations;
    if (!is_within_iterations(process, alone_ns))
        return 0;
    int64_t part_ns = alone_ns % process->pace_ns, kernels_ns = until_pause_ns(process);
    context->sums.done_iterations = alone_ns / process->pace_ns + (part_ns >= kernels_ns);
    if (part_ns >= kernels_ns)
        return process->pace_ns - part_ns;
    context->done = gsim_work_of_ns(gsim_muldiv_floor(part_ns, context->spec.gpu_ns, kernels_ns));
    return 0;
}
