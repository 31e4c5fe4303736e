/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launches of kernels with a known begin and end (traces/kernels.h), and the part of the time that
 * each is charged where several ran at a time. */
#ifndef GSIM_TRACES_OVERLAP_H
#define GSIM_TRACES_OVERLAP_H

#include "traces/kernels.h"

/* Adds a launch that began at begin_ns. gsim_overlap_charge charges each of several launches that
 * ran at a time its part, so that all together take as long as the GPU was busy. */
enum gsim_status gsim_overlap_add(struct gsim_kernels *kernels, const char *name, size_t length,
                                  int64_t begin_ns, int64_t duration_ns, int64_t line);
enum gsim_status gsim_overlap_charge(struct gsim_kernels *kernels, struct gsim_log *log);

#endif
