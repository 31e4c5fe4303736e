/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executes a sweep. Threads make the runs and hand over their results; one thread, the caller,
 * writes them and shows the progress. A result is freed only once it is written, so that an
 * interruption loses no finished run. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "sim/app/cli/invocation.h"
#include "sim/app/sweep/parallel.h"
#include "sim/app/cli/progress.h"
#include "sim/app/figures/report.h"
#include "sim/app/sweep/order.h"

/* A run that has ended, in its own arena. */
struct outcome {
    struct outcome *next;
    struct gsim_arena *arena;
    int64_t position;
    enum gsim_status status;
    struct gsim_log log;
    struct gsim_result result;
    struct gsim_db_run row;
};

struct execution {
    struct gsim_sweep_todo *todo;
    struct gsim_sweep *sweep;
    struct gsim_db *db;
    struct gsim_sweep_order *order;
    struct gsim_io io; /* streams of the runs, with the writer's flag to stop them */
    pthread_mutex_t lock;
    pthread_cond_t is_news, is_room;
    struct outcome *first, *last; /* queue of outcomes to be written */
    int64_t n_queued, n_over; /* n_over: runs that were written, or given up without an outcome */
    int64_t n_taken; /* outcomes that the writer has taken */
    double first_s, idle_s; /* time of the first outcome, and the writer's waiting time since */
    struct gsim_progress_bar bar; /* counts the runs that are in the database */
    enum gsim_status failure; /* status of the first failed run in the order of the grid */
    int64_t failed_position;
    struct gsim_sweep_notes sure, held; /* sure: committed; held: in the open transaction */
    double held_since_s;
    enum gsim_status disk; /* not GSIM_OK: the database failed, and no more runs are written */
};

/* The least time between commits, since waiting for the disk takes longer than a short run. A kill
 * loses the runs since the last commit. */
static const double commit_every_s = 0.1;

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- threads that run ------------------------------------------------------------------------- */

static enum gsim_status run_one(struct execution *e, struct outcome *o) {
    const struct gsim_sweep_run *run = &e->sweep->run[o->position - 1];
    struct gsim_cli *cli = gsim_arena_alloc(o->arena, sizeof *cli);
    struct gsim_setup *setup = gsim_arena_alloc(o->arena, sizeof *setup);
    struct gsim_identity *identity = gsim_arena_alloc(o->arena, sizeof *identity);
    if (!cli || !setup || !identity)
        return gsim_no_memory(&o->log, "starting a run");
    memcpy(identity->config, run->config, sizeof run->config);
    memcpy(identity->build, run->build, sizeof run->build);
    memcpy(identity->inputs, run->inputs, sizeof run->inputs);
    enum gsim_status status = gsim_sweep_take_trace(e->sweep, run->trace, &o->log);
    if (status == GSIM_OK)
        status =
            gsim_sweep_set_up(e->sweep, run->grid_run, run->trace, o->arena, &o->log, cli, setup);
    if (status == GSIM_OK)
        status = gsim_identify_lists(cli, setup, 0, setup->replication, identity);
    setup->live = e->bar.live;
    if (status == GSIM_OK)
        status = gsim_setup_run(setup, 0, setup->replication, &setup->trace, &e->io, NULL, o->arena,
                                &o->result, &o->log);
    if (status != GSIM_OK)
        return status;
    o->row = (struct gsim_db_run){
        .identity = identity,
        .argv = run->argv,
        .replication = setup->replication,
        .trace = &setup->trace,
        .is_summary = e->sweep->is_summary,
        .settings = gsim_run_settings(cli, setup, 0, setup->replication),
        .sweep = e->sweep->is_search ? NULL : e->sweep->id,
        .position = o->position,
        .asked = gsim_report_replaces(e->sweep->cli, run->state) ? o->position : 0};
    return o->row.settings ? GSIM_OK : gsim_no_memory(&o->log, "ending a run");
}

/* Hands an outcome to the writer. NULL: there was no memory for an outcome, or the run was given
 * up. */
static void hand_over(struct execution *e, struct outcome *outcome) {
    (void)pthread_mutex_lock(&e->lock);
    while (outcome && e->n_queued >= 2 * (int64_t)e->sweep->n_threads)
        (void)pthread_cond_wait(&e->is_room, &e->lock);
    if (outcome) {
        *(e->last ? &e->last->next : &e->first) = outcome;
        e->last = outcome;
        e->n_queued++;
    } else {
        e->n_over++;
    }
    (void)pthread_cond_signal(&e->is_news);
    (void)pthread_mutex_unlock(&e->lock);
}

/* Whether the longest runs begin first. Rows are cheapest to write in the order of the grid, where
 * each comes behind all others; in another order they cost a third more. So the longest run begins
 * first only if the writer has time to spare, which takes a few runs to find out. */
static bool begins_with_longest(struct execution *e) {
    (void)pthread_mutex_lock(&e->lock);
    bool has_time = e->idle_s * 3 > now_s() - e->first_s;
    bool is_known = e->n_taken >= 2 * (int64_t)e->sweep->n_threads;
    (void)pthread_mutex_unlock(&e->lock);
    return e->sweep->n_threads > 1 && is_known && has_time;
}

/* Makes one run. gsim_sweep_order_take chooses it, so the number of the piece is not used. */
static void do_piece(void *arg, int64_t piece) {
    struct execution *e = arg;
    (void)piece;
    if (e->sweep->stop) {
        hand_over(e, NULL);
        return;
    }
    struct gsim_arena *arena = gsim_arena_new();
    struct outcome *outcome = arena ? gsim_arena_alloc(arena, sizeof *outcome) : NULL;
    if (outcome) {
        outcome->arena = arena;
        outcome->position = gsim_sweep_order_take(e->order, begins_with_longest(e));
        outcome->status = run_one(e, outcome);
        bool is_good = outcome->status == GSIM_OK;
        gsim_sweep_order_note(e->order, outcome->position,
                              is_good ? outcome->result.summary.wall_s : -1);
    } else {
        gsim_arena_free(arena);
    }
    hand_over(e, outcome);
}

/* --- the thread that writes ------------------------------------------------------------------- */

/* The time of the remaining runs, as a multiple of the time that ended runs took. Elapsed time
 * grows by that multiple if threads and writing go on as before. */
static double share_left(void *arg, bool *is_least) {
    const struct execution *e = arg;
    return gsim_sweep_order_left(e->order, is_least);
}

static void note_failure(struct execution *e, const struct outcome *o) {
    struct gsim_log *log = e->sweep->cli->log;
    for (int64_t i = 0; i < o->log.n_errors && i < GSIM_LOG_ENTRIES; i++)
        (void)gsim_fail(log, o->status, e->sweep->grid.path, 0, "run %lld: %.400s",
                        (long long)o->position, o->log.errors[i].text);
    e->todo->n_failed++;
    if (e->failure == GSIM_OK || o->position < e->failed_position) {
        e->failure = o->status;
        e->failed_position = o->position;
    }
}

static void give_up(struct execution *e, enum gsim_status status) {
    e->disk = status;
    e->held = (struct gsim_sweep_notes){0};
    e->sweep->stop = 1;
}

static void commit(struct execution *e) {
    if (e->held.n == 0)
        return;
    enum gsim_status status = gsim_db_commit(e->db, e->sweep->cli->log);
    if (status != GSIM_OK) {
        give_up(e, status);
        return;
    }
    e->sure.n += e->held.n;
    e->sure.n_assumed += e->held.n_assumed;
    e->sure.n_outside += e->held.n_outside;
    e->held = (struct gsim_sweep_notes){0};
}

static void write_outcome(struct execution *e, const struct outcome *o) {
    struct gsim_log *log = e->sweep->cli->log;
    enum gsim_status status = e->held.n ? GSIM_OK : gsim_db_begin(e->db, log);
    if (status == GSIM_OK)
        status = gsim_db_add(e->db, &o->row, &o->result, log);
    if (status != GSIM_OK) {
        give_up(e, status);
        return;
    }
    if (e->held.n == 0)
        e->held_since_s = now_s();
    gsim_sweep_note(&e->held, o->result.summary.assumed, o->result.summary.outside_validated);
    gsim_log_merge(log, &o->log);
}

static void take_outcome(struct execution *e, struct outcome *o) {
    if (o->status == GSIM_OK && e->disk == GSIM_OK)
        write_outcome(e, o);
    else if (o->status != GSIM_OK && o->status != GSIM_INCOMPLETE)
        note_failure(e, o);
    uint32_t trace = e->sweep->run[o->position - 1].trace;
    gsim_arena_free(o->arena);
    if (atomic_fetch_sub(&e->sweep->trace[trace].n_waiting, 1) == 1)
        gsim_sweep_drop_trace(e->sweep, trace);
}

/* The next outcomes; NULL if a tenth of a second passes without any. */
static struct outcome *wait_for_news(struct execution *e) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_lock(&e->lock);
    double since_s = now_s();
    if (!e->first && e->n_over < e->todo->n)
        (void)pthread_cond_timedwait(&e->is_news, &e->lock, &until);
    if (e->n_taken == 0)
        e->first_s = now_s();
    else
        e->idle_s += now_s() - since_s;
    e->n_taken += e->n_queued;
    struct outcome *news = e->first;
    e->first = e->last = NULL;
    e->n_queued = 0;
    (void)pthread_cond_broadcast(&e->is_room);
    (void)pthread_mutex_unlock(&e->lock);
    return news;
}

static enum gsim_status write_all(struct execution *e) {
    const struct gsim_io *io = e->sweep->cli->io;
    for (bool is_over = false; !is_over;) {
        gsim_progress_set(&e->bar, e->sure.n + e->todo->n_failed);
        struct outcome *news = wait_for_news(e);
        int64_t n_taken = 0;
        if (io->stop && *io->stop)
            e->sweep->stop = 1;
        for (struct outcome *next; news; news = next, n_taken++) {
            next = news->next;
            take_outcome(e, news);
        }
        if (n_taken == 0 || now_s() > e->held_since_s + commit_every_s)
            commit(e);
        (void)pthread_mutex_lock(&e->lock);
        e->n_over += n_taken;
        is_over = e->n_over == e->todo->n;
        (void)pthread_mutex_unlock(&e->lock);
    }
    commit(e);
    e->todo->n_done = e->sure.n;
    gsim_progress_end(&e->bar);
    return e->disk;
}

/* --- the sweep -------------------------------------------------------------------------------- */

void gsim_sweep_note(struct gsim_sweep_notes *notes, const char *assumed, const char *outside) {
    notes->n++;
    notes->n_assumed += gsim_count_listed(assumed) > gsim_takes_durations(assumed);
    notes->n_outside += *outside != '\0';
}

void gsim_sweep_say(const struct gsim_cli *cli, const struct gsim_sweep_notes *notes) {
    /* a plan names what its runs assumed, and has a database only where it is asked for */
    const char *of = cli->value[GSIM_OPT_OUTPUT] ? "" : " of the database that -o keeps";
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET))
        return;
    if (notes->n_assumed)
        fprintf(cli->io->err,
                "gsim: %lld of %lld runs rest on constants that are assumed, not known: %s\n",
                (long long)notes->n_assumed, (long long)notes->n,
                notes->assumed ? notes->assumed : "column 'assumed'");
    if (notes->n_outside)
        fprintf(cli->io->err,
                "gsim: %lld of %lld runs are outside what was validated: column "
                "'outside_validated'%s\n",
                (long long)notes->n_outside, (long long)notes->n, of);
}

enum gsim_status gsim_sweep_execute(struct gsim_sweep_todo *todo, struct gsim_db *db) {
    struct gsim_sweep *sweep = todo->sweep;
    struct execution *e = gsim_arena_alloc(sweep->cli->arena, sizeof *e);
    struct gsim_crew *crew = gsim_arena_alloc(sweep->cli->arena, sizeof *crew);
    struct gsim_sweep_order *order = gsim_sweep_order_new(todo);
    if (!e || !crew || !order)
        return gsim_no_memory(sweep->cli->log, "starting");
    *e = (struct execution){
        .todo = todo, .sweep = sweep, .db = db, .order = order, .io = *sweep->cli->io};
    e->io.stop = &sweep->stop;
    gsim_progress_begin(&e->bar, sweep->cli, "", todo->n);
    e->bar.share_left = share_left;
    e->bar.arg = e;
    (void)pthread_mutex_init(&e->lock, NULL);
    (void)pthread_cond_init(&e->is_news, NULL);
    (void)pthread_cond_init(&e->is_room, NULL);
    if (gsim_crew_start(crew, sweep->n_threads, todo->n, do_piece, e) == 0 && todo->n > 0)
        return gsim_fail(sweep->cli->log, GSIM_FAILED, NULL, 0, "the system gives no threads");
    enum gsim_status status = todo->n > 0 ? write_all(e) : GSIM_OK;
    gsim_crew_join(crew);
    gsim_sweep_order_end(order);
    if (!sweep->is_search) /* which says it of all its runs at once */
        gsim_sweep_say(sweep->cli, &e->sure);
    if (status == GSIM_OK && sweep->cli->io->stop && *sweep->cli->io->stop &&
        todo->n_done + todo->n_failed < todo->n)
        return GSIM_INCOMPLETE;
    if (status == GSIM_OK && e->failure == GSIM_OK && todo->n_done < todo->n)
        return gsim_no_memory(sweep->cli->log, "starting a run");
    return status == GSIM_OK ? e->failure : status;
}
