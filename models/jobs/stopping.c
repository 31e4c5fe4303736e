/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/stopping.h"

#include <assert.h>

#include "models/jobs/boundaries.h"
#include "models/jobs/gang_paging.h"
#include "models/jobs/host_driver.h"
#include "models/jobs/job_copies.h"
#include "models/jobs/meetings.h"
#include "models/jobs/pairs.h"
#include "models/jobs/processor_sharing.h"
#include "models/jobs/shared_gpus.h"
#include "models/jobs/shared_job.h"
#include "models/jobs/suspension.h"

/* Whether the cost depends on the job's memory, and the trace does not give it. */
static bool lacks_size(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    const int64_t *value = gsim_machine_profile_of(model, slot)->value;
    bool is_image = keep == GSIM_KEEP_IMAGE || keep == GSIM_KEEP_IMAGE_SPILT;
    return is_image && gsim_machine_mem_bytes(model, slot) < 0 &&
           value[GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB] != 0;
}

/* Whether a pause leaves the job's memory to a manager: other jobs may push it out. */
static bool keeps_memory(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    return (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_PAGEABLE) && about->n_units > 0 &&
           gsim_shared_pages((enum gsim_memory)model->gpus[about->units[0].gpu].memory);
}

const char *gsim_stopping_refuses(const struct gsim_model *model, gsim_slot slot,
                                  enum gsim_stop stop, enum gsim_keep keep) {
    if (stop != GSIM_STOP_KERNEL && stop != GSIM_STOP_ITERATION && stop != GSIM_STOP_SAVE)
        return "this model stops at a kernel, at an iteration, or saves at once";
    if (keep == GSIM_KEEP_PAGEABLE && !keeps_memory(model, slot, keep))
        return "memory is left to paging only where memory=uvm, lru or proactive manages it";
    if (lacks_size(model, slot, keep))
        return "the time of a driver's checkpoint depends on the job's memory, and the trace has "
               "no column "
               "'mem_gib'; give it with --assume mem_gib=SIZE, or choose preempt=restart";
    return NULL;
}

/* Takes the job off the SMs. */
void gsim_stopping_stand_still(struct gsim_model *model, gsim_slot slot, bool is_paused,
                               int64_t now_ns) {
    if (model->jobs[slot].is_turning) {
        gsim_shared_leave(model, slot, is_paused, now_ns);
        return;
    }
    if (gsim_machine_is_sharing(model, slot))
        gsim_processor_sharing_leave(model, slot, now_ns);
    if (gsim_rarely(model->pairs != NULL))
        gsim_pairs_leave(model, slot, now_ns);
    gsim_machine_set_rate(model, slot, 0, now_ns);
}

/* Whether a lane charges the switch, or there is none to charge. */
static bool is_free_pause(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    return keeps_memory(model, slot, keep) ||
           (keep == GSIM_KEEP_RESIDENT && gsim_stopping_is_switched(model, slot));
}

/* Whether the job is at the boundary at which it is to stop. */
static bool reaches_boundary(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                             int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    bool is_iteration = gsim_boundaries_are_iterations(model, slot, stop);
    if (job->is_turning) { /* a job that runs as one long kernel stops at once */
        if (stop == GSIM_STOP_SAVE || gsim_boundaries_ns(model, slot, is_iteration) == 0)
            return true;
        gsim_boundaries_note(model, slot, is_iteration);
        return gsim_shared_exit(model, slot, is_iteration ? GSIM_STOP_ITERATION : GSIM_STOP_KERNEL,
                                now_ns);
    }
    gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    if (gsim_shared_has_worked(model, slot) || gsim_rarely(gsim_pairs_stand_still(model, slot)))
        return true;
    job->stop_at = gsim_boundaries_stop(model, slot, model->progress[slot].done, stop);
    if (job->stop_at <= model->progress[slot].done && job->stop_at < job->need)
        return true;
    gsim_boundaries_note(model, slot, is_iteration);
    job->phase = STOPPING;
    gsim_machine_expect_progress(model, slot);
    return false;
}

/* The copies of a job on its way out, and the time besides. */
static struct gsim_loading leaving_with(const struct gsim_suspension_cost *cost) {
    return (struct gsim_loading){.cargo = {.way = GSIM_CARGO_OUT,
                                           .bytes = cost->is_out_late ? 0 : cost->bytes_out,
                                           .kept_bytes = cost->kept_bytes,
                                           .stored_bytes = cost->stored_bytes},
                                 .after_ns = cost->save_ns};
}

/* Whether a stop that keeps the job's memory there ends its process. */
static bool ends_process(enum gsim_keep keep) {
    return keep == GSIM_KEEP_STORAGE || keep == GSIM_KEEP_DISCARD;
}

/* Whether no process of the job is on its GPUs then. */
static bool leaves_gpu(enum gsim_keep keep) {
    return ends_process(keep) || keep == GSIM_KEEP_IMAGE || keep == GSIM_KEEP_IMAGE_SPILT;
}

void gsim_stopping_save(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    bool is_free = is_free_pause(model, slot, job->keep);
    gsim_stopping_stand_still(model, slot, keeps_memory(model, slot, job->keep), now_ns);
    gsim_meetings_leave(model, slot, now_ns);
    if (job->keep == GSIM_KEEP_DISCARD) {
        model->progress[slot].done = 0;
        gsim_machine_find_phase(model, slot);
    }
    struct gsim_suspension_cost cost = {0};
    if (!is_free)
        cost = gsim_suspension_cost(gsim_machine_profile_of(model, slot), job->stop, job->keep,
                                    gsim_machine_mem_bytes(model, slot), false);
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_loading leaving = leaving_with(&cost);
    if (ends_process((enum gsim_keep)job->keep))
        leaving.process_ns = cost.save_ns;
    if (leaves_gpu((enum gsim_keep)job->keep))
        gsim_host_driver_has_none(model, slot);
    int64_t takes_ns = gsim_job_copies_ns(model, &leaving, about->units, about->n_units);
    bool is_charged = takes_ns + cost.save_ns + cost.resume_ns > 0;
    if (job->keep == GSIM_KEEP_HOST && gsim_machine_mem_bytes(model, slot) < 0)
        model->has_key[GSIM_KEY_SUSPEND_UNKNOWN_NS] |= is_charged;
    else
        model->is_charged[job->stop][job->keep] |= is_charged;
    job->bytes_out += cost.bytes_out * gsim_machine_held(about);
    job->clear_ns = now_ns + takes_ns + cost.save_ns;
    job->phase = SAVING;
    gsim_job_copies_begin(model, slot, &leaving, takes_ns, now_ns);
}

enum gsim_when gsim_stopping_evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                   enum gsim_keep keep, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    assert(job->phase == RUNNING || job->phase == ENDING);
    job->stop = (uint8_t)stop;
    job->keep = (uint8_t)keep;
    job->threshold_ns = -1;
    if (gsim_rarely(job->phase == ENDING)) /* its work is done, and its end comes first */
        return GSIM_LATER;
    if (!reaches_boundary(model, slot, stop, now_ns)) {
        job->phase = STOPPING;
        return GSIM_LATER;
    }
    gsim_stopping_save(model, slot, now_ns);
    if (job->clear_ns > now_ns) {
        gsim_machine_expect(model, slot, STOPS, now_ns);
        return GSIM_LATER;
    }
    job->phase = IDLE;
    gsim_machine_expect_nothing(model, slot);
    return GSIM_AT_ONCE;
}

int64_t gsim_stopping_fail(struct gsim_model *model, gsim_slot slot, int64_t checkpoint_ns,
                           int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    job->lost_units = gsim_job_copies_had(model, slot);
    if (job->is_turning || job->phase == RUNNING || job->phase == STOPPING)
        gsim_stopping_stand_still(model, slot, false, now_ns);
    gsim_gang_paging_drop(model, slot, now_ns);
    gsim_meetings_leave(model, slot, now_ns);
    gsim_transfers_cancel(&model->transfers, slot, now_ns);
    gsim_host_driver_forget(model, slot, now_ns);
    gsim_machine_expect_nothing(model, slot);
    int64_t done_ns = gsim_shared_job_alone_ns(model, slot, model->progress[slot].done);
    int64_t kept_ns = gsim_shared_job_kept_ns(model, slot, done_ns, checkpoint_ns);
    model->progress[slot] =
        (struct gsim_progress){.done = gsim_work_of_ns(kept_ns), .since_ns = now_ns};
    gsim_machine_find_phase(model, slot);
    gsim_shared_lose(model, slot);
    job->phase = IDLE;
    job->is_carried = false;
    job->stop = GSIM_STOP_SAVE;
    job->keep = GSIM_KEEP_STORAGE;
    job->threshold_ns = -1;
    return done_ns - kept_ns;
}

/* The way back after such a stop: work that is lost begins anew. A process that starts does so
 * beside those that are there now. */
static struct gsim_loading back_with(const struct gsim_model *model, gsim_slot slot,
                                     enum gsim_keep keep, const struct gsim_suspension_cost *cost,
                                     const struct gsim_unit *there, uint32_t n_there,
                                     int64_t now_ns) {
    struct gsim_loading back = keep == GSIM_KEEP_DISCARD
                                   ? gsim_job_copies_fresh(model, slot, there, n_there)
                                   : gsim_job_copies_again(model, slot, keep, cost, there, n_there);
    if (back.process_ns > 0)
        back.after_ns +=
            gsim_host_driver_start_ns(model, slot, there, n_there, back.process_ns, now_ns) -
            back.process_ns;
    return back;
}

struct gsim_quote gsim_stopping_quote(const struct gsim_model *model, gsim_slot slot,
                                      enum gsim_stop stop, enum gsim_keep keep,
                                      const struct gsim_unit *units, uint32_t n_units,
                                      int64_t now_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    struct gsim_progress progress = model->progress[slot];
    gsim_work done = progress.done + gsim_work_done(progress.rate_q32, now_ns - progress.since_ns);
    if (gsim_stopping_refuses(model, slot, stop, keep))
        return (struct gsim_quote){.missing = lacks_size(model, slot, keep) ? "mem_gib" : NULL};
    const struct gsim_job *about = gsim_machine_info(model, slot);
    const struct gsim_unit *there = units ? units : about->units;
    uint32_t n_there = units ? n_units : about->n_units;
    bool is_moved = units && gsim_job_copies_are_elsewhere(model, slot, units, n_units);
    struct gsim_suspension_cost cost =
        gsim_suspension_cost(gsim_machine_profile(model, there, n_there), stop, keep,
                             gsim_machine_mem_bytes(model, slot), is_moved);
    struct gsim_loading away = leaving_with(&cost);
    if (is_free_pause(model, slot, keep))
        away.after_ns = 0;
    struct gsim_loading back = back_with(model, slot, keep, &cost, there, n_there, now_ns);
    if (ends_process(keep))
        away.after_ns = gsim_host_driver_end_ns(model, slot, away.after_ns, now_ns);
    struct gsim_quote answer = {
        .save_ns = gsim_job_copies_ns(model, &away, about->units, about->n_units) + away.after_ns,
        .resume_ns = gsim_job_copies_ns(model, &back, there, n_there) + back.after_ns,
        .bytes_out = cost.bytes_out,
        .bytes_in = back.cargo.bytes,
        .is_possible = true};
    gsim_work boundary = gsim_boundaries_stop(model, slot, done, stop);
    uint64_t rate_q32 = job->is_turning ? GSIM_RATE_ONE : progress.rate_q32; /* its rate alone */
    if (rate_q32 > 0 && boundary > done)
        answer.stop_ns = gsim_work_time(boundary - done, rate_q32);
    if (keep == GSIM_KEEP_DISCARD)
        answer.lost_ns = gsim_work_to_ns(boundary);
    model->is_asked[stop][keep] |= answer.save_ns + answer.resume_ns > 0;
    return answer;
}
