/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only whole numbers are drawn and added, so that the trace is equal on every machine. */
#include "traces/resample.h"

#include <string.h>

#include "gsim/units.h"
#include "sim/base/rng.h"
#include "sim/base/sort.h"
#include "traces/logged.h"

enum { MOST_BLOCKS = 100000 };

/* The jobs of a user in a block of time: those from `first` to `end` of the sorted list. */
struct block {
    uint32_t first, end;
};

struct resampling {
    const struct gsim_trace *from;
    const struct gsim_resampling *how;
    struct gsim_arena *arena;
    gsl_rng *rng;
    int64_t begin_ns;
    uint32_t n_blocks; /* of each user: as many as the trace is long */
    uint32_t *sorted; /* jobs by user, then by arrival */
    struct block *block; /* of the user at hand, by its place in time */
    int64_t *key; /* where a block goes, and the block that comes to a place */
    uint32_t *source;
    /* the new trace: the jobs that its jobs were, and their submissions */
    uint32_t *origin;
    uint32_t *layer; /* in which the job was drawn */
    int64_t *submit_ns;
    uint32_t n_jobs, capacity;
    uint32_t n_after, n_cut; /* jobs that came after others, and those that do so no more */
};

static int64_t user_of(const struct resampling *r, uint32_t job) {
    return r->how->by < 0 ? -1 : gsim_trace_get(r->from, (enum gsim_column)r->how->by, job);
}

static uint32_t block_of(const struct resampling *r, uint32_t job) {
    return (uint32_t)((r->from->submit_ns[job] - r->begin_ns) / r->how->block_ns);
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Blocks are sorted by their number plus a random part, so that none moves further than `near`. */
static bool draw_places(struct resampling *r) {
    enum { PARTS = 1024 }; /* of a place: ties, which keep their order, are rare */
    unsigned long reach =
        r->how->near < 0 || r->how->near > r->n_blocks ? r->n_blocks : (unsigned long)r->how->near;
    for (uint32_t k = 0; k < r->n_blocks; k++)
        r->key[k] = (int64_t)k * PARTS + (int64_t)gsl_rng_uniform_int(r->rng, (reach + 1) * PARTS);
    return gsim_sort_order(r->key, r->source, r->n_blocks);
}

static bool has_room(struct resampling *r, uint32_t more) {
    if (r->capacity - r->n_jobs >= more)
        return true;
    uint32_t capacity = r->capacity ? r->capacity : 1024;
    while (capacity - r->n_jobs < more)
        capacity *= 2;
    uint32_t *origin = gsim_arena_grow_raw(r->arena, r->origin, capacity * sizeof *origin);
    uint32_t *layer = gsim_arena_grow_raw(r->arena, r->layer, capacity * sizeof *layer);
    int64_t *submit_ns = gsim_arena_grow_raw(r->arena, r->submit_ns, capacity * sizeof *submit_ns);
    if (!origin || !layer || !submit_ns)
        return false;
    r->origin = origin;
    r->layer = layer;
    r->submit_ns = submit_ns;
    r->capacity = capacity;
    return true;
}

static bool put_block(struct resampling *r, uint32_t block, uint32_t place, uint32_t layer) {
    int64_t by_ns = ((int64_t)place - block) * r->how->block_ns;
    if (!has_room(r, r->block[block].end - r->block[block].first))
        return false;
    for (uint32_t i = r->block[block].first; i < r->block[block].end; i++) {
        r->origin[r->n_jobs] = r->sorted[i];
        r->layer[r->n_jobs] = layer;
        r->submit_ns[r->n_jobs++] = r->from->submit_ns[r->sorted[i]] + by_ns;
    }
    return true;
}

/* Puts a user's blocks in places of their own. Each unit of load is a layer with places of its own;
 * of the last layer systematic sampling draws a part of the blocks, so that their number is right
 * over any stretch of the user's time, to one block. A layer is moved so far that no block meets
 * its own copy: a burst would be twice as high, where more users would make more bursts. */
static bool put_layer(struct resampling *r, uint32_t layer, int64_t part_ppm) {
    uint32_t apart = r->how->near < 0 ? 0 : layer * (2 * (uint32_t)r->how->near + 1);
    if (!draw_places(r))
        return false;
    int64_t drawn_ppm = (int64_t)gsl_rng_uniform_int(r->rng, GSIM_PPM);
    for (uint32_t place = 0; place < r->n_blocks; place++) {
        uint32_t block = r->source[place];
        if (r->block[block].first == r->block[block].end)
            continue;
        drawn_ppm += part_ppm;
        bool is_drawn = drawn_ppm >= GSIM_PPM;
        drawn_ppm -= is_drawn ? GSIM_PPM : 0;
        if (is_drawn && !put_block(r, block, (place + apart) % r->n_blocks, layer))
            return false;
    }
    return true;
}

static bool put_user(struct resampling *r) {
    int64_t left_ppm = r->how->load_ppm;
    bool is_fine = true;
    for (uint32_t layer = 0; left_ppm > 0 && is_fine; layer++, left_ppm -= GSIM_PPM)
        is_fine = put_layer(r, layer, left_ppm < GSIM_PPM ? left_ppm : GSIM_PPM);
    return is_fine;
}

/* Divides a user's jobs, from `first` on, into blocks; returns the next user's first. */
static uint32_t find_blocks(struct resampling *r, uint32_t first) {
    int64_t user = user_of(r, r->sorted[first]);
    uint32_t i = first, block = 0;
    for (; i < r->from->n_jobs && user_of(r, r->sorted[i]) == user; i++)
        while (block <= block_of(r, r->sorted[i]))
            r->block[block++].first = i;
    for (; block < r->n_blocks; block++)
        r->block[block].first = i;
    for (block = 0; block < r->n_blocks; block++)
        r->block[block].end = block + 1 < r->n_blocks ? r->block[block + 1].first : i;
    return i;
}

/* Sorts the jobs by user, and each user's by arrival. */
static bool sort_jobs(struct resampling *r) {
    uint32_t n = r->from->n_jobs;
    int64_t *user = gsim_arena_array(r->arena, n, sizeof *user);
    uint32_t *order = gsim_arena_array(r->arena, n, sizeof *order);
    r->sorted = gsim_arena_array(r->arena, n, sizeof *r->sorted);
    if (!user || !order || !r->sorted)
        return false;
    for (uint32_t i = 0; i < n; i++)
        user[i] = user_of(r, gsim_trace_arrival(r->from, i));
    if (!gsim_sort_order(user, order, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        r->sorted[i] = gsim_trace_arrival(r->from, order[i]);
    return true;
}

static bool draw(struct resampling *r) {
    r->block = gsim_arena_array(r->arena, r->n_blocks, sizeof *r->block);
    r->key = gsim_arena_array(r->arena, r->n_blocks, sizeof *r->key);
    r->source = gsim_arena_array(r->arena, r->n_blocks, sizeof *r->source);
    bool is_fine = r->block && r->key && r->source && sort_jobs(r);
    for (uint32_t i = 0; is_fine && i < r->from->n_jobs;) {
        i = find_blocks(r, i);
        is_fine = put_user(r);
    }
    return is_fine;
}

/* --- the new trace ---------------------------------------------------------------------------- */

/* A column of the new trace. */
static const int64_t *take_column(const struct resampling *r, const int64_t *from) {
    int64_t *column = gsim_arena_array(r->arena, r->n_jobs, sizeof *column);
    for (uint32_t i = 0; column && i < r->n_jobs; i++)
        column[i] = from[r->origin[i]];
    return column;
}

/* Names the jobs: a job that is there again is "7~2". */
static bool take_ids(const struct resampling *r, struct gsim_trace *out) {
    uint32_t *times = gsim_arena_array(r->arena, r->from->n_jobs, sizeof *times);
    uint32_t *at = gsim_arena_array(r->arena, r->n_jobs, sizeof *at);
    size_t length = 0;
    for (uint32_t i = 0; i < r->n_jobs; i++)
        length += strlen(gsim_trace_id(r->from, r->origin[i])) + sizeof "~4294967295";
    char *text = gsim_arena_array(r->arena, length + 1, 1);
    if (!times || !at || !text)
        return false;
    uint32_t end = 0;
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        const char *id = gsim_trace_id(r->from, r->origin[i]);
        uint32_t nth = ++times[r->origin[i]];
        at[i] = end;
        end += 1 + (uint32_t)(nth == 1 ? sprintf(text + end, "%s", id)
                                       : sprintf(text + end, "%s~%u", id, nth));
    }
    out->id_text = text;
    out->id_at = at;
    return true;
}

static bool take_gpus(const struct resampling *r, struct gsim_trace *out) {
    uint32_t *gpus = gsim_arena_array(r->arena, r->n_jobs, sizeof *gpus);
    for (uint32_t i = 0; gpus && i < r->n_jobs; i++)
        gpus[i] = r->from->gpus[r->origin[i]];
    out->gpus = gpus;
    return gpus;
}

static bool take_lines(const struct resampling *r, struct gsim_trace *out) {
    uint32_t *line = gsim_arena_array(r->arena, r->n_jobs, sizeof *line);
    for (uint32_t i = 0; line && i < r->n_jobs; i++)
        line[i] = (uint32_t)gsim_trace_line(r->from, r->origin[i]);
    out->line = line;
    return line;
}

/* Deadlines keep their distance from the submission. */
static bool move_deadlines(const struct resampling *r, struct gsim_trace *out) {
    const int64_t *from_ns = r->from->column[GSIM_COL_DEADLINE_NS];
    int64_t *deadline_ns = gsim_arena_array(r->arena, r->n_jobs, sizeof *deadline_ns);
    for (uint32_t i = 0; deadline_ns && i < r->n_jobs; i++) {
        uint32_t job = r->origin[i];
        deadline_ns[i] =
            from_ns[job] < 0 ? -1 : from_ns[job] - r->from->submit_ns[job] + r->submit_ns[i];
    }
    out->column[GSIM_COL_DEADLINE_NS] = deadline_ns;
    return deadline_ns;
}

/* --- jobs that come after others -------------------------------------------------------------- */

static int64_t moved_ns(const struct resampling *r, uint32_t i) {
    return r->submit_ns[i] - r->from->submit_ns[r->origin[i]];
}

static bool go_together(const struct resampling *r, uint32_t a, uint32_t b) {
    return r->layer[a] == r->layer[b] && moved_ns(r, a) == moved_ns(r, b);
}

/* The new trace's jobs of each job of the old one, as lists: the first by job, the next one by new
 * job. Both end with -1. */
static bool list_copies(const struct resampling *r, int64_t **first, int64_t **next) {
    *first = gsim_arena_array(r->arena, r->from->n_jobs, sizeof **first);
    *next = gsim_arena_array(r->arena, r->n_jobs, sizeof **next);
    for (uint32_t i = 0; *first && i < r->from->n_jobs; i++)
        (*first)[i] = -1;
    for (uint32_t i = 0; *first && *next && i < r->n_jobs; i++) {
        (*next)[i] = (*first)[r->origin[i]];
        (*first)[r->origin[i]] = i;
    }
    return *first && *next;
}

/* A job comes after the job that its predecessor became, where that was drawn with it and moved by
 * as much. Else its chain is cut there: a think time would pull the job out of its week, and the
 * job is submitted at its own time. */
static bool link_jobs(struct resampling *r, struct gsim_trace *out) {
    const int64_t *was_after = r->from->column[GSIM_COL_AFTER];
    const int64_t *was_think_ns = r->from->column[GSIM_COL_THINK_NS];
    int64_t *after = gsim_arena_array(r->arena, r->n_jobs, sizeof *after), *first, *next;
    int64_t *think_ns = gsim_arena_array(r->arena, r->n_jobs, sizeof *think_ns);
    if (!after || !think_ns || !list_copies(r, &first, &next))
        return false;
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        int64_t before = was_after[r->origin[i]], at = before >= 0 ? first[before] : -1;
        while (at >= 0 && !go_together(r, (uint32_t)at, i))
            at = next[at];
        after[i] = at;
        think_ns[i] = was_think_ns && at >= 0 ? was_think_ns[r->origin[i]] : -1;
        r->n_after += before >= 0;
        r->n_cut += before >= 0 && at < 0;
    }
    out->column[GSIM_COL_AFTER] = after;
    out->column[GSIM_COL_THINK_NS] = was_think_ns ? think_ns : NULL;
    return true;
}

static bool take_all(struct resampling *r, struct gsim_trace *out) {
    uint32_t *order = gsim_arena_array(r->arena, r->n_jobs, sizeof *order);
    *out = *r->from;
    out->n_jobs = r->n_jobs;
    out->submit_ns = r->submit_ns;
    out->service_ns = take_column(r, r->from->service_ns);
    out->order = order;
    bool is_fine = order && out->service_ns && take_ids(r, out) && take_lines(r, out) &&
                   (!r->from->gpus || take_gpus(r, out)) &&
                   gsim_sort_order(r->submit_ns, order, r->n_jobs);
    for (int c = 0; c < GSIM_COL_COUNT && is_fine; c++)
        if (r->from->column[c])
            is_fine = (out->column[c] = take_column(r, r->from->column[c])) != NULL;
    gsim_trace_forget_log(out);
    if (is_fine && r->from->column[GSIM_COL_AFTER])
        is_fine = link_jobs(r, out);
    return is_fine && (!r->from->column[GSIM_COL_DEADLINE_NS] || move_deadlines(r, out));
}

enum gsim_status gsim_trace_resample(const struct gsim_trace *from,
                                     const struct gsim_resampling *how, uint64_t seed,
                                     uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log) {
    struct resampling r = {.from = from, .how = how, .arena = arena};
    if (from->n_jobs == 0)
        return gsim_fail(log, GSIM_BAD_INPUT, from->path, 0, "there is no job to resample");
    r.begin_ns = from->submit_ns[gsim_trace_arrival(from, 0)];
    int64_t end_ns = from->submit_ns[gsim_trace_arrival(from, from->n_jobs - 1)];
    int64_t n_blocks = (end_ns - r.begin_ns) / how->block_ns + 1;
    if (n_blocks > MOST_BLOCKS)
        return gsim_fail(log, GSIM_BAD_INPUT, from->path, 0,
                         "more than %d blocks: choose longer ones with --block", MOST_BLOCKS);
    r.n_blocks = (uint32_t)n_blocks;
    r.rng = gsim_rng_stream(seed, replication, "resample");
    bool is_fine = r.rng && draw(&r) && take_all(&r, out);
    gsl_rng_free(r.rng);
    if (is_fine && out->n_jobs == 0)
        return gsim_fail(log, GSIM_BAD_INPUT, from->path, 0, "at that load no job is left");
    if (is_fine && r.n_cut > 0)
        gsim_warn(log, from->path, 0,
                  "%u of %u jobs that come after others lost that: the job before was moved "
                  "elsewhere or left out, and they are submitted at their own time",
                  r.n_cut, r.n_after);
    return is_fine ? GSIM_OK : gsim_no_memory(log, "resampling a trace");
}
