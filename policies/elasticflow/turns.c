/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow, mode=gandiva: the loop of the authors' simulator for `gandiva`
 * (pkusys/ElasticFlow @ 04a0109, scheduler/scheduler.py, gandiva_sim_jobs, and cluster.py), a fork
 * of that of Tiresias' simulator. Nodes belong to sets, a set to jobs of one width; it runs as
 * many of its jobs at once as it has room for, and where it has more they take turns. Widths get
 * nodes by their part of all GPUs that jobs ask for. Copied with it: jobs change their turns only
 * in events at whole minutes, and no event comes between arrivals, however far these are apart, so
 * that GPUs idle; the load of a set is not lessened when a job ends; a width that gets sets of one
 * node each loses them at once unless nodes were too few; of the jobs that wait for nodes every
 * second one is tried; each event costs all jobs the seconds in which they load; sets are made
 * anew at the end of the time that their jobs are counted for, here at its beginning, since
 * nothing comes between. */
#include "policies/elasticflow/loop.h"

#include <string.h>

#define NONE UINT32_MAX

enum { TURN_S = 60 };

/* Nodes that jobs of a width share. Its jobs are linked by their numbers. */
struct set {
    int64_t gpus; /* of a job */
    int64_t capacity; /* jobs that run at once */
    int64_t load;
    uint32_t n_nodes, first, last, n_jobs;
};

struct elasticflow_turns {
    struct set *set; /* by width; those of one width in their order */
    uint32_t n_sets;
    int64_t n_free, node_gpus; /* nodes without a set; GPUs of a node */
    uint32_t *waiting, n_waiting; /* jobs without a set */
};

/* The sets of a width. */
struct run {
    uint32_t from, n;
};

bool elasticflow_turns_open(struct gsim_ctx *ctx, struct elasticflow *elasticflow) {
    struct elasticflow_turns *turns = gsim_arena_array(ctx->arena, 1, sizeof *turns);
    if (!turns)
        return false;
    turns->n_free = ctx->view->cluster.n_nodes;
    turns->node_gpus = ctx->view->cluster.widest_node;
    turns->set = gsim_arena_array(ctx->arena, ctx->view->cluster.n_nodes + 1, sizeof *turns->set);
    turns->waiting = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *turns->waiting);
    elasticflow->reference->turns = turns;
    return turns->set && turns->waiting;
}

/* --- sets ------------------------------------------------------------------------------------- */

static int64_t nodes_of(const struct elasticflow_turns *turns, int64_t gpus) {
    return (gpus + turns->node_gpus - 1) / turns->node_gpus;
}

/* Where the sets of a width begin, or are to stand. */
static struct run run_of(const struct elasticflow_turns *turns, int64_t gpus) {
    struct run run = {0, 0};
    while (run.from < turns->n_sets && turns->set[run.from].gpus < gpus)
        run.from++;
    while (run.from + run.n < turns->n_sets && turns->set[run.from + run.n].gpus == gpus)
        run.n++;
    return run;
}

static void link_job(struct elasticflow *own, struct set *set, uint32_t number) {
    own->job[number].next_in_set = NONE;
    if (set->n_jobs > 0)
        own->job[set->last].next_in_set = number;
    else
        set->first = number;
    set->last = number;
    set->n_jobs++;
}

/* The first set goes behind the others. */
static void turn_sets(struct elasticflow_turns *turns, struct run run) {
    struct set first = turns->set[run.from];
    memmove(&turns->set[run.from], &turns->set[run.from + 1], (run.n - 1) * sizeof first);
    turns->set[run.from + run.n - 1] = first;
}

/* The place of the first set among the others, which are sorted: before those of equal load. */
static void settle_first(struct elasticflow_turns *turns, struct run run) {
    struct set first = turns->set[run.from];
    uint32_t at = run.from;
    for (; at + 1 < run.from + run.n && turns->set[at + 1].load < first.load; at++)
        turns->set[at] = turns->set[at + 1];
    turns->set[at] = first;
}

/* By load; sets of equal load keep their order. */
static void sort_sets(struct elasticflow_turns *turns, struct run run) {
    for (uint32_t i = run.from + 1; i < run.from + run.n; i++) {
        struct set set = turns->set[i];
        uint32_t at = i;
        for (; at > run.from && turns->set[at - 1].load > set.load; at--)
            turns->set[at] = turns->set[at - 1];
        turns->set[at] = set;
    }
}

static struct set *new_set(struct elasticflow_turns *turns, struct run *run, int64_t gpus) {
    int64_t nodes = nodes_of(turns, gpus);
    if (nodes > turns->n_free)
        return NULL;
    struct set *set = &turns->set[run->from + run->n];
    memmove(set + 1, set, (turns->n_sets - run->from - run->n) * sizeof *set);
    *set = (struct set){
        .gpus = gpus, .capacity = nodes * turns->node_gpus / gpus, .n_nodes = (uint32_t)nodes};
    turns->n_free -= nodes;
    turns->n_sets++;
    run->n++;
    return set;
}

static void free_set(struct elasticflow_turns *turns, uint32_t at) {
    struct set *set = &turns->set[at];
    turns->n_free += set->n_nodes;
    turns->n_sets--;
    memmove(set, set + 1, (turns->n_sets - at) * sizeof *set);
}

/* A set with room, else new nodes, else a turn in a set; false: there is none. */
static bool place(struct elasticflow *own, uint32_t number) {
    struct elasticflow_turns *turns = own->reference->turns;
    int64_t gpus = elasticflow_gpus(&own->job[number], 1);
    struct run run = run_of(turns, gpus);
    bool has_room = run.n > 0 && turns->set[run.from].load + 1 < turns->set[run.from].capacity;
    if (run.n > 0)
        turn_sets(turns, run);
    struct set *set = NULL;
    if (has_room)
        set = &turns->set[run.from + run.n - 1];
    else if (!(set = new_set(turns, &run, gpus)) && run.n > 0) {
        turn_sets(turns, run);
        set = &turns->set[run.from + run.n - 1];
    }
    if (!set)
        return false;
    set->load++;
    link_job(own, set, number);
    sort_sets(turns, run);
    return true;
}

/* --- sets by demand --------------------------------------------------------------------------- */

/* The jobs of a list go to the sets with the least load. The first goes to the first set, which
 * may be a new one that was put behind others; from then on the sets are sorted. */
static void deal(struct elasticflow *own, struct run run, uint32_t number) {
    struct elasticflow_turns *turns = own->reference->turns;
    for (bool is_sorted = false; number != NONE; is_sorted = true) {
        uint32_t next = own->job[number].next_in_set;
        struct set *set = &turns->set[run.from];
        set->load++;
        link_job(own, set, number);
        if (is_sorted)
            settle_first(turns, run);
        else
            sort_sets(turns, run);
        number = next;
    }
}

/* Puts the jobs of a set behind a list of others, and takes them out of it. */
static void take_jobs(struct elasticflow *own, struct set *set, struct set *list) {
    uint32_t number = set->n_jobs > 0 ? set->first : NONE;
    while (number != NONE) {
        uint32_t next = own->job[number].next_in_set;
        link_job(own, list, number);
        number = next;
    }
    set->n_jobs = 0;
    set->load = 0;
}

static void grow(struct elasticflow *own, struct run run, int64_t gpus, int64_t n) {
    struct elasticflow_turns *turns = own->reference->turns;
    bool is_last_new = false;
    for (int64_t i = 0; i < n; i++)
        is_last_new = new_set(turns, &run, gpus) != NULL;
    if (is_last_new && nodes_of(turns, gpus) == 1)
        return;
    struct set list = {0};
    for (uint32_t i = run.from; i < run.from + run.n; i++)
        take_jobs(own, &turns->set[i], &list);
    deal(own, run, list.n_jobs > 0 ? list.first : NONE);
}

static void shrink(struct elasticflow *own, struct run run, int64_t n) {
    struct elasticflow_turns *turns = own->reference->turns;
    struct set list = {0};
    for (; n > 0 && run.n > 1; n--, run.n--) {
        take_jobs(own, &turns->set[run.from], &list);
        free_set(turns, run.from);
    }
    deal(own, run, list.n_jobs > 0 ? list.first : NONE);
}

/* GPUs that the jobs of all sets of a width ask for, and those of its nodes. */
static int64_t demand_of(const struct elasticflow_turns *turns, struct run run, int64_t *has) {
    int64_t demand = 0;
    *has = 0;
    for (uint32_t i = run.from; i < run.from + run.n; i++) {
        demand += turns->set[i].n_jobs * turns->set[i].gpus;
        *has += turns->set[i].n_nodes * turns->node_gpus;
    }
    return demand;
}

static void adjust(struct elasticflow *own) {
    struct elasticflow_turns *turns = own->reference->turns;
    int64_t all, has, least = 0;
    all = demand_of(turns, (struct run){0, turns->n_sets}, &has);
    for (uint32_t at = 0; at < turns->n_sets;) {
        int64_t gpus = turns->set[at].gpus;
        struct run run = run_of(turns, gpus);
        int64_t demand = demand_of(turns, run, &has);
        int64_t part = (int64_t)((double)demand / (double)all * (double)own->n_gpus);
        int64_t more = (part < demand ? part : demand) - has;
        if (demand > 0 && more > 0)
            grow(own, run, gpus, (more + gpus - 1) / gpus);
        else if (demand > 0 && more < 0)
            shrink(own, run, (gpus - 1 - more) / gpus);
        least = gpus + 1;
        at = run_of(turns, least).from;
    }
}

/* --- the time between two events -------------------------------------------------------------- */

static int64_t at_once(const struct set *set) {
    return set->n_jobs < set->capacity ? set->n_jobs : set->capacity;
}

/* What a job has done when it runs for so long. */
static int64_t after(const struct elasticflow_job *job, int64_t ticks) {
    return job->served + (ticks > job->overhead ? ticks - job->overhead : 0);
}

static void foresee(struct elasticflow *own, int64_t now, int64_t next) {
    const struct elasticflow_turns *turns = own->reference->turns;
    for (uint32_t i = 0; i < own->n_order; i++)
        own->job[own->order[i]].now_level = 0;
    for (uint32_t s = 0; s < turns->n_sets; s++) {
        uint32_t number = turns->set[s].first;
        for (int64_t i = at_once(&turns->set[s]); i > 0; i--) {
            struct elasticflow_job *job = &own->job[number];
            int64_t over = after(job, next - now) - job->needs;
            job->now_level = 1;
            job->is_ending = over >= 0;
            job->end = next - over;
            number = job->next_in_set;
        }
    }
}

/* The jobs that have run go behind the others, or leave. */
static void turn_jobs(struct elasticflow *own, struct set *set, int64_t n, bool is_turn) {
    struct set left = {0}, ran = {0};
    bool is_turned = is_turn && set->n_jobs > n;
    uint32_t at = set->first;
    for (uint32_t i = 0; i < set->n_jobs; i++) {
        uint32_t next = own->job[at].next_in_set;
        if (own->job[at].is_active)
            link_job(own, is_turned && i < n ? &ran : &left, at);
        at = next;
    }
    if (left.n_jobs == 0)
        left.first = ran.first;
    else if (ran.n_jobs > 0)
        own->job[left.last].next_in_set = ran.first;
    set->first = left.first;
    set->last = ran.n_jobs > 0 ? ran.last : left.last;
    set->n_jobs = left.n_jobs + ran.n_jobs;
}

/* Returns whether nodes have become free. */
static bool run_sets(struct elasticflow *own, int64_t now) {
    struct elasticflow_turns *turns = own->reference->turns;
    int64_t ticks = now - own->reference->last;
    uint32_t n_sets = turns->n_sets;
    for (uint32_t s = 0; s < turns->n_sets;) {
        struct set *set = &turns->set[s];
        uint32_t number = set->first;
        int64_t n = at_once(set);
        for (int64_t i = n; i > 0; i--) {
            struct elasticflow_job *job = &own->job[number];
            job->served = after(job, ticks);
            job->overhead = 0;
            number = job->next_in_set;
        }
        turn_jobs(own, set, n, now % TURN_S == 0);
        if (set->n_jobs == 0)
            free_set(turns, s);
        else
            s++;
    }
    return turns->n_sets < n_sets;
}

/* --- the event -------------------------------------------------------------------------------- */

static void take_newcomers(struct elasticflow *own) {
    struct elasticflow_turns *turns = own->reference->turns;
    for (uint32_t n = elasticflow_add_newcomers(own); n > 0; n--) {
        uint32_t number = own->order[own->n_order - n];
        if (place(own, number))
            continue;
        own->job[number].has_waited = true;
        turns->waiting[turns->n_waiting++] = number;
    }
}

/* A job that leaves the list hides the one behind it. */
static void serve_waiting(struct elasticflow *own) {
    struct elasticflow_turns *turns = own->reference->turns;
    for (uint32_t i = 0; i < turns->n_waiting; i++) {
        if (!place(own, turns->waiting[i]))
            continue;
        turns->n_waiting--;
        memmove(&turns->waiting[i], &turns->waiting[i + 1],
                (turns->n_waiting - i) * sizeof *turns->waiting);
    }
}

static void load_all(struct elasticflow *own) {
    bool is_restart = elasticflow_restarts(own, &own->reference->overheads);
    for (uint32_t s = 0; s < own->reference->turns->n_sets; s++) {
        const struct set *set = &own->reference->turns->set[s];
        uint32_t number = set->first;
        for (uint32_t i = set->n_jobs; i > 0; i--) {
            own->job[number].overhead = elasticflow_overhead(own, set->gpus, is_restart);
            number = own->job[number].next_in_set;
        }
    }
}

static void stay(void *arg, int64_t from, int64_t to) {
    (void)arg;
    (void)from;
    (void)to;
}

void elasticflow_turns_event(struct gsim_plan *plan, struct elasticflow *elasticflow) {
    struct elasticflow_reference *loop = elasticflow->reference;
    int64_t now = loop->next;
    elasticflow_end_jobs(plan, elasticflow, now);
    bool is_freed = run_sets(elasticflow, now);
    elasticflow_forget(elasticflow);
    for (uint32_t i = 0; i < elasticflow->n_order; i++)
        if (elasticflow->job[elasticflow->order[i]].has_waited)
            elasticflow->job[elasticflow->order[i]].overhead = 0;
    take_newcomers(elasticflow);
    elasticflow_events_remove(&loop->events, now);
    if (is_freed)
        serve_waiting(elasticflow);
    loop->last = now;
    loop->next = elasticflow->n_order > 0 ? now + elasticflow->slot : -1;
    if (loop->events.n > 0) {
        load_all(elasticflow);
        loop->next = elasticflow_events_next(&loop->events, now, elasticflow->slot, stay, NULL);
    }
    adjust(elasticflow);
    foresee(elasticflow, now, loop->next);
}
