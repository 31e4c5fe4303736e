/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the host over a coherent link (NVLink-C2C of GH200). The driver maps memory that goes
 * out where it lies, so that a kernel reads it over the link in place of faulting, and the GPU
 * counts the accesses to each chunk. After 256 of them the driver moves the chunk in
 * (open-gpu-kernel-modules: uvm_perf_map_remote_on_eviction and
 * UVM_PERF_ACCESS_COUNTER_THRESHOLD_DEFAULT, a counter for 2 MiB). A chunk that is swept has at
 * least an access for each of its 512 pages, so its first sweep reads it where it lies and moves it
 * in behind the reads.
 *
 * Reads and what moves in share the inward way of the link, what goes out has the other way; both
 * together have the rate of copies both ways. The sweep waits for its reads, and for the copies as
 * far as they take the link from it: what the kernel computes meanwhile hides none of that. */
#ifndef GSIM_MODELS_MEMORY_REMOTE_H
#define GSIM_MODELS_MEMORY_REMOTE_H

#include "models/links/copy.h"
#include "models/memory/uvm.h"

struct gsim_remote {
    bool is_on; /* the link is coherent */
    /* chunks that move in push others out; else they move as far as there is room, and memory that
     * is touched first when there is none is made on the host */
    bool evicts;
    int64_t bytes_per_s; /* kernels that read the host's memory */
};

/* What a sweep has sent over the link. */
struct gsim_remote_bytes {
    int64_t read, in, out;
};

struct gsim_remote gsim_remote_of(const struct gsim_profile *profile);
/* Sweeps a range: chunks on the host are read and move in, and what was never touched comes as
 * faults, by uvm. Adds to both sums. Returns false if out of memory. */
bool gsim_remote_access(const struct gsim_remote *remote, struct gsim_uvm *uvm,
                        struct gsim_residency *residency, struct gsim_range range,
                        struct gsim_touches how, struct gsim_paging *faulted,
                        struct gsim_remote_bytes *sum);
int64_t gsim_remote_ns(const struct gsim_remote *remote, const struct gsim_copy_rates *rates,
                       const struct gsim_remote_bytes *bytes);

#endif
