/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Themis: GPUs go to the jobs that are farthest behind an equal part of the cluster, by auction.
 * Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020; its
 * program is not public, and the model follows a description of the paper.
 *
 * A job has its GPUs for a lease. GPUs without one are offered to the part 1 - f of the jobs with
 * the worst rho: the time from a job's arrival to its end over what it would be with an equal part
 * of the cluster, by the mean number of jobs while it was there. A bid is 1 / rho for each number
 * of GPUs that it may get, up to those that the job asks for; the speed on each is what the model
 * says of that many on as few nodes as can be. The winners have the allotment with the largest
 * product, of which each keeps a part (policies/themis/auction.h). The rest goes, a GPU at a
 * time, to jobs that bid for nothing, drawn at random, and then to the bidders.
 *
 * A job is an application with one process a GPU: it runs on fewer GPUs than it asks for, and
 * slower. What it would have with k GPUs is the end that it reaches with k for one lease and with
 * all that it asks for after that, so that none is a bid too. A part of a GPU that a winner keeps
 * is a whole one by lot. Jobs with a lease under way do not bid.
 *
 * Gavel's finish-time fairness, which others call Themis too, is --policy gavel with
 * objective=finish-time. */
#include <stdlib.h>
#include <string.h>

#include "policies/lib/common.h"
#include "policies/lib/random.h"
#include "policies/lib/real.h"
#include "policies/lib/rounds.h"
#include "policies/lib/settings.h"
#include "policies/themis/auction.h"
#include "sim/base/units.h"

struct job {
    gsim_slot slot;
    uint32_t gpus, has; /* that it asks for; of the lease under way */
    int64_t until_ns; /* of the lease; jobs without GPUs: of no meaning */
    double crowd; /* the sum of jobs over time at its arrival */
    bool has_ended, is_open; /* is_open: it has no lease, and may get one now */
    bool bids;
    bool keeps_pace; /* those found for it stay */
    uint32_t gets;
    double *pace, *log_value; /* by GPUs, 0 to `gpus` */
    uint32_t arrival; /* among the open jobs */
    uint64_t came; /* among all that have come */
    uint64_t listed_in; /* the auction for which it was listed last */
};

/* An open job's place among the others. */
struct behind {
    double rho;
    uint32_t number, arrival; /* in the trace; among the active jobs */
};

struct state {
    struct job *job; /* by number in the trace */
    uint32_t *active, n_active; /* by arrival */
    uint64_t n_came;
    bool is_one_type; /* all GPUs are */
    uint32_t *order; /* open jobs by arrival, at an auction the worst rho first */
    struct behind *behind; /* as the last auction ranked them */
    uint32_t n_behind;
    uint64_t n_auctions;
    uint32_t n_open;
    uint32_t *few; /* scratch: open jobs that may get a GPU more; that have GPUs, or get some */
    struct gsim_bidder *bidder;
    struct gsim_random random;
    double crowd; /* jobs over time so far, in s */
    int64_t crowd_ns; /* until when it is counted */
    int64_t lease_ns;
    double fairness;
    enum gsim_rule rule;
    struct gsim_preemption way;
    uint32_t n_repairs; /* of nodes, that an auction has seen */
    bool is_due;
    /* The first end to come of those that jobs note, waiting ones too, and how many jobs note it
     * (0: unknown). */
    int64_t next_ns;
    uint32_t n_next;
    int64_t first_end_ns; /* no lease ends before */
};

static struct state *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

static double s_of(int64_t ns) {
    return (double)ns / (double)GSIM_NS_PER_S;
}

static void count_crowd(const struct gsim_ctx *ctx, struct state *s) {
    s->crowd += s->n_active * s_of(ctx->view->now_ns - s->crowd_ns);
    s->crowd_ns = ctx->view->now_ns;
}

/* The job is an active one. */
static void drop(struct state *s, uint32_t number) {
    uint32_t low = 0, high = s->n_active - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->job[s->active[middle]].came < s->job[number].came)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(s->active + low, s->active + low + 1, (--s->n_active - low) * sizeof *s->active);
}

/* --- arrivals and ends ------------------------------------------------------------------------ */

/* How fast the job is with each number of GPUs, in its own time alone; 0: it cannot run so on each
 * type of them. Which GPUs it would get is not known: it counts as being on each as often as there
 * are of it. Only jobs with epochs, or in phases, have other paces later on. */
static void learn_paces(const struct gsim_ctx *ctx, struct job *job) {
    if (job->keeps_pace)
        return;
    struct gsim_modes modes;
    job->keeps_pace = !ctx->view->trace->goodput && !gsim_ask_modes(ctx, job->slot, &modes);
    job->pace[0] = 0;
    for (uint32_t k = 1; k <= job->gpus; k++) {
        struct gsim_paces paces = gsim_rounds_paces(ctx, job->slot, k, own(ctx)->is_one_type);
        job->pace[k] = paces.least > 0 ? paces.mean : 0;
    }
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot], gpus = ctx->view->jobs.gpus[slot];
    struct job *job = &s->job[number];
    double *lists = job->pace;
    count_crowd(ctx, s);
    if (!lists)
        lists = gsim_arena_array(ctx->arena, 2 * ((size_t)gpus + 1), sizeof *lists);
    if (!lists) {
        gsim_common_no_memory(ctx);
        return;
    }
    *job = (struct job){.slot = slot,
                        .gpus = gpus,
                        .crowd = s->crowd,
                        .pace = lists,
                        .log_value = lists + gpus + 1};
    job->came = s->n_came++;
    s->active[s->n_active++] = number;
    s->is_due = true;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = own(ctx);
    struct job *job = &s->job[ctx->view->jobs.index[slot]];
    count_crowd(ctx, s);
    job->has_ended = true;
    s->n_next -= s->n_next > 0 && job->until_ns == s->next_ns;
    drop(s, ctx->view->jobs.index[slot]);
    s->is_due = true;
}

/* --- how far jobs are behind ------------------------------------------------------------------ */

/* With an equal part of the cluster from its arrival on. */
static double fair_s(const struct gsim_ctx *ctx, const struct state *s, const struct job *job) {
    double age_s = s_of(ctx->view->now_ns - ctx->view->jobs.submit_ns[job->slot]);
    double jobs = age_s > 0 ? (s->crowd - job->crowd) / age_s : s->n_active;
    double part = jobs * job->gpus / ctx->view->cluster.n_gpus;
    int64_t all_ns = ctx->view->jobs.service_ns[job->slot];
    return s_of(all_ns > 0 ? all_ns : 1) * (part > 1 ? part : 1);
}

/* From its arrival to its end, with k GPUs for a lease and all that it asks for from then on. */
static double shared_s(const struct gsim_ctx *ctx, const struct state *s, const struct job *job,
                       uint32_t k) {
    double age_s = s_of(ctx->view->now_ns - ctx->view->jobs.submit_ns[job->slot]);
    double left_s = s_of(gsim_remaining_ns(ctx->view, job->slot)), lease_s = s_of(s->lease_ns);
    double full = job->pace[job->gpus] > 0 ? job->pace[job->gpus] : 1;
    if (left_s <= lease_s * job->pace[k] && job->pace[k] > 0)
        return age_s + left_s / job->pace[k];
    return age_s + lease_s + (left_s - lease_s * job->pace[k]) / full;
}

/* The job's bid for each number of GPUs that it may get of the pool. */
static void value(const struct gsim_ctx *ctx, const struct state *s, struct job *job,
                  uint32_t pool) {
    const double least_s = 1e-9;
    double fair = fair_s(ctx, s, job);
    for (uint32_t k = 0; k <= job->gpus && k <= pool; k++) {
        double shared = shared_s(ctx, s, job, k);
        job->log_value[k] = -gsim_real_log((shared > least_s ? shared : least_s) / fair);
    }
}

/* --- an auction ------------------------------------------------------------------------------- */

static bool runs_now(const struct gsim_ctx *ctx, const struct job *job) {
    return ctx->view->jobs.state[job->slot] == GSIM_RUNNING;
}

/* Lists the jobs without a lease. Returns the GPUs to be had. */
static uint32_t open_jobs(const struct gsim_ctx *ctx, struct state *s) {
    uint32_t pool = ctx->view->cluster.n_idle_gpus;
    s->n_open = 0;
    s->n_auctions++;
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct job *job = &s->job[s->active[i]];
        enum gsim_state state = (enum gsim_state)ctx->view->jobs.state[job->slot];
        bool has_run_out = runs_now(ctx, job) && job->until_ns <= ctx->view->now_ns;
        job->is_open = has_run_out || gsim_state_waits(state);
        job->gets = 0;
        job->bids = false;
        if (!job->is_open)
            continue;
        job->has = has_run_out ? job->has : 0;
        pool += job->has;
        learn_paces(ctx, job);
        job->arrival = s->n_open;
        s->order[s->n_open++] = s->active[i];
    }
    return pool;
}

static int by_rho(const void *left, const void *right) {
    const struct behind *a = left, *b = right;
    if (a->rho > b->rho || a->rho < b->rho)
        return a->rho > b->rho ? -1 : 1;
    return a->arrival < b->arrival ? -1 : 1;
}

static bool list(const struct gsim_ctx *ctx, struct state *s, uint32_t number, uint32_t at) {
    struct job *job = &s->job[number];
    if (!job->is_open || job->has_ended || job->listed_in == s->n_auctions)
        return false;
    double rho = shared_s(ctx, s, job, job->gpus) / fair_s(ctx, s, job);
    job->listed_in = s->n_auctions;
    s->behind[at] = (struct behind){rho, number, job->arrival};
    return true;
}

/* Puts open jobs where they stood in the last auction, and the others behind them: little changes
 * between two auctions. */
static void list_as_before(const struct gsim_ctx *ctx, struct state *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_behind; i++)
        n += list(ctx, s, s->behind[i].number, n);
    for (uint32_t i = 0; i < s->n_open; i++)
        n += list(ctx, s, s->order[i], n);
    s->n_behind = n;
}

/* Sorts by insertion as long as jobs have few others to pass; no two ranks are equal, so that every
 * way to sort gives one order. */
static void sort_behind(struct state *s) {
    const uint64_t most_passed = 8 * (uint64_t)s->n_behind;
    uint64_t n_passed = 0;
    for (uint32_t i = 1; i < s->n_behind && n_passed <= most_passed; i++) {
        struct behind one = s->behind[i];
        uint32_t at = i;
        for (; at > 0 && n_passed <= most_passed && by_rho(&one, &s->behind[at - 1]) < 0; at--) {
            s->behind[at] = s->behind[at - 1];
            n_passed++;
        }
        s->behind[at] = one;
    }
    if (n_passed > most_passed)
        qsort(s->behind, s->n_behind, sizeof *s->behind, by_rho);
}

static void rank_open_jobs(const struct gsim_ctx *ctx, struct state *s) {
    list_as_before(ctx, s);
    sort_behind(s);
    for (uint32_t i = 0; i < s->n_open; i++)
        s->order[i] = s->behind[i].number;
}

/* Whole GPUs, and one more by lot where a part is left. */
static uint32_t keep(struct state *s, const struct gsim_bidder *bidder) {
    const uint64_t fine = UINT64_C(1) << 32;
    double exact = bidder->won * bidder->kept;
    uint32_t whole = (uint32_t)exact;
    uint64_t lot = gsim_random_below(&s->random, fine);
    whole += (double)lot < (exact - whole) * (double)fine;
    return whole < bidder->won ? whole : bidder->won;
}

/* Returns the GPUs that the bidders leave. */
static uint32_t sell(struct gsim_ctx *ctx, struct state *s, uint32_t pool) {
    uint32_t n = (uint32_t)((1 - s->fairness) * s->n_active + 1 - 1e-9);
    n = n < 1 ? 1 : n > s->n_open ? s->n_open : n;
    for (uint32_t i = 0; i < n; i++) {
        struct job *job = &s->job[s->order[i]];
        job->bids = true;
        value(ctx, s, job, pool);
        s->bidder[i] = (struct gsim_bidder){.most = job->gpus, .log_value = job->log_value};
    }
    if (!gsim_auction(s->bidder, n, pool, ctx->arena)) {
        gsim_common_no_memory(ctx);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        pool -= s->job[s->order[i]].gets = keep(s, &s->bidder[i]);
    return pool;
}

static bool may_get_more(const struct job *job, bool is_bidder) {
    return job->bids == is_bidder && job->gets < job->gpus;
}

/* Gives the rest, a GPU at a time, to the job that has the lot: to jobs that do not bid, then to
 * those that do. */
static void give_rest(struct state *s, uint32_t pool, bool to_bidders) {
    uint32_t n = 0;
    for (uint32_t i = 0; pool > 0 && i < s->n_open; i++)
        if (may_get_more(&s->job[s->order[i]], to_bidders))
            s->few[n++] = s->order[i];
    for (; pool > 0 && n > 0; pool--) {
        uint32_t at = (uint32_t)gsim_random_below(&s->random, n);
        struct job *job = &s->job[s->few[at]];
        job->gets++;
        if (job->gets == job->gpus)
            memmove(s->few + at, s->few + at + 1, (--n - at) * sizeof *s->few);
    }
    if (pool > 0 && !to_bidders)
        give_rest(s, pool, true);
}

/* --- leases ----------------------------------------------------------------------------------- */

/* Stops the job, or moves it to its new number of GPUs; one that finds no room keeps its own. */
static void change(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s, struct job *job) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, job->slot, s->rule);
    shape.gpus = job->gets;
    if (job->gets == job->has)
        return;
    if (job->gets == 0 && gsim_plan_preempt(plan, job->slot, s->way.stop, s->way.keep))
        job->has = 0;
    else if (job->gets > 0 && gsim_plan_move(plan, job->slot, &shape))
        job->has = job->gets;
}

static void place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s, struct job *job) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, job->slot, s->rule);
    shape.gpus = job->gets;
    job->has = gsim_plan_place(plan, job->slot, &shape) ? job->gets : 0;
}

/* The next number of GPUs from `gpus` down on which the model says that the job runs; 0: none. */
static uint32_t runs_on(const struct job *job, uint32_t gpus) {
    while (gpus > 0 && job->pace[gpus] <= 0)
        gpus--;
    return gpus;
}

static bool none_has_gpus(const struct state *s) {
    for (uint32_t i = 0; i < s->n_active; i++)
        if (s->job[s->active[i]].has > 0)
            return false;
    return true;
}

/* No winner finds room, as where paused jobs' memory fills the GPUs: jobs that wait take what each
 * finds, the worst rho first, up to what it has won; jobs that have won nothing, up to what they
 * ask for. The GPUs would be idle for the lease, and the next auction could end as this one did. */
static void take_what_fits(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s) {
    for (uint32_t i = 0; i < s->n_open; i++) {
        struct job *job = &s->job[s->order[i]];
        if (runs_now(ctx, job)) /* it stops */
            continue;
        uint32_t gpus = runs_on(job, job->gets > 0 ? job->gets : job->gpus);
        for (; gpus > 0 && job->has == 0; gpus = runs_on(job, gpus - 1)) {
            job->gets = gpus;
            place(ctx, plan, s, job);
        }
    }
}

/* Lists the open jobs that have GPUs, or get some; the others only wait for another lease. */
static uint32_t list_few(struct gsim_ctx *ctx, struct state *s) {
    int64_t until_ns = ctx->view->now_ns + s->lease_ns;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_open; i++) {
        struct job *job = &s->job[s->order[i]];
        s->n_next -= s->n_next > 0 && job->until_ns == s->next_ns;
        job->until_ns = until_ns;
        if (job->gets > 0)
            job->gets = runs_on(job, job->gets);
        if (job->gets > 0 || runs_now(ctx, job))
            s->few[n++] = s->order[i];
    }
    s->n_next += s->n_next > 0 && until_ns == s->next_ns ? s->n_open : 0;
    return n;
}

/* Jobs that give up GPUs come first, then those that take more. */
static void lease(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s) {
    uint32_t n = list_few(ctx, s);
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < n; i++) {
            struct job *job = &s->job[s->few[i]];
            bool runs = runs_now(ctx, job);
            if (runs && pass == (job->gets < job->has ? 0 : 1))
                change(ctx, plan, s, job);
            else if (!runs && pass == 2 && job->gets > 0)
                place(ctx, plan, s, job);
        }
    if (none_has_gpus(s))
        take_what_fits(ctx, plan, s);
}

/* --- when to look ----------------------------------------------------------------------------- */

static void find_next_end(const struct gsim_ctx *ctx, struct state *s) {
    s->next_ns = GSIM_NEVER;
    s->n_next = 0;
    for (uint32_t i = 0; i < s->n_active; i++) {
        const struct job *job = &s->job[s->active[i]];
        if (job->until_ns <= ctx->view->now_ns || job->until_ns > s->next_ns)
            continue;
        s->n_next = job->until_ns < s->next_ns ? 1 : s->n_next + 1;
        s->next_ns = job->until_ns;
    }
}

/* Of leases, those that the plan under way gives included. Jobs that wait get one in an auction
 * alone, so that the first end comes no sooner before the next auction. */
static void find_first_end(const struct gsim_ctx *ctx, struct state *s) {
    s->first_end_ns = ctx->view->now_ns + s->lease_ns;
    for (uint32_t i = 0; i < s->n_active; i++) {
        const struct job *job = &s->job[s->active[i]];
        if (!gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]) &&
            job->until_ns < s->first_end_ns)
            s->first_end_ns = job->until_ns;
    }
}

static void on_timer(struct gsim_ctx *ctx) {
    own(ctx)->is_due = true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *s = own(ctx);
    s->is_due |= ctx->view->changes.n_settled > 0;
    s->is_due |= ctx->view->cluster.n_repairs != s->n_repairs;
    if (!s->is_due)
        return;
    s->is_due = false;
    s->n_repairs = ctx->view->cluster.n_repairs;
    count_crowd(ctx, s);
    bool may_sell = ctx->view->cluster.n_idle_gpus > 0 || ctx->view->now_ns >= s->first_end_ns;
    uint32_t pool = may_sell ? open_jobs(ctx, s) : 0;
    if (pool > 0 && s->n_open > 0) {
        rank_open_jobs(ctx, s);
        give_rest(s, sell(ctx, s, pool), false);
        lease(ctx, plan, s);
    }
    if (s->first_end_ns <= ctx->view->now_ns)
        find_first_end(ctx, s);
    else if (s->first_end_ns > ctx->view->now_ns + s->lease_ns)
        s->first_end_ns = ctx->view->now_ns + s->lease_ns;
    if (s->n_next == 0 || s->next_ns <= ctx->view->now_ns)
        find_next_end(ctx, s);
    gsim_plan_wake(plan, s->next_ns);
}

/* --- the table -------------------------------------------------------------------------------- */

static enum gsim_status open_themis(struct gsim_ctx *ctx) {
    struct state *s = own(ctx);
    size_t n = ctx->view->trace->n_jobs;
    s->lease_ns = gsim_param(ctx->params, "lease");
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "themis needs nodes, not a pool of GPUs");
    s->is_one_type = gsim_rounds_has_one_type(ctx->view);
    s->fairness = (double)gsim_param(ctx->params, "f") / (double)GSIM_PPM;
    s->rule = gsim_settings_rule(ctx);
    s->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    gsim_random_open(&s->random, ctx, "themis");
    s->job = gsim_arena_array(ctx->arena, n, sizeof *s->job);
    s->active = gsim_arena_array(ctx->arena, n, sizeof *s->active);
    s->order = gsim_arena_array(ctx->arena, n, sizeof *s->order);
    s->few = gsim_arena_array(ctx->arena, n, sizeof *s->few);
    s->behind = gsim_arena_array(ctx->arena, n, sizeof *s->behind);
    s->bidder = gsim_arena_array(ctx->arena, n, sizeof *s->bidder);
    return s->job && s->active && s->order && s->few && s->behind && s->bidder
               ? GSIM_OK
               : gsim_no_memory(ctx->log, "opening themis");
}

static const struct gsim_param_def params[] = {
    {.name = "f",
     .type = GSIM_PARAM_PPM,
     .fallback = "0.8",
     .min = 0,
     .max = GSIM_PPM - 1,
     .help = "GPUs are offered to the part 1 - f of the jobs that are worst off"},
    {.name = "lease",
     .type = GSIM_PARAM_TIME,
     .fallback = "20min",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "how long a job has its GPUs before they are offered again"},
    GSIM_PLACEMENT_PARAM,
    GSIM_PREEMPT_PARAM_AS("restart, as in Themis: its jobs write a checkpoint"),
    {0}};

const struct gsim_policy gsim_policy_themis = {
    .name = "themis",
    .summary = "leases of GPUs, auctioned among the jobs that are worst off",
    .paper = "Mahajan et al., NSDI 2020",
    .deviations = "bids are for numbers of GPUs, with one lease ahead; parts of GPUs are drawn by "
                  "lot; jobs with a lease under way do not bid; GPUs of different types count as "
                  "equal, each with the mean speed",
    .is_oracle = true,
    .names_gpus = true, /* an auction is of all GPUs, whichever a job may use */
    .chooses_widths = true,
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_themis,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_timer = on_timer,
    .decide = decide,
};
