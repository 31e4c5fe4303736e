/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make bench: timings as ratios to something plain measured in the same run, so that they mean the
 * same on any machine. Medians of several runs. Nothing here is a test: no time is asserted. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/eventq.h"
#include "sim/base/rng.h"

enum { ROUNDS = 5, POPS = 2000000 };

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

/* --- the event queue against a binary heap that cannot cancel
 * --------------------------------------- */

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

static void bench_queue(void) {
    int64_t *steps = malloc(sizeof *steps << 20);
    gsl_rng *rng = gsim_rng_stream(1, 0, "bench");
    for (int i = 0; steps && i < 1 << 20; i++)
        steps[i] = (int64_t)(gsl_rng_get(rng) >> 40);
    for (uint32_t pending = 1000; steps && pending <= 100000; pending *= 100) {
        double ours[ROUNDS], plain[ROUNDS];
        for (int r = 0; r < ROUNDS; r++) {
            ours[r] = time_queue(pending, steps);
            plain[r] = time_plain(pending, steps);
        }
        double a = median(ours, ROUNDS), b = median(plain, ROUNDS);
        printf("event queue, pop + push at %6u pending: %6.1f ns, %.2f x a plain binary heap (%.1f "
               "ns, cannot cancel)\n",
               pending, a, a / b, b);
    }
    gsl_rng_free(rng);
    free(steps);
}

/* --- whole processes
 * ---------------------------------------------------------------------------------- */

struct outcome {
    double wall_s, run_s; /* of the process; of the simulation, as it says itself */
    double events;
    long peak_kib;
};

static double field(const char *json, const char *name) {
    char key[64];
    (void)snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static struct outcome run_once(const char *const *argv, const char *out_path) {
    struct outcome outcome = {0};
    double begin = now_s();
    (void)fflush(NULL); /* the child must not print what is still buffered here */
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(out_path, "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(127);
        execv(argv[0], (char *const *)(void *)(size_t)argv);
        _exit(127);
    }
    int status;
    struct rusage before, after;
    (void)getrusage(RUSAGE_CHILDREN, &before);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        printf("  (a run failed)\n");
    (void)getrusage(RUSAGE_CHILDREN, &after);
    outcome.wall_s = now_s() - begin;
    outcome.peak_kib = after.ru_maxrss;
    char json[8192] = "";
    FILE *file = fopen(out_path, "r");
    if (file) {
        json[fread(json, 1, sizeof json - 1, file)] = '\0';
        (void)fclose(file);
    }
    outcome.run_s = field(json, "wall_s");
    outcome.events = field(json, "events");
    return outcome;
}

static struct outcome run_median(const char *gsim, const char *policy, const char *trace,
                                 const char *out_path) {
    const char *argv[] = {
        gsim,      "--policy", policy, "--nodes",         "125", "--device", "ideal",
        "--quiet", "--format", "json", "--gpus-per-node", "8",   trace,      NULL};
    double wall[ROUNDS], run[ROUNDS];
    struct outcome last = {0};
    for (int r = 0; r < ROUNDS; r++) {
        last = run_once(argv, out_path);
        wall[r] = last.wall_s;
        run[r] = last.run_s;
    }
    last.wall_s = median(wall, ROUNDS);
    last.run_s = median(run, ROUNDS);
    return last;
}

static void write_spec(const char *path, int jobs) {
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file,
            "[trace]\njobs = %d\n[arrival]\nprocess = poisson\nload = 0.85\ngpus = 1000\n"
            "[duration]\ndistribution = lognormal\nmu = 7.0636\nsigma = 1.5\n"
            "[gpus]\nchoice = 1, 2, 4, 8\nweights = 1, 1, 1, 1\n",
            jobs);
    (void)fclose(file);
}

static void bench_runs(const char *gsim, const char *folder) {
    static const char *const policies[] = {"fifo", "srtf", "las"};
    char spec[256], small[256], large[256], out[256];
    (void)snprintf(spec, sizeof spec, "%s/spec.ini", folder);
    (void)snprintf(small, sizeof small, "%s/small.csv", folder);
    (void)snprintf(large, sizeof large, "%s/large.csv", folder);
    (void)snprintf(out, sizeof out, "%s/out.json", folder);
    const char *generate[] = {gsim, "generate", spec, "--force", "-o", small, NULL};
    write_spec(spec, 100000);
    (void)run_once(generate, out);
    generate[5] = large;
    write_spec(spec, 1000000);
    (void)run_once(generate, out);
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct outcome few = run_median(gsim, policies[p], small, out);
        struct outcome many = run_median(gsim, policies[p], large, out);
        printf(
            "%-5s 1 000 000 jobs on 125 x 8 GPUs: %.2f s from CSV to summary, simulation %.0f ns "
            "a job, %.1f M events/s, time per job %.2f x that of 100 000, peak %.0f B a job\n",
            policies[p], many.wall_s, many.run_s * 1e3, many.events / many.run_s / 1e6,
            many.run_s / (10 * few.run_s), (double)many.peak_kib * 1024 / 1e6);
    }
    const char *database[] = {
        gsim,      "--policy",        "fifo", "--nodes", "125", "--device", "ideal",
        "--quiet", "--gpus-per-node", "8",    "--db",    out,   large,      NULL};
    char db[256];
    (void)snprintf(db, sizeof db, "%s/bench.db", folder);
    database[11] = db;
    struct outcome without = run_median(gsim, "fifo", large, out);
    struct outcome with = run_once(database, out);
    printf("SQLite: %.0f rows/s (whole process with --db against without, hash included)\n",
           1e6 / (with.wall_s - without.wall_s));
    (void)unlink(db);
    (void)unlink(spec);
    (void)unlink(small);
    (void)unlink(large);
    (void)unlink(out);
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/gsim-bench-XXXXXX";
    bench_queue();
    if (argc > 1 && mkdtemp(folder)) {
        bench_runs(argv[1], folder);
        (void)rmdir(folder);
    }
    return 0;
}
