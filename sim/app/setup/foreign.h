/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies from outside of the program: a shared object, ./mine.so, or another program,
 * 'exec:python3 sched.py'. A shared object is loaded once per command, so that all runs of a sweep
 * have one version of it, whatever happens to its file meanwhile. */
#ifndef GSIM_APP_FOREIGN_H
#define GSIM_APP_FOREIGN_H

#include "gsim/policy.h"
#include "sim/app/identity/contents.h"

struct gsim_foreign;

/* NULL: no memory. */
struct gsim_foreign *gsim_foreign_new(void);
void gsim_foreign_free(struct gsim_foreign *foreign);
/* Adds a policy of the program that calls this one. file: the source that stands for its code in
 * identities; NULL, or a file that cannot be read: its runs have no identity. */
enum gsim_status gsim_foreign_put(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                                  const char *file, struct gsim_log *log);
/* Whether this names a policy from outside: it begins with "exec:", has a '/', or ends in ".so". */
bool gsim_foreign_is(const char *text);
/* The policy of that text, built in or from outside; NULL: the log says why. */
const struct gsim_policy *gsim_foreign_find(struct gsim_foreign *foreign, const char *text,
                                            struct gsim_log *log);

/* The nth policy that is known, those that are built in first; NULL: there are fewer. */
const struct gsim_policy *gsim_foreign_known(struct gsim_foreign *foreign, int nth);
/* The files of a policy from outside as they were when it was loaded: the shared object, or the
 * words of the command that are files. Returns their number, 0 for a policy that is built in, -1
 * for one that no file stands for. */
int gsim_foreign_files(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                       const struct gsim_file_content **files);

#endif
