/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program as a function: arguments as on the command line, streams in memory, policies of
 * Python beside those that are built in, and a trace that may be in memory. */
#define _POSIX_C_SOURCE 200809L
#include "binding.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "policies/lib/settings.h"
#include "sim/app/cli/cli.h"
#include "sim/app/cli/options.h"

/* --- Ctrl-C ----------------------------------------------------------------------------------- */

/* The interpreter's own handler notes the signal, and a hook of Python sees that. Runs without such
 * hooks look at `stop`. */
static volatile sig_atomic_t stop;
static struct sigaction before;
static int depth; /* calls within calls; under the interpreter's lock */

static void on_interrupt(int number) {
    stop = 1;
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
}

static bool listen(bool is_main) {
    if (depth == 0)
        stop = 0;
    if (!is_main || depth > 0)
        return false;
    struct sigaction action = {.sa_handler = on_interrupt};
    (void)sigaction(SIGINT, NULL, &before);
    if (before.sa_flags & SA_SIGINFO)
        return false;
    (void)sigemptyset(&action.sa_mask);
    return sigaction(SIGINT, &action, NULL) == 0;
}

/* What Ctrl-C does to runs in other threads than that which hears of it. */
PyObject *gsim_py_interrupt(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    stop = 1;
    gsim_py_interrupt_hooks();
    Py_RETURN_NONE;
}

/* --- the call --------------------------------------------------------------------------------- */

/* What the program writes, in memory. */
struct stream {
    FILE *file;
    char *bytes;
    size_t n;
};

struct running {
    struct gsim_py_call call;
    struct stream out, err, jobs;
    struct gsim_log *log;
    struct gsim_callers_policy *policies;
    Py_ssize_t n_policies;
    char **argv;
    int argc;
    Py_buffer trace;
    const char *trace_name;
};

static bool open_stream(struct stream *stream) {
    stream->file = open_memstream(&stream->bytes, &stream->n);
    if (!stream->file)
        PyErr_NoMemory();
    return stream->file != NULL;
}

static void close_stream(struct stream *stream) {
    if (stream->file)
        (void)fclose(stream->file);
    stream->file = NULL;
}

/* The texts of the arguments live in `args`, which the caller holds. */
static bool take_arguments(struct running *r, PyObject *args) {
    r->argc = (int)PyList_Size(args);
    r->argv = PyMem_Calloc((size_t)r->argc + 1, sizeof *r->argv);
    if (!r->argv)
        PyErr_NoMemory();
    for (int i = 0; r->argv && i < r->argc; i++) {
        r->argv[i] = (char *)(uintptr_t)PyUnicode_AsUTF8(PyList_GetItem(args, i));
        if (!r->argv[i])
            return false;
    }
    return r->argv != NULL;
}

static bool take_policies(struct running *r, PyObject *pairs) {
    Py_ssize_t n = PyList_Size(pairs);
    r->policies = PyMem_Calloc((size_t)n + 1, sizeof *r->policies);
    if (!r->policies)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; r->policies && i < n; i++) {
        r->policies[i].policy =
            gsim_py_policy_new(&r->call, PyList_GetItem(pairs, i), &r->policies[i].file);
        if (!r->policies[i].policy)
            return false;
        r->n_policies++;
    }
    return r->policies != NULL;
}

/* A child has one thread, so it must not be born while another thread holds a lock of the
 * interpreter: the child would wait for that lock for ever. */
static pid_t fork_with_lock(void) {
    PyGILState_STATE lock = PyGILState_Ensure();
    PyOS_BeforeFork();
    pid_t pid = fork();
    if (pid == 0)
        PyOS_AfterFork_Child();
    else
        PyOS_AfterFork_Parent();
    PyGILState_Release(lock);
    return pid;
}

static int run(struct running *r) {
    struct gsim_io io = {.out = r->out.file,
                         .err = r->err.file,
                         .stop = &stop,
                         .log = r->log,
                         .jobs = r->jobs.file,
                         .policies = r->policies,
                         .trace_name = r->trace.buf ? r->trace_name : NULL,
                         .trace_bytes = r->trace.buf,
                         .n_trace_bytes = (size_t)r->trace.len,
                         .fork = fork_with_lock};
    return gsim_cli(r->argc, r->argv, &io);
}

static PyObject *entries_list(const struct gsim_log_entry *entries, int64_t n) {
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < n && i < GSIM_LOG_ENTRIES; i++) {
        PyObject *text =
            PyUnicode_DecodeUTF8(entries[i].text, (Py_ssize_t)strlen(entries[i].text), "replace");
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

/* (status, out, err, jobs, errors, number of errors, warnings, failure) */
static PyObject *answer(const struct running *r, int status) {
    PyObject *errors = entries_list(r->log->errors, r->log->n_errors);
    PyObject *warnings = entries_list(r->log->warnings, r->log->n_warnings);
    if (!errors || !warnings) {
        Py_XDECREF(errors);
        Py_XDECREF(warnings);
        return NULL;
    }
    return Py_BuildValue("(iy#y#y#NLNO)", status, r->out.bytes, (Py_ssize_t)r->out.n, r->err.bytes,
                         (Py_ssize_t)r->err.n, r->jobs.bytes ? r->jobs.bytes : "",
                         (Py_ssize_t)r->jobs.n, errors, (long long)r->log->n_errors, warnings,
                         r->call.failure ? r->call.failure : Py_None);
}

static void let_go(struct running *r) {
    struct stream *streams[] = {&r->out, &r->err, &r->jobs};
    for (int i = 0; i < 3; i++) {
        close_stream(streams[i]);
        free(streams[i]->bytes);
    }
    for (Py_ssize_t i = 0; i < r->n_policies; i++)
        gsim_py_policy_free(r->policies[i].policy);
    PyMem_Free(r->policies);
    PyMem_Free(r->argv);
    PyMem_Free(r->log);
    Py_CLEAR(r->call.failure);
    if (r->trace.obj)
        PyBuffer_Release(&r->trace);
}

PyObject *gsim_py_run(PyObject *module, PyObject *args, PyObject *named) {
    static char *names[] = {"args", "policies", "trace_name", "trace", "jobs", "is_main", NULL};
    struct running r = {0};
    PyObject *arguments, *policies, *out = NULL;
    int has_jobs, is_main;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O!O!zz*pp", names, &PyList_Type, &arguments,
                                     &PyList_Type, &policies, &r.trace_name, &r.trace, &has_jobs,
                                     &is_main))
        return NULL;
    r.log = PyMem_Calloc(1, sizeof *r.log);
    if (!r.log)
        PyErr_NoMemory();
    if (r.log && open_stream(&r.out) && open_stream(&r.err) &&
        (!has_jobs || open_stream(&r.jobs)) && take_arguments(&r, arguments) &&
        take_policies(&r, policies)) {
        bool is_listening = listen(is_main);
        int status;
        depth++;
        Py_BEGIN_ALLOW_THREADS status = run(&r);
        close_stream(&r.out);
        close_stream(&r.err);
        close_stream(&r.jobs);
        Py_END_ALLOW_THREADS depth--;
        if (is_listening)
            (void)sigaction(SIGINT, &before, NULL);
        out = PyErr_CheckSignals() == 0 ? answer(&r, status) : NULL;
    }
    let_go(&r);
    return out;
}

/* --- lists of the program --------------------------------------------------------------------- */

/* {option: (takes a value, is repeatable)} of a command. */
PyObject *gsim_py_options(PyObject *module, PyObject *name) {
    const char *called = PyUnicode_AsUTF8(name);
    const struct gsim_command *command = gsim_commands;
    (void)module;
    if (!called)
        return NULL;
    while (command->name && strcmp(command->name, called) != 0)
        command++;
    PyObject *all = PyDict_New();
    for (int o = 0; all && command->name && o < GSIM_OPT_COUNT; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        if (!(def->commands & (unsigned)command->bit))
            continue;
        PyObject *about = Py_BuildValue("(OO)", def->argument ? Py_True : Py_False,
                                        def->is_repeatable ? Py_True : Py_False);
        if (!about || PyDict_SetItemString(all, def->name, about) < 0)
            Py_CLEAR(all);
        Py_XDECREF(about);
    }
    return all;
}
