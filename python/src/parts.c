/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the view: jobs, changes, cluster, pool and trace. Columns are made when they are
 * asked for, once in a hook. */
#include "binding.h"

#include <string.h>

#include "traces/cells.h"

struct part {
    PyObject_HEAD struct gsim_py_world *world;
};

static void dealloc(PyObject *self) {
    Py_DECREF(((struct part *)self)->world);
    PyObject_Free(self);
}

static struct gsim_ctx *ctx_of(PyObject *self) {
    return gsim_py_ctx(((struct part *)self)->world);
}

/* --- columns ---------------------------------------------------------------------------------- */

enum { INT64, UINT32, UINT64, UINT16, UINT8, BOOL };
static const struct {
    const char *format;
    Py_ssize_t size;
} kinds[] = {[INT64] = {"q", 8},  [UINT32] = {"I", 4}, [UINT64] = {"Q", 8},
             [UINT16] = {"H", 2}, [UINT8] = {"B", 1},  [BOOL] = {"?", 1}};

/* Every column: part, name, kind, where it stands, how many items it has, what it is. */
#define COLUMNS(X)                                                                                 \
    X(jobs, active, UINT32, v->jobs.active, v->jobs.n_active,                                      \
      "The active slots, in no order that means anything.")                                        \
    X(jobs, index, UINT32, v->jobs.index, v->jobs.n_slots, "Places in the trace.")                 \
    X(jobs, submit_ns, INT64, v->jobs.submit_ns, v->jobs.n_slots, "Times of arrival.")             \
    X(jobs, gpus, UINT32, v->jobs.gpus, v->jobs.n_slots, "GPUs that jobs ask for.")                \
    X(jobs, share_ppm, UINT32, v->jobs.share_ppm, v->jobs.n_slots,                                 \
      "Share of each GPU, in millionths.")                                                         \
    X(jobs, state, UINT8, v->jobs.state, v->jobs.n_slots, "States: gsim.FREE, gsim.QUEUED, ...")   \
    X(jobs, changed_ns, INT64, v->jobs.changed_ns, v->jobs.n_slots, "When the state began.")       \
    X(jobs, service_ns, INT64, v->jobs.service_ns, v->jobs.n_slots,                                \
      "True durations; oracles only.")                                                             \
    X(changes, arrived, UINT32, v->changes.arrived, v->changes.n_arrived, "Slots of new jobs.")    \
    X(changes, completed, UINT32, v->changes.completed, v->changes.n_completed,                    \
      "Slots of jobs that ended.")                                                                 \
    X(changes, settled, UINT32, v->changes.settled, v->changes.n_settled,                          \
      "Slots of jobs with a transition that ended.")                                               \
    X(cluster, node_is_down, BOOL, v->cluster.node_is_down, v->cluster.n_nodes,                    \
      "By node: whether it has failed.")                                                           \
    X(cluster, node_of_gpu, UINT32, v->cluster.node_of_gpu, v->cluster.n_gpus,                     \
      "By GPU: its node.")                                                                         \
    X(cluster, node_first_gpu, UINT32, v->cluster.node_first_gpu, v->cluster.n_nodes + 1,          \
      "By node: its first GPU; one entry more than nodes.")                                        \
    X(cluster, hbm_bytes, INT64, v->cluster.hbm_bytes, v->cluster.n_gpus, "By GPU: its memory.")   \
    X(cluster, mem_used, INT64, v->cluster.mem_used, v->cluster.n_gpus,                            \
      "By GPU: memory reserved, where the trace gives memory.")                                    \
    X(cluster, is_arranged, BOOL, v->cluster.is_arranged, v->cluster.n_gpus,                       \
      "By GPU: whether it is shared.")                                                             \
    X(cluster, clients, UINT32, v->cluster.clients, v->cluster.n_gpus,                             \
      "By GPU: jobs placed on it while it is shared.")                                             \
    X(cluster, client_limit, UINT32, v->cluster.client_limit, v->cluster.n_gpus,                   \
      "By GPU: the most clients that its arrangement allows.")                                     \
    X(cluster, type, UINT16, v->cluster.type, v->cluster.n_gpus,                                   \
      "By GPU: equal numbers are equal devices.")

enum column_id {
#define ID(part, name, kind, items, n, help) COLUMN_##name,
    COLUMNS(ID)
#undef ID
        N_COLUMNS
};
_Static_assert((int)N_COLUMNS <= (int)GSIM_PY_COLUMNS, "a world has room for every column");

static PyObject *new_column(struct gsim_py_world *world, enum column_id id) {
    const struct gsim_view *v = world->ctx->view;
    switch (id) {
#define CASE(part, name, kind, items, n, help)                                                     \
    case COLUMN_##name:                                                                            \
        return gsim_py_column(world, items, (Py_ssize_t)(n), kinds[kind].format, kinds[kind].size);
        COLUMNS(CASE)
#undef CASE
    default:
        return NULL;
    }
}

static PyObject *get_column(PyObject *self, void *id) {
    struct gsim_py_world *world = ((struct part *)self)->world;
    PyObject **cached = &world->column[(uintptr_t)id];
    if (!gsim_py_ctx(world))
        return NULL;
    if ((enum column_id)(uintptr_t)id == COLUMN_service_ns && world->ctx->view->jobs.n_slots > 0 &&
        !world->ctx->view->jobs.service_ns) {
        PyErr_SetString(gsim_py_error, "true durations are hidden from a policy; only an oracle "
                                       "(oracle = True in its class) sees them");
        return NULL;
    }
    if (!*cached)
        *cached = new_column(world, (enum column_id)(uintptr_t)id);
    return Py_XNewRef(*cached);
}

/* --- numbers ---------------------------------------------------------------------------------- */

#define NUMBERS(X)                                                                                 \
    X(jobs, n_slots, v->jobs.n_slots, "Every slot is below this.")                                 \
    X(jobs, n_active, v->jobs.n_active, "Active jobs.")                                            \
    X(cluster, n_nodes, v->cluster.n_nodes, "Nodes.")                                              \
    X(cluster, n_gpus, v->cluster.n_gpus, "GPUs.")                                                 \
    X(cluster, widest_node, v->cluster.widest_node, "GPUs of the largest node.")                   \
    X(cluster, n_idle_gpus, v->cluster.n_idle_gpus,                                                \
      "GPUs wholly free after the transitions under way.")                                         \
    X(cluster, n_failures, v->cluster.n_failures, "Failures of nodes so far.")                     \
    X(cluster, n_repairs, v->cluster.n_repairs, "Nodes that have come back from a failure.")       \
    X(pool, is_used, v->pool.is_used, "Whether there is a pool in place of nodes.")                \
    X(pool, free_ppm, v->pool.free_ppm, "Free GPUs, in millionths.")                               \
    X(pool, free_cpus_milli, v->pool.free_cpus_milli, "Free CPUs, in thousandths.")                \
    X(trace, n_jobs, v->trace->n_jobs, "Jobs of the trace.")                                       \
    X(trace, origin_s, v->trace->origin_s,                                                         \
      "The date of time 0 in seconds since 1970, on the log's clock; 0: not known.")

#define GET_NUMBER(part, name, value, help)                                                        \
    static PyObject *get_##part##_##name(PyObject *self, void *unused) {                           \
        struct gsim_ctx *ctx = ctx_of(self);                                                       \
        (void)unused;                                                                              \
        if (!ctx)                                                                                  \
            return NULL;                                                                           \
        const struct gsim_view *v = ctx->view;                                                     \
        return PyLong_FromLongLong((long long)(value));                                            \
    }
NUMBERS(GET_NUMBER)
#undef GET_NUMBER

/* Members of a part: the rows of both lists that name it. */
#define COLUMN_MEMBER(part, name, kind, items, n, help)                                            \
    {#part "." #name, get_column, NULL, help, (void *)(uintptr_t)COLUMN_##name},
#define NUMBER_MEMBER(part, name, value, help)                                                     \
    {#part "." #name, get_##part##_##name, NULL, help, NULL},
static const PyGetSetDef all_members[] = {COLUMNS(COLUMN_MEMBER) NUMBERS(NUMBER_MEMBER)};
enum { N_MEMBERS = sizeof all_members / sizeof *all_members };

/* --- the trace -------------------------------------------------------------------------------- */

static bool take_job(const struct gsim_trace *trace, PyObject *object, uint32_t *job) {
    unsigned long value;
    if (!gsim_py_unsigned(object, &value))
        return false;
    if (value < trace->n_jobs) {
        *job = (uint32_t)value;
        return true;
    }
    PyErr_Format(PyExc_IndexError, "the trace has no job %lu; it has %lu", value,
                 (unsigned long)trace->n_jobs);
    return false;
}

/* A column's name in the units of its cells ("limit_ns"). */
static const char *const column_names[GSIM_COL_COUNT] = {
#define GSIM_COLUMN(symbol, name, kind, help) #symbol,
#include "gsim/columns.def"
#undef GSIM_COLUMN
};

static bool take_column(PyObject *object, enum gsim_column *column) {
    const char *name = PyUnicode_AsUTF8(object);
    if (!name)
        return false;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (PyOS_stricmp(column_names[c], name) == 0) {
            *column = (enum gsim_column)c;
            return true;
        }
    PyErr_Format(gsim_py_error,
                 "no column of a trace is called '%s'; there are limit_ns, mem_bytes, "
                 "user, vc, model, class, priority, ... (gsim.trace_columns)",
                 name);
    return false;
}

static PyObject *cell(const struct gsim_trace *trace, enum gsim_column column, uint32_t job) {
    int64_t value = gsim_trace_get(trace, column, job);
    if (!trace->column[column] || value == -1)
        Py_RETURN_NONE;
    if (!gsim_cell_is_text(column))
        return PyLong_FromLongLong(value);
    char text[GSIM_MAX_FIELD_BYTES + 1];
    gsim_cell_format(trace, column, value, text, sizeof text);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *trace_id(PyObject *self, PyObject *job_object) {
    struct gsim_ctx *ctx = ctx_of(self);
    uint32_t job;
    if (!ctx || !take_job(ctx->view->trace, job_object, &job))
        return NULL;
    const char *id = gsim_trace_id(ctx->view->trace, job);
    return PyUnicode_DecodeUTF8(id, (Py_ssize_t)strlen(id), "replace");
}

static PyObject *trace_get(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    struct gsim_ctx *ctx = ctx_of(self);
    enum gsim_column column;
    uint32_t job;
    if (ctx && n != 2)
        PyErr_SetString(PyExc_TypeError, "get(column, job) takes two arguments");
    if (!ctx || n != 2 || !take_column(args[0], &column) ||
        !take_job(ctx->view->trace, args[1], &job))
        return NULL;
    return cell(ctx->view->trace, column, job);
}

static PyObject *trace_column(PyObject *self, PyObject *name) {
    struct gsim_ctx *ctx = ctx_of(self);
    enum gsim_column column;
    if (!ctx || !take_column(name, &column))
        return NULL;
    const struct gsim_trace *trace = ctx->view->trace;
    PyObject *list = PyList_New(trace->n_jobs);
    for (uint32_t job = 0; list && job < trace->n_jobs; job++) {
        PyObject *item = cell(trace, column, job);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, job, item);
    }
    return list;
}

static PyObject *trace_line(PyObject *self, PyObject *job_object) {
    struct gsim_ctx *ctx = ctx_of(self);
    uint32_t job;
    if (!ctx || !take_job(ctx->view->trace, job_object, &job))
        return NULL;
    return PyLong_FromLongLong(gsim_trace_line(ctx->view->trace, job));
}

static PyMethodDef trace_methods[] = {
    {"id", trace_id, METH_O, "id(job): the job's id in the trace."},
    {"line", trace_line, METH_O, "line(job): the line of the job in its file."},
    {"get", (PyCFunction)(void (*)(void))trace_get, METH_FASTCALL,
     "get(column, job): a cell in base units, None where it is empty."},
    {"column", trace_column, METH_O, "column(name): a copy of a column, None where it is empty."},
    {0}};

/* --- types ------------------------------------------------------------------------------------ */

static PyGetSetDef members[5][N_MEMBERS + 1];
static PyTypeObject types[] = {
#define TYPE(id, called, help)                                                                     \
    [id] = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gsim._gsim." called,                         \
            .tp_basicsize = sizeof(struct part),                                                   \
            .tp_dealloc = dealloc,                                                                 \
            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,                    \
            .tp_getset = members[id],                                                              \
            .tp_doc = help}
    TYPE(GSIM_PY_JOBS, "Jobs", "Columns of active jobs, by slot."),
    TYPE(GSIM_PY_CHANGES, "Changes", "Jobs that changed since the last decide."),
    TYPE(GSIM_PY_CLUSTER, "Cluster", "Nodes and their GPUs."),
    TYPE(GSIM_PY_POOL, "Pool", "A divisible pool in place of nodes."),
    TYPE(GSIM_PY_TRACE, "Trace", "Static attributes of jobs, by their place in the trace."),
#undef TYPE
};
static const char *const part_names[] = {"jobs", "changes", "cluster", "pool", "trace"};

PyObject *gsim_py_part_of(struct gsim_py_world *world, enum gsim_py_part part) {
    if (!world->part[part]) {
        struct part *new = PyObject_New(struct part, &types[part]);
        if (!new)
            return NULL;
        new->world = (struct gsim_py_world *)Py_NewRef((PyObject *)world);
        world->part[part] = (PyObject *)new;
    }
    return Py_NewRef(world->part[part]);
}

static void fill_members(int part) {
    size_t prefix = strlen(part_names[part]);
    PyGetSetDef *at = members[part];
    for (int m = 0; m < N_MEMBERS; m++)
        if (strncmp(all_members[m].name, part_names[part], prefix) == 0 &&
            all_members[m].name[prefix] == '.') {
            *at = all_members[m];
            at++->name += prefix + 1;
        }
}

/* {name in base units: its description} */
static int add_trace_columns(PyObject *module) {
    PyObject *all = PyDict_New();
    for (int c = 0; all && c < GSIM_COL_COUNT; c++) {
        char name[64];
        size_t n = strlen(column_names[c]);
        for (size_t i = 0; i <= n; i++)
            name[i] = (char)Py_TOLOWER(column_names[c][i]);
        PyObject *help = PyUnicode_FromString(gsim_columns[c].help);
        if (!help || PyDict_SetItemString(all, name, help) < 0)
            Py_CLEAR(all);
        Py_XDECREF(help);
    }
    int status = all ? PyModule_AddObjectRef(module, "trace_columns", all) : -1;
    Py_XDECREF(all);
    return status;
}

int gsim_py_parts_ready(PyObject *module) {
    types[GSIM_PY_TRACE].tp_methods = trace_methods;
    for (int part = 0; part < 5; part++) {
        fill_members(part);
        if (PyModule_AddType(module, &types[part]) < 0)
            return -1;
    }
    return add_trace_columns(module);
}
