/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watching a run: the state of each job and its GPUs, over time. Observers are told of each change
 * and cannot influence it; a run without observers pays one comparison per change. Observers form a
 * list and are called in its order, so that a timeline and samples can be taken of one run. */
#ifndef GSIM_OBSERVE_H
#define GSIM_OBSERVE_H

#include "gsim/job.h"
#include "gsim/trace.h"

/* Facts that do not change during the run; valid until end() returns. */
struct gsim_scene {
    const struct gsim_trace *trace;
    uint32_t n_gpus;
    const uint32_t *node_of_gpu;
    bool is_pool; /* placements name no GPUs */
};

/* A job's state, or whether it is physically on its units, has changed. */
struct gsim_change {
    int64_t now_ns;
    uint32_t job; /* in the trace */
    enum gsim_state from, to; /* from GSIM_FREE: the job arrives; equal: only is_on changes */
    /* whether it is on its units; a job that waits for its units to clear is not */
    bool was_on, is_on;
    bool is_moving; /* on its way to other units */
    bool is_sharing; /* its GPUs count as busy as a whole while it is on them, else by its share */
    uint32_t gpus, share_ppm; /* as placed */
    /* units that it is on, or was on until now; valid during the call */
    const struct gsim_unit *units;
    uint32_t n_units; /* 0 in a pool */
};

/* Events inside a device that a model may report. */
enum gsim_span_kind {
    GSIM_SPAN_SLICE = 0, /* a context has the SMs */
    GSIM_SPAN_COPY_IN, /* host to device */
    GSIM_SPAN_COPY_OUT, /* device to host */
    GSIM_SPAN_FAULT, /* a job waits for pages */
    GSIM_SPAN_COUNT,
    GSIM_SPAN_RESIDENT =
        GSIM_SPAN_COUNT, /* no span: from now on `bytes` of the memory of a job in the GPU's lanes
                            are there; 0 when it leaves them, whatever stays for a paused job */
    /* for observers that want kernels: a part of the run of a kernel of a program */
    GSIM_SPAN_KERNEL,
    GSIM_SPAN_SMS /* likewise, no span: from now on the job's kernel has blocks on these SMs */
};

/* The launch of an iteration that a span is a part of. */
struct gsim_span_launch {
    const char *kernel; /* its name; valid as long as the trace */
    int64_t iteration;
    uint32_t number; /* in the iteration */
    uint16_t stream;
    int64_t blocks; /* 0: not given */
    uint32_t threads; /* of a block */
    bool is_end; /* the kernel ends with this span */
};

struct gsim_span {
    enum gsim_span_kind kind;
    uint32_t gpu;
    uint32_t job; /* in the trace */
    int64_t begin_ns, end_ns; /* the end may lie after now */
    int64_t bytes; /* of copies, or resident */
    struct gsim_span_launch launch; /* of a kernel */
    int64_t sms, blocks; /* SMs with blocks of the kernel, and these blocks; -1: not known */
};

struct gsim_observer {
    void *arg;
    void (*begin)(void *arg, const struct gsim_scene *scene);
    void (*change)(void *arg, const struct gsim_change *change);
    void (*span)(void *arg, const struct gsim_span *span); /* may be NULL */
    /* The interval in which the observer wants every slice; slices in it are not skipped. until 0:
     * none. */
    int64_t slices_from_ns, slices_until_ns;
    bool wants_kernels; /* of programs, in that interval */
    void (*end)(void *arg, int64_t now_ns); /* also called for a run that is cut short */
    const struct gsim_observer *next; /* may be NULL */
};

/* For models: the interval that covers all observers' wishes for slices; false: no observer has
 * any. */
static inline bool gsim_observe_slices(const struct gsim_observer *first, int64_t *from_ns,
                                       int64_t *until_ns) {
    *from_ns = GSIM_TIME_MAX;
    *until_ns = 0;
    for (; first; first = first->next) {
        if (first->slices_until_ns == 0)
            continue;
        *from_ns = first->slices_from_ns < *from_ns ? first->slices_from_ns : *from_ns;
        *until_ns = first->slices_until_ns > *until_ns ? first->slices_until_ns : *until_ns;
    }
    return *until_ns > 0;
}

static inline bool gsim_observe_kernels(const struct gsim_observer *first) {
    while (first && !(first->wants_kernels && first->slices_until_ns > 0))
        first = first->next;
    return first != NULL;
}

/* For models: spans of a kind and GPU are reported in the order in which they begin; those of
 * kernels are, for each job. first may be NULL. */
static inline void gsim_observe_span(const struct gsim_observer *first,
                                     const struct gsim_span *span) {
    for (; first; first = first->next)
        if (first->span)
            first->span(first->arg, span);
}

#endif
