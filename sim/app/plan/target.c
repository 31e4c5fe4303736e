/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads --target, a field of a result, < or >, and a value; and --price. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/plan/target.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "sim/study/output.h"

static const char *const fields[] = {
#define GSIM_FIELD_TEXT(name, help)
#define GSIM_FIELD_INT(name, help)
#define GSIM_FIELD_REAL(name, help) #name,
#define GSIM_FIELD_BOOL(name, help)
#include "gsim/fields.def"
};
static const char *const meanings[] = {
#define GSIM_FIELD_TEXT(name, help)
#define GSIM_FIELD_INT(name, help)
#define GSIM_FIELD_REAL(name, help) help,
#define GSIM_FIELD_BOOL(name, help)
#include "gsim/fields.def"
};
enum { N_FIELDS = sizeof fields / sizeof *fields, MAX_NAME = 64, MAX_PARTS = 8 };

static const char target_form[] =
    "a target is a field of a result, < or >, and a value, such as "
    "'wait_p95_s < 1h' or 'gpu_busy < 80%'; 'gsim list results' has the "
    "fields";

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Cuts a name into its parts, in alphabetical order and without the unit. */
static int cut(char *name, char *part[MAX_PARTS]) {
    int n = 0;
    for (char *at = strtok(name, "_"); at && n < MAX_PARTS; at = strtok(NULL, "_"))
        if (strcmp(at, "s") != 0)
            part[n++] = at;
    qsort(part, (size_t)n, sizeof *part, by_text);
    return n;
}

/* Whether the word is the name with its parts in another order: "p95_wait" of wait_p95_s. */
static bool is_turned(const char *word, const char *name) {
    char a[MAX_NAME], b[MAX_NAME], *one[MAX_PARTS], *two[MAX_PARTS];
    if (strlen(word) >= MAX_NAME || strlen(name) >= MAX_NAME)
        return false;
    int n = cut(strcpy(a, word), one);
    bool is_equal = n > 0 && cut(strcpy(b, name), two) == n;
    for (int i = 0; i < n && is_equal; i++)
        is_equal = strcmp(one[i], two[i]) == 0;
    return is_equal;
}

static bool is_share(const char *field) {
    int i = 0;
    while (fields[i] != field)
        i++;
    return strncmp(meanings[i], "share of", 8) == 0;
}

/* A bare number where another unit is as likely: 4 of wait_p95, which may be hours, and 80 of a
 * share. A field that is called with its unit, wait_p95_s, says what a number is. */
static enum gsim_status refuse_bare(struct gsim_cli *cli, const struct gsim_target *target,
                                    const char *word, const char *value) {
    bool is_bare = value[strspn(value, "0123456789.")] == '\0', is_seconds;
    size_t n = strlen(word);
    is_seconds = n > 2 && strcmp(word + n - 2, "_s") == 0;
    if (is_bare && target->is_time && !is_seconds)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--target: '%s' has no unit; say %ss or %sh (%s is in seconds)", value,
                         value, value, target->field);
    if (is_bare && target->value > 1 && is_share(target->field))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--target: %s is a share, so %s is more than there is; say %s%% or %g",
                         target->field, value, value, target->value / 100);
    return GSIM_OK;
}

static enum gsim_status find_field(struct gsim_cli *cli, const char *word, const char **out) {
    for (int i = 0; i < N_FIELDS; i++)
        if (is_turned(word, fields[i])) {
            *out = fields[i];
            return GSIM_OK;
        }
    int close = gsim_text_suggest(word, fields, N_FIELDS);
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--target: no number of a result is called "
                     "'%s'%s%s%s",
                     word, close >= 0 ? "; did you mean '" : "; 'gsim list results' shows them",
                     close >= 0 ? fields[close] : "", close >= 0 ? "'?" : "");
}

/* A time where the field ends in _s, else a number or a percentage. */
static bool read_value(const char *text, struct gsim_target *out) {
    int64_t whole;
    enum gsim_parse parse;
    out->is_time = strcmp(out->field + strlen(out->field) - 2, "_s") == 0;
    parse =
        out->is_time ? gsim_parse_time(text, GSIM_NS_PER_S, &whole) : gsim_parse_ppm(text, &whole);
    out->value = (double)whole / (out->is_time ? 1e9 : 1e6);
    return parse == GSIM_PARSE_OK && whole >= 0;
}

static const char *in_words(const struct gsim_target *target, struct gsim_arena *arena) {
    char value[64];
    if (target->is_time)
        gsim_format_humane(value, target->value);
    else
        (void)snprintf(value, sizeof value, "%g", target->value);
    return gsim_arena_printf(arena, "%s %c %s", target->field, target->is_above ? '>' : '<', value);
}

enum gsim_status gsim_target_read(struct gsim_cli *cli, struct gsim_target *out) {
    const char *text = cli->value[GSIM_OPT_TARGET];
    if (!text)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "no target; accepted: a field's bound, as in gsim plan --target "
                         "'wait_p95_s < 1h' --policies "
                         "fifo,easy-backfill --nodes 1..64 trace.csv");
    size_t sign = strcspn(text, "<>"), length = sign;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    size_t from = strspn(text, " ");
    const char *value = text + sign + (text[sign] != '\0');
    value += strspn(value, " ");
    *out = (struct gsim_target){.is_above = text[sign] == '>'};
    if (!text[sign] || from >= length || *value == '=')
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--target: '%s': %s", text, target_form);
    char *word = gsim_arena_strndup(cli->arena, text + from, length - from);
    enum gsim_status status =
        word ? find_field(cli, word, &out->field) : gsim_no_memory(cli->log, "reading --target");
    if (status != GSIM_OK)
        return status;
    if (!read_value(value, out))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--target: '%s' is no %s; %s", value,
                         out->is_time ? "time" : "number", target_form);
    status = refuse_bare(cli, out, word, value);
    if (status != GSIM_OK)
        return status;
    out->text = in_words(out, cli->arena);
    return out->text ? GSIM_OK : gsim_no_memory(cli->log, "reading --target");
}

enum gsim_status gsim_price_read(struct gsim_cli *cli, double *out) {
    const char *text = cli->value[GSIM_OPT_PRICE];
    int64_t millionths = 0;
    *out = (double)NAN;
    if (!text)
        return GSIM_OK;
    if (gsim_parse_decimal(text, strlen(text), 1000000, &millionths) != GSIM_PARSE_OK ||
        millionths < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--price: '%s' is no price of a GPU for an hour, such as 2.5", text);
    *out = (double)millionths / 1e6;
    return GSIM_OK;
}
