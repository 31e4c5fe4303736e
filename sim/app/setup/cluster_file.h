/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters of different nodes. */
#ifndef GSIM_APP_CLUSTER_FILE_H
#define GSIM_APP_CLUSTER_FILE_H

#include "gsim/run.h"
#include "sim/app/cli/options.h"

/* Reads a cluster file: [node NAME] sections with count, gpus, device, cpus and
 * links. A section without a device gets the default device. */
enum gsim_status gsim_cluster_file_read(struct gsim_cli *cli, const char *path,
                                        const char *default_device, struct gsim_cluster_spec *out);

/* Shards of a GPU by the file of --slurm-conf; 0: it says of none, or is not given. */
enum gsim_status gsim_cluster_shards(struct gsim_cli *cli, uint32_t *shards);
/* Reads the nodes of a site's slurm.conf, or n_nodes like them (0: those of the file); *has_nodes
 * false: it names none with GPUs. */
enum gsim_status gsim_cluster_slurm_read(struct gsim_cli *cli, const char *path,
                                         const char *default_device, int64_t n_nodes,
                                         struct gsim_cluster_spec *out, bool *has_nodes);

/* What stands for the types of GPU of a site's file (slurm.conf), where they are no names of the
 * device; NULL: they are, or there are none. */
const char *gsim_cluster_say_types(const struct gsim_cli *cli,
                                   const struct gsim_cluster_spec *cluster);

#endif
