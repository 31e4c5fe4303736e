/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of whole jobs that are loaded, suspended and brought back: the copies that each takes,
 * and how the job goes on when they are over. */
#include "models/jobs/job_copies.h"

#include "models/jobs/host_driver.h"
#include "models/jobs/instances.h"
#include "models/jobs/suspension.h"
#include "sim/base/hints.h"

/* The units where a job is, or those that it left while its memory lies there. */
static uint32_t home_of(const struct gsim_job *about, const struct gsim_unit **home) {
    bool is_there = about->n_left_units == 0;
    *home = is_there ? about->units : about->left_units;
    return is_there ? about->n_units : about->n_left_units;
}

uint32_t gsim_job_copies_had(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_unit *home;
    uint32_t had = home_of(gsim_machine_info(model, slot), &home);
    return gsim_mostly(model->jobs[slot].lost_units == 0) ? had : model->jobs[slot].lost_units;
}

bool gsim_job_copies_are_elsewhere(const struct gsim_model *model, gsim_slot slot,
                                   const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_unit *home;
    bool are_elsewhere = home_of(gsim_machine_info(model, slot), &home) != n_units;
    for (uint32_t u = 0; u < n_units && !are_elsewhere; u++)
        are_elsewhere = home[u].gpu != units[u].gpu || home[u].slot != units[u].slot;
    return are_elsewhere;
}

/* The copies of a suspended job that comes back. The way out of a paused job that is moved does not
 * queue: the links that it took are not known any more. */
static struct gsim_loading back(const struct gsim_model *model, gsim_slot slot,
                                const struct gsim_suspension_cost *cost,
                                const struct gsim_unit *units, uint32_t n_units) {
    struct gsim_loading loading = {.cargo = {.way = GSIM_CARGO_IN_REUSED,
                                             .bytes = cost->bytes_in,
                                             .kept_bytes = cost->kept_bytes,
                                             .stored_bytes = cost->stored_bytes},
                                   .after_ns = cost->resume_ns};
    loading.cargo.n_home = home_of(gsim_machine_info(model, slot), &loading.cargo.home);
    if (cost->is_out_late) {
        struct gsim_cargo out = {.way = GSIM_CARGO_OUT, .bytes = cost->bytes_out};
        loading.after_ns += gsim_transfers_ns(&model->transfers, &out, units, n_units);
    }
    return loading;
}

/* The time until the job goes on on that number of GPUs, by the trace; -1: it has as many now, or
 * had when it stopped, or the trace does not say. */
static int64_t rescale_ns_of(const struct gsim_model *model, gsim_slot slot, uint32_t n_units) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    return gsim_job_copies_had(model, slot) == n_units && !gsim_machine_learns(&model->jobs[slot])
               ? -1
               : gsim_trace_get(model->setup.trace, GSIM_COL_RESCALE_NS, about->index);
}

bool gsim_job_copies_is_bound(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_unit *home;
    if (home_of(gsim_machine_info(model, slot), &home) == 0 ||
        !gsim_transfers_is_slow(&model->transfers, model->setup.wiring.node_of_gpu[home->gpu]))
        return false;
    struct gsim_suspension_cost cost =
        gsim_suspension_cost(gsim_machine_profile(model, home, 1), job->stop, job->keep,
                             gsim_machine_mem_bytes(model, slot), true);
    return cost.kept_bytes > 0;
}

int64_t gsim_job_copies_ns(const struct gsim_model *model, const struct gsim_loading *loading,
                           const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_cargo *cargo = &loading->cargo;
    if (cargo->bytes == 0 && cargo->kept_bytes == 0)
        return 0;
    return gsim_transfers_ns(&model->transfers, cargo, units, n_units);
}

/* Marks the constants of a way back that no stop has marked: a job that failed was never stopped,
 * and the memory of a paused job is copied out only when the job is moved. */
static void note_back(struct gsim_model *model, const struct gsim_machine_job *job,
                      const struct gsim_suspension_cost *cost) {
    if (job->keep == GSIM_KEEP_STORAGE && cost->resume_ns > 0)
        model->has_key[GSIM_KEY_RESTART_NS] = true;
    if (cost->is_out_late && cost->bytes_out > 0)
        model->has_key[GSIM_KEY_PCIE_D2H] = model->has_key[GSIM_KEY_PCIE_H2D_REUSED] =
            model->has_key[GSIM_KEY_SUSPEND_FREE_NS_PER_GIB] = true;
}

struct gsim_loading gsim_job_copies_fresh(const struct gsim_model *model, gsim_slot slot,
                                          const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    int64_t bytes = gsim_trace_get(model->setup.trace, GSIM_COL_LOAD_BYTES, about->index);
    int64_t own_ns = gsim_trace_get(model->setup.trace, GSIM_COL_STARTUP_NS, about->index);
    /* the row's time has all waits for the driver in it */
    int64_t process_ns =
        own_ns < 0 ? gsim_machine_profile(model, units, n_units)->value[GSIM_KEY_START_NS] : 0;
    int64_t first_ns =
        gsim_machine_learns(&model->jobs[slot]) ? rescale_ns_of(model, slot, n_units) : 0;
    return (struct gsim_loading){
        .cargo = {.way = GSIM_CARGO_IN_FRESH, .bytes = bytes > 0 ? bytes : 0},
        .after_ns = (own_ns < 0 ? process_ns : own_ns) + (first_ns > 0 ? first_ns : 0),
        .process_ns = process_ns};
}

struct gsim_loading gsim_job_copies_again(const struct gsim_model *model, gsim_slot slot,
                                          enum gsim_keep keep,
                                          const struct gsim_suspension_cost *cost,
                                          const struct gsim_unit *units, uint32_t n_units) {
    int64_t rescale_ns = rescale_ns_of(model, slot, n_units);
    if (rescale_ns >= 0)
        return (struct gsim_loading){.cargo = {.way = GSIM_CARGO_IN_REUSED},
                                     .after_ns = rescale_ns};
    struct gsim_loading loading = back(model, slot, cost, units, n_units);
    loading.process_ns = keep == GSIM_KEEP_STORAGE ? cost->resume_ns : 0;
    return loading;
}

/* The copies that an admitted job needs first; counts its bytes. */
static struct gsim_loading coming_with(struct gsim_model *model, gsim_slot slot,
                                       enum gsim_state from) {
    struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (from == GSIM_QUEUED) {
        struct gsim_loading fresh =
            gsim_job_copies_fresh(model, slot, about->units, about->n_units);
        model->has_loaded |= fresh.cargo.bytes > 0;
        model->has_key[GSIM_KEY_START_NS] |= fresh.process_ns > 0;
        job->bytes_in += fresh.cargo.bytes * gsim_machine_held(about);
        return fresh;
    }
    struct gsim_suspension_cost cost =
        gsim_suspension_cost(gsim_machine_profile_of(model, slot), job->stop, job->keep,
                             gsim_machine_mem_bytes(model, slot), about->is_moved);
    struct gsim_loading loading = gsim_job_copies_again(model, slot, (enum gsim_keep)job->keep,
                                                        &cost, about->units, about->n_units);
    if (rescale_ns_of(model, slot, about->n_units) >= 0)
        return loading;
    note_back(model, job, &cost);
    job->bytes_in += cost.bytes_in * gsim_machine_held(about);
    if (cost.is_out_late)
        job->bytes_out += cost.bytes_out * gsim_machine_held(about);
    return loading;
}

/* Sends a job's memory on its way, when that takes time. A pool has no links to queue on. */
void gsim_job_copies_begin(struct gsim_model *model, gsim_slot slot,
                           const struct gsim_loading *loading, int64_t takes_ns, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    job->is_carried = takes_ns > 0 && about->n_units > 0;
    job->after_ns = loading->after_ns;
    job->process_ns = loading->process_ns;
    job->carried_since_ns = now_ns;
    job->carried_bytes = loading->cargo.bytes;
    if (job->is_carried && !gsim_transfers_begin(&model->transfers, slot, &loading->cargo,
                                                 about->units, about->n_units, now_ns))
        model->is_out_of_memory = true;
}

GSIM_APART bool gsim_job_copies_bring(struct gsim_model *model, gsim_slot slot,
                                      enum gsim_state from, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_loading loading = coming_with(model, slot, from);
    int64_t takes_ns = gsim_job_copies_ns(model, &loading, about->units, about->n_units);
    loading.after_ns += gsim_instances_wait_ns(model, about->units, about->n_units, now_ns);
    if (takes_ns + loading.after_ns == 0 && !model->processes)
        return false;
    gsim_job_copies_begin(model, slot, &loading, takes_ns, now_ns);
    if (!job->is_carried)
        gsim_host_driver_expect(model, slot, RUNS, loading.process_ns,
                                now_ns + takes_ns + loading.after_ns, now_ns);
    job->phase = LOADING; /* until then its process is where it was */
    return true;
}

/* Reports a copy to observers: from when it was asked for, with its wait for the links. */
static void report_copy(const struct gsim_model *model, gsim_slot slot, int64_t end_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_span span = {.kind = job->phase == SAVING ? GSIM_SPAN_COPY_OUT : GSIM_SPAN_COPY_IN,
                             .job = about->index,
                             .begin_ns = job->carried_since_ns,
                             .end_ns = end_ns,
                             .bytes = job->carried_bytes};
    for (uint32_t u = 0; u < about->n_units; u++) {
        span.gpu = about->units[u].gpu;
        gsim_observe_span(model->setup.observer, &span);
    }
}

/* Jobs with memory that has arrived go on with the time that follows. */
bool gsim_job_copies_serve(struct gsim_model *model, int64_t now_ns) {
    gsim_slot slot;
    int64_t end_ns;
    bool has_failed;
    while (gsim_transfers_pop(&model->transfers, now_ns, &slot, &end_ns, &has_failed)) {
        struct gsim_machine_job *job = &model->jobs[slot];
        if (model->setup.observer)
            report_copy(model, slot, end_ns);
        gsim_host_driver_expect(model, slot, job->phase == SAVING ? CLEARS : RUNS, job->process_ns,
                                end_ns + job->after_ns, end_ns);
        job->is_carried = false;
    }
    return !has_failed;
}
