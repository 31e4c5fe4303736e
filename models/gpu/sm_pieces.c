/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of which each block needs an SM for itself (models/gpu/sm_array.h), of clients of MPS
 * with caps, or with blocks that all do as much. Such a kernel may find part of its SMs idle: its
 * blocks begin in pieces, each takes as long as the kernel alone from its own begin on, and the
 * kernel ends with the last piece (measured: experiments/caps). */
#include <assert.h>

#include "models/gpu/sm_array.h"

enum { WORDS = GSIM_ARRAY_SMS_MAX / 64 };

/* SMs with a block of the kernel that is in no piece yet. */
static struct gsim_sm_set find_others(const struct gsim_sm_held *held) {
    struct gsim_sm_set out = {0};
    for (int64_t sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        if (held->blocks[sm] > 0)
            gsim_sm_set_add(&out, sm);
    for (uint32_t i = 0; i < held->begun.n; i++)
        for (int w = 0; w < WORDS; w++)
            out.word[w] &= ~held->begun.on[i].word[w];
    return out;
}

/* Two pieces that end one after the other are one, at their mean: those that are nearest to each
 * other. */
static void join_nearest(struct gsim_sm_pieces *pieces) {
    uint32_t first = 0, last = pieces->n - 1;
    for (uint32_t i = 1; i < last; i++)
        if (pieces->rest[i + 1] - pieces->rest[i] < pieces->rest[first + 1] - pieces->rest[first])
            first = i;
    gsim_work had = gsim_sm_set_count(&pieces->on[first]);
    gsim_work more = gsim_sm_set_count(&pieces->on[first + 1]);
    pieces->rest[first] =
        (pieces->rest[first] * had + pieces->rest[first + 1] * more) / (had + more);
    for (int w = 0; w < WORDS; w++)
        pieces->on[first].word[w] |= pieces->on[first + 1].word[w];
    for (uint32_t i = first + 1; i < last; i++) {
        pieces->on[i] = pieces->on[i + 1];
        pieces->rest[i] = pieces->rest[i + 1];
    }
    pieces->on[last] = (struct gsim_sm_set){0}; /* equal states are equal in each byte */
    pieces->rest[last] = 0;
    pieces->n = last;
}

void gsim_sm_pieces_add(struct gsim_sm_kernel *kernel) {
    struct gsim_sm_pieces *pieces = &kernel->held->begun;
    struct gsim_sm_set on = find_others(kernel->held);
    uint32_t n = (uint32_t)gsim_sm_set_count(&on);
    pieces->waiting -= n;
    kernel->held->pace = (uint16_t)kernel->held->n;
    if (n == 0)
        return;
    pieces->on[pieces->n] = on;
    pieces->rest[pieces->n++] = kernel->all;
    if (pieces->n > GSIM_SM_PIECES_MOST)
        join_nearest(pieces);
}

static void leave(struct gsim_sm_held *held, const struct gsim_sm_set *on) {
    for (int64_t sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        if (gsim_sm_set_has(on, sm))
            held->blocks[sm] = 0;
    held->n -= (uint32_t)gsim_sm_set_count(on);
}

/* All blocks that run have done as much of their work since; the kernel's is that of all its
 * blocks. The last piece ends with the kernel. */
void gsim_sm_pieces_go_on(struct gsim_sm_kernel *kernel) {
    struct gsim_sm_held *held = kernel->held;
    struct gsim_sm_pieces *pieces = &held->begun;
    assert(held->n > 0 && pieces->left >= kernel->left);
    gsim_work did = (pieces->left - kernel->left) * (gsim_work)kernel->blocks / held->n;
    gsim_work little = kernel->all >> 24; /* rates are rounded down */
    uint32_t was = pieces->n, n = 0;
    for (uint32_t i = 0; i < was; i++) {
        bool is_over = pieces->rest[i] <= did + little;
        bool ends_kernel = n == 0 && i == was - 1 && pieces->waiting == 0;
        if (is_over && !ends_kernel) {
            leave(held, &pieces->on[i]);
            continue;
        }
        pieces->on[n] = pieces->on[i];
        pieces->rest[n++] = is_over ? 1 : pieces->rest[i] - did;
    }
    for (uint32_t i = n; i < was; i++) { /* equal states are equal in each byte */
        pieces->on[i] = (struct gsim_sm_set){0};
        pieces->rest[i] = 0;
    }
    pieces->n = n;
    pieces->left = kernel->left;
    held->pace = (uint16_t)held->n;
}

gsim_work gsim_sm_pieces_look(const struct gsim_sm_kernel *kernel) {
    const struct gsim_sm_pieces *pieces = &kernel->held->begun;
    if (pieces->n == 0 || (pieces->n == 1 && pieces->waiting == 0))
        return 0;
    gsim_work until = pieces->rest[0] * (gsim_work)kernel->held->n / (gsim_work)kernel->blocks;
    return until < kernel->left ? kernel->left - until : 0;
}
