/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Service time of a job that is given by iterations instead of a duration, and iterations of a job
 * that is given by a duration. */
#ifndef GSIM_TRACES_SERVICE_H
#define GSIM_TRACES_SERVICE_H

#include "gsim/trace.h"

static inline int64_t gsim_service_part(const int64_t *cell, enum gsim_column column) {
    return cell[column] > 0 ? cell[column] : 0;
}

/* An iteration without its host gap. The host launches in parallel with the GPU, so that the slower
 * of the two sets the pace; but a host that waits for each kernel launches the next kernel only
 * after that. */
static inline gsim_i128 gsim_service_pace_ns(int64_t gpu_ns, int64_t host_ns, int64_t sync) {
    if (host_ns <= 0)
        return gpu_ns;
    if (sync == GSIM_SYNC_KERNEL)
        return (gsim_i128)gpu_ns + host_ns;
    return host_ns > gpu_ns ? host_ns : gpu_ns;
}

/* An iteration and the host gap after it. */
static inline gsim_i128 gsim_service_step_ns(const int64_t *cell) {
    return gsim_service_pace_ns(cell[GSIM_COL_GPU_NS], cell[GSIM_COL_HOST_NS],
                                cell[GSIM_COL_SYNC]) +
           gsim_service_part(cell, GSIM_COL_HOST_GAP_NS);
}

/* iterations * (one iteration + host gap) + host tail, from cells in which -1 is empty. -1: the
 * cells do not give it, or the time lies past the clock's end. */
static inline int64_t gsim_service_described(const int64_t *cell) {
    if (cell[GSIM_COL_ITERATIONS] < 0 || cell[GSIM_COL_GPU_NS] < 0)
        return -1;
    gsim_i128 pace_ns = gsim_service_step_ns(cell);
    gsim_i128 limit = GSIM_TIME_MAX - (gsim_i128)gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS);
    if (limit < 0 || (pace_ns > 0 && cell[GSIM_COL_ITERATIONS] > limit / pace_ns))
        return -1;
    return (int64_t)(pace_ns * cell[GSIM_COL_ITERATIONS] +
                     gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS));
}

/* The whole iterations that fit into a duration without the host's tail, and at least one: a job
 * that ends sooner has a shorter iteration. The remainder is host time, spread over the gaps: the
 * duration stays. -1: the cells do not give the length of an iteration, or the tail takes the whole
 * duration. */
static inline int64_t gsim_service_iterations(const int64_t *cell, int64_t service_ns) {
    int64_t on_gpu_ns = service_ns - gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS);
    if (cell[GSIM_COL_GPU_NS] <= 0 || on_gpu_ns <= 0)
        return -1;
    int64_t n = (int64_t)(on_gpu_ns / gsim_service_step_ns(cell));
    return n > 0 ? n : 1;
}

/* A duration may fall short of the sum of its iterations by 1.5 %: real iterations took 0.9955 of
 * their nominal time on an H200, and repeated measurements differ by 1 %. It may be twelve times as
 * long, since the host's part is rarely given: of 19 jobs measured there the job with the largest
 * host part (MobileNet, one image at a time) computes for 0.444 of 5.319 ms. A single iteration may
 * have ended early. */
enum { GSIM_SERVICE_LEAST_PPM = 985000, GSIM_SERVICE_MOST = 12 };

/* Whether a duration and iterations, with the time of an iteration, can both be true. */
static inline bool gsim_service_agrees(const int64_t *cell, int64_t service_ns) {
    if (cell[GSIM_COL_ITERATIONS] < 0 || cell[GSIM_COL_GPU_NS] < 0)
        return true;
    int64_t described_ns = gsim_service_described(cell);
    if (described_ns < 0) /* past the end of the clock */
        return false;
    bool is_short =
        (gsim_i128)service_ns * GSIM_PPM < (gsim_i128)described_ns * GSIM_SERVICE_LEAST_PPM;
    bool is_long = described_ns > 0 && service_ns / GSIM_SERVICE_MOST > described_ns;
    return !is_long && (!is_short || cell[GSIM_COL_ITERATIONS] == 1);
}

#endif
