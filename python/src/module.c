/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The module gsim._gsim: what the files of the package use. */
#include "binding.h"

#include "policies/lib/settings.h"
#include "policies/registry.h"
#include "sim/app/cli/cli.h"
#include "sim/app/identity/program.h"

PyObject *gsim_py_error;

static PyMethodDef functions[] = {
    {"run", (PyCFunction)(void (*)(void))gsim_py_run, METH_VARARGS | METH_KEYWORDS,
     "The program as a function."},
    {"interrupt", gsim_py_interrupt, METH_NOARGS, "Ends all runs, as Ctrl-C does."},
    {"options", gsim_py_options, METH_O, "The options of a command."},
    {0}};

static struct PyModuleDef about = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "gsim._gsim",
                                   .m_doc = "gsim, for the files of the package.",
                                   .m_size = -1,
                                   .m_methods = functions};

/* Parameters that policies have in common: {name: (default, choices, help)}. */
static int add_common_params(PyObject *module) {
    static const struct gsim_param_def common[] = {GSIM_PLACEMENT_PARAM, GSIM_PREEMPT_PARAM_FREE,
                                                   GSIM_MEMORY_PARAM};
    PyObject *all = PyDict_New();
    for (size_t i = 0; all && i < sizeof common / sizeof *common; i++) {
        PyObject *row =
            Py_BuildValue("(sss)", common[i].fallback, common[i].choices, common[i].help);
        if (!row || PyDict_SetItemString(all, common[i].name, row) < 0)
            Py_CLEAR(all);
        Py_XDECREF(row);
    }
    int status = all ? PyModule_AddObjectRef(module, "common_params", all) : -1;
    Py_XDECREF(all);
    return status;
}

static int add_policies(PyObject *module) {
    PyObject *all = PyList_New(0);
    for (const struct gsim_policy *const *policy = gsim_policies; all && *policy; policy++) {
        PyObject *name = PyUnicode_FromString((*policy)->name);
        PyObject *alias =
            (*policy)->alias ? PyUnicode_FromString((*policy)->alias) : Py_NewRef(Py_None);
        if (!name || !alias || PyList_Append(all, name) < 0 ||
            (alias != Py_None && PyList_Append(all, alias) < 0))
            Py_CLEAR(all);
        Py_XDECREF(name);
        Py_XDECREF(alias);
    }
    int status = all ? PyModule_AddObjectRef(module, "policies", all) : -1;
    Py_XDECREF(all);
    return status;
}

PyMODINIT_FUNC PyInit__gsim(void) {
    PyObject *module = PyModule_Create(&about);
    if (!module)
        return NULL;
    gsim_py_error =
        PyErr_NewExceptionWithDoc("gsim.Error", "What gsim refuses, or fails at.", NULL, NULL);
    if (gsim_py_error && PyModule_AddObjectRef(module, "Error", gsim_py_error) == 0 &&
        PyModule_AddStringConstant(module, "version", GSIM_VERSION) == 0 &&
        PyModule_AddStringConstant(module, "states", gsim_py_states) == 0 &&
        gsim_py_columns_ready(module) == 0 && gsim_py_world_ready(module) == 0 &&
        gsim_py_parts_ready(module) == 0 && gsim_py_questions_ready(module) == 0 &&
        gsim_py_verbs_ready(module) == 0 && gsim_py_lots_ready(module) == 0 &&
        add_common_params(module) == 0 && add_policies(module) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
