/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a run: SHA-256 over everything that can change its result. */
#ifndef GSIM_APP_CONFIG_H
#define GSIM_APP_CONFIG_H

#include "sim/app/setup.h"

/* Raised when the meaning of results changes: old runs are then other runs. */
#define GSIM_SEMANTICS_VERSION 1

enum { GSIM_DIGEST_BYTES = 32 };

/* SHA-256 of a file's bytes, so that many runs of one trace read it once. */
enum gsim_status gsim_config_digest(const char *path, uint8_t digest[GSIM_DIGEST_BYTES],
                                    struct gsim_log *log);
/* 64 hexadecimal digits and a NUL. */
void gsim_config_hex(const uint8_t digest[GSIM_DIGEST_BYTES], char text[65]);
/* The identity of a list of runs. */
void gsim_config_combine(const char *const *configs, int64_t n, char hash[65]);
/* Writes 64 hexadecimal digits and a NUL. */
enum gsim_status gsim_config_hash(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  int contender, uint64_t replication, char hash[65]);

#endif
