/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first of n runs has all lengths and starts off by up to an n-th of their shares, the last one
 * by all of them: so the run with the smallest share that moved a job bounds what the job hangs
 * on. */
#include "sim/app/compare/lengths.h"

#include "gsim/units.h"
#include "sim/app/compare/scaled.h"
#include "sim/base/rng.h"
#include "traces/shake.h"

/* Without --shake, --reps. 1 % is the difference of a GPU's measured speed between two runs on
 * one machine (docs/drive.md). A hundred runs: what a job hangs on is told to 0.01 %. */
enum { USUAL_PPM = GSIM_PPM / 100, USUAL_RUNS = 100, MOST_RUNS = 10000 };

static double length_of_jct_s(const struct gsim_result *result, uint32_t job) {
    return (double)(result->jobs.end_ns[job] - result->trace->submit_ns[job]) / 1e9;
}

static void widen(struct gsim_lengths_job *range, double s) {
    range->least_s = s < range->least_s ? s : range->least_s;
    range->most_s = s > range->most_s ? s : range->most_s;
}

/* Parts by which the lengths and the starts of a run are off at most. */
struct off {
    int64_t ppm, starts_ppm;
};

/* All that jobs stalled which had begun by then: no less than the starts until then. */
static int64_t stalled_ns(const struct gsim_result *asked, int64_t until_ns) {
    int64_t sum_ns = 0;
    for (uint32_t job = 0; job < asked->trace->n_jobs && asked->jobs.stall_ns; job++)
        if (asked->jobs.start_ns[job] >= 0 && asked->jobs.start_ns[job] < until_ns)
            sum_ns += asked->jobs.stall_ns[job];
    return sum_ns;
}

static bool is_elsewhere(const struct gsim_result *asked, int64_t end_ns, int64_t from_ns,
                         struct off off) {
    int64_t moved_ns = end_ns > from_ns ? end_ns - from_ns : from_ns - end_ns;
    int64_t most_ns = gsim_muldiv_floor(from_ns, off.ppm, GSIM_PPM) + 1;
    if (off.starts_ppm > 0 && moved_ns > most_ns)
        most_ns += gsim_muldiv_floor(stalled_ns(asked, from_ns), off.starts_ppm, GSIM_PPM) + 1;
    return moved_ns > most_ns;
}

static void see_job(struct gsim_lengths *l, const struct gsim_result *asked, uint32_t job,
                    int64_t end_ns, struct off off) {
    struct gsim_lengths_job *j = &l->job[job];
    if (j->hangs_on_ppm > 0 || !is_elsewhere(asked, end_ns, asked->jobs.end_ns[job], off))
        return;
    j->hangs_on_ppm = off.ppm;
    l->n_hanging++;
}

static void see_run(struct gsim_lengths *l, const struct gsim_result *asked,
                    const struct gsim_result *run, struct off off) {
    const int64_t *end_ns = run->jobs.end_ns, *from_ns = asked->jobs.end_ns;
    double sum_s = 0;
    uint32_t n = 0;
    for (uint32_t job = 0; job < asked->trace->n_jobs; job++) {
        if (from_ns[job] < 0 || end_ns[job] < 0)
            continue;
        widen(&l->job[job], length_of_jct_s(run, job));
        see_job(l, asked, job, end_ns[job], off);
        sum_s += length_of_jct_s(run, job);
        n++;
    }
    if (n > 0)
        widen(&l->mean, sum_s / n);
}

/* The simulation itself is one of the range. */
static void begin_lengths(struct gsim_lengths *l, const struct gsim_result *asked) {
    double sum_s = 0;
    uint32_t n = 0;
    for (uint32_t job = 0; job < asked->trace->n_jobs; job++)
        if (asked->jobs.end_ns[job] >= 0) {
            l->job[job].least_s = l->job[job].most_s = length_of_jct_s(asked, job);
            sum_s += length_of_jct_s(asked, job);
            n++;
        }
    l->mean.least_s = l->mean.most_s = n > 0 ? sum_s / n : 0;
}

/* One factor for all starts of a run: they are off together, as the host is fast or slow. */
static int64_t factor_ppm(const struct gsim_setup *setup, int64_t off_ppm, int64_t nth) {
    gsl_rng *rng = gsim_rng_stream((uint64_t)setup->seed, (uint64_t)nth, "shake starts");
    int64_t drawn = rng ? (int64_t)(gsim_rng_word(rng) % (uint64_t)(2 * off_ppm + 1)) : -1;
    gsl_rng_free(rng);
    return drawn < 0 ? -1 : GSIM_PPM - off_ppm + drawn;
}

/* Starts that stand in rows are off by that factor too. */
static bool shake_starts(struct gsim_trace *trace, int64_t factor, struct gsim_arena *arena) {
    const int64_t *from = trace->column[GSIM_COL_STARTUP_NS];
    int64_t *cells = from ? gsim_arena_array(arena, trace->n_jobs, sizeof *cells) : NULL;
    if (!from || !cells)
        return !from;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        cells[job] = from[job] < 0 ? -1 : gsim_muldiv_floor(from[job], factor, GSIM_PPM);
    trace->column[GSIM_COL_STARTUP_NS] = cells;
    return true;
}

static enum gsim_status run_shaken(struct gsim_cli *cli, const struct gsim_setup *from,
                                   const struct gsim_result *asked, int64_t nth,
                                   struct gsim_lengths *l, struct gsim_arena *arena) {
    struct off off = {gsim_muldiv_floor(l->off_ppm, nth, l->runs),
                      gsim_muldiv_floor(l->starts_off_ppm, nth, l->runs)};
    int64_t factor = factor_ppm(from, off.starts_ppm, nth);
    const struct gsim_setup *setup =
        factor >= 0 ? gsim_setup_scaled(from, GSIM_PROCESS_START, factor, arena) : NULL;
    struct gsim_trace trace;
    struct gsim_result run;
    if (!setup)
        return gsim_no_memory(cli->log, "comparing");
    enum gsim_status status = gsim_trace_shake_work(&from->trace, off.ppm, (uint64_t)from->seed,
                                                    (uint64_t)nth, arena, &trace, cli->log);
    if (status == GSIM_OK && !shake_starts(&trace, factor, arena))
        status = gsim_no_memory(cli->log, "comparing");
    if (status == GSIM_OK)
        status = gsim_setup_run(setup, 0, setup->replication, &trace, cli->io, NULL, arena, &run,
                                cli->log);
    if (status == GSIM_OK)
        see_run(l, asked, &run, off);
    return status;
}

static enum gsim_status try_once(struct gsim_cli *cli, const struct gsim_setup *setup,
                                 const struct gsim_result *asked, int64_t nth,
                                 struct gsim_lengths *l) {
    struct gsim_arena *arena = gsim_arena_new();
    if (!arena)
        return gsim_no_memory(cli->log, "comparing");
    enum gsim_status status = run_shaken(cli, setup, asked, nth, l, arena);
    gsim_arena_free(arena);
    return status == GSIM_INCOMPLETE
               ? gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is compared")
               : status;
}

enum gsim_status gsim_lengths_try(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  const struct gsim_result *result, int64_t starts_off_ppm,
                                  struct gsim_lengths *out) {
    *out = (struct gsim_lengths){.off_ppm = setup->shake_ppm > 0 ? setup->shake_ppm : USUAL_PPM,
                                 .starts_off_ppm = starts_off_ppm};
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_REPS, USUAL_RUNS, 1, MOST_RUNS, &out->runs);
    if (status != GSIM_OK)
        return status;
    out->job = gsim_arena_array(cli->arena, setup->trace.n_jobs, sizeof *out->job);
    if (!out->job)
        return gsim_no_memory(cli->log, "comparing");
    begin_lengths(out, result);
    for (int64_t nth = 1; nth <= out->runs && status == GSIM_OK; nth++)
        status = try_once(cli, setup, result, nth, out);
    return status;
}
