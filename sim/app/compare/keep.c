/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison in the database, so that a page of its runs has the verdict and the intervals. */
#include "sim/app/cli/invocation.h"
#include "sim/app/compare/compare.h"
#include "sim/app/results/db_comparison.h"

static const struct gsim_db_compared *list_runs(const struct gsim_compare *c,
                                                const struct gsim_comparison *s) {
    struct gsim_db_compared *list =
        gsim_arena_array(c->cli->arena, (size_t)c->n_tasks, sizeof *list);
    for (int t = 0; list && t < c->n_tasks; t++) {
        const struct gsim_compared *about = &s->policy[c->tasks[t].contender];
        bool is_counted = s->units == GSIM_UNITS_CHANGED && c->tasks[t].contender > 0;
        list[t] = (struct gsim_db_compared){.config = c->asked[t].config,
                                            .mean_s = about->mean_s,
                                            .difference_s = about->difference_s,
                                            .ratio = about->ratio,
                                            .p = about->p,
                                            .n_below = is_counted ? about->n_below : -1};
    }
    return list;
}

enum gsim_status gsim_compare_keep(const struct gsim_compare *c, const struct gsim_comparison *s,
                                   const char *const *verdict, const char *const *advice) {
    struct gsim_cli *cli = c->cli;
    struct gsim_db *db = NULL;
    if (!cli->value[GSIM_OPT_DB])
        return GSIM_OK;
    struct gsim_db_comparison about = {.argv = gsim_typed_command(cli, GSIM_OPT_COUNT),
                                       .first = c->setup->contender[0].policy->name,
                                       .over = gsim_compare_say_over(c, s),
                                       .verdict = verdict,
                                       .advice = advice,
                                       .run = list_runs(c, s),
                                       .n_runs = c->n_tasks};
    if (!about.argv || !about.over || !about.run)
        return gsim_no_memory(cli->log, "writing a database");
    enum gsim_status status = gsim_db_open(cli->value[GSIM_OPT_DB], cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_add_comparison(db, &about, cli->log);
    gsim_db_close(db);
    return status;
}
