/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk down a line of waiting jobs, against a plain scan of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "policies/lib/waiting.h"
#include "sim/base/random.h"

enum { JOBS = 60, GROUPS = 3, WIDTHS = 4, WISHES = 2, ROUNDS = 400 };

/* Of a group's jobs the rank falls with age; groups have a head start. */
struct world {
    uint32_t gpus[JOBS], wish[JOBS], group[JOBS], index[JOBS];
    uint8_t state[JOBS];
    int64_t submit_ns[JOBS], least_ns[JOBS], head_start_ns[GROUPS];
    uint64_t arrival[JOBS];
    bool waits[JOBS], is_over[JOBS]; /* the walk is past the job, or never meets it */
    int64_t longest_ns[WIDTHS + 1][WISHES]; /* of jobs that are met, by width and wish */
    const struct gsim_waiting *waiting;
    struct gsim_view view;
    struct gsim_ctx ctx;
};

static int64_t rank(struct gsim_ctx *ctx, gsim_slot slot) {
    const struct world *world = ctx->state;
    return world->submit_ns[slot] - world->head_start_ns[world->group[slot]];
}

static int64_t longest_ns(const void *of, const struct gsim_waiting_row *row) {
    const struct world *world = of;
    const struct gsim_waiting_kind *kind = &world->waiting->kind[row->kind];
    return row->is_own ? INT64_MAX : world->longest_ns[kind->gpus][kind->wish];
}

static bool is_met(const struct world *world, gsim_slot slot) {
    return world->waits[slot] && !world->is_over[slot] &&
           (world->state[slot] != GSIM_QUEUED ||
            world->least_ns[slot] <= world->longest_ns[world->gpus[slot]][world->wish[slot]]);
}

static bool goes_before(struct world *world, gsim_slot a, gsim_slot b) {
    int64_t rank_a = rank(&world->ctx, a), rank_b = rank(&world->ctx, b);
    return rank_a != rank_b ? rank_a < rank_b : world->arrival[a] < world->arrival[b];
}

/* The next job by a scan; all jobs before it are over. */
static gsim_slot scan(struct world *world) {
    gsim_slot next = GSIM_NO_SLOT;
    for (gsim_slot slot = 0; slot < JOBS; slot++)
        if (is_met(world, slot) && (next == GSIM_NO_SLOT || goes_before(world, slot, next)))
            next = slot;
    for (gsim_slot slot = 0; next != GSIM_NO_SLOT && slot < JOBS; slot++)
        if (world->waits[slot] && (slot == next || goes_before(world, slot, next)))
            world->is_over[slot] = true;
    return next;
}

static void open_world(struct world *world, struct gsim_arena *arena) {
    *world = (struct world){0};
    world->view.jobs.gpus = world->gpus;
    world->view.jobs.state = world->state;
    world->view.jobs.submit_ns = world->submit_ns;
    world->view.jobs.index = world->index;
    world->ctx.view = &world->view;
    world->ctx.arena = arena;
    world->ctx.state = world;
}

static void add_job(struct world *world, struct gsim_waiting *waiting, struct gsim_random *random,
                    gsim_slot slot, uint64_t arrival) {
    world->gpus[slot] = 1 + (uint32_t)gsim_random_below(random, WIDTHS);
    world->wish[slot] = (uint32_t)gsim_random_below(random, WISHES);
    world->group[slot] = (uint32_t)gsim_random_below(random, GROUPS);
    world->state[slot] = gsim_random_below(random, 10) == 0 ? GSIM_PAUSED : GSIM_QUEUED;
    world->submit_ns[slot] = (int64_t)(arrival / 2); /* pairs arrive at once */
    world->least_ns[slot] = (int64_t)gsim_random_below(random, 20);
    world->arrival[slot] = arrival;
    world->waits[slot] = true;
    assert_true(gsim_waiting_add(waiting, &world->ctx, slot, world->group[slot], world->wish[slot],
                                 world->least_ns[slot]));
}

static void narrow(struct world *world, struct gsim_random *random) {
    uint64_t width = 1 + gsim_random_below(random, WIDTHS);
    int64_t *longest = &world->longest_ns[width][gsim_random_below(random, WISHES)];
    int64_t to = (int64_t)gsim_random_below(random, 20) - 1;
    *longest = to < *longest ? to : *longest;
}

static void widen(struct world *world) {
    for (uint32_t width = 0; width <= WIDTHS; width++)
        for (uint32_t wish = 0; wish < WISHES; wish++)
            world->longest_ns[width][wish] = INT64_MAX;
}

static void walk(struct world *world, struct gsim_waiting *waiting, struct gsim_random *random) {
    struct gsim_waiting_rule rule = {.rank = rank, .most = longest_ns, .of = world};
    widen(world);
    for (gsim_slot slot = 0; slot < JOBS; slot++)
        world->is_over[slot] = false;
    gsim_waiting_walk(waiting, &world->ctx, &rule);
    for (;;) {
        gsim_slot expected = scan(world), slot = gsim_waiting_next(waiting);
        assert_int_equal(slot, expected);
        if (slot == GSIM_NO_SLOT)
            return;
        if (gsim_random_below(random, 4) == 0) {
            gsim_waiting_remove(waiting, slot);
            world->waits[slot] = false;
            widen(world);
            gsim_waiting_anew(waiting);
        } else {
            narrow(world, random);
        }
    }
}

static void test_walks(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_random random;
    struct world world;
    struct gsim_waiting waiting = {0};
    uint64_t arrival = 0;
    gsim_random_seed(&random, 11, 0, "waiting");
    open_world(&world, arena);
    world.waiting = &waiting;
    for (uint32_t g = 0; g < GROUPS; g++)
        world.head_start_ns[g] = 3 * (int64_t)g;
    assert_true(gsim_waiting_init(&waiting, arena, GROUPS));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (gsim_slot slot = 0; slot < JOBS; slot++)
            if (!world.waits[slot] && gsim_random_below(&random, 3) == 0)
                add_job(&world, &waiting, &random, slot, arrival++);
        walk(&world, &waiting, &random);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
