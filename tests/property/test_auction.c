/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The partial allocation mechanism beside a walk over all allotments, and a bidder that lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/lib/real.h"
#include "policies/themis/auction.h"
#include "sim/base/random.h"

enum { MOST_BIDDERS = 4, MOST_GPUS = 6, N_AUCTIONS = 2000 };

struct problem {
    struct gsim_bidder bidder[MOST_BIDDERS];
    double log_value[MOST_BIDDERS][MOST_GPUS + 1];
    uint32_t n, n_gpus;
};

static void draw(struct problem *p, struct gsim_random *random) {
    p->n = 1 + (uint32_t)gsim_random_below(random, MOST_BIDDERS);
    p->n_gpus = (uint32_t)gsim_random_below(random, MOST_GPUS + 1);
    for (uint32_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int k = 0; k <= MOST_GPUS; k++)
            p->log_value[i][k] = sum += (double)gsim_random_below(random, 1000) / 1000;
        p->bidder[i] =
            (struct gsim_bidder){.most = 1 + (uint32_t)gsim_random_below(random, MOST_GPUS),
                                 .log_value = p->log_value[i]};
    }
}

/* The largest sum of logarithms of the bidders from `from` on, but for one. */
static double most(const struct problem *p, uint32_t from, uint32_t gpus, uint32_t but) {
    double best = 0;
    if (from == p->n)
        return 0;
    if (from == but)
        return most(p, from + 1, gpus, but);
    for (uint32_t k = 0; k <= p->bidder[from].most && k <= gpus; k++) {
        double sum = p->log_value[from][k] + most(p, from + 1, gpus - k, but);
        best = k == 0 || sum > best ? sum : best;
    }
    return best;
}

static void assert_near(double a, double b) {
    assert_true(a - b < 1e-9 && b - a < 1e-9);
}

static void test_against_all_allotments(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_random random;
    struct problem p;
    (void)state;
    gsim_random_seed(&random, 1, 0, "auctions");
    for (int i = 0; i < N_AUCTIONS; i++) {
        double sum = 0;
        uint32_t used = 0;
        draw(&p, &random);
        assert_true(gsim_auction(p.bidder, p.n, p.n_gpus, arena));
        for (uint32_t b = 0; b < p.n; b++) {
            assert_true(p.bidder[b].won <= p.bidder[b].most);
            sum += p.log_value[b][p.bidder[b].won];
            used += p.bidder[b].won;
        }
        assert_true(used <= p.n_gpus);
        assert_near(sum, most(&p, 0, p.n_gpus, p.n));
        for (uint32_t b = 0; b < p.n; b++) {
            double others = sum - p.log_value[b][p.bidder[b].won];
            assert_near(p.bidder[b].kept, gsim_real_exp(others - most(&p, 0, p.n_gpus, b)));
        }
    }
    gsim_arena_free(arena);
}

/* Where a bidder gets `won` GPUs and keeps the part `kept` of their value, none gains by other bids:
 * log value + log kept is at most that of its true bid. */
static void test_lies_do_not_pay(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_random random;
    struct problem p;
    (void)state;
    gsim_random_seed(&random, 2, 0, "auctions");
    for (int i = 0; i < N_AUCTIONS; i++) {
        double told[MOST_GPUS + 1];
        draw(&p, &random);
        assert_true(gsim_auction(p.bidder, p.n, p.n_gpus, arena));
        double honest = p.log_value[0][p.bidder[0].won] + gsim_real_log(p.bidder[0].kept);
        for (int k = 0; k <= MOST_GPUS; k++)
            told[k] = (double)gsim_random_below(&random, 3000) / 1000;
        p.bidder[0].log_value = told;
        assert_true(gsim_auction(p.bidder, p.n, p.n_gpus, arena));
        double lying = p.log_value[0][p.bidder[0].won] + gsim_real_log(p.bidder[0].kept);
        assert_true(lying <= honest + 1e-9);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_allotments),
        cmocka_unit_test(test_lies_do_not_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
