/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects of Kubernetes as JSON: a List of items, one object, or several behind each other in
 * `items`. Only the keys of the table below are looked at; the rest of a pod is ten times as long.
 * A pod holds its GPUs from when it was scheduled (condition PodScheduled, or its event, or
 * status.startTime) until its last container ended. Sources: the API reference of Kubernetes 1.30
 * (Pod v1 core, Job v1 batch, Event v1 events.k8s.io), the labels of Kueue 0.20 and of Kubeflow's
 * training operator 1.8. */
#include "traces/kube.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/calendar.h"
#include "sim/base/units.h"
#include "traces/json.h"

enum { MOST_DEEP = 64, MOST_PATH = 1024, MOST_PODS = 10000000 };

/* The object under way. */
struct object {
    struct gsim_kube_pod pod;
    const char *kind, *reason, *owner_kind, *owner_name;
    const char *part_of; /* the gang that a label names */
    const char *about_kind, *about_name, *about_place; /* of an event */
    int64_t event_s;
    const char *condition, *condition_state; /* of the condition under way */
    int64_t condition_s;
    int64_t limits, asked, first; /* GPUs: by limits and requests of containers, of init ones */
};

/* The time at which an event says that a pod was scheduled. */
struct scheduling {
    const char *name, *place;
    int64_t at_s;
    uint32_t other; /* the event among all objects that are no rows */
};

struct reading {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *file;
    struct gsim_kube *out;
    char path[MOST_PATH]; /* in the file: "/items//spec/containers//resources" */
    size_t end[MOST_DEEP]; /* of the path at each depth of the file */
    size_t base; /* the path of the object under way ends there */
    int depth, object_depth; /* object_depth 0: no object is open */
    struct object o;
    struct scheduling *scheduling;
    uint32_t n_schedulings;
};

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static const char *keep(struct reading *r, const char *text, size_t length) {
    const char *kept = gsim_arena_strndup(r->arena, text, length);
    return kept ? kept : "";
}

/* A list with one more place; NULL: no memory. */
static void *add(struct reading *r, void **list, uint32_t *n, size_t size) {
    if ((*n & (*n - 1)) == 0) { /* room doubles at 0, 1, 2, 4, ... entries */
        void *grown = gsim_arena_grow(r->arena, *list, *n * size, (*n ? 2 * (size_t)*n : 1) * size);
        if (!grown)
            return NULL;
        *list = grown;
    }
    return (char *)*list + (*n)++ * size;
}

/* --- values ----------------------------------------------------------------------------------- */

/* 2024-05-01T12:00:00Z, or with decimals; Kubernetes writes UTC. */
static void take_time(struct reading *r, const char *text, size_t length, int64_t *out) {
    enum { LENGTH = 19 };
    if (length < LENGTH || text[length - 1] != 'Z' || !gsim_calendar_parse(text, LENGTH, out))
        r->o.pod.wrong = "a time is not of the form 2024-05-31T12:00:00Z";
    else if (*out > r->out->latest_s)
        r->out->latest_s = *out;
}

static void take_later(struct reading *r, const char *text, size_t length, int64_t *out) {
    int64_t at_s = -1;
    take_time(r, text, length, &at_s);
    *out = at_s > *out ? at_s : *out;
}

/* A quantity: 4, 500m, 64Gi, 1.5G, 2e3; in 1/scale. */
static void take_quantity(struct reading *r, const char *text, int64_t scale, int64_t *out) {
    static const struct {
        const char *suffix;
        int64_t factor;
    } units[] = {{"", 1},
                 {"k", 1000},
                 {"M", 1000000},
                 {"G", 1000000000},
                 {"T", INT64_C(1000000000000)},
                 {"Ki", INT64_C(1) << 10},
                 {"Mi", INT64_C(1) << 20},
                 {"Gi", INT64_C(1) << 30},
                 {"Ti", INT64_C(1) << 40}};
    size_t digits = strspn(text, "0123456789.");
    int64_t value = -1;
    if (is(text + digits, "m") &&
        gsim_parse_decimal(text, digits, scale, &value) == GSIM_PARSE_OK && value >= 0)
        value = (value + 999) / 1000;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is(text + digits, units[i].suffix) &&
            (units[i].factor > INT64_MAX / scale ||
             gsim_parse_decimal(text, digits, scale * units[i].factor, &value) != GSIM_PARSE_OK))
            value = -1;
    if (value < 0)
        r->o.pod.wrong = "an amount of a resource is not of the form 4, 500m or 64Gi";
    else
        *out = (*out > 0 ? *out : 0) + value;
}

/* Whole GPUs are "nvidia.com/gpu"; instances (nvidia.com/mig-1g.10gb) and shares
 * (nvidia.com/gpu.shared) are none. */
static void take_resource(struct reading *r, const char *key, const char *text, int64_t *gpus) {
    const char *name = strchr(key, '/');
    if (name && is(name, "/gpu"))
        take_quantity(r, text, 1, gpus);
    else if (name && (strncmp(name, "/gpu.", 5) == 0 || strncmp(name, "/mig-", 5) == 0))
        r->o.pod.has_other_gpus |= !is(text, "0");
    else if (gpus == &r->o.asked && is(key, "cpu"))
        take_quantity(r, text, 1000, &r->o.pod.cpus_milli);
    else if (gpus == &r->o.asked && is(key, "memory"))
        take_quantity(r, text, 1, &r->o.pod.mem_bytes);
}

static void take_number(struct reading *r, const char *text, int64_t *out) {
    if (gsim_parse_int(text, out) != GSIM_PARSE_OK)
        r->o.pod.wrong = "a number is no whole number";
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Texts that are kept, by path and key. */
static const struct {
    const char *path, *key;
    size_t at; /* in struct object */
} texts[] = {
#define TEXT(path, key, field)                                                                     \
    { path, key, offsetof(struct object, field) }
    TEXT("", "kind", kind),
    TEXT("", "reason", reason),
    TEXT("/metadata", "name", pod.name),
    TEXT("/metadata", "namespace", pod.place),
    TEXT("/metadata/labels", "kueue.x-k8s.io/queue-name", pod.queue),
    TEXT("/metadata/labels", "kueue.x-k8s.io/pod-group-name", part_of),
    TEXT("/metadata/labels", "training.kubeflow.org/job-name", part_of),
    TEXT("/metadata/labels", "jobset.sigs.k8s.io/jobset-name", part_of),
    TEXT("/metadata/ownerReferences/", "kind", owner_kind),
    TEXT("/metadata/ownerReferences/", "name", owner_name),
    TEXT("/spec", "queueName", pod.queue),
    TEXT("/spec", "nodeName", pod.node),
    TEXT("/spec/nodeSelector", "nvidia.com/gpu.product", pod.gpu_type),
    TEXT("/status", "phase", pod.phase),
    TEXT("/status/conditions/", "type", condition),
    TEXT("/status/conditions/", "status", condition_state),
    TEXT("/involvedObject", "kind", about_kind),
    TEXT("/involvedObject", "name", about_name),
    TEXT("/involvedObject", "namespace", about_place),
    TEXT("/regarding", "kind", about_kind),
    TEXT("/regarding", "name", about_name),
    TEXT("/regarding", "namespace", about_place),
#undef TEXT
};

static bool take_text(struct reading *r, const char *path, const char *key, const char *text,
                      size_t length) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (is(texts[i].path, path) && is(texts[i].key, key)) {
            const char *kept = keep(r, text, length);
            memcpy((char *)&r->o + texts[i].at, &kept, sizeof(const char *));
            return true;
        }
    return false;
}

static void take_value(struct reading *r, const char *path, const char *key, const char *text,
                       size_t length) {
    struct gsim_kube_pod *pod = &r->o.pod;
    if (is(path, "/metadata") && is(key, "creationTimestamp"))
        take_time(r, text, length, &pod->created_s);
    else if (is(path, "/status") && is(key, "startTime") && pod->scheduled_s < 0)
        take_time(r, text, length, &pod->scheduled_s);
    else if (is(path, "/status/conditions/") && is(key, "lastTransitionTime"))
        take_time(r, text, length, &r->o.condition_s);
    else if (is(path, "/status/containerStatuses//state/terminated") && is(key, "finishedAt"))
        take_later(r, text, length, &pod->ended_s);
    else if (is(path, "/status/containerStatuses/") && is(key, "restartCount"))
        take_quantity(r, text, 1, &pod->n_restarts);
    else if (is(path, "/spec") && is(key, "activeDeadlineSeconds"))
        take_number(r, text, &pod->limit_s);
    else if (is(path, "/spec") && is(key, "priority")) {
        take_number(r, text, &pod->priority);
        pod->has_priority = true;
    } else if (is(path, "/spec/containers//resources/requests"))
        take_resource(r, key, text, &r->o.asked);
    else if (is(path, "/spec/containers//resources/limits"))
        take_resource(r, key, text, &r->o.limits);
    else if (is(path, "/spec/initContainers//resources/requests") && strstr(key, "/gpu"))
        take_resource(r, key, text, &r->o.first);
    else if (*path == '\0' && (is(key, "firstTimestamp") || is(key, "eventTime")) &&
             r->o.event_s < 0)
        take_time(r, text, length, &r->o.event_s);
}

/* --- objects ---------------------------------------------------------------------------------- */

static void begin_object(struct reading *r, int64_t line) {
    r->o = (struct object){.kind = "",
                           .reason = "",
                           .owner_kind = "",
                           .owner_name = "",
                           .part_of = "",
                           .about_kind = "",
                           .about_name = "",
                           .about_place = "",
                           .condition = "",
                           .condition_state = "",
                           .event_s = -1,
                           .condition_s = -1};
    r->o.pod = (struct gsim_kube_pod){.name = "",
                                      .place = "",
                                      .owner = "",
                                      .queue = "",
                                      .node = "",
                                      .gpu_type = "",
                                      .phase = "",
                                      .line = line,
                                      .created_s = -1,
                                      .scheduled_s = -1,
                                      .ended_s = -1,
                                      .limit_s = -1,
                                      .cpus_milli = -1,
                                      .mem_bytes = -1};
    r->object_depth = r->depth;
    r->base = r->end[r->depth];
}

/* Pods of these owners are replicas, or steps of an Argo workflow, each a job of its own. */
static bool owns_replicas(const char *kind) {
    static const char *const kinds[] = {
        "", "ReplicaSet", "ReplicationController", "DaemonSet", "StatefulSet", "Node", "Workflow"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is(kind, kinds[i]))
            return true;
    return false;
}

static bool end_pod(struct reading *r) {
    struct gsim_kube_pod *pod = &r->o.pod;
    pod->owner = *r->o.part_of                    ? r->o.part_of
                 : owns_replicas(r->o.owner_kind) ? ""
                                                  : r->o.owner_name;
    pod->gpus = r->o.asked > r->o.limits ? r->o.asked : r->o.limits;
    pod->gpus = r->o.first > pod->gpus ? r->o.first : pod->gpus;
    struct gsim_kube_pod *place = add(r, (void **)&r->out->pod, &r->out->n_pods, sizeof *place);
    if (place)
        *place = *pod;
    return place && r->out->n_pods <= MOST_PODS;
}

/* A Workload belongs to the job that owns it; a JobSet's Job is a part of it. */
static bool end_owner(struct reading *r) {
    const struct gsim_kube_pod *as = &r->o.pod;
    const char *name = is(r->o.kind, "Workload") && *r->o.owner_name ? r->o.owner_name
                       : *r->o.part_of                               ? r->o.part_of
                                                                     : as->name;
    struct gsim_kube_owner *place =
        add(r, (void **)&r->out->owner, &r->out->n_owners, sizeof *place);
    if (place)
        *place = (struct gsim_kube_owner){.name = name,
                                          .place = as->place,
                                          .queue = as->queue,
                                          .created_s = as->created_s,
                                          .limit_s = as->limit_s};
    return place != NULL;
}

static bool end_other(struct reading *r, bool is_event) {
    struct gsim_kube_other *place =
        add(r, (void **)&r->out->other, &r->out->n_others, sizeof *place);
    if (place)
        *place = (struct gsim_kube_other){.line = r->o.pod.line, .is_event = is_event};
    return place != NULL;
}

static bool end_event(struct reading *r) {
    uint32_t other = r->out->n_others;
    if (!end_other(r, true))
        return false;
    if (!is(r->o.reason, "Scheduled") || !is(r->o.about_kind, "Pod") || r->o.event_s < 0)
        return true;
    struct scheduling *place = add(r, (void **)&r->scheduling, &r->n_schedulings, sizeof *place);
    if (place)
        *place = (struct scheduling){r->o.about_name, r->o.about_place, r->o.event_s, other};
    return place != NULL;
}

static bool is_owner(const char *kind) {
    size_t n = strlen(kind);
    return is(kind, "Workload") || is(kind, "JobSet") || is(kind, "RayCluster") ||
           (n >= 3 && is(kind + n - 3, "Job"));
}

/* false: no memory. */
static bool end_object(struct reading *r) {
    const char *kind = r->o.kind;
    r->object_depth = 0;
    if (is(kind, "Pod"))
        return end_pod(r);
    if (is(kind, "Event"))
        return end_event(r);
    if (is_owner(kind))
        return end_owner(r);
    return end_other(r, false);
}

/* A condition is known when it ends: PodScheduled is from when the pod has its GPUs; a pod that was
 * evicted has no container that says when it ended. */
static void end_condition(struct reading *r) {
    struct object *o = &r->o;
    if (is(o->condition_state, "True") && is(o->condition, "PodScheduled"))
        o->pod.scheduled_s = o->condition_s;
    if (is(o->condition_state, "True") && is(o->condition, "DisruptionTarget") &&
        o->condition_s > o->pod.ended_s)
        o->pod.ended_s = o->condition_s;
    o->condition = o->condition_state = "";
    o->condition_s = -1;
}

/* --- the file --------------------------------------------------------------------------------- */

static enum gsim_status out_of_memory(const struct reading *r) {
    return gsim_no_memory(r->log, "reading a trace");
}

static enum gsim_status on_open(void *arg, enum gsim_json_kind kind, const char *key,
                                int64_t line) {
    struct reading *r = arg;
    size_t used = r->end[r->depth], length = strlen(key);
    bool is_item = kind == GSIM_JSON_OBJECT && r->depth == 2 && is(r->path, "/items");
    if (r->depth + 1 >= MOST_DEEP || used + length + 2 > MOST_PATH)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->file, line,
                         "brackets in brackets; objects of Kubernetes are not so deep");
    if (++r->depth > 1) { /* the file's own object has no key */
        r->path[used] = '/';
        memcpy(r->path + used + 1, key, length + 1);
        r->end[r->depth] = used + 1 + length;
    }
    if (is_item || (r->depth == 1 && kind == GSIM_JSON_OBJECT))
        begin_object(r, line);
    return GSIM_OK;
}

static enum gsim_status on_close(void *arg, int64_t line) {
    struct reading *r = arg;
    bool is_ok = true;
    (void)line;
    if (r->object_depth > 0 && is(r->path + r->base, "/status/conditions/"))
        end_condition(r);
    if (r->object_depth == r->depth)
        is_ok = end_object(r);
    r->depth--;
    r->path[r->end[r->depth]] = '\0';
    return is_ok ? GSIM_OK : out_of_memory(r);
}

static enum gsim_status on_value(void *arg, enum gsim_json_kind kind, const char *key,
                                 const char *text, size_t length, int64_t line) {
    struct reading *r = arg;
    if (r->depth == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->file, line,
                         "the file is no List of Kubernetes (kubectl get pods -o json)");
    if (r->object_depth > 0 && kind != GSIM_JSON_NULL &&
        !take_text(r, r->path + r->base, key, text, length))
        take_value(r, r->path + r->base, key, text, length);
    return GSIM_OK;
}

static int order_of(const char *name, const char *place, int64_t at_s,
                    const struct scheduling *of) {
    int order = strcmp(name, of->name);
    if (order == 0)
        order = strcmp(place, of->place);
    return order ? order : at_s < of->at_s ? -1 : at_s > of->at_s;
}

static int compare(const void *a, const void *b) {
    const struct scheduling *first = a;
    return order_of(first->name, first->place, first->at_s, b);
}

/* The first event of the pod since it was made: an earlier one is of another pod, which had its
 * name, as those of StatefulSets do. */
static struct scheduling *find_scheduling(const struct reading *r,
                                          const struct gsim_kube_pod *pod) {
    uint32_t low = 0, high = r->n_schedulings;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order_of(pod->name, pod->place, pod->created_s, &r->scheduling[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct scheduling *found = low < r->n_schedulings ? &r->scheduling[low] : NULL;
    return found && is(found->name, pod->name) && is(found->place, pod->place) ? found : NULL;
}

/* Pods without a condition were scheduled when their event says so. */
static void join_events(struct reading *r) {
    if (r->n_schedulings > 0)
        qsort(r->scheduling, r->n_schedulings, sizeof *r->scheduling, compare);
    for (uint32_t i = 0; i < r->out->n_pods; i++) {
        struct gsim_kube_pod *pod = &r->out->pod[i];
        struct scheduling *found = pod->scheduled_s >= 0 ? NULL : find_scheduling(r, pod);
        if (!found)
            continue;
        pod->scheduled_s = found->at_s;
        r->out->other[found->other].is_used = true;
    }
}

enum gsim_status gsim_kube_read(struct gsim_input *input, struct gsim_arena *arena,
                                struct gsim_kube *out, struct gsim_log *log) {
    struct reading *r = gsim_arena_alloc(arena, sizeof *r);
    if (!r)
        return gsim_no_memory(log, "reading a trace");
    *r = (struct reading){.arena = arena, .log = log, .file = gsim_input_path(input), .out = out};
    struct gsim_json_user user = {r, on_open, on_close, on_value, true};
    enum gsim_status status = gsim_json_read(input, &user, arena, log);
    if (status == GSIM_OK)
        join_events(r);
    return status;
}
