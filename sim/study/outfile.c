/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear only when they are complete. */
#define _POSIX_C_SOURCE 200809L
#include "sim/study/outfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void gsim_outfile_abandon(struct gsim_outfile *out) {
    if (out->file)
        (void)fclose(out->file);
    if (out->beside)
        (void)unlink(out->beside);
    out->file = NULL;
}

static enum gsim_status cannot_write(struct gsim_outfile *out, struct gsim_log *log) {
    int error = errno;
    gsim_outfile_abandon(out);
    return gsim_fail(log, GSIM_FAILED, out->path, 0, "the file cannot be written: %s",
                     error ? strerror(error) : "not all of it; is the disk full?");
}

enum gsim_status gsim_outfile_open(struct gsim_outfile *out, const char *path,
                                   struct gsim_arena *arena, struct gsim_log *log) {
    *out = (struct gsim_outfile){.path = path};
    if (strcmp(path, "-") == 0)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "'-' would be standard output, where this does not go; name a file");
    out->beside = gsim_arena_printf(arena, "%s.part", path);
    if (!out->beside)
        return gsim_no_memory(log, "writing a file");
    if (strcmp(path, "/dev/stdout") == 0 || strncmp(path, "/dev/", 5) == 0)
        out->beside = NULL; /* a rename would replace the device by a file */
    errno = 0;
    out->file = fopen(out->beside ? out->beside : path, "wb");
    return out->file ? GSIM_OK : cannot_write(out, log);
}

enum gsim_status gsim_outfile_close(struct gsim_outfile *out, struct gsim_log *log) {
    FILE *file = out->file;
    errno = 0; /* the reason of an earlier failed write is lost */
    bool is_bad = fflush(file) != 0 || ferror(file);
    if (is_bad)
        return cannot_write(out, log);
    out->file = NULL;
    if (fclose(file) != 0 || (out->beside && rename(out->beside, out->path) != 0))
        return cannot_write(out, log);
    return GSIM_OK;
}

void gsim_outfile_forget(const char *path, struct gsim_arena *arena) {
    const char *beside = gsim_arena_printf(arena, "%s.part", path);
    if (beside)
        (void)remove(beside);
}
