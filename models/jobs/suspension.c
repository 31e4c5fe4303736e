/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suspension of whole jobs. keep = host: copy out over D2H, free, later allocate and copy in over
 * H2D into memory that was used before; where the trace does not give the job's memory, a time that
 * is published as a whole. keep = image: the driver's checkpoint, a fixed part and a part by size
 * each way. keep = storage: checkpoint and restart, a time that is published as a whole. keep =
 * resident: a context switch, nothing moves. Memory for which the host has no room (spilt) goes on
 * to its storage, and comes back from there. */
#include "models/jobs/suspension.h"

static int64_t per_gib_ns(int64_t bytes, int64_t ns_per_gib) {
    return bytes > 0 ? gsim_muldiv_ceil(bytes, ns_per_gib, GSIM_GIB) : 0;
}

static int64_t switch_ns(const struct gsim_profile *profile, enum gsim_stop stop) {
    bool is_boundary = stop == GSIM_STOP_KERNEL || stop == GSIM_STOP_ITERATION;
    return profile->value[is_boundary ? GSIM_KEY_SWITCH_IDLE_NS : GSIM_KEY_SWITCH_PREEMPT_NS];
}

static int64_t free_ns(const struct gsim_profile *profile, int64_t bytes) {
    return per_gib_ns(bytes, profile->value[GSIM_KEY_SUSPEND_FREE_NS_PER_GIB]);
}

static struct gsim_suspension_cost pause_cost(const struct gsim_profile *profile,
                                              enum gsim_stop stop, int64_t bytes, bool is_moved) {
    struct gsim_suspension_cost cost = {.save_ns = switch_ns(profile, stop)};
    if (is_moved) {
        cost.resume_ns = free_ns(profile, bytes);
        cost.bytes_out = cost.bytes_in = cost.kept_bytes = bytes;
        cost.is_out_late = true;
    }
    return cost;
}

/* The copies are part of the measured time, and slower than the link: they do not queue on it. */
static struct gsim_suspension_cost image_cost(const struct gsim_profile *profile, int64_t bytes) {
    return (struct gsim_suspension_cost){
        .save_ns = profile->value[GSIM_KEY_CHECKPOINT_OUT_NS] +
                   per_gib_ns(bytes, profile->value[GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB]),
        .resume_ns = profile->value[GSIM_KEY_CHECKPOINT_IN_NS] +
                     per_gib_ns(bytes, profile->value[GSIM_KEY_CHECKPOINT_IN_NS_PER_GIB]),
        .kept_bytes = bytes};
}

static struct gsim_suspension_cost host_cost(const struct gsim_profile *profile, int64_t bytes) {
    return (struct gsim_suspension_cost){.save_ns = free_ns(profile, bytes),
                                         .bytes_out = bytes,
                                         .bytes_in = bytes,
                                         .kept_bytes = bytes};
}

static struct gsim_suspension_cost spilt(struct gsim_suspension_cost cost) {
    cost.stored_bytes = cost.kept_bytes;
    return cost;
}

struct gsim_suspension_cost gsim_suspension_cost(const struct gsim_profile *profile,
                                                 enum gsim_stop stop, enum gsim_keep keep,
                                                 int64_t mem_bytes, bool is_moved) {
    int64_t bytes = mem_bytes > 0 ? mem_bytes : 0;
    switch (keep) {
    case GSIM_KEEP_RESIDENT:
    case GSIM_KEEP_PAGEABLE:
        return pause_cost(profile, stop, bytes, is_moved);
    case GSIM_KEEP_HOST:
        if (mem_bytes < 0)
            return (struct gsim_suspension_cost){.resume_ns =
                                                     profile->value[GSIM_KEY_SUSPEND_UNKNOWN_NS]};
        return host_cost(profile, bytes);
    case GSIM_KEEP_IMAGE:
        return image_cost(profile, bytes);
    case GSIM_KEEP_SPILT:
        return spilt(host_cost(profile, bytes));
    case GSIM_KEEP_IMAGE_SPILT:
        return spilt(image_cost(profile, bytes));
    case GSIM_KEEP_STORAGE:
        return (struct gsim_suspension_cost){.save_ns = profile->value[GSIM_KEY_RESTART_STOP_NS],
                                             .resume_ns = profile->value[GSIM_KEY_RESTART_NS]};
    case GSIM_KEEP_DISCARD:
    case GSIM_KEEP_COUNT:
        break;
    }
    return (struct gsim_suspension_cost){.save_ns = profile->value[GSIM_KEY_CONTEXT_DESTROY_NS]};
}

const enum gsim_key *gsim_suspension_keys(enum gsim_stop stop, enum gsim_keep keep) {
    static const enum gsim_key at_boundary[] = {GSIM_KEY_SWITCH_IDLE_NS, GSIM_KEY_COUNT};
    static const enum gsim_key at_once[] = {GSIM_KEY_SWITCH_PREEMPT_NS, GSIM_KEY_COUNT};
    static const enum gsim_key host[] = {GSIM_KEY_PCIE_D2H, GSIM_KEY_SUSPEND_FREE_NS_PER_GIB,
                                         GSIM_KEY_PCIE_H2D_REUSED, GSIM_KEY_COUNT};
    static const enum gsim_key host_spilt[] = {GSIM_KEY_PCIE_D2H, GSIM_KEY_SUSPEND_FREE_NS_PER_GIB,
                                               GSIM_KEY_PCIE_H2D_REUSED,
                                               GSIM_KEY_STORAGE_BYTES_PER_S, GSIM_KEY_COUNT};
    static const enum gsim_key storage[] = {GSIM_KEY_RESTART_STOP_NS, GSIM_KEY_RESTART_NS,
                                            GSIM_KEY_START_SERIAL_NS, GSIM_KEY_END_SERIAL_NS,
                                            GSIM_KEY_COUNT};
    static const enum gsim_key image[] = {
        GSIM_KEY_CHECKPOINT_OUT_NS, GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB, GSIM_KEY_CHECKPOINT_IN_NS,
        GSIM_KEY_CHECKPOINT_IN_NS_PER_GIB, GSIM_KEY_COUNT};
    static const enum gsim_key image_spilt[] = {
        GSIM_KEY_CHECKPOINT_OUT_NS,   GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB,
        GSIM_KEY_CHECKPOINT_IN_NS,    GSIM_KEY_CHECKPOINT_IN_NS_PER_GIB,
        GSIM_KEY_STORAGE_BYTES_PER_S, GSIM_KEY_COUNT};
    static const enum gsim_key discard[] = {GSIM_KEY_CONTEXT_DESTROY_NS, GSIM_KEY_START_NS,
                                            GSIM_KEY_END_SERIAL_NS, GSIM_KEY_COUNT};
    switch (keep) {
    case GSIM_KEEP_HOST:
        return host;
    case GSIM_KEEP_STORAGE:
        return storage;
    case GSIM_KEEP_IMAGE:
        return image;
    case GSIM_KEEP_SPILT:
        return host_spilt;
    case GSIM_KEEP_IMAGE_SPILT:
        return image_spilt;
    case GSIM_KEEP_DISCARD:
        return discard;
    default:
        return stop == GSIM_STOP_KERNEL || stop == GSIM_STOP_ITERATION ? at_boundary : at_once;
    }
}
