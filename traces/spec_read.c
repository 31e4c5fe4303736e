/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a spec section by section; every entry must be a key that its section knows. */
#include <math.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/ini.h"
#include "traces/spec_keys.h"
#include "traces/spec_read.h"

/* The name of a section. */
static const char *name_of(int target) {
    static const char *const names[] = {"duration", "gpus",       "arrival",    "session",
                                        "break_s",  "batch_jobs", "batch_gap_s"};
    return target < GSIM_COL_COUNT ? gsim_columns[target].name : names[target - GSIM_COL_COUNT];
}

/* --- sections --------------------------------------------------------------------------------- */

static enum gsim_status read_word(const struct gsim_spec_reader *r, const char *section,
                                  const char *key, const char *word, bool *out) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, section, key);
    *out = entry != NULL;
    return !entry || strcmp(entry->value, word) == 0 ? GSIM_OK : gsim_spec_fail(r, entry, word);
}

static enum gsim_status read_quantity(const struct gsim_spec_reader *r, const char *section,
                                      int64_t line, struct gsim_quantity *q) {
    q->stream = section;
    q->probability = 1;
    enum gsim_status status = gsim_spec_distribution(r, section, line, q);
    if (status == GSIM_OK)
        status = gsim_spec_number(r, section, "min", 0, &q->min);
    if (status == GSIM_OK)
        status = gsim_spec_number(r, section, "max", 0, &q->max);
    if (status == GSIM_OK)
        status = gsim_spec_number(r, section, "round", 0, &q->round);
    if (status == GSIM_OK)
        status = gsim_spec_number(r, section, "probability", 0, &q->probability);
    if (status == GSIM_OK)
        status = gsim_spec_number(r, section, "repeat", 0, &q->repeat);
    if (status == GSIM_OK)
        status = read_word(r, section, "times", "duration", &q->times_duration);
    if (status == GSIM_OK)
        status = read_word(r, section, "after", "submit", &q->after_submit);
    return status;
}

static enum gsim_status unknown_section(const struct gsim_spec_reader *r,
                                        const struct gsim_ini_entry *entry, const char *name) {
    const char *names[GSIM_OF_COUNT + 1];
    for (int t = 0; t < GSIM_OF_COUNT; t++)
        names[t] = name_of(t);
    names[GSIM_OF_COUNT] = "trace";
    int close = gsim_text_suggest(name, names, GSIM_OF_COUNT + 1);
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line, "no section [%.60s]%s%s%s",
                     entry->section,
                     close >= 0 ? "; did you mean ["
                                : "; there are trace, arrival, duration, gpus "
                                  "and the columns of a native trace ('gsim list columns')",
                     close >= 0 ? names[close] : "", close >= 0 ? "]?" : "");
}

/* [arrival] is how jobs arrive; [KIND/arrival] is the column of its open-loop jobs: how requests
 * arrive. */
static bool can_generate(int target, bool is_of_kind) {
    if (target == GSIM_COL_ARRIVAL || target == GSIM_OF_GAP)
        return is_of_kind == (target == GSIM_COL_ARRIVAL);
    if (target == GSIM_OF_SESSION || target == GSIM_OF_BREAK || target == GSIM_OF_BATCH ||
        target == GSIM_OF_BATCH_GAP)
        return !is_of_kind;
    return target != GSIM_COL_SHARE_PPM && target != GSIM_COL_APP && target != GSIM_COL_AFTER;
}

static enum gsim_status find_section(const struct gsim_spec_reader *r,
                                     const struct gsim_ini_entry *entry, uint32_t *kind,
                                     int *target) {
    const char *slash = strchr(entry->section, '/');
    const char *name = slash ? slash + 1 : entry->section;
    size_t length = slash ? (size_t)(slash - entry->section) : 0;
    *kind = slash ? 0 : GSIM_MAX_KINDS; /* the section common to all kinds */
    for (; slash && *kind < r->spec->n_kinds; (*kind)++) {
        const char *known = r->spec->kinds[*kind].name;
        if (strlen(known) == length && strncmp(known, entry->section, length) == 0)
            break;
    }
    if (slash && *kind == r->spec->n_kinds)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line,
                         "[%.60s]: kinds = of [trace] does not have that kind of jobs",
                         entry->section);
    for (*target = 0; *target < GSIM_OF_COUNT; (*target)++)
        if (can_generate(*target, slash != NULL) && strcmp(name, name_of(*target)) == 0)
            return GSIM_OK;
    return unknown_section(r, entry, name);
}

static void set_quantity(struct gsim_spec *spec, uint32_t kind, const struct gsim_quantity *q) {
    if (kind < GSIM_MAX_KINDS) {
        spec->kinds[kind].quantity[q->target] = q;
        return;
    }
    /* a kind's own quantity wins over the common quantity */
    for (uint32_t k = 0; k < spec->n_kinds; k++) {
        const struct gsim_quantity *old = spec->kinds[k].quantity[q->target];
        if (!old || !strchr(old->stream, '/'))
            spec->kinds[k].quantity[q->target] = q;
    }
}

const struct gsim_spec_key gsim_spec_keys[] = {
#define GSIM_SPEC_KEY(place, name, help) {GSIM_SPEC_##place, name, help},
#include "traces/spec.def"
#undef GSIM_SPEC_KEY
    {0}};

static enum gsim_status check_key(const struct gsim_spec_reader *r,
                                  const struct gsim_ini_entry *entry) {
    enum { MOST = 64 };
    const char *keys[MOST];
    int n = 0;
    bool is_trace = strcmp(entry->section, "trace") == 0;
    bool is_arrival = strcmp(entry->section, "arrival") == 0;
    for (const struct gsim_spec_key *key = gsim_spec_keys; key->name; key++) {
        bool is_here = is_trace ? key->place == GSIM_SPEC_TRACE
                                : key->place == GSIM_SPEC_ANY ||
                                      (is_arrival && key->place == GSIM_SPEC_ARRIVAL);
        if (is_here && strcmp(entry->key, key->name) == 0)
            return GSIM_OK;
        if (is_here && n < MOST)
            keys[n++] = key->name;
    }
    int close = gsim_text_suggest(entry->key, keys, n);
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line,
                     "[%s] has no key '%.40s'%s%s%s", entry->section, entry->key,
                     close >= 0 ? "; did you mean '" : "", close >= 0 ? keys[close] : "",
                     close >= 0 ? "'?" : "");
}

static enum gsim_status read_sections(const struct gsim_spec_reader *r) {
    for (int i = 0; i < r->ini->n; i++) {
        const struct gsim_ini_entry *entry = &r->ini->entries[i];
        uint32_t kind = 0;
        int target = 0;
        bool is_trace = strcmp(entry->section, "trace") == 0, is_known = is_trace;
        enum gsim_status status = is_trace ? GSIM_OK : find_section(r, entry, &kind, &target);
        if (status == GSIM_OK)
            status = check_key(r, entry);
        if (status != GSIM_OK)
            return status;
        for (uint32_t q = 0; q < r->spec->n_quantities; q++)
            is_known |= strcmp(r->spec->quantities[q].stream, entry->section) == 0;
        if (is_known)
            continue;
        if (r->spec->n_quantities == GSIM_MAX_QUANTITIES)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, entry->line,
                             "more than %d sections", GSIM_MAX_QUANTITIES);
        struct gsim_quantity *q = &r->spec->quantities[r->spec->n_quantities++];
        q->target = target;
        status = read_quantity(r, entry->section, entry->line, q);
        if (status != GSIM_OK)
            return status;
        set_quantity(r->spec, kind, q);
    }
    return GSIM_OK;
}

static enum gsim_status read_kinds(const struct gsim_spec_reader *r) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, "trace", "kinds");
    struct gsim_spec *spec = r->spec;
    const char **names;
    spec->n_kinds = 1;
    spec->kinds[0].name = "";
    spec->kind_of.kind = GSIM_DIST_CHOICE;
    if (entry) {
        enum gsim_status status = gsim_spec_split(r, entry, &names, &spec->n_kinds);
        if (status != GSIM_OK)
            return status;
        if (spec->n_kinds > GSIM_MAX_KINDS)
            return gsim_spec_fail(r, entry, "a list of at most 16 kinds");
        for (uint32_t k = 0; k < spec->n_kinds; k++)
            spec->kinds[k].name = names[k];
    }
    const struct gsim_ini_entry *weights = gsim_spec_find(r, "trace", "kind_weights");
    spec->kinds_take_turns = weights && strcmp(weights->value, "turn") == 0;
    spec->kind_of.n = spec->n_kinds;
    enum gsim_status status = gsim_spec_number(r, "trace", "kind_repeat", 0, &spec->kind_repeat);
    return status == GSIM_OK
               ? gsim_spec_weights(r, "trace", spec->kinds_take_turns ? "" : "kind_weights",
                                   spec->n_kinds, &spec->kind_of.cumulative)
               : status;
}

/* --- the arrival rate ------------------------------------------------------------------------- */

static bool mean_of(const struct gsim_quantity *q, double otherwise, double *out) {
    *out = q ? gsim_dist_mean(&q->dist) : otherwise;
    return !q || (q->min == 0 && q->max == 0 && q->probability == 1 && isfinite(*out) &&
                  !q->times_duration);
}

/* Mean GPU-seconds of a job of that kind, from the means of its distributions (which are
 * independent); false where one of them has no exact mean. */
static bool mean_demand(const struct gsim_job_kind *kind, double *out) {
    const struct gsim_quantity *const *q = kind->quantity;
    double gpus, service, iterations, gpu_ms, gap_ms, tail;
    if (!mean_of(q[GSIM_OF_GPUS], 1, &gpus))
        return false;
    if (q[GSIM_OF_DURATION]) {
        *out = gpus;
        return mean_of(q[GSIM_OF_DURATION], 0, &service) && (*out = gpus * service) > 0;
    }
    if (q[GSIM_COL_HOST_NS] || !mean_of(q[GSIM_COL_ITERATIONS], 0, &iterations) ||
        !mean_of(q[GSIM_COL_GPU_NS], 0, &gpu_ms) || !mean_of(q[GSIM_COL_HOST_GAP_NS], 0, &gap_ms) ||
        !mean_of(q[GSIM_COL_HOST_TAIL_NS], 0, &tail))
        return false;
    *out = gpus * (iterations * (gpu_ms + gap_ms) / 1000 + tail);
    return *out > 0;
}

static enum gsim_status read_load(const struct gsim_spec_reader *r,
                                  const struct gsim_ini_entry *entry) {
    struct gsim_spec *spec = r->spec;
    double load = 0, gpus = 0, demand = 0, before = 0;
    enum gsim_status status = gsim_spec_number(r, "arrival", "load", 0, &load);
    if (status == GSIM_OK)
        status = gsim_spec_number(r, "arrival", "gpus", 0, &gpus);
    if (status != GSIM_OK)
        return status;
    if (!(load > 0) || !(gpus > 0))
        return gsim_spec_fail(r, entry, "a load above 0 together with gpus =, the number of GPUs");
    for (uint32_t k = 0; k < spec->n_kinds; k++) {
        double one;
        if (!mean_demand(&spec->kinds[k], &one))
            return gsim_fail(r->log, GSIM_BAD_INPUT, spec->path, entry->line,
                             "load = needs durations and gpus with an exact finite mean (no min, "
                             "max, probability or host_ms); give rate = instead");
        demand += (spec->kind_of.cumulative[k] - before) * one;
        before = spec->kind_of.cumulative[k];
    }
    spec->mean_gap_s = demand / (load * gpus);
    return GSIM_OK;
}

static enum gsim_status read_rate(const struct gsim_spec_reader *r) {
    const struct gsim_ini_entry *rate = gsim_spec_find(r, "arrival", "rate");
    const struct gsim_ini_entry *load = gsim_spec_find(r, "arrival", "load");
    const struct gsim_quantity *gap = r->spec->kinds[0].quantity[GSIM_OF_GAP];
    double per_second = 0;
    if (rate && load)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, load->line,
                         "rate = and load = both set how fast jobs arrive; give one of them");
    enum gsim_status status = gsim_spec_number(r, "arrival", "rate", 0, &per_second);
    if (status == GSIM_OK && rate && !(per_second > 0))
        status = gsim_spec_fail(r, rate, "a number of jobs a second, above 0");
    if (status == GSIM_OK && rate)
        r->spec->mean_gap_s = 1 / per_second;
    if (status == GSIM_OK && load)
        status = read_load(r, load);
    double mean = gap ? gsim_dist_mean(&gap->dist) : 0;
    if (status == GSIM_OK && r->spec->mean_gap_s > 0 && !(mean > 0 && isfinite(mean)))
        status = gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, (rate ? rate : load)->line,
                           "the times between arrivals have no finite mean above 0, and so "
                           "jobs have no rate");
    return status;
}

/* --- the whole spec --------------------------------------------------------------------------- */

static enum gsim_status check_whole(const struct gsim_spec_reader *r) {
    const struct gsim_spec *spec = r->spec;
    if (!spec->kinds[0].quantity[GSIM_OF_GAP])
        return gsim_fail(r->log, GSIM_BAD_INPUT, spec->path, 0,
                         "no section [arrival]; for example process = poisson, rate = 0.1");
    for (uint32_t k = 0; k < spec->n_kinds; k++) {
        const struct gsim_quantity *const *q = spec->kinds[k].quantity;
        bool is_described = (q[GSIM_COL_ITERATIONS] || q[GSIM_COL_REQUESTS]) && q[GSIM_COL_GPU_NS];
        if (!q[GSIM_OF_DURATION] && !is_described)
            return gsim_fail(r->log, GSIM_BAD_INPUT, spec->path, 0,
                             "no section [duration] (or [iterations] or [requests], and [gpu_ms])"
                             "%s%s",
                             *spec->kinds[k].name ? " for the kind " : "", spec->kinds[k].name);
    }
    return GSIM_OK;
}

/* Cuts "SECTION.KEY=VALUE" at the last dot before the equals sign. */
static bool cut_key(const char *text, struct gsim_arena *arena, struct gsim_ini_entry *out) {
    const char *equals = strchr(text, '='), *dot = equals;
    while (dot && dot > text && *dot != '.')
        dot--;
    if (!equals || dot == text || dot + 1 == equals)
        return false;
    out->section = gsim_arena_strndup(arena, text, (size_t)(dot - text));
    out->key = gsim_arena_strndup(arena, dot + 1, (size_t)(equals - dot - 1));
    out->value = equals + 1;
    return true;
}

/* Whether an entry of the file gives way to a key that was given beside it. A rate and a load are
 * two ways to say how fast jobs arrive, so each takes the other's place. */
static bool gives_way(const struct gsim_ini_entry *of_file, const struct gsim_ini_entry *given) {
    if (strcmp(of_file->section, given->section) != 0)
        return false;
    bool is_rate = strcmp(of_file->key, "rate") == 0 && strcmp(given->key, "load") == 0;
    bool is_load = strcmp(of_file->key, "load") == 0 && strcmp(given->key, "rate") == 0;
    return strcmp(of_file->key, given->key) == 0 ||
           (strcmp(given->section, "arrival") == 0 && (is_rate || is_load));
}

static enum gsim_status put_key(struct gsim_ini *ini, const char *text, struct gsim_arena *arena,
                                struct gsim_log *log) {
    struct gsim_ini_entry given = {0};
    if (!cut_key(text, arena, &given))
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "--spec: '%.80s' is not of the form SECTION.KEY=VALUE, such as "
                         "arrival.load=0.9",
                         text);
    struct gsim_ini_entry *entries =
        gsim_arena_array(arena, (size_t)ini->n + 1, sizeof *ini->entries);
    if (!entries || !given.section || !given.key)
        return gsim_no_memory(log, "reading a spec");
    int n = 0;
    for (int i = 0; i < ini->n; i++)
        if (!gives_way(&ini->entries[i], &given))
            entries[n++] = ini->entries[i];
    entries[n++] = given;
    ini->entries = entries;
    ini->n = n;
    return GSIM_OK;
}

enum gsim_status gsim_spec_read(const char *path, const char *const *keys, struct gsim_arena *arena,
                                const struct gsim_spec **out, struct gsim_log *log) {
    struct gsim_ini ini;
    enum gsim_status status = gsim_ini_read_file(path, arena, &ini, log);
    if (status == GSIM_OK)
        status = gsim_ini_once(&ini, arena, log);
    for (; status == GSIM_OK && keys && *keys; keys++)
        status = put_key(&ini, *keys, arena, log);
    if (status != GSIM_OK)
        return status;
    struct gsim_spec *spec = gsim_arena_alloc(arena, sizeof *spec);
    if (!spec)
        return gsim_no_memory(log, "reading a spec");
    struct gsim_spec_reader reader = {&ini, spec, arena, log};
    int64_t jobs = 0, seed = 1;
    spec->path = ini.path;
    status = gsim_spec_whole(&reader, "trace", "jobs", 1, GSIM_MAX_JOBS, &jobs);
    if (status == GSIM_OK && jobs == 0)
        status =
            gsim_fail(log, GSIM_BAD_INPUT, path, 0, "[trace] needs jobs =, the number of jobs");
    if (status == GSIM_OK)
        status = gsim_spec_whole(&reader, "trace", "seed", 0, INT64_MAX, &seed);
    if (status == GSIM_OK)
        status = read_kinds(&reader);
    if (status == GSIM_OK)
        status = read_sections(&reader);
    if (status == GSIM_OK)
        status = gsim_spec_arrivals(&reader);
    if (status == GSIM_OK)
        status = check_whole(&reader);
    if (status == GSIM_OK)
        status = read_rate(&reader);
    spec->n_jobs = (uint32_t)jobs;
    spec->seed = (uint64_t)seed;
    *out = spec;
    return status;
}
