/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/api/rates.h"

#include <string.h>

/* --- speeds ----------------------------------------------------------------------------------- */

/* value * 2^exponent with 64 leading bits; what lies below them is cut off. */
static struct gsim_tempo normal(gsim_u128 value, int exponent) {
    if (value == 0)
        return (struct gsim_tempo){0};
    for (; value >> 64; exponent++)
        value >>= 1;
    for (; !(value >> 63); exponent--)
        value <<= 1;
    return (struct gsim_tempo){(uint64_t)value, exponent};
}

struct gsim_tempo gsim_tempo_of(uint64_t value, int exponent) {
    return normal(value, exponent);
}

/* value * 2^by, saturated. */
static gsim_u128 shifted(gsim_u128 value, int by) {
    if (value == 0 || by <= -128)
        return 0;
    if (by <= 0)
        return value >> -by;
    return by >= 128 || value >> (128 - by) ? ~(gsim_u128)0 : value << by;
}

gsim_u128 gsim_tempo_ratio_q64(struct gsim_tempo a, struct gsim_tempo b) {
    return shifted(((gsim_u128)a.digits << 64) / b.digits, a.exponent - b.exponent);
}

int64_t gsim_tempo_time_ns(struct gsim_tempo tempo, int64_t n) {
    struct gsim_tempo work = normal((gsim_u128)n * GSIM_NS_PER_S, 0);
    if (n == 0)
        return 0;
    gsim_u128 q64 = gsim_tempo_ratio_q64(work, tempo);
    gsim_u128 ns = (q64 >> 64) + ((uint64_t)q64 != 0);
    return ns > (gsim_u128)GSIM_TIME_MAX ? -1 : (int64_t)ns;
}

/* a + (b - a) * part / whole. */
static struct gsim_tempo tempo_between(struct gsim_tempo a, struct gsim_tempo b, uint32_t part,
                                       uint32_t whole) {
    enum { UP = 60 }; /* keeps bits that the division would cut off */
    int exponent = a.exponent > b.exponent ? a.exponent : b.exponent;
    gsim_u128 from = shifted((gsim_u128)a.digits << UP, a.exponent - exponent);
    gsim_u128 to = shifted((gsim_u128)b.digits << UP, b.exponent - exponent);
    return normal(from / whole * (whole - part) + to / whole * part, exponent - UP);
}

/* --- the table -------------------------------------------------------------------------------- */

static uint32_t position(const char *const *list, uint32_t n, const char *name) {
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return i;
    return GSIM_NO_KIND;
}

const char *gsim_device_stem(const char *name, struct gsim_arena *arena) {
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    size_t n = strlen(base);
    bool is_file = n > 4 && strcmp(base + n - 4, ".ini") == 0;
    return gsim_arena_strndup(arena, base, is_file ? n - 4 : n);
}

uint32_t gsim_rates_kind(const struct gsim_rates *rates, const char *model) {
    return position(rates->kind, rates->n_kinds, model);
}

uint32_t gsim_rates_device(const struct gsim_rates *rates, const char *device) {
    return position(rates->device, rates->n_devices, device);
}

uint32_t gsim_rates_beside(const struct gsim_rates *rates, uint32_t kind, uint32_t other) {
    uint32_t from = 0, to = rates->n_pairs;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const struct gsim_rates_pair *pair = &rates->pair[middle];
        if (pair->kind == kind && pair->beside == other)
            return rates->n_kinds + middle;
        if (pair->kind < kind || (pair->kind == kind && pair->beside < other))
            from = middle + 1;
        else
            to = middle;
    }
    return GSIM_NO_KIND;
}

uint32_t gsim_rates_of_job(const struct gsim_trace *trace, uint32_t job) {
    int64_t model = gsim_trace_get(trace, GSIM_COL_MODEL, job);
    if (!trace->rates || model < 0)
        return GSIM_NO_KIND;
    return gsim_rates_kind(trace->rates, trace->names[GSIM_COL_MODEL].name[model]);
}

/* The rows of the number of nodes that applies: the most that is not above `nodes`, else the
 * least. Most tables have rows of one number of nodes. */
static const struct gsim_rate_row *rows_for(const struct gsim_rate_row *rows, uint32_t n,
                                            uint32_t nodes, uint32_t *n_found) {
    uint32_t from = 0, to;
    *n_found = n;
    if (rows[n - 1].nodes == rows[0].nodes)
        return rows;
    for (uint32_t i = 1; i < n && rows[i].nodes <= nodes; i++)
        if (rows[i].nodes != rows[from].nodes)
            from = i;
    for (to = from; to < n && rows[to].nodes == rows[from].nodes;)
        to++;
    *n_found = to - from;
    return &rows[from];
}

static struct gsim_rated rated(struct gsim_tempo tempo) {
    return (struct gsim_rated){.tempo = tempo, .is_there = true};
}

const struct gsim_host gsim_host_ample = {INT64_MAX, INT64_MAX};

static bool is_faster(struct gsim_tempo a, struct gsim_tempo b) {
    return a.digits > 0 && (b.digits == 0 || a.exponent > b.exponent ||
                            (a.exponent == b.exponent && a.digits > b.digits));
}

/* Rows of one number of GPUs of one number of nodes. */
struct group {
    const struct gsim_rate_row *row;
    uint32_t n, gpus;
};

/* The rows of as many GPUs as row `at` has. */
static struct group group_at(const struct gsim_rate_row *rows, uint32_t n, uint32_t at) {
    uint32_t from = at, to = at;
    while (from > 0 && rows[from - 1].gpus == rows[at].gpus)
        from--;
    while (to < n && rows[to].gpus == rows[at].gpus)
        to++;
    return (struct group){&rows[from], to - from, rows[at].gpus};
}

/* The speed of a group's rows with a part of the host: by the rows with the CPUs next below and
 * next above, of those that were measured with no more memory. */
static struct gsim_tempo with_host(const struct group *group, struct gsim_host host) {
    const struct gsim_rate_row *below = NULL, *above = NULL;
    for (uint32_t i = 0; i < group->n; i++) {
        const struct gsim_rate_row *row = &group->row[i];
        int64_t cpus = row->host.cpus_milli;
        if (row->host.mem_bytes > host.mem_bytes)
            continue;
        if (cpus <= host.cpus_milli &&
            (!below || cpus > below->host.cpus_milli || is_faster(row->tempo, below->tempo)))
            below = row;
        if (cpus > host.cpus_milli &&
            (!above || (cpus == above->host.cpus_milli && is_faster(row->tempo, above->tempo))))
            above = row;
    }
    if (!above || (below && below->host.cpus_milli == host.cpus_milli))
        return below ? below->tempo : (struct gsim_tempo){0};
    if (above->tempo.digits == 0 || (below && below->tempo.digits == 0))
        return (struct gsim_tempo){0};
    uint32_t has = (uint32_t)host.cpus_milli, least = below ? (uint32_t)below->host.cpus_milli : 0;
    uint32_t most = (uint32_t)above->host.cpus_milli;
    if (!below)
        return normal((gsim_u128)above->tempo.digits * has / most, above->tempo.exponent);
    return tempo_between(below->tempo, above->tempo, has - least, most - least);
}

/* The speed by rows of one number of nodes, n of them, narrowest first. */
static struct gsim_rated at_width(const struct gsim_rate_row *rows, uint32_t n, uint32_t gpus,
                                  struct gsim_host host) {
    uint32_t i = 0;
    while (i < n && rows[i].gpus < gpus)
        i++;
    struct group wide = group_at(rows, n, i - (i == n));
    struct gsim_tempo above = with_host(&wide, host);
    if (i == n)
        return (struct gsim_rated){.tempo = above, .is_there = true, .is_beyond = true};
    if (wide.gpus == gpus)
        return rated(above);
    if (i == 0)
        return rated(above.digits == 0
                         ? above
                         : normal((gsim_u128)above.digits * gpus / wide.gpus, above.exponent));
    struct group narrow = group_at(rows, n, i - 1);
    struct gsim_tempo below = with_host(&narrow, host);
    if (above.digits == 0 || below.digits == 0)
        return rated((struct gsim_tempo){0});
    return rated(tempo_between(below, above, gpus - narrow.gpus, wide.gpus - narrow.gpus));
}

/* The rows that hold for a model on a device and a number of nodes; n_found 0: none. */
static const struct gsim_rate_row *rows_of(const struct gsim_rates *rates, uint32_t kind,
                                           uint32_t device, uint32_t nodes, uint32_t *n_found) {
    const uint32_t *first = &rates->first[kind * rates->n_devices + device];
    *n_found = 0;
    return first[0] == first[1]
               ? NULL
               : rows_for(&rates->rows[first[0]], first[1] - first[0], nodes, n_found);
}

struct gsim_rated gsim_rates_find(const struct gsim_rates *rates, uint32_t kind, uint32_t device,
                                  uint32_t gpus, uint32_t nodes, struct gsim_host host) {
    uint32_t n;
    const struct gsim_rate_row *rows = rows_of(rates, kind, device, nodes, &n);
    return rows ? at_width(rows, n, gpus, host) : (struct gsim_rated){0};
}

struct gsim_host gsim_rates_wants(const struct gsim_rates *rates, uint32_t kind, uint32_t device,
                                  uint32_t gpus, uint32_t nodes) {
    uint32_t n, i = 0;
    const struct gsim_rate_row *rows = rows_of(rates, kind, device, nodes, &n);
    if (!rows)
        return (struct gsim_host){0};
    while (i + 1 < n && rows[i].gpus < gpus)
        i++;
    struct group group = group_at(rows, n, i);
    const struct gsim_rate_row *best = group.row;
    for (uint32_t r = 1; r < group.n; r++) /* in the order of CPUs and memory: the least is first */
        if (is_faster(group.row[r].tempo, best->tempo))
            best = &group.row[r];
    return best->host;
}

struct gsim_tempo gsim_rates_reference(const struct gsim_rates *rates, uint32_t kind,
                                       uint32_t gpus) {
    struct gsim_tempo tempo = {0};
    for (uint32_t d = 0; d < rates->n_devices && tempo.digits == 0; d++)
        tempo = gsim_rates_find(rates, kind, d, gpus, 0, gsim_host_ample).tempo;
    return tempo;
}

uint32_t gsim_rates_widest(const struct gsim_rates *rates, uint32_t kind) {
    uint32_t widest = 0;
    for (uint32_t i = rates->first[kind * rates->n_devices];
         i < rates->first[(kind + 1) * rates->n_devices]; i++)
        widest = rates->rows[i].gpus > widest ? rates->rows[i].gpus : widest;
    return widest;
}
