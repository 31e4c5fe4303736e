/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs behind the rows of gsim validate. A scenario becomes a command line and passes through
 * the options and setup of `gsim run`; the values that rows use are taken from each result before
 * it is freed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/sweep/parallel.h"
#include "sim/app/setup/setup.h"
#include "sim/app/validate/validate.h"
#include "sim/base/ini.h"
#include "sim/base/text.h"

/* The largest standard error, as a part of the mean, of a row with a bound in standard errors: with
 * a larger one, any value would pass. */
static const double most_standard_error = 0.005;

/* --- a scenario's command line ---------------------------------------------------------------- */

static bool is_option(const struct gsim_ini_entry *entry) {
    return gsim_text_choice(entry->key, "title|source|mean_bound|trace|columns|job|seeds") < 0;
}

static bool is_of(const struct gsim_validate_scenario *scenario,
                  const struct gsim_ini_entry *entry) {
    if (strcmp(entry->section, scenario->name) == 0)
        return true;
    return !*entry->section && !gsim_ini_find(&scenario->table->ini, scenario->name, entry->key);
}

struct words {
    const struct gsim_validation *v;
    struct gsim_arena *arena;
    char **word;
    int n;
    bool has_failed; /* out of memory */
};

static void add_word(struct words *words, const char *text) {
    words->word[words->n] = text ? gsim_arena_strdup(words->arena, text) : NULL;
    words->has_failed |= !words->word[words->n++];
}

/* Adds the option of a key: "set.slice = 1s" is --set slice=1s. Names of files beside the table
 * become paths. */
static void add_option(struct words *words, const struct gsim_validate_scenario *scenario,
                       const struct gsim_ini_entry *entry) {
    const char *dot = strchr(entry->key, '.');
    const char *path =
        gsim_validate_file(words->v, scenario->table->suite, entry->value, words->arena);
    const char *value = path ? path : entry->value;
    int n = (int)strcspn(entry->key, ".");
    add_word(words, gsim_arena_printf(words->arena, "--%.*s", n, entry->key));
    add_word(words, dot ? gsim_arena_printf(words->arena, "%s=%s", dot + 1, value) : value);
}

static enum gsim_status parse_scenario(const struct gsim_validation *v,
                                       const struct gsim_validate_scenario *scenario, int run,
                                       struct gsim_cli *cli) {
    const struct gsim_ini *ini = &scenario->table->ini;
    struct words words = {.v = v, .arena = cli->arena};
    words.word = gsim_arena_array(cli->arena, (size_t)(2 * ini->n + 4), sizeof *words.word);
    if (!words.word)
        return gsim_no_memory(cli->log, "starting a run");
    for (int e = 0; e < ini->n; e++)
        if (is_option(&ini->entries[e]) && is_of(scenario, &ini->entries[e]))
            add_option(&words, scenario, &ini->entries[e]);
    if (scenario->seed) {
        add_word(&words, "--seed");
        add_word(&words, scenario->seed[run]);
    }
    add_word(&words, scenario->trace);
    if (words.has_failed)
        return gsim_no_memory(cli->log, "starting a run");
    cli->argv = words.word;
    cli->argc = words.n;
    return gsim_options_parse(cli, &gsim_commands[0], 0);
}

/* --- traces ----------------------------------------------------------------------------------- */

/* Writes `columns` and the `job` lines as a trace file. */
static enum gsim_status write_jobs(const struct gsim_validation *v,
                                   struct gsim_validate_scenario *scenario, const char *columns) {
    const struct gsim_ini *ini = &scenario->table->ini;
    struct gsim_arena *arena = v->cli->arena;
    const char *name = gsim_arena_printf(arena, "%s-%s-%s.csv", scenario->table->suite,
                                         scenario->table->name, scenario->name);
    const char *text = gsim_arena_printf(arena, "%s\n", columns);
    for (int e = 0; e < ini->n && text; e++)
        if (strcmp(ini->entries[e].key, "job") == 0 && is_of(scenario, &ini->entries[e]))
            text = gsim_arena_printf(arena, "%s%s\n", text, ini->entries[e].value);
    scenario->trace = name ? gsim_folder_path(&v->folder, name) : NULL;
    return text && scenario->trace
               ? gsim_folder_put(&v->folder, name, text, strlen(text), v->cli->log)
               : gsim_no_memory(v->cli->log, "writing a trace");
}

static enum gsim_status find_trace(const struct gsim_validation *v,
                                   struct gsim_validate_scenario *scenario) {
    const char *columns = gsim_scenario_key(scenario, "columns");
    const char *name = gsim_scenario_key(scenario, "trace");
    if (!name && columns)
        return write_jobs(v, scenario, columns);
    if (name)
        scenario->trace = gsim_validate_file(v, scenario->table->suite, name, v->cli->arena);
    return scenario->trace
               ? GSIM_OK
               : gsim_fail(v->cli->log, GSIM_BAD_INPUT, scenario->table->ini.path, 0,
                           "[%s]: no trace: neither a file that is there nor columns and jobs",
                           scenario->name);
}

/* Finds the trace of a scenario, or the reason why this version cannot run it. */
static enum gsim_status prepare(const struct gsim_validation *v,
                                struct gsim_validate_scenario *scenario) {
    const char *policy = gsim_scenario_key(scenario, "policy");
    struct gsim_log *scratch = gsim_arena_alloc(v->cli->arena, sizeof *scratch);
    if (!scratch)
        return gsim_no_memory(v->cli->log, "starting");
    if (!policy)
        return gsim_fail(v->cli->log, GSIM_BAD_INPUT, scenario->table->ini.path, 0,
                         "[%s]: no policy", scenario->name);
    if (gsim_policies_find(policy, scratch))
        return find_trace(v, scenario);
    scenario->missing = gsim_arena_printf(v->cli->arena, "no policy '%s'", policy);
    return scenario->missing ? GSIM_OK : gsim_no_memory(v->cli->log, "starting");
}

/* --- values of a run -------------------------------------------------------------------------- */

static bool summary_value(const struct gsim_summary *s, const char *name, double *out) {
#define GSIM_FIELD_TEXT(field, help)
#define GSIM_FIELD_REAL(field, help)                                                               \
    if (strcmp(name, #field) == 0) {                                                               \
        *out = (double)s->field;                                                                   \
        return true;                                                                               \
    }
#define GSIM_FIELD_INT GSIM_FIELD_REAL
#define GSIM_FIELD_BOOL GSIM_FIELD_REAL
#include "gsim/fields.def"
    return false;
}

static double seconds(int64_t ns) {
    return ns < 0 ? (double)NAN : (double)ns / 1e9;
}

static bool job_value(const struct gsim_result *result, const struct gsim_call *call, double *out) {
    const struct gsim_job_results *jobs = &result->jobs;
    uint32_t j = 0;
    while (j < jobs->n && strcmp(gsim_trace_id(result->trace, j), call->argument[0]) != 0)
        j++;
    if (j == jobs->n)
        return false;
    switch (gsim_text_choice(call->name, "jct_s|start_s|end_s|wait_s|preemptions|faults")) {
    case 0:
        *out = jobs->end_ns[j] < 0 ? (double)NAN
                                   : seconds(jobs->end_ns[j] - result->trace->submit_ns[j]);
        return true;
    case 1:
        *out = seconds(jobs->start_ns[j]);
        return true;
    case 2:
        *out = seconds(jobs->end_ns[j]);
        return true;
    case 3:
        *out = jobs->wait_ns ? seconds(jobs->wait_ns[j]) : 0;
        return true;
    case 4:
        *out = jobs->preemptions ? jobs->preemptions[j] : 0;
        return true;
    case 5:
        *out = jobs->faults ? (double)jobs->faults[j] : 0;
        return true;
    default:
        return false;
    }
}

static enum gsim_status take_values(const struct gsim_validate_scenario *scenario, int run,
                                    const struct gsim_result *result, struct gsim_log *log) {
    for (struct gsim_wanted *wanted = scenario->wanted; wanted; wanted = wanted->next) {
        const struct gsim_call *call = &wanted->call;
        bool is_known = call->n_arguments == 0
                            ? summary_value(&result->summary, call->name, &wanted->value[run])
                            : job_value(result, call, &wanted->value[run]);
        if (!is_known)
            return gsim_fail(log, GSIM_BAD_INPUT, scenario->table->csv, 0,
                             "%s(%s)@%s: no such result, job or quote", call->name,
                             call->n_arguments ? call->argument[0] : "", scenario->name);
    }
    return GSIM_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

struct task {
    const struct gsim_validate_scenario *scenario;
    int run;
    enum gsim_status status;
    struct gsim_log log;
};

struct tasks {
    const struct gsim_validation *v;
    struct task *task;
    int n;
};

static enum gsim_status run_task(const struct gsim_validation *v, struct task *task,
                                 struct gsim_arena *arena) {
    struct gsim_cli *cli = arena ? gsim_arena_alloc(arena, sizeof *cli) : NULL;
    struct gsim_setup *setup = cli ? gsim_arena_alloc(arena, sizeof *setup) : NULL;
    struct gsim_result result;
    if (!setup)
        return gsim_no_memory(&task->log, "starting a run");
    cli->io = v->cli->io;
    cli->arena = arena;
    cli->log = &task->log;
    cli->foreign = v->cli->foreign;
    enum gsim_status status = parse_scenario(v, task->scenario, task->run, cli);
    if (status == GSIM_OK)
        status = gsim_setup_load(cli, cli->value[GSIM_OPT_POLICY], setup);
    if (status == GSIM_OK)
        status = gsim_setup_run(setup, 0, setup->replication, &setup->trace, cli->io, NULL, arena,
                                &result, &task->log);
    return status == GSIM_OK ? take_values(task->scenario, task->run, &result, &task->log) : status;
}

static void do_task(void *arg, int64_t at) {
    struct tasks *tasks = arg;
    struct task *task = &tasks->task[at];
    const struct gsim_io *io = tasks->v->cli->io;
    if (io->stop && *io->stop) { /* reading the traces of those that are left takes longest */
        task->status = GSIM_INCOMPLETE;
        return;
    }
    struct gsim_arena *arena = gsim_arena_new();
    task->status = run_task(tasks->v, task, arena);
    gsim_arena_free(arena);
}

static enum gsim_status add_tasks(struct tasks *tasks) {
    const struct gsim_validation *v = tasks->v;
    size_t n = 0;
    for (int t = 0; t < v->n_tables; t++)
        for (int s = 0; s < v->table[t].n_scenarios; s++)
            n += (size_t)v->table[t].scenario[s].n_runs;
    tasks->task = gsim_arena_array(v->cli->arena, n, sizeof *tasks->task);
    if (!tasks->task)
        return gsim_no_memory(v->cli->log, "starting");
    for (int t = 0; t < v->n_tables; t++)
        for (int s = 0; s < v->table[t].n_scenarios; s++) {
            const struct gsim_validate_scenario *scenario = &v->table[t].scenario[s];
            for (int run = 0; run < scenario->n_runs && scenario->wanted; run++)
                tasks->task[tasks->n++] = (struct task){.scenario = scenario, .run = run};
        }
    return GSIM_OK;
}

static enum gsim_status collect(const struct tasks *tasks) {
    struct gsim_log *log = tasks->v->cli->log;
    for (int t = 0; t < tasks->n; t++) {
        const struct task *task = &tasks->task[t];
        if (task->status == GSIM_INCOMPLETE)
            return gsim_fail(log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is validated");
        if (task->status != GSIM_OK)
            return gsim_fail(log, task->status, task->scenario->table->ini.path, 0, "[%s]: %.400s",
                             task->scenario->name, task->log.errors[0].text);
    }
    return GSIM_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* One pass over a row's arithmetic: the first pass collects the values that are wanted from runs,
 * later passes read them. */
struct pass {
    const struct gsim_validation *v;
    struct gsim_validate_row *row;
    bool is_asking;
    int run, n_runs;
};

static enum gsim_status ask(const struct pass *p, struct gsim_validate_scenario *scenario,
                            const struct gsim_call *call) {
    struct gsim_arena *arena = p->v->cli->arena;
    enum gsim_status status = GSIM_OK;
    if (!scenario->trace && !scenario->missing)
        status = prepare(p->v, scenario);
    if (scenario->missing)
        p->row->missing = scenario->missing;
    if (status != GSIM_OK || scenario->missing)
        return status;
    struct gsim_wanted *wanted = gsim_arena_alloc(arena, sizeof *wanted);
    if (!wanted)
        return gsim_no_memory(p->v->cli->log, "starting");
    *wanted = (struct gsim_wanted){.call = *call, .next = scenario->wanted};
    wanted->value = gsim_arena_array(arena, (size_t)scenario->n_runs, sizeof *wanted->value);
    scenario->wanted = wanted;
    return wanted->value ? GSIM_OK : gsim_no_memory(p->v->cli->log, "starting");
}

static bool is_same_call(const struct gsim_call *a, const struct gsim_call *b) {
    bool is_same = strcmp(a->name, b->name) == 0 && a->n_arguments == b->n_arguments;
    for (int i = 0; is_same && i < a->n_arguments; i++)
        is_same = strcmp(a->argument[i], b->argument[i]) == 0;
    return is_same;
}

static enum gsim_status quote(const struct pass *p, const struct gsim_validate_scenario *scenario,
                              const struct gsim_call *call, bool *is_quote, double *out) {
    const char *device = gsim_scenario_key(scenario, "device");
    struct gsim_profile *profile = gsim_arena_alloc(p->v->cli->arena, sizeof *profile);
    if (!profile)
        return gsim_no_memory(p->v->cli->log, "reading a device");
    enum gsim_status status =
        gsim_profile_load(device ? device : "h200", p->v->cli->arena, profile, p->v->cli->log);
    return status == GSIM_OK
               ? gsim_validate_quote(call, profile, p->v->cli->arena, is_quote, out, p->v->cli->log)
               : status;
}

static enum gsim_status value_of(void *arg, const struct gsim_call *call, double *out) {
    struct pass *p = arg;
    const char *place = call->place ? call->place : p->row->scenario->name;
    struct gsim_validate_scenario *scenario = gsim_scenario_find(p->row->table, place);
    bool is_quote = false;
    *out = (double)NAN;
    if (!scenario)
        return gsim_fail(p->v->cli->log, GSIM_BAD_INPUT, p->row->table->csv, p->row->line,
                         "no scenario is called '%s'", place);
    enum gsim_status status = quote(p, scenario, call, &is_quote, out);
    if (status != GSIM_OK || is_quote)
        return status;
    if (p->is_asking)
        return ask(p, scenario, call);
    p->n_runs = scenario->n_runs > p->n_runs ? scenario->n_runs : p->n_runs;
    for (const struct gsim_wanted *wanted = scenario->wanted; wanted; wanted = wanted->next)
        if (is_same_call(&wanted->call, call))
            *out = wanted->value[p->run % scenario->n_runs];
    return GSIM_OK;
}

static enum gsim_status no_value(void *arg, const struct gsim_call *call, double *out) {
    const struct pass *p = arg;
    *out = (double)NAN;
    return gsim_fail(p->v->cli->log, GSIM_BAD_INPUT, p->row->table->csv, p->row->line,
                     "reference: '%s' is no number", call->name);
}

static enum gsim_status compute(struct pass *p, double *out) {
    struct gsim_expression expression = {.text = p->row->simulated_text,
                                         .file = p->row->table->csv,
                                         .line = p->row->line,
                                         .value = value_of,
                                         .arg = p};
    return gsim_expression_value(&expression, p->v->cli->arena, out, p->v->cli->log);
}

/* Computes the mean over the scenario's runs, and its standard error. */
static enum gsim_status simulate(struct pass *p) {
    double sum = 0, squares = 0;
    enum gsim_status status = GSIM_OK;
    p->n_runs = 1;
    for (p->run = 0; p->run < p->n_runs && status == GSIM_OK; p->run++) {
        double value = (double)NAN;
        status = compute(p, &value);
        sum += value;
        squares += value * value;
    }
    double n = p->n_runs, mean = sum / n;
    p->row->simulated = mean;
    p->row->standard_error =
        p->n_runs > 1 ? sqrt(fmax(0, squares - n * mean * mean) / (n - 1) / n) : (double)NAN;
    return status;
}

static enum gsim_status refer(struct pass *p) {
    struct gsim_validate_row *row = p->row;
    struct gsim_expression expression = {.text = row->reference_text,
                                         .file = row->table->csv,
                                         .line = row->line,
                                         .value = no_value,
                                         .arg = p};
    return gsim_expression_value(&expression, p->v->cli->arena, &row->reference, p->v->cli->log);
}

/* Decides whether the row is within its bound; a row without a number is not. */
static enum gsim_status judge(const struct gsim_validation *v, struct gsim_validate_row *row) {
    char *unit;
    double off = fabs(row->simulated - row->reference), most = strtod(row->bound, &unit);
    bool is_order = strcmp(row->bound, ">") == 0, is_within = false;
    if (!is_order && (unit == row->bound || most < 0))
        return gsim_fail(v->cli->log, GSIM_BAD_INPUT, row->table->csv, row->line,
                         "bound: '%s' is not like 3%%, 0.5, 3se or >", row->bound);
    if (is_order)
        is_within = row->simulated > row->reference;
    else if (strcmp(unit, "%") == 0)
        is_within = fabs(row->error_percent) <= most;
    else if (strcmp(unit, "se") == 0)
        is_within = off <= most * row->standard_error &&
                    row->standard_error <= most_standard_error * row->simulated;
    else
        is_within = !*unit && off <= most * (1 + 1e-9); /* the margin allows for binary fractions */
    row->verdict = is_within ? GSIM_ROW_WITHIN : GSIM_ROW_MISSED;
    return GSIM_OK;
}

static enum gsim_status answer(struct pass *p) {
    struct gsim_validate_row *row = p->row;
    enum gsim_status status = refer(p);
    row->simulated = row->error_percent = row->standard_error = (double)NAN;
    row->verdict = GSIM_ROW_MISSING;
    if (status != GSIM_OK || row->missing)
        return status;
    status = simulate(p);
    if (status != GSIM_OK)
        return status;
    if ((row->reference > 0 || row->reference < 0) && *row->bound != '>')
        row->error_percent = 100 * (row->simulated / row->reference - 1);
    row->verdict = GSIM_ROW_UNBOUND;
    bool is_promised = row->use == GSIM_ROW_TEST || row->use == GSIM_ROW_ASIDE;
    return *row->bound || is_promised ? judge(p->v, row) : GSIM_OK;
}

static enum gsim_status pass_over_rows(const struct gsim_validation *v, bool is_asking) {
    enum gsim_status status = GSIM_OK;
    for (int t = 0; t < v->n_tables; t++)
        for (int r = 0; r < v->table[t].n_rows && status == GSIM_OK; r++) {
            struct pass p = {.v = v, .row = &v->table[t].row[r], .is_asking = is_asking};
            double ignored = 0;
            status = is_asking ? compute(&p, &ignored) : answer(&p);
        }
    return status;
}

enum gsim_status gsim_validate_run(struct gsim_validation *v, int n_threads) {
    struct tasks tasks = {.v = v};
    enum gsim_status status = pass_over_rows(v, true);
    if (status == GSIM_OK)
        status = add_tasks(&tasks);
    if (status != GSIM_OK)
        return status;
    gsim_in_parallel(n_threads, tasks.n, do_task, &tasks);
    status = collect(&tasks);
    return status == GSIM_OK ? pass_over_rows(v, false) : status;
}
