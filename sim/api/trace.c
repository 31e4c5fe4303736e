/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts about a job's model that follow from its name in the trace. */
#include "gsim/trace.h"

#include "sim/base/text.h"

int gsim_trace_skew(const struct gsim_trace *trace, uint32_t job) {
    int64_t model = gsim_trace_get(trace, GSIM_COL_MODEL, job);
    if (model < 0)
        return -1;
    const char *name = trace->names[GSIM_COL_MODEL].name[model];
    return gsim_text_begins(name, "vgg") || gsim_text_begins(name, "alexnet");
}
