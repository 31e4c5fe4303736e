/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions of the view: progress of jobs, quotes, counters, layouts. */
#include <math.h>
#include "binding.h"

#include <string.h>

#include "policies/lib/settings.h"

static struct gsim_ctx *ctx_of(PyObject *self) {
    return gsim_py_ctx((struct gsim_py_world *)self);
}

/* --- of one job ------------------------------------------------------------------------------- */

static bool take(PyObject *self, PyObject *object, struct gsim_ctx **ctx, gsim_slot *slot) {
    *ctx = ctx_of(self);
    return *ctx && gsim_py_slot(*ctx, object, slot);
}

static bool is_oracle(const struct gsim_ctx *ctx) {
    if (ctx->view->jobs.service_ns)
        return true;
    PyErr_SetString(gsim_py_error, "true durations are hidden from a policy; only an oracle "
                                   "(oracle = True in its class) may ask for the rest");
    return false;
}

static PyObject *attained_ns(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) ? PyLong_FromLongLong(gsim_attained_ns(ctx->view, slot))
                                        : NULL;
}

static PyObject *ran_ns(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) ? PyLong_FromLongLong(gsim_ran_ns(ctx->view, slot)) : NULL;
}

static PyObject *memory_bytes(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) ? PyLong_FromLongLong(gsim_job_memory(ctx->view, slot))
                                        : NULL;
}

static PyObject *remaining_ns(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) && is_oracle(ctx)
               ? PyLong_FromLongLong(gsim_remaining_ns(ctx->view, slot))
               : NULL;
}

static PyObject *nth(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) ? PyLong_FromUnsignedLong(gsim_nth(ctx->view, slot)) : NULL;
}

static PyObject *left_ns(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) && is_oracle(ctx)
               ? PyLong_FromLongLong(gsim_ask_left_ns(ctx, slot))
               : NULL;
}

static PyObject *least_ns(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) && is_oracle(ctx)
               ? PyLong_FromLongLong(gsim_ask_least_ns(ctx, slot))
               : NULL;
}

static PyObject *id(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    if (!take(self, job, &ctx, &slot))
        return NULL;
    const char *text = gsim_trace_id(ctx->view->trace, ctx->view->jobs.index[slot]);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *home(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    const struct gsim_unit *units = NULL;
    if (!take(self, job, &ctx, &slot))
        return NULL;
    uint32_t n = gsim_ask_home(ctx, slot, &units);
    return gsim_py_units_list(units, n);
}

/* The way of preempt=, as (stop, keep); own: the way of the policy's source. */
static PyObject *preemption(PyObject *self, PyObject *own) {
    static const struct gsim_param_def common = GSIM_PREEMPT_PARAM_FREE;
    struct gsim_ctx *ctx = ctx_of(self);
    int keep = ctx ? gsim_py_choice(own, "own", gsim_py_keeps) : -1;
    if (keep < 0)
        return NULL;
    int at = gsim_params_find(ctx->params, common.name);
    const char *choices = at < 0 ? NULL : ctx->params->defs[at].choices;
    if (!choices || strcmp(choices, common.choices) != 0)
        return PyErr_Format(gsim_py_error, "preemption() is for policies with the parameter "
                                           "preempt: params = {'preempt': gsim.PREEMPT}");
    struct gsim_preemption way = gsim_settings_preemption(ctx, (enum gsim_keep)keep);
    if (ctx->status != GSIM_OK)
        return PyErr_Format(gsim_py_error, "%s", ctx->log->errors[0].text);
    PyObject *stop_text = gsim_py_chosen(gsim_py_stops, (int)way.stop);
    PyObject *keep_text = gsim_py_chosen(gsim_py_keeps, (int)way.keep);
    return Py_BuildValue("(NN)", stop_text, keep_text);
}

/* --- structures ------------------------------------------------------------------------------- */

static PyStructSequence_Field quote_fields[] = {
    {"stop_ns", "until the job is off the SMs"},
    {"save_ns", "from then until its units are clear"},
    {"resume_ns", "until the job runs again on the units named"},
    {"lost_ns", "service that must be done again"},
    {"bytes_out", "bytes moved out"},
    {"bytes_in", "bytes moved in"},
    {"is_possible", "False: the model does not support it, or a size is unknown"},
    {"missing", "the trace column that the model would need, or None"},
    {0}};
static PyStructSequence_Desc quote_about = {"gsim.Quote", "The cost of an action.", quote_fields,
                                            8};
static PyStructSequence_Field count_fields[] = {
    {"work_ns", "service done"},
    {"kernels", "kernels done, -1 where the trace does not say"},
    {"blocks", "thread blocks done"},
    {"iterations", "iterations done"},
    {"busy_ns", "time with kernels on the device"},
    {"taken_ns", "time that the work took"},
    {"gpu_time_ns", "attained service times gang size, by the GPUs held"},
    {"bytes_in", "bytes moved to the GPU"},
    {"bytes_out", "bytes moved from the GPU"},
    {"faults", "page faults"},
    {"stall_ns", "time on the GPU waiting for memory"},
    {0}};
static PyStructSequence_Desc count_about = {"gsim.Counters", "Counters of a job.", count_fields,
                                            11};
static PyStructSequence_Field rate_fields[] = {
    {"pace_q32", "service per time, times 2**32; 0: by the table it cannot run so"},
    {"digits", "iterations per second by the table of speeds are digits * 2**exponent; 0: no row"},
    {"exponent", "of two"},
    {"cpus_milli", "least CPUs beside each GPU with which it is fastest there; 0: any"},
    {"mem_bytes", "least memory of the host beside each GPU with which it is; 0: any"},
    {"most_gpus", "most GPUs over which the job's batch can be spread, by the table of goodput; 0: "
                  "any"},
    {"iterations_after_epoch", "for oracles: iterations from the end of the epoch under way to the "
                               "job's end, by that table; -1: not known"},
    {"lacks_memory", "a GPU there has less memory than the job takes: all else is 0"},
    {0}};
static PyStructSequence_Desc rate_about = {"gsim.Rate", "How fast a job would run.", rate_fields,
                                           8};
static PyStructSequence_Field learning_fields[] = {
    {"app", "jobs of one application have equal numbers"},
    {"init_batch", "batch over all GPUs that the job begins with"},
    {"max_batch", "largest batch over all GPUs"},
    {"min_local", "smallest batch of a GPU in a step"},
    {"max_local", "largest batch of a GPU in a step"},
    {"most_gpus", "over which a batch may be spread; 0: no limit of its own"},
    {"own_batch", "that the trace gives it"},
    {"gpus", "that it runs on, or ran on last; 0: it never ran"},
    {"nodes", "of these"},
    {"local", "batch of a GPU in a step, there"},
    {"summed", "steps there that only add to the sum of gradients before one shares it"},
    {"step_s", "time of a step there, as measured"},
    {"sync_s", "the part of it that replicas wait"},
    {"grad_sqr", "square of the gradient, as measured"},
    {"grad_var", "its variance"},
    {0}};
static PyStructSequence_Desc learning_about = {
    "gsim.Learning", "What a job that learns by a table may do, and has measured.", learning_fields,
    15};
static PyStructSequence_Field mode_fields[] = {
    {"model", "in the table of speeds; equal numbers are equal rows"},
    {"epoch_iterations", "iterations of an epoch"},
    {"epoch_ns", "an epoch alone, on as many GPUs as the job asks for, of the first device"},
    {"made_ppm", "epochs made in it so far, in millionths"},
    {0}};
static PyStructSequence_Desc mode_about = {"gsim.Mode", "A model by which a job in phases runs.",
                                           mode_fields, 4};
static PyStructSequence_Field modes_fields[] = {{"at", "the mode under way"},
                                                {"epochs_ppm", "epochs in all, in millionths"},
                                                {"made_ppm", "epochs made, in millionths"},
                                                {"modes", "tuple of gsim.Mode, by first phase"},
                                                {0}};
static PyStructSequence_Desc modes_about = {"gsim.Modes", "Batches and speeds of a job in phases.",
                                            modes_fields, 4};
static PyStructSequence_Field instance_fields[] = {{"name", "of the instance's profile"},
                                                   {"mem_bytes", "that jobs can use"},
                                                   {"part_ppm", "part of the GPU"},
                                                   {0}};
static PyStructSequence_Desc instance_about = {"gsim.Instance", "A part of a GPU.", instance_fields,
                                               3};
static PyTypeObject quote_type, count_type, rate_type, learning_type, mode_type, modes_type,
    instance_type;

static PyObject *filled(PyTypeObject *type, const int64_t *values, int n) {
    PyObject *out = PyStructSequence_New(type);
    for (int i = 0; out && i < n; i++) {
        PyObject *item = PyLong_FromLongLong(values[i]);
        if (!item) {
            Py_DECREF(out);
            return NULL;
        }
        PyStructSequence_SetItem(out, i, item);
    }
    return out;
}

/* Takes over the items, any of which may be NULL, with an exception set. */
static PyObject *filled_with(PyObject *out, PyObject **items, int n) {
    for (int i = 0; i < n; i++)
        if (out && items[i])
            PyStructSequence_SetItem(out, i, items[i]);
        else
            Py_XDECREF(items[i]);
    if (out && PyErr_Occurred())
        Py_CLEAR(out);
    return out;
}

static PyObject *ask(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "stop", "keep", "units", NULL};
    PyObject *job, *stop = NULL, *keep = NULL, *list = Py_None;
    struct gsim_ctx *ctx;
    gsim_slot slot;
    uint32_t n = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OUU|O:ask", names, &job, &stop, &keep, &list) ||
        !take(self, job, &ctx, &slot))
        return NULL;
    int s = gsim_py_choice(stop, "stop", gsim_py_stops);
    int k = s < 0 ? -1 : gsim_py_choice(keep, "keep", gsim_py_keeps);
    struct gsim_unit *units = k >= 0 && list != Py_None ? gsim_py_units(ctx, list, &n) : NULL;
    if (k < 0 || (list != Py_None && !units))
        return NULL;
    struct gsim_quote q = gsim_ask(ctx, slot, (enum gsim_stop)s, (enum gsim_keep)k, units, n);
    PyMem_Free(units);
    const int64_t values[] = {q.stop_ns, q.save_ns,   q.resume_ns,
                              q.lost_ns, q.bytes_out, q.bytes_in};
    PyObject *out = filled(&quote_type, values, 6);
    PyObject *missing = q.missing ? PyUnicode_FromString(q.missing) : Py_NewRef(Py_None);
    if (!out || !missing) {
        Py_XDECREF(out);
        Py_XDECREF(missing);
        return NULL;
    }
    PyStructSequence_SetItem(out, 6, PyBool_FromLong(q.is_possible));
    PyStructSequence_SetItem(out, 7, missing);
    return out;
}

static PyObject *rate(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job",        "type",      "gpus",   "nodes",
                            "cpus_milli", "mem_bytes", "beside", NULL};
    PyObject *job, *beside = Py_None;
    unsigned int type, gpus = 0, nodes = 0;
    long long cpus_milli = 0, mem_bytes = 0;
    struct gsim_ctx *ctx;
    gsim_slot slot, other = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OI|IILLO:rate", names, &job, &type, &gpus,
                                     &nodes, &cpus_milli, &mem_bytes, &beside) ||
        !take(self, job, &ctx, &slot) || (beside != Py_None && !take(self, beside, &ctx, &other)))
        return NULL;
    if (type > UINT16_MAX || !gsim_ask_device(ctx, (uint16_t)type))
        return PyErr_Format(PyExc_ValueError, "there is no type of device %u", type);
    struct gsim_where where = {.type = (uint16_t)type,
                               .gpus = gpus ? gpus : ctx->view->jobs.gpus[slot],
                               .nodes = nodes,
                               .host = {cpus_milli, mem_bytes},
                               .beside = beside != Py_None ? other + 1 : 0};
    struct gsim_rate r = gsim_ask_rate(ctx, slot, &where);
    PyObject *out = PyStructSequence_New(&rate_type);
    PyObject *items[] = {PyLong_FromUnsignedLongLong(r.pace_q32),
                         PyLong_FromUnsignedLongLong(r.digits),
                         PyLong_FromLong(r.exponent),
                         PyLong_FromLongLong(r.wants.cpus_milli),
                         PyLong_FromLongLong(r.wants.mem_bytes),
                         PyLong_FromLong(r.most_gpus),
                         PyLong_FromLongLong(r.iterations_after_epoch),
                         PyBool_FromLong(r.lacks_memory)};
    return filled_with(out, items, 8);
}

static PyObject *real(struct gsim_number number) {
    return PyFloat_FromDouble(ldexp((double)number.digits, number.exponent));
}

static PyObject *learning_of(const struct gsim_learning *l) {
    const uint32_t numbers[] = {l->app,       l->init_batch,  l->max_batch,   l->min_local,
                                l->max_local, l->most_gpus,   l->own_batch,   l->gpus,
                                l->nodes,     l->batch.local, l->batch.summed};
    PyObject *items[15];
    for (int i = 0; i < 11; i++)
        items[i] = PyLong_FromUnsignedLong(numbers[i]);
    items[11] = real(l->step_s);
    items[12] = real(l->sync_s);
    items[13] = real(l->grad_sqr);
    items[14] = real(l->grad_var);
    return filled_with(PyStructSequence_New(&learning_type), items, 15);
}

static PyObject *learning(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    struct gsim_learning l;
    if (!take(self, job, &ctx, &slot))
        return NULL;
    if (!gsim_ask_learning(ctx, slot, &l))
        Py_RETURN_NONE;
    return learning_of(&l);
}

static PyObject *learning_on(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "type", NULL};
    PyObject *job;
    unsigned int type;
    struct gsim_ctx *ctx;
    gsim_slot slot;
    struct gsim_learning l;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OI:learning_on", names, &job, &type) ||
        !take(self, job, &ctx, &slot))
        return NULL;
    if (type > UINT16_MAX || !gsim_ask_device(ctx, (uint16_t)type))
        return PyErr_Format(PyExc_ValueError, "there is no type of device %u", type);
    if (!gsim_ask_learning_on(ctx, slot, (uint16_t)type, &l))
        Py_RETURN_NONE;
    return learning_of(&l);
}

static PyObject *modes(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    struct gsim_modes m;
    if (!take(self, job, &ctx, &slot))
        return NULL;
    if (!gsim_ask_modes(ctx, slot, &m))
        Py_RETURN_NONE;
    PyObject *list = PyTuple_New(m.n);
    for (uint32_t i = 0; list && i < m.n; i++) {
        const struct gsim_mode *mode = &m.mode[i];
        const int64_t values[] = {mode->model, mode->epoch_iterations, mode->epoch_ns,
                                  mode->made_ppm};
        PyObject *item = filled(&mode_type, values, 4);
        if (item)
            PyTuple_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    PyObject *items[] = {PyLong_FromUnsignedLong(m.at), PyLong_FromLongLong(m.epochs_ppm),
                         PyLong_FromLongLong(m.made_ppm), list};
    return filled_with(PyStructSequence_New(&modes_type), items, 4);
}

static PyObject *sms(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"gpu", "part_ppm", NULL};
    struct gsim_ctx *ctx = ctx_of(self);
    PyObject *number;
    unsigned int part_ppm;
    uint32_t gpu;
    if (!ctx || !PyArg_ParseTupleAndKeywords(args, named, "OI:sms", names, &number, &part_ppm) ||
        !gsim_py_gpu(ctx, number, &gpu))
        return NULL;
    if (part_ppm > GSIM_PPM)
        return PyErr_Format(PyExc_ValueError, "part_ppm is at most %d", (int)GSIM_PPM);
    return PyLong_FromUnsignedLong(gsim_ask_sms(ctx, gpu, part_ppm));
}

static PyObject *open_gpu(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"before", "mem_bytes", NULL};
    struct gsim_ctx *ctx = ctx_of(self);
    PyObject *number = Py_None;
    long long mem_bytes = -1;
    if (!ctx ||
        !PyArg_ParseTupleAndKeywords(args, named, "|OL:open_gpu", names, &number, &mem_bytes))
        return NULL;
    uint32_t end = ctx->view->cluster.n_gpus, before = end;
    if (number != Py_None && !gsim_py_gpu(ctx, number, &before))
        return NULL;
    uint32_t gpu = gsim_ask_open_gpu(ctx, before, mem_bytes);
    if (gpu == end)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(gpu);
}

static PyObject *may_use(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "gpu", NULL};
    PyObject *job, *number;
    struct gsim_ctx *ctx;
    gsim_slot slot;
    uint32_t gpu;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO:may_use", names, &job, &number) ||
        !take(self, job, &ctx, &slot) || !gsim_py_gpu(ctx, number, &gpu))
        return NULL;
    return PyBool_FromLong(gsim_ask_may_use(ctx, slot, gpu));
}

static PyObject *nodes(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) ? PyLong_FromUnsignedLong(gsim_ask_nodes(ctx, slot)) : NULL;
}

static PyObject *wish(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    return take(self, job, &ctx, &slot) ? PyLong_FromUnsignedLongLong(gsim_ask_wish(ctx, slot))
                                        : NULL;
}

static PyObject *are_alike(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "other", NULL};
    PyObject *job, *other;
    struct gsim_ctx *ctx;
    gsim_slot slot, other_slot;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO:are_alike", names, &job, &other) ||
        !take(self, job, &ctx, &slot) || !take(self, other, &ctx, &other_slot))
        return NULL;
    return PyBool_FromLong(gsim_ask_are_alike(ctx, slot, other_slot));
}

static PyObject *has_wishes(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"rule", NULL};
    PyObject *rule = Py_None;
    struct gsim_ctx *ctx = ctx_of(self);
    if (!ctx || !PyArg_ParseTupleAndKeywords(args, named, "|O:has_wishes", names, &rule))
        return NULL;
    int choice = rule != Py_None ? gsim_py_choice(rule, "rule", gsim_py_rules) : 0;
    if (choice < 0)
        return NULL;
    return PyBool_FromLong(rule == Py_None
                               ? gsim_ask_has_wishes(ctx->view)
                               : gsim_ask_has_wishes_under(ctx->view, (enum gsim_rule)choice));
}

static PyObject *counts_cpus(PyObject *self, PyObject *none) {
    struct gsim_ctx *ctx = ctx_of(self);
    (void)none;
    return ctx ? PyBool_FromLong(gsim_ask_counts_cpus(ctx->view)) : NULL;
}

static PyObject *pauses_in_place(PyObject *self, PyObject *none) {
    struct gsim_ctx *ctx = ctx_of(self);
    (void)none;
    return ctx ? PyBool_FromLong(gsim_ask_pauses_in_place(ctx->view)) : NULL;
}

static PyObject *service_ns(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "iterations", NULL};
    PyObject *job;
    long long iterations;
    struct gsim_ctx *ctx;
    gsim_slot slot;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OL:service_ns", names, &job, &iterations) ||
        !take(self, job, &ctx, &slot))
        return NULL;
    return PyLong_FromLongLong(gsim_ask_service_ns(ctx, slot, iterations));
}

static PyObject *back_ns(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"job", "units", NULL};
    PyObject *job, *list;
    struct gsim_ctx *ctx;
    gsim_slot slot;
    uint32_t n;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO:back_ns", names, &job, &list) ||
        !take(self, job, &ctx, &slot))
        return NULL;
    struct gsim_unit *units = gsim_py_units(ctx, list, &n);
    if (!units)
        return NULL;
    int64_t time_ns = gsim_ask_back_ns(ctx, slot, units, n);
    PyMem_Free(units);
    return PyLong_FromLongLong(time_ns);
}

static PyObject *count(PyObject *self, PyObject *job) {
    struct gsim_ctx *ctx;
    gsim_slot slot;
    if (!take(self, job, &ctx, &slot))
        return NULL;
    struct gsim_counters c = gsim_count(ctx, slot);
    const int64_t values[] = {c.work_ns,         c.kernels,      c.blocks,        c.iterations,
                              c.busy_ns,         c.taken_ns,     c.gpu_time_ns,   c.costs.bytes_in,
                              c.costs.bytes_out, c.costs.faults, c.costs.stall_ns};
    return filled(&count_type, values, 11);
}

static PyObject *instance(const struct gsim_instance *about) {
    PyObject *out = PyStructSequence_New(&instance_type);
    PyObject *items[] = {PyUnicode_FromString(about->name), PyLong_FromLongLong(about->mem_bytes),
                         PyLong_FromUnsignedLong(about->part_ppm)};
    return filled_with(out, items, 3);
}

static PyObject *layout(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"gpu", "layout", NULL};
    PyObject *number;
    const char *text = NULL;
    uint32_t gpu;
    struct gsim_ctx *ctx = ctx_of(self);
    if (!ctx || !PyArg_ParseTupleAndKeywords(args, named, "O|z:layout", names, &number, &text) ||
        !gsim_py_gpu(ctx, number, &gpu))
        return NULL;
    struct gsim_log log = {0};
    struct gsim_partition partition = {0};
    if (gsim_ask_layout(ctx, gpu, text, &partition, &log) != GSIM_OK)
        return PyErr_Format(gsim_py_error, "%s", log.errors[0].text);
    PyObject *list = PyList_New(partition.n);
    for (uint32_t i = 0; list && i < partition.n; i++) {
        PyObject *item = instance(&partition.instance[i]);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    return list;
}

/* --- of GPUs ---------------------------------------------------------------------------------- */

static PyObject *device(PyObject *self, PyObject *number) {
    struct gsim_ctx *ctx = ctx_of(self);
    unsigned long type;
    if (!ctx || !gsim_py_unsigned(number, &type))
        return NULL;
    const char *name = type <= UINT16_MAX ? gsim_ask_device(ctx, (uint16_t)type) : NULL;
    return name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

static PyObject *host(PyObject *self, PyObject *number) {
    struct gsim_ctx *ctx = ctx_of(self);
    unsigned long node;
    if (!ctx || !gsim_py_unsigned(number, &node))
        return NULL;
    if (node >= ctx->view->cluster.n_nodes)
        return PyErr_Format(PyExc_ValueError, "there is no node %lu", node);
    struct gsim_host own = gsim_ask_host(ctx, (uint32_t)node);
    return Py_BuildValue("(LL)", (long long)own.cpus_milli, (long long)own.mem_bytes);
}

static PyObject *is_idle(PyObject *self, PyObject *number) {
    struct gsim_ctx *ctx = ctx_of(self);
    uint32_t gpu;
    return ctx && gsim_py_gpu(ctx, number, &gpu) ? PyBool_FromLong(gsim_gpu_is_idle(ctx->view, gpu))
                                                 : NULL;
}

static PyObject *idle_gpus(PyObject *self, PyObject *unused) {
    struct gsim_ctx *ctx = ctx_of(self);
    (void)unused;
    PyObject *list = ctx ? PyList_New(0) : NULL;
    for (uint32_t gpu = 0; list && !ctx->view->pool.is_used && gpu < ctx->view->cluster.n_gpus;
         gpu++) {
        if (!gsim_gpu_is_idle(ctx->view, gpu))
            continue;
        PyObject *item = PyLong_FromUnsignedLong(gpu);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

#define NAMED(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
PyMethodDef gsim_py_questions[] = {
    {"attained_ns", attained_ns, METH_O, "attained_ns(job): service that the job has had."},
    {"ran_ns", ran_ns, METH_O, "ran_ns(job): time that it has run, waits for pages included."},
    {"remaining_ns", remaining_ns, METH_O, "remaining_ns(job): service left; oracles only."},
    {"left_ns", left_ns, METH_O,
     "left_ns(job): time to its end, alone on the units that it has in the plan; oracles only."},
    {"least_ns", least_ns, METH_O,
     "least_ns(job): a time that no placement on as many GPUs as it asks for can beat; 0: unknown; "
     "oracles only."},
    {"memory_bytes", memory_bytes, METH_O, "memory_bytes(job): on each GPU; 0: unknown."},
    {"nth", nth, METH_O, "nth(job): its place in the order of submission: the tie breaker."},
    {"id", id, METH_O, "id(job): the job's id in the trace."},
    {"home", home, METH_O, "home(job): the units where a waiting job's state lies, or []."},
    {"ask", NAMED(ask), "ask(job, stop, keep, units=None): what stopping it now would cost."},
    {"back_ns", NAMED(back_ns), "back_ns(job, units): the time to bring its state to the units."},
    {"rate", NAMED(rate),
     "rate(job, type, gpus=0, nodes=0, cpus_milli=0, mem_bytes=0, beside=None): how fast it would "
     "run, alone or beside another job, on this number of "
     "GPUs (0: that it asks for) of this type, on this number of nodes (0: as few "
     "as the table has), with this part of the host beside each (0: its share of a node)."},
    {"may_use", NAMED(may_use),
     "may_use(job, gpu): whether its partition and type of GPU let it run there."},
    {"nodes", nodes, METH_O,
     "nodes(job): on how many nodes its gang has to lie, as evenly as its GPUs allow; 0: on any "
     "number."},
    {"wish", wish, METH_O,
     "wish(job): a number for the nodes that it may have, and for how many it asks: jobs of "
     "one number are alike in both."},
    {"has_wishes", NAMED(has_wishes),
     "has_wishes(rule=None): whether jobs differ in the nodes that they may have, or in how many; "
     "with a rule, whether they do where all are placed by it."},
    {"counts_cpus", counts_cpus, METH_NOARGS,
     "counts_cpus(): whether CPUs of hosts are counted: else those that jobs ask for bind "
     "nothing."},
    {"pauses_in_place", pauses_in_place, METH_NOARGS,
     "pauses_in_place(): whether a paused job goes on on the GPUs that it left, or not at all, as "
     "processes do."},
    {"are_alike", NAMED(are_alike),
     "are_alike(job, other): whether both may have the same nodes, by one wish, and as many."},
    {"host", host, METH_O, "host(node): its (cpus_milli, mem_bytes); 0: not counted."},
    {"service_ns", NAMED(service_ns),
     "service_ns(job, iterations): service after this number of its iterations; -1: unknown."},
    {"device", device, METH_O, "device(type): the name of a type of device, or None."},
    {"count", count, METH_O, "count(job): counters of the job."},
    {"preemption", preemption, METH_O,
     "preemption(own): the (stop, keep) of the parameter preempt; own: what auto keeps."},
    {"layout", NAMED(layout), "layout(gpu, layout=None): the instances of a layout."},
    {"learning", learning, METH_O,
     "learning(job): what a job that learns by a table may do, and has measured; None: no table."},
    {"learning_on", NAMED(learning_on),
     "learning_on(job, type): what it may do on such GPUs; None: no table, or it cannot run "
     "there."},
    {"modes", modes, METH_O,
     "modes(job): the modes of a job in phases, and its epochs so far; None: it has no phases."},
    {"sms", NAMED(sms),
     "sms(gpu, part_ppm): SMs of the largest group within this part of the GPU; 0: not known."},
    {"open_gpu", NAMED(open_gpu),
     "open_gpu(before=None, mem_bytes=-1): the next GPU after this one that one more job could go "
     "to, those with the fewest jobs first, with this much memory left (below 0: any); None: there "
     "is none."},
    {"lots", gsim_py_lots, METH_O, "lots(name): a stream of random numbers, fixed by the seed."},
    {"is_idle", is_idle, METH_O, "is_idle(gpu): whether the GPU is wholly free."},
    {"idle_gpus", idle_gpus, METH_NOARGS, "idle_gpus(): the GPUs that are wholly free."},
    {0}};

int gsim_py_questions_ready(PyObject *module) {
    if (PyStructSequence_InitType2(&quote_type, &quote_about) < 0 ||
        PyStructSequence_InitType2(&count_type, &count_about) < 0 ||
        PyStructSequence_InitType2(&rate_type, &rate_about) < 0 ||
        PyStructSequence_InitType2(&learning_type, &learning_about) < 0 ||
        PyStructSequence_InitType2(&mode_type, &mode_about) < 0 ||
        PyStructSequence_InitType2(&modes_type, &modes_about) < 0 ||
        PyStructSequence_InitType2(&instance_type, &instance_about) < 0)
        return -1;
    if (PyModule_AddType(module, &quote_type) < 0 || PyModule_AddType(module, &count_type) < 0 ||
        PyModule_AddType(module, &rate_type) < 0 || PyModule_AddType(module, &learning_type) < 0 ||
        PyModule_AddType(module, &mode_type) < 0 || PyModule_AddType(module, &modes_type) < 0)
        return -1;
    return PyModule_AddType(module, &instance_type);
}
