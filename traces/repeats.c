/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open addressing over (hash, index of the last row with the id). The table is freed before the
 * trace is handed over. */
#include "traces/repeats.h"

#include <stdio.h>
#include <string.h>

struct repeats {
    struct gsim_builder *b;
    uint64_t *table;
    size_t buckets;
    uint32_t *run; /* by row: how many rows before it have its id; NULL: no row was found yet */
    uint32_t *before; /* by row: the run before it, plus one; 0: none */
    bool *is_copy; /* by row: it says nothing that a row before it does not */
    uint32_t n_copies;
};

static const char *id_of(const struct gsim_builder *b, uint32_t i) {
    return b->id_text + b->id_at[i];
}

static enum gsim_status refuse(const struct gsim_builder *b, uint32_t i, uint32_t other) {
    return gsim_fail(b->log, GSIM_BAD_INPUT, b->path, gsim_build_line(b, i),
                     "column 'job_id': '%.64s' stands on line %lld already; ids must be unique",
                     id_of(b, i), (long long)gsim_build_line(b, other));
}

static int64_t cell(const struct gsim_builder *b, enum gsim_column column, uint32_t i) {
    return b->column[column] ? b->column[column][i] : -1;
}

static bool is_copy(const struct gsim_builder *b, uint32_t i, uint32_t other) {
    return b->submit_ns[i] == b->submit_ns[other] && b->service_ns[i] == b->service_ns[other] &&
           b->gpus[i] == b->gpus[other] &&
           cell(b, GSIM_COL_LOGGED_START_NS, i) == cell(b, GSIM_COL_LOGGED_START_NS, other);
}

/* Logs of two days that were joined have a job that ran on both twice, with one start. */
static bool is_same_run(const struct gsim_builder *b, uint32_t i, uint32_t other) {
    int64_t start_ns = cell(b, GSIM_COL_LOGGED_START_NS, i);
    return start_ns >= 0 && start_ns == cell(b, GSIM_COL_LOGGED_START_NS, other);
}

static const char is_shorter[] =
    "another row of their job has the same start and a longer time (logs of several days, joined)";

/* Names a run after its job, and lets it arrive when the run before it ended. */
static bool split_off(struct repeats *r, uint32_t i, uint32_t other) {
    struct gsim_builder *b = r->b;
    char id[GSIM_MAX_FIELD_BYTES + 16];
    const char *first = id_of(b, other);
    int base = (int)(r->run[other] ? strrchr(first, '#') - first : (long)strlen(first));
    r->run[i] = r->run[other] + 1;
    int length = snprintf(id, sizeof id, "%.*s#%u", base, first, r->run[i] + 1);
    if (!gsim_build_room_for_id(b, (size_t)length))
        return false;
    memcpy(b->id_text + b->id_used, id, (size_t)length + 1);
    b->id_at[i] = (uint32_t)b->id_used;
    b->id_used += (size_t)length + 1;
    int64_t end_ns = cell(b, GSIM_COL_LOGGED_END_NS, other);
    if (end_ns > b->submit_ns[i] && end_ns <= cell(b, GSIM_COL_LOGGED_START_NS, i))
        b->submit_ns[i] = end_ns;
    gsim_fates_add(&b->fates, GSIM_FATE_LESS, gsim_build_line(b, i), id,
                   "they are further runs of jobs before them (requeued; ID#2 is the second run), "
                   "each a job of its own that is submitted when the run before it ended",
                   NULL);
    return true;
}

static void leave_out(struct repeats *r, uint32_t i, const char *why) {
    struct gsim_builder *b = r->b;
    r->is_copy[i] = true;
    r->n_copies++;
    gsim_fates_add(&b->fates, GSIM_FATE_LEFT_OUT, gsim_build_line(b, i), id_of(b, i), why, NULL);
}

/* The row takes the place of a shorter one among the runs of its job. */
static void take_place(struct repeats *r, uint32_t i, uint32_t other) {
    struct gsim_builder *b = r->b;
    leave_out(r, other, is_shorter);
    r->run[i] = r->run[other];
    r->before[i] = r->before[other];
    b->id_at[i] = b->id_at[other];
    b->submit_ns[i] = b->submit_ns[other];
}

static bool open_runs(struct repeats *r) {
    if (r->run)
        return true;
    r->run = gsim_arena_array(r->b->arena, r->b->n, sizeof *r->run);
    r->before = gsim_arena_array(r->b->arena, r->b->n, sizeof *r->before);
    r->is_copy = gsim_arena_array(r->b->arena, r->b->n, sizeof *r->is_copy);
    return r->run && r->before && r->is_copy;
}

/* Whether the row is one of the runs that are known; then all is done. */
static bool is_known(struct repeats *r, uint32_t i, uint32_t last, uint64_t *entry) {
    const struct gsim_builder *b = r->b;
    uint32_t later = 0; /* the run behind that, plus one */
    for (uint32_t other = last + 1; other > 0; later = other, other = r->before[other - 1]) {
        int64_t more_ns = b->service_ns[i] - b->service_ns[other - 1];
        if (!is_copy(b, i, other - 1) && !is_same_run(b, i, other - 1))
            continue;
        if (more_ns <= 0) {
            leave_out(r, i, more_ns == 0 ? "they repeat a row before them" : is_shorter);
            return true;
        }
        take_place(r, i, other - 1);
        if (later > 0)
            r->before[later - 1] = i + 1;
        else
            *entry = (*entry >> 32 << 32) | (i + 1);
        return true;
    }
    return false;
}

static enum gsim_status meet(struct repeats *r, uint32_t i, uint32_t other, uint64_t *entry) {
    struct gsim_builder *b = r->b;
    if (!b->has_runs) {
        (void)refuse(b, i, other);
        return GSIM_OK; /* the remaining rows are checked as well */
    }
    if (!open_runs(r))
        return gsim_no_memory(b->log, "looking for duplicate ids");
    if (is_known(r, i, other, entry))
        return GSIM_OK;
    *entry = (*entry >> 32 << 32) | (i + 1);
    r->before[i] = other + 1;
    return split_off(r, i, other) ? GSIM_OK : gsim_no_memory(b->log, "looking for duplicate ids");
}

static enum gsim_status look_at(struct repeats *r, uint32_t i) {
    const struct gsim_builder *b = r->b;
    const char *id = id_of(b, i);
    uint64_t h = gsim_build_hash(id, strlen(id));
    size_t at = h & (r->buckets - 1);
    for (; r->table[at]; at = (at + 1) & (r->buckets - 1)) {
        uint32_t other = (uint32_t)r->table[at] - 1;
        const char *theirs = id_of(b, other);
        size_t length =
            r->run && r->run[other] ? (size_t)(strrchr(theirs, '#') - theirs) : strlen(theirs);
        if (r->table[at] >> 32 == h >> 32 && strncmp(theirs, id, length) == 0 && !id[length])
            return meet(r, i, other, &r->table[at]);
    }
    r->table[at] = (h >> 32 << 32) | (i + 1);
    return GSIM_OK;
}

/* Whether most rows were submitted before the row ahead of them: such a log is read from its end,
 * since runs of a job are numbered as they began. */
static bool is_descending(const struct gsim_builder *b) {
    uint32_t n_up = 0, n_down = 0;
    for (uint32_t i = 1; b->has_runs && i < b->n; i++) {
        n_up += b->submit_ns[i] > b->submit_ns[i - 1];
        n_down += b->submit_ns[i] < b->submit_ns[i - 1];
    }
    return n_down > n_up;
}

enum gsim_status gsim_repeats_find(struct gsim_builder *builder) {
    struct repeats r = {.b = builder, .buckets = 64};
    int64_t errors_before = builder->log->n_errors;
    while (r.buckets < (size_t)builder->n + builder->n / 2)
        r.buckets *= 2;
    r.table = gsim_arena_grow(builder->arena, NULL, 0, r.buckets * sizeof *r.table);
    enum gsim_status status =
        r.table ? GSIM_OK : gsim_no_memory(builder->log, "looking for duplicate ids");
    bool is_from_end = is_descending(builder);
    for (uint32_t i = 0; i < builder->n && status == GSIM_OK; i++)
        status = look_at(&r, is_from_end ? builder->n - 1 - i : i);
    gsim_arena_drop(builder->arena, r.table);
    if (status == GSIM_OK && r.n_copies > 0 && !gsim_build_take_out(builder, r.is_copy))
        return gsim_no_memory(builder->log, "looking for duplicate ids");
    if (status == GSIM_OK && r.run)
        gsim_build_look_at_order(builder);
    return status == GSIM_OK && builder->log->n_errors > errors_before ? GSIM_BAD_INPUT : status;
}
