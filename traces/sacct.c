/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's accounting, as `sacct --parsable2` writes it: fields separated by '|', a header. GPUs
 * are those allocated (AllocTRES: gres/gpu=4); a job's time is ElapsedRaw or Elapsed, the virtual
 * cluster its account; memory of hosts is what was allocated (mem=64G). Jobs that failed, timed
 * out or were cancelled while they ran are kept: they held their GPUs. Start, End and NodeList are
 * kept as what the log's scheduler did. GPU memory is in steps, where Slurm tracks gres/gpumem
 * ('gsim import --help' names other sources of it). */
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "sim/base/calendar.h"
#include "traces/cells.h"
#include "traces/mapped.h"
#include "traces/format.h"
#include "traces/sacct_wishes.h"

static const char is_step[] = "they are steps; their job has a row of its own (sacct -X)";
static const char is_memory_step[] =
    "they are steps, which gave their job its GPU memory (gres/gpumem)";
static const char is_idle_step[] =
    "they are steps, which gave their job its GPU memory (gres/gpumem), and no sample of them saw "
    "work on its GPUs (gres/gpuutil=0)";

static const char is_elsewhere[] =
    "they are of another cluster than the first row (column Cluster), and a trace is of one: "
    "sacct --clusters=NAME writes that of one";

#define NO_TIMES "|Unknown|None|None assigned|N/A|INVALID"

static bool is_nothing(const char *text) {
    return gsim_text_choice(text, NO_TIMES) >= 0;
}

static bool take_job(struct gsim_builder *builder, const char *text, size_t length) {
    if (strchr(text, '.'))
        builder->row.drop = is_step;
    return gsim_take_id(builder, text, length);
}

/* A database of accounting may be of several clusters, each of which counts its jobs from 1. */
static bool take_cluster(struct gsim_builder *builder, const char *text, size_t length) {
    if (length > 0 && !builder->site_cluster)
        builder->site_cluster = gsim_arena_strdup(builder->arena, text);
    bool is_here = length == 0 || (builder->site_cluster && !strcmp(builder->site_cluster, text));
    builder->row.extra[GSIM_SACCT_IS_ELSEWHERE] = !is_here;
    return length == 0 || builder->site_cluster;
}

/* JobID calls the tasks of an array 7_1, 7_2, and the parts of a heterogeneous job 7+0, 7+1;
 * JobIDRaw wins where both are there. */
static bool take_shown_job(struct gsim_builder *builder, const char *text, size_t length) {
    return gsim_sacct_take_shown_id(builder, text, length) &&
           ((builder->row.id_length > 0 && length > 0) || take_job(builder, text, length));
}

/* A local time, or one with its zone (SLURM_TIME_FORMAT=%FT%T%z: +0200), which is a time of UTC. */
static bool parse_zoned(const char *text, size_t length, int64_t *seconds, bool *has_zone) {
    enum { DATE = 19, ZONE = 5, HOUR_S = 3600, MINUTE_S = 60 };
    const char *zone = length == DATE + ZONE ? text + DATE : "";
    int64_t digits;
    *has_zone = (*zone == '+' || *zone == '-') && strspn(zone + 1, "0123456789") == ZONE - 1 &&
                gsim_parse_decimal(zone + 1, ZONE - 1, 1, &digits) == GSIM_PARSE_OK;
    if (!gsim_calendar_parse(text, *has_zone ? DATE : length, seconds))
        return false;
    if (*has_zone)
        *seconds -= (digits / 100 * HOUR_S + digits % 100 * MINUTE_S) * (*zone == '+' ? 1 : -1);
    return true;
}

/* A date, or seconds since 1970 (SLURM_TIME_FORMAT=%s). Slurm writes a time that it did not
 * record as 0, which is New Year of 1970 on clocks east of Greenwich (1969 is no time here). */
static bool take_submit(struct gsim_builder *builder, const char *text, size_t length) {
    const int64_t day_s = 86400;
    int64_t seconds;
    bool has_zone, is_date = parse_zoned(text, length, &seconds, &has_zone);
    if (is_date && seconds <= day_s) {
        builder->row.drop = "Slurm did not record when they were submitted (Submit is its time 0, "
                            "1970-01-01)";
        return true;
    }
    if (is_date)
        builder->row.submit_ns = seconds * GSIM_NS_PER_S;
    return is_date || gsim_take_submit(builder, text, length);
}

static bool take_moment(const char *text, size_t length, int64_t *seconds) {
    int64_t ns = -1;
    bool has_zone;
    if (is_nothing(text) || parse_zoned(text, length, seconds, &has_zone))
        return true;
    bool is_ok =
        gsim_cell_seconds(text, length, &ns) == GSIM_PARSE_OK && ns >= 0 && ns <= GSIM_TIME_MAX / 2;
    *seconds = ns / GSIM_NS_PER_S;
    return is_ok;
}

static bool take_start(struct gsim_builder *builder, const char *text, size_t length) {
    bool has_zone;
    builder->is_zoneless |=
        parse_zoned(text, length, &builder->row.ran_from_s, &has_zone) && !has_zone;
    return take_moment(text, length, &builder->row.ran_from_s);
}

static bool take_end(struct gsim_builder *builder, const char *text, size_t length) {
    return take_moment(text, length, &builder->row.ran_to_s);
}

static bool take_eligible(struct gsim_builder *builder, const char *text, size_t length) {
    return take_moment(text, length, &builder->row.extra[GSIM_SACCT_ELIGIBLE_S]);
}

static bool take_tasks(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *tasks = &builder->row.extra[GSIM_SACCT_TASKS];
    return length == 0 || (gsim_parse_int(text, tasks) == GSIM_PARSE_OK && *tasks >= 0);
}

static bool take_nodes(struct gsim_builder *builder, const char *text, size_t length) {
    memcpy(builder->row.nodes, is_nothing(text) ? "" : text, is_nothing(text) ? 1 : length + 1);
    return true;
}

/* Parses [days-]hours:minutes:seconds, or minutes:seconds with decimals cut off. */
static bool parse_elapsed(const char *text, int64_t *out_ns) {
    const int64_t most = GSIM_TIME_MAX / 2 / GSIM_NS_PER_S;
    int64_t part, days = 0, seconds = 0;
    if (strchr(text, '-')) {
        if (!gsim_sacct_take_number(&text, most / 86400 - 1, &days) || *text++ != '-')
            return false;
    }
    for (int i = 0; i < 3; i++) {
        if (!gsim_sacct_take_number(&text, i == 0 ? most / 3600 - 1 : 59, &part))
            return false;
        seconds = seconds * 60 + part;
        if (*text != ':')
            break;
        text++;
    }
    *out_ns = (days * 86400 + seconds) * GSIM_NS_PER_S;
    return *text == '\0' && *out_ns <= GSIM_TIME_MAX / 2;
}

static bool take_elapsed(struct gsim_builder *builder, const char *text, size_t length) {
    (void)length;
    return is_nothing(text) || parse_elapsed(text, &builder->row.service_ns);
}

static bool take_elapsed_raw(struct gsim_builder *builder, const char *text, size_t length) {
    return is_nothing(text) || gsim_take_duration(builder, text, length);
}

static bool has_no_limit(const char *text) {
    return is_nothing(text) || gsim_text_choice(text, "UNLIMITED|Partition_Limit") >= 0;
}

static bool take_limit(struct gsim_builder *builder, const char *text, size_t length) {
    (void)length;
    return has_no_limit(text) || parse_elapsed(text, &builder->row.cell[GSIM_COL_LIMIT_NS]);
}

static bool take_limit_raw(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *limit = &builder->row.cell[GSIM_COL_LIMIT_NS];
    return has_no_limit(text) ||
           (gsim_parse_decimal(text, length, 60 * GSIM_NS_PER_S, limit) == GSIM_PARSE_OK &&
            *limit >= 0);
}

/* Reads "CANCELLED by 1000" as CANCELLED. A row that is RESIZING is the part of a job before its
 * size was changed, with an end; the next row of its id is the part behind that. */
static bool take_state(struct gsim_builder *builder, const char *text, size_t length) {
    char word[32] = "";
    size_t n = strcspn(text, " +");
    memcpy(word, text, n < sizeof word ? n : sizeof word - 1);
    if (gsim_text_choice(word, "RUNNING|SUSPENDED|COMPLETING|CONFIGURING") >= 0)
        builder->row.extra[GSIM_SACCT_IS_RUNNING] = 1;
    else if (gsim_text_choice(word, "PENDING|REVOKED") >= 0)
        builder->row.drop = "they had not started";
    return length > 0;
}

/* GPUs of a task of the step; 0: not known. */
static int64_t gpus_of_task(const struct gsim_builder *b, uint32_t job) {
    const struct gsim_row *row = &b->row;
    int64_t gpus = row->extra[GSIM_SACCT_GPUS] > 0 ? row->extra[GSIM_SACCT_GPUS] : b->gpus[job];
    if (gpus == 1 || row->extra[GSIM_SACCT_TASKS] <= 0)
        return gpus == 1;
    return (gpus + row->extra[GSIM_SACCT_TASKS] - 1) / row->extra[GSIM_SACCT_TASKS];
}

/* A step follows its job, and says how much GPU memory the job had. */
static void look_at_step(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    size_t length = strcspn(row->id, ".");
    uint32_t job = builder->n - 1;
    if (row->drop != is_step || row->extra[GSIM_SACCT_STEP_MEM] <= 0 || builder->n == 0)
        return;
    const char *id = builder->id_text + builder->id_at[job];
    if (strlen(id) != length || strncmp(id, row->id, length) != 0)
        return; /* its job was left out */
    int64_t gpus = gpus_of_task(builder, job);
    if (gpus == 0) {
        row->drop =
            "they are steps with GPU memory (gres/gpumem) of several GPUs, which the column "
            "NTasks would divide";
        return;
    }
    row->drop = row->extra[GSIM_SACCT_STEP_USE] == 0 ? is_idle_step : is_memory_step;
    int64_t bytes = (row->extra[GSIM_SACCT_STEP_MEM] + gpus - 1) / gpus;
    int64_t *mem = &builder->column[GSIM_COL_MEM_BYTES][job];
    *mem = builder->measured_job == builder->n && *mem > bytes ? *mem : bytes;
    builder->measured_job = builder->n;
    builder->is_used[GSIM_COL_MEM_BYTES] = true;
}

/* Slurm's elapsed time is End - Start less suspensions. An hour exactly is summer time, as a rule:
 * the end is then put on the clock of the start. GPUs of a suspended job "do not become available
 * for use by other jobs" (slurm.schedmd.com/gres.html). */
static void look_at_clock(struct gsim_row *row) {
    enum { HOUR_S = 3600 };
    int64_t elapsed_s = row->service_ns / GSIM_NS_PER_S;
    int64_t more_s = row->ran_to_s - row->ran_from_s - elapsed_s;
    if (row->ran_from_s < 0 || row->ran_to_s < 0 || elapsed_s <= 0)
        return;
    if (more_s == HOUR_S || more_s == -HOUR_S) {
        row->ran_to_s = row->ran_from_s + elapsed_s;
        row->loss = "their End is an hour off Start and the elapsed time: clocks were put forward "
                    "or back (summer time), so that waits around that hour are an hour off, or "
                    "the job was suspended for an hour (with SLURM_TIME_FORMAT=%s sacct writes "
                    "seconds, which have no summer time)";
    } else if (more_s > 1) {
        row->loss = "they were suspended (End - Start is longer than the elapsed time): Slurm does "
                    "not give their GPUs to other jobs meanwhile, and here they hold them for the "
                    "elapsed time alone";
    } else if (more_s < -1) {
        row->loss = "their elapsed time is longer than End - Start: jobs hold their GPUs for the "
                    "elapsed time, and their ends in the log are not kept";
        row->ran_to_s = -1;
    }
}

/* A job that ran and has an empty AllocTRES is known by what it asked for. */
static const char *why_no_gpu(const struct gsim_row *row) {
    return row->extra[GSIM_SACCT_HAS_ASKED] > 0
               ? "they ran and asked for GPUs (gres/gpu in ReqTRES), and AllocTRES names none: "
                 "what they held is not known"
               : "they had no GPU (no gres/gpu in AllocTRES)";
}

/* A job that still runs holds its GPUs: left out, the long jobs of a log would be missing from it,
 * and the cluster emptier than it was. One past its limit is the record of a job that is gone.
 * Without Start it could not be told from a row of a later log that has its end. */
static void look_at_running(struct gsim_row *row) {
    int64_t limit_ns = row->cell[GSIM_COL_LIMIT_NS];
    if (row->extra[GSIM_SACCT_IS_RUNNING] <= 0 || row->service_ns < 0)
        return;
    if (row->ran_from_s < 0)
        row->drop = "they had not ended yet (with the column Start they would be jobs that run for "
                    "as long as they had run)";
    else if (row->service_ns == 0)
        row->drop = "they had begun in the second in which the log was written";
    else if (limit_ns >= 0 && row->service_ns > limit_ns)
        row->drop = "they had not ended yet though they were past their time limit: records of "
                    "jobs that are gone ('sacctmgr show runawayjobs' lists them), or OverTimeLimit";
    else
        row->loss = "they had not ended yet: here they run for as long as they had run when the "
                    "log was written";
    if (row->ran_from_s >= 0)
        row->ran_to_s = row->ran_from_s + row->service_ns / GSIM_NS_PER_S;
}

static void finish_job(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    look_at_running(row);
    look_at_clock(row);
    if (row->id_length == 0)
        row->wrong = "no job id: the columns JobIDRaw or JobID have it";
    else if (row->service_ns < 0)
        row->wrong = "no time: the columns ElapsedRaw or Elapsed have it";
    else if (row->service_ns == 0 && !row->drop)
        row->drop = "they ended before they ran (no elapsed time)";
    else if (row->extra[GSIM_SACCT_GPUS] <= 0)
        row->drop = why_no_gpu(row);
    else
        row->gpus = (uint32_t)row->extra[GSIM_SACCT_GPUS];
    gsim_sacct_choose_nodes(builder);
    gsim_sacct_arrive(builder);
    gsim_sacct_join_parts(builder);
}

/* The end of each row, of a job or of a step: those of the first row's cluster are looked at. */
static void finish_row(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    if (row->extra[GSIM_SACCT_IS_ELSEWHERE] > 0)
        row->drop = is_elsewhere;
    else if (row->drop)
        look_at_step(builder);
    else
        finish_job(builder);
    row->is_beside = row->drop && row->ran_from_s >= 0 && row->part_of < 0 &&
                     !memchr(row->id, '.', row->id_length) &&
                     row->extra[GSIM_SACCT_IS_ELSEWHERE] <= 0 &&
                     (row->extra[GSIM_SACCT_GPUS] > 0 || row->extra[GSIM_SACCT_HAS_ASKED] > 0);
}

static const char time_form[] = "a time such as 2024-05-31T12:00:00, or seconds since 1970 "
                                "(SLURM_TIME_FORMAT=standard, or %s)";
static const char elapsed_form[] = "a time such as 1-02:30:00";
static const struct gsim_mapping mappings[] = {
    {"JobIDRaw", false, "an id", take_job, -1},
    {"JobID", false, "an id", take_shown_job, GSIM_COL_ARRAY},
    {"Cluster", false, "a name", take_cluster, -1},
    {"Submit", true, time_form, take_submit, -1},
    {"Eligible", false, time_form, take_eligible, -1},
    {"Start", false, time_form, take_start, GSIM_COL_LOGGED_START_NS},
    {"End", false, time_form, take_end, GSIM_COL_LOGGED_END_NS},
    {"NodeList", false, "a list of nodes", take_nodes, GSIM_COL_LOGGED_NODES},
    {"NTasks", false, "a number of tasks", take_tasks, -1},
    {"TRESUsageInMax", false, "a list such as cpu=00:01:00,gres/gpumem=40777023488",
     gsim_sacct_take_usage, GSIM_COL_MEM_BYTES},
    {"State", true, "a state", take_state, -1},
    {"AllocTRES", true, "a list such as cpu=8,gres/gpu=4", gsim_sacct_take_tres,
     GSIM_COL_HOST_MEM_BYTES},
    {"AllocTRES", false, NULL, NULL, GSIM_COL_SHARE_PPM},
    {"AllocTRES", false, NULL, NULL, GSIM_COL_NUM_NODES},
    {"AllocTRES", false, NULL, NULL, GSIM_COL_BILLING_MILLI},
    {"NNodes", false, "a number of nodes", gsim_sacct_take_nodes_had, -1},
    {"AllocNodes", false, "a number of nodes", gsim_sacct_take_nodes_had, -1},
    {"ReqNodes", false, "a number of nodes", gsim_sacct_take_nodes_asked, -1},
    {"ReqTRES", false, "a list such as cpu=8,gres/gpu:a100=4", gsim_sacct_take_request,
     GSIM_COL_GPU_TYPE},
    {"Partition", false, "a name", NULL, GSIM_COL_PARTITION},
    {"ElapsedRaw", false, GSIM_FORM_SECONDS, take_elapsed_raw, -1},
    {"Elapsed", false, elapsed_form, take_elapsed, -1},
    {"TimelimitRaw", false, "a time in minutes", take_limit_raw, GSIM_COL_LIMIT_NS},
    {"Timelimit", false, elapsed_form, take_limit, GSIM_COL_LIMIT_NS},
    {"AllocCPUS", false, "a number of CPUs", NULL, GSIM_COL_CPUS_MILLI},
    {"Constraints", false, "features", gsim_sacct_take_constraints, GSIM_COL_FEATURES},
    {"SubmitLine", false, "a command line", gsim_sacct_take_submit_line, GSIM_COL_FEATURES},
    {"SubmitLine", false, NULL, NULL, GSIM_COL_ARRAY_LIMIT},
    {"SubmitLine", false, NULL, NULL, GSIM_COL_AFTER},
    {"SubmitLine", false, NULL, NULL, GSIM_COL_AFTER_BEGIN},
    {"SubmitLine", false, NULL, NULL, GSIM_COL_THINK_NS},
    {"JobName", false, "a name", gsim_sacct_take_name, -1},
    {"User", false, "a name", NULL, GSIM_COL_USER},
    {"Account", false, "a name", NULL, GSIM_COL_VC},
    {"QOS", false, "a name", NULL, GSIM_COL_QOS},
    {"Priority", false, "a whole number", NULL, GSIM_COL_LOGGED_PRIORITY},
    {0},
};

/* What stands in columns between texts by users, which tells where such a text ends that has the
 * separator in it. Other columns may have any text. */
static const struct {
    const char *columns, *characters, *words;
} looks[] = {
    {"Submit|Eligible|Start|End", "0123456789-+:T", NO_TIMES},
    {"ElapsedRaw|AllocCPUS|NTasks|NNodes|AllocNodes|ReqNodes|Priority|NCPUS|ReqCPUS|CPUTimeRAW|UID|"
     "GID|AssocID|DBIndex|QOSRAW",
     "0123456789", ""},
    {"TimelimitRaw", "0123456789", "UNLIMITED|Partition_Limit"},
    {"Elapsed|Timelimit|Suspended|Planned|Reserved|CPUTime|TotalCPU|UserCPU|SystemCPU",
     "0123456789-:.", "UNLIMITED|Partition_Limit|INVALID"},
    {"ExitCode|DerivedExitCode", "0123456789:", ""},
    {"State", "ABCDEFGHIJKLMNOPQRSTUVWXYZ_+ by0123456789", ""}, /* CANCELLED by 1000 */
};

/* The first word of SubmitLine is the command, sometimes with its folder. */
static bool is_submit_line(const char *text) {
    size_t length = strcspn(text, " ");
    const char *name = text + length;
    while (name > text && name[-1] != '/')
        name--;
    length -= (size_t)(name - text);
    return *text == '\0' ||
           (length == 6 && (memcmp(name, "sbatch", 6) == 0 || memcmp(name, "salloc", 6) == 0)) ||
           (length == 4 && memcmp(name, "srun", 4) == 0);
}

static bool fits(const char *column, const char *text) {
    if (strcmp(column, "SubmitLine") == 0)
        return is_submit_line(text);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (gsim_text_choice(column, looks[i].columns) >= 0)
            return text[strspn(text, looks[i].characters)] == '\0' ||
                   gsim_text_choice(text, looks[i].words) >= 0;
    return true;
}

static const struct gsim_lines_form lines = {
    .separator = '|',
    .fits = fits,
    .free_texts =
        "JobName|Comment|AdminComment|SystemComment|SubmitLine|Constraints|WorkDir|Reason"};

static const char *why_absent(const char *first_name, uint32_t n_names) {
    if (*first_name == '{')
        return ": it is JSON (sacct --json), which is not read; sacct --parsable2 (-P) writes what "
               "is";
    if (n_names == 1)
        return ": nothing in its first line is parted by '|', which sacct writes with --parsable2 "
               "(-P)";
    if (first_name[strspn(first_name, "0123456789")] == '\0')
        return ": its first line is no header, which sacct leaves out with --noheader (-n)";
    return "; sacct --format=... takes it in ('gsim import --help' has the command)";
}

/* sacct --truncate puts the time from which it lists jobs in the place of earlier starts, and
 * elapsed times and ends accordingly: such jobs seem to have waited until then. Jobs that were
 * submitted at several times and all began in the first instant of a log look so. */
static void look_at_truncation(const struct gsim_trace *trace, struct gsim_log *log) {
    enum { FEW = 4 };
    const int64_t *start_ns = trace->column[GSIM_COL_LOGGED_START_NS];
    int64_t first_ns = INT64_MAX, last_submit_ns = -1;
    uint32_t n = 0;
    for (uint32_t job = 0; start_ns && job < trace->n_jobs; job++)
        if (start_ns[job] >= 0 && start_ns[job] < first_ns)
            first_ns = start_ns[job];
    for (uint32_t job = 0; start_ns && job < trace->n_jobs; job++) {
        bool is_cut = start_ns[job] == first_ns && trace->submit_ns[job] < first_ns &&
                      trace->submit_ns[job] != last_submit_ns;
        n += is_cut;
        last_submit_ns = is_cut ? trace->submit_ns[job] : last_submit_ns;
    }
    if (n >= FEW)
        gsim_warn(
            log, trace->path, 0,
            "%u jobs, submitted at several times, all began in the log's first instant: sacct "
            "--truncate writes so of jobs that ran before the time from which it lists, so "
            "that they seem to have waited until then and to be shorter; without that option "
            "it has their own times",
            n);
}

static enum gsim_status read_sacct(struct gsim_input *input,
                                   const struct gsim_trace_options *options,
                                   struct gsim_arena *arena, struct gsim_trace *out,
                                   struct gsim_log *log) {
    static const struct gsim_mapped_form form = {.name = "sacct",
                                                 .mappings = mappings,
                                                 .finish_row = finish_row,
                                                 .lines = &lines,
                                                 .look_at_dropped = finish_row,
                                                 .why_absent = why_absent,
                                                 .is_absolute = true,
                                                 .has_runs = true};
    enum gsim_status status = gsim_mapped_read(input, &form, options, arena, out, log);
    if (status == GSIM_OK)
        look_at_truncation(out, log);
    return status;
}

/* A header that lacks a column, or that is of fixed width, is sacct's as well, so that its error is
 * of sacct. */
static int sniff_sacct(const char *header) {
    bool is_whole = strstr(header, "|") && strstr(header, "Submit");
    if (!strstr(header, "JobID"))
        return 0;
    return is_whole ? 2 : strstr(header, "State") && !strchr(header, ',');
}

const struct gsim_trace_format gsim_format_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: sacct --parsable2 ('gsim import --help' has the command)",
    .source = "slurm.schedmd.com/sacct.html",
    .notes =
        "on a node of the cluster, run\n"
        "  sacct --allusers --duplicates --parsable2 --starttime 2024-01-01 --endtime now \\\n"
        "    --format JobIDRaw,JobID,User,Account,State,Submit,Eligible,Start,End,ElapsedRaw,"
        "TimelimitRaw,ReqTRES,AllocTRES,AllocCPUS,Partition,QOS,Priority,NTasks,TRESUsageInMax,"
        "NodeList,SubmitLine "
        ">jobs.txt\n"
        "  gsim import sacct jobs.txt -o trace.csv\n"
        "Steps follow their job; where Slurm tracks GPU memory (AccountingStorageTRES has "
        "gres/gpumem), their TRESUsageInMax has the most that a task had on its GPUs, and becomes "
        "mem_gib. gres/gpuutil there is the largest sample, and no field has the mean over time, "
        "so it becomes no column; steps without work in any sample are counted apart. "
        "--allocations leaves the steps out, which is a tenth of the file.\n"
        "A job that was requeued has a row for each run (--duplicates): the second is ID#2.\n"
        "Without gpumem, GPU memory comes from --assume mem_gib=20GiB, or from measurements,\n"
        "  gsim import sacct jobs.txt --gpu-mem usage.csv -o trace.csv\n"
        "where usage.csv has job_id (or hostname and timestamp) and the memory of one GPU: on "
        "each node, for example,\n"
        "  nvidia-smi --query-gpu=timestamp,index,memory.used --format=csv --loop=60\n"
        "with a column hostname put before it, DCGM's DCGM_FI_DEV_FB_USED, or the answer of "
        "Prometheus,\n"
        "  curl 'http://prometheus:9090/api/v1/query_range?query=DCGM_FI_DEV_FB_USED"
        "&start=...&end=...&step=60' >usage.json\n"
        "whose times are seconds since 1970: run sacct with SLURM_TIME_FORMAT=%s then.\n",
    .sniff = sniff_sacct,
    .read = read_sacct,
};
