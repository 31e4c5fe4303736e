/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shortcut over recurring rounds, and over lanes that run beside each other or are padded,
 * against the plain engine that walks every slice: random small cases end at the same nanosecond, with the same
 * time on the device and in switches and the same memory moved, wherever the run is looked at in
 * between. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/arbiter.h"
#include "sim/base/rng.h"
#include "gsim/units.h"
#include "tests/support/runner.h"

enum {
    MOST = 6,
    MOST_LANES = 4,
    ALL = (int)TEST_FEWER_DRAWN == (int)TEST_FEWER,
    CASES = 10000 / TEST_FEWER_DRAWN / (ALL ? 1 : TEST_HOLDS_LONG_RUNS ? 2 : 4),
    SMS = 8,
    CHUNK = 2 << 20
};

struct script {
    uint16_t n, n_lanes;
    struct gsim_lane lane[MOST_LANES];
    uint16_t space[MOST_LANES];
    uint16_t n_spaces; /* 0: every lane has all SMs to itself */
    struct gsim_member member[MOST]; /* as they join */
    int64_t joins_ns[MOST]; /* rising */
    struct gsim_overflow overflow[MOST]; /* of the member before, from when this one joins */
    bool has_moves;
    uint16_t moves_to[MOST]; /* the lane of the member before, from when this one joins */
    bool is_paging;
    struct gsim_pager pager;
    int64_t slice_budget, lookahead_ns;
    int64_t look_ns; /* look in between every so often; 0: never */
};

struct outcome {
    int64_t finish_ns[MOST], busy_ns[MOST], taken_ns[MOST];
    struct gsim_memory_use memory[MOST];
    struct gsim_arbiter_stats stats;
};

static int64_t pick(gsl_rng *rng, int64_t low, int64_t high) {
    return low + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(high - low + 1));
}

static struct gsim_member draw_member(gsl_rng *rng, uint16_t n_lanes) {
    struct gsim_member member = {0};
    struct gsim_context *context = &member.context;
    struct gsim_tenant_spec *memory = &member.tenant.spec;
    struct gsim_demand *demand = &member.spec.demand;
    member.how.priority = (int32_t)pick(rng, 0, 2);
    member.how.weight = pick(rng, 1, 3);
    member.spec.state_ppm = (uint32_t)pick(rng, 0, GSIM_PPM);
    member.spec.is_cold = pick(rng, 0, 1) == 1;
    member.spec.is_idempotent = pick(rng, 0, 1) == 1;
    member.spec.block_ns = pick(rng, 0, 1) * pick(rng, 1, 200);
    member.how.lane = (uint16_t)pick(rng, 0, n_lanes - 1);
    memory->yields = pick(rng, 0, 2) == 0;
    memory->used_bytes = pick(rng, 0, 6) * CHUNK;
    memory->allocated_bytes = memory->used_bytes + pick(rng, 0, 2) * CHUNK;
    demand->fill_ppm = (uint32_t)pick(rng, 1, 8) * 125000;
    demand->memory_ppm = (uint32_t)(pick(rng, 0, 1) * pick(rng, 0, GSIM_PPM));
    demand->hbm_bytes_per_s = demand->memory_ppm * INT64_C(800);
    context->spec.queue = pick(rng, 2, 20);
    context->spec.refill_ns = pick(rng, 0, 3) == 0 ? 4000 : 0;
    context->spec.cap = pick(rng, 1, 4);
    context->spec.iterations = pick(rng, 1, 400);
    context->spec.kernels = pick(rng, 0, 1) ? 1 : pick(rng, 2, 40);
    context->spec.gpu_ns = pick(rng, 2, 400) * 25;
    context->spec.gap_ns = pick(rng, 0, 2) * pick(rng, 0, 3000);
    context->spec.host_ns = pick(rng, 0, 1) ? 0 : pick(rng, 1, 12000);
    if (pick(rng, 0, 3) == 0) { /* one long kernel */
        context->spec.iterations = context->spec.kernels = 1;
        context->spec.gpu_ns = pick(rng, 1, 30000);
        context->spec.host_ns = 0;
    }
    return member;
}

static void draw_part(gsl_rng *rng, uint16_t n_spaces, struct gsim_lane *lane, uint16_t *space) {
    lane->cap_ppm = (uint32_t)(pick(rng, 0, 1) * pick(rng, 1, GSIM_PPM));
    *space = (uint16_t)pick(rng, 0, n_spaces > 0 ? n_spaces - 1 : 0);
    if (pick(rng, 0, 2) == 0) {
        lane->first_sm = (uint16_t)pick(rng, 0, SMS - 1);
        lane->n_sms = (uint16_t)pick(rng, 1, SMS - lane->first_sm);
    }
}

static struct gsim_lane_urgency draw_urgency(gsl_rng *rng) {
    struct gsim_lane_urgency urgency = {.stop = (enum gsim_stop)pick(rng, 0, GSIM_STOP_COUNT - 1)};
    urgency.in_flight = pick(rng, 1, 4);
    urgency.pieces = pick(rng, 1, 3);
    urgency.bound_ns = pick(rng, 0, 50);
    if (urgency.stop == GSIM_STOP_SWITCH) {
        urgency.slice_ns = pick(rng, 0, 1) * pick(rng, 1, 3000);
        urgency.hint_ns = pick(rng, 0, 1) * pick(rng, 1, 3000);
    }
    return urgency;
}

static void draw_lane(gsl_rng *rng, uint16_t n_spaces, struct gsim_lane *lane, uint16_t *space) {
    bool is_whole = pick(rng, 0, 3) == 0;
    bool is_by_priority = is_whole || pick(rng, 0, 2) == 0;
    *lane = (struct gsim_lane){.discipline = is_whole         ? GSIM_DISCIPLINE_BOUNDARY
                                             : is_by_priority ? GSIM_DISCIPLINE_PRIORITY
                                                              : GSIM_DISCIPLINE_RR};
    lane->idle_release_ns = pick(rng, 0, 1) * pick(rng, 0, 4000);
    lane->ends_at_boundary = pick(rng, 0, 2) == 0;
    bool is_fair = is_whole && pick(rng, 0, 1) == 1;
    bool is_strict = !is_by_priority && pick(rng, 0, 2) == 0;
    uint16_t most_vgpus = (uint16_t)(pick(rng, 0, 1) * pick(rng, 1, 8));
    struct gsim_lane_urgency urgency = draw_urgency(rng);
    if (is_whole)
        lane->whole.is_fair = is_fair;
    else if (is_by_priority)
        lane->urgent = urgency;
    else
        lane->slices = (struct gsim_lane_slices){.turns = !is_strict       ? GSIM_TURNS_USED
                                                          : most_vgpus > 0 ? GSIM_TURNS_FIXED
                                                                           : GSIM_TURNS_EQUAL,
                                                 .most_vgpus = most_vgpus};
    draw_part(rng, n_spaces, lane, space);
}

static bool is_by_priority(const struct script *script, uint16_t lane) {
    return script->lane[lane].discipline != GSIM_DISCIPLINE_RR;
}

/* Costs about as long as the turns and iterations drawn above. */
static struct gsim_pager draw_pager(gsl_rng *rng, struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_profile profile;
    struct gsim_pager pager;
    struct gsim_arrangement arrangement = {
        .memory = (enum gsim_memory)pick(rng, GSIM_MEMORY_UVM, GSIM_MEMORY_PROACTIVE),
        .migration.pipeline = pick(rng, 0, 1) == 1,
        .migration.early_start = pick(rng, 0, 1) == 1,
        .migration.predict_by_template = pick(rng, 0, 1) == 1,
        .migration.missed_ppm = pick(rng, 0, 1) * pick(rng, 0, 400000),
        .migration.spare_ppm = pick(rng, 0, 1) * pick(rng, 0, 400000),
        .migration.evicts_lru = pick(rng, 0, 1) == 1};
    assert_int_equal(gsim_profile_load("ideal", arena, &profile, &log), GSIM_OK);
    profile.value[GSIM_KEY_HBM_BYTES] = pick(rng, 1, 20) * CHUNK;
    profile.value[GSIM_KEY_UVM_CLEAN_COPY] = pick(rng, 0, 1);
    profile.value[GSIM_KEY_UVM_COPY] = pick(rng, 1, 40) * CHUNK * 1000000;
    profile.value[GSIM_KEY_MIGRATE_OUT] = pick(rng, 1, 40) * CHUNK * 1000000;
    profile.value[GSIM_KEY_MIGRATE_IN] = pick(rng, 1, 40) * CHUNK * 1000000;
    profile.value[GSIM_KEY_MIGRATE_BOTH] = pick(rng, 1, 40) * CHUNK * 1000000;
    profile.value[GSIM_KEY_MIGRATE_PLAN_NS] = pick(rng, 0, 50);
    profile.value[GSIM_KEY_UVM_FAULT_NS] = pick(rng, 0, 100);
    profile.value[GSIM_KEY_JOB_FIRST_TOUCH_PPM] = pick(rng, 0, 1) * pick(rng, 0, GSIM_PPM);
    gsim_pager_init(&pager, &arrangement, &profile, arena);
    return pager;
}

/* From when it joins on, and from when the next one does; where contexts take turns. */
static void draw_overflow(gsl_rng *rng, struct script *script, uint16_t i) {
    struct gsim_member *member = &script->member[i];
    if (!is_by_priority(script, member->how.lane) && pick(rng, 0, 2) == 0) {
        member->tenant.spec.overflow = (struct gsim_overflow){1, pick(rng, 1, 5000)};
        member->context.spec.gpu_ns += member->tenant.spec.overflow.ns;
    }
    if (i > 0)
        script->overflow[i] = (struct gsim_overflow){2, pick(rng, 0, 1) * pick(rng, 0, 5000)};
}

/* Where memory moves ahead of turns, none passes before it is there, which would do so for ever
 * (gsim_shared_refuse). */
static void let_turns_wait(struct script *script) {
    for (uint16_t lane = 0; lane < script->n_lanes; lane++)
        if (script->lane[lane].discipline == GSIM_DISCIPLINE_RR)
            script->lane[lane].slices.turns = GSIM_TURNS_USED;
}

static struct script draw(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = {.n = (uint16_t)pick(rng, 1, MOST),
                            .slice_budget = INT64_MAX,
                            .n_lanes = (uint16_t)pick(rng, 1, MOST_LANES),
                            .n_spaces = (uint16_t)(pick(rng, 0, 1) * pick(rng, 1, 2))};
    int64_t at_ns = 0;
    script.lookahead_ns = script.n % 3 * 400;
    for (uint16_t lane = 0; lane < script.n_lanes; lane++)
        draw_lane(rng, script.n_spaces, &script.lane[lane], &script.space[lane]);
    for (uint16_t i = 0; i < script.n; i++) {
        at_ns += pick(rng, 0, 1) ? 0 : pick(rng, 0, 300000);
        script.joins_ns[i] = at_ns;
        script.member[i] = draw_member(rng, script.n_lanes);
        script.member[i].how.job = i;
        draw_overflow(rng, &script, i);
    }
    script.is_paging = pick(rng, 0, 1) == 1;
    if (script.is_paging)
        script.pager = draw_pager(rng, arena);
    if (script.is_paging && script.pager.manager == GSIM_MEMORY_PROACTIVE)
        let_turns_wait(&script);
    script.look_ns = pick(rng, 0, 1) ? 0 : pick(rng, 5000, 900000);
    return script;
}

/* A device of 8 SMs that draw 100 MB/s each, but not more than 700 together. */
static const struct gsim_curve_point hbm_by_sms[] = {{7, 700000000}, {8, 700000000}};
static const struct gsim_profile device = {.value = {[GSIM_KEY_SMS] = SMS,
                                                     [GSIM_KEY_HBM_BY_SMS] = 2,
                                                     [GSIM_KEY_HBM_BYTES_PER_S] = 900000000,
                                                     [GSIM_KEY_SM_THREADS] = 256,
                                                     [GSIM_KEY_SM_REGISTER_BYTES] = 32768,
                                                     [GSIM_KEY_SM_SHARED_BYTES] = 8192,
                                                     [GSIM_KEY_SM_BLOCKS] = 8,
                                                     [GSIM_KEY_MPS_SMS] = 2,
                                                     [GSIM_KEY_LAUNCH_BETWEEN_NS] = 5,
                                                     [GSIM_KEY_JOB_MEMORY_PPM] = 300000},
                                           .curve = {[GSIM_KEY_HBM_BY_SMS] = hbm_by_sms}};

static struct gsim_arbiter *open_arbiter(const struct script *script, bool is_plain,
                                         struct gsim_arena *arena) {
    struct gsim_arbiter_options options = {.costs = {.preempt_ns = 165,
                                                     .preempt_full_ns = 229,
                                                     .idle_ns = 135,
                                                     .cold_ns = 100,
                                                     .lookahead_ns = script->lookahead_ns,
                                                     .halt = {.save_ns = 40,
                                                              .restore_ns = 30,
                                                              .reset_ns = 3,
                                                              .dirty_ppm = 250000,
                                                              .checkpoint_ns = 7,
                                                              .sms = 5}},
                                           .quantum_ns = 2080,
                                           .slice_budget = script->slice_budget,
                                           .is_plain = is_plain};
    struct gsim_arbiter *arbiter = gsim_arbiter_new(&options, arena);
    assert_non_null(arbiter);
    struct gsim_space spaces[] = {{&device, SMS, 900000000}, {&device, SMS, 500000000}};
    gsim_arbiter_set_spaces(arbiter, spaces, script->n_spaces, 0);
    if (script->is_paging)
        gsim_arbiter_set_memory(arbiter, &script->pager);
    for (uint16_t lane = 0; lane < script->n_lanes; lane++)
        assert_true(
            gsim_arbiter_set_lane(arbiter, lane, &script->lane[lane], script->space[lane], 0));
    return arbiter;
}

static void take_reports(struct gsim_arbiter *arbiter, struct outcome *outcome, int64_t now_ns,
                         int *n_left) {
    unsigned reports;
    uint16_t place;
    while ((place = gsim_arbiter_take(arbiter, &reports)) != GSIM_NO_MEMBER) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, place);
        assert_int_equal(reports, GSIM_REPORT_WORKED);
        outcome->finish_ns[member->how.job] = member->finish_ns;
        outcome->busy_ns[member->how.job] = member->sums.busy_ns;
        outcome->taken_ns[member->how.job] = gsim_context_taken_ns(&member->context, now_ns);
        outcome->memory[member->how.job] = member->tenant.sum;
        gsim_arbiter_leave(arbiter, place, now_ns);
        --*n_left;
    }
}

/* Who drives an arbiter: asks when something is next and brings it there; the same, and looks in
 * between; or lets it look past the next instant, and leaves it behind until something is due. */
enum driver { ASKS, LOOKS, FORESEES, N_DRIVERS };

static int64_t next_ns(struct gsim_arbiter *arbiter, enum driver driver, int64_t horizon_ns,
                       bool *is_due) {
    struct gsim_foresight sight;
    *is_due = true;
    if (driver != FORESEES)
        return gsim_arbiter_next_ns(arbiter, horizon_ns);
    do
        sight = gsim_arbiter_foresee(arbiter, horizon_ns);
    while (!sight.is_due && sight.until_ns < horizon_ns);
    *is_due = sight.is_due && sight.until_ns <= horizon_ns;
    return *is_due ? sight.until_ns : horizon_ns;
}

static void overflow_before(const struct script *script, struct gsim_arbiter *arbiter,
                            uint16_t joined, int64_t now_ns) {
    for (uint16_t place = 0; place < gsim_arbiter_members(arbiter); place++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, place);
        if (member->is_present && member->how.job + 1 == joined &&
            !is_by_priority(script, member->how.lane))
            gsim_arbiter_overflow(arbiter, place, script->overflow[joined], now_ns);
    }
}

static void move_before(const struct script *script, struct gsim_arbiter *arbiter, uint16_t joined,
                        int64_t now_ns) {
    for (uint16_t place = 0; place < gsim_arbiter_members(arbiter); place++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, place);
        if (script->has_moves && member->is_present && member->how.job + 1 == joined)
            gsim_arbiter_move(arbiter, place, script->moves_to[joined], member->context.spec.gpu_ns,
                              now_ns);
    }
}

static struct outcome play(const struct script *script, bool is_plain, enum driver driver,
                           struct gsim_arena *arena) {
    struct gsim_arbiter *arbiter = open_arbiter(script, is_plain, arena);
    struct outcome outcome = {0};
    int n_left = script->n;
    uint16_t joined = 0;
    int64_t now_ns = 0, look_ns = driver != ASKS && script->look_ns ? script->look_ns : GSIM_NEVER;
    while (n_left > 0) {
        int64_t join_ns = joined < script->n ? script->joins_ns[joined] : GSIM_NEVER;
        bool is_due;
        now_ns = next_ns(arbiter, driver, join_ns < look_ns ? join_ns : look_ns, &is_due);
        assert_true(now_ns != GSIM_NEVER);
        if (is_due && gsim_arbiter_settle(arbiter, now_ns))
            take_reports(arbiter, &outcome, now_ns, &n_left);
        for (; joined < script->n && script->joins_ns[joined] == now_ns; joined++) {
            struct gsim_member member = script->member[joined];
            member.watch_iterations = -1;
            gsim_context_start(&member.context, now_ns);
            assert_true(gsim_arbiter_join(arbiter, &member, GSIM_ARRIVAL_NEW, now_ns) !=
                        GSIM_NO_MEMBER);
            overflow_before(script, arbiter, joined, now_ns);
            move_before(script, arbiter, joined, now_ns);
        }
        if (now_ns == look_ns)
            look_ns += script->look_ns;
    }
    outcome.stats = gsim_arbiter_stats(arbiter);
    return outcome;
}

/* Lanes by priority whose kernels pad each other, on SMs that are seldom filled. */
static struct script draw_padded(gsl_rng *rng, struct gsim_arena *arena) {
    (void)arena;
    struct script script = {.n = (uint16_t)pick(rng, 2, MOST),
                            .slice_budget = INT64_MAX,
                            .n_lanes = (uint16_t)(pick(rng, 0, 3) == 0 ? 2 : 1),
                            .n_spaces = 1,
                            .look_ns = pick(rng, 0, 1) ? 0 : pick(rng, 5000, 900000)};
    int64_t at_ns = 0;
    for (uint16_t lane = 0; lane < script.n_lanes; lane++) {
        draw_lane(rng, script.n_spaces, &script.lane[lane], &script.space[lane]);
        if (script.lane[lane].discipline != GSIM_DISCIPLINE_PRIORITY)
            script.lane[lane].urgent = draw_urgency(rng);
        script.lane[lane].discipline = GSIM_DISCIPLINE_PADDING;
    }
    for (uint16_t i = 0; i < script.n; i++) {
        at_ns += pick(rng, 0, 1) ? 0 : pick(rng, 0, 300000);
        script.joins_ns[i] = at_ns;
        script.member[i] = draw_member(rng, script.n_lanes);
        script.member[i].how.job = i;
        script.member[i].spec.demand.fill_ppm =
            (uint32_t)pick(rng, 1, 8) * (pick(rng, 0, 1) ? 60000 : 125000);
    }
    return script;
}

/* Members go into another lane while they run. */
static struct script draw_moving(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = draw(rng, arena);
    script.has_moves = true;
    for (uint16_t i = 0; i < script.n; i++)
        script.moves_to[i] = (uint16_t)pick(rng, 0, script.n_lanes - 1);
    let_turns_wait(&script);
    return script;
}

static const struct gsim_app_kernel kernel_of_programs = {.bytes = -1};
static const struct gsim_app app_of_programs = {.kernels = &kernel_of_programs, .n_kernels = 1};

/* What the kernel's blocks need of SMs, where lanes share these: some fill them, some leave room,
 * of some only the time is known, and a few are sets. */
static struct gsim_program_kernel kernel_of(uint32_t number, int64_t ns) {
    int64_t threads = 32 * (1 + (number + ns) % 8);
    return (struct gsim_program_kernel){.ns = ns,
                                        .blocks = ns % 4 * (1 + ns % 37),
                                        .threads = (uint32_t)threads,
                                        .register_bytes = threads * 4 * (1 + ns % 64),
                                        .shared_bytes = ns % 3 * 1500,
                                        .memory_ppm = (uint32_t)(ns % 3 * 400000),
                                        .is_traffic_known = ns % 4 != 3,
                                        .unit = ns % 10 == 0 ? GSIM_APP_SET : GSIM_APP_SMS};
}

/* A program of a few kernels, each with a length and a launch of its own, and some waits. The host
 * comes to the wait for a kernel behind its launch. Copies that take no turn are among them. */
static const struct gsim_program *draw_program(gsl_rng *rng, struct gsim_arena *arena) {
    struct gsim_program *program = gsim_arena_alloc(arena, sizeof *program);
    program->n_kernels = (uint32_t)pick(rng, 1, 12);
    struct gsim_program_step *steps = gsim_arena_array(arena, program->n_kernels, sizeof *steps);
    struct gsim_program_kernel *kernels =
        gsim_arena_array(arena, program->n_kernels, sizeof *kernels);
    for (uint32_t k = 0; k < program->n_kernels; k++) {
        program->host_ns += pick(rng, 0, 1) * pick(rng, 0, 800);
        kernels[k] = kernel_of(k, pick(rng, 1, 600));
        program->gpu_ns += kernels[k].ns;
        steps[k] = (struct gsim_program_step){program->host_ns, program->gpu_ns, k + 1 + k / 2, -1,
                                              k > 0 && kernels[k].ns % 7 == 0};
        if (pick(rng, 0, 4) == 0)
            steps[k].wait_ns = program->host_ns += pick(rng, 0, 200);
    }
    program->host_ns += program->rest_ns = pick(rng, 0, 500);
    program->sync_every = pick(rng, 0, 4);
    program->steps = steps;
    program->kernels = kernels;
    program->app = &app_of_programs;
    return program;
}

static void run_program(gsl_rng *rng, struct gsim_arena *arena, struct gsim_context *context) {
    const struct gsim_program *its = context->spec.program = draw_program(rng, arena);
    context->spec.kernels = its->n_kernels;
    context->spec.caps_blocks = context->spec.iterations % 2 == 1;
    context->spec.gpu_ns = context->spec.kernels + its->gpu_ns * pick(rng, 1, 4) / 2;
    context->spec.host_ns = its->host_ns * pick(rng, 0, 4) / 2;
    context->spec.gap_ns = 0;
    context->spec.pace_ns = pick(rng, 0, 2) == 0 ? pick(rng, 1, 3 * context->spec.gpu_ns) : 0;
}

/* Two of three members have programs, beside others that have none. */
static struct script draw_programs(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = draw_moving(rng, arena);
    for (uint16_t i = 0; i < script.n; i++)
        if (pick(rng, 0, 2) > 0) {
            run_program(rng, arena, &script.member[i].context);
            script.member[i].context.spec.gpu_ns += script.member[i].tenant.spec.overflow.ns;
        }
    return script;
}

/* Lanes by turns that share the SMs of one space, some with a cap or with SMs of their own. */
static struct script draw_sharing(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = draw_programs(rng, arena);
    script.n_lanes = (uint16_t)pick(rng, 2, MOST_LANES);
    script.n_spaces = 1;
    for (uint16_t lane = 0; lane < script.n_lanes; lane++) {
        draw_lane(rng, script.n_spaces, &script.lane[lane], &script.space[lane]);
        script.lane[lane].discipline = GSIM_DISCIPLINE_RR;
        script.lane[lane].slices.turns = GSIM_TURNS_USED;
    }
    for (uint16_t i = 0; i < script.n; i++) {
        script.member[i].how.lane = (uint16_t)pick(rng, 0, script.n_lanes - 1);
        script.moves_to[i] = (uint16_t)pick(rng, 0, script.n_lanes - 1);
    }
    return script;
}

/* Some lanes go before others, whose kernels may have to wait for an instant. */
static struct script draw_gated(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = draw_sharing(rng, arena);
    for (uint16_t lane = 0; lane < script.n_lanes; lane++)
        script.lane[lane].gate = (struct gsim_lane_gate){
            .opens = (enum gsim_gate)pick(rng, 0, GSIM_GATE_COUNT - 1),
            .rank = (uint16_t)pick(rng, 0, 2),
            .below_sms = (uint16_t)pick(rng, 0, 2 * SMS),
            .bound_ppm = (uint32_t)pick(rng, 1, GSIM_PPM),
            .ahead_ppm = (uint32_t)(pick(rng, 0, 1) * pick(rng, 0, GSIM_PPM)),
            .wait_ns = pick(rng, 0, 1) * pick(rng, 0, 3000),
            .whole_ns = pick(rng, 0, 1) * pick(rng, 0, 3000)};
    return script;
}

/* Kernels of all lanes run as atoms, on their own SMs and on those that others leave idle. */
static struct script draw_atoms(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = draw_sharing(rng, arena);
    for (uint16_t lane = 0; lane < script.n_lanes; lane++) {
        script.lane[lane].gate.rank = (uint16_t)pick(rng, 0, 2);
        script.lane[lane].atoms = (struct gsim_lane_atoms){
            .atom_ns = pick(rng, 1, 5000),
            .borrows = script.lane[lane].n_sms == 0 || pick(rng, 0, 1) > 0,
            .slip_ppm = (uint32_t)(pick(rng, 0, 1) * pick(rng, 0, GSIM_PPM))};
    }
    return script;
}

/* Whole iterations, most without a pause, by priorities of which few are equal. */
static struct script draw_straight(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = draw_moving(rng, arena);
    script.is_paging = false;
    for (struct gsim_lane *lane = script.lane; lane < script.lane + script.n_lanes; lane++)
        lane->discipline = GSIM_DISCIPLINE_BOUNDARY, lane->whole = (struct gsim_lane_whole){0};
    for (uint16_t i = 0; i < script.n; i++) {
        struct gsim_member *member = &script.member[i];
        member->how.priority = (int32_t)pick(rng, 0, 5 * MOST);
        member->tenant.spec.overflow = script.overflow[i] = (struct gsim_overflow){0};
        member->context.spec.refill_ns = member->context.spec.host_ns = 0;
        member->context.spec.gap_ns *= pick(rng, 0, 9) == 0;
    }
    return script;
}

/* Contexts that take turns and are hardly ever without work, in one lane or beside another one; a
 * host is at most as slow as the GPU, and its queue often too short for an iteration. Memory fits,
 * or nearly. */
static struct script draw_ring(gsl_rng *rng, struct gsim_arena *arena) {
    struct script script = {.n = (uint16_t)pick(rng, 2, MOST),
                            .slice_budget = INT64_MAX,
                            .n_lanes = (uint16_t)(pick(rng, 0, 4) == 0 ? 2 : 1),
                            .lookahead_ns = pick(rng, 0, 2) * 400,
                            .look_ns = pick(rng, 0, 1) ? 0 : pick(rng, 5000, 900000),
                            .is_paging = pick(rng, 0, 2) == 0};
    for (uint16_t lane = 0; lane < script.n_lanes; lane++)
        script.lane[lane] = (struct gsim_lane){.discipline = GSIM_DISCIPLINE_RR};
    for (uint16_t i = 0; i < script.n; i++) {
        struct gsim_member *member = &script.member[i];
        struct gsim_context_spec *spec = &member->context.spec;
        script.joins_ns[i] = i == 0 ? 0 : script.joins_ns[i - 1] + pick(rng, 0, 1) * 70000;
        *member = draw_member(rng, script.n_lanes);
        member->how.job = i;
        member->how.quantum_ns = pick(rng, 0, 3) == 0 ? pick(rng, 1, 6000) : 0;
        spec->refill_ns = 0;
        spec->iterations = pick(rng, 1, 60);
        spec->gpu_ns = pick(rng, 1000, 60000);
        spec->host_ns = pick(rng, 0, 1) * pick(rng, 1, spec->gpu_ns);
        spec->gap_ns = pick(rng, 0, 3) == 0 ? pick(rng, 0, 4000) : 0;
        spec->never_waits = pick(rng, 0, 5) == 0;
    }
    if (script.is_paging) {
        script.pager = draw_pager(rng, arena);
        script.pager.capacity += (uint32_t)pick(rng, 0, 1) * 40;
    }
    return script;
}

static void expect_same(const struct outcome *plain, const struct outcome *fast) {
    assert_memory_equal(plain->finish_ns, fast->finish_ns, sizeof plain->finish_ns);
    assert_memory_equal(plain->busy_ns, fast->busy_ns, sizeof plain->busy_ns);
    assert_memory_equal(plain->taken_ns, fast->taken_ns, sizeof plain->taken_ns);
    assert_memory_equal(plain->memory, fast->memory, sizeof plain->memory);
    assert_int_equal(plain->stats.switch_ns, fast->stats.switch_ns);
    assert_int_equal(plain->stats.slices, fast->stats.slices);
    assert_false(fast->stats.is_approximate);
}

struct played {
    double skipped; /* part of the times, summed over members */
    double rounded; /* turns given in a short loop, by steps that were simulated */
    double walked; /* steps, by those of the plain engine */
};

static struct played play_many(const char *stream, int n_cases,
                               struct script (*draw_one)(gsl_rng *rng, struct gsim_arena *arena)) {
    gsl_rng *rng = gsim_rng_stream(1, 0, stream);
    int64_t skipped_ns = 0, all_ns = 0, rounded = 0, steps = 0, plain_steps = 0;
    for (int i = 0; i < n_cases; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct script script = draw_one(rng, arena);
        struct outcome plain = play(&script, true, ASKS, arena);
        struct outcome fast = play(&script, false, (enum driver)(i % N_DRIVERS), arena);
        expect_same(&plain, &fast);
        skipped_ns += fast.stats.skipped_ns;
        rounded += fast.stats.rounded;
        steps += fast.stats.steps;
        plain_steps += plain.stats.steps;
        for (uint16_t k = 0; k < script.n; k++)
            all_ns += plain.finish_ns[k];
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
    print_message("# %s: %lld of %lld ns skipped, %lld turns in a loop of %lld steps\n", stream,
                  (long long)skipped_ns, (long long)all_ns, (long long)rounded, (long long)steps);
    return (struct played){(double)skipped_ns / (double)all_ns, (double)rounded / (double)steps,
                           (double)steps / (double)plain_steps};
}

static void the_shortcut_equals_the_plain_engine(void **state) {
    (void)state;
    assert_true(play_many("test_arbiter", CASES, draw).skipped > 0.05);
}

static void so_it_does_where_kernels_are_padded(void **state) {
    (void)state;
    assert_true(play_many("padding", CASES / 5, draw_padded).skipped > 0.05);
}

static void so_it_does_where_members_change_lanes(void **state) {
    (void)state;
    assert_true(play_many("moves", CASES / 5, draw_moving).skipped > 0.05);
}

/* A turn is two steps, so that half a turn by step is all of them. */
static void so_it_does_where_turns_go_round_a_ring(void **state) {
    (void)state;
    assert_true(play_many("rings", CASES, draw_ring).rounded > 0.1);
}

/* An iteration is a step at least, so that most of them are passed. */
static void so_it_does_where_iterations_follow_each_other(void **state) {
    (void)state;
    assert_true(play_many("straight", CASES / 5, draw_straight).walked < 0.5);
}

static void so_it_does_of_programs(void **state) {
    (void)state;
    assert_true(play_many("programs", CASES / 5, draw_programs).skipped > 0.05);
}

static void so_it_does_where_kernels_share_sms(void **state) {
    (void)state;
    assert_true(play_many("gated", CASES / 20, draw_gated).skipped > 0.05);
    assert_true(play_many("atoms", CASES / 20, draw_atoms).skipped > 0.05);
    assert_true(play_many("sharing", CASES / 10, draw_sharing).skipped > 0.05);
}

/* An urgent member and another that draws nothing from memory: padded, the first has the device
 * exactly as long as if it were not, and the other one often ends sooner. */
static void who_is_padded_is_not_slower(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "padded");
    int n_sooner = 0;
    for (int i = 0; i < CASES / 10; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct script script = draw_padded(rng, arena);
        script.n = 2;
        script.n_lanes = 1;
        script.lane[0].first_sm = script.lane[0].n_sms = 0;
        script.lane[0].cap_ppm = 0;
        script.space[0] = 0;
        for (uint16_t k = 0; k < script.n; k++) {
            script.member[k].how.lane = 0;
            script.member[k].how.priority = k == 0;
            script.member[k].spec.demand.memory_ppm = 0;
            script.member[k].spec.demand.hbm_bytes_per_s = 0;
        }
        struct outcome padded = play(&script, false, ASKS, arena);
        script.lane[0].discipline = GSIM_DISCIPLINE_PRIORITY;
        struct outcome alone = play(&script, false, ASKS, arena);
        assert_int_equal(padded.busy_ns[0], alone.busy_ns[0]);
        n_sooner += padded.finish_ns[1] < alone.finish_ns[1];
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
    assert_true(n_sooner > CASES / 100);
}

/* Nobody takes the lane from a context that is alone in it, and keeps it over its gaps: its one
 * turn began once, and that is no reason to walk through every iteration. */
static void who_is_alone_is_walked_through_once(void **state) {
    (void)state;
    enum { STEPS = 1000 };
    struct gsim_arena *arena = gsim_arena_new();
    struct script script = {.n = 1, .n_lanes = 1, .slice_budget = INT64_MAX};
    script.lane[0].discipline = GSIM_DISCIPLINE_RR;
    script.lane[0].idle_release_ns = 1000000;
    script.member[0].context = (struct gsim_context){.spec.iterations = 100000,
                                                     .spec.kernels = 3,
                                                     .spec.gpu_ns = 95001,
                                                     .spec.gap_ns = 1003,
                                                     .spec.queue = 8};
    struct outcome plain = play(&script, true, ASKS, arena);
    struct outcome fast = play(&script, false, ASKS, arena);
    expect_same(&plain, &fast);
    assert_true(fast.stats.steps < STEPS);
    gsim_arena_free(arena);
}

/* Contexts whose times have no common measure, long enough that turns past the budget are most. */
static struct script draw_long(gsl_rng *rng) {
    enum { BUDGET = 100000, ITERATIONS = 20000 };
    struct script script = {.n = MOST, .n_lanes = 1, .slice_budget = BUDGET};
    script.lane[0].discipline = GSIM_DISCIPLINE_RR;
    for (uint16_t i = 0; i < script.n; i++) {
        struct gsim_context *context = &script.member[i].context;
        context->spec.queue = 1024;
        context->spec.iterations = pick(rng, ITERATIONS / 2, ITERATIONS);
        context->spec.kernels = pick(rng, 1, 100);
        context->spec.gpu_ns = pick(rng, 1000, 99999);
        context->spec.gap_ns = pick(rng, 1, 3000000);
        context->spec.host_ns = pick(rng, 0, 1) * pick(rng, 1, 120000);
        script.member[i].how.job = i;
    }
    return script;
}

static double worst_of(const struct script *script, const struct outcome *fast,
                       const struct outcome *plain) {
    double worst = 0;
    for (uint16_t k = 0; k < script->n; k++)
        worst = fmax(worst, fabs((double)fast->finish_ns[k] / (double)plain->finish_ns[k] - 1));
    return worst;
}

/* The worst end of cases past a budget of slices, for two budgets, against the plain engine, which
 * takes nearly all of the time and knows no budget. A slow build leaves it out, and the larger
 * budget. */
static double worst_end(const char *stream, int n_cases,
                        void (*arrange)(struct script *script, gsl_rng *rng,
                                        struct gsim_arena *arena)) {
    static const int64_t budgets[] = {10, 100000};
    enum { BUDGETS = TEST_HOLDS_LONG_RUNS ? 2 : 1 };
    gsl_rng *rng = gsim_rng_stream(2, 0, stream);
    int n_extrapolated[BUDGETS] = {0};
    double worst = 0;
    for (int i = 0; i < n_cases; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct script script = draw_long(rng);
        if (arrange)
            arrange(&script, rng, arena);
        struct outcome plain = {0};
        if (TEST_HOLDS_LONG_RUNS)
            plain = play(&script, true, ASKS, arena);
        for (int b = 0; b < BUDGETS; b++) {
            script.slice_budget = budgets[b];
            struct outcome fast = play(&script, false, i % 2 ? LOOKS : ASKS, arena);
            n_extrapolated[b] += fast.stats.is_approximate;
            if (TEST_HOLDS_LONG_RUNS)
                worst = fmax(worst, worst_of(&script, &fast, &plain));
        }
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
    for (int b = 0; b < BUDGETS; b++) {
        print_message("# extrapolated in %d of %d past %lld slices\n", n_extrapolated[b], n_cases,
                      (long long)budgets[b]);
        assert_true(n_extrapolated[b] > 0);
    }
    print_message("# worst %.4f %%\n", 100 * worst);
    return worst;
}

/* Past the budget of slices rates are extrapolated as soon as they are steady: within half a per
 * cent of every end however small the budget is, and the run says so. */
static void extrapolation_is_within_half_a_per_cent(void **state) {
    (void)state;
    int n_cases = TEST_FEWER > 1 ? 1 : 4;
    assert_true(worst_end("test_arbiter", n_cases, NULL) <= 0.005);
}

/* Looked at every so often, of memory of which two fifths do not fit. */
static void let_page(struct script *script, gsl_rng *rng, struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_profile profile;
    struct gsim_arrangement arrangement = {.memory = GSIM_MEMORY_UVM};
    assert_int_equal(gsim_profile_load("ideal", arena, &profile, &log), GSIM_OK);
    profile.value[GSIM_KEY_HBM_BYTES] = 18 * CHUNK;
    profile.value[GSIM_KEY_UVM_COPY] = 10 * CHUNK * INT64_C(1000);
    profile.value[GSIM_KEY_UVM_FAULT_NS] = 1000;
    gsim_pager_init(&script->pager, &arrangement, &profile, arena);
    script->is_paging = true;
    script->look_ns = 900000000;
    for (uint16_t i = 0; i < script->n; i++)
        script->member[i].tenant.spec.used_bytes = script->member[i].tenant.spec.allocated_bytes =
            pick(rng, 3, 7) * CHUNK;
}

/* Where memory pages, rates drift as what is where does: a per cent. */
static void so_it_is_to_a_per_cent_where_memory_pages(void **state) {
    (void)state;
    int n_cases = TEST_FEWER_DRAWN > 1 ? 1 : 4;
    assert_true(worst_end("paging", n_cases, let_page) <= 0.01);
}

/* Three that fill the device have a third of it each, which is a little less in binary: kernels of
 * 142 ns (a seventh of 1000, rounded down) end at 427. */
static void who_leaves_at_a_kernel_does_so_at_any_rate(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    const struct gsim_lane lane_of_one = {.discipline = GSIM_DISCIPLINE_RR};
    struct script script = {.n_lanes = 3, .n_spaces = 1, .slice_budget = INT64_MAX};
    for (uint16_t lane = 0; lane < script.n_lanes; lane++)
        script.lane[lane] = lane_of_one;
    struct gsim_arbiter *arbiter = open_arbiter(&script, false, arena);
    unsigned reports = 0;
    for (uint16_t lane = 0; lane < script.n_lanes; lane++) {
        struct gsim_member member = {
            .how = {.job = lane, .lane = lane},
            .spec = {.demand = {.fill_ppm = GSIM_PPM}},
            .context = {
                .spec.iterations = 1, .spec.kernels = 7, .spec.gpu_ns = 1000, .spec.queue = 8}};
        member.watch_iterations = -1;
        gsim_context_start(&member.context, 0);
        assert_int_equal(gsim_arbiter_join(arbiter, &member, GSIM_ARRIVAL_NEW, 0), lane);
    }
    (void)gsim_arbiter_settle(arbiter, 100);
    assert_false(gsim_arbiter_exit(arbiter, 1, GSIM_EXIT_KERNEL, 100));
    assert_int_equal(gsim_arbiter_next_ns(arbiter, 10000), 427);
    assert_true(gsim_arbiter_settle(arbiter, 427));
    assert_int_equal(gsim_arbiter_take(arbiter, &reports), 1);
    assert_int_equal(reports, GSIM_REPORT_LEFT);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_it_does_where_turns_go_round_a_ring),
        cmocka_unit_test(so_it_does_where_iterations_follow_each_other),
        cmocka_unit_test(so_it_does_of_programs),
        cmocka_unit_test(so_it_does_where_kernels_share_sms),
        cmocka_unit_test(extrapolation_is_within_half_a_per_cent),
        cmocka_unit_test(so_it_is_to_a_per_cent_where_memory_pages),
        cmocka_unit_test(the_shortcut_equals_the_plain_engine),
        cmocka_unit_test(who_is_alone_is_walked_through_once),
        cmocka_unit_test(so_it_does_where_kernels_are_padded),
        cmocka_unit_test(so_it_does_where_members_change_lanes),
        cmocka_unit_test(who_is_padded_is_not_slower),
        cmocka_unit_test(who_leaves_at_a_kernel_does_so_at_any_rate)};
    return cmocka_run_group_tests_name("the shortcut of rounds", tests, NULL, NULL);
}
