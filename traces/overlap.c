/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of several streams run at a time, and a profile lists kernels one by one: their sum must
 * be the time that the GPU was busy, or an iteration would last longer than it did. So a kernel is
 * charged, at each instant, an equal part with all kernels that run then. The charge is the
 * difference of a clock which goes 1/n as fast while n kernels run, in 2^-32 ns. */
#include "traces/overlap.h"

#include "sim/base/sort.h"
#include "gsim/units.h"

enum { FIRST_RUNS = 1024 };

enum gsim_status gsim_overlap_add(struct gsim_kernels *kernels, const char *name, size_t length,
                                  int64_t begin_ns, int64_t duration_ns, int64_t line) {
    struct gsim_builder *b = kernels->names;
    if (begin_ns < -GSIM_TIME_MAX || begin_ns > GSIM_TIME_MAX - duration_ns)
        return gsim_fail(b->log, GSIM_BAD_INPUT, kernels->path, line,
                         "kernel '%.64s': the time lies past the end of the clock (146 years)",
                         name);
    enum gsim_status status = gsim_kernels_add(kernels, name, length, 1, 0, line);
    if (status != GSIM_OK)
        return status;
    if (kernels->n_runs == kernels->run_capacity) {
        size_t more = kernels->run_capacity ? 2 * kernels->run_capacity : FIRST_RUNS;
        struct gsim_kernel_run *grown =
            more > UINT32_MAX / 2
                ? NULL
                : gsim_arena_grow_raw(b->arena, kernels->run, more * sizeof *grown);
        if (!grown)
            return gsim_no_memory(b->log, "reading a profile");
        kernels->run = grown;
        kernels->run_capacity = more;
    }
    /* the name is in the table already */
    int64_t at = gsim_build_intern(b, GSIM_COL_APP, name, length);
    kernels->run[kernels->n_runs++] =
        (struct gsim_kernel_run){begin_ns, begin_ns + duration_ns, (uint32_t)at};
    return GSIM_OK;
}

struct sweep {
    const struct gsim_kernels *kernels;
    int64_t *instant; /* begins, then ends: at an instant begins come first */
    uint32_t *order;
    gsim_work *begun; /* the slow clock at each begin */
    gsim_work *charged; /* by name */
    int64_t busy_ns, shared_ns;
    size_t n_shared;
};

static bool prepare(struct sweep *s) {
    const struct gsim_kernels *kernels = s->kernels;
    struct gsim_arena *arena = kernels->names->arena;
    size_t n = kernels->n_runs;
    s->instant = gsim_arena_array(arena, 2 * n, sizeof *s->instant);
    s->order = gsim_arena_array(arena, 2 * n, sizeof *s->order);
    s->begun = gsim_arena_array(arena, n, sizeof *s->begun);
    s->charged = gsim_arena_array(arena, gsim_kernels_n(kernels), sizeof *s->charged);
    if (!s->instant || !s->order || !s->begun || !s->charged)
        return false;
    for (size_t i = 0; i < n; i++) {
        s->instant[i] = kernels->run[i].begin_ns;
        s->instant[n + i] = kernels->run[i].end_ns;
    }
    return gsim_sort_order(s->instant, s->order, 2 * n);
}

static void charge(struct sweep *s) {
    size_t n = s->kernels->n_runs, n_running = 0;
    gsim_work clock = 0;
    int64_t before = 0;
    for (size_t k = 0; k < 2 * n; k++) {
        uint32_t i = s->order[k];
        int64_t elapsed = s->instant[i] - before;
        if (n_running > 0) {
            clock += gsim_work_of_ns(elapsed) / (gsim_work)n_running;
            s->busy_ns += elapsed;
            s->shared_ns += n_running > 1 ? elapsed : 0;
        }
        before = s->instant[i];
        if (i < n) {
            s->begun[i] = clock;
            n_running++;
            continue;
        }
        const struct gsim_kernel_run *run = &s->kernels->run[i - n];
        gsim_work own = clock - s->begun[i - n];
        s->charged[run->kernel] += own;
        s->n_shared += gsim_work_to_ns(own) + 1 < run->end_ns - run->begin_ns;
        n_running--;
    }
}

/* Adds the remainder of rounding to the longest kernel, so that all kernels together take the time
 * that the GPU was busy. */
static void settle(const struct sweep *s, struct gsim_kernels *kernels) {
    int64_t left = s->busy_ns;
    uint32_t longest = 0;
    for (uint32_t k = 0; k < gsim_kernels_n(kernels); k++) {
        int64_t own = gsim_work_to_ns(s->charged[k]);
        kernels->sum[k].total_ns += own;
        left -= own;
        longest = s->charged[k] > s->charged[longest] ? k : longest;
    }
    kernels->sum[longest].total_ns += left;
}

enum gsim_status gsim_overlap_charge(struct gsim_kernels *kernels, struct gsim_log *log) {
    struct sweep s = {.kernels = kernels};
    if (kernels->n_runs == 0)
        return GSIM_OK;
    if (!prepare(&s))
        return gsim_no_memory(log, "reading a profile");
    charge(&s);
    if (s.busy_ns > GSIM_TIME_MAX - kernels->total_ns)
        return gsim_fail(log, GSIM_BAD_INPUT, kernels->path, 0,
                         "the kernels' time lies past the end of the clock (146 years)");
    settle(&s, kernels);
    kernels->total_ns += s.busy_ns;
    kernels->span_ns = s.instant[s.order[2 * kernels->n_runs - 1]] - s.instant[s.order[0]];
    if (s.n_shared == 0)
        return GSIM_OK;
    gsim_warn(
        log, kernels->path, 0,
        "%zu of %zu kernels ran beside others on another stream, for %.6g ms of the %.6g ms that "
        "the GPU was busy; that time counts once, in equal parts for those that ran",
        s.n_shared, kernels->n_runs, (double)s.shared_ns / 1e6, (double)s.busy_ns / 1e6);
    return GSIM_OK;
}
