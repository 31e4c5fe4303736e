/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libinih hands over sections, keys and values; this reader counts their lines in the function from
 * which libinih reads. */
#define _POSIX_C_SOURCE 200809L
#include "sim/base/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/text.h"

/* libinih cuts names of sections and keys at 49 bytes, silently. */
enum { MAX_LINE = 198, MAX_NAME = 48, MAX_ENTRIES = 1 << 20, MAX_FILE = 64 << 20 };

struct reader {
    const char *path;
    const char *at, *end;
    int64_t line;
    bool is_indented;
    bool has_key; /* an entry was read since the last [section] */
    struct gsim_arena *arena;
    struct gsim_ini *out;
    int capacity;
    struct gsim_log *log;
};

/* The next line for inih, in the manner of fgets. Refuses a line that inih would cut. */
static char *read_line(char *buffer, int size, void *arg) {
    struct reader *r = arg;
    if (r->at >= r->end)
        return NULL;
    r->line++;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *stop = newline ? newline : r->end;
    size_t length = (size_t)(stop - r->at);
    const char *from = r->at;
    r->at = newline ? newline + 1 : r->end;
    if (length > 0 && from[length - 1] == '\r')
        length--;
    bool is_long = length > MAX_LINE || length + 2 > (size_t)size;
    if (is_long || memchr(from, '\0', length)) {
        (void)gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                        is_long ? "the line is longer than %d bytes; continue it on an indented "
                                  "line"
                                : "the line holds a NUL byte; an INI file is text of at most %d "
                                  "bytes a line",
                        MAX_LINE);
        length = 0;
    }
    r->is_indented = length > 0 && (*from == ' ' || *from == '\t');
    if (length > 0 && *from == '[')
        r->has_key = false;
    for (size_t i = 1; i < length; i++) /* inih knows only ';' behind a value */
        if (from[i] == '#' && (from[i - 1] == ' ' || from[i - 1] == '\t'))
            length = i - 1;
    memcpy(buffer, from, length);
    buffer[length] = '\n';
    buffer[length + 1] = '\0';
    return buffer;
}

static bool reserve(struct reader *r) {
    if (r->out->n < r->capacity)
        return true;
    int capacity = r->capacity ? r->capacity * 2 : 64;
    if (capacity > MAX_ENTRIES)
        return false;
    struct gsim_ini_entry *entries =
        gsim_arena_grow(r->arena, r->out->entries, (size_t)r->capacity * sizeof *entries,
                        (size_t)capacity * sizeof *entries);
    if (!entries)
        return false;
    r->out->entries = entries;
    r->capacity = capacity;
    return true;
}

/* inih reports an indented line as another entry of the key: it continues the value. */
static bool continues(const struct reader *r, const char *section, const char *key) {
    if (!r->is_indented || !r->has_key)
        return false;
    const struct gsim_ini_entry *last = &r->out->entries[r->out->n - 1];
    return strcmp(last->section, section) == 0 && strcmp(last->key, key) == 0;
}

static int take_entry(void *arg, const char *section, const char *key, const char *value) {
    struct reader *r = arg;
    if (strlen(section) > MAX_NAME || strlen(key) > MAX_NAME)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                         "the name of the %s is longer than %d bytes",
                         strlen(key) > MAX_NAME ? "key" : "section", MAX_NAME) == GSIM_OK;
    if (continues(r, section, key)) {
        struct gsim_ini_entry *last = &r->out->entries[r->out->n - 1];
        last->value = gsim_arena_printf(r->arena, "%s %s", last->value, value);
        return last->value != NULL;
    }
    if (!reserve(r))
        return 0;
    struct gsim_ini_entry *entry = &r->out->entries[r->out->n++];
    entry->section = gsim_arena_strdup(r->arena, section);
    entry->key = gsim_arena_strdup(r->arena, key);
    entry->value = gsim_arena_strdup(r->arena, value);
    entry->line = r->line;
    r->has_key = true;
    return entry->section && entry->key && entry->value;
}

enum gsim_status gsim_ini_read_text(const char *path, const char *text, size_t length,
                                    struct gsim_arena *arena, struct gsim_ini *out,
                                    struct gsim_log *log) {
    *out = (struct gsim_ini){.path = gsim_arena_strdup(arena, path)};
    struct reader reader = {
        .path = path, .at = text, .end = text + length, .arena = arena, .out = out, .log = log};
    int64_t errors_before = log->n_errors;
    int bad_line = ini_parse_stream(read_line, &reader, take_entry, &reader);
    if (log->n_errors > errors_before)
        return GSIM_BAD_INPUT;
    if (bad_line > 0 && !gsim_arena_has_failed(arena))
        return gsim_fail(log, GSIM_BAD_INPUT, path, bad_line,
                         "neither '[section]' nor 'key = value' nor a '#' comment");
    return bad_line != 0 || !out->path ? gsim_no_memory(log, "reading an INI file") : GSIM_OK;
}

static enum gsim_status cannot_read(const char *path, const char *why, struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "the file cannot be read: %s", why);
}

enum gsim_status gsim_ini_read_file(const char *path, struct gsim_arena *arena,
                                    struct gsim_ini *out, struct gsim_log *log) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return cannot_read(path, strerror(errno), log);
    struct stat about;
    enum gsim_status status = GSIM_OK;
    char *text = NULL;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        status = cannot_read(path, "not a regular file", log);
    else if (about.st_size > MAX_FILE)
        status = cannot_read(path, "larger than 64 MiB", log);
    else if (!(text = gsim_arena_alloc(arena, (size_t)about.st_size + 1)))
        status = gsim_no_memory(log, "reading an INI file");
    size_t length = status == GSIM_OK ? fread(text, 1, (size_t)about.st_size, file) : 0;
    if (status == GSIM_OK && ferror(file))
        status = cannot_read(path, strerror(errno), log);
    (void)fclose(file);
    return status == GSIM_OK ? gsim_ini_read_text(path, text, length, arena, out, log) : status;
}

static bool is_key_of(const struct gsim_ini_entry *a, const struct gsim_ini_entry *b) {
    return strcmp(a->section, b->section) == 0 && strcmp(a->key, b->key) == 0;
}

enum gsim_status gsim_ini_once(const struct gsim_ini *ini, struct gsim_arena *arena,
                               struct gsim_log *log) {
    uint32_t mask = 1; /* the table stays at most half full */
    while (mask < (uint32_t)ini->n * 2)
        mask = mask * 2 + 1;
    int *table = gsim_arena_array(arena, (size_t)mask + 1, sizeof *table); /* index + 1 */
    if (!table)
        return gsim_no_memory(log, "reading an INI file");
    for (int i = 0; i < ini->n; i++) {
        const struct gsim_ini_entry *entry = &ini->entries[i];
        uint32_t sum = gsim_text_sum(GSIM_TEXT_SUM, entry->section, strlen(entry->section));
        uint32_t at = gsim_text_sum(sum, entry->key, strlen(entry->key)) & mask;
        while (table[at] && !is_key_of(&ini->entries[table[at] - 1], entry))
            at = (at + 1) & mask;
        if (table[at])
            return gsim_fail(log, GSIM_BAD_INPUT, ini->path, entry->line,
                             "key '%s' stands twice in section [%s], first in line %lld",
                             entry->key, entry->section,
                             (long long)ini->entries[table[at] - 1].line);
        table[at] = i + 1;
    }
    return GSIM_OK;
}

const struct gsim_ini_entry *gsim_ini_find(const struct gsim_ini *ini, const char *section,
                                           const char *key) {
    for (int i = ini->n; i-- > 0;)
        if (strcmp(ini->entries[i].section, section) == 0 && strcmp(ini->entries[i].key, key) == 0)
            return &ini->entries[i];
    return NULL;
}
