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

#define NO_JOB UINT32_MAX

struct job {
    gsim_slot slot;
    uint32_t gpus, has; /* that it asks for; of the lease under way */
    double crowd; /* the sum of jobs over time at its arrival, the first one where nodes failed */
    bool has_come;
    bool keeps_pace; /* those found for it stay */
    double *pace; /* by GPUs, 0 to `gpus` */
    uint64_t came; /* among all that have come */
    /* It has had a lease in the last auction, or since one before: it is in the row of leases. Jobs
     * that are not there stand in the line. */
    bool is_in_row, is_back; /* is_back: it waits again */
    uint32_t before, after; /* in the row */
    int64_t until_ns; /* of its lease */
};

/* A job that waits, or has a lease that has run out: its place among the others. */
struct place {
    double rho;
    uint64_t came;
    uint32_t number; /* in the trace; NO_JOB: it has left the line */
    uint32_t gets;
    bool runs;
};

/* What it takes to find that again at a later time. All of it stays while the job waits. */
struct behind {
    uint64_t came;
    int64_t submit_ns;
    double crowd, alone_s;
    double left_s, rest_s; /* of its work; of the time for that, beyond a lease if there is more */
    uint32_t gpus;
    bool ends_in_lease; /* with all GPUs that it asks for */
};

struct state {
    struct job *job; /* by number in the trace */
    uint32_t n_active;
    uint64_t n_came;
    bool is_one_type; /* all GPUs are */
    /* Jobs that may bid: `n_ranked` as the last auction ranked them, then newcomers. Of the first,
     * n_waiting have not left, and all note the end that a lease of that auction has. */
    struct place *line;
    struct behind *behind; /* by number in the trace, of jobs in the line */
    uint32_t n_line, n_ranked, n_waiting;
    int64_t noted_ns;
    /* The row of leases: the first to end comes first, since all are of one length. */
    uint32_t first, last;
    uint32_t *back, n_back; /* jobs of the row that wait again */
    uint32_t n_with_gpus;
    uint32_t n_bidders;
    uint32_t *few; /* scratch: places in line of jobs that may get a GPU more; that have some */
    struct gsim_bidder *bidder;
    double *log_value; /* scratch: of each bidder, by GPUs */
    size_t room_values;
    struct gsim_random random;
    double crowd; /* jobs over time so far, in s */
    int64_t crowd_ns; /* until when it is counted */
    int64_t lease_ns;
    double fairness;
    enum gsim_rule rule;
    struct gsim_preemption way;
    uint32_t n_repairs, n_failures; /* of nodes, that a decide, or an auction, has seen */
    bool is_due;
    bool has_other_paces; /* of jobs in other epochs, or phases */
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

/* --- the row of leases, and the line ---------------------------------------------------------- */

static void set_gpus(struct state *s, struct job *job, uint32_t gpus) {
    s->n_with_gpus += gpus > 0;
    s->n_with_gpus -= job->has > 0;
    job->has = gpus;
}

static void leave_row(struct state *s, struct job *job) {
    *(job->before == NO_JOB ? &s->first : &s->job[job->before].after) = job->after;
    *(job->after == NO_JOB ? &s->last : &s->job[job->after].before) = job->before;
    job->is_in_row = job->is_back = false;
}

static void join_row(struct state *s, uint32_t number) {
    struct job *job = &s->job[number];
    job->before = s->last;
    job->after = NO_JOB;
    *(s->last == NO_JOB ? &s->first : &s->job[s->last].after) = number;
    s->last = number;
    job->is_in_row = true;
    job->until_ns = s->noted_ns;
}

static void join_line(struct state *s, uint32_t number, bool runs) {
    s->line[s->n_line++] = (struct place){.number = number, .runs = runs};
}

static void leave_line(struct state *s, uint32_t at) {
    s->line[at].number = NO_JOB;
    s->n_waiting -= at < s->n_ranked;
}

/* Drops the places of jobs that have left. */
static void close_line(struct state *s) {
    uint32_t n = 0, n_ranked = 0;
    for (uint32_t i = 0; i < s->n_line; i++) {
        if (s->line[i].number == NO_JOB)
            continue;
        n_ranked += i < s->n_ranked;
        if (n != i)
            s->line[n] = s->line[i];
        n++;
    }
    s->n_line = n;
    s->n_ranked = n_ranked;
}

static bool runs_now(const struct gsim_ctx *ctx, const struct job *job) {
    return ctx->view->jobs.state[job->slot] == GSIM_RUNNING;
}

static bool has_run_out(const struct gsim_ctx *ctx, const struct job *job) {
    return job->until_ns <= ctx->view->now_ns;
}

/* Notes jobs of the row that have given up their GPUs. */
static void note_back(const struct gsim_ctx *ctx, struct state *s) {
    for (uint32_t i = 0; i < ctx->view->changes.n_settled; i++) {
        gsim_slot slot = ctx->view->changes.settled[i];
        uint32_t number = ctx->view->jobs.index[slot];
        struct job *job = &s->job[number];
        bool waits = gsim_state_waits((enum gsim_state)ctx->view->jobs.state[slot]);
        if (!waits || job->slot != slot || !job->is_in_row || job->is_back)
            continue;
        job->is_back = true;
        s->back[s->n_back++] = number;
    }
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
    own(ctx)->has_other_paces |= !job->keeps_pace;
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
    double *pace = job->pace;
    count_crowd(ctx, s);
    if (!pace)
        pace = gsim_arena_array(ctx->arena, (size_t)gpus + 1, sizeof *pace);
    if (!pace) {
        gsim_common_no_memory(ctx);
        return;
    }
    double crowd = job->has_come ? job->crowd : s->crowd;
    *job = (struct job){.slot = slot, .gpus = gpus, .crowd = crowd, .has_come = true, .pace = pace};
    job->came = s->n_came++;
    s->n_active++;
    if (s->n_line == ctx->view->trace->n_jobs)
        close_line(s);
    join_line(s, number, false);
    s->is_due = true;
}

/* A job that waits ends where its node fails or its process dies, which is rare. */
static void forget(struct state *s, uint32_t number) {
    struct job *job = &s->job[number];
    uint32_t at = s->n_line, n = 0;
    for (uint32_t i = 0; job->is_back && i < s->n_back; i++)
        if (s->back[i] != number)
            s->back[n++] = s->back[i];
    s->n_back -= job->is_back;
    if (job->is_in_row) {
        leave_row(s, job);
        return;
    }
    while (at > 0 && s->line[at - 1].number != number)
        at--;
    if (at > 0)
        leave_line(s, at - 1);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    count_crowd(ctx, s);
    set_gpus(s, &s->job[number], 0);
    forget(s, number);
    s->n_active--;
    s->is_due = true;
}

/* --- how far jobs are behind ------------------------------------------------------------------ */

static void describe(const struct gsim_ctx *ctx, const struct state *s, uint32_t number) {
    struct job *job = &s->job[number];
    struct behind *at = &s->behind[number];
    learn_paces(ctx, job);
    int64_t all_ns = ctx->view->jobs.service_ns[job->slot];
    double pace = job->pace[job->gpus], lease_s = s_of(s->lease_ns);
    at->came = job->came;
    at->gpus = job->gpus;
    at->submit_ns = ctx->view->jobs.submit_ns[job->slot];
    at->crowd = job->crowd;
    at->alone_s = s_of(all_ns > 0 ? all_ns : 1);
    at->left_s = s_of(gsim_remaining_ns(ctx->view, job->slot));
    at->ends_in_lease = at->left_s <= lease_s * pace && pace > 0;
    at->rest_s = at->ends_in_lease ? at->left_s / pace
                                   : (at->left_s - lease_s * pace) / (pace > 0 ? pace : 1);
}

/* With an equal part of the cluster from its arrival on. */
static double fair_s(const struct gsim_ctx *ctx, const struct state *s, const struct behind *at,
                     double age_s) {
    double jobs = age_s > 0 ? (s->crowd - at->crowd) / age_s : s->n_active;
    double part = jobs * at->gpus / ctx->view->cluster.n_gpus;
    return at->alone_s * (part > 1 ? part : 1);
}

/* From its arrival to its end, with all GPUs that it asks for. */
static double rho(const struct gsim_ctx *ctx, const struct state *s, const struct behind *at,
                  double lease_s) {
    double age_s = s_of(ctx->view->now_ns - at->submit_ns);
    double shared_s = age_s + (at->ends_in_lease ? 0 : lease_s) + at->rest_s;
    return shared_s / fair_s(ctx, s, at, age_s);
}

/* The job's rho for each number of GPUs that it may get of the pool: with that many for a lease,
 * and all that it asks for from then on. Returns how many numbers these are. */
static uint32_t value(const struct gsim_ctx *ctx, const struct state *s, uint32_t number,
                      uint32_t pool, double *rhos) {
    const double least_s = 1e-9;
    const struct job *job = &s->job[number];
    const struct behind *at = &s->behind[number];
    double age_s = s_of(ctx->view->now_ns - at->submit_ns), lease_s = s_of(s->lease_ns);
    double fair = fair_s(ctx, s, at, age_s);
    double full = job->pace[job->gpus] > 0 ? job->pace[job->gpus] : 1;
    uint32_t most = job->gpus < pool ? job->gpus : pool;
    for (uint32_t k = 0; k <= most; k++) {
        double pace = job->pace[k];
        double shared = at->left_s <= lease_s * pace && pace > 0
                            ? age_s + at->left_s / pace
                            : age_s + lease_s + (at->left_s - lease_s * pace) / full;
        rhos[k] = (shared > least_s ? shared : least_s) / fair;
    }
    return most + 1;
}

/* --- an auction ------------------------------------------------------------------------------- */

/* The GPUs to be had: idle ones, and those of leases that have run out. */
static uint32_t find_pool(const struct gsim_ctx *ctx, const struct state *s) {
    uint32_t pool = ctx->view->cluster.n_idle_gpus;
    for (uint32_t i = s->first; i != NO_JOB && has_run_out(ctx, &s->job[i]); i = s->job[i].after)
        pool += runs_now(ctx, &s->job[i]) ? s->job[i].has : 0;
    return pool;
}

/* Has jobs of the row that may bid stand in the line. */
static void open_jobs(const struct gsim_ctx *ctx, struct state *s) {
    uint32_t after;
    close_line(s);
    for (uint32_t i = 0; i < s->n_back; i++) {
        set_gpus(s, &s->job[s->back[i]], 0);
        leave_row(s, &s->job[s->back[i]]);
        join_line(s, s->back[i], false);
    }
    s->n_back = 0;
    for (uint32_t i = s->first; i != NO_JOB && has_run_out(ctx, &s->job[i]); i = after) {
        after = s->job[i].after;
        if (!runs_now(ctx, &s->job[i]))
            continue;
        leave_row(s, &s->job[i]);
        join_line(s, i, true);
    }
}

static int by_rho(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->rho > b->rho || a->rho < b->rho)
        return a->rho > b->rho ? -1 : 1;
    return a->came < b->came ? -1 : 1;
}

/* Sorts by insertion as long as jobs have few others to pass, since little changes between two
 * auctions; no two ranks are equal, so that every way to sort gives one order. */
static void sort_line(struct state *s) {
    const uint64_t most_passed = 8 * (uint64_t)s->n_line;
    uint64_t n_passed = 0;
    for (uint32_t i = 1; i < s->n_line && n_passed <= most_passed; i++) {
        if (by_rho(&s->line[i - 1], &s->line[i]) < 0)
            continue;
        struct place one = s->line[i];
        uint32_t at = i;
        for (; at > 0 && n_passed <= most_passed && by_rho(&one, &s->line[at - 1]) < 0; at--) {
            s->line[at] = s->line[at - 1];
            n_passed++;
        }
        s->line[at] = one;
    }
    if (n_passed > most_passed)
        qsort(s->line, s->n_line, sizeof *s->line, by_rho);
}

/* The line, with the worst rho first. What a job has done may be lost with a node. */
static void rank_line(const struct gsim_ctx *ctx, struct state *s) {
    bool is_anew = s->has_other_paces || ctx->view->cluster.n_failures != s->n_failures;
    double lease_s = s_of(s->lease_ns);
    s->n_failures = ctx->view->cluster.n_failures;
    for (uint32_t i = is_anew ? 0 : s->n_ranked; i < s->n_line; i++)
        describe(ctx, s, s->line[i].number);
    for (uint32_t i = 0; i < s->n_line; i++) {
        const struct behind *at = &s->behind[s->line[i].number];
        s->line[i].came = at->came;
        s->line[i].rho = rho(ctx, s, at, lease_s);
        s->line[i].gets = 0;
    }
    sort_line(s);
    s->n_ranked = s->n_waiting = s->n_line;
    s->noted_ns = ctx->view->now_ns + s->lease_ns;
}

/* Whole GPUs, and one more by lot where a part is left. A bidder that has won none draws as well.
 * Lots are the lower half of a number: all are equally likely. */
static uint32_t keep(struct state *s, const struct gsim_bidder *bidder) {
    uint32_t lot = (uint32_t)gsim_random_next(&s->random);
    if (bidder->won == 0)
        return 0;
    const double fine = (double)(UINT64_C(1) << 32);
    double exact = bidder->won * bidder->kept;
    uint32_t whole = (uint32_t)exact;
    whole += lot < (exact - whole) * fine;
    return whole < bidder->won ? whole : bidder->won;
}

/* Each bidder says what it would have of the pool. false: no memory. */
static bool bid(struct gsim_ctx *ctx, struct state *s, uint32_t pool) {
    uint32_t n_values = 0;
    size_t most = 0;
    for (uint32_t i = 0; i < s->n_bidders; i++)
        most += s->behind[s->line[i].number].gpus + (size_t)1;
    if (most > s->room_values) {
        double *values = gsim_arena_grow_raw(ctx->arena, s->log_value, 2 * most * sizeof *values);
        if (!values)
            return false;
        s->log_value = values;
        s->room_values = 2 * most;
    }
    for (uint32_t i = 0; i < s->n_bidders; i++) {
        uint32_t number = s->line[i].number;
        s->bidder[i] = (struct gsim_bidder){.most = s->behind[number].gpus,
                                            .log_value = s->log_value + n_values};
        n_values += value(ctx, s, number, pool, s->log_value + n_values);
    }
    gsim_real_logs(s->log_value, n_values);
    for (uint32_t i = 0; i < n_values; i++) /* a bid is 1 / rho */
        s->log_value[i] = -s->log_value[i];
    return true;
}

/* Returns the GPUs that the bidders leave. */
static uint32_t sell(struct gsim_ctx *ctx, struct state *s, uint32_t pool) {
    uint32_t n = (uint32_t)((1 - s->fairness) * s->n_active + 1 - 1e-9);
    n = n < 1 ? 1 : n > s->n_line ? s->n_line : n;
    s->n_bidders = n;
    if (!bid(ctx, s, pool) || !gsim_auction(s->bidder, n, pool, ctx->arena)) {
        gsim_common_no_memory(ctx);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        pool -= s->line[i].gets = keep(s, &s->bidder[i]);
    return pool;
}

/* Gives the rest, a GPU at a time, to the job that has the lot: to jobs that do not bid, then to
 * those that do. */
static void give_rest(struct state *s, uint32_t pool, bool to_bidders) {
    uint32_t n = 0, end = to_bidders ? s->n_bidders : s->n_line;
    for (uint32_t i = to_bidders ? 0 : s->n_bidders; pool > 0 && i < end; i++)
        if (s->line[i].gets < s->behind[s->line[i].number].gpus)
            s->few[n++] = i;
    for (; pool > 0 && n > 0; pool--) {
        uint32_t lot = (uint32_t)gsim_random_below(&s->random, n);
        struct place *at = &s->line[s->few[lot]];
        at->gets++;
        if (at->gets == s->behind[at->number].gpus)
            memmove(s->few + lot, s->few + lot + 1, (--n - lot) * sizeof *s->few);
    }
    if (pool > 0 && !to_bidders)
        give_rest(s, pool, true);
}

/* --- leases ----------------------------------------------------------------------------------- */

/* Stops the job, or moves it to its new number of GPUs; one that finds no room keeps its own. */
static void change(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s, struct job *job,
                   uint32_t gets) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, job->slot, s->rule);
    shape.gpus = gets;
    if (gets == job->has)
        return;
    if (gets == 0 && gsim_plan_preempt(plan, job->slot, s->way.stop, s->way.keep))
        set_gpus(s, job, 0);
    else if (gets > 0 && gsim_settings_move(plan, job->slot, &shape, s->way))
        set_gpus(s, job, gets);
}

static void place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s, struct job *job,
                  uint32_t gets) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, job->slot, s->rule);
    shape.gpus = gets;
    set_gpus(s, job, gsim_plan_place(plan, job->slot, &shape) ? gets : 0);
}

/* The next number of GPUs from `gpus` down on which the model says that the job runs; 0: none. */
static uint32_t runs_on(const struct job *job, uint32_t gpus) {
    while (gpus > 0 && job->pace[gpus] <= 0)
        gpus--;
    return gpus;
}

/* Jobs that ran, and jobs that run now, leave the line for the row. */
static void note_lease(struct state *s, uint32_t at) {
    uint32_t number = s->line[at].number;
    if (!s->line[at].runs && s->job[number].has == 0)
        return;
    leave_line(s, at);
    join_row(s, number);
}

/* No winner finds room, as where paused jobs' memory fills the GPUs: jobs that wait take what each
 * finds, the worst rho first, up to what it has won; jobs that have won nothing, up to what they
 * ask for. The GPUs would be idle for the lease, and the next auction could end as this one did. */
static void take_what_fits(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s) {
    for (uint32_t i = 0; i < s->n_line; i++) {
        const struct place *at = &s->line[i];
        if (at->number == NO_JOB) /* it stops */
            continue;
        struct job *job = &s->job[at->number];
        uint32_t gpus = runs_on(job, at->gets > 0 ? at->gets : job->gpus);
        for (; gpus > 0 && job->has == 0; gpus = runs_on(job, gpus - 1))
            place(ctx, plan, s, job, gpus);
        note_lease(s, i);
    }
}

/* Lists the open jobs that have GPUs, or get some; the others only wait for another lease. */
static uint32_t list_few(struct state *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_line; i++) {
        struct place *at = &s->line[i];
        if (at->gets > 0)
            at->gets = runs_on(&s->job[at->number], at->gets);
        if (at->gets > 0 || at->runs)
            s->few[n++] = i;
    }
    return n;
}

/* Jobs that give up GPUs come first, then those that take more. */
static void lease(struct gsim_ctx *ctx, struct gsim_plan *plan, struct state *s) {
    uint32_t n = list_few(s);
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < n; i++) {
            const struct place *at = &s->line[s->few[i]];
            struct job *job = &s->job[at->number];
            if (at->runs && pass == (at->gets < job->has ? 0 : 1))
                change(ctx, plan, s, job, at->gets);
            else if (!at->runs && pass == 2 && at->gets > 0)
                place(ctx, plan, s, job, at->gets);
        }
    for (uint32_t i = 0; i < n; i++)
        note_lease(s, s->few[i]);
    if (s->n_with_gpus == 0)
        take_what_fits(ctx, plan, s);
}

/* --- when to look ----------------------------------------------------------------------------- */

/* The first end to come of those that jobs note, waiting ones too. */
static int64_t next_end(const struct gsim_ctx *ctx, const struct state *s) {
    uint32_t i = s->first;
    while (i != NO_JOB && has_run_out(ctx, &s->job[i]))
        i = s->job[i].after;
    if (i != NO_JOB)
        return s->job[i].until_ns;
    return s->n_waiting > 0 && s->noted_ns > ctx->view->now_ns ? s->noted_ns : GSIM_NEVER;
}

static void on_timer(struct gsim_ctx *ctx) {
    own(ctx)->is_due = true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *s = own(ctx);
    s->is_due |= ctx->view->changes.n_settled > 0;
    note_back(ctx, s);
    s->is_due |= ctx->view->cluster.n_repairs != s->n_repairs;
    if (!s->is_due)
        return;
    s->is_due = false;
    s->n_repairs = ctx->view->cluster.n_repairs;
    count_crowd(ctx, s);
    uint32_t pool = find_pool(ctx, s);
    if (pool > 0)
        open_jobs(ctx, s);
    if (pool > 0 && s->n_line > 0) {
        rank_line(ctx, s);
        give_rest(s, sell(ctx, s, pool), false);
        lease(ctx, plan, s);
    }
    gsim_plan_wake(plan, next_end(ctx, s));
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
    s->first = s->last = NO_JOB;
    s->line = gsim_arena_array(ctx->arena, n, sizeof *s->line);
    s->behind = gsim_arena_array(ctx->arena, n, sizeof *s->behind);
    s->back = gsim_arena_array(ctx->arena, n, sizeof *s->back);
    s->few = gsim_arena_array(ctx->arena, n, sizeof *s->few);
    s->bidder = gsim_arena_array(ctx->arena, n, sizeof *s->bidder);
    return s->job && s->line && s->behind && s->back && s->few && s->bidder
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
