/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim check-policy: a policy over random traces and clusters, each run twice in a process of its
 * own, under the rules that hold of any run. What breaks one is cut down to few jobs and written to
 * a file, with the command that shows it again. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/app/cli/output_file.h"
#include "sim/app/apart/apart.h"
#include "sim/study/laws.h"
#include "sim/study/small.h"
#include "sim/app/cli/invocation.h"
#include "sim/study/outfile.h"
#include "sim/exec/exec.h"
#include "sim/app/setup/setup.h"

/* HANG_S: without --policy-timeout. PATIENCE_S: of cutting a trace down. */
enum { CASES = 200, MOST_CASES = 1000000, HANG_S = 10, PATIENCE_S = 20 };

/* One trace and cluster. */
struct one_case {
    struct gsim_cli cli; /* the options of the run, as if they had been typed */
    struct gsim_setup setup;
    struct gsim_log log;
};

struct check {
    struct gsim_cli *cli;
    const char *policy;
    int64_t timeout_ns;
    int64_t n_refused;
    char refusal[GSIM_LOG_TEXT];
};

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- one case -------------------------------------------------------------------------------- */

static bool shares(const struct gsim_policy *policy, const struct gsim_params *params) {
    int memory = gsim_params_find(params, "memory"), packing = gsim_params_find(params, "packing");
    return policy->shares_gpus || (memory >= 0 && params->values[memory].value > 0) ||
           (packing >= 0 && params->values[packing].value > 0);
}

static bool is_shared(const struct gsim_setup *setup) {
    bool is = shares(setup->contender[0].policy, &setup->contender[0].params);
    for (uint32_t g = 0; g < setup->cluster.n_groups; g++) {
        const struct gsim_part *part = setup->cluster.groups[g].part;
        is |= part && shares(part->policy, part->params);
    }
    return is;
}

/* In the process of the case: two runs, and the rules. */
static enum gsim_status run_twice(const void *arg, const struct gsim_run_options *given,
                                  struct gsim_arena *arena, struct gsim_result *result,
                                  struct gsim_log *log) {
    const struct gsim_setup *setup = arg;
    struct gsim_run_options options = *given;
    struct gsim_result again;
    struct gsim_holdings *holdings = gsim_arena_alloc(arena, sizeof *holdings);
    if (!holdings)
        return gsim_no_memory(log, "checking");
    gsim_holdings_open(holdings, arena);
    options.observer = &holdings->observer;
    options.is_paranoid = true;
    enum gsim_status status = gsim_run(&options, arena, result, log);
    if (status != GSIM_OK)
        return status;
    struct gsim_run_facts facts = {.policy = options.policy->name,
                                   .n_gpus = (uint32_t)result->summary.gpus,
                                   .is_shared = is_shared(setup),
                                   .has_failures = setup->mtbf_ns > 0,
                                   .holdings = holdings};
    status = gsim_laws_check(result, &facts, arena, log);
    options.observer = NULL;
    if (status == GSIM_OK)
        status = gsim_run(&options, arena, &again, log);
    return status == GSIM_OK ? gsim_laws_equal(result, &again, log) : status;
}

static enum gsim_status run_case(const struct check *check, const struct one_case *one,
                                 const struct gsim_trace *trace, struct gsim_log *log) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_run_options options;
    struct gsim_result result;
    struct gsim_apart apart = {.run = run_twice,
                               .arg = &one->setup,
                               .source = one->setup.contender[0].typed,
                               .timeout_ns = check->timeout_ns,
                               .io = check->cli->io};
    gsim_setup_options(&one->setup, 0, trace, check->cli->io, &options);
    enum gsim_status status = arena ? gsim_apart_run(&apart, &options, arena, &result, log)
                                    : gsim_no_memory(log, "checking");
    gsim_arena_free(arena);
    return status;
}

static const char *number(struct gsim_cli *cli, uint64_t n) {
    return gsim_arena_printf(cli->arena, "%llu", (unsigned long long)n);
}

/* The options of a case: what the user gave, and what varies from case to case. */
static bool take_options(const struct check *check, uint64_t seed, struct one_case *one) {
    struct gsim_cli *cli = &one->cli;
    memcpy(cli->repeats, check->cli->repeats, sizeof cli->repeats);
    cli->value[GSIM_OPT_SET] = check->cli->value[GSIM_OPT_SET];
    cli->value[GSIM_OPT_POLICY] = check->policy;
    const char *device = check->cli->value[GSIM_OPT_DEVICE];
    cli->value[GSIM_OPT_DEVICE] = device ? device : seed % 2 ? "h200" : "ideal";
    cli->value[GSIM_OPT_NODES] = number(cli, 1 + seed % 3);
    cli->value[GSIM_OPT_GPUS_PER_NODE] = number(cli, gsim_setup_widest_gang(&one->setup.trace));
    cli->value[GSIM_OPT_SEED] = number(cli, seed);
    bool has_failures = seed % 5 == 0;
    cli->value[GSIM_OPT_MTBF] = has_failures ? "2000s" : NULL;
    cli->value[GSIM_OPT_MTTR] = has_failures ? "50s" : NULL;
    return cli->value[GSIM_OPT_NODES] && cli->value[GSIM_OPT_GPUS_PER_NODE] &&
           cli->value[GSIM_OPT_SEED];
}

/* Draws the case of a seed. Jobs that share GPUs meet in turns of milliseconds, so their times are
 * shorter. */
static enum gsim_status draw_case(const struct check *check, uint64_t seed,
                                  struct gsim_arena *arena, struct one_case *one) {
    struct gsim_log *log = &one->log;
    one->cli = (struct gsim_cli){
        .io = check->cli->io, .arena = arena, .log = log, .foreign = check->cli->foreign};
    const struct gsim_policy *policy = gsim_foreign_find(check->cli->foreign, check->policy, log);
    if (!policy)
        return log->status;
    int64_t scale_ns = policy->shares_gpus ? GSIM_NS_PER_S / 20 : GSIM_NS_PER_S;
    scale_ns *= seed % 5 == 0 ? 20 : 1; /* long enough for nodes to fail */
    struct gsim_trace *trace = &one->setup.trace;
    bool is_drawn = gsim_small_draw(seed, scale_ns, arena, trace);
    if (is_drawn && seed % 3 == 0)
        is_drawn = gsim_small_describe(trace, seed, seed % 2 == 0, arena);
    if (!is_drawn || !take_options(check, seed, one))
        return gsim_no_memory(log, "drawing a trace");
    one->setup.trace_path = trace->path;
    one->setup.seed = (int64_t)seed;
    one->setup.widest_gang = gsim_setup_widest_gang(trace);
    enum gsim_status status = gsim_setup_policies(&one->cli, check->policy, &one->setup);
    return status == GSIM_OK ? gsim_setup_cluster(&one->cli, &one->setup) : status;
}

/* --- what broke ------------------------------------------------------------------------------ */

/* Leaves out as many jobs as it can while the case stays broken: halves, quarters, ..., single
 * jobs. */
static bool cut_down(const struct check *check, const struct one_case *one, bool *is_out,
                     struct gsim_arena *arena, struct gsim_log *log) {
    const struct gsim_trace *whole = &one->setup.trace;
    double until_s = now_s() + PATIENCE_S;
    struct gsim_trace fewer;
    for (uint32_t size = whole->n_jobs / 2; size > 0; size /= 2)
        for (uint32_t from = 0; from < whole->n_jobs && now_s() < until_s; from += size) {
            bool was_out[GSIM_SMALL_JOBS];
            struct gsim_log why = {0};
            memcpy(was_out, is_out, sizeof was_out);
            for (uint32_t job = from; job < from + size && job < whole->n_jobs; job++)
                is_out[job] = true;
            if (!gsim_small_subset(whole, is_out, arena, &fewer))
                return false;
            if (fewer.n_jobs > 0 && run_case(check, one, &fewer, &why) == GSIM_FAILED)
                *log = why;
            else
                memcpy(is_out, was_out, sizeof was_out);
        }
    return true;
}

static enum gsim_status write_trace(const struct check *check, const struct gsim_trace *trace,
                                    const char *path) {
    struct gsim_outfile out;
    struct gsim_cli *cli = check->cli;
    enum gsim_status status = gsim_output_file_check_own(cli, path, "job_id,");
    if (status == GSIM_OK)
        status = gsim_outfile_open(&out, path, cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    gsim_trace_write(trace, out.file);
    return gsim_outfile_close(&out, cli->log);
}

/* gsim check-policy ./mine.so broken.csv --device ideal ... */
static const char *command_of(const struct check *check, const struct one_case *one,
                              const char *path) {
    static const enum gsim_option options[] = {GSIM_OPT_DEVICE,        GSIM_OPT_NODES,
                                               GSIM_OPT_GPUS_PER_NODE, GSIM_OPT_SEED,
                                               GSIM_OPT_MTBF,          GSIM_OPT_MTTR};
    struct gsim_arena *arena = check->cli->arena;
    const char *line = gsim_arena_printf(arena, "gsim check-policy %s %s",
                                         gsim_shell_quote(arena, check->policy), path);
    for (size_t i = 0; line && i < sizeof options / sizeof *options; i++)
        if (one->cli.value[options[i]])
            line = gsim_arena_printf(arena, "%s --%s %s", line, gsim_option_defs[options[i]].name,
                                     one->cli.value[options[i]]);
    for (const char *const *text = check->cli->repeats[GSIM_OPT_SET]; line && *text; text++)
        line = gsim_arena_printf(arena, "%s --set %s", line, gsim_shell_quote(arena, *text));
    return line;
}

static enum gsim_status report(const struct check *check, const struct one_case *one,
                               double took_s) {
    struct gsim_cli *cli = check->cli;
    bool is_out[GSIM_SMALL_JOBS] = {false};
    struct gsim_log *log = gsim_arena_alloc(cli->arena, sizeof *log);
    struct gsim_trace fewer;
    if (!log)
        return gsim_no_memory(cli->log, "cutting a trace down");
    *log = one->log;
    if (took_s < 1 && !cut_down(check, one, is_out, cli->arena, log))
        return gsim_no_memory(cli->log, "cutting a trace down");
    const char *name = one->setup.contender[0].policy->name;
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    if (!path)
        path = gsim_exec_command(name) ? "broken.csv"
                                       : gsim_arena_printf(cli->arena, "%s-broken.csv", name);
    if (!path || !gsim_small_subset(&one->setup.trace, is_out, cli->arena, &fewer))
        return gsim_no_memory(cli->log, "writing a trace");
    enum gsim_status status = write_trace(check, &fewer, path);
    if (status != GSIM_OK)
        return status;
    fprintf(cli->io->out, "broken with %u job%s: %s\n", fewer.n_jobs, fewer.n_jobs == 1 ? "" : "s",
            command_of(check, one, path));
    return gsim_fail(cli->log, GSIM_FAILED, NULL, 0, "%s", log->errors[0].text);
}

/* --- the command ----------------------------------------------------------------------------- */

/* A policy may refuse a trace that lacks what it needs; the first reason is kept. */
static void note_refusal(struct check *check, const struct gsim_log *log) {
    if (check->n_refused++ == 0)
        memcpy(check->refusal, log->errors[0].text, sizeof check->refusal);
}

static bool is_stopped(const struct check *check) {
    return check->cli->io->stop && *check->cli->io->stop;
}

static enum gsim_status check_seed(struct check *check, uint64_t seed) {
    struct gsim_arena *arena = gsim_arena_new();
    struct one_case *one = arena ? gsim_arena_alloc(arena, sizeof *one) : NULL;
    if (!one)
        return gsim_no_memory(check->cli->log, "checking");
    enum gsim_status status = draw_case(check, seed, arena, one);
    bool is_set_up = status == GSIM_OK;
    double began_s = now_s();
    if (is_set_up)
        status = run_case(check, one, &one->setup.trace, &one->log);
    if (!is_set_up || is_stopped(check))
        gsim_log_merge(check->cli->log, &one->log);
    else if (status == GSIM_FAILED)
        status = report(check, one, now_s() - began_s);
    else if (status == GSIM_BAD_INPUT || status == GSIM_USAGE) {
        note_refusal(check, &one->log);
        status = GSIM_OK;
    }
    gsim_arena_free(arena);
    return status;
}

/* Clusters, failures and seeds are drawn with the traces. */
static enum gsim_status refuse_options(struct gsim_cli *cli) {
    static const enum gsim_option of_traces[] = {
        GSIM_OPT_NODES,      GSIM_OPT_GPUS_PER_NODE, GSIM_OPT_HOST_MEM,    GSIM_OPT_CPUS_PER_NODE,
        GSIM_OPT_CLUSTER,    GSIM_OPT_ASSUME,        GSIM_OPT_MTBF,        GSIM_OPT_MTTR,
        GSIM_OPT_CHECKPOINT, GSIM_OPT_SEED,          GSIM_OPT_TRACE_FORMAT};
    for (size_t i = 0; i < sizeof of_traces / sizeof *of_traces; i++)
        if (cli->value[of_traces[i]])
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                             "--%s is drawn at random; it can be given with a trace: gsim "
                             "check-policy %s trace.csv",
                             gsim_option_defs[of_traces[i]].name, cli->operand[0]);
    return GSIM_OK;
}

static enum gsim_status check_random(struct check *check) {
    struct gsim_cli *cli = check->cli;
    int64_t n = 0;
    enum gsim_status status = refuse_options(cli);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_REPS, CASES, 1, MOST_CASES, &n);
    for (int64_t seed = 1; seed <= n && status == GSIM_OK; seed++)
        status = is_stopped(check) ? gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0,
                                               "interrupted after %lld of %lld",
                                               (long long)(seed - 1), (long long)n)
                                   : check_seed(check, (uint64_t)seed);
    if (status != GSIM_OK)
        return status;
    if (check->n_refused == n)
        return gsim_fail(cli->log, GSIM_BAD_INPUT, NULL, 0, "the policy refuses every trace: %s",
                         check->refusal);
    fprintf(cli->io->out,
            "%s: %lld random traces and clusters, each run twice: no job is lost, times add up, no "
            "GPU is overfull, both runs are equal\n",
            check->policy, (long long)(n - check->n_refused));
    if (check->n_refused)
        fprintf(cli->io->out, "the policy refused %lld more: %s\n", (long long)check->n_refused,
                check->refusal);
    return GSIM_OK;
}

/* A trace of the user's, or one that was broken before. */
static enum gsim_status check_trace(struct check *check, const char *path) {
    struct gsim_cli *cli = check->cli;
    struct one_case *one = gsim_arena_alloc(cli->arena, sizeof *one);
    if (!one)
        return gsim_no_memory(cli->log, "checking");
    one->cli = *cli;
    one->cli.operand[0] = path;
    one->cli.n_operands = 1;
    enum gsim_status status = gsim_setup_load(&one->cli, check->policy, &one->setup);
    if (status == GSIM_OK)
        status = run_case(check, one, &one->setup.trace, cli->log);
    if (status == GSIM_OK)
        fprintf(
            cli->io->out,
            "%s over %s, run twice: no job is lost, times add up, no GPU is overfull, both runs "
            "are equal\n",
            check->policy, path);
    return status;
}

enum gsim_status gsim_command_check_policy(struct gsim_cli *cli) {
    struct check check = {.cli = cli};
    if (cli->n_operands < 1 || cli->n_operands > 2)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which policy? gsim check-policy ./mine.so, over random traces, or gsim "
                         "check-policy ./mine.so trace.csv");
    check.policy = cli->operand[0];
    enum gsim_status status = gsim_setup_policy_timeout(cli, &check.timeout_ns);
    if (check.timeout_ns == 0)
        check.timeout_ns = HANG_S * GSIM_NS_PER_S;
    if (status != GSIM_OK)
        return status;
    return cli->n_operands == 2 ? check_trace(&check, cli->operand[1]) : check_random(&check);
}
