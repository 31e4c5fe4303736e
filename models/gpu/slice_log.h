/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spans of a GPU's lanes for observers: kept until it is certain that they happen. */
#ifndef GSIM_MODELS_GPU_SLICE_LOG_H
#define GSIM_MODELS_GPU_SLICE_LOG_H

#include "gsim/observe.h"
#include "gsim/arena.h"

/* As many spans as viewers can show; later ones are left out. */
enum { GSIM_SPANS_MOST = 1 << 20 };

struct gsim_slice_log {
    struct gsim_arena *arena;
    struct gsim_span *list; /* `job` is the member's owner, `gpu` is not set */
    uint32_t n, capacity;
    int64_t from_ns, until_ns;
    uint32_t last; /* place behind the last span that is none of a kernel */
    bool has_kernels; /* whether observers want kernels of programs */
    bool has_failed;
};

/* The spans of `later` have come true: those of `before`, which are not taken yet, go ahead of them
 * into the log of `later`. */
void gsim_slice_log_come_true(struct gsim_slice_log *before, struct gsim_slice_log *later);
/* A span that continues the last one lengthens it; spans of kernels stand by themselves. */
void gsim_slice_log_add(struct gsim_slice_log *spans, const struct gsim_span *span);
/* Logs a span of this member's owner; spans NULL: no observer watches. */
static inline void gsim_slice_log_tell(struct gsim_slice_log *spans, enum gsim_span_kind kind,
                                       gsim_slot owner, int64_t begin_ns, int64_t end_ns,
                                       int64_t bytes) {
    if (spans)
        gsim_slice_log_add(spans, &(struct gsim_span){.kind = kind,
                                                      .job = owner,
                                                      .begin_ns = begin_ns,
                                                      .end_ns = end_ns,
                                                      .bytes = bytes});
}
static inline void gsim_slice_log_clear(struct gsim_slice_log *spans) {
    spans->n = spans->last = 0;
}

#endif
