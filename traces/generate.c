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

/* A time, and what the arrivals' own clock shows then, which runs at their rate. */
struct moment {
    int64_t us;
    double clock_s;
};

struct generator {
    const struct gsim_spec *spec;
    struct gsim_builder *b;
    gsl_rng *kind_rng;
    gsl_rng *rng[GSIM_MAX_QUANTITIES]; /* as spec->quantities */
    double gap_factor;
    struct moment batch, job; /* submissions of the batch at hand, and of its last job */
    uint32_t batch_left; /* jobs of that batch that are to come */
    bool is_first; /* the job at hand begins a batch */
    const struct gsim_job_kind *last_kind;
    struct gsim_row last; /* the job before */
    uint32_t *session_left; /* by user of a closed loop: jobs until the next break */
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

/* Whether a job takes the value of the job before it. */
static bool repeats(const struct generator *g, const struct gsim_quantity *q,
                    const struct gsim_job_kind *kind) {
    return q->repeat > 0 && !g->is_first && g->last_kind == kind &&
           gsl_rng_uniform(rng_of(g, q)) < q->repeat;
}

/* A number of jobs: whole, at least 1. */
static uint32_t draw_count(const struct generator *g, const struct gsim_quantity *q) {
    double n = nearbyint(draw(g, q));
    return n < 1 ? 1 : n < GSIM_MAX_JOBS ? (uint32_t)n : GSIM_MAX_JOBS;
}

/* --- one job ---------------------------------------------------------------------------------- */

static enum gsim_status draw_text(struct generator *g, const struct gsim_quantity *q,
                                  int64_t *cell) {
    const char *text = q->text[gsim_dist_draw_choice(&q->dist, rng_of(g, q))];
    bool ok = gsim_cell_parse(g->b, (enum gsim_column)q->target, text, strlen(text), cell);
    return ok ? GSIM_OK : gsim_no_memory(g->b->log, "generating a trace");
}

static enum gsim_status draw_anew(struct generator *g, const struct gsim_quantity *q) {
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

static enum gsim_status draw_column(struct generator *g, const struct gsim_quantity *q,
                                    const struct gsim_job_kind *kind) {
    enum gsim_status status = draw_anew(g, q);
    if (repeats(g, q, kind) && !q->after_submit)
        g->b->row.cell[q->target] = g->last.cell[q->target];
    return status;
}

static void draw_gpus(struct generator *g, const struct gsim_job_kind *kind) {
    const struct gsim_quantity *q = kind->quantity[GSIM_OF_GPUS];
    struct gsim_row *row = &g->b->row;
    double x = draw(g, q);
    row->gpus = 1;
    if (repeats(g, q, kind)) {
        row->gpus = g->last.gpus;
        row->cell[GSIM_COL_SHARE_PPM] = g->last.cell[GSIM_COL_SHARE_PPM];
    } else if (x < 1)
        (void)to_cell(GSIM_CELL_SHARE, x, &row->cell[GSIM_COL_SHARE_PPM]);
    else
        row->gpus = x < GSIM_MAX_GANG ? (uint32_t)nearbyint(x) : GSIM_MAX_GANG;
}

/* The time at which the arrivals' own clock, which runs at their mean rate, shows clock_s. */
static double time_of_clock(const struct gsim_spec *spec, double clock_s) {
    const double hour_s = 3600, round_s = spec->profile_hours * hour_s;
    if (!spec->profile)
        return clock_s;
    double rounds = floor(clock_s / round_s), rest = (clock_s - rounds * round_s) / hour_s;
    uint32_t low = 0, high = spec->profile_hours - 1; /* the last hour with a sum not above it */
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (spec->profile[middle] <= rest)
            low = middle;
        else
            high = middle - 1;
    }
    double rate = spec->profile[low + 1] - spec->profile[low];
    double part = rate > 0 ? (rest - spec->profile[low]) / rate : 0;
    return rounds * round_s + (low + (part < 1 ? part : 1)) * hour_s;
}

/* Adds a gap to a time in microseconds, and says where that is on the calendar. Where the rate
 * changes, times are those of the arrivals' clock. */
static bool add_gap(const struct gsim_spec *spec, double gap_s, struct moment *at) {
    int64_t gap_us = 0;
    if (spec->profile) {
        at->clock_s += gap_s;
        return quantise(time_of_clock(spec, at->clock_s), US_PER_S, 1, &at->us);
    }
    if (!quantise(gap_s, US_PER_S, 1, &gap_us))
        return false;
    at->us += gap_us;
    return true;
}

/* Notes when the job is submitted: a gap after the last batch began, or after the last job of its
 * own. */
static enum gsim_status draw_gap(struct generator *g, const struct gsim_job_kind *kind) {
    const struct gsim_quantity *gap = kind->quantity[GSIM_OF_GAP];
    const struct gsim_quantity *within = kind->quantity[GSIM_OF_BATCH_GAP];
    if (g->is_first && !add_gap(g->spec, draw(g, gap) * g->gap_factor, &g->batch))
        return too_large(g, gap);
    if (g->is_first)
        g->job = g->batch;
    else if (within && !add_gap(g->spec, draw(g, within), &g->job))
        return too_large(g, within);
    if (g->job.us > GSIM_TIME_MAX / 2 / GSIM_NS_PER_US)
        return too_large(g, gap);
    g->b->row.submit_ns = g->job.us * GSIM_NS_PER_US;
    return GSIM_OK;
}

/* --- closed loops ----------------------------------------------------------------------------- */

/* The user's think time, or the break before a new session. */
static enum gsim_status draw_think(struct generator *g, const struct gsim_job_kind *kind,
                                   uint32_t user) {
    const struct gsim_quantity *session = kind->quantity[GSIM_OF_SESSION];
    const struct gsim_quantity *away = kind->quantity[GSIM_OF_BREAK];
    int64_t *think_ns = &g->b->row.cell[GSIM_COL_THINK_NS];
    if (*think_ns < 0)
        *think_ns = 0; /* its probability is below 1 */
    if (!session)
        return GSIM_OK;
    bool is_over = g->session_left[user] == 0;
    if (is_over)
        g->session_left[user] = draw_count(g, session);
    g->session_left[user]--;
    if (is_over && g->b->n >= g->spec->n_users &&
        !to_cell(GSIM_CELL_SECONDS, draw(g, away), think_ns))
        return too_large(g, away);
    return GSIM_OK;
}

static enum gsim_status name_user(struct generator *g, uint32_t user) {
    char name[16];
    int64_t *cell = &g->b->row.cell[GSIM_COL_USER];
    int n = snprintf(name, sizeof name, "u%u", user + 1);
    if (*cell < 0)
        *cell = gsim_build_intern(g->b, GSIM_COL_USER, name, (size_t)n);
    return *cell >= 0 ? GSIM_OK : gsim_no_memory(g->b->log, "generating a trace");
}

/* The job comes after its user's last one, and a first job a think time after the start. The
 * submission that is written is the one on a cluster where no job waits. */
static enum gsim_status close_loop(struct generator *g, const struct gsim_job_kind *kind) {
    struct gsim_builder *b = g->b;
    struct gsim_row *row = &b->row;
    uint32_t n_users = g->spec->n_users, user = b->n % n_users;
    enum gsim_status status = draw_think(g, kind, user);
    row->submit_ns = row->cell[GSIM_COL_THINK_NS];
    if (b->n < n_users) {
        row->cell[GSIM_COL_THINK_NS] = -1;
    } else {
        uint32_t before = b->n - n_users;
        row->cell[GSIM_COL_AFTER] = before;
        row->submit_ns += b->submit_ns[before] + b->service_ns[before];
    }
    return status == GSIM_OK ? name_user(g, user) : status;
}

static enum gsim_status draw_service(struct generator *g, const struct gsim_job_kind *kind) {
    const struct gsim_quantity *q = kind->quantity[GSIM_OF_DURATION];
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
    if (repeats(g, q, kind))
        row->service_ns = g->last.service_ns;
    return GSIM_OK;
}

static enum gsim_status draw_columns(struct generator *g, const struct gsim_job_kind *kind,
                                     bool times_duration) {
    enum gsim_status status = GSIM_OK;
    for (int c = 0; c < GSIM_COL_COUNT && status == GSIM_OK; c++)
        if (kind->quantity[c] && kind->quantity[c]->times_duration == times_duration)
            status = draw_column(g, kind->quantity[c], kind);
    return status;
}

static enum gsim_status draw_job(struct generator *g, const struct gsim_job_kind *kind) {
    if (kind->quantity[GSIM_OF_GPUS])
        draw_gpus(g, kind);
    enum gsim_status status = g->spec->n_users ? GSIM_OK : draw_gap(g, kind);
    if (status == GSIM_OK)
        status = draw_columns(g, kind, false);
    if (status == GSIM_OK && g->spec->n_users)
        status = close_loop(g, kind);
    if (status == GSIM_OK)
        status = draw_service(g, kind);
    if (status == GSIM_OK)
        status = draw_columns(g, kind, true);
    if (status == GSIM_OK && !gsim_build_times(g->b, 0))
        status = GSIM_BAD_INPUT;
    if (status == GSIM_OK)
        status = gsim_build_add(g->b, FIRST_LINE + (int64_t)g->b->n);
    g->last = g->b->row;
    g->last_kind = kind;
    gsim_build_clear_row(g->b);
    return status;
}

/* --- the whole trace -------------------------------------------------------------------------- */

static void open_columns(struct generator *g) {
    g->b->has_column[GSIM_COL_SHARE_PPM] = true; /* dropped again when no job has a share */
    for (uint32_t k = 0; k < g->spec->n_kinds; k++)
        for (int c = 0; c < GSIM_COL_COUNT; c++)
            g->b->has_column[c] |= g->spec->kinds[k].quantity[c] != NULL;
    if (g->spec->n_users)
        g->b->has_column[GSIM_COL_AFTER] = g->b->has_column[GSIM_COL_USER] = true;
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

static const struct gsim_job_kind *draw_kind(const struct generator *g) {
    const struct gsim_spec *spec = g->spec;
    if (spec->kinds_take_turns)
        return &spec->kinds[g->b->n % spec->n_kinds];
    if (spec->n_kinds == 1)
        return &spec->kinds[0];
    uint32_t kind = gsim_dist_draw_choice(&spec->kind_of, g->kind_rng);
    bool is_repeated =
        spec->kind_repeat > 0 && !g->is_first && gsl_rng_uniform(g->kind_rng) < spec->kind_repeat;
    return is_repeated ? g->last_kind : &spec->kinds[kind];
}

static enum gsim_status draw_jobs(struct generator *g) {
    const struct gsim_quantity *batch = g->spec->kinds[0].quantity[GSIM_OF_BATCH];
    enum gsim_status status = GSIM_OK;
    while (status == GSIM_OK && g->b->n < g->spec->n_jobs) {
        g->is_first = g->batch_left == 0;
        if (g->is_first)
            g->batch_left = batch ? draw_count(g, batch) : 1;
        g->batch_left--;
        status = draw_job(g, draw_kind(g));
    }
    return status;
}

/* What the times between arrivals are to be multiplied with. */
static double gap_factor(const struct gsim_spec *spec) {
    const struct gsim_quantity *gap = spec->kinds[0].quantity[GSIM_OF_GAP];
    const struct gsim_quantity *batch = spec->kinds[0].quantity[GSIM_OF_BATCH];
    if (!(spec->mean_gap_s > 0))
        return 1;
    double jobs = batch ? gsim_dist_mean(&batch->dist) : 1;
    return spec->mean_gap_s * jobs / gsim_dist_mean(&gap->dist);
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
    g->gap_factor = gap_factor(spec);
    g->session_left = gsim_arena_array(arena, spec->n_users + 1u, sizeof *g->session_left);
    if (!g->session_left)
        return gsim_no_memory(log, "generating a trace");
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
