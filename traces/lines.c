/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line is gathered from its chunks, and split in place. */
#include "traces/lines.h"

#include <string.h>

#include "sim/base/text.h"

enum { MAX_LINE = 64 * 1024 };

struct lines {
    const struct gsim_lines_form *form;
    const struct gsim_csv_user *user;
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    int64_t line;
    char text[MAX_LINE + 1]; /* of the line under way */
    size_t length;
    bool has_header;
    uint32_t n_columns;
    uint32_t n; /* fields of the line */
    struct gsim_free_texts free_texts;
    char *field[GSIM_MAX_FIELD_COLUMNS];
    size_t field_length[GSIM_MAX_FIELD_COLUMNS];
};

/* The next field of a line and its length. *line moves behind its separator; NULL: there is
 * none. */
static const char *next_field(const char **line, char separator, size_t *length) {
    const char *at = *line;
    if (separator == ' ' && at)
        at += strspn(at, " \t");
    if (!at || (separator == ' ' && !*at))
        return NULL;
    const char stops[] = {separator, separator == ' ' ? '\t' : '\0', '\0'};
    *length = strcspn(at, stops);
    *line = at[*length] ? at + *length + 1 : NULL;
    return at;
}

uint32_t gsim_lines_count(const char *line, char separator) {
    uint32_t n = 0;
    size_t length;
    while (next_field(&line, separator, &length))
        n++;
    return n;
}

static enum gsim_status cut_up(struct lines *l, char *text, char separator) {
    const char *rest = text, *at;
    size_t length;
    for (l->n = 0; (at = next_field(&rest, separator, &length)); l->n++) {
        if (l->n == GSIM_MAX_FIELD_COLUMNS)
            return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, l->line,
                             "more than %d columns; is this a trace?", GSIM_MAX_FIELD_COLUMNS);
        if (length > GSIM_MAX_FIELD_BYTES)
            return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, l->line,
                             "a field of %zu bytes; at most %d are read", length,
                             GSIM_MAX_FIELD_BYTES);
        l->field[l->n] = text + (at - text);
        l->field_length[l->n] = length;
    }
    for (uint32_t i = 0; i < l->n; i++)
        l->field[i][l->field_length[i]] = '\0';
    return GSIM_OK;
}

static enum gsim_status find_free_texts(struct lines *l) {
    struct gsim_free_texts *found = &l->free_texts;
    const char **names = gsim_arena_array(l->arena, l->n, sizeof *names);
    *found = (struct gsim_free_texts){.names = names, .n_columns = l->n, .fits = l->form->fits};
    for (uint32_t i = 0; i < l->n && names; i++) {
        names[i] = gsim_arena_strdup(l->arena, l->field[i]);
        if (!names[i])
            return gsim_no_memory(l->log, "reading a trace");
        if (gsim_text_choice(names[i], l->form->free_texts) >= 0 && found->n < GSIM_MOST_FREE_TEXTS)
            found->column[found->n++] = i;
    }
    return names ? GSIM_OK : gsim_no_memory(l->log, "reading a trace");
}

/* Makes one text of a field and the ones behind it. */
static void join(struct lines *l, uint32_t from, uint32_t more, uint32_t to) {
    size_t length = (size_t)(l->field[from + more] - l->field[from]) + l->field_length[from + more];
    for (uint32_t i = 0; i < more && length <= GSIM_MAX_FIELD_BYTES; i++)
        l->field[from + i][l->field_length[from + i]] = l->form->separator;
    l->field[to] = l->field[from];
    l->field_length[to] = length <= GSIM_MAX_FIELD_BYTES ? length : l->field_length[from];
}

/* A line with more fields than columns has separators in its texts. */
static void merge_free_texts(struct lines *l) {
    uint32_t more[GSIM_MOST_FREE_TEXTS], k = 0, before = 0;
    if (l->free_texts.n == 0 || l->n <= l->n_columns ||
        !gsim_free_texts_place(&l->free_texts, l->field, l->n, more))
        return;
    for (uint32_t i = 0; i < l->n_columns; i++) {
        bool is_free = k < l->free_texts.n && l->free_texts.column[k] == i;
        uint32_t own = is_free ? more[k++] : 0;
        join(l, i + before, own, i);
        before += own;
    }
    l->n = l->n_columns;
}

static enum gsim_status take_header(struct lines *l, char *text, char separator) {
    const char *names[GSIM_MAX_FIELD_COLUMNS];
    enum gsim_status status = cut_up(l, text, separator);
    for (uint32_t i = 0; i < l->n && status == GSIM_OK; i++)
        names[i] = l->field[i];
    l->has_header = true;
    l->n_columns = l->n;
    if (status == GSIM_OK && l->form->free_texts)
        status = find_free_texts(l);
    return status == GSIM_OK ? l->user->header(l->user->arg, names, l->n, l->line) : status;
}

static enum gsim_status take_row(struct lines *l) {
    enum gsim_status status = cut_up(l, l->text, l->form->separator);
    if (status != GSIM_OK)
        return status;
    merge_free_texts(l);
    if (l->n != l->n_columns && l->user->misfit &&
        l->user->misfit(l->user->arg, l->line, l->n, l->n_columns))
        return GSIM_OK;
    if (l->n != l->n_columns) {
        (void)gsim_fail(l->log, GSIM_BAD_INPUT, l->path, l->line, "%u fields; %s %u", l->n,
                        l->form->names ? "a line of this format has" : "the header has",
                        l->n_columns);
        return GSIM_OK; /* the remaining rows are checked as well */
    }
    for (uint32_t i = 0; i < l->n; i++)
        l->user->field(l->user->arg, i, l->field[i], l->field_length[i]);
    return l->user->row(l->user->arg, l->line);
}

/* What a disk leaves of a line that was being written when it failed. */
static enum gsim_status refuse_nul(struct lines *l) {
    if (l->has_header && l->user->misfit && l->user->misfit(l->user->arg, l->line, 0, l->n_columns))
        return GSIM_OK;
    return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, l->line, "a NUL byte; a trace is text");
}

static enum gsim_status end_line(struct lines *l) {
    enum gsim_status status = GSIM_OK;
    if (l->length > 0 && l->text[l->length - 1] == '\r')
        l->length--;
    l->text[l->length] = '\0';
    bool is_comment = *l->text == '#' || (l->form->comment && *l->text == l->form->comment);
    if (memchr(l->text, '\0', l->length))
        status = refuse_nul(l);
    else if (!is_comment && strspn(l->text, " \t") < l->length)
        status = l->has_header ? take_row(l) : take_header(l, l->text, l->form->separator);
    l->length = 0;
    l->line++;
    return status;
}

static enum gsim_status feed(struct lines *l, const char *bytes, size_t n) {
    enum gsim_status status = GSIM_OK;
    while (n > 0 && status == GSIM_OK) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline ? (size_t)(newline - bytes) : n;
        if (part > MAX_LINE - l->length)
            return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, l->line,
                             "a line of more than %d bytes; is this a trace?", MAX_LINE);
        memcpy(l->text + l->length, bytes, part);
        l->length += part;
        if (newline)
            status = end_line(l);
        bytes += part + (newline != NULL);
        n -= part + (newline != NULL);
    }
    return status;
}

static enum gsim_status read_all(struct lines *l, struct gsim_input *input) {
    char *bytes;
    size_t n;
    bool is_first = true;
    for (;;) {
        enum gsim_status status = gsim_input_read(input, &bytes, &n, l->log);
        if (status == GSIM_OK && n == 0)
            return l->length > 0 ? end_line(l) : GSIM_OK;
        size_t bom = is_first && n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        is_first = false;
        if (status == GSIM_OK)
            status = feed(l, bytes + bom, n - bom);
        if (status != GSIM_OK)
            return status;
    }
}

enum gsim_status gsim_lines_read(struct gsim_input *input, const struct gsim_lines_form *form,
                                 const struct gsim_csv_user *user, struct gsim_arena *arena,
                                 struct gsim_log *log) {
    struct lines *l = gsim_arena_alloc(arena, sizeof *l);
    char *names = form->names ? gsim_arena_strdup(arena, form->names) : NULL;
    if (!l || (form->names && !names))
        return gsim_no_memory(log, "reading a trace");
    l->form = form;
    l->user = user;
    l->arena = arena;
    l->log = log;
    l->path = gsim_input_path(input);
    l->line = 1;
    int64_t errors_before = log->n_errors;
    enum gsim_status status = names ? take_header(l, names, ',') : GSIM_OK;
    if (status == GSIM_OK)
        status = read_all(l, input);
    if (status == GSIM_OK && !l->has_header)
        return gsim_fail(log, GSIM_BAD_INPUT, l->path, 0,
                         "the file is empty; a trace has a header line and a line a job");
    if (status == GSIM_OK && log->n_errors > errors_before)
        status = gsim_arena_has_failed(arena) ? GSIM_FAILED : GSIM_BAD_INPUT;
    return status;
}
