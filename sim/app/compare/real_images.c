/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the driver took in a run to bring jobs' states off their GPUs and back, beside what the
 * device's keys say of jobs with as much memory, and the keys that would say it. Jobs of one GPU
 * alone: how the driver goes through several was not measured. */
#include <math.h>
#include <string.h>

#include "sim/app/compare/real.h"

/* Of each way the keys, and how it reads. */
static const struct {
    enum gsim_key fixed, per_gib;
    const char *to_do;
} ways[GSIM_REAL_IMAGE_WAYS] = {
    [GSIM_REAL_OUT] = {GSIM_KEY_CHECKPOINT_OUT_NS, GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB,
                       "take a job's state off its GPU"},
    [GSIM_REAL_BACK] = {GSIM_KEY_CHECKPOINT_IN_NS, GSIM_KEY_CHECKPOINT_IN_NS_PER_GIB,
                        "bring a job's state back"},
};

/* --- the record ------------------------------------------------------------------------------- */

/* Where a job's state is, and since when it is on a way. */
struct state {
    enum { ON_GPU, GOES_OUT, HELD, COMES_BACK } at;
    int64_t since_ns;
};

static double keys_say(const struct gsim_real *r, enum gsim_real_image_way way, double gib) {
    const int64_t *value = r->setup->cluster.profiles[0]->value;
    return ((double)value[ways[way].fixed] + gib * (double)value[ways[way].per_gib]) / 1e9;
}

static void add_copy(const struct gsim_real *r, uint32_t job, enum gsim_real_image_way way,
                     int64_t ns, struct gsim_real_images *line) {
    const struct gsim_trace *trace = &r->setup->trace;
    int64_t bytes = gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job);
    double gib = bytes > 0 ? (double)bytes / (double)GSIM_GIB : 0, s = (double)ns / 1e9;
    if (gsim_trace_gpus(trace, job) != 1)
        return;
    line->n++;
    line->x += gib;
    line->y += s;
    line->xx += gib * gib;
    line->xy += gib * s;
    line->keys_y += keys_say(r, way, gib);
}

/* A copy that ends otherwise (the job has left, say) is none. */
static void follow_copy(const struct gsim_real *r, const struct gsim_note *note,
                        struct state *state, struct gsim_real_images lines[GSIM_REAL_IMAGE_WAYS]) {
    int64_t took_ns = note->time_ns - state->since_ns;
    uint32_t job = (uint32_t)note->job;
    switch ((int)note->kind) {
    case GSIM_NOTE_STOP:
        state->at = strstr(note->detail, "image") ? GOES_OUT : ON_GPU;
        state->since_ns = note->time_ns;
        break;
    case GSIM_NOTE_STOPPED:
        if (state->at == GOES_OUT)
            add_copy(r, job, GSIM_REAL_OUT, took_ns, &lines[GSIM_REAL_OUT]);
        state->at = state->at == GOES_OUT ? HELD : ON_GPU;
        break;
    case GSIM_NOTE_START:
        state->at = state->at == HELD ? COMES_BACK : ON_GPU;
        state->since_ns = note->time_ns;
        break;
    case GSIM_NOTE_RUNNING:
        if (state->at == COMES_BACK)
            add_copy(r, job, GSIM_REAL_BACK, took_ns, &lines[GSIM_REAL_BACK]);
        state->at = ON_GPU;
        break;
    default:
        break;
    }
}

/* --- the keys --------------------------------------------------------------------------------- */

/* The line through all copies by least squares; where all are of as much memory, or none takes
 * longer for having more, the fixed part is that of the keys, or all of the time. */
static void fit_copies(const struct gsim_real *r, enum gsim_real_image_way way,
                       const struct gsim_real_images *line, double *fixed_s, double *per_gib_s) {
    double n = line->n, spread = n * line->xx - line->x * line->x;
    *fixed_s = keys_say(r, way, 0);
    if (spread > 1e-9 * n * line->xx) {
        *per_gib_s = (n * line->xy - line->x * line->y) / spread;
        *fixed_s = (line->y - *per_gib_s * line->x) / n;
    }
    *fixed_s = fmax(0, fmin(*fixed_s, line->y / n));
    *per_gib_s = line->x > 0 ? (line->y - n * *fixed_s) / line->x : 0;
}

static void print_copies(const struct gsim_real *r, enum gsim_real_image_way way,
                         const struct gsim_real_images *line) {
    double fixed_s, per_gib_s, mean_s = line->y / line->n, keys_s = line->keys_y / line->n;
    if (!gsim_real_is_notable(mean_s, keys_s))
        return;
    fit_copies(r, way, line, &fixed_s, &per_gib_s);
    fprintf(r->cli->io->out,
            "To %s the driver took %.3f s (mean of %u), by the device's keys %.3f s: --set "
            "%s=%.0fms --set %s=%.0fms takes that over.\n",
            ways[way].to_do, mean_s, line->n, keys_s, gsim_key_name(ways[way].fixed), fixed_s * 1e3,
            gsim_key_name(ways[way].per_gib), per_gib_s * 1e3);
}

enum gsim_status gsim_real_measure_images(struct gsim_real *r) {
    uint32_t n_jobs = r->setup->trace.n_jobs;
    struct state *state = gsim_arena_array(r->cli->arena, n_jobs, sizeof *state);
    if (!state)
        return gsim_no_memory(r->cli->log, "comparing");
    memset(state, 0, n_jobs * sizeof *state);
    for (const struct gsim_note *note = r->notes; note < r->notes + r->n_notes; note++)
        if (note->job >= 0 && note->job < (int64_t)n_jobs)
            follow_copy(r, note, &state[note->job], r->images);
    return GSIM_OK;
}

void gsim_real_print_images(const struct gsim_real *r) {
    for (int way = 0; way < GSIM_REAL_IMAGE_WAYS; way++)
        if (r->images[way].n > 0)
            print_copies(r, (enum gsim_real_image_way)way, &r->images[way]);
}
