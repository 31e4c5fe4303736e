/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of slurm.conf, and of `scontrol show config`, which writes them with blanks around '='. A
 * key that changes no schedule is passed over; each other key that is not modelled is noted. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gsim/units.h"
#include "sim/base/units.h"
#include "sim/site/slurm_read.h"

/* Whether the list has the word, such as LIMITS in "associations,limits". */
static bool has(const char *list, const char *word) {
    return gsim_slurm_lists(list, word, strlen(word));
}

/* --- keys with a number or a time ------------------------------------------------------------- */

static const struct {
    const char *key;
    enum gsim_slurm_factor factor;
} weights[] = {{"PriorityWeightAge", GSIM_SLURM_AGE},
               {"PriorityWeightFairshare", GSIM_SLURM_FAIRSHARE},
               {"PriorityWeightJobSize", GSIM_SLURM_SIZE},
               {"PriorityWeightPartition", GSIM_SLURM_PARTITION},
               {"PriorityWeightQOS", GSIM_SLURM_QOS}};

enum { MOST_WEIGHT = 1000000000 };

static void take_whole(struct gsim_slurm_reading *r, const char *key, const char *value,
                       int64_t least, int64_t *out) {
    int64_t number;
    char accepted[64];
    if (gsim_parse_int(value, &number) == GSIM_PARSE_OK && number >= least &&
        number <= MOST_WEIGHT) {
        *out = number;
        return;
    }
    (void)snprintf(accepted, sizeof accepted, "a whole number from %lld to %d", (long long)least,
                   MOST_WEIGHT);
    gsim_slurm_refuse(r, key, value, accepted);
}

static bool take_weight(struct gsim_slurm_reading *r, const char *key, const char *value) {
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (gsim_slurm_is(key, weights[i].key)) {
            take_whole(r, key, value, 0, &r->out->weight[weights[i].factor]);
            return true;
        }
    return false;
}

static bool take_time(struct gsim_slurm_reading *r, const char *key, const char *value) {
    struct gsim_slurm *out = r->out;
    int64_t ns, *place = gsim_slurm_is(key, "PriorityMaxAge")          ? &out->max_age_ns
                         : gsim_slurm_is(key, "PriorityDecayHalfLife") ? &out->half_life_ns
                         : gsim_slurm_is(key, "PriorityCalcPeriod")    ? &out->period_ns
                         : gsim_slurm_is(key, "OverTimeLimit")         ? &out->over_ns
                         : gsim_slurm_is(key, "PreemptExemptTime")     ? &out->exempt_ns
                                                                       : NULL;
    bool may_be_0 =
        place == &out->half_life_ns || place == &out->over_ns || place == &out->exempt_ns;
    char plain[32];
    if (!place)
        return false;
    if (place == &out->exempt_ns && gsim_slurm_is(value, "-1"))
        return true; /* "disables the option, equivalent to setting the value to 0" */
    const char *unit = strstr(value, " min"); /* scontrol show config writes OverTimeLimit so */
    size_t length = unit ? (size_t)(unit - value) : strlen(value);
    (void)snprintf(plain, sizeof plain, "%.*s", (int)length, value);
    if (!gsim_slurm_time(plain, &ns) || (ns == 0 && !may_be_0))
        gsim_slurm_refuse(r, key, value, "a time, such as 7-0 or 60 (minutes)");
    else
        *place = ns < 0 ? GSIM_TIME_MAX : ns;
    if (place == &out->half_life_ns && ns == 0)
        gsim_slurm_note(r, key, value, "usage is never forgotten, and never reset");
    return true;
}

/* --- SchedulerParameters ---------------------------------------------------------------------- */

static const struct {
    const char *name, *assumed;
} parameters[] = {
    {"default_queue_depth", "the main scheduler looks at the whole queue"},
    {"partition_job_depth", "the main scheduler looks at the whole queue"},
    {"sched_interval", "the main scheduler runs at each event, and when priorities are new"},
    {"sched_min_interval", "the main scheduler runs at each event"},
    {"batch_sched_delay", "the main scheduler runs at each event"},
    {"defer", "the main scheduler runs at each event"},
    {"bf_max_time", "a backfill pass is over at once"},
    {"max_rpc_cnt", "schedulers never wait for requests"},
    {"bf_max_job_assoc", "any number of an association"},
    {"bf_max_job_user_part", "any number of a user in a partition"},
    {"bf_busy_nodes", "the fullest node that has room"},
    {"bf_window_linear", "the time at which a job can start is found exactly"},
    {"bf_one_resv_per_job", "a job is planned in each of its partitions"},
};

/* Parameters that change no start here: of what happens while a pass goes on, of requests and of
 * jobs that do not come to run. */
static const char moot_parameters[] =
    "bf_continue,bf_yield_interval,bf_yield_sleep,nohold_on_prolog_fail,enable_user_top,"
    "salloc_wait_nodes,sbatch_wait_nodes,ignore_prefer_validation,kill_invalid_depend,no_env_cache,"
    "validate_mode,step_retry_count,step_retry_time,disable_job_shrink,disable_hetjob_steps,"
    "enable_hetjob_steps,enable_job_state_cache,default_gbytes,inventory_interval,max_depend_depth,"
    "allow_zero_lic,send_user_signal,preempt_send_user_signal,requeue_setup_env_fail,"
    "spec_cores_first,bf_node_space_size,build_queue_timeout,max_script_size,max_submit_line_size,"
    "max_array_tasks,bb_array_stage_cnt,correspond_after_task_cnt";

static void take_count(struct gsim_slurm_reading *r, const char *name, const char *value,
                       int64_t unit, int64_t *out) {
    int64_t number = -1;
    take_whole(r, name, value, unit > 1 ? 1 : 0, &number);
    if (number >= 0)
        *out = number * unit;
}

static bool take_backfill(struct gsim_slurm_reading *r, const char *name, const char *value) {
    struct gsim_slurm *out = r->out;
    const struct {
        const char *name;
        int64_t unit, *place;
    } counts[] = {{"bf_interval", GSIM_NS_PER_S, &out->bf_interval_ns},
                  {"bf_resolution", GSIM_NS_PER_S, &out->bf_resolution_ns},
                  {"bf_window", 60 * GSIM_NS_PER_S, &out->bf_window_ns},
                  {"bf_max_job_test", 1, &out->bf_tests},
                  {"bf_min_age_reserve", GSIM_NS_PER_S, &out->bf_min_age_ns},
                  {"bf_min_prio_reserve", 1, &out->bf_min_priority},
                  {"max_job_bf", 1, &out->bf_tests}, /* its name before Slurm 15.08 */
                  {"bf_max_job_start", 1, &out->bf_starts},
                  {"bf_max_job_user", 1, &out->bf_user_tests},
                  {"bf_max_job_part", 1, &out->bf_part_tests},
                  {"bf_max_job_array_resv", 1, &out->bf_array_plans}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (gsim_slurm_is(name, counts[i].name)) {
            take_count(r, name, value, counts[i].unit, counts[i].place);
            return true;
        }
    return false;
}

/* The order of jobs that give way, which PreemptParameters says; before Slurm 20.02, with
 * "preempt_" in front, SchedulerParameters. */
static bool take_victims(struct gsim_slurm_reading *r, const char *name, const char *value) {
    if (gsim_slurm_is(name, "youngest_first"))
        r->out->youngest_first = true;
    else if (gsim_slurm_is(name, "strict_order"))
        r->out->keeps_victims_order = true;
    else if (gsim_slurm_is(name, "reorder_count"))
        take_count(r, name, value, 1, &r->out->victim_orders);
    else
        return false;
    return true;
}

static void take_preempt_parameter(struct gsim_slurm_reading *r, const char *name,
                                   const char *value) {
    if (!take_victims(r, name, value) && !gsim_slurm_lists(moot_parameters, name, strlen(name)))
        gsim_slurm_note(r, name, value, "the key has no effect");
}

static void take_parameter(struct gsim_slurm_reading *r, const char *name, const char *value) {
    size_t prefix = strlen("preempt_");
    if (gsim_slurm_is(name, "assoc_limit_stop"))
        r->out->stops_at_limits = true;
    else if (strncasecmp(name, "preempt_", prefix) == 0 && take_victims(r, name + prefix, value))
        return;
    else if (!take_backfill(r, name, value) &&
             !gsim_slurm_lists(moot_parameters, name, strlen(name))) {
        for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
            if (gsim_slurm_is(name, parameters[i].name)) {
                gsim_slurm_note(r, name, value, parameters[i].assumed);
                return;
            }
        gsim_slurm_note(r, name, value, "the key has no effect");
    }
}

/* "bf_interval=60,bf_continue": parameters with and without a value. */
static void take_parameters(struct gsim_slurm_reading *r, const char *list,
                            void (*take)(struct gsim_slurm_reading *r, const char *name,
                                         const char *value)) {
    for (const char *at = list; *at && r->status == GSIM_OK; at += strspn(at, ", ")) {
        size_t n = strcspn(at, ", "), name = strcspn(at, "=, ");
        const char *value = name < n ? gsim_slurm_keep(r, at + name + 1, n - name - 1) : "";
        take(r, gsim_slurm_keep(r, at, name), value);
        at += n;
    }
}

/* --- keys with a word ------------------------------------------------------------------------- */

static enum gsim_slurm_preempt mode_of(struct gsim_slurm_reading *r, const char *value) {
    gsim_slurm_note_modes(r, value);
    if (has(value, "REQUEUE"))
        return GSIM_SLURM_PREEMPT_REQUEUE;
    if (has(value, "CANCEL"))
        return GSIM_SLURM_PREEMPT_CANCEL;
    if (!has(value, "SUSPEND"))
        return GSIM_SLURM_PREEMPT_OFF;
    return GSIM_SLURM_PREEMPT_REQUEUE;
}

static void take_flags(struct gsim_slurm_reading *r, const char *value) {
    static const char *const others[] = {
        "ACCRUE_ALWAYS",   "INCR_ONLY",      "SMALL_RELATIVE_TO_TIME",
        "NO_NORMAL_ALL",   "NO_NORMAL_PART", "NO_NORMAL_QOS",
        "NO_NORMAL_ASSOC", "NO_NORMAL_TRES", "MAX_TRES_GRES"};
    bool is_oblivious = has(value, "DEPTH_OBLIVIOUS"); /* "automatically enables NO_FAIR_TREE" */
    r->out->is_fair_tree = !has(value, "NO_FAIR_TREE") && !is_oblivious;
    if (is_oblivious)
        gsim_slurm_note(r, "PriorityFlags", "DEPTH_OBLIVIOUS",
                        "the classic algorithm, in which depth counts");
    r->out->bills_most = has(value, "MAX_TRES");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has(value, others[i]))
            gsim_slurm_note(r, "PriorityFlags", others[i], "the key has no effect");
}

/* "GRES/gpu=1000,cpu=10": only GPUs are looked at. */
static void take_weight_tres(struct gsim_slurm_reading *r, const char *value) {
    bool others;
    int64_t weight;
    if (!gsim_slurm_gpus(value, &weight, &others)) {
        gsim_slurm_refuse(r, "PriorityWeightTRES", value, "a list such as GRES/gpu=1000");
        return;
    }
    r->out->weight[GSIM_SLURM_BY_GPUS] = weight > 0 ? weight : 0;
    if (others)
        gsim_slurm_note(r, "PriorityWeightTRES", value, "weights of anything but GRES/gpu are 0");
}

static void take_preempt_type(struct gsim_slurm_reading *r, const char *value) {
    r->out->preempts_by_qos = gsim_slurm_is(value, "preempt/qos");
    r->out->preempts_by_tier = gsim_slurm_is(value, "preempt/partition_prio");
    if (!r->out->preempts_by_qos && !r->out->preempts_by_tier &&
        !gsim_slurm_is(value, "preempt/none") && !gsim_slurm_is(value, "(null)"))
        gsim_slurm_note(r, "PreemptType", value, "preempt/none");
}

/* CR_Core, CR_CPU_Memory, ...: what jobs use up beside GPUs. */
static void take_select(struct gsim_slurm_reading *r, const char *value) {
    static const char *const others[] = {"CR_PACK_NODES", "CR_LLN", "ENFORCE_BINDING_GRES",
                                         "MULTIPLE_SHARING_GRES_PJ", "ONE_TASK_PER_SHARING_GRES"};
    static const char *const cpus[] = {"CR_CPU",        "CR_CORE",        "CR_SOCKET",
                                       "CR_CPU_MEMORY", "CR_CORE_MEMORY", "CR_SOCKET_MEMORY"};
    r->out->counts_cpus = false;
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        r->out->counts_cpus |= has(value, cpus[i]);
    r->out->counts_memory = has(value, "CR_CPU_MEMORY") || has(value, "CR_CORE_MEMORY") ||
                            has(value, "CR_SOCKET_MEMORY") || has(value, "CR_MEMORY");
    r->out->shares_least_loaded = has(value, "LL_SHARED_GRES");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has(value, others[i]))
            gsim_slurm_note(r, "SelectTypeParameters", others[i], "the key has no effect");
}

static bool take_word(struct gsim_slurm_reading *r, const char *key, const char *value) {
    struct gsim_slurm *out = r->out;
    if (gsim_slurm_is(key, "FairShareDampeningFactor"))
        take_whole(r, key, value, 1, &out->dampening);
    else if (gsim_slurm_is(key, "PriorityType"))
        out->is_multifactor = !gsim_slurm_is(value, "priority/basic");
    else if (gsim_slurm_is(key, "PriorityFavorSmall"))
        out->favors_small = gsim_slurm_is(value, "YES") || gsim_slurm_is(value, "1") ||
                            gsim_slurm_is(value, "TRUE");
    else if (gsim_slurm_is(key, "PriorityFlags"))
        take_flags(r, value);
    else if (gsim_slurm_is(key, "PriorityWeightTRES"))
        take_weight_tres(r, value);
    else if (gsim_slurm_is(key, "SchedulerType"))
        out->backfills = !gsim_slurm_is(value, "sched/builtin");
    else if (gsim_slurm_is(key, "SchedulerParameters"))
        take_parameters(r, value, take_parameter);
    else if (gsim_slurm_is(key, "PreemptParameters"))
        take_parameters(r, value, take_preempt_parameter);
    else if (gsim_slurm_is(key, "AccountingStorageEnforce"))
        out->has_limits = has(value, "limits") || has(value, "safe") || has(value, "all");
    else if (gsim_slurm_is(key, "SelectTypeParameters"))
        take_select(r, value);
    else if (gsim_slurm_is(key, "PreemptType"))
        take_preempt_type(r, value);
    else if (gsim_slurm_is(key, "PreemptMode"))
        out->mode = mode_of(r, value);
    else
        return false;
    return true;
}

/* --- keys that are not modelled --------------------------------------------------------------- */

/* Keys that say where and by what Slurm runs, not which job starts when; a word ends in '*' where
 * any key that begins so is meant. */
static const char *const moot[] = {"AccountingStor*",
                                   "Acct*",
                                   "Auth*",
                                   "BatchStartTimeout",
                                   "Boot*",
                                   "Cache*",
                                   "Checkpoint*",
                                   "ClusterName",
                                   "Cli*",
                                   "CommunicationParameters",
                                   "Configuration*",
                                   "ControlMachine",
                                   "ControlAddr",
                                   "Control*",
                                   "CoreSpecPlugin",
                                   "CpuFreq*",
                                   "Cred*",
                                   "Cryp*",
                                   "Debug*",
                                   "DefaultStorage*",
                                   "DependencyParameters",
                                   "DisableRootJobs",
                                   "Ep*",
                                   "Eio*",
                                   "Ext*",
                                   "EnforcePartLimits", /* the trace's jobs were accepted */
                                   "Fast*",
                                   "First*",
                                   "FrontEnd*",
                                   "GetEnvTimeout",
                                   "GresTypes",
                                   "Group*",
                                   "Gpu*",
                                   "Hash*",
                                   "Health*",
                                   "Inact*",
                                   "Inter*",
                                   "JobAcct*",
                                   "JobComp*",
                                   "JobCred*",
                                   "JobContainer*",
                                   "JobFile*",
                                   "JobSubmit*",
                                   "KeepAliveTime",
                                   "KillOnBadExit",
                                   "KillWait",
                                   "Launch*",
                                   "Log*",
                                   "Mail*",
                                   "MaxArraySize",
                                   "MaxBatchRequeue",
                                   "MaxDBDMsgs",
                                   "MaxJobCount", /* the trace's jobs were accepted */
                                   "MaxJobId",
                                   "MaxNodeCount",
                                   "MaxStep*",
                                   "MaxTasksPerNode",
                                   "MCS*",
                                   "MessageTimeout",
                                   "MinJobAge",
                                   "Mpi*",
                                   "Msg*",
                                   "Multiple*",
                                   "NEXT_JOB_ID",
                                   "Node*",
                                   "Plug*",
                                   "Power*",
                                   "Prep*",
                                   "Private*",
                                   "Proctrack*",
                                   "Prolog*",
                                   "Epilog*",
                                   "Propagate*",
                                   "Reb*",
                                   "Requeue*",
                                   "Resume*",
                                   "ResvEpilog",
                                   "ResvProlog",
                                   "Return*",
                                   "Route*",
                                   "SbcastParameters",
                                   "ScronParameters",
                                   "SchedulerPort",
                                   "SchedulerRootFilter",
                                   "Sl*",
                                   "SLURM*",
                                   "Srun*",
                                   "State*",
                                   "SuspendExc*",
                                   "SuspendProgram",
                                   "SuspendRate",
                                   "SuspendTimeout",
                                   "Switch*",
                                   "Task*",
                                   "Tcp*",
                                   "Tls*",
                                   "Tmp*",
                                   "Track*",
                                   "Tree*",
                                   "Unk*",
                                   "UsePam",
                                   "UnkillableStep*",
                                   "VSize*",
                                   "Wait*",
                                   "X11*",
                                   "PrEp*",
                                   "TopologyParam",
                                   "Fed*",
                                   "Backup*",
                                   "SchedulerTimeSlice",
                                   "Cgroup*",
                                   "Get*",
                                   "MemLimit*"};

static bool is_moot(const char *key) {
    for (size_t i = 0; i < sizeof moot / sizeof *moot; i++) {
        size_t n = strcspn(moot[i], "*");
        if (strncasecmp(key, moot[i], n) == 0 && (moot[i][n] == '*' || key[n] == '\0'))
            return true;
    }
    return false;
}

static const char as_logged[] = "a job has the CPUs and the memory that the trace gives it";

/* usual: the value that the assumption stands for; NULL: none but those of is_unset. */
static const struct {
    const char *key, *assumed, *usual;
} unmodelled[] = {
    {"Include", "the lines of that file are missing here", NULL},
    {"TopologyPlugin", "any nodes are equally near to each other", NULL},
    {"PriorityWeightAssoc", "0", NULL},
    {"PrioritySiteFactorPlugin", "no site factor", NULL},
    {"PriorityUsageResetPeriod", "usage is never reset", NULL},
    {"JobRequeue", "a job that gives way ends, as if none had asked for --requeue", "1"},
    {"Licenses", "licenses never lack", NULL},
    {"SuspendTime", "nodes are never powered down", "-1"},
    {"MaxMemPerCPU", as_logged, NULL},
    {"MaxMemPerNode", as_logged, NULL},
    {"DefMemPerCPU", as_logged, NULL},
    {"DefMemPerNode", as_logged, NULL},
    {"JobSizeFactor", "the key has no effect", NULL},
    {"SelectType", "select/cons_tres: jobs share nodes by their GPUs, CPUs and memory",
     "select/cons_tres"},
    {"DefMemPerGPU", as_logged, NULL},
    {"DefCpuPerGPU", as_logged, NULL},
    {"GraceTime", "0", NULL},
};

/* `scontrol show config` writes keys that are not set, too. */
static bool is_unset(const char *value) {
    static const char *const words[] = {
        "",        "(null)", "NONE", "N/A", "0", "NO", "none", "topology/flat", "topology/default",
        "00:00:00"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (gsim_slurm_is(value, words[i]))
            return true;
    return false;
}

static void note_key(struct gsim_slurm_reading *r, const char *key, const char *value) {
    const char *assumed = "gsim does not know the key, which has no effect", *usual = NULL;
    for (size_t i = 0; i < sizeof unmodelled / sizeof *unmodelled; i++)
        if (gsim_slurm_is(key, unmodelled[i].key)) {
            assumed = unmodelled[i].assumed;
            usual = unmodelled[i].usual;
        }
    if (usual ? !gsim_slurm_is(value, usual)
              : !is_unset(value) && !gsim_slurm_is(value, "UNLIMITED"))
        gsim_slurm_note(r, key, value, assumed);
}

/* Before Slurm 20.02 nodes were shared by select/cons_res, as they are by select/cons_tres. */
static bool shares_nodes(const char *key, const char *value) {
    return gsim_slurm_is(key, "SelectType") && gsim_slurm_is(value, "select/cons_res");
}

void gsim_slurm_take_key(struct gsim_slurm_reading *r, const char *key, const char *value) {
    r->out->has_conf = true;
    if (is_unset(value) && !gsim_slurm_is(key, "PriorityDecayHalfLife") &&
        !gsim_slurm_is(key, "JobRequeue"))
        return;
    if (gsim_slurm_is(key, "ClusterName"))
        r->cluster = value;
    if (gsim_slurm_is(key, "JobRequeue"))
        r->is_requeued = gsim_slurm_is(value, "1");
    if (!take_word(r, key, value) && !take_weight(r, key, value) && !take_time(r, key, value) &&
        !is_moot(key) && !shares_nodes(key, value))
        note_key(r, key, value);
}
