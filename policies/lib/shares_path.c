/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of one job are neighbours; those of the types come after all of them, and the level last. */
#include "policies/lib/shares_path.h"

enum kind { SUM, FLOORS, LEVEL, ENDS };

/* Whether the entry has a column for the type. */
static bool is_open(const struct gsim_shares *s, const struct gsim_share_entry *entry,
                    uint32_t type) {
    return gsim_share_runs_on(entry, type) || s->is_as_gavel;
}

/* The rows of a job: its time; and its target, or the cone in which its speed and the inverse of it
 * lie, its end, and that inverse, a free column. */
static uint32_t rows_of_job(enum kind kind) {
    static const uint32_t rows[] = {[SUM] = 1, [FLOORS] = 2, [LEVEL] = 2, [ENDS] = 6};
    return rows[kind];
}

static uint32_t time_row(enum kind kind, uint32_t job) {
    return job * rows_of_job(kind);
}

static uint32_t target_row(enum kind kind, uint32_t job) {
    return time_row(kind, job) + 1;
}

static uint32_t end_row(uint32_t job) {
    return time_row(ENDS, job) + 4;
}

static uint32_t type_row(const struct gsim_shares *s, enum kind kind, uint32_t type) {
    return time_row(kind, s->n_jobs) + type;
}

static bool has_end(const struct gsim_share_job *job) {
    return job->alone_s > 0;
}

/* What the speeds of a job are counted in, where its cone has them beside their inverses: numbers
 * far from 1 would stop the path short. The program has them as they are. */
static double unit_of(const struct gsim_shares *s, uint32_t job) {
    double unit = 0;
    for (uint32_t type = 0; type < s->n_types; type++)
        unit = s->entry[job].per_s[0][type] > unit ? s->entry[job].per_s[0][type] : unit;
    return s->is_as_gavel || unit <= 0 ? 1 : unit;
}

static bool is_target(enum kind kind, const struct gsim_share_job *job,
                      const struct gsim_share_target *target) {
    return kind == ENDS ? has_end(job) : target->factor > 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* A job that is left out has rows that leave room whatever its shares are. */
static void add_end_rows(struct gsim_conic *path, const struct gsim_share_job *job) {
    (void)gsim_conic_row(path, has_end(job) ? 0 : 1, 1);
    (void)gsim_conic_row(path, has_end(job) ? 0 : 1, 1);
    (void)gsim_conic_row(path, has_end(job) ? 2 : 1, 1);
    if (has_end(job))
        gsim_conic_close_cone(path);
    (void)gsim_conic_row(path, has_end(job) ? -job->age_s / job->alone_s : 1, 1);
}

static void add_inverse(struct gsim_conic *path, const struct gsim_share_job *job, uint32_t row,
                        double unit) {
    (void)gsim_conic_free_column(path, 0);
    if (!has_end(job))
        return;
    gsim_conic_entry(path, row + 1, -1, 1);
    gsim_conic_entry(path, row + 2, 1, 1);
    gsim_conic_entry(path, row + 4, job->left / unit / job->alone_s, 1);
}

static void add_job(struct gsim_shares *s, enum kind kind, uint32_t j,
                    const struct gsim_share_target *target) {
    const struct gsim_share_job *job = &s->job[j];
    (void)gsim_conic_row(&s->path, 1, job->count);
    if (kind == LEVEL || kind == FLOORS)
        (void)gsim_conic_row(&s->path, target->factor > 0 ? -target->floor : 1, job->count);
    if (kind != ENDS)
        return;
    add_end_rows(&s->path, job);
    add_inverse(&s->path, job, time_row(kind, j), unit_of(s, j));
}

/* --- columns ---------------------------------------------------------------------------------- */

/* What an entry has in rows of one of its jobs; of a pair of equal jobs one column has it twice. */
static void add_member(struct gsim_shares *s, enum kind kind, const struct gsim_share_entry *entry,
                       int member, uint32_t type, const struct gsim_share_target *target) {
    uint32_t j = entry->job[member], row = target_row(kind, j);
    double times = gsim_share_is_pair(entry) && entry->job[0] == entry->job[1] ? 2 : 1;
    double speed = entry->per_s[member][type];
    gsim_conic_entry(&s->path, time_row(kind, j), 1, times);
    if (kind == SUM || !is_target(kind, &s->job[j], target ? &target[j] : NULL) || speed == 0)
        return;
    if (kind == ENDS) {
        double in_units = speed / unit_of(s, j);
        gsim_conic_entry(&s->path, row, -in_units, times);
        gsim_conic_entry(&s->path, row + 1, -in_units, times);
        return;
    }
    gsim_conic_entry(&s->path, row, -target[j].factor * s->job[j].count * speed, times);
}

static void add_entry(struct gsim_shares *s, enum kind kind, const struct gsim_share_entry *entry,
                      const struct gsim_share_target *target) {
    double count = gsim_share_count(s, entry);
    for (uint32_t type = 0; type < s->n_types; type++) {
        double gain =
            entry->per_s[0][type] + (gsim_share_is_pair(entry) ? entry->per_s[1][type] : 0);
        if (!is_open(s, entry, type) || count == 0)
            continue;
        (void)gsim_conic_column(&s->path, kind == SUM ? -gain : 0, count);
        gsim_conic_entry(&s->path, type_row(s, kind, type), s->job[entry->job[0]].gpus, 1);
        bool is_alike = gsim_share_is_pair(entry) && entry->job[0] == entry->job[1];
        for (int m = 0; m <= (gsim_share_is_pair(entry) && !is_alike); m++)
            add_member(s, kind, entry, m, type, target);
    }
}

/* --- the programme ---------------------------------------------------------------------------- */

static uint32_t count_columns(const struct gsim_shares *s) {
    uint32_t n = 0;
    for (uint32_t e = 0; e < s->n_entries; e++)
        for (uint32_t type = 0; type < s->n_types; type++)
            n += is_open(s, &s->entry[e], type) && gsim_share_count(s, &s->entry[e]) > 0;
    return n;
}

static void add_level(struct gsim_shares *s, enum kind kind,
                      const struct gsim_share_target *target) {
    (void)gsim_conic_free_column(&s->path, kind == ENDS ? 1 : -1);
    for (uint32_t j = 0; j < s->n_jobs; j++) {
        if (kind == ENDS && has_end(&s->job[j]))
            gsim_conic_entry(&s->path, end_row(j), -1, 1);
        if (kind == LEVEL && target[j].factor > 0 && target[j].demand > 0)
            gsim_conic_entry(&s->path, target_row(kind, j), target[j].demand, s->job[j].count);
    }
}

static bool build(struct gsim_shares *s, enum kind kind, const struct gsim_share_target *target) {
    uint32_t rows = s->n_jobs * rows_of_job(kind), columns = count_columns(s);
    uint32_t n_free = (kind == ENDS ? s->n_jobs : 0) + (kind == ENDS || kind == LEVEL);
    s->path.arena = s->lp.arena;
    s->path.is_sharp = !s->is_as_gavel;
    if (!gsim_conic_begin(&s->path, rows + s->n_types, columns, n_free,
                          7 * columns + 4 * s->n_jobs))
        return false;
    for (uint32_t j = 0; j < s->n_jobs; j++)
        add_job(s, kind, j, target ? &target[j] : NULL);
    for (uint32_t type = 0; type < s->n_types; type++)
        (void)gsim_conic_row(&s->path, s->gpus[type], 1);
    for (uint32_t e = 0; e < s->n_entries; e++)
        add_entry(s, kind, &s->entry[e], target);
    if (kind == ENDS || kind == LEVEL)
        add_level(s, kind, target);
    return true;
}

/* Free columns of ends come before the others: the inverses of the jobs. */
static void read_shares(struct gsim_shares *s, enum kind kind) {
    const double *x = s->path.x + (kind == ENDS ? s->n_jobs : 0);
    for (uint32_t e = 0; e < s->n_entries; e++) {
        struct gsim_share_entry *entry = &s->entry[e];
        for (uint32_t type = 0; type < s->n_types; type++) {
            bool has_column = is_open(s, entry, type) && gsim_share_count(s, entry) > 0;
            double share = has_column ? *x++ : 0;
            entry->share[type] = share > 1 ? 1 : share < 0 ? 0 : share;
        }
    }
}

static enum gsim_lp_end follow(struct gsim_shares *s, enum kind kind,
                               const struct gsim_share_target *target, double sign) {
    if (!build(s, kind, target))
        return GSIM_LP_NO_MEMORY;
    enum gsim_lp_end end = s->n_jobs == 0 ? GSIM_LP_STUCK : gsim_conic_solve(&s->path);
    if (end != GSIM_LP_OPTIMAL)
        return end;
    read_shares(s, kind);
    s->value = sign * s->path.value;
    return end;
}

enum gsim_lp_end gsim_shares_path_sum(struct gsim_shares *s) {
    return follow(s, SUM, NULL, -1);
}

enum gsim_lp_end gsim_shares_path_level(struct gsim_shares *s,
                                        const struct gsim_share_target *target) {
    return follow(s, LEVEL, target, -1);
}

enum gsim_lp_end gsim_shares_path_floors(struct gsim_shares *s,
                                         const struct gsim_share_target *target) {
    return follow(s, FLOORS, target, -1);
}

enum gsim_lp_end gsim_shares_path_ends(struct gsim_shares *s) {
    return follow(s, ENDS, NULL, 1);
}
