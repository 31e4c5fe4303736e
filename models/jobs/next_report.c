/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When each GPU has something to report: a queue of GPUs by the time up to which each is known to
 * have no report. An arbiter is asked again when its time comes, and settled only when a report of
 * its own is due, so that an event costs its own GPU only, however many others there are. GPUs that
 * are close (rates are extrapolated, or an observer watches) are asked and settled at every
 * instant. */
#include "models/jobs/next_report.h"

#include "sim/base/team.h"

/* Fewer steps take less time than the threads need to begin: 40 us at 10 ns a step. */
enum { STEPS_FOR_THREADS = 4096 };

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

/* Takes the first GPUs that are to be looked at before horizon_ns out of the queue. Returns their
 * number. */
static uint32_t gather(struct gsim_shared *shared, int64_t horizon_ns) {
    uint32_t n = 0;
    while (n < GSIM_LOOKS && gsim_eventq_next(&shared->ahead) < horizon_ns) {
        uint32_t gpu = gsim_eventq_first(&shared->ahead);
        if (shared->is_due[gpu])
            break;
        gsim_eventq_cancel(&shared->ahead, gpu);
        shared->look[n++] = (struct gsim_look){.arbiter = shared->of_gpu[gpu], .gpu = gpu};
    }
    shared->look_until_ns = horizon_ns;
    return n;
}

static void look(void *arg, uint32_t piece) {
    struct gsim_shared *shared = arg;
    struct gsim_look *look = &shared->look[piece];
    look->sight = gsim_arbiter_foresee(look->arbiter, shared->look_until_ns);
}

static int64_t steps_of(const struct gsim_shared *shared, uint32_t n) {
    int64_t steps = 0;
    for (uint32_t i = 0; i < n; i++)
        steps += gsim_arbiter_steps(shared->look[i].arbiter);
    return steps;
}

/* GPUs share nothing while they look ahead: each walks a state of its own. */
static void look_all(struct gsim_model *model, uint32_t n) {
    struct gsim_shared *shared = &model->shared;
    int64_t steps = steps_of(shared, n);
    if (model->setup.team && n > 1 && shared->look_steps * n > STEPS_FOR_THREADS) {
        gsim_arena_use_threads(model->setup.arena);
        gsim_team_do(model->setup.team, n, look, shared);
    } else {
        for (uint32_t i = 0; i < n; i++)
            look(shared, i);
    }
    shared->look_steps = (steps_of(shared, n) - steps) / n;
}

/* What a look has found. Returns the time up to which nothing is known to be due. */
static int64_t take_look(struct gsim_shared *shared, const struct gsim_look *look,
                         int64_t horizon_ns) {
    if (gsim_arbiter_is_close(look->arbiter)) {
        gsim_next_report_anew(shared, look->gpu, horizon_ns);
        return horizon_ns;
    }
    foresee(shared, look->gpu, look->sight);
    bool is_early = !look->sight.is_due && look->sight.until_ns < horizon_ns;
    return is_early ? look->sight.until_ns : horizon_ns;
}

/* The next instant at which a GPU that is not close has something to report. */
static int64_t next_due_ns(struct gsim_model *model, int64_t horizon_ns) {
    struct gsim_shared *shared = &model->shared;
    while (gsim_eventq_next(&shared->ahead) < horizon_ns) {
        if (shared->is_due[gsim_eventq_first(&shared->ahead)])
            return gsim_eventq_next(&shared->ahead);
        uint32_t n = gather(shared, horizon_ns);
        look_all(model, n);
        for (uint32_t i = 0; i < n; i++)
            horizon_ns = take_look(shared, &shared->look[i], horizon_ns);
    }
    return horizon_ns;
}

int64_t gsim_next_report_ns(struct gsim_model *model, int64_t horizon_ns) {
    struct gsim_shared *shared = &model->shared;
    horizon_ns = next_due_ns(model, horizon_ns);
    for (uint32_t i = 0; i < shared->n_close; i++)
        if (gsim_next_report_occupied(shared, shared->close[i]))
            horizon_ns = gsim_arbiter_next_ns(shared->of_gpu[shared->close[i]], horizon_ns);
    return horizon_ns;
}
