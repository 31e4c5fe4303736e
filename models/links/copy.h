/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rates of copies, as a device's profile gives them, and what copies take by them on an idle
 * link. */
#ifndef GSIM_MODELS_LINKS_COPY_H
#define GSIM_MODELS_LINKS_COPY_H

#include "models/hardware/profile.h"

enum gsim_direction { GSIM_H2D = 0, GSIM_D2H, GSIM_DIRECTIONS };

/* The rates of one way of copying. A rate of INT64_MAX is unlimited. */
struct gsim_copy_rates {
    int64_t bytes_per_s[GSIM_DIRECTIONS]; /* alone */
    /* sum of both ways; each way gets half, or the rest that the other leaves */
    int64_t both_bytes_per_s;
    int64_t copy_ns[GSIM_DIRECTIONS]; /* per copy, alone */
    int64_t both_copy_ns; /* per pair of copies */
    int64_t sync_ns; /* added by a synchronous copy */
};

/* Copies of pinned memory; is_reused: into device memory that an earlier job freed. */
struct gsim_copy_rates gsim_copy_rates_pinned(const struct gsim_profile *profile, bool is_reused);
/* Proactive migration: rates with the costs of each copy included. */
struct gsim_copy_rates gsim_copy_rates_migrate(const struct gsim_profile *profile);
/* Prefetching managed memory, either way alone. */
struct gsim_copy_rates gsim_copy_rates_prefetch(const struct gsim_profile *profile);

/* Time of queued copies of chunk_bytes each (the last may be shorter) on an idle link; 0 bytes take
 * none. chunk_bytes 0: one copy. */
int64_t gsim_copy_ns(const struct gsim_copy_rates *rates, enum gsim_direction direction,
                     int64_t bytes, int64_t chunk_bytes);
/* That time while the other engine is busy throughout; never less. */
int64_t gsim_copy_both_ns(const struct gsim_copy_rates *rates, enum gsim_direction direction,
                          int64_t bytes, int64_t chunk_bytes);
/* What a transfer costs: its time alone, and its rate while the other engine is busy. */
struct gsim_copy_cost {
    int64_t alone_ns;
    uint64_t both_q32;
};
struct gsim_copy_cost gsim_copy_cost(const struct gsim_copy_rates *rates,
                                     enum gsim_direction direction, int64_t bytes,
                                     int64_t chunk_bytes);
/* Time of copies in both directions, begun together on an idle link, until the later one ends. */
int64_t gsim_copy_duplex_ns(const struct gsim_copy_rates *rates, int64_t bytes_in,
                            int64_t bytes_out, int64_t chunk_bytes);
/* Time of one stream that carries out and in by turns: no overlap, and `alternate_ns` for each
 * copy. */
int64_t gsim_copy_serial_ns(const struct gsim_copy_rates *rates, int64_t bytes_in,
                            int64_t bytes_out, int64_t chunk_bytes, int64_t alternate_ns);

#endif
