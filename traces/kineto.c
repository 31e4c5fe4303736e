/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PyTorch's profiler (Kineto): a Chrome trace, an object with a list traceEvents, or that list.
 * Events of the category "kernel" ran on the GPU; an annotation called ProfilerStep#3 is an
 * iteration. The host's gap is the part of the iterations in which no kernel ran. Copies and
 * memsets are left out and counted. deviceProperties has the GPUs' names. */
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/chrome_event.h"
#include "traces/overlap.h"
#include "traces/profiler.h"

struct kineto {
    struct gsim_kernels *kernels;
    struct gsim_log *log;
    enum gsim_chrome_place place[GSIM_CHROME_DEPTH];
    int depth;
    struct gsim_chrome_event event; /* the event under way */
    int64_t device; /* its device; -1: not given */
    int64_t used; /* the device of all kernels; -1: no kernel has named a device */
    struct gsim_chrome_gpus gpus;
    struct gsim_arena *arena;
    uint32_t n_copies;
};

static void begin_event(struct kineto *k) {
    gsim_chrome_event_begin(&k->event);
    k->device = -1;
}

static enum gsim_status on_open(void *arg, enum gsim_json_kind kind, const char *key,
                                int64_t line) {
    struct kineto *k = arg;
    enum gsim_chrome_place here = k->place[k->depth], next = gsim_chrome_inside(here, kind, key);
    if (here == GSIM_CHROME_EVENTS && kind == GSIM_JSON_LIST)
        return gsim_fail(k->log, GSIM_BAD_INPUT, k->kernels->path, line,
                         "in the list of events stands a list");
    k->place[++k->depth] = next;
    if (next == GSIM_CHROME_EVENT)
        begin_event(k);
    return next == GSIM_CHROME_DEVICE
               ? gsim_chrome_gpus_begin(&k->gpus, k->kernels->path, line, k->log)
               : GSIM_OK;
}

/* Whether the event is a step as the host saw it; the GPU's copy of the annotation
 * (gpu_user_annotation) is not counted again. Old traces call the category Operator. */
static bool is_step(const struct kineto *k) {
    static const char prefix[] = "ProfilerStep#";
    return gsim_text_choice(k->event.category, "user_annotation|Operator") >= 0 &&
           strncmp(k->event.name, prefix, sizeof prefix - 1) == 0 && k->event.dur_ns >= 0 &&
           k->event.dur_ns <= GSIM_TIME_MAX - k->kernels->steps_ns;
}

/* A profile is of one GPU: kernels of two GPUs at a time are an iteration of neither. */
static enum gsim_status check_device(struct kineto *k, int64_t line) {
    if (k->device < 0 || k->device == k->used)
        return GSIM_OK;
    if (k->used >= 0)
        return gsim_fail(
            k->log, GSIM_BAD_INPUT, k->kernels->path, line,
            "a kernel of GPU %lld after kernels of GPU %lld; an application profile is "
            "of one GPU: profile a process that uses one, such as one rank",
            (long long)k->device, (long long)k->used);
    k->used = k->device;
    return GSIM_OK;
}

static enum gsim_status end_event(struct kineto *k, int64_t line) {
    if (is_step(k)) {
        k->kernels->n_steps++;
        k->kernels->steps_ns += k->event.dur_ns;
    }
    k->n_copies += gsim_text_choice(k->event.category, "gpu_memcpy|gpu_memset|Memcpy|Memset") >= 0;
    if (gsim_text_choice(k->event.category, "kernel|Kernel") < 0)
        return GSIM_OK;
    if (k->event.dur_ns < 0 || k->event.length == 0)
        return gsim_fail(k->log, GSIM_BAD_INPUT, k->kernels->path, line,
                         "a kernel without a name or a duration");
    enum gsim_status status = check_device(k, line);
    if (status != GSIM_OK)
        return status;
    if (k->event.has_begin)
        return gsim_overlap_add(k->kernels, k->event.name, k->event.length, k->event.begin_ns,
                                k->event.dur_ns, line);
    return gsim_kernels_add(k->kernels, k->event.name, k->event.length, 1, k->event.dur_ns, line);
}

static enum gsim_status on_close(void *arg, int64_t line) {
    struct kineto *k = arg;
    return k->place[k->depth--] == GSIM_CHROME_EVENT ? end_event(k, line) : GSIM_OK;
}

static enum gsim_status on_value(void *arg, enum gsim_json_kind kind, const char *key,
                                 const char *text, size_t length, int64_t line) {
    struct kineto *k = arg;
    enum gsim_chrome_place here = k->place[k->depth];
    if (here == GSIM_CHROME_FILE || here == GSIM_CHROME_EVENTS)
        return gsim_fail(k->log, GSIM_BAD_INPUT, k->kernels->path, line, "%s where events stand",
                         gsim_json_kind_name(kind));
    if (here == GSIM_CHROME_EVENT)
        return gsim_chrome_event_take(&k->event, kind, key, text, length, k->kernels->path, line,
                                      k->log);
    if (here == GSIM_CHROME_ARGS && strcmp(key, "device") == 0)
        gsim_chrome_number(kind, text, &k->device);
    if (here == GSIM_CHROME_DEVICE)
        gsim_chrome_gpus_take(&k->gpus, kind, key, text, k->arena);
    return GSIM_OK;
}

static enum gsim_status read_kineto(struct gsim_input *input, struct gsim_kernels *out,
                                    struct gsim_arena *arena, struct gsim_log *log) {
    struct kineto *k = gsim_arena_alloc(arena, sizeof *k);
    if (!k)
        return gsim_no_memory(log, "reading a profile");
    k->kernels = out;
    k->log = log;
    k->arena = arena;
    k->used = -1;
    struct gsim_json_user user = {
        .arg = k, .open = on_open, .close = on_close, .value = on_value, .cuts_texts = true};
    enum gsim_status status = gsim_json_read(input, &user, arena, log);
    out->gpu = gsim_chrome_gpus_name(&k->gpus, k->used);
    if (status == GSIM_OK && k->n_copies)
        gsim_warn(log, out->path, 0, "left out %u copies and memsets; a profile has kernels",
                  k->n_copies);
    return status;
}

const struct gsim_profiler gsim_profiler_kineto = {
    .name = "kineto",
    .summary = "an application profile from PyTorch's profiler (Chrome trace)",
    .notes =
        "profile some steps with torch.profiler (prof.step() after each, export_chrome_trace),\n"
        "  gsim import kineto trace.json.gz --device h200 -o app.csv\n"
        "and name app.csv in a trace's column app; --iterations N where there are no steps.\n",
    .read = read_kineto,
};
