/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/program_alone.h"

#include "gsim/units.h"

enum { ITERATIONS_WALKED = 256 };
static const int64_t most_queued = INT64_C(1) << 32; /* as good as an endless queue */

struct gsim_context gsim_program_context(const struct gsim_program *program,
                                         const struct gsim_profile *profile, int64_t kernels_ns,
                                         int64_t host_ns, int64_t iterations) {
    int64_t queue = profile->value[GSIM_KEY_LAUNCH_QUEUE];
    struct gsim_context context = {.spec.iterations = iterations,
                                   .spec.gpu_ns = program->gpu_ns,
                                   .spec.host_ns = host_ns > 0 ? host_ns : program->launch_ns,
                                   .spec.kernels = program->n_kernels,
                                   .spec.queue = queue < most_queued ? queue : most_queued,
                                   .spec.program = program};
    if (kernels_ns > 0)
        context.spec.gpu_ns += kernels_ns - program->kernels_ns;
    if (context.spec.gpu_ns < context.spec.kernels)
        context.spec.gpu_ns = context.spec.kernels;
    return context;
}

/* The time of n iterations. */
static int64_t walk(const struct gsim_context *context, int64_t n) {
    struct gsim_context walked = *context;
    walked.spec.iterations = n;
    walked.spec.arrival_ns = NULL;
    walked.spec.latency_ns = NULL;
    gsim_context_start(&walked, 0);
    for (int64_t now_ns = 0; !gsim_context_is_done(&walked);) {
        int64_t from_ns = walked.times.ready_ns > now_ns ? walked.times.ready_ns : now_ns;
        now_ns = gsim_context_idle_ns(&walked, from_ns, GSIM_RATE_ONE, GSIM_NEVER);
        gsim_context_run(&walked, from_ns, now_ns, GSIM_RATE_ONE);
    }
    return walked.times.launch_ns;
}

static int64_t at_most(gsim_i128 time_ns) {
    return time_ns > GSIM_TIME_MAX ? GSIM_TIME_MAX : (int64_t)time_ns;
}

/* Each wait at the end of an iteration finds an idle GPU, so that what follows it is like the
 * start. */
static int64_t between_waits_ns(const struct gsim_context *context, int64_t every) {
    int64_t n = (context->spec.iterations - 1) / every;
    gsim_i128 before_ns = n > 0 ? (gsim_i128)walk(context, every) * n : 0;
    return at_most(before_ns + walk(context, context->spec.iterations - n * every));
}

/* As between_waits_ns, where iterations keep a pace, which goes on over waits: the host is ahead of
 * it in other ways after the first ones. */
static int64_t paced_between_waits_ns(const struct gsim_context *context, int64_t every) {
    int64_t n = (context->spec.iterations - 1) / every;
    if (n <= 2)
        return walk(context, context->spec.iterations);
    gsim_i128 one_ns = walk(context, 3 * every) - walk(context, 2 * every);
    return at_most(one_ns * (n - 2) + walk(context, context->spec.iterations - (n - 2) * every));
}

/* Iterations until the host that never waits keeps a full queue, or an empty one, and as many
 * again. */
static int64_t long_enough(const struct gsim_context *context) {
    int64_t n = 2 * (context->spec.queue / context->spec.kernels + 2);
    return n < ITERATIONS_WALKED ? n : ITERATIONS_WALKED;
}

/* As far as the host and its waits say, and the pace of those iterations that are shorter. */
static int64_t by_host_ns(const struct gsim_context *context) {
    int64_t every = context->spec.program->sync_every, n = long_enough(context);
    if (every > 0 && every <= ITERATIONS_WALKED)
        return context->spec.pace_ns > 0 ? paced_between_waits_ns(context, every)
                                         : between_waits_ns(context, every);
    if (context->spec.iterations <= n)
        return walk(context, context->spec.iterations);
    int64_t first_ns = walk(context, n / 2), all_ns = walk(context, n);
    gsim_i128 more = (gsim_i128)(all_ns - first_ns) * (context->spec.iterations - n) / (n - n / 2);
    return at_most(all_ns + more);
}

/* How long an iteration takes that begins when its pace lets it: the host has made all launches by
 * then that it can. */
static int64_t last_of_paced_ns(const struct gsim_context *context) {
    struct gsim_context slow = *context;
    slow.spec.pace_ns = GSIM_PROGRAM_MOST_NS;
    return walk(&slow, 2) - slow.spec.pace_ns;
}

static int64_t by_pace_ns(const struct gsim_context *context) {
    return at_most((gsim_i128)context->spec.pace_ns * (context->spec.iterations - 1) +
                   last_of_paced_ns(context));
}

int64_t gsim_program_alone_ns(const struct gsim_context *context) {
    int64_t ends_ns = by_host_ns(context);
    int64_t paced_ns = context->spec.pace_ns > 0 ? by_pace_ns(context) : 0;
    return paced_ns > ends_ns ? paced_ns : ends_ns;
}

/* --- the host and the kernels of a measured time ---------------------------------------------- */

enum part { HOST, GPU, PACE };

static int64_t *part_of(struct gsim_context *context, enum part part) {
    int64_t *parts[] = {&context->spec.host_ns, &context->spec.gpu_ns, &context->spec.pace_ns};
    return parts[part];
}

/* One end of a search: a length of the part, and what the program takes with it. */
struct end {
    int64_t at, takes_ns;
};

static struct end end_at(const struct gsim_context *context, enum part part, int64_t at) {
    struct gsim_context other = *context;
    *part_of(&other, part) = at;
    return (struct end){at, gsim_program_alone_ns(&other)};
}

/* The largest length with which the program takes no more than time_ns, between low, which does
 * not, and high, which does. The time grows with each part, and never bends downwards, so that a
 * line through both ends mostly points to the place. */
static int64_t largest(const struct gsim_context *context, enum part part, struct end low,
                       struct end high, int64_t time_ns) {
    for (int turn = 0; low.at + 1 < high.at && time_ns - low.takes_ns >= context->spec.iterations;
         turn++) {
        int64_t by = (high.at - low.at) / 2;
        if (turn % 3 != 2)
            by = gsim_muldiv_floor(high.at - low.at, time_ns - low.takes_ns,
                                   high.takes_ns - low.takes_ns);
        struct end middle = end_at(context, part, by > 0 ? low.at + by : low.at + 1);
        if (middle.takes_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low.at;
}

/* Makes the part as long as fits into time_ns, from least_ns on, where it takes no more than
 * time_ns, up to most_ns. */
static void fit(struct gsim_context *context, enum part part, int64_t least_ns, int64_t most_ns,
                int64_t time_ns) {
    struct end low = end_at(context, part, least_ns), high = end_at(context, part, most_ns);
    int64_t at = most_ns;
    if (low.takes_ns > time_ns)
        at = least_ns;
    else if (high.takes_ns > time_ns)
        at = largest(context, part, low, high, time_ns);
    *part_of(context, part) = at;
}

/* Iterations as far apart as time_ns lets them be, at most most_ns: less than evenly, where some of
 * them are longer by what their host does. */
static void fit_pace(struct gsim_context *context, int64_t most_ns, int64_t time_ns) {
    int64_t n = context->spec.iterations - 1, left_ns = time_ns - last_of_paced_ns(context);
    int64_t pace_ns = n > 0 && left_ns > 0 ? left_ns / n : 0;
    context->spec.pace_ns = pace_ns < most_ns ? pace_ns : most_ns;
    if (context->spec.pace_ns > 0)
        fit(context, PACE, 0, context->spec.pace_ns, time_ns);
}

/* Calls are of whole nanoseconds: a host that is as long as fits may be over some of them sooner,
 * and is no nearer to time_ns with any other length. */
static bool has_time_left(const struct gsim_context *context, int64_t time_ns) {
    return time_ns - gsim_program_alone_ns(context) >= context->spec.iterations;
}

/* The time of an iteration's kernels where their energy at the highest clock is more than the power
 * limit allows; 0: it is not. Kernels that had lower clocks under the profiler, too, are no slower
 * alone than there, so this is a bound, and by itself no time. */
static int64_t powered_ns(const struct gsim_context *context) {
    const struct gsim_program *program = context->spec.program;
    if (program->powered_ns <= program->gpu_ns)
        return 0;
    return gsim_muldiv_floor(context->spec.gpu_ns, program->powered_ns, program->gpu_ns);
}

int64_t gsim_program_fit(struct gsim_context *context, int64_t time_ns, int64_t host_ns) {
    const struct gsim_program *program = context->spec.program;
    int64_t launch_ns = host_ns > 0 ? host_ns : program->launch_ns;
    int64_t most_ns = launch_ns > program->host_ns ? launch_ns : program->host_ns;
    context->spec.host_ns = context->spec.pace_ns = 0;
    fit(context, GPU, context->spec.kernels, context->spec.gpu_ns, time_ns);
    fit(context, HOST, 0, launch_ns, time_ns);
    fit_pace(context, powered_ns(context), time_ns);
    if (context->spec.host_ns == launch_ns && has_time_left(context, time_ns)) {
        fit(context, HOST, launch_ns, most_ns, time_ns);
        bool is_bound_by_gpu = context->spec.host_ns == most_ns && has_time_left(context, time_ns);
        if (is_bound_by_gpu) {
            context->spec.host_ns = launch_ns;
            fit_pace(context, GSIM_PROGRAM_MOST_NS, time_ns);
        }
    }
    return gsim_program_alone_ns(context);
}
