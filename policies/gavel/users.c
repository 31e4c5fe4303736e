/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/gavel/users.h"

#include <string.h>

#include "policies/lib/shares.h"
#include "sim/base/units.h"

static const struct gsim_names *names_of(const struct gsim_ctx *ctx) {
    return &ctx->view->trace->names[GSIM_COL_USER];
}

uint32_t gavel_user_of(const struct gsim_ctx *ctx, uint32_t number) {
    int64_t user = gsim_trace_get(ctx->view->trace, GSIM_COL_USER, number);
    return user < 0 ? names_of(ctx)->n : (uint32_t)user;
}

static enum gsim_status refuse(struct gsim_ctx *ctx, const char *what, const char *text, int n) {
    return gsim_fail(
        ctx->log, GSIM_USAGE, NULL, 0,
        "gavel.user_weights: %s '%.*s'; the weights are a list such as alice:3+bob:0.5, of users "
        "of the trace and weights above 0",
        what, n, text);
}

/* Sets the weight that an item of the list gives, as name:weight. */
static enum gsim_status take_item(struct gsim_ctx *ctx, struct gavel *gavel, const char *item,
                                  size_t length) {
    const size_t milli = 1000;
    const struct gsim_names *names = names_of(ctx);
    size_t at = length;
    int64_t weight_milli = 0;
    while (at > 0 && item[at - 1] != ':')
        at--;
    if (at == 0 ||
        gsim_parse_decimal(item + at, length - at, (int64_t)milli, &weight_milli) !=
            GSIM_PARSE_OK ||
        weight_milli <= 0)
        return refuse(ctx, "no weight in", item, (int)length);
    for (uint32_t user = 0; user < names->n; user++)
        if (strlen(names->name[user]) == at - 1 && memcmp(names->name[user], item, at - 1) == 0) {
            if (gavel->user[user].weight > 0)
                return refuse(ctx, "more than one weight of", item, (int)at - 1);
            gavel->user[user].weight = (double)weight_milli / (double)milli;
            return GSIM_OK;
        }
    return refuse(ctx, "the trace has no user", item, (int)at - 1);
}

static enum gsim_status read_weights(struct gsim_ctx *ctx, struct gavel *gavel, const char *text) {
    enum gsim_status status = GSIM_OK;
    while (status == GSIM_OK && *text) {
        size_t length = strcspn(text, "+");
        status = take_item(ctx, gavel, text, length);
        text += length + (text[length] == '+');
    }
    for (uint32_t user = 0; user <= names_of(ctx)->n; user++)
        if (!(gavel->user[user].weight > 0))
            gavel->user[user].weight = 1;
    return status;
}

enum gsim_status gavel_open_users(struct gsim_ctx *ctx, struct gavel *gavel) {
    const char *weights = gsim_param_full(ctx->params, "user_weights")->text;
    uint32_t n = names_of(ctx)->n;
    gavel->users = (enum gavel_users)gsim_param(ctx->params, "users");
    if (gavel->users == GAVEL_USERS_OFF)
        return *weights == '\0' ? GSIM_OK
                                : gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                                            "gavel: user_weights= needs users=fair or users=fifo");
    if (gavel->objective != GAVEL_WATER_FILLING)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "gavel: users= goes with objective=water-filling");
    if (n == 0)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path, 0,
                         "gavel: users= needs a column 'user'");
    gavel->user = gsim_arena_array(ctx->arena, (size_t)n + 1, sizeof *gavel->user);
    if (!gavel->user)
        return gsim_no_memory(ctx->log, "opening gavel");
    for (uint32_t user = 0; user <= n; user++)
        gavel->user[user] = (struct gsim_share_entity){.is_fifo = gavel->users == GAVEL_USERS_FIFO};
    return read_weights(ctx, gavel, weights);
}
