/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of hosts as a link: what the GPUs of one NUMA domain reach together when they copy in, out,
 * and both ways at once. Only domains whose GPUs could ask for more than that play a part; a GPU that is
 * alone in its domain never does. */
#ifndef GSIM_MODELS_LINKS_HOST_MEMORY_H
#define GSIM_MODELS_LINKS_HOST_MEMORY_H

#include "models/links/link.h"
#include "sim/api/model.h"

struct gsim_host_memory {
    struct gsim_link_hosts hosts; /* as the links take it */
    bool is_bottleneck; /* some domain can be one */
    const bool *is_given; /* by domain: the cluster said its rates */
};

/* false: no memory. */
bool gsim_host_memory_init(struct gsim_host_memory *domains, const struct gsim_model_setup *setup);

#endif
