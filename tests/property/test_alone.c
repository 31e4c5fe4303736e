/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule of a context that is alone on its GPU (models/gpu/alone.h) against the walk and its
 * cycles: of two equal arbiters one is changed by its owner without having been looked at, the
 * other is brought to that instant first, which walks. Both are equal afterwards in all that
 * decides or is counted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "models/gpu/alone.h"
#include "models/gpu/arbiter.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { CASES = 4000 / TEST_FEWER_REPEATED, STOPS = 6, MOST_PARTS = 2, CHUNK = 2 << 20 };

/* A context, its GPU, and the further GPUs of a gang. */
struct script {
    struct gsim_member member;
    struct gsim_lane lane;
    struct gsim_pager pager[1 + MOST_PARTS];
    uint32_t n_parts;
    bool is_paging, is_carried, is_exact;
    int64_t slice_budget, lookahead_ns, idle_ns;
    int64_t joins_ns[STOPS], changes_ns[STOPS], leaves_ns[STOPS];
};

static int64_t pick(gsl_rng *rng, int64_t low, int64_t high) {
    return low + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(high - low + 1));
}

static bool is_rare(gsl_rng *rng) {
    return pick(rng, 0, 9) == 0;
}

static struct gsim_pager draw_pager(gsl_rng *rng, struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_profile profile;
    struct gsim_pager pager;
    struct gsim_arrangement arrangement = {.memory =
                                               is_rare(rng) ? GSIM_MEMORY_LRU : GSIM_MEMORY_UVM};
    assert_int_equal(gsim_profile_load("ideal", arena, &profile, &log), GSIM_OK);
    profile.value[GSIM_KEY_HBM_BYTES] = pick(rng, 2, 8) * CHUNK;
    profile.value[GSIM_KEY_UVM_COPY] = pick(rng, 1, 40) * CHUNK * 1000000;
    gsim_pager_init(&pager, &arrangement, &profile, arena);
    return pager;
}

/* Most cases are those of the rule; in the others something is otherwise. */
static struct gsim_member draw_member(gsl_rng *rng) {
    struct gsim_member member = {.watch_iterations = is_rare(rng) ? pick(rng, 0, 200000) : -1};
    struct gsim_context_spec *spec = &member.context.spec;
    spec->iterations = pick(rng, 0, 3) == 0 ? pick(rng, 1, 50) : pick(rng, 100000, 200000);
    spec->kernels = pick(rng, 1, 4);
    spec->queue = 20;
    spec->gpu_ns = pick(rng, 4, 5000);
    spec->gap_ns = is_rare(rng) ? 0 : pick(rng, 1, 2000);
    spec->host_ns = is_rare(rng) ? pick(rng, 1, 6000) : 0;
    spec->never_waits = is_rare(rng);
    member.spec.is_cold = pick(rng, 0, 1) == 1;
    member.tenant.spec.used_bytes = pick(rng, 0, 4) * CHUNK;
    member.tenant.spec.allocated_bytes = member.tenant.spec.used_bytes + pick(rng, 0, 1) * CHUNK;
    return member;
}

static struct script draw(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = {
        .member = draw_member(rng),
        .lane = {.discipline = GSIM_DISCIPLINE_RR, .ends_at_boundary = is_rare(rng)},
        .is_paging = pick(rng, 0, 3) > 0,
        .is_carried = pick(rng, 0, 1) == 1,
        .is_exact = is_rare(rng),
        .slice_budget = is_rare(rng) ? pick(rng, 1, 8) : 1000000,
        .lookahead_ns = pick(rng, 0, 1) * pick(rng, 1, 300),
        .idle_ns = pick(rng, 0, 1) * pick(rng, 1, 300)};
    script.n_parts = script.is_paging ? (uint32_t)pick(rng, 0, MOST_PARTS) : 0;
    for (uint32_t i = 0; script.is_paging && i <= script.n_parts; i++)
        script.pager[i] = draw_pager(rng, arena);
    int64_t at_ns = 0, most_ns = pick(rng, 0, 1) ? 9000 : 300000;
    for (int i = 0; i < STOPS; i++) {
        script.joins_ns[i] = at_ns += pick(rng, 0, 3000);
        script.changes_ns[i] = at_ns += pick(rng, 0, most_ns);
        script.leaves_ns[i] = at_ns += pick(rng, 0, most_ns);
    }
    return script;
}

static struct gsim_arbiter *open_arbiter(const struct script *script, uint32_t which,
                                         struct gsim_arena *arena) {
    struct gsim_arbiter_options options = {.costs = {.preempt_ns = 165,
                                                     .idle_ns = script->idle_ns,
                                                     .cold_ns = 100,
                                                     .lookahead_ns = script->lookahead_ns},
                                           .quantum_ns = 2080,
                                           .slice_budget = script->slice_budget,
                                           .is_exact = script->is_exact};
    struct gsim_arbiter *arbiter = gsim_arbiter_new(&options, arena);
    assert_non_null(arbiter);
    if (script->is_paging)
        gsim_arbiter_set_memory(arbiter, &script->pager[which]);
    assert_true(gsim_arbiter_set_lane(arbiter, 0, &script->lane, 0, 0));
    return arbiter;
}

/* One of the two: its GPUs, and what the context left when it was stopped. */
struct side {
    struct gsim_arbiter *gpu[1 + MOST_PARTS];
    struct gsim_context context;
    struct gsim_parked parked;
    struct gsim_tenant left[MOST_PARTS];
    bool walks, has_left, is_over;
    int64_t left_ns;
};

static void look(const struct side *side, int64_t now_ns) {
    if (side->walks)
        (void)gsim_arbiter_settle(side->gpu[0], now_ns);
}

static void come(struct side *side, const struct script *script, int64_t now_ns) {
    struct gsim_member member = script->member;
    for (uint32_t i = 0; i < script->n_parts; i++)
        assert_true(gsim_arbiter_take_in(side->gpu[0], side->gpu[1 + i], 1 + i,
                                         side->has_left ? &side->left[i] : NULL, now_ns));
    enum gsim_arrival arrival = script->is_carried ? GSIM_ARRIVAL_CARRIED : GSIM_ARRIVAL_NEW;
    if (side->has_left) {
        arrival = GSIM_ARRIVAL_PARKED;
        member.context = side->context;
        member.tenant = (struct gsim_tenant){.spec = side->parked.tenant.spec,
                                             .used = side->parked.tenant.used,
                                             .unused = side->parked.tenant.unused};
        member.state.stall_ns = side->parked.stall_ns;
        gsim_context_restart(&member.context, side->left_ns, now_ns);
    } else {
        gsim_context_start(&member.context, now_ns);
    }
    assert_int_equal(gsim_arbiter_join(side->gpu[0], &member, arrival, now_ns), 0);
}

static void go(struct side *side, const struct script *script, int64_t now_ns) {
    look(side, now_ns);
    side->parked = gsim_arbiter_park(side->gpu[0], 0, now_ns);
    side->context = gsim_arbiter_member(side->gpu[0], 0)->context;
    side->left_ns = now_ns;
    side->has_left = true;
    for (uint32_t i = script->n_parts; i-- > 0;)
        side->left[i] = gsim_arbiter_give_back(side->gpu[0], side->gpu[1 + i], now_ns);
    side->is_over = gsim_context_is_done(&side->context);
}

#define ASSERT_SAME(a, b) assert_memory_equal(&(a), &(b), sizeof(a))

static void compare(const struct side *one, const struct side *other) {
    const struct gsim_lanes *a = &one->gpu[0]->committed, *b = &other->gpu[0]->committed;
    const struct gsim_member *m = &a->members[0], *n = &b->members[0];
    assert_int_equal(a->now_ns, b->now_ns);
    assert_int_equal(a->skipped_ns, b->skipped_ns);
    assert_int_equal(a->has_reports, b->has_reports);
    assert_int_equal(gsim_arbiter_steps(one->gpu[0]), gsim_arbiter_steps(other->gpu[0]));
    ASSERT_SAME(a->lane->state, b->lane->state);
    ASSERT_SAME(a->lane->times, b->lane->times);
    ASSERT_SAME(a->lane->marks, b->lane->marks);
    ASSERT_SAME(a->lane->sums, b->lane->sums);
    ASSERT_SAME(m->context, n->context);
    ASSERT_SAME(m->state, n->state);
    ASSERT_SAME(m->sums, n->sums);
    ASSERT_SAME(m->tenant.state, n->tenant.state);
    ASSERT_SAME(m->tenant.sum, n->tenant.sum);
    ASSERT_SAME(m->tenant.last, n->tenant.last);
    ASSERT_SAME(m->tenant.whole.last, n->tenant.whole.last);
    assert_int_equal(m->tenant.whole.is_on, n->tenant.whole.is_on);
    for (uint32_t i = 0; i < a->gang.n; i++) {
        ASSERT_SAME(a->gang.part[i].tenant.state, b->gang.part[i].tenant.state);
        ASSERT_SAME(a->gang.part[i].tenant.sum, b->gang.part[i].tenant.sum);
    }
}

/* Whether the rule holds up to this instant. */
static bool goes_alone(const struct gsim_arbiter *arbiter, int64_t until_ns) {
    struct gsim_lanes lanes = arbiter->committed;
    struct gsim_lane_gpu gpu = {.members = lanes.members,
                                .store = &lanes.store,
                                .gang = &lanes.gang,
                                .n_lanes = 1,
                                .n_places = lanes.capacity};
    return lanes.now_ns < until_ns && gsim_alone_holds(&arbiter->options, &gpu, &lanes, until_ns);
}

/* Whether the context may be at the end of its work by then, or where it is watched: alone an
 * iteration takes gpu_ns and the gap at least. */
static bool may_report(const struct side *side, int64_t until_ns) {
    const struct gsim_member *member = gsim_arbiter_member(side->gpu[0], 0);
    const struct gsim_context_spec *spec = &member->context.spec;
    int64_t end = spec->iterations, now_ns = side->gpu[0]->committed.now_ns;
    if (member->watch_iterations >= 0 && member->watch_iterations < end)
        end = member->watch_iterations;
    int64_t left_ns = (end - member->context.sums.done_iterations) * (spec->gpu_ns + spec->gap_ns) -
                      spec->gap_ns - gsim_work_to_ns(member->context.done);
    return left_ns <= until_ns - now_ns;
}

static int play(const struct script *script, struct gsim_arena *arena) {
    struct side sides[2] = {{.walks = false}, {.walks = true}};
    int n_alone = 0;
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i <= script->n_parts; i++)
            sides[s].gpu[i] = open_arbiter(script, i, arena);
    for (int i = 0; i < STOPS && !sides[0].is_over; i++) {
        for (int s = 0; s < 2; s++)
            come(&sides[s], script, script->joins_ns[i]);
        if (may_report(&sides[0], script->leaves_ns[i]))
            break;
        n_alone += goes_alone(sides[0].gpu[0], script->changes_ns[i]);
        for (int s = 0; s < 2; s++) {
            look(&sides[s], script->changes_ns[i]);
            gsim_arbiter_watch(sides[s].gpu[0], 0, script->member.watch_iterations, 0,
                               script->changes_ns[i]);
        }
        compare(&sides[0], &sides[1]);
        for (int s = 0; s < 2; s++)
            go(&sides[s], script, script->leaves_ns[i]);
        compare(&sides[0], &sides[1]);
    }
    return n_alone;
}

static void the_rule_equals_the_walk(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "alone");
    int n_alone = 0;
    for (int i = 0; i < CASES; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct script script = draw(rng, arena);
        n_alone += play(&script, arena);
        gsim_arena_free(arena);
    }
    assert_true(n_alone > CASES / 2); /* else most cases would say nothing of the rule */
    gsl_rng_free(rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rule_equals_the_walk)};
    return cmocka_run_group_tests_name("a context alone on its GPU", tests, NULL, NULL);
}
