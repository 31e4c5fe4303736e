/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim merge: makes one database of several. A repeated merge changes no row. These are errors: a
 * run that two databases have with different results, runs of several builds or of other contents
 * of their files (unless --keep-old is given), and a sweep that lacks runs. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/app/cli/options.h"
#include "sim/app/results/db.h"

/* Whether two paths name one file: on its second call, `gsim merge -o all.db *.db` finds its own
 * output among the inputs. */
static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static enum gsim_status merge(struct gsim_cli *cli, struct gsim_db *db) {
    enum gsim_status status = GSIM_OK;
    int64_t n_new = 0;
    for (int i = 0; i < cli->n_operands && status == GSIM_OK; i++) {
        int64_t n;
        if (is_same_file(cli->operand[i], cli->value[GSIM_OPT_OUTPUT]))
            continue;
        status = gsim_db_merge(db, cli->operand[i], gsim_option_is_on(cli, GSIM_OPT_KEEP_OLD), &n,
                               cli->log);
        n_new += status == GSIM_OK ? n : 0;
    }
    if (status == GSIM_OK)
        fprintf(cli->io->out, "%s: %lld new runs of %d databases\n", cli->value[GSIM_OPT_OUTPUT],
                (long long)n_new, cli->n_operands);
    if (status == GSIM_OK)
        status = gsim_db_warn_of_builds(db, "main.run", cli->log);
    return status == GSIM_OK ? gsim_db_check_sweeps(db, cli->log) : status;
}

/* Before the output is made: a file that is not there, or is no database of gsim, leaves none
 * behind. */
static enum gsim_status check_inputs(const struct gsim_cli *cli) {
    enum gsim_status status = GSIM_OK;
    for (int i = 0; i < cli->n_operands && status == GSIM_OK; i++) {
        struct gsim_db *db = NULL;
        status = access(cli->operand[i], R_OK) == 0
                     ? gsim_db_open_existing(cli->operand[i], cli->arena, &db, cli->log)
                     : gsim_fail(cli->log, GSIM_BAD_INPUT, cli->operand[i], 0,
                                 "the database cannot be opened: %s", strerror(errno));
        gsim_db_close(db);
    }
    return status;
}

enum gsim_status gsim_command_merge(struct gsim_cli *cli) {
    const char *path = cli->value[GSIM_OPT_OUTPUT];
    struct gsim_db *db;
    if (!path || cli->n_operands == 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which databases? gsim merge -o all.db shard-1.db shard-2.db ...");
    enum gsim_status status = check_inputs(cli);
    if (status != GSIM_OK)
        return status;
    status = gsim_db_open(path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = merge(cli, db);
    gsim_db_close(db);
    return status;
}
