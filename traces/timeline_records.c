/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of a timeline, as its readers add them. */
#include "gsim/units.h"
#include "traces/apps.h"
#include "traces/timeline.h"

enum gsim_status gsim_timeline_init(struct gsim_timeline *timeline, const char *path,
                                    const char *kind, struct gsim_arena *arena,
                                    struct gsim_log *log) {
    *timeline = (struct gsim_timeline){.arena = arena, .log = log, .path = path, .kind = kind};
    timeline->names = gsim_arena_alloc(arena, sizeof *timeline->names);
    if (!timeline->names)
        return gsim_no_memory(log, "reading a timeline");
    gsim_build_init(timeline->names, path, arena, log);
    return GSIM_OK;
}

/* A program is of one GPU: kernels of two GPUs at a time are an iteration of neither. */
static enum gsim_status check_gpu(struct gsim_timeline *timeline,
                                  const struct gsim_timeline_record *record) {
    if (record->gpu == 0 || record->what != GSIM_TIMELINE_KERNEL)
        return GSIM_OK;
    if (timeline->used_gpu != 0 && record->gpu != timeline->used_gpu)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, record->line,
                         "a kernel of GPU %u after kernels of GPU %u; a program is of one GPU: "
                         "profile a process that uses one, such as one rank",
                         record->gpu - 1, timeline->used_gpu - 1);
    timeline->used_gpu = record->gpu;
    return GSIM_OK;
}

enum gsim_status gsim_timeline_add(struct gsim_timeline *timeline,
                                   const struct gsim_timeline_record *record, const char *name,
                                   size_t length) {
    const int64_t most_ns = GSIM_TIME_MAX / 4;
    if (record->dur_ns < 0 || record->dur_ns > most_ns || record->begin_ns < -most_ns ||
        record->begin_ns > most_ns)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, record->line,
                         "'%.64s' begins or lasts past the end of the clock, or lasts less than "
                         "nothing",
                         name);
    if (length == 0 && record->what >= GSIM_TIMELINE_KERNEL)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, record->line,
                         "a kernel, copy or set without a name, which its row of a program has");
    if (record->blocks > GSIM_APP_MOST_BLOCKS || record->threads > GSIM_APP_MOST_THREADS ||
        record->registers > GSIM_APP_MOST_REGISTERS)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, record->line,
                         "'%.64s' has more blocks, threads of a block or registers of a thread "
                         "than a kernel can have (%d threads, %d registers)",
                         name, GSIM_APP_MOST_THREADS, GSIM_APP_MOST_REGISTERS);
    enum gsim_status status = check_gpu(timeline, record);
    if (status != GSIM_OK)
        return status;
    if (timeline->n == timeline->capacity) {
        uint32_t capacity = timeline->capacity ? timeline->capacity * 2 : 1024;
        struct gsim_timeline_record *grown =
            capacity > timeline->capacity
                ? gsim_arena_grow(timeline->arena, timeline->record,
                                  timeline->capacity * sizeof *grown, capacity * sizeof *grown)
                : NULL;
        if (!grown)
            return gsim_no_memory(timeline->log, "reading a timeline");
        timeline->record = grown;
        timeline->capacity = capacity;
    }
    int64_t at = gsim_build_intern(timeline->names, GSIM_COL_APP, name, length);
    if (at < 0)
        return gsim_no_memory(timeline->log, "reading a timeline");
    timeline->record[timeline->n] = *record;
    timeline->record[timeline->n++].name = (uint32_t)at;
    return GSIM_OK;
}
