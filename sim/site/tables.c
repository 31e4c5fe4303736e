/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of `sacctmgr show qos --parsable2` and `sacctmgr show assoc --parsable2`. A column that is
 * not modelled is noted where a row has something in it. */
#include <string.h>

#include "gsim/units.h"
#include "sim/base/units.h"
#include "sim/site/slurm_read.h"

/* How the cells of a column of limits are written. */
enum form { COUNT, AMOUNTS };

static const struct {
    const char *column;
    enum form form;
    enum gsim_slurm_limit of_qos, of_assoc; /* GSIM_SLURM_LIMITS: not modelled there */
} limits[] = {
    {"GrpJobs", COUNT, GSIM_SLURM_GROUP, GSIM_SLURM_GROUP},
    {"GrpTRES", AMOUNTS, GSIM_SLURM_GROUP, GSIM_SLURM_GROUP},
    {"GrpTRESRunMins", AMOUNTS, GSIM_SLURM_GROUP_RUN, GSIM_SLURM_GROUP_RUN},
    {"MaxJobs", COUNT, GSIM_SLURM_LIMITS, GSIM_SLURM_USER},
    {"MaxJobsPU", COUNT, GSIM_SLURM_USER, GSIM_SLURM_LIMITS},
    {"MaxJobsPerUser", COUNT, GSIM_SLURM_USER, GSIM_SLURM_LIMITS},
    {"MaxTRESPU", AMOUNTS, GSIM_SLURM_USER, GSIM_SLURM_LIMITS},
    {"MaxTRESPerUser", AMOUNTS, GSIM_SLURM_USER, GSIM_SLURM_LIMITS},
    {"MaxJobsPA", COUNT, GSIM_SLURM_ACCOUNT, GSIM_SLURM_LIMITS},
    {"MaxJobsPerAccount", COUNT, GSIM_SLURM_ACCOUNT, GSIM_SLURM_LIMITS},
    {"MaxTRESPA", AMOUNTS, GSIM_SLURM_ACCOUNT, GSIM_SLURM_LIMITS},
    {"MaxTRESPerAccount", AMOUNTS, GSIM_SLURM_ACCOUNT, GSIM_SLURM_LIMITS},
};

/* Limits on one job, which the jobs of a trace have passed, and columns that limit no start. */
static const char columns_passed_over[] =
    "Priority,UsageFactor,Description,ID,MaxSubmit,MaxSubmitPU,"
    "MaxSubmitPA,MaxSubmitJobs,MaxSubmitJobsPU,MaxSubmitJobsPA,"
    "GrpSubmit,GrpSubmitJobs,LimitFactor,MaxTRES,MaxTRESPerJob,"
    "MaxTRESPerNode,MaxTRESMins,MaxWall,MaxWallDurationPerJob,"
    "QOS,QOS_RAW,LFT,RGT,ParentID,Lineage,Comment";

/* --- the header ------------------------------------------------------------------------------- */

static char *cut(char **rest) {
    char *at = *rest, *bar = strchr(at, '|');
    if (bar)
        *bar = '\0';
    *rest = bar ? bar + 1 : at + strlen(at);
    return at;
}

static bool has_column(const struct gsim_slurm_reading *r, const char *name) {
    for (uint32_t i = 0; i < r->n_columns; i++)
        if (gsim_slurm_is(r->column[i], name))
            return true;
    return false;
}

bool gsim_slurm_open_table(struct gsim_slurm_reading *r, char *line) {
    bool is_table = gsim_slurm_lists("Name,Account,Cluster", line, strcspn(line, "|"));
    char *rest = is_table ? gsim_arena_strdup(r->arena, line) : NULL;
    if (!is_table)
        return false;
    r->column = NULL;
    r->n_columns = 0;
    while (rest && *rest && r->status == GSIM_OK) {
        char **column = gsim_slurm_add(r, (void **)&r->column, &r->n_columns, sizeof *column);
        char *name = cut(&rest);
        if (column)
            *column = name;
    }
    r->is_qos = has_column(r, "Name");
    if (!r->is_qos && !has_column(r, "Account"))
        gsim_slurm_refuse(r, "the table", line, "one of sacctmgr show qos or assoc");
    return true;
}

/* --- cells ------------------------------------------------------------------------------------ */

/* Reads limits; a count of -1, or an empty cell, is none. */
static void take_table_limit(struct gsim_slurm_reading *r, const char *column, const char *value,
                             enum form form, int64_t most[GSIM_SLURM_TRES]) {
    if (form == COUNT) {
        if (gsim_parse_int(value, &most[GSIM_SLURM_JOBS]) != GSIM_PARSE_OK)
            gsim_slurm_refuse(r, column, value, "a whole number, of which -1 is no limit");
        return;
    }
    if (!gsim_slurm_take_tres(r, column, value, most))
        gsim_slurm_refuse(r, column, value, "a list such as cpu=64,mem=512G,gres/gpu:a100=8");
}

/* Whether the column is one of limits. */
static bool take_limits(struct gsim_slurm_reading *r, const char *column, const char *value,
                        bool is_qos, struct gsim_slurm_limits *out) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        enum gsim_slurm_limit limit = is_qos ? limits[i].of_qos : limits[i].of_assoc;
        if (limit == GSIM_SLURM_LIMITS || !gsim_slurm_is(column, limits[i].column))
            continue;
        take_table_limit(r, column, value, limits[i].form, out->most[limit]);
        return true;
    }
    return false;
}

/* --- rows ------------------------------------------------------------------------------------- */

static enum gsim_slurm_preempt table_mode(struct gsim_slurm_reading *r, const char *value) {
    gsim_slurm_note_modes(r, value);
    if (gsim_slurm_lists(value, "CANCEL", 6))
        return GSIM_SLURM_PREEMPT_CANCEL;
    if (gsim_slurm_is(value, "cluster"))
        return GSIM_SLURM_PREEMPT_UNSET;
    return gsim_slurm_lists(value, "OFF", 3) ? GSIM_SLURM_PREEMPT_OFF : GSIM_SLURM_PREEMPT_REQUEUE;
}

/* The time for which a job runs before it may be preempted; -1 leaves it to the other QOS of the
 * job and to the key of slurm.conf. */
static void take_exempt(struct gsim_slurm_reading *r, const char *column, const char *value,
                        int64_t *ns) {
    if (!gsim_slurm_is(value, "-1") && !gsim_slurm_time(value, ns))
        gsim_slurm_refuse(r, column, value, "a time, such as 00:10:00 or 10 (minutes), or -1");
}

/* Flags that change when jobs start; the others say which jobs are accepted. */
static void take_qos_flags(struct gsim_slurm_reading *r, const char *value,
                           struct gsim_slurm_qos *qos) {
    qos->goes_over_partition = gsim_slurm_lists(value, "OverPartQOS", 11);
    qos->plans_nothing = gsim_slurm_lists(value, "NoReserve", 9);
    if (gsim_slurm_lists(value, "Relative", 8))
        gsim_slurm_note(r, "Flags", "Relative", "limits of the QOS are amounts, not percentages");
}

static void take_qos(struct gsim_slurm_reading *r, const char *column, const char *value,
                     struct gsim_slurm_qos *qos) {
    if (gsim_slurm_is(column, "Name"))
        qos->name = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(column, "Priority") &&
             gsim_parse_int(value, &qos->priority) != GSIM_PARSE_OK)
        gsim_slurm_refuse(r, column, value, "a whole number, of which a larger one goes first");
    else if (gsim_slurm_is(column, "Preempt"))
        qos->preempts = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(column, "PreemptMode"))
        qos->mode = table_mode(r, value);
    else if (gsim_slurm_is(column, "PreemptExemptTime"))
        take_exempt(r, column, value, &qos->exempt_ns);
    else if (gsim_slurm_is(column, "UsageFactor") &&
             gsim_parse_decimal(value, strlen(value), 1000, &qos->usage_milli) != GSIM_PARSE_OK)
        gsim_slurm_refuse(r, column, value, "a decimal number such as 1.0");
    else if (gsim_slurm_is(column, "Flags"))
        take_qos_flags(r, value, qos);
    else if (gsim_slurm_is(column, "GraceTime")) {
        if (!gsim_slurm_is(value, "00:00:00"))
            gsim_slurm_note(r, column, value, "0: a job that gives way leaves its GPUs at once");
    } else if (!take_limits(r, column, value, true, &qos->limits) &&
               !gsim_slurm_lists(columns_passed_over, column, strlen(column)))
        gsim_slurm_note(r, column, value, "no limit");
}

static void take_assoc(struct gsim_slurm_reading *r, const char *column, const char *value,
                       struct gsim_slurm_assoc *assoc) {
    if (gsim_slurm_is(column, "Cluster"))
        assoc->cluster = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(column, "Account"))
        assoc->account = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(column, "User"))
        assoc->user = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(column, "ParentName") || gsim_slurm_is(column, "Par Name"))
        assoc->parent = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(column, "Def QOS") || gsim_slurm_is(column, "DefaultQOS"))
        assoc->qos = gsim_slurm_keep(r, value, strlen(value));
    else if ((gsim_slurm_is(column, "Share") || gsim_slurm_is(column, "Fairshare")) &&
             gsim_slurm_is(value, "parent"))
        assoc->is_as_parent = true;
    else if (gsim_slurm_is(column, "Share") || gsim_slurm_is(column, "Fairshare")) {
        if (gsim_parse_int(value, &assoc->shares) != GSIM_PARSE_OK || assoc->shares < 0 ||
            assoc->shares > INT32_MAX)
            gsim_slurm_refuse(r, column, value,
                              "a number of shares from 0 to 2147483647, or 'parent'");
    } else if (gsim_slurm_is(column, "Partition"))
        gsim_slurm_note(r, "an association of the partition", value,
                        "the association is of all partitions");
    else if (!take_limits(r, column, value, false, &assoc->limits) &&
             !gsim_slurm_lists(columns_passed_over, column, strlen(column)))
        gsim_slurm_note(r, column, value, "no limit");
}

static void set_no_limits(struct gsim_slurm_limits *out) {
    memset(out, 0xff, sizeof *out); /* -1 everywhere */
}

static struct gsim_slurm_qos *add_qos(struct gsim_slurm_reading *r) {
    struct gsim_slurm_qos *qos =
        gsim_slurm_add(r, (void **)&r->out->qos, &r->out->n_qos, sizeof *qos);
    if (qos)
        *qos = (struct gsim_slurm_qos){
            .name = "", .preempts = "", .usage_milli = 1000, .exempt_ns = -1};
    if (qos)
        set_no_limits(&qos->limits);
    return qos;
}

static struct gsim_slurm_assoc *add_assoc(struct gsim_slurm_reading *r) {
    struct gsim_slurm_assoc *assoc =
        gsim_slurm_add(r, (void **)&r->out->assoc, &r->out->n_assocs, sizeof *assoc);
    if (assoc)
        *assoc = (struct gsim_slurm_assoc){
            .cluster = "", .account = "", .user = "", .parent = "", .qos = "", .shares = 1};
    if (assoc)
        set_no_limits(&assoc->limits);
    return assoc;
}

void gsim_slurm_take_row(struct gsim_slurm_reading *r, char *line) {
    struct gsim_slurm_qos *qos = r->is_qos ? add_qos(r) : NULL;
    struct gsim_slurm_assoc *assoc = r->is_qos ? NULL : add_assoc(r);
    char *rest = line;
    for (uint32_t i = 0; i < r->n_columns && r->status == GSIM_OK; i++) {
        const char *value = cut(&rest);
        if (*value && qos)
            take_qos(r, r->column[i], value, qos);
        else if (*value && assoc)
            take_assoc(r, r->column[i], value, assoc);
    }
    if (*rest && r->status == GSIM_OK)
        gsim_slurm_refuse(r, "the row", line, "as long as the table's header");
}

void gsim_slurm_settle_assocs(struct gsim_slurm_reading *r) {
    struct gsim_slurm *out = r->out;
    const char *own = r->cluster;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->n_assocs; i++) {
        const struct gsim_slurm_assoc *assoc = &out->assoc[i];
        own = own || !*assoc->cluster ? own : assoc->cluster;
        if (!*assoc->cluster || gsim_slurm_is(assoc->cluster, own))
            out->assoc[kept++] = *assoc;
        else
            gsim_slurm_note(r, "Cluster", assoc->cluster,
                            r->cluster ? "its associations are of another cluster than ClusterName"
                                       : "its associations are of another cluster than the first");
    }
    out->n_assocs = kept;
}
