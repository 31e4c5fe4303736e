/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Philly's cluster_job_log, as Microsoft published it: JSON. */
#ifndef GSIM_TRACES_PHILLY_LOG_H
#define GSIM_TRACES_PHILLY_LOG_H

#include "traces/input.h"

enum gsim_status gsim_philly_log_read(struct gsim_input *input,
                                      const struct gsim_trace_options *options,
                                      struct gsim_arena *arena, struct gsim_trace *out,
                                      struct gsim_log *log);

#endif
