/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Python module gsim._gsim: the program as a function, policies written in Python, and what
 * their hooks see. All that it computes is computed by gsim: nothing here is a second copy. */
#ifndef GSIM_PYTHON_BINDING_H
#define GSIM_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "gsim/policy.h"

/* gsim.Error, the base of all exceptions. */
extern PyObject *gsim_py_error;

/* --- world.c: a run of a Python policy, as its hooks see it ----------------------------------- */

enum { GSIM_PY_COLUMNS = 24 };

/* The view of one run. Outside of the run's hooks ctx is NULL, and every use of the view raises. */
struct gsim_py_world {
    PyObject_HEAD struct gsim_ctx *ctx;
    struct gsim_plan *plan; /* within decide */
    uint32_t n_exports; /* buffers of columns that are in use */
    PyObject *column[GSIM_PY_COLUMNS]; /* memoryviews that this hook has handed out */
    PyObject *part[5]; /* jobs, changes, cluster, pool, trace */
    PyObject *plan_object;
};

extern PyTypeObject gsim_py_world_type;
struct gsim_py_world *gsim_py_world_new(void);
/* The run is over: objects that outlive it raise. */
void gsim_py_world_close(struct gsim_py_world *world);
/* Begins and ends a hook. The end takes back the columns that were handed out; false: an array
 * still uses one, and an exception says so. */
void gsim_py_world_enter(struct gsim_py_world *world, struct gsim_ctx *ctx, struct gsim_plan *plan);
bool gsim_py_world_leave(struct gsim_py_world *world);
/* NULL and an exception outside of a hook, or outside of decide. */
struct gsim_ctx *gsim_py_ctx(struct gsim_py_world *world);
struct gsim_plan *gsim_py_plan(struct gsim_py_world *world);
/* A whole number that is not negative, of Python or of a package that has its own (numpy); false
 * and an exception. */
bool gsim_py_unsigned(PyObject *object, unsigned long *out);
/* A job's slot, a GPU's number: false and an exception where there is none of that number. */
bool gsim_py_slot(const struct gsim_ctx *ctx, PyObject *object, gsim_slot *slot);
bool gsim_py_gpu(const struct gsim_ctx *ctx, PyObject *object, uint32_t *gpu);
int gsim_py_world_ready(PyObject *module);

/* --- columns.c: columns of the view without a copy -------------------------------------------- */

/* A memoryview of n items of one of the struct module's formats. */
PyObject *gsim_py_column(struct gsim_py_world *world, const void *items, Py_ssize_t n,
                         const char *format, Py_ssize_t item_size);
/* Gives the columns of this hook back; false: an array or a slice still uses one. */
bool gsim_py_columns_end(struct gsim_py_world *world);
int gsim_py_columns_ready(PyObject *module);

/* --- parts.c: jobs, changes, cluster, pool and trace of the view ------------------------------ */

enum gsim_py_part {
    GSIM_PY_JOBS = 0,
    GSIM_PY_CHANGES,
    GSIM_PY_CLUSTER,
    GSIM_PY_POOL,
    GSIM_PY_TRACE
};
PyObject *gsim_py_part_of(struct gsim_py_world *world, enum gsim_py_part part);
int gsim_py_parts_ready(PyObject *module);

/* --- questions.c: questions of the view ------------------------------------------------------- */

extern PyMethodDef gsim_py_questions[];
int gsim_py_questions_ready(PyObject *module);

/* --- lots.c: random numbers of a run --- */

PyObject *gsim_py_lots(PyObject *self, PyObject *name);
int gsim_py_lots_ready(PyObject *module);

/* --- verbs.c: the plan ------------------------------------------------------------------------ */

PyObject *gsim_py_plan_new(struct gsim_py_world *world);
int gsim_py_verbs_ready(PyObject *module);

/* --- convert.c: units, names and arrangements from Python objects ----------------------------- */

/* An attribute by a name that is interned: the interpreter's caches then hold one object for it. */
PyObject *gsim_py_get(PyObject *object, const char *name);
bool gsim_py_set(PyObject *object, const char *name, PyObject *value);
/* Position of the text in "a|b|c", -1 and an exception that lists the choices. */
int gsim_py_choice(PyObject *text, const char *what, const char *choices);
/* The text at that position. */
PyObject *gsim_py_chosen(const char *choices, int at);
extern const char gsim_py_rules[], gsim_py_stops[], gsim_py_keeps[], gsim_py_watches[],
    gsim_py_states[];
/* GPUs, or (GPU, instance) pairs, each once; free it with PyMem_Free. NULL and an exception. */
struct gsim_unit *gsim_py_units(const struct gsim_ctx *ctx, PyObject *list, uint32_t *n);
PyObject *gsim_py_units_list(const struct gsim_unit *units, uint32_t n);
/* A gsim.Arrangement, made in the arena. NULL and an exception. */
const struct gsim_arrangement *gsim_py_arrangement(const struct gsim_ctx *ctx, PyObject *object,
                                                   struct gsim_arena *arena);

/* --- policy.c: a class as a policy ------------------------------------------------------------ */

struct gsim_py_call;
/* The table of hooks of (class, what gsim._policy says about it), until gsim_py_policy_free. NULL
 * and an exception. */
const struct gsim_policy *gsim_py_policy_new(struct gsim_py_call *call, PyObject *pair,
                                             const char **file);
void gsim_py_policy_free(const struct gsim_policy *policy);
/* Raises KeyboardInterrupt in each hook that is running, in whichever thread. */
void gsim_py_interrupt_hooks(void);

/* --- call.c: the program as a function -------------------------------------------------------- */

struct gsim_py_call {
    PyObject *failure; /* the first exception of a hook */
};
PyObject *gsim_py_run(PyObject *module, PyObject *args, PyObject *named);
PyObject *gsim_py_interrupt(PyObject *module, PyObject *unused);
PyObject *gsim_py_options(PyObject *module, PyObject *args);

#endif
