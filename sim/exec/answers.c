/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer: {"n": NUMBER, "plan": [VERB, ...], "wake_ns": TIME}, the last two optional. The
 * number is that of the line that it answers: a line too many would otherwise pass for the
 * answer to the next question. Each verb is an object of one of the verbs' names with the job,
 * and of its options; the plan takes them in order. */
#include <stdarg.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "sim/exec/exec.h"
#include "sim/base/text.h"

struct reading {
    struct gsim_ctx *ctx;
    struct gsim_plan *plan;
    const char *answer;
};

/* Says that the answer is wrong, and shows its beginning. */
__attribute__((format(printf, 2, 3))) static bool bad(const struct reading *r, const char *format,
                                                      ...) {
    struct gsim_exec *exec = r->ctx->state;
    char why[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    char now[32];
    (void)gsim_param_format(now, GSIM_PARAM_TIME, r->ctx->view->now_ns);
    r->ctx->status =
        gsim_fail(r->ctx->log, GSIM_FAILED, NULL, 0, "exec:%s: at %s: %s; its answer was '%.100s'",
                  exec->scheduler.command, now, why, r->answer);
    return false;
}

static bool take_int(const struct reading *r, const char *key, yajl_val value, int64_t least,
                     int64_t *out) {
    if (!YAJL_IS_INTEGER(value) || YAJL_GET_INTEGER(value) < least)
        return bad(r, "'%s' is not a whole number of at least %lld", key, (long long)least);
    *out = YAJL_GET_INTEGER(value);
    return true;
}

static bool take_choice(const struct reading *r, const char *key, yajl_val value,
                        const char *choices, int *out) {
    *out = YAJL_IS_STRING(value) ? gsim_text_choice(YAJL_GET_STRING(value), choices) : -1;
    return *out >= 0 || bad(r, "'%s' is not one of %s", key, choices);
}

/* --- a verb ----------------------------------------------------------------------------------- */

enum verb { PLACE, PREEMPT, MOVE, WATCH };
static const char verbs[] = "place|preempt|move|watch";
static const char rules[] = "consolidate|any|spread|fullest|affinity|random";
static const enum gsim_rule rule_of[] = {GSIM_RULE_CONSOLIDATE, GSIM_RULE_ANY,
                                         GSIM_RULE_SPREAD,      GSIM_RULE_FULLEST,
                                         GSIM_RULE_AFFINITY,    GSIM_RULE_RANDOM};
static const char stops[] = "kernel|iteration|block|save|flush|incremental|cheapest";
static const char keeps[] = "resident|pageable|host|storage|image|discard";

/* A verb with its options; gpus 0: as many as the job asks for. */
struct order {
    enum verb verb;
    uint32_t job;
    gsim_slot slot;
    struct gsim_shape shape;
    int64_t gpus, node, threshold_ns;
    enum gsim_rule rule;
    int stop, keep;
};

static bool take_job(const struct reading *r, struct order *order, const char *verb,
                     yajl_val value) {
    const struct gsim_exec *exec = r->ctx->state;
    int64_t job = 0;
    if (!take_int(r, verb, value, 0, &job))
        return false;
    bool is_known = job < r->ctx->view->trace->n_jobs && exec->slot_of[job] != GSIM_NO_SLOT;
    if (!is_known)
        return bad(r, "no job %lld is in the system", (long long)job);
    order->job = (uint32_t)job;
    order->slot = exec->slot_of[job];
    return true;
}

static bool take_option(const struct reading *r, struct order *order, const char *key,
                        yajl_val value) {
    int rule = 0;
    if (strcmp(key, "gpus") == 0 && order->verb != WATCH)
        return take_int(r, key, value, 1, &order->gpus);
    if (strcmp(key, "node") == 0 && order->verb != WATCH)
        return take_int(r, key, value, 0, &order->node) &&
               (order->node < r->ctx->view->cluster.n_nodes ||
                bad(r, "there is no node %lld", (long long)order->node));
    if (strcmp(key, "rule") == 0) {
        bool is_fine = take_choice(r, key, value, rules, &rule);
        order->rule = is_fine ? rule_of[rule] : GSIM_RULE_ANY;
        return is_fine;
    }
    if (strcmp(key, "stop") == 0)
        return take_choice(r, key, value, stops, &order->stop);
    if (strcmp(key, "keep") == 0)
        return take_choice(r, key, value, keeps, &order->keep);
    if (strcmp(key, "attained_ns") == 0)
        return take_int(r, key, value, 0, &order->threshold_ns);
    return bad(r,
               "no verb and no option is called '%s'; verbs are %s, and options gpus, node, "
               "rule, stop, keep and attained_ns",
               key, verbs);
}

static bool read_order(const struct reading *r, yajl_val value, struct order *order) {
    *order = (struct order){
        .slot = GSIM_NO_SLOT, .node = -1, .stop = GSIM_STOP_ITERATION, .keep = GSIM_KEEP_STORAGE};
    if (!YAJL_IS_OBJECT(value))
        return bad(r, "'plan' is a list of objects, such as {\"place\": 3}");
    size_t n = YAJL_GET_OBJECT(value)->len, n_verbs = 0;
    for (int pass = 0; pass < 2; pass++) /* the verb first, wherever it stands */
        for (size_t i = 0; i < n; i++) {
            const char *key = YAJL_GET_OBJECT(value)->keys[i];
            yajl_val of = YAJL_GET_OBJECT(value)->values[i];
            int verb = gsim_text_choice(key, verbs);
            bool is_fine = true;
            if (verb >= 0 && pass == 0) {
                order->verb = (enum verb)verb;
                is_fine = take_job(r, order, key, of) && n_verbs++ == 0;
            } else if (verb < 0 && pass == 1) {
                is_fine = take_option(r, order, key, of);
            }
            if (!is_fine)
                return r->ctx->status == GSIM_OK ? bad(r, "an object has one verb") : false;
        }
    return n_verbs == 1 || bad(r, "an object of the plan has no verb of %s", verbs);
}

static struct gsim_shape shape_of(const struct reading *r, const struct order *order) {
    struct gsim_shape shape = gsim_shape_of(r->ctx->view, order->slot, order->rule);
    if (order->gpus > 0 && shape.gpus != (uint32_t)order->gpus) {
        shape.gpus = (uint32_t)order->gpus;
        shape.share_ppm = GSIM_PPM;
    }
    shape.within = (uint32_t)(order->node + 1);
    return shape;
}

static bool refuse(const struct reading *r, uint32_t job) {
    struct gsim_exec *exec = r->ctx->state;
    if (exec->n_refused == exec->refused_capacity) {
        uint32_t capacity = exec->refused_capacity ? 2 * exec->refused_capacity : 16;
        uint32_t *grown =
            gsim_arena_grow_raw(r->ctx->arena, exec->refused, capacity * sizeof *grown);
        if (!grown) {
            r->ctx->status = gsim_no_memory(r->ctx->log, "reading an answer");
            return false;
        }
        exec->refused = grown;
        exec->refused_capacity = capacity;
    }
    exec->refused[exec->n_refused++] = job;
    return true;
}

/* false: the answer cannot be followed on. A verb that breaks a rule ends the run by itself. */
static bool follow(const struct reading *r, const struct order *order) {
    struct gsim_shape shape = shape_of(r, order);
    bool fits = true;
    if (order->gpus > (int64_t)r->ctx->view->cluster.n_gpus)
        return bad(r, "the cluster has no %lld GPUs", (long long)order->gpus);
    if (order->verb == PLACE)
        fits = gsim_plan_place(r->plan, order->slot, &shape);
    else if (order->verb == PREEMPT)
        fits = gsim_plan_preempt(r->plan, order->slot, (enum gsim_stop)order->stop,
                                 (enum gsim_keep)order->keep);
    else if (order->verb == MOVE)
        fits = gsim_plan_move(r->plan, order->slot, &shape);
    else
        gsim_plan_watch(r->plan, order->slot, GSIM_WATCH_ATTAINED, order->threshold_ns);
    return fits || refuse(r, order->job);
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool take_plan(const struct reading *r, yajl_val value) {
    struct order order;
    if (!YAJL_IS_ARRAY(value))
        return bad(r, "'plan' is not a list");
    for (size_t i = 0; i < YAJL_GET_ARRAY(value)->len; i++)
        if (!read_order(r, YAJL_GET_ARRAY(value)->values[i], &order) || !follow(r, &order))
            return false;
    return true;
}

static bool take_wake(const struct reading *r, yajl_val value) {
    int64_t wake_ns = GSIM_NEVER;
    if (!YAJL_IS_NULL(value) && !take_int(r, "wake_ns", value, 0, &wake_ns))
        return false;
    if (wake_ns <= r->ctx->view->now_ns)
        return bad(r, "'wake_ns' is not later than now_ns");
    gsim_plan_wake(r->plan, wake_ns);
    return true;
}

/* The number of the line that it answers. */
static bool take_number(const struct reading *r, yajl_val answer) {
    const struct gsim_exec *exec = r->ctx->state;
    int64_t n = exec->n_asked - 1, answered = 0;
    const char *path[] = {"n", NULL};
    yajl_val value = yajl_tree_get(answer, path, yajl_t_any);
    if (!value)
        return bad(r, "an answer has the 'n' of its line, %lld here", (long long)n);
    if (!take_int(r, "n", value, 0, &answered))
        return false;
    return answered == n || bad(r, "it answers line %lld, and line %lld was asked",
                                (long long)answered, (long long)n);
}

static bool take_member(const struct reading *r, const char *key, yajl_val value) {
    if (strcmp(key, "n") == 0)
        return true;
    if (strcmp(key, "plan") != 0 && strcmp(key, "wake_ns") != 0)
        return bad(r, "an answer has 'n', 'plan' and 'wake_ns', and no '%s'", key);
    if (!r->plan)
        return bad(r, "the first line comes before the run, and is answered by {\"n\": 0}");
    return strcmp(key, "plan") == 0 ? take_plan(r, value) : take_wake(r, value);
}

static void take_answer(const struct reading *r, yajl_val answer) {
    if (!YAJL_IS_OBJECT(answer)) {
        (void)bad(r, "an answer is an object, such as {\"n\": 1, \"plan\": [{\"place\": 3}]}");
        return;
    }
    bool is_fine = take_number(r, answer);
    for (size_t i = 0; is_fine && i < YAJL_GET_OBJECT(answer)->len; i++)
        is_fine =
            take_member(r, YAJL_GET_OBJECT(answer)->keys[i], YAJL_GET_OBJECT(answer)->values[i]);
}

enum gsim_status gsim_exec_apply(struct gsim_ctx *ctx, struct gsim_plan *plan, const char *answer) {
    struct reading r = {.ctx = ctx, .plan = plan, .answer = answer};
    char why[160] = "an empty line";
    yajl_val tree = *answer ? yajl_tree_parse(answer, why, sizeof why) : NULL;
    if (tree)
        take_answer(&r, tree);
    else
        (void)bad(&r, "it is not JSON (%.*s)", (int)strcspn(why, "\n"), why);
    yajl_tree_free(tree);
    return ctx->status;
}
