/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/row.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/app/cli/invocation.h"
#include "sim/app/figures/report.h"
#include "sim/app/identity/config.h"

/* No driven run repeats another one: beside what was asked for, its identity has where and when. */
static bool name_once(struct gsim_cli *cli, int64_t real_run, char config[65]) {
    struct timespec now = {0};
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const char *once = gsim_arena_printf(cli->arena, "driven %s %lld %lld.%09ld", host,
                                         (long long)real_run, (long long)now.tv_sec, now.tv_nsec);
    const char *asked = gsim_arena_strdup(cli->arena, config);
    if (!once || !asked)
        return false;
    gsim_config_combine((const char *const[]){asked, once}, 2, config);
    return true;
}

enum gsim_status gsim_drive_add_row(struct gsim_cli *cli, const struct gsim_setup *setup,
                                    const struct gsim_result *result, struct gsim_db *db,
                                    int64_t real_run) {
    struct gsim_identity identity;
    struct gsim_db_run run = {.identity = &identity,
                              .replication = setup->replication,
                              .trace = &setup->trace,
                              .argv = gsim_typed_command(cli, GSIM_OPT_COUNT),
                              .settings = gsim_run_settings(cli, setup, 0, setup->replication)};
    enum gsim_status status = gsim_identity_open(cli);
    if (status == GSIM_OK)
        status = gsim_identify(cli, setup, 0, setup->replication, &identity);
    if (status != GSIM_OK)
        return status;
    if (!run.argv || !run.settings || !name_once(cli, real_run, identity.config))
        return gsim_no_memory(cli->log, "writing a database");
    status = gsim_report_kept(cli, &run.is_summary);
    if (status == GSIM_OK)
        status = gsim_db_add(db, &run, result, cli->log);
    return status == GSIM_OK ? gsim_db_real_link(db, real_run, identity.config, cli->log) : status;
}
