/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a timeline shows, and where it goes. */
#ifndef GSIM_STUDY_TIMELINE_OPTIONS_H
#define GSIM_STUDY_TIMELINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct gsim_timeline_options {
    const char *path; /* compressed if it ends in .gz */
    int64_t from_ns, to_ns; /* the window */
    int64_t most; /* limit of events, GSIM_TIMELINE_MOST */
    bool has_kernels; /* the kernels of programs, each with its stream and its SMs */
};

#endif
