/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes, partitions and reservations: lines of slurm.conf, or records of `scontrol show node`,
 * `show partition` and `show res`, which go on in indented lines. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gsim/cluster.h"
#include "sim/base/calendar.h"
#include "sim/base/gpu_type.h"
#include "sim/base/hostlist.h"
#include "sim/base/units.h"
#include "sim/site/slurm_read.h"

enum { MOST_CPUS = 1000000, MOST_SHARDS = 1000000 };

static bool is_absent(const char *value) {
    return !*value || gsim_slurm_is(value, "(null)") || gsim_slurm_is(value, "N/A") ||
           gsim_slurm_is(value, "NONE") || gsim_slurm_is(value, "0");
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* "gpu:a100:4(S:0-1),gpu:2,shard:8": the GPUs, and their shards; false: the text is no such
 * list. */
static bool take_gres(struct gsim_slurm_reading *r, const char *text,
                      struct gsim_slurm_node *node) {
    for (const char *at = text; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",("), kind = strcspn(at, ":,(");
        const char *last = at + n;
        while (last > at && last[-1] != ':')
            last--;
        long count = last > at ? strtol(last, NULL, 10) : 1;
        if (kind == 3 && strncasecmp(at, "gpu", 3) == 0 && !gsim_gpu_type_is_mig(at + 4)) {
            if (count < 0 || count > (long)GSIM_MAX_GPUS_PER_NODE)
                return false;
            node->gpus += (uint32_t)count;
            if (last > at + 4)
                node->type = gsim_slurm_keep(r, at + 4, (size_t)(last - at - 5));
        } else if (kind == 5 && strncasecmp(at, "shard", 5) == 0 && count >= 0 &&
                   count <= MOST_SHARDS) {
            node->shards += (uint32_t)count;
        } else if (n > 0) {
            gsim_slurm_note(r, "Gres", gsim_slurm_keep(r, at, n), "only whole GPUs are counted");
        }
        at += n;
        at += *at == '(' ? strcspn(at, ")") + 1 : 0;
    }
    return node->gpus <= GSIM_MAX_GPUS_PER_NODE;
}

/* A list of nodes that is being made. */
struct making {
    struct gsim_slurm_reading *r;
    const struct gsim_slurm_node *like;
};

static bool add_named_node(void *arg, const char *name, size_t length) {
    struct making *m = arg;
    struct gsim_slurm *out = m->r->out;
    struct gsim_slurm_node *node =
        gsim_slurm_add(m->r, (void **)&out->node, &out->n_nodes, sizeof *node);
    if (!node)
        return false;
    *node = *m->like;
    node->name = gsim_slurm_keep(m->r, name, length);
    return out->n_nodes <= GSIM_MAX_NODES;
}

static const struct {
    const char *key;
    enum gsim_slurm_node_count count;
} counts[] = {
    {"CPUs", GSIM_SLURM_NODE_CPUS},
    {"Procs", GSIM_SLURM_NODE_CPUS},
    {"CPUTot", GSIM_SLURM_NODE_CPUS},
    {"CPUEfctv", GSIM_SLURM_NODE_EFFECTIVE},
    {"Boards", GSIM_SLURM_NODE_BOARDS},
    {"Sockets", GSIM_SLURM_NODE_SOCKETS},
    {"SocketsPerBoard", GSIM_SLURM_NODE_SOCKETS},
    {"CoresPerSocket", GSIM_SLURM_NODE_CORES},
    {"ThreadsPerCore", GSIM_SLURM_NODE_THREADS},
    {"CoreSpecCount", GSIM_SLURM_NODE_CORES_ASIDE},
    {"RealMemory", GSIM_SLURM_NODE_MEM},
    {"MemSpecLimit", GSIM_SLURM_NODE_MEM_ASIDE},
};

/* Whether the key is a count. */
static bool take_node_count(struct gsim_slurm_reading *r, const char *key, const char *value,
                            struct gsim_slurm_node *node) {
    enum { MOST = 1000000000 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t *said = &node->said[counts[i].count];
        if (!gsim_slurm_is(key, counts[i].key))
            continue;
        if (gsim_parse_int(value, said) != GSIM_PARSE_OK || *said < 0 || *said > MOST)
            gsim_slurm_refuse(r, key, value, "a whole number from 0 to 1000000000");
        return true;
    }
    return false;
}

static int64_t at_least_1(int64_t number) {
    return number > 0 ? number : 1;
}

/* CPUs that the record gives, or follow from its sockets, cores and threads; those set aside are
 * no job's. */
static void count_cpus(struct gsim_slurm_node *node) {
    const int64_t *said = node->said;
    int64_t threads = at_least_1(said[GSIM_SLURM_NODE_THREADS]), cpus = said[GSIM_SLURM_NODE_CPUS];
    bool has_cores = said[GSIM_SLURM_NODE_CORES] > 0 || said[GSIM_SLURM_NODE_SOCKETS] > 0;
    if (cpus == 0 && has_cores)
        cpus = at_least_1(said[GSIM_SLURM_NODE_BOARDS]) *
               at_least_1(said[GSIM_SLURM_NODE_SOCKETS]) * at_least_1(said[GSIM_SLURM_NODE_CORES]) *
               threads;
    cpus -= said[GSIM_SLURM_NODE_CORES_ASIDE] * threads;
    node->cpus = said[GSIM_SLURM_NODE_EFFECTIVE] > 0 ? said[GSIM_SLURM_NODE_EFFECTIVE] : cpus;
}

static int by_name(const void *a, const void *b) {
    const struct gsim_slurm_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

/* A node that stands twice, in slurm.conf and in what scontrol prints, would count twice. */
static void refuse_repeats(struct gsim_slurm_reading *r) {
    uint32_t n = r->out->n_nodes;
    const struct gsim_slurm_node **node = gsim_arena_array(r->arena, n + 1u, sizeof *node);
    for (uint32_t i = 0; node && i < n; i++)
        node[i] = &r->out->node[i];
    if (node)
        qsort(node, n, sizeof *node, by_name);
    else
        r->status = gsim_no_memory(r->log, "reading nodes");
    for (uint32_t i = 1; r->status == GSIM_OK && i < n; i++) {
        if (strcmp(node[i - 1]->name, node[i]->name) != 0)
            continue;
        r->line = node[i]->line;
        gsim_slurm_refuse(r, "NodeName", node[i]->name,
                          "a new name: it stands twice (slurm.conf has the nodes that scontrol "
                          "show node prints)");
    }
}

static void drop_future_nodes(struct gsim_slurm *out) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->n_nodes; i++)
        if (!out->node[i].is_future)
            out->node[kept++] = out->node[i];
    out->n_nodes = kept;
}

void gsim_slurm_measure_nodes(struct gsim_slurm_reading *r) {
    refuse_repeats(r);
    drop_future_nodes(r->out);
    for (uint32_t i = 0; i < r->out->n_nodes; i++) {
        struct gsim_slurm_node *node = &r->out->node[i];
        int64_t mem = node->said[GSIM_SLURM_NODE_MEM],
                aside = node->said[GSIM_SLURM_NODE_MEM_ASIDE];
        count_cpus(node);
        if (node->shards > 0 && node->gpus > 0 && node->shards % node->gpus != 0)
            gsim_slurm_note(r, "Gres", node->name, "each GPU has as many shards as any other");
        if (node->cpus < 0 || node->cpus > MOST_CPUS)
            gsim_slurm_refuse(r, "NodeName", node->name, "a node with 1 to 1000000 CPUs for jobs");
        node->mem_mib = mem > aside ? mem - aside : 0;
    }
}

/* The state of today, such as IDLE+DRAIN: when the log's jobs ran the node was up. A FUTURE node is
 * one that the site has not got yet. */
static void take_node_state(struct gsim_slurm_reading *r, const char *value,
                            struct gsim_slurm_node *node) {
    node->is_future = strncasecmp(value, "FUTURE", 6) == 0;
    if (node->is_future)
        gsim_slurm_note(r, "State", value, "the node is not there");
    else if (strstr(value, "DOWN") || strstr(value, "DRAIN") || strstr(value, "FAIL"))
        gsim_slurm_note(r, "State", value, "the node is up");
}

static void take_node_key(struct gsim_slurm_reading *r, const char *key, const char *value,
                          struct gsim_slurm_node *node) {
    int64_t weight;
    if (take_node_count(r, key, value, node))
        return;
    if (gsim_slurm_is(key, "Gres")) {
        node->gpus = node->shards = 0; /* of NodeName=DEFAULT */
        node->type = "";
        if (!is_absent(value) && !take_gres(r, value, node))
            gsim_slurm_refuse(r, key, value, "a list such as gpu:a100:4");
    } else if (gsim_slurm_is(key, "Weight") && gsim_parse_int(value, &weight) == GSIM_PARSE_OK) {
        node->weight = weight;
    } else if (gsim_slurm_is(key, "Feature") || gsim_slurm_is(key, "Features") ||
               gsim_slurm_is(key, "ActiveFeatures")) {
        node->features = gsim_slurm_keep(r, value, is_absent(value) ? 0 : strlen(value));
    } else if (gsim_slurm_is(key, "State")) {
        take_node_state(r, value, node);
    }
}

/* --- partitions ------------------------------------------------------------------------------- */

static void take_record_limit(struct gsim_slurm_reading *r, const char *key, const char *value,
                              int64_t *ns) {
    if (gsim_slurm_is(value, "NONE"))
        *ns = -1;
    else if (!gsim_slurm_time(value, ns))
        gsim_slurm_refuse(r, key, value, "a time, such as 2-00:00:00 or 60 (minutes)");
}

/* PriorityTier and PriorityJobFactor, of which slurm.conf(5) says that neither exceeds 65533. */
static void take_rank(struct gsim_slurm_reading *r, const char *key, const char *value,
                      int64_t *out) {
    enum { MOST = 65533 };
    if (gsim_parse_int(value, out) != GSIM_PARSE_OK || *out < 0 || *out > MOST)
        gsim_slurm_refuse(r, key, value, "a whole number from 0 to 65533");
}

/* A weight in thousandths; that of memory is for a MiB, or by its letter for more. */
static bool take_billing_weight(const char *text, size_t length, int which,
                                struct gsim_slurm_partition *p) {
    static const char letters[] = "MGTP";
    const char *letter =
        length > 0 ? strchr(letters, toupper((unsigned char)text[length - 1])) : NULL;
    int64_t *milli = &p->billing_milli[which];
    if (which == GSIM_SLURM_MEM) {
        p->mem_unit_mib = letter ? INT64_C(1) << 10 * (letter - letters) : 1;
        length -= letter != NULL;
    }
    return gsim_parse_decimal(text, length, 1000, milli) == GSIM_PARSE_OK && *milli >= 0;
}

/* "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,GRES/gpu:a100=4": the weights of what gsim counts. */
static void take_billing(struct gsim_slurm_reading *r, const char *value,
                         struct gsim_slurm_partition *p) {
    p->has_billing = true;
    memset(p->billing_milli, 0, sizeof p->billing_milli);
    for (const char *at = value; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ","), name = strcspn(at, "=,");
        int which = gsim_slurm_tres_called(r, at, name);
        if (which == GSIM_SLURM_TRES)
            gsim_slurm_note(r, "TRESBillingWeights", gsim_slurm_keep(r, at, n), "0");
        else if (name >= n || !take_billing_weight(at + name + 1, n - name - 1, which, p))
            gsim_slurm_refuse(r, "TRESBillingWeights", value, "a list such as GRES/gpu=1.0");
        at += n;
    }
}

static enum gsim_slurm_preempt record_mode(struct gsim_slurm_reading *r, const char *value) {
    gsim_slurm_note_modes(r, value);
    return gsim_slurm_lists(value, "CANCEL", 6) ? GSIM_SLURM_PREEMPT_CANCEL
           : gsim_slurm_lists(value, "OFF", 3)  ? GSIM_SLURM_PREEMPT_OFF
                                                : GSIM_SLURM_PREEMPT_REQUEUE;
}

/* Keys of a partition that say nothing of when jobs start, some of them since the jobs of the trace
 * were accepted there, or repeat other records. */
static const char moot_keys[] =
    "AllocNodes,AllowGroups,AllowAccounts,AllowQos,DenyAccounts,DenyQos,Alternate,Hidden,RootOnly,"
    "ReqResv,DisableRootJobs,TotalCPUs,TotalNodes,TRES,"
    "DefMemPerCPU,DefMemPerNode,DefMemPerGPU,DefCpuPerGPU,MaxMemPerCPU,MaxMemPerNode,"
    "JobDefaults,ResumeTimeout,SuspendTimeout,SuspendTime,PowerDownOnIdle,CpuBind,MinNodes,"
    "MaxNodes,NodeSets,QoS";

static void note_partition_key(struct gsim_slurm_reading *r, const char *key, const char *value) {
    bool is_usual = is_absent(value) || gsim_slurm_is(value, "ALL") || gsim_slurm_is(value, "NO") ||
                    gsim_slurm_is(value, "UNLIMITED");
    if (gsim_slurm_is(key, "State") && !gsim_slurm_is(value, "UP"))
        gsim_slurm_note(r, key, value, "the partition is up, as it was when the log's jobs ran");
    else if (gsim_slurm_is(value, "EXCLUSIVE"))
        gsim_slurm_note(r, key, value, "jobs share its nodes by their GPUs, CPUs and memory");
    else if (!is_usual && !gsim_slurm_is(key, "State") &&
             !gsim_slurm_lists(moot_keys, key, strlen(key)))
        gsim_slurm_note(r, key, value, "the key has no effect in this partition");
}

static void take_record_word(struct gsim_slurm_reading *r, const char *key, const char *value,
                             struct gsim_slurm_partition *p) {
    if (gsim_slurm_is(key, "Nodes"))
        p->nodes = gsim_slurm_keep(r, value, is_absent(value) ? 0 : strlen(value));
    else if (gsim_slurm_is(key, "QOS"))
        p->qos = gsim_slurm_keep(r, value, is_absent(value) ? 0 : strlen(value));
    else if (gsim_slurm_is(key, "Default"))
        p->is_default = gsim_slurm_is(value, "YES") || gsim_slurm_is(value, "TRUE");
    else if (gsim_slurm_is(key, "PreemptMode"))
        p->mode = record_mode(r, value);
    else if (gsim_slurm_is(key, "TRESBillingWeights") && !is_absent(value))
        take_billing(r, value, p);
    else
        note_partition_key(r, key, value);
}

static void take_partition_key(struct gsim_slurm_reading *r, const char *key, const char *value,
                               struct gsim_slurm_partition *p) {
    int64_t ignored;
    if (gsim_slurm_is(key, "MaxTime"))
        take_record_limit(r, key, value, &p->max_ns);
    else if (gsim_slurm_is(key, "DefaultTime"))
        take_record_limit(r, key, value, &p->default_ns);
    else if (gsim_slurm_is(key, "PriorityTier") || gsim_slurm_is(key, "PriorityJobFactor"))
        take_rank(r, key, value,
                  p->has_priority                      ? &ignored
                  : gsim_slurm_is(key, "PriorityTier") ? &p->tier
                                                       : &p->factor);
    else if (gsim_slurm_is(key, "Priority")) {
        take_rank(r, key, value, &p->tier);
        p->factor = p->tier;
        p->has_priority = true;
    } else
        take_record_word(r, key, value, p);
}

static void begin_partition(struct gsim_slurm_reading *r, const char *name) {
    struct gsim_slurm *out = r->out;
    struct gsim_slurm_partition *p;
    for (uint32_t i = 0; i < out->n_partitions; i++)
        if (gsim_slurm_is(out->partition[i].name, name)) {
            gsim_slurm_refuse(r, "PartitionName", name, "a new name: it stands twice");
            return;
        }
    p = gsim_slurm_add(r, (void **)&out->partition, &out->n_partitions, sizeof *p);
    if (!p)
        return;
    *p = r->partition_default;
    p->name = gsim_slurm_keep(r, name, strlen(name));
}

/* --- reservations ----------------------------------------------------------------------------- */

static void take_moment(struct gsim_slurm_reading *r, const char *key, const char *value,
                        int64_t *seconds) {
    if (!gsim_calendar_parse(value, strlen(value), seconds))
        gsim_slurm_refuse(r, key, value, "a date such as 2024-05-31T08:00:00");
}

static const char *names_of(struct gsim_slurm_reading *r, const char *value) {
    if (strchr(value, '-') && value[0] == '-')
        gsim_slurm_note(r, "Users", value, "none may use the reservation");
    return gsim_slurm_keep(r, value, is_absent(value) || *value == '-' ? 0 : strlen(value));
}

static void take_reservation_flags(struct gsim_slurm_reading *r, const char *value) {
    static const char *const times[] = {"HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (gsim_slurm_lists(value, times[i], strlen(times[i])))
            gsim_slurm_note(r, "Flags", value, "the reservation is there once");
    if (gsim_slurm_lists(value, "FLEX", 4) || gsim_slurm_lists(value, "PART_NODES", 10))
        gsim_slurm_note(r, "Flags", value, "the reservation has the nodes that it names");
}

static void take_reservation_key(struct gsim_slurm_reading *r, const char *key, const char *value,
                                 struct gsim_slurm_reservation *resv) {
    if (gsim_slurm_is(key, "StartTime"))
        take_moment(r, key, value, &resv->from_s);
    else if (gsim_slurm_is(key, "EndTime"))
        take_moment(r, key, value, &resv->to_s);
    else if (gsim_slurm_is(key, "Nodes"))
        resv->nodes = gsim_slurm_keep(r, value, is_absent(value) ? 0 : strlen(value));
    else if (gsim_slurm_is(key, "Users"))
        resv->users = names_of(r, value);
    else if (gsim_slurm_is(key, "Accounts"))
        resv->accounts = names_of(r, value);
    else if (gsim_slurm_is(key, "Flags"))
        take_reservation_flags(r, value);
    else if (gsim_slurm_is(key, "Groups") && !is_absent(value))
        gsim_slurm_note(r, key, value, "none of the group may use the reservation");
    else if (gsim_slurm_is(key, "TRES") && strstr(value, "gres/"))
        gsim_slurm_note(r, key, value, "the reservation has its nodes as a whole");
}

static void begin_reservation(struct gsim_slurm_reading *r, const char *name) {
    struct gsim_slurm *out = r->out;
    struct gsim_slurm_reservation *resv =
        gsim_slurm_add(r, (void **)&out->reservation, &out->n_reservations, sizeof *resv);
    if (resv)
        *resv = (struct gsim_slurm_reservation){.name = gsim_slurm_keep(r, name, strlen(name)),
                                                .nodes = "",
                                                .users = "",
                                                .accounts = "",
                                                .line = r->line};
}

/* --- records ---------------------------------------------------------------------------------- */

/* One record under way: the node, and where keys go. */
struct record {
    struct gsim_slurm_node node;
    const char *nodes; /* NULL: it is not of nodes */
    bool is_default; /* PartitionName=DEFAULT or NodeName=DEFAULT */
};

static void take_record_pair(struct gsim_slurm_reading *r, struct record *record, const char *key,
                             const char *value) {
    struct gsim_slurm *out = r->out;
    if (gsim_slurm_is(r->record, "NodeName"))
        take_node_key(r, key, value, &record->node);
    else if (gsim_slurm_is(r->record, "ReservationName") && out->n_reservations > 0)
        take_reservation_key(r, key, value, &out->reservation[out->n_reservations - 1]);
    else if (gsim_slurm_is(r->record, "NodeSet") && r->n_sets > 0)
        gsim_slurm_take_set_key(r, key, value, &r->set[r->n_sets - 1]);
    else if (gsim_slurm_is(r->record, "PartitionName") && record->is_default)
        take_partition_key(r, key, value, &r->partition_default);
    else if (gsim_slurm_is(r->record, "PartitionName") && out->n_partitions > 0)
        take_partition_key(r, key, value, &out->partition[out->n_partitions - 1]);
}

static void begin(struct gsim_slurm_reading *r, struct record *record, const char *value) {
    record->is_default = gsim_slurm_is(value, "DEFAULT");
    r->is_default = record->is_default;
    if (gsim_slurm_is(r->record, "NodeName"))
        record->nodes = record->is_default ? NULL : value;
    else if (gsim_slurm_is(r->record, "ReservationName"))
        begin_reservation(r, value);
    else if (gsim_slurm_is(r->record, "NodeSet"))
        gsim_slurm_begin_set(r, value);
    else if (!record->is_default)
        begin_partition(r, value);
}

/* The node that a line that goes on with a record has more keys of; NULL: the record is of another
 * kind. */
static struct gsim_slurm_node *open_node(struct gsim_slurm_reading *r) {
    struct gsim_slurm *out = r->out;
    if (!gsim_slurm_is(r->record, "NodeName"))
        return NULL;
    if (r->is_default)
        return &r->node_default;
    return out->n_nodes > 0 ? &out->node[out->n_nodes - 1] : NULL;
}

/* Nodes of slurm.conf are a line each; those of `scontrol show node` gain what they have in lines
 * that follow. */
static void finish_nodes(struct gsim_slurm_reading *r, const struct record *record, bool begins) {
    struct making m = {.r = r, .like = &record->node};
    struct gsim_slurm_node *open = begins && !record->is_default ? NULL : open_node(r);
    if (record->nodes && !gsim_hostlist_each(record->nodes, add_named_node, &m) &&
        r->status == GSIM_OK)
        gsim_slurm_refuse(r, "NodeName", record->nodes, "a list of nodes such as gpu[01-04]");
    if (open)
        *open = record->node;
}

/* Key=Value, Key="a value with blanks" or Key = Value, as Slurm's own reader takes them. */
struct pair {
    const char *name, *value; /* name NULL: a word that is no pair */
    size_t name_length, value_length;
};

/* Cuts the next word or pair off a line without blanks in front; false: there is none. */
static bool next_pair(const char **line, struct pair *out) {
    const char *at = *line;
    size_t name = strcspn(at, "= \t");
    const char *equals = at + name + strspn(at + name, " \t");
    if (*at == '\0')
        return false;
    *out = (struct pair){.name = NULL};
    if (name == 0 || *equals != '=') {
        at += name + strcspn(at + name, " \t");
    } else {
        const char *value = equals + 1 + (equals > at + name ? strspn(equals + 1, " \t") : 0);
        const char *end = *value == '"' ? strchr(value + 1, '"') : NULL;
        size_t length = end ? (size_t)(end - value) - 1 : strcspn(value, " \t");
        *out = (struct pair){at, value + (end != NULL), name, length};
        at = end ? end + 1 : value + length;
    }
    *line = at + strspn(at, " \t");
    return true;
}

void gsim_slurm_take_record(struct gsim_slurm_reading *r, const char *text, bool begins) {
    struct record record = {.is_default = !begins && r->is_default};
    const struct gsim_slurm_node *open = begins ? NULL : open_node(r);
    record.node = open ? *open : r->node_default;
    record.node.line = open ? open->line : r->line;
    struct pair pair;
    const char *at = text + strspn(text, " \t");
    for (bool is_first = true; r->status == GSIM_OK && next_pair(&at, &pair); is_first = false) {
        if (!pair.name)
            continue;
        const char *key = gsim_slurm_keep(r, pair.name, pair.name_length);
        const char *value = gsim_slurm_keep(r, pair.value, pair.value_length);
        if (begins && is_first)
            begin(r, &record, value);
        else
            take_record_pair(r, &record, key, value);
    }
    if (r->status == GSIM_OK)
        finish_nodes(r, &record, begins);
}
