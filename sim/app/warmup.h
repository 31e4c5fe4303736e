/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaving out the jobs of the warm-up, when the cluster is emptier than it will be. */
#ifndef GSIM_APP_WARMUP_H
#define GSIM_APP_WARMUP_H

#include "sim/api/sink.h"
#include "sim/app/cli.h"

struct gsim_warmup {
    int64_t share_ppm; /* of the jobs, in the order of arrival */
    int64_t time_ns; /* after the first arrival */
};

/* --warmup 10% or --warmup 2h; nothing without it. */
enum gsim_status gsim_warmup_read(struct gsim_cli *cli, struct gsim_warmup *out);
/* How many jobs, in the order of arrival, belong to it. */
uint32_t gsim_warmup_jobs(const struct gsim_warmup *warmup, const struct gsim_trace *trace);
/* The job that arrives as number i, from 0. */
static inline uint32_t gsim_arrival(const struct gsim_trace *trace, uint32_t i) {
    return trace->order ? trace->order[i] : i;
}
/* The result's summary, JCT, waiting and slowdown being of the other jobs only. */
enum gsim_status gsim_warmup_trim(const struct gsim_warmup *warmup,
                                  const struct gsim_result *result, struct gsim_arena *arena,
                                  struct gsim_summary *out, struct gsim_log *log);

#endif
