/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML by recursive descent over lines. A reading stands at a column of a line; blocks take lines
 * as long as these are indented enough. */
#include "sim/site/yaml.h"

#include <string.h>

#include "sim/site/file.h"

enum { MOST_DEPTH = 64 };

struct reading {
    const char *path;
    struct gsim_arena *arena;
    struct gsim_log *log;
    char *at; /* the rest of the line */
    char *begin, *after; /* of the line; after: the next line, NULL: there is none */
    int64_t line;
    int depth;
    bool is_over; /* of the file, or of the document */
    enum gsim_status status;
};

static struct gsim_yaml *read_block(struct reading *r, int least);
static struct gsim_yaml *read_value(struct reading *r, int indent);
static struct gsim_yaml *read_flow(struct reading *r);

static void *refuse_at(struct reading *r, int64_t line, int column, const char *why) {
    if (r->status == GSIM_OK)
        r->status = gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "column %d: %s", column, why);
    return NULL;
}

static void *refuse(struct reading *r, const char *at, const char *why) {
    return refuse_at(r, r->line, (int)(at - r->begin) + 1, why);
}

static void *no_memory(struct reading *r) {
    if (r->status == GSIM_OK)
        r->status = gsim_no_memory(r->log, "reading YAML");
    return NULL;
}

static struct gsim_yaml *new_node(struct reading *r, enum gsim_yaml_kind kind) {
    struct gsim_yaml *node = gsim_arena_alloc(r->arena, sizeof *node);
    if (!node)
        return no_memory(r);
    *node = (struct gsim_yaml){
        .kind = kind, .text = "", .line = r->line, .column = (int)(r->at - r->begin) + 1};
    return node;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Goes to the next line; its end becomes the end of a text. */
static void next_line(struct reading *r) {
    r->begin = r->at = r->after;
    r->line++;
    if (!r->begin) {
        r->is_over = true;
        return;
    }
    char *end = strchr(r->begin, '\n');
    r->after = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    size_t length = strlen(r->begin);
    if (length > 0 && r->begin[length - 1] == '\r')
        r->begin[length - 1] = '\0';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reading *r) {
    while (is_blank(*r->at))
        r->at++;
}

/* Whether nothing but a comment is left of the line. */
static bool is_line_over(struct reading *r) {
    skip_blanks(r);
    return *r->at == '\0' || (*r->at == '#' && (r->at == r->begin || is_blank(r->at[-1])));
}

static bool ends_document(const char *line) {
    return (strncmp(line, "---", 3) == 0 || strncmp(line, "...", 3) == 0) &&
           (line[3] == '\0' || is_blank(line[3]));
}

/* Goes on to the next content, if the rest of the line has none; false: the document is over. */
static bool find_content(struct reading *r) {
    while (!r->is_over && is_line_over(r)) {
        next_line(r);
        if (!r->is_over && ends_document(r->begin))
            r->is_over = true;
    }
    if (!r->is_over && memchr(r->begin, '\t', strspn(r->begin, " \t")))
        (void)refuse(r, r->begin, "a tab indents; YAML takes spaces");
    return !r->is_over && r->status == GSIM_OK;
}

static int column_of(const struct reading *r) {
    return (int)(r->at - r->begin);
}

/* --- scalars ---------------------------------------------------------------------------------- */

/* Adds to a text that grows line by line. */
static bool append(struct reading *r, char **text, size_t *n, const char *more, size_t length) {
    char *grown = gsim_arena_grow_raw(r->arena, *text, *n + length + 1);
    if (!grown)
        return no_memory(r) != NULL;
    memcpy(grown + *n, more, length);
    *n += length;
    grown[*n] = '\0';
    *text = grown;
    return true;
}

static char unescaped(char c) {
    return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

/* A part of a quoted scalar, up to its closing quote or the end of the line; whether it closes. */
static bool take_quoted(struct reading *r, char quote, char **text, size_t *n) {
    for (; *r->at; r->at++) {
        char c = *r->at;
        if (c == quote && !(quote == '\'' && r->at[1] == quote)) {
            r->at++;
            return true;
        }
        if (c == quote)
            r->at++;
        else if (quote == '"' && c == '\\' && r->at[1])
            c = unescaped(*++r->at);
        if (!append(r, text, n, &c, 1))
            return true;
    }
    return false;
}

/* A quoted scalar goes on on further lines, each break a space. */
static const char *read_quoted(struct reading *r) {
    char quote = *r->at++, *text = NULL;
    const char *from = r->at - 1;
    size_t n = 0;
    if (!append(r, &text, &n, "", 0))
        return "";
    while (!take_quoted(r, quote, &text, &n)) {
        if (!r->after) {
            (void)refuse(r, from < r->begin ? r->begin : from, "a quote is not closed");
            return "";
        }
        next_line(r);
        skip_blanks(r);
        (void)append(r, &text, &n, " ", 1);
    }
    return text;
}

/* Where a plain scalar ends on its line: at ": ", at " #", or in a flow at its marks. */
static size_t plain_length(const char *at, bool is_flow) {
    size_t n = 0;
    for (; at[n]; n++)
        if ((at[n] == ':' && (!at[n + 1] || is_blank(at[n + 1]))) ||
            (is_blank(at[n]) && at[n + 1] == '#') || (is_flow && strchr(",]}[{", at[n])))
            break;
    while (n > 0 && is_blank(at[n - 1]))
        n--;
    return n;
}

static const char *keep(struct reading *r, const char *text, size_t length) {
    const char *kept = gsim_arena_strndup(r->arena, text, length);
    if (!kept)
        (void)no_memory(r);
    return kept ? kept : "";
}

/* Whether the line has an entry of a mapping, so that it goes on with no scalar. */
static bool has_key(const char *at) {
    if (*at == '"' || *at == '\'') {
        const char *end = strchr(at + 1, *at);
        return end && end[1 + strspn(end + 1, " ")] == ':';
    }
    size_t n = plain_length(at, false);
    return at[n + strspn(at + n, " ")] == ':';
}

/* A plain scalar goes on on lines that are indented deeper than its key, as printers fold it. */
static const char *read_plain(struct reading *r, int indent) {
    size_t n = plain_length(r->at, false);
    char *text = NULL;
    size_t length = 0;
    if (!append(r, &text, &length, r->at, n))
        return "";
    r->at += n;
    while (is_line_over(r) && find_content(r) && column_of(r) > indent) {
        n = plain_length(r->at, false);
        if (!append(r, &text, &length, " ", 1) || !append(r, &text, &length, r->at, n))
            return text;
        r->at += n;
    }
    if (!r->is_over && column_of(r) > indent)
        (void)refuse(r, r->at, "a second ': ' in a text; quote the text");
    return text;
}

/* A literal or folded block: lines that are indented deeper. Its line breaks stay, since no text of
 * several lines decides anything here. */
static const char *read_lines(struct reading *r, int indent) {
    char *text = NULL;
    size_t n = 0;
    (void)append(r, &text, &n, "", 0);
    for (next_line(r); !r->is_over; next_line(r)) {
        skip_blanks(r);
        if (*r->at && column_of(r) <= indent)
            break;
        (void)append(r, &text, &n, r->at, strlen(r->at));
        (void)append(r, &text, &n, "\n", 1);
    }
    if (!r->is_over)
        r->at = r->begin;
    if (!r->is_over && ends_document(r->begin))
        r->is_over = true;
    return text ? text : "";
}

/* --- flows ------------------------------------------------------------------------------------ */

static bool is_mark(struct reading *r, char mark) {
    skip_blanks(r);
    return *r->at == mark;
}

static const char *read_flow_text(struct reading *r) {
    if (*r->at == '"' || *r->at == '\'')
        return read_quoted(r);
    size_t n = plain_length(r->at, true);
    const char *text = keep(r, r->at, n);
    r->at += n;
    return text;
}

static struct gsim_yaml *read_flow_entry(struct reading *r, bool is_mapping) {
    skip_blanks(r);
    const char *key = is_mapping ? read_flow_text(r) : NULL;
    if (is_mapping && !is_mark(r, ':') && *r->at == '\0')
        return refuse(r, r->at,
                      "a flow collection ends on its line; of JSON over several lines (kubectl -o "
                      "json) -o yaml writes the form that is read");
    if (is_mapping && !is_mark(r, ':'))
        return refuse(r, r->at, "'key: value' of a flow mapping is expected");
    if (is_mapping)
        r->at++;
    skip_blanks(r);
    struct gsim_yaml *entry = read_flow(r);
    if (entry)
        entry->key = key;
    return entry;
}

/* "[a, b]", "{a: b}", or a scalar in one. */
static struct gsim_yaml *read_flow(struct reading *r) {
    bool is_mapping = *r->at == '{';
    if (++r->depth > MOST_DEPTH)
        return refuse(r, r->at, "collections are nested more than 64 deep");
    if (!is_mapping && *r->at != '[') {
        struct gsim_yaml *scalar = new_node(r, GSIM_YAML_SCALAR);
        if (scalar)
            scalar->text = read_flow_text(r);
        r->depth--;
        return scalar;
    }
    struct gsim_yaml *node = new_node(r, is_mapping ? GSIM_YAML_MAPPING : GSIM_YAML_SEQUENCE);
    struct gsim_yaml **end = node ? &node->first : NULL;
    char close = is_mapping ? '}' : ']';
    r->at++;
    while (r->status == GSIM_OK && !is_mark(r, close)) {
        if (!(*end = read_flow_entry(r, is_mapping)))
            return NULL;
        end = &(*end)->next;
        if (is_mark(r, ','))
            r->at++;
        else if (!is_mark(r, close))
            return refuse(r, r->at, "a flow collection ends on its line, with ']' or '}'");
    }
    r->at++;
    r->depth--;
    return r->status == GSIM_OK ? node : NULL;
}

static struct gsim_yaml *read_flow_value(struct reading *r) {
    struct gsim_yaml *node = read_flow(r);
    if (node && !is_line_over(r))
        return refuse(r, r->at, "text behind a flow collection");
    return node;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool is_item(const char *at) {
    return *at == '-' && (at[1] == '\0' || is_blank(at[1]));
}

static struct gsim_yaml *read_scalar(struct reading *r, int indent) {
    struct gsim_yaml *node = new_node(r, GSIM_YAML_SCALAR);
    if (!node)
        return NULL;
    if (*r->at == '|' || *r->at == '>') {
        node->text = read_lines(r, indent);
    } else if (*r->at == '"' || *r->at == '\'') {
        node->text = read_quoted(r);
        if (r->status == GSIM_OK && !is_line_over(r))
            return refuse(r, r->at, "text behind a quoted scalar");
    } else {
        node->text = read_plain(r, indent);
        if (strcmp(node->text, "null") == 0 || strcmp(node->text, "~") == 0)
            node->text = "";
    }
    return r->status == GSIM_OK ? node : NULL;
}

/* A value that begins here. */
static struct gsim_yaml *read_inline(struct reading *r, int indent) {
    if (*r->at && strchr("&*!?%@`", *r->at))
        return refuse(r, r->at, "anchors, aliases, tags and directives are not read");
    return *r->at == '{' || *r->at == '[' ? read_flow_value(r) : read_scalar(r, indent);
}

/* The value behind a key or a dash, on its line or below it. */
static struct gsim_yaml *read_value(struct reading *r, int indent) {
    return is_line_over(r) ? read_block(r, indent + 1) : read_inline(r, indent);
}

static struct gsim_yaml *read_sequence(struct reading *r) {
    struct gsim_yaml *node = new_node(r, GSIM_YAML_SEQUENCE);
    struct gsim_yaml **end = node ? &node->first : NULL;
    int indent = column_of(r);
    while (node && find_content(r) && column_of(r) == indent && is_item(r->at)) {
        *r->at++ = ' ';
        if (!is_line_over(r) && (is_item(r->at) || (has_key(r->at) && !strchr("{[", *r->at))))
            *end = read_block(r, indent + 1);
        else
            *end = read_value(r, indent);
        if (!*end)
            return NULL;
        end = &(*end)->next;
    }
    return node;
}

static const char *read_key(struct reading *r) {
    if (*r->at == '"' || *r->at == '\'')
        return read_quoted(r);
    size_t n = plain_length(r->at, false);
    const char *key = keep(r, r->at, n);
    r->at += n;
    return key;
}

/* A sequence may stand below its key without being indented. */
static struct gsim_yaml *read_entry(struct reading *r, int indent) {
    const char *key = read_key(r);
    const char *from = r->at;
    skip_blanks(r);
    if (r->status == GSIM_OK && *r->at != ':')
        return refuse(r, from, "'key: value' or '- item' is expected");
    r->at++;
    bool is_below = is_line_over(r);
    if (is_below)
        (void)find_content(r);
    struct gsim_yaml *value = !is_below ? read_inline(r, indent)
                              : !r->is_over && column_of(r) == indent && is_item(r->at)
                                  ? read_sequence(r)
                                  : read_block(r, indent + 1);
    if (value)
        value->key = key;
    return value;
}

static bool has_twice(const struct gsim_yaml *mapping, const struct gsim_yaml *last) {
    for (const struct gsim_yaml *one = mapping->first; one && one != last; one = one->next)
        if (strcmp(one->key, last->key) == 0)
            return true;
    return false;
}

static struct gsim_yaml *read_mapping(struct reading *r) {
    struct gsim_yaml *node = new_node(r, GSIM_YAML_MAPPING);
    struct gsim_yaml **end = node ? &node->first : NULL;
    int indent = column_of(r);
    while (node && find_content(r) && column_of(r) == indent && !is_item(r->at)) {
        int64_t line = r->line;
        if (!(*end = read_entry(r, indent)) || r->status != GSIM_OK)
            return NULL;
        if (has_twice(node, *end))
            return refuse_at(r, line, indent + 1, "a key stands twice in its mapping");
        end = &(*end)->next;
    }
    if (node && find_content(r) && column_of(r) > indent)
        return refuse(r, r->at, "a line is indented deeper than those before it");
    return r->status == GSIM_OK ? node : NULL;
}

/* A block that is indented by `least` at least; an empty scalar where the next line is not. */
static struct gsim_yaml *read_block(struct reading *r, int least) {
    struct gsim_yaml *node;
    if (!find_content(r) || column_of(r) < least)
        return r->status == GSIM_OK ? new_node(r, GSIM_YAML_SCALAR) : NULL;
    if (++r->depth > MOST_DEPTH)
        return refuse(r, r->at, "collections are nested more than 64 deep");
    if (is_item(r->at))
        node = read_sequence(r);
    else if (!strchr("{[", *r->at) && has_key(r->at))
        node = read_mapping(r);
    else
        node = read_inline(r, least - 1);
    r->depth--;
    return node;
}

/* --- documents -------------------------------------------------------------------------------- */

static struct gsim_yaml *read_document(struct reading *r) {
    r->is_over = false;
    if (ends_document(r->begin))
        next_line(r);
    if (r->is_over || !find_content(r))
        return NULL;
    struct gsim_yaml *document = read_block(r, 0);
    if (document && find_content(r))
        return refuse(r, r->at, "'key: value' or '- item' is expected, as deep as those before");
    return document;
}

enum gsim_status gsim_yaml_read(const char *path, struct gsim_arena *arena,
                                struct gsim_yaml **documents, struct gsim_log *log) {
    struct reading r = {.path = path, .arena = arena, .log = log};
    *documents = NULL;
    r.status = gsim_site_read_text(path, arena, &r.after, log);
    if (r.status != GSIM_OK)
        return r.status;
    next_line(&r);
    while (r.begin && r.status == GSIM_OK) {
        struct gsim_yaml *document = read_document(&r);
        if (document) {
            *documents = document;
            documents = &document->next;
        }
    }
    return r.status;
}

const struct gsim_yaml *gsim_yaml_get(const struct gsim_yaml *mapping, const char *key) {
    if (!mapping || mapping->kind != GSIM_YAML_MAPPING)
        return NULL;
    for (const struct gsim_yaml *one = mapping->first; one; one = one->next)
        if (strcmp(one->key, key) == 0)
            return one;
    return NULL;
}

const char *gsim_yaml_text(const struct gsim_yaml *mapping, const char *key) {
    const struct gsim_yaml *one = gsim_yaml_get(mapping, key);
    return one && one->kind == GSIM_YAML_SCALAR ? one->text : "";
}
