/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a run: SHA-256 over everything that can change its result, in two halves. `config` is
 * what was asked for: options, resolved parameters, and the contents of every file that any of them
 * names. `build` is the program: the sources that can change results of the policy, and the data
 * built into the program that the run uses. */
#ifndef GSIM_APP_CONFIG_H
#define GSIM_APP_CONFIG_H

#include "sim/app/identity/contents.h"
#include "sim/app/setup/setup.h"

/* Raised when the meaning of a parameter or an input changes: old runs are then other runs. What
 * the program does with it is covered by `build`. */
#define GSIM_SEMANTICS_VERSION 2

/* A list that many runs share is named by so many digits of its sum. */
enum { GSIM_LIST_DIGITS = 16 };

/* Part of the program: a room, a file of the policy, or a file that is built in. */
struct gsim_part {
    const char *name, *sha256;
};

struct gsim_named_file {
    const char *kind; /* "trace", "cluster", "set.tiresias.history", ... */
    const struct gsim_content *content;
    bool is_built_in;
};

/* A value that a run uses, given or not. */
struct gsim_resolved {
    const char *owner, *key, *value; /* "las", "quantum", "3600s" */
    const char *tag; /* given, default; of a device also measured, published, fitted, assumed */
};

struct gsim_resolved_list {
    const struct gsim_resolved *value;
    int n;
    char name[GSIM_LIST_DIGITS + 1];
};

struct gsim_identity {
    char config[65], build[65];
    const struct gsim_part *part;
    int n_parts;
    const struct gsim_named_file *input;
    int n_inputs;
    char inputs[GSIM_LIST_DIGITS + 1]; /* name of the list */
    struct gsim_resolved_list parameters, devices;
    char trace_jobs[GSIM_LIST_DIGITS + 1]; /* of what the trace says of its jobs, work aside */
};

/* Files are read through cli->contents, which must be there (gsim_identity_open). Of a spec, the trace
 * need not be drawn. */
enum gsim_status gsim_identify(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                               uint64_t replication, struct gsim_identity *out);
/* Its first half, config, build and inputs: what it takes to look a run up. */
enum gsim_status gsim_identify_asked(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     int contender, uint64_t replication,
                                     struct gsim_identity *out);
/* The rest of it; the first half is as it was found before. */
enum gsim_status gsim_identify_lists(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     int contender, uint64_t replication,
                                     struct gsim_identity *out);
/* Makes cli->contents as --keep-inputs says; gsim_cli frees it. */
enum gsim_status gsim_identity_open(struct gsim_cli *cli);
/* The identity of a list of runs. */
void gsim_config_combine(const char *const *configs, int64_t n, char hash[65]);

/* --- its parts (inputs.c, resolved.c) ----------------------------------------------------------- */

/* Every file that the run reads, in a fixed order. */
enum gsim_status gsim_list_inputs(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  int contender, struct gsim_identity *out);
enum gsim_status gsim_list_resolved(struct gsim_cli *cli, const struct gsim_setup *setup,
                                    int contender, struct gsim_identity *out);

#endif
