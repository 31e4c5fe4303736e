/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan in Python: verbs return whether the job fits. A verb that breaks a rule raises at its
 * line, with the core's message. */
#include "binding.h"

#include "policies/lib/settings.h"

struct plan {
    PyObject_HEAD struct gsim_py_world *world;
};

static void dealloc(PyObject *self) {
    Py_DECREF(((struct plan *)self)->world);
    PyObject_Free(self);
}

/* What a verb needs: the context, the plan, and how many errors there were before it. */
struct verb {
    struct gsim_ctx *ctx;
    struct gsim_plan *plan;
    int64_t n_errors;
};

static bool begin(PyObject *self, struct verb *verb) {
    struct gsim_py_world *world = ((struct plan *)self)->world;
    verb->plan = gsim_py_plan(world);
    verb->ctx = verb->plan ? gsim_py_ctx(world) : NULL;
    if (verb->ctx)
        verb->n_errors = verb->ctx->log->n_errors;
    return verb->ctx != NULL;
}

/* The log has the reason why the verb broke a rule: the exception says it at the policy's line. */
static bool is_allowed(const struct verb *verb) {
    const struct gsim_log *log = verb->ctx->log;
    if (log->n_errors == verb->n_errors)
        return true;
    PyErr_SetString(gsim_py_error, log->n_errors <= GSIM_LOG_ENTRIES
                                       ? log->errors[log->n_errors - 1].text
                                       : "the policy broke a rule");
    return false;
}

static PyObject *answer(const struct verb *verb, bool is_done) {
    return is_allowed(verb) ? PyBool_FromLong(is_done) : NULL;
}

/* --- verbs of a job --------------------------------------------------------------------------- */

static bool take_number(PyObject *object, const char *what, int64_t least, int64_t most,
                        int64_t *out) {
    if (!object || object == Py_None)
        return true;
    *out = PyLong_AsLongLong(object);
    if (*out == -1 && PyErr_Occurred())
        return false;
    if (*out >= least && *out <= most)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: %lld is not between %lld and %lld", what, (long long)*out,
                 (long long)least, (long long)most);
    return false;
}

/* (job, rule="consolidate", *, gpus, share_ppm, cpus_milli, within, keeps_rate): the shape that the
 * trace asks for, with the given values in its place. The form names the verb, for errors. */
static bool take_shape(const struct gsim_ctx *ctx, const char *form, PyObject *args,
                       PyObject *named, gsim_slot *slot, struct gsim_shape *shape) {
    static char *names[] = {"job",        "rule",   "gpus",       "share_ppm",
                            "cpus_milli", "within", "keeps_rate", NULL};
    PyObject *job, *rule = NULL, *gpus = NULL, *share = NULL, *cpus = NULL, *within = NULL;
    int keeps_rate = -1;
    if (!PyArg_ParseTupleAndKeywords(args, named, form, names, &job, &rule, &gpus, &share, &cpus,
                                     &within, &keeps_rate) ||
        !gsim_py_slot(ctx, job, slot))
        return false;
    int choice = rule && rule != Py_None ? gsim_py_choice(rule, "rule", gsim_py_rules) : 0;
    if (choice < 0)
        return false;
    *shape =
        gsim_shape_of(ctx->view, *slot, gsim_settings_rule_of(ctx, *slot, (enum gsim_rule)choice));
    int64_t n_gpus = shape->gpus, share_ppm = shape->share_ppm, node = -1;
    if (!take_number(gpus, "gpus", 1, GSIM_MAX_GANG, &n_gpus) ||
        !take_number(share, "share_ppm", 1, GSIM_PPM, &share_ppm) ||
        !take_number(cpus, "cpus_milli", 0, GSIM_TIME_MAX, &shape->cpus_milli) ||
        !take_number(within, "within", 0, (int64_t)ctx->view->cluster.n_nodes - 1, &node))
        return false;
    shape->gpus = (uint32_t)n_gpus;
    shape->share_ppm = (uint32_t)share_ppm;
    shape->within = (uint32_t)(node + 1);
    shape->keeps_rate = keeps_rate > 0;
    return true;
}

static PyObject *place(PyObject *self, PyObject *args, PyObject *named) {
    struct verb verb;
    struct gsim_shape shape;
    gsim_slot slot;
    if (!begin(self, &verb) || !take_shape(verb.ctx, "O|O$OOOOp:place", args, named, &slot, &shape))
        return NULL;
    return answer(&verb, gsim_plan_place(verb.plan, slot, &shape));
}

static PyObject *move(PyObject *self, PyObject *args, PyObject *named) {
    struct verb verb;
    struct gsim_shape shape;
    gsim_slot slot;
    if (!begin(self, &verb) || !take_shape(verb.ctx, "O|O$OOOOp:move", args, named, &slot, &shape))
        return NULL;
    return answer(&verb, gsim_plan_move(verb.plan, slot, &shape));
}

static PyObject *place_named(PyObject *self, PyObject *const *args, Py_ssize_t n,
                             bool (*verb_of)(struct gsim_plan *plan, gsim_slot job,
                                             const struct gsim_unit *units, uint32_t n_units)) {
    struct verb verb;
    gsim_slot slot;
    uint32_t n_units;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "a job and a list of units are needed");
        return NULL;
    }
    if (!begin(self, &verb) || !gsim_py_slot(verb.ctx, args[0], &slot))
        return NULL;
    struct gsim_unit *units = gsim_py_units(verb.ctx, args[1], &n_units);
    if (!units)
        return NULL;
    bool is_done = verb_of(verb.plan, slot, units, n_units);
    PyMem_Free(units);
    return answer(&verb, is_done);
}

static PyObject *place_on(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return place_named(self, args, n, gsim_plan_place_on);
}

static PyObject *place_whole(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return place_named(self, args, n, gsim_plan_place_whole);
}

static PyObject *place_beside(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "units", "cpus_milli", "mem_bytes", NULL};
    PyObject *job, *list;
    long long cpus_milli = 0, mem_bytes = 0;
    struct verb verb;
    gsim_slot slot;
    uint32_t n_units;
    if (!begin(self, &verb) ||
        !PyArg_ParseTupleAndKeywords(args, named, "OO|LL:place_beside", names, &job, &list,
                                     &cpus_milli, &mem_bytes) ||
        !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    struct gsim_unit *units = gsim_py_units(verb.ctx, list, &n_units);
    if (!units)
        return NULL;
    bool is_done = gsim_plan_place_beside(verb.plan, slot, units, n_units,
                                          (struct gsim_host){cpus_milli, mem_bytes});
    PyMem_Free(units);
    return answer(&verb, is_done);
}

/* false: an exception is set. */
static bool take_way(PyObject *stop_text, PyObject *keep_text, enum gsim_stop *stop,
                     enum gsim_keep *keep) {
    int s = gsim_py_choice(stop_text, "stop", gsim_py_stops);
    int k = s < 0 ? -1 : gsim_py_choice(keep_text, "keep", gsim_py_keeps);
    if (k < 0)
        return false;
    *stop = (enum gsim_stop)s;
    *keep = (enum gsim_keep)k;
    return true;
}

static PyObject *move_on(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "units", "stop", "keep", NULL};
    PyObject *job, *list, *stop_text, *keep_text;
    struct verb verb;
    gsim_slot slot;
    enum gsim_stop stop;
    enum gsim_keep keep;
    uint32_t n_units;
    if (!begin(self, &verb) ||
        !PyArg_ParseTupleAndKeywords(args, named, "OOUU:move_on", names, &job, &list, &stop_text,
                                     &keep_text) ||
        !gsim_py_slot(verb.ctx, job, &slot) || !take_way(stop_text, keep_text, &stop, &keep))
        return NULL;
    struct gsim_unit *units = gsim_py_units(verb.ctx, list, &n_units);
    if (!units)
        return NULL;
    bool is_done = gsim_plan_move_on(verb.plan, slot, units, n_units, stop, keep);
    PyMem_Free(units);
    return answer(&verb, is_done);
}

static PyObject *preempt(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "stop", "keep", NULL};
    PyObject *job, *stop_text, *keep_text;
    struct verb verb;
    gsim_slot slot;
    enum gsim_stop stop;
    enum gsim_keep keep;
    if (!begin(self, &verb) ||
        !PyArg_ParseTupleAndKeywords(args, named, "OUU:preempt", names, &job, &stop_text,
                                     &keep_text) ||
        !gsim_py_slot(verb.ctx, job, &slot) || !take_way(stop_text, keep_text, &stop, &keep))
        return NULL;
    return answer(&verb, gsim_plan_preempt(verb.plan, slot, stop, keep));
}

static PyObject *end(PyObject *self, PyObject *job) {
    struct verb verb;
    gsim_slot slot;
    if (!begin(self, &verb) || !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    return answer(&verb, gsim_plan_end(verb.plan, slot));
}

static PyObject *batch(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "local", "summed", NULL};
    PyObject *job;
    struct verb verb;
    gsim_slot slot;
    unsigned int local, summed = 0;
    if (!begin(self, &verb) ||
        !PyArg_ParseTupleAndKeywords(args, named, "OI|I:batch", names, &job, &local, &summed) ||
        !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    return answer(&verb, gsim_plan_batch(verb.plan, slot,
                                         (struct gsim_batch){.local = local, .summed = summed}));
}

static PyObject *decline(PyObject *self, PyObject *job) {
    struct verb verb;
    gsim_slot slot;
    if (!begin(self, &verb) || !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    return answer(&verb, gsim_plan_decline(verb.plan, slot));
}

static PyObject *suppose_over(PyObject *self, PyObject *job) {
    struct verb verb;
    gsim_slot slot;
    if (!begin(self, &verb) || !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    return answer(&verb, gsim_plan_suppose_over(verb.plan, slot));
}

static PyObject *watch(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "kind", "threshold_ns", NULL};
    PyObject *job, *kind;
    long long threshold;
    struct verb verb;
    gsim_slot slot;
    if (!begin(self, &verb) ||
        !PyArg_ParseTupleAndKeywords(args, named, "OUL:watch", names, &job, &kind, &threshold) ||
        !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    int k = gsim_py_choice(kind, "kind", gsim_py_watches);
    if (k < 0)
        return NULL;
    gsim_plan_watch(verb.plan, slot, (enum gsim_watch_kind)k, threshold);
    return is_allowed(&verb) ? Py_NewRef(Py_None) : NULL;
}

/* --- verbs of GPUs and of the clock ----------------------------------------------------------- */

static PyObject *arrange(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    struct verb verb;
    uint32_t n_units;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "a list of units and an arrangement are needed");
        return NULL;
    }
    if (!begin(self, &verb))
        return NULL;
    struct gsim_arena *arena = gsim_arena_new(); /* the plan copies the arrangement */
    struct gsim_unit *units = arena ? gsim_py_units(verb.ctx, args[0], &n_units) : NULL;
    const struct gsim_arrangement *arrangement =
        units ? gsim_py_arrangement(verb.ctx, args[1], arena) : NULL;
    bool is_done = arrangement && gsim_plan_arrange(verb.plan, units, n_units, arrangement);
    PyMem_Free(units);
    gsim_arena_free(arena);
    if (!arrangement)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    return answer(&verb, is_done);
}

static PyObject *partition(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"gpu", "layout", NULL};
    PyObject *number;
    const char *layout;
    struct verb verb;
    uint32_t gpu;
    if (!begin(self, &verb) ||
        !PyArg_ParseTupleAndKeywords(args, named, "Os:partition", names, &number, &layout) ||
        !gsim_py_gpu(verb.ctx, number, &gpu))
        return NULL;
    return answer(&verb, gsim_plan_partition(verb.plan, gpu, layout));
}

static PyObject *wake(PyObject *self, PyObject *time) {
    struct verb verb;
    if (!begin(self, &verb))
        return NULL;
    long long time_ns = time == Py_None ? GSIM_NEVER : PyLong_AsLongLong(time);
    if (time_ns == -1 && PyErr_Occurred())
        return NULL;
    gsim_plan_wake(verb.plan, time_ns);
    return is_allowed(&verb) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *mark(PyObject *self, PyObject *unused) {
    struct verb verb;
    (void)unused;
    return begin(self, &verb) ? PyLong_FromUnsignedLong(gsim_plan_mark(verb.plan)) : NULL;
}

static PyObject *rollback(PyObject *self, PyObject *to) {
    struct verb verb;
    if (!begin(self, &verb))
        return NULL;
    unsigned long at;
    if (!gsim_py_unsigned(to, &at))
        return NULL;
    if (at > gsim_plan_mark(verb.plan))
        return PyErr_Format(PyExc_ValueError, "%lu is no mark of this plan", at);
    gsim_plan_rollback(verb.plan, (uint32_t)at);
    Py_RETURN_NONE;
}

static PyObject *units(PyObject *self, PyObject *job) {
    struct verb verb;
    gsim_slot slot;
    const struct gsim_unit *list = NULL;
    if (!begin(self, &verb) || !gsim_py_slot(verb.ctx, job, &slot))
        return NULL;
    uint32_t n = gsim_plan_units(verb.plan, slot, &list);
    return gsim_py_units_list(list, n);
}

#define NAMED(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
#define LISTED(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL
static PyMethodDef methods[] = {
    {"place", NAMED(place),
     "place(job, rule='consolidate', *, gpus, share_ppm, cpus_milli, within, keeps_rate): starts "
     "or "
     "resumes the job; False: it does not fit."},
    {"place_on", LISTED(place_on), "place_on(job, units): on these units."},
    {"place_whole", LISTED(place_whole), "place_whole(job, units): with all of each unit."},
    {"place_beside", NAMED(place_beside),
     "place_beside(job, units, cpus_milli, mem_bytes): with this part of the host beside each."},
    {"preempt", NAMED(preempt), "preempt(job, stop, keep): the job gives up its units."},
    {"move", NAMED(move), "move(job, rule, *, ...): to other units, by way of the host."},
    {"move_on", NAMED(move_on), "move_on(job, units, stop, keep): to these, more or fewer."},
    {"end", end, METH_O, "end(job): ends the job before its work is done."},
    {"batch", NAMED(batch),
     "batch(job, local, summed=0): the batch of a GPU in a step, for a job that learns by a "
     "table."},
    {"decline", decline, METH_O, "decline(job): ends it without an end in the result."},
    {"suppose_over", suppose_over, METH_O,
     "suppose_over(job): treats it as ended; to be rolled back."},
    {"watch", NAMED(watch),
     "watch(job, kind, threshold_ns): on_watch is called when the job gets there."},
    {"arrange", LISTED(arrange), "arrange(units, arrangement): sets how the units share."},
    {"partition", NAMED(partition), "partition(gpu, layout): cuts an idle GPU into instances."},
    {"wake", wake, METH_O, "wake(time_ns): calls on_timer then; None: never."},
    {"mark", mark, METH_NOARGS, "mark(): the position in the plan."},
    {"rollback", rollback, METH_O, "rollback(mark): undoes every verb since."},
    {"units", units, METH_O, "units(job): the job's units in the plan's picture."},
    {0}};

static PyTypeObject type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gsim.Plan",
                            .tp_basicsize = sizeof(struct plan),
                            .tp_dealloc = dealloc,
                            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .tp_methods = methods,
                            .tp_doc = "The transaction that a decide fills."};

PyObject *gsim_py_plan_new(struct gsim_py_world *world) {
    struct plan *plan = PyObject_New(struct plan, &type);
    if (plan)
        plan->world = (struct gsim_py_world *)Py_NewRef((PyObject *)world);
    return (PyObject *)plan;
}

int gsim_py_verbs_ready(PyObject *module) {
    return PyModule_AddType(module, &type);
}
