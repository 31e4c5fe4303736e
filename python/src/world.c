/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view of a run in Python (gsim.View), and when it may be used. */
#include "binding.h"

#include "gsim/trace.h"

struct gsim_py_world *gsim_py_world_new(void) {
    return (struct gsim_py_world *)gsim_py_world_type.tp_alloc(&gsim_py_world_type, 0);
}

void gsim_py_world_close(struct gsim_py_world *world) {
    world->ctx = NULL;
    world->plan = NULL;
    for (size_t i = 0; i < sizeof world->part / sizeof *world->part; i++)
        Py_CLEAR(world->part[i]);
    Py_CLEAR(world->plan_object);
}

static void dealloc(PyObject *self) {
    gsim_py_world_close((struct gsim_py_world *)self);
    Py_TYPE(self)->tp_free(self);
}

void gsim_py_world_enter(struct gsim_py_world *world, struct gsim_ctx *ctx,
                         struct gsim_plan *plan) {
    world->ctx = ctx;
    world->plan = plan;
}

bool gsim_py_world_leave(struct gsim_py_world *world) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    bool is_clean = gsim_py_columns_end(world);
    world->ctx = NULL;
    world->plan = NULL;
    PyErr_Restore(type, value, trace);
    if (is_clean || PyErr_Occurred())
        return is_clean;
    PyErr_SetString(gsim_py_error,
                    "an array or a slice of a column of the view outlives its hook; keep a copy "
                    "(.copy(), .tolist()) of the values that are needed later");
    return false;
}

struct gsim_ctx *gsim_py_ctx(struct gsim_py_world *world) {
    if (!world->ctx)
        PyErr_SetString(gsim_py_error, "the view can only be used within a hook of its run");
    return world->ctx;
}

struct gsim_plan *gsim_py_plan(struct gsim_py_world *world) {
    if (!world->plan)
        PyErr_SetString(gsim_py_error, "a plan can only be used within the decide that it is of");
    return world->plan;
}

bool gsim_py_unsigned(PyObject *object, unsigned long *out) {
    PyObject *number = PyNumber_Index(object);
    *out = number ? PyLong_AsUnsignedLong(number) : (unsigned long)-1;
    Py_XDECREF(number);
    return *out != (unsigned long)-1 || !PyErr_Occurred();
}

bool gsim_py_slot(const struct gsim_ctx *ctx, PyObject *object, gsim_slot *slot) {
    unsigned long value;
    if (!gsim_py_unsigned(object, &value))
        return false;
    const struct gsim_view_jobs *jobs = &ctx->view->jobs;
    if (value < jobs->n_slots && jobs->state[value] != GSIM_FREE) {
        *slot = (gsim_slot)value;
        return true;
    }
    PyErr_Format(PyExc_IndexError, "slot %lu holds no job", value);
    return false;
}

bool gsim_py_gpu(const struct gsim_ctx *ctx, PyObject *object, uint32_t *gpu) {
    unsigned long value;
    if (!gsim_py_unsigned(object, &value))
        return false;
    if (value < ctx->view->cluster.n_gpus && !ctx->view->pool.is_used) {
        *gpu = (uint32_t)value;
        return true;
    }
    PyErr_Format(PyExc_IndexError, "there is no GPU %lu to name; the cluster has %lu%s", value,
                 (unsigned long)ctx->view->cluster.n_gpus,
                 ctx->view->pool.is_used ? ", in one pool" : "");
    return false;
}

static PyObject *get_now(PyObject *self, void *unused) {
    struct gsim_ctx *ctx = gsim_py_ctx((struct gsim_py_world *)self);
    (void)unused;
    return ctx ? PyLong_FromLongLong(ctx->view->now_ns) : NULL;
}

static PyObject *get_part(PyObject *self, void *part) {
    struct gsim_py_world *world = (struct gsim_py_world *)self;
    return gsim_py_ctx(world) ? gsim_py_part_of(world, (enum gsim_py_part)(uintptr_t)part) : NULL;
}

static PyObject *get_seed(PyObject *self, void *unused) {
    struct gsim_ctx *ctx = gsim_py_ctx((struct gsim_py_world *)self);
    (void)unused;
    return ctx ? PyLong_FromUnsignedLongLong(ctx->seed) : NULL;
}

static PyObject *get_replication(PyObject *self, void *unused) {
    struct gsim_ctx *ctx = gsim_py_ctx((struct gsim_py_world *)self);
    (void)unused;
    return ctx ? PyLong_FromUnsignedLongLong(ctx->replication) : NULL;
}

static PyGetSetDef members[] = {
    {"now_ns", get_now, NULL, "The time of this instant.", NULL},
    {"seed", get_seed, NULL, "The run's seed.", NULL},
    {"replication", get_replication, NULL, "The run's replication.", NULL},
    {"jobs", get_part, NULL, "Columns of active jobs, by slot.", (void *)GSIM_PY_JOBS},
    {"changes", get_part, NULL, "Jobs that changed since the last decide.",
     (void *)GSIM_PY_CHANGES},
    {"cluster", get_part, NULL, "Nodes and their GPUs.", (void *)GSIM_PY_CLUSTER},
    {"pool", get_part, NULL, "The divisible pool of reference=pai.", (void *)GSIM_PY_POOL},
    {"trace", get_part, NULL, "Static attributes of jobs, by their place in the trace.",
     (void *)GSIM_PY_TRACE},
    {0}};

PyTypeObject gsim_py_world_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gsim.View",
    .tp_basicsize = sizeof(struct gsim_py_world),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_methods = gsim_py_questions,
    .tp_getset = members,
    .tp_doc = "The world as a policy sees it; only valid within a hook."};

int gsim_py_world_ready(PyObject *module) {
    return PyModule_AddType(module, &gsim_py_world_type);
}
