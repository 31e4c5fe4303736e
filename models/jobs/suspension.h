/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of stopping, keeping and resuming a whole job on a device. The function is free of
 * state, and serves quotes and charges alike. */
#ifndef GSIM_MODELS_JOBS_SUSPENSION_H
#define GSIM_MODELS_JOBS_SUSPENSION_H

#include "models/hardware/profile.h"
#include "gsim/job.h"

struct gsim_suspension_cost {
    /* from when the job is off the SMs until its units are clear, copies not included */
    int64_t save_ns;
    int64_t resume_ns; /* to bring it back, copies not included */
    int64_t bytes_out, bytes_in; /* of each GPU */
    /* of each GPU: bytes that lie on its host, and cross when the job resumes elsewhere */
    int64_t kept_bytes;
    int64_t stored_bytes; /* part of kept_bytes on the host's storage */
    bool is_out_late; /* both copies are made when the job is brought back */
};

/* mem_bytes: of each GPU, < 0 where the trace does not give it. The time of the copies is that of
 * models/links/transfers.h. is_moved: a paused job that resumes elsewhere has its memory carried
 * over. */
struct gsim_suspension_cost gsim_suspension_cost(const struct gsim_profile *profile,
                                                 enum gsim_stop stop, enum gsim_keep keep,
                                                 int64_t mem_bytes, bool is_moved);
/* The keys from which such a stop is computed; ends with GSIM_KEY_COUNT. */
const enum gsim_key *gsim_suspension_keys(enum gsim_stop stop, enum gsim_keep keep);

#endif
