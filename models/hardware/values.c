/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of keys: as a profile or --set writes them, the ranges in which they lie, and those that
 * are shares of other values. */
#include "models/hardware/profile.h"
#include "models/hardware/derived.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "gsim/units.h"

#include <string.h>

/* --- values ----------------------------------------------------------------------------------- */

static bool parse_rate(const char *text, int64_t *out) {
    if (strcmp(text, "unlimited") == 0) {
        *out = INT64_MAX;
        return true;
    }
    return gsim_parse_rate(text, out) == GSIM_PARSE_OK && *out > 0;
}

/* The highest count of anything on a device; far above any hardware. */
static const int64_t most_count = 1000000000;

static bool is_share(const char *text) {
    return strchr(text, '%') != NULL;
}

/* One side of a point; in ppm where the curve has shares. */
static bool parse_side(const char *text, size_t length, bool share, int64_t *out) {
    static const char unlimited[] = "unlimited";
    if (length == sizeof unlimited - 1 && strncmp(text, unlimited, length) == 0) {
        *out = INT64_MAX;
        return !share;
    }
    if (share && (length == 0 || text[--length] != '%'))
        return false;
    return gsim_parse_decimal(text, length, share ? GSIM_PPM / 100 : 1, out) == GSIM_PARSE_OK &&
           *out > 0;
}

/* "4:300.2e9,8:577.7e9": the x must rise. */
static bool parse_curve(const char *text, struct gsim_arena *arena,
                        const struct gsim_curve_point **curve, int64_t *n_points) {
    int64_t n = 1, i = 0;
    bool share = is_share(text);
    for (const char *p = text; *p; p++)
        n += *p == ',';
    struct gsim_curve_point *points = gsim_arena_array(arena, (size_t)n, sizeof *points);
    for (const char *p = text; points && i < n; i++) {
        p += strspn(p, " ");
        size_t x = strcspn(p, ":,"), y = p[x] == ':' ? strcspn(p + x + 1, ", ") : 0;
        if (y == 0 || !parse_side(p, x, share, &points[i].x) ||
            !parse_side(p + x + 1, y, share, &points[i].y))
            return false;
        if (points[i].x > most_count || (i > 0 && points[i].x <= points[i - 1].x))
            return false;
        p += x + 1 + y;
        p += strspn(p, " ");
        if (*p && *p++ != ',')
            return false;
    }
    *curve = points;
    *n_points = n;
    return points != NULL;
}

/* "88% of KEY", KEY being another key of the same kind. */
static bool parse_share(int key, const char *text, int64_t *ppm, int *base) {
    static const char of[] = "% of ";
    const char *at = strstr(text, of);
    if (!at || gsim_keys[key].kind == GSIM_KIND_BOOL)
        return false;
    *base = gsim_key_find(at + sizeof of - 1);
    return *base >= 0 && *base != key && gsim_keys[*base].kind == gsim_keys[key].kind &&
           gsim_parse_decimal(text, (size_t)(at - text), GSIM_PPM / 100, ppm) == GSIM_PARSE_OK &&
           *ppm >= 0;
}

/* "sm state over 90% of KEY", where the key to be set is a time. */
static bool parse_state(int key, const char *text, struct gsim_state_rule *rule) {
    return gsim_keys[key].kind == GSIM_KIND_NS && gsim_state_rule_parse(text, rule) &&
           gsim_keys[rule->rate].kind == GSIM_KIND_RATE;
}

static bool parse_plain(struct gsim_profile *profile, int key, const char *text,
                        struct gsim_arena *arena) {
    int64_t *out = &profile->value[key];
    switch (gsim_keys[key].kind) {
    case GSIM_KIND_INT:
    case GSIM_KIND_PPM:
        return gsim_parse_int(text, out) == GSIM_PARSE_OK;
    case GSIM_KIND_BYTES:
        return gsim_parse_bytes(text, out) == GSIM_PARSE_OK;
    case GSIM_KIND_RATE:
        return parse_rate(text, out);
    case GSIM_KIND_NS:
        return gsim_parse_time(text, 1, out) == GSIM_PARSE_OK;
    case GSIM_KIND_BOOL:
        *out = gsim_text_choice(text, "off|on|false|true|no|yes|0|1");
        *out = *out < 0 ? -1 : *out & 1;
        return *out >= 0;
    case GSIM_KIND_CURVE:
        return parse_curve(text, arena, &profile->curve[key], out);
    }
    return false;
}

/* A share gets its value when all keys are known (see gsim_values_derive). */
bool gsim_value_parse(struct gsim_profile *profile, int key, const char *text,
                      struct gsim_arena *arena) {
    int64_t ppm;
    int base;
    profile->rule[key] = is_share(text) ? text : NULL;
    if (is_share(text) && gsim_state_rule_is(text))
        return parse_state(key, text, &(struct gsim_state_rule){0});
    if (gsim_keys[key].kind == GSIM_KIND_PPM && is_share(text) && !strstr(text, "% of ")) {
        profile->rule[key] = NULL;
        return gsim_parse_ppm(text, &profile->value[key]) == GSIM_PARSE_OK;
    }
    if (is_share(text) && gsim_keys[key].kind != GSIM_KIND_CURVE)
        return parse_share(key, text, &ppm, &base);
    return parse_plain(profile, key, text, arena);
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* Nothing runs on a device without SMs or memory, a slice of no length never ends, and where power
 * goes with the clock itself, a lower clock saves no energy of work. */
int64_t gsim_value_least(int key) {
    switch (key) {
    case GSIM_KEY_HBM_BYTES:
    case GSIM_KEY_UVM_CHUNK_BYTES:
    case GSIM_KEY_UVM_BIG_PAGE_BYTES:
    case GSIM_KEY_SLICE_QUANTUM_NS:
    case GSIM_KEY_SLICE_SHORT_NS:
    case GSIM_KEY_SLICE_LONG_NS:
    case GSIM_KEY_VGPU_SLICE_FEW_NS:
    case GSIM_KEY_VGPU_SLICE_MANY_NS:
    case GSIM_KEY_UVM_DENSITY_PPM:
    case GSIM_KEY_GANG_NODES_PPM:
    case GSIM_KEY_GANG_NODES_SKEWED_PPM:
    case GSIM_KEY_GANG_SWITCHES_PPM:
    case GSIM_KEY_GANG_SWITCHES_SKEWED_PPM:
    case GSIM_KEY_INTERLEAVE_PAIR_PPM:
    case GSIM_KEY_INTERLEAVE_THREE_PPM:
    case GSIM_KEY_INTERLEAVE_FOUR_PPM:
        return 1;
    case GSIM_KEY_POWER_EXPONENT_MILLI:
        return 1001;
    case GSIM_KEY_POWER_BYTE_PJ:
    case GSIM_KEY_ENERGY_BUSY_W: /* 0: not known */
    case GSIM_KEY_ENERGY_IDLE_W:
    case GSIM_KEY_L2_FIRST_LOADS_MILLI:
        return 0;
    default:
        return gsim_keys[key].kind == GSIM_KIND_INT || gsim_keys[key].kind == GSIM_KIND_RATE;
    }
}

/* Far above any hardware, and low enough that costs computed from them stay on the clock. */
int64_t gsim_value_most(int key) {
    enum { LOAD_NS = 100000, LOADS_MILLI = 100000 };
    if (key == GSIM_KEY_L2_HIT_NS || key == GSIM_KEY_L2_MISS_NS)
        return LOAD_NS;
    if (key == GSIM_KEY_L2_FIRST_LOADS_MILLI)
        return LOADS_MILLI;
    switch (gsim_keys[key].kind) {
    case GSIM_KIND_INT:
        return most_count;
    case GSIM_KIND_PPM:
        return GSIM_PPM;
    case GSIM_KIND_BYTES:
        return INT64_C(1) << 56;
    case GSIM_KIND_NS:
        return INT64_C(1000000) * GSIM_NS_PER_S;
    case GSIM_KIND_RATE:
    case GSIM_KIND_BOOL:
    case GSIM_KIND_CURVE:
        break;
    }
    return INT64_MAX;
}

bool gsim_value_is_in_range(const struct gsim_profile *profile, int key) {
    return profile->value[key] >= gsim_value_least(key) &&
           profile->value[key] <= gsim_value_most(key);
}

/* --- shares ----------------------------------------------------------------------------------- */

static int64_t share_of(int64_t base, int64_t ppm) {
    if (base == INT64_MAX) /* unlimited */
        return base;
    gsim_i128 share = ((gsim_i128)base * ppm + GSIM_PPM / 2) / GSIM_PPM;
    return share > INT64_MAX ? INT64_MAX : (int64_t)share;
}

/* Points given as ppm of the SMs and of the bandwidth. Where a device has so few SMs that two
 * points meet, the later point stands. */
static bool derive_curve(struct gsim_profile *profile, int key, struct gsim_arena *arena) {
    const struct gsim_curve_point *ppm;
    int64_t n_ppm, n = 0;
    if (!parse_curve(profile->rule[key], arena, &ppm, &n_ppm))
        return false;
    struct gsim_curve_point *points = gsim_arena_array(arena, (size_t)n_ppm, sizeof *points);
    for (int64_t i = 0; points && i < n_ppm; i++) {
        int64_t x = share_of(profile->value[GSIM_KEY_SMS], ppm[i].x);
        n -= n > 0 && points[n - 1].x >= x;
        points[n].x = x > 0 ? x : 1;
        points[n++].y = share_of(profile->value[GSIM_KEY_HBM_BYTES_PER_S], ppm[i].y);
    }
    profile->curve[key] = points;
    profile->value[key] = n;
    profile->text[key] = profile->rule[key];
    return points != NULL;
}

bool gsim_value_derive(struct gsim_profile *profile, int key, int depth, struct gsim_arena *arena);

static bool derive_state(struct gsim_profile *profile, int key, int depth,
                         struct gsim_arena *arena) {
    struct gsim_state_rule rule;
    if (!parse_state(key, profile->rule[key], &rule) ||
        !gsim_value_derive(profile, rule.rate, depth, arena) ||
        !gsim_value_derive(profile, GSIM_KEY_SMS, depth, arena) ||
        !gsim_value_derive(profile, GSIM_KEY_SM_REGISTER_BYTES, depth, arena) ||
        !gsim_value_derive(profile, GSIM_KEY_SM_SHARED_BYTES, depth, arena))
        return false;
    profile->value[key] = gsim_state_rule_ns(&rule, profile);
    return true;
}

static bool derive_share(struct gsim_profile *profile, int key, int depth,
                         struct gsim_arena *arena) {
    int64_t ppm;
    int base;
    if (!parse_share(key, profile->rule[key], &ppm, &base) ||
        !gsim_value_derive(profile, base, depth, arena))
        return false;
    profile->value[key] = share_of(profile->value[base], ppm);
    return true;
}

/* Returns false for a chain of shares that does not end. */
bool gsim_value_derive(struct gsim_profile *profile, int key, int depth, struct gsim_arena *arena) {
    if (!profile->rule[key])
        return true;
    if (depth == 0)
        return false;
    if (gsim_keys[key].kind == GSIM_KIND_CURVE)
        return gsim_value_derive(profile, GSIM_KEY_SMS, depth - 1, arena) &&
               gsim_value_derive(profile, GSIM_KEY_HBM_BYTES_PER_S, depth - 1, arena) &&
               derive_curve(profile, key, arena);
    bool is_state = gsim_state_rule_is(profile->rule[key]);
    if (!(is_state ? derive_state : derive_share)(profile, key, depth - 1, arena))
        return false;
    profile->text[key] = profile->value[key] == INT64_MAX
                             ? "unlimited"
                             : gsim_arena_printf(arena, "%lld", (long long)profile->value[key]);
    return profile->text[key] != NULL;
}

enum gsim_status gsim_values_derive(struct gsim_profile *profile, const char *path,
                                    enum gsim_status bad, struct gsim_arena *arena,
                                    struct gsim_log *log) {
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        if (!profile->rule[k])
            continue;
        if (!gsim_value_derive(profile, k, GSIM_LONGEST_CHAIN, arena))
            return gsim_fail(log, bad, path, 0,
                             "key '%s': '%s' comes back to itself or goes through more than %d "
                             "shares; give a number for one of the keys on the way",
                             gsim_keys[k].name, profile->rule[k], GSIM_LONGEST_CHAIN);
        if (!gsim_value_is_in_range(profile, k))
            return gsim_fail(log, bad, path, 0,
                             "key '%s': '%s' comes to %lld; accepted: %lld to %lld",
                             gsim_keys[k].name, profile->rule[k], (long long)profile->value[k],
                             (long long)gsim_value_least(k), (long long)gsim_value_most(k));
    }
    return GSIM_OK;
}
