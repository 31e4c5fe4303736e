/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that page each other out by turns, against a walk that goes through memory chunk by chunk:
 * a turn ends on the nanosecond, within a chunk's wait if need be, the chunk that came first goes
 * out for one that misses, and a context that waits keeps its turn. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsim/units.h"
#include "models/gpu/arbiter.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { MIXES = 40, MOST = 8, CHUNK = 2 << 20, FAULTS_OF_A_CHUNK = CHUNK / 4096, BATCH = 256 };

static const int64_t until_ns = 120 / TEST_FEWER_REPEATED * GSIM_NS_PER_S;
static const struct gsim_switch_costs costs = {
    .preempt_ns = 229000, .preempt_full_ns = 229000, .idle_ns = 135000};
enum { QUANTUM_NS = 2080000 };

static struct gsim_profile load(const char *device, struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_profile profile;
    assert_int_equal(gsim_profile_load(device, arena, &profile, &log), GSIM_OK);
    return profile;
}

struct job {
    uint32_t n_chunks;
    int64_t gpu_ns; /* of an iteration */
};

struct mix {
    uint32_t n;
    struct job job[MOST];
    bool yields; /* a turn ends with the iteration, too */
    bool is_lru; /* the chunk that was used longest ago goes out */
};

/* Work in time, and bytes in and out. */
struct moved {
    double useful;
    double in, out;
};

/* --- the walk --------------------------------------------------------------------------------- */

struct tenant {
    uint32_t chunk; /* the next one, or the present one while left_ns > 0 */
    int64_t stall_ns, left_ns; /* of the present chunk: its wait, and with it the work on it */
    int64_t ran_ns;
    bool *is_resident, *was_touched;
    uint64_t *used_at; /* number of the entry in the line that stands for the chunk */
};

struct entry {
    uint32_t id; /* chunk * MOST + tenant */
    uint64_t number;
};

struct walk {
    struct tenant tenant[MOST];
    /* Chunks in the order of eviction, as a ring. Those that were used again stand further back,
     * too, and count there. */
    struct entry *line;
    uint32_t first, n, room;
    uint64_t n_entries;
    uint32_t n_resident, capacity;
    bool is_lru;
    const struct gsim_profile *profile;
    struct moved moved;
};

static int64_t copy_ns(const struct walk *walk, int64_t chunks) {
    int64_t rate = walk->profile->value[GSIM_KEY_UVM_COPY];
    return (chunks * CHUNK * GSIM_NS_PER_S + rate - 1) / rate;
}

/* Half a chunk of faults is a batch, and no sub-region grows past it. */
static int64_t batches_ns(const struct walk *walk) {
    const int64_t *value = walk->profile->value;
    int64_t lone_copy_ns = 65536 * GSIM_NS_PER_S / value[GSIM_KEY_UVM_COPY];
    int64_t fixed_ns = value[GSIM_KEY_UVM_FAULT_NS] - value[GSIM_KEY_UVM_BLOCK_NS] -
                       value[GSIM_KEY_UVM_BATCH_FAULT_NS] - lone_copy_ns;
    return FAULTS_OF_A_CHUNK / BATCH * (fixed_ns + value[GSIM_KEY_UVM_BLOCK_NS]) +
           FAULTS_OF_A_CHUNK * value[GSIM_KEY_UVM_BATCH_FAULT_NS];
}

static bool counts(const struct walk *walk, struct entry entry) {
    const struct tenant *tenant = &walk->tenant[entry.id % MOST];
    uint32_t chunk = entry.id / MOST;
    return tenant->is_resident[chunk] && tenant->used_at[chunk] == entry.number;
}

static struct entry take_first(struct walk *walk) {
    struct entry entry = walk->line[walk->first];
    walk->first = (walk->first + 1) % walk->room;
    walk->n--;
    return entry;
}

static void stand_last(struct walk *walk, struct entry entry) {
    walk->line[(walk->first + walk->n++) % walk->room] = entry;
}

static void use(struct walk *walk, uint32_t who, uint32_t chunk) {
    for (uint32_t n = walk->n == walk->room ? walk->n : 0; n > 0; n--) {
        struct entry entry = take_first(walk);
        if (counts(walk, entry))
            stand_last(walk, entry);
    }
    walk->tenant[who].used_at[chunk] = ++walk->n_entries;
    stand_last(walk, (struct entry){chunk * MOST + who, walk->n_entries});
}

static void push_out(struct walk *walk) {
    struct entry entry = take_first(walk);
    while (!counts(walk, entry))
        entry = take_first(walk);
    walk->tenant[entry.id % MOST].is_resident[entry.id / MOST] = false;
    walk->n_resident--;
    walk->moved.out += CHUNK;
}

/* The wait for the tenant's next chunk. */
static int64_t fault_ns(struct walk *walk, uint32_t who) {
    struct tenant *tenant = &walk->tenant[who];
    uint32_t chunk = tenant->chunk;
    if (tenant->is_resident[chunk]) {
        if (walk->is_lru)
            use(walk, who, chunk);
        return 0;
    }
    bool is_full = walk->n_resident == walk->capacity, is_known = tenant->was_touched[chunk];
    if (is_full)
        push_out(walk);
    use(walk, who, chunk);
    walk->n_resident++;
    tenant->is_resident[chunk] = tenant->was_touched[chunk] = true;
    walk->moved.in += is_known ? CHUNK : 0;
    return batches_ns(walk) + copy_ns(walk, is_full + is_known);
}

static int64_t work_ns(const struct job *job, uint32_t chunk) {
    return job->gpu_ns * (chunk + 1) / job->n_chunks - job->gpu_ns * chunk / job->n_chunks;
}

/* A turn until end_ns; returns when it ended, and whether that was the end of an iteration. */
static int64_t turn(struct walk *walk, const struct mix *mix, uint32_t who, int64_t now_ns,
                    int64_t end_ns, bool *has_yielded) {
    struct tenant *tenant = &walk->tenant[who];
    const struct job *job = &mix->job[who];
    *has_yielded = false;
    while (now_ns < end_ns && !*has_yielded) {
        if (tenant->left_ns == 0) {
            tenant->stall_ns = fault_ns(walk, who);
            tenant->left_ns = tenant->stall_ns + work_ns(job, tenant->chunk);
        }
        int64_t ns = end_ns - now_ns < tenant->left_ns ? end_ns - now_ns : tenant->left_ns;
        int64_t waited_ns = ns < tenant->stall_ns ? ns : tenant->stall_ns;
        tenant->stall_ns -= waited_ns;
        tenant->left_ns -= ns;
        tenant->ran_ns += ns - waited_ns;
        now_ns += ns;
        if (tenant->left_ns > 0)
            continue;
        tenant->chunk = (tenant->chunk + 1) % job->n_chunks;
        *has_yielded = mix->yields && tenant->chunk == 0;
    }
    return now_ns;
}

static struct walk begin_walk(const struct mix *mix, const struct gsim_profile *profile,
                              struct gsim_arena *arena) {
    uint32_t capacity = (uint32_t)(profile->value[GSIM_KEY_HBM_BYTES] / CHUNK);
    struct walk walk = {.capacity = capacity,
                        .profile = profile,
                        .is_lru = mix->is_lru,
                        .room = 4 * capacity,
                        .line = gsim_arena_array(arena, 4 * capacity, sizeof(struct entry))};
    for (uint32_t i = 0; i < mix->n; i++) {
        walk.tenant[i].is_resident = gsim_arena_array(arena, mix->job[i].n_chunks, sizeof(bool));
        walk.tenant[i].was_touched = gsim_arena_array(arena, mix->job[i].n_chunks, sizeof(bool));
        walk.tenant[i].used_at = gsim_arena_array(arena, mix->job[i].n_chunks, sizeof(uint64_t));
    }
    return walk;
}

static struct moved walk_through(const struct mix *mix, const struct gsim_profile *profile,
                                 struct gsim_arena *arena) {
    struct walk walk = begin_walk(mix, profile, arena);
    int64_t now_ns = 0, ran_ns = 0;
    for (uint32_t who = 0; now_ns < until_ns; who = (who + 1) % mix->n) {
        int64_t end_ns = now_ns + QUANTUM_NS < until_ns ? now_ns + QUANTUM_NS : until_ns;
        bool has_yielded;
        now_ns = turn(&walk, mix, who, now_ns, end_ns, &has_yielded);
        now_ns += has_yielded ? costs.idle_ns : costs.preempt_ns;
    }
    for (uint32_t i = 0; i < mix->n; i++)
        ran_ns += walk.tenant[i].ran_ns;
    walk.moved.useful = (double)ran_ns / (double)until_ns;
    return walk.moved;
}

/* --- the model -------------------------------------------------------------------------------- */

static struct gsim_member member_of(const struct mix *mix, uint32_t i) {
    int64_t bytes = mix->job[i].n_chunks * (int64_t)CHUNK;
    return (struct gsim_member){
        .how.job = i,
        .tenant.spec = {.owner = i, .used_bytes = bytes, .allocated_bytes = bytes},
        .context = {.spec.iterations = INT64_C(1) << 40,
                    .spec.gpu_ns = mix->job[i].gpu_ns,
                    .spec.kernels = 1,
                    .spec.queue = 1024,
                    .spec.never_waits = !mix->yields}};
}

static struct moved play(const struct mix *mix, const struct gsim_profile *profile,
                         struct gsim_arena *arena) {
    struct gsim_arbiter_options options = {
        .costs = costs, .quantum_ns = QUANTUM_NS, .slice_budget = INT64_MAX};
    struct gsim_arrangement arrangement = {.memory =
                                               mix->is_lru ? GSIM_MEMORY_LRU : GSIM_MEMORY_UVM};
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR};
    struct gsim_pager pager;
    gsim_pager_init(&pager, &arrangement, profile, arena);
    struct gsim_arbiter *arbiter = gsim_arbiter_new(&options, arena);
    assert_non_null(arbiter);
    gsim_arbiter_set_memory(arbiter, &pager);
    assert_true(gsim_arbiter_set_lane(arbiter, 0, &lane, 0, 0));
    for (uint32_t i = 0; i < mix->n; i++) {
        struct gsim_member member = member_of(mix, i);
        member.watch_iterations = -1;
        gsim_context_start(&member.context, 0);
        assert_true(gsim_arbiter_join(arbiter, &member, GSIM_ARRIVAL_NEW, 0) != GSIM_NO_MEMBER);
    }
    while (gsim_arbiter_next_ns(arbiter, until_ns) < until_ns)
        fail_msg("nothing is to be reported");
    (void)gsim_arbiter_settle(arbiter, until_ns);
    struct moved moved = {0};
    for (uint16_t i = 0; i < mix->n; i++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, i);
        const struct gsim_context *context = &member->context;
        moved.useful += ((double)context->sums.done_iterations * (double)context->spec.gpu_ns +
                         (double)gsim_work_to_ns(context->done)) /
                        (double)until_ns;
        moved.in += (double)member->tenant.sum.bytes_in;
        moved.out += (double)member->tenant.sum.bytes_out;
    }
    return moved;
}

/* --- an urgent job ---------------------------------------------------------------------------- */

enum { REQUESTS = 100 };

/* The first job serves a request every so often; the second runs in between. The mean latency. */
static double walk_urgent(const struct mix *mix, int64_t period_ns,
                          const struct gsim_profile *profile, struct gsim_arena *arena) {
    struct walk walk = begin_walk(mix, profile, arena);
    int64_t now_ns = 0;
    double sum = 0;
    for (int i = 0; i < REQUESTS; i++) {
        bool has_yielded = true;
        while (now_ns < i * period_ns)
            now_ns = turn(&walk, mix, 1, now_ns, i * period_ns, &has_yielded);
        now_ns = turn(&walk, mix, 0, now_ns, INT64_MAX, &has_yielded);
        sum += (double)(now_ns - i * period_ns);
    }
    return sum / REQUESTS;
}

static double play_urgent(const struct mix *mix, int64_t period_ns,
                          const struct gsim_profile *profile, struct gsim_arena *arena) {
    struct gsim_arbiter_options options = {.quantum_ns = QUANTUM_NS, .slice_budget = INT64_MAX};
    struct gsim_arrangement arrangement = {.memory = GSIM_MEMORY_UVM};
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PRIORITY, .urgent.stop = GSIM_STOP_SAVE};
    struct gsim_pager pager;
    int64_t arrival_ns[REQUESTS], latency_ns[REQUESTS], now_ns = 0;
    gsim_pager_init(&pager, &arrangement, profile, arena);
    struct gsim_arbiter *arbiter = gsim_arbiter_new(&options, arena);
    assert_non_null(arbiter);
    gsim_arbiter_set_memory(arbiter, &pager);
    assert_true(gsim_arbiter_set_lane(arbiter, 0, &lane, 0, 0));
    for (int i = 0; i < REQUESTS; i++)
        arrival_ns[i] = i * period_ns;
    for (uint32_t i = 0; i < 2; i++) {
        struct gsim_member member = member_of(mix, i);
        member.how.priority = i == 0;
        if (i == 0) {
            member.context.spec.iterations = REQUESTS;
            member.context.spec.arrival_ns = arrival_ns;
            member.context.spec.latency_ns = latency_ns;
        }
        member.watch_iterations = -1;
        gsim_context_start(&member.context, 0);
        assert_true(gsim_arbiter_join(arbiter, &member, GSIM_ARRIVAL_NEW, 0) != GSIM_NO_MEMBER);
    }
    now_ns = gsim_arbiter_next_ns(arbiter, GSIM_NEVER);
    assert_true(now_ns != GSIM_NEVER);
    (void)gsim_arbiter_settle(arbiter, now_ns);
    double sum = 0;
    for (int i = 0; i < REQUESTS; i++)
        sum += (double)latency_ns[i];
    return sum / REQUESTS;
}

/* An urgent job of 6 GB beside one of 12 on 16: the seldomer its requests, the more of its memory
 * has gone when one comes. */
static void seldom_requests_wait_longer(void **state) {
    (void)state;
    static const int64_t gb = INT64_C(1000000000);
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile profile = load("rtx5080", arena);
    struct mix mix = {.n = 2, .yields = true};
    mix.job[0] = (struct job){(uint32_t)(6 * gb / CHUNK), 75000000};
    mix.job[1] = (struct job){(uint32_t)(12 * gb / CHUNK), 150000000};
    double before = 0;
    for (int64_t ms = 700; ms <= 3000; ms += 100) {
        struct gsim_arena *one = gsim_arena_new();
        double is = play_urgent(&mix, ms * 1000000, &profile, one);
        double should = walk_urgent(&mix, ms * 1000000, &profile, one);
        if (getenv("SHOW"))
            print_message("%lld ms: %.3f %.3f\n", (long long)ms, is / 1e6, should / 1e6);
        assert_true(fabs(is / should - 1) < 0.02);
        assert_true(is >= 0.99 * before);
        before = is;
        gsim_arena_free(one);
    }
    gsim_arena_free(arena);
}

/* --- mixes ------------------------------------------------------------------------------------ */

/* Two to five unequal jobs that need 1.1 to 3 times the memory: 1.6 to 50 ms a gigabyte. */
static struct mix draw_mix(gsl_rng *rng, int64_t capacity_bytes, bool yields, bool is_lru) {
    static const double factors[] = {1.1, 1.25, 1.5, 2, 3};
    struct mix mix = {
        .n = 2 + (uint32_t)gsl_rng_uniform_int(rng, 4), .yields = yields, .is_lru = is_lru};
    double factor = factors[gsl_rng_uniform_int(rng, 5)], weight[MOST], sum = 0;
    for (uint32_t i = 0; i < mix.n; i++)
        sum += weight[i] = 0.3 + 1.2 * gsl_rng_uniform(rng);
    for (uint32_t i = 0; i < mix.n; i++) {
        double bytes = factor * (double)capacity_bytes * weight[i] / sum;
        bytes = fmin(bytes, 0.97 * (double)capacity_bytes);
        double ns_per_byte = 1e-3 * pow(10, 0.2 + 1.5 * gsl_rng_uniform(rng));
        mix.job[i] = (struct job){(uint32_t)(bytes / CHUNK), (int64_t)(bytes * ns_per_byte)};
    }
    return mix;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct errors {
    double median, worst;
};

static struct errors compare_mixes(const char *device, bool yields, bool is_lru) {
    gsl_rng *rng = gsim_rng_stream(1, 0, "sweeps");
    double error[MIXES];
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile profile = load(device, arena);
    for (int i = 0; i < MIXES; i++) {
        struct mix mix = draw_mix(rng, profile.value[GSIM_KEY_HBM_BYTES], yields, is_lru);
        struct gsim_arena *one = gsim_arena_new();
        struct moved is = play(&mix, &profile, one), should = walk_through(&mix, &profile, one);
        error[i] = fabs(is.useful / should.useful - 1);
        if (getenv("SHOW"))
            print_message("%2u jobs: %.4f %.4f %+.2f %%, in %.4f out %.4f\n", mix.n, is.useful,
                          should.useful, 100 * (is.useful / should.useful - 1),
                          is.in / should.in - 1, is.out / should.out - 1);
        gsim_arena_free(one);
    }
    gsim_arena_free(arena);
    gsl_rng_free(rng);
    qsort(error, MIXES, sizeof *error, rising);
    struct errors errors = {error[MIXES / 2], error[MIXES - 1]};
    print_message("# %s%s%s: median %.2f %%, worst %.2f %%\n", device, yields ? ", yielding" : "",
                  is_lru ? ", lru" : "", 100 * errors.median, 100 * errors.worst);
    return errors;
}

static void unequal_jobs_page_as_chunk_by_chunk(void **state) {
    (void)state;
    for (int yields = 0; yields < 2; yields++) {
        struct errors errors = compare_mixes("rtx5080", yields, false);
        assert_true(errors.median < 0.01 && errors.worst < 0.05);
    }
}

static void so_do_they_where_used_chunks_stay(void **state) {
    (void)state;
    struct errors errors = compare_mixes("rtx5080", true, true);
    assert_true(errors.median < 0.01 && errors.worst < 0.05);
}

static void so_do_they_on_a_slower_link(void **state) {
    (void)state;
    struct errors errors = compare_mixes("p100", true, false);
    assert_true(errors.median < 0.01 && errors.worst < 0.05);
}

/* Equal jobs that need more than there is miss every chunk, when they have swept long enough. A
 * little above it they need not, and hang on each chunk: 5 %. */
static void equal_jobs_do_so_too(void **state) {
    (void)state;
    static const double factors[] = {1.02, 1.04, 1.1, 1.5, 3};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile profile = load("p100", arena);
    for (size_t i = 0; i < 5; i++) {
        for (uint32_t n = 2; n <= MOST; n *= 2) {
            struct gsim_arena *one = gsim_arena_new();
            struct mix mix = {.n = n, .yields = true};
            double bytes = factors[i] * (double)profile.value[GSIM_KEY_HBM_BYTES] / n;
            bytes = fmin(bytes, 0.97 * (double)profile.value[GSIM_KEY_HBM_BYTES]);
            for (uint32_t k = 0; k < n; k++)
                mix.job[k] = (struct job){(uint32_t)(bytes / CHUNK), (int64_t)(bytes / 100)};
            struct moved is = play(&mix, &profile, one), should = walk_through(&mix, &profile, one);
            if (getenv("SHOW"))
                print_message("%u jobs at %.2f: %.4f %.4f\n", n, factors[i], is.useful,
                              should.useful);
            assert_true(fabs(is.useful / should.useful - 1) < (factors[i] < 1.1 ? 0.05 : 0.01));
            gsim_arena_free(one);
        }
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seldom_requests_wait_longer),
        cmocka_unit_test(equal_jobs_do_so_too),
        cmocka_unit_test(unequal_jobs_page_as_chunk_by_chunk),
        cmocka_unit_test(so_do_they_where_used_chunks_stay),
        cmocka_unit_test(so_do_they_on_a_slower_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
