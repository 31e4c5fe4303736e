/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/cli/output_file.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/study/outfile.h"

/* A usage error if the file exists and --force is not given. A device file may always be
 * written. */
static enum gsim_status check_new(struct gsim_cli *cli, const char *path) {
    if (gsim_option_is_on(cli, GSIM_OPT_FORCE) || access(path, F_OK) != 0 ||
        strncmp(path, "/dev/", 5) == 0)
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, path, 0,
                     "the file is there already; --force overwrites it");
}

/* Whether an existing file begins with this text, or is empty. */
static bool is_own(const char *path, const char *begins_with) {
    char start[64];
    size_t n = strlen(begins_with);
    gzFile file = gzopen(path, "rb"); /* gzopen reads an uncompressed file unchanged */
    assert(n <= sizeof start);
    if (!file)
        return false;
    int got = gzread(file, start, (unsigned)n);
    (void)gzclose(file);
    return got == 0 || (got == (int)n && memcmp(start, begins_with, n) == 0);
}

enum gsim_status gsim_output_file_check_own(struct gsim_cli *cli, const char *path,
                                            const char *begins_with) {
    struct stat there;
    if (stat(path, &there) == 0 && S_ISREG(there.st_mode) && is_own(path, begins_with))
        return GSIM_OK;
    return check_new(cli, path);
}

enum gsim_status gsim_output_file_open(struct gsim_cli *cli, struct gsim_outfile *out) {
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    *out = (struct gsim_outfile){.file = cli->io->out};
    if (!path || strcmp(path, "-") == 0)
        return GSIM_OK;
    enum gsim_status status = check_new(cli, path);
    return status == GSIM_OK ? gsim_outfile_open(out, path, cli->arena, cli->log) : status;
}

enum gsim_status gsim_output_file_close(struct gsim_cli *cli, struct gsim_outfile *out) {
    return out->path ? gsim_outfile_close(out, cli->log) : GSIM_OK;
}
