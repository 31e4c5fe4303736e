/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim report: a database as one page that needs no other file: the sentences and tables of
 * plots/report.sql, and every figure for which the runs have data. Every text of the database is
 * escaped, and the one script of the page, plots/report.js, holds none. */
#define _POSIX_C_SOURCE 200809L
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

#include "sim/app/cli/options.h"
#include "sim/app/figures/html.h"
#include "sim/app/identity/program.h"
#include "sim/app/figures/gnuplot.h"
#include "sim/study/outfile.h"
#include "sim/app/figures/made.h"
#include "sim/app/figures/report.h"
#include "sim/base/text.h"

static const char style[] =
    "<style>\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:#111;background:#fff;max-width:72rem;"
    "margin:0 auto;padding:1rem;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25rem .6rem;text-align:left;border-bottom:1px solid #ccc;white-space:nowrap}\n"
    "td.n,th.n{text-align:right}th{white-space:normal;overflow-wrap:normal}"
    "td.t{white-space:normal;min-width:14rem}\n"
    "figure{margin:1rem 0;display:inline-block;vertical-align:top;max-width:100%}\n"
    "figcaption{font-size:.85rem;max-width:31rem}\n"
    ".absent,.of{font-size:.85rem;color:#555}\n"
    "svg{width:31rem;max-width:100%;height:auto}\n"
    "th[role=button]{cursor:pointer}th[aria-sort=ascending]::after{content:' \\25B2'}"
    "th[aria-sort=descending]::after{content:' \\25BC'}tbody tr:hover{background:#eef3fa}"
    ".filter{font:inherit;font-size:.85rem;margin-bottom:.3rem}.faint{opacity:.15}\n"
    "@media "
    "print{.filter{display:none}th::after{content:none!important}body{max-width:none;padding:0;"
    "font-size:10pt}figure,tr{break-inside:avoid}h2{break-after:avoid}.wide{overflow:visible}"
    "svg{width:21rem}figcaption{max-width:21rem}"
    "table{font-size:6.5pt}th,td{padding:.1rem .25rem}"
    "td.t{min-width:7rem;overflow-wrap:anywhere}td:first-child,td:last-child{"
    "white-space:normal;overflow-wrap:break-word}td:last-child{overflow-wrap:anywhere}}\n"
    "</style>\n";

/* --- figures ---------------------------------------------------------------------------------- */

/* gnuplot gives symbols equal names in every picture, so each picture's names get its number. */
static void put_svg(FILE *out, const char *svg, int number) {
    static const char *const marks[] = {"id='", "id=\"", "href='#", "href=\"#", "url(#"};
    const char *at = strstr(svg, "<svg");
    while (at && *at) {
        size_t n = 0;
        for (size_t i = 0; i < sizeof marks / sizeof *marks && n == 0; i++)
            if (strncmp(at, marks[i], strlen(marks[i])) == 0)
                n = strlen(marks[i]);
        (void)fwrite(at, 1, n ? n : 1, out);
        if (n)
            fprintf(out, "f%d_", number);
        at += n ? n : 1;
    }
}

static char *read_text(const char *path, struct gsim_arena *arena) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *text = NULL;
    size_t n = 0, capacity = 1 << 16, got = 1;
    if (!file)
        return NULL;
    while (got > 0) {
        char *grown = gsim_arena_grow(arena, text, n, capacity);
        if (!grown)
            break;
        text = grown;
        got = fread(text + n, 1, capacity - 1 - n, file);
        n += got;
        capacity *= 2;
    }
    (void)fclose(file);
    return got == 0 ? text : NULL;
}

/* A page of a figure. */
struct sheet {
    struct gsim_figure figure;
    int number, n_pages;
    int drawing; /* -1: it has no script, for an error */
    enum gsim_status status; /* of its script */
    const char *error;
};

struct page {
    struct gsim_cli *cli;
    struct gsim_db *db;
    struct gsim_folder folder;
    FILE *out;
    int n_figures;
    struct sheet *sheets; /* in the order of the page */
    struct gsim_drawing *drawings; /* those of sheets that have a script */
    uint32_t n_sheets, sheets_capacity, n_drawings, drawings_capacity;
};

/* Writes why a figure is missing: the runs have no data for it, or too much, or the drawing failed.
 * The other figures are still drawn. */
static void put_absence(struct page *page, const struct gsim_figure *figure, const char *error) {
    fprintf(page->out, "<p class=\"absent\">%s: ", figure->name);
    gsim_html_put(page->out, error);
    fputs("</p>\n", page->out);
}

static void put_picture(struct page *page, const struct sheet *sheet) {
    const char *name = page->drawings[sheet->drawing].output;
    char *svg = read_text(gsim_folder_path(&page->folder, name), page->cli->arena);
    if (!svg)
        return;
    fputs("<figure>\n", page->out);
    put_svg(page->out, svg, ++page->n_figures);
    fprintf(page->out, "\n<figcaption>%s: %s", sheet->figure.name, sheet->figure.summary);
    if (sheet->n_pages > 1)
        fprintf(page->out, " (%d of %d)", sheet->number, sheet->n_pages);
    fputs("</figcaption>\n</figure>\n", page->out);
}

/* Why a page of a figure is missing; NULL: it is drawn. */
static const char *error_of(const struct page *page, const struct sheet *sheet) {
    const char *failed = sheet->drawing >= 0 ? page->drawings[sheet->drawing].error : NULL;
    return failed ? failed : sheet->error;
}

/* Warns of a page that should be there. */
static void warn_of(const struct page *page, const struct sheet *sheet) {
    bool has_failed = sheet->drawing >= 0 || sheet->status == GSIM_FAILED;
    if (has_failed)
        gsim_warn(page->cli->log, NULL, 0, "the report is without figure '%s': %s",
                  sheet->figure.name, error_of(page, sheet));
}

/* Makes room for one more page of a figure, and takes it; NULL: no memory. */
static struct sheet *add_sheet(struct page *page) {
    struct gsim_arena *arena = page->cli->arena;
    struct sheet *sheets = gsim_arena_room(arena, page->sheets, page->n_sheets,
                                           &page->sheets_capacity, sizeof *page->sheets);
    page->sheets = sheets ? sheets : page->sheets;
    struct gsim_drawing *drawings = gsim_arena_room(
        arena, page->drawings, page->n_drawings, &page->drawings_capacity, sizeof *page->drawings);
    page->drawings = drawings ? drawings : page->drawings;
    return sheets && drawings ? &sheets[page->n_sheets++] : NULL;
}

/* Writes the script of a page of a figure. */
static enum gsim_status write_sheet(struct page *page, struct sheet *sheet) {
    struct gsim_arena *arena = page->cli->arena;
    const char *name = sheet->figure.name;
    struct gsim_drawing drawing = {
        .script = gsim_arena_printf(arena, "%s-%d.gp", name, sheet->number),
        .output = gsim_arena_printf(arena, "%s-%d.svg", name, sheet->number)};
    if (!drawing.script || !drawing.output)
        return gsim_no_memory(page->cli->log, "drawing");
    struct gsim_figure_request request = {
        .format = GSIM_FIGURE_SVG, .page = sheet->number, .output = drawing.output};
    struct gsim_log log = {0};
    sheet->status = gsim_gnuplot_write(&page->folder, drawing.script, &sheet->figure, page->db,
                                       &request, &sheet->n_pages, &log);
    if (sheet->status == GSIM_OK) {
        sheet->drawing = (int)page->n_drawings;
        page->drawings[page->n_drawings++] = drawing;
        return GSIM_OK;
    }
    sheet->error = gsim_arena_strdup(arena, log.errors[0].text);
    return sheet->error ? GSIM_OK : gsim_no_memory(page->cli->log, "drawing");
}

/* Writes the scripts of a figure, one a page. */
static enum gsim_status write_figure(struct page *page, const struct gsim_figure *figure) {
    int n_pages = 1;
    for (int number = 1; number <= n_pages; number++) {
        struct sheet *sheet = add_sheet(page);
        if (!sheet)
            return gsim_no_memory(page->cli->log, "drawing");
        *sheet =
            (struct sheet){.figure = *figure, .number = number, .n_pages = n_pages, .drawing = -1};
        enum gsim_status status = write_sheet(page, sheet);
        if (status != GSIM_OK || sheet->status == GSIM_INCOMPLETE)
            return status == GSIM_OK ? sheet->status : status;
        if (sheet->status != GSIM_OK && number == 1)
            break;
        n_pages = sheet->n_pages;
    }
    return GSIM_OK;
}

/* Puts the figures, and behind them why others are missing. Of one without its first page no other
 * page is put. */
static void put_sheets(struct page *page) {
    bool is_there = false;
    for (uint32_t i = 0; i < page->n_sheets; i++) {
        bool is_missing = error_of(page, &page->sheets[i]) != NULL;
        is_there = page->sheets[i].number == 1 ? !is_missing : is_there;
        if (is_there && !is_missing)
            put_picture(page, &page->sheets[i]);
    }
    for (uint32_t i = 0; i < page->n_sheets; i++) {
        const struct sheet *sheet = &page->sheets[i];
        const char *error = error_of(page, sheet);
        is_there = sheet->number == 1 ? !error : is_there;
        if (!error || (sheet->number > 1 && !is_there))
            continue;
        warn_of(page, sheet);
        put_absence(page, &sheet->figure, error);
    }
}

/* Draws all figures, and puts them. */
static enum gsim_status draw_figures(struct page *page) {
    struct gsim_figure figure;
    enum gsim_status status = GSIM_OK;
    for (int at = 0; status == GSIM_OK && gsim_figure_at(at, page->cli->arena, &figure); at++)
        status = write_figure(page, &figure);
    if (status == GSIM_OK && page->n_drawings)
        status = gsim_gnuplot_draw_all(&page->folder, page->drawings, (int)page->n_drawings,
                                       page->cli->io->stop);
    if (status == GSIM_OK)
        put_sheets(page);
    else if (status == GSIM_INCOMPLETE)
        status = gsim_fail(page->cli->log, GSIM_INCOMPLETE, NULL, 0,
                           "interrupted: no report is written");
    return status;
}

static enum gsim_status put_figures(struct page *page) {
    static const char missing[] = "gnuplot is not installed and draws them";
    fputs("<h2>Figures</h2>\n", page->out);
    if (!gsim_gnuplot_is_there()) {
        gsim_warn(page->cli->log, NULL, 0,
                  "the report is without figures: %s: apt-get install gnuplot-nox (Debian, "
                  "Ubuntu), dnf install gnuplot, brew install gnuplot",
                  missing);
        fprintf(page->out, "<p>There are no figures: %s.</p>\n", missing);
        return GSIM_OK;
    }
    enum gsim_status status = gsim_folder_open(&page->folder, page->cli->value[GSIM_OPT_OUTPUT],
                                               page->cli->arena, page->cli->log);
    if (status != GSIM_OK)
        return status;
    status = draw_figures(page);
    gsim_folder_close(&page->folder);
    return status;
}

/* --- the page --------------------------------------------------------------------------------- */

/* What the statements of plots/report.sql give, in its order; those without a row are left out. */
struct part {
    enum { TABLE, PARAGRAPHS, LIST } as;
    const char *title;
};
static const struct part before_figures[] = {
    {PARAGRAPHS, NULL},
    {PARAGRAPHS, "Advice"},
    {LIST, "Verdict"},
    {TABLE, "Intervals of the verdict, and differences to the first policy"},
    {TABLE, "Results (means over seeds and replications)"},
    {TABLE, "As logged: waits until the first start, and how far they are from those of the log"},
    {TABLE, "Over changed traces (shaken or resampled): ranges, which say how much hangs on "
            "coincidences of the trace"},
    {TABLE, "GPU hours, energy and cost (means over runs)"},
    {TABLE, "Users: which wait less, and which longer (the twelve with the most GPU hours, and all "
            "others; hours of all jobs; jobs that ended; waits without the jobs that --warmup and "
            "--cooldown leave out)"},
};
static const struct part after_figures[] = {
    {TABLE, "Cluster, by kinds of nodes (the first 200)"},
    {TABLE, "Inputs (the first 200)"},
    {TABLE, "Runs (the first 200)"},
    {TABLE, "What to be careful with"},
};
enum {
    N_BEFORE = sizeof before_figures / sizeof *before_figures,
    N_AFTER = sizeof after_figures / sizeof *after_figures
};

static enum gsim_status put_part(struct page *page, const struct part *part, const char **sql) {
    struct gsim_cli *cli = page->cli;
    if (part->as == TABLE)
        return gsim_html_table(page->out, page->db, part->title, sql, cli->log);
    struct gsim_html_sentences sentences = {
        .out = page->out, .title = part->title, .arena = cli->arena, .is_list = part->as == LIST};
    return gsim_db_query(page->db, sql, gsim_html_sentences_row, &sentences, cli->log);
}

static enum gsim_status put_parts(struct page *page, const struct part *parts, int n,
                                  const char **sql) {
    enum gsim_status status = GSIM_OK;
    while (n > 0 && status == GSIM_OK)
        if (gsim_figure_is_shared(*sql)) /* makes what the parts after it read */
            status = gsim_db_query(page->db, sql, NULL, NULL, page->cli->log);
        else {
            status = put_part(page, parts++, sql);
            n--;
        }
    return status;
}

/* The page's policy: nothing is loaded from elsewhere, and no script runs but this one. */
static void put_policy(FILE *out, const char *script) {
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
    sha256_init(&context);
    sha256_update(&context, strlen(script), (const uint8_t *)script);
    sha256_digest(&context, sizeof digest, digest);
    base64_encode_raw(text, sizeof digest, digest);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
            "data:; style-src 'unsafe-inline'; script-src 'sha256-%s'\">\n",
            text);
}

static enum gsim_status put_page(struct page *page) {
    FILE *out = page->out;
    const char *sql = gsim_figure_file("report.sql", page->cli->arena);
    const char *script = gsim_figure_file("report.js", page->cli->arena);
    struct gsim_log *log = page->cli->log;
    if (!sql || !script)
        return gsim_no_memory(log, "writing a report");
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    put_policy(out, script);
    fputs("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>gsim: ",
          out);
    gsim_html_put(out, page->cli->operand[0]);
    fprintf(out, "</title>\n%s</head>\n<body>\n<h1>", style);
    gsim_html_put(out, page->cli->operand[0]);
    fputs("</h1>\n", out);
    if (page->cli->value[GSIM_OPT_WHERE]) {
        fputs("<p>Runs where <code>", out);
        gsim_html_put(out, page->cli->value[GSIM_OPT_WHERE]);
        fputs("</code></p>\n", out);
    }
    enum gsim_status status = put_parts(page, before_figures, N_BEFORE, &sql);
    if (status == GSIM_OK)
        status = put_figures(page);
    if (status == GSIM_OK)
        status = put_parts(page, after_figures, N_AFTER, &sql);
    fprintf(out,
            "<script>%s</script>\n<p>" GSIM_MADE_MARK " " GSIM_VERSION ".</p>\n</body>\n</html>\n",
            script);
    return status;
}

static enum gsim_status write_page(struct gsim_cli *cli, struct gsim_db *db) {
    struct gsim_outfile file;
    struct page page = {.cli = cli, .db = db};
    enum gsim_status status =
        gsim_outfile_open(&file, cli->value[GSIM_OPT_OUTPUT], cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    page.out = file.file;
    status = put_page(&page);
    if (status == GSIM_OK)
        return gsim_outfile_close(&file, cli->log);
    gsim_outfile_abandon(&file);
    return status;
}

enum gsim_status gsim_report_check_page(struct gsim_cli *cli) {
    const char *ending = strrchr(cli->value[GSIM_OPT_OUTPUT], '.');
    if (gsim_text_choice(ending ? ending + 1 : "", "html|htm") < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "-o: '%s' does not end in .html or .htm, and a report is a page; gsim "
                         "plot writes single figures",
                         cli->value[GSIM_OPT_OUTPUT]);
    return gsim_made_check(cli, cli->value[GSIM_OPT_OUTPUT]);
}

enum gsim_status gsim_report_page(struct gsim_cli *cli, const struct gsim_report_front *front) {
    struct gsim_db *db = NULL;
    enum gsim_status status =
        gsim_figure_open(cli,
                         (struct gsim_db_choice){
                             .configs = front->configs, .first = front->first, .takes_first = true},
                         &db);
    if (status == GSIM_OK)
        status = write_page(cli, db);
    gsim_db_close(db);
    return status;
}

enum gsim_status gsim_command_report(struct gsim_cli *cli) {
    static const char usage[] = "gsim report results.db -o report.html";
    enum gsim_status status = gsim_one_operand(cli, "database", usage);
    if (status != GSIM_OK)
        return status;
    if (!cli->value[GSIM_OPT_OUTPUT])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "where does the page go? %s", usage);
    status = gsim_report_check_page(cli);
    return status == GSIM_OK ? gsim_report_page(cli, &(struct gsim_report_front){0}) : status;
}
