/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* memmem */
#include "sim/app/figures/made.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* --- writing the mark ------------------------------------------------------------------------- */

static void put_big_endian(unsigned char *at, unsigned long value) {
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Inserts a chunk tEXt before IEND, which is the last chunk and has twelve bytes. */
static bool mark_png(FILE *file) {
    enum { FRAME = 12 };
    static const char text[] = "tEXtSoftware\0" GSIM_MADE_MARK;
    const size_t n = sizeof text - 1;
    unsigned char end[FRAME], length[4], sum[4];
    put_big_endian(length, (unsigned long)(n - 4));
    put_big_endian(sum, crc32(0, (const unsigned char *)text, (unsigned)n));
    return fseek(file, -FRAME, SEEK_END) == 0 && fread(end, 1, FRAME, file) == FRAME &&
           memcmp(end + 4, "IEND", 4) == 0 && fseek(file, -FRAME, SEEK_END) == 0 &&
           fwrite(length, 1, sizeof length, file) == sizeof length &&
           fwrite(text, 1, n, file) == n && fwrite(sum, 1, sizeof sum, file) == sizeof sum &&
           fwrite(end, 1, FRAME, file) == FRAME;
}

static bool put_mark(FILE *file, enum gsim_figure_format format) {
    if (format == GSIM_FIGURE_PNG)
        return mark_png(file);
    const char *remark = format == GSIM_FIGURE_SVG ? "<!-- " GSIM_MADE_MARK " -->\n"
                                                   : "% " GSIM_MADE_MARK "\n"; /* PDF and TeX */
    return fseek(file, 0, SEEK_END) == 0 && fputs(remark, file) >= 0;
}

enum gsim_status gsim_made_mark(const char *path, enum gsim_figure_format format,
                                struct gsim_log *log) {
    errno = 0; /* a picture that was cut short fails without one */
    FILE *file = fopen(path, "r+b");
    bool is_fine = file && put_mark(file, format);
    if (file && fclose(file) != 0)
        is_fine = false;
    return is_fine ? GSIM_OK
                   : gsim_fail(log, GSIM_FAILED, path, 0, "cannot mark the figure: %s",
                               errno ? strerror(errno)
                                     : "the file is no whole picture; is the disk full?");
}

/* --- finding the mark ------------------------------------------------------------------------- */

/* Whether the mark is in the 512 bytes that begin at the offset. */
static bool has_mark(FILE *file, long offset, int origin) {
    char text[512];
    if (fseek(file, offset, origin) != 0)
        rewind(file); /* the file is shorter than the offset */
    size_t n = fread(text, 1, sizeof text, file);
    return memmem(text, n, GSIM_MADE_MARK, sizeof GSIM_MADE_MARK - 1) != NULL;
}

bool gsim_made_is(const char *path) {
    FILE *file = fopen(path, "rb");
    bool is_own = file && (has_mark(file, 0, SEEK_SET) || has_mark(file, -512, SEEK_END));
    if (file)
        (void)fclose(file);
    return is_own;
}

enum gsim_status gsim_made_check(struct gsim_cli *cli, const char *path) {
    struct stat there;
    if (gsim_option_is_on(cli, GSIM_OPT_FORCE) || stat(path, &there) != 0 ||
        !S_ISREG(there.st_mode) || there.st_size == 0 || gsim_made_is(path))
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, path, 0,
                     "the file exists, and gsim did not make it; --force overwrites it");
}
