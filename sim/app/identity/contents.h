/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of the files that runs name, each read once: the bytes that identify a run are the bytes
 * that the database keeps. */
#ifndef GSIM_APP_CONTENTS_H
#define GSIM_APP_CONTENTS_H

#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

enum { GSIM_DIGEST_BYTES = 32 };
/* Texts up to this size, that of a trace of about 20 000 jobs, are kept in the database unless
 * --keep-inputs sets another limit. */
enum { GSIM_CONTENT_MOST_KEPT = 1 << 20 };

struct gsim_file_content {
    const char *path;
    uint8_t digest[GSIM_DIGEST_BYTES];
    char sha256[2 * GSIM_DIGEST_BYTES + 1];
    int64_t size;
    const void *bytes; /* NULL: the file is larger than the limit */
};

struct gsim_contents;

/* Makes an empty set in an arena of its own. Files larger than most_kept are hashed only. NULL: no
 * memory. */
struct gsim_contents *gsim_contents_new(int64_t most_kept);
void gsim_contents_free(struct gsim_contents *contents);
/* Reads a file unless it was read before. Any thread may call this; *out lives as long as
 * `contents`. is_watched: runs will open the file again. */
enum gsim_status gsim_contents_take(struct gsim_contents *contents, const char *path,
                                    bool is_watched, const struct gsim_file_content **out,
                                    struct gsim_log *log);
/* A file that is built into the program ("models/devices/h200.ini"); NULL: there is no such file,
 * or no memory. */
const struct gsim_file_content *gsim_contents_built_in(struct gsim_contents *contents,
                                                       const char *name);

/* Reports an error for each watched file that has changed since it was read: later runs may have
 * read either version. */
enum gsim_status gsim_contents_check(struct gsim_contents *contents, struct gsim_log *log);

/* Reads a file as it is now, and computes its SHA-256. */
enum gsim_status gsim_content_read(const char *path, int64_t most_kept, struct gsim_arena *arena,
                                   struct gsim_file_content *out, struct gsim_log *log);
/* Writes 64 hexadecimal digits and a NUL. */
void gsim_digest_hex(const uint8_t digest[GSIM_DIGEST_BYTES], char text[65]);

#endif
