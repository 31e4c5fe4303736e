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
static struct gsim_tempo between(struct gsim_tempo a, struct gsim_tempo b, uint32_t part,
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

uint32_t gsim_rates_of_job(const struct gsim_trace *trace, uint32_t job) {
    int64_t model = gsim_trace_get(trace, GSIM_COL_MODEL, job);
    if (!trace->rates || model < 0)
        return GSIM_NO_KIND;
    return gsim_rates_kind(trace->rates, trace->names[GSIM_COL_MODEL].name[model]);
}

/* The rows of the number of nodes that applies: the most that is not above `nodes`, else the
 * least. */
static const struct gsim_rate_row *rows_for(const struct gsim_rate_row *rows, uint32_t n,
                                            uint32_t nodes, uint32_t *n_found) {
    uint32_t from = 0;
    for (uint32_t i = 1; i < n; i++)
        if (rows[i].nodes != rows[from].nodes && rows[i].nodes <= nodes)
            from = i;
    uint32_t to = from;
    while (to < n && rows[to].nodes == rows[from].nodes)
        to++;
    *n_found = to - from;
    return &rows[from];
}

static struct gsim_rated rated(struct gsim_tempo tempo) {
    return (struct gsim_rated){tempo, true};
}

/* The speed by rows of one number of nodes, n of them, narrowest first. */
static struct gsim_rated at_width(const struct gsim_rate_row *rows, uint32_t n, uint32_t gpus) {
    uint32_t i = 0;
    while (i < n && rows[i].gpus < gpus)
        i++;
    if (i == n || rows[i].gpus == gpus) {
        return rated(rows[i - (i == n)].tempo);
    }
    const struct gsim_rate_row *above = &rows[i], *below = i > 0 ? above - 1 : NULL;
    if (above->tempo.digits == 0 || (below && below->tempo.digits == 0))
        return rated((struct gsim_tempo){0});
    if (!below)
        return rated(
            normal((gsim_u128)above->tempo.digits * gpus / above->gpus, above->tempo.exponent));
    return rated(
        between(below->tempo, above->tempo, gpus - below->gpus, above->gpus - below->gpus));
}

struct gsim_rated gsim_rates_find(const struct gsim_rates *rates, uint32_t kind, uint32_t device,
                                  uint32_t gpus, uint32_t nodes) {
    const uint32_t *first = &rates->first[kind * rates->n_devices + device];
    if (first[0] == first[1])
        return (struct gsim_rated){0};
    uint32_t n;
    const struct gsim_rate_row *rows =
        rows_for(&rates->rows[first[0]], first[1] - first[0], nodes, &n);
    return at_width(rows, n, gpus);
}

struct gsim_tempo gsim_rates_reference(const struct gsim_rates *rates, uint32_t kind,
                                       uint32_t gpus) {
    struct gsim_tempo tempo = {0};
    for (uint32_t d = 0; d < rates->n_devices && tempo.digits == 0; d++)
        tempo = gsim_rates_find(rates, kind, d, gpus, 0).tempo;
    return tempo;
}

uint32_t gsim_rates_widest(const struct gsim_rates *rates, uint32_t kind) {
    uint32_t widest = 0;
    for (uint32_t i = rates->first[kind * rates->n_devices];
         i < rates->first[(kind + 1) * rates->n_devices]; i++)
        widest = rates->rows[i].gpus > widest ? rates->rows[i].gpus : widest;
    return widest;
}
