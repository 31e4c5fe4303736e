/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile: the values of a device's keys (keys.def), with their tags and sources. */
#ifndef GSIM_MODELS_HARDWARE_KEYS_H
#define GSIM_MODELS_HARDWARE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"

enum gsim_key {
#define GSIM_KEY(symbol, name, kind, help) GSIM_KEY_##symbol,
#include "models/hardware/keys.def"
#undef GSIM_KEY
    GSIM_KEY_COUNT
};

enum gsim_key_kind {
    GSIM_KIND_INT,
    GSIM_KIND_PPM,
    GSIM_KIND_BYTES,
    GSIM_KIND_RATE,
    GSIM_KIND_NS,
    GSIM_KIND_BOOL,
    GSIM_KIND_CURVE
};

struct gsim_key_def {
    const char *name; /* "section.key" */
    enum gsim_key_kind kind;
    uint32_t length; /* of the name: each start of the program looks for all names */
    const char *help;
};
extern const struct gsim_key_def gsim_keys[GSIM_KEY_COUNT];

enum gsim_tag {
    GSIM_TAG_MEASURED = 0,
    GSIM_TAG_PUBLISHED,
    GSIM_TAG_FITTED,
    GSIM_TAG_ASSUMED,
    GSIM_TAG_GIVEN, /* set by --set */
    GSIM_TAG_COUNT
};

struct gsim_curve_point {
    int64_t x, y;
};

struct gsim_profile {
    const char *name; /* "h200" */
    const char *title; /* "NVIDIA H200 SXM 141 GB" */
    /* names that drivers give the device, "NVIDIA H200, ..."; NULL: not given */
    const char *products;
    const char *in_rates; /* its name in a table of speeds; NULL: its own */
    int64_t value[GSIM_KEY_COUNT]; /* base units; of a curve: the number of its points */
    const struct gsim_curve_point *curve[GSIM_KEY_COUNT]; /* NULL for plain values */
    const char *text[GSIM_KEY_COUNT]; /* as written; of a share: the resulting number */
    const char *rule[GSIM_KEY_COUNT]; /* the share as written; NULL for plain values */
    uint8_t tag[GSIM_KEY_COUNT]; /* enum gsim_tag */
    const char *source[GSIM_KEY_COUNT];
    /* models/hardware/mig.h; NULL: the device cannot be cut into instances */
    const struct gsim_mig *mig;
    /* models/hardware/validated.h; by mechanism; NULL: no claims */
    struct gsim_validated *validated;
};

/* enum gsim_key of "section.key", or -1. */
int gsim_key_find(const char *name);
const char *gsim_key_name(enum gsim_key key);
const char *gsim_key_help(enum gsim_key key);
/* The key of that name; GSIM_KEY_COUNT: there is none. */
enum gsim_key gsim_key_called(const char *name, size_t length);
/* Whether no run is computed from the key: data sheet numbers of the chip, and measured times of
 * single copies and the like. */
bool gsim_key_is_shown_only(int key);
const char *gsim_tag_name(enum gsim_tag tag);
/* Cuts "value | tag | source" into its three parts, without spaces around them. Returns false if
 * one is empty, or if there is no memory left. */
bool gsim_key_split(const char *text, const char *part[3], struct gsim_arena *arena);

#endif
