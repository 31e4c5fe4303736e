/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim advise: from a log to a decision in one command. It reads the log, says which columns it
 * lacks, runs the policies for which it has the columns, says which of them comes nearest to what
 * the log's own scheduler did, and advises against that one; more and fewer nodes run under it too.
 * The runs, statistics and sentences are those of gsim compare, the page is that of gsim report. */
#include <math.h>
#include <string.h>

#include "sim/app/cli/progress.h"
#include "sim/app/compare/advise.h"
#include "sim/app/figures/report.h"
#include "sim/app/plan/target.h"
#include "sim/app/setup/resampling.h"
#include "sim/app/sweep/parallel.h"
#include "traces/log_from.h"

/* --- how often the policies run --------------------------------------------------------------- */

/* Resampled traces give intervals: ten runs more of each policy, of traces up to this size. */
enum { MOST_RESAMPLED = 5000, LEAST_BLOCKS = 4 };
/* A database keeps the jobs of that many runs and jobs, some hundred MB of them. */
static const int64_t MOST_KEPT = 1000000;

/* Users' weeks change places where the trace has four of them, else their days. */
static enum gsim_status resample(struct gsim_cli *cli, struct gsim_setup *setup) {
    const struct gsim_trace *trace = &setup->trace;
    const int64_t day_ns = 86400 * GSIM_NS_PER_S;
    int64_t span_ns = trace->submit_ns[gsim_trace_arrival(trace, trace->n_jobs - 1)] -
                      trace->submit_ns[gsim_trace_arrival(trace, 0)];
    bool is_chosen = cli->value[GSIM_OPT_RESAMPLE] || cli->value[GSIM_OPT_SHAKE] ||
                     cli->value[GSIM_OPT_REPS] || setup->spec;
    bool has_owner = gsim_advise_has(trace, GSIM_COL_USER) || gsim_advise_has(trace, GSIM_COL_VC);
    if (is_chosen || !has_owner || trace->n_jobs > MOST_RESAMPLED ||
        gsim_advise_has(trace, GSIM_COL_AFTER) || span_ns < LEAST_BLOCKS * day_ns)
        return GSIM_OK;
    cli->value[GSIM_OPT_RESAMPLE] = gsim_advise_has(trace, GSIM_COL_USER) ? "user" : "vc";
    if (span_ns < LEAST_BLOCKS * 7 * day_ns && !cli->value[GSIM_OPT_BLOCK])
        cli->value[GSIM_OPT_BLOCK] = "day";
    return gsim_resampling_read(cli, cli->value[GSIM_OPT_RESAMPLE], NULL, trace,
                                &setup->resampling);
}

static void keep_less(struct gsim_cli *cli, const struct gsim_setup *setup,
                      struct gsim_advice *advice) {
    int64_t n = (int64_t)setup->trace.n_jobs * setup->n_contenders;
    if (n <= MOST_KEPT || cli->value[GSIM_OPT_KEEP_ROWS] || !cli->value[GSIM_OPT_DB])
        return;
    cli->value[GSIM_OPT_KEEP_ROWS] = "summary";
    gsim_advice_add(advice,
                    "The report has no tables of users and no figures of jobs: these would "
                    "be %lld rows of a database (--keep jobs writes them).",
                    (long long)n);
}

/* A cluster that the log contradicts is not guessed. */
static enum gsim_status check_cluster(struct gsim_cli *cli, const struct gsim_setup *setup) {
    const char *held = !setup->is_cluster_guessed || cli->value[GSIM_OPT_NODES]
                           ? NULL
                           : gsim_held_say(setup, cli->arena);
    return held ? gsim_fail(cli->log, GSIM_USAGE, setup->trace_path, 0,
                            "how many GPUs are there? %s", held)
                : GSIM_OK;
}

/* The policies depend on the trace and the cluster, which are therefore loaded first. */
static enum gsim_status load_log(struct gsim_cli *cli, struct gsim_setup *setup) {
    if (!cli->value[GSIM_OPT_LOG_FROM] && cli->n_operands > 0 &&
        !gsim_setup_is_spec(cli->operand[0]))
        cli->value[GSIM_OPT_LOG_FROM] = GSIM_LOG_FROM_AUTO;
    enum gsim_status status = gsim_setup_trace(cli, setup, true);
    if (status == GSIM_OK)
        status = gsim_setup_cluster(cli, setup);
    if (status == GSIM_OK)
        status = check_cluster(cli, setup);
    if (status == GSIM_OK)
        status = resample(cli, setup);
    if (status != GSIM_OK)
        return status;
    cli->value[GSIM_OPT_POLICIES] = gsim_advise_policies(cli, setup);
    if (!cli->value[GSIM_OPT_POLICIES])
        return gsim_no_memory(cli->log, "choosing policies");
    status = gsim_setup_policies(cli, cli->value[GSIM_OPT_POLICIES], setup);
    if (status == GSIM_OK)
        status = gsim_setup_policy_timeout(cli, &setup->policy_timeout_ns);
    return status == GSIM_OK ? gsim_setup_samples(cli, &setup->n_samples) : status;
}

/* --- today ------------------------------------------------------------------------------------ */

/* What the database calls a task goes with it. */
static void swap_asked(struct gsim_compare *c, int at, int contender) {
    if (!c->asked)
        return;
    struct gsim_db_asked first = c->asked[at];
    c->asked[at] = c->asked[at + contender];
    c->asked[at + contender] = first;
}

static void swap_tasks(struct gsim_compare *c, int contender) {
    for (int r = 0; r < c->n_traces; r++) {
        struct gsim_compare_task *own = &c->tasks[r * c->setup->n_contenders];
        struct gsim_compare_task first = own[0];
        own[0] = own[contender];
        own[contender] = first;
        own[0].contender = 0;
        own[contender].contender = contender;
        swap_asked(c, r * c->setup->n_contenders, contender);
    }
}

static void swap_contenders(struct gsim_contender *a, struct gsim_contender *b) {
    struct gsim_contender kept = *a;
    *a = *b;
    *b = kept;
}

/* The policy nearest to the log comes first, so that all ratios are to it; without a log, or far
 * from it, the first stays. */
static bool put_nearest_first(struct gsim_compare *c, const struct gsim_logged *l) {
    struct gsim_contender *contender = c->setup->contender;
    int best = l->n > 0 ? gsim_compare_nearest(c, l) : 0;
    if (l->n == 0 || !l->policy[best].is_near)
        return false;
    if (best == 0)
        return true;
    swap_contenders(&contender[0], &contender[best]);
    swap_tasks(c, best);
    return true;
}

static void say_today(struct gsim_advice *advice, const struct gsim_compare *c,
                      const struct gsim_logged *l, bool is_near) {
    const char *name = c->setup->contender[0].policy->name;
    if (l->n == 0)
        gsim_advice_add(advice,
                        "The trace does not say when jobs began, so %s stands for today's "
                        "scheduler unchecked; all that follows is against it.",
                        name);
    else if (is_near)
        gsim_advice_add(advice,
                        "As logged: %s. So %s stands for today's scheduler, and all that follows "
                        "is against it.",
                        gsim_compare_say_logged(c, l), name);
    else
        gsim_advice_add(advice, "No decision can rest on these runs yet: %s.",
                        gsim_compare_say_logged(c, l));
}

static bool is_shared(const struct gsim_compare *c) {
    bool is_shared = false;
    for (int i = 0; i < c->setup->n_contenders; i++)
        is_shared |= c->setup->contender[i].policy->shares_gpus;
    return is_shared;
}

/* Where work comes faster than the GPUs can do it, no scheduler ends that, but for those under
 * which GPUs do the work of several jobs at once. */
static void say_load(struct gsim_advice *advice, const struct gsim_compare *c) {
    double load = gsim_compare_load(c), gpus = gsim_compare_capacity(c);
    if (load > 1)
        gsim_advice_add(advice,
                        "More work arrives between the first job and the last than the GPUs can do "
                        "in that time (offered load %.2f): while that is so, waits grow under any "
                        "scheduler%s, and a longer log like this one would have longer waits. The "
                        "work alone needs %.0f GPUs in place of %.0f%s.",
                        load, is_shared(c) ? " that gives jobs whole GPUs" : "", ceil(gpus * load),
                        gpus, is_shared(c) ? ", where each job has its own" : "");
}

/* Sharing is tried as the trace has it, which is the least that it can gain. */
static void say_sharing(struct gsim_advice *advice, const struct gsim_compare *c) {
    const struct gsim_trace *trace = &c->traces[0];
    if (is_shared(c) && !gsim_advise_has(trace, GSIM_COL_SM_PPM) &&
        !gsim_advise_has(trace, GSIM_COL_ITERATIONS) && !gsim_advise_has(trace, GSIM_COL_APP))
        gsim_advice_add(advice,
                        "Sharing GPUs was tried with jobs that compute on all SMs for all of "
                        "their time, since the log does not say how much they use: that is the "
                        "least that sharing can gain, and no evidence against it (columns "
                        "sm_fraction, or iterations with gpu_ms).");
}

/* --- more and fewer nodes --------------------------------------------------------------------- */

/* The cluster with a quarter more, or fewer, of each kind of node, at least one. */
static bool resize(struct gsim_setup *setup, int sign, struct gsim_arena *arena, int64_t *n_gpus) {
    uint32_t n = setup->cluster.n_groups;
    struct gsim_node_group *groups = gsim_arena_array(arena, n, sizeof *groups);
    *n_gpus = 0;
    if (!groups)
        return false;
    for (uint32_t g = 0; g < n; g++) {
        groups[g] = setup->cluster.groups[g];
        uint32_t by = (groups[g].count + 3) / 4;
        if (sign < 0 && by >= groups[g].count)
            return false;
        groups[g].count = sign < 0 ? groups[g].count - by : groups[g].count + by;
        *n_gpus += (int64_t)groups[g].count * groups[g].gpus_per_node;
    }
    setup->cluster.groups = groups;
    return true;
}

/* Where jobs are more than LEAST_PART, a tenth of them, and no fewer than that, are run once more
 * alone: on other nodes, where the line of waiting jobs may be long and each job cost many times
 * what it does today, and with other values of assumed constants, which are a score of runs. */
enum { LEAST_PART = 20000, PARTS = 10 };

static void take_part(struct gsim_compare *c, struct gsim_compare *part) {
    uint32_t n_jobs = c->traces[0].n_jobs, n = n_jobs / PARTS;
    if (n_jobs <= LEAST_PART || c->n_traces > 1)
        return;
    if (gsim_compare_part(c, n > LEAST_PART ? n : LEAST_PART, part))
        c->part = part;
}

/* What the GPUs cost that there are more, or fewer, with --price. */
static const char *say_price(const struct gsim_compare *c, int64_t more) {
    double price = (double)NAN; /* read before the runs, so that it is one */
    (void)gsim_price_read(c->cli, &price);
    const char *text = isnan(price) ? ""
                                    : gsim_arena_printf(c->cli->arena, ", %.2f a day %s",
                                                        24 * price * (double)llabs(more),
                                                        more > 0 ? "more" : "less");
    return text ? text : "";
}

/* ", for the first 20 000 jobs alone", or nothing where all jobs ran. */
static const char *say_part(const struct gsim_compare *c) {
    uint32_t n = c->part ? c->part->traces[0].n_jobs : 0;
    const char *text = n == 0
                           ? ""
                           : gsim_arena_printf(c->cli->arena, ", for the first %u of %u jobs alone",
                                               n, c->traces[0].n_jobs);
    return text ? text : "";
}

/* Today's policy on other nodes. */
struct advised_trial {
    struct gsim_setup setup;
    struct gsim_arena *arena;
    struct gsim_log log;
    int64_t n_gpus;
    struct gsim_summary then;
    bool is_other; /* the cluster can have that many more, or fewer */
    enum gsim_status status;
};

struct trials {
    const struct gsim_compare *on; /* the jobs that run there */
    struct advised_trial *trial; /* more nodes, then fewer */
    struct gsim_progress_bar bar;
};
enum { N_TRIALS = 2 };

static void run_advised(void *arg, int64_t at) {
    struct trials *trials = arg;
    struct advised_trial *trial = &trials->trial[at];
    struct gsim_result result;
    if (!trial->is_other)
        return;
    const char *name = trial->setup.contender[0].policy->name;
    gsim_progress_start(&trials->bar, name);
    trial->status = gsim_setup_run(&trial->setup, 0, 0, &trials->on->traces[0], trials->on->cli->io,
                                   NULL, trial->arena, &result, &trial->log);
    if (trial->status == GSIM_OK)
        trial->then = result.summary;
    gsim_progress_add(&trials->bar, name);
}

static const char *kind_of(const struct gsim_node_group *group) {
    return group->gpu_type ? group->gpu_type : group->device_name ? group->device_name : "";
}

/* GPUs of the kind that a group is of; 0: a group before it is of that kind. */
static int64_t gpus_of_kind(const struct gsim_cluster_spec *cluster, uint32_t group) {
    const struct gsim_node_group *groups = cluster->groups;
    int64_t n = 0;
    for (uint32_t g = 0; g < cluster->n_groups; g++) {
        bool is_like = strcmp(kind_of(&groups[g]), kind_of(&groups[group])) == 0;
        if (is_like && g < group)
            return 0;
        n += is_like ? (int64_t)groups[g].count * groups[g].gpus_per_node : 0;
    }
    return n;
}

/* " (24 a100 in place of 32, 8 h100 in place of 16)" where GPUs are of several kinds: a quarter of
 * few nodes is more than that. */
static const char *say_kinds(const struct gsim_compare *c, const struct advised_trial *trial) {
    const struct gsim_cluster_spec *now = &c->setup->cluster, *then = &trial->setup.cluster;
    const char *text = "";
    int n_kinds = 0;
    for (uint32_t g = 0; g < now->n_groups && text; g++) {
        if (gpus_of_kind(now, g) == 0)
            continue;
        text = gsim_arena_printf(c->cli->arena, "%s%s%lld %s in place of %lld", text,
                                 n_kinds++ > 0 ? ", " : " (", (long long)gpus_of_kind(then, g),
                                 kind_of(&now->groups[g]), (long long)gpus_of_kind(now, g));
    }
    text = text && n_kinds > 1 ? gsim_arena_printf(c->cli->arena, "%s)", text) : "";
    return text ? text : "";
}

static void say_nodes(struct gsim_advice *advice, const struct gsim_compare *c,
                      const struct gsim_summary *today, const struct advised_trial *trial) {
    char before[40], after[40];
    (void)gsim_format_humane(before, today->wait_mean_s);
    (void)gsim_format_humane(after, trial->then.wait_mean_s);
    gsim_advice_add(advice,
                    "%lld GPUs in place of %lld%s, under %s%s%s: mean wait %s instead of %s, held "
                    "%.0f %% instead of %.0f %% of the time until the last job ends. It rests on "
                    "users that submit these jobs at these "
                    "times, and would be overturned by users that answer to waits; gsim plan has "
                    "the number of nodes for a target, with intervals.",
                    (long long)trial->then.gpus, (long long)today->gpus, say_kinds(c, trial),
                    c->setup->contender[0].policy->name, say_part(c),
                    say_price(c, trial->then.gpus - today->gpus), after, before,
                    100 * trial->then.gpu_busy, 100 * today->gpu_busy);
}

static void say_trial(struct gsim_advice *advice, const struct gsim_compare *c,
                      const struct advised_trial *trial, bool is_more) {
    const struct gsim_summary *today = gsim_compare_summary(c->part ? c->part : c, 0, 0);
    const char *why = trial->log.n_errors > 0 ? trial->log.errors[0].text : "out of memory";
    if (trial->is_other && trial->status == GSIM_OK)
        say_nodes(advice, c, today, trial);
    else if (trial->is_other && trial->status == GSIM_INCOMPLETE)
        gsim_advice_add(advice, "%lld GPUs in place of %lld were not tried: interrupted.",
                        (long long)trial->n_gpus, (long long)today->gpus);
    else if (trial->is_other)
        gsim_advice_add(advice, "%lld GPUs in place of %lld cannot run this trace: %s",
                        (long long)trial->n_gpus, (long long)today->gpus, why);
    else if (!trial->arena || gsim_arena_has_failed(trial->arena))
        gsim_advice_add(advice, "%s GPUs than today cannot run this trace: %s",
                        is_more ? "More" : "Fewer", why);
}

static enum gsim_status try_nodes(struct gsim_advice *advice, const struct gsim_compare *c,
                                  bool *is_interrupted) {
    struct trials trials = {.on = c->part ? c->part : c};
    trials.trial = gsim_arena_array(c->cli->arena, N_TRIALS, sizeof *trials.trial);
    for (int i = 0; trials.trial && i < N_TRIALS; i++) {
        struct advised_trial *trial = &trials.trial[i];
        trial->setup = *c->setup;
        trial->setup.n_samples = 0; /* nothing of a trial is kept but its means */
        trial->arena = gsim_arena_new();
        trial->is_other =
            trial->arena && resize(&trial->setup, i == 0 ? 1 : -1, trial->arena, &trial->n_gpus);
    }
    if (!trials.trial)
        return gsim_no_memory(c->cli->log, "advising");
    gsim_progress_begin(&trials.bar, c->cli, "other nodes ", N_TRIALS);
    gsim_progress_set(&trials.bar, 0);
    gsim_in_parallel(c->n_threads, N_TRIALS, run_advised, &trials);
    gsim_progress_end(&trials.bar);
    for (int i = 0; i < N_TRIALS; i++) {
        say_trial(advice, c, &trials.trial[i], i == 0);
        *is_interrupted |= trials.trial[i].status == GSIM_INCOMPLETE;
        gsim_arena_free(trials.trial[i].arena);
    }
    return GSIM_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

/* The names of this command's runs for SQL: its database may have others, of another log or
 * cluster. */
static const char *list_configs(const struct gsim_compare *c) {
    size_t n = 0, length = strlen("'',") + strlen(c->asked[0].config);
    char *list = gsim_arena_array(c->cli->arena, (size_t)c->n_tasks * length + 1, 1);
    for (int t = 0; list && t < c->n_tasks; t++)
        n += (size_t)sprintf(list + n, "%s'%s'", t ? "," : "", c->asked[t].config);
    return list;
}

static enum gsim_status write_page(const struct gsim_compare *c) {
    struct gsim_cli *cli = c->cli, *page = gsim_arena_alloc(cli->arena, sizeof *page);
    struct gsim_report_front front = {.first = c->setup->contender[0].policy->name};
    if (!cli->value[GSIM_OPT_OUTPUT])
        return GSIM_OK;
    front.configs = list_configs(c);
    if (!page || !front.configs)
        return gsim_no_memory(cli->log, "writing a report");
    *page = *cli;
    page->operand[0] = cli->value[GSIM_OPT_DB];
    page->n_operands = 1;
    return gsim_report_page(page, &front);
}

static void print(FILE *out, const struct gsim_advice *advice, int first) {
    for (int i = first; i < advice->n; i++)
        gsim_compare_put_wrapped(out, i == first && first > 0 ? "\nadvice:\n " : " ",
                                 advice->text[i]);
}

static enum gsim_status conclude(struct gsim_compare *c, struct gsim_compare *part,
                                 struct gsim_advice *advice, bool *is_interrupted) {
    struct gsim_comparison *s = gsim_arena_alloc(c->cli->arena, sizeof *s);
    struct gsim_whatif *whatif = gsim_arena_alloc(c->cli->arena, sizeof *whatif);
    struct gsim_logged logged;
    const char *const *verdict = NULL;
    int n_said = advice->n;
    if (!s || !whatif)
        return gsim_no_memory(c->cli->log, "comparing");
    enum gsim_status status = gsim_compare_logged(c, &logged);
    bool is_near = status == GSIM_OK && put_nearest_first(c, &logged);
    if (status == GSIM_OK)
        status = gsim_compare_statistics(c, s);
    if (status == GSIM_OK)
        status = gsim_compare_logged(c, &s->logged);
    if (status != GSIM_OK)
        return status;
    gsim_compare_write_tables(c, s);
    (void)fflush(c->cli->io->out);
    take_part(c, part);
    status = gsim_compare_verdict(c, s, &verdict, whatif);
    if (status != GSIM_OK)
        return status;
    *is_interrupted = whatif->is_interrupted;
    gsim_compare_write_verdict(c->cli->io->out, verdict);
    say_today(advice, c, &s->logged, is_near);
    if (s->logged.n == 0 || is_near) {
        say_load(advice, c);
        gsim_advice_alternatives(advice, c, s, whatif);
        say_sharing(advice, c);
        status = try_nodes(advice, c, is_interrupted);
    }
    if (status != GSIM_OK)
        return status;
    print(c->cli->io->out, advice, n_said);
    return advice->is_out_of_memory ? gsim_no_memory(c->cli->log, "advising")
                                    : gsim_compare_keep(c, s, verdict, advice->text);
}

/* The database of the page stands beside it. */
static enum gsim_status place_output(struct gsim_cli *cli) {
    const char *page = cli->value[GSIM_OPT_OUTPUT];
    double price;
    enum gsim_status status = gsim_price_read(cli, &price);
    if (status != GSIM_OK || !page)
        return status;
    status = gsim_report_check_page(cli);
    if (status != GSIM_OK || cli->value[GSIM_OPT_DB])
        return status;
    int stem = (int)(strrchr(page, '.') - page);
    cli->value[GSIM_OPT_DB] = gsim_arena_printf(cli->arena, "%.*s.db", stem, page);
    return cli->value[GSIM_OPT_DB] ? GSIM_OK : gsim_no_memory(cli->log, "advising");
}

enum gsim_status gsim_command_advise(struct gsim_cli *cli) {
    struct gsim_compare *c = gsim_arena_alloc(cli->arena, sizeof *c);
    struct gsim_setup *setup = gsim_arena_alloc(cli->arena, sizeof *setup);
    struct gsim_advice *advice = gsim_arena_alloc(cli->arena, sizeof *advice);
    if (!c || !setup || !advice)
        return gsim_no_memory(cli->log, "starting");
    *c = (struct gsim_compare){.cli = cli, .setup = setup};
    advice->arena = cli->arena;
    struct gsim_compare part = {0};
    bool is_interrupted = false;
    enum gsim_status status = place_output(cli);
    if (status == GSIM_OK)
        status = load_log(cli, setup);
    if (status == GSIM_OK)
        status = gsim_report_check_by(cli, setup);
    if (status != GSIM_OK)
        return status;
    gsim_advise_missing(advice, cli, setup);
    keep_less(cli, setup, advice);
    print(cli->io->out, advice, 0);
    fputc('\n', cli->io->out);
    (void)fflush(cli->io->out);
    status = gsim_compare_runs(c);
    if (status == GSIM_OK)
        status = conclude(c, &part, advice, &is_interrupted);
    if (status == GSIM_OK)
        status = write_page(c);
    if (status == GSIM_OK && is_interrupted)
        status = gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0,
                           "interrupted: the advice says what was not tried");
    gsim_compare_free(&part);
    gsim_compare_free(c);
    return status;
}
