/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/shockwave/plan.h"

#include <stddef.h>

#include "policies/lib/real.h"
#include "policies/shockwave/one_job.h"
#include "sim/base/hints.h"

void gsim_future_measure(const struct gsim_future *f, struct gsim_future_job *job) {
    double so_far = gsim_future_log_of(f, gsim_future_part_done(f, job, 0)),
           then = gsim_future_log_of(f, gsim_future_part_done(f, job, 1));
    double off =
        gsim_future_rounding_part * ((so_far < 0 ? -so_far : so_far) + (then < 0 ? -then : then));
    bool can_run = gsim_future_work_s(f, job, 1) > gsim_future_work_s(f, job, 0);
    job->log_so_far = so_far;
    job->most_log_gain = can_run ? (then - so_far + off) / job->gpus : 0;
}

/* --- orders ----------------------------------------------------------------------------------- */

/* The numbers stand in the heap, where gsim_heap would ask for each comparison. */
static bool is_before(struct gsim_future_rank a, struct gsim_future_rank b) {
    return a.value > b.value || (!(a.value < b.value) && a.job < b.job);
}

static void sink(struct gsim_future_rank *heap, uint32_t n, uint32_t at) {
    struct gsim_future_rank moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_before(heap[child + 1], heap[child]);
        if (is_before(moved, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void push(struct gsim_future *f, struct gsim_future_rank rank) {
    uint32_t at = f->n_more++;
    for (; at > 0 && is_before(rank, f->more[(at - 1) / 2]); at = (at - 1) / 2)
        f->more[at] = f->more[(at - 1) / 2];
    f->more[at] = rank;
}

/* Puts the number in place of the first one of the heap; at most 0: takes that out. */
static void replace(struct gsim_future_rank *heap, uint32_t *n, struct gsim_future_rank rank) {
    heap[0] = rank.value > 0 ? rank : heap[--*n];
    if (*n > 1)
        sink(heap, *n, 0);
}

static void pile(struct gsim_future_order *order) {
    order->n_piled = order->n;
    for (uint32_t at = order->n / 2; at-- > 0;)
        sink(order->rank, order->n, at);
}

struct gsim_future_rank gsim_future_nth(struct gsim_future_order *order, uint32_t nth) {
    while (order->n - order->n_piled <= nth) {
        struct gsim_future_rank first = order->rank[0];
        order->rank[0] = order->rank[--order->n_piled];
        order->rank[order->n_piled] = first;
        if (order->n_piled > 1)
            sink(order->rank, order->n_piled, 0);
    }
    return order->rank[order->n - 1 - nth];
}

/* --- all jobs --------------------------------------------------------------------------------- */

/* What the job gains by one round more than these, with which it has that utility. */
static double gain_of(const struct gsim_future *f, const struct gsim_future_job *job, uint32_t n,
                      double with, double *next) {
    *next = with;
    if (n == f->n_rounds || gsim_future_work_s(f, job, n + 1) <= gsim_future_work_s(f, job, n))
        return -1;
    *next = gsim_future_utility(f, job, n + 1);
    return (*next - with) / job->gpus;
}

static void find_gain(const struct gsim_future *f, struct gsim_future_job *job) {
    job->gain = gain_of(f, job, job->next, job->utility, &job->next_utility);
}

/* What the job gains by its first round. */
static void find_first_gain(struct gsim_future *f, struct gsim_future_job *job) {
    job->utility = job->first_utility = gsim_future_utility(f, job, 0);
    find_gain(f, job);
    job->first_gain = job->gain;
    job->first_next_utility = job->next_utility;
}

static GSIM_APART void find_weight(struct gsim_future *f, uint32_t i) {
    f->weigh(f->of, i, i + 1);
    f->job[i]->is_bound = false;
    find_first_gain(f, f->job[i]);
}

/* Has the weight of a job that has no round under the bound under way. */
static inline void know(struct gsim_future *f, uint32_t i) {
    if (f->job[i]->is_bound)
        find_weight(f, i);
}

static void know_all(struct gsim_future *f) {
    if (f->weigh)
        f->weigh(f->of, 0, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->job[i]->is_bound)
            continue;
        f->job[i]->is_bound = false;
        find_first_gain(f, f->job[i]);
    }
}

/* Notes the most that the job may gain by its first round. Returns how far from 0 its utility is at
 * most. */
static double bound_first_gain(struct gsim_future *f, uint32_t i, double factor) {
    struct gsim_future_job *job = f->job[i];
    f->first_most[i] = job->weight * job->most_log_gain * factor;
    return -job->weight * job->log_so_far * factor;
}

/* Notes what a job of known weight gains by its first round. Returns how far from 0 its utility
 * is. */
static double note_first_gain(struct gsim_future *f, uint32_t i) {
    struct gsim_future_job *job = f->job[i];
    find_first_gain(f, job);
    f->first_most[i] = job->gain;
    return job->utility < 0 ? -job->utility : job->utility;
}

/* Most jobs of a long queue have no round under most bounds: what they gain by the first one is
 * found once for all of them. Returns how far from 0 their utilities are at most, all together. */
static double find_first_gains(struct gsim_future *f) {
    double sum = 0, factor = (1 + gsim_future_rounding_part) / ((double)f->n * f->n_rounds);
    f->narrowest = UINT32_MAX;
    f->n_filled = 0;
    f->has_gifts = f->are_gifts_all = false;
    f->n_gifts = 0;
    f->by_left.n = f->n;
    for (uint32_t i = 0; i < f->n; i++) {
        struct gsim_future_job *job = f->job[i];
        job->next = job->rounds = job->base = job->most_base = f->apart[i] = 0;
        sum += job->is_bound ? bound_first_gain(f, i, factor) : note_first_gain(f, i);
        f->narrowest = job->gpus < f->narrowest ? job->gpus : f->narrowest;
        f->by_left.rank[i] = (struct gsim_future_rank){gsim_future_left_s(f, job, 0), i};
    }
    pile(&f->by_left);
    return sum;
}

/* The job gets rounds under the bound under way, or more of them. */
static void hold(struct gsim_future *f, uint32_t i, uint32_t rounds) {
    know(f, i);
    if (f->job[i]->next == 0)
        f->holder[f->n_holders++] = i;
    f->job[i]->next = rounds;
}

/* No job has a round. */
static void release(struct gsim_future *f) {
    for (uint32_t at = 0; at < f->n_holders; at++) {
        struct gsim_future_job *job = f->job[f->holder[at]];
        job->next = 0;
        job->gain = job->first_gain;
        job->next_utility = job->first_next_utility;
        job->utility = job->first_utility;
    }
    f->n_holders = f->n_more = 0;
}

/* Lists the jobs that must not have as much left as they do. false: no plan gives them rounds
 * enough. */
static bool list_demanding(struct gsim_future *f) {
    int64_t left = (int64_t)f->n_gpus * f->n_rounds;
    f->n_demanding = 0;
    for (uint32_t i = 0; i < f->n && left >= 0; i++) {
        struct gsim_future_job *job = f->job[i];
        if (!(gsim_future_left_s(f, job, 0) >
              job->most_left_s)) /* nor where there are no GPUs, and no number */
            continue;
        uint32_t rounds = gsim_future_rounds_for(f, job, job->most_left_s);
        left = rounds <= f->n_rounds ? left - (int64_t)rounds * job->gpus : -1;
        f->demanding[f->n_demanding++] = i;
    }
    return left >= 0;
}

/* Gives what the bounds demand. Returns the rounds of GPUs that are left; -1: there are too few. */
static int64_t give_demanded(struct gsim_future *f, double most_left_s) {
    int64_t left = (int64_t)f->n_gpus * f->n_rounds;
    for (uint32_t at = 0; at < f->n_demanding; at++) {
        struct gsim_future_job *job = f->job[f->demanding[at]];
        hold(f, f->demanding[at], gsim_future_rounds_for(f, job, job->most_left_s));
        left -= (int64_t)job->next * job->gpus;
    }
    for (uint32_t nth = 0; nth < f->n && left >= 0; nth++) {
        struct gsim_future_rank rank = gsim_future_nth(&f->by_left, nth);
        if (rank.value <= most_left_s)
            break;
        struct gsim_future_job *job = f->job[rank.job];
        uint32_t had = job->next, rounds = gsim_future_rounds_for(f, job, most_left_s);
        if (rounds <= had)
            continue;
        hold(f, rank.job, rounds);
        left = rounds <= f->n_rounds ? left - (int64_t)(rounds - had) * job->gpus : -1;
    }
    return left >= 0 ? left : -1;
}

/* Lists what the job gains by one more round. */
static void list_more(struct gsim_future *f, uint32_t i) {
    if (f->job[i]->gain > 0)
        push(f, (struct gsim_future_rank){f->job[i]->gain, i});
}

/* Gives the job a round more. */
static void give(struct gsim_future *f, uint32_t i) {
    struct gsim_future_job *job = f->job[i];
    hold(f, i, job->next + 1);
    job->utility = job->next_utility;
    find_gain(f, job);
}

/* Has the first job of those that are not in order yet stand there by what it gains, not by a bound
 * of that: a job stands behind its bound. */
static void find_next(struct gsim_future *f) {
    struct gsim_future_order *order = &f->by_gain;
    while (order->n_piled > 0) {
        struct gsim_future_rank *first = &order->rank[0];
        know(f, first->job);
        if (first->value <= f->job[first->job]->first_gain)
            return;
        first->value = f->job[first->job]->first_gain;
        sink(order->rank, order->n_piled, 0);
    }
}

/* The first job by gain of those without a round; false: there is none. */
static bool next_without(struct gsim_future *f, uint32_t *nth, struct gsim_future_rank *next) {
    for (; *nth < f->by_gain.n; ++*nth) {
        if (f->by_gain.n - f->by_gain.n_piled <= *nth)
            find_next(f);
        *next = gsim_future_nth(&f->by_gain, *nth);
        if (next->value <= 0)
            return false;
        if (f->job[next->job]->next == 0)
            return true;
    }
    return false;
}

/* --- rounds that gain much -------------------------------------------------------------------- */

/* Gains of rounds of one straight piece of the logarithm are equal but for rounding: progress is
 * off by some 2^-51, the logarithm, which grows by no more than 61 times as much, by some 3e-14
 * with its own rounding, and a gain, of two of them, by 6e-14. This is how far two of them are
 * apart at most, by GPU, with room to spare. */
static double off_of(const struct gsim_future *f, const struct gsim_future_job *job) {
    const double off = 1e-12;
    return off * job->weight / ((double)f->n * f->n_rounds) / job->gpus;
}

/* The end of the rounds behind `from` that are whole, and of which each adds as much to the job's
 * progress inside one piece of the logarithm as the first one; at least that one. */
static uint32_t straight_to(const struct gsim_future *f, const struct gsim_future_job *job,
                            uint32_t from) {
    const double pieces = GSIM_FUTURE_PIECES;
    double part = gsim_future_part_done(f, job, from), step = f->round_s / job->epoch_s / job->all;
    double whole = (job->all - job->done) * job->epoch_s / f->round_s;
    double to = from + (((uint32_t)(part * pieces) + 1) / pieces - part) / step;
    to = to < whole ? to : whole;
    to = to < f->n_rounds ? to : f->n_rounds;
    return to >= from + 1 ? (uint32_t)to : from + 1;
}

/* Finds the first rounds of the job that each gain more than the level, and what it gains by the
 * next one. Returns how many more there may be, where rounding leaves that open. */
static uint32_t find_base(const struct gsim_future *f, struct gsim_future_job *job) {
    double off = off_of(f, job);
    job->base = 0;
    job->base_utility = job->first_utility;
    job->base_next_utility = job->first_next_utility;
    job->base_gain = job->first_gain;
    while (job->base_gain > f->level) {
        uint32_t to = straight_to(f, job, job->base);
        if (to > job->base + 1 && job->base_gain - off <= f->level)
            return f->n_rounds - job->base;
        bool is_next = to == job->base + 1;
        job->base_utility = is_next ? job->base_next_utility : gsim_future_utility(f, job, to);
        job->base_gain = gain_of(f, job, to, job->base_utility, &job->base_next_utility);
        job->base = to;
    }
    return 0;
}

static void count_base(struct gsim_future *f, struct gsim_future_job *job) {
    uint32_t more = find_base(f, job);
    job->most_base = job->base + more;
    f->base_rounds += (int64_t)job->most_base * job->gpus;
}

/* Finds the rounds that gain more than the level, and lists the jobs that have none. */
static void find_bases(struct gsim_future *f) {
    f->n_based = f->by_gain.n = 0;
    f->base_rounds = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->first_most[i] > f->level) {
            know(f, i);
            count_base(f, f->job[i]);
        }
        if (f->first_most[i] > f->level && f->job[i]->most_base > 0)
            f->based[f->n_based++] = i;
        else if (f->first_most[i] > 0)
            f->by_gain.rank[f->by_gain.n++] = (struct gsim_future_rank){f->first_most[i], i};
    }
    pile(&f->by_gain);
}

/* Fewer rounds gain more than a higher level; jobs that have none then stay listed. */
static void raise_level(struct gsim_future *f, double times) {
    f->level *= times;
    f->base_rounds = 0;
    for (uint32_t at = 0; at < f->n_based; at++)
        count_base(f, f->job[f->based[at]]);
}

/* Of few rounds bounds demand a large part, and leave others less room from one to the next: there
 * the order in which the first bound gave rounds helps more than a level, by which plans cost 1.2
 * to 1.4 times as much on 8 GPUs, and 0.6 times on 64. */
static bool is_narrow(const struct gsim_future *f) {
    enum { FEW = 512 };
    return (uint64_t)f->n_gpus * f->n_rounds < FEW;
}

/* Whether there are rounds enough for all that gain more than the level, beside those that the
 * bound demands. */
static bool has_room(const struct gsim_future *f, int64_t left) {
    int64_t rounds = f->base_rounds;
    for (uint32_t at = 0; at < f->n_holders; at++) {
        const struct gsim_future_job *job = f->job[f->holder[at]];
        uint32_t both = job->next < job->most_base ? job->next : job->most_base;
        rounds -= (int64_t)both * job->gpus;
    }
    return rounds <= left;
}

/* Gives at once the rounds that gain more than the level, in whichever order, since all of them
 * fit; the others find their place one by one. Returns the rounds that are left. */
static int64_t give_bases(struct gsim_future *f, int64_t left) {
    for (double times = 1.125; !has_room(f, left); times *= times)
        raise_level(f, times);
    for (uint32_t at = 0; at < f->n_holders; at++) {
        struct gsim_future_job *job = f->job[f->holder[at]];
        f->apart[f->holder[at]] = f->n_filled;
        if (job->next < job->base)
            continue;
        job->utility = gsim_future_utility(f, job, job->next);
        find_gain(f, job);
        list_more(f, f->holder[at]);
    }
    for (uint32_t at = 0; at < f->n_based; at++) {
        struct gsim_future_job *job = f->job[f->based[at]];
        if (job->next == 0 && job->base == 0)
            list_more(f, f->based[at]);
        if (job->next >= job->base)
            continue;
        left -= (int64_t)(job->base - job->next) * job->gpus;
        hold(f, f->based[at], job->base);
        job->utility = job->base_utility;
        job->next_utility = job->base_next_utility;
        job->gain = job->base_gain;
        list_more(f, f->based[at]);
    }
    return left;
}

/* Notes a round of the first bound. Without memory for it each bound finds its own. */
static void note_gift(struct gsim_future *f, struct gsim_future_rank rank, bool fits) {
    const struct gsim_future_job *job = f->job[rank.job];
    if (f->n_filled > 1 || !f->has_gifts || f->apart[rank.job] == f->n_filled)
        return;
    struct gsim_future_gift *gift =
        gsim_arena_room(f->arena, f->gift, f->n_gifts, &f->room_gifts, sizeof *gift);
    f->has_gifts = gift != NULL;
    if (!gift)
        return;
    f->gift = gift;
    gift[f->n_gifts++] = (struct gsim_future_gift){rank, job->utility, fits};
}

/* A job that no longer fits never will: the rounds that are left only get fewer. */
static void give_others(struct gsim_future *f, int64_t left) {
    struct gsim_future_rank *heap = f->more, first = {0};
    uint32_t nth = 0;
    f->has_gifts |= f->n_filled == 1 && is_narrow(f);
    while (left >= f->narrowest) {
        bool is_first = next_without(f, &nth, &first);
        is_first = is_first && (f->n_more == 0 || is_before(first, heap[0]));
        if (!is_first && f->n_more == 0) {
            f->are_gifts_all |= f->n_filled == 1;
            break;
        }
        struct gsim_future_rank best = is_first ? first : heap[0];
        const struct gsim_future_job *job = f->job[best.job];
        bool fits = job->gpus <= left;
        left -= fits ? job->gpus : 0;
        nth += is_first;
        if (fits)
            give(f, best.job);
        f->least = fits ? best.value : f->least;
        note_gift(f, best, fits);
        best.value = fits ? job->gain : -1;
        if (!is_first)
            replace(f->more, &f->n_more, best);
        else if (best.value > 0)
            push(f, best);
    }
}

/* The first job of the heap has its round, if it fits. Returns the rounds that are left. */
static int64_t give_of_heap(struct gsim_future *f, int64_t left) {
    struct gsim_future_rank best = f->more[0];
    const struct gsim_future_job *job = f->job[best.job];
    bool fits = job->gpus <= left;
    if (fits)
        give(f, best.job);
    best.value = fits ? job->gain : -1;
    replace(f->more, &f->n_more, best);
    return fits ? left - job->gpus : left;
}

/* The round that the first bound gave is given again, if it fits; one that did not fit then may fit
 * now, and the job's gain by more is found anew. Returns the rounds that are left. */
static int64_t give_again(struct gsim_future *f, const struct gsim_future_gift *gift,
                          int64_t left) {
    struct gsim_future_job *job = f->job[gift->rank.job];
    bool fits = job->gpus <= left;
    if (!fits || !gift->fits)
        f->apart[gift->rank.job] = f->n_filled;
    if (!fits)
        return left;
    hold(f, gift->rank.job, job->next + 1);
    job->utility = gift->fits ? gift->utility : gsim_future_utility(f, job, job->next);
    if (gift->fits)
        return left - job->gpus;
    find_gain(f, job);
    list_more(f, gift->rank.job);
    return left - job->gpus;
}

/* Gives rounds in the order of the first bound. false: that had fewer to give. */
static bool give_as_first(struct gsim_future *f, int64_t left) {
    for (uint32_t at = 0; left >= f->narrowest;) {
        while (at < f->n_gifts && f->apart[f->gift[at].rank.job] == f->n_filled)
            at++;
        if (at == f->n_gifts && !f->are_gifts_all)
            return false;
        if (at == f->n_gifts && f->n_more == 0)
            break;
        if (at < f->n_gifts && (f->n_more == 0 || is_before(f->gift[at].rank, f->more[0])))
            left = give_again(f, &f->gift[at++], left);
        else
            left = give_of_heap(f, left);
    }
    return true;
}

static double longest_left_s(struct gsim_future *f) {
    double longest = 0;
    for (uint32_t nth = 0; nth < f->n; nth++) {
        struct gsim_future_rank rank = gsim_future_nth(&f->by_left, nth);
        longest = f->job[rank.job]->next == 0 && rank.value > longest ? rank.value : longest;
        if (f->job[rank.job]->next == 0)
            break;
    }
    for (uint32_t at = 0; at < f->n_holders; at++) {
        const struct gsim_future_job *job = f->job[f->holder[at]];
        double left = gsim_future_left_s(f, job, job->next);
        longest = left > longest ? left : longest;
    }
    return longest;
}

static double sum_utilities(struct gsim_future *f) {
    double sum = 0;
    know_all(f);
    for (uint32_t i = 0; i < f->n; i++)
        sum += f->job[i]->utility;
    return sum;
}

/* What the jobs that have rounds have beyond their utility without. */
static double sum_gains(const struct gsim_future *f) {
    double sum = 0;
    for (uint32_t at = 0; at < f->n_holders; at++)
        sum += f->job[f->holder[at]]->utility - f->job[f->holder[at]]->first_utility;
    return sum;
}

/* Whether the plan of the bound under way is the one that is kept. */
static bool is_kept(const struct gsim_future *f) {
    bool is = f->n_kept == f->n_holders;
    for (uint32_t at = 0; at < f->n_holders && is; at++)
        is = f->job[f->holder[at]]->rounds == f->job[f->holder[at]]->next;
    return is;
}

static void keep(struct gsim_future *f) {
    for (uint32_t at = 0; at < f->n_kept; at++)
        f->job[f->kept[at]]->rounds = 0;
    f->n_kept = f->n_holders;
    for (uint32_t at = 0; at < f->n_kept; at++) {
        f->kept[at] = f->holder[at];
        f->job[f->kept[at]]->rounds = f->job[f->kept[at]]->next;
    }
}

/* --- bounds on the longest time left ---------------------------------------------------------- */

/* The plan of a bound. */
struct outcome {
    double bound_s, longest_s; /* the longest time left */
    double plan_s; /* a bound that gives this plan too: mostly one bound for equal plans */
    double gained; /* utility beyond that of no rounds */
    double utility; /* added up, where it has been */
    bool is_added_up;
};

struct search {
    struct gsim_future *f;
    bool has_plan;
    struct outcome best; /* the plan that is kept */
};

/* Gives what a bound demands, and rounds that gain much. Returns the rounds of GPUs that are left;
 * -1: there are too few. */
static int64_t begin_filling(struct gsim_future *f, double most_left_s) {
    release(f);
    f->n_filled++;
    int64_t left = give_demanded(f, most_left_s);
    return left >= 0 ? give_bases(f, left) : -1;
}

/* Gives rounds under a bound. false: no plan leaves so little. */
static bool fill(struct gsim_future *f, double most_left_s) {
    f->filled_s = most_left_s;
    int64_t left = begin_filling(f, most_left_s);
    if (left < 0 || (f->has_gifts && give_as_first(f, left)))
        return left >= 0;
    if (f->has_gifts)
        left = begin_filling(f, most_left_s);
    give_others(f, left);
    return true;
}

/* All utilities of an outcome, in the order of the jobs; its bound may have to be filled again. */
static double utility_of(struct gsim_future *f, struct outcome *outcome) {
    if (!outcome->is_added_up && fill(f, outcome->plan_s))
        outcome->utility = sum_utilities(f);
    outcome->is_added_up = true;
    return outcome->utility;
}

/* Whether one outcome is worth more than the other, with these times left. */
static bool is_more(struct gsim_future *f, struct outcome *a, double a_left_s, struct outcome *b,
                    double b_left_s) {
    double beyond = a->gained - b->gained - f->price * (a_left_s - b_left_s);
    if (beyond > f->slack || -beyond > f->slack)
        return beyond > 0;
    if (a->plan_s == b->plan_s && a_left_s >= b_left_s)
        return false;
    return utility_of(f, a) - f->price * a_left_s > utility_of(f, b) - f->price * b_left_s;
}

/* Where a plan gives rounds to few of its jobs, giving them again takes less than adding up all: a
 * sum takes some 4 cycles for each job, rounds 60 and more for each of theirs. */
enum { MANY = 16 };

/* Finds the rounds of the largest utility under a bound, and keeps them where their value is the
 * largest so far. false: no plan leaves so little. */
static bool try_bound(struct search *s, double most_left_s, struct outcome *found) {
    struct gsim_future *f = s->f;
    if (!fill(f, most_left_s))
        return false;
    *found = (struct outcome){.bound_s = most_left_s,
                              .plan_s = most_left_s,
                              .longest_s = longest_left_s(f),
                              .gained = sum_gains(f),
                              .is_added_up = f->n < MANY * f->n_holders};
    if (found->is_added_up)
        found->utility = sum_utilities(f);
    if (s->has_plan && is_kept(f)) {
        found->plan_s = s->best.plan_s;
        return true;
    }
    if (s->has_plan && !is_more(f, found, found->longest_s, &s->best, s->best.longest_s))
        return true;
    if (s->has_plan && f->filled_s != most_left_s) /* the comparison has filled another bound */
        (void)fill(f, most_left_s);
    keep(f);
    s->best = *found;
    s->has_plan = true;
    return true;
}

/* The longest time below `most_s` that some job has left after some number of rounds; 0: none. */
static double longest_below(struct gsim_future *f, double most_s) {
    double longest = 0;
    for (uint32_t nth = 0; nth < f->n; nth++) {
        struct gsim_future_rank rank = gsim_future_nth(&f->by_left, nth);
        const struct gsim_future_job *job = f->job[rank.job];
        double left = gsim_future_left_s(f, job, gsim_future_rounds_below(f, job, most_s));
        longest = left < most_s && left > longest ? left : longest;
        if (rank.value < most_s)
            break;
    }
    return longest;
}

/* The shortest such time from `least_s` on, of those up to `shortest`, which is one. */
static double shortest_from(struct gsim_future *f, double least_s, double shortest) {
    for (uint32_t nth = 0; nth < f->n; nth++) {
        struct gsim_future_rank rank = gsim_future_nth(&f->by_left, nth);
        const struct gsim_future_job *job = f->job[rank.job];
        if (rank.value < least_s)
            break;
        uint32_t n = gsim_future_rounds_below(f, job, least_s);
        double left = gsim_future_left_s(f, job, n);
        left = left < least_s ? gsim_future_left_s(f, job, n - 1) : left;
        shortest = left < shortest ? left : shortest;
    }
    return shortest;
}

/* Tries the bounds between two that were tried, in halves, the tighter one first. A tighter bound
 * has no more utility than a looser one, so that none is worth more than the utility of the loose
 * one less the price of the tight one. */
static void try_between(struct search *s, double tight_s, struct outcome *loose) {
    struct gsim_future *f = s->f;
    while (is_more(f, loose, tight_s, &s->best, s->best.longest_s)) {
        struct outcome inner;
        double next_s = longest_below(f, loose->bound_s);
        if (next_s <= tight_s)
            return;
        double middle_s = shortest_from(f, tight_s + (next_s - tight_s) / 2, next_s);
        if (try_bound(s, middle_s, &inner))
            try_between(s, tight_s, &inner);
        tight_s = middle_s;
    }
}

/* Sums of n numbers are off by n 2^-53 of what these are from 0 at most, and so are, with some more
 * for each, those of what jobs gain and the prices of times left. */
static double slack_of(const struct gsim_future *f, double far, double first_s) {
    const double rounding = 1.0 / 9007199254740992.0;
    return 4 * (f->n + 16.0) * rounding * (far + f->price * first_s);
}

/* Jobs weigh about as much as in the plan before: the level is a little above what the last round
 * gained there. Of a first plan it is far below what any gains. */
static void level_off(struct gsim_future *f) {
    const double above = 1.0 / 64, far_below = 1.0 / 1024, above_all = 1e308;
    f->level = f->least * (1 + above);
    f->least *= 1 - above;
    f->level = is_narrow(f) ? above_all : f->level;
    for (uint32_t i = 0; i < f->n && f->least <= 0; i++)
        if (f->first_most[i] * far_below > f->level)
            f->level = f->first_most[i] * far_below;
    find_bases(f);
}

bool gsim_future_plan(struct gsim_future *f, bool has_bounds) {
    struct search s = {.f = f};
    struct outcome first, least;
    double first_s = 0;
    f->n_demanding = f->n_holders = f->n_more = f->n_kept = 0;
    if (has_bounds && !list_demanding(f))
        return false;
    double far = find_first_gains(f);
    for (uint32_t i = 0; i < f->n; i++)
        first_s = f->job[i]->left_s > first_s ? f->job[i]->left_s : first_s;
    f->slack = slack_of(f, far, first_s);
    level_off(f);
    if (!try_bound(&s, first_s, &first))
        return false;
    (void)try_bound(&s, 0, &least);
    try_between(&s, 0, &first);
    return true;
}

double gsim_future_value(struct gsim_future *f) {
    double sum = 0, longest = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct gsim_future_job *job = f->job[i];
        double left = gsim_future_left_s(f, job, job->rounds);
        sum += gsim_future_utility(f, job, job->rounds);
        longest = left > longest ? left : longest;
    }
    return sum - f->price * longest;
}

bool gsim_future_open(struct gsim_future *f, struct gsim_arena *arena, uint32_t n) {
    f->arena = arena;
    gsim_future_open_logs(f);
    f->job = gsim_arena_array(arena, n, sizeof *f->job);
    f->by_gain.rank = gsim_arena_array(arena, n, sizeof *f->by_gain.rank);
    f->by_left.rank = gsim_arena_array(arena, n, sizeof *f->by_left.rank);
    f->more = gsim_arena_array(arena, n, sizeof *f->more);
    f->kept = gsim_arena_array(arena, n, sizeof *f->kept);
    f->holder = gsim_arena_array(arena, n, sizeof *f->holder);
    f->demanding = gsim_arena_array(arena, n, sizeof *f->demanding);
    f->apart = gsim_arena_array(arena, n, sizeof *f->apart);
    f->based = gsim_arena_array(arena, n, sizeof *f->based);
    f->first_most = gsim_arena_array(arena, n, sizeof *f->first_most);
    return f->apart && f->based && f->first_most && f->job && f->by_gain.rank && f->by_left.rank &&
           f->more && f->kept && f->holder && f->demanding;
}
