/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a profile that follow from others of it, beyond plain shares (models/hardware/profile.c), and what
 * they must be to each other. */
#ifndef GSIM_MODELS_HARDWARE_DERIVED_H
#define GSIM_MODELS_HARDWARE_DERIVED_H

#include "models/hardware/profile.h"

/* A time that the SMs' state takes: "sm state over P% of KEY", the key a rate. State is what registers
 * and shared memory of all SMs hold. */
struct gsim_state_rule {
    int rate; /* enum gsim_key */
    int64_t ppm;
};
bool gsim_state_rule_is(const char *text);
bool gsim_state_rule_parse(const char *text, struct gsim_state_rule *out);
/* Rounded up; the keys that it rests on have their values. */
int64_t gsim_state_rule_ns(const struct gsim_state_rule *rule, const struct gsim_profile *profile);

/* The link's peak is another than before. Rates that were measured at a known peak and not given by hand
 * keep their share of it, as rules; where the peak had only been assumed from them they stay, as far as
 * the new one carries them. false: no memory. */
bool gsim_derived_follow_link(struct gsim_profile *profile, int64_t peak_before, bool was_assumed,
                              struct gsim_arena *arena);

/* Whether the values make a device together, once all of them are set. */
enum gsim_status gsim_profile_check(const struct gsim_profile *profile, struct gsim_log *log);

#endif
