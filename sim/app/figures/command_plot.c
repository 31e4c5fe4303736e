/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim plot: one figure of a database. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/app/cli/options.h"
#include "sim/app/figures/gnuplot.h"
#include "sim/app/figures/made.h"
#include "sim/base/text.h"

static const char script[] = "script.gp";

/* The figure to draw, and the files to write. */
struct plot {
    struct gsim_figure figure;
    struct gsim_figure_request request;
    const char *output;
    char *stem; /* the output's path without its ending */
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

/* Moves a file from gnuplot's folder to the path `to`. */
static enum gsim_status take(struct gsim_cli *cli, const struct gsim_folder *folder,
                             const char *from, const char *to) {
    const char *path = from ? gsim_folder_path(folder, from) : NULL;
    if (!path || !to)
        return gsim_no_memory(cli->log, "drawing");
    if (rename(path, to) != 0)
        return gsim_fail(cli->log, GSIM_FAILED, to, 0, "the file cannot be written: %s",
                         strerror(errno));
    return GSIM_OK;
}

static const char *with_ending(struct gsim_cli *cli, const char *stem, const char *ending) {
    return gsim_arena_printf(cli->arena, "%s%s", stem, ending);
}

/* The output of a page without its ending: STEM, and STEM-2 for the second page. */
static const char *page_stem(struct gsim_cli *cli, const struct plot *plot) {
    if (plot->request.page == 1)
        return plot->stem;
    return gsim_arena_printf(cli->arena, "%s-%d", plot->stem, plot->request.page);
}

static enum gsim_status check(struct gsim_cli *cli, const char *path) {
    return path ? gsim_made_check(cli, path) : gsim_no_memory(cli->log, "drawing");
}

/* Marks a picture as made by gsim, and moves it to its path. */
static enum gsim_status take_picture(struct gsim_cli *cli, const struct gsim_folder *folder,
                                     const char *from, const char *to,
                                     enum gsim_figure_format format) {
    const char *path = from ? gsim_folder_path(folder, from) : NULL;
    enum gsim_status status = check(cli, to);
    if (status == GSIM_OK)
        status =
            path ? gsim_made_mark(path, format, cli->log) : gsim_no_memory(cli->log, "drawing");
    return status == GSIM_OK ? take(cli, folder, from, to) : status;
}

static enum gsim_status take_page(struct gsim_cli *cli, const struct plot *plot,
                                  const struct gsim_folder *folder) {
    const char *stem = page_stem(cli, plot), *ending = strrchr(plot->output, '.');
    const char *slash = stem ? strrchr(stem, '/') : NULL;
    const char *to = plot->request.page > 1 && stem ? with_ending(cli, stem, ending) : plot->output;
    enum gsim_status status = check(cli, to);
    if (status == GSIM_OK && plot->request.format == GSIM_FIGURE_TEX)
        status = take_picture(cli, folder, with_ending(cli, slash ? slash + 1 : stem, ".pdf"),
                              with_ending(cli, stem, ".pdf"), GSIM_FIGURE_PDF);
    return status == GSIM_OK
               ? take_picture(cli, folder, plot->request.output, to, plot->request.format)
               : status;
}

static enum gsim_status keep_script(struct gsim_cli *cli, const struct plot *plot,
                                    const struct gsim_folder *folder) {
    const char *stem = page_stem(cli, plot);
    const char *path = stem ? with_ending(cli, stem, ".gp") : NULL;
    enum gsim_status status = check(cli, path);
    return status == GSIM_OK ? take(cli, folder, script, path) : status;
}

/* Draws a page. gnuplot writes it under its final name, since a TeX file includes its picture by
 * name. */
static enum gsim_status draw_page(struct gsim_cli *cli, struct plot *plot, struct gsim_db *db,
                                  int *n_pages) {
    struct gsim_folder folder;
    const char *stem = page_stem(cli, plot), *slash = stem ? strrchr(stem, '/') : NULL;
    plot->request.output =
        stem ? with_ending(cli, slash ? slash + 1 : stem, strrchr(plot->output, '.')) : NULL;
    if (!plot->request.output)
        return gsim_no_memory(cli->log, "drawing");
    enum gsim_status status = gsim_folder_open(&folder, plot->output, cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    status =
        gsim_gnuplot_write(&folder, script, &plot->figure, db, &plot->request, n_pages, cli->log);
    if (status == GSIM_OK)
        status = gsim_gnuplot_draw(&folder, script, plot->request.output, cli->io->stop, cli->log);
    enum gsim_status drawn = status;
    if (status == GSIM_OK)
        status = take_page(cli, plot, &folder);
    /* The script is kept even if gnuplot is missing. */
    if (gsim_option_is_on(cli, GSIM_OPT_KEEP) && (drawn == GSIM_OK || drawn == GSIM_FAILED)) {
        enum gsim_status kept = keep_script(cli, plot, &folder);
        status = status == GSIM_OK ? kept : status;
    }
    gsim_folder_close(&folder);
    return status;
}

/* Removes a file of an earlier, longer figure of this name; a file that gsim did not make stays. */
static bool remove_own(const char *path) {
    return path && gsim_made_is(path) && unlink(path) == 0;
}

/* Removes earlier pages behind the last one: they would pass for pages of this figure. */
static void remove_later(struct gsim_cli *cli, struct plot *plot, int n_pages) {
    const char *ending = strrchr(plot->output, '.');
    int n_removed = 0;
    for (plot->request.page = n_pages + 1;; plot->request.page++) {
        const char *stem = page_stem(cli, plot);
        if (!stem || !remove_own(with_ending(cli, stem, ending)))
            break;
        n_removed++;
        (void)remove_own(with_ending(cli, stem, ".gp"));
        if (plot->request.format == GSIM_FIGURE_TEX)
            (void)remove_own(with_ending(cli, stem, ".pdf"));
    }
    if (n_removed > 0)
        gsim_warn(cli->log, NULL, 0, "%d page%s of an earlier, longer %s removed, from %s-%d%s on",
                  n_removed, n_removed == 1 ? "" : "s", plot->output, plot->stem, n_pages + 1,
                  ending);
}

static enum gsim_status draw(struct gsim_cli *cli, struct plot *plot, struct gsim_db *db) {
    int n_pages = 1;
    /* checked before the figure is drawn */
    enum gsim_status status = gsim_made_check(cli, plot->output);
    for (plot->request.page = 1; plot->request.page <= n_pages && status == GSIM_OK;
         plot->request.page++)
        status = draw_page(cli, plot, db, &n_pages);
    if (status == GSIM_OK)
        remove_later(cli, plot, n_pages);
    if (status == GSIM_OK && n_pages > 1)
        gsim_warn(cli->log, NULL, 0,
                  "figure '%s' of these runs has %d pages: %s and %s-2%s%s; --where chooses runs",
                  plot->figure.name, n_pages, plot->output, plot->stem, strrchr(plot->output, '.'),
                  n_pages > 2 ? " and so on" : "");
    return status;
}

static void warn_of_changed(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_cli *cli = arg;
    if (n > 0 && values[0].number > 0)
        gsim_warn(cli->log, cli->operand[0], 0,
                  "the figure is of the trace as it is; %.0f runs of shaken or resampled copies of "
                  "it are left out; --where \"replication > 0\" draws those alone",
                  values[0].number);
}

enum gsim_status gsim_command_plot(struct gsim_cli *cli) {
    struct plot plot;
    struct gsim_db *db = NULL;
    enum gsim_status status = read_request(cli, &plot);
    if (status != GSIM_OK)
        return status;
    const char *count = "SELECT count(*) FROM changed";
    status = gsim_figure_open(cli, (struct gsim_db_choice){0}, &db);
    if (status == GSIM_OK)
        status = gsim_db_query(db, &count, warn_of_changed, cli, cli->log);
    if (status == GSIM_OK)
        status = draw(cli, &plot, db);
    gsim_db_close(db);
    return status;
}
