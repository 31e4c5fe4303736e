/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fair tree (Cox and Sena, "Fair Tree: Fairshare Algorithm for Slurm", Slurm User Group 2014, and
 * Slurm's fair_tree.c): children of an account are ordered by level fair share, shares among the
 * siblings over usage among the siblings; users are numbered in the order of a walk along that
 * order, and a user's factor is the number from the end over all users. Children of accounts that
 * tie are ordered together; users that tie have one factor.
 *
 * The classic algorithm: 2^(-usage / shares), where the usage of a child is its own plus its part,
 * by shares, of the rest of its parent's; that of a child of the root is its own alone. Usage is
 * divided by FairShareDampeningFactor.
 *
 * With fairshare=parent (sacctmgr(1)) the children of an account share with those of its parent,
 * and a user has the rank of one without usage, under the classic algorithm the factor of the
 * parent. */
#include "policies/slurm/accounts.h"

#include <string.h>
#include <strings.h>

#include "sim/base/wide.h"

enum { Q = 62 }; /* bits of a ratio of usage or of shares */

/* --- the tree --------------------------------------------------------------------------------- */

static uint32_t add(struct gsim_slurm_state *state, uint32_t parent, const char *name, bool is_user,
                    const struct gsim_slurm_assoc *conf) {
    uint32_t at = state->n_accounts++, *link;
    state->account[at] = (struct gsim_slurm_account){.parent = parent,
                                                     .first_child = GSIM_SLURM_NONE,
                                                     .next = GSIM_SLURM_NONE,
                                                     .is_user = is_user,
                                                     .conf = conf,
                                                     .name = name,
                                                     .shares_with = parent,
                                                     .is_as_parent = conf && conf->is_as_parent,
                                                     .shares = conf ? conf->shares : 1};
    state->n_ranked_users += is_user;
    if (parent == GSIM_SLURM_NONE)
        return at;
    for (link = &state->account[parent].first_child; *link != GSIM_SLURM_NONE;
         link = &state->account[*link].next)
        continue;
    *link = at;
    return at;
}

static uint32_t child_called(const struct gsim_slurm_state *state, uint32_t parent,
                             const char *name, bool is_user) {
    uint32_t at = state->account[parent].first_child;
    while (at != GSIM_SLURM_NONE && (state->account[at].is_user != is_user ||
                                     strcasecmp(state->account[at].name, name) != 0))
        at = state->account[at].next;
    return at;
}

static uint32_t account_called(const struct gsim_slurm_state *state, const char *name) {
    for (uint32_t at = 0; at < state->n_accounts; at++)
        if (!state->account[at].is_user && strcasecmp(state->account[at].name, name) == 0)
            return at;
    return GSIM_SLURM_NONE;
}

/* Accounts of the file: sacctmgr prints parents before their children; an account is below the root
 * where its parent is not named, or comes later. */
static void add_accounts(struct gsim_slurm_state *state) {
    for (uint32_t i = 0; i < state->conf.n_assocs; i++) {
        const struct gsim_slurm_assoc *conf = &state->conf.assoc[i];
        if (*conf->user)
            continue;
        if (account_called(state, conf->account) != GSIM_SLURM_NONE) {
            if (strcasecmp(conf->account, "root") == 0)
                state->account[0].conf = conf;
            continue;
        }
        uint32_t parent = *conf->parent ? account_called(state, conf->parent) : 0;
        (void)add(state, parent == GSIM_SLURM_NONE ? 0 : parent, conf->account, false, conf);
    }
    for (uint32_t i = 0; i < state->conf.n_assocs; i++) {
        const struct gsim_slurm_assoc *conf = &state->conf.assoc[i];
        uint32_t parent = *conf->user ? account_called(state, conf->account) : GSIM_SLURM_NONE;
        if (parent != GSIM_SLURM_NONE &&
            child_called(state, parent, conf->user, true) == GSIM_SLURM_NONE)
            (void)add(state, parent, conf->user, true, conf);
    }
}

static const char *name_of(const struct gsim_trace *trace, enum gsim_column column, uint32_t job) {
    int64_t name = gsim_trace_get(trace, column, job);
    return name >= 0 ? trace->names[column].name[name] : "";
}

static size_t pair_of(const struct gsim_slurm_state *state, const struct gsim_trace *trace,
                      uint32_t job) {
    return (size_t)(gsim_trace_get(trace, GSIM_COL_VC, job) + 1) * state->n_users +
           (size_t)(gsim_trace_get(trace, GSIM_COL_USER, job) + 1);
}

static uint32_t find_or_add(struct gsim_slurm_state *state, uint32_t parent, const char *name,
                            bool is_user, uint32_t *n_new) {
    uint32_t at = child_called(state, parent, name, is_user);
    if (at == GSIM_SLURM_NONE) {
        at = add(state, parent, name, is_user, NULL);
        (*n_new)++;
    }
    return at;
}

/* Gives each pair of an account and a user of the trace its place in the tree. */
static void place_jobs(struct gsim_slurm_state *state, const struct gsim_trace *trace,
                       uint32_t *n_new) {
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        uint32_t *of = &state->account_of[pair_of(state, trace, job)];
        const char *account = name_of(trace, GSIM_COL_VC, job);
        if (*of != GSIM_SLURM_NONE)
            continue;
        uint32_t parent = account_called(state, *account ? account : "root");
        if (parent == GSIM_SLURM_NONE)
            parent = find_or_add(state, 0, account, false, n_new);
        *of = find_or_add(state, parent, name_of(trace, GSIM_COL_USER, job), true, n_new);
    }
}

/* Hangs each account and user, with its shares, below the account with the children of which it
 * shares. */
static void hang_by_shares(struct gsim_slurm_state *state) {
    for (uint32_t at = 0; at < state->n_accounts; at++)
        state->account[at].first_child = state->account[at].next = GSIM_SLURM_NONE;
    for (uint32_t at = state->n_accounts; at-- > 1;) {
        struct gsim_slurm_account *own = &state->account[at];
        while (own->shares_with != 0 && state->account[own->shares_with].is_as_parent)
            own->shares_with = state->account[own->shares_with].parent;
        if (own->is_as_parent && !own->is_user)
            continue;
        struct gsim_slurm_account *above = &state->account[own->shares_with];
        above->child_shares += own->is_as_parent ? 0 : own->shares;
        own->next = above->first_child;
        above->first_child = at;
    }
}

enum gsim_status gsim_slurm_accounts_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    enum { MOST_PAIRS = 1 << 26 };
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n_new = 0;
    state->n_users = trace->names[GSIM_COL_USER].n + 1;
    state->n_names = trace->names[GSIM_COL_VC].n + 1;
    size_t n_pairs = (size_t)state->n_users * state->n_names;
    size_t n_jobs = trace->n_jobs < n_pairs ? trace->n_jobs : n_pairs;
    size_t most = 1 + state->conf.n_assocs + state->n_names + n_jobs;
    if (n_pairs > MOST_PAIRS)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                         "%zu pairs of an account and a user; at most %d are told apart", n_pairs,
                         MOST_PAIRS);
    state->account_of = gsim_arena_array(ctx->arena, n_pairs, sizeof *state->account_of);
    state->account = gsim_arena_array(ctx->arena, most, sizeof *state->account);
    state->walk = gsim_arena_array(ctx->arena, most, sizeof *state->walk);
    state->level = gsim_arena_array(ctx->arena, most, sizeof *state->level);
    if (!state->account_of || !state->account || !state->walk || !state->level)
        return gsim_no_memory(ctx->log, "opening accounts");
    memset(state->account_of, 0xff, n_pairs * sizeof *state->account_of);
    (void)add(state, GSIM_SLURM_NONE, "root", false, NULL);
    add_accounts(state);
    place_jobs(state, trace, &n_new);
    hang_by_shares(state);
    if (state->conf.n_assocs > 0 && n_new > 0)
        gsim_warn(ctx->log, state->conf.path, 0,
                  "%u accounts or users of the trace have no association there; each has one share "
                  "and no limit",
                  n_new);
    return GSIM_OK;
}

uint32_t gsim_slurm_accounts_of(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                uint32_t job) {
    return state->account_of[pair_of(state, ctx->view->trace, job)];
}

/* --- usage ------------------------------------------------------------------------------------ */

static void charge(struct gsim_slurm_account *account, int64_t until_ns) {
    account->usage += (gsim_i128)(until_ns - account->updated_ns) * account->running_milli;
    account->updated_ns = until_ns;
}

/* Decays at the end of each period, so that the result does not depend on the times of calls. */
static void bring_up(const struct gsim_slurm_state *state, struct gsim_slurm_account *account,
                     int64_t now_ns) {
    int64_t period_ns = state->conf.period_ns;
    int64_t last_ns = now_ns - now_ns % period_ns;
    while (account->updated_ns < last_ns && (account->usage > 0 || account->running_milli > 0)) {
        charge(account, account->updated_ns - account->updated_ns % period_ns + period_ns);
        account->usage = (account->usage >> 16) * (gsim_i128)state->decay_q32 >> 16;
    }
    charge(account, now_ns);
}

void gsim_slurm_accounts_change(struct gsim_slurm_state *state, uint32_t assoc, int64_t now_ns,
                                int64_t billing_milli) {
    for (uint32_t at = assoc; at != GSIM_SLURM_NONE; at = state->account[at].parent) {
        bring_up(state, &state->account[at], now_ns);
        state->account[at].running_milli += billing_milli;
    }
}

/* --- fair tree -------------------------------------------------------------------------------- */

/* Usage in units that fit 64 bits: a milli-GPU for a millisecond, roughly. */
static uint64_t usage_of(const struct gsim_slurm_account *account) {
    gsim_i128 usage = account->usage >> 20;
    return usage > INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)usage;
}

static uint64_t ratio(uint64_t part, uint64_t all) {
    return all == 0 ? 0 : (uint64_t)(((gsim_u128)part << Q) / all);
}

/* Shares among the siblings over usage among them; a child without usage comes first. */
static gsim_u128 level_of(const struct gsim_slurm_state *state, uint32_t at) {
    const struct gsim_slurm_account *account = &state->account[at];
    const struct gsim_slurm_account *parent = &state->account[account->shares_with];
    uint64_t usage = ratio(usage_of(account), usage_of(parent));
    uint64_t part = ratio((uint64_t)account->shares, (uint64_t)parent->child_shares);
    if (account->is_as_parent)
        return ~(gsim_u128)0;
    if (account->shares == 0)
        return 0;
    return usage == 0 ? ~(gsim_u128)0 : ((gsim_u128)part << 32) / usage;
}

/* Children that are being ordered: a part of state->walk. */
struct level {
    uint32_t first, n;
};

static void add_children(struct gsim_slurm_state *state, uint32_t account, struct level *level) {
    for (uint32_t at = state->account[account].first_child; at != GSIM_SLURM_NONE;
         at = state->account[at].next) {
        state->level[at] = level_of(state, at);
        state->walk[level->first + level->n++] = at;
    }
}

/* A larger level fair share comes first; of equal ones users come before accounts. */
static bool comes_after(const struct gsim_slurm_state *state, uint32_t a, uint32_t b) {
    if (state->level[a] != state->level[b])
        return state->level[a] < state->level[b];
    return !state->account[a].is_user && state->account[b].is_user;
}

static void sort(struct gsim_slurm_state *state, const struct level *level) {
    uint32_t *walk = &state->walk[level->first];
    for (uint32_t i = 1; i < level->n; i++) {
        uint32_t at = walk[i], k = i;
        for (; k > 0 && comes_after(state, walk[k - 1], at); k--)
            walk[k] = walk[k - 1];
        walk[k] = at;
    }
}

/* Leaves the children of each account in the order that was found: the next walk sorts lists that
 * are nearly sorted. */
static void keep_order(struct gsim_slurm_state *state, const struct level *level) {
    for (uint32_t i = 0; i < level->n; i++) {
        uint32_t at = state->walk[level->first + i];
        state->account[state->account[at].shares_with].first_child = GSIM_SLURM_NONE;
    }
    for (uint32_t i = level->n; i-- > 0;) {
        struct gsim_slurm_account *account = &state->account[state->walk[level->first + i]];
        account->next = state->account[account->shares_with].first_child;
        state->account[account->shares_with].first_child = state->walk[level->first + i];
    }
}

struct ranking {
    uint32_t rank, left; /* users that are not ranked yet */
};

/* Walks over siblings in order. is_tied: the first of them ties with the last user before. */
static void walk(struct gsim_slurm_state *state, struct level level, struct ranking *ranking,
                 bool is_tied) {
    sort(state, &level);
    keep_order(state, &level);
    for (uint32_t i = 0; i < level.n; i++) {
        uint32_t at = state->walk[level.first + i];
        struct level below = {level.first + level.n, 0};
        bool ties =
            i > 0 ? state->level[at] == state->level[state->walk[level.first + i - 1]] : is_tied;
        if (state->account[at].is_user) {
            if (!ties)
                ranking->rank = ranking->left;
            state->account[at].factor_q32 = ((int64_t)ranking->rank << 32) / state->n_ranked_users;
            ranking->left--;
            continue;
        }
        add_children(state, at, &below);
        while (i + 1 < level.n &&
               state->level[state->walk[level.first + i + 1]] == state->level[at])
            add_children(state, state->walk[level.first + ++i], &below);
        walk(state, below, ranking, ties);
    }
}

/* --- the classic algorithm -------------------------------------------------------------------- */

/* Usage of a child, as it counts, and its shares, of all there is, in Q62. */
struct standing {
    uint64_t usage, shares;
};

static struct standing standing_of(const struct gsim_slurm_state *state, uint32_t parent,
                                   const struct gsim_slurm_account *child, struct standing above) {
    uint64_t all = (uint64_t)state->account[parent].child_shares;
    uint64_t own = ratio(usage_of(child), usage_of(&state->account[0]));
    uint64_t part = ratio((uint64_t)child->shares, all);
    uint64_t rest = parent > 0 && above.usage > own ? above.usage - own : 0;
    if (child->is_as_parent)
        return above;
    return (struct standing){parent > 0 && all == 0 ? above.usage
                                                    : own + (uint64_t)((gsim_u128)rest * part >> Q),
                             (uint64_t)((gsim_u128)above.shares * part >> Q)};
}

static void walk_classic(struct gsim_slurm_state *state, uint32_t at, struct standing above) {
    for (uint32_t i = state->account[at].first_child; i != GSIM_SLURM_NONE;
         i = state->account[i].next) {
        struct gsim_slurm_account *child = &state->account[i];
        struct standing own = standing_of(state, at, child, above);
        if (!child->is_user)
            walk_classic(state, i, own);
        else
            child->factor_q32 =
                own.shares == 0
                    ? 0
                    : (int64_t)gsim_exp2_neg_q32((int64_t)own.usage / state->conf.dampening,
                                                 (int64_t)own.shares);
    }
}

void gsim_slurm_accounts_rank(struct gsim_slurm_state *state, int64_t at_ns) {
    struct ranking ranking = {state->n_ranked_users, state->n_ranked_users};
    struct level top = {0, 0};
    for (uint32_t at = 0; at < state->n_accounts; at++)
        if (state->account[at].updated_ns < at_ns)
            bring_up(state, &state->account[at], at_ns);
    if (!state->conf.is_fair_tree) {
        walk_classic(state, 0, (struct standing){UINT64_C(1) << Q, UINT64_C(1) << Q});
        return;
    }
    add_children(state, 0, &top);
    walk(state, top, &ranking, false);
}
