/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects of Kueue: first the names of all, then quotas and settings, since objects name each
 * other in any order. Sources: the reference of the API kueue.x-k8s.io, v1beta1 and v1beta2, for
 * fields, defaults and accepted values. */
#include "sim/site/kueue.h"

#include <string.h>

#include "sim/base/text.h"
#include "sim/site/kueue_read.h"

/* --- objects ---------------------------------------------------------------------------------- */

static bool is_kind(const struct gsim_yaml *object, const char *kind) {
    return strcmp(gsim_yaml_text(object, "kind"), kind) == 0;
}

static const char *name_of(const struct gsim_yaml *object) {
    return gsim_yaml_text(gsim_yaml_get(object, "metadata"), "name");
}

/* Kinds that change no start here, with the reason; other kinds are not of Kueue. */
static const char *const kinds_passed_over[] = {"WorkloadPriorityClass", "Workload", "Namespace",
                                                "Job", "ConfigMap"};
enum { N_PASSED_OVER = sizeof kinds_passed_over / sizeof *kinds_passed_over };

static void add_object(struct gsim_kueue_reading *r, const struct gsim_yaml *object) {
    static const char *const kinds[] = {"ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue"};
    const char *kind = gsim_yaml_text(object, "kind");
    for (int k = 0; k < N_PASSED_OVER; k++)
        if (strcmp(kind, kinds_passed_over[k]) == 0)
            return;
    int is_known = gsim_text_choice(kind, "ResourceFlavor|Cohort|ClusterQueue|LocalQueue");
    if (is_known < 0) {
        int near = gsim_text_suggest(kind, kinds, 4);
        gsim_kueue_refuse(r, object,
                          "kind: '%.64s' is not one of ResourceFlavor, Cohort, "
                          "ClusterQueue, LocalQueue%s%s%s",
                          kind, near < 0 ? "" : "; did you mean '", near < 0 ? "" : kinds[near],
                          near < 0 ? "" : "'?");
        return;
    }
    if (!*name_of(object)) {
        gsim_kueue_refuse(r, object, "a %s without metadata.name", kind);
        return;
    }
    const struct gsim_yaml **one =
        gsim_kueue_add(r, (void **)&r->object, &r->n_objects, sizeof *r->object);
    if (one)
        *one = object;
}

static void add_document(struct gsim_kueue_reading *r, const struct gsim_yaml *document) {
    const struct gsim_yaml *items = gsim_yaml_get(document, "items");
    if (!items) {
        add_object(r, document);
        return;
    }
    for (const struct gsim_yaml *item = items->first; item; item = item->next)
        add_object(r, item);
}

/* --- names ------------------------------------------------------------------------------------ */

static uint32_t node_called(const struct gsim_kueue *kueue, uint32_t from, uint32_t to,
                            const char *name) {
    for (uint32_t n = from; n < to; n++)
        if (strcmp(kueue->node[n].name, name) == 0)
            return n;
    return GSIM_KUEUE_NONE;
}

static struct gsim_kueue_flavor *add_flavor(struct gsim_kueue_reading *r, const char *name) {
    struct gsim_kueue *out = r->out;
    uint32_t f = gsim_kueue_flavor_called(out, name);
    if (f != GSIM_KUEUE_NONE)
        return &out->flavor[f];
    struct gsim_kueue_flavor *flavor =
        gsim_kueue_add(r, (void **)&out->flavor, &out->n_flavors, sizeof *flavor);
    if (flavor)
        flavor->name = name;
    return flavor;
}

static void take_flavor(struct gsim_kueue_reading *r, const struct gsim_yaml *object) {
    static const char *const keys[] = {"nodeLabels", "nodeTaints", "tolerations", "topologyName"};
    const struct gsim_yaml *spec = gsim_yaml_get(object, "spec");
    const struct gsim_yaml *labels = gsim_yaml_get(spec, "nodeLabels");
    struct gsim_kueue_flavor *flavor = add_flavor(r, name_of(object));
    gsim_kueue_look(r, spec, keys, 4);
    if (gsim_yaml_get(spec, "topologyName"))
        gsim_kueue_note(r, gsim_yaml_get(spec, "topologyName"), "topologyName",
                        "a gang takes the fewest nodes");
    for (const struct gsim_yaml *label = labels ? labels->first : NULL; flavor && label;
         label = label->next) {
        const char **value =
            gsim_kueue_add(r, (void **)&flavor->label, &flavor->n_labels, sizeof *flavor->label);
        if (value)
            *value = label->text;
    }
}

static void name_flavors(struct gsim_kueue_reading *r) {
    for (uint32_t o = 0; o < r->n_objects && r->status == GSIM_OK; o++)
        if (is_kind(r->object[o], "ResourceFlavor"))
            take_flavor(r, r->object[o]);
    for (uint32_t o = 0; o < r->n_objects && r->status == GSIM_OK; o++) {
        const struct gsim_yaml *groups =
            gsim_yaml_get(gsim_yaml_get(r->object[o], "spec"), "resourceGroups");
        for (const struct gsim_yaml *g = groups ? groups->first : NULL; g; g = g->next) {
            const struct gsim_yaml *flavors = gsim_yaml_get(g, "flavors");
            for (const struct gsim_yaml *f = flavors ? flavors->first : NULL; f; f = f->next)
                if (gsim_kueue_gpu_of(f))
                    (void)add_flavor(r, gsim_yaml_text(f, "name"));
        }
    }
}

static struct gsim_kueue_node *add_labelled_node(struct gsim_kueue_reading *r, const char *name) {
    struct gsim_kueue *out = r->out;
    struct gsim_kueue_node *node =
        gsim_kueue_add(r, (void **)&out->node, &out->n_nodes, sizeof *node);
    if (!node)
        return NULL;
    *node = (struct gsim_kueue_node){
        .name = name, .parent = GSIM_KUEUE_NONE, .parent_name = "", .threshold = INT64_MAX};
    node->quota = gsim_arena_array(r->arena, out->n_flavors, sizeof *node->quota);
    node->flavor = gsim_arena_array(r->arena, out->n_flavors, sizeof *node->flavor);
    if (!node->quota || !node->flavor)
        r->status = gsim_no_memory(r->log, "reading objects of Kueue");
    for (uint32_t f = 0; node->quota && f < out->n_flavors; f++)
        node->quota[f] = (struct gsim_kueue_quota){.borrowing = -1, .lending = -1};
    return node;
}

/* --- the file --------------------------------------------------------------------------------- */

static void take_nodes(struct gsim_kueue_reading *r, const char *kind) {
    struct gsim_kueue *out = r->out;
    uint32_t from = out->n_nodes;
    for (uint32_t o = 0; o < r->n_objects && r->status == GSIM_OK; o++) {
        const struct gsim_yaml *object = r->object[o];
        if (!is_kind(object, kind))
            continue;
        if (node_called(out, from, out->n_nodes, name_of(object)) != GSIM_KUEUE_NONE) {
            gsim_kueue_refuse(r, object, "%s '%.64s' stands twice", kind, name_of(object));
            return;
        }
        struct gsim_kueue_node *node = add_labelled_node(r, name_of(object));
        if (node && r->status == GSIM_OK)
            gsim_kueue_take_node(r, node, object, is_kind(object, "ClusterQueue"));
    }
}

static void take_local(struct gsim_kueue_reading *r, const struct gsim_yaml *object) {
    static const char *const keys[] = {"clusterQueue", "stopPolicy", "fairSharing", "flavors"};
    struct gsim_kueue *out = r->out;
    const struct gsim_yaml *spec = gsim_yaml_get(object, "spec");
    struct gsim_kueue_local *local =
        gsim_kueue_add(r, (void **)&out->local, &out->n_locals, sizeof *local);
    if (!local)
        return;
    *local = (struct gsim_kueue_local){
        .name = name_of(object),
        .of_namespace = gsim_yaml_text(gsim_yaml_get(object, "metadata"), "namespace"),
        .queue_name = gsim_yaml_text(spec, "clusterQueue"),
        .line = object->line};
    gsim_kueue_look(r, spec, keys, 2);
    gsim_kueue_stop_policy(r, spec);
    local->queue = node_called(out, 0, out->n_queues, local->queue_name);
    if (local->queue == GSIM_KUEUE_NONE)
        gsim_kueue_refuse(r, object,
                          "LocalQueue '%.64s' has clusterQueue '%.64s', which the file "
                          "does not have",
                          local->name, local->queue_name);
}

/* A cohort that is named needs no object. */
static void join_cohorts(struct gsim_kueue_reading *r) {
    struct gsim_kueue *out = r->out;
    for (uint32_t n = 0; n < out->n_nodes && r->status == GSIM_OK; n++) {
        const char *name = out->node[n].parent_name;
        if (!*name)
            continue;
        uint32_t parent = node_called(out, out->n_queues, out->n_nodes, name);
        if (parent == GSIM_KUEUE_NONE && add_labelled_node(r, name))
            parent = out->n_nodes - 1;
        out->node[n].parent = parent;
    }
}

static void check_circles(struct gsim_kueue_reading *r) {
    const struct gsim_kueue *out = r->out;
    for (uint32_t n = out->n_queues; n < out->n_nodes && r->status == GSIM_OK; n++) {
        uint32_t steps = 0, at = out->node[n].parent;
        while (at != GSIM_KUEUE_NONE && steps++ < out->n_nodes)
            at = out->node[at].parent;
        if (at != GSIM_KUEUE_NONE)
            r->status = gsim_fail(r->log, GSIM_BAD_INPUT, out->path, out->node[n].line,
                                  "cohort '%.64s' is an ancestor of itself", out->node[n].name);
    }
}

static void read_objects(struct gsim_kueue_reading *r) {
    name_flavors(r);
    take_nodes(r, "ClusterQueue");
    r->out->n_queues = r->out->n_nodes;
    take_nodes(r, "Cohort");
    join_cohorts(r);
    check_circles(r);
    for (uint32_t o = 0; o < r->n_objects && r->status == GSIM_OK; o++)
        if (is_kind(r->object[o], "LocalQueue"))
            take_local(r, r->object[o]);
}

enum gsim_status gsim_kueue_read(const char *path, struct gsim_arena *arena, struct gsim_kueue *out,
                                 struct gsim_log *log) {
    struct gsim_kueue_reading r = {.out = out, .arena = arena, .log = log};
    struct gsim_yaml *documents;
    *out = (struct gsim_kueue){.path = path};
    r.status = gsim_yaml_read(path, arena, &documents, log);
    for (; r.status == GSIM_OK && documents; documents = documents->next)
        add_document(&r, documents);
    if (r.status == GSIM_OK)
        read_objects(&r);
    if (r.status == GSIM_OK && out->n_queues == 0)
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                         "the file has no ClusterQueue; kubectl get resourceflavors,clusterqueues,"
                         "localqueues -A -o yaml prints them");
    return r.status;
}

uint32_t gsim_kueue_queue(const struct gsim_kueue *kueue, const char *name) {
    const char *slash = strchr(name, '/');
    uint32_t found = GSIM_KUEUE_NONE;
    for (uint32_t l = 0; l < kueue->n_locals; l++) {
        const struct gsim_kueue_local *local = &kueue->local[l];
        bool is_there = !slash || (strlen(local->of_namespace) == (size_t)(slash - name) &&
                                   strncmp(name, local->of_namespace, (size_t)(slash - name)) == 0);
        if (!is_there || strcmp(local->name, slash ? slash + 1 : name) != 0)
            continue;
        if (found != GSIM_KUEUE_NONE && found != local->queue)
            return GSIM_KUEUE_SEVERAL;
        found = local->queue;
    }
    return found != GSIM_KUEUE_NONE ? found : node_called(kueue, 0, kueue->n_queues, name);
}
