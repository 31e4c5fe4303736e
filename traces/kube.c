/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of a Kubernetes cluster, from its pods. The pods of one owner (a Job, a PyTorchJob, a
 * JobSet, a group of Kueue) that were there before any of them ended are a gang: one job, with all
 * their GPUs, from when the last of them was scheduled until the last ended. A pod that was made
 * after an end is a further run: a retry of the job, or a further completion of it, ID#2. Where the
 * file has the owner, or its Workload, the job was submitted when that was made, since Kueue makes
 * pods of an admitted job only. */
#include "traces/kube.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/units.h"
#include "traces/cells.h"
#include "traces/format.h"
#include "traces/rows.h"

struct kube {
    struct gsim_builder *b;
    struct gsim_kube all;
    struct gsim_rows rows;
};

/* --- order ------------------------------------------------------------------------------------ */

static const char *name_of(const struct gsim_kube_pod *pod) {
    return *pod->owner ? pod->owner : pod->name;
}

static int compare_names(const char *place_a, const char *a, const char *place_b, const char *b) {
    int order = strcmp(place_a, place_b);
    return order ? order : strcmp(a, b);
}

static int compare_pods(const void *a, const void *b) {
    const struct gsim_kube_pod *x = a, *y = b;
    int order = compare_names(x->place, name_of(x), y->place, name_of(y));
    if (order == 0)
        order = strcmp(x->owner, y->owner);
    if (order == 0 && x->created_s != y->created_s)
        order = x->created_s < y->created_s ? -1 : 1;
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int compare_owners(const void *a, const void *b) {
    const struct gsim_kube_owner *x = a, *y = b;
    return compare_names(x->place, x->name, y->place, y->name);
}

/* A job and its Workload are one owner: it was there from the first of both. */
static void join_owners(struct gsim_kube *all) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->n_owners; i++) {
        struct gsim_kube_owner *own = &all->owner[i], *last = kept ? &all->owner[kept - 1] : NULL;
        if (!last || compare_owners(own, last) != 0) {
            all->owner[kept++] = *own;
            continue;
        }
        if (last->created_s < 0 || (own->created_s >= 0 && own->created_s < last->created_s))
            last->created_s = own->created_s;
        last->queue = *last->queue ? last->queue : own->queue;
        last->limit_s = last->limit_s >= 0 ? last->limit_s : own->limit_s;
    }
    all->n_owners = kept;
}

static int compare_pod_owner(const void *key, const void *of) {
    const struct gsim_kube_pod *pod = key;
    const struct gsim_kube_owner *owner = of;
    return compare_names(pod->place, name_of(pod), owner->place, owner->name);
}

static bool is_of(const struct gsim_kube_pod *a, const struct gsim_kube_pod *b) {
    return *a->owner && compare_names(a->place, a->owner, b->place, b->owner) == 0;
}

static bool has_ended(const struct gsim_kube_pod *pod) {
    return strcmp(pod->phase, "Succeeded") == 0 || strcmp(pod->phase, "Failed") == 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* What the pods of a run come to. */
struct run {
    const struct gsim_kube_pod *pod;
    uint32_t n;
    int64_t gpus, cpus_milli, mem_bytes, from_s, to_s, n_restarts;
    const char *wrong, *drop;
    bool runs_on; /* some pod of it had not ended */
};

static int64_t sum(int64_t a, int64_t b) {
    return b < 0 ? a : (a < 0 ? 0 : a) + b;
}

/* A pod that runs holds its GPUs until the file was written: left out, notebooks and services would
 * be missing from the cluster. */
static bool runs_until(const struct gsim_kube_pod *pod, int64_t latest_s) {
    return strcmp(pod->phase, "Running") == 0 && pod->scheduled_s >= 0 &&
           latest_s > pod->scheduled_s;
}

static void add_pod(struct run *run, const struct gsim_kube_pod *pod, int64_t latest_s) {
    bool runs_on = runs_until(pod, latest_s);
    int64_t ended_s = runs_on ? latest_s : pod->ended_s;
    run->runs_on |= runs_on;
    run->gpus += pod->gpus;
    run->cpus_milli = sum(run->cpus_milli, pod->cpus_milli);
    run->mem_bytes = sum(run->mem_bytes, pod->mem_bytes);
    run->n_restarts += pod->n_restarts;
    run->from_s = pod->scheduled_s > run->from_s ? pod->scheduled_s : run->from_s;
    run->to_s = ended_s > run->to_s ? ended_s : run->to_s;
    if (pod->wrong)
        run->wrong = pod->wrong;
    else if (!*pod->name || pod->created_s < 0)
        run->wrong = "a pod without a name, or without creationTimestamp";
    if (pod->has_other_gpus)
        run->drop = "they ask for parts of GPUs (MIG instances, nvidia.com/gpu.shared), not whole "
                    "ones";
    else if (strcmp(pod->phase, "Pending") == 0)
        run->drop = "they had not started";
    else if (!runs_on && !has_ended(pod))
        run->drop = "they had not ended yet";
    else if (pod->scheduled_s < 0)
        run->drop = "their pods do not say when they were scheduled (their events may: kubectl get "
                    "pods,events)";
    else if (ended_s < 0)
        run->drop = "their containers do not say when they ended";
}

/* The pods from `first` on that belong together. */
static struct run take_run(const struct gsim_kube *all, uint32_t first) {
    struct run run = {
        .pod = &all->pod[first], .cpus_milli = -1, .mem_bytes = -1, .from_s = -1, .to_s = -1};
    int64_t first_end_s = INT64_MAX;
    do {
        const struct gsim_kube_pod *pod = &run.pod[run.n++];
        add_pod(&run, pod, all->latest_s);
        if (has_ended(pod) && pod->ended_s >= 0 && pod->ended_s < first_end_s)
            first_end_s = pod->ended_s;
    } while (first + run.n < all->n_pods && is_of(run.pod, &run.pod[run.n]) &&
             run.pod[run.n].created_s < first_end_s);
    if (!run.drop && run.gpus == 0)
        run.drop = "they ask for no GPU (a resource called .../gpu)";
    return run;
}

static bool name(struct gsim_builder *b, enum gsim_column column, const char *text) {
    return !*text || gsim_cell_parse(b, column, text, strlen(text), &b->row.cell[column]);
}

/* "namespace/queue", as column queue has it. */
static bool name_queue(struct gsim_builder *b, const struct gsim_kube_pod *pod,
                       const struct gsim_kube_owner *owner) {
    const char *queue = *pod->queue ? pod->queue : owner ? owner->queue : "";
    const char *full = *queue ? gsim_arena_printf(b->arena, "%s/%s", pod->place, queue) : "";
    return full && name(b, GSIM_COL_QUEUE, full);
}

/* "namespace/name" of the owner, or of the pod. */
static void put_id(struct gsim_builder *b, const struct gsim_kube_pod *pod) {
    int n = snprintf(b->row.id, sizeof b->row.id, "%s%s%s", pod->place, *pod->place ? "/" : "",
                     name_of(pod));
    b->row.id_length = n > 0 && (size_t)n < sizeof b->row.id ? (size_t)n : sizeof b->row.id - 1;
}

static bool fill(struct gsim_builder *b, const struct run *run, const struct gsim_kube_owner *owner,
                 bool is_first) {
    struct gsim_row *row = &b->row;
    const struct gsim_kube_pod *pod = run->pod;
    int64_t submit_s =
        is_first && owner && owner->created_s >= 0 ? owner->created_s : pod->created_s;
    int64_t limit_s = pod->limit_s >= 0 ? pod->limit_s : owner ? owner->limit_s : -1;
    row->submit_ns = (submit_s < pod->created_s ? submit_s : pod->created_s) * GSIM_NS_PER_S;
    row->ran_from_s = run->from_s;
    row->ran_to_s = run->to_s;
    row->gpus = (uint32_t)run->gpus;
    row->service_ns = (run->to_s - run->from_s) * GSIM_NS_PER_S;
    row->cell[GSIM_COL_CPUS_MILLI] = run->cpus_milli;
    row->cell[GSIM_COL_HOST_MEM_BYTES] = run->mem_bytes;
    row->cell[GSIM_COL_LIMIT_NS] = limit_s < 0 ? -1 : limit_s * GSIM_NS_PER_S;
    if (pod->has_priority)
        row->cell[GSIM_COL_PRIORITY] = pod->priority;
    if (run->n_restarts > 0)
        row->loss =
            "they have containers that were restarted on their GPUs: the job's time is that "
            "of all these runs";
    if (run->runs_on)
        row->loss = "they had not ended yet: here they run until the last time in the file, which "
                    "was written then or later";
    for (uint32_t i = 0, used = 0; i < run->n; i++) {
        size_t n = strlen(run->pod[i].node);
        if (n == 0 || used + n + 2 > sizeof row->nodes)
            continue;
        used += (uint32_t)snprintf(row->nodes + used, sizeof row->nodes - used, "%s%s",
                                   used ? "," : "", run->pod[i].node);
    }
    return name(b, GSIM_COL_VC, pod->place) && name(b, GSIM_COL_GPU_TYPE, pod->gpu_type) &&
           name_queue(b, pod, owner);
}

/* A row for the run, and one for each further pod of it, which is no job. */
static enum gsim_status add_run(struct kube *k, const struct run *run, bool is_first) {
    struct gsim_builder *b = k->b;
    const struct gsim_kube_owner *owner = k->all.n_owners > 0
                                              ? bsearch(run->pod, k->all.owner, k->all.n_owners,
                                                        sizeof *k->all.owner, compare_pod_owner)
                                              : NULL;
    put_id(b, run->pod);
    if (run->wrong || run->drop) {
        b->row.wrong = run->wrong;
        b->row.drop = run->drop;
    } else if (run->gpus > GSIM_MAX_GANG || run->to_s < run->from_s ||
               run->pod->limit_s > GSIM_TIME_MAX / 2 / GSIM_NS_PER_S) {
        b->row.wrong = "a pod that ended before it was scheduled, or asks for too much";
    } else if (!fill(b, run, owner, is_first)) {
        return gsim_no_memory(b->log, "reading a trace");
    }
    enum gsim_status status = gsim_rows_add(&k->rows, run->pod->line);
    for (uint32_t i = 1; i < run->n && status == GSIM_OK; i++) {
        put_id(b, run->pod);
        b->row.drop = "they are pods of a job with others: its row has their GPUs";
        status = gsim_rows_add(&k->rows, run->pod[i].line);
    }
    return status;
}

/* Other objects than pods and their owners are counted, and listed. */
static enum gsim_status drop_others(struct kube *k) {
    const struct gsim_kube *all = &k->all;
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < all->n_others && status == GSIM_OK; i++) {
        k->b->row.drop =
            all->other[i].is_used
                ? "they are events from which pods have the time when they were scheduled"
            : all->other[i].is_event
                ? "they are events that say nothing of a job that its pods do not"
                : "they are objects that say nothing of jobs (neither pods nor their owners)";
        status = gsim_rows_add(&k->rows, all->other[i].line);
    }
    return status;
}

static enum gsim_status add_runs(struct kube *k) {
    enum gsim_status status = GSIM_OK;
    if (k->all.n_pods > 0)
        qsort(k->all.pod, k->all.n_pods, sizeof *k->all.pod, compare_pods);
    if (k->all.n_owners > 0)
        qsort(k->all.owner, k->all.n_owners, sizeof *k->all.owner, compare_owners);
    join_owners(&k->all);
    for (uint32_t i = 0; i < k->all.n_pods && status == GSIM_OK;) {
        struct run run = take_run(&k->all, i);
        status = add_run(k, &run, i == 0 || !is_of(&k->all.pod[i - 1], run.pod));
        i += run.n;
    }
    return status == GSIM_OK ? drop_others(k) : status;
}

/* The table that kubectl prints without -o, or YAML: neither is read, and both are told how to be
 * written. */
static bool is_other_output(const char *header) {
    return strncmp(header, "NAME ", 5) == 0 || strncmp(header, "NAMESPACE ", 10) == 0 ||
           strncmp(header, "LAST SEEN ", 10) == 0 || strncmp(header, "apiVersion:", 11) == 0;
}

static enum gsim_status check_output(struct gsim_input *input, struct gsim_log *log) {
    const char *header;
    enum gsim_status status = gsim_input_peek_line(input, &header, log);
    if (status == GSIM_OK && is_other_output(header))
        return gsim_fail(log, GSIM_BAD_INPUT, gsim_input_path(input), 1,
                         "this is what kubectl prints %s, and -o json is read, which has times and "
                         "GPUs: kubectl get pods,jobs,events -A -o json",
                         *header == 'a' ? "with -o yaml" : "without -o");
    return status;
}

static enum gsim_status read_kube(struct gsim_input *input,
                                  const struct gsim_trace_options *options,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log) {
    static const enum gsim_column columns[] = {
        GSIM_COL_VC,           GSIM_COL_QUEUE,        GSIM_COL_GPU_TYPE,
        GSIM_COL_CPUS_MILLI,   GSIM_COL_PRIORITY,     GSIM_COL_HOST_MEM_BYTES,
        GSIM_COL_LIMIT_NS,     GSIM_COL_LOGGED_NODES, GSIM_COL_LOGGED_START_NS,
        GSIM_COL_LOGGED_END_NS};
    struct kube *k = gsim_arena_alloc(arena, sizeof *k);
    struct gsim_builder *b = gsim_arena_alloc(arena, sizeof *b);
    if (!k || !b)
        return gsim_no_memory(log, "reading a trace");
    gsim_build_init(b, gsim_input_path(input), arena, log);
    b->is_absolute = b->has_runs = true;
    *k = (struct kube){.b = b};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        b->has_column[columns[i]] = true;
    enum gsim_status status = check_output(input, log);
    if (status == GSIM_OK)
        status = gsim_rows_begin(&k->rows, b, options);
    if (status == GSIM_OK)
        status = gsim_kube_read(input, arena, &k->all, log);
    if (status == GSIM_OK && k->all.n_pods == 0)
        status =
            gsim_fail(log, GSIM_BAD_INPUT, b->path, 0,
                      "the file has no pod, and events or owners alone do not say which GPUs a "
                      "job had: kubectl get pods,jobs,events -A -o json");
    if (status == GSIM_OK)
        status = add_runs(k);
    return status == GSIM_OK ? gsim_rows_finish(&k->rows, "kube", out) : status;
}

static int sniff_kube(const char *header) {
    return header[strspn(header, " \t")] ==
               '{' || /* an object in JSON: no other format begins so */
           is_other_output(header);
}

const struct gsim_trace_format gsim_format_kube = {
    .name = "kube",
    .summary = "pods of Kubernetes and what owns them: kubectl get pods,jobs,events -A -o json",
    .source = "kubernetes.io/docs/reference/kubernetes-api",
    .notes =
        "where kubectl reaches the cluster, run\n"
        "  kubectl get pods,jobs,events -A -o json >pods.json\n"
        "  gsim import kube pods.json -o trace.csv\n"
        "with Kueue also workloads.kueue.x-k8s.io, with Kubeflow pytorchjobs, with JobSet jobsets: "
        "they say when a job was submitted that waited without pods. A cluster keeps pods that "
        "have ended until their owner is deleted (ttlSecondsAfterFinished) and events for an hour: "
        "several files, taken day by day, are imported one by one.\n",
    .sniff = sniff_kube,
    .read = read_kube,
};
