/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make bench BASE=COMMIT: each row by the program and by that of the base, in turn, so that what else
 * the machine does meets both. A round has one run of each, and every second round begins with the
 * base. The ratio of the shortest runs is the least disturbed one, the median of the rounds' ratios says
 * whether it is typical. Instructions hardly vary; they are counted where valgrind is there, for rows
 * that are short enough. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/rows.h"

/* What a change may cost (CONTRIBUTING.md). */
static const double bound = 1.03;

struct worst {
    int n_rows;
    double ratio;
    char row[128];
};

struct paired {
    const char *gsim, *base, *valgrind;
    struct bench_files files;
    struct worst time, instructions;
};

static void note(struct worst *worst, const char *row, double ratio) {
    worst->n_rows++;
    if (ratio <= worst->ratio)
        return;
    worst->ratio = ratio;
    (void)snprintf(worst->row, sizeof worst->row, "%s", row);
}

/* Processor seconds, or NAN where the program cannot run the row: an older one may lack an option. */
static double seconds(struct paired *p, const char **argv, const char *program) {
    argv[0] = program;
    (void)unlink(p->files.db);
    struct outcome outcome = process_run(argv, p->files.out, 0);
    return outcome.is_done ? outcome.cpu_s : (double)NAN;
}

static double read_instructions(const char *log) {
    char line[256];
    double n = NAN;
    FILE *file = fopen(log, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "Collected : ");
        if (at)
            n = strtod(at + strlen("Collected : "), NULL);
    }
    if (file)
        (void)fclose(file);
    return n;
}

static double instructions(struct paired *p, const char *const *row, const char *program) {
    char log_option[128];
    const char *argv[BENCH_ARGV + 4] = {p->valgrind, "--tool=callgrind",
                                        "--callgrind-out-file=/dev/null", log_option, program};
    (void)snprintf(log_option, sizeof log_option, "--log-file=%s", p->files.log);
    for (int i = 1; row[i]; i++)
        argv[4 + i] = row[i];
    return process_run(argv, p->files.out, 0).is_done ? read_instructions(p->files.log)
                                                      : (double)NAN;
}

static void print_instructions(struct paired *p, const char *what, const char *const *argv) {
    double here = instructions(p, argv, p->gsim), there = instructions(p, argv, p->base);
    if (isnan(here) || isnan(there)) {
        printf("; no instructions: valgrind failed");
        return;
    }
    printf("; instructions %.4f (%.1f M)", here / there, here / 1e6);
    note(&p->instructions, what, here / there);
}

/* argv[0] is set here. */
static void pair(struct paired *p, const char *what, const char **argv, int rounds, bool is_short) {
    double ratio[ROUNDS], least = DBL_MAX, least_there = DBL_MAX;
    for (int r = 0; r < rounds; r++) {
        double first = seconds(p, argv, r % 2 ? p->base : p->gsim);
        double second = seconds(p, argv, r % 2 ? p->gsim : p->base);
        double here = r % 2 ? second : first, there = r % 2 ? first : second;
        if (isnan(here) || isnan(there)) {
            printf("%s: left out: %s cannot run it\n", what,
                   isnan(here) ? "the program" : "the base");
            return;
        }
        least = fmin(least, here);
        least_there = fmin(least_there, there);
        ratio[r] = here / there;
    }
    printf("%s: %.1f ms against %.1f ms: %.3f by the shortest of %d, median %.3f", what,
           least * 1e3, least_there * 1e3, least / least_there, rounds,
           bench_median(ratio, rounds));
    note(&p->time, what, least / least_there);
    if (p->valgrind && is_short)
        print_instructions(p, what, argv);
    printf("\n");
    (void)fflush(stdout);
}

static void pair_long(struct paired *p, const char *policy, int jobs, bool has_db) {
    const char *argv[BENCH_ARGV];
    char what[64];
    bench_long_argv(argv, p->gsim, policy, p->files.trace, has_db ? p->files.db : NULL);
    (void)snprintf(what, sizeof what, "%s, %d jobs on 125 x 8%s", policy, jobs,
                   has_db ? ", into a database" : "");
    pair(p, what, argv, jobs > FEW ? LONG_ROUNDS : ROUNDS, jobs <= FEW);
}

static void pair_sizes(struct paired *p, int most_jobs) {
    for (int jobs = FEW; jobs <= most_jobs && jobs <= MOST; jobs *= MANY / FEW) {
        bench_make_trace(p->gsim, &p->files, jobs);
        for (int i = 0; i < (jobs > MANY ? 1 : N_POLICIES); i++)
            pair_long(p, bench_policies[i], jobs, false);
        if (jobs == MANY)
            pair_long(p, bench_policies[0], jobs, true);
    }
}

static void print_verdict(const char *of, const struct worst *worst) {
    if (worst->n_rows == 0)
        printf("verdict by %s: none, since no row has any\n", of);
    else
        printf("verdict by %s: %s, %d rows, the largest ratio is %.4f (%s)\n", of,
               worst->ratio <= bound ? "within 3 %" : "SLOWER by more than 3 %", worst->n_rows,
               worst->ratio, worst->row);
}

void bench_paired(const char *gsim, const char *base, const char *folder, int most_jobs,
                  const char *valgrind) {
    struct paired p = {.gsim = gsim, .base = base, .valgrind = valgrind};
    bench_files_name(&p.files, folder);
    for (size_t i = 0; i < bench_n_others; i++) {
        const char *argv[BENCH_ARGV];
        const char *lacking = bench_other_argv(argv, gsim, i);
        if (lacking)
            printf("%s: skipped: no %s\n", bench_others[i].what, lacking);
        else
            pair(&p, bench_others[i].what, argv, ROUNDS, true);
    }
    pair_sizes(&p, most_jobs);
    bench_files_remove(&p.files);
    print_verdict("processor time", &p.time);
    if (valgrind)
        print_verdict("instructions", &p.instructions);
    else
        printf("instructions are not counted: valgrind is not here\n");
}
