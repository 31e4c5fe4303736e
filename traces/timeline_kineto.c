/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline from PyTorch's profiler (Kineto), a Chrome trace: events of the categories
 * cuda_runtime and cuda_driver are the host's calls, kernel, gpu_memcpy and gpu_memset their work,
 * joined by args.correlation; an annotation called ProfilerStep#3 is an iteration. */
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/chrome_event.h"
#include "traces/timeline.h"

struct kineto {
    struct gsim_timeline *timeline;
    enum gsim_chrome_place place[GSIM_CHROME_DEPTH];
    int depth;
    struct gsim_chrome_event event; /* the event under way, and its record */
    struct gsim_timeline_record record;
    int64_t *size; /* the size that the list under way gives */
    int64_t ignored;
    struct gsim_chrome_gpus gpus;
};

static void begin_event(struct kineto *k, int64_t line) {
    k->record = (struct gsim_timeline_record){.corr = -1, .stream = -1, .line = line};
    gsim_chrome_event_begin(&k->event);
}

static int64_t *size_of(struct kineto *k, const char *key) {
    int64_t *size = &k->ignored;
    if (strcmp(key, "grid") == 0)
        size = &k->record.blocks;
    else if (strcmp(key, "block") == 0)
        size = &k->record.threads;
    *size = 1;
    return size;
}

static enum gsim_status on_open(void *arg, enum gsim_json_kind kind, const char *key,
                                int64_t line) {
    struct kineto *k = arg;
    enum gsim_chrome_place next = gsim_chrome_inside(k->place[k->depth], kind, key);
    if (next == GSIM_CHROME_EVENT)
        begin_event(k, line);
    if (next == GSIM_CHROME_ARGS_LIST)
        k->size = size_of(k, key);
    k->place[++k->depth] = next;
    return next == GSIM_CHROME_DEVICE
               ? gsim_chrome_gpus_begin(&k->gpus, k->timeline->path, line, k->timeline->log)
               : GSIM_OK;
}

static int what_of(const struct kineto *k) {
    static const char step[] = "ProfilerStep#";
    switch (gsim_text_choice(k->event.category,
                             "cuda_runtime|cuda_driver|Runtime|kernel|Kernel|"
                             "gpu_memcpy|Memcpy|gpu_memset|Memset|user_annotation|"
                             "Operator")) {
    case 0:
    case 1:
    case 2:
        return GSIM_TIMELINE_CALL;
    case 3:
    case 4:
        return GSIM_TIMELINE_KERNEL;
    case 5:
    case 6:
        return GSIM_TIMELINE_COPY;
    case 7:
    case 8:
        return GSIM_TIMELINE_SET;
    case 9:
    case 10:
        return strncmp(k->event.name, step, sizeof step - 1) == 0 ? GSIM_TIMELINE_ITERATION : -1;
    default:
        return -1;
    }
}

static enum gsim_status end_event(struct kineto *k, int64_t line) {
    int what = what_of(k);
    if (what < 0)
        return GSIM_OK;
    if (!k->event.has_begin || k->event.dur_ns < 0)
        return gsim_fail(k->timeline->log, GSIM_BAD_INPUT, k->timeline->path, line,
                         "'%.64s' has no ts or no dur: when it ran is not known", k->event.name);
    k->record.begin_ns = k->event.begin_ns;
    k->record.dur_ns = k->event.dur_ns;
    k->record.what = (uint8_t)what;
    if (what == GSIM_TIMELINE_CALL) /* the stream of a call is not that of what it waits for */
        k->record.stream = -1;
    return gsim_timeline_add(k->timeline, &k->record, k->event.name, k->event.length);
}

static enum gsim_status on_close(void *arg, int64_t line) {
    struct kineto *k = arg;
    return k->place[k->depth--] == GSIM_CHROME_EVENT ? end_event(k, line) : GSIM_OK;
}

static void take_argument(struct kineto *k, enum gsim_json_kind kind, const char *key,
                          const char *text) {
    const struct {
        const char *key;
        int64_t *out;
    } arguments[] = {{"correlation", &k->record.corr},
                     {"stream", &k->record.stream},
                     {"registers per thread", &k->record.registers},
                     {"shared memory", &k->record.shared_bytes}};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (strcmp(key, arguments[i].key) == 0)
            gsim_chrome_number(kind, text, arguments[i].out);
    int64_t gpu = -1;
    if (strcmp(key, "device") == 0)
        gsim_chrome_number(kind, text, &gpu);
    if (gpu >= 0 && gpu < INT32_MAX)
        k->record.gpu = (uint32_t)gpu + 1;
}

static enum gsim_status on_value(void *arg, enum gsim_json_kind kind, const char *key,
                                 const char *text, size_t length, int64_t line) {
    struct kineto *k = arg;
    int64_t value = 0;
    switch (k->place[k->depth]) {
    case GSIM_CHROME_EVENT:
        return gsim_chrome_event_take(&k->event, kind, key, text, length, k->timeline->path, line,
                                      k->timeline->log);
    case GSIM_CHROME_ARGS:
        take_argument(k, kind, key, text);
        return GSIM_OK;
    case GSIM_CHROME_ARGS_LIST:
        gsim_chrome_number(kind, text, &value);
        if (value > 0 && *k->size <= INT64_MAX / value)
            *k->size *= value;
        return GSIM_OK;
    case GSIM_CHROME_DEVICE:
        gsim_chrome_gpus_take(&k->gpus, kind, key, text, k->timeline->arena);
        return GSIM_OK;
    default:
        return GSIM_OK;
    }
}

enum gsim_status gsim_timeline_read_kineto(struct gsim_timeline *timeline,
                                           struct gsim_input *input) {
    struct kineto *k = gsim_arena_alloc(timeline->arena, sizeof *k);
    if (!k)
        return gsim_no_memory(timeline->log, "reading a timeline");
    k->timeline = timeline;
    struct gsim_json_user user = {
        .arg = k, .open = on_open, .close = on_close, .value = on_value, .cuts_texts = true};
    if (timeline->kind)
        return gsim_fail(timeline->log, GSIM_USAGE, timeline->path, 0,
                         "--kind chooses a program of a file of rows; a Chrome trace has one");
    enum gsim_status status = gsim_json_read(input, &user, timeline->arena, timeline->log);
    timeline->gpu = gsim_chrome_gpus_name(&k->gpus, (int64_t)timeline->used_gpu - 1);
    return status;
}
