/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GSIM_TESTS_BENCH_BARE_H
#define GSIM_TESTS_BENCH_BARE_H

#include <stdint.h>

/* Of a simulation that can do nothing else; -1: no memory. */
double bare_ns_per_job(uint32_t n_jobs);

#endif
