/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU time of jobs on another number of GPUs than they ask for, or on a smaller share of each.
 * A job on its own number has a GPU time of its work times its GPUs. Elsewhere that product would
 * be wrong in either direction, since a speed is seldom in proportion to the GPUs: there its GPU
 * time is the time that the work takes, alone, times the GPUs that it holds.
 *
 * Work is lost from its end: first what the job did where it is now. Of what it did before, a part
 * is lost of each width alike. */
#include "sim/core/core.h"
#include "sim/base/units.h"

static bool is_resized(const struct gsim_core *core, gsim_slot slot) {
    const struct gsim_job *job = &core->jobs.info[slot];
    if (job->n_units == 0 || job->keeps_rate ||
        gsim_trace_get(core->trace, GSIM_COL_REQUESTS, job->index) > 0)
        return false;
    return job->n_units != job->gpus || job->share_ppm < core->jobs.share_ppm[slot];
}

static struct gsim_resized *entry_of(struct gsim_core *core, gsim_slot slot) {
    if (slot >= core->n_resized) {
        uint32_t n = core->jobs.capacity;
        struct gsim_resized *list = gsim_arena_grow(
            core->arena, core->resized, core->n_resized * sizeof *list, n * sizeof *list);
        if (!list) {
            (void)gsim_core_no_memory(core);
            return NULL;
        }
        core->resized = list;
        core->n_resized = n;
    }
    struct gsim_core_job *own = &core->jobs.core[slot];
    if (!own->was_resized)
        core->resized[slot] = (struct gsim_resized){0};
    own->was_resized = true;
    return &core->resized[slot];
}

void gsim_widths_begin(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    struct gsim_resized *entry = is_resized(core, slot) ? entry_of(core, slot) : NULL;
    own->is_resized = entry != NULL;
    if (!entry)
        return;
    entry->began_ns = entry->booked_ns = gsim_attained_ns(&core->view, slot);
    entry->ran_ns = own->ran_ns;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The GPU time of work where the job is, in at most this time. */
static gsim_i128 gpu_time_of(const struct gsim_core *core, gsim_slot slot, int64_t work_ns,
                             int64_t most_ns) {
    const struct gsim_job *job = &core->jobs.info[slot];
    uint64_t pace_q32 = core->ops->pace(core->model, slot);
    if ((core->trace->goodput || core->trace->column[GSIM_COL_PHASES]) &&
        most_ns < INT64_MAX) /* the phases of the work had other speeds */
        return (gsim_i128)most_ns * job->n_units * job->share_ppm;
    int64_t takes_ns = pace_q32 > 0 ? gsim_work_time(gsim_work_of_ns(work_ns), pace_q32) : most_ns;
    return (gsim_i128)least(takes_ns, most_ns) * job->n_units * job->share_ppm;
}

static void book_more(struct gsim_core *core, gsim_slot slot, int64_t done_ns) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    struct gsim_resized *entry = &core->resized[slot];
    int64_t work_ns = done_ns - entry->booked_ns;
    int64_t most_ns = own->is_sharing ? INT64_MAX : own->ran_ns - entry->ran_ns;
    entry->work_ns += work_ns;
    entry->gpu_ppm_ns += gpu_time_of(core, slot, work_ns, most_ns);
}

static void take_back_width(struct gsim_core *core, gsim_slot slot, int64_t done_ns) {
    struct gsim_resized *entry = &core->resized[slot];
    int64_t here_ns = least(entry->booked_ns - done_ns, entry->booked_ns - entry->began_ns);
    gsim_i128 gpu_ppm_ns = gpu_time_of(core, slot, here_ns, INT64_MAX);
    entry->work_ns -= here_ns;
    entry->gpu_ppm_ns -= gpu_ppm_ns < entry->gpu_ppm_ns ? gpu_ppm_ns : entry->gpu_ppm_ns;
    entry->began_ns = least(entry->began_ns, done_ns);
}

void gsim_widths_book(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    int64_t done_ns = gsim_attained_ns(&core->view, slot);
    struct gsim_resized *entry = &core->resized[slot];
    if (own->is_resized && done_ns > entry->booked_ns)
        book_more(core, slot, done_ns);
    if (own->is_resized && done_ns < entry->booked_ns)
        take_back_width(core, slot, done_ns);
    entry->booked_ns = done_ns;
    entry->ran_ns = own->ran_ns;
    if (entry->work_ns <= done_ns)
        return;
    entry->gpu_ppm_ns = gsim_widths_part(entry->gpu_ppm_ns, done_ns, entry->work_ns);
    entry->work_ns = done_ns;
}

gsim_i128 gsim_widths_part(gsim_i128 whole, int64_t part, int64_t of) {
    return of > 0 ? whole / of * part + whole % of * part / of : 0;
}

gsim_i128 gsim_widths_gpu_time(const struct gsim_core *core, gsim_slot slot, int64_t work_ns) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    int64_t gpus = (int64_t)core->jobs.gpus[slot] - own->ignored_gpus;
    int64_t asked_ppm = gpus * core->jobs.share_ppm[slot];
    if (!own->was_resized)
        return (gsim_i128)work_ns * asked_ppm;
    const struct gsim_resized *entry = &core->resized[slot];
    int64_t rest_ns = work_ns > entry->work_ns ? work_ns - entry->work_ns : 0;
    return (gsim_i128)rest_ns * asked_ppm + entry->gpu_ppm_ns;
}

void gsim_widths_inherit(struct gsim_core *core, gsim_slot slot, gsim_slot failed) {
    if (!core->jobs.core[failed].was_resized)
        return;
    struct gsim_resized *entry = entry_of(core, slot);
    if (entry)
        *entry = core->resized[failed];
}
