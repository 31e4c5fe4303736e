/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One programme serves all objectives. Its columns are an entry's time on a type, for all equal
 * jobs together, and the level t that is maximised; its rows the time of a job, the GPUs of a type,
 * and what a job is to have: factor * speed - demand * t >= floor. */
#include "policies/lib/shares.h"

#include <assert.h>
#include <string.h>

#include "policies/lib/shares_path.h"

/* Prices that are rounding, of all prices together. */
#define NO_PRICE 1e-7
/* How much a level that was reached is lowered, so that rounding does not make it unreachable. */
#define LOWERED (1 - 1e-10)
/* Where it does: a programme promises its rows to 1e-7 alone (policies/lib/lp.h). */
#define AS_PROMISED (1 - 1e-7)
enum { MOST_STEPS = 200 };

static uint32_t column_of(const struct gsim_shares *s, uint32_t entry, uint32_t type) {
    return entry * s->n_types + type;
}

/* --- the programme ---------------------------------------------------------------------------- */

static void set_entry(struct gsim_shares *s, uint32_t e) {
    struct gsim_lp *lp = &s->lp;
    const struct gsim_share_entry *entry = &s->entry[e];
    for (uint32_t type = 0; type < s->n_types; type++) {
        uint32_t column = column_of(s, e, type);
        if (!gsim_share_runs_on(entry, type))
            lp->upper[column] = 0;
        for (int m = 0; m <= gsim_share_is_pair(entry); m++)
            gsim_lp_add(lp, entry->job[m], column, 1);
        gsim_lp_set(lp, s->n_jobs + type, column, s->job[entry->job[0]].gpus);
    }
}

static void set_target(struct gsim_shares *s, const struct gsim_share_entry *entry, int member,
                       const struct gsim_share_target *target, uint32_t e) {
    uint32_t job = entry->job[member], row = s->n_jobs + s->n_types + job;
    for (uint32_t type = 0; type < s->n_types; type++)
        gsim_lp_add(&s->lp, row, column_of(s, e, type),
                    target[job].factor * entry->per_s[member][type]);
}

static void set_targets(struct gsim_shares *s, const struct gsim_share_target *target) {
    uint32_t level = s->n_entries * s->n_types, first = s->n_jobs + s->n_types;
    for (uint32_t e = 0; e < s->n_entries; e++)
        for (int m = 0; m <= gsim_share_is_pair(&s->entry[e]); m++)
            set_target(s, &s->entry[e], m, target, e);
    for (uint32_t job = 0; job < s->n_jobs; job++) {
        gsim_lp_row(&s->lp, first + job, GSIM_LP_AT_LEAST, target[job].floor);
        gsim_lp_set(&s->lp, first + job, level, -target[job].demand);
    }
    s->lp.gain[level] = 1;
}

/* target NULL: there is neither a level nor what a job is to have. */
static bool build(struct gsim_shares *s, const struct gsim_share_target *target) {
    uint32_t columns = s->n_entries * s->n_types + (target != NULL);
    uint32_t rows = s->n_jobs + s->n_types + (target ? s->n_jobs : 0);
    if (!gsim_lp_begin(&s->lp, rows, columns))
        return false;
    for (uint32_t job = 0; job < s->n_jobs; job++)
        gsim_lp_row(&s->lp, job, GSIM_LP_AT_MOST, s->job[job].count);
    for (uint32_t type = 0; type < s->n_types; type++)
        gsim_lp_row(&s->lp, s->n_jobs + type, GSIM_LP_AT_MOST, s->gpus[type]);
    for (uint32_t e = 0; e < s->n_entries; e++)
        set_entry(s, e);
    if (target)
        set_targets(s, target);
    return true;
}

/* Equal jobs have equal parts of their time together; a share is never more than all of it. */
static void read_shares(struct gsim_shares *s) {
    for (uint32_t e = 0; e < s->n_entries; e++)
        for (uint32_t type = 0; type < s->n_types; type++) {
            double share = s->lp.x[column_of(s, e, type)] / gsim_share_count(s, &s->entry[e]);
            s->entry[e].share[type] = share > 1 ? 1 : share;
        }
}

/* The largest level; it stands in *level. */
static enum gsim_lp_end raise(struct gsim_shares *s, const struct gsim_share_target *target,
                              double *level) {
    if (!build(s, target))
        return GSIM_LP_NO_MEMORY;
    enum gsim_lp_end end = gsim_lp_solve(&s->lp);
    if (end == GSIM_LP_OPTIMAL)
        *level = s->lp.x[s->n_entries * s->n_types];
    return end;
}

/* --- what a job has alone --------------------------------------------------------------------- */

/* Steps per second with an equal part of all GPUs. */
static double part_per_s(const struct gsim_shares *s, uint32_t job) {
    double sum = 0, gpus = 0;
    for (uint32_t type = 0; type < s->n_types; type++) {
        sum += s->entry[job].per_s[0][type] * s->gpus[type];
        gpus += s->gpus[type];
    }
    return gpus > 0 ? sum / gpus : 0;
}

/* The largest speed in any entry. */
static double best_per_s(const struct gsim_shares *s, uint32_t job) {
    double best = 0;
    for (uint32_t e = 0; e < s->n_entries; e++)
        for (int m = 0; m <= gsim_share_is_pair(&s->entry[e]); m++)
            for (uint32_t type = 0; type < s->n_types && s->entry[e].job[m] == job; type++)
                if (s->gpus[type] >= s->job[job].gpus && s->entry[e].per_s[m][type] > best)
                    best = s->entry[e].per_s[m][type];
    return best;
}

static struct gsim_share_target *new_targets(struct gsim_shares *s) {
    return gsim_arena_grow(s->lp.arena, NULL, 0,
                           (s->n_jobs + 1) * sizeof(struct gsim_share_target));
}

static enum gsim_lp_end give_up(struct gsim_shares *s, struct gsim_share_target *target,
                                enum gsim_lp_end end) {
    gsim_arena_drop(s->lp.arena, target);
    return end;
}

/* Gives the answer, and frees the targets. */
static enum gsim_lp_end answer(struct gsim_shares *s, struct gsim_share_target *target,
                               double value) {
    read_shares(s);
    s->value = value;
    return give_up(s, target, GSIM_LP_OPTIMAL);
}

/* Where no job runs anywhere. */
static enum gsim_lp_end give_nothing(struct gsim_shares *s, struct gsim_share_target *target) {
    for (uint32_t e = 0; e < s->n_entries; e++)
        memset(s->entry[e].share, 0, sizeof s->entry[e].share);
    s->value = 0;
    return give_up(s, target, GSIM_LP_OPTIMAL);
}

/* --- objectives ------------------------------------------------------------------------------- */

/* By its weight, a job's speed in parts of the cluster, for all equal jobs. */
static struct gsim_share_target fair_target(const struct gsim_shares *s, uint32_t job,
                                            double weight) {
    double part = part_per_s(s, job);
    if (part <= 0 || weight <= 0)
        return (struct gsim_share_target){0};
    return (struct gsim_share_target){
        .factor = s->job[job].gpus / (weight * part) / s->job[job].count, .demand = 1};
}

enum gsim_lp_end gsim_shares_max_min(struct gsim_shares *s) {
    struct gsim_share_target *target = new_targets(s);
    bool has_any = false;
    for (uint32_t job = 0; target && job < s->n_jobs; job++) {
        target[job] = fair_target(s, job, s->job[job].weight);
        has_any |= target[job].demand > 0;
    }
    if (!target)
        return GSIM_LP_NO_MEMORY;
    if (!has_any)
        return give_nothing(s, target);
    double level = 0;
    enum gsim_lp_end end = gsim_shares_path_level(s, target);
    if (end != GSIM_LP_STUCK)
        return give_up(s, target, end);
    end = raise(s, target, &level);
    return end == GSIM_LP_OPTIMAL ? answer(s, target, level) : give_up(s, target, end);
}

enum gsim_lp_end gsim_shares_max_sum(struct gsim_shares *s) {
    enum gsim_lp_end end = gsim_shares_path_sum(s);
    if (end != GSIM_LP_STUCK)
        return end;
    if (!build(s, NULL))
        return GSIM_LP_NO_MEMORY;
    for (uint32_t e = 0; e < s->n_entries; e++)
        for (uint32_t type = 0; type < s->n_types; type++)
            for (int m = 0; m <= gsim_share_is_pair(&s->entry[e]); m++)
                s->lp.gain[column_of(s, e, type)] += s->entry[e].per_s[m][type];
    end = gsim_lp_solve(&s->lp);
    return end == GSIM_LP_OPTIMAL ? answer(s, NULL, s->lp.value) : end;
}

/* --- the makespan ----------------------------------------------------------------------------- */

/* The longest time that a job takes alone on its best type: none of all jobs is shorter. Jobs are
 * to make their steps in it, times the level. */
static double aim_at_ends(const struct gsim_shares *s, struct gsim_share_target *target) {
    double longest = 0;
    for (uint32_t job = 0; job < s->n_jobs; job++) {
        double best = best_per_s(s, job), left = s->job[job].left;
        if (best <= 0 || left <= 0)
            continue;
        longest = left / best > longest ? left / best : longest;
        target[job] =
            (struct gsim_share_target){.factor = 1 / s->job[job].count / left, .demand = 1};
    }
    for (uint32_t job = 0; job < s->n_jobs; job++)
        target[job].factor *= longest;
    return longest;
}

/* The least time. */
static enum gsim_lp_end find_least(struct gsim_shares *s, struct gsim_share_target *target,
                                   double longest_s) {
    double level = 0;
    enum gsim_lp_end end = gsim_shares_path_level(s, target);
    if (end != GSIM_LP_STUCK) {
        level = s->value;
        s->value = longest_s / level;
        return end == GSIM_LP_OPTIMAL && level <= 0 ? GSIM_LP_INFEASIBLE : end;
    }
    end = raise(s, target, &level);
    if (end == GSIM_LP_OPTIMAL && level <= 0)
        end = GSIM_LP_INFEASIBLE;
    return end == GSIM_LP_OPTIMAL ? answer(s, NULL, longest_s / level) : end;
}

/* Makes the floors those of an end after that time, and looks for shares that meet them. */
static enum gsim_lp_end end_by(struct gsim_shares *s, struct gsim_share_target *target,
                               double by_s) {
    for (uint32_t job = 0; job < s->n_jobs; job++)
        if (target[job].factor > 0)
            target[job] = (struct gsim_share_target){.factor = 1 / s->job[job].count,
                                                     .floor = s->job[job].left / by_s};
    return gsim_shares_path_floors(s, target);
}

/* Whether all jobs can end by a time, of which the least is known but for rounding. */
static bool can_end(struct gsim_shares *s, struct gsim_share_target *target, double by_s,
                    double least_s) {
    const double rounding = 1e-5;
    double off = by_s / least_s - 1;
    if (off > rounding || off < -rounding)
        return off > 0;
    return end_by(s, target, by_s) == GSIM_LP_OPTIMAL;
}

/* Gavel's program (scheduler/policies/min_total_duration.py) looks for the time by halves, between
 * 100 s and a million, then ten, until the halves are 5 % apart: it asks ECOS each time for shares
 * with which all jobs end by then. It ends with those of the shortest time that had any. Where the
 * path does not find them, those of the least time stay: rounding keeps it from their end, or makes
 * demands that can be met look as if they could not, since its tolerances are no part of them. */
static enum gsim_lp_end try_ends(struct gsim_shares *s, struct gsim_share_target *target,
                                 double least_s) {
    const double longest = 1e300;
    double by_s = 0;
    for (double low = 100, high = 1e6, most = high; by_s <= 0 && most < longest;
         low = most, most *= 10, high = most)
        while (1.05 * low < high) {
            double time_s = (low + high) / 2;
            if (can_end(s, target, time_s, least_s))
                by_s = high = time_s;
            else
                low = time_s;
        }
    if (by_s <= 0)
        return GSIM_LP_INFEASIBLE;
    enum gsim_lp_end end = end_by(s, target, by_s);
    s->value = by_s;
    return end == GSIM_LP_NO_MEMORY ? end : GSIM_LP_OPTIMAL;
}

enum gsim_lp_end gsim_shares_makespan(struct gsim_shares *s, bool is_tried) {
    struct gsim_share_target *target = new_targets(s);
    if (!target)
        return GSIM_LP_NO_MEMORY;
    double longest_s = aim_at_ends(s, target);
    if (longest_s <= 0)
        return give_up(s, target, GSIM_LP_OPTIMAL);
    enum gsim_lp_end end = find_least(s, target, longest_s);
    if (end != GSIM_LP_OPTIMAL || !is_tried)
        return give_up(s, target, end);
    return give_up(s, target, try_ends(s, target, s->value));
}

/* --- finish-time fairness --------------------------------------------------------------------- */

/* The speed that a job needs to end in time. */
static double speed_for(const struct gsim_share_job *job, double rho) {
    return job->left / (rho * job->alone_s - job->age_s);
}

/* The least rho of each job alone on its best type: none is smaller. Sets each target's factor. */
static double least_rho(const struct gsim_shares *s, struct gsim_share_target *target) {
    double rho = 0;
    for (uint32_t job = 0; job < s->n_jobs; job++) {
        const struct gsim_share_job *j = &s->job[job];
        double best = best_per_s(s, job);
        if (best <= 0 || j->left <= 0)
            continue;
        assert(j->alone_s > 0);
        target[job].factor = 1 / j->count;
        double own = (j->age_s + j->left / best) / j->alone_s;
        rho = own > rho ? own : rho;
    }
    return rho;
}

/* The prices weigh the jobs' speeds: with any shares the weighted sum is at most the level.
 * The weighted demands fall with rho, and are convex in it: Newton's steps rise to the rho at which
 * they are the level, never past it. */
static double raise_rho(const struct gsim_shares *s, const struct gsim_share_target *target,
                        double level, double rho) {
    const double *price = s->lp.price + s->n_jobs + s->n_types;
    for (int i = 0; i < MOST_STEPS; i++) {
        double demand = 0, slope = 0, before = rho;
        for (uint32_t job = 0; job < s->n_jobs; job++) {
            const struct gsim_share_job *j = &s->job[job];
            if (target[job].factor <= 0 || price[job] >= 0)
                continue;
            double speed = speed_for(j, rho);
            demand -= price[job] * speed;
            slope -= price[job] * speed * j->alone_s / (rho * j->alone_s - j->age_s);
        }
        if (slope <= 0 || demand <= level)
            break;
        rho += (demand - level) / slope;
        if (rho <= before)
            break;
    }
    return rho;
}

enum gsim_lp_end gsim_shares_finish_time(struct gsim_shares *s) {
    const double met = 1 - 1e-9;
    struct gsim_share_target *target = new_targets(s);
    if (!target)
        return GSIM_LP_NO_MEMORY;
    double rho = least_rho(s, target), level = 0;
    if (rho <= 0)
        return give_up(s, target, GSIM_LP_OPTIMAL);
    enum gsim_lp_end on_path = gsim_shares_path_ends(s);
    if (on_path != GSIM_LP_STUCK)
        return give_up(s, target, on_path);
    for (int i = 0; i < MOST_STEPS; i++) {
        for (uint32_t job = 0; job < s->n_jobs; job++)
            target[job].demand = target[job].factor > 0 ? speed_for(&s->job[job], rho) : 0;
        enum gsim_lp_end end = raise(s, target, &level);
        if (end != GSIM_LP_OPTIMAL)
            return give_up(s, target, end);
        double next = level >= met ? rho : raise_rho(s, target, level, rho);
        if (next <= rho)
            return answer(s, target, rho);
        rho = next;
    }
    return give_up(s, target, GSIM_LP_STUCK);
}

/* --- water filling ---------------------------------------------------------------------------- */

/* The weight that a job has among those that can still get more; NULL entities: its own. */
static double weight_of(const struct gsim_shares *s, const bool *is_full, uint32_t job) {
    const struct gsim_share_job *j = &s->job[job];
    double sum = 0;
    if (!s->entity)
        return j->weight;
    const struct gsim_share_entity *entity = &s->entity[j->entity];
    for (uint32_t k = 0; k < s->n_jobs; k++) {
        if (is_full[k] || s->job[k].entity != j->entity)
            continue;
        if (entity->is_fifo)
            return k == job ? entity->weight : 0;
        sum += s->job[k].weight * s->job[k].count;
    }
    return sum > 0 ? entity->weight * j->weight / sum : 0;
}

/* The job's speed in parts of the cluster, times its GPUs. */
static double part_of(const struct gsim_shares *s, uint32_t job, double factor) {
    double speed = 0;
    for (uint32_t e = 0; e < s->n_entries; e++)
        for (int m = 0; m <= gsim_share_is_pair(&s->entry[e]); m++)
            for (uint32_t type = 0; type < s->n_types && s->entry[e].job[m] == job; type++)
                speed += s->entry[e].per_s[m][type] * s->lp.x[column_of(s, e, type)];
    return speed * factor;
}

/* Every job that can still get more rises by the level times its weight. Jobs with a price
 * rise by no more in any optimum (complementary slackness): they are full, and keep their speed
 * from now on. Returns the number of those. */
static uint32_t fill_up(struct gsim_shares *s, struct gsim_share_target *target, bool *is_full,
                        double level) {
    const double *price = s->lp.price + s->n_jobs + s->n_types;
    uint32_t n = 0;
    for (uint32_t job = 0; job < s->n_jobs; job++) {
        target[job].floor += target[job].demand * level;
        if (is_full[job] || -price[job] * target[job].demand <= NO_PRICE)
            continue;
        is_full[job] = true;
        target[job].floor = part_of(s, job, target[job].factor) * LOWERED;
        n++;
    }
    return n;
}

/* As raise, with floors that the last programme reached. */
static enum gsim_lp_end raise_from_floors(struct gsim_shares *s, struct gsim_share_target *target,
                                          double *level) {
    enum gsim_lp_end end = raise(s, target, level);
    if (end != GSIM_LP_INFEASIBLE)
        return end;
    for (uint32_t job = 0; job < s->n_jobs; job++)
        target[job].floor *= AS_PROMISED;
    return raise(s, target, level);
}

/* Sets the demands of jobs that can get more; false: there is none. */
static bool next_demands(const struct gsim_shares *s, struct gsim_share_target *target,
                         const bool *is_full) {
    bool has_any = false;
    for (uint32_t job = 0; job < s->n_jobs; job++) {
        bool runs = target[job].factor > 0;
        target[job].demand = runs && !is_full[job] ? weight_of(s, is_full, job) : 0;
        has_any |= target[job].demand > 0;
    }
    return has_any;
}

/* Sets jobs that run nowhere full, so that they take no weight from others. */
static void begin_filling(const struct gsim_shares *s, struct gsim_share_target *target,
                          bool *is_full) {
    for (uint32_t job = 0; job < s->n_jobs; job++) {
        target[job] = fair_target(s, job, 1);
        is_full[job] = target[job].factor <= 0;
    }
}

enum gsim_lp_end gsim_shares_water_fill(struct gsim_shares *s) {
    struct gsim_share_target *target = new_targets(s);
    bool *is_full = gsim_arena_grow(s->lp.arena, NULL, 0, s->n_jobs + 1);
    enum gsim_lp_end end = target && is_full ? GSIM_LP_OPTIMAL : GSIM_LP_NO_MEMORY;
    double level = 0;
    bool is_first = true;
    if (end == GSIM_LP_OPTIMAL)
        begin_filling(s, target, is_full);
    s->value = 0;
    for (; end == GSIM_LP_OPTIMAL && next_demands(s, target, is_full); is_first = false) {
        end = raise_from_floors(s, target, &level);
        if (end != GSIM_LP_OPTIMAL)
            break;
        s->value = is_first ? level : s->value;
        read_shares(s);
        if (fill_up(s, target, is_full, level * LOWERED) == 0)
            end = GSIM_LP_STUCK;
    }
    gsim_arena_drop(s->lp.arena, is_full);
    return give_up(s, target, end);
}
