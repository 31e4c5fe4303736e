/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a chunk at a time through zlib or libzstd, so that a trace of any size takes constant
 * memory. */
#define _POSIX_C_SOURCE 200809L
#include "traces/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "sim/base/text.h"

enum coding { PLAIN, GZIP, ZSTD };

struct gsim_input {
    const char *path;
    struct gsim_arena *arena;
    int file;
    /* in place of a file: the rest of the bytes in memory */
    const unsigned char *bytes;
    size_t n_bytes;
    enum coding coding;
    unsigned char *raw; /* as read */
    size_t raw_n, raw_at;
    bool is_raw_end, is_mid_frame;
    char *text; /* decompressed */
    char *utf8; /* the text where it was not all ASCII, in UTF-8; NULL: it was so far */
    char *handed; /* the one of the two that is handed out */
    unsigned char begun[4]; /* a character of which the end is still to come */
    uint8_t n_begun;
    bool has_foreign; /* bytes that are no UTF-8 */
    bool is_database; /* no text: handed out as the file has it */
    size_t peeked_n; /* peeked text that is still to be handed out */
    bool has_peeked;
    z_stream gzip;
    ZSTD_DStream *zstd;
};

static enum gsim_status fail(const struct gsim_input *input, const char *why,
                             struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, input->path, 0, "the file cannot be read: %s", why);
}

static void take_bytes(struct gsim_input *input) {
    size_t n = input->n_bytes < GSIM_INPUT_CHUNK ? input->n_bytes : GSIM_INPUT_CHUNK;
    if (n > 0)
        memcpy(input->raw, input->bytes, n);
    input->raw_n = n;
    input->bytes += n;
    input->n_bytes -= n;
    input->is_raw_end = input->n_bytes == 0;
}

static enum gsim_status fill_raw(struct gsim_input *input, struct gsim_log *log) {
    input->raw_at = input->raw_n = 0;
    if (input->bytes) {
        take_bytes(input);
        return GSIM_OK;
    }
    while (!input->is_raw_end && input->raw_n < GSIM_INPUT_CHUNK) {
        ssize_t n = read(input->file, input->raw + input->raw_n, GSIM_INPUT_CHUNK - input->raw_n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(input, strerror(errno), log);
        input->is_raw_end = n == 0;
        input->raw_n += (size_t)n;
    }
    return GSIM_OK;
}

static bool starts(const struct gsim_input *input, const char *magic, size_t n) {
    return input->raw_n >= n && memcmp(input->raw, magic, n) == 0;
}

/* What Windows writes as "Unicode". */
static const char utf16[] = "the file is in UTF-16; 'iconv -f UTF-16 -t UTF-8 FILE' writes it in "
                            "UTF-8, which gsim reads";

/* Files that are read as text would give errors about their first bytes. */
static const struct {
    const char *magic, *what;
} foreign[] = {
    {"\xfd"
     "7zXZ",
     "the file is compressed by xz; gsim reads text, gzip and zstd"},
    {"BZh", "the file is compressed by bzip2; gsim reads text, gzip and zstd"},
    {"PK\x03\x04", "the file is a zip archive or a spreadsheet; gsim reads text, gzip and zstd"},
    {"\xff\xfe", utf16},
    {"\xfe\xff", utf16},
};

static enum gsim_status refuse_foreign(const struct gsim_input *input, struct gsim_log *log) {
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (starts(input, foreign[i].magic, strlen(foreign[i].magic)))
            return fail(input, foreign[i].what, log);
    return GSIM_OK;
}

static enum gsim_status start_coding(struct gsim_input *input, struct gsim_log *log) {
    static const char database[] = "SQLite format 3";
    input->is_database = starts(input, database, sizeof database);
    if (starts(input, "\x1f\x8b", 2)) {
        input->coding = GZIP;
        if (inflateInit2(&input->gzip, 15 + 16) != Z_OK)
            return gsim_no_memory(log, "opening a gzip file");
    } else if (starts(input, "\x28\xb5\x2f\xfd", 4)) {
        input->coding = ZSTD;
        input->zstd = ZSTD_createDStream();
        if (!input->zstd)
            return gsim_no_memory(log, "opening a zstd file");
    }
    return refuse_foreign(input, log);
}

const char *gsim_input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum gsim_status gsim_input_open(const char *path, struct gsim_arena *arena,
                                 struct gsim_input **out, struct gsim_log *log) {
    struct gsim_input *input = gsim_arena_alloc(arena, sizeof *input);
    *out = input;
    if (!input)
        return gsim_no_memory(log, "opening a trace");
    bool is_stdin = strcmp(path, "-") == 0;
    input->path = gsim_input_name(path);
    input->arena = arena;
    input->raw = gsim_arena_grow_raw(arena, NULL, GSIM_INPUT_CHUNK);
    input->text = gsim_arena_grow_raw(arena, NULL, GSIM_INPUT_CHUNK);
    input->file = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (input->file < 0 || fstat(input->file, &about) != 0)
        return fail(input, strerror(errno), log);
    if (S_ISDIR(about.st_mode))
        return fail(input, "a directory; a trace is a file", log);
    if (!input->raw || !input->text)
        return gsim_no_memory(log, "opening a trace");
    enum gsim_status status = fill_raw(input, log);
    return status == GSIM_OK ? start_coding(input, log) : status;
}

enum gsim_status gsim_input_open_bytes(const char *path, const void *bytes, size_t n,
                                       struct gsim_arena *arena, struct gsim_input **out,
                                       struct gsim_log *log) {
    struct gsim_input *input = gsim_arena_alloc(arena, sizeof *input);
    *out = input;
    if (!input)
        return gsim_no_memory(log, "opening bytes in memory");
    *input =
        (struct gsim_input){.path = path, .arena = arena, .file = -1, .bytes = bytes, .n_bytes = n};
    input->raw = gsim_arena_grow_raw(arena, NULL, GSIM_INPUT_CHUNK);
    input->text = gsim_arena_grow_raw(arena, NULL, GSIM_INPUT_CHUNK);
    if (!input->raw || !input->text)
        return gsim_no_memory(log, "opening bytes in memory");
    take_bytes(input);
    return start_coding(input, log);
}

void gsim_input_close(struct gsim_input *input) {
    if (!input)
        return;
    if (input->file > STDERR_FILENO)
        (void)close(input->file);
    if (input->coding == GZIP)
        (void)inflateEnd(&input->gzip);
    ZSTD_freeDStream(input->zstd);
    gsim_arena_drop(input->arena, input->raw);
    gsim_arena_drop(input->arena, input->text);
    gsim_arena_drop(input->arena, input->utf8);
    input->utf8 = NULL;
    input->raw = NULL;
    input->text = NULL;
}

const char *gsim_input_path(const struct gsim_input *input) {
    return input->path;
}

/* --- decompression: fills text, returns its length -------------------------------------------- */

static enum gsim_status inflate_some(struct gsim_input *input, size_t *length,
                                     struct gsim_log *log) {
    z_stream *z = &input->gzip;
    z->next_in = input->raw + input->raw_at;
    z->avail_in = (uInt)(input->raw_n - input->raw_at);
    z->next_out = (unsigned char *)input->text;
    z->avail_out = GSIM_INPUT_CHUNK;
    int result = inflate(z, Z_NO_FLUSH);
    input->raw_at = input->raw_n - z->avail_in;
    *length = GSIM_INPUT_CHUNK - z->avail_out;
    input->is_mid_frame = result != Z_STREAM_END;
    if (result == Z_STREAM_END) /* a file of several members is one stream */
        result = inflateReset(z);
    return result == Z_OK || result == Z_BUF_ERROR ? GSIM_OK
                                                   : fail(input, "the gzip data is damaged", log);
}

static enum gsim_status unzstd_some(struct gsim_input *input, size_t *length,
                                    struct gsim_log *log) {
    ZSTD_inBuffer in = {input->raw, input->raw_n, input->raw_at};
    ZSTD_outBuffer out = {input->text, GSIM_INPUT_CHUNK, 0};
    size_t result = ZSTD_decompressStream(input->zstd, &out, &in);
    input->raw_at = in.pos;
    *length = out.pos;
    if (ZSTD_isError(result))
        return fail(input, "the zstd data is damaged", log);
    input->is_mid_frame = result != 0;
    return GSIM_OK;
}

/* A plain file is handed out where it was read: the two buffers change places. */
static enum gsim_status exchange(struct gsim_input *input, size_t *length) {
    unsigned char *read = input->raw;
    assert(input->raw_at == 0);
    input->raw = (unsigned char *)input->text;
    input->text = (char *)read;
    *length = input->raw_at = input->raw_n;
    return GSIM_OK;
}

static enum gsim_status decode_some(struct gsim_input *input, size_t *length,
                                    struct gsim_log *log) {
    if (input->coding == GZIP)
        return inflate_some(input, length, log);
    return input->coding == ZSTD ? unzstd_some(input, length, log) : exchange(input, length);
}

static enum gsim_status read_text(struct gsim_input *input, size_t *length, struct gsim_log *log) {
    for (*length = 0;;) {
        enum gsim_status status = GSIM_OK;
        if (input->raw_at == input->raw_n)
            status = fill_raw(input, log);
        if (status != GSIM_OK)
            return status;
        bool is_end = input->raw_at == input->raw_n;
        if (is_end && input->coding == PLAIN)
            return GSIM_OK;
        if (is_end && !input->is_mid_frame)
            return GSIM_OK;
        status = decode_some(input, length, log);
        if (status != GSIM_OK || *length > 0)
            return status;
        if (is_end)
            return fail(input, "the compressed data ends too early", log);
    }
}

/* --- UTF-8: names in results are, as JSON, SQLite and XML have to be -------------------------- */

/* Looks at many bytes a time: nearly all files are ASCII from end to end. */
static bool is_ascii(const char *text, size_t n) {
    uint64_t any = 0, some[4];
    size_t i = 0;
    for (; n - i >= sizeof some; i += sizeof some) {
        memcpy(some, text + i, sizeof some);
        any |= some[0] | some[1] | some[2] | some[3];
    }
    for (; i < n; i++)
        any |= (unsigned char)text[i];
    return (any & UINT64_C(0x8080808080808080)) == 0;
}

/* Bytes of the character that begins with this one; 0: none does. */
static uint8_t length_by(unsigned char first) {
    return first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/* Puts a byte that is no UTF-8 as the character of Latin-1. */
static char *put_foreign(struct gsim_input *input, unsigned char byte, char *to,
                         struct gsim_log *log) {
    if (!input->has_foreign) {
        int n = 0; /* the text before it in its line */
        while (n < 24 && to - n > input->utf8 && (unsigned char)to[-n - 1] >= ' ')
            n++;
        while (n > 0 && ((unsigned char)to[-n] & 0xc0) == 0x80)
            n--; /* not from the middle of a character on */
        gsim_warn(log, input->path, 0,
                  "bytes that are not UTF-8 (the first behind '%.*s') are taken for Latin-1; where "
                  "they are of another code, 'iconv -f CODE -t UTF-8 FILE' writes them in UTF-8",
                  n, to - n);
    }
    input->has_foreign = true;
    *to++ = (char)(0xc0 | byte >> 6);
    *to++ = (char)(0x80 | (byte & 0x3f));
    return to;
}

/* Puts the character that was begun: whole, or its bytes one by one. */
static char *put_begun(struct gsim_input *input, bool is_whole, char *to, struct gsim_log *log) {
    for (uint8_t i = 0; i < input->n_begun; i++) {
        if (is_whole)
            *to++ = (char)input->begun[i];
        else
            to = put_foreign(input, input->begun[i], to, log);
    }
    input->n_begun = 0;
    return to;
}

static char *put_byte(struct gsim_input *input, unsigned char byte, char *to,
                      struct gsim_log *log) {
    char whole[5] = "";
    if (input->n_begun > 0 && (byte & 0xc0) != 0x80)
        to = put_begun(input, false, to, log);
    if (input->n_begun == 0 && length_by(byte) == 0) {
        if (byte >= 0x80)
            return put_foreign(input, byte, to, log);
        *to++ = (char)byte;
        return to;
    }
    input->begun[input->n_begun++] = byte;
    if (input->n_begun < length_by(input->begun[0]))
        return to;
    memcpy(whole, input->begun, input->n_begun);
    return put_begun(input, gsim_text_utf8_length(whole) == input->n_begun, to, log);
}

/* Makes the bytes that were read UTF-8. A character may begin in one chunk and end in the next. */
static enum gsim_status read_utf8(struct gsim_input *input, size_t *length, struct gsim_log *log) {
    enum gsim_status status = read_text(input, length, log);
    input->handed = input->text;
    if (status != GSIM_OK || input->is_database ||
        (input->n_begun == 0 && is_ascii(input->text, *length)))
        return status;
    if (!input->utf8) /* each byte may become two, and those of a character that was begun */
        input->utf8 =
            gsim_arena_grow_raw(input->arena, NULL, 2 * (GSIM_INPUT_CHUNK + sizeof input->begun));
    if (!input->utf8)
        return gsim_no_memory(log, "reading a trace");
    char *to = input->utf8;
    for (size_t i = 0; i < *length; i++)
        to = put_byte(input, (unsigned char)input->text[i], to, log);
    if (*length == 0)
        to = put_begun(input, false, to, log);
    input->handed = input->utf8;
    *length = (size_t)(to - input->utf8);
    /* a chunk may be no more than the begin of a character */
    return *length > 0 ? GSIM_OK : read_utf8(input, length, log);
}

enum gsim_status gsim_input_read(struct gsim_input *input, char **bytes, size_t *length,
                                 struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    if (input->has_peeked)
        *length = input->peeked_n;
    else
        status = read_utf8(input, length, log);
    input->has_peeked = false;
    *bytes = input->handed;
    return status;
}

enum gsim_status gsim_input_peek(struct gsim_input *input, const char **bytes, size_t *length,
                                 struct gsim_log *log) {
    enum gsim_status status = input->has_peeked ? GSIM_OK : read_utf8(input, &input->peeked_n, log);
    input->has_peeked = status == GSIM_OK;
    *bytes = input->handed;
    *length = status == GSIM_OK ? input->peeked_n : 0;
    return status;
}

enum gsim_status gsim_input_peek_text(struct gsim_input *input, const char **text, size_t *length,
                                      struct gsim_log *log) {
    enum gsim_status status = gsim_input_peek(input, text, length, log);
    for (; *length > 0 && strchr(" \t\r\n", **text); (*text)++)
        (*length)--;
    return status;
}

enum gsim_status gsim_input_peek_line(struct gsim_input *input, const char **line,
                                      struct gsim_log *log) {
    const char *at;
    size_t length;
    enum gsim_status status = gsim_input_peek(input, &at, &length, log);
    if (status != GSIM_OK)
        return status;
    const char *end = at + length;
    if (length >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    while (at < end && (*at == '#' || *at == '\n' || *at == '\r')) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    size_t n = (size_t)((newline ? newline : end) - at);
    if (n > 0 && at[n - 1] == '\r')
        n--;
    char *copy = gsim_arena_strndup(input->arena, at, n);
    *line = copy;
    return copy ? GSIM_OK : gsim_no_memory(log, "reading a trace");
}
