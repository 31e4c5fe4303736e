/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wraps words and lays out tables by the width of their cells. */
#include "sim/app/manual/page_table.h"

#include <stdbool.h>
#include <string.h>

/* WIDEST: the widest table. A wider table is printed as paragraphs if its columns, without the
 * widest, take more than WIDEST_BESIDE_WRAPPED; else the widest column is wrapped. */
enum { WIDEST = 100, WIDEST_BESIDE_WRAPPED = 60, GAP = 2 };

int gsim_page_width(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int word_width(const char *word, size_t bytes) {
    int n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)word[i] & 0xc0) != 0x80;
    return n;
}

void gsim_page_wrap(FILE *out, const char *text, int indent, int columns) {
    int at = indent;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        size_t bytes = strcspn(p, " ");
        int width = word_width(p, bytes);
        if (at > indent && at + 1 + width > columns) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        fprintf(out, "%s%.*s", at > indent ? " " : "", (int)bytes, p);
        at += width + (at > indent);
        p += bytes;
    }
    fputc('\n', out);
}

/* The end of a cell: a '|' without a backslash before it. */
static const char *cell_end(const char *p) {
    while (*p && !(*p == '|' && p[-1] != '\\'))
        p++;
    return p;
}

void gsim_page_table_add(struct gsim_page_table *table, const char *line,
                         char *(*plain)(const char *text, struct gsim_arena *arena),
                         struct gsim_arena *arena) {
    if (strspn(line, "|-: ") == strlen(line) || table->n_rows == GSIM_PAGE_ROWS)
        return;
    int cells = 0;
    for (const char *p = line + 1; *p && cells < GSIM_PAGE_CELLS; cells++) {
        const char *end = cell_end(p), *first = p + strspn(p, " "), *last = end;
        while (last > first && last[-1] == ' ')
            last--;
        char *text = last > first ? gsim_arena_strndup(arena, first, (size_t)(last - first)) : NULL;
        table->cell[table->n_rows][cells] = text ? plain(text, arena) : NULL;
        p = *end ? end + 1 : end;
    }
    table->n_rows++;
    table->n_cells = cells > table->n_cells ? cells : table->n_cells;
}

static const char *cell(const struct gsim_page_table *table, int row, int column) {
    const char *text = table->cell[row][column];
    return text ? text : "";
}

static int column_width(const struct gsim_page_table *table, int column) {
    int most = 0;
    for (int row = 0; row < table->n_rows; row++) {
        int width = gsim_page_width(cell(table, row, column));
        most = width > most ? width : most;
    }
    return most;
}

/* The bytes of the words that fit into this number of columns, at least of one word. */
static size_t fitting(const char *text, int columns) {
    size_t bytes = 0;
    for (int at = 0; text[bytes];) {
        size_t gap = strspn(text + bytes, " "), word = strcspn(text + bytes + gap, " ");
        at += (int)gap + word_width(text + bytes + gap, word);
        if (bytes > 0 && at > columns)
            break;
        bytes += gap + word;
    }
    return bytes;
}

struct layout {
    int width[GSIM_PAGE_CELLS];
    int wrapped; /* index of the widest column */
    int others; /* width of all other columns */
};

static struct layout layout_of(const struct gsim_page_table *table) {
    struct layout l = {0};
    for (int c = 0; c < table->n_cells; c++) {
        l.width[c] = column_width(table, c);
        l.others += l.width[c] + GAP;
        if (l.width[c] > l.width[l.wrapped])
            l.wrapped = c;
    }
    l.others -= l.width[l.wrapped] + GAP;
    if (l.width[l.wrapped] > WIDEST - l.others - GAP)
        l.width[l.wrapped] = WIDEST - l.others - GAP;
    return l;
}

/* Prints one line of a row: the next words of the wrapped cell and, in the first line, the other
 * cells. */
static void print_line(FILE *out, const struct gsim_page_table *table, const struct layout *l,
                       int row, const char **rest, bool is_first) {
    size_t bytes = fitting(*rest, l->width[l->wrapped]);
    int last = table->n_cells - 1, pad = 0;
    while (last > 0 && last != l->wrapped && !(is_first && *cell(table, row, last)))
        last--;
    for (int c = 0; c <= last; c++) {
        const char *text = is_first ? cell(table, row, c) : "";
        int n = c == l->wrapped ? (int)bytes : (int)strlen(text);
        text = c == l->wrapped ? *rest : text;
        fprintf(out, "%*s%.*s", pad, "", n, text);
        pad = l->width[c] - word_width(text, (size_t)n) + GAP;
        pad = pad < GAP ? GAP : pad;
    }
    fputc('\n', out);
    *rest += bytes;
    *rest += strspn(*rest, " ");
}

static void print_aligned(FILE *out, const struct gsim_page_table *table, const struct layout *l) {
    for (int row = 0; row < table->n_rows; row++) {
        const char *rest = cell(table, row, l->wrapped);
        print_line(out, table, l, row, &rest, true);
        while (*rest)
            print_line(out, table, l, row, &rest, false);
    }
}

/* Prints each row as a paragraph: its first cell, then each further cell with its heading. */
static void print_rows(FILE *out, const struct gsim_page_table *table) {
    for (int row = 1; row < table->n_rows; row++) {
        fputs(row > 1 ? "\n" : "", out);
        gsim_page_wrap(out, cell(table, row, 0), 0, GSIM_PAGE_COLUMNS);
        for (int c = 1; c < table->n_cells; c++) {
            const char *heading = cell(table, 0, c);
            if (!*cell(table, row, c))
                continue;
            fprintf(out, "    %s%s", heading, *heading ? ": " : "");
            int indent = 4 + gsim_page_width(heading) + (*heading ? 2 : 0);
            gsim_page_wrap(out, cell(table, row, c), indent, GSIM_PAGE_COLUMNS);
        }
    }
}

void gsim_page_table_print(FILE *out, const struct gsim_page_table *table) {
    struct layout l = layout_of(table);
    if (l.others <= WIDEST_BESIDE_WRAPPED || l.others + column_width(table, l.wrapped) <= WIDEST)
        print_aligned(out, table, &l);
    else
        print_rows(out, table);
}
