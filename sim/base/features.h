/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a job may have by their features: "a100&(ib|roce)", as sbatch's --constraint has it.
 * Operators are taken from left to right, parentheses group. Brackets are for a job as a whole: of
 * "[rack1|rack2]" all of its nodes have one feature together, "[rack1*2&rack2*4]" counts nodes, of
 * which each has one of the features here; a count itself does not bind. Source: sbatch(1) of Slurm
 * 23.11, --constraint. */
#ifndef GSIM_BASE_FEATURES_H
#define GSIM_BASE_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct gsim_constraint {
    uint32_t n_choices; /* features in brackets of which a job's nodes have one; 0: no brackets */
    bool has_counts; /* a feature has a number of nodes, as rack1*2 */
};

/* false: the text is no constraint. */
bool gsim_constraint_read(const char *text, struct gsim_constraint *out);
#define GSIM_ANY_CHOICE UINT32_MAX
/* Whether a node with these features ("a100,ib") meets the constraint, which is one; choice: the
 * feature in brackets that counts, or GSIM_ANY_CHOICE. */
bool gsim_constraint_meets(const char *text, const char *features, uint32_t choice);

#endif
