/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of each kind of limit the first that is set counts: of the partition's QOS, of the job's QOS (in
 * the other order with OverPartQOS), of the associations (slurm.schedmd.com/resource_limits.html).
 * Group limits of associations hold at the user and at every account above; a limit for each user
 * is that of the nearest association that has one, and MaxJobs of associations gives way to
 * MaxJobsPerAccount of a QOS, too (acct_policy.c). A job that alone is more than a limit would
 * never start; jobs of a log did, so that the limit is not asked of such a job. A limit of a type
 * of GPU is asked of jobs that name the type, and counts all GPUs of the type that jobs have
 * (AccountingStorageTRES in slurm.conf(5)). The minutes of GrpTRESRunMins that have passed are
 * taken off by priority/multifactor, each PriorityCalcPeriod (_handle_tres_run_secs). */
#include "policies/slurm/limits.h"

#include <string.h>

/* --- amounts ---------------------------------------------------------------------------------- */

/* What a job takes of a TRES: what it has, of a job that waits what it asks for. */
static int64_t amount(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t tres, bool is_waiting) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (tres < GSIM_SLURM_FIRST_TYPE)
        return job->wants[tres];
    uint32_t type = tres - GSIM_SLURM_FIRST_TYPE;
    return !is_waiting             ? job->of_type[type]
           : job->type == type + 1 ? job->wants[GSIM_SLURM_GPUS]
                                   : 0;
}

/* A counter: its first TRES. */
struct place {
    enum gsim_slurm_counter counter;
    size_t at;
};

static struct place place_of(const struct gsim_slurm_state *state, enum gsim_slurm_counter counter,
                             size_t nth) {
    return (struct place){counter, nth * state->n_tres};
}

static bool has_room(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                     gsim_slot slot, const struct gsim_slurm_asked *asked, int64_t most,
                     struct place place) {
    gsim_i128 wants = amount(ctx, slot, asked->tres, true), all = most;
    if (most < 0 || wants == 0)
        return true;
    gsim_i128 used = state->count[place.counter].held[place.at + asked->tres];
    if (asked->limit == GSIM_SLURM_GROUP_RUN) {
        const int64_t minute_ns = 60 * GSIM_NS_PER_S;
        used = state->count[place.counter].left[place.at + asked->tres];
        used -= used % minute_ns; /* Slurm counts whole minutes of all jobs together */
        wants *= gsim_slurm_job(ctx, slot)->way.limit_ns;
        all *= minute_ns;
    }
    return wants > all || used + wants <= all;
}

/* --- QOS -------------------------------------------------------------------------------------- */

int gsim_slurm_limits_qos(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                          uint32_t out[2]) {
    uint32_t of_partition = state->qos_of_partition[job->way.partition];
    int n = 0;
    bool job_first = job->qos != GSIM_SLURM_NONE && state->conf.qos[job->qos].goes_over_partition;
    if (job_first)
        out[n++] = job->qos;
    if (of_partition != GSIM_SLURM_NONE && of_partition != job->qos)
        out[n++] = of_partition;
    if (job->qos != GSIM_SLURM_NONE && !job_first)
        out[n++] = job->qos;
    return n;
}

static uint32_t name_number(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_column column) {
    return (uint32_t)(gsim_trace_get(ctx->view->trace, column, ctx->view->jobs.index[slot]) + 1);
}

/* The counter of a QOS for the job: of all jobs, of its user, or of its account. */
static struct place counter_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                               gsim_slot slot, uint32_t qos, enum gsim_slurm_counter counter) {
    if (counter == GSIM_SLURM_OF_USER)
        return place_of(state, counter,
                        (size_t)qos * state->n_users + name_number(ctx, slot, GSIM_COL_USER));
    if (counter == GSIM_SLURM_OF_NAME)
        return place_of(state, counter,
                        (size_t)qos * state->n_names + name_number(ctx, slot, GSIM_COL_VC));
    return place_of(state, counter, qos);
}

static enum gsim_slurm_counter counter_for(enum gsim_slurm_limit limit) {
    return limit == GSIM_SLURM_USER      ? GSIM_SLURM_OF_USER
           : limit == GSIM_SLURM_ACCOUNT ? GSIM_SLURM_OF_NAME
                                         : GSIM_SLURM_OF_QOS;
}

/* --- associations ----------------------------------------------------------------------------- */

static bool associations_let(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                             gsim_slot slot, const struct gsim_slurm_asked *asked) {
    uint32_t own = gsim_slurm_job(ctx, slot)->assoc;
    bool is_group = asked->limit == GSIM_SLURM_GROUP || asked->limit == GSIM_SLURM_GROUP_RUN;
    for (uint32_t at = own; at != GSIM_SLURM_NONE; at = state->account[at].parent) {
        const struct gsim_slurm_assoc *conf = state->account[at].conf;
        int64_t most = conf ? conf->limits.most[asked->limit][asked->tres] : -1;
        if (!has_room(state, ctx, slot, asked, most,
                      place_of(state, GSIM_SLURM_OF_ASSOC, is_group ? at : own)))
            return false;
        if (!is_group && most >= 0)
            return true;
    }
    return true;
}

/* --- asking and booking ----------------------------------------------------------------------- */

/* The first of the job's QOS that sets the limit; n: none does. */
static int first_that_sets(const struct gsim_slurm_state *state, const uint32_t *qos, int n,
                           enum gsim_slurm_limit limit, enum gsim_slurm_tres tres) {
    int i = 0;
    while (i < n && state->conf.qos[qos[i]].limits.most[limit][tres] < 0)
        i++;
    return i;
}

static bool lets(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx, gsim_slot slot,
                 const struct gsim_slurm_asked *asked) {
    uint32_t qos[2];
    int n = gsim_slurm_limits_qos(state, gsim_slurm_job(ctx, slot), qos);
    int i = first_that_sets(state, qos, n, asked->limit, asked->tres);
    if (i < n)
        return has_room(state, ctx, slot, asked,
                        state->conf.qos[qos[i]].limits.most[asked->limit][asked->tres],
                        counter_of(state, ctx, slot, qos[i], counter_for(asked->limit)));
    bool is_max_jobs = asked->limit == GSIM_SLURM_USER && asked->tres == GSIM_SLURM_JOBS;
    if (is_max_jobs && first_that_sets(state, qos, n, GSIM_SLURM_ACCOUNT, GSIM_SLURM_JOBS) < n)
        return true;
    return associations_let(state, ctx, slot, asked);
}

bool gsim_slurm_limits_let(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot, enum gsim_slurm_limits_part part) {
    for (uint32_t a = 0; a < state->n_asked; a++) {
        const struct gsim_slurm_asked *asked = &state->asked[a];
        bool is_of_jobs = asked->tres == GSIM_SLURM_JOBS;
        bool is_asked =
            part == GSIM_SLURM_ALL_LIMITS || is_of_jobs == (part == GSIM_SLURM_LIMITS_OF_JOBS);
        if (is_asked && !lets(state, ctx, slot, asked))
            return false;
    }
    return true;
}

bool gsim_slurm_limits_let_array(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                 gsim_slot slot) {
    uint32_t array = gsim_slurm_job(ctx, slot)->array;
    int64_t most =
        gsim_trace_get(ctx->view->trace, GSIM_COL_ARRAY_LIMIT, ctx->view->jobs.index[slot]);
    return array == GSIM_SLURM_NONE || most <= 0 || state->array_running[array] < most;
}

/* Of the job's limit, what was left when minutes were last counted, or as it began. */
static int64_t left_of(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    int64_t begin_ns = job->end_ns - job->way.limit_ns;
    int64_t from_ns = begin_ns > state->counted_ns ? begin_ns : state->counted_ns;
    return job->end_ns > from_ns ? job->end_ns - from_ns : 0;
}

static void book(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, gsim_slot slot,
                 struct place place, int sign) {
    struct gsim_slurm_counts *counts = &state->count[place.counter];
    for (uint32_t t = 0; t < state->n_tres; t++) {
        int64_t n = sign * amount(ctx, slot, t, false);
        counts->held[place.at + t] += n;
        if (counts->left)
            counts->left[place.at + t] += (gsim_i128)n * left_of(state, gsim_slurm_job(ctx, slot));
    }
}

void gsim_slurm_limits_book(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, int sign) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t qos[2];
    int n = state->n_asked > 0 ? gsim_slurm_limits_qos(state, job, qos) : 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < GSIM_SLURM_OF_ASSOC; c++)
            book(state, ctx, slot, counter_of(state, ctx, slot, qos[i], (enum gsim_slurm_counter)c),
                 sign);
    for (uint32_t at = job->assoc; state->n_asked > 0 && at != GSIM_SLURM_NONE;
         at = state->account[at].parent)
        book(state, ctx, slot, place_of(state, GSIM_SLURM_OF_ASSOC, at), sign);
}

void gsim_slurm_limits_catch_up(struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    int64_t now_ns = ctx->view->now_ns, at_ns = now_ns - now_ns % state->conf.period_ns;
    bool has = false;
    for (uint32_t a = 0; a < state->n_asked; a++)
        has |= state->asked[a].limit == GSIM_SLURM_GROUP_RUN;
    if (!has || !state->conf.is_multifactor || at_ns == state->counted_ns)
        return;
    for (uint32_t i = 0; i < state->n_running; i++)
        gsim_slurm_limits_book(state, ctx, state->running[i], -1);
    state->counted_ns = at_ns;
    for (uint32_t i = 0; i < state->n_running; i++)
        gsim_slurm_limits_book(state, ctx, state->running[i], 1);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool is_set(const struct gsim_slurm *conf, int limit, int tres) {
    for (uint32_t q = 0; q < conf->n_qos; q++)
        if (conf->qos[q].limits.most[limit][tres] >= 0)
            return true;
    for (uint32_t a = 0; a < conf->n_assocs; a++)
        if (conf->assoc[a].limits.most[limit][tres] >= 0)
            return true;
    return false;
}

static void list_asked(struct gsim_slurm_state *state) {
    for (int l = 0; state->conf.has_limits && l < GSIM_SLURM_LIMITS; l++)
        for (int t = 0; t < GSIM_SLURM_TRES; t++)
            if (is_set(&state->conf, l, t))
                state->asked[state->n_asked++] =
                    (struct gsim_slurm_asked){(enum gsim_slurm_limit)l, (enum gsim_slurm_tres)t};
}

static bool allocate_limits(struct gsim_slurm_state *state, struct gsim_arena *arena,
                            const size_t n[GSIM_SLURM_COUNTERS]) {
    bool is_ok = true;
    for (int c = 0; c < GSIM_SLURM_COUNTERS; c++) {
        struct gsim_slurm_counts *counts = &state->count[c];
        bool needs_left = c == GSIM_SLURM_OF_QOS || c == GSIM_SLURM_OF_ASSOC;
        counts->held = gsim_arena_array(arena, n[c] * state->n_tres, sizeof *counts->held);
        if (needs_left)
            counts->left = gsim_arena_array(arena, n[c] * state->n_tres, sizeof *counts->left);
        is_ok = is_ok && counts->held && (counts->left || !needs_left);
    }
    uint32_t n_partitions = state->conf.n_partitions;
    state->qos_of_partition =
        gsim_arena_array(arena, n_partitions, sizeof *state->qos_of_partition);
    return is_ok && state->qos_of_partition;
}

static void find_qos_of_partitions(struct gsim_slurm_state *state) {
    const struct gsim_slurm *conf = &state->conf;
    for (uint32_t p = 0; p < conf->n_partitions; p++) {
        const char *name = conf->partition[p].qos;
        state->qos_of_partition[p] = GSIM_SLURM_NONE;
        for (uint32_t q = 0; *name && q < conf->n_qos; q++)
            if (gsim_slurm_lists(name, conf->qos[q].name, strlen(conf->qos[q].name)))
                state->qos_of_partition[p] = q;
    }
}

enum gsim_status gsim_slurm_limits_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    enum { MOST = 1 << 26 };
    size_t n = state->conf.n_qos + 1u;
    const size_t sizes[GSIM_SLURM_COUNTERS] = {n, n * state->n_users, n * state->n_names,
                                               state->n_accounts};
    state->n_tres = GSIM_SLURM_FIRST_TYPE + state->conf.n_types;
    for (int c = 0; c < GSIM_SLURM_COUNTERS; c++)
        if (sizes[c] > MOST / state->n_tres)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, state->conf.path, 0,
                             "%zu QOS of %u users; that is too many", n, state->n_users);
    if (!allocate_limits(state, ctx->arena, sizes))
        return gsim_no_memory(ctx->log, "opening limits");
    find_qos_of_partitions(state);
    list_asked(state);
    return GSIM_OK;
}
