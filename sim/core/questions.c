/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions of policies. What a job would cost or how fast it would be somewhere is answered by the
 * code of the model that charges it. */
#include "sim/core/core.h"
#include "sim/base/hints.h"
#include "sim/api/phases.h"

struct gsim_shape gsim_shape_of(const struct gsim_view *view, gsim_slot job, enum gsim_rule rule) {
    int64_t cpus = gsim_ask_counts_cpus(view)
                       ? gsim_trace_get(view->trace, GSIM_COL_CPUS_MILLI, view->jobs.index[job])
                       : 0;
    return (struct gsim_shape){.gpus = view->jobs.gpus[job],
                               .share_ppm = view->jobs.share_ppm[job],
                               .cpus_milli = cpus > 0 ? cpus : 0,
                               .rule = rule};
}

void gsim_tell_progress(struct gsim_core *core, gsim_slot slot) {
    core->ops->tell(core->model, slot, core->view.now_ns);
}

int64_t gsim_ran_ns(const struct gsim_view *view, gsim_slot slot) {
    const struct gsim_core_job *own = &view->core->jobs.core[slot];
    bool is_running =
        view->jobs.state[slot] == GSIM_RUNNING || view->jobs.state[slot] == GSIM_STOPPING;
    return own->ran_ns + (is_running ? view->now_ns - own->last_ns : 0);
}

struct gsim_quote gsim_ask(const struct gsim_ctx *ctx, gsim_slot job, enum gsim_stop stop,
                           enum gsim_keep keep, const struct gsim_unit *units, uint32_t n_units) {
    struct gsim_core *core = ctx->core;
    if (stop >= GSIM_STOP_COUNT || keep >= GSIM_KEEP_COUNT)
        return (struct gsim_quote){0};
    gsim_tell_progress(core, job);
    keep = gsim_hosts_keep(core, job, keep);
    units = units ? gsim_units_in(core, units, n_units) : NULL;
    return core->ops->quote(core->model, job, stop, keep, units, n_units, core->view.now_ns);
}

uint32_t gsim_ask_home(const struct gsim_ctx *ctx, gsim_slot job, const struct gsim_unit **units) {
    struct gsim_core *core = ctx->core;
    const struct gsim_job *about = &core->jobs.info[job];
    bool is_bound = gsim_state_waits((enum gsim_state)core->jobs.state[job]) &&
                    about->n_left_units > 0 && core->ops->is_bound(core->model, job);
    *units = is_bound ? gsim_units_out(core, about->left_units, about->n_left_units) : NULL;
    return *units ? about->n_left_units : 0;
}

int64_t gsim_ask_back_ns(const struct gsim_ctx *ctx, gsim_slot job, const struct gsim_unit *units,
                         uint32_t n_units) {
    struct gsim_core *core = ctx->core;
    units = gsim_units_in(core, units, n_units);
    return core->ops
        ->quote(core->model, job, GSIM_STOP_SAVE, (enum gsim_keep)core->jobs.core[job].keep, units,
                n_units, core->view.now_ns)
        .resume_ns;
}

enum gsim_status gsim_ask_layout(const struct gsim_ctx *ctx, uint32_t gpu, const char *layout,
                                 struct gsim_partition *out, struct gsim_log *log) {
    return ctx->core->ops->read_layout(ctx->core->model, ctx->core->here.first_gpu + gpu, layout,
                                       out, log);
}

uint32_t gsim_ask_sms(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t part_ppm) {
    return ctx->core->ops->sms(ctx->core->model, ctx->core->here.first_gpu + gpu, part_ppm);
}

int64_t gsim_ask_left_ns(const struct gsim_ctx *ctx, gsim_slot job) {
    uint64_t pace_q32 = ctx->core->ops->pace(ctx->core->model, job);
    int64_t left_ns = gsim_remaining_ns(ctx->view, job);
    if (gsim_mostly(pace_q32 == GSIM_RATE_ONE) || pace_q32 == 0)
        return left_ns;
    return gsim_work_time(gsim_work_of_ns(left_ns), pace_q32);
}

int64_t gsim_ask_least_ns(const struct gsim_ctx *ctx, gsim_slot job) {
    const struct gsim_core *core = ctx->core;
    uint64_t most_q32 = core->ops->most_pace ? core->ops->most_pace(core->model, job) : 0;
    int64_t left_ns = gsim_remaining_ns(ctx->view, job);
    return most_q32 == 0 ? 0 : gsim_work_time(gsim_work_of_ns(left_ns), most_q32);
}

bool gsim_ask_may_use(const struct gsim_ctx *ctx, gsim_slot job, uint32_t gpu) {
    const struct gsim_core *core = ctx->core;
    return gsim_cluster_may_use(&core->jobs.core[job].request,
                                core->cluster.node_of_gpu[core->here.first_gpu + gpu]);
}

uint32_t gsim_ask_nodes(const struct gsim_ctx *ctx, gsim_slot job) {
    return ctx->core->jobs.core[job].request.n_nodes;
}

bool gsim_ask_has_wishes(const struct gsim_view *view) {
    return view->core->node_sets.table != NULL || view->core->node_counts.of_job != NULL;
}

bool gsim_ask_has_wishes_under(const struct gsim_view *view, enum gsim_rule rule) {
    const struct gsim_node_counts *counts = &view->core->node_counts;
    bool is_kept = rule == GSIM_RULE_CONSOLIDATE && counts->are_consolidated;
    return view->core->node_sets.table != NULL || (counts->of_job != NULL && !is_kept);
}

bool gsim_ask_counts_cpus(const struct gsim_view *view) {
    return view->core->cluster.counts_cpus;
}

bool gsim_ask_pauses_in_place(const struct gsim_view *view) {
    return view->core->options->pauses_in_place;
}

uint64_t gsim_ask_wish(const struct gsim_ctx *ctx, gsim_slot job) {
    const struct gsim_request *request = &ctx->core->jobs.core[job].request;
    uint64_t set = request->nodes ? request->nodes->number : 0;
    return set << 32 | request->n_nodes;
}

bool gsim_ask_are_alike(const struct gsim_ctx *ctx, gsim_slot job, gsim_slot other) {
    return gsim_ask_wish(ctx, job) == gsim_ask_wish(ctx, other);
}

const char *gsim_ask_device(const struct gsim_ctx *ctx, uint16_t type) {
    const struct gsim_cluster_spec *spec = ctx->core->options->cluster;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        if (spec->groups[g].device == type && spec->groups[g].device_name)
            return gsim_device_stem(spec->groups[g].in_rates ? spec->groups[g].in_rates
                                                             : spec->groups[g].device_name,
                                    ctx->arena);
    return NULL;
}

/* Whether a GPU of the type has the memory that the job takes there, or it is managed. */
static bool has_memory(const struct gsim_ctx *ctx, gsim_slot job, uint16_t type) {
    const struct gsim_core *core = ctx->core;
    const struct gsim_cluster_spec *spec = core->options->cluster;
    int64_t bytes = core->jobs.core[job].request.mem_bytes;
    bool is_managed = ctx->devices && ctx->devices->memory != GSIM_MEMORY_RESIDENT;
    for (uint32_t g = 0; bytes > 0 && !is_managed && g < spec->n_groups; g++)
        if (spec->groups[g].device == type)
            return bytes <= spec->groups[g].hbm_bytes;
    return true;
}

struct gsim_rate gsim_ask_rate(const struct gsim_ctx *ctx, gsim_slot job,
                               const struct gsim_where *where) {
    bool is_nowhere = where->type >= ctx->core->options->cluster->n_profiles || where->gpus == 0;
    if (is_nowhere || (where->beside > 0 && !gsim_core_has_job(ctx->core, where->beside - 1)))
        return (struct gsim_rate){0};
    if (!has_memory(ctx, job, where->type))
        return (struct gsim_rate){.lacks_memory = true};
    struct gsim_gpu_span seen = {ctx->core->here.first_gpu, ctx->core->here.n_gpus};
    struct gsim_rate rate = ctx->core->ops->rate(ctx->core->model, job, where, seen);
    if (!ctx->policy->is_oracle)
        rate.iterations_after_epoch = -1;
    return rate;
}

struct gsim_host gsim_ask_host(const struct gsim_ctx *ctx, uint32_t node) {
    const struct gsim_cluster_spec *spec = ctx->core->options->cluster;
    uint32_t first = 0, g = 0;
    node += ctx->core->here.first_node;
    for (; g < spec->n_groups && node - first >= spec->groups[g].count; g++)
        first += spec->groups[g].count;
    return g == spec->n_groups
               ? (struct gsim_host){0}
               : (struct gsim_host){spec->groups[g].cpus_milli, spec->groups[g].host_bytes};
}

int64_t gsim_ask_service_ns(const struct gsim_ctx *ctx, gsim_slot job, int64_t iterations) {
    const struct gsim_core *core = ctx->core;
    int64_t all = gsim_trace_get(core->trace, GSIM_COL_ITERATIONS, core->jobs.job[job]);
    if (all <= 0 || iterations < 0)
        return -1;
    const struct gsim_phases *phases = gsim_phases_of_job(core->trace, core->jobs.job[job]);
    if (phases)
        return gsim_phases_service_ns(phases, iterations);
    return gsim_muldiv_ceil(core->jobs.service_ns[job], iterations < all ? iterations : all, all);
}

bool gsim_ask_modes(const struct gsim_ctx *ctx, gsim_slot job, struct gsim_modes *out) {
    const struct gsim_core *core = ctx->core;
    const struct gsim_phases *phases = gsim_phases_of_job(core->trace, core->jobs.job[job]);
    if (phases)
        gsim_phases_modes(phases, gsim_attained_ns(ctx->view, job), out);
    return phases != NULL;
}

struct gsim_counters gsim_count(const struct gsim_ctx *ctx, gsim_slot job) {
    struct gsim_counters counters = {0};
    gsim_tell_progress(ctx->core, job);
    struct gsim_core *core = ctx->core;
    core->ops->counters(core->model, job, core->view.now_ns, &counters);
    if (core->jobs.core[job].was_resized) {
        gsim_job_account(core, job);
        gsim_widths_book(core, job);
        counters.gpu_time_ns = (int64_t)(gsim_widths_gpu_time(core, job, counters.work_ns) /
                                         core->jobs.share_ppm[job]);
    }
    return counters;
}

uint32_t gsim_plan_units(const struct gsim_plan *plan, gsim_slot job,
                         const struct gsim_unit **units) {
    const struct gsim_op *op = plan->touched[job] ? &plan->ops[plan->touched[job] - 1] : NULL;
    if (op &&
        (op->kind == GSIM_OP_PREEMPT || op->kind == GSIM_OP_END || op->kind == GSIM_OP_SUPPOSE))
        return 0;
    const struct gsim_job *about = &plan->core->jobs.info[job];
    bool moves = op && op->kind == GSIM_OP_MOVE;
    uint32_t n_units = moves ? op->n_units : about->n_units;
    *units = gsim_units_out(plan->core, moves ? op->units : about->units, n_units);
    return *units ? n_units : 0;
}
