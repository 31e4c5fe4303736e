/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/stop_costs.h"

#include "gsim/units.h"

static void see(struct gsim_times_seen *seen, int64_t ns, int64_t listed_ns) {
    seen->n++;
    seen->ns += ns > 0 ? ns : 0;
    seen->listed_ns += listed_ns;
}

static int64_t mean_ns(const struct gsim_times_seen *seen) {
    return seen->n > 0 ? seen->ns / seen->n : 0;
}

/* --- what happens ----------------------------------------------------------------------------- */

void gsim_stop_costs_admit(struct gsim_stop_times *times, enum gsim_state from, enum gsim_keep keep,
                           int64_t now_ns) {
    times->decided_ns = now_ns;
    times->keep = (uint8_t)keep;
    times->underway = from == GSIM_QUEUED ? GSIM_UNDERWAY_START : GSIM_UNDERWAY_RETURN;
}

/* A job that does not compute yet halts as soon as it is to stop. */
void gsim_stop_costs_evict(struct gsim_stop_times *times, enum gsim_keep keep, int64_t now_ns) {
    times->decided_ns = times->halted_ns = now_ns;
    times->keep = (uint8_t)keep;
    times->underway = GSIM_UNDERWAY_NOTHING;
}

/* A job that computes in the instant of the decision does not tell of its start, or was paused. */
void gsim_stop_costs_computes(struct gsim_stop_costs *costs, struct gsim_stop_times *times,
                              const struct gsim_suspension_cost *listed, int64_t at_ns) {
    int64_t took_ns = at_ns - times->decided_ns;
    if (times->underway == GSIM_UNDERWAY_START && took_ns > 0) {
        see(&costs->starts, took_ns, 0);
        times->start_ns = took_ns;
    }
    if (times->underway == GSIM_UNDERWAY_RETURN && took_ns > 0)
        see(&costs->returns[times->keep], took_ns, listed->resume_ns);
    times->underway = GSIM_UNDERWAY_NOTHING;
}

void gsim_stop_costs_halts(struct gsim_stop_times *times, int64_t at_ns) {
    times->halted_ns = at_ns;
}

void gsim_stop_costs_cleared(struct gsim_stop_costs *costs, const struct gsim_stop_times *times,
                             const struct gsim_suspension_cost *listed, int64_t at_ns) {
    see(&costs->stops[times->keep], times->halted_ns - times->decided_ns, 0);
    see(&costs->saves[times->keep], at_ns - times->halted_ns, listed->save_ns);
}

/* --- what it would cost ----------------------------------------------------------------------- */

static int64_t scaled_ns(const struct gsim_times_seen *seen, int64_t listed_ns) {
    if (seen->n == 0)
        return listed_ns;
    return seen->listed_ns > 0 ? gsim_muldiv_floor(listed_ns, seen->ns, seen->listed_ns)
                               : mean_ns(seen);
}

static int64_t start_ns(const struct gsim_stop_costs *costs, const struct gsim_stop_times *times,
                        enum gsim_keep keep) {
    if (costs->returns[keep].n > 0)
        return mean_ns(&costs->returns[keep]);
    return times->start_ns > 0 ? times->start_ns : mean_ns(&costs->starts);
}

struct gsim_quote gsim_stop_costs_quote(const struct gsim_stop_costs *costs,
                                        const struct gsim_stop_times *times, enum gsim_keep keep,
                                        const struct gsim_suspension_cost *listed) {
    struct gsim_quote quote = {.is_possible = true, .stop_ns = mean_ns(&costs->stops[keep])};
    if (keep == GSIM_KEEP_IMAGE) {
        quote.save_ns = scaled_ns(&costs->saves[keep], listed->save_ns);
        quote.resume_ns = scaled_ns(&costs->returns[keep], listed->resume_ns);
    } else if (keep != GSIM_KEEP_RESIDENT) {
        quote.save_ns = mean_ns(&costs->saves[keep]);
        quote.resume_ns = start_ns(costs, times, keep);
    }
    return quote;
}
