/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result on its way from one process to another: one walk over its parts writes them in the one,
 * and reads them into an arena in the other. */
#ifndef GSIM_APP_PORT_H
#define GSIM_APP_PORT_H

#include <stdio.h>

#include "gsim/result.h"

struct gsim_port {
    FILE *file;
    struct gsim_arena *arena; /* where parts are read to; NULL: parts are written */
    bool has_failed; /* the file ended early, or there is no memory */
};

/* Passes bytes that lie where they are. */
void gsim_port_bytes(struct gsim_port *port, void *bytes, size_t size);
/* Passes the result, but for its trace, which both processes have. */
void gsim_port_result(struct gsim_port *port, struct gsim_result *result);

#endif
