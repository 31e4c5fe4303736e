/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/themis/auction.h"

#include "policies/lib/real.h"

/* The largest sums of logarithms, by GPUs: of all from bidder i on in row i of `from`. */
struct auction {
    struct gsim_bidder *bidder;
    uint32_t n, n_gpus;
    double *from;
    double *before, *scratch; /* of the bidders before one */
};

static double *row(const struct auction *a, uint32_t i) {
    return a->from + (size_t)i * (a->n_gpus + 1);
}

/* How many GPUs this bidder has where all, with the others' sums, is the most; of equal numbers
 * the smallest. */
static uint32_t best_for(const struct gsim_bidder *bidder, const double *others, uint32_t gpus) {
    uint32_t best = 0;
    for (uint32_t k = 1; k <= bidder->most && k <= gpus; k++)
        if (bidder->log_value[k] + others[gpus - k] > bidder->log_value[best] + others[gpus - best])
            best = k;
    return best;
}

static void add(const struct auction *a, const struct gsim_bidder *bidder, const double *others,
                double *sums) {
    const double *log_value = bidder->log_value;
    for (uint32_t gpus = 0; gpus <= a->n_gpus; gpus++) {
        uint32_t most = bidder->most < gpus ? bidder->most : gpus;
        double best = log_value[0] + others[gpus];
        for (uint32_t k = 1; k <= most; k++) {
            double sum = log_value[k] + others[gpus - k];
            best = sum > best ? sum : best;
        }
        sums[gpus] = best;
    }
}

/* The most that all but one bidder can have. */
static double without(const struct auction *a, uint32_t i) {
    const double *before = a->before, *from = row(a, i + 1);
    double best = before[0] + from[a->n_gpus];
    for (uint32_t gpus = 1; gpus <= a->n_gpus; gpus++) {
        double sum = before[gpus] + from[a->n_gpus - gpus];
        best = sum > best ? sum : best;
    }
    return best;
}

/* Returns the bidders up to the last one that gets a GPU. The others get what they would without
 * any that gets none: it takes nothing from them. */
static uint32_t allot(const struct auction *a) {
    uint32_t left = a->n_gpus, n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        struct gsim_bidder *bidder = &a->bidder[i];
        bidder->won = best_for(bidder, row(a, i + 1), left);
        bidder->kept = 1;
        left -= bidder->won;
        n = bidder->won > 0 ? i + 1 : n;
    }
    return n;
}

static void settle(struct auction *a) {
    double all = row(a, 0)[a->n_gpus];
    uint32_t n = allot(a);
    for (uint32_t gpus = 0; gpus <= a->n_gpus; gpus++)
        a->before[gpus] = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct gsim_bidder *bidder = &a->bidder[i];
        double *before = a->before;
        if (bidder->won > 0) {
            double loss = without(a, i) - (all - bidder->log_value[bidder->won]);
            bidder->kept = loss > 0 ? gsim_real_exp(-loss) : 1;
        }
        add(a, bidder, before, a->scratch);
        a->before = a->scratch;
        a->scratch = before;
    }
}

/* Of more GPUs than all bidders ask for, as many go to each. */
static uint32_t asked_for(const struct gsim_bidder *bidder, uint32_t n_bidders, uint32_t n_gpus) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n_bidders; i++)
        sum += bidder[i].most;
    return sum < n_gpus ? (uint32_t)sum : n_gpus;
}

bool gsim_auction(struct gsim_bidder *bidder, uint32_t n_bidders, uint32_t n_gpus,
                  struct gsim_arena *arena) {
    n_gpus = asked_for(bidder, n_bidders, n_gpus);
    size_t width = (size_t)n_gpus + 1, cells = ((size_t)n_bidders + 3) * width;
    double *sums = gsim_arena_grow(arena, NULL, 0, cells * sizeof *sums);
    struct auction a = {.bidder = bidder, .n = n_bidders, .n_gpus = n_gpus, .from = sums};
    if (!sums)
        return false;
    a.before = row(&a, n_bidders + 1);
    a.scratch = a.before + width;
    for (uint32_t gpus = 0; gpus <= n_gpus; gpus++)
        row(&a, n_bidders)[gpus] = 0;
    for (uint32_t i = n_bidders; i-- > 0;)
        add(&a, &bidder[i], row(&a, i + 1), row(&a, i));
    settle(&a);
    gsim_arena_drop(arena, sums);
    return true;
}
