/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If the runs of a kernel are no multiple of the iterations, it gets the nearest whole number of
 * runs, and a time that keeps its sum: the time of an iteration stays as it was measured. */
#include "traces/kernels.h"

#include <string.h>

#include "sim/base/sort.h"
#include "gsim/units.h"
#include "traces/cells.h"
#include "traces/csv.h"

/* The most rows of a kind in a profile. */
enum { MAX_KERNELS = 4096 };
#define MAX_ITERATION_NS (86400 * GSIM_NS_PER_S) /* limit on times */

uint32_t gsim_kernels_n(const struct gsim_kernels *kernels) {
    return kernels->names->names[GSIM_COL_APP].n;
}

enum gsim_status gsim_kernels_add(struct gsim_kernels *kernels, const char *name, size_t length,
                                  int64_t n, int64_t total_ns, int64_t line) {
    struct gsim_builder *b = kernels->names;
    int64_t at = gsim_build_intern(b, GSIM_COL_APP, name, length);
    if (at >= MAX_KERNELS)
        return gsim_fail(b->log, GSIM_BAD_INPUT, kernels->path, line,
                         "more than %d kernels of different names", MAX_KERNELS);
    if (!kernels->sum)
        kernels->sum = gsim_arena_array(b->arena, MAX_KERNELS, sizeof *kernels->sum);
    if (at < 0 || !kernels->sum)
        return gsim_no_memory(b->log, "reading a profile");
    if (total_ns > GSIM_TIME_MAX - kernels->total_ns || n > GSIM_TIME_MAX - kernels->sum[at].n)
        return gsim_fail(b->log, GSIM_BAD_INPUT, kernels->path, line,
                         "kernel '%.64s': the time lies past the end of the clock (146 years)",
                         name);
    if (kernels->first_line == 0)
        kernels->first_line = line;
    kernels->sum[at].n += n;
    kernels->sum[at].total_ns += total_ns;
    kernels->total_ns += total_ns;
    return GSIM_OK;
}

/* Writes time / parts in microseconds, to the picosecond, so that many launches do not round
 * away. */
static void put_us(int64_t time_ns, gsim_i128 parts, FILE *out) {
    char text[64];
    gsim_i128 ps = ((gsim_i128)time_ns * 1000 + parts / 2) / parts;
    gsim_cell_decimal(text, (int64_t)ps, 1000000);
    fputs(text, out);
}

static void put_kernel(const struct gsim_kernels *kernels, uint32_t k, const char *device,
                       int64_t iterations, FILE *out) {
    const struct gsim_kernel_sum *sum = &kernels->sum[k];
    int64_t count = sum->n / iterations + (sum->n % iterations * 2 >= iterations);
    count = count > 0 ? count : 1;
    fputs("kernel,", out);
    gsim_csv_put(kernels->names->names[GSIM_COL_APP].name[k], out);
    fprintf(out, ",%lld,", (long long)count);
    put_us(sum->total_ns, (gsim_i128)iterations * count, out);
    fprintf(out, ",%s\n", device);
}

/* Writes the time by the clock in which no kernel ran. Without steps it is known between the first
 * kernel and the last. */
static void put_gap(const struct gsim_kernels *kernels, int64_t iterations, FILE *out,
                    struct gsim_log *log) {
    int64_t clock_ns = kernels->n_steps ? kernels->steps_ns : kernels->span_ns;
    int64_t gap_ns = clock_ns - kernels->total_ns;
    if (kernels->n_steps && gap_ns < 0)
        gsim_warn(log, kernels->path, 0,
                  "the kernels of the profile were busy for longer than its %lld steps lasted, so "
                  "some ran outside "
                  "of them; the host's gap is not known and left out",
                  (long long)kernels->n_steps);
    else if (kernels->n_steps == 0 && kernels->n_runs)
        gsim_warn(log, kernels->path, 0,
                  "the profile has no steps (prof.step()): the host's gap is the time in which no "
                  "kernel ran "
                  "between the first and the last");
    if (gap_ns <= 0 || gap_ns / iterations > MAX_ITERATION_NS)
        return;
    fputs("host,gap,,", out);
    put_us(gap_ns, iterations, out);
    fputs(",\n", out);
}

/* The kernels by total time, the longest first. */
static uint32_t *order(const struct gsim_kernels *kernels) {
    uint32_t n = gsim_kernels_n(kernels);
    int64_t *keys = gsim_arena_array(kernels->names->arena, n, sizeof *keys);
    uint32_t *order = gsim_arena_array(kernels->names->arena, n, sizeof *order);
    for (uint32_t k = 0; keys && k < n; k++)
        keys[k] = -kernels->sum[k].total_ns;
    return keys && order && gsim_sort_order(keys, order, n) ? order : NULL;
}

enum gsim_status gsim_kernels_write(const struct gsim_kernels *kernels, const char *device,
                                    int64_t iterations, FILE *out, struct gsim_log *log) {
    const uint32_t *nth = order(kernels);
    uint32_t n_uneven = 0;
    if (!nth)
        return gsim_no_memory(log, "writing a profile");
    if (kernels->total_ns / iterations > MAX_ITERATION_NS)
        return gsim_fail(log, GSIM_BAD_INPUT, kernels->path, 0,
                         "an iteration of more than a day; are these all iterations?");
    fprintf(out, "# Measured on %s over %lld iterations.\nkind,name,count,time_us,device\ntitle,",
            device, (long long)iterations);
    gsim_csv_put(kernels->path, out);
    fputs(",,,\n", out);
    for (uint32_t i = 0; i < gsim_kernels_n(kernels); i++) {
        put_kernel(kernels, nth[i], device, iterations, out);
        n_uneven += kernels->sum[nth[i]].n % iterations != 0;
    }
    put_gap(kernels, iterations, out, log);
    if (n_uneven)
        gsim_warn(log, kernels->path, 0,
                  "%u of %u kernels do not run a whole number of times an iteration; their counts "
                  "are rounded, their time is kept",
                  n_uneven, gsim_kernels_n(kernels));
    return GSIM_OK;
}
