/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Themis outside of gsim's tree: finish-time fairness by leases and auctions.
 *
 *     cc -std=c11 -O2 -shared -fPIC -o themis.so themis.c $(pkg-config --cflags gsim)
 *     gsim compare --policies fifo,las,./themis.so --nodes 8 --gpus-per-node 8 trace.csv
 *
 * Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020.
 *
 * A job's rho is the time that it takes in the shared cluster over the time that it would take
 * alone on a fair share of it (section 3). With C GPUs and n jobs in the system the share is C /
 * n GPUs; alone on it a job of g GPUs and service S takes S * max(1, g n / C). In the shared
 * cluster it takes its age plus the service that is left, if it runs from now on:
 *
 *     rho = (age + left) / (S * max(1, g n / C))           in ppm, rounded down
 *
 * A job that is placed holds its GPUs for a lease. At every change there is an auction of the
 * GPUs that are idle or have come to the end of a lease. Candidates are the jobs that wait and
 * those at the end of their lease, the worst (largest) rho first. Of n candidates the first
 * ceil((1 - fairness) n) may bid; the others come behind the bidders, in order of rho.
 *
 * Winning now instead of a lease later lowers a bidder's rho by the factor (age + left) / (age +
 * left + lease). The auction maximises the product of these gains over the bidders (section
 * 3.1). It is solved greedily: by gain per GPU, which is the order of (age + left) * g, the
 * smallest first. In that order, bidders first, each candidate wins that the GPUs on offer are
 * enough for. All ties go by the order of the trace.
 *
 * Losers that hold GPUs are stopped at an iteration's end and restart from storage later,
 * winners get a new lease and are placed on the fewest nodes, and whatever else still fits is
 * placed in the same order. While jobs wait, the next auction is at the latest at the end of the
 * next lease.
 *
 * What the paper has and this does not: apps are single jobs, gangs are all or nothing, so there
 * are no bids for fewer GPUs; bids do not depend on placement; jobs do not lie, so there are no
 * hidden payments; left-over GPUs go by rho and not by lot; service left is known exactly, and
 * not estimated by an agent from the job's loss curve. */
#include <gsim/lib.h>
#include <stdlib.h>

struct job {
    int64_t lease_end_ns;
};

struct state {
    int64_t lease_ns, fairness_ppm;
};

struct candidate {
    gsim_slot slot;
    uint32_t index; /* position in the order of submission */
    uint32_t gpus;
    bool holds, wins;
    int64_t rho_ppm;
    gsim_u128 cost; /* (age + left) * g */
};

struct auction {
    struct candidate *candidate;
    uint32_t n, n_bidders, n_jobs; /* n_jobs: in the system */
    int64_t gpus; /* on offer */
};

static int64_t *lease_end(const struct gsim_ctx *ctx, gsim_slot slot) {
    return &((struct job *)gsim_job_state(ctx, slot))->lease_end_ns;
}

static bool is_over(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.state[slot] == GSIM_RUNNING &&
           *lease_end(ctx, slot) <= ctx->view->now_ns;
}

/* --- candidates ------------------------------------------------------------------------------- */

static int64_t rho_ppm(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t n_jobs) {
    const struct gsim_view *view = ctx->view;
    gsim_u128 total =
        (gsim_u128)(view->now_ns - view->jobs.submit_ns[slot] + gsim_remaining_ns(view, slot));
    gsim_u128 service = (gsim_u128)view->jobs.service_ns[slot];
    gsim_u128 wide = (gsim_u128)view->jobs.gpus[slot] * n_jobs, all = view->cluster.n_gpus;
    gsim_u128 alone = (service > 0 ? service : 1) * (wide > all ? wide : all);
    gsim_u128 rho = total * all * (gsim_u128)GSIM_PPM / alone;
    return rho > INT64_MAX ? INT64_MAX : (int64_t)rho;
}

static void add(const struct gsim_ctx *ctx, struct auction *auction, gsim_slot slot, bool holds) {
    const struct gsim_view *view = ctx->view;
    int64_t total_ns = view->now_ns - view->jobs.submit_ns[slot] + gsim_remaining_ns(view, slot);
    uint32_t gpus = view->jobs.gpus[slot];
    auction->candidate[auction->n++] = (struct candidate){
        .slot = slot,
        .index = gsim_nth(view, slot),
        .gpus = gpus,
        .holds = holds,
        .rho_ppm = rho_ppm(ctx, slot, auction->n_jobs),
        .cost = (gsim_u128)total_ns * gpus,
    };
    auction->gpus += holds ? gpus : 0;
}

static int by_index(const struct candidate *a, const struct candidate *b) {
    return (a->index > b->index) - (a->index < b->index);
}

static int by_rho(const void *x, const void *y) {
    const struct candidate *a = x, *b = y;
    int order = (a->rho_ppm < b->rho_ppm) - (a->rho_ppm > b->rho_ppm);
    return order ? order : by_index(a, b);
}

static int by_cost(const void *x, const void *y) {
    const struct candidate *a = x, *b = y;
    int order = (a->cost > b->cost) - (a->cost < b->cost);
    return order ? order : by_index(a, b);
}

/* Lists the candidates in the order in which they are served. */
static bool open_auction(struct gsim_ctx *ctx, struct gsim_plan *plan, struct auction *auction) {
    const struct gsim_view *view = ctx->view;
    const struct state *state = ctx->state;
    struct gsim_arena *scratch = gsim_plan_scratch(plan);
    auction->candidate =
        scratch ? gsim_arena_array(scratch, view->jobs.n_active, sizeof *auction->candidate) : NULL;
    if (!auction->candidate) {
        gsim_common_no_memory(ctx);
        return false;
    }
    auction->gpus = view->cluster.n_idle_gpus;
    for (uint32_t i = 0; i < view->jobs.n_active; i++)
        auction->n_jobs += view->jobs.state[view->jobs.active[i]] != GSIM_DONE;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        gsim_slot slot = view->jobs.active[i];
        if (gsim_common_waits(view, slot) || is_over(ctx, slot))
            add(ctx, auction, slot, is_over(ctx, slot));
    }
    int64_t bidding_ppm = auction->n * (GSIM_PPM - state->fairness_ppm);
    auction->n_bidders = (uint32_t)((bidding_ppm + GSIM_PPM - 1) / GSIM_PPM);
    qsort(auction->candidate, auction->n, sizeof *auction->candidate, by_rho);
    qsort(auction->candidate, auction->n_bidders, sizeof *auction->candidate, by_cost);
    return true;
}

/* --- the outcome ------------------------------------------------------------------------------ */

static void place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    const struct state *state = ctx->state;
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
    if (gsim_plan_place(plan, slot, &shape))
        *lease_end(ctx, slot) = ctx->view->now_ns + state->lease_ns;
}

static void settle(struct gsim_ctx *ctx, struct gsim_plan *plan, struct auction *auction) {
    const struct state *state = ctx->state;
    struct candidate *end = auction->candidate + auction->n;
    for (struct candidate *c = auction->candidate; c < end; c++) {
        c->wins = c->gpus <= auction->gpus;
        auction->gpus -= c->wins ? c->gpus : 0;
    }
    for (struct candidate *c = auction->candidate; c < end; c++) {
        if (c->holds && c->wins)
            *lease_end(ctx, c->slot) = ctx->view->now_ns + state->lease_ns;
        else if (c->holds)
            (void)gsim_plan_preempt(plan, c->slot, GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE);
    }
    for (int wins = 1; wins >= 0; wins--)
        for (struct candidate *c = auction->candidate; c < end; c++)
            if (!c->holds && c->wins == wins)
                place(ctx, plan, c->slot);
}

/* Whether a job still waits, and the end of the first lease ahead. */
static bool look_ahead(const struct gsim_ctx *ctx, struct gsim_plan *plan, int64_t *next_ns) {
    const struct gsim_view *view = ctx->view;
    bool any_waits = false;
    *next_ns = GSIM_NEVER;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        gsim_slot slot = view->jobs.active[i];
        const struct gsim_unit *units;
        bool holds = gsim_plan_units(plan, slot, &units) > 0;
        any_waits |= !holds && view->jobs.state[slot] != GSIM_DONE;
        if (holds && *lease_end(ctx, slot) > view->now_ns && *lease_end(ctx, slot) < *next_ns)
            *next_ns = *lease_end(ctx, slot);
    }
    return any_waits;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct auction auction = {0};
    int64_t next_ns;
    if (!open_auction(ctx, plan, &auction))
        return;
    settle(ctx, plan, &auction);
    bool any_waits = look_ahead(ctx, plan, &next_ns);
    gsim_plan_wake(plan, any_waits ? next_ns : GSIM_NEVER);
}

static enum gsim_status open_themis(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->lease_ns = gsim_param(ctx->params, "lease");
    state->fairness_ppm = gsim_param(ctx->params, "fairness");
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    {.name = "lease",
     .type = GSIM_PARAM_TIME,
     .fallback = "20min",
     .min = GSIM_NS_PER_MS,
     .max = GSIM_TIME_MAX / 4,
     .help = "how long a job that wins holds its GPUs"},
    {.name = "fairness",
     .type = GSIM_PARAM_PPM,
     .fallback = "0.8",
     .min = 0,
     .max = GSIM_PPM - 1,
     .help = "the share of the candidates, those with the best rho, that may not bid"},
    {0}};

static const struct gsim_policy themis = {
    .name = "my-themis", /* gsim has a policy of that name itself */
    .summary = "the worst finish-time fairness bids first, by leases",
    .paper = "Mahajan et al., Themis: Fair and Efficient GPU Cluster Scheduling, NSDI 2020",
    .deviations =
        "single jobs all or nothing; a greedy auction without hidden payments or placement "
        "in bids; left-over GPUs by rho, not by lot",
    .is_oracle = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job),
    .open = open_themis,
    .decide = decide,
};
GSIM_POLICY_EXPORT(themis)
