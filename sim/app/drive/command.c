/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim drive: a policy runs the jobs of a trace as processes of this machine. The run is one of the
 * engine, with the executor in place of the model of devices. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/hardware/profile.h"
#include "sim/study/outfile.h"
#include "sim/app/cli/invocation.h"
#include "sim/app/drive/executor.h"
#include "sim/app/drive/gpus.h"
#include "sim/app/drive/image.h"
#include "sim/app/drive/mps.h"
#include "sim/app/drive/rehearsal.h"
#include "sim/app/drive/replay.h"
#include "sim/app/drive/row.h"
#include "sim/app/drive/rows.h"
#include "sim/app/drive/start.h"
#include "sim/app/drive/tasks.h"
#include "sim/app/drive/work.h"
#include "sim/app/figures/report.h"
#include "sim/app/figures/run_output.h"
#include "sim/app/results/db_real.h"
#include "sim/base/units.h"

enum { MOST_SPEED_UP = 1000000, MOST_FILES = 65536 };
#define DEFAULT_GRACE_NS (10 * GSIM_NS_PER_S)
/* A machine that loses its power loses the rows of about this long. */
#define SYNC_NS GSIM_NS_PER_S

struct drive {
    struct gsim_cli *cli;
    struct gsim_setup *setup;
    struct gsim_gpus gpus;
    struct gsim_executor executor;
    struct gsim_accounting usage;
    struct gsim_replay replay;
    struct gsim_cutting cutting;
    struct gsim_db *db; /* NULL: no --db */
    int64_t real_run;
    int64_t synced_ns; /* when rows were last brought to the disk, on the wall's clock */
    bool has_new_rows; /* since then */
    double core_s; /* of the run, without what comes before and after it */
};

/* --- options ---------------------------------------------------------------------------------- */

static enum gsim_status read_grace(struct drive *d) {
    const char *text = d->cli->value[GSIM_OPT_GRACE];
    d->executor.grace_ns = DEFAULT_GRACE_NS;
    if (!text || (gsim_parse_time(text, GSIM_NS_PER_S, &d->executor.grace_ns) == GSIM_PARSE_OK &&
                  d->executor.grace_ns > 0))
        return GSIM_OK;
    return gsim_fail(d->cli->log, GSIM_USAGE, NULL, 0,
                     "--grace: '%s' is not a time above 0, such as 10s", text);
}

/* 0: they are measured. */
static enum gsim_status read_steps(struct drive *d) {
    struct gsim_cli *cli = d->cli;
    if (cli->value[GSIM_OPT_STEPS_PER_MS] && d->executor.is_dry)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--steps-per-ms is of kernels: in a dry run jobs without a command sleep");
    return gsim_option_int(cli, GSIM_OPT_STEPS_PER_MS, 0, 1, GSIM_WORK_MOST_STEPS,
                           &d->executor.steps_per_ms);
}

static enum gsim_status read_options(struct drive *d) {
    struct gsim_cli *cli = d->cli;
    d->executor.is_dry = gsim_option_is_on(cli, GSIM_OPT_DRY_RUN);
    d->executor.no_images = d->executor.is_dry ? NULL : gsim_image_refusal();
    d->executor.no_moves = d->executor.is_dry ? NULL : gsim_image_move_refusal();
    d->executor.no_mps = d->executor.is_dry ? NULL : gsim_mps_refusal();
    d->executor.cooperates = gsim_option_is_on(cli, GSIM_OPT_COOPERATIVE);
    d->executor.save_command = cli->value[GSIM_OPT_SAVE_COMMAND];
    d->executor.log = cli->log;
    d->executor.asked_to_stop = cli->io->stop;
    d->executor.logs = cli->value[GSIM_OPT_LOGS] ? cli->value[GSIM_OPT_LOGS] : "gsim-drive-logs";
    if (cli->value[GSIM_OPT_SPEED_UP] && !d->executor.is_dry)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--speed-up is of dry runs: real GPUs are as fast as they are; "
                         "--time-scale brings submissions closer together");
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_SPEED_UP, 1, 1, MOST_SPEED_UP, &d->executor.speed_up);
    if (status == GSIM_OK)
        status = read_grace(d);
    if (status == GSIM_OK)
        status = read_steps(d);
    if (status == GSIM_OK && cli->value[GSIM_OPT_GPUS])
        status = gsim_gpus_read(cli->value[GSIM_OPT_GPUS], &d->gpus, cli->log);
    return status;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static enum gsim_status make_folder(struct drive *d) {
    const char *logs = d->executor.logs;
    if (mkdir(logs, 0777) != 0 && errno != EEXIST)
        return gsim_fail(d->cli->log, GSIM_FAILED, logs, 0, "cannot make the folder of logs: %s",
                         strerror(errno));
    const char *lock = gsim_arena_printf(d->cli->arena, "%s/lock", logs);
    return lock ? gsim_gpus_lock_file(&d->gpus, lock, logs, d->cli->log)
                : gsim_no_memory(d->cli->log, "starting");
}

static enum gsim_status find_gpus(struct drive *d) {
    struct gsim_cli *cli = d->cli;
    enum gsim_status status = GSIM_OK;
    if (d->gpus.n > 0 && cli->value[GSIM_OPT_GPUS_PER_NODE])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--gpus says how many GPUs there are: leave out --gpus-per-node");
    if (!d->executor.is_dry) {
        status = gsim_gpus_find(&d->gpus, cli->arena, cli->log);
        if (status == GSIM_OK)
            status = gsim_setup_name_device(cli, d->gpus.product); /* for their memory */
    }
    if (status == GSIM_OK && d->gpus.n > 0)
        cli->value[GSIM_OPT_GPUS_PER_NODE] = gsim_arena_printf(cli->arena, "%u", d->gpus.n);
    return status;
}

/* In a dry run without --gpus the numbers are those of the cluster. */
static enum gsim_status number_gpus(struct drive *d) {
    uint32_t n = d->setup->cluster.groups[0].gpus_per_node;
    if (n > GSIM_DRIVE_GPUS)
        return gsim_fail(d->cli->log, GSIM_USAGE, NULL, 0, "%u GPUs: one machine has %d at most", n,
                         GSIM_DRIVE_GPUS);
    for (uint32_t i = 0; d->gpus.n == 0 && i < n; i++)
        d->gpus.number[i] = i;
    d->gpus.n = n;
    d->executor.gpus = d->gpus.number;
    d->executor.n_gpus = d->gpus.n;
    d->executor.uuids = d->gpus.uuids;
    d->executor.n_uuids = d->gpus.n_uuids;
    d->cutting.gpus = d->gpus.number;
    d->cutting.n_gpus = d->gpus.n;
    d->cutting.mig = d->setup->cluster.profiles[0]->mig;
    d->cutting.arena = d->cli->arena;
    d->executor.cutting = &d->cutting;
    if (!d->executor.is_dry && d->gpus.n_uuids == 0)
        d->executor.no_moves = "the driver does not tell the UUIDs of all GPUs of the machine";
    return GSIM_OK;
}

/* --- the database ----------------------------------------------------------------------------- */

static enum gsim_status keep(void *arg, const struct gsim_driven *ended, uint32_t n) {
    struct drive *d = arg;
    d->has_new_rows = true;
    return d->db ? gsim_db_real_add(d->db, d->real_run, &d->setup->trace, ended, n, d->cli->log)
                 : GSIM_OK;
}

static enum gsim_status keep_notes(void *arg, const struct gsim_note *notes, uint32_t n) {
    struct drive *d = arg;
    return d->db ? gsim_db_real_note(d->db, d->real_run, notes, n, d->cli->log) : GSIM_OK;
}

static void bring_to_disk(void *arg) {
    struct drive *d = arg;
    int64_t now_ns = gsim_tasks_wall_ns();
    if (!d->db || !d->has_new_rows || now_ns - d->synced_ns < SYNC_NS)
        return;
    gsim_db_real_sync(d->db);
    d->has_new_rows = false;
    d->synced_ns = now_ns;
}

static const char *numbers(struct drive *d) {
    const char *text = "";
    for (uint32_t i = 0; i < d->gpus.n && text; i++)
        text = gsim_arena_printf(d->cli->arena, "%s%s%u", text, i ? "," : "", d->gpus.number[i]);
    return text;
}

static const char *settings(const struct gsim_cli *cli) {
    const char *const *set = cli->repeats[GSIM_OPT_SET];
    const char *text = "";
    for (; *set && text; set++)
        text = gsim_arena_printf(cli->arena, "%s%s%s", text, *text ? "\n" : "", *set);
    return text;
}

static enum gsim_status begin_rows(struct drive *d) {
    struct gsim_cli *cli = d->cli;
    d->executor.on_end = keep;
    d->executor.on_notes = keep_notes;
    d->executor.on_rest = bring_to_disk;
    d->executor.arg = d;
    if (!cli->value[GSIM_OPT_DB])
        return GSIM_OK;
    struct gsim_db_real run = {.policy = d->setup->contender[0].policy->name,
                               .argv = gsim_typed_command(cli, GSIM_OPT_COUNT),
                               .trace = d->setup->trace_path,
                               .settings = settings(cli),
                               .gpus = numbers(d),
                               .device = d->executor.is_dry ? GSIM_DRY_DEVICE : d->gpus.product,
                               .speed_up = d->executor.speed_up,
                               .is_dry = d->executor.is_dry};
    if (!run.argv || !run.gpus || !run.settings)
        return gsim_no_memory(cli->log, "writing a database");
    enum gsim_status status = gsim_db_open(cli->value[GSIM_OPT_DB], cli->arena, &d->db, cli->log);
    if (status == GSIM_OK)
        gsim_db_real_append(d->db);
    return status == GSIM_OK ? gsim_db_real_begin(d->db, &run, &d->real_run, cli->log) : status;
}

/* A run of which the database could not take a job cannot be marked there either. */
static enum gsim_status end_rows(struct drive *d, enum gsim_status status) {
    const char *how = status == GSIM_OK           ? "done"
                      : status == GSIM_INCOMPLETE ? "interrupted"
                                                  : "failed";
    struct gsim_log unheard = {0};
    enum gsim_status marked = GSIM_OK;
    if (d->db && d->real_run > 0)
        marked = gsim_db_real_end(d->db, d->real_run, how,
                                  status == GSIM_FAILED ? &unheard : d->cli->log);
    if (d->db)
        gsim_db_real_settle(d->db);
    gsim_db_close(d->db);
    d->db = NULL;
    return status == GSIM_OK ? marked : status;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* What `drive` itself has taken of a core, without its jobs. */
static double core_s(void) {
    struct rusage used = {0};
    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Prints the share of a core that `drive` itself took while jobs ran, and how soon it acted. */
static void say_overhead(const struct drive *d, double wall_s) {
    const struct gsim_executor *x = &d->executor;
    if (gsim_option_is_on(d->cli, GSIM_OPT_QUIET))
        return;
    fprintf(d->cli->io->err,
            "gsim: drive took %.2f %% of a core, and %.2f ms from an event to its action (at most "
            "%.2f ms); output of the jobs is in %s\n",
            wall_s > 0 ? 100 * d->core_s / wall_s : 0,
            x->n_waits ? (double)x->busy_ns / (double)x->n_waits / 1e6 : 0,
            (double)x->slowest_ns / 1e6, x->logs);
}

/* A terminal that is closed asks the run to end, as Ctrl-C does; under nohup it goes on. */
static void catch_hangup(void) {
    struct sigaction hangup, end;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_DFL &&
        sigaction(SIGTERM, NULL, &end) == 0)
        (void)sigaction(SIGHUP, &end, NULL);
}

/* Two descriptors for each job that is there, of which policies that share GPUs have hundreds. */
static void take_descriptors(struct drive *d) {
    struct rlimit *files = &d->executor.files;
    if (getrlimit(RLIMIT_NOFILE, files) != 0)
        *files = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    rlim_t most_files = files->rlim_max < MOST_FILES ? files->rlim_max : MOST_FILES;
    struct rlimit most = {most_files > files->rlim_cur ? most_files : files->rlim_cur,
                          files->rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &most);
}

static enum gsim_status drive_jobs(struct drive *d, struct gsim_result *result) {
    struct gsim_setup *setup = d->setup;
    setup->model = &gsim_model_executor;
    setup->model_arg = &d->executor;
    setup->model_stop = &d->executor.stop;
    setup->device_name = d->executor.is_dry ? GSIM_DRY_DEVICE : d->gpus.product;
    /* a write to a guard or a job that is gone is no reason to end */
    (void)signal(SIGPIPE, SIG_IGN);
    catch_hangup();
    take_descriptors(d);
    if (!d->executor.is_dry && !d->cutting.is_needed) {
        gsim_accounting_open(&d->usage, d->gpus.number, d->gpus.n);
        d->executor.usage = &d->usage;
    }
    double before_s = core_s();
    enum gsim_status status = gsim_run_output_make(d->cli, setup, result);
    gsim_executor_close(&d->executor);
    d->core_s = core_s() - before_s;
    gsim_accounting_close(&d->usage);
    return d->executor.status != GSIM_OK ? d->executor.status : status;
}

/* Jobs that do not tell how far they are count by the driver's accounting, where it tells. */
static void say_usage(const struct drive *d) {
    if (*d->usage.no_usage && gsim_start_counts_use(&d->executor, &d->setup->trace))
        gsim_warn(d->cli->log, NULL, 0,
                  "the driver does not tell the GPU time of jobs (%s): all time on its GPUs "
                  "counts for a job that does not cooperate",
                  d->usage.no_usage);
    if (d->executor.n_shared > 0 && !*d->usage.no_usage)
        gsim_warn(d->cli->log, NULL, 0,
                  "the GPU time of %u job%s is not known: the driver does not tell apart jobs that "
                  "share a GPU",
                  d->executor.n_shared, d->executor.n_shared == 1 ? "" : "s");
}

static enum gsim_status finish(struct drive *d, const struct gsim_result *result,
                               struct gsim_outfile *jobs, enum gsim_status ran) {
    say_overhead(d, result->summary.wall_s);
    say_usage(d);
    gsim_report_notes(d->cli, (const struct gsim_summary *[]){&result->summary}, 1);
    if (d->executor.n_died > 0)
        gsim_warn(d->cli->log, d->setup->trace_path, 0,
                  "%u of %u jobs died, and count in the means as jobs that ended: these say little "
                  "about the policy",
                  d->executor.n_died, d->setup->trace.n_jobs);
    enum gsim_status status = gsim_run_output_write(d->cli, d->setup, result);
    enum gsim_status written = gsim_run_output_jobs(d->cli, result, jobs);
    status = status == GSIM_OK ? written : status;
    if (ran == GSIM_INCOMPLETE && status == GSIM_OK)
        return gsim_fail(d->cli->log, GSIM_INCOMPLETE, NULL, 0,
                         "interrupted: the result above covers the time until then%s",
                         d->cli->value[GSIM_OPT_DB] ? "; jobs that had ended are in the database"
                                                    : "");
    return status;
}

static enum gsim_status measure_speed(struct drive *d) {
    char visible[16];
    (void)snprintf(visible, sizeof visible, "%u", d->gpus.number[0]);
    return gsim_work_measure(&d->executor, visible, d->gpus.number[0], 0);
}

/* Instances are made when the run begins, and their speed is measured then. */
static enum gsim_status prepare_gpus(struct drive *d) {
    bool is_cut = d->cutting.is_needed;
    enum gsim_status status = is_cut ? gsim_cutting_check(&d->cutting, d->cli->log)
                                     : gsim_cutting_check_whole(&d->cutting, d->cli->log);
    if (status == GSIM_OK && !is_cut && gsim_rows_need_work(&d->setup->trace))
        status = measure_speed(d);
    return status;
}

/* All that can be refused before a job starts. */
static enum gsim_status prepare(struct drive *d, struct gsim_outfile *jobs) {
    struct gsim_cli *cli = d->cli;
    enum gsim_output_format format;
    enum gsim_status status = gsim_report_format(cli, &format);
    if (status == GSIM_OK)
        status = read_options(d);
    if (status == GSIM_OK)
        status = find_gpus(d);
    if (status == GSIM_OK)
        status = gsim_setup_load(cli, cli->value[GSIM_OPT_POLICY], d->setup);
    d->setup->pauses_in_place = true; /* the memory of a process stays where it is */
    if (status == GSIM_OK && d->setup->n_contenders > 1)
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--policy takes one policy");
    if (status == GSIM_OK)
        status = gsim_report_check_by(cli, d->setup);
    if (status == GSIM_OK)
        status = number_gpus(d);
    if (status == GSIM_OK)
        status = gsim_rows_check(&d->setup->trace, cli->log);
    if (status == GSIM_OK)
        d->executor.sees_durations = d->setup->contender[0].policy->is_oracle;
    if (status == GSIM_OK)
        status = gsim_rehearse(d->setup, &d->executor, cli->io, cli->log);
    if (status == GSIM_OK)
        status = make_folder(d);
    if (status == GSIM_OK && !d->executor.is_dry)
        status = prepare_gpus(d);
    return status == GSIM_OK ? gsim_run_output_open(cli, jobs) : status;
}

static enum gsim_status run(struct drive *d) {
    struct gsim_result result;
    struct gsim_outfile jobs = {0};
    enum gsim_status status = prepare(d, &jobs);
    if (status != GSIM_OK)
        return status;
    status = begin_rows(d);
    if (status == GSIM_OK)
        status = drive_jobs(d, &result);
    if (status == GSIM_OK && d->db)
        status = gsim_drive_add_row(d->cli, d->setup, &result, d->db, d->real_run);
    enum gsim_status ended = end_rows(d, status);
    if (status == GSIM_OK || status == GSIM_INCOMPLETE)
        return ended == status ? finish(d, &result, &jobs, status) : ended;
    if (jobs.path)
        gsim_outfile_abandon(&jobs);
    return status;
}

/* --- a run again ------------------------------------------------------------------------------ */

static enum gsim_status read_record(struct drive *d, struct gsim_db_real_found *run) {
    struct gsim_cli *cli = d->cli;
    struct gsim_db *db = NULL;
    struct gsim_note *notes = NULL;
    d->replay.path = cli->value[GSIM_OPT_REPLAY];
    enum gsim_status status = gsim_db_open_existing(d->replay.path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_real_find(db, cli->value[GSIM_OPT_POLICY], run, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_real_notes(db, run->id, &notes, &d->replay.n, cli->log);
    gsim_db_close(db);
    d->replay.notes = notes;
    return status;
}

/* The record has jobs by their places in its trace: another trace has others. */
static enum gsim_status check_record(const struct drive *d) {
    const struct gsim_trace *trace = &d->setup->trace;
    for (uint32_t i = 0; i < d->replay.n; i++)
        if (d->replay.notes[i].job >= (int64_t)trace->n_jobs ||
            d->replay.notes[i].kind == GSIM_NOTE_COUNT)
            return gsim_fail(d->cli->log, GSIM_BAD_INPUT, d->replay.path, 0,
                             "the run of the database is not one of the %u jobs of %s",
                             trace->n_jobs, d->setup->trace_path);
    return GSIM_OK;
}

/* As many GPUs as the run had, and no driver: a record says what happened. */
static enum gsim_status set_up_replay(struct drive *d, const struct gsim_db_real_found *run) {
    struct gsim_cli *cli = d->cli;
    cli->value[GSIM_OPT_DRY_RUN] = "on";
    enum gsim_status status = read_options(d);
    if (status == GSIM_OK && d->gpus.n == 0)
        status = gsim_gpus_read(run->gpus, &d->gpus, cli->log);
    d->gpus.product = gsim_db_real_product(run);
    if (status == GSIM_OK && d->gpus.product)
        status = gsim_setup_name_device(cli, d->gpus.product);
    if (status == GSIM_OK)
        status = find_gpus(d);
    if (status == GSIM_OK)
        status = gsim_setup_load(cli, run->policy, d->setup);
    d->setup->pauses_in_place = true;
    if (status == GSIM_OK)
        status = number_gpus(d);
    d->executor.sees_durations = status == GSIM_OK && d->setup->contender[0].policy->is_oracle;
    return status == GSIM_OK ? check_record(d) : status;
}

static enum gsim_status replay(struct drive *d) {
    struct gsim_db_real_found run = {0};
    struct gsim_result result;
    struct gsim_model_ops ops = gsim_replay_ops();
    enum gsim_status status = read_record(d, &run);
    if (status == GSIM_OK)
        status = set_up_replay(d, &run);
    if (status != GSIM_OK)
        return status;
    d->executor.replay = &d->replay;
    d->setup->model = &ops;
    d->setup->model_arg = &d->executor;
    d->setup->model_stop = &d->executor.stop;
    status = gsim_run_output_make(d->cli, d->setup, &result);
    if (d->executor.status != GSIM_OK)
        return d->executor.status;
    if (status == GSIM_OK)
        status = gsim_replay_close(&d->executor, &d->setup->trace);
    if (status == GSIM_OK)
        fprintf(d->cli->io->out, "%s: the %u decisions of run %lld are those of the policy again\n",
                run.policy, d->replay.n_decisions, (long long)run.id);
    return status;
}

enum gsim_status gsim_command_drive(struct gsim_cli *cli) {
    struct drive *d = gsim_arena_alloc(cli->arena, sizeof *d);
    struct gsim_setup *setup = d ? gsim_arena_alloc(cli->arena, sizeof *setup) : NULL;
    if (!setup)
        return gsim_no_memory(cli->log, "starting");
    d->cli = cli;
    d->setup = setup;
    if (!cli->value[GSIM_OPT_POLICY] && !cli->value[GSIM_OPT_REPLAY])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which policy? gsim drive --policy NAME trace.csv; 'gsim list policies' "
                         "shows them");
    enum gsim_status status = cli->value[GSIM_OPT_REPLAY] ? replay(d) : run(d);
    gsim_gpus_release(&d->gpus);
    return status;
}
