/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/context.h"

#include <assert.h>

#include "gsim/units.h"
#include "sim/base/hints.h"

GSIM_ROLE_ASSERT(struct gsim_context_times);
GSIM_ROLE_ASSERT(struct gsim_context_marks);
GSIM_ROLE_ASSERT(struct gsim_context_sums);

/* --- programs --------------------------------------------------------------------------------- */

static int64_t scaled(int64_t time_ns, uint64_t factor_q32) {
    return (int64_t)(((gsim_u128)(uint64_t)time_ns * factor_q32) >> 32);
}

static uint64_t factor_q32(int64_t part_ns, int64_t whole_ns) {
    gsim_u128 factor = whole_ns > 0 ? ((gsim_u128)(uint64_t)part_ns << 32) / (uint64_t)whole_ns : 0;
    return factor > UINT64_MAX ? UINT64_MAX : (uint64_t)factor;
}

static const struct gsim_program_step *step_of(const struct gsim_context *context, int64_t kernel) {
    return &context->spec.program->steps[kernel];
}

/* Host time from the begin of the present iteration to the launch of this kernel, counted from the
 * iteration's first. A launch past the end of the clock is one that the host never comes to. */
static int64_t host_until(const struct gsim_context *context, int64_t kernel) {
    int64_t ahead = kernel >= context->spec.kernels ? kernel / context->spec.kernels : 0;
    if (ahead > 0 && context->spec.host_ns > GSIM_TIME_MAX / 2 / (ahead + 1))
        return GSIM_TIME_MAX;
    int64_t launched = step_of(context, kernel - ahead * context->spec.kernels)->launched_ns;
    return ahead * context->spec.host_ns + scaled(launched, context->spec.host_q32);
}

/* Whether the host waits for all of the iterations up to this number before it begins the next. */
static bool waits_after(const struct gsim_context *context, int64_t next) {
    int64_t every = context->spec.program->sync_every;
    return next == context->spec.iterations || context->spec.arrival_ns ||
           (every > 0 && next % every == 0);
}

/* When the host would have begun the present iteration, had it not waited: the host that waits for
 * this kernel, or for room in the queue, goes on when it ends. */
static int64_t begun_after(const struct gsim_context *context, int64_t launch_ns, int64_t kernel,
                           int64_t end_ns) {
    const struct gsim_program *program = context->spec.program;
    int64_t wait_ns = program->steps[kernel].wait_ns;
    int64_t end_wait_ns = program->host_ns - program->rest_ns;
    if (kernel + 1 == context->spec.kernels && (wait_ns < 0 || wait_ns > end_wait_ns) &&
        waits_after(context, context->sums.done_iterations + 1))
        wait_ns = end_wait_ns;
    int64_t began_ns = wait_ns < 0 ? launch_ns : end_ns - scaled(wait_ns, context->spec.host_q32);
    int64_t room_ns = end_ns - host_until(context, kernel + context->spec.queue);
    launch_ns = began_ns > launch_ns ? began_ns : launch_ns;
    return room_ns > launch_ns ? room_ns : launch_ns;
}

static void fit_program(struct gsim_context *context) {
    if (gsim_mostly(context->spec.program == NULL))
        return;
    context->spec.host_q32 = factor_q32(context->spec.host_ns, context->spec.program->host_ns);
    context->spec.gpu_q32 = factor_q32(context->spec.gpu_ns, context->spec.program->gpu_ns);
    context->kernel_start_ns = context->kernel_end_ns = 0;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* Of kernels m = 0, 1, ... of an iteration: when each is launched, and the work that is done when
 * it ends. Both are floors of even parts, so that the parts add up to the whole. */
static int64_t launched_ns(const struct gsim_context *context, int64_t kernel) {
    if (gsim_rarely(context->spec.program != NULL))
        return context->times.launch_ns +
               scaled(step_of(context, kernel)->launched_ns, context->spec.host_q32);
    if (context->spec.host_ns == 0 || kernel == 0)
        return context->times.launch_ns;
    return context->times.launch_ns +
           gsim_muldiv_floor(context->spec.host_ns, kernel, context->spec.kernels);
}

/* A program that is scaled down keeps its first kernels longer than 0: work that is none would be
 * started for ever. */
GSIM_APART static int64_t work_of_program(const struct gsim_context *context, int64_t kernel) {
    int64_t ns = scaled(step_of(context, kernel)->end_ns, context->spec.gpu_q32);
    return ns > kernel ? ns : kernel + 1;
}

static int64_t work_after(const struct gsim_context *context, int64_t kernel) {
    if (kernel + 1 == context->spec.kernels)
        return context->spec.gpu_ns;
    if (gsim_rarely(context->spec.program != NULL))
        return work_of_program(context, kernel);
    return gsim_muldiv_floor(context->spec.gpu_ns, kernel + 1, context->spec.kernels);
}

/* Looks where the program was last, and by bisection when that was long ago. */
GSIM_APART static int64_t find_present(const struct gsim_context *context, int64_t done_ns) {
    int64_t low = 0, high = context->spec.kernels - 1;
    int64_t at = context->kernel;
    if (at > 0 && work_after(context, at - 1) <= done_ns)
        low = at;
    if (work_after(context, at) > done_ns)
        high = at;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (work_after(context, middle) > done_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t present_of_program(const struct gsim_context *context) {
    int64_t done_ns = gsim_work_to_ns(context->done);
    if (done_ns >= context->kernel_start_ns && done_ns < context->kernel_end_ns)
        return context->kernel;
    return find_present(context, done_ns);
}

static void note_present(struct gsim_context *context, int64_t kernel) {
    if (context->kernel == kernel && context->kernel_end_ns > 0)
        return;
    context->kernel = (uint32_t)kernel;
    context->kernel_start_ns = kernel > 0 ? work_after(context, kernel - 1) : 0;
    context->kernel_end_ns = work_after(context, kernel);
}

/* The first kernel that is not done. */
static int64_t present_kernel(const struct gsim_context *context) {
    if (context->spec.kernels == 1 || context->done == 0 || context->spec.gpu_ns == 0)
        return 0;
    if (gsim_rarely(context->spec.program != NULL))
        return present_of_program(context);
    int64_t done_ns = gsim_work_to_ns(context->done);
    int64_t kernel = gsim_muldiv_floor(done_ns, context->spec.kernels, context->spec.gpu_ns);
    if (kernel > 0)
        kernel--; /* the floors above may give the kernel after the present one */
    while (kernel + 1 < context->spec.kernels && work_after(context, kernel) <= done_ns)
        kernel++;
    return kernel;
}

static int64_t end_of(const struct gsim_context *context, int64_t kernel, int64_t from_ns,
                      uint64_t rate_q32) {
    gsim_work left = gsim_work_of_ns(work_after(context, kernel)) - context->done;
    return left <= 0 ? from_ns : from_ns + gsim_work_time(left, rate_q32);
}

/* Whether the queue is empty after this kernel: the next one is launched later than it ends. */
static bool starves_after(const struct gsim_context *context, int64_t kernel, int64_t from_ns,
                          uint64_t rate_q32) {
    return launched_ns(context, kernel + 1) > end_of(context, kernel, from_ns, rate_q32);
}

/* Whether the host waits for this kernel, and launches the next one in the instant in which it has
 * ended: nothing is in the queue then. */
static bool waited_for(const struct gsim_context *context, int64_t kernel, int64_t launch_ns,
                       int64_t end_ns) {
    int64_t wait_ns = step_of(context, kernel)->wait_ns;
    return wait_ns >= 0 && launch_ns + host_until(context, kernel + 1) == end_ns &&
           launch_ns + scaled(wait_ns, context->spec.host_q32) == end_ns;
}

bool gsim_context_is_ahead(const struct gsim_context *context, int64_t now_ns) {
    const struct gsim_program *program = context->spec.program;
    int64_t ready_ns = context->times.ready_ns;
    if (!program || ready_ns > now_ns)
        return false;
    int64_t kernel = present_kernel(context);
    if (kernel > 0)
        return !waited_for(context, kernel - 1, context->times.launch_ns, now_ns);
    int64_t wait_ns = program->steps[context->spec.kernels - 1].wait_ns;
    return ready_ns < now_ns || !((wait_ns >= 0 && wait_ns <= program->host_ns) ||
                                  waits_after(context, context->sums.done_iterations));
}

/* The host of a program may wait for any kernel, so that the kernels are walked. */
GSIM_APART static int64_t last_of_program(const struct gsim_context *context, int64_t from_ns,
                                          uint64_t rate_q32, int64_t limit_ns) {
    int64_t kernel = present_kernel(context), launch_ns = context->times.launch_ns;
    for (; kernel + 1 < context->spec.kernels; kernel++) {
        int64_t end_ns = end_of(context, kernel, from_ns, rate_q32);
        if (end_ns > limit_ns)
            break;
        launch_ns = begun_after(context, launch_ns, kernel, end_ns);
        if (launch_ns + host_until(context, kernel + 1) > end_ns ||
            waited_for(context, kernel, launch_ns, end_ns))
            break;
        if (gsim_rarely(step_of(context, kernel + 1)->is_apart) && context->spec.copies_apart)
            break;
    }
    return kernel;
}

/* The host of a program learns of the kernels that end by to_ns, but for the iteration's last. */
GSIM_APART static void wake_host(struct gsim_context *context, int64_t from_ns, int64_t to_ns,
                                 uint64_t rate_q32) {
    int64_t kernel = present_kernel(context);
    for (; kernel + 1 < context->spec.kernels; kernel++) {
        int64_t end_ns = end_of(context, kernel, from_ns, rate_q32);
        if (end_ns > to_ns)
            break;
        context->times.launch_ns = begun_after(context, context->times.launch_ns, kernel, end_ns);
    }
    note_present(context, kernel);
}

/* As above, of kernels that ended by now_ns in some other way. */
GSIM_APART static void wake_host_at(struct gsim_context *context, gsim_work done, int64_t now_ns) {
    int64_t kernel = present_kernel(context);
    for (;
         kernel + 1 < context->spec.kernels && gsim_work_of_ns(work_after(context, kernel)) <= done;
         kernel++)
        context->times.launch_ns = begun_after(context, context->times.launch_ns, kernel, now_ns);
    note_present(context, kernel);
}

/* The kernel after which nothing is left to run. Where the GPU is slower than the host that is the
 * last kernel; where the host is slower, it falls behind the GPU once and for all, so that the
 * kernel is found by bisection. */
static int64_t last_before_idle(const struct gsim_context *context, int64_t from_ns,
                                uint64_t rate_q32, int64_t limit_ns) {
    if (gsim_rarely(context->spec.program != NULL))
        return last_of_program(context, from_ns, rate_q32, limit_ns);
    int64_t high = context->spec.kernels - 1;
    if (context->spec.host_ns == 0 ||
        gsim_work_done(rate_q32, context->spec.host_ns) <= gsim_work_of_ns(context->spec.gpu_ns))
        return high;
    int64_t low = present_kernel(context);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (starves_after(context, middle, from_ns, rate_q32))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* --- the cap on launches ---------------------------------------------------------------------- */

/* Kernels that have begun when this much is done, to the nanosecond: a kernel that is about to
 * begin has not. */
static int64_t begun_at(const struct gsim_context *context, gsim_work done) {
    struct gsim_context then = *context;
    then.done = done;
    int64_t kernel = present_kernel(&then), done_ns = gsim_work_to_ns(done);
    int64_t start_ns = kernel > 0 ? work_after(context, kernel - 1) : 0;
    return done_ns > start_ns ? kernel + 1 : kernel;
}

/* What the cap counts of the iteration's first kernels. */
static int64_t counted_before(const struct gsim_context *context, int64_t kernel) {
    if (!context->spec.caps_blocks || kernel == 0)
        return kernel;
    return context->spec.program->steps[kernel - 1].blocks;
}

/* The context has run up to `done`, within one period of the cap. */
static void count_begun(struct gsim_context *context, gsim_work done, int64_t now_ns) {
    if (context->spec.refill_ns == 0)
        return;
    gsim_work end = gsim_work_of_ns(context->spec.gpu_ns);
    int64_t n = counted_before(context, begun_at(context, done < end ? done : end)) -
                counted_before(context, begun_at(context, context->done));
    if (n <= 0)
        return;
    context->begun = gsim_context_begun(context, now_ns - 1) + n;
    context->marks.counted_ns = now_ns - 1;
}

/* At the start of a kernel that may not begin in this period of the cap, the host waits for the
 * next period. */
static void hold_back(struct gsim_context *context, int64_t now_ns) {
    if (context->spec.refill_ns == 0 || gsim_context_is_done(context) ||
        gsim_context_begun(context, now_ns) < context->spec.cap)
        return;
    int64_t kernel = present_kernel(context);
    if (begun_at(context, context->done) > kernel)
        return;
    int64_t opens_ns = gsim_context_refill_ns(context, now_ns);
    int64_t early_ns = opens_ns - launched_ns(context, kernel);
    if (early_ns > 0) {
        context->times.launch_ns += early_ns;
        context->state.held_ns = early_ns;
    }
    int64_t ready_ns = launched_ns(context, kernel);
    if (ready_ns > context->times.ready_ns)
        context->times.ready_ns = ready_ns;
}

int64_t gsim_context_period_end_ns(const struct gsim_context *context, int64_t now_ns) {
    int64_t began_ns =
        context->spec.capped_ns + gsim_context_refills(context, now_ns) * context->spec.refill_ns;
    bool ends = began_ns < GSIM_NEVER - context->spec.refill_ns; /* within the clock's range */
    return ends ? began_ns + context->spec.refill_ns : GSIM_NEVER;
}

void gsim_context_cap(struct gsim_context *context, const struct gsim_launch_cap *cap,
                      int64_t now_ns) {
    if (cap->refill_ns != context->spec.refill_ns) {
        context->begun = 0;
        context->spec.capped_ns = context->marks.counted_ns = now_ns;
    }
    context->spec.cap = cap->n;
    context->spec.caps_blocks = cap->is_of_blocks && context->spec.program;
    context->spec.refill_ns = cap->refill_ns;
    int64_t left_ns = context->times.ready_ns > now_ns ? context->times.ready_ns - now_ns : 0;
    int64_t early_ns = left_ns < context->state.held_ns ? left_ns : context->state.held_ns;
    if (early_ns > 0) { /* the old cap holds nothing back any more */
        context->times.launch_ns -= early_ns;
        context->times.ready_ns -= early_ns;
    }
    context->state.held_ns = 0;
    hold_back(context, now_ns);
}

/* The last kernel that may begin before the next period does. */
static int64_t last_before_cap(const struct gsim_context *context, int64_t now_ns) {
    int64_t left = context->spec.cap - gsim_context_begun(context, now_ns);
    int64_t first = begun_at(context, context->done), last = context->spec.kernels;
    if (left <= 0 || !context->spec.caps_blocks)
        return first + (left > 0 ? left : 0) - 1;
    int64_t most = counted_before(context, first) + left; /* before the last one there are fewer */
    for (int64_t low = first; low + 1 < last;) {
        int64_t middle = low + (last - low) / 2;
        if (counted_before(context, middle) < most)
            low = middle;
        else
            last = middle;
    }
    return last - 1;
}

/* --- iterations ------------------------------------------------------------------------------- */

/* The next iteration can begin from now_ns on, and does when there is one left. A server launches a
 * request when it arrives, or once its host is there: it does not wait until the GPU has done the
 * requests before, so that a waiting request follows at once. */
static void launch_next(struct gsim_context *context, int64_t now_ns, int64_t host_ns) {
    context->times.launch_ns = now_ns;
    if (context->spec.arrival_ns && !gsim_context_is_done(context)) {
        int64_t arrival_ns = context->spec.arrival_ns[context->sums.done_iterations];
        int64_t launched_ns =
            (arrival_ns > host_ns ? arrival_ns : host_ns) + context->spec.launch_lag_ns;
        context->times.launch_ns = launched_ns > now_ns ? launched_ns : now_ns;
    }
    context->marks.began_ns = context->times.launch_ns;
    context->times.ready_ns = gsim_context_is_done(context) ? GSIM_NEVER : launched_ns(context, 0);
}

/* The kernels of a program that is slower alone than they are begin no sooner after those of the
 * iteration before than they do alone. */
static void keep_pace(struct gsim_context *context, int64_t now_ns) {
    struct gsim_context_times *times = &context->times;
    if (context->spec.pace_ns == 0 || gsim_context_is_done(context)) {
        times->paced_ns = GSIM_NEVER;
        return;
    }
    if (times->paced_ns != GSIM_NEVER && times->paced_ns > times->ready_ns)
        times->ready_ns = times->paced_ns;
    times->paced_ns = (times->ready_ns > now_ns ? times->ready_ns : now_ns) + context->spec.pace_ns;
}

void gsim_context_start(struct gsim_context *context, int64_t now_ns) {
    assert(context->spec.iterations > 0 && context->spec.kernels > 0 &&
           context->spec.kernels <= context->spec.gpu_ns);
    fit_program(context);
    launch_next(context, now_ns, now_ns);
    context->times.paced_ns = GSIM_NEVER;
    keep_pace(context, now_ns);
}

/* The rest at at_ns of the host's time between two iterations. */
static int64_t gap_left_ns(const struct gsim_context *context, int64_t at_ns) {
    int64_t left_ns = context->times.launch_ns - context->state.held_ns - at_ns;
    int64_t gap_ns = context->spec.program ? context->spec.host_ns : context->spec.gap_ns;
    if (context->spec.arrival_ns || left_ns < 0)
        return 0;
    return left_ns < gap_ns ? left_ns : gap_ns;
}

int64_t gsim_context_pause_ns(const struct gsim_context *context, int64_t at_ns) {
    return context->done == 0 ? gap_left_ns(context, at_ns) : 0;
}

void gsim_context_restart(struct gsim_context *context, int64_t left_ns, int64_t now_ns) {
    int64_t lost_ns = now_ns - context->times.launch_ns;
    fit_program(context);
    context->times.paced_ns = GSIM_NEVER;
    if (context->marks.began_ns < left_ns)
        context->sums.taken_ns += left_ns - context->marks.began_ns;
    context->marks.began_ns = now_ns;
    if (context->done == 0) {
        launch_next(context, now_ns + gap_left_ns(context, left_ns), now_ns);
        keep_pace(context, now_ns);
        context->state.held_ns = 0;
        return;
    }
    /* All launches are lost with the queue, and are made again from here on. */
    int64_t before_ns = launched_ns(context, present_kernel(context)) - context->times.launch_ns;
    context->times.launch_ns += lost_ns - before_ns;
    context->times.ready_ns = now_ns;
}

bool gsim_context_is_between_kernels(const struct gsim_context *context) {
    if (context->done == 0)
        return true;
    int64_t kernel = present_kernel(context);
    return kernel > 0 && work_after(context, kernel - 1) == gsim_work_to_ns(context->done);
}

bool gsim_context_copies_next(const struct gsim_context *context) {
    return context->spec.copies_apart && !gsim_context_is_done(context) &&
           step_of(context, present_kernel(context))->is_apart &&
           gsim_context_is_between_kernels(context);
}

int64_t gsim_context_idle_ns(const struct gsim_context *context, int64_t from_ns, uint64_t rate_q32,
                             int64_t limit_ns) {
    int64_t last = last_before_idle(context, from_ns, rate_q32, limit_ns);
    int64_t idle_ns = end_of(context, last, from_ns, rate_q32);
    if (context->spec.refill_ns == 0)
        return idle_ns;
    int64_t capped = last_before_cap(context, from_ns);
    if (capped >= last)
        return idle_ns;
    int64_t capped_ns = capped < 0 ? from_ns : end_of(context, capped, from_ns, rate_q32);
    return capped_ns < gsim_context_refill_ns(context, from_ns) ? capped_ns : idle_ns;
}

int64_t gsim_context_boundary_ns(const struct gsim_context *context, int64_t from_ns,
                                 uint64_t rate_q32, bool is_iteration) {
    int64_t end_ns = end_of(context, present_kernel(context), from_ns, rate_q32);
    int64_t idle_ns =
        gsim_context_idle_ns(context, from_ns, rate_q32, is_iteration ? GSIM_NEVER : end_ns);
    if (is_iteration)
        return idle_ns;
    return end_ns < idle_ns ? end_ns : idle_ns;
}

int64_t gsim_context_kernel_end_ns(const struct gsim_context *context, int64_t at_ns,
                                   int64_t from_ns, uint64_t rate_q32) {
    struct gsim_context then = *context;
    if (at_ns > from_ns)
        then.done += gsim_work_done(rate_q32, at_ns - from_ns);
    if (then.done >= gsim_work_of_ns(context->spec.gpu_ns))
        return GSIM_NEVER;
    return end_of(context, present_kernel(&then), from_ns, rate_q32);
}

/* The host may be in a later iteration already, or has some of this one's time left. A program that
 * is slower alone than its kernels are begins its iterations no faster than it does alone. */
GSIM_APART static void end_iteration_of_program(struct gsim_context *context, int64_t now_ns) {
    int64_t next_ns =
        begun_after(context, context->times.launch_ns, context->spec.kernels - 1, now_ns) +
        context->spec.host_ns;
    int64_t end_ns = now_ns > next_ns ? now_ns : next_ns;
    context->sums.taken_ns += end_ns - context->marks.began_ns;
    if (context->spec.latency_ns)
        context->spec.latency_ns[context->sums.done_iterations] =
            now_ns - context->spec.arrival_ns[context->sums.done_iterations];
    context->sums.done_iterations++;
    context->done = 0;
    note_present(context, 0);
    launch_next(context, next_ns, 0);
    keep_pace(context, now_ns);
    if (context->marks.began_ns < end_ns)
        context->marks.began_ns = end_ns;
    hold_back(context, now_ns);
}

static void end_iteration(struct gsim_context *context, int64_t now_ns) {
    if (context->spec.program) {
        end_iteration_of_program(context, now_ns);
        return;
    }
    int64_t launched = context->times.launch_ns + context->spec.host_ns;
    int64_t end_ns = now_ns > launched ? now_ns : launched;
    context->sums.taken_ns += end_ns - context->marks.began_ns + context->spec.gap_ns;
    if (context->spec.latency_ns)
        context->spec.latency_ns[context->sums.done_iterations] =
            end_ns - context->spec.arrival_ns[context->sums.done_iterations];
    context->sums.done_iterations++;
    context->done = 0;
    launch_next(context, end_ns + context->spec.gap_ns, 0);
    hold_back(context, now_ns);
}

static void go_to(struct gsim_context *context, gsim_work done, int64_t now_ns) {
    count_begun(context, done, now_ns);
    context->state.held_ns = 0;
    context->done = done;
    /* the last nanosecond may hold more than the rest of the iteration */
    if (done >= gsim_work_of_ns(context->spec.gpu_ns)) {
        end_iteration(context, now_ns);
        return;
    }
    if (context->spec.host_ns > 0)
        context->times.ready_ns = launched_ns(context, present_kernel(context));
    if (gsim_rarely(context->spec.refill_ns > 0))
        hold_back(context, now_ns);
}

void gsim_context_run(struct gsim_context *context, int64_t from_ns, int64_t to_ns,
                      uint64_t rate_q32) {
    if (gsim_rarely(rate_q32 == 0)) /* its kernel waits for SMs, its host goes on */
        return;
    if (gsim_rarely(context->spec.program != NULL))
        wake_host(context, from_ns, to_ns, rate_q32);
    go_to(context, context->done + gsim_work_done(rate_q32, to_ns - from_ns), to_ns);
}

void gsim_context_set(struct gsim_context *context, gsim_work done, int64_t now_ns) {
    if (gsim_rarely(context->spec.program != NULL))
        wake_host_at(context, done, now_ns);
    go_to(context, done, now_ns);
}

/* Host time of the iteration at which the host of a program waits for this kernel, or no_ns. */
static int64_t sooner_wait_ns(const struct gsim_context *context, int64_t kernel, int64_t no_ns) {
    int64_t wait_ns = context->spec.program ? step_of(context, kernel)->wait_ns : -1;
    return wait_ns >= 0 && wait_ns < no_ns ? wait_ns : no_ns;
}

/* The last kernel of the first n from the present one on that is launched by now_ns. A host that
 * waits for one of them, or for room in its queue, has not come to the launches behind that.
 * next_ns: as in struct gsim_kernel_span. */
static int64_t last_launched(const struct gsim_context *context, int64_t kernel, int64_t n,
                             int64_t now_ns, int64_t *next_ns) {
    int64_t last = kernel, wait_ns = GSIM_NEVER;
    n = n < context->spec.queue ? n : context->spec.queue;
    *next_ns = GSIM_NEVER;
    while (last + 1 < context->spec.kernels && last + 1 < kernel + n) {
        wait_ns = sooner_wait_ns(context, last, wait_ns);
        if (wait_ns != GSIM_NEVER && step_of(context, last + 1)->launched_ns >= wait_ns)
            break;
        int64_t one_ns = launched_ns(context, last + 1);
        if (one_ns > now_ns) {
            *next_ns = one_ns;
            break;
        }
        last++;
    }
    return last;
}

struct gsim_kernel_span gsim_context_kernel(const struct gsim_context *context, int64_t n,
                                            int64_t now_ns) {
    int64_t kernel = present_kernel(context), next_ns;
    int64_t last = last_launched(context, kernel, n, now_ns, &next_ns);
    return (struct gsim_kernel_span){
        .kernel = kernel,
        .start = kernel > 0 ? gsim_work_of_ns(work_after(context, kernel - 1)) : 0,
        .end = gsim_work_of_ns(work_after(context, kernel)),
        .last_end = gsim_work_of_ns(work_after(context, last)),
        .n_behind = last - kernel,
        .next_ns = next_ns};
}

int64_t gsim_context_kernel_ns(const struct gsim_context *context) {
    int64_t kernel = present_kernel(context);
    return work_after(context, kernel) - (kernel > 0 ? work_after(context, kernel - 1) : 0);
}

struct gsim_kernel_run gsim_context_kernel_run(const struct gsim_context *context, int64_t kernel,
                                               int64_t from_ns, uint64_t rate_q32) {
    const struct gsim_program *program = context->spec.program;
    int64_t start_ns = kernel > 0 ? work_after(context, kernel - 1) : 0;
    int64_t before_ns = kernel > 0 ? program->steps[kernel - 1].end_ns : 0;
    int64_t all_ns = program->steps[kernel].end_ns - before_ns, ns = program->kernels[kernel].ns;
    int64_t idle_ns = gsim_muldiv_floor(work_after(context, kernel) - start_ns,
                                        all_ns - (ns > 0 ? ns : 1), all_ns);
    gsim_work left = gsim_work_of_ns(start_ns + idle_ns) - context->done;
    return (struct gsim_kernel_run){left <= 0 ? from_ns : from_ns + gsim_work_time(left, rate_q32),
                                    end_of(context, kernel, from_ns, rate_q32)};
}

void gsim_context_stretch(struct gsim_context *context, int64_t gpu_ns) {
    if (context->done == 0 || context->spec.gpu_ns == gpu_ns) {
        context->spec.gpu_ns = gpu_ns;
        fit_program(context);
        return;
    }
    int64_t kernel = present_kernel(context);
    int64_t start_ns = kernel > 0 ? work_after(context, kernel - 1) : 0;
    int64_t before_ns = work_after(context, kernel) - start_ns;
    int64_t done_ns = gsim_work_to_ns(context->done) - start_ns;
    context->spec.gpu_ns = gpu_ns;
    fit_program(context);
    start_ns = kernel > 0 ? work_after(context, kernel - 1) : 0;
    int64_t after_ns = work_after(context, kernel) - start_ns;
    context->done = gsim_work_of_ns(start_ns + gsim_muldiv_floor(done_ns, after_ns, before_ns));
}

/* The host stopped launching when the queue was full, so its launches by now are at most one full
 * queue ahead. That of a program is held up when it runs. */
void gsim_context_resume(struct gsim_context *context, int64_t now_ns) {
    if (context->spec.program || context->spec.host_ns == 0 ||
        context->spec.kernels <= context->spec.queue)
        return;
    int64_t last = present_kernel(context) + context->spec.queue - 1;
    if (last >= context->spec.kernels || launched_ns(context, last) >= now_ns)
        return;
    context->times.launch_ns =
        now_ns - gsim_muldiv_floor(context->spec.host_ns, last, context->spec.kernels);
}
