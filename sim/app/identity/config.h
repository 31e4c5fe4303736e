/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a run: SHA-256 over everything that can change its result, in two halves.
 * `config` is the request: options, resolved parameters, and the contents of every file that they
 * name. `build` is the program: the sources that can change results of the policy, and the built-in
 * data that the run uses. */
#ifndef GSIM_APP_CONFIG_H
#define GSIM_APP_CONFIG_H

#include "sim/app/identity/contents.h"
#include "sim/app/setup/setup.h"

/* To be raised when the meaning of a parameter or an input changes, so that old runs get another
 * identity. Changes of the program are covered by `build`. */
#define GSIM_SEMANTICS_VERSION 2

/* The number of digits of a list's sum that name the list, which many runs share. */
enum { GSIM_LIST_DIGITS = 16 };

/* A part of the program: a folder of sources, a file of the policy, or a built-in file. */
struct gsim_config_part {
    const char *name, *sha256;
};

struct gsim_named_file {
    const char *kind; /* "trace", "cluster", "set.tiresias.history", ... */
    const struct gsim_file_content *content;
    bool is_built_in;
};

/* A value that a run uses, given or default. */
struct gsim_resolved {
    const char *owner, *key, *value; /* "las", "quantum", "3600s" */
    /* "given" or "default"; for a device also "measured", "published", "fitted", "assumed" */
    const char *tag;
};

struct gsim_resolved_list {
    const struct gsim_resolved *value;
    int n;
    char name[GSIM_LIST_DIGITS + 1];
};

struct gsim_identity {
    char config[65], build[65];
    const struct gsim_config_part *part;
    int n_parts;
    const struct gsim_named_file *input;
    int n_inputs;
    char inputs[GSIM_LIST_DIGITS + 1]; /* name of the list */
    struct gsim_resolved_list parameters, devices;
    /* name of the trace's rows about jobs, without their work */
    char trace_jobs[GSIM_LIST_DIGITS + 1];
};

/* Computes the identity of a run. Files are read through cli->contents, which gsim_identity_open
 * makes. The trace of a spec need not be drawn. */
enum gsim_status gsim_identify(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                               uint64_t replication, struct gsim_identity *out);
/* Computes the first half, config, build and inputs, which is enough to look a run up. */
enum gsim_status gsim_identify_asked(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     int contender, uint64_t replication,
                                     struct gsim_identity *out);
/* Computes the lists; the first half in `out` stays as it was. */
enum gsim_status gsim_identify_lists(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     int contender, uint64_t replication,
                                     struct gsim_identity *out);
/* Makes cli->contents with the limit of --keep-inputs; gsim_cli frees it. */
enum gsim_status gsim_identity_open(struct gsim_cli *cli);
/* Computes the identity of a list of runs. */
void gsim_config_combine(const char *const *configs, int64_t n, char hash[65]);

/* --- its parts (inputs.c, resolved.c) --------------------------------------------------------- */

/* Lists every file that the run reads, in a fixed order. */
enum gsim_status gsim_list_inputs(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  int contender, struct gsim_identity *out);
enum gsim_status gsim_list_resolved(struct gsim_cli *cli, const struct gsim_setup *setup,
                                    int contender, struct gsim_identity *out);

#endif
