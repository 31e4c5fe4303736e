/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/setup/apps.h"

#include <stdio.h>
#include <string.h>

#include "models/gpu/program_alone.h"
#include "sim/base/embedded.h"
#include "sim/base/text.h"
#include "traces/apps.h"
#include "traces/cells.h"
#include "traces/service.h"

static const char folder[] = "models/apps/";

bool gsim_apps_is_path(const char *name) {
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".csv") == 0);
}

int gsim_apps_names(char (*out)[48], int most) {
    const size_t skip = sizeof folder - 1;
    int n = 0;
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name && n < most; file++)
        if (strncmp(file->name, folder, skip) == 0)
            (void)snprintf(out[n++], 48, "%.*s", (int)(strlen(file->name) - skip - 4),
                           file->name + skip);
    return n;
}

const struct gsim_embedded *gsim_apps_embedded(const char *name) {
    char path[128];
    if ((size_t)snprintf(path, sizeof path, "%s%s.csv", folder, name) >= sizeof path)
        return NULL;
    return gsim_embedded_find(path);
}

static enum gsim_status unknown(const char *name, const char *file, int64_t line,
                                struct gsim_log *log) {
    char texts[128][48];
    const char *names[128];
    int n = gsim_apps_names(texts, 128);
    for (int i = 0; i < n; i++)
        names[i] = texts[i];
    int close = gsim_text_suggest(name, names, n);
    return gsim_fail(log, file ? GSIM_BAD_INPUT : GSIM_USAGE, file, line,
                     "no application is called '%.64s'%s%s%s", name,
                     close >= 0 ? "; did you mean '"
                                : "; 'gsim list apps' shows them, and a file of your own ends in "
                                  ".csv",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

enum gsim_status gsim_apps_load(const char *name_or_path, const char *file, int64_t line,
                                struct gsim_arena *arena, struct gsim_app *out,
                                struct gsim_log *log) {
    bool is_path = gsim_apps_is_path(name_or_path);
    const struct gsim_embedded *built_in = is_path ? NULL : gsim_apps_embedded(name_or_path);
    struct gsim_input *input = NULL;
    if (!is_path && !built_in)
        return unknown(name_or_path, file, line, log);
    enum gsim_status status = is_path ? gsim_input_open(name_or_path, arena, &input, log)
                                      : gsim_input_open_bytes(built_in->name, built_in->bytes,
                                                              built_in->size, arena, &input, log);
    if (status == GSIM_OK)
        status = gsim_app_read(input, arena, out, log);
    gsim_input_close(input);
    return status;
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* The time of an iteration, as the cells describe it, without the work of the host after its
 * end. */
static int64_t pace_ns(const struct gsim_app *app, int64_t gpu_ns) {
    return (int64_t)gsim_service_pace_ns(gpu_ns, app->host_ns, (int64_t)app->sync) +
           (app->gap_ns > 0 ? app->gap_ns : 0);
}

/* The cells of the trace's columns that follow from one profile; -1: the profile has no such
 * value. */
struct filling {
    int64_t cell[GSIM_COL_COUNT];
    const struct gsim_program *program;
    bool is_loaded;
};

struct resolving {
    const struct gsim_trace *trace;
    const struct gsim_profile *profile;
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_trace *out;
    int64_t *column[GSIM_COL_COUNT]; /* columns of `out` that replace the trace's own */
    int64_t *service_ns;
    struct filling *fillings; /* by number of the name */
    const struct gsim_cluster_spec *cluster;
    uint64_t *rate_q32; /* by number of the name, then by device */
    const struct gsim_program **programs; /* by number of the name */
    bool has_warned; /* of a program that has less time than its kernels */
};

static const enum gsim_column filled[] = {GSIM_COL_GPU_NS,
                                          GSIM_COL_KERNELS,
                                          GSIM_COL_HOST_NS,
                                          GSIM_COL_HOST_GAP_NS,
                                          GSIM_COL_SYNC,
                                          GSIM_COL_MEM_BYTES,
                                          GSIM_COL_WORKING_SET_BYTES,
                                          GSIM_COL_SM_PPM,
                                          GSIM_COL_HBM_BYTES_PER_S,
                                          GSIM_COL_IDEMPOTENT,
                                          GSIM_COL_ITERATIONS};

enum { N_FILLED = sizeof filled / sizeof *filled };

static bool own_columns(struct resolving *r) {
    const struct gsim_trace *trace = r->trace;
    r->service_ns = gsim_arena_array(r->arena, trace->n_jobs, sizeof *r->service_ns);
    if (!r->service_ns)
        return false;
    memcpy(r->service_ns, trace->service_ns, trace->n_jobs * sizeof *r->service_ns);
    r->out->service_ns = r->service_ns;
    for (int i = 0; i < N_FILLED; i++) {
        int64_t *cells = gsim_arena_array(r->arena, trace->n_jobs, sizeof *cells);
        if (!cells)
            return false;
        for (uint32_t job = 0; job < trace->n_jobs; job++)
            cells[job] = gsim_trace_get(trace, filled[i], job);
        r->column[filled[i]] = cells;
        r->out->column[filled[i]] = cells;
    }
    return true;
}

static int64_t if_any(int64_t value) {
    return value > 0 ? value : -1;
}

/* Computes the speed of each device of the cluster for an iteration, relative to the first
 * device. */
static enum gsim_status rate_devices(struct resolving *r, const struct gsim_app *app,
                                     int64_t first_gpu_ns, uint64_t *rate_q32) {
    int64_t first_ns = pace_ns(app, first_gpu_ns);
    rate_q32[0] = GSIM_RATE_ONE;
    for (uint16_t type = 1; type < r->cluster->n_profiles; type++) {
        struct gsim_roofline_cost cost;
        enum gsim_status status =
            gsim_roofline_cost(app, r->cluster->profiles[type], &cost, r->log);
        if (status != GSIM_OK)
            return status;
        int64_t here_ns = pace_ns(app, cost.gpu_ns);
        rate_q32[type] =
            here_ns > 0 && first_ns > 0
                ? (uint64_t)gsim_muldiv_floor((int64_t)GSIM_RATE_ONE, first_ns, here_ns)
                : GSIM_RATE_ONE;
    }
    return GSIM_OK;
}

static enum gsim_status load_program(struct resolving *r, const struct gsim_app *app,
                                     uint32_t position) {
    enum gsim_status status =
        gsim_program_of(app, r->profile, r->arena, &r->fillings[position].program, r->log);
    r->programs[position] = r->fillings[position].program;
    if (r->programs[position])
        r->out->programs = r->programs;
    return status;
}

/* The host's times of a program stand in it; a cell of a row would scale them. */
static void fill(struct filling *filling, const struct gsim_app *app,
                 const struct gsim_roofline_cost *cost) {
    int64_t *cell = filling->cell;
    cell[GSIM_COL_GPU_NS] = cost->gpu_ns;
    cell[GSIM_COL_KERNELS] = cost->kernels;
    cell[GSIM_COL_HOST_NS] = filling->program ? -1 : if_any(app->host_ns);
    cell[GSIM_COL_HOST_GAP_NS] = filling->program ? -1 : if_any(app->gap_ns);
    cell[GSIM_COL_SYNC] = (int64_t)app->sync;
    cell[GSIM_COL_MEM_BYTES] = if_any(app->mem_bytes);
    cell[GSIM_COL_WORKING_SET_BYTES] = if_any(cost->working_set_bytes);
    cell[GSIM_COL_SM_PPM] = cost->sm_ppm;
    cell[GSIM_COL_HBM_BYTES_PER_S] = if_any(cost->hbm_bytes_per_s);
    cell[GSIM_COL_IDEMPOTENT] = app->is_idempotent;
    cell[GSIM_COL_ITERATIONS] = -1; /* derived from the job's duration */
    filling->is_loaded = true;
}

static enum gsim_status load_filling(struct resolving *r, uint32_t position, int64_t line) {
    const char *name = r->trace->names[GSIM_COL_APP].name[position];
    struct filling *filling = &r->fillings[position];
    struct gsim_app *app = gsim_arena_alloc(r->arena, sizeof *app);
    struct gsim_roofline_cost cost;
    if (!app)
        return gsim_no_memory(r->log, "reading application profiles");
    enum gsim_status status = gsim_apps_load(name, r->trace->path, line, r->arena, app, r->log);
    if (status == GSIM_OK)
        status = gsim_roofline_cost(app, r->profile, &cost, r->log);
    if (status == GSIM_OK)
        status = rate_devices(r, app, cost.gpu_ns,
                              &r->rate_q32[(size_t)position * r->cluster->n_profiles]);
    if (status == GSIM_OK)
        status = load_program(r, app, position);
    if (status == GSIM_OK)
        fill(filling, app, &cost);
    return status;
}

/* The cell of gpu_ms: the GPU time of an iteration, or for an open-loop job that of one kernel of a
 * request. */
static int64_t fitting_gpu_ns(const struct resolving *r, uint32_t job, const int64_t *cell) {
    bool is_open_loop = gsim_trace_get(r->trace, GSIM_COL_REQUESTS, job) > 0;
    int64_t kernels = r->column[GSIM_COL_KERNELS][job];
    return is_open_loop && kernels > 0 ? gsim_muldiv_ceil(cell[GSIM_COL_GPU_NS], 1, kernels)
                                       : cell[GSIM_COL_GPU_NS];
}

/* The time of n iterations of the job's program alone. */
static int64_t program_ns(const struct resolving *r, const int64_t *cell,
                          const struct gsim_program *program, int64_t n) {
    struct gsim_context context =
        gsim_program_context(program, r->profile, cell[GSIM_COL_GPU_NS], cell[GSIM_COL_HOST_NS], n);
    return gsim_program_alone_ns(&context);
}

/* The number of iterations that a duration holds: as long as each of many is. */
static int64_t iterations_of_program(const struct resolving *r, const int64_t *cell,
                                     const struct gsim_program *program, int64_t service_ns) {
    enum { MANY = 64 };
    int64_t on_gpu_ns = service_ns - gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS);
    int64_t many_ns = program_ns(r, cell, program, MANY);
    if (on_gpu_ns <= 0 || many_ns <= 0)
        return -1;
    int64_t n = gsim_muldiv_floor(on_gpu_ns, MANY, many_ns);
    return n > 0 ? n : 1;
}

static int64_t iterations_of(const struct resolving *r, const int64_t *cell,
                             const struct gsim_program *program, int64_t service_ns) {
    return program ? iterations_of_program(r, cell, program, service_ns)
                   : gsim_service_iterations(cell, service_ns);
}

static int64_t described_ns(const struct resolving *r, const int64_t *cell,
                            const struct gsim_program *program) {
    if (!program || cell[GSIM_COL_ITERATIONS] <= 0)
        return gsim_service_described(cell);
    int64_t time_ns = program_ns(r, cell, program, cell[GSIM_COL_ITERATIONS]);
    return time_ns + gsim_service_part(cell, GSIM_COL_HOST_TAIL_NS);
}

/* A duration that leaves a program's kernels less time than they took where they were measured
 * makes them shorter: said of the first such job. */
static void warn_of_short(struct resolving *r, const int64_t *cell,
                          const struct gsim_program *program, uint32_t job) {
    if (!program || r->has_warned || cell[GSIM_COL_ITERATIONS] <= 0)
        return;
    gsim_i128 kernels_ns = (gsim_i128)program->kernels_ns * cell[GSIM_COL_ITERATIONS];
    if (cell[GSIM_COL_GPU_NS] != program->kernels_ns ||
        (gsim_i128)r->service_ns[job] * GSIM_PPM >= kernels_ns * GSIM_SERVICE_LEAST_PPM)
        return;
    r->has_warned = true;
    gsim_warn(r->log, r->trace->path, gsim_trace_line(r->trace, job),
              "job '%s': duration_s leaves an iteration %lld us, and the kernels of its program "
              "take %lld us: they are taken to be shorter; gpu_ms says how long they are",
              gsim_trace_id(r->trace, job),
              (long long)(r->service_ns[job] / cell[GSIM_COL_ITERATIONS] / GSIM_NS_PER_US),
              (long long)(program->kernels_ns / GSIM_NS_PER_US));
}

/* Derives the iterations of a duration, or the duration of iterations. If a row has both, both
 * hold: an iteration is then as long as they make it. */
static enum gsim_status derive_service(struct resolving *r, uint32_t job) {
    int64_t cell[GSIM_COL_COUNT];
    const struct gsim_program *program = r->programs[r->trace->column[GSIM_COL_APP][job]];
    if (gsim_trace_get(r->trace, GSIM_COL_REQUESTS, job) > 0)
        return GSIM_OK;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        cell[c] = gsim_trace_get(r->out, (enum gsim_column)c, job);
    if (r->service_ns[job] > 0) {
        if (cell[GSIM_COL_ITERATIONS] < 0)
            r->column[GSIM_COL_ITERATIONS][job] =
                iterations_of(r, cell, program, r->service_ns[job]);
        warn_of_short(r, cell, program, job);
        return GSIM_OK;
    }
    int64_t service_ns = described_ns(r, cell, program);
    if (service_ns < 0 || service_ns > GSIM_TIME_MAX / 2)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->trace->path, gsim_trace_line(r->trace, job),
                         "job '%s' runs the application '%s': it needs a number of iterations that "
                         "ends before the clock does (73 years)",
                         gsim_trace_id(r->trace, job),
                         r->trace->names[GSIM_COL_APP].name[r->trace->column[GSIM_COL_APP][job]]);
    r->service_ns[job] = service_ns;
    return GSIM_OK;
}

/* What the program says itself no cell of the row says otherwise. */
static enum gsim_status check_row(const struct resolving *r, uint32_t job, const char *name) {
    static const enum gsim_column said[] = {GSIM_COL_SYNC, GSIM_COL_HOST_GAP_NS, GSIM_COL_KERNELS,
                                            GSIM_COL_GPU_NS /* of one kernel of a request */};
    bool is_open_loop = gsim_trace_get(r->trace, GSIM_COL_REQUESTS, job) > 0;
    static const enum gsim_column times[] = {GSIM_COL_GPU_NS, GSIM_COL_HOST_NS};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (gsim_trace_get(r->trace, said[i], job) >= 0 &&
            (said[i] != GSIM_COL_GPU_NS || is_open_loop))
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->trace->path, gsim_trace_line(r->trace, job),
                             "job '%s' runs the application '%s', which has a program: it says "
                             "itself what %s would say; leave that cell empty",
                             gsim_trace_id(r->trace, job), name, gsim_columns[said[i]].name);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (gsim_trace_get(r->trace, times[i], job) > GSIM_PROGRAM_MOST_NS)
            return gsim_fail(
                r->log, GSIM_BAD_INPUT, r->trace->path, gsim_trace_line(r->trace, job),
                "job '%s' runs a program, and %s is of one iteration: ten days at most",
                gsim_trace_id(r->trace, job), gsim_columns[times[i]].name);
    return GSIM_OK;
}

static enum gsim_status resolve_job(struct resolving *r, uint32_t job) {
    int64_t name = r->trace->column[GSIM_COL_APP][job];
    if (name < 0)
        return GSIM_OK;
    struct filling *filling = &r->fillings[name];
    if (!filling->is_loaded) {
        enum gsim_status status = load_filling(r, (uint32_t)name, gsim_trace_line(r->trace, job));
        if (status != GSIM_OK)
            return status;
    }
    if (filling->program && check_row(r, job, r->trace->names[GSIM_COL_APP].name[name]) != GSIM_OK)
        return GSIM_BAD_INPUT;
    /* the GPU time comes first in the list and needs the kernels */
    for (int i = N_FILLED - 1; i >= 0; i--) {
        int64_t *cell = &r->column[filled[i]][job];
        if (*cell < 0)
            *cell = filled[i] == GSIM_COL_GPU_NS ? fitting_gpu_ns(r, job, filling->cell)
                                                 : filling->cell[filled[i]];
    }
    return derive_service(r, job);
}

static bool has_apps(const struct gsim_trace *trace) {
    const int64_t *app = trace->column[GSIM_COL_APP];
    for (uint32_t job = 0; app && job < trace->n_jobs; job++)
        if (app[job] >= 0)
            return true;
    return false;
}

enum gsim_status gsim_apps_resolve(const struct gsim_trace *trace,
                                   const struct gsim_cluster_spec *cluster,
                                   struct gsim_arena *arena, const struct gsim_trace **out,
                                   struct gsim_log *log) {
    *out = trace;
    if (!has_apps(trace))
        return GSIM_OK;
    struct resolving r = {.trace = trace,
                          .profile = cluster->profiles[0],
                          .arena = arena,
                          .log = log,
                          .cluster = cluster,
                          .out = gsim_arena_alloc(arena, sizeof *r.out)};
    r.fillings = gsim_arena_array(arena, trace->names[GSIM_COL_APP].n, sizeof *r.fillings);
    r.rate_q32 = gsim_arena_array(arena, (size_t)trace->names[GSIM_COL_APP].n * cluster->n_profiles,
                                  sizeof *r.rate_q32);
    r.programs = gsim_arena_array(arena, trace->names[GSIM_COL_APP].n, sizeof *r.programs);
    if (!r.out || !r.fillings || !r.rate_q32 || !r.programs)
        return gsim_no_memory(log, "reading application profiles");
    *r.out = *trace;
    if (cluster->n_profiles > 1) {
        r.out->app_rate_q32 = r.rate_q32;
        r.out->n_app_devices = cluster->n_profiles;
    }
    if (!own_columns(&r))
        return gsim_no_memory(log, "reading application profiles");
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        enum gsim_status status = resolve_job(&r, job);
        if (status != GSIM_OK)
            return status;
    }
    *out = r.out;
    return GSIM_OK;
}
