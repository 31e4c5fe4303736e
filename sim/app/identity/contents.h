/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of the files that runs name, each read once: what is hashed into the identity of a run is
 * what the database keeps. */
#ifndef GSIM_APP_CONTENTS_H
#define GSIM_APP_CONTENTS_H

#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

enum { GSIM_DIGEST_BYTES = 32 };
/* Texts up to this size are kept in the database unless --keep-inputs says otherwise. A trace of
 * about 20 000 jobs. */
enum { GSIM_CONTENT_MOST_KEPT = 1 << 20 };

struct gsim_content {
    const char *path;
    uint8_t digest[GSIM_DIGEST_BYTES];
    char sha256[2 * GSIM_DIGEST_BYTES + 1];
    int64_t size;
    const void *bytes; /* NULL: more than is kept */
};

struct gsim_contents;

/* most_kept: larger ones are hashed only. NULL: no memory. All of it lives in an arena of its own. */
struct gsim_contents *gsim_contents_new(int64_t most_kept);
void gsim_contents_free(struct gsim_contents *contents);
/* From any thread; what *out points to lives as long as contents. is_watched: runs open it again. */
enum gsim_status gsim_contents_take(struct gsim_contents *contents, const char *path,
                                    bool is_watched, const struct gsim_content **out,
                                    struct gsim_log *log);
/* A file that is built into the program ("models/devices/h200.ini"); NULL: there is none, or no
 * memory. */
const struct gsim_content *gsim_contents_built_in(struct gsim_contents *contents, const char *name);

/* An error for each watched file that has other contents than when it was taken: runs since may have
 * read either. */
enum gsim_status gsim_contents_check(struct gsim_contents *contents, struct gsim_log *log);

/* SHA-256 of a file as it is now. */
enum gsim_status gsim_content_read(const char *path, int64_t most_kept, struct gsim_arena *arena,
                                   struct gsim_content *out, struct gsim_log *log);
/* 64 hexadecimal digits and a NUL. */
void gsim_digest_hex(const uint8_t digest[GSIM_DIGEST_BYTES], char text[65]);

#endif
