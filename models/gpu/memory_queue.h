/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long loads wait for memory beside the loads of other kernels. The time that a load takes
 * follows from the load of the memory alone, whatever kernels make it (measured: experiments/
 * contention). The measured bandwidth of a number of SMs says how: each has as many bytes on their
 * way, so by Little's law the time of a load is the bytes on their way over the bandwidth. Loads
 * wait longer for stores than for loads: there is such a curve of copies and one of loads alone,
 * and of what kernels move together a part is as of the one and the rest as of the other. Kernels
 * beside each other meet the time that belongs to all their bytes, and the part of their time in
 * which they wait for memory grows with it. Integers only. */
#ifndef GSIM_MODELS_GPU_MEMORY_QUEUE_H
#define GSIM_MODELS_GPU_MEMORY_QUEUE_H

#include "models/gpu/bandwidth.h"

enum { GSIM_LOADERS_MAX = 512 }; /* at one time: contexts of a GPU, padding beside each */

/* A kernel that loads from memory. */
struct gsim_loader {
    int64_t draws_bytes_per_s; /* on its SMs here, where no other kernel loads; above 0 */
    /* The load of memory at which it draws that: more than it draws itself where other kernels
     * take turns with it on its SMs. */
    int64_t at_bytes_per_s;
    int64_t alone_bytes_per_s; /* drawn where no other kernel is */
    /* The part of what it draws that loads alone move; the rest is half stored, as by copies. */
    uint32_t loads_ppm;
    int64_t most_under_way; /* bytes on their way while it waits, in those of an SM; above 0 */

    uint64_t longer_q32; /* the answer: how many times as long it takes; at least one */
    /* How many times as long as from idle memory a load takes beside it alone; 0: not found yet. */
    uint64_t load_q32;
};

/* The bytes that are on their way where memory is loaded so by copies, in those of an SM (in
 * millionths). */
int64_t gsim_memory_queue_under_way(const struct gsim_space *space, int64_t bytes_per_s);
/* A kernel that has fewer SMs than alone. Its SMs and its bytes on their way are in millionths of
 * an SM, all above 0. */
struct gsim_fewer_sms {
    int64_t had, has; /* alone and here */
    int64_t draws_bytes_per_s, most_under_way; /* alone; bytes on their way while it waits */
};
/* How many times as long the kernel takes, which waits for loads for a part of its time: each SM
 * has as many bytes on their way as it had, and loads come sooner: memory has less to do. */
uint64_t gsim_memory_queue_on_fewer(const struct gsim_space *space, struct gsim_fewer_sms kernel);
void gsim_memory_queue_solve(const struct gsim_space *space, struct gsim_loader *loaders,
                             uint32_t n);
/* load_q32 of a loader; at least one. */
uint64_t gsim_memory_queue_load(const struct gsim_space *space, struct gsim_loader *loader);

#endif
