/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of YAML in which Kubernetes prints its objects (`kubectl get -o yaml`): documents,
 * mappings and sequences by indentation, plain and quoted scalars (which may go on for lines),
 * literal blocks, flow collections on one line, comments. Anchors, aliases, tags, complex keys and
 * tabs as indentation are refused, each with its line and column. Source: YAML 1.2.2. */
#ifndef GSIM_SITE_YAML_H
#define GSIM_SITE_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

enum gsim_yaml_kind { GSIM_YAML_SCALAR, GSIM_YAML_MAPPING, GSIM_YAML_SEQUENCE };

struct gsim_yaml {
    enum gsim_yaml_kind kind;
    const char *key; /* of an entry of a mapping; NULL: an item, or a document */
    const char *text; /* of a scalar; "": null, or a collection */
    int64_t line;
    int column;
    struct gsim_yaml *first, *next; /* entries, in the order of the file */
};

/* *documents: the first document; NULL: the file has none. */
enum gsim_status gsim_yaml_read(const char *path, struct gsim_arena *arena,
                                struct gsim_yaml **documents, struct gsim_log *log);
/* The entry of a mapping; NULL: it has none, or is no mapping. */
const struct gsim_yaml *gsim_yaml_get(const struct gsim_yaml *mapping, const char *key);
/* The text of a scalar entry, else "". */
const char *gsim_yaml_text(const struct gsim_yaml *mapping, const char *key);

#endif
