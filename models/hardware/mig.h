/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multi-instance GPUs: the instances that a device can be cut into, and where they may lie.
 *
 * The memory of such a device has a number of slices (8 on A100 and Hopper), and an instance takes
 * neighbouring slices from one of its start positions on; two instances never overlap. A device's
 * .ini says so in its section [mig], a line for each profile: SMs : memory : slices : starts.
 *
 *     slices = 8 | published | where that is written
 *     3g.20gb = 42:19.5GiB:4:0,4 | published | where that is written
 *
 * An instance has its part of the memory's bandwidth to itself, so no neighbour disturbs it. */
#ifndef GSIM_MODELS_HARDWARE_MIG_H
#define GSIM_MODELS_HARDWARE_MIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/arrangement.h"
#include "sim/base/ini.h"
#include "gsim/status.h"

enum { GSIM_MIG_SLICES_MAX = 16, GSIM_MIG_PROFILES_MAX = 16 };

struct gsim_mig_profile {
    const char *name; /* "3g.20gb" */
    int64_t sms;
    int64_t mem_bytes; /* memory that jobs can use */
    uint32_t slices;
    uint32_t starts; /* a bit for each position where an instance may begin */
    const char *source;
    bool is_assumed; /* at least a part of it is not published */
};

/* The instances into which a device can be cut, the largest first. */
struct gsim_mig {
    uint32_t slices; /* of the whole device */
    int n;
    struct gsim_mig_profile profile[GSIM_MIG_PROFILES_MAX];
};

struct gsim_mig_instance {
    uint8_t profile; /* in gsim_mig.profile */
    uint8_t start;
};

struct gsim_mig_layout {
    int n;
    struct gsim_mig_instance instance[GSIM_MIG_SLICES_MAX];
};

/* Reads section [mig] of a device's file; *out is NULL when there is none. */
enum gsim_status gsim_mig_read(const struct gsim_ini *ini, struct gsim_arena *arena,
                               const struct gsim_mig **out, struct gsim_log *log);
/* Position of a profile, or -1. */
int gsim_mig_find(const struct gsim_mig *mig, const char *name);
/* The part of an amount of the whole device that belongs to an instance's slices. */
int64_t gsim_mig_part(const struct gsim_mig *mig, const struct gsim_mig_profile *profile,
                      int64_t whole);
/* Writes the profile as in the device's file, the memory in its shortest exact form. Returns the
 * length. */
int gsim_mig_format(const struct gsim_mig_profile *profile, char *buffer, size_t size);
/* Reads "3g.20gb,2g.10gb", "3g+2g" or "3g.20gb@4,...": names, short ones too, and starts for
 * instances that are to lie at one. The others are placed wherever all of them fit. A layout that
 * cannot exist is a usage error. */
enum gsim_status gsim_mig_parse(const struct gsim_mig *mig, const char *text,
                                struct gsim_mig_layout *out, struct gsim_log *log);
/* The instances of a layout as policies see them; of NULL, all that the device can be cut into. No
 * device without a mig can be cut. */
enum gsim_status gsim_mig_partition(const struct gsim_mig *mig, const char *device,
                                    const char *layout, struct gsim_partition *out,
                                    struct gsim_log *log);

#endif
