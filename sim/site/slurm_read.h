/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of a site's file, for the files of this folder: what its parts share. */
#ifndef GSIM_SITE_SLURM_READ_H
#define GSIM_SITE_SLURM_READ_H

#include <stddef.h>
#include <strings.h>

#include "sim/site/slurm.h"

/* NodeSet=NAME: nodes of a list, and those with a feature. */
struct gsim_slurm_node_set {
    const char *name, *nodes, *feature;
};

struct gsim_slurm_reading {
    struct gsim_slurm *out;
    struct gsim_arena *arena;
    struct gsim_log *log;
    int64_t line;
    enum gsim_status status;
    /* of the record or table that the lines belong to */
    const char *record; /* "PartitionName", ...; NULL: none is open */
    char **column; /* names of the table's columns; NULL: no table is open */
    uint32_t n_columns;
    bool is_qos; /* the table is of QOS, else of associations */
    struct gsim_slurm_partition partition_default; /* PartitionName=DEFAULT */
    struct gsim_slurm_node node_default;
    bool is_default; /* the open record is one of these two */
    bool is_requeued; /* JobRequeue is not 0 */
    const char *cluster; /* ClusterName; NULL: the file does not say */
    struct gsim_slurm_node_set *set;
    uint32_t n_sets;
};

/* Whether a word is another one, in whatever letters: Slurm reads both as one. */
static inline bool gsim_slurm_is(const char *a, const char *b) {
    return strcasecmp(a, b) == 0;
}

/* Grows a list by one zeroed entry; NULL: no memory, which the status says. */
void *gsim_slurm_add(struct gsim_slurm_reading *r, void **list, uint32_t *n, size_t size);
const char *gsim_slurm_keep(struct gsim_slurm_reading *r, const char *text, size_t length);
/* what: "KEY=VALUE", cut where it is long. A note that is there already is not repeated. */
void gsim_slurm_note(struct gsim_slurm_reading *r, const char *key, const char *value,
                     const char *assumed);
/* Notes what a PreemptMode says that is not modelled. */
void gsim_slurm_note_modes(struct gsim_slurm_reading *r, const char *value);
void gsim_slurm_refuse(struct gsim_slurm_reading *r, const char *key, const char *value,
                       const char *form);

/* A key of slurm.conf; records and tables are elsewhere. */
void gsim_slurm_take_key(struct gsim_slurm_reading *r, const char *key, const char *value);
/* Begins or goes on with a record (nodes, a partition, a reservation): its keys. */
void gsim_slurm_take_record(struct gsim_slurm_reading *r, const char *text, bool begins);
/* Settles the nodes that there are, and their CPUs and memory, of what their records said. */
void gsim_slurm_measure_nodes(struct gsim_slurm_reading *r);
/* record_sets.c: a record of a set of nodes, and its keys. */
void gsim_slurm_begin_set(struct gsim_slurm_reading *r, const char *name);
void gsim_slurm_take_set_key(struct gsim_slurm_reading *r, const char *key, const char *value,
                             struct gsim_slurm_node_set *set);
/* Puts nodes in the place of the sets that partitions name. */
void gsim_slurm_settle_sets(struct gsim_slurm_reading *r);
/* Leaves out associations of other clusters, of which sacctmgr prints all. */
void gsim_slurm_settle_assocs(struct gsim_slurm_reading *r);
/* The first line of a table, false: it is none; and a row. */
bool gsim_slurm_open_table(struct gsim_slurm_reading *r, char *line);
void gsim_slurm_take_row(struct gsim_slurm_reading *r, char *line);

/* minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]], as Slurm's times
 * are; UNLIMITED and INFINITE give -1. */
bool gsim_slurm_time(const char *text, int64_t *ns);
/* The count of gres/gpu in "cpu=4,gres/gpu=8"; *others: whether the list has more than that. */
bool gsim_slurm_gpus(const char *text, int64_t *gpus, bool *others);
/* Which of the things that gsim counts the name is; GSIM_SLURM_TRES: none. */
int gsim_slurm_tres_called(struct gsim_slurm_reading *r, const char *name, size_t length);
/* The amounts of "cpu=64,mem=1T,gres/gpu:a100=8", where they are named. What gsim does not count is
 * noted. false: the text is no such list. */
bool gsim_slurm_take_tres(struct gsim_slurm_reading *r, const char *column, const char *text,
                          int64_t out[GSIM_SLURM_TRES]);

#endif
