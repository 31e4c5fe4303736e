/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/chrome_event.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/units.h"

enum gsim_chrome_place gsim_chrome_inside(enum gsim_chrome_place here, enum gsim_json_kind kind,
                                          const char *key) {
    bool is_list = kind == GSIM_JSON_LIST;
    if (here == GSIM_CHROME_FILE)
        return is_list ? GSIM_CHROME_EVENTS : GSIM_CHROME_ROOT;
    if (here == GSIM_CHROME_ROOT && is_list && strcmp(key, "traceEvents") == 0)
        return GSIM_CHROME_EVENTS;
    if (here == GSIM_CHROME_ROOT && is_list && strcmp(key, "deviceProperties") == 0)
        return GSIM_CHROME_DEVICES;
    if (here == GSIM_CHROME_DEVICES && !is_list)
        return GSIM_CHROME_DEVICE;
    if (here == GSIM_CHROME_EVENTS && !is_list)
        return GSIM_CHROME_EVENT;
    if (here == GSIM_CHROME_EVENT && !is_list && strcmp(key, "args") == 0)
        return GSIM_CHROME_ARGS;
    return here == GSIM_CHROME_ARGS && is_list ? GSIM_CHROME_ARGS_LIST : GSIM_CHROME_ELSEWHERE;
}

void gsim_chrome_event_begin(struct gsim_chrome_event *event) {
    event->length = 0;
    event->name[0] = event->category[0] = '\0';
    event->begin_ns = 0;
    event->dur_ns = -1;
    event->has_begin = false;
}

static enum gsim_status take_time(struct gsim_chrome_event *event, enum gsim_json_kind kind,
                                  const char *key, const char *text, size_t length,
                                  const char *path, int64_t line, struct gsim_log *log) {
    bool is_begin = strcmp(key, "ts") == 0;
    int64_t *out = is_begin ? &event->begin_ns : &event->dur_ns;
    if (kind != GSIM_JSON_NUMBER ||
        gsim_parse_decimal(text, length, GSIM_NS_PER_US, out) != GSIM_PARSE_OK ||
        (!is_begin && *out < 0))
        return gsim_fail(log, GSIM_BAD_INPUT, path, line,
                         "key '%s': '%.40s' is not a time in microseconds, a decimal number%s", key,
                         text, is_begin ? "" : " of 0 or more");
    event->has_begin |= is_begin;
    return GSIM_OK;
}

enum gsim_status gsim_chrome_event_take(struct gsim_chrome_event *event, enum gsim_json_kind kind,
                                        const char *key, const char *text, size_t length,
                                        const char *path, int64_t line, struct gsim_log *log) {
    if (strcmp(key, "dur") == 0 || strcmp(key, "ts") == 0)
        return take_time(event, kind, key, text, length, path, line, log);
    if (strcmp(key, "cat") == 0 && kind == GSIM_JSON_TEXT)
        (void)snprintf(event->category, sizeof event->category, "%s",
                       length < GSIM_CHROME_CATEGORY ? text : "");
    if (strcmp(key, "name") == 0 && kind == GSIM_JSON_TEXT) {
        memcpy(event->name, text, length + 1);
        event->length = length;
    }
    return GSIM_OK;
}

enum gsim_status gsim_chrome_gpus_begin(struct gsim_chrome_gpus *gpus, const char *path,
                                        int64_t line, struct gsim_log *log) {
    if (gpus->n == GSIM_CHROME_GPUS)
        return gsim_fail(log, GSIM_BAD_INPUT, path, line, "deviceProperties: more than %d GPUs",
                         GSIM_CHROME_GPUS);
    gpus->gpu[gpus->n].id = gpus->n;
    gpus->gpu[gpus->n++].name = NULL;
    return GSIM_OK;
}

void gsim_chrome_gpus_take(struct gsim_chrome_gpus *gpus, enum gsim_json_kind kind, const char *key,
                           const char *text, struct gsim_arena *arena) {
    if (strcmp(key, "id") == 0)
        gsim_chrome_number(kind, text, &gpus->gpu[gpus->n - 1].id);
    if (strcmp(key, "name") == 0 && kind == GSIM_JSON_TEXT)
        gpus->gpu[gpus->n - 1].name = gsim_arena_strdup(arena, text);
}

const char *gsim_chrome_gpus_name(const struct gsim_chrome_gpus *gpus, int64_t used) {
    for (int i = 0; i < gpus->n; i++)
        if (gpus->gpu[i].id == used || (used < 0 && gpus->n == 1))
            return gpus->gpu[i].name;
    return NULL;
}

void gsim_chrome_number(enum gsim_json_kind kind, const char *text, int64_t *out) {
    int64_t value;
    if (kind == GSIM_JSON_NUMBER && gsim_parse_int(text, &value) == GSIM_PARSE_OK && value >= 0)
        *out = value;
}
