/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities as text. Every quantity that reaches a simulation is an integer in base units (ns,
 * bytes, bytes per second, ppm); decimals are parsed digit by digit, never through double. */
#ifndef GSIM_BASE_UNITS_H
#define GSIM_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/units.h"

enum gsim_parse {
    GSIM_PARSE_OK = 0,
    GSIM_PARSE_SYNTAX, /* not a number, or an unknown unit */
    GSIM_PARSE_RANGE, /* does not fit in 63 bits after scaling */
    GSIM_PARSE_BARE, /* a number that almost surely lacks a unit */
};

/* Plain decimal (sign, digits, optional fraction and exponent; no unit, no spaces, no "inf"), times
 * scale, rounded half away from zero. The whole of text[0..length) must be used. */
enum gsim_parse gsim_parse_decimal(const char *text, size_t length, int64_t scale, int64_t *out);

/* Appends the digits at the start of text to the decimal digits of *number, and returns their end.
 * The text must end with a byte that is no digit (NUL); 18 digits fit. */
static inline const char *gsim_read_digits(const char *text, int64_t *number) {
    int64_t so_far = *number;
    for (unsigned digit; (digit = (unsigned)(unsigned char)*text - '0') <= 9; text++)
        so_far = so_far * 10 + digit;
    *number = so_far;
    return text;
}

/* With a unit suffix (spaces allowed between): a bare number is taken in the default unit.
 * time: ns us ms s m min h d w   (default unit given by default_ns, e.g. GSIM_NS_PER_S)
 * bytes: B kB MB GB TB (10^3k) KiB MiB GiB TiB (2^10k), default bytes
 * rate: the byte units + "/s" (also "GB/s"), default bytes per second
 * ppm: "5%" -> 50000, a bare number is a ratio ("0.05" -> 50000) */
enum gsim_parse gsim_parse_time(const char *text, int64_t default_ns, int64_t *out_ns);
enum gsim_parse gsim_parse_bytes(const char *text, int64_t *out);
enum gsim_parse gsim_parse_rate(const char *text, int64_t *out);
enum gsim_parse gsim_parse_ppm(const char *text, int64_t *out);
/* A number without a unit, other than 0. Where the unit is not part of the name, users that omit it
 * mostly mean a unit other than the base unit. */
bool gsim_is_bare(const char *text);
/* Bytes, and bytes per second, as a user types them: a number without a unit is accepted from
 * GSIM_LEAST_BARE_BYTES and GSIM_LEAST_BARE_RATE on, as no memory and no link is below these; a
 * smaller number is GSIM_PARSE_BARE. */
#define GSIM_LEAST_BARE_BYTES GSIM_MIB
#define GSIM_LEAST_BARE_RATE INT64_C(1000000)
/* Seconds, where other units are as likely: from a minute on a user would not have omitted another
 * unit. */
#define GSIM_LEAST_BARE_NS (60 * GSIM_NS_PER_S)
enum gsim_parse gsim_parse_size(const char *text, int64_t *out);
enum gsim_parse gsim_parse_speed(const char *text, int64_t *out);
/* Whole numbers only; a fraction is a syntax error. */
enum gsim_parse gsim_parse_int(const char *text, int64_t *out);

/* "12.345000000" for 9 digits: exact seconds. Returns the length. buffer holds at least 32. */
int gsim_format_seconds(char *buffer, int64_t time_ns, int digits);
/* The shortest exact form with a unit, accepted by the parsers: "30s", "2.08ms", "4GiB", "5%". */
int gsim_format_time(char *buffer, int64_t time_ns);
int gsim_format_bytes(char *buffer, int64_t bytes);
int gsim_format_ppm(char *buffer, int64_t ppm);
/* For display: at most three decimals of the largest binary unit, "80.1GiB"; not exact. */
int gsim_format_size(char *buffer, int64_t bytes);

#endif
