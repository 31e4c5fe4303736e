/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a log has for gsim advise: the columns that it lacks, and the policies that can use it. */
#include "sim/app/compare/advise.h"
#include "sim/app/setup/cluster_file.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/log_from.h"

#include <string.h>

/* --- what the log has ------------------------------------------------------------------------- */

struct wish {
    enum gsim_column column, other; /* either will do */
    const char *name, *without;
};

static const struct wish wishes[] = {
    {GSIM_COL_LOGGED_START_NS, GSIM_COL_LOGGED_START_NS, "starts as logged",
     "no policy can be held against what happened, so the first one stands for today's"},
    {GSIM_COL_LIMIT_NS, GSIM_COL_LIMIT_NS, "limit_s",
     "backfill plans by true durations, which no scheduler knows"},
    {GSIM_COL_USER, GSIM_COL_VC, "user or vc",
     "fair share is not tried, and the gain or loss of users is not known"},
    {GSIM_COL_MEM_BYTES, GSIM_COL_MEM_BYTES, "mem_gib",
     "sharing GPUs is not tried: give it with --gpu-mem, --by-model or --assume mem_gib=SIZE"},
    {GSIM_COL_ITERATIONS, GSIM_COL_APP, "iterations with gpu_ms, or app",
     "jobs are taken to compute all the time that they hold a GPU, so sharing gains little"},
    {GSIM_COL_PARTITION, GSIM_COL_PARTITION, "partition",
     "every job may run on every node, whatever the site's partitions"},
};
enum { N_WISHES = sizeof wishes / sizeof *wishes };

bool gsim_advise_has(const struct gsim_trace *trace, enum gsim_column column) {
    return trace->column[column] != NULL;
}

/* Whether nodes differ by partition or type, and jobs ask for one. */
static bool has_sets(const struct gsim_setup *setup) {
    bool has_partitions = false, has_types = false;
    for (uint32_t g = 0; g < setup->cluster.n_groups; g++) {
        const struct gsim_node_group *group = &setup->cluster.groups[g];
        has_partitions |= group->partitions != NULL;
        has_types |= group->gpu_type != NULL || group->device != setup->cluster.groups[0].device;
    }
    return (has_partitions && gsim_advise_has(&setup->trace, GSIM_COL_PARTITION)) ||
           (has_types && gsim_advise_has(&setup->trace, GSIM_COL_GPU_TYPE));
}

/* Nodes that neither an option nor a file says: a page without that sentence passes for one of the
 * site's cluster. */
static void say_guess(struct gsim_advice *advice, const struct gsim_setup *setup) {
    if (setup->is_cluster_guessed)
        gsim_advice_add(advice,
                        "Missing: how many GPUs there are. The cluster is a guess: %s; waits, "
                        "loads and all that follows hang on it (--gpus-per-node and --nodes, "
                        "--cluster, or a --slurm-conf that lists nodes with GPUs).",
                        setup->cluster_note);
}

/* What the log has of the time before its first end is cut off, unless the user says where it
 * begins: such a cluster would be emptier than it was. */
static void say_begin(struct gsim_advice *advice, const struct gsim_trace *trace) {
    const size_t length = sizeof GSIM_LOG_FROM_NOTE - 1;
    for (const char *const *note = trace->assumed; note && *note; note++) {
        int64_t ns;
        char after[40] = "";
        if (strncmp(*note, GSIM_LOG_FROM_NOTE, length) != 0)
            continue;
        (void)snprintf(after, sizeof after, "%.*s", (int)strcspn(*note + length, " "),
                       *note + length);
        if (gsim_parse_time(after, GSIM_NS_PER_S, &ns) != GSIM_PARSE_OK)
            continue;
        (void)gsim_format_humane(after, (double)ns / 1e9);
        gsim_advice_add(advice,
                        "The log begins here %s after its first submission: of the time before, it "
                        "has but the jobs that had not ended by then, which arrive then with the "
                        "rest of their time (--log-from 0s keeps that time, in which the cluster "
                        "is emptier than it was).",
                        after);
    }
}

void gsim_advise_missing(struct gsim_advice *advice, const struct gsim_cli *cli,
                         const struct gsim_setup *setup) {
    const struct gsim_trace *trace = &setup->trace;
    const char *types = gsim_cluster_say_types(cli, &setup->cluster);
    bool is_less = trace->dropped && *trace->dropped, is_apart = has_sets(setup);
    gsim_advice_add(advice, "%s: %u job%s%s%s.", trace->path, trace->n_jobs,
                    gsim_plural(trace->n_jobs), is_less ? "; left out: " : "",
                    is_less ? trace->dropped : "");
    say_begin(advice, trace);
    say_guess(advice, setup);
    if (types)
        gsim_advice_add(advice, "Missing: devices. %s.", types);
    for (int i = 0; i < N_WISHES; i++) {
        bool is_of_sharing = wishes[i].column == GSIM_COL_MEM_BYTES;
        if (!gsim_advise_has(trace, wishes[i].column) && !gsim_advise_has(trace, wishes[i].other) &&
            !(is_of_sharing && is_apart))
            gsim_advice_add(advice, "Missing: %s. Without it %s.", wishes[i].name,
                            wishes[i].without);
    }
    if (is_apart)
        gsim_advice_add(advice,
                        "Sharing GPUs is not tried: jobs and nodes have partitions or types of "
                        "GPU, which policies that share GPUs do not keep apart. They run inside a "
                        "partition (key policy of a node in --cluster FILE.ini).");
}

/* --- which policies --------------------------------------------------------------------------- */

/* What a policy needs besides a trace of durations; in the order in which they are tried. */
struct candidate {
    const char *name;
    bool needs_owner, needs_memory, needs_mig;
    enum gsim_option conf; /* the file that it needs; 0: none */
    const char *set;
};

static const struct candidate candidates[] = {
    {.name = "slurm", .conf = GSIM_OPT_SLURM_CONF},
    {.name = "kueue", .conf = GSIM_OPT_KUEUE_CONF},
    {.name = "fifo"},
    {.name = "backfill"},
    {.name = "easy-backfill"},
    {.name = "fairshare", .needs_owner = true},
    {.name = "las"},
    {.name = "tiresias"},
    {.name = "srtf"},
    {.name = "timeslice", .needs_memory = true, .set = "timeslice.queue=backfill"},
    {.name = "mps", .needs_memory = true, .set = "mps.queue=backfill"},
    {.name = "mig", .needs_memory = true, .needs_mig = true, .set = "mig.queue=backfill"},
};
enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

static bool suits(const struct gsim_cli *cli, const struct gsim_setup *setup,
                  const struct candidate *one) {
    const struct gsim_trace *trace = &setup->trace;
    const struct gsim_policy *policy = gsim_policies_find(one->name, cli->log);
    bool names_gpus = policy && (policy->shares_gpus || policy->names_gpus);
    return policy && (!one->conf || cli->value[one->conf]) &&
           (!one->needs_owner || gsim_advise_has(trace, GSIM_COL_USER) ||
            gsim_advise_has(trace, GSIM_COL_VC)) &&
           (!one->needs_memory || gsim_advise_has(trace, GSIM_COL_MEM_BYTES)) &&
           (!one->needs_mig || setup->cluster.profiles[0]->mig) &&
           /* such policies refuse traces that name partitions or types of GPU */
           (!names_gpus || !has_sets(setup));
}

/* A setting of the command line; the user's own one for that policy stays. */
static void set(struct gsim_cli *cli, const char *text) {
    int n = 0;
    size_t key = strcspn(text, "=");
    for (; cli->repeats[GSIM_OPT_SET][n]; n++)
        if (strncmp(cli->repeats[GSIM_OPT_SET][n], text, key + 1) == 0)
            return;
    if (n < GSIM_MAX_REPEATS)
        cli->repeats[GSIM_OPT_SET][n] = text;
}

const char *gsim_advise_policies(struct gsim_cli *cli, const struct gsim_setup *setup) {
    const char *names = cli->value[GSIM_OPT_POLICIES];
    if (names)
        return names;
    names = "";
    for (int i = 0; i < N_CANDIDATES && names; i++) {
        if (!suits(cli, setup, &candidates[i]))
            continue;
        names =
            gsim_arena_printf(cli->arena, "%s%s%s", names, *names ? "," : "", candidates[i].name);
        if (candidates[i].set)
            set(cli, candidates[i].set);
    }
    return names;
}
