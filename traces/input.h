/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of a trace file, decompressed on the way: plain, gzip or zstd, detected by the first bytes.
 * It is UTF-8: bytes that are not are taken for Latin-1, with a warning. */
#ifndef GSIM_TRACES_INPUT_H
#define GSIM_TRACES_INPUT_H

#include <stddef.h>

#include "traces/format.h"

enum { GSIM_INPUT_CHUNK = 256 * 1024 };

/* What messages call a path: "-" is standard input. */
const char *gsim_input_name(const char *path);
enum gsim_status gsim_input_open(const char *path, struct gsim_arena *arena,
                                 struct gsim_input **out, struct gsim_log *log);
/* Opens bytes in memory, which stay until the input is closed; path is for messages. */
enum gsim_status gsim_input_open_bytes(const char *path, const void *bytes, size_t n,
                                       struct gsim_arena *arena, struct gsim_input **out,
                                       struct gsim_log *log);
void gsim_input_close(struct gsim_input *input);
/* The next bytes, valid until the next call; *length is 0 at the end. */
enum gsim_status gsim_input_read(struct gsim_input *input, char **bytes, size_t *length,
                                 struct gsim_log *log);
/* The bytes of the next read, without consuming them; *length is 0 at the end. */
enum gsim_status gsim_input_peek(struct gsim_input *input, const char **bytes, size_t *length,
                                 struct gsim_log *log);
/* As gsim_input_peek, behind blanks and empty lines: what writes JSON may begin with these. */
enum gsim_status gsim_input_peek_text(struct gsim_input *input, const char **text, size_t *length,
                                      struct gsim_log *log);
/* The first line, without its end of line and without a byte order mark, not consumed;
 * NUL-terminated, cut at GSIM_INPUT_CHUNK bytes. Skips comments (#) and blank lines before it. */
enum gsim_status gsim_input_peek_line(struct gsim_input *input, const char **line,
                                      struct gsim_log *log);
const char *gsim_input_path(const struct gsim_input *input);

#endif
