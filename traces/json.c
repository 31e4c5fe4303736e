/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yajl gives its position in a chunk; newlines up to it are counted when a line number is
 * needed. */
#include "traces/json.h"

#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/* A file with deeper nesting is no trace; without the limit a stack of brackets would grow without
 * end. */
enum { MAX_DEPTH = 64, MAX_SHOWN = 80 };

struct json {
    const struct gsim_json_user *user;
    struct gsim_log *log;
    const char *path;
    yajl_handle parser;
    const char *chunk;
    size_t counted; /* bytes of the chunk with newlines counted in line */
    int64_t line;
    int depth;
    char key[GSIM_MAX_FIELD_BYTES + 1];
    char text[GSIM_MAX_FIELD_BYTES + 1];
    enum gsim_status status;
};

const char *gsim_json_kind_name(enum gsim_json_kind kind) {
    static const char *const names[] = {"nothing (null)", "true or false", "a number",
                                        "a text",         "a list",        "an object"};
    return names[kind];
}

static int64_t line_now(struct json *j) {
    size_t at = yajl_get_bytes_consumed(j->parser);
    for (; j->counted < at; j->counted++)
        j->line += j->chunk[j->counted] == '\n';
    return j->line;
}

/* The return value of the parser's callbacks: whether the parser may go on. */
static int go_on(struct json *j, enum gsim_status status) {
    j->status = status;
    j->key[0] = '\0';
    return status == GSIM_OK;
}

/* Copies a text; *full_length becomes the length of the copy. */
static bool copy_text(struct json *j, char *to, const unsigned char *text, size_t *full_length) {
    size_t length = *full_length;
    if (length > GSIM_MAX_FIELD_BYTES && j->user->cuts_texts)
        *full_length = length = GSIM_MAX_FIELD_BYTES;
    if (length > GSIM_MAX_FIELD_BYTES)
        j->status =
            gsim_fail(j->log, GSIM_BAD_INPUT, j->path, line_now(j),
                      "a text of %zu bytes; at most %d are read", length, GSIM_MAX_FIELD_BYTES);
    else if (memchr(text, '\0', length))
        j->status =
            gsim_fail(j->log, GSIM_BAD_INPUT, j->path, line_now(j), "a NUL character in a text");
    if (j->status != GSIM_OK)
        return false;
    memcpy(to, text, length);
    to[length] = '\0';
    return true;
}

static int pass_value(struct json *j, enum gsim_json_kind kind, size_t length) {
    return go_on(j, j->user->value(j->user->arg, kind, j->key, j->text, length, line_now(j)));
}

static int on_null(void *arg) {
    struct json *j = arg;
    *j->text = '\0';
    return pass_value(j, GSIM_JSON_NULL, 0);
}

static int on_bool(void *arg, int value) {
    struct json *j = arg;
    strcpy(j->text, value ? "true" : "false");
    return pass_value(j, GSIM_JSON_BOOL, strlen(j->text));
}

static int on_number(void *arg, const char *text, size_t length) {
    struct json *j = arg;
    return copy_text(j, j->text, (const unsigned char *)text, &length) &&
           pass_value(j, GSIM_JSON_NUMBER, length);
}

static int on_text(void *arg, const unsigned char *text, size_t length) {
    struct json *j = arg;
    return copy_text(j, j->text, text, &length) && pass_value(j, GSIM_JSON_TEXT, length);
}

static int on_key(void *arg, const unsigned char *text, size_t length) {
    struct json *j = arg;
    return copy_text(j, j->key, text, &length);
}

static int open_one(struct json *j, enum gsim_json_kind kind) {
    if (++j->depth > MAX_DEPTH)
        return go_on(j, gsim_fail(j->log, GSIM_BAD_INPUT, j->path, line_now(j),
                                  "lists and objects nested more than %d deep", MAX_DEPTH));
    return go_on(j, j->user->open(j->user->arg, kind, j->key, line_now(j)));
}

static int on_open_list(void *arg) {
    return open_one(arg, GSIM_JSON_LIST);
}

static int on_open_object(void *arg) {
    return open_one(arg, GSIM_JSON_OBJECT);
}

static int on_close(void *arg) {
    struct json *j = arg;
    j->depth--;
    return go_on(j, j->user->close(j->user->arg, line_now(j)));
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_bool,
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_start_map = on_open_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_close,
    .yajl_start_array = on_open_list,
    .yajl_end_array = on_close,
};

/* Reports the parser's own message, which ends in a newline, as one line. */
static enum gsim_status fail_syntax(struct json *j) {
    char shown[MAX_SHOWN];
    unsigned char *why = yajl_get_error(j->parser, 0, NULL, 0);
    (void)snprintf(shown, sizeof shown, "%s", why ? (const char *)why : "not JSON");
    yajl_free_error(j->parser, why);
    shown[strcspn(shown, "\n")] = '\0';
    return gsim_fail(j->log, GSIM_BAD_INPUT, j->path, line_now(j), "%s", shown);
}

static enum gsim_status after(struct json *j, yajl_status parsed) {
    if (parsed == yajl_status_ok)
        return GSIM_OK;
    return j->status != GSIM_OK ? j->status : fail_syntax(j);
}

static enum gsim_status read_all(struct json *j, struct gsim_input *input) {
    for (;;) {
        char *bytes;
        size_t n;
        enum gsim_status status = gsim_input_read(input, &bytes, &n, j->log);
        if (status != GSIM_OK)
            return status;
        if (n == 0 && !j->chunk) /* yajl cannot end what it has not begun */
            return gsim_fail(j->log, GSIM_BAD_INPUT, j->path, 0,
                             "the file is empty; JSON is expected");
        if (n == 0) /* brackets that are still open are reported now */
            return after(j, yajl_complete_parse(j->parser));
        j->chunk = bytes;
        j->counted = 0;
        status = after(j, yajl_parse(j->parser, (const unsigned char *)bytes, n));
        if (status != GSIM_OK)
            return status;
        (void)line_now(j);
    }
}

enum gsim_status gsim_json_read(struct gsim_input *input, const struct gsim_json_user *user,
                                struct gsim_arena *arena, struct gsim_log *log) {
    struct json *j = gsim_arena_alloc(arena, sizeof *j);
    if (!j)
        return gsim_no_memory(log, "reading JSON");
    j->user = user;
    j->log = log;
    j->path = gsim_input_path(input);
    j->line = 1;
    j->parser = yajl_alloc(&callbacks, NULL, j);
    if (!j->parser)
        return gsim_no_memory(log, "reading JSON");
    enum gsim_status status = read_all(j, input);
    yajl_free(j->parser);
    return status;
}
