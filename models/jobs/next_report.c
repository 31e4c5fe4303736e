/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When each GPU has something to report: a queue of GPUs by the time up to which each is known to
 * have no report. An arbiter is asked again when its time comes, and settled only when a report of
 * its own is due, so that an event costs its own GPU only, however many others there are. GPUs that
 * are close (rates are extrapolated, or an observer watches) are asked and settled at every
 * instant. */
#include "models/jobs/next_report.h"

/* GPUs with a report due come before GPUs that are only to be looked at again. */
static void foresee(struct gsim_shared *shared, uint32_t gpu, struct gsim_foresight sight) {
    shared->is_due[gpu] = sight.is_due;
    gsim_eventq_set(&shared->ahead, gpu, sight.until_ns, (uint64_t)!sight.is_due << 32 | gpu);
}

void gsim_next_report_anew(struct gsim_shared *shared, uint32_t gpu, int64_t now_ns) {
    if (shared->is_close[gpu])
        return;
    if (gsim_arbiter_is_close(shared->of_gpu[gpu])) {
        shared->is_close[gpu] = true;
        shared->close[shared->n_close++] = gpu;
    }
    if (shared->is_close[gpu] || !gsim_next_report_occupied(shared, gpu))
        gsim_eventq_cancel(&shared->ahead, gpu);
    else
        foresee(shared, gpu, (struct gsim_foresight){now_ns - 1, false});
}

/* The next instant at which a GPU that is not close has something to report. */
static int64_t next_due_ns(struct gsim_shared *shared, int64_t horizon_ns) {
    while (gsim_eventq_next(&shared->ahead) < horizon_ns) {
        uint32_t gpu = gsim_eventq_first(&shared->ahead);
        struct gsim_arbiter *arbiter = shared->of_gpu[gpu];
        if (shared->is_due[gpu])
            return gsim_eventq_next(&shared->ahead);
        struct gsim_foresight sight = gsim_arbiter_foresee(arbiter, horizon_ns);
        if (gsim_arbiter_is_close(arbiter)) {
            gsim_next_report_anew(shared, gpu, horizon_ns);
            continue;
        }
        foresee(shared, gpu, sight);
        if (!sight.is_due && sight.until_ns < horizon_ns)
            horizon_ns = sight.until_ns;
    }
    return horizon_ns;
}

int64_t gsim_next_report_ns(struct gsim_model *model, int64_t horizon_ns) {
    struct gsim_shared *shared = &model->shared;
    horizon_ns = next_due_ns(shared, horizon_ns);
    for (uint32_t i = 0; i < shared->n_close; i++)
        if (gsim_next_report_occupied(shared, shared->close[i]))
            horizon_ns = gsim_arbiter_next_ns(shared->of_gpu[shared->close[i]], horizon_ns);
    return horizon_ns;
}
