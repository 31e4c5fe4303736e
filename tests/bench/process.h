/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a program in a process of its own, and what it took. For the benchmarks. */
#ifndef TESTS_BENCH_PROCESS_H
#define TESTS_BENCH_PROCESS_H

#include <stdbool.h>

struct outcome {
    bool is_done; /* it ended by itself, with 0 */
    bool is_out_of_time; /* it took more processor time than it was given */
    double wall_s, cpu_s, run_s; /* of the process, twice; of the simulation, as it says itself */
    double events;
    long peak_kib;
};

double now_s(void);
/* Its standard output goes to out_path, where the JSON of a run is read afterwards; most_cpu_s is the
 * processor time after which it is killed (0: none). A process that ran into it is not done. */
struct outcome process_run(const char *const *argv, const char *out_path, unsigned most_cpu_s);

#endif
