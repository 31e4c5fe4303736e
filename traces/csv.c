/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feeds libcsv in strict mode. libcsv knows neither lines nor comments: its callbacks here count
 * newlines, and lines that begin with # are cut out before libcsv sees them. Whole lines without a
 * quote, as nearly all are, never come to it: they are split here by its rules, and faster. */
#include "traces/csv.h"

#include <assert.h>
#include <csv.h>
#include <string.h>

#include "sim/base/hints.h"

struct reader {
    const struct gsim_csv_user *user;
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    int64_t line; /* the current line */
    int64_t row_line; /* the line where the row began */
    uint32_t column; /* of the next field */
    uint32_t n_columns; /* of the header; 0: not read yet */
    char comment; /* begins lines that are passed by */
    bool has_header, is_after_cr, is_in_comment;
    bool has_quotes; /* a quote was read: fields may have newlines */
    const char *names[GSIM_MAX_FIELD_COLUMNS];
    enum gsim_status status;
};

static void stop(struct reader *r, enum gsim_status status) {
    if (r->status == GSIM_OK)
        r->status = status;
}

/* The line where the row under way began; its first field may not have ended yet. */
static int64_t row_begin(const struct reader *r) {
    return r->column == 0 ? r->line + r->is_after_cr : r->row_line;
}

/* Counts a lone CR as the end of the last line, as old Macintosh files have it. */
static void count_cr(struct reader *r) {
    r->line += r->is_after_cr;
    r->is_after_cr = false;
}

GSIM_COLD static void refuse_field(struct reader *r, size_t length) {
    stop(r, gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                      "a field of %zu bytes; at most %d are read", length, GSIM_MAX_FIELD_BYTES));
}

/* Counts newlines inside quotes. */
GSIM_APART static void count_newlines(struct reader *r, const char *text, size_t length) {
    for (const char *end = text + length; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        r->line++;
}

GSIM_COLD static bool take_name(struct reader *r, uint32_t column, const char *text,
                                size_t length) {
    if (column == GSIM_MAX_FIELD_COLUMNS) {
        stop(r, gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                          "more than %d columns; is this a trace?", GSIM_MAX_FIELD_COLUMNS));
        return false;
    }
    r->names[column] = gsim_arena_strndup(r->arena, text, length);
    if (!r->names[column])
        stop(r, gsim_no_memory(r->log, "reading a trace"));
    return r->names[column] != NULL;
}

/* Hands a field over; false: it cannot be read, and the reader stops. */
static inline bool take_field(struct reader *r, char *text, size_t length) {
    uint32_t column = r->column++;
    if (gsim_rarely(length > GSIM_MAX_FIELD_BYTES)) {
        refuse_field(r, length);
        return false;
    }
    if (gsim_rarely(r->has_quotes))
        count_newlines(r, text, length);
    if (gsim_rarely(!r->has_header))
        return take_name(r, column, text, length);
    if (gsim_mostly(column < r->n_columns))
        r->user->field(r->user->arg, column, text, length);
    return true;
}

static void on_field(void *text, size_t length, void *arg) {
    struct reader *r = arg;
    if (gsim_rarely(r->status != GSIM_OK))
        return;
    count_cr(r);
    if (r->column == 0)
        r->row_line = r->line;
    (void)take_field(r, text, length);
}

static void end_header(struct reader *r) {
    r->n_columns = r->column;
    r->has_header = true;
    stop(r, r->user->header(r->user->arg, r->names, r->n_columns, r->row_line));
}

static void end_row(struct reader *r) {
    if (r->column == r->n_columns) {
        stop(r, r->user->row(r->user->arg, r->row_line));
        return;
    }
    if (r->user->misfit && r->user->misfit(r->user->arg, r->row_line, r->column, r->n_columns))
        return;
    (void)gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->row_line,
                    "%u fields; the header has %u columns", r->column, r->n_columns);
}

static void on_row(int end, void *arg) {
    struct reader *r = arg;
    if (r->status != GSIM_OK)
        return;
    bool is_second_half = end == '\n' && r->is_after_cr;
    if (!is_second_half)
        count_cr(r);
    if (r->column > 0) {
        if (r->has_header)
            end_row(r);
        else
            end_header(r);
        r->column = 0;
    }
    r->line += end == '\n';
    r->is_after_cr = end == '\r';
}

static void feed(struct reader *r, struct csv_parser *parser, const char *bytes, size_t n) {
    if (n == 0 || r->status != GSIM_OK)
        return;
    if (csv_parse(parser, bytes, n, on_field, on_row, r) == n)
        return;
    int error = csv_error(parser);
    if (error == CSV_EPARSE)
        stop(r, gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line + r->is_after_cr,
                          "a quote where none may stand; quote the whole field, and double the "
                          "quotes inside"));
    else
        stop(r, gsim_no_memory(r->log, "reading a trace"));
}

/* Whether the sign of a comment at p begins one: at the start of a line and of a row, but not of a
 * line inside quotes. The parser has seen all bytes before p. */
static bool begins_comment(const struct reader *r, const struct csv_parser *parser, const char *p,
                           const char *chunk, char before_chunk) {
    char before = p == chunk ? before_chunk : p[-1];
    return r->column == 0 && !parser->quoted && (before == '\n' || before == '\r');
}

/* Skips a comment up to and including its newline; the comment may go on in the next chunk. */
static char *skip_comment(struct reader *r, char *p, char *end) {
    char *newline = memchr(p, '\n', (size_t)(end - p));
    r->is_in_comment = !newline;
    if (!newline)
        return end;
    count_cr(r);
    r->line++;
    return newline + 1;
}

static bool is_space(char c) {
    return (unsigned char)c <= ' ' && (c == ' ' || c == '\t');
}

static bool ends_field(char c) {
    return (unsigned char)c <= ',' && (c == ',' || c == '\n'); /* few are as low as a comma */
}

/* Hands over the fields of a line that ends with a newline, without the spaces around them. A line
 * of spaces is no row. Returns the line's end; the bytes are as before. */
static char *split_line(struct reader *r, char *p) {
    r->row_line = r->line;
    for (;; p++) {
        while (is_space(*p))
            p++;
        char *stop = p;
        while (!ends_field(*stop))
            stop++;
        if (r->column == 0 && stop == p && *stop == '\n')
            return stop;
        char *last = stop;
        while (last > p && is_space(last[-1]))
            last--;
        char cut = *last;
        *last = '\0';
        bool is_taken = take_field(r, p, (size_t)(last - p));
        *last = cut;
        p = stop;
        if (*stop == '\n' || gsim_rarely(!is_taken))
            return stop;
    }
}

/* Takes the whole lines of a chunk that begins with a line. Returns where the rest begins. */
static char *split_lines(struct reader *r, char *p, char *end) {
    assert(!r->is_after_cr);
    while (end > p && end[-1] != '\n')
        end--;
    while (p < end && r->status == GSIM_OK) {
        if (gsim_rarely(*p == r->comment)) {
            p = skip_comment(r, p, end);
            continue;
        }
        p = split_line(r, p) + 1;
        on_row('\n', r);
    }
    return p;
}

/* Whether the chunk's lines can be split without libcsv, once the line under way has ended. */
static bool is_plain(const struct reader *r, const char *chunk, size_t n, char before_chunk) {
    return !r->has_quotes && before_chunk != '\r' && !memchr(chunk, '\r', n);
}

/* The plain lines of the chunk; a line that began before it is ended by libcsv, which has the part
 * before. Returns where the rest begins. */
static char *feed_plain(struct reader *r, struct csv_parser *parser, char *p, char *end,
                        char before) {
    if (before != '\n') {
        char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline)
            return p;
        feed(r, parser, p, (size_t)(newline + 1 - p));
        p = newline + 1;
    }
    return split_lines(r, p, end);
}

static void feed_chunk(struct reader *r, struct csv_parser *parser, char *chunk, size_t n,
                       char before_chunk) {
    char *p = chunk, *end = chunk + n;
    r->has_quotes = r->has_quotes || memchr(chunk, '"', n);
    if (r->is_in_comment)
        p = skip_comment(r, p, end);
    if (is_plain(r, chunk, n, before_chunk))
        p = feed_plain(r, parser, p, end, p == chunk ? before_chunk : p[-1]);
    char *look = p;
    while (r->status == GSIM_OK && look < end) {
        char *hash = memchr(look, r->comment, (size_t)(end - look));
        if (!hash)
            break;
        feed(r, parser, p, (size_t)(hash - p)); /* after this it is known whether a row has begun */
        p = hash;
        look = hash + 1;
        if (begins_comment(r, parser, hash, chunk, before_chunk))
            p = look = skip_comment(r, hash, end);
    }
    feed(r, parser, p, (size_t)(end - p));
}

static void check_chunk(struct reader *r, struct csv_parser *parser, const char *bytes, size_t n) {
    const char *nul = memchr(bytes, '\0', n);
    if (nul) {
        int64_t line = r->line;
        for (const char *p = bytes; p < nul; p++)
            line += *p == '\n';
        stop(r, gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "a NUL byte; a trace is text"));
    }
    if (csv_get_buffer_size(parser) > GSIM_MAX_FIELD_BYTES + 2 * GSIM_INPUT_CHUNK)
        stop(r, gsim_fail(r->log, GSIM_BAD_INPUT, r->path, row_begin(r),
                          "a field of more than %d bytes; is a quote left open?",
                          GSIM_MAX_FIELD_BYTES));
}

static enum gsim_status read_all(struct reader *r, struct csv_parser *parser,
                                 struct gsim_input *input) {
    char before = '\n', *bytes;
    size_t n;
    bool is_first = true;
    for (;;) {
        enum gsim_status status = gsim_input_read(input, &bytes, &n, r->log);
        if (status != GSIM_OK || n == 0)
            return status;
        check_chunk(r, parser, bytes, n);
        size_t bom = is_first && n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        is_first = false;
        if (n > bom)
            feed_chunk(r, parser, bytes + bom, n - bom, before);
        if (r->status != GSIM_OK)
            return r->status;
        before = bytes[n - 1];
    }
}

static enum gsim_status read_input(struct gsim_input *input, char comment,
                                   const struct gsim_csv_user *user, struct gsim_arena *arena,
                                   struct gsim_log *log) {
    struct reader *r = gsim_arena_alloc(arena, sizeof *r);
    struct csv_parser parser;
    if (!r || csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL | CSV_REPALL_NL))
        return gsim_no_memory(log, "reading a trace");
    /* libcsv's own block, of 128 bytes, has a quote that is left open copied 2000 times a chunk. */
    csv_set_blk_size(&parser, GSIM_MAX_FIELD_BYTES);
    *r = (struct reader){.user = user,
                         .arena = arena,
                         .log = log,
                         .path = gsim_input_path(input),
                         .comment = comment,
                         .line = 1,
                         .row_line = 1};
    int64_t errors_before = log->n_errors;
    enum gsim_status status = read_all(r, &parser, input);
    if (status == GSIM_OK && csv_fini(&parser, on_field, on_row, r) != 0)
        status = gsim_fail(log, GSIM_BAD_INPUT, r->path, row_begin(r), "a quote is left open");
    csv_free(&parser);
    if (status == GSIM_OK)
        status = r->status;
    if (status == GSIM_OK && !r->has_header)
        status = gsim_fail(log, GSIM_BAD_INPUT, r->path, 0,
                           "the file is empty; a trace has a header line and a line a job");
    if (status == GSIM_OK && log->n_errors > errors_before)
        status = gsim_arena_has_failed(arena) ? GSIM_FAILED : GSIM_BAD_INPUT;
    return status;
}

enum gsim_status gsim_csv_read(struct gsim_input *input, const struct gsim_csv_user *user,
                               struct gsim_arena *arena, struct gsim_log *log) {
    return read_input(input, '#', user, arena, log);
}

enum gsim_status gsim_csv_read_output(const char *path, char comment,
                                      const struct gsim_csv_user *user, struct gsim_arena *arena,
                                      struct gsim_log *log) {
    struct gsim_input *input = NULL;
    enum gsim_status status = gsim_input_open(path, arena, &input, log);
    if (status == GSIM_OK)
        status = read_input(input, comment, user, arena, log);
    gsim_input_close(input);
    return status;
}

enum gsim_status gsim_csv_read_file(const char *path, const struct gsim_csv_user *user,
                                    struct gsim_arena *arena, struct gsim_log *log) {
    return gsim_csv_read_output(path, '#', user, arena, log);
}

void gsim_csv_put(const char *text, FILE *out) {
    size_t n = strlen(text);
    bool is_plain = n == 0 || (strcspn(text, ",\"\r\n") == n && !strchr("# \t", *text) &&
                               text[n - 1] != ' ' && text[n - 1] != '\t');
    if (is_plain) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
