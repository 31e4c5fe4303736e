/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of the view as memoryviews, without a copy. The memory belongs to the run and may move
 * after the hook, so that the hook's end takes all memoryviews back: a later use of one raises. A
 * slice of one, or an array of numpy over it, cannot be taken back. Such a run ends with an error,
 * and the column keeps the run's memory until the array is gone. */
#include "binding.h"

struct column {
    PyObject_HEAD struct gsim_py_world *world;
    const void *items;
    Py_ssize_t n, item_size;
    const char *format;
    uint32_t n_exports;
    struct gsim_arena *kept; /* the run's memory, where an array outlives the hook */
};

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    struct column *column = (struct column *)self;
    if (!column->world->ctx) {
        PyErr_SetString(PyExc_BufferError, "the column was of a hook that has ended");
        return -1;
    }
    if (flags & PyBUF_WRITABLE && (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "columns of the view are read-only");
        return -1;
    }
    *view = (Py_buffer){.buf = (void *)(uintptr_t)(column->n ? column->items : column->format),
                        .obj = Py_NewRef(self),
                        .len = column->n * column->item_size,
                        .itemsize = column->item_size,
                        .readonly = 1,
                        .ndim = 1,
                        .format = (char *)(uintptr_t)column->format,
                        .shape = &column->n,
                        .strides = &column->item_size};
    column->n_exports++;
    column->world->n_exports++;
    return 0;
}

static void release_buffer(PyObject *self, Py_buffer *view) {
    struct column *column = (struct column *)self;
    (void)view;
    column->world->n_exports--;
    if (--column->n_exports == 0 && column->kept) {
        gsim_arena_free(column->kept);
        column->kept = NULL;
    }
}

static void dealloc(PyObject *self) {
    Py_DECREF(((struct column *)self)->world);
    PyObject_Free(self);
}

static PyBufferProcs buffer = {.bf_getbuffer = get_buffer, .bf_releasebuffer = release_buffer};
static PyTypeObject type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gsim._gsim.Column",
                            .tp_basicsize = sizeof(struct column),
                            .tp_dealloc = dealloc,
                            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .tp_as_buffer = &buffer,
                            .tp_doc = "A column of the view."};

PyObject *gsim_py_column(struct gsim_py_world *world, const void *items, Py_ssize_t n,
                         const char *format, Py_ssize_t item_size) {
    struct column *column = PyObject_New(struct column, &type);
    if (!column)
        return NULL;
    column->world = (struct gsim_py_world *)Py_NewRef((PyObject *)world);
    column->items = items;
    column->n = items ? n : 0;
    column->item_size = item_size;
    column->format = format;
    column->n_exports = 0;
    column->kept = NULL;
    PyObject *memory = PyMemoryView_FromObject((PyObject *)column);
    Py_DECREF(column);
    return memory;
}

/* Takes a memoryview back. It stays with its column if an array uses its buffer. */
static void take_back(PyObject *memory) {
    PyObject *release = gsim_py_get(memory, "release");
    PyObject *done = release ? PyObject_CallNoArgs(release) : NULL;
    if (!done)
        PyErr_Clear();
    Py_XDECREF(release);
    Py_XDECREF(done);
}

static struct column *column_of(PyObject *memory) {
    PyObject *base = PyMemoryView_GET_BASE(memory);
    return base && Py_IS_TYPE(base, &type) ? (struct column *)base : NULL;
}

bool gsim_py_columns_end(struct gsim_py_world *world) {
    struct column *column[GSIM_PY_COLUMNS];
    bool is_clean = true;
    for (int i = 0; i < GSIM_PY_COLUMNS; i++) {
        column[i] = NULL;
        if (!world->column[i])
            continue;
        column[i] = (struct column *)Py_XNewRef((PyObject *)column_of(world->column[i]));
        if (Py_REFCNT(world->column[i]) > 1)
            take_back(world->column[i]);
        Py_CLEAR(world->column[i]);
    }
    if (world->n_exports > 0) /* in a cycle of garbage, maybe */
        (void)PyGC_Collect();
    for (int i = 0; i < GSIM_PY_COLUMNS; i++) {
        if (column[i] && column[i]->n_exports > 0) {
            is_clean = false;
            column[i]->kept = world->ctx->arena;
            gsim_arena_share(column[i]->kept);
        }
        Py_XDECREF(column[i]);
    }
    return is_clean;
}

int gsim_py_columns_ready(PyObject *module) {
    return PyModule_AddType(module, &type);
}
