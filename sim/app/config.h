/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a run: SHA-256 over everything that can change its result. */
#ifndef GSIM_APP_CONFIG_H
#define GSIM_APP_CONFIG_H

#include "sim/app/setup.h"

/* Raised when the meaning of results changes: old runs are then other runs. */
#define GSIM_SEMANTICS_VERSION 1

/* Writes 64 hexadecimal digits and a NUL. */
enum gsim_status gsim_config_hash(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  int contender, uint64_t replication, char hash[65]);

#endif
