/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON file as a stream of events with line numbers: nothing is kept, so its size does not
 * matter. The only user of
 * yajl's stream of events. */
#ifndef GSIM_TRACES_JSON_H
#define GSIM_TRACES_JSON_H

#include "traces/input.h"

enum gsim_json_kind {
    GSIM_JSON_NULL,
    GSIM_JSON_BOOL,
    GSIM_JSON_NUMBER,
    GSIM_JSON_TEXT,
    GSIM_JSON_LIST,
    GSIM_JSON_OBJECT
};

/* The callbacks. Texts are NUL-terminated, without NUL bytes inside, at most GSIM_MAX_FIELD_BYTES
 * long, and valid during the call; a number's text is as in the file. key is "" for an element of a
 * list. A status other than GSIM_OK ends the reading. */
struct gsim_json_user {
    void *arg;
    enum gsim_status (*open)(void *arg, enum gsim_json_kind kind, const char *key, int64_t line);
    enum gsim_status (*close)(void *arg, int64_t line);
    enum gsim_status (*value)(void *arg, enum gsim_json_kind kind, const char *key,
                              const char *text, size_t length, int64_t line);
    bool cuts_texts; /* longer texts are cut, not refused */
};

enum gsim_status gsim_json_read(struct gsim_input *input, const struct gsim_json_user *user,
                                struct gsim_arena *arena, struct gsim_log *log);
/* "a list", "a number", ... for messages. */
const char *gsim_json_kind_name(enum gsim_json_kind kind);

#endif
