/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole runs of make bench: what they are called, and how gsim is called for them. Without a base each
 * is compared with something plain (bench.c), with one, the program with that of another commit
 * (paired.c). */
#ifndef TESTS_BENCH_ROWS_H
#define TESTS_BENCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/process.h"

enum { FEW = 100000, MANY = 1000000, MOST = 10000000 };
enum { ROUNDS = 5, LONG_ROUNDS = 3, BENCH_ARGV = 24 };

/* Runs of other simulators: the last argument is the trace. */
struct bench_other {
    const char *what;
    double there_s;
    const char *arguments[10];
};
extern const struct bench_other bench_others[];
extern const size_t bench_n_others;
/* Policies that take a long trace. */
extern const char *const bench_policies[];
enum { N_POLICIES = 3 };

struct bench_files {
    char spec[96], trace[96], out[96], db[96], log[96];
};
void bench_files_name(struct bench_files *files, const char *folder);
void bench_files_remove(const struct bench_files *files);

/* Fill argv, which has room for BENCH_ARGV. NULL, or the trace that is not there. */
const char *bench_other_argv(const char **argv, const char *gsim, size_t which);
/* db: where --db writes; NULL: no database. */
void bench_long_argv(const char **argv, const char *gsim, const char *policy, const char *trace,
                     const char *db);

void bench_make_trace(const char *gsim, const struct bench_files *files, int jobs);
/* A run that fails has no time: the benchmark ends. */
struct outcome bench_run(const char *const *argv, const char *out_path);
double bench_median(double *values, int n);

/* Rows of the two programs beside each other, up to so many jobs. valgrind: its path, or NULL. */
void bench_paired(const char *gsim, const char *base, const char *folder, int most_jobs,
                  const char *valgrind);

#endif
