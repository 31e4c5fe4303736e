/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers, lists and distributions of a spec's section. */
#include "traces/spec_keys.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sim/base/decimal.h"
#include "sim/base/ini.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/values.h"

enum gsim_status gsim_spec_fail(const struct gsim_spec_reader *r,
                                const struct gsim_ini_entry *entry, const char *accepted) {
    if (gsim_arena_has_failed(r->arena)) /* for a name */
        return gsim_no_memory(r->log, "reading a spec");
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line,
                     "key '%s': '%.60s' is not %s", entry->key, entry->value, accepted);
}

/* --- entries ---------------------------------------------------------------------------------- */

const struct gsim_ini_entry *gsim_spec_find(const struct gsim_spec_reader *r, const char *section,
                                            const char *key) {
    return gsim_ini_find(r->ini, section, key);
}

static bool parse_number(const char *text, double *out) {
    char *end;
    *out = gsim_decimal_read(text, &end);
    return end != text && !*end && isfinite(*out);
}

enum gsim_status gsim_spec_number(const struct gsim_spec_reader *r, const char *section,
                                  const char *key, double least, double *out) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, section, key);
    if (!entry)
        return GSIM_OK;
    if (!parse_number(entry->value, out))
        return gsim_spec_fail(r, entry, "a number");
    if (*out >= least)
        return GSIM_OK;
    const char *accepted = gsim_arena_printf(r->arena, "a number of at least %.10g", least);
    return gsim_spec_fail(r, entry, accepted);
}

enum gsim_status gsim_spec_whole(const struct gsim_spec_reader *r, const char *section,
                                 const char *key, int64_t least, int64_t most, int64_t *out) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, section, key);
    if (!entry)
        return GSIM_OK;
    if (gsim_parse_int(entry->value, out) != GSIM_PARSE_OK || *out < least || *out > most)
        return gsim_spec_fail(r, entry,
                              gsim_arena_printf(r->arena, "a whole number from %lld to %lld",
                                                (long long)least, (long long)most));
    return GSIM_OK;
}

/* Splits "a, b, c" without the spaces around; returns the number of parts, or -1 without memory. */
static int split(const struct gsim_spec_reader *r, const char *list, const char ***out) {
    int n = 1;
    for (const char *p = list; *p; p++)
        n += *p == ',';
    const char **parts = gsim_arena_array(r->arena, (size_t)n, sizeof *parts);
    for (int i = 0; parts && i < n; i++) {
        size_t length = strcspn(list, ",");
        const char *from = list, *to = list + length;
        while (from < to && isspace((unsigned char)*from))
            from++;
        while (to > from && isspace((unsigned char)to[-1]))
            to--;
        parts[i] = gsim_arena_strndup(r->arena, from, (size_t)(to - from));
        if (!parts[i])
            return -1;
        list += length + (list[length] == ',');
    }
    *out = parts;
    return parts ? n : -1;
}

enum gsim_status gsim_spec_split(const struct gsim_spec_reader *r,
                                 const struct gsim_ini_entry *entry, const char ***out,
                                 uint32_t *n) {
    int count = split(r, entry->value, out);
    *n = count < 0 ? 0 : (uint32_t)count;
    return count < 0 ? gsim_no_memory(r->log, "reading a spec") : GSIM_OK;
}

/* --- distributions ---------------------------------------------------------------------------- */

static bool is_text(int target) {
    if (target >= GSIM_COL_COUNT)
        return false;
    enum gsim_cell_kind kind = gsim_columns[target].kind;
    return kind == GSIM_CELL_NAME || kind == GSIM_CELL_CLASS || kind == GSIM_CELL_SYNC ||
           kind == GSIM_CELL_BOOL;
}

enum gsim_status gsim_spec_weights(const struct gsim_spec_reader *r, const char *section,
                                   const char *key, uint32_t n, const double **out) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, section, key);
    double *cumulative = gsim_arena_array(r->arena, n, sizeof *cumulative), sum = 0;
    const char **parts = NULL;
    uint32_t count = n;
    if (!cumulative || (entry && gsim_spec_split(r, entry, &parts, &count) != GSIM_OK))
        return gsim_no_memory(r->log, "reading a spec");
    if (count != n)
        return gsim_spec_fail(r, entry, "one weight for each choice");
    for (uint32_t i = 0; i < n; i++) {
        double weight = 1;
        if (parts && (!parse_number(parts[i], &weight) || weight < 0))
            return gsim_spec_fail(r, entry, "a list of numbers, 0 or more");
        sum += weight;
        cumulative[i] = sum;
    }
    if (!(sum > 0))
        return gsim_spec_fail(r, entry, "a list with a number above 0");
    for (uint32_t i = 0; i < n; i++)
        cumulative[i] /= sum;
    *out = cumulative;
    return GSIM_OK;
}

/* Texts must be words that the column's cells may hold. */
static enum gsim_status check_texts(const struct gsim_spec_reader *r,
                                    const struct gsim_ini_entry *entry,
                                    const struct gsim_quantity *q) {
    struct gsim_builder *scratch = gsim_arena_alloc(r->arena, sizeof *scratch);
    if (!scratch)
        return gsim_no_memory(r->log, "reading a spec");
    gsim_build_init(scratch, r->spec->path, r->arena, r->log);
    int64_t value;
    for (uint32_t i = 0; i < q->dist.n; i++)
        if (!*q->text[i] || !gsim_cell_parse(scratch, (enum gsim_column)q->target, q->text[i],
                                             strlen(q->text[i]), &value))
            return gsim_spec_fail(r, entry, gsim_cell_form(gsim_columns[q->target].kind));
    return GSIM_OK;
}

static enum gsim_status read_choice(const struct gsim_spec_reader *r, const char *section,
                                    struct gsim_quantity *q) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, section, "choice");
    q->dist.kind = GSIM_DIST_CHOICE;
    enum gsim_status status = gsim_spec_split(r, entry, &q->text, &q->dist.n);
    if (status == GSIM_OK)
        status = gsim_spec_weights(r, section, "weights", q->dist.n, &q->dist.cumulative);
    if (status != GSIM_OK)
        return status;
    if (is_text(q->target))
        return check_texts(r, entry, q);
    double *value = gsim_arena_array(r->arena, q->dist.n, sizeof *value);
    if (!value)
        return gsim_no_memory(r->log, "reading a spec");
    for (uint32_t i = 0; i < q->dist.n; i++)
        if (!parse_number(q->text[i], &value[i]) || value[i] < 0)
            return gsim_spec_fail(r, entry, "a list of numbers, 0 or more");
    q->dist.value = value;
    return GSIM_OK;
}

static enum gsim_status read_quantiles(const struct gsim_spec_reader *r,
                                       const struct gsim_ini_entry *entry, struct gsim_dist *dist) {
    const char **parts;
    dist->kind = GSIM_DIST_QUANTILES;
    enum gsim_status status = gsim_spec_split(r, entry, &parts, &dist->n);
    double *value = status == GSIM_OK ? gsim_arena_array(r->arena, dist->n, sizeof *value) : NULL;
    if (!value)
        return gsim_no_memory(r->log, "reading a spec");
    for (uint32_t i = 0; i < dist->n; i++)
        if (!parse_number(parts[i], &value[i]) || value[i] < (i > 0 ? value[i - 1] : 0))
            return gsim_spec_fail(r, entry, "a list of numbers, 0 or more, none below the last");
    dist->value = value;
    return dist->n > 1 ? GSIM_OK : gsim_spec_fail(r, entry, "a list of two or more numbers");
}

/* Jobs of a closed loop wait for others, and for no clock. */
static bool is_closed(const struct gsim_ini_entry *entry, const struct gsim_quantity *q) {
    return entry && q->target == GSIM_OF_GAP && strcmp(entry->value, "closed") == 0;
}

/* A file's name is relative to the spec's folder. */
static enum gsim_status read_empirical(const struct gsim_spec_reader *r, const char *section,
                                       struct gsim_dist *dist) {
    const struct gsim_ini_entry *file = gsim_spec_find(r, section, "file");
    const struct gsim_ini_entry *column = gsim_spec_find(r, section, "column");
    if (!file)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path,
                         gsim_spec_find(r, section, "distribution")->line,
                         "empirical needs file = (one value a line, or a CSV and column =)");
    const char *slash = strrchr(r->spec->path, '/');
    int folder = *file->value == '/' || !slash ? 0 : (int)(slash - r->spec->path) + 1;
    const char *path = gsim_arena_printf(r->arena, "%.*s%s", folder, r->spec->path, file->value);
    if (!path)
        return gsim_no_memory(r->log, "reading a spec");
    r->spec->file[r->spec->n_files++] = path; /* a quantity has at most one */
    return gsim_values_read(path, column ? column->value : NULL, r->arena, &dist->value, &dist->n,
                            r->log);
}

static enum gsim_status find_kind(const struct gsim_spec_reader *r,
                                  const struct gsim_ini_entry *entry, struct gsim_dist *dist) {
    const char *names[GSIM_DIST_COUNT];
    for (int i = 0; i < GSIM_DIST_COUNT; i++) {
        names[i] = gsim_dists[i].name;
        dist->kind = (enum gsim_dist_kind)i;
        if (strcmp(entry->value, names[i]) == 0 && i != GSIM_DIST_CHOICE &&
            i != GSIM_DIST_QUANTILES)
            return GSIM_OK;
    }
    dist->kind = GSIM_DIST_EXPONENTIAL;
    if (strcmp(entry->value, "poisson") == 0 && strcmp(entry->key, "process") == 0)
        return GSIM_OK;
    int close = gsim_text_suggest(entry->value, names, GSIM_DIST_COUNT);
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line,
                     "no distribution is called '%.40s'%s%s%s", entry->value,
                     close >= 0 ? "; did you mean '"
                                : "; there are deterministic, uniform, exponential, lognormal, "
                                  "weibull, pareto, bounded-pareto, empirical, and choice = and "
                                  "quantiles =",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

/* Reports parameters of other distributions. */
static enum gsim_status check_foreign(const struct gsim_spec_reader *r, const char *section,
                                      const struct gsim_dist_def *own) {
    for (int kind = 0; kind < GSIM_DIST_COUNT; kind++)
        for (int i = 0; i < GSIM_DIST_PARAMS; i++) {
            const char *name = gsim_dists[kind].param[i];
            const struct gsim_ini_entry *entry = name ? gsim_spec_find(r, section, name) : NULL;
            bool is_own = false;
            for (int j = 0; entry && j < GSIM_DIST_PARAMS; j++)
                is_own |= own->param[j] && strcmp(own->param[j], name) == 0;
            if (entry && !is_own)
                return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line,
                                 "'%s' has no parameter '%s'; it takes %s", own->name, name,
                                 own->accepts);
        }
    return GSIM_OK;
}

/* lacks_scale: an arrival that is scaled to a rate may leave its parameters at 1. */
static enum gsim_status read_params(const struct gsim_spec_reader *r, const char *section,
                                    int64_t line, bool lacks_scale, struct gsim_dist *dist) {
    const struct gsim_dist_def *def = &gsim_dists[dist->kind];
    for (int i = 0; i < GSIM_DIST_PARAMS && def->param[i]; i++) {
        dist->param[i] = lacks_scale ? 1 : NAN;
        enum gsim_status status =
            gsim_spec_number(r, section, def->param[i], -INFINITY, &dist->param[i]);
        if (status != GSIM_OK)
            return status;
        if (isnan(dist->param[i]))
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, line,
                             "'%s' needs the key %s; it takes %s", def->name, def->param[i],
                             def->accepts);
    }
    if (!gsim_dist_is_valid(dist))
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, line, "'%s' needs %s", def->name,
                         def->accepts);
    return check_foreign(r, section, def);
}

enum gsim_status gsim_spec_distribution(const struct gsim_spec_reader *r, const char *section,
                                        int64_t line, struct gsim_quantity *q) {
    if (gsim_spec_find(r, section, "choice"))
        return read_choice(r, section, q);
    bool is_gap = q->target == GSIM_OF_GAP;
    const struct gsim_ini_entry *entry =
        gsim_spec_find(r, section, is_gap ? "process" : "distribution");
    const struct gsim_ini_entry *quantiles = gsim_spec_find(r, section, "quantiles");
    if (quantiles && !is_text(q->target))
        return read_quantiles(r, quantiles, &q->dist);
    if (is_closed(entry, q)) {
        q->dist = (struct gsim_dist){.kind = GSIM_DIST_DETERMINISTIC};
        return GSIM_OK;
    }
    if (!entry || is_text(q->target))
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, line, "[%s] needs %s", section,
                         is_text(q->target) ? "choice = A, B, ..."
                         : is_gap           ? "process = poisson or another distribution"
                                            : "distribution = NAME or choice = A, B, ...");
    enum gsim_status status = find_kind(r, entry, &q->dist);
    if (status == GSIM_OK && q->dist.kind == GSIM_DIST_EMPIRICAL)
        status = read_empirical(r, section, &q->dist);
    bool lacks_scale =
        is_gap && (gsim_spec_find(r, section, "rate") || gsim_spec_find(r, section, "load"));
    return status == GSIM_OK ? read_params(r, section, entry->line, lacks_scale, &q->dist) : status;
}
