/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uses two random streams, one for gaps and one for work, so that either stays when the other
 * changes. Factors are whole ppm and products are rounded down: no double decides anything. */
#include "traces/shake.h"

#include "sim/base/rng.h"
#include "gsim/units.h"
#include "traces/logged.h"

struct shaking {
    const struct gsim_trace *from;
    int64_t amount_ppm;
    int64_t *submit_ns, *service_ns;
    int64_t *column[GSIM_COL_COUNT]; /* columns that are changed */
    gsl_rng *gaps, *work;
};

/* Columns that describe a job's work, besides its service time. */
static const enum gsim_column work_columns[] = {GSIM_COL_GPU_NS, GSIM_COL_HOST_GAP_NS,
                                                GSIM_COL_HOST_NS};
enum { N_WORK_COLUMNS = sizeof work_columns / sizeof *work_columns };

static int64_t factor_ppm(gsl_rng *rng, int64_t amount_ppm) {
    unsigned long width = (unsigned long)(2 * amount_ppm + 1);
    return GSIM_PPM - amount_ppm + (int64_t)gsl_rng_uniform_int(rng, width);
}

static int64_t times(int64_t value, int64_t ppm) {
    return value > 0 ? gsim_muldiv_floor(value, ppm, GSIM_PPM) : value;
}

static void shake_gaps(struct shaking *s) {
    int64_t before_ns = 0, shaken_ns = 0;
    for (uint32_t i = 0; i < s->from->n_jobs; i++) {
        uint32_t job = s->from->order ? s->from->order[i] : i;
        int64_t submit_ns = s->from->submit_ns[job];
        if (i > 0) /* the first job keeps its arrival */
            shaken_ns += times(submit_ns - before_ns, factor_ppm(s->gaps, s->amount_ppm));
        else
            shaken_ns = submit_ns;
        before_ns = submit_ns;
        s->submit_ns[job] = shaken_ns;
    }
}

/* The requests of an open-loop job stay: its latencies are measured by them. */
static void shake_work(struct shaking *s) {
    for (uint32_t job = 0; job < s->from->n_jobs; job++) {
        int64_t ppm = factor_ppm(s->work, s->amount_ppm);
        if (gsim_trace_get(s->from, GSIM_COL_REQUESTS, job) > 0)
            ppm = GSIM_PPM;
        s->service_ns[job] = times(s->from->service_ns[job], ppm);
        for (int c = 0; c < N_WORK_COLUMNS; c++)
            if (s->column[c])
                s->column[c][job] = times(s->from->column[work_columns[c]][job], ppm);
    }
}

static bool reserve(struct shaking *s, struct gsim_arena *arena) {
    size_t n = s->from->n_jobs;
    s->submit_ns = gsim_arena_array(arena, n, sizeof *s->submit_ns);
    s->service_ns = gsim_arena_array(arena, n, sizeof *s->service_ns);
    bool is_fine = s->submit_ns && s->service_ns;
    for (int c = 0; c < N_WORK_COLUMNS; c++)
        if (s->from->column[work_columns[c]]) {
            s->column[c] = gsim_arena_array(arena, n, sizeof *s->column[c]);
            is_fine = is_fine && s->column[c];
        }
    return is_fine;
}

static void take_work(const struct shaking *s, struct gsim_trace *out) {
    *out = *s->from;
    out->service_ns = s->service_ns;
    gsim_trace_forget_log(out);
    for (int c = 0; c < N_WORK_COLUMNS; c++)
        if (s->column[c])
            out->column[work_columns[c]] = s->column[c];
}

static enum gsim_status shake(struct shaking *s, uint64_t seed, uint64_t replication,
                              struct gsim_arena *arena, struct gsim_trace *out,
                              struct gsim_log *log) {
    s->gaps = gsim_rng_stream(seed, replication, "shake gaps");
    s->work = gsim_rng_stream(seed, replication, "shake work");
    bool is_fine = s->gaps && s->work && reserve(s, arena);
    if (is_fine) {
        shake_gaps(s);
        shake_work(s);
        take_work(s, out);
    }
    gsl_rng_free(s->gaps);
    gsl_rng_free(s->work);
    return is_fine ? GSIM_OK : gsim_no_memory(log, "shaking a trace");
}

enum gsim_status gsim_trace_shake(const struct gsim_trace *from, int64_t amount_ppm, uint64_t seed,
                                  uint64_t replication, struct gsim_arena *arena,
                                  struct gsim_trace *out, struct gsim_log *log) {
    struct shaking s = {.from = from, .amount_ppm = amount_ppm};
    enum gsim_status status = shake(&s, seed, replication, arena, out, log);
    if (status == GSIM_OK)
        out->submit_ns = s.submit_ns;
    return status;
}

enum gsim_status gsim_trace_shake_work(const struct gsim_trace *from, int64_t amount_ppm,
                                       uint64_t seed, uint64_t replication,
                                       struct gsim_arena *arena, struct gsim_trace *out,
                                       struct gsim_log *log) {
    struct shaking s = {.from = from, .amount_ppm = amount_ppm};
    return shake(&s, seed, replication, arena, out, log);
}
