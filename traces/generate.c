/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a trace job by job. Each section of the spec owns a stream named after it, and a stream
 * advances once for each job that uses it, whatever the other quantities do. Times are rounded to 1
 * us, so that a last bit of libm does not reach a simulation unnoticed. */
#include "traces/generate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/base/rng.h"
#include "traces/read.h"
#include "traces/service.h"
#include "traces/spec.h"

enum { US_PER_S = 1000000, FIRST_LINE = 3 /* behind the comment and the header */ };

struct generator {
    const struct gsim_spec *spec;
    struct gsim_builder *b;
    gsl_rng *kind_rng;
    gsl_rng *rng[GSIM_MAX_QUANTITIES]; /* as spec->quantities */
    double gap_factor;
    int64_t submit_us;
};

static gsl_rng *rng_of(const struct generator *g, const struct gsim_quantity *q) {
    return g->rng[q - g->spec->quantities];
}

/* --- one value -------------------------------------------------------------------------------- */

static double draw(const struct generator *g, const struct gsim_quantity *q) {
    double x = gsim_dist_draw(&q->dist, rng_of(g, q));
    if (q->times_duration)
        x *= (double)g->b->row.service_ns / 1e9;
    if (q->round > 0)
        x = nearbyint(x / q->round) * q->round;
    if (q->max > 0 && x > q->max)
        x = q->max;
    return x < q->min ? q->min : x;
}

/* Rounds x * scale to a whole number of quanta; false when it does not fit. */
static bool quantise(double x, double quanta, int64_t quantum, int64_t *out) {
    double n = nearbyint(x * quanta);
    if (!(fabs(n) * (double)quantum < (double)(GSIM_TIME_MAX / 2)))
        return false;
    *out = (int64_t)n * quantum;
    return true;
}

/* Converts a value in the column's unit to its cell. */
static bool to_cell(enum gsim_cell_kind kind, double x, int64_t *out) {
    switch (kind) {
    case GSIM_CELL_SECONDS:
        return quantise(x, US_PER_S, GSIM_NS_PER_US, out);
    case GSIM_CELL_MS:
        return quantise(x, 1000, GSIM_NS_PER_US, out);
    case GSIM_CELL_GIB:
        return quantise(x, 1024, GSIM_MIB, out);
    case GSIM_CELL_MILLI:
        return quantise(x, 1000, 1, out);
    case GSIM_CELL_SHARE:
    case GSIM_CELL_RATIO:
        x = x > 1 ? 1 : x < 1e-6 ? 1e-6 : x;
        return quantise(x, 1e6, 1, out);
    case GSIM_CELL_GBPS:
        return quantise(x, 100, 10000000, out);
    default:
        return quantise(x, 1, 1, out);
    }
}

static enum gsim_status too_large(const struct generator *g, const struct gsim_quantity *q) {
    return gsim_fail(g->b->log, GSIM_BAD_INPUT, g->spec->path, 0,
                     "[%s] gave job %u a value past the clock's or the counters' end; give a max =",
                     q->stream, g->b->n);
}

/* --- one job ---------------------------------------------------------------------------------- */

static enum gsim_status draw_text(struct generator *g, const struct gsim_quantity *q,
                                  int64_t *cell) {
    const char *text = q->text[gsim_dist_draw_choice(&q->dist, rng_of(g, q))];
    bool ok = gsim_cell_parse(g->b, (enum gsim_column)q->target, text, strlen(text), cell);
    return ok ? GSIM_OK : gsim_no_memory(g->b->log, "generating a trace");
}

static enum gsim_status draw_column(struct generator *g, const struct gsim_quantity *q) {
    struct gsim_row *row = &g->b->row;
    int64_t *cell = &row->cell[q->target];
    if (q->probability < 1 && gsl_rng_uniform(rng_of(g, q)) >= q->probability)
        return GSIM_OK;
    if (q->text && !q->dist.value)
        return draw_text(g, q, cell);
    if (!to_cell(gsim_columns[q->target].kind, draw(g, q), cell))
        return too_large(g, q);
    if (q->target == GSIM_COL_ITERATIONS && *cell < 1)
        *cell = 1;
    if (q->after_submit)
        *cell += row->submit_ns;
    return GSIM_OK;
}

static void draw_gpus(struct generator *g, const struct gsim_quantity *q) {
    struct gsim_row *row = &g->b->row;
    double x = draw(g, q);
    row->gpus = 1;
    if (x < 1)
        (void)to_cell(GSIM_CELL_SHARE, x, &row->cell[GSIM_COL_SHARE_PPM]);
    else
        row->gpus = x < GSIM_MAX_GANG ? (uint32_t)nearbyint(x) : GSIM_MAX_GANG;
}

static enum gsim_status draw_gap(struct generator *g, const struct gsim_quantity *q) {
    int64_t gap_us;
    if (!quantise(draw(g, q) * g->gap_factor, US_PER_S, 1, &gap_us))
        return too_large(g, q);
    g->submit_us += gap_us;
    if (g->submit_us > GSIM_TIME_MAX / 2 / GSIM_NS_PER_US)
        return too_large(g, q);
    g->b->row.submit_ns = g->submit_us * GSIM_NS_PER_US;
    return GSIM_OK;
}

static enum gsim_status draw_service(struct generator *g, const struct gsim_quantity *q) {
    struct gsim_row *row = &g->b->row;
    if (!q) {
        bool is_open_loop = row->cell[GSIM_COL_REQUESTS] >= 0;
        row->service_ns = is_open_loop ? 0 : gsim_service_described(row->cell);
        return row->service_ns >= 0
                   ? GSIM_OK
                   : gsim_fail(g->b->log, GSIM_BAD_INPUT, g->spec->path, 0,
                               "job %u has no iterations or gpu_ms (probability below 1?), or its "
                               "service time lies past the clock's end",
                               g->b->n);
    }
    double x = draw(g, q);
    if (!to_cell(GSIM_CELL_SECONDS, x, &row->service_ns))
        return too_large(g, q);
    if (x > 0 && row->service_ns == 0)
        row->service_ns = GSIM_NS_PER_US;
    return GSIM_OK;
}

static enum gsim_status draw_columns(struct generator *g, const struct gsim_job_kind *kind,
                                     bool times_duration) {
    enum gsim_status status = GSIM_OK;
    for (int c = 0; c < GSIM_COL_COUNT && status == GSIM_OK; c++)
        if (kind->quantity[c] && kind->quantity[c]->times_duration == times_duration)
            status = draw_column(g, kind->quantity[c]);
    return status;
}

static enum gsim_status draw_job(struct generator *g, const struct gsim_job_kind *kind) {
    if (kind->quantity[GSIM_OF_GPUS])
        draw_gpus(g, kind->quantity[GSIM_OF_GPUS]);
    enum gsim_status status = draw_gap(g, kind->quantity[GSIM_OF_GAP]);
    if (status == GSIM_OK)
        status = draw_columns(g, kind, false);
    if (status == GSIM_OK)
        status = draw_service(g, kind->quantity[GSIM_OF_DURATION]);
    if (status == GSIM_OK)
        status = draw_columns(g, kind, true);
    if (status == GSIM_OK && !gsim_build_times(g->b, 0))
        status = GSIM_BAD_INPUT;
    if (status == GSIM_OK)
        status = gsim_build_add(g->b, FIRST_LINE + (int64_t)g->b->n);
    gsim_build_clear_row(g->b);
    return status;
}

/* --- the whole trace -------------------------------------------------------------------------- */

static void open_columns(struct generator *g) {
    g->b->has_column[GSIM_COL_SHARE_PPM] = true; /* dropped again when no job has a share */
    for (uint32_t k = 0; k < g->spec->n_kinds; k++)
        for (int c = 0; c < GSIM_COL_COUNT; c++)
            g->b->has_column[c] |= g->spec->kinds[k].quantity[c] != NULL;
}

static bool open_streams(struct generator *g, uint64_t seed, uint64_t replication) {
    bool ok = (g->kind_rng = gsim_rng_stream(seed, replication, "trace/kind")) != NULL;
    for (uint32_t i = 0; ok && i < g->spec->n_quantities; i++)
        ok =
            (g->rng[i] = gsim_rng_stream(seed, replication, g->spec->quantities[i].stream)) != NULL;
    return ok;
}

static void close_streams(struct generator *g) {
    gsl_rng_free(g->kind_rng);
    for (uint32_t i = 0; i < g->spec->n_quantities; i++)
        gsl_rng_free(g->rng[i]);
}

static uint32_t draw_kind(const struct generator *g) {
    const struct gsim_spec *spec = g->spec;
    if (spec->kinds_take_turns)
        return g->b->n % spec->n_kinds;
    return spec->n_kinds > 1 ? gsim_dist_draw_choice(&spec->kind_of, g->kind_rng) : 0;
}

static enum gsim_status draw_jobs(struct generator *g) {
    const struct gsim_spec *spec = g->spec;
    enum gsim_status status = GSIM_OK;
    while (status == GSIM_OK && g->b->n < spec->n_jobs)
        status = draw_job(g, &spec->kinds[draw_kind(g)]);
    return status;
}

enum gsim_status gsim_trace_generate(const struct gsim_spec *spec, uint64_t seed,
                                     uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log) {
    struct generator *g = gsim_arena_alloc(arena, sizeof *g);
    struct gsim_builder *b = gsim_arena_alloc(arena, sizeof *b);
    if (!g || !b)
        return gsim_no_memory(log, "generating a trace");
    gsim_build_init(b, spec->path, arena, log);
    g->spec = spec;
    g->b = b;
    const struct gsim_quantity *gap = spec->kinds[0].quantity[GSIM_OF_GAP];
    g->gap_factor = spec->mean_gap_s > 0 ? spec->mean_gap_s / gsim_dist_mean(&gap->dist) : 1;
    open_columns(g);
    enum gsim_status status = open_streams(g, seed, replication)
                                  ? draw_jobs(g)
                                  : gsim_no_memory(log, "generating a trace");
    close_streams(g);
    return status == GSIM_OK ? gsim_build_finish(b, "generated", out) : status;
}

enum gsim_status gsim_generate_write(const struct gsim_spec *spec, uint64_t seed,
                                     uint64_t replication, const char *options,
                                     const struct gsim_trace *trace, FILE *file,
                                     struct gsim_log *log) {
    const char *slash = strrchr(spec->path, '/');
    errno = 0;
    (void)fprintf(file, "# generated by gsim generate %s --seed %llu",
                  slash ? slash + 1 : spec->path, (unsigned long long)seed);
    if (replication)
        (void)fprintf(file, " --replication %llu", (unsigned long long)replication);
    (void)fprintf(file, "%s\n", options);
    gsim_trace_write(trace, file);
    if (fflush(file) != 0 || ferror(file))
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot write the trace: %s",
                         errno ? strerror(errno) : "the file does not take it");
    return GSIM_OK;
}
