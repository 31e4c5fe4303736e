/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameter tables: parsing by type, limits, and the owner of a key. */
#include "gsim/params.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"

enum { MAX_LIST = 64, MAX_KNOWN = 512 };

static const char *const type_forms[] = {
    [GSIM_PARAM_END] = "",
    [GSIM_PARAM_BOOL] = "on or off",
    [GSIM_PARAM_INT] = "a whole number",
    [GSIM_PARAM_TIME] = "a time such as 30s, 10ms or 2h",
    [GSIM_PARAM_BYTES] = "a size such as 4GiB or 16GB",
    [GSIM_PARAM_RATE] = "a rate such as 25GB/s",
    [GSIM_PARAM_PPM] = "a ratio such as 5% or 0.05",
    [GSIM_PARAM_CHOICE] = "one of ",
    [GSIM_PARAM_CHOICE_TIME] = "a time such as 30s, or one of ",
    [GSIM_PARAM_TEXT] = "text",
    [GSIM_PARAM_FILE] = "a file",
    [GSIM_PARAM_INT_LIST] = "whole numbers separated by commas",
};

static enum gsim_parse parse_list(const char *text, struct gsim_param_value *out,
                                  struct gsim_arena *arena) {
    int64_t *list = gsim_arena_array(arena, MAX_LIST, sizeof *list);
    int64_t n = 0;
    while (list && n < MAX_LIST) {
        size_t length = strcspn(text, ",");
        if (length == 0 || strspn(text, "+-0123456789") < length ||
            gsim_parse_decimal(text, length, 1, &list[n++]) != GSIM_PARSE_OK)
            return GSIM_PARSE_SYNTAX;
        if (!text[length]) {
            out->list = list;
            out->value = n;
            return GSIM_PARSE_OK;
        }
        text += length + 1;
    }
    return GSIM_PARSE_RANGE;
}

static enum gsim_parse parse_choice(const char *text, const char *choices, int64_t *out) {
    int position = gsim_text_choice(text, choices);
    *out = position;
    return position < 0 ? GSIM_PARSE_SYNTAX : GSIM_PARSE_OK;
}

static enum gsim_parse parse_choice_time(const char *text, const char *choices, int64_t *out) {
    int position = gsim_text_choice(text, choices);
    if (position < 0)
        return gsim_parse_time(text, GSIM_NS_PER_S, out);
    *out = -1 - position;
    return GSIM_PARSE_OK;
}

static enum gsim_parse parse_value(const struct gsim_param_def *def, const char *text,
                                   struct gsim_param_value *out, struct gsim_arena *arena) {
    switch (def->type) {
    case GSIM_PARAM_BOOL: {
        int position = gsim_text_choice(text, "off|on|false|true|no|yes|0|1");
        out->value = position & 1;
        return position < 0 ? GSIM_PARSE_SYNTAX : GSIM_PARSE_OK;
    }
    case GSIM_PARAM_INT:
        return gsim_parse_int(text, &out->value);
    case GSIM_PARAM_TIME:
        return gsim_parse_time(text, GSIM_NS_PER_S, &out->value);
    case GSIM_PARAM_BYTES:
        return gsim_parse_bytes(text, &out->value);
    case GSIM_PARAM_RATE:
        return gsim_parse_rate(text, &out->value);
    case GSIM_PARAM_PPM:
        return gsim_parse_ppm(text, &out->value);
    case GSIM_PARAM_CHOICE:
        return parse_choice(text, def->choices, &out->value);
    case GSIM_PARAM_CHOICE_TIME:
        return parse_choice_time(text, def->choices, &out->value);
    case GSIM_PARAM_INT_LIST:
        return parse_list(text, out, arena);
    case GSIM_PARAM_TEXT:
    case GSIM_PARAM_FILE:
    case GSIM_PARAM_END:
        break;
    }
    return GSIM_PARSE_OK;
}

int64_t gsim_param_most(const struct gsim_param_def *def) {
    return def->max == 0 && def->min >= 0 ? INT64_MAX : def->max;
}

static bool is_in_range(const struct gsim_param_def *def, const struct gsim_param_value *value) {
    int64_t most = gsim_param_most(def);
    if (def->min == 0 && def->max == 0)
        return true;
    if (def->type == GSIM_PARAM_CHOICE_TIME && value->value < 0)
        return true; /* a name */
    if (def->type != GSIM_PARAM_INT_LIST)
        return value->value >= def->min && value->value <= most;
    for (int64_t i = 0; i < value->value; i++)
        if (value->list[i] < def->min || value->list[i] > most)
            return false;
    return true;
}

int gsim_param_format(char *buffer, enum gsim_param_type type, int64_t value) {
    if (type == GSIM_PARAM_TIME || type == GSIM_PARAM_CHOICE_TIME)
        return gsim_format_time(buffer, value);
    if (type == GSIM_PARAM_BYTES)
        return gsim_format_bytes(buffer, value);
    if (type == GSIM_PARAM_PPM)
        return gsim_format_ppm(buffer, value);
    return snprintf(buffer, 32, "%lld", (long long)value);
}

static enum gsim_status refuse(const struct gsim_params *params, const struct gsim_param_def *def,
                               const char *origin, const char *text, struct gsim_log *log) {
    char range[96] = "", low[40], high[40];
    if (def->min != 0 || def->max != 0) {
        gsim_param_format(low, def->type, def->min);
        gsim_param_format(high, def->type, gsim_param_most(def));
        if (gsim_param_most(def) == INT64_MAX)
            (void)snprintf(range, sizeof range, ", at least %s", low);
        else
            (void)snprintf(range, sizeof range, ", %s to %s", low, high);
    }
    return gsim_fail(log, GSIM_USAGE, NULL, 0, "%s.%s: %s'%s' is not %s%s%s", params->owner,
                     def->name, origin, text, type_forms[def->type],
                     def->choices ? def->choices : "", range);
}

/* A policy of another file may leave out what its program needs. */
static const char *what_lacks(const struct gsim_param_def *def) {
    bool is_choice = def->type == GSIM_PARAM_CHOICE || def->type == GSIM_PARAM_CHOICE_TIME;
    return !def->name                   ? "name"
           : !def->fallback             ? "default (.fallback)"
           : !def->help                 ? "help"
           : is_choice && !def->choices ? "choices"
                                        : NULL;
}

enum gsim_status gsim_params_init(struct gsim_params *params, const char *owner,
                                  const struct gsim_param_def *defs, struct gsim_arena *arena,
                                  struct gsim_log *log) {
    *params = (struct gsim_params){.owner = owner, .defs = defs};
    while (defs && defs[params->n].type != GSIM_PARAM_END)
        params->n++;
    params->values = gsim_arena_array(arena, (size_t)params->n, sizeof *params->values);
    if (!params->values)
        return gsim_no_memory(log, "reading parameters");
    for (int i = 0; i < params->n; i++) {
        const char *lacks = what_lacks(&defs[i]);
        if (lacks)
            return gsim_fail(log, GSIM_USAGE, NULL, 0, "%s: parameter '%s' of the policy has no %s",
                             owner, defs[i].name ? defs[i].name : "", lacks);
        params->values[i].text = defs[i].fallback;
        enum gsim_parse parsed = parse_value(&defs[i], defs[i].fallback, &params->values[i], arena);
        if (parsed != GSIM_PARSE_OK || !is_in_range(&defs[i], &params->values[i]))
            return refuse(params, &defs[i], "the default ", defs[i].fallback, log);
    }
    return GSIM_OK;
}

int gsim_params_find(const struct gsim_params *params, const char *key) {
    for (int i = 0; i < params->n; i++)
        if (strcmp(params->defs[i].name, key) == 0)
            return i;
    return -1;
}

static enum gsim_status unknown_key(struct gsim_params *const *owners, int n_owners,
                                    const char *key, struct gsim_log *log) {
    const char *names[MAX_KNOWN];
    int n = 0;
    for (int o = 0; o < n_owners; o++)
        for (int i = 0; i < owners[o]->n && n < MAX_KNOWN; i++)
            names[n++] = owners[o]->defs[i].name;
    const char *dot = strchr(key, '.');
    int close = gsim_text_suggest(key, names, n);
    if (close < 0 && dot)
        close = gsim_text_suggest(dot + 1, names, n);
    if (close >= 0)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "no parameter is called '%s'; did you mean '%s'?", key, names[close]);
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "no parameter is called '%s'; 'gsim list policies NAME' and 'gsim list "
                     "devices NAME' show what can be set",
                     key);
}

/* Whether a number without a unit is read in seconds: for parameters with a default of a second or
 * more, from a minute on, as batch systems write times. quantum=5 may mean 5 ms of a driver or 5
 * min of a cluster, and hardly means 5 s. */
static bool is_in_seconds(const struct gsim_param_def *def, const char *text) {
    const char *usual = def->usual ? def->usual : def->fallback;
    int64_t usual_ns, value;
    if (gsim_parse_time(usual, GSIM_NS_PER_S, &usual_ns) == GSIM_PARSE_OK &&
        usual_ns < GSIM_NS_PER_S)
        return false;
    return gsim_parse_time(text, GSIM_NS_PER_S, &value) == GSIM_PARSE_OK &&
           value >= GSIM_LEAST_BARE_NS;
}

/* Refuses a time or a size without a unit. */
static enum gsim_status refuse_bare(const struct gsim_params *params,
                                    const struct gsim_param_def *def, const char *text,
                                    struct gsim_log *log) {
    const char *name = def->name;
    int64_t bytes;
    bool is_time = def->type == GSIM_PARAM_TIME || def->type == GSIM_PARAM_CHOICE_TIME;
    if (is_time && gsim_is_bare(text) && !is_in_seconds(def, text))
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "%s.%s: '%s' has no unit; say %sms, %ss or %smin (the default is %s)",
                         params->owner, name, text, text, text, text, def->fallback);
    if (def->type == GSIM_PARAM_BYTES && gsim_parse_size(text, &bytes) == GSIM_PARSE_BARE)
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "%s.%s: '%s' has no unit; say %sGiB or %sB",
                         params->owner, name, text, text, text);
    return GSIM_OK;
}

enum gsim_status gsim_params_set(struct gsim_params *params, const char *key, const char *text,
                                 struct gsim_arena *arena, struct gsim_log *log) {
    int i = gsim_params_find(params, key);
    if (i < 0)
        return unknown_key(&params, 1, key, log);
    struct gsim_param_value value = {.text = gsim_arena_strdup(arena, text), .is_set = true};
    if (!value.text)
        return gsim_no_memory(log, "reading parameters");
    enum gsim_status status = refuse_bare(params, &params->defs[i], text, log);
    if (status != GSIM_OK)
        return status;
    if (parse_value(&params->defs[i], text, &value, arena) != GSIM_PARSE_OK ||
        !is_in_range(&params->defs[i], &value))
        return refuse(params, &params->defs[i], "", text, log);
    params->values[i] = value;
    return GSIM_OK;
}

const struct gsim_param_value *gsim_param_full(const struct gsim_params *params, const char *name) {
    int i = gsim_params_find(params, name);
    assert(i >= 0);
    return &params->values[i];
}

int64_t gsim_param(const struct gsim_params *params, const char *name) {
    return gsim_param_full(params, name)->value;
}

/* "owner.name" when the part before the first dot is the owner. */
static const char *name_for(const struct gsim_params *params, const char *key) {
    size_t n = strlen(params->owner);
    return strncmp(key, params->owner, n) == 0 && key[n] == '.' ? key + n + 1 : key;
}

enum gsim_status gsim_params_assign(struct gsim_params *const *owners, int n_owners,
                                    const char *key, const char *text, struct gsim_arena *arena,
                                    struct gsim_log *log) {
    int found = -1;
    for (int o = 0; o < n_owners; o++) {
        if (gsim_params_find(owners[o], name_for(owners[o], key)) < 0)
            continue;
        if (found >= 0)
            return gsim_fail(log, GSIM_USAGE, NULL, 0,
                             "the parameter '%s' is known to %s and %s; say %s.%s or %s.%s", key,
                             owners[found]->owner, owners[o]->owner, owners[found]->owner, key,
                             owners[o]->owner, key);
        found = o;
    }
    if (found < 0)
        return unknown_key(owners, n_owners, key, log);
    return gsim_params_set(owners[found], name_for(owners[found], key), text, arena, log);
}
