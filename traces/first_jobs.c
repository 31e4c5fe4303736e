/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/first_jobs.h"

#include <string.h>

/* A column of the jobs in order of arrival; NULL: no memory. */
static void *take(const struct gsim_trace *from, const void *column, size_t size, uint32_t n,
                  struct gsim_arena *arena) {
    char *taken = gsim_arena_array(arena, n > 0 ? n : 1, size);
    for (uint32_t i = 0; taken && i < n; i++)
        memcpy(taken + i * size, (const char *)column + gsim_trace_arrival(from, i) * size, size);
    return taken;
}

/* Positions of other jobs in the new trace; a job that comes later than this one would is none. */
static bool link_jobs(const struct gsim_trace *from, uint32_t n, struct gsim_arena *arena,
                      int64_t *after) {
    int64_t *place = gsim_arena_array(arena, from->n_jobs, sizeof *place);
    for (uint32_t i = 0; place && i < from->n_jobs; i++)
        place[gsim_trace_arrival(from, i)] = i < n ? (int64_t)i : -1;
    for (uint32_t i = 0; place && i < n; i++)
        after[i] = after[i] >= 0 ? place[after[i]] : -1;
    return place != NULL;
}

enum gsim_status gsim_trace_first(const struct gsim_trace *from, uint32_t n,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log) {
    *out = *from;
    out->n_jobs = n;
    out->order = NULL; /* in order of arrival */
    bool is_ok = (out->submit_ns = take(from, from->submit_ns, sizeof(int64_t), n, arena)) &&
                 (out->service_ns = take(from, from->service_ns, sizeof(int64_t), n, arena)) &&
                 (out->id_at = take(from, from->id_at, sizeof(uint32_t), n, arena));
    if (is_ok && from->gpus)
        is_ok = (out->gpus = take(from, from->gpus, sizeof(uint32_t), n, arena)) != NULL;
    if (is_ok && from->line)
        is_ok = (out->line = take(from, from->line, sizeof(uint32_t), n, arena)) != NULL;
    for (int c = 0; c < GSIM_COL_COUNT && is_ok; c++) {
        int64_t *column = NULL;
        if (from->column[c])
            is_ok = (column = take(from, from->column[c], sizeof(int64_t), n, arena)) != NULL;
        if (column && c == GSIM_COL_AFTER)
            is_ok = is_ok && link_jobs(from, n, arena, column);
        out->column[c] = column;
    }
    return is_ok ? GSIM_OK : gsim_no_memory(log, "taking the first jobs of a trace");
}
