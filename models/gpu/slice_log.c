/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/slice_log.h"

static bool reserve(struct gsim_slice_log *spans) {
    struct gsim_span *list =
        gsim_arena_room(spans->arena, spans->list, spans->n, &spans->capacity, sizeof *list);
    spans->has_failed |= !list;
    spans->list = list ? list : spans->list;
    return list != NULL;
}

void gsim_slice_log_add(struct gsim_slice_log *spans, const struct gsim_span *span) {
    bool is_of_kernel = span->kind == GSIM_SPAN_KERNEL || span->kind == GSIM_SPAN_SMS;
    bool is_level = span->kind == GSIM_SPAN_RESIDENT || span->kind == GSIM_SPAN_SMS;
    if ((span->end_ns <= span->begin_ns && !is_level) || span->end_ns < spans->from_ns ||
        span->begin_ns >= spans->until_ns || spans->n == GSIM_SPANS_MOST)
        return;
    struct gsim_span *last =
        spans->last > 0 && !is_of_kernel ? &spans->list[spans->last - 1] : NULL;
    if (last && !is_level && last->kind == span->kind && last->job == span->job &&
        last->end_ns == span->begin_ns) {
        last->end_ns = span->end_ns;
        last->bytes += span->bytes;
    } else if (reserve(spans)) {
        spans->list[spans->n++] = *span;
        spans->last = is_of_kernel ? spans->last : spans->n;
    }
}

void gsim_slice_log_come_true(struct gsim_slice_log *before, struct gsim_slice_log *later) {
    if (!before || before->n == 0)
        return;
    for (uint32_t i = 0; i < later->n; i++)
        gsim_slice_log_add(before, &later->list[i]);
    struct gsim_slice_log swap = *before;
    *before = *later;
    *later = swap;
}
