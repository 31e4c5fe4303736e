/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make bench: timings as ratios to something plain measured in the same run, so that they mean the
 * same on any machine; with BASE, to another build of gsim. Medians of several runs. Nothing here is a test: no time is asserted. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/eventq.h"
#include "sim/base/rng.h"
#include "tests/bench/bare.h"
#include "tests/bench/rows.h"

enum { POPS = 2000000 };

/* --- the event queue against binary heaps that cannot cancel ---------------------------------- */

struct plain {
    int64_t time[1 << 17];
    uint32_t n;
};

static void plain_push(struct plain *heap, int64_t time) {
    uint32_t at = heap->n++;
    for (; at > 0 && heap->time[(at - 1) / 2] > time; at = (at - 1) / 2)
        heap->time[at] = heap->time[(at - 1) / 2];
    heap->time[at] = time;
}

static int64_t plain_pop(struct plain *heap) {
    int64_t top = heap->time[0], last = heap->time[--heap->n];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < heap->n; at = child) {
        child += child + 1 < heap->n && heap->time[child + 1] < heap->time[child];
        if (heap->time[child] >= last)
            break;
        heap->time[at] = heap->time[child];
    }
    heap->time[at] = last;
    return top;
}

static double time_plain(uint32_t pending, const int64_t *steps) {
    static struct plain heap;
    heap.n = 0;
    for (uint32_t i = 0; i < pending; i++)
        plain_push(&heap, steps[i]);
    double begin = now_s();
    for (uint32_t i = 0; i < POPS; i++)
        plain_push(&heap, plain_pop(&heap) + steps[i & 0xFFFFF]);
    return (now_s() - begin) / POPS * 1e9;
}

/* The same with what a deterministic simulator needs besides: ties have an order, events a name.
 * Replacing the first is one descent instead of a pop and a push. */
struct keyed {
    struct gsim_event_key key;
    uint32_t id;
};

static inline bool is_before(const struct keyed *a, const struct keyed *b) {
    return a->key.time_ns < b->key.time_ns ||
           (a->key.time_ns == b->key.time_ns && a->key.order < b->key.order);
}

static void keyed_replace(struct keyed *heap, uint32_t n, struct keyed entry) {
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &entry))
            break;
        heap[at] = heap[child];
    }
    heap[at] = entry;
}

static int keyed_compare(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    return is_before(y, x) - is_before(x, y);
}

static double time_keyed(uint32_t pending, const int64_t *steps) {
    static struct keyed heap[1 << 17];
    for (uint32_t i = 0; i < pending; i++)
        heap[i] = (struct keyed){{steps[i], i}, i};
    qsort(heap, pending, sizeof *heap, keyed_compare); /* sorted is a heap */
    double begin = now_s();
    for (uint32_t i = 0; i < POPS; i++) {
        struct keyed next = heap[0];
        next.key.time_ns += steps[i & 0xFFFFF];
        next.key.order = i;
        keyed_replace(heap, pending, next);
    }
    return (now_s() - begin) / POPS * 1e9;
}

static double time_queue(uint32_t pending, const int64_t *steps) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_eventq queue;
    struct gsim_event_key key;
    gsim_eventq_init(&queue, arena);
    if (!gsim_eventq_reserve(&queue, pending))
        return 0;
    for (uint32_t i = 0; i < pending; i++)
        gsim_eventq_set(&queue, i, steps[i], i);
    double begin = now_s();
    for (uint32_t i = 0; i < POPS; i++) {
        uint32_t id = gsim_eventq_pop(&queue, &key);
        gsim_eventq_set(&queue, id, key.time_ns + steps[i & 0xFFFFF], i);
    }
    double ns = (now_s() - begin) / POPS * 1e9;
    gsim_arena_free(arena);
    return ns;
}

/* How far ahead of the event before it each is set. The lognormal one is how long jobs of the whole
 * runs below take, in ns. */
static const char *const spreads[] = {"uniform", "lognormal", "all at once"};
enum { UNIFORM, LOGNORMAL, N_SPREADS = 3 };

static int64_t draw_step(gsl_rng *rng, int spread) {
    if (spread == UNIFORM)
        return (int64_t)(gsl_rng_get(rng) >> 40);
    return spread == LOGNORMAL ? (int64_t)(1e9 * gsl_ran_lognormal(rng, 7.0636, 1.5)) : 0;
}

static void bench_queue_at(uint32_t pending, int spread, const int64_t *steps) {
    double ours[ROUNDS], plain[ROUNDS], keyed[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        ours[r] = time_queue(pending, steps);
        plain[r] = time_plain(pending, steps);
        keyed[r] = time_keyed(pending, steps);
    }
    double a = bench_median(ours, ROUNDS), b = bench_median(plain, ROUNDS),
           c = bench_median(keyed, ROUNDS);
    printf("event queue, pop + push at %6u pending, %s: %6.1f ns, %.2f x a plain binary heap of "
           "times (%.1f ns), %.2f x a fused one with order and id (%.1f ns); neither can cancel\n",
           pending, spreads[spread], a, a / b, b, a / c, c);
}

static void bench_queue(void) {
    int64_t *steps = malloc(sizeof *steps << 20);
    gsl_rng *rng = gsim_rng_stream(1, 0, "bench");
    for (int spread = 0; steps && spread < N_SPREADS; spread++) {
        for (int i = 0; i < 1 << 20; i++)
            steps[i] = draw_step(rng, spread);
        for (uint32_t pending = 1000; pending <= 100000; pending *= 100)
            bench_queue_at(pending, spread, steps);
    }
    gsl_rng_free(rng);
    free(steps);
}

/* --- whole processes
 * ---------------------------------------------------------------------------------- */

/* db: where --db writes, a new file each time; NULL: no database. */
static struct outcome run_median(const char *gsim, const char *policy, const char *trace,
                                 const char *out_path, int rounds, const char *db) {
    const char *argv[BENCH_ARGV];
    double wall[ROUNDS], run[ROUNDS];
    struct outcome last = {0};
    bench_long_argv(argv, gsim, policy, trace, db);
    for (int r = 0; r < rounds; r++) {
        if (db)
            (void)unlink(db);
        last = bench_run(argv, out_path);
        wall[r] = last.wall_s;
        run[r] = last.run_s;
    }
    last.wall_s = bench_median(wall, rounds);
    last.run_s = bench_median(run, rounds);
    return last;
}

static double ns_per_job(double seconds, int jobs) {
    return seconds * 1e9 / jobs;
}

static void bench_sizes(const char *gsim, const struct bench_files *files) {
    struct outcome few[N_POLICIES], many[N_POLICIES];
    bench_make_trace(gsim, files, FEW);
    for (int p = 0; p < N_POLICIES; p++)
        few[p] = run_median(gsim, bench_policies[p], files->trace, files->out, ROUNDS, NULL);
    bench_make_trace(gsim, files, MANY);
    for (int p = 0; p < N_POLICIES; p++) {
        many[p] = run_median(gsim, bench_policies[p], files->trace, files->out, ROUNDS, NULL);
        printf("%-5s 1 000 000 jobs on 125 x 8 GPUs: %.2f s from CSV to summary, simulation %.0f "
               "ns a job, %.1f M events/s, peak %.0f B a job beyond the fixed part\n",
               bench_policies[p], many[p].wall_s, ns_per_job(many[p].run_s, MANY),
               many[p].events / many[p].run_s / 1e6,
               (double)(many[p].peak_kib - few[p].peak_kib) * 1024 / (MANY - FEW));
    }
    double bare[ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        bare[r] = bare_ns_per_job(MANY);
    double floor_ns = bench_median(bare, ROUNDS), fifo_ns = ns_per_job(many[0].run_s, MANY);
    printf(
        "fifo  simulation: %.2f x a bare loop of arrivals, a heap and best fit (%.0f ns a job)\n",
        fifo_ns / floor_ns, floor_ns);
    struct outcome with =
        run_median(gsim, "fifo", files->trace, files->out, LONG_ROUNDS, files->db);
    printf("SQLite: %.0f rows/s (whole process with --db against without, hash included)\n",
           MANY / (with.wall_s - many[0].wall_s));
    bench_make_trace(gsim, files, MOST);
    struct outcome most = run_median(gsim, "fifo", files->trace, files->out, LONG_ROUNDS, NULL);
    printf("fifo  10 000 000 jobs: time per job %.2f x that of 100 000 in the simulation, %.2f x "
           "from CSV to summary (%.1f s)\n",
           ns_per_job(most.run_s, MOST) / ns_per_job(few[0].run_s, FEW),
           ns_per_job(most.wall_s, MOST) / ns_per_job(few[0].wall_s, FEW), most.wall_s);
}

/* --- beside public simulators --------------------------------------------------------------- */

static void bench_other(const char *gsim, size_t which, const char *out_path) {
    const struct bench_other *other = &bench_others[which];
    const char *argv[BENCH_ARGV];
    double cpu_s[ROUNDS];
    const char *lacking = bench_other_argv(argv, gsim, which);
    if (lacking) {
        printf("%s: skipped: no %s\n", other->what, lacking);
        return;
    }
    for (int r = 0; r < ROUNDS; r++)
        cpu_s[r] = bench_run(argv, out_path).cpu_s;
    double here_s = bench_median(cpu_s, ROUNDS);
    printf("%s: %.1f ms of processor time against %.1f s: %.0f x\n", other->what, here_s * 1e3,
           other->there_s, other->there_s / here_s);
}

static void bench_runs(const char *gsim, const char *folder) {
    struct bench_files files;
    bench_files_name(&files, folder);
    for (size_t i = 0; i < bench_n_others; i++)
        bench_other(gsim, i, files.out);
    bench_sizes(gsim, &files);
    bench_files_remove(&files);
}

/* GSIM, or GSIM BASE FOLDER JOBS [VALGRIND]. */
int main(int argc, char **argv) {
    char folder[] = "/tmp/gsim-bench-XXXXXX";
    if (argc > 4) {
        bench_paired(argv[1], argv[2], argv[3], atoi(argv[4]), argc > 5 ? argv[5] : NULL);
        return 0;
    }
    bench_queue();
    if (argc > 1 && mkdtemp(folder)) {
        bench_runs(argv[1], folder);
        (void)rmdir(folder);
    }
    return 0;
}
