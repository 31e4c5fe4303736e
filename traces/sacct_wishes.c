/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dependencies go to the column `after`, which has one job: of several that all have to end (or
 * begin) the one that did so last in the log, of several of which one has to the one that did so
 * first. A job that was held up by it keeps the time from that end, or begin, to its Eligible as
 * think_s. Sources: sbatch(1),
 * --dependency, --array and --constraint; sacct(1), JobID, SubmitLine and Constraints. */
#include "traces/sacct_wishes.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/features.h"
#include "sim/base/units.h"
#include "traces/cells.h"
#include "traces/known_jobs.h"
#include "traces/submit_line.h"

/* --- features and partitions ------------------------------------------------------------------ */

static bool take_features(struct gsim_builder *b, const char *text, size_t length) {
    char features[256];
    struct gsim_constraint found;
    if (length == 0)
        return true;
    memcpy(features, text, length < sizeof features ? length : sizeof features - 1);
    features[length < sizeof features ? length : sizeof features - 1] = '\0';
    if (length >= sizeof features || !gsim_constraint_read(features, &found)) {
        b->row.loss = "they asked for features in a form that is not known (--constraint); here "
                      "they may have any node";
        return true;
    }
    return gsim_cell_parse(b, GSIM_COL_FEATURES, features, length, &b->row.cell[GSIM_COL_FEATURES]);
}

bool gsim_sacct_take_constraints(struct gsim_builder *b, const char *text, size_t length) {
    return strcmp(text, "(null)") == 0 || take_features(b, text, length);
}

/* Several partitions of SubmitLine count where the job ran in one of them. */
static bool take_partitions(struct gsim_builder *b, const struct gsim_text_part *list) {
    if (!list->at || !memchr(list->at, ',', list->length))
        return true;
    b->row.extra[GSIM_SACCT_PARTITIONS] =
        gsim_build_intern(b, GSIM_COL_PARTITION, list->at, list->length);
    return b->row.extra[GSIM_SACCT_PARTITIONS] >= 0;
}

static void choose_partitions(struct gsim_builder *b) {
    int64_t list = b->row.extra[GSIM_SACCT_PARTITIONS], *own = &b->row.cell[GSIM_COL_PARTITION];
    const struct gsim_names *names = &b->names[GSIM_COL_PARTITION];
    if (list < 0)
        return;
    const char *name = *own >= 0 ? names->name[*own] : "";
    size_t length = strlen(name);
    for (const char *at = names->name[list]; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (*own < 0 || (n == length && strncmp(at, name, n) == 0)) {
            *own = list;
            return;
        }
        at += n;
    }
}

/* --- dependencies ----------------------------------------------------------------------------- */

/* When the job let the row's job go in the log: at its end, or at its begin. */
static int64_t release_of(const struct gsim_builder *b, int64_t job, bool is_begin) {
    const int64_t *ns = b->column[is_begin ? GSIM_COL_LOGGED_START_NS : GSIM_COL_LOGGED_END_NS];
    return ns ? ns[job] : -1;
}

/* Of the job found so far and another one, the one with the end, or begin, that counts. */
static void choose(struct gsim_builder *b, int64_t other, bool is_begin, bool is_any) {
    int64_t *before = &b->row.extra[GSIM_SACCT_BEFORE], *own = &b->row.extra[GSIM_SACCT_IS_BEGIN];
    if (other < 0)
        return;
    if (*before >= 0 &&
        (release_of(b, other, is_begin) > release_of(b, *before, *own > 0)) == is_any)
        return;
    *before = other;
    *own = is_begin;
    b->row.extra[GSIM_SACCT_MINUTES] = 0;
}

/* The task of array 12 that has the number of the row's task, aftercorr:12; -1: there is none. */
static int64_t fellow_task(struct gsim_builder *b, const char *array, size_t length) {
    char id[64];
    int n = snprintf(id, sizeof id, "%.*s_%lld", length < 32 ? (int)length : 0, array,
                     (long long)b->row.extra[GSIM_SACCT_TASK]);
    return b->row.extra[GSIM_SACCT_TASK] < 0 ? -1 : gsim_known_job(b, id, (size_t)n);
}

/* Of the begin that counts so far. */
static void take_minutes(struct gsim_builder *b, const char *text, int64_t job) {
    int64_t minutes;
    if (b->row.extra[GSIM_SACCT_BEFORE] == job && b->row.extra[GSIM_SACCT_IS_BEGIN] > 0 &&
        gsim_parse_decimal(text, strspn(text, "0123456789"), 1, &minutes) == GSIM_PARSE_OK)
        b->row.extra[GSIM_SACCT_MINUTES] = minutes;
}

/* "afterok:12:14", "after:12+5": the jobs. The latter waits for the begin of 12 and 5 minutes more,
 * which the row's Eligible shows. */
static void take_dependency(struct gsim_builder *b, const char *at, size_t length, bool is_any) {
    const char *end = at + length, *colon = memchr(at, ':', length);
    size_t kind = colon ? (size_t)(colon - at) : length;
    if (kind == 9 && strncmp(at, "singleton", kind) == 0) {
        b->row.extra[GSIM_SACCT_IS_SINGLETON] = 1;
        return;
    }
    bool is_corr = kind == 9 && strncmp(at, "aftercorr", kind) == 0;
    bool is_begin = kind == 5 && strncmp(at, "after", kind) == 0;
    bool is_known = is_begin || is_corr || (kind == 7 && strncmp(at, "afterok", kind) == 0) ||
                    (kind == 8 && strncmp(at, "afterany", kind) == 0) ||
                    (kind == 10 && strncmp(at, "afternotok", kind) == 0);
    for (at += kind; is_known && at < end && *at == ':';) {
        size_t n = strcspn(++at, ":+,? \t");
        n = n < (size_t)(end - at) ? n : (size_t)(end - at);
        int64_t job = is_corr ? fellow_task(b, at, n) : gsim_known_job(b, at, n);
        if (job < 0)
            b->row.extra[GSIM_SACCT_IS_LOST] = 1;
        choose(b, job, is_begin, is_any);
        at += n;
        if (is_begin && at < end && *at == '+')
            take_minutes(b, at + 1, job);
        while (at < end && *at != ':')
            at++;
    }
    if (!is_known)
        b->row.extra[GSIM_SACCT_IS_LOST] = 1;
}

static void take_dependencies(struct gsim_builder *b, const struct gsim_text_part *list) {
    if (!list->at)
        return;
    const char *end = list->at + list->length;
    bool is_any = memchr(list->at, '?', list->length);
    for (const char *at = list->at; at < end; at++) {
        size_t n = strcspn(at, ",? \t");
        n = n < (size_t)(end - at) ? n : (size_t)(end - at);
        take_dependency(b, at, n, is_any);
        at += n;
    }
}

bool gsim_sacct_take_submit_line(struct gsim_builder *b, const char *text, size_t length) {
    struct gsim_submit_line line;
    (void)length;
    gsim_submit_line_read(text, &line);
    take_dependencies(b, &line.dependency);
    gsim_sacct_take_submitted_nodes(b, &line);
    b->row.cell[GSIM_COL_ARRAY_LIMIT] = line.array_limit;
    b->row.extra[GSIM_SACCT_IS_HELD] = line.is_held;
    if (!*b->row.text && line.name.at) {
        memcpy(b->row.text, line.name.at, line.name.length);
        b->row.text[line.name.length] = '\0';
    }
    return take_partitions(b, &line.partitions) &&
           (b->row.cell[GSIM_COL_FEATURES] >= 0 || !line.features.at ||
            take_features(b, line.features.at, line.features.length));
}

bool gsim_sacct_take_name(struct gsim_builder *b, const char *text, size_t length) {
    memcpy(b->row.text, text, length + 1);
    return true;
}

/* A singleton waits for the jobs of its user and name that were submitted before; here for those
 * that are singletons as well. */
static void find_fellow(struct gsim_builder *b) {
    uint64_t user = (uint64_t)b->row.cell[GSIM_COL_USER];
    if (b->row.extra[GSIM_SACCT_IS_SINGLETON] < 0)
        return;
    if (!*b->row.text || b->row.cell[GSIM_COL_USER] < 0) {
        b->row.extra[GSIM_SACCT_IS_LOST] = 1;
        return;
    }
    choose(b, gsim_known_fellow(b, user, b->row.text), false, false);
    gsim_known_add_fellow(b, user, b->row.text);
}

/* --- arrays and heterogeneous jobs ------------------------------------------------------------ */

/* "7_3": task 3 of array 7, by which other jobs call it. Tasks that have not begun are
 * one row, 7_[4-9]. */
static bool take_task(struct gsim_builder *b, const char *text, size_t length, size_t digits) {
    size_t n = length - digits - 1;
    if (n > 0 && strspn(text + digits + 1, "0123456789") == n &&
        gsim_parse_decimal(text + digits + 1, n, 1, &b->row.extra[GSIM_SACCT_TASK]) !=
            GSIM_PARSE_OK)
        return false;
    return gsim_cell_parse(b, GSIM_COL_ARRAY, text, digits, &b->row.cell[GSIM_COL_ARRAY]);
}

bool gsim_sacct_take_shown_id(struct gsim_builder *b, const char *text, size_t length) {
    size_t digits = strspn(text, "0123456789");
    int64_t number;
    if (digits > 0 && text[digits] == '_')
        return take_task(b, text, length, digits);
    if (digits == 0 || digits > 18 || text[digits] != '+' || strchr(text, '.'))
        return true;
    (void)gsim_parse_decimal(text, digits, 1, &number);
    b->row.extra[GSIM_SACCT_LEADER] = number;
    return gsim_parse_decimal(text + digits + 1, length - digits - 1, 1,
                              &b->row.extra[GSIM_SACCT_PART]) == GSIM_PARSE_OK;
}

/* Whether the first part of the row's job is there, and runs on nodes of the row's kind. */
static bool is_like_leader(const struct gsim_builder *b) {
    static const enum gsim_column kinds[] = {GSIM_COL_PARTITION, GSIM_COL_GPU_TYPE,
                                             GSIM_COL_FEATURES, GSIM_COL_QOS};
    const struct gsim_row *row = &b->row;
    const int64_t *share_ppm = b->column[GSIM_COL_SHARE_PPM];
    if (row->extra[GSIM_SACCT_PART] < 1 || b->leader_number != row->extra[GSIM_SACCT_LEADER] ||
        b->leader >= b->n)
        return false;
    if (row->cell[GSIM_COL_SHARE_PPM] >= 0 || (share_ppm && share_ppm[b->leader] >= 0))
        return false; /* shards of two GPUs are no gang */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (b->column[kinds[i]] && b->column[kinds[i]][b->leader] != row->cell[kinds[i]])
            return false;
    int64_t number = -1;
    const char *id = b->id_text + b->id_at[b->leader];
    (void)gsim_parse_decimal(id, strspn(id, "0123456789"), 1, &number);
    return number == b->leader_number;
}

static void add_to(struct gsim_builder *b, enum gsim_column column) {
    int64_t *cells = b->column[column], own = b->row.cell[column];
    if (cells && own > 0)
        cells[b->leader] = (cells[b->leader] > 0 ? cells[b->leader] : 0) + own;
}

/* Where the log's scheduler had the job: the nodes of all parts, as long as a cell holds them. */
static void join_logged_nodes(struct gsim_builder *b) {
    int64_t *cells = b->column[GSIM_COL_LOGGED_NODES];
    const char *of_part = b->row.nodes;
    if (!cells || cells[b->leader] < 0 || !*of_part)
        return;
    const char *before = b->names[GSIM_COL_LOGGED_NODES].name[cells[b->leader]];
    const char *all = gsim_arena_printf(b->arena, "%s,%s", before, of_part);
    if (all && strlen(all) <= GSIM_MAX_FIELD_BYTES)
        cells[b->leader] = gsim_build_intern(b, GSIM_COL_LOGGED_NODES, all, strlen(all));
}

void gsim_sacct_join_parts(struct gsim_builder *b) {
    struct gsim_row *row = &b->row;
    if (row->extra[GSIM_SACCT_LEADER] < 0 || row->drop || row->wrong)
        return;
    if (row->extra[GSIM_SACCT_PART] == 0) {
        b->leader = b->n;
        b->leader_number = row->extra[GSIM_SACCT_LEADER];
    }
    if (is_like_leader(b) && row->gpus <= GSIM_MAX_GANG - b->gpus[b->leader]) {
        gsim_sacct_join_nodes(b);
        join_logged_nodes(b);
        row->part_of = b->leader;
        b->gpus[b->leader] += row->gpus;
        b->is_wide = true;
        add_to(b, GSIM_COL_CPUS_MILLI);
        add_to(b, GSIM_COL_HOST_MEM_BYTES);
        add_to(b, GSIM_COL_BILLING_MILLI);
        row->drop = "they are parts of heterogeneous jobs (7+1) on nodes of one kind: their GPUs "
                    "are those of the first part (7+0), since all start together";
    } else if (row->extra[GSIM_SACCT_PART] > 0) {
        row->loss = "they are parts of heterogeneous jobs (7+0, 7+1) on nodes of other kinds than "
                    "the first part, with which they start; here each is a job of its own";
    }
}

/* --- when the job is submitted ---------------------------------------------------------------- */

static bool is_later(const struct gsim_row *row, int64_t eligible_s) {
    return eligible_s >= 0 && eligible_s <= GSIM_TIME_MAX / 2 / GSIM_NS_PER_S &&
           eligible_s * GSIM_NS_PER_S > row->submit_ns &&
           (row->ran_from_s < 0 || eligible_s <= row->ran_from_s);
}

/* A job that another one held up is submitted after it, as long after it as in the log. A begin
 * with minutes (after:7+60) may lie before the submission. */
static void come_after(struct gsim_builder *b, int64_t before, int64_t eligible_s) {
    struct gsim_row *row = &b->row;
    const char *id = b->id_text + b->id_at[before];
    bool is_begin = row->extra[GSIM_SACCT_IS_BEGIN] > 0;
    int64_t end_ns = release_of(b, before, is_begin);
    row->cell[GSIM_COL_AFTER] = gsim_build_intern(b, GSIM_COL_AFTER, id, strlen(id));
    if (is_begin)
        row->cell[GSIM_COL_AFTER_BEGIN] = 1;
    if (!is_later(row, eligible_s) || end_ns < 0 || (!is_begin && end_ns <= row->submit_ns))
        return;
    row->submit_ns = eligible_s * GSIM_NS_PER_S;
    row->cell[GSIM_COL_THINK_NS] = row->submit_ns > end_ns ? row->submit_ns - end_ns : 0;
}

/* Where JobIDRaw is the job's id, other jobs call it by its array and number. */
static void note_task(struct gsim_builder *b) {
    int64_t array = b->row.cell[GSIM_COL_ARRAY], task = b->row.extra[GSIM_SACCT_TASK];
    if (array >= 0 && task >= 0 && !strchr(b->row.id, '_'))
        gsim_known_add_task(b, b->names[GSIM_COL_ARRAY].name[array], task);
}

/* Whether a job that waited for a begin became Eligible later than that explains: something else
 * held it then. Slurm looks at dependencies once a minute at least (sched_interval in
 * slurm.conf(5)). */
static bool is_held_longer(const struct gsim_builder *b, int64_t eligible_s) {
    enum { MINUTE_S = 60 };
    const struct gsim_row *row = &b->row;
    int64_t begin_ns = release_of(b, row->extra[GSIM_SACCT_BEFORE], true);
    int64_t minutes = row->extra[GSIM_SACCT_MINUTES], submit_s = row->submit_ns / GSIM_NS_PER_S;
    if (row->extra[GSIM_SACCT_IS_BEGIN] <= 0 || begin_ns < 0 ||
        minutes > GSIM_TIME_MAX / 2 / GSIM_NS_PER_S / MINUTE_S)
        return false;
    int64_t due_s = begin_ns / GSIM_NS_PER_S + minutes * MINUTE_S;
    return eligible_s > (due_s > submit_s ? due_s : submit_s) + MINUTE_S;
}

void gsim_sacct_arrive(struct gsim_builder *b) {
    struct gsim_row *row = &b->row;
    int64_t eligible_s = row->extra[GSIM_SACCT_ELIGIBLE_S];
    bool is_throttled = row->cell[GSIM_COL_ARRAY] >= 0 && row->cell[GSIM_COL_ARRAY_LIMIT] > 0;
    choose_partitions(b);
    find_fellow(b);
    note_task(b);
    bool is_known = row->extra[GSIM_SACCT_BEFORE] >= 0 && row->extra[GSIM_SACCT_IS_HELD] <= 0 &&
                    !is_held_longer(b, eligible_s);
    if (is_known) {
        come_after(b, row->extra[GSIM_SACCT_BEFORE], eligible_s);
        if (row->extra[GSIM_SACCT_IS_LOST] > 0)
            row->loss = "they depended on several jobs, of which some are not in the trace: they "
                        "are submitted after the others";
        return;
    }
    if (!is_later(row, eligible_s) ||
        (is_throttled && row->extra[GSIM_SACCT_IS_HELD] <= 0 && row->extra[GSIM_SACCT_IS_LOST] < 0))
        return; /* policy slurm holds tasks beyond the limit back */
    row->submit_ns = eligible_s * GSIM_NS_PER_S;
    row->loss = "they became eligible after they were submitted (a dependency, --begin, a hold or "
                "a limit of their array): they arrive when they became eligible";
}
