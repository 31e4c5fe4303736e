/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a page: texts, tables of the rows of a statement, and rows of sentences. */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/figures/html.h"
#include "sim/study/output.h"
#include "sim/base/text.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

void gsim_html_put(FILE *out, const char *text) {
    while (*text) {
        int n = gsim_text_utf8_length(text);
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else if (*text == '\'')
            fputs("&#39;", out);
        else if (n == 0 || (unsigned char)*text < 32 || *text == 127)
            fputs("\xef\xbf\xbd", out); /* U+FFFD, the replacement character */
        else
            (void)fwrite(text, 1, (size_t)n, out);
        text += n ? n : 1;
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

struct table {
    FILE *out;
    const char *title;
    int64_t n_rows;
};

/* Numbers stand at the right of their column, also those with a unit. A name that begins with a
 * digit is none: beside text without a blank stands no unit. */
static bool is_number(const struct gsim_db_value *value) {
    const char *digits = value->text + (*value->text == '+' || *value->text == '-');
    size_t n = strspn(digits, "0123456789.,/");
    return !value->is_text || (n > 0 && (digits[n] == '\0' || digits[n] == ' '));
}

/* The class of a cell: a number, or a text that is broken into lines where the page is narrow. */
static const char *class_of(const struct gsim_db_value *value) {
    enum { LONG = 40 };
    bool is_long = strlen(value->text) > LONG;
    return is_number(value) ? " class=\"n\"" : is_long ? " class=\"t\"" : "";
}

static void put_head(const struct table *table, const struct gsim_db_value *values, int n) {
    fputs("<h2>", table->out);
    gsim_html_put(table->out, table->title);
    fputs("</h2>\n<div class=\"wide\"><table>\n<thead><tr>", table->out);
    for (int i = 0; i < n; i++) {
        fputs(is_number(&values[i]) ? "<th class=\"n\">" : "<th>", table->out);
        gsim_html_put(table->out, values[i].name);
        fputs("</th>", table->out);
    }
    fputs("</tr></thead><tbody>\n", table->out);
}

static void put_table_row(void *arg, const struct gsim_db_value *values, int n) {
    struct table *table = arg;
    if (table->n_rows++ == 0)
        put_head(table, values, n);
    fputs("<tr>", table->out);
    for (int i = 0; i < n; i++) {
        fprintf(table->out, "<td%s>", class_of(&values[i]));
        gsim_html_put(table->out, values[i].is_null ? "-" : values[i].text);
        fputs("</td>", table->out);
    }
    fputs("</tr>\n", table->out);
}

enum gsim_status gsim_html_table(FILE *out, struct gsim_db *db, const char *title, const char **sql,
                                 struct gsim_log *log) {
    struct table table = {.out = out, .title = title};
    enum gsim_status status = gsim_db_query(db, sql, put_table_row, &table, log);
    if (table.n_rows)
        fputs("</tbody></table></div>\n", out);
    return status;
}

/* --- sentences -------------------------------------------------------------------------------- */

static void put_sentence(const struct gsim_html_sentences *s, const char *text, size_t length) {
    const char *line = gsim_arena_strndup(s->arena, text, length);
    fputs(s->is_list ? "<li>" : "<p>", s->out);
    gsim_html_put(s->out, line ? line : "");
    fputs(s->is_list ? "</li>\n" : "</p>\n", s->out);
}

void gsim_html_sentences_row(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_html_sentences *s = arg;
    const char *text = values[n - 1].text;
    if (s->n_rows++ == 0 && s->title)
        fprintf(s->out, "<h2>%s</h2>\n", s->title);
    if (n > 1 && !values[0].is_null) {
        fputs("<p class=\"of\"><code>", s->out);
        gsim_html_put(s->out, values[0].text);
        fputs("</code></p>\n", s->out);
    }
    fputs(s->is_list ? "<ul>\n" : "", s->out);
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        put_sentence(s, text, length);
    }
    fputs(s->is_list ? "</ul>\n" : "", s->out);
}
