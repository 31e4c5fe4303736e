/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of runs, their traces, and a run of one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/rows.h"

const char *const bench_policies[N_POLICIES] = {"fifo", "srtf", "las"};

/* Seconds that each took, rerun, for the same trace and policy:
 * SymbioticLab/Tiresias @ 959f9b0 under Python 2.7, alibaba/clusterdata @ 7a6c496
 * (cluster-trace-gpu-v2020, -n 7000), HeliosArtifact QSSF @ bdaae10. Their results are those of
 * `gsim validate reference`. */
#define PHILLY "../shared/traces/derived/phillymix5000_job.csv"
const struct bench_other bench_others[] = {
    {"Tiresias, fifo, 5000 jobs on 32 x 8",
     10.3,
     {"--policy", "fifo", "--set", "reference=tiresias", "--nodes", "32", "--gpus-per-node", "8",
      PHILLY}},
    {"Tiresias, dlas-gpu, 5000 jobs on 32 x 8",
     28,
     {"--policy", "tiresias", "--set", "reference=tiresias", "--nodes", "32", "--gpus-per-node",
      "8", PHILLY}},
    {"PAI, SJF, 7000 jobs in a pool",
     25.4,
     {"--policy", "sjf", "--set", "reference=pai",
      "experiments/validate/reference/openb_7000.csv.zst"}},
    {"PAI, FIFO with skips, 7000 jobs in a pool",
     43.5,
     {"--policy", "fifo", "--set", "reference=pai",
      "experiments/validate/reference/openb_7000.csv.zst"}},
    {"Helios, fifo, 480 jobs on 16 x 8",
     10.95,
     {"--policy", "fifo", "--set", "reference=helios", "--nodes", "16", "--gpus-per-node", "8",
      "experiments/validate/reference/philly_ee_480_job.csv"}},
};
const size_t bench_n_others = sizeof bench_others / sizeof *bench_others;

void bench_files_name(struct bench_files *files, const char *folder) {
    (void)snprintf(files->spec, sizeof files->spec, "%s/spec.ini", folder);
    (void)snprintf(files->trace, sizeof files->trace, "%s/trace.csv", folder);
    (void)snprintf(files->out, sizeof files->out, "%s/out.json", folder);
    (void)snprintf(files->db, sizeof files->db, "%s/bench.db", folder);
    (void)snprintf(files->log, sizeof files->log, "%s/valgrind.log", folder);
}

void bench_files_remove(const struct bench_files *files) {
    (void)unlink(files->spec);
    (void)unlink(files->trace);
    (void)unlink(files->out);
    (void)unlink(files->db);
    (void)unlink(files->log);
}

const char *bench_other_argv(const char **argv, const char *gsim, size_t which) {
    enum { ROOM = sizeof bench_others->arguments / sizeof *bench_others->arguments };
    const char *trace = NULL;
    size_t n = 0;
    argv[n++] = gsim;
    argv[n++] = "--quiet";
    argv[n++] = "--format";
    argv[n++] = "json";
    for (size_t i = 0; i < ROOM && bench_others[which].arguments[i]; i++)
        trace = argv[n++] = bench_others[which].arguments[i];
    argv[n] = NULL;
    return trace && access(trace, R_OK) == 0 ? NULL : trace;
}

void bench_long_argv(const char **argv, const char *gsim, const char *policy, const char *trace,
                     const char *db) {
    const char *const all[] = {
        gsim,      "--policy", policy, "--nodes",         "125", "--device", "ideal",
        "--quiet", "--format", "json", "--gpus-per-node", "8",   trace,      db ? "--db" : NULL,
        db,        NULL};
    memcpy(argv, all, sizeof all);
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

void bench_make_trace(const char *gsim, const struct bench_files *files, int jobs) {
    const char *argv[] = {gsim, "generate", files->spec, "--force", "-o", files->trace, NULL};
    write_spec(files->spec, jobs);
    (void)bench_run(argv, files->out);
}

static void require(bool is_fine, const char *const *argv) {
    if (is_fine)
        return;
    (void)fflush(stdout);
    fprintf(stderr, "bench: failed:");
    for (; *argv; argv++)
        fprintf(stderr, " %s", *argv);
    fprintf(stderr, "\n");
    exit(1);
}

struct outcome bench_run(const char *const *argv, const char *out_path) {
    struct outcome outcome = process_run(argv, out_path, 0);
    require(outcome.is_done, argv);
    return outcome;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}
