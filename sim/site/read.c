/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A site's file line by line: which of its parts a line belongs to. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gsim/units.h"
#include "sim/site/file.h"
#include "sim/site/slurm_read.h"

enum { SNIFFED = 1 << 16 };

struct gsim_slurm_partition gsim_slurm_partition_default(void) {
    return (struct gsim_slurm_partition){.nodes = "",
                                         .qos = "",
                                         .max_ns = -1,
                                         .default_ns = -1,
                                         .tier = 1,
                                         .factor = 1,
                                         .mem_unit_mib = 1};
}

void gsim_slurm_defaults(struct gsim_slurm *slurm) {
    *slurm = (struct gsim_slurm){
        .is_multifactor = true,
        .backfills = true,
        .is_fair_tree = true,
        .counts_cpus = true, /* CR_Core_Memory is the default */
        .counts_memory = true,
        .mode = GSIM_SLURM_PREEMPT_OFF,
        .victim_orders = 1,
        .max_age_ns = 7 * 86400 * GSIM_NS_PER_S,
        .half_life_ns = 7 * 86400 * GSIM_NS_PER_S,
        .period_ns = 300 * GSIM_NS_PER_S,
        .bf_interval_ns = 30 * GSIM_NS_PER_S,
        .bf_resolution_ns = 60 * GSIM_NS_PER_S,
        .bf_window_ns = 86400 * GSIM_NS_PER_S,
        .bf_tests = 500,
        .bf_array_plans = 20,
        .dampening = 1,
    };
}

/* --- lines ------------------------------------------------------------------------------------ */

static const char *record_of(const char *line) {
    static const char *const names[] = {"NodeName", "NodeSet", "PartitionName", "ReservationName"};
    size_t n = strcspn(line, "= \t"), blanks = strspn(line + n, " \t");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (line[n + blanks] == '=' && strlen(names[i]) == n && strncasecmp(line, names[i], n) == 0)
            return names[i];
    return NULL;
}

/* "Key=Value", or "Key    = Value" as `scontrol show config` writes. */
static bool take_pair(struct gsim_slurm_reading *r, const char *line) {
    size_t name = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    const char *equals = line + name + strspn(line + name, " \t");
    if (name == 0 || *equals != '=')
        return false;
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    size_t length = strlen(value);
    bool is_quoted = length > 1 && *value == '"' && value[length - 1] == '"';
    gsim_slurm_take_key(r, gsim_slurm_keep(r, line, name),
                        gsim_slurm_keep(r, value + is_quoted, length - 2u * is_quoted));
    return true;
}

/* "Include nodes.conf": a dump is one file, into which the text of others is put. */
static bool take_include(struct gsim_slurm_reading *r, const char *line) {
    static const char name[] = "include";
    size_t length = sizeof name - 1;
    if (strncasecmp(line, name, length) != 0 || (line[length] != ' ' && line[length] != '\t'))
        return false;
    line += length + strspn(line + length, " \t");
    gsim_slurm_note(r, "Include", gsim_slurm_keep(r, line, strlen(line)),
                    "the lines of that file stand in this one too, put there by cat");
    return true;
}

/* Headings and ends that `scontrol show config` prints around its keys. */
static bool is_heading(const char *line) {
    return strncmp(line, "Configuration data", 18) == 0 || strncmp(line, "Slurmctld(", 10) == 0 ||
           strncmp(line, "No reservations", 15) == 0 || line[strlen(line) - 1] == ':';
}

static bool begins_table(const char *line) {
    return gsim_slurm_lists("Name,Account,Cluster", line, strcspn(line, "|"));
}

static void take_line(struct gsim_slurm_reading *r, char *line) {
    const char *record = record_of(line);
    bool is_indented = *line == ' ' || *line == '\t';
    if (record || (is_indented && r->record)) {
        r->record = record ? record : r->record;
        gsim_slurm_take_record(r, line, record != NULL);
        return;
    }
    r->record = NULL;
    line += strspn(line, " \t");
    if (strchr(line, '|') && (r->column || begins_table(line))) {
        if (!gsim_slurm_open_table(r, line))
            gsim_slurm_take_row(r, line);
        return;
    }
    r->column = NULL;
    if (!take_pair(r, line) && !take_include(r, line) && !is_heading(line))
        gsim_slurm_refuse(r, "the line", line,
                          "one of slurm.conf, scontrol show or sacctmgr show --parsable2");
}

/* Cuts the comment off, which begins at a '#' that no backslash precedes, and blanks at the end. */
static void strip(char *line) {
    char *hash = strchr(line, '#');
    while (hash && hash > line && hash[-1] == '\\')
        hash = strchr(hash + 1, '#');
    if (hash)
        *hash = '\0';
    size_t n = strlen(line);
    while (n > 0 && strchr(" \t\r", line[n - 1]))
        line[--n] = '\0';
}

/* Joins a line that ends with a backslash to the next. Returns the start of the line after. */
static char *cut_line(char *at, int64_t *n_lines) {
    char *end = strchr(at, '\n');
    for (*n_lines = 1; end && end > at && end[-1] == '\\'; (*n_lines)++) {
        end[-1] = end[0] = ' ';
        end = strchr(end, '\n');
    }
    if (!end)
        return NULL;
    *end = '\0';
    return end + 1;
}

static void read_pairs(struct gsim_slurm_reading *r, char *text) {
    int64_t n_lines;
    r->line = 1;
    for (char *at = text, *next; at && r->status == GSIM_OK; at = next, r->line += n_lines) {
        next = cut_line(at, &n_lines);
        strip(at);
        if (*at)
            take_line(r, at);
        else
            r->record = NULL;
    }
}

/* --- the file --------------------------------------------------------------------------------- */

static bool says_all_cpus(const struct gsim_slurm *slurm) {
    bool says = slurm->n_nodes > 0;
    for (uint32_t i = 0; i < slurm->n_nodes; i++)
        says &= slurm->node[i].gpus == 0 || slurm->node[i].cpus > 0;
    return says;
}

/* "For jobs to be requeued" by preemption "they must have the --requeue sbatch option set or the
 * cluster wide JobRequeue parameter in slurm.conf must be set to 1" (slurm.conf(5)). */
static void cancel_in_place_of_requeue(struct gsim_slurm *out) {
    if (out->mode == GSIM_SLURM_PREEMPT_REQUEUE)
        out->mode = GSIM_SLURM_PREEMPT_CANCEL;
    for (uint32_t q = 0; q < out->n_qos; q++)
        if (out->qos[q].mode == GSIM_SLURM_PREEMPT_REQUEUE)
            out->qos[q].mode = GSIM_SLURM_PREEMPT_CANCEL;
    for (uint32_t p = 0; p < out->n_partitions; p++)
        if (out->partition[p].mode == GSIM_SLURM_PREEMPT_REQUEUE)
            out->partition[p].mode = GSIM_SLURM_PREEMPT_CANCEL;
}

/* Settings that need the whole file. */
static void finish(struct gsim_slurm_reading *r) {
    struct gsim_slurm *out = r->out;
    if (!out->has_conf)
        out->has_limits = true;
    r->line = 0;
    gsim_slurm_settle_assocs(r);
    gsim_slurm_measure_nodes(r);
    gsim_slurm_settle_sets(r);
    if (!r->is_requeued)
        cancel_in_place_of_requeue(out);
    bool limits = out->n_qos > 0 || out->n_assocs > 0;
    if (limits && !out->has_limits)
        gsim_slurm_note(r, "AccountingStorageEnforce", "",
                        "limits of QOS and associations are not enforced, since the key does not "
                        "have 'limits'");
    if (out->is_multifactor && out->weight[GSIM_SLURM_SIZE] > 0 && !says_all_cpus(out))
        gsim_slurm_note(r, "PriorityWeightJobSize", "",
                        "a job's size is its part of the nodes, since the file does not say the "
                        "CPUs of each");
    for (uint32_t i = 0; i < out->n_reservations; i++) {
        r->line = out->reservation[i].line;
        if (out->reservation[i].to_s <= out->reservation[i].from_s)
            gsim_slurm_refuse(r, "ReservationName", out->reservation[i].name,
                              "a reservation with a StartTime and a later EndTime");
    }
}

enum gsim_status gsim_slurm_read(const char *path, struct gsim_arena *arena, struct gsim_slurm *out,
                                 struct gsim_log *log) {
    char *text = NULL;
    gsim_slurm_defaults(out);
    out->path = path;
    struct gsim_slurm_reading r = {.out = out, .arena = arena, .log = log, .is_requeued = true};
    r.partition_default = gsim_slurm_partition_default();
    r.node_default = (struct gsim_slurm_node){.type = "", .features = "", .weight = 1};
    r.status = gsim_site_read_text(path, arena, &text, log);
    if (r.status == GSIM_OK)
        read_pairs(&r, text);
    if (r.status == GSIM_OK)
        finish(&r);
    return r.status;
}

bool gsim_slurm_is_conf(const char *path) {
    char line[512];
    FILE *file = fopen(path, "rb");
    bool is_conf = false, is_ini = false;
    for (long read = 0;
         file && !is_conf && !is_ini && read < SNIFFED && fgets(line, sizeof line, file);
         read += (long)strlen(line)) {
        is_conf = record_of(line) != NULL;
        is_ini = *line == '[';
    }
    if (file)
        (void)fclose(file);
    return is_conf;
}

/* --- notes ------------------------------------------------------------------------------------ */

void gsim_slurm_warn(const struct gsim_slurm *slurm, struct gsim_log *log) {
    enum { ROOM = 400 };
    char text[ROOM] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < slurm->n_notes; i++) {
        const struct gsim_slurm_note *note = &slurm->note[i];
        size_t needs = strlen(note->what) + strlen(note->assumed) + 24;
        if (used > 0 && used + needs >= ROOM) {
            gsim_warn(log, slurm->path, 0, "not modelled: %s", text);
            used = 0;
        }
        int n = snprintf(text + used, sizeof text - used, "%s%s (assumed: %s)", used ? "; " : "",
                         note->what, note->assumed);
        used += n > 0 && (size_t)n < sizeof text - used ? (size_t)n : sizeof text - used - 1;
    }
    if (used > 0)
        gsim_warn(log, slurm->path, 0, "not modelled: %s", text);
}
