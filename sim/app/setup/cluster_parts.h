/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of a cluster file that give nodes a policy of their own. */
#ifndef GSIM_APP_CLUSTER_PARTS_H
#define GSIM_APP_CLUSTER_PARTS_H

#include "gsim/cluster.h"
#include "sim/app/cli/options.h"
#include "sim/base/ini.h"

/* Whether a section is of that kind: "node NAME" or "node" of kind node. */
bool gsim_cluster_section_is(const char *section, const char *kind);
/* Whether the line is about a policy: a key policy, classes or NAME.KEY of a node, or anything in
 * a section [partition NAME]. */
bool gsim_cluster_parts_has(const struct gsim_ini_entry *entry);
/* Reads these lines, and gives the groups their parts; section: by group. Groups of one part are
 * brought together. */
enum gsim_status gsim_cluster_parts_read(struct gsim_cli *cli, const struct gsim_ini *ini,
                                         const char *const *section, struct gsim_node_group *groups,
                                         uint32_t n_groups);
/* " (notebooks: mig, debug: mps)"; "" where no node has a policy of its own. */
const char *gsim_cluster_parts_note(const struct gsim_cluster_spec *cluster,
                                    struct gsim_arena *arena);
/* The part of this group of nodes, at the first of its groups alone; NULL: it has none, or was
 * met before. */
const struct gsim_part *gsim_cluster_part(const struct gsim_cluster_spec *cluster, uint32_t group);

#endif
