/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which mechanisms of a device were validated, by which suite, and whether that holds for a run.
 * The validated constants decide: a profile claims a mechanism in its section [validated],
 *
 * slices = h200 on h200, at most 8, with launch.queue | which tables, and why
 *
 * (a suite of `gsim validate`, the device that it ran, how many contexts at once are trusted, and
 * the assumed keys that were validated with the suite). The claim holds as long as each key of the
 * mechanism (models/hardware/mechanisms.def) has the value of that listed device, and no key is
 * assumed except the named ones. `itself` is the profile as its file has it, for files of the
 * user's. */
#ifndef GSIM_MODELS_HARDWARE_VALIDATED_H
#define GSIM_MODELS_HARDWARE_VALIDATED_H

#include "gsim/status.h"
#include "models/hardware/keys.h"

struct gsim_ini;

enum gsim_mechanism {
#define GSIM_MECHANISM(symbol, name, title, otherwise, ...) GSIM_MECHANISM_##symbol,
#include "models/hardware/mechanisms.def"
#undef GSIM_MECHANISM
    GSIM_MECHANISM_COUNT
};

struct gsim_validated {
    /* as written, without the source; NULL: the profile does not claim the mechanism */
    const char *text;
    const char *suite; /* of experiments/validate */
    const char *device;
    const char *source;
    int64_t at_most; /* contexts at once; 0: no limit */
    bool with[GSIM_KEY_COUNT]; /* the key is assumed, and was validated with the suite */
    const struct gsim_profile *reference; /* the device as the suite ran it */
};

const char *gsim_validated_name(enum gsim_mechanism mechanism);
const char *gsim_validated_title(enum gsim_mechanism mechanism);
const char *gsim_validated_otherwise(enum gsim_mechanism mechanism);
/* The keys of a mechanism; ends with GSIM_KEY_COUNT. */
const enum gsim_key *gsim_validated_keys(enum gsim_mechanism mechanism);

/* Reads section [validated] of a device's file into profile->validated, by mechanism, without the
 * references. The profile is complete except for that. */
enum gsim_status gsim_validated_read(const struct gsim_ini *ini, struct gsim_profile *profile,
                                     struct gsim_arena *arena, struct gsim_log *log);
/* Whether the suite of the claim ran the device that makes it. */
bool gsim_validated_is_own(const struct gsim_validated *claim, const struct gsim_profile *profile);
/* NULL when the mechanism was validated with the constants of these devices and for n_at_once
 * contexts (0: their number does not matter), else the obstacle: a sentence for all devices that
 * have it, with their names where there are several devices or the constants differ. */
const char *gsim_validated_doubt(const struct gsim_profile *const *profiles, uint16_t n,
                                 enum gsim_mechanism mechanism, int64_t n_at_once,
                                 struct gsim_arena *arena);

#endif
