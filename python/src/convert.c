/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units, names and arrangements from Python objects. A value out of range raises here, so that no
 * object of Python can reach an assertion of the core. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* In the order of their enumerations (gsim/job.h, gsim/arrangement.h). */
const char gsim_py_rules[] = "consolidate|any|spread|fullest|affinity|random|skew";
const char gsim_py_stops[] = "kernel|iteration|block|save|flush|incremental|cheapest|switch";
const char gsim_py_keeps[] = "resident|pageable|host|storage|image|discard";
const char gsim_py_watches[] = "attained|ran|epochs";
const char gsim_py_states[] =
    "free|queued|starting|running|stopping|saving|paused|held|resuming|done";
static const char disciplines[] = "exclusive|ps|rr|priority|boundary|padding|interleaved|pair";
static const char memories[] = "resident|uvm|lru|proactive|lanes|overflow";
static const char turns_rules[] = "used|equal|fixed";
static const char gates[] = "open|apart|idle";

PyObject *gsim_py_get(PyObject *object, const char *name) {
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *value = text ? PyObject_GetAttr(object, text) : NULL;
    Py_XDECREF(text);
    return value;
}

bool gsim_py_set(PyObject *object, const char *name, PyObject *value) {
    PyObject *text = PyUnicode_InternFromString(name);
    bool is_set = text && PyObject_SetAttr(object, text, value) == 0;
    Py_XDECREF(text);
    return is_set;
}

int gsim_py_choice(PyObject *text, const char *what, const char *choices) {
    Py_ssize_t length;
    const char *word = PyUnicode_AsUTF8AndSize(text, &length);
    if (!word)
        return -1;
    int at = 0;
    for (const char *p = choices; p; p = strchr(p, '|'), at++) {
        p += *p == '|';
        if (strcspn(p, "|") == (size_t)length && memcmp(p, word, (size_t)length) == 0)
            return at;
    }
    PyErr_Format(gsim_py_error, "%s: '%s' is not one of %s", what, word, choices);
    return -1;
}

PyObject *gsim_py_chosen(const char *choices, int at) {
    for (; at > 0; at--)
        choices = strchr(choices, '|') + 1;
    return PyUnicode_FromStringAndSize(choices, (Py_ssize_t)strcspn(choices, "|"));
}

/* --- units ------------------------------------------------------------------------------------ */

static bool take_unit(const struct gsim_ctx *ctx, PyObject *item, struct gsim_unit *unit) {
    *unit = (struct gsim_unit){0};
    if (!PyTuple_Check(item))
        return gsim_py_gpu(ctx, item, &unit->gpu);
    if (PyTuple_GET_SIZE(item) != 2) {
        PyErr_SetString(PyExc_ValueError, "a unit is a GPU, or a pair (GPU, instance)");
        return false;
    }
    long slot = PyLong_AsLong(PyTuple_GET_ITEM(item, 1));
    if (slot == -1 && PyErr_Occurred())
        return false;
    if (slot < 0 || slot > GSIM_INSTANCES_MAX) {
        PyErr_Format(PyExc_IndexError, "a GPU has no instance %ld; they are 0 (all of it) to %d",
                     slot, GSIM_INSTANCES_MAX);
        return false;
    }
    unit->slot = (uint16_t)slot;
    return gsim_py_gpu(ctx, PyTuple_GET_ITEM(item, 0), &unit->gpu);
}

static int by_number(const void *a, const void *b) {
    const struct gsim_unit *x = a, *y = b;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool are_distinct(const struct gsim_unit *units, uint32_t n) {
    struct gsim_unit *sorted = PyMem_Malloc(n * sizeof *sorted + 1);
    bool is_fine = true;
    if (!sorted) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(sorted, units, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_number);
    for (uint32_t u = 1; u < n && is_fine; u++)
        if (by_number(&sorted[u - 1], &sorted[u]) == 0) {
            PyErr_Format(PyExc_ValueError, "GPU %lu is named twice", (unsigned long)sorted[u].gpu);
            is_fine = false;
        }
    PyMem_Free(sorted);
    return is_fine;
}

struct gsim_unit *gsim_py_units(const struct gsim_ctx *ctx, PyObject *list, uint32_t *n) {
    PyObject *items = PySequence_Fast(list, "units are a list of GPUs");
    if (!items)
        return NULL;
    Py_ssize_t size = PySequence_Fast_GET_SIZE(items);
    bool is_fine = size > 0 && size <= GSIM_MAX_GANG;
    if (!is_fine)
        PyErr_SetString(PyExc_ValueError, "units are one GPU at least");
    struct gsim_unit *units = is_fine ? PyMem_Malloc((size_t)size * sizeof *units) : NULL;
    if (is_fine && !units)
        PyErr_NoMemory();
    is_fine = units != NULL;
    for (Py_ssize_t i = 0; is_fine && i < size; i++)
        is_fine = take_unit(ctx, PySequence_Fast_GET_ITEM(items, i), &units[i]);
    Py_DECREF(items);
    *n = (uint32_t)size;
    if (is_fine && are_distinct(units, *n))
        return units;
    PyMem_Free(units);
    return NULL;
}

PyObject *gsim_py_units_list(const struct gsim_unit *units, uint32_t n) {
    PyObject *list = PyList_New(n);
    for (uint32_t u = 0; list && u < n; u++) {
        PyObject *item = units[u].slot ? Py_BuildValue("(II)", units[u].gpu, units[u].slot)
                                       : PyLong_FromUnsignedLong(units[u].gpu);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, u, item);
    }
    return list;
}

/* --- arrangements ----------------------------------------------------------------------------- */

static bool take_int(PyObject *object, const char *name, int64_t least, int64_t most,
                     int64_t *out) {
    PyObject *value = gsim_py_get(object, name);
    if (!value)
        return false;
    *out = PyLong_AsLongLong(value);
    Py_DECREF(value);
    if (*out == -1 && PyErr_Occurred())
        return false;
    if (*out >= least && *out <= most)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: %lld is not between %lld and %lld", name, (long long)*out,
                 (long long)least, (long long)most);
    return false;
}

static bool take_choice(PyObject *object, const char *name, const char *choices, int *out) {
    PyObject *value = gsim_py_get(object, name);
    *out = value ? gsim_py_choice(value, name, choices) : -1;
    Py_XDECREF(value);
    return *out >= 0;
}

static bool take_flag(PyObject *object, const char *name, bool *out) {
    PyObject *value = gsim_py_get(object, name);
    int is_true = value ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    *out = is_true > 0;
    return is_true >= 0;
}

/* Times of arrangements are far below the clock's end, so that sums of them stay times. */
static const int64_t most = GSIM_TIME_MAX;

static bool take_lane_rest(PyObject *object, struct gsim_lane *lane) {
    int64_t n, pieces, bound, slice, hint;
    int choice;
    switch (lane->discipline) {
    case GSIM_DISCIPLINE_RR:
        if (!take_choice(object, "turns", turns_rules, &choice) ||
            !take_int(object, "most_vgpus", 0, UINT16_MAX, &n))
            return false;
        lane->slices = (struct gsim_lane_slices){(enum gsim_turns_rule)choice, (uint16_t)n};
        return true;
    case GSIM_DISCIPLINE_PRIORITY:
    case GSIM_DISCIPLINE_PADDING:
        if (!take_choice(object, "stop", gsim_py_stops, &choice) ||
            !take_int(object, "in_flight", 0, most, &n) ||
            !take_int(object, "pieces", 0, most, &pieces) ||
            !take_int(object, "bound_ns", 0, most, &bound) ||
            !take_int(object, "slice_ns", 0, most, &slice) ||
            !take_int(object, "hint_ns", 0, most, &hint))
            return false;
        lane->urgent =
            (struct gsim_lane_urgency){(enum gsim_stop)choice, n, pieces, bound, slice, hint};
        return true;
    case GSIM_DISCIPLINE_BOUNDARY:
        return take_flag(object, "is_fair", &lane->whole.is_fair);
    default:
        return true;
    }
}

static bool take_gate(PyObject *object, struct gsim_lane_gate *gate) {
    int opens;
    int64_t rank, below_sms, bound, ahead, wait, whole;
    if (!take_choice(object, "opens", gates, &opens) ||
        !take_int(object, "rank", 0, UINT16_MAX, &rank) ||
        !take_int(object, "below_sms", 0, UINT16_MAX, &below_sms) ||
        !take_int(object, "bound_ppm", 0, GSIM_PPM, &bound) ||
        !take_int(object, "ahead_ppm", 0, GSIM_PPM, &ahead) ||
        !take_int(object, "wait_ns", 0, most, &wait) ||
        !take_int(object, "whole_ns", 0, most, &whole))
        return false;
    *gate = (struct gsim_lane_gate){(enum gsim_gate)opens,
                                    (uint16_t)rank,
                                    (uint16_t)below_sms,
                                    (uint32_t)bound,
                                    (uint32_t)ahead,
                                    wait,
                                    whole};
    return true;
}

static bool take_atoms(PyObject *object, struct gsim_lane_atoms *atoms) {
    int64_t slip;
    if (!take_int(object, "atom_ns", 0, most, &atoms->atom_ns) ||
        !take_flag(object, "borrows", &atoms->borrows) ||
        !take_int(object, "slip_ppm", 0, GSIM_PPM, &slip))
        return false;
    atoms->slip_ppm = (uint32_t)slip;
    return true;
}

static bool take_lane(PyObject *object, struct gsim_lane *lane) {
    int discipline;
    int64_t first_sm, n_sms, cap;
    if (!take_choice(object, "discipline", disciplines, &discipline) ||
        !take_int(object, "first_sm", 0, UINT16_MAX, &first_sm) ||
        !take_int(object, "n_sms", 0, UINT16_MAX, &n_sms) ||
        !take_int(object, "cap_ppm", 0, GSIM_PPM, &cap) ||
        !take_int(object, "quantum_ns", GSIM_QUANTUM_LONG, most, &lane->quantum_ns) ||
        !take_int(object, "idle_release_ns", 0, most, &lane->idle_release_ns) ||
        !take_flag(object, "ends_at_boundary", &lane->ends_at_boundary) ||
        !take_flag(object, "caps_launches", &lane->caps_launches) ||
        !take_gate(object, &lane->gate) || !take_atoms(object, &lane->atoms))
        return false;
    lane->discipline = (enum gsim_discipline)discipline;
    lane->first_sm = (uint16_t)first_sm;
    lane->n_sms = (uint16_t)n_sms;
    lane->cap_ppm = (uint32_t)cap;
    return take_lane_rest(object, lane);
}

static bool take_entry(const struct gsim_ctx *ctx, PyObject *object, uint16_t n_lanes,
                       struct gsim_entry *entry) {
    int64_t lane, priority, share;
    PyObject *job = gsim_py_get(object, "job");
    bool is_there = job && gsim_py_slot(ctx, job, &entry->job);
    Py_XDECREF(job);
    if (!is_there || !take_int(object, "lane", 0, n_lanes - 1, &lane) ||
        !take_int(object, "quantum_ns", GSIM_QUANTUM_LONG, most, &entry->quantum_ns) ||
        !take_int(object, "priority", INT32_MIN, INT32_MAX, &priority) ||
        !take_int(object, "weight", 0, INT32_MAX, &entry->weight) ||
        !take_int(object, "mem_cap_bytes", 0, most, &entry->mem_cap_bytes) ||
        !take_flag(object, "memory_yields", &entry->memory_yields) ||
        !take_flag(object, "keeps_kernels", &entry->keeps_kernels) ||
        !take_int(object, "launch_cap", 0, most, &entry->launch_cap) ||
        !take_int(object, "launch_refill_ns", 0, most, &entry->launch_refill_ns) ||
        !take_int(object, "launch_share_ppm", 0, GSIM_PPM, &share))
        return false;
    entry->lane = (uint16_t)lane;
    entry->priority = (int32_t)priority;
    entry->launch_share_ppm = (uint32_t)share;
    return true;
}

static bool take_migration(PyObject *object, struct gsim_migration_rule *rule) {
    return take_flag(object, "pipeline", &rule->pipeline) &&
           take_flag(object, "early_start", &rule->early_start) &&
           take_flag(object, "evicts_lru", &rule->evicts_lru) &&
           take_flag(object, "predict_by_template", &rule->predict_by_template) &&
           take_int(object, "missed_ppm", 0, GSIM_PPM, &rule->missed_ppm) &&
           take_int(object, "spare_ppm", 0, GSIM_PPM, &rule->spare_ppm);
}

/* The list of an attribute; NULL and an exception unless it has `least` to `most` items. */
static PyObject *take_list(PyObject *object, const char *name, Py_ssize_t least,
                           Py_ssize_t longest) {
    PyObject *value = gsim_py_get(object, name);
    PyObject *list = value ? PySequence_Fast(value, "lanes and entries are lists") : NULL;
    Py_XDECREF(value);
    if (!list ||
        (PySequence_Fast_GET_SIZE(list) >= least && PySequence_Fast_GET_SIZE(list) <= longest))
        return list;
    PyErr_Format(PyExc_ValueError, "an arrangement has %zd to %zd %s", least, longest, name);
    Py_DECREF(list);
    return NULL;
}

static bool take_lanes(PyObject *object, struct gsim_arrangement *out, struct gsim_arena *arena) {
    PyObject *list = take_list(object, "lanes", 1, 256);
    if (!list)
        return false;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    struct gsim_lane *lanes = gsim_arena_array(arena, (size_t)n, sizeof *lanes);
    bool is_fine = lanes != NULL;
    if (!is_fine)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; is_fine && i < n; i++)
        is_fine = take_lane(PySequence_Fast_GET_ITEM(list, i), &lanes[i]);
    out->lanes = lanes;
    out->n_lanes = (uint16_t)n;
    Py_DECREF(list);
    return is_fine;
}

static bool take_entries(const struct gsim_ctx *ctx, PyObject *object, struct gsim_arrangement *out,
                         struct gsim_arena *arena) {
    PyObject *list = take_list(object, "entries", 0, GSIM_MAX_GANG);
    if (!list)
        return false;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    struct gsim_entry *entries = gsim_arena_array(arena, (size_t)n, sizeof *entries);
    bool is_fine = entries != NULL;
    if (!is_fine)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; is_fine && i < n; i++)
        is_fine = take_entry(ctx, PySequence_Fast_GET_ITEM(list, i), out->n_lanes, &entries[i]);
    out->entries = entries;
    out->n_entries = (uint32_t)n;
    Py_DECREF(list);
    return is_fine;
}

const struct gsim_arrangement *gsim_py_arrangement(const struct gsim_ctx *ctx, PyObject *object,
                                                   struct gsim_arena *arena) {
    struct gsim_arrangement *out = gsim_arena_alloc(arena, sizeof *out);
    int memory;
    int64_t max_clients;
    if (!out) {
        PyErr_NoMemory();
        return NULL;
    }
    if (!take_lanes(object, out, arena) || !take_entries(ctx, object, out, arena) ||
        !take_choice(object, "memory", memories, &memory) ||
        !take_migration(object, &out->migration) ||
        !take_int(object, "max_clients", 0, UINT16_MAX, &max_clients) ||
        !take_flag(object, "is_served", &out->is_served))
        return NULL;
    out->memory = (enum gsim_memory)memory;
    out->max_clients = (uint16_t)max_clients;
    return out;
}
