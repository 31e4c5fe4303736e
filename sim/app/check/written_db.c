/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a database: summary, settings, GPUs and jobs of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/check/written.h"
#include "sim/app/results/db_figure.h"
#include "sim/base/units.h"

/* The runs of the database, by run_id. */
struct runs {
    struct gsim_arena *arena;
    int64_t *id;
    uint32_t n, capacity;
    bool has_failed;
};

static void take_run_id(void *arg, const struct gsim_db_value *values, int n) {
    struct runs *runs = arg;
    (void)n;
    int64_t *grown =
        gsim_arena_room(runs->arena, runs->id, runs->n, &runs->capacity, sizeof *grown);
    runs->has_failed |= !grown;
    if (!grown)
        return;
    runs->id = grown;
    runs->id[runs->n++] = (int64_t)values[0].number;
}

/* --- one run ---------------------------------------------------------------------------------- */

static void take_summary(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    for (int i = 0; i < n; i++)
        for (int f = 0; f < GSIM_WRITTEN_FIELDS; f++)
            if (strcmp(values[i].name, gsim_written_fields[f]) == 0 && !values[i].is_text)
                w->number[f] = values[i].is_null ? NAN : values[i].number;
    for (int i = 0; i < n; i++)
        if (strcmp(values[i].name, "policy") == 0) {
            gsim_written_policy(w, values[i].text);
            w->run = gsim_arena_printf(w->arena, "%s (%s)", w->run, values[i].text);
        }
    for (int i = 0; i < n; i++)
        w->assumes_iterations |=
            values[i].is_text && !values[i].is_null &&
            (strcmp(values[i].name, "assumed") == 0 || strcmp(values[i].name, "given") == 0) &&
            strstr(values[i].text, "job.iteration_ns");
    w->run = w->run ? w->run : "";
    w->has_summary = true;
}

/* What the settings of a run change about its laws. */
static void take_setting(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    const char *key = values[0].text, *value = values[1].text;
    (void)n;
    bool is_managed = (strcmp(key, "memory") == 0 && strcmp(value, "resident") != 0) ||
                      (strcmp(key, "mechanism") == 0 && strcmp(value, "paging") == 0);
    /* as many fewer GPUs as the rule leaves out; as many more as are idle */
    w->is_resized |= strcmp(key, "placement") == 0 && strcmp(value, "fullest") == 0;
    w->is_resized |= strcmp(key, "grow") == 0 && strcmp(value, "on") == 0;
    w->is_resized |= strcmp(key, "reference") == 0 && strcmp(value, "none") != 0;
    w->is_paced |= is_managed;
    w->is_paced |= strcmp(key, "speed_milli") == 0 && strcmp(value, "1000") != 0;
    w->is_paced |= strncmp(key, "gang.", 5) == 0 && strcmp(value, "1000000") != 0;
    /* done work is lost, and done again */
    w->is_paced |= strcmp(key, "preempt") == 0 && strcmp(value, "discard") == 0;
    /* las shares a single GPU as theory does: every job an equal part of it */
    w->is_shared |= strcmp(key, "quantum") == 0 && w->number[GSIM_WRITTEN_gpus] <= 1;
    /* gavel lets pairs of jobs share GPUs */
    w->is_shared |= strcmp(key, "packing") == 0 && strcmp(value, "on") == 0;
}

/* By a table of speeds or of goodput, work takes as long as the job's GPUs, hosts and partners
 * say. */
static void take_input(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    (void)n;
    w->is_by_table |=
        strcmp(values[0].text, "rates") == 0 || strcmp(values[0].text, "goodput") == 0;
    w->is_paced |= w->is_by_table;
}

/* An application's kernels take other times on another device. */
static void take_unlike(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    (void)n;
    w->is_paced |= values[0].number > 0;
}

static int64_t number_or(const struct gsim_db_value *value, int64_t otherwise) {
    int64_t number = otherwise;
    if (!value->is_null && value->is_text)
        (void)gsim_parse_int(value->text, &number);
    return number;
}

static void take_gpu(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    (void)n;
    struct gsim_written_gpu *gpus = gsim_arena_grow(w->arena, w->gpus, w->n_gpus * sizeof *gpus,
                                                    (w->n_gpus + 1) * sizeof *gpus);
    if (!gpus)
        return;
    w->gpus = gpus;
    int64_t hbm_bytes = -1;
    if (!values[1].is_null && values[1].is_text)
        (void)gsim_parse_bytes(values[1].text, &hbm_bytes);
    struct gsim_written_gpu gpu = {.busy_ns = (int64_t)values[0].number,
                                   .hbm_bytes = hbm_bytes,
                                   .speed_milli = number_or(&values[2], GSIM_WRITTEN_SPEED_ONE),
                                   .gap_ns = number_or(&values[3], 0),
                                   .down_ns = (int64_t)values[5].number};
    int64_t spread_ppm = number_or(&values[4], 0);
    w->most_gap_ns = gpu.gap_ns > w->most_gap_ns ? gpu.gap_ns : w->most_gap_ns;
    w->spread_ppm = spread_ppm > w->spread_ppm ? spread_ppm : w->spread_ppm;
    w->gpus[w->n_gpus++] = gpu;
}

/* SQLite's whole numbers come as reals, which hold them exactly up to 2^53: 104 days in ns. So they
 * are asked for as texts. */
static int64_t whole(const struct gsim_db_value *value) {
    return number_or(value, -1);
}

static void take_job(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    struct gsim_written_job *job = gsim_written_add(w, values[0].text);
    for (int c = 0; job && c + 1 < n; c++)
        job->value[c] = whole(&values[c + 1]);
}

static void take_kernels(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    int64_t job = whole(&values[0]);
    if (n < 7 || job < 0 || job >= w->n_jobs)
        return;
    w->jobs[job].kernels = (struct gsim_written_kernels){.is_unknown = values[1].number > 0,
                                                         .iterations = number_or(&values[2], 0),
                                                         .gpu_ns = number_or(&values[3], 0),
                                                         .gap_ns = number_or(&values[4], 0),
                                                         .tail_ns = number_or(&values[5], 0),
                                                         .fill_ppm = number_or(&values[6], 0)};
}

static void take_driven(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_written *w = arg;
    int64_t job = whole(&values[0]);
    w->is_driven = w->is_paced = true;
    if (n < 6 || job < 0 || job >= w->n_jobs)
        return;
    w->jobs[job].is_driven = true;
    w->jobs[job].driven = (struct gsim_written_driven){.begin_ns = whole(&values[1]),
                                                       .end_ns = whole(&values[2]),
                                                       .ran_ns = whole(&values[3]),
                                                       .stall_ns = whole(&values[4]),
                                                       .stops = whole(&values[5])};
}

static enum gsim_status query(struct gsim_db *db, const struct gsim_written *w, const char *sql,
                              int64_t run, gsim_db_row *row) {
    const char *text = gsim_arena_printf(w->arena, sql, (long long)run);
    return text ? gsim_db_query(db, &text, row, (void *)(uintptr_t)w, w->log)
                : gsim_no_memory(w->log, "checking");
}

static enum gsim_status read_run(struct gsim_db *db, struct gsim_written *w, int64_t run) {
    static const struct {
        const char *sql;
        gsim_db_row *row;
    } parts[] = {
        {"SELECT * FROM run WHERE run_id = %lld", take_summary},
        {"SELECT p.key, p.value FROM run r JOIN parameter_list p ON p.list IN (r.parameters, "
         "r.devices) WHERE run_id = %lld",
         take_setting},
        {"SELECT i.kind FROM run r JOIN input_list i USING (inputs) WHERE run_id = %lld",
         take_input},
        {"SELECT count(DISTINCT device) > 1 AND EXISTS (SELECT 1 FROM run r JOIN trace_job t USING "
         "(trace_jobs) WHERE r.run_id = g.run_id AND app IS NOT NULL) FROM gpu g WHERE run_id = "
         "%lld GROUP BY run_id",
         take_unlike},
        {"SELECT g.busy_ns, (SELECT max(p.value) FROM parameter_list p WHERE "
         "p.list = r.devices AND p.owner = g.device AND p.key = 'hbm_bytes'), (SELECT max(p.value) "
         "FROM parameter_list p WHERE p.list = r.devices AND p.owner = g.device AND p.key = "
         "'speed_milli'), (SELECT max(p.value) FROM parameter_list p WHERE p.list = r.devices AND "
         "p.owner = g.device AND p.key = 'launch.host_gap_ns'), (SELECT max(p.value) FROM "
         "parameter_list p WHERE p.list = r.devices AND p.owner = g.device AND p.key = "
         "'job.spread_ppm'), g.down_ns FROM run r JOIN gpu g USING (run_id) WHERE run_id = %lld "
         "ORDER BY gpu",
         take_gpu},
        {"SELECT job_id, CAST(submit_ns AS TEXT), CAST(start_ns AS TEXT), CAST(end_ns AS TEXT), "
         "CAST(wait_ns AS TEXT), CAST(service_ns AS TEXT), CAST(gpus_ppm AS TEXT), "
         "CAST(preemptions AS TEXT), CAST(migrations AS TEXT), CAST(faults AS TEXT), "
         "CAST(bytes_in AS TEXT), CAST(bytes_out AS TEXT), CAST(stall_ns AS TEXT), "
         "CAST(declined AS TEXT), NULL, CAST(held_ns AS TEXT) FROM job WHERE "
         "run_id = %lld ORDER BY job",
         take_job},
        {"SELECT CAST(job AS TEXT), app IS NOT NULL OR phases IS NOT NULL OR requests > 0 OR "
         "hbm_bytes_per_s > 0 OR stage_gpu_ns IS NOT NULL OR sync IS NOT NULL, "
         "CAST(iterations AS TEXT), CAST(gpu_ns AS TEXT), CAST(host_gap_ns AS TEXT), "
         "CAST(host_tail_ns AS TEXT), CAST(sm_ppm AS TEXT) FROM run JOIN trace_job USING "
         "(trace_jobs) WHERE run_id = %lld",
         take_kernels},
        {"SELECT CAST(job AS TEXT), CAST(begin_ns AS TEXT), CAST(end_ns AS TEXT), CAST(ran_ns AS "
         "TEXT), CAST(stall_ns AS TEXT), CAST(stops AS TEXT) FROM real_run JOIN real_job USING "
         "(real_run) WHERE run_id = %lld ORDER BY job",
         take_driven}};
    enum gsim_status status = GSIM_OK;
    w->run = gsim_arena_printf(w->arena, "run %lld", (long long)run);
    w->run = w->run ? w->run : "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == GSIM_OK; i++)
        status = query(db, w, parts[i].sql, run, parts[i].row);
    w->has_jobs = w->has_kernels = w->n_jobs > 0;
    w->has_settings = true;
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

enum gsim_status gsim_written_check_db(struct gsim_written *w, const char *path, int64_t *n_runs) {
    struct runs runs = {.arena = w->arena};
    struct gsim_db *db;
    const char *sql = "SELECT run_id FROM run ORDER BY run_id";
    enum gsim_status status = gsim_db_open_existing(path, w->arena, &db, w->log);
    if (status != GSIM_OK)
        return status;
    status = gsim_db_query(db, &sql, take_run_id, &runs, w->log);
    for (uint32_t i = 0; i < runs.n && status == GSIM_OK; i++) {
        struct gsim_arena *own = runs.n == 1 ? w->arena : gsim_arena_new();
        struct gsim_written one = {.arena = own, .log = w->log};
        status = own ? GSIM_OK : gsim_no_memory(w->log, "checking");
        if (own) {
            gsim_written_begin(&one, own, w->log);
            one.path = path;
            status = read_run(db, &one, runs.id[i]);
        }
        if (status == GSIM_OK)
            status = gsim_written_hold(&one);
        if (runs.n == 1)
            *w = one;
        else
            gsim_arena_free(own);
    }
    gsim_db_close(db);
    *n_runs += runs.n;
    return runs.has_failed ? gsim_no_memory(w->log, "checking") : status;
}
