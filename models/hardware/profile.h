/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device profiles: every number about hardware, with its tag and its source, as data.
 *
 * A profile is models/devices/NAME.ini (built into the program) or a file of the user's. Lines are
 *     key = value | tag | source
 * under [section]; the full key is "section.key", [device] adds no prefix, and has a plain `title`
 * and the `products` that a driver may call the device; [mig] and [validated] have lines of their
 * own (models/hardware/mig.h, models/hardware/validated.h). The tag is measured, published, fitted
 * or assumed. A key that the device's file lacks is taken from assumed.ini.
 * Values are plain numbers in the key's unit (units are read too); a rate may be `unlimited`. A
 * value may also be a share of another key of the same kind, `88% of pcie.peak_bytes_per_s`, a
 * curve may give its points as shares of `sms` and of `hbm_bytes_per_s` (`3%:8%,100%:98%`), and a
 * time may be that of moving the SMs' registers and shared memory at a share of a rate, `sm state
 * over 90% of hbm_bytes_per_s`: so assumed.ini scales with the device. A ';' after a space starts a
 * comment: keep it out of sources. */
#ifndef GSIM_MODELS_HARDWARE_PROFILE_H
#define GSIM_MODELS_HARDWARE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "sim/base/ini.h"
#include "gsim/status.h"

enum gsim_key {
#define GSIM_KEY(symbol, name, kind, help) GSIM_KEY_##symbol,
#include "models/hardware/keys.def"
#undef GSIM_KEY
    GSIM_KEY_COUNT
};

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
    int64_t value[GSIM_KEY_COUNT]; /* base units; of a curve: the number of its points */
    const struct gsim_curve_point *curve[GSIM_KEY_COUNT]; /* NULL for plain values */
    const char *text[GSIM_KEY_COUNT]; /* as written; of a share: the resulting number */
    const char *rule[GSIM_KEY_COUNT]; /* the share as written; NULL for plain values */
    uint8_t tag[GSIM_KEY_COUNT]; /* enum gsim_tag */
    const char *source[GSIM_KEY_COUNT];
    /* models/hardware/mig.h; NULL: the device cannot be cut into instances */
    const struct gsim_mig *mig;
    const struct gsim_validated
        *validated; /* models/hardware/validated.h; by mechanism; NULL: no claims */
};

/* A file built into the program (made by the build from models/devices and traces/samples). */
struct gsim_embedded {
    const char *name; /* "models/devices/h200.ini" */
    const unsigned char *bytes;
    unsigned long size;
};
/* Ends with a NULL name; sorted by name. */
extern const struct gsim_embedded gsim_embedded_files[];

/* name_or_path: a listed device, or a file when it contains '/' or ends in ".ini". An unknown name
 * is a usage error with a suggestion; a bad file is bad input with its line. */
enum gsim_status gsim_profile_load(const char *name_or_path, struct gsim_arena *arena,
                                   struct gsim_profile *out, struct gsim_log *log);
bool gsim_profile_is_path(const char *name_or_path);
/* Applies `--set key=value`. *known is false, and the profile stays as it is, when no profile key
 * is called `key`. Values that are shares of this key follow. */
enum gsim_status gsim_profile_set(struct gsim_profile *profile, const char *key, const char *text,
                                  bool *known, struct gsim_arena *arena, struct gsim_log *log);
/* Writes the names of the built-in devices, sorted; returns their number. */
int gsim_profile_names(char (*out)[48], int most);
/* Cuts "value | tag | source" into its three parts, without spaces around them. Returns false if
 * one is empty, or if there is no memory left. */
bool gsim_profile_split(const char *text, const char *part[3], struct gsim_arena *arena);
/* enum gsim_key of "section.key", or -1. */
int gsim_profile_find_key(const char *name);
const char *gsim_key_name(enum gsim_key key);
const char *gsim_key_help(enum gsim_key key);
/* The key of that name; GSIM_KEY_COUNT: there is none. */
enum gsim_key gsim_key_called(const char *name, size_t length);
/* Whether no run is computed from the key: data sheet numbers of the chip, and measured times of
 * single copies and the like. */
bool gsim_key_is_shown_only(int key);
const char *gsim_tag_name(enum gsim_tag tag);

#endif
