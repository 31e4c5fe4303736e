/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hardware/derived.h"

#include <string.h>

#include "sim/base/units.h"
#include "gsim/units.h"

/* --- the state of the SMs --------------------------------------------------------------------- */

static const char over[] = "sm state over ";
static const char of[] = "% of ";

bool gsim_state_rule_is(const char *text) {
    return strncmp(text, over, sizeof over - 1) == 0;
}

bool gsim_state_rule_parse(const char *text, struct gsim_state_rule *out) {
    const char *share = gsim_state_rule_is(text) ? text + sizeof over - 1 : NULL;
    const char *rate = share ? strstr(share, of) : NULL;
    if (!rate)
        return false;
    out->rate = gsim_key_find(rate + sizeof of - 1);
    return out->rate >= 0 &&
           gsim_parse_decimal(share, (size_t)(rate - share), GSIM_PPM / 100, &out->ppm) ==
               GSIM_PARSE_OK &&
           out->ppm > 0;
}

int64_t gsim_state_rule_ns(const struct gsim_state_rule *rule, const struct gsim_profile *profile) {
    gsim_i128 state =
        (gsim_i128)profile->value[GSIM_KEY_SMS] *
        (profile->value[GSIM_KEY_SM_REGISTER_BYTES] + profile->value[GSIM_KEY_SM_SHARED_BYTES]);
    if (profile->value[rule->rate] == INT64_MAX) /* unlimited */
        return 0;
    gsim_i128 rate = (gsim_i128)profile->value[rule->rate] * rule->ppm;
    gsim_i128 ns = (state * GSIM_NS_PER_S * GSIM_PPM + rate - 1) / rate;
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* --- the link --------------------------------------------------------------------------------- */

static const struct {
    enum gsim_key key;
    int ways; /* directions that the rate sums */
} link_rates[] = {
    {GSIM_KEY_PCIE_H2D, 1},         {GSIM_KEY_PCIE_H2D_REUSED, 1}, {GSIM_KEY_PCIE_D2H, 1},
    {GSIM_KEY_PCIE_DUPLEX, 2},      {GSIM_KEY_UVM_COPY, 1},        {GSIM_KEY_UVM_PREFETCH_IN, 1},
    {GSIM_KEY_UVM_PREFETCH_OUT, 1}, {GSIM_KEY_MIGRATE_OUT, 1},     {GSIM_KEY_MIGRATE_IN, 1},
    {GSIM_KEY_MIGRATE_BOTH, 2},
};
enum { N_LINK_RATES = sizeof link_rates / sizeof *link_rates };

/* The rate's share of the peak, in ppm; without a limit it is all of it. */
static int64_t share_ppm(int64_t rate, int64_t peak, int ways) {
    if (rate == INT64_MAX || peak == INT64_MAX)
        return (int64_t)ways * GSIM_PPM;
    gsim_i128 ppm = ((gsim_i128)rate * GSIM_PPM + peak / 2) / peak;
    return ppm < 1 ? 1 : (int64_t)ppm;
}

static int64_t carried(int64_t peak, int ways) {
    return peak > INT64_MAX / ways ? INT64_MAX : ways * peak;
}

bool gsim_derived_follow_link(struct gsim_profile *profile, int64_t peak_before, bool was_assumed,
                              struct gsim_arena *arena) {
    for (int i = 0; i < N_LINK_RATES; i++) {
        enum gsim_key key = link_rates[i].key;
        int64_t most = carried(profile->value[GSIM_KEY_PCIE_PEAK], link_rates[i].ways);
        if (profile->rule[key] || profile->tag[key] == GSIM_TAG_GIVEN ||
            (was_assumed && profile->value[key] <= most))
            continue;
        int64_t ppm = was_assumed ? (int64_t)link_rates[i].ways * GSIM_PPM
                                  : share_ppm(profile->value[key], peak_before, link_rates[i].ways);
        profile->rule[key] =
            gsim_arena_printf(arena, "%lld.%04lld%% of %s", (long long)(ppm / 10000),
                              (long long)(ppm % 10000), gsim_key_name(GSIM_KEY_PCIE_PEAK));
        if (!profile->rule[key])
            return false;
        profile->tag[key] = GSIM_TAG_ASSUMED;
        profile->source[key] = was_assumed ? "as much as the given peak carries"
                                           : "as large a share of the given peak as of the "
                                             "device's own";
    }
    return true;
}

/* --- values that must fit each other ---------------------------------------------------------- */

/* A peak and a rate that contradict each other, both given by hand, are refused. */
static enum gsim_status check_link(const struct gsim_profile *profile, struct gsim_log *log) {
    int64_t peak = profile->value[GSIM_KEY_PCIE_PEAK];
    if (profile->tag[GSIM_KEY_PCIE_PEAK] != GSIM_TAG_GIVEN)
        return GSIM_OK;
    for (int i = 0; i < N_LINK_RATES; i++) {
        enum gsim_key key = link_rates[i].key;
        int64_t most = carried(peak, link_rates[i].ways);
        if (profile->tag[key] == GSIM_TAG_GIVEN && profile->value[key] > most)
            return gsim_fail(log, GSIM_USAGE, NULL, 0,
                             "--set %s=%s is more than the link carries: pcie.peak_bytes_per_s=%s "
                             "each way; leave out one of them",
                             gsim_key_name(key), profile->text[key],
                             profile->text[GSIM_KEY_PCIE_PEAK]);
    }
    return GSIM_OK;
}

enum gsim_status gsim_derived_check(const struct gsim_profile *profile, struct gsim_log *log) {
    if (profile->value[GSIM_KEY_HBM_BYTES] < profile->value[GSIM_KEY_UVM_CHUNK_BYTES])
        return gsim_fail(
            log, GSIM_USAGE, NULL, 0,
            "device '%s': hbm_bytes=%s is less than one chunk of memory, "
            "uvm.chunk_bytes=%s: nothing could ever be on it; give it a chunk at least",
            profile->name, profile->text[GSIM_KEY_HBM_BYTES],
            profile->text[GSIM_KEY_UVM_CHUNK_BYTES]);
    return check_link(profile, log);
}
