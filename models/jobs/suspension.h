/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stopping, keeping and resuming a whole job costs on a device. Free of state: quotes and
 * charges are the same function. */
#ifndef GSIM_MODELS_JOBS_SUSPENSION_H
#define GSIM_MODELS_JOBS_SUSPENSION_H

#include "models/hardware/profile.h"
#include "gsim/job.h"

struct gsim_suspend_cost {
    int64_t save_ns; /* off the SMs until the units are clear, copies not included */
    int64_t resume_ns; /* to bring it back, copies not included */
    int64_t bytes_out, bytes_in; /* of each GPU */
    int64_t
        kept_bytes; /* of each GPU: what lies on its host, and crosses when it resumes elsewhere */
    int64_t stored_bytes; /* of these, on the host's storage */
    bool is_out_late; /* both copies are made when it is brought back */
};

/* mem_bytes per GPU, < 0 where the trace does not say. The copies take what models/links/transfers.h says. is_moved: a paused job that resumes
 * elsewhere has its memory carried over. */
struct gsim_suspend_cost gsim_suspend_cost(const struct gsim_profile *profile, enum gsim_stop stop,
                                           enum gsim_keep keep, int64_t mem_bytes, bool is_moved);
/* The keys that such a stop is computed from; ends with GSIM_KEY_COUNT. */
const enum gsim_key *gsim_suspend_keys(enum gsim_stop stop, enum gsim_keep keep);

#endif
