/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal digits are gathered in 128 bits and scaled once, so that "0.1" is a tenth and not the
 * nearest binary fraction. */
#include "sim/base/units.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/wide.h"

enum { MAX_DIGITS = 36, MAX_EXPONENT = 60 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

struct decimal {
    gsim_u128 digits;
    int exponent; /* value = digits * 10^exponent */
    bool is_negative;
};

/* Reads digits and a point; false when there is no digit. Digits past the 36th are dropped: they
 * are far below the resolution of a 63-bit result. */
static bool read_digits(const char **at, const char *end, struct decimal *out) {
    int n_seen = 0, n_kept = 0;
    bool has_point = false;
    const char *p = *at;
    for (; p < end && (is_digit(*p) || (*p == '.' && !has_point)); p++) {
        if (*p == '.') {
            has_point = true;
            continue;
        }
        n_seen++;
        if (n_kept < MAX_DIGITS) {
            out->digits = out->digits * 10 + (unsigned)(*p - '0');
            n_kept += out->digits != 0;
            out->exponent -= has_point;
        } else {
            out->exponent += !has_point;
        }
    }
    *at = p;
    return n_seen > 0;
}

static bool read_exponent(const char **at, const char *end, struct decimal *out) {
    const char *p = *at;
    if (p >= end || (*p != 'e' && *p != 'E'))
        return true;
    p++;
    int sign = 1, value = 0;
    if (p < end && (*p == '+' || *p == '-'))
        sign = *p++ == '-' ? -1 : 1;
    if (p >= end || !is_digit(*p))
        return false;
    for (; p < end && is_digit(*p); p++)
        if (value < 10000)
            value = value * 10 + (*p - '0');
    out->exponent += sign * value;
    *at = p;
    return true;
}

/* value / divisor * scale, rounded half away from zero; false when it does not fit. */
static bool divide_and_scale(gsim_u128 value, gsim_u128 divisor, gsim_u128 scale, int64_t *out) {
    const gsim_u128 limit = INT64_MAX;
    gsim_u128 whole = value / divisor, rest = value % divisor;
    if (whole > limit / scale)
        return false;
    /* rest * scale may not fit 128 bits when there are many decimals: drop digits that cannot
     * matter. */
    while (rest > ~(gsim_u128)0 / scale) {
        rest /= 10;
        divisor /= 10;
    }
    gsim_u128 part = rest * scale;
    gsim_u128 total = whole * scale + part / divisor;
    if (part % divisor >= divisor / 2 + divisor % 2)
        total++;
    *out = (int64_t)total;
    return total <= limit;
}

static enum gsim_parse scale_decimal(const struct decimal *d, int64_t scale_i64, int64_t *out) {
    gsim_u128 value = d->digits, divisor = 1, scale = (uint64_t)scale_i64;
    int exponent = d->exponent;
    *out = 0;
    if (value == 0)
        return GSIM_PARSE_OK;
    if (exponent > MAX_EXPONENT)
        return GSIM_PARSE_RANGE;
    for (; exponent > 0; exponent--, value *= 10)
        if (value > INT64_MAX)
            return GSIM_PARSE_RANGE;
    for (; exponent < 0; exponent++) {
        if (divisor > ~(gsim_u128)0 / 10)
            value /= 10; /* what goes is 10^-18 of the result's last digit, or less */
        else
            divisor *= 10;
        if (divisor / scale / 2 > value) /* less than one half */
            return GSIM_PARSE_OK;
    }
    int64_t magnitude;
    if (!divide_and_scale(value, divisor, scale, &magnitude))
        return GSIM_PARSE_RANGE;
    *out = d->is_negative ? -magnitude : magnitude;
    return GSIM_PARSE_OK;
}

/* Reads the number at the start of [at, end); moves *at behind it. */
static enum gsim_parse read_number(const char **at, const char *end, struct decimal *out) {
    *out = (struct decimal){0};
    if (*at < end && (**at == '-' || **at == '+'))
        out->is_negative = *(*at)++ == '-';
    if (!read_digits(at, end, out) || !read_exponent(at, end, out))
        return GSIM_PARSE_SYNTAX;
    return GSIM_PARSE_OK;
}

enum gsim_parse gsim_parse_decimal(const char *text, size_t length, int64_t scale, int64_t *out) {
    const char *at = text, *end = text + length;
    struct decimal number;
    enum gsim_parse parsed = read_number(&at, end, &number);
    if (parsed != GSIM_PARSE_OK || at != end)
        return GSIM_PARSE_SYNTAX;
    return scale_decimal(&number, scale, out);
}

enum gsim_parse gsim_parse_int(const char *text, int64_t *out) {
    const char *p = text + (*text == '-' || *text == '+');
    for (const char *q = p; *q; q++)
        if (!is_digit(*q))
            return GSIM_PARSE_SYNTAX;
    return *p ? gsim_parse_decimal(text, strlen(text), 1, out) : GSIM_PARSE_SYNTAX;
}

/* --- units ------------------------------------------------------------------------------------ */

struct unit {
    const char *name;
    int64_t scale;
};

static const struct unit time_units[] = {
    {"ns", 1},
    {"us", GSIM_NS_PER_US},
    {"ms", GSIM_NS_PER_MS},
    {"s", GSIM_NS_PER_S},
    {"m", 60 * GSIM_NS_PER_S},
    {"min", 60 * GSIM_NS_PER_S},
    {"h", 3600 * GSIM_NS_PER_S},
    {"d", 86400 * GSIM_NS_PER_S},
    {"w", 604800 * GSIM_NS_PER_S},
    {NULL, 0},
};

static const struct unit byte_units[] = {
    {"B", 1},           {"kB", 1000},          {"MB", 1000000},
    {"GB", 1000000000}, {"TB", 1000000000000}, {"KiB", 1024},
    {"MiB", GSIM_MIB},  {"GiB", GSIM_GIB},     {"TiB", GSIM_GIB * 1024},
    {NULL, 0},
};

static const struct unit ratio_units[] = {{"%", GSIM_PPM / 100}, {NULL, 0}};

/* Reads a number, then optionally a unit followed by `tail`; a number without a unit has
 * bare_scale. */
static enum gsim_parse parse_with_units(const char *text, const struct unit *units,
                                        const char *tail, int64_t bare_scale, int64_t *out) {
    const char *at = text, *end = text + strlen(text);
    struct decimal number;
    enum gsim_parse parsed = read_number(&at, end, &number);
    if (parsed != GSIM_PARSE_OK)
        return parsed;
    while (*at == ' ')
        at++;
    if (!*at)
        return scale_decimal(&number, bare_scale, out);
    for (; units->name; units++) {
        size_t n = strlen(units->name);
        if (strncmp(at, units->name, n) == 0 && strcmp(at + n, tail) == 0)
            return scale_decimal(&number, units->scale, out);
    }
    return GSIM_PARSE_SYNTAX;
}

enum gsim_parse gsim_parse_time(const char *text, int64_t default_ns, int64_t *out_ns) {
    return parse_with_units(text, time_units, "", default_ns, out_ns);
}

enum gsim_parse gsim_parse_bytes(const char *text, int64_t *out) {
    return parse_with_units(text, byte_units, "", 1, out);
}

enum gsim_parse gsim_parse_rate(const char *text, int64_t *out) {
    return parse_with_units(text, byte_units, "/s", 1, out);
}

enum gsim_parse gsim_parse_ppm(const char *text, int64_t *out) {
    return parse_with_units(text, ratio_units, "", GSIM_PPM, out);
}

bool gsim_is_bare(const char *text) {
    int64_t value;
    const char *first = text + strspn(text, " ");
    size_t n = strlen(first);
    while (n > 0 && first[n - 1] == ' ')
        n--;
    enum gsim_parse parsed = gsim_parse_decimal(first, n, 1000000, &value);
    return parsed == GSIM_PARSE_RANGE || (parsed == GSIM_PARSE_OK && value != 0);
}

static enum gsim_parse not_bare_below(int64_t least, const char *text, enum gsim_parse parsed,
                                      int64_t value) {
    bool is_small = parsed == GSIM_PARSE_OK && value < least && gsim_is_bare(text);
    return is_small ? GSIM_PARSE_BARE : parsed;
}

enum gsim_parse gsim_parse_size(const char *text, int64_t *out) {
    enum gsim_parse parsed = gsim_parse_bytes(text, out);
    return not_bare_below(GSIM_LEAST_BARE_BYTES, text, parsed, *out);
}

enum gsim_parse gsim_parse_speed(const char *text, int64_t *out) {
    enum gsim_parse parsed = gsim_parse_rate(text, out);
    return not_bare_below(GSIM_LEAST_BARE_RATE, text, parsed, *out);
}

/* --- formatting ------------------------------------------------------------------------------- */

int gsim_format_seconds(char *buffer, int64_t time_ns, int digits) {
    uint64_t ns = time_ns < 0 ? (uint64_t)0 - (uint64_t)time_ns : (uint64_t)time_ns;
    char *p = buffer;
    if (time_ns < 0)
        *p++ = '-';
    char whole[24];
    int n = 0;
    for (uint64_t left = ns / 1000000000u; left || n == 0; left /= 10)
        whole[n++] = (char)('0' + left % 10);
    while (n > 0)
        *p++ = whole[--n];
    if (digits > 0) {
        *p++ = '.';
        uint64_t unit = 100000000u, rest = ns % 1000000000u;
        for (int i = 0; i < digits; i++, unit /= 10)
            *p++ = (char)('0' + (unit ? rest / unit % 10 : 0));
    }
    *p = '\0';
    return (int)(p - buffer);
}

/* Writes value / scale in decimal, exact, with the unit's name. */
static int format_in(char *buffer, int64_t value, const struct unit *unit) {
    int64_t rest = value % unit->scale;
    int n = snprintf(buffer, 32, "%s%lld", value < 0 && value / unit->scale == 0 ? "-" : "",
                     (long long)(value / unit->scale));
    if (rest < 0)
        rest = -rest;
    if (rest)
        buffer[n++] = '.';
    while (rest) {
        gsim_i128 ten = (gsim_i128)rest * 10;
        buffer[n++] = (char)('0' + (int)(ten / unit->scale));
        rest = (int64_t)(ten % unit->scale);
    }
    return n + snprintf(buffer + n, 8, "%s", unit->name);
}

/* Writes in the largest unit in which the value takes at most three decimals. */
static int format_best(char *buffer, int64_t value, const struct unit *const *units) {
    for (; units[1]; units++) {
        int64_t scale = units[0]->scale;
        bool is_short = scale % 1000 == 0 ? value % (scale / 1000) == 0 : value % scale == 0;
        if (value != 0 && is_short && (value >= scale || value <= -scale))
            break;
    }
    return format_in(buffer, value, *units);
}

int gsim_format_time(char *buffer, int64_t time_ns) {
    static const struct unit *const best[] = {&time_units[7],
                                              &time_units[6],
                                              &time_units[3],
                                              &time_units[2],
                                              &time_units[1],
                                              &time_units[0],
                                              NULL};
    return format_best(buffer, time_ns, best);
}

int gsim_format_bytes(char *buffer, int64_t bytes) {
    static const struct unit *const best[] = {&byte_units[7], &byte_units[6], &byte_units[3],
                                              &byte_units[0], NULL};
    return format_best(buffer, bytes, best);
}

int gsim_format_ppm(char *buffer, int64_t ppm) {
    return format_in(buffer, ppm, &ratio_units[0]);
}

int gsim_format_size(char *buffer, int64_t bytes) {
    static const struct unit *const best[] = {&byte_units[8], &byte_units[7], &byte_units[6],
                                              &byte_units[5], &byte_units[0], NULL};
    int at = 0;
    while (best[at + 1] && bytes < best[at]->scale)
        at++;
    int64_t scale = best[at]->scale;
    int64_t milli = (int64_t)(((gsim_i128)bytes * 1000 + scale / 2) / scale);
    return format_in(buffer, milli, &(struct unit){best[at]->name, 1000});
}
