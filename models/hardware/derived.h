/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a profile that follow from its other values, beyond plain shares
 * (models/hardware/profile.c), and the conditions that values set for each other. */
#ifndef GSIM_MODELS_HARDWARE_DERIVED_H
#define GSIM_MODELS_HARDWARE_DERIVED_H

#include "gsim/status.h"
#include "models/hardware/keys.h"

/* The time of moving the SMs' state: "sm state over P% of KEY", the key a rate. The state is the
 * contents of the registers and shared memory of all SMs. */
struct gsim_state_rule {
    int rate; /* enum gsim_key */
    int64_t ppm;
};
bool gsim_state_rule_is(const char *text);
bool gsim_state_rule_parse(const char *text, struct gsim_state_rule *out);
/* Rounded up; the keys that the rule rests on have their values. */
int64_t gsim_state_rule_ns(const struct gsim_state_rule *rule, const struct gsim_profile *profile);

/* The link's peak has changed. Rates that were measured at a known peak and not given by hand keep
 * their share of the peak, as rules; where the old peak had only been assumed from the rates, they
 * stay as far as the new peak carries them. Returns false if there is no memory left. */
bool gsim_derived_follow_link(struct gsim_profile *profile, int64_t peak_before, bool was_assumed,
                              struct gsim_arena *arena);

/* Checks that the values fit each other, once all of them are set. */
enum gsim_status gsim_derived_check(const struct gsim_profile *profile, struct gsim_log *log);

#endif
