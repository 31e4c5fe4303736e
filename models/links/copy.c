/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What copies take on an idle link: alone, beside the other direction, and one after the other. */
#include "models/links/copy.h"

#include "gsim/units.h"

struct gsim_copy_rates gsim_copy_rates_pinned(const struct gsim_profile *profile, bool is_reused) {
    enum gsim_key in = is_reused ? GSIM_KEY_PCIE_H2D_REUSED : GSIM_KEY_PCIE_H2D;
    return (struct gsim_copy_rates){
        .bytes_per_s = {profile->value[in], profile->value[GSIM_KEY_PCIE_D2H]},
        .both_bytes_per_s = profile->value[GSIM_KEY_PCIE_DUPLEX],
        .copy_ns = {profile->value[GSIM_KEY_PCIE_H2D_COPY_NS],
                    profile->value[GSIM_KEY_PCIE_D2H_COPY_NS]},
        .both_copy_ns = profile->value[GSIM_KEY_PCIE_DUPLEX_COPY_NS],
        .sync_ns = profile->value[GSIM_KEY_PCIE_SYNC_NS]};
}

struct gsim_copy_rates gsim_copy_rates_migrate(const struct gsim_profile *profile) {
    return (struct gsim_copy_rates){
        .bytes_per_s = {profile->value[GSIM_KEY_MIGRATE_IN], profile->value[GSIM_KEY_MIGRATE_OUT]},
        .both_bytes_per_s = profile->value[GSIM_KEY_MIGRATE_BOTH]};
}

struct gsim_copy_rates gsim_copy_rates_prefetch(const struct gsim_profile *profile) {
    return (struct gsim_copy_rates){.bytes_per_s = {profile->value[GSIM_KEY_UVM_PREFETCH_IN],
                                                    profile->value[GSIM_KEY_UVM_PREFETCH_OUT]},
                                    .both_bytes_per_s = profile->value[GSIM_KEY_PCIE_DUPLEX]};
}

static int64_t bytes_ns(int64_t bytes, int64_t bytes_per_s) {
    return bytes_per_s == INT64_MAX ? 0 : gsim_muldiv_ceil(bytes, GSIM_NS_PER_S, bytes_per_s);
}

static int64_t n_copies(int64_t bytes, int64_t chunk_bytes) {
    return chunk_bytes > 0 ? (bytes + chunk_bytes - 1) / chunk_bytes : 1;
}

int64_t gsim_copy_ns(const struct gsim_copy_rates *rates, enum gsim_direction direction,
                     int64_t bytes, int64_t chunk_bytes) {
    if (bytes <= 0)
        return 0;
    return bytes_ns(bytes, rates->bytes_per_s[direction]) +
           n_copies(bytes, chunk_bytes) * rates->copy_ns[direction];
}

/* A direction's part of the ceiling: half, or more where the other direction cannot use its
 * half. */
static int64_t both_rate(const struct gsim_copy_rates *rates, enum gsim_direction direction) {
    int64_t own = rates->bytes_per_s[direction];
    int64_t other = rates->bytes_per_s[direction == GSIM_H2D ? GSIM_D2H : GSIM_H2D];
    int64_t ceiling = rates->both_bytes_per_s;
    if (ceiling == INT64_MAX)
        return own;
    int64_t left = ceiling - (other < ceiling / 2 ? other : ceiling / 2);
    return left > 0 && left < own ? left : own;
}

int64_t gsim_copy_both_ns(const struct gsim_copy_rates *rates, enum gsim_direction direction,
                          int64_t bytes, int64_t chunk_bytes) {
    if (bytes <= 0)
        return 0;
    int64_t alone_ns = gsim_copy_ns(rates, direction, bytes, chunk_bytes);
    int64_t both_ns = bytes_ns(bytes, both_rate(rates, direction)) +
                      n_copies(bytes, chunk_bytes) * rates->both_copy_ns;
    return both_ns > alone_ns ? both_ns : alone_ns;
}

static uint64_t ratio_q32(int64_t alone_ns, int64_t both_ns) {
    if (alone_ns >= both_ns)
        return GSIM_RATE_ONE;
    uint64_t ratio = (uint64_t)(((gsim_u128)alone_ns << 32) / (gsim_u128)both_ns);
    return ratio ? ratio : 1;
}

struct gsim_copy_cost gsim_copy_cost(const struct gsim_copy_rates *rates,
                                     enum gsim_direction direction, int64_t bytes,
                                     int64_t chunk_bytes) {
    int64_t alone_ns = gsim_copy_ns(rates, direction, bytes, chunk_bytes);
    return (struct gsim_copy_cost){
        alone_ns, ratio_q32(alone_ns, gsim_copy_both_ns(rates, direction, bytes, chunk_bytes))};
}

int64_t gsim_copy_duplex_ns(const struct gsim_copy_rates *rates, int64_t bytes_in,
                            int64_t bytes_out, int64_t chunk_bytes) {
    const int64_t bytes[] = {bytes_in, bytes_out};
    gsim_work need[GSIM_DIRECTIONS];
    uint64_t rate[GSIM_DIRECTIONS];
    int64_t until[GSIM_DIRECTIONS]; /* the end if the other direction were busy as long */
    for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
        int64_t alone_ns = gsim_copy_ns(rates, d, bytes[d], chunk_bytes);
        if (alone_ns == 0)
            return gsim_copy_ns(rates, d == GSIM_H2D ? GSIM_D2H : GSIM_H2D,
                                bytes[d == GSIM_H2D ? GSIM_D2H : GSIM_H2D], chunk_bytes);
        need[d] = gsim_work_of_ns(alone_ns);
        rate[d] = ratio_q32(alone_ns, gsim_copy_both_ns(rates, d, bytes[d], chunk_bytes));
        until[d] = gsim_work_time(need[d], rate[d]);
    }
    enum gsim_direction last = until[GSIM_H2D] > until[GSIM_D2H] ? GSIM_H2D : GSIM_D2H;
    int64_t first_ns = until[last == GSIM_H2D ? GSIM_D2H : GSIM_H2D];
    gsim_work left = need[last] - gsim_work_done(rate[last], first_ns);
    return first_ns + (left > 0 ? gsim_work_time(left, GSIM_RATE_ONE) : 0);
}

int64_t gsim_copy_serial_ns(const struct gsim_copy_rates *rates, int64_t bytes_in,
                            int64_t bytes_out, int64_t chunk_bytes, int64_t alternate_ns) {
    int64_t alone_ns = gsim_copy_ns(rates, GSIM_H2D, bytes_in, chunk_bytes) +
                       gsim_copy_ns(rates, GSIM_D2H, bytes_out, chunk_bytes);
    if (bytes_in <= 0 || bytes_out <= 0) /* copies in one direction never turn round */
        return alone_ns;
    int64_t turns = 2 * n_copies(bytes_in < bytes_out ? bytes_in : bytes_out, chunk_bytes);
    return alone_ns + turns * alternate_ns;
}
