/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A class of Python as a policy: a table of hooks that call the methods of an instance. Each run
 * has an instance of its own. Runs may be in several threads; a hook holds the interpreter's
 * lock. */
#include "binding.h"

#include <string.h>

#include "policies/lib/settings.h"
#include "sim/base/units.h"

enum hook { OPEN = 0, ON_ARRIVAL, ON_COMPLETION, ON_WATCH, ON_TIMER, DECIDE, N_HOOKS };
static const char *const hook_names[] = {"open",     "on_arrival", "on_completion",
                                         "on_watch", "on_timer",   "decide"};

/* The table of a class. Its texts belong to `about`. */
struct table {
    struct gsim_policy policy;
    struct gsim_py_call *call;
    PyObject *class, *about;
    struct gsim_param_def *params;
    bool has[N_HOOKS];
};

/* The state of a run. */
struct run {
    PyObject *instance;
    struct gsim_py_world *world;
    PyObject *method[N_HOOKS];
};

static const struct table *table_of(const struct gsim_ctx *ctx) {
    return ctx->policy->user;
}

/* --- what a hook raised ----------------------------------------------------------------------- */

/* "file.py:12" of the line that raised, or "". */
static void place_of(PyObject *trace, char *text, size_t size) {
    PyObject *next, *frame, *code, *file, *line;
    *text = '\0';
    Py_XINCREF(trace);
    while (trace && (next = gsim_py_get(trace, "tb_next")) != NULL) {
        if (next == Py_None) {
            Py_DECREF(next);
            break;
        }
        Py_SETREF(trace, next);
    }
    frame = trace ? gsim_py_get(trace, "tb_frame") : NULL;
    code = frame ? gsim_py_get(frame, "f_code") : NULL;
    file = code ? gsim_py_get(code, "co_filename") : NULL;
    line = trace ? gsim_py_get(trace, "tb_lineno") : NULL;
    if (file && line) {
        const char *path = PyUnicode_AsUTF8(file), *name = path ? strrchr(path, '/') : NULL;
        snprintf(text, size, " (%s:%ld)", name ? name + 1 : path ? path : "?", PyLong_AsLong(line));
    }
    Py_XDECREF(trace);
    Py_XDECREF(frame);
    Py_XDECREF(code);
    Py_XDECREF(file);
    Py_XDECREF(line);
    PyErr_Clear();
}

/* gsim.InputError and gsim.UsageError of a hook are about the inputs, and say all that there is to
 * say; anything else is an error of the policy's program. */
static enum gsim_status status_of(PyObject *failure) {
    PyObject *number =
        PyObject_IsInstance(failure, gsim_py_error) == 1 ? gsim_py_get(failure, "status") : NULL;
    long status = number ? PyLong_AsLong(number) : GSIM_FAILED;
    Py_XDECREF(number);
    PyErr_Clear();
    return status == GSIM_USAGE || status == GSIM_BAD_INPUT ? (enum gsim_status)status
                                                            : GSIM_FAILED;
}

/* Whether the exception is that of a verb which broke a rule, so that the log has its text: the
 * entry then gets the line of the policy. */
static bool is_logged(struct gsim_log *log, const char *says, const char *where) {
    int64_t n = log->n_errors;
    char *text = n > 0 && n <= GSIM_LOG_ENTRIES ? log->errors[n - 1].text : NULL;
    if (!text || !says || strcmp(text, says) != 0)
        return false;
    strncat(text, where, GSIM_LOG_TEXT - 1 - strlen(text));
    return true;
}

/* Ends the run with the exception that is set, and keeps the first of all runs. */
static void fail(struct gsim_ctx *ctx, enum hook hook, gsim_slot slot, const char *id) {
    struct gsim_py_call *call = table_of(ctx)->call;
    PyObject *type, *value, *trace;
    char now[32], where[300];
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace)
        (void)PyException_SetTraceback(value, trace);
    place_of(trace, where, sizeof where);
    gsim_format_seconds(now, ctx->view->now_ns, 9);
    PyObject *text = PyObject_Str(value);
    const char *says = text ? PyUnicode_AsUTF8(text) : NULL;
    ctx->status = status_of(value);
    if (ctx->status != GSIM_FAILED)
        gsim_log_error(ctx->log, ctx->status, NULL, 0, "%s", says ? says : "?");
    else if (!is_logged(ctx->log, says, where))
        gsim_log_error(ctx->log, GSIM_FAILED, NULL, 0,
                       "policy '%s' failed at %s s in %s%s%s%s: %s%s%s%s", ctx->policy->name, now,
                       hook_names[hook], slot == GSIM_NO_SLOT ? "" : " of job '", id,
                       slot == GSIM_NO_SLOT ? "" : "'", ((PyTypeObject *)type)->tp_name,
                       says && *says ? ": " : "", says ? says : "", where);
    PyErr_Clear();
    Py_XDECREF(text);
    if (!call->failure)
        call->failure = Py_NewRef(value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* --- hooks that are running ------------------------------------------------------------------- */

/* A hook in some thread; the list is under the interpreter's lock. */
struct active {
    unsigned long thread;
    struct active *next;
};
static struct active *actives;

static void begin_hook(struct active *own) {
    *own = (struct active){PyThread_get_thread_ident(), actives};
    actives = own;
}

static void end_hook(struct active *own) {
    struct active **at = &actives;
    while (*at != own)
        at = &(*at)->next;
    *at = own->next;
}

void gsim_py_interrupt_hooks(void) {
    for (const struct active *hook = actives; hook; hook = hook->next)
        (void)PyThreadState_SetAsyncExc(hook->thread, PyExc_KeyboardInterrupt);
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* Calls the method with up to two arguments, which it takes over. */
static void call_method(struct gsim_ctx *ctx, struct gsim_plan *plan, enum hook hook,
                        gsim_slot slot, PyObject *first, PyObject *second) {
    struct run *run = ctx->state;
    PyObject *args[] = {NULL, first, second};
    struct active own;
    begin_hook(&own);
    gsim_py_world_enter(run->world, ctx, plan);
    PyObject *done = NULL;
    if (!PyErr_Occurred())
        done = PyObject_Vectorcall(run->method[hook], args + 1,
                                   (size_t)(!!first + !!second) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                   NULL);
    Py_XDECREF(first);
    Py_XDECREF(second);
    bool is_clean = gsim_py_world_leave(run->world);
    end_hook(&own);
    if (!done || !is_clean) {
        const char *id = slot == GSIM_NO_SLOT
                             ? ""
                             : gsim_trace_id(ctx->view->trace, ctx->view->jobs.index[slot]);
        if (plan)
            gsim_plan_rollback(plan, 0);
        fail(ctx, hook, slot, id);
    }
    Py_XDECREF(done);
}

static void call_of_job(struct gsim_ctx *ctx, enum hook hook, gsim_slot slot, PyObject *kind) {
    call_method(ctx, NULL, hook, slot, PyLong_FromUnsignedLong(slot), kind);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    PyGILState_STATE lock = PyGILState_Ensure();
    call_of_job(ctx, ON_ARRIVAL, slot, NULL);
    PyGILState_Release(lock);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    PyGILState_STATE lock = PyGILState_Ensure();
    call_of_job(ctx, ON_COMPLETION, slot, NULL);
    PyGILState_Release(lock);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    static const char *const names[] = {"attained", "ran"};
    PyGILState_STATE lock = PyGILState_Ensure();
    call_of_job(ctx, ON_WATCH, slot, PyUnicode_FromString(names[kind]));
    PyGILState_Release(lock);
}

static void on_timer(struct gsim_ctx *ctx) {
    PyGILState_STATE lock = PyGILState_Ensure();
    call_method(ctx, NULL, ON_TIMER, GSIM_NO_SLOT, NULL, NULL);
    PyGILState_Release(lock);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    PyGILState_STATE lock = PyGILState_Ensure();
    struct run *run = ctx->state;
    call_method(ctx, plan, DECIDE, GSIM_NO_SLOT, Py_NewRef(run->world->plan_object), NULL);
    PyGILState_Release(lock);
}

/* --- open and close --------------------------------------------------------------------------- */

static PyObject *param_value(const struct gsim_param_def *def,
                             const struct gsim_param_value *value) {
    switch (def->type) {
    case GSIM_PARAM_BOOL:
        return PyBool_FromLong(value->value != 0);
    case GSIM_PARAM_CHOICE:
    case GSIM_PARAM_TEXT:
        return PyUnicode_FromString(value->text);
    default:
        return PyLong_FromLongLong(value->value);
    }
}

static PyObject *params_dict(const struct gsim_params *params) {
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < params->n; i++) {
        PyObject *value = param_value(&params->defs[i], &params->values[i]);
        if (!value || PyDict_SetItemString(dict, params->defs[i].name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static bool make_instance(struct gsim_ctx *ctx, const struct table *table, struct run *run) {
    PyObject *params = params_dict(ctx->params);
    run->world = gsim_py_world_new();
    if (run->world)
        run->world->plan_object = gsim_py_plan_new(run->world);
    run->instance =
        params && run->world && run->world->plan_object ? PyObject_CallNoArgs(table->class) : NULL;
    bool is_fine = run->instance && gsim_py_set(run->instance, "view", (PyObject *)run->world) &&
                   gsim_py_set(run->instance, "params", params);
    Py_XDECREF(params);
    for (int hook = 0; is_fine && hook < N_HOOKS; hook++) {
        run->method[hook] = table->has[hook] ? gsim_py_get(run->instance, hook_names[hook]) : NULL;
        is_fine = !table->has[hook] || run->method[hook];
    }
    return is_fine;
}

/* A text that open left in the instance, for the result. */
static bool take_text(struct gsim_ctx *ctx, PyObject *instance, const char *name,
                      const char **out) {
    PyObject *value = gsim_py_get(instance, name);
    const char *text = value && value != Py_None ? PyUnicode_AsUTF8(value) : NULL;
    if (text && *text)
        *out = gsim_arena_strdup(ctx->arena, text);
    Py_XDECREF(value);
    return !PyErr_Occurred();
}

static bool take_devices(struct gsim_ctx *ctx, PyObject *instance) {
    PyObject *value = gsim_py_get(instance, "devices");
    if (value && value != Py_None)
        ctx->devices = gsim_py_arrangement(ctx, value, ctx->arena);
    Py_XDECREF(value);
    return !PyErr_Occurred();
}

static bool has_param(const struct gsim_ctx *ctx, const struct gsim_param_def *def) {
    int at = gsim_params_find(ctx->params, def->name);
    return at >= 0 && ctx->params->defs[at].choices &&
           strcmp(ctx->params->defs[at].choices, def->choices) == 0;
}

static enum gsim_status open_policy(struct gsim_ctx *ctx) {
    static const struct gsim_param_def memory = GSIM_MEMORY_PARAM;
    enum gsim_status status = GSIM_OK;
    if (has_param(ctx, &memory))
        status = gsim_settings_open_memory(ctx);
    if (status != GSIM_OK)
        return status;
    PyGILState_STATE lock = PyGILState_Ensure();
    struct run *run = ctx->state;
    if (!make_instance(ctx, table_of(ctx), run)) {
        fail(ctx, OPEN, GSIM_NO_SLOT, "");
    } else if (run->method[OPEN]) {
        call_method(ctx, NULL, OPEN, GSIM_NO_SLOT, NULL, NULL);
    }
    if (ctx->status == GSIM_OK && (!take_text(ctx, run->instance, "assumed", &ctx->assumed) ||
                                   !take_text(ctx, run->instance, "deviation", &ctx->deviation) ||
                                   !take_devices(ctx, run->instance)))
        fail(ctx, OPEN, GSIM_NO_SLOT, "");
    PyGILState_Release(lock);
    return ctx->status;
}

static void close_policy(struct gsim_ctx *ctx) {
    struct run *run = ctx->state;
    PyGILState_STATE lock = PyGILState_Ensure();
    if (run->world)
        gsim_py_world_close(run->world);
    for (int hook = 0; hook < N_HOOKS; hook++)
        Py_CLEAR(run->method[hook]);
    Py_CLEAR(run->instance);
    Py_CLEAR(run->world);
    PyGILState_Release(lock);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Of the dictionary that gsim._policy makes of a class; it has checked the values. */
static const char *text_of(PyObject *about, const char *key) {
    PyObject *value = PyDict_GetItemString(about, key);
    return value && value != Py_None ? PyUnicode_AsUTF8(value) : NULL;
}

static bool flag_of(PyObject *about, const char *key) {
    PyObject *value = PyDict_GetItemString(about, key);
    return value && PyObject_IsTrue(value) == 1;
}

static bool take_param(PyObject *row, struct gsim_param_def *def) {
    static const char types[] = "bool|int|time|bytes|rate|ratio|choice|text";
    static const enum gsim_param_type by_name[] = {
        GSIM_PARAM_BOOL, GSIM_PARAM_INT, GSIM_PARAM_TIME,   GSIM_PARAM_BYTES,
        GSIM_PARAM_RATE, GSIM_PARAM_PPM, GSIM_PARAM_CHOICE, GSIM_PARAM_TEXT};
    PyObject *type;
    long long least, most;
    if (!PyArg_ParseTuple(row, "sUsLLzs", &def->name, &type, &def->fallback, &least, &most,
                          &def->choices, &def->help))
        return false;
    int choice = gsim_py_choice(type, "the type of a parameter", types);
    def->type = choice < 0 ? GSIM_PARAM_END : by_name[choice];
    def->min = least;
    def->max = most;
    return choice >= 0;
}

static bool take_params(struct table *table) {
    PyObject *rows = PyDict_GetItemString(table->about, "params");
    Py_ssize_t n = rows ? PyList_Size(rows) : 0;
    table->params = PyMem_Calloc((size_t)n + 1, sizeof *table->params);
    if (!table->params)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; table->params && i < n; i++)
        if (!take_param(PyList_GET_ITEM(rows, i), &table->params[i]))
            return false;
    return table->params != NULL;
}

static void fill(struct table *table) {
    PyObject *about = table->about, *references = PyDict_GetItemString(about, "references");
    table->policy = (struct gsim_policy){
        .name = text_of(about, "name"),
        .summary = text_of(about, "summary"),
        .paper = text_of(about, "paper"),
        .deviations = text_of(about, "deviations"),
        .is_oracle = flag_of(about, "oracle"),
        .oracle_where = text_of(about, "oracle_where"),
        .names_gpus = flag_of(about, "names_gpus"),
        .asks_speeds = flag_of(about, "asks_speeds"),
        .chooses_widths = flag_of(about, "chooses_widths"),
        .shares_gpus = flag_of(about, "shares_gpus"),
        .has_contexts = flag_of(about, "has_contexts"),
        .oversubscribes = flag_of(about, "oversubscribes"),
        .references = references ? (unsigned)PyLong_AsUnsignedLong(references) : 0,
        .params = table->params,
        .state_size = sizeof(struct run),
        .open = open_policy,
        .on_arrival = table->has[ON_ARRIVAL] ? on_arrival : NULL,
        .on_completion = table->has[ON_COMPLETION] ? on_completion : NULL,
        .on_watch = table->has[ON_WATCH] ? on_watch : NULL,
        .on_timer = table->has[ON_TIMER] ? on_timer : NULL,
        .decide = decide,
        .close = close_policy,
        .user = table,
    };
}

static bool has_attribute(PyObject *object, const char *name) {
    PyObject *value = gsim_py_get(object, name);
    PyErr_Clear();
    Py_XDECREF(value);
    return value != NULL;
}

const struct gsim_policy *gsim_py_policy_new(struct gsim_py_call *call, PyObject *pair,
                                             const char **file) {
    struct table *table = PyMem_Calloc(1, sizeof *table);
    if (!table)
        return (const struct gsim_policy *)PyErr_NoMemory();
    table->policy.user = table;
    table->call = call;
    if (!PyArg_ParseTuple(pair, "OO!", &table->class, &PyDict_Type, &table->about)) {
        PyMem_Free(table);
        return NULL;
    }
    Py_INCREF(table->class);
    Py_INCREF(table->about);
    for (int hook = 0; hook < N_HOOKS; hook++)
        table->has[hook] = has_attribute(table->class, hook_names[hook]);
    if (take_params(table)) {
        fill(table);
        *file = text_of(table->about, "file");
        if (!PyErr_Occurred())
            return &table->policy;
    }
    gsim_py_policy_free(&table->policy);
    return NULL;
}

void gsim_py_policy_free(const struct gsim_policy *policy) {
    struct table *table = policy->user;
    Py_XDECREF(table->class);
    Py_XDECREF(table->about);
    PyMem_Free(table->params);
    PyMem_Free(table);
}
