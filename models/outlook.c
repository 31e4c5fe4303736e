/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When which GPU has something to report: a queue of until when each is known to be quiet. An arbiter is
 * asked again when its time comes, and brought along only when something of its own is due, so that an
 * event costs its GPU, however many others there are. Those that are close (something is extrapolated,
 * or somebody watches) are asked and brought along at every instant. */
#include "models/machine.h"

/* What is due comes before what is only to be looked at again. */
static void foresee(struct gsim_turns *turns, uint32_t gpu, struct gsim_foresight sight) {
    turns->is_due[gpu] = sight.is_due;
    gsim_eventq_set(&turns->ahead, gpu, sight.until_ns, (uint64_t)!sight.is_due << 32 | gpu);
}

bool gsim_outlook_occupied(const struct gsim_turns *turns, uint32_t gpu) {
    return gsim_arbiter_present(turns->of_gpu[gpu]) > 0;
}

void gsim_outlook_anew(struct gsim_turns *turns, uint32_t gpu, int64_t now_ns) {
    if (turns->is_close[gpu])
        return;
    if (gsim_arbiter_is_close(turns->of_gpu[gpu])) {
        turns->is_close[gpu] = true;
        turns->close[turns->n_close++] = gpu;
    }
    if (turns->is_close[gpu] || !gsim_outlook_occupied(turns, gpu))
        gsim_eventq_cancel(&turns->ahead, gpu);
    else
        foresee(turns, gpu, (struct gsim_foresight){now_ns - 1, false});
}

/* The next instant at which a GPU that is not close has something to report. */
static int64_t next_due_ns(struct gsim_turns *turns, int64_t horizon_ns) {
    while (gsim_eventq_next(&turns->ahead) < horizon_ns) {
        uint32_t gpu = gsim_eventq_first(&turns->ahead);
        struct gsim_arbiter *arbiter = turns->of_gpu[gpu];
        if (turns->is_due[gpu])
            return gsim_eventq_next(&turns->ahead);
        struct gsim_foresight sight = gsim_arbiter_foresee(arbiter, horizon_ns);
        if (gsim_arbiter_is_close(arbiter)) {
            gsim_outlook_anew(turns, gpu, horizon_ns);
            continue;
        }
        foresee(turns, gpu, sight);
        if (!sight.is_due && sight.until_ns < horizon_ns)
            horizon_ns = sight.until_ns;
    }
    return horizon_ns;
}

int64_t gsim_turns_next_ns(struct gsim_model *model, int64_t horizon_ns) {
    struct gsim_turns *turns = &model->turns;
    horizon_ns = next_due_ns(turns, horizon_ns);
    for (uint32_t i = 0; i < turns->n_close; i++)
        if (gsim_outlook_occupied(turns, turns->close[i]))
            horizon_ns = gsim_arbiter_next_ns(turns->of_gpu[turns->close[i]], horizon_ns);
    return horizon_ns;
}
