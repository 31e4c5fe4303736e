/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles by name or path, and the jobs of a trace that name one. */
#ifndef GSIM_APP_APPS_H
#define GSIM_APP_APPS_H

#include "models/gpu/roofline.h"
#include "gsim/trace.h"
#include "gsim/run.h"

struct gsim_embedded;

/* The built-in profiles, sorted; returns how many. */
int gsim_apps_names(char (*out)[48], int most);
/* A listed profile, or a file when the name contains '/' or ends in ".csv". An unknown name is bad
 * input at that place, with a suggestion. */
enum gsim_status gsim_apps_load(const char *name_or_path, const char *file, int64_t line,
                                struct gsim_arena *arena, struct gsim_app *out,
                                struct gsim_log *log);
bool gsim_apps_is_path(const char *name);
/* The bytes of a listed one; NULL: there is none. */
const struct gsim_embedded *gsim_apps_embedded(const char *name);
/* Fills what rows leave empty from the profiles that they name, as it comes to on the cluster's
 * first device: GPU time, kernels, host time, memory and so on, and from that the service time; and
 * how much faster or slower the other devices are (app_rate_q32). The trace itself stays as it is; *out is the one to run, which may be the same. */
enum gsim_status gsim_apps_resolve(const struct gsim_trace *trace,
                                   const struct gsim_cluster_spec *cluster,
                                   struct gsim_arena *arena, const struct gsim_trace **out,
                                   struct gsim_log *log);

#endif
