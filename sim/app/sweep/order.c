/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predicts how long runs take. A run of a trace under a policy is expected to take as long as such
 * runs have taken; before the first has ended, as long per job as runs of other traces under that
 * policy. Among runs without a prediction the largest trace comes first. A drawn trace is in memory
 * from its first run to its last, so few drawn traces are open at a time. No result depends on the
 * order: a run's rows have its position in the grid. */
#include "sim/app/sweep/order.h"

#include <math.h>

/* The most batches to compare when a run is chosen: enough for any grid of files, and a bound for
 * thousands of drawn traces. */
enum { MOST_LOOKED_AT = 4096 };

/* The runs of a trace under a policy, which are neighbours in the grid. */
struct batch {
    int64_t next, end; /* places in todo->position: the next run, and the end */
    uint32_t trace;
    uint32_t policy, kind; /* numbers of the policy, and of the pair of policy and file or spec */
    int64_t n_running;
};

struct learned {
    double wall_s; /* sums over the runs that have ended */
    double jobs;
    int64_t n;
};

struct gsim_sweep_order {
    const struct gsim_sweep_todo *todo;
    pthread_mutex_t lock;
    struct batch *batch;
    int64_t n_batches, first; /* all runs of the batches before `first` have begun */
    struct learned *by_policy, *by_kind;
    int64_t *n_left; /* by trace: runs that have not begun */
    bool *is_open; /* by trace: a run of this drawn trace has begun */
    int n_open;
    int64_t *batch_of; /* by position - 1 */
    double ended_s; /* time of all runs that have ended */
};

static int policy_key(const struct gsim_grid *grid) {
    int k = 0;
    while (grid->key[k].option != GSIM_OPT_POLICY) /* every grid has this key */
        k++;
    return k;
}

static const struct gsim_sweep_run *run_at(const struct gsim_sweep_todo *todo, int64_t place) {
    return &todo->sweep->run[todo->position[place] - 1];
}

static void name_batch(const struct gsim_grid *grid, const struct gsim_sweep_run *run,
                       struct batch *batch) {
    const uint32_t *choice = grid->choice + run->grid_run * grid->n_keys;
    int k = policy_key(grid);
    batch->trace = run->trace;
    batch->policy = choice[k];
    batch->kind = choice[0] * grid->key[k].n + choice[k];
}

static void cut_batches(struct gsim_sweep_order *order) {
    const struct gsim_sweep_todo *todo = order->todo;
    for (int64_t i = 0; i < todo->n; i++) {
        struct batch batch = {.next = i, .end = i + 1};
        struct batch *last = order->n_batches ? &order->batch[order->n_batches - 1] : NULL;
        name_batch(&todo->sweep->grid, run_at(todo, i), &batch);
        order->n_left[batch.trace]++;
        if (last && last->trace == batch.trace && last->kind == batch.kind)
            last->end++;
        else
            order->batch[order->n_batches++] = batch;
        order->batch_of[todo->position[i] - 1] = order->n_batches - 1;
    }
}

/* The number of a trace's jobs; 0 for a drawn trace, since it is drawn later. */
static uint32_t n_jobs_of(const struct gsim_sweep_order *order, const struct batch *batch) {
    return order->todo->sweep->trace[batch->trace].n_jobs;
}

struct gsim_sweep_order *gsim_sweep_order_new(const struct gsim_sweep_todo *todo) {
    struct gsim_sweep *sweep = todo->sweep;
    struct gsim_arena *arena = sweep->cli->arena;
    const struct gsim_grid *grid = &sweep->grid;
    size_t n_policies = grid->key[policy_key(grid)].n, n_traces = sweep->n_traces;
    struct gsim_sweep_order *order = gsim_arena_alloc(arena, sizeof *order);
    if (!order)
        return NULL;
    order->todo = todo;
    order->batch = gsim_arena_array(arena, (size_t)todo->n, sizeof *order->batch);
    order->by_policy = gsim_arena_array(arena, n_policies, sizeof *order->by_policy);
    order->by_kind = gsim_arena_array(arena, n_policies * grid->key[0].n, sizeof *order->by_kind);
    order->n_left = gsim_arena_array(arena, n_traces, sizeof *order->n_left);
    order->is_open = gsim_arena_array(arena, n_traces, sizeof *order->is_open);
    order->batch_of = gsim_arena_array(arena, (size_t)sweep->n_runs, sizeof *order->batch_of);
    if (!order->batch || !order->by_policy || !order->by_kind || !order->n_left ||
        !order->is_open || !order->batch_of)
        return NULL;
    cut_batches(order);
    (void)pthread_mutex_init(&order->lock, NULL);
    return order;
}

void gsim_sweep_order_end(struct gsim_sweep_order *order) {
    (void)pthread_mutex_destroy(&order->lock);
}

/* The expected time of one run; INFINITY: there is no prediction. */
static double expected_s(const struct gsim_sweep_order *order, const struct batch *batch) {
    const struct learned *alike = &order->by_kind[batch->kind],
                         *policy = &order->by_policy[batch->policy];
    if (alike->n > 0)
        return alike->wall_s / (double)alike->n;
    if (policy->jobs > 0 && n_jobs_of(order, batch) > 0)
        return policy->wall_s / policy->jobs * n_jobs_of(order, batch);
    return (double)INFINITY;
}

/* Whether batch a has longer runs; of two batches without a prediction, the larger trace counts as
 * longer. */
static bool is_longer(const struct gsim_sweep_order *order, const struct batch *a,
                      const struct batch *b) {
    double a_s = expected_s(order, a), b_s = expected_s(order, b);
    return a_s > b_s || (isinf(a_s) && isinf(b_s) && n_jobs_of(order, a) > n_jobs_of(order, b));
}

static struct batch *first_batch(struct gsim_sweep_order *order) {
    while (order->batch[order->first].next == order->batch[order->first].end)
        order->first++;
    return &order->batch[order->first];
}

static struct batch *longest_batch(struct gsim_sweep_order *order) {
    struct batch *best = first_batch(order);
    bool may_open = order->n_open <= order->todo->sweep->n_threads;
    int64_t end = order->first + MOST_LOOKED_AT;
    for (int64_t b = order->first; b < order->n_batches && b < end; b++) {
        struct batch *batch = &order->batch[b];
        bool is_closed = n_jobs_of(order, batch) == 0 && !order->is_open[batch->trace];
        if (batch->next == batch->end || (is_closed && !may_open))
            continue;
        may_open &= !is_closed; /* at most one closed trace may open */
        if (is_longer(order, batch, best))
            best = batch;
    }
    return best;
}

int64_t gsim_sweep_order_take(struct gsim_sweep_order *order, bool by_length) {
    (void)pthread_mutex_lock(&order->lock);
    struct batch *batch = by_length ? longest_batch(order) : first_batch(order);
    int64_t place = batch->next++;
    batch->n_running++;
    uint32_t trace = batch->trace;
    bool is_last = --order->n_left[trace] == 0;
    if (n_jobs_of(order, batch) == 0)
        order->n_open += !order->is_open[trace] - is_last;
    order->is_open[trace] = true;
    (void)pthread_mutex_unlock(&order->lock);
    return order->todo->position[place];
}

static void add(struct learned *learned, double wall_s, double jobs) {
    learned->wall_s += wall_s;
    learned->jobs += jobs;
    learned->n++;
}

void gsim_sweep_order_note(struct gsim_sweep_order *order, int64_t position, double wall_s) {
    struct batch *batch = &order->batch[order->batch_of[position - 1]];
    uint32_t n_jobs = n_jobs_of(order, batch);
    (void)pthread_mutex_lock(&order->lock);
    batch->n_running--;
    if (wall_s >= 0) {
        order->ended_s += wall_s;
        add(&order->by_kind[batch->kind], wall_s, n_jobs);
        if (n_jobs > 0)
            add(&order->by_policy[batch->policy], wall_s, n_jobs);
    }
    (void)pthread_mutex_unlock(&order->lock);
}

double gsim_sweep_order_left(struct gsim_sweep_order *order, bool *is_least) {
    double left_s = 0;
    *is_least = false;
    (void)pthread_mutex_lock(&order->lock);
    for (int64_t b = 0; b < order->n_batches; b++) {
        const struct batch *batch = &order->batch[b];
        int64_t n = batch->end - batch->next + batch->n_running;
        double each_s = n > 0 ? expected_s(order, batch) : 0;
        *is_least |= isinf(each_s);
        left_s += isinf(each_s) ? 0 : (double)n * each_s;
    }
    double ended_s = order->ended_s;
    (void)pthread_mutex_unlock(&order->lock);
    return ended_s > 0 ? left_s / ended_s : -1;
}
