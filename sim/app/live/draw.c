/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/live/draw.h"

#include <string.h>

#include "sim/study/output.h"

enum {
    LINE = 512,
    PARAGRAPH = 4, /* lines of a run that has room */
    LABEL = 30, /* columns in front of a chart */
    TIME = 32
};

/* Cuts a line to the terminal's columns, between two characters of UTF-8, and writes it. Control
 * characters of names become question marks. */
static void put_line(FILE *out, int columns, const char *line) {
    int n = 0;
    for (; *line; line++) {
        unsigned char c = (unsigned char)*line;
        bool is_first = (c & 0xC0) != 0x80;
        if (is_first && n++ == columns)
            break;
        fputc(c < ' ' || c == 0x7F ? '?' : c, out);
    }
    fputs("\033[K\n", out);
}

static const char *humane(char text[TIME], double seconds) {
    gsim_format_humane(text, seconds);
    return text;
}

/* A character a step, by its height below `most`: a blank for nothing at all. */
static void chart(char *text, size_t width, const double *steps, uint32_t n, double most) {
    static const char ramp[] = ".:-=+*#@";
    enum { LEVELS = sizeof ramp - 1 };
    uint32_t first = n > width ? n - (uint32_t)width : 0;
    for (uint32_t i = first; i < n; i++) {
        int level = most > 0 ? (int)(steps[i] / most * LEVELS) : 0;
        level = level < LEVELS ? level : LEVELS - 1;
        *text++ = steps[i] > 0 ? ramp[level] : ' ';
    }
    *text = '\0';
}

static double highest(const double *steps, uint32_t n) {
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = steps[i] > most ? steps[i] : most;
    return most;
}

static void put_chart(FILE *out, int columns, const char *label, const double *steps, uint32_t n,
                      double most) {
    char line[LINE], text[GSIM_LIVE_STEPS + 1] = "";
    int room = columns - LABEL - 2;
    if (room > 0)
        chart(text, (size_t)room, steps, n, most);
    snprintf(line, sizeof line, "%-*s|%s|", LABEL, label, text);
    put_line(out, columns, line);
}

/* --- a paragraph a run ------------------------------------------------------------------------ */

static void put_paragraph(FILE *out, int columns, const struct gsim_live_face *f) {
    char line[LINE], time[TIME], longest[TIME];
    snprintf(line, sizeof line, "%s: %u of %u jobs done, %s simulated", f->name, f->n_done,
             f->n_jobs, humane(time, f->simulated_s));
    put_line(out, columns, line);
    snprintf(line, sizeof line, "  GPUs held %7.1f of %u", f->busy_gpus, f->n_gpus);
    put_chart(out, columns, line, f->busy, f->n_steps, f->n_gpus);
    double most = highest(f->waiting, f->n_steps);
    /* the height of the chart, which is of means: more may wait at an instant */
    snprintf(line, sizeof line, "  waiting   %7u, @ = %.*f", f->n_waiting, most < 10 ? 1 : 0, most);
    put_chart(out, columns, line, f->waiting, f->n_steps, most);
    snprintf(line, sizeof line, "  wait      %s until the first start (mean), longest now %s",
             humane(time, f->wait_mean_s), humane(longest, f->wait_longest_s));
    put_line(out, columns, line);
}

/* --- a line a run ----------------------------------------------------------------------------- */

static void put_heading(FILE *out, int columns) {
    put_line(out, columns,
             "run                      simulated    jobs done  waiting   GPUs held   mean wait");
}

static void put_row(FILE *out, int columns, const struct gsim_live_face *f) {
    char line[LINE], time[TIME], wait[TIME], done[TIME], held[TIME];
    snprintf(done, sizeof done, "%u/%u", f->n_done, f->n_jobs);
    snprintf(held, sizeof held, "%.1f/%u", f->busy_gpus, f->n_gpus);
    snprintf(line, sizeof line, "%-22.22s %11s %12s %8u %11s %11s", f->name,
             humane(time, f->simulated_s), done, f->n_waiting, held, humane(wait, f->wait_mean_s));
    put_line(out, columns, line);
}

/* --- the page --------------------------------------------------------------------------------- */

/* One row stays free for the cursor, which stands below the page. */
static int put_rows(FILE *out, const struct gsim_live_page *page, int room) {
    int n = (int)page->n_shown, lines = 1;
    bool has_more = page->n > (uint32_t)(room - 1);
    n = has_more && n > room - 2 ? room - 2 : n;
    put_heading(out, page->columns);
    for (int i = 0; i < n; i++, lines++)
        put_row(out, page->columns, &page->faces[i]);
    if ((int)page->n > n) {
        char line[LINE];
        snprintf(line, sizeof line, "and %u more", page->n - (uint32_t)n);
        put_line(out, page->columns, line);
        lines++;
    }
    return lines;
}

int gsim_live_draw(FILE *out, const struct gsim_live_page *page) {
    int room = page->rows - 2; /* without the note and the row of the cursor */
    put_line(out, page->columns, page->note);
    if (page->n == 0 || room < 3)
        return 1;
    if ((int64_t)page->n * PARAGRAPH > room)
        return 1 + put_rows(out, page, room);
    for (uint32_t i = 0; i < page->n_shown; i++)
        put_paragraph(out, page->columns, &page->faces[i]);
    return 1 + (int)page->n_shown * PARAGRAPH;
}

void gsim_live_say(FILE *out, const struct gsim_live_face *f) {
    char time[TIME], wait[TIME];
    fprintf(out,
            "gsim: %s: %u of %u jobs done, %s simulated, %u waiting, %.1f of %u GPUs held, wait "
            "%s in the mean\n",
            f->name, f->n_done, f->n_jobs, humane(time, f->simulated_s), f->n_waiting, f->busy_gpus,
            f->n_gpus, humane(wait, f->wait_mean_s));
}
