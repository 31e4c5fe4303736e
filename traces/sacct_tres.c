/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trackable resources in the log of sacct: what a job had and asked for, what its steps used. */
#include "traces/sacct_wishes.h"
#include "sim/base/gpu_type.h"
#include "sim/base/units.h"
#include "traces/cells.h"

#include <string.h>

/* Whether a number of a list ends here. Behind a comma stands the next name: a digit that leads to
 * none is a decimal of 1,5G, as programs for spreadsheets write it in some languages. */
static bool is_end_of_number(const char *text) {
    size_t digits = *text == ',' ? strspn(text + 1, "0123456789") : 0;
    return *text == '\0' || (*text == ',' && (digits == 0 || text[1 + digits] == '='));
}

/* A size with a letter for 1024, in bytes; unit: of a number without a letter. */
static bool take_size(const char *text, int64_t unit, int64_t *out) {
    static const char letters[] = "KMGTP";
    size_t digits = strspn(text, "0123456789.");
    const char *letter = text[digits] ? strchr(letters, text[digits]) : NULL;
    if (letter)
        unit = INT64_C(1) << 10 * (letter - letters + 1);
    return is_end_of_number(text + digits + (letter != NULL)) &&
           gsim_parse_decimal(text, digits, unit, out) == GSIM_PARSE_OK && *out >= 0;
}

/* cpu=00:01:00,gres/gpumem=40777023488,gres/gpuutil=93: the number after name, if there is one. */
static bool take_named(const char *text, const char *name, int64_t *out) {
    const char *at = strstr(text, name);
    return !at || take_size(at + strlen(name), 1, out);
}

/* gres/gpumem is the most memory that a task of the step had on all its GPUs, in bytes or with a
 * letter for 1024; gres/gpuutil the largest sample of a task, in percent summed over its GPUs.
 * TRESUsageInMax is "maximum usage in by all tasks" and InAve the "average usage in by all tasks"
 * (slurm.schedmd.com/sacct.html): over tasks, not over time. A task's InTot is its last sample
 * (jag_common_poll_data in Slurm's common_jag.c), so that none of them says how much of its time a
 * job computed. A largest sample of 0 does: it computed in no sample. */
bool gsim_sacct_take_usage(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *extra = builder->row.extra;
    (void)length;
    return take_named(text, "gres/gpumem=", &extra[GSIM_SACCT_STEP_MEM]) &&
           take_named(text, "gres/gpuutil=", &extra[GSIM_SACCT_STEP_USE]);
}

bool gsim_sacct_take_number(const char **text, int64_t most, int64_t *out) {
    size_t n = strspn(*text, "0123456789");
    bool is_ok = n > 0 && gsim_parse_decimal(*text, n, 1, out) == GSIM_PARSE_OK && *out <= most;
    *text += n;
    return is_ok;
}

/* A log of one type says nothing by naming it; of several, a job that had a type may have asked for
 * any. */
static void note_type(struct gsim_builder *builder, const char *type) {
    size_t length = strcspn(type, "=,");
    if (length >= sizeof builder->gpu_type)
        length = sizeof builder->gpu_type - 1;
    if (!*builder->gpu_type)
        memcpy(builder->gpu_type, type, length);
    else if (!builder->has_column[GSIM_COL_GPU_TYPE] &&
             (strncmp(builder->gpu_type, type, length) != 0 || builder->gpu_type[length]))
        builder->row.loss = "they had GPUs of another type than the jobs before them "
                            "(gres/gpu:TYPE); without the column ReqTRES, which has the type that "
                            "a job asked for, every job may run on every GPU";
}

/* A job without whole GPUs that has shards of one is a job with a share of it. */
static void take_shards(struct gsim_builder *builder, int64_t shards) {
    struct gsim_row *row = &builder->row;
    row->extra[GSIM_SACCT_GPUS] = 1;
    if (row->drop)
        return;
    if (builder->shards == 0)
        row->drop = "they had shards of GPUs (gres/shard), not whole ones; how many a GPU has is "
                    "in slurm.conf (--slurm-conf), not in the log";
    else if (shards > builder->shards)
        row->drop = "they had more shards (gres/shard) than a GPU has: of several GPUs, or of "
                    "several nodes";
    else if (shards < builder->shards)
        row->cell[GSIM_COL_SHARE_PPM] = GSIM_PPM / builder->shards * shards;
}

/* A whole number: what the partition's TRESBillingWeights made of the other counts. */
static bool take_billing(struct gsim_builder *builder, const char *text) {
    int64_t billing;
    if (!gsim_sacct_take_number(&text, INT32_MAX, &billing) || (*text && *text != ','))
        return false;
    builder->row.cell[GSIM_COL_BILLING_MILLI] = billing * 1000;
    return true;
}

/* cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=64G: the plain count has the typed ones in it. */
bool gsim_sacct_take_tres(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t total = -1, typed = 0, shards = 0, count;
    const char *end = text + length;
    if (!gsim_sacct_take_node_tres(builder, text, GSIM_SACCT_NODES))
        return false;
    for (const char *at = text; at < end; at += strcspn(at, ",") + 1) {
        if (strncmp(at, "mem=", 4) == 0 &&
            !take_size(at + 4, INT64_C(1) << 20, &builder->row.cell[GSIM_COL_HOST_MEM_BYTES]))
            return false;
        if (strncmp(at, "billing=", 8) == 0 && !take_billing(builder, at + 8))
            return false;
        if (strncmp(at, "gres/shard=", 11) == 0 &&
            (gsim_parse_decimal(at + 11, strspn(at + 11, "0123456789"), 1, &shards) !=
                 GSIM_PARSE_OK ||
             shards < 0))
            return false;
        if (strncmp(at, "gres/gpu", 8) != 0 || (at[8] != '=' && at[8] != ':'))
            continue;
        const char *number = at + strcspn(at, "=,");
        if (*number++ != '=' || !gsim_sacct_take_number(&number, GSIM_MAX_GANG, &count) ||
            (*number && *number != ','))
            return false;
        if (at[8] == ':' && count > 0 && gsim_gpu_type_is_mig(at + 9))
            builder->row.drop = "they had MIG instances, not whole GPUs "
                                "(gres/gpu:1g.10gb, gres/gpu:a100_3g.20gb)";
        if (at[8] == ':' && count > 0 && !builder->row.drop)
            note_type(builder, at + 9);
        if (at[8] == '=')
            total = count;
        else
            typed += count;
    }
    builder->row.extra[GSIM_SACCT_GPUS] = total >= 0 ? total : typed;
    if (builder->row.extra[GSIM_SACCT_GPUS] == 0 && shards > 0)
        take_shards(builder, shards);
    return builder->row.extra[GSIM_SACCT_GPUS] <= GSIM_MAX_GANG;
}

/* cpu=8,gres/gpu:a100=2: the type that the job asked for, which binds it; a job that asked for any
 * GPU has none. Types of several kinds in one job bind it to none here. */
bool gsim_sacct_take_request(struct gsim_builder *builder, const char *text, size_t length) {
    static const char name[] = "gres/gpu:";
    const char *at = strstr(text, name);
    (void)length;
    if (!gsim_sacct_take_node_tres(builder, text, GSIM_SACCT_LEAST_NODES))
        return false;
    if (at || strstr(text, "gres/gpu="))
        builder->row.extra[GSIM_SACCT_HAS_ASKED] = 1;
    if (!at)
        return true;
    at += sizeof name - 1;
    size_t n = strcspn(at, "=,");
    if (strstr(at, name)) {
        builder->row.loss = "they asked for GPUs of several types at once; here they may run on "
                            "GPUs of any type";
        return true;
    }
    return gsim_gpu_type_is_mig(at) || gsim_cell_parse(builder, GSIM_COL_GPU_TYPE, at, n,
                                                       &builder->row.cell[GSIM_COL_GPU_TYPE]);
}
