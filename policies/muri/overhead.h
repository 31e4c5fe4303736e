/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=muri: seconds in which a job that has begun makes no iteration. */
#ifndef GSIM_POLICIES_MURI_OVERHEAD_H
#define GSIM_POLICIES_MURI_OVERHEAD_H

#include <stdint.h>

/* model: NULL where the trace does not name it. */
double muri_overhead_s(const char *model, uint32_t gpus);

#endif
