/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of Prometheus to a query, as rows of three fields: job or node, timestamp, value. */
#ifndef GSIM_TRACES_PROMETHEUS_H
#define GSIM_TRACES_PROMETHEUS_H

#include "traces/csv.h"

/* Whether the file begins as JSON does. */
enum gsim_status gsim_prometheus_is(struct gsim_input *input, bool *is, struct gsim_log *log);
/* The header is job_id or hostname (as the labels of the first series say), timestamp, and the
 * metric's name. */
enum gsim_status gsim_prometheus_read(struct gsim_input *input, const struct gsim_csv_user *user,
                                      struct gsim_arena *arena, struct gsim_log *log);

#endif
