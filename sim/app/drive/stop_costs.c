/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/stop_costs.h"

#include "gsim/units.h"
#include "models/jobs/suspension.h"
#include "sim/app/drive/tasks.h"

/* What the keys of the device say of such a stop. */
static struct gsim_suspension_cost listed(const struct gsim_model *model, gsim_slot slot,
                                          enum gsim_keep keep) {
    const struct gsim_job *about = gsim_tasks_job(model, slot);
    const struct gsim_model_setup *setup = &model->setup;
    uint16_t type = about->n_units > 0 ? setup->type_of_gpu[about->units[0].gpu] : 0;
    int64_t mem_bytes = gsim_trace_get(setup->trace, GSIM_COL_MEM_BYTES, about->index);
    return gsim_suspension_cost(setup->profiles[type], GSIM_STOP_ITERATION, keep, mem_bytes, false);
}

static void see(struct gsim_times_seen *times, int64_t ns, int64_t listed_ns) {
    times->n++;
    times->ns += ns > 0 ? ns : 0;
    times->listed_ns += listed_ns;
}

static int64_t mean_ns(const struct gsim_times_seen *times) {
    return times->n > 0 ? times->ns / times->n : 0;
}

/* --- what happens ----------------------------------------------------------------------------- */

void gsim_stop_costs_admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                           enum gsim_keep keep, int64_t now_ns) {
    struct gsim_stop_times *times = &model->tasks[slot].times;
    times->decided_ns = now_ns;
    times->keep = (uint8_t)keep;
    times->underway = from == GSIM_QUEUED ? GSIM_UNDERWAY_START : GSIM_UNDERWAY_RETURN;
}

/* A job that does not compute yet halts as soon as it is to stop. */
void gsim_stop_costs_evict(struct gsim_model *model, gsim_slot slot, enum gsim_keep keep,
                           int64_t now_ns) {
    struct gsim_stop_times *times = &model->tasks[slot].times;
    times->decided_ns = times->halted_ns = now_ns;
    times->keep = (uint8_t)keep;
    times->underway = GSIM_UNDERWAY_NOTHING;
}

/* A job that computes in the instant of the decision does not tell of its start, or was paused. */
void gsim_stop_costs_computes(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    struct gsim_stop_times *times = &model->tasks[slot].times;
    enum gsim_keep keep = (enum gsim_keep)times->keep;
    int64_t took_ns = at_ns - times->decided_ns;
    if (times->underway == GSIM_UNDERWAY_START && took_ns > 0) {
        see(&model->costs.starts, took_ns, 0);
        times->start_ns = took_ns;
    }
    if (times->underway == GSIM_UNDERWAY_RETURN && took_ns > 0)
        see(&model->costs.returns[keep], took_ns, listed(model, slot, keep).resume_ns);
    times->underway = GSIM_UNDERWAY_NOTHING;
}

void gsim_stop_costs_halts(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    model->tasks[slot].times.halted_ns = at_ns;
}

void gsim_stop_costs_cleared(struct gsim_model *model, gsim_slot slot, int64_t at_ns) {
    const struct gsim_stop_times *times = &model->tasks[slot].times;
    enum gsim_keep keep = (enum gsim_keep)times->keep;
    see(&model->costs.stops[keep], times->halted_ns - times->decided_ns, 0);
    see(&model->costs.saves[keep], at_ns - times->halted_ns, listed(model, slot, keep).save_ns);
}

/* --- what it would cost ----------------------------------------------------------------------- */

static int64_t scaled_ns(const struct gsim_times_seen *times, int64_t listed_ns) {
    if (times->n == 0)
        return listed_ns;
    return times->listed_ns > 0 ? gsim_muldiv_floor(listed_ns, times->ns, times->listed_ns)
                                : mean_ns(times);
}

static int64_t start_ns(const struct gsim_model *model, gsim_slot slot, enum gsim_keep keep) {
    int64_t own_ns = model->tasks[slot].times.start_ns;
    if (model->costs.returns[keep].n > 0)
        return mean_ns(&model->costs.returns[keep]);
    return own_ns > 0 ? own_ns : mean_ns(&model->costs.starts);
}

struct gsim_quote gsim_stop_costs_quote(const struct gsim_model *model, gsim_slot slot,
                                        enum gsim_keep keep, int64_t now_ns) {
    const struct gsim_stop_costs *costs = &model->costs;
    struct gsim_quote quote = {.is_possible = true, .stop_ns = mean_ns(&costs->stops[keep])};
    if (keep == GSIM_KEEP_IMAGE) {
        struct gsim_suspension_cost cost = listed(model, slot, keep);
        quote.save_ns = scaled_ns(&costs->saves[keep], cost.save_ns);
        quote.resume_ns = scaled_ns(&costs->returns[keep], cost.resume_ns);
    } else if (keep != GSIM_KEEP_RESIDENT) {
        quote.save_ns = mean_ns(&costs->saves[keep]);
        quote.resume_ns = start_ns(model, slot, keep);
    }
    if (keep == GSIM_KEEP_DISCARD)
        quote.lost_ns = gsim_progress_ns(&model->progress[slot], now_ns);
    return quote;
}
