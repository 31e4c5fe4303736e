/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matchings of the largest weight, held against all matchings of small graphs; and the time of
 * interleaved jobs, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/lib/matching.h"
#include "sim/api/interleave.h"
#include "sim/base/rng.h"

enum { MOST = 10, GRAPHS = 3000 };

struct graph {
    uint32_t n;
    double weight[MOST * MOST];
};

/* The largest weight of all matchings of the vertices that are not used. */
static double best_of(const struct graph *graph, unsigned used) {
    uint32_t u = 0;
    while (u < graph->n && (used >> u & 1))
        u++;
    if (u == graph->n)
        return 0;
    double best = best_of(graph, used | 1u << u);
    for (uint32_t v = u + 1; v < graph->n; v++) {
        double weight = graph->weight[u * graph->n + v];
        if ((used >> v & 1) || weight <= 0)
            continue;
        weight += best_of(graph, used | 1u << u | 1u << v);
        best = weight > best ? weight : best;
    }
    return best;
}

static double weight_of(const struct graph *graph, const uint32_t *mate) {
    double sum = 0;
    for (uint32_t u = 0; u < graph->n; u++) {
        if (mate[u] == GSIM_MATCHING_ALONE)
            continue;
        assert_true(mate[u] < graph->n && mate[u] != u);
        assert_int_equal(mate[mate[u]], u);
        assert_true(graph->weight[u * graph->n + mate[u]] > 0);
        sum += graph->weight[u * graph->n + mate[u]];
    }
    return sum / 2;
}

/* Few weights make ties and blossoms within blossoms; many make the optimum unique. */
static struct graph draw(gsl_rng *rng) {
    struct graph graph = {.n = 1 + (uint32_t)(gsim_rng_word(rng) % MOST)};
    uint64_t weights = gsim_rng_word(rng) % 2 ? 3 : 1000, kept = 1 + gsim_rng_word(rng) % 4;
    for (uint32_t u = 0; u < graph.n; u++)
        for (uint32_t v = u + 1; v < graph.n; v++) {
            double weight =
                gsim_rng_word(rng) % 4 < kept ? (double)(1 + gsim_rng_word(rng) % weights) : 0;
            graph.weight[u * graph.n + v] = graph.weight[v * graph.n + u] = weight;
        }
    return graph;
}

static void no_matching_weighs_more(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(7, 0, "graphs");
    assert_non_null(rng);
    for (int g = 0; g < GRAPHS; g++) {
        struct graph graph = draw(rng);
        uint32_t mate[MOST];
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_matching matching = {.n = graph.n, .weight = graph.weight, .mate = mate};
        assert_true(gsim_matching_solve(&matching, arena));
        assert_true(weight_of(&graph, mate) == best_of(&graph, 0));
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
}

/* A job that loads for 4 s beside one that computes for 3 s and sends for 1 s: 4 s. Two that load
 * for 4 s and compute for 1 s: both load in a slot of 4 s, then one computes and the other does. */
static void two_jobs_take_turns_at_stages(void **state) {
    (void)state;
    struct gsim_stages jobs[] = {{4, 0, 0}, {0, 3, 1}};
    assert_true(gsim_interleave_s(jobs, 2) == 4);
    struct gsim_stages same[] = {{4, 1, 0}, {4, 1, 0}};
    assert_true(gsim_interleave_s(same, 2) == 6);
}

/* Four jobs of one kind: each of the four slots is 1 s, in which one computes, one sends, and two are
 * in the first and the second half of loading. A job that computes for 5 s makes one slot longer. */
static void four_jobs_fill_the_ring(void **state) {
    (void)state;
    struct gsim_stages jobs[] = {{2, 1, 1}, {2, 1, 1}, {2, 1, 1}, {2, 1, 1}};
    assert_true(gsim_interleave_s(jobs, 4) == 4);
    jobs[3] = (struct gsim_stages){2, 5, 1};
    assert_true(gsim_interleave_s(jobs, 4) == 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_matching_weighs_more),
        cmocka_unit_test(two_jobs_take_turns_at_stages),
        cmocka_unit_test(four_jobs_fill_the_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
