/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that a policy cuts into instances (MIG): made and destroyed by the driver's management
 * library as the policy asks for them. Whether a GPU is in MIG mode is never changed; a GPU with
 * instances that others made is refused. What a run has made, its end removes, and its guard where
 * `drive` is killed. */
#ifndef GSIM_APP_CUTTING_H
#define GSIM_APP_CUTTING_H

#include "gsim/job.h"
#include "models/hardware/mig.h"
#include "sim/app/drive/gpus.h"
#include "sim/app/drive/nvml_mig.h"

/* An instance that is there, or about to be: a GPU has no two of one profile at one place. */
struct gsim_made {
    unsigned profile, start;
};

/* The instances of a GPU, in memory that the guard shares. */
struct gsim_made_list {
    uint32_t n;
    struct gsim_made at[GSIM_MIG_SLICES_MAX];
};

/* How a GPU is cut now. */
struct gsim_cut_gpu {
    bool is_cut;
    const char *layout; /* "": one instance of all */
    char uuid[GSIM_MIG_SLICES_MAX][GSIM_NVML_UUID_BYTES]; /* "MIG-..."; by instance */
};

struct gsim_cutting {
    bool is_needed; /* the policy cuts GPUs */
    const uint32_t *gpus; /* by GPU of the cluster: its number on this machine */
    uint32_t n_gpus;
    const struct gsim_mig *mig; /* of the product; NULL: it cannot be cut */
    const char *first[GSIM_DRIVE_GPUS]; /* the layout that each GPU has first; NULL: none */
    struct gsim_arena *arena;
    struct gsim_nvml nvml;
    struct gsim_nvml_mig calls;
    struct gsim_cut_gpu cut[GSIM_DRIVE_GPUS];
    struct gsim_made_list *made; /* by GPU of the cluster; NULL: nothing was made */
};

/* In the rehearsal: the policy cuts the GPU so ("": it makes it whole). */
void gsim_cutting_hear(struct gsim_cutting *cutting, uint32_t gpu, const char *layout);
/* Before the run: refuses GPUs that are not in MIG mode, or have instances already. */
enum gsim_status gsim_cutting_check(struct gsim_cutting *cutting, struct gsim_log *log);
/* Before a run that does not cut GPUs: refuses those in MIG mode. */
enum gsim_status gsim_cutting_check_whole(struct gsim_cutting *cutting, struct gsim_log *log);
/* Takes the memory that the guard is to share: before the guard is there. */
enum gsim_status gsim_cutting_prepare(struct gsim_cutting *cutting, struct gsim_log *log);
/* Opens the library, and cuts each GPU as it is to be first: before the first job. */
enum gsim_status gsim_cutting_open(struct gsim_cutting *cutting, struct gsim_log *log);
/* Cuts an idle GPU, of which the instances so far are destroyed. */
enum gsim_status gsim_cutting_cut(struct gsim_cutting *cutting, uint32_t gpu, const char *layout,
                                  struct gsim_log *log);
/* The UUID that CUDA_VISIBLE_DEVICES takes for a unit, and for a whole GPU, of which one instance
 * is made if there is none. NULL: it failed. */
const char *gsim_cutting_visible(struct gsim_cutting *cutting, struct gsim_unit unit,
                                 struct gsim_log *log);
/* Destroys what the run has made, and closes the library. */
void gsim_cutting_close(struct gsim_cutting *cutting);
/* Does so in the guard, with a library of its own. */
void gsim_cutting_clean(const struct gsim_cutting *cutting);

#endif
