/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lots (gsim.Lots): a stream of random numbers of a run, fixed by its seed, its replication and a
 * name, as policies in C draw them. It is the policy's own, and lives beyond the hook. */
#include "binding.h"

#include "policies/lib/random.h"

struct lots {
    PyObject_HEAD struct gsim_random random;
};

static PyObject *next(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(gsim_random_next(&((struct lots *)self)->random));
}

static PyObject *below(PyObject *self, PyObject *most) {
    unsigned long n;
    if (!gsim_py_unsigned(most, &n))
        return NULL;
    if (n == 0) {
        PyErr_SetString(PyExc_ValueError, "below(n) draws one of 0 .. n - 1; n is at least 1");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(gsim_random_below(&((struct lots *)self)->random, n));
}

static PyMethodDef methods[] = {
    {"next", next, METH_NOARGS, "next(): uniform over all values of 64 bits."},
    {"below", below, METH_O, "below(n): uniform over 0 .. n - 1."},
    {0}};

static void dealloc(PyObject *self) {
    PyObject_Free(self);
}

static PyTypeObject type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gsim.Lots",
                            .tp_basicsize = sizeof(struct lots),
                            .tp_dealloc = dealloc,
                            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .tp_methods = methods,
                            .tp_doc = "A stream of random numbers of a run."};

PyObject *gsim_py_lots(PyObject *self, PyObject *name) {
    struct gsim_ctx *ctx = gsim_py_ctx((struct gsim_py_world *)self);
    const char *text = ctx ? PyUnicode_AsUTF8(name) : NULL;
    struct lots *lots = text ? PyObject_New(struct lots, &type) : NULL;
    if (lots)
        gsim_random_open(&lots->random, ctx, text);
    return (PyObject *)lots;
}

int gsim_py_lots_ready(PyObject *module) {
    return PyModule_AddType(module, &type);
}
