/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim plot: one figure of a database. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/app/cli.h"
#include "sim/app/gnuplot.h"
#include "sim/base/text.h"

/* What is drawn, and into which files. */
struct plot {
    struct gsim_figure figure;
    struct gsim_figure_request request;
    const char *output;
    char *stem; /* output without its ending */
};

static enum gsim_status read_output(struct gsim_cli *cli, struct plot *plot) {
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    if (!path)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "where does the figure go? -o FILE.pdf, .svg, .png or .tex");
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int format = dot && dot > name ? gsim_text_choice(dot + 1, "pdf|svg|png|tex") : -1;
    if (format < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "-o: '%s' does not end in .pdf, .svg, .png or .tex", path);
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                             "-o: a file name with control characters in it");
    plot->output = path;
    plot->request =
        (struct gsim_figure_request){.format = (enum gsim_figure_format)format,
                                     .is_double = gsim_option_is_on(cli, GSIM_OPT_DOUBLE),
                                     .output = name};
    plot->stem = gsim_arena_strndup(cli->arena, path, (size_t)(dot - path));
    return plot->stem ? GSIM_OK : gsim_no_memory(cli->log, "drawing");
}

static enum gsim_status read_request(struct gsim_cli *cli, struct plot *plot) {
    enum gsim_status status =
        gsim_one_operand(cli, "database", "gsim plot results.db --figure NAME -o fig.pdf");
    if (status != GSIM_OK)
        return status;
    if (!cli->value[GSIM_OPT_FIGURE])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which figure? --figure NAME; 'gsim list figures' shows them");
    status = gsim_figure_find(cli->value[GSIM_OPT_FIGURE], cli->arena, &plot->figure, cli->log);
    return status == GSIM_OK ? read_output(cli, plot) : status;
}

/* From the folder of gnuplot to beside the output: STEM and an ending. */
static enum gsim_status take(struct gsim_cli *cli, const struct gsim_folder *folder,
                             const char *from, const char *to) {
    const char *path = from ? gsim_folder_path(folder, from) : NULL;
    if (!path || !to)
        return gsim_no_memory(cli->log, "drawing");
    if (rename(path, to) != 0)
        return gsim_fail(cli->log, GSIM_FAILED, to, 0, "cannot write it: %s", strerror(errno));
    return GSIM_OK;
}

static const char *with_ending(struct gsim_cli *cli, const char *stem, const char *ending) {
    return gsim_arena_printf(cli->arena, "%s%s", stem, ending);
}

static enum gsim_status draw(struct gsim_cli *cli, struct plot *plot, struct gsim_db *db) {
    struct gsim_folder folder;
    enum gsim_status status = gsim_folder_open(&folder, plot->output, cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    status = gsim_gnuplot_draw(&folder, &plot->figure, db, &plot->request, cli->log);
    if (status == GSIM_OK && plot->request.format == GSIM_FIGURE_TEX) {
        const char *slash = strrchr(plot->stem, '/');
        status = take(cli, &folder, with_ending(cli, slash ? slash + 1 : plot->stem, ".pdf"),
                      with_ending(cli, plot->stem, ".pdf"));
    }
    if (status == GSIM_OK)
        status = take(cli, &folder, plot->request.output, plot->output);
    /* The script is kept also where gnuplot is missing. */
    if (gsim_option_is_on(cli, GSIM_OPT_KEEP) && (status == GSIM_OK || status == GSIM_FAILED)) {
        enum gsim_status kept =
            take(cli, &folder, "script.gp", with_ending(cli, plot->stem, ".gp"));
        status = status == GSIM_OK ? kept : status;
    }
    gsim_folder_close(&folder);
    return status;
}

enum gsim_status gsim_command_plot(struct gsim_cli *cli) {
    struct plot plot;
    struct gsim_db *db = NULL;
    struct gsim_db_choice choice = {.where = cli->value[GSIM_OPT_WHERE],
                                    .x = cli->value[GSIM_OPT_X],
                                    .y = cli->value[GSIM_OPT_Y],
                                    .value = cli->value[GSIM_OPT_VALUE]};
    enum gsim_status status = read_request(cli, &plot);
    if (status != GSIM_OK)
        return status;
    status = gsim_db_open_existing(cli->operand[0], cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_choose(db, &choice, cli->log);
    if (status == GSIM_OK)
        status = gsim_figure_prepare(db, cli->arena, cli->log);
    if (status == GSIM_OK)
        status = draw(cli, &plot, db);
    gsim_db_close(db);
    return status;
}
