/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of hosts as a link: the rates that the GPUs of one NUMA domain reach together when
 * they copy in, out, and both ways at once. Only domains with GPUs that could ask for more than
 * that play a part; a GPU that is alone in its domain never does. */
#ifndef GSIM_MODELS_LINKS_HOST_MEMORY_H
#define GSIM_MODELS_LINKS_HOST_MEMORY_H

#include "models/links/link.h"
#include "sim/api/model.h"

struct gsim_host_memory {
    struct gsim_link_hosts hosts; /* the hosts, in the form that links take */
    bool is_bottleneck; /* some domain can be a bottleneck */
    const bool *is_given; /* by domain: the cluster gives the domain's rates */
};

/* Returns false if there is no memory left. */
bool gsim_host_memory_init(struct gsim_host_memory *domains, const struct gsim_model_setup *setup);

#endif
