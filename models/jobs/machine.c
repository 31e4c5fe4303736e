/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the jobs and GPUs of a cluster, below all files of the device model that work on it:
 * the progress and the next event of each job. */
#include "models/jobs/machine.h"

#include "sim/base/hints.h"

/* --- the next event of a job ------------------------------------------------------------------ */

/* Phases of the engine's order: completions come before boundaries, and of each kind first those of
 * jobs that arrived earlier. */
void gsim_machine_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                         int64_t time_ns) {
    uint64_t phase = ahead == ENDS ? 0 : 1;
    uint32_t nth = gsim_machine_info(model, slot)->index;
    if (gsim_rarely(model->setup.nth_of != NULL))
        nth = model->setup.nth_of[nth];
    model->jobs[slot].ahead = (uint8_t)ahead;
    gsim_eventq_set(&model->queue, slot, time_ns, phase << 32 | nth);
}

void gsim_machine_expect_nothing(struct gsim_model *model, gsim_slot slot) {
    model->jobs[slot].ahead = NOTHING;
    gsim_eventq_cancel(&model->queue, slot);
}

/* By the bits below 2^-32 as well. */
GSIM_APART static int64_t reached_exactly(const struct gsim_machine_job *job,
                                          const struct gsim_progress *progress, gsim_work work) {
    gsim_u128 left_q64 = ((gsim_u128)(work - progress->done) << 32) - job->done_low;
    gsim_u128 rate_q64 = (gsim_u128)progress->rate_q32 << 32 | job->rate_low;
    return progress->since_ns + (int64_t)((left_q64 + rate_q64 - 1) / rate_q64);
}

static inline int64_t reached_at(const struct gsim_machine_job *job,
                                 const struct gsim_progress *progress, gsim_work work) {
    if (work <= progress->done)
        return progress->since_ns;
    if (gsim_rarely((job->rate_low | job->done_low) != 0))
        return reached_exactly(job, progress, work);
    return progress->since_ns + gsim_work_time(work - progress->done, progress->rate_q32);
}

/* When the phase ends. In a reference mode that is the nearest second. A phase with an end that
 * is rounded down ends just after that second: where a tick is there, the program has not noticed
 * the end yet. */
static int64_t phase_end_ns(const struct gsim_model *model, const struct gsim_machine_job *job,
                            const struct gsim_progress *progress, gsim_work end) {
    int64_t end_ns = reached_at(job, progress, end), grid_ns = model->setup.phase_grid_ns;
    if (grid_ns == 0)
        return end_ns;
    int64_t whole_ns = (end_ns + grid_ns / 2 - 1) / grid_ns * grid_ns;
    whole_ns += whole_ns < end_ns;
    return whole_ns > progress->since_ns ? whole_ns : progress->since_ns;
}

bool gsim_machine_stands_still(const struct gsim_model *model, gsim_slot slot) {
    return model->progress[slot].rate_q32 == 0 && model->jobs[slot].rate_low == 0;
}

GSIM_COLD static void stand_idle(struct gsim_model *model, gsim_slot slot) {
    if (model->jobs[slot].phase == STOPPING)
        gsim_machine_expect(model, slot, STOPS, model->progress[slot].since_ns);
    else
        gsim_machine_expect_nothing(model, slot);
}

/* The first of: a boundary at which the job stops, a threshold, the end of its phase. */
GSIM_APART static void expect_in_phase(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_progress *progress = &model->progress[slot];
    if (gsim_rarely(gsim_machine_stands_still(model, slot))) {
        stand_idle(model, slot);
        return;
    }
    gsim_work end = gsim_machine_phase_end(job);
    int64_t at_ns = phase_end_ns(model, job, progress, end), before_ns;
    enum ahead ahead = job->at_phase + 1 < job->phases->n ? NEXT_PHASE : ENDS;
    if (job->phase == STOPPING && job->stop_at < end &&
        (before_ns = reached_at(job, progress, job->stop_at)) < at_ns) {
        at_ns = before_ns;
        ahead = STOPS;
    }
    gsim_work watched =
        job->phase == RUNNING && job->threshold_ns >= 0 ? gsim_work_of_ns(job->threshold_ns) : end;
    if (watched < end && (before_ns = reached_at(job, progress, watched)) < at_ns) {
        at_ns = before_ns;
        ahead = IS_WATCHED;
    }
    gsim_machine_expect(model, slot, ahead, at_ns);
}

void gsim_machine_expect_progress(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_progress *progress = &model->progress[slot];
    if (gsim_rarely(job->phases != NULL)) {
        expect_in_phase(model, slot);
        return;
    }
    if (gsim_rarely(job->phase == STOPPING && job->stop_at < job->need)) {
        gsim_machine_expect(model, slot, STOPS, reached_at(job, progress, job->stop_at));
        return;
    }
    if (gsim_rarely(model->setup.ends_are_told)) {
        gsim_machine_expect_nothing(model, slot);
        return;
    }
    int64_t end_ns = reached_at(job, progress, job->need);
    gsim_work watched =
        job->phase == RUNNING && job->threshold_ns >= 0 ? gsim_work_of_ns(job->threshold_ns) : -1;
    if (gsim_rarely(watched >= 0 && watched < job->need)) {
        int64_t watch_ns = reached_at(job, progress, watched);
        if (watch_ns < end_ns) {
            gsim_machine_expect(model, slot, IS_WATCHED, watch_ns);
            return;
        }
    }
    gsim_machine_expect(model, slot, ENDS, end_ns);
}

/* Books the work done until now, and goes on at another rate. */
void gsim_machine_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                           int64_t now_ns) {
    struct gsim_progress *progress = &model->progress[slot];
    struct gsim_machine_job *job = &model->jobs[slot];
    progress->done += gsim_work_done(progress->rate_q32, now_ns - progress->since_ns);
    if (gsim_rarely((job->rate_low | job->done_low) != 0)) {
        gsim_u128 low = (gsim_u128)job->rate_low * (gsim_u128)(now_ns - progress->since_ns);
        low += job->done_low;
        progress->done += (gsim_work)(low >> 32);
        job->done_low = (uint32_t)low;
    }
    if (progress->done > job->need) /* the last nanosecond may hold more than was left */
        progress->done = job->need;
    if (rate_q32 != progress->rate_q32)
        job->rate_low = 0;
    progress->since_ns = now_ns;
    progress->rate_q32 = rate_q32;
}

void gsim_machine_run_at(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                         int64_t now_ns) {
    gsim_machine_set_rate(model, slot, rate_q32, now_ns);
    gsim_machine_expect_progress(model, slot);
}
