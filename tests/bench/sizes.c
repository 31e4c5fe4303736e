/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make bench-sizes: what a job costs by policy, GPUs, load and number of jobs, and how the cost of a
 * run grows with the jobs: an exponent of 1 is linear, n log n from 10^4 to 10^5 jobs is 1.1. Times
 * are processor time of the whole process beyond that for ten jobs on the same cluster. Nothing here
 * is a test: tests/cli/growth.sh holds instructions of small sizes. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/process.h"

static const char *const policies[] = {
#define GSIM_POLICY(name) #name,
#include "policies/list.def"
#undef GSIM_POLICY
};
enum { N_POLICIES = sizeof policies / sizeof *policies, MOST = 16, NAME = 32, PER_NODE = 8 };
/* A run is given a second beyond so much for each of its jobs. */
enum { MOST_US = 100, FIXED_S = 1 };

struct list {
    double values[MOST];
    int n;
};

struct bench {
    const char *gsim, *device;
    char spec[64], trace[64], out[64];
    struct list jobs, gpus, loads;
};

static struct list numbers(const char *text) {
    struct list list = {0};
    char *end = NULL;
    for (; list.n < MOST; text = end) {
        double value = strtod(text, &end);
        if (end == text)
            break;
        list.values[list.n++] = value;
    }
    return list;
}

/* Half an hour on average with a long tail, as in published traces of clusters; memory that two jobs
 * in three can share a GPU with, and a few users, for the policies that look at them. */
static bool make_trace(const struct bench *bench, double jobs, double gpus, double load) {
    const char *argv[] = {bench->gsim, "generate",   bench->spec, "--force",
                          "-o",        bench->trace, NULL};
    FILE *file = fopen(bench->spec, "w");
    if (!file)
        return false;
    fprintf(file,
            "[trace]\njobs = %.0f\n[arrival]\nprocess = poisson\nload = %g\ngpus = %.0f\n"
            "[duration]\ndistribution = lognormal\nmu = 6.37\nsigma = 1.5\n"
            "[gpus]\nchoice = 1, 2, 4, 8\nweights = 70, 10, 10, 10\n"
            "[mem_gib]\ndistribution = uniform\nlo = 4\nhi = 60\nround = 1\n"
            "[user]\nchoice = u1, u2, u3, u4, u5, u6, u7, u8\n",
            jobs, load, gpus);
    return fclose(file) == 0 && process_run(argv, bench->out, 0).is_done;
}

static struct outcome run(const struct bench *bench, const char *policy, double jobs, double gpus) {
    char nodes[NAME];
    const char *argv[] = {bench->gsim,       "--policy", policy,       "--nodes",     nodes,
                          "--gpus-per-node", "8",        "--device",   bench->device, "--quiet",
                          "--format",        "json",     bench->trace, NULL};
    (void)snprintf(nodes, sizeof nodes, "%.0f", gpus / PER_NODE);
    return process_run(argv, bench->out, FIXED_S + (unsigned)(jobs * MOST_US / 1e6));
}

/* cost_s: by policy and size; negative: the run failed (-1) or took too long (-2). */
enum { FAILED = -1, TOO_LONG = -2, NOT_RUN = -3 };

static double cost_of(struct outcome outcome) {
    if (!outcome.is_done)
        return outcome.is_out_of_time ? TOO_LONG : FAILED;
    return outcome.cpu_s;
}

static void measure(const struct bench *bench, const char (*names)[NAME], int n_names, double gpus,
                    double load, double (*cost_s)[MOST + 1]) {
    for (int size = 0; size <= bench->jobs.n; size++) {
        double jobs = size ? bench->jobs.values[size - 1] : 10;
        if (!make_trace(bench, jobs, gpus, load))
            exit(1);
        for (int p = 0; p < n_names; p++)
            cost_s[p][size] = size && cost_s[p][size - 1] < 0
                                  ? NOT_RUN
                                  : cost_of(run(bench, names[p], jobs, gpus));
    }
}

static void print_costs(const struct bench *bench, const double *cost_s) {
    int last = 0;
    for (int size = 1; size <= bench->jobs.n; size++) {
        double beyond_s = cost_s[size] - cost_s[0];
        if (cost_s[size] >= 0)
            printf(" %9.2f", beyond_s / bench->jobs.values[size - 1] * 1e6);
        else
            printf(" %9s", cost_s[size] == TOO_LONG ? "too long"
                           : cost_s[size] == FAILED ? "fails"
                                                    : "-");
        last = cost_s[size] >= 0 ? size : last;
    }
    double few_s = last > 1 ? cost_s[last - 1] - cost_s[0] : 0;
    if (few_s > 0 && cost_s[last] > cost_s[0])
        printf(" %8.2f", log((cost_s[last] - cost_s[0]) / few_s) /
                             log(bench->jobs.values[last - 1] / bench->jobs.values[last - 2]));
    printf("\n");
}

static void print_head(const struct bench *bench) {
    printf("us of processor time a job, by number of jobs, on %s\n%-14s %7s %5s", bench->device,
           "policy", "GPUs", "load");
    for (int size = 0; size < bench->jobs.n; size++)
        printf(" %9.0f", bench->jobs.values[size]);
    printf(" exponent\n");
}

static void bench_all(const struct bench *bench, const char (*names)[NAME], int n_names) {
    double cost_s[N_POLICIES][MOST + 1];
    print_head(bench);
    for (int g = 0; g < bench->gpus.n; g++)
        for (int l = 0; l < bench->loads.n; l++) {
            double gpus = bench->gpus.values[g], load = bench->loads.values[l];
            measure(bench, names, n_names, gpus, load, cost_s);
            for (int p = 0; p < n_names; p++) {
                printf("%-14s %7.0f %5g", names[p], gpus, load);
                print_costs(bench, cost_s[p]);
            }
            (void)fflush(stdout);
        }
}

static int names_of(char **arguments, int n, char (*names)[NAME]) {
    bool is_every = n == 0;
    n = is_every ? N_POLICIES : n < N_POLICIES ? n : N_POLICIES;
    for (int p = 0; p < n; p++) {
        (void)snprintf(names[p], NAME, "%s", is_every ? policies[p] : arguments[p]);
        for (char *at = names[p]; *at; at++)
            *at = *at == '_' ? '-' : *at;
    }
    return n;
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/gsim-sizes-XXXXXX", names[N_POLICIES][NAME];
    enum { FIXED = 6 };
    if (argc < FIXED || !mkdtemp(folder)) {
        fprintf(stderr, "usage: sizes GSIM DEVICE JOBS GPUS LOADS [POLICY ...]\n");
        return 2;
    }
    struct bench bench = {.gsim = argv[1],
                          .device = argv[2],
                          .jobs = numbers(argv[3]),
                          .gpus = numbers(argv[4]),
                          .loads = numbers(argv[5])};
    (void)snprintf(bench.spec, sizeof bench.spec, "%s/spec.ini", folder);
    (void)snprintf(bench.trace, sizeof bench.trace, "%s/trace.csv", folder);
    (void)snprintf(bench.out, sizeof bench.out, "%s/out.json", folder);
    int n_names = names_of(argv + FIXED, argc - FIXED, names);
    bench_all(&bench, (const char(*)[NAME])names, n_names);
    (void)unlink(bench.spec);
    (void)unlink(bench.trace);
    (void)unlink(bench.out);
    (void)rmdir(folder);
    return 0;
}
