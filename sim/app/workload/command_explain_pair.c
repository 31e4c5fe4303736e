/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim explain-pair: two programs alone and beside each other under MPS, and where the time of
 * their iterations goes. The model counts it (models/gpu/lane_state.h); what it counts no cause for
 * is a lower clock, since the rates of kernels have no others. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "models/gpu/arbiter.h"
#include "models/gpu/program_alone.h"
#include "models/jobs/arbiters.h"
#include "sim/app/cli/options.h"
#include "sim/app/setup/apps.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "sim/study/output.h"
#include "traces/service.h"

static const int64_t span_ns = 10 * GSIM_NS_PER_S;

enum part { KERNELS, WAITED, SMS, BANDWIDTH, CLOCK, HOST, N_PARTS };
static const struct {
    const char *name, *text;
} parts[N_PARTS] = {
    [KERNELS] = {"kernels_ms", "its kernels, as fast as alone"},
    [WAITED] = {"waits_for_sms_ms", "it waits behind the other's blocks"},
    [SMS] = {"fewer_sms_ms", "it has fewer SMs"},
    [BANDWIDTH] = {"bandwidth_ms", "they share memory bandwidth"},
    [CLOCK] = {"clock_ms", "its clock is lower"},
    [HOST] = {"host_ms", "its host, and its own pace"},
};

/* Milliseconds of an iteration, which sum up to its time. */
struct account {
    double rate; /* iterations a second */
    double ms[N_PARTS];
};

struct side {
    const char *name;
    struct gsim_context context;
    struct account alone, beside;
};

static struct account account_of(const struct gsim_member *member) {
    const struct gsim_context *context = &member->context;
    const struct gsim_member_sums *sums = &member->sums;
    double done = (double)gsim_work_to_ns(context->done) / (double)context->spec.gpu_ns;
    double n = (double)context->sums.done_iterations + done;
    struct account out = {.rate = n * (double)GSIM_NS_PER_S / (double)span_ns};
    double scale = 1e-6 / (n > 0 ? n : 1);
    double work_ns = n * (double)context->spec.gpu_ns;
    out.ms[KERNELS] = work_ns * scale;
    out.ms[WAITED] = (double)sums->waited_ns * scale;
    out.ms[SMS] = (double)sums->sms_ns * scale;
    out.ms[BANDWIDTH] = (double)sums->bandwidth_ns * scale;
    out.ms[CLOCK] =
        ((double)(sums->busy_ns - sums->waited_ns - sums->sms_ns - sums->bandwidth_ns) - work_ns) *
        scale;
    out.ms[HOST] = (double)(span_ns - sums->busy_ns) * scale;
    /* A program that is slower alone than its kernels is so beside the other: no fault of that. */
    double own_ms = 1e-6 * (double)(context->spec.pace_ns - context->spec.gpu_ns);
    own_ms = fmax(fmin(own_ms, out.ms[CLOCK]), 0);
    out.ms[CLOCK] -= own_ms;
    out.ms[HOST] += own_ms;
    return out;
}

/* Runs these programs side by side, or one alone. */
static bool run(const struct gsim_profile *profile, struct gsim_arena *arena, struct side *side,
                uint16_t n, struct account *out[]) {
    struct gsim_arbiter_options options = {.costs = gsim_arbiters_switch_costs(profile),
                                           .quantum_ns = profile->value[GSIM_KEY_SLICE_QUANTUM_NS],
                                           .is_exact = true};
    struct gsim_space space = gsim_space_of_device(profile);
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR};
    struct gsim_arbiter *arbiter = gsim_arbiter_new(&options, arena);
    if (!arbiter)
        return false;
    gsim_arbiter_set_spaces(arbiter, &space, 1, 0);
    for (uint16_t i = 0; i < n; i++)
        if (!gsim_arbiter_set_lane(arbiter, i, &lane, 0, 0))
            return false;
    for (uint16_t i = 0; i < n; i++) {
        struct gsim_member member = {.how.lane = i,
                                     .spec.demand.fill_ppm = (uint32_t)GSIM_PPM,
                                     .context = side[i].context,
                                     .watch_iterations = -1};
        gsim_context_start(&member.context, 0);
        if (gsim_arbiter_join(arbiter, &member, GSIM_ARRIVAL_NEW, 0) == GSIM_NO_MEMBER)
            return false;
    }
    (void)gsim_arbiter_settle(arbiter, span_ns);
    for (uint16_t i = 0; i < n; i++)
        *out[i] = account_of(gsim_arbiter_member(arbiter, i));
    return true;
}

/* --- the programs ----------------------------------------------------------------------------- */

/* Its rate alone makes its host as fast as the program was without a profiler. */
static enum gsim_status take_rate(struct gsim_cli *cli, struct side *side, const char *text) {
    enum { MILLI = 1000, ITERATIONS = 1000 };
    int64_t rate_milli = 0;
    if (gsim_parse_decimal(text, strlen(text), MILLI, &rate_milli) != GSIM_PARSE_OK ||
        rate_milli <= 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "'%s' is not a rate alone, in iterations a second, as in %s@29.9", text,
                         side->name);
    int64_t time_ns = gsim_muldiv_floor(ITERATIONS * GSIM_NS_PER_S, MILLI, rate_milli);
    int64_t kernels_ns = side->context.spec.program->kernels_ns;
    if ((gsim_i128)time_ns * GSIM_PPM < (gsim_i128)kernels_ns * ITERATIONS * GSIM_SERVICE_LEAST_PPM)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "%s a second leave an iteration of %s %lld us, and its kernels take "
                         "%lld us",
                         text, side->name, (long long)(time_ns / ITERATIONS / GSIM_NS_PER_US),
                         (long long)(kernels_ns / GSIM_NS_PER_US));
    side->context.spec.iterations = ITERATIONS;
    (void)gsim_program_fit(&side->context, time_ns, 0);
    return GSIM_OK;
}

static enum gsim_status take_side(struct gsim_cli *cli, const char *operand,
                                  const struct gsim_profile *profile, struct side *out) {
    const struct gsim_program *program = NULL;
    struct gsim_roofline_cost cost;
    struct gsim_app *app = gsim_arena_alloc(cli->arena, sizeof *app);
    const char *at = strrchr(operand, '@');
    size_t length = at ? (size_t)(at - operand) : strlen(operand);
    out->name = app ? gsim_arena_strndup(cli->arena, operand, length) : NULL;
    if (!out->name)
        return gsim_no_memory(cli->log, "reading a program");
    enum gsim_status status = gsim_apps_load(out->name, NULL, 0, cli->arena, app, cli->log);
    if (status == GSIM_OK)
        status = gsim_roofline_cost(app, profile, &cost, cli->log);
    if (status == GSIM_OK)
        status = gsim_program_of(app, profile, cli->arena, &program, cli->log);
    if (status != GSIM_OK)
        return status;
    if (!program)
        return gsim_fail(
            cli->log, GSIM_BAD_INPUT, app->path, 0,
            "the application has no launches: gsim import timeline makes a program of what a "
            "profiler saw");
    out->context = gsim_program_context(program, profile, 0, 0, 1);
    status = at ? take_rate(cli, out, at + 1) : GSIM_OK;
    out->context.spec.iterations = INT64_C(1) << 40; /* more than the span has */
    return status;
}

/* --- the answer ------------------------------------------------------------------------------ */

static double ms_of(const struct account *account) {
    return account->rate > 0 ? 1000 / account->rate : 0;
}

/* The part of an iteration's time beside the other that it does not need alone. */
static double more_ms(const struct side *side, enum part part) {
    double more = side->beside.ms[part] - side->alone.ms[part];
    return more > -0.0005 && more < 0.0005 ? 0 : more; /* no -0.000 */
}

static enum part worst_of(const struct side *side) {
    enum part worst = WAITED;
    for (enum part part = WAITED; part < N_PARTS; part++)
        if (more_ms(side, part) > more_ms(side, worst))
            worst = part;
    return worst;
}

static void put_row(FILE *out, const char *text, double one, double other) {
    fprintf(out, "%-36s %20.3f %20.3f\n", text, one, other);
}

/* Of a path the file: the head of a column has room for no more. */
static const char *head_of(const struct side *side) {
    const char *slash = strrchr(side->name, '/');
    return slash ? slash + 1 : side->name;
}

static void write_sides(FILE *out, const struct side *side) {
    fprintf(out, "%-36s %20.20s %20.20s\n", "", head_of(&side[0]), head_of(&side[1]));
    put_row(out, "iterations a second, alone", side[0].alone.rate, side[1].alone.rate);
    put_row(out, "iterations a second, side by side", side[0].beside.rate, side[1].beside.rate);
    put_row(out, "ms an iteration, alone", ms_of(&side[0].alone), ms_of(&side[1].alone));
    for (enum part part = WAITED; part < N_PARTS; part++)
        fprintf(out, "  %-34s %+20.3f %+20.3f\n", parts[part].text, more_ms(&side[0], part),
                more_ms(&side[1], part));
    put_row(out, "ms an iteration, side by side", ms_of(&side[0].beside), ms_of(&side[1].beside));
    for (int i = 0; i < 2; i++)
        fprintf(out, "%s takes %.0f %% of the speed of %s; most of it: %s\n", side[1 - i].name,
                100 * (1 - side[i].beside.rate / side[i].alone.rate), side[i].name,
                parts[worst_of(&side[i])].text);
}

static void write_account(FILE *out, const char *name, const struct account *account) {
    fprintf(out, ",\"%s\":{\"iterations_per_s\":", name);
    gsim_put_real(out, account->rate, true);
    for (int part = 0; part < N_PARTS; part++) {
        fprintf(out, ",\"%s\":", parts[part].name);
        gsim_put_real(out, account->ms[part], true);
    }
    fputc('}', out);
}

static void write_sides_json(FILE *out, const struct side *side) {
    for (int i = 0; i < 2; i++) {
        fputs(i ? ",\n {\"app\":" : "[{\"app\":", out);
        gsim_put_json_text(out, side[i].name);
        write_account(out, "alone", &side[i].alone);
        write_account(out, "beside", &side[i].beside);
        fputc('}', out);
    }
    fputs("]\n", out);
}

/* A walk of ten seconds looks for no signal, and leaves nothing half done: an interruption ends the
 * program at once. */
static bool was_interrupted(const struct gsim_cli *cli) {
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    return cli->io->stop && *cli->io->stop;
}

static enum gsim_status explain(struct gsim_cli *cli, const struct gsim_profile *profile,
                                struct side *side) {
    struct account *beside[] = {&side[0].beside, &side[1].beside};
    if (was_interrupted(cli))
        return gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is explained");
    bool is_run = run(profile, cli->arena, side, 2, beside);
    for (int i = 0; i < 2 && is_run; i++) {
        struct account *alone[] = {&side[i].alone};
        is_run = run(profile, cli->arena, &side[i], 1, alone);
    }
    return is_run ? GSIM_OK : gsim_no_memory(cli->log, "running two programs");
}

enum gsim_status gsim_command_explain_pair(struct gsim_cli *cli) {
    struct side side[2] = {{0}};
    struct gsim_profile profile;
    const char *form = cli->value[GSIM_OPT_FORMAT], *device = cli->value[GSIM_OPT_DEVICE];
    int format = form ? gsim_text_choice(form, "table|json") : 0;
    if (format < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--format: '%s' is not one of table, json",
                         form);
    if (cli->n_operands != 2)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which two programs? gsim explain-pair h200-vit-train@29.9 "
                         "h200-llama-decode@336");
    enum gsim_status status =
        gsim_profile_load(device ? device : "h200", cli->arena, &profile, cli->log);
    if (status == GSIM_OK && profile.value[GSIM_KEY_SMS] > GSIM_ARRAY_SMS_MAX)
        status = gsim_fail(cli->log, GSIM_BAD_INPUT, NULL, 0,
                           "%s has more than %d SMs: kernels share it by rates, which have no "
                           "causes to tell",
                           profile.name, GSIM_ARRAY_SMS_MAX);
    for (int i = 0; i < 2 && status == GSIM_OK; i++)
        status = take_side(cli, cli->operand[i], &profile, &side[i]);
    if (status == GSIM_OK)
        status = explain(cli, &profile, side);
    if (status == GSIM_OK)
        (format ? write_sides_json : write_sides)(cli->io->out, side);
    return status;
}
