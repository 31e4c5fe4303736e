/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of a spec's section, shared by the files that read specs. Every function names the file, the
 * line and the key in the error that it records. */
#ifndef GSIM_TRACES_SPEC_KEYS_H
#define GSIM_TRACES_SPEC_KEYS_H

#include "traces/spec.h"

struct gsim_spec_reader {
    const struct gsim_ini *ini;
    struct gsim_spec *spec;
    struct gsim_arena *arena;
    struct gsim_log *log;
};

/* Records that the entry's value is not accepted. */
enum gsim_status gsim_spec_fail(const struct gsim_spec_reader *r,
                                const struct gsim_ini_entry *entry, const char *accepted);
/* NULL when the section does not have the key. */
const struct gsim_ini_entry *gsim_spec_find(const struct gsim_spec_reader *r, const char *section,
                                            const char *key);
/* These leave *out unchanged when the key is absent. */
enum gsim_status gsim_spec_number(const struct gsim_spec_reader *r, const char *section,
                                  const char *key, double least, double *out);
enum gsim_status gsim_spec_whole(const struct gsim_spec_reader *r, const char *section,
                                 const char *key, int64_t least, int64_t most, int64_t *out);
/* "a, b, c" as texts. */
enum gsim_status gsim_spec_split(const struct gsim_spec_reader *r,
                                 const struct gsim_ini_entry *entry, const char ***out,
                                 uint32_t *n);
/* The key's n weights (equal if the key is absent) as cumulative shares, the last of which is 1. */
enum gsim_status gsim_spec_weights(const struct gsim_spec_reader *r, const char *section,
                                   const char *key, uint32_t n, const double **out);
/* The section's distribution, into quantity->dist and ->text. */
enum gsim_status gsim_spec_distribution(const struct gsim_spec_reader *r, const char *section,
                                        int64_t line, struct gsim_quantity *q);

/* How arrivals change over a week, and closed loops: the keys of [arrival] besides its
 * distribution. To be called when all sections are read. */
enum gsim_status gsim_spec_arrivals(const struct gsim_spec_reader *r);

#endif
