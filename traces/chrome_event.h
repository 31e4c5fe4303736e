/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of Chrome traces share: the brackets of the file, and an event's category, name
 * and time. */
#ifndef GSIM_TRACES_CHROME_EVENT_H
#define GSIM_TRACES_CHROME_EVENT_H

#include "traces/json.h"

enum { GSIM_CHROME_CATEGORY = 32, GSIM_CHROME_DEPTH = 66 };

/* The place of a bracket: the file is an object with the lists traceEvents and deviceProperties, or
 * the list of events alone. ARGS_LIST is a list among an event's arguments. */
enum gsim_chrome_place {
    GSIM_CHROME_FILE = 0,
    GSIM_CHROME_ROOT,
    GSIM_CHROME_EVENTS,
    GSIM_CHROME_EVENT,
    GSIM_CHROME_ARGS,
    GSIM_CHROME_ARGS_LIST,
    GSIM_CHROME_DEVICES,
    GSIM_CHROME_DEVICE,
    GSIM_CHROME_ELSEWHERE
};
/* The place of a bracket that opens under this key. */
enum gsim_chrome_place gsim_chrome_inside(enum gsim_chrome_place here, enum gsim_json_kind kind,
                                          const char *key);

struct gsim_chrome_event {
    char name[GSIM_MAX_FIELD_BYTES + 1];
    size_t length; /* of the name */
    char category[GSIM_CHROME_CATEGORY];
    int64_t begin_ns, dur_ns; /* dur_ns < 0: not given */
    bool has_begin;
};

void gsim_chrome_event_begin(struct gsim_chrome_event *event);
/* Takes a value of the event; other keys than cat, name, ts and dur are passed over. */
enum gsim_status gsim_chrome_event_take(struct gsim_chrome_event *event, enum gsim_json_kind kind,
                                        const char *key, const char *text, size_t length,
                                        const char *path, int64_t line, struct gsim_log *log);

enum { GSIM_CHROME_GPUS = 64 };

/* The list deviceProperties: GPUs of the computer, of which the profile may have used another than
 * the first. */
struct gsim_chrome_gpus {
    struct {
        int64_t id;
        const char *name; /* NULL: not given */
    } gpu[GSIM_CHROME_GPUS]; /* the last entry is the one under way */
    int n;
};
enum gsim_status gsim_chrome_gpus_begin(struct gsim_chrome_gpus *gpus, const char *path,
                                        int64_t line, struct gsim_log *log);
void gsim_chrome_gpus_take(struct gsim_chrome_gpus *gpus, enum gsim_json_kind kind, const char *key,
                           const char *text, struct gsim_arena *arena);
/* The name of the GPU with this number, or where kernels name none (-1) of the only GPU; NULL: not
 * known. */
const char *gsim_chrome_gpus_name(const struct gsim_chrome_gpus *gpus, int64_t used);
/* Stores a whole number of at least 0; other values leave *out as it is. */
void gsim_chrome_number(enum gsim_json_kind kind, const char *text, int64_t *out);

#endif
