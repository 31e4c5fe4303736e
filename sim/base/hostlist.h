/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's lists of nodes: gpu[01-03,7],login1 is gpu01, gpu02, gpu03, gpu7 and login1, and
 * r[1-2]n[1-3] the three nodes of each of two racks. */
#ifndef GSIM_BASE_HOSTLIST_H
#define GSIM_BASE_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

/* Calls `each` for every node. false: the text is no such list, names more than 100 000 nodes, or
 * `each` returned false. */
bool gsim_hostlist_each(const char *list, bool (*each)(void *arg, const char *node, size_t length),
                        void *arg);

#endif
