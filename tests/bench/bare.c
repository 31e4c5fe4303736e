/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floor under a simulation of fifo with best fit: nothing but arrays, a binary heap of ends and
 * sets of nodes by idle GPUs. No policy, no model, no preemption, no statistics but the mean, and only
 * nodes of 8 GPUs. What gsim takes besides is the price of everything else it can do. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "tests/bench/bare.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/rng.h"

enum { NODES = 125, WIDTH = 8, WORDS = (NODES + 63) / 64, GPUS = NODES * WIDTH };

struct ending {
    int64_t end_ns;
    uint32_t job;
};

struct bare {
    uint32_t n;
    int64_t *arrive_ns, *takes_ns, *end_ns;
    uint8_t *gpus, *node, *held; /* held: bits of its node's GPUs */
    uint8_t idle[NODES]; /* bits */
    uint64_t with[WIDTH + 1][WORDS]; /* nodes by how many are idle */
    struct ending heap[GPUS];
    uint32_t running;
};

static void push(struct bare *b, struct ending e) {
    uint32_t at = b->running++;
    for (; at > 0 && b->heap[(at - 1) / 2].end_ns > e.end_ns; at = (at - 1) / 2)
        b->heap[at] = b->heap[(at - 1) / 2];
    b->heap[at] = e;
}

static uint32_t pop(struct bare *b) {
    uint32_t job = b->heap[0].job, at = 0;
    struct ending last = b->heap[--b->running];
    for (uint32_t child; (child = 2 * at + 1) < b->running; at = child) {
        child += child + 1 < b->running && b->heap[child + 1].end_ns < b->heap[child].end_ns;
        if (b->heap[child].end_ns >= last.end_ns)
            break;
        b->heap[at] = b->heap[child];
    }
    b->heap[at] = last;
    return job;
}

static void set_idle(struct bare *b, uint32_t node, uint8_t idle) {
    uint64_t bit = UINT64_C(1) << (node % 64);
    b->with[__builtin_popcount(b->idle[node])][node / 64] &= ~bit;
    b->with[__builtin_popcount(idle)][node / 64] |= bit;
    b->idle[node] = idle;
}

static bool place(struct bare *b, uint32_t job) {
    for (uint32_t k = b->gpus[job]; k <= WIDTH; k++)
        for (uint32_t w = 0; w < WORDS; w++) {
            if (!b->with[k][w])
                continue;
            uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(b->with[k][w]);
            uint32_t left = b->idle[node];
            for (uint32_t g = 0; g < b->gpus[job]; g++)
                left &= left - 1;
            b->node[job] = (uint8_t)node;
            b->held[job] = (uint8_t)(b->idle[node] ^ left);
            set_idle(b, node, (uint8_t)left);
            return true;
        }
    return false;
}

static double simulate(struct bare *b) {
    double sum = 0;
    uint32_t arrived = 0, head = 0;
    while (arrived < b->n || b->running > 0) {
        int64_t end_ns = b->running > 0 ? b->heap[0].end_ns : INT64_MAX;
        int64_t now_ns = arrived < b->n ? b->arrive_ns[arrived] : INT64_MAX;
        if (end_ns <= now_ns) {
            uint32_t job = pop(b);
            now_ns = end_ns;
            b->end_ns[job] = now_ns;
            sum += (double)(now_ns - b->arrive_ns[job]);
            set_idle(b, b->node[job], b->idle[b->node[job]] | b->held[job]);
        } else {
            arrived++;
        }
        for (; head < arrived && place(b, head); head++)
            push(b, (struct ending){now_ns + b->takes_ns[head], head});
    }
    return sum / b->n;
}

/* As the specification of the whole runs says. */
static void draw(struct bare *b) {
    gsl_rng *rng = gsim_rng_stream(1, 0, "bare");
    double mean_s = exp(7.0636 + 1.5 * 1.5 / 2), gap_s = mean_s * 3.75 / (0.85 * GPUS), at_s = 0;
    for (uint32_t job = 0; job < b->n; job++) {
        at_s += gsl_ran_exponential(rng, gap_s);
        b->arrive_ns[job] = (int64_t)(1e9 * at_s);
        b->takes_ns[job] = (int64_t)(1e9 * gsl_ran_lognormal(rng, 7.0636, 1.5));
        b->gpus[job] = (uint8_t)(1u << gsl_rng_uniform_int(rng, 4));
    }
    for (uint32_t node = 0; node < NODES; node++) {
        b->idle[node] = UINT8_MAX;
        b->with[WIDTH][node / 64] |= UINT64_C(1) << (node % 64);
    }
    gsl_rng_free(rng);
}

double bare_ns_per_job(uint32_t n_jobs) {
    struct bare *b = calloc(1, sizeof *b);
    struct timespec begin, end;
    double ns = -1;
    if (!b)
        return ns;
    b->n = n_jobs;
    b->arrive_ns = calloc(n_jobs, sizeof *b->arrive_ns);
    b->takes_ns = calloc(n_jobs, sizeof *b->takes_ns);
    b->end_ns = calloc(n_jobs, sizeof *b->end_ns);
    b->gpus = calloc(3 * (size_t)n_jobs, 1);
    if (b->arrive_ns && b->takes_ns && b->end_ns && b->gpus) {
        b->node = b->gpus + n_jobs;
        b->held = b->node + n_jobs;
        draw(b);
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        ns = simulate(b) > 0 ? 0 : -1; /* looked at, so that it is computed */
        (void)clock_gettime(CLOCK_MONOTONIC, &end);
        ns += ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
              n_jobs;
    }
    free(b->arrive_ns);
    free(b->takes_ns);
    free(b->end_ns);
    free(b->gpus);
    free(b);
    return ns;
}
