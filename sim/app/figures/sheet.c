/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/figures/sheet.h"

#include <errno.h>
#include <string.h>

#include "sim/app/figures/gnuplot.h"
#include "sim/app/figures/made.h"
#include "sim/base/text.h"

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The form by the ending of the file; -1: none. */
static int format_of(const char *path) {
    const char *name = file_name(path), *dot = strrchr(name, '.');
    return dot && dot > name ? gsim_text_choice(dot + 1, "pdf|svg|png") : -1;
}

enum gsim_status gsim_sheet_check(struct gsim_cli *cli) {
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    if (format_of(path) < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "-o: '%s' does not end in .pdf, .svg or .png", path);
    return gsim_made_check(cli, path);
}

static enum gsim_status write_script(struct gsim_cli *cli, const struct gsim_folder *folder,
                                     const struct gsim_figure_request *request,
                                     const struct gsim_sheet *sheet) {
    const char *path = gsim_folder_path(folder, "script.gp");
    FILE *out = path ? fopen(path, "wb") : NULL;
    if (!out)
        return gsim_fail(cli->log, GSIM_FAILED, path, 0, "the file cannot be written: %s",
                         strerror(errno));
    fputs("set encoding utf8\n", out);
    gsim_figure_terminal(request, sheet->height_in, out);
    fprintf(out, "is_double = %d\nheight = %.9g\n%s\n", sheet->is_double, sheet->height_in,
            gsim_figure_file("common.gp", cli->arena));
    bool is_fine = sheet->put(sheet->arg, request->format, out);
    fputs(gsim_figure_file(sheet->drawing, cli->arena), out);
    bool is_bad = ferror(out) != 0;
    if (fclose(out) != 0 || is_bad)
        return gsim_fail(cli->log, GSIM_FAILED, path, 0, "the file cannot be written: %s",
                         strerror(errno));
    return is_fine ? GSIM_OK : gsim_no_memory(cli->log, "drawing");
}

static enum gsim_status draw_sheet(struct gsim_cli *cli, const struct gsim_folder *folder,
                                   const struct gsim_figure_request *request,
                                   const struct gsim_sheet *sheet) {
    enum gsim_status status = write_script(cli, folder, request, sheet);
    if (status == GSIM_OK)
        status = gsim_gnuplot_draw(folder, "script.gp", request->output, cli->io->stop, cli->log);
    const char *from = status == GSIM_OK ? gsim_folder_path(folder, request->output) : NULL;
    const char *to = cli->value[GSIM_OPT_OUTPUT];
    if (status == GSIM_OK)
        status = from ? gsim_made_mark(from, request->format, cli->log)
                      : gsim_no_memory(cli->log, "drawing");
    if (status == GSIM_OK && rename(from, to) != 0)
        status = gsim_fail(cli->log, GSIM_FAILED, to, 0, "the file cannot be written: %s",
                           strerror(errno));
    return status;
}

enum gsim_status gsim_sheet_draw(struct gsim_cli *cli, const struct gsim_sheet *sheet) {
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    struct gsim_figure_request request = {.format = (enum gsim_figure_format)format_of(path),
                                          .is_double = sheet->is_double,
                                          .output = file_name(path)};
    struct gsim_folder folder;
    enum gsim_status status = gsim_folder_open(&folder, path, cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    status = draw_sheet(cli, &folder, &request, sheet);
    gsim_folder_close(&folder);
    return status;
}
