/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Service time of a job that is given by its iterations instead of a duration. */
#ifndef GSIM_TRACES_SERVICE_H
#define GSIM_TRACES_SERVICE_H

#include "sim/api/trace.h"

static inline int64_t gsim_service_part(const int64_t *cell, enum gsim_column column) {
    return cell[column] > 0 ? cell[column] : 0;
}

/* An iteration without its host gap. The host launches in parallel with the GPU, so that the slower of
 * the two sets the pace; but one that waits for each kernel launches the next only then. */
static inline gsim_i128 gsim_service_pace_ns(int64_t gpu_ns, int64_t host_ns, int64_t sync) {
    if (host_ns <= 0)
        return gpu_ns;
    if (sync == GSIM_SYNC_KERNEL)
        return (gsim_i128)gpu_ns + host_ns;
    return host_ns > gpu_ns ? host_ns : gpu_ns;
}

/* iterations * (one iteration + host gap) + host tail, from cells of which -1 is empty. -1: the cells
 * do not say, or the time lies past the clock's end. */
static inline int64_t gsim_service_described(const int64_t *cell) {
    int64_t gpu_ns = cell[GSIM_COL_GPU_NS];
    if (cell[GSIM_COL_ITERATIONS] < 0 || gpu_ns < 0)
        return -1;
    gsim_i128 pace_ns = gsim_service_pace_ns(gpu_ns, cell[GSIM_COL_HOST_NS], cell[GSIM_COL_SYNC]);
    pace_ns += gsim_service_part(cell, GSIM_COL_HOST_GAP_NS);
    gsim_i128 limit = GSIM_TIME_MAX - (gsim_i128)gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS);
    if (limit < 0 || (pace_ns > 0 && cell[GSIM_COL_ITERATIONS] > limit / pace_ns))
        return -1;
    return (int64_t)(pace_ns * cell[GSIM_COL_ITERATIONS] +
                     gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS));
}

#endif
