/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a site's file. */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include "sim/site/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 64 << 20 };

static enum gsim_status cannot_read(const char *path, const char *why, struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "the file cannot be read: %s", why);
}

enum gsim_status gsim_site_read_text(const char *path, struct gsim_arena *arena, char **text,
                                     struct gsim_log *log) {
    FILE *file = fopen(path, "rb");
    struct stat about;
    enum gsim_status status = GSIM_OK;
    if (!file)
        return cannot_read(path, strerror(errno), log);
    if (fstat(fileno(file), &about) == 0 && S_ISFIFO(about.st_mode))
        status = cannot_read(path,
                             "a pipe, which can be read once, and the settings are read by each "
                             "run that has them; a file (>site.conf) can be read again",
                             log);
    else if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        status = cannot_read(path, "not a regular file", log);
    else if (about.st_size > MOST_BYTES)
        status = cannot_read(path, "larger than 64 MiB", log);
    else if (!(*text = gsim_arena_alloc(arena, (size_t)about.st_size + 1)))
        status = gsim_no_memory(log, "reading a site's file");
    size_t size = status == GSIM_OK ? (size_t)about.st_size : 0;
    size_t length = status == GSIM_OK ? fread(*text, 1, size, file) : 0;
    (void)fclose(file);
    if (status == GSIM_OK && memchr(*text, '\0', length))
        status = gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                           "the file has a NUL byte: a site's file is text");
    return status;
}
