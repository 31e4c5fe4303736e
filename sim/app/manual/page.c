/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the page of a topic, and turns its Markdown into text. The parser knows the Markdown that
 * docs/ uses: headings, paragraphs, lists, code (indented or fenced), tables, figures, comments. */
#include "sim/app/manual/page.h"

#include <ctype.h>
#include <string.h>

#include "sim/app/manual/page_table.h"
#include "sim/base/embedded.h"
#include "sim/base/text.h"

/* --- topics ----------------------------------------------------------------------------------- */

/* The pages of docs/ and its folders, sorted by name (made by tools/embed.sh). */
extern const struct gsim_embedded gsim_page_files[];

const struct gsim_embedded *gsim_page_at(int n) {
    for (const struct gsim_embedded *file = gsim_page_files; file->name; file++)
        if (n-- == 0)
            return file;
    return NULL;
}

void gsim_page_topic(const struct gsim_embedded *page, char *topic, size_t size) {
    const char *name = strrchr(page->name, '/') + 1;
    (void)snprintf(topic, size, "%.*s", (int)strlen(name) - 3, name);
}

const struct gsim_embedded *gsim_page_find(const char *topic) {
    for (int n = 0;; n++) {
        const struct gsim_embedded *page = gsim_page_at(n);
        if (!page)
            return NULL;
        char name[64];
        gsim_page_topic(page, name, sizeof name);
        if (strcmp(topic, name) == 0 || strcmp(topic, page->name) == 0 ||
            strcmp(topic, strrchr(page->name, '/') + 1) == 0)
            return page;
    }
}

/* Prints the text of the page's first heading. */
static void print_title(FILE *out, const struct gsim_embedded *page) {
    const char *text = (const char *)page->bytes;
    size_t at = page->size > 2 && text[0] == '#' ? 2 : 0;
    while (at < page->size && text[at] != '\n')
        fputc(text[at++], out);
    fputc('\n', out);
}

void gsim_page_list(FILE *out) {
    const struct gsim_embedded *page;
    for (int n = 0; (page = gsim_page_at(n)) != NULL; n++) {
        char name[64];
        gsim_page_topic(page, name, sizeof name);
        fprintf(out, "  %-18s ", name);
        print_title(out, page);
    }
}

/* --- text within a line ----------------------------------------------------------------------- */

/* Skips the target of a link behind "](". A web address is printed, a link to another page is
 * not. */
static const char *take_link(const char *p, char **to) {
    const char *end = strchr(p, ')');
    if (!end)
        return p;
    if (strncmp(p, "http", 4) == 0)
        *to += sprintf(*to, " (%.*s)", (int)(end - p), p);
    return end + 1;
}

/* Whether "[" begins the text of a link. */
static bool is_link(const char *p) {
    const char *end = strchr(p, ']');
    return *p == '[' && end && end[1] == '(';
}

/* The text without emphasis, code marks and links; text between code marks stays as it is. */
static char *plain(const char *text, struct gsim_arena *arena) {
    char *out = gsim_arena_alloc(arena, strlen(text) + 8), *to = out;
    bool is_code = false;
    for (const char *p = text; out && *p;) {
        if (*p == '`')
            is_code = !is_code, p++;
        else if (!is_code && strncmp(p, "**", 2) == 0)
            p += 2;
        else if (!is_code && is_link(p))
            p++;
        else if (!is_code && strncmp(p, "](", 2) == 0)
            p = take_link(p + 2, &to);
        else if (p[0] == '\\' && p[1] == '|')
            p++;
        else
            *to++ = *p++;
    }
    if (out)
        *to = '\0';
    return out;
}

/* --- blocks ----------------------------------------------------------------------------------- */

struct page {
    FILE *out;
    struct gsim_arena *arena;
    char **lines;
    int n, at;
};

static const char *now(const struct page *page) {
    return page->at < page->n ? page->lines[page->at] : "";
}

/* The length of a list item's mark "- " or "12. " with its indent; 0: the line begins no list
 * item. */
static int marker(const char *line) {
    int indent = (int)strspn(line, " "), n = indent;
    while (isdigit((unsigned char)line[n]))
        n++;
    if (n > indent && line[n] == '.' && line[n + 1] == ' ')
        return n + 2;
    return indent < 4 && line[indent] == '-' && line[indent + 1] == ' ' ? indent + 2 : 0;
}

static bool is_code(const char *line) {
    return strncmp(line, "    ", 4) == 0 || strncmp(line, "```", 3) == 0;
}

static bool begins_block(const char *line) {
    return !*line || *line == '#' || *line == '|' || strncmp(line, "<!--", 4) == 0 ||
           strncmp(line, "```", 3) == 0 || marker(line);
}

static void print_heading(struct page *page) {
    const char *line = now(page);
    int level = (int)strspn(line, "#");
    char *text = plain(line + level + 1, page->arena);
    fprintf(page->out, "%s\n", text);
    for (int i = 0; level < 3 && i < gsim_page_width(text); i++)
        fputc(level == 1 ? '=' : '-', page->out);
    fputs(level < 3 ? "\n" : "", page->out);
    page->at++;
}

static void print_code(struct page *page) {
    bool is_fenced = *now(page) == '`';
    for (page->at += is_fenced; page->at < page->n; page->at++) {
        const char *line = now(page);
        bool has_more = page->at + 1 < page->n && is_code(page->lines[page->at + 1]);
        if (is_fenced ? strncmp(line, "```", 3) == 0 : !is_code(line) && (*line || !has_more))
            break;
        fprintf(page->out, "%s%s\n", is_fenced && *line ? "    " : "", line);
    }
    page->at += is_fenced;
}

static void print_figure(struct page *page) {
    const char *line = now(page), *end = strchr(line, ']');
    fprintf(page->out, "(figure: %.*s)\n", end ? (int)(end - line) - 2 : 0, line + 2);
    page->at++;
}

/* Prints a paragraph or a list item, up to the next block. */
static void print_text(struct page *page) {
    int indent = marker(now(page)), length = 0;
    for (int i = page->at; i == page->at || (i < page->n && !begins_block(page->lines[i])); i++)
        length += (int)strlen(page->lines[i]) + 1;
    char *text = gsim_arena_alloc(page->arena, (size_t)length + 1), *to = text;
    if (!text)
        return;
    fprintf(page->out, "%.*s", indent, now(page));
    to += sprintf(to, "%s", now(page) + indent);
    for (page->at++; page->at < page->n && !begins_block(now(page)); page->at++)
        to += sprintf(to, " %s", now(page) + strspn(now(page), " "));
    gsim_page_wrap(page->out, plain(text, page->arena), indent, GSIM_PAGE_COLUMNS);
}

static void print_table(struct page *page) {
    struct gsim_page_table table = {0};
    for (; *now(page) == '|'; page->at++)
        gsim_page_table_add(&table, now(page), plain, page->arena);
    gsim_page_table_print(page->out, &table);
}

static void print_block(struct page *page) {
    const char *line = now(page);
    if (!*line || strncmp(line, "<!--", 4) == 0) {
        bool was_blank = page->at > 0 && !*page->lines[page->at - 1];
        fputs(*line || was_blank ? "" : "\n", page->out);
        page->at += *line && page->at + 1 < page->n && !*page->lines[page->at + 1] ? 2 : 1;
    } else if (*line == '#')
        print_heading(page);
    else if (*line == '|')
        print_table(page);
    else if (is_code(line))
        print_code(page);
    else if (strncmp(line, "![", 2) == 0)
        print_figure(page);
    else
        print_text(page);
}

static void split(struct page *page, char *text) {
    for (char *line = text; line && *line; page->n++) {
        char *end = strchr(line, '\n');
        page->lines[page->n] = line;
        if (end)
            *end = '\0';
        line = end ? end + 1 : NULL;
    }
}

enum gsim_status gsim_page_print(FILE *out, const struct gsim_embedded *file,
                                 struct gsim_arena *arena, struct gsim_log *log) {
    struct page page = {.out = out, .arena = arena};
    char *text = gsim_arena_strndup(arena, (const char *)file->bytes, file->size);
    size_t n = 1;
    for (size_t i = 0; text && i < file->size; i++)
        n += text[i] == '\n';
    page.lines = gsim_arena_alloc(arena, n * sizeof *page.lines);
    if (!text || !page.lines)
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "out of memory");
    split(&page, text);
    while (page.at < page.n)
        print_block(&page);
    return GSIM_OK;
}
