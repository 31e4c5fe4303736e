/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Demand paging as in the driver. Touches of missing pages fault; the driver serves up to 256
 * faults a batch, one batch after the other:
 *
 * batch = fixed + chunks it has faults in x block + faults x each + bytes in and out / copy rate
 *
 * A fault brings a big page (64 KiB), and where more than 51 % of a sub-region of its chunk is
 * resident or faulting, all of that sub-region. A chunk's first fault takes room for the whole
 * chunk, for which the chunk that came first of all goes out, clean or dirty alike, before anything
 * comes in.
 *
 * The fixed part is the time of a lone fault without the other terms. Batches are linear in these
 * terms, so a sweep's time is one sum, rounded once. */
#ifndef GSIM_MODELS_MEMORY_UVM_H
#define GSIM_MODELS_MEMORY_UVM_H

#include "models/hardware/profile.h"
#include "models/memory/residency.h"

enum { GSIM_UVM_KNOWN = 64 };

/* The result of touching n_chunks missing chunks, which does not depend on when it is done. */
struct gsim_uvm_known {
    uint32_t n_chunks; /* 0: no result is known */
    bool is_scattered;
    int64_t page_bytes;
    int64_t batches, blocks, faults, bytes_in;
};

struct gsim_uvm {
    struct gsim_arena *arena;
    int64_t chunk_bytes, leaf_bytes, page_bytes;
    int64_t density_ppm, batch_faults;
    int64_t batch_ns, block_ns, fault_ns, copy_bytes_per_s;
    bool copies_clean;
    uint64_t *present, *faulting; /* scratch, by chunk: a bit for each leaf */
    uint32_t capacity;
    struct gsim_uvm_known known[GSIM_UVM_KNOWN]; /* the latest results, by n_chunks */
};

/* How a range is touched: one byte every page_bytes, in ascending order or all at once in no
 * order. */
struct gsim_touches {
    int64_t page_bytes; /* 0: the driver's page */
    bool is_scattered;
    bool is_write;
};

/* The counts of a paging. */
struct gsim_paging {
    int64_t batches, blocks, faults;
    int64_t bytes_in, bytes_out;
    struct gsim_moved moved; /* chunks */
};

void gsim_uvm_init(struct gsim_uvm *uvm, const struct gsim_profile *profile,
                   struct gsim_arena *arena);
int64_t gsim_uvm_ns(const struct gsim_uvm *uvm, const struct gsim_paging *paging);
/* Touches n_chunks missing neighbours: batches, blocks, faults, and bytes_in as if all came from
 * the host. Nothing is evicted. Adds to *out. Returns false if out of memory. */
bool gsim_uvm_run(struct gsim_uvm *uvm, uint32_t n_chunks, struct gsim_touches how,
                  struct gsim_paging *out);
/* As gsim_uvm_run, batch by batch from one end to the other: gsim_uvm_run is a shortcut for
 * this. */
bool gsim_uvm_run_plainly(struct gsim_uvm *uvm, uint32_t n_chunks, struct gsim_touches how,
                          struct gsim_paging *out);
/* Touches a range, evicting where there is no room. Batches do not reach over resident chunks: a
 * sweep that stalls on a missing page goes on through resident pages only when the fault is served.
 * Returns false if out of memory. */
bool gsim_uvm_access(struct gsim_uvm *uvm, struct gsim_residency *residency,
                     struct gsim_range range, struct gsim_touches how, struct gsim_paging *out);

#endif
