/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles by name or path, and the jobs of a trace that name one. */
#ifndef GSIM_APP_APPS_H
#define GSIM_APP_APPS_H

#include "models/gpu/roofline.h"
#include "gsim/trace.h"
#include "gsim/run.h"

struct gsim_embedded;

/* Copies the names of the built-in profiles, sorted, and returns their number. */
int gsim_apps_names(char (*out)[48], int most);
/* Reads a listed profile, or a file if the name contains '/' or ends in ".csv". An unknown name is
 * bad input at that line of the trace, with a suggestion. */
enum gsim_status gsim_apps_load(const char *name_or_path, const char *file, int64_t line,
                                struct gsim_arena *arena, struct gsim_app *out,
                                struct gsim_log *log);
bool gsim_apps_is_path(const char *name);
/* The bytes of a listed profile; NULL: there is no such profile. */
const struct gsim_embedded *gsim_apps_embedded(const char *name);
/* Fills the cells that rows leave empty from the profiles that the rows name, with the values of
 * the cluster's first device: GPU time, kernels, host time, memory and so on, and from those the
 * service time; and sets the relative speed of the other devices (app_rate_q32). The trace itself
 * does not change; *out is the trace to run, which may be `trace` itself. */
enum gsim_status gsim_apps_resolve(const struct gsim_trace *trace,
                                   const struct gsim_cluster_spec *cluster,
                                   struct gsim_arena *arena, const struct gsim_trace **out,
                                   struct gsim_log *log);

#endif
