/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/rows.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/app/drive/start.h"

enum { WORD_BYTES = 256 };

/* The first word of a command, where the shell would take it as the name of a program: it has no
 * sign of the shell's language. */
static bool first_word(const char *command, char word[WORD_BYTES]) {
    command += strspn(command, " \t");
    size_t n = strcspn(command, " \t\n");
    if (n == 0 || n >= WORD_BYTES || memchr(command, '=', n))
        return false;
    memcpy(word, command, n);
    word[n] = '\0';
    return strpbrk(word, "$`'\"\\;&|<>(){}*?[]~#!") == NULL;
}

/* Asks the shell, which knows its own words beside the programs in PATH. */
static bool shell_knows(const char *word) {
    int how = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
        (void)execl("/bin/sh", "sh", "-c", "command -v -- \"$0\"", word, (char *)NULL);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, &how, 0) != pid)
        ;
    return pid < 0 || !WIFEXITED(how) || WEXITSTATUS(how) == 0;
}

static enum gsim_status refuse(const struct gsim_trace *trace, uint32_t job, struct gsim_log *log,
                               const char *why, const char *word) {
    return gsim_fail(log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job), "job '%s' %s%s",
                     gsim_trace_id(trace, job), why, word);
}

static enum gsim_status check_row(const struct gsim_trace *trace, uint32_t job,
                                  struct gsim_log *log) {
    if (gsim_trace_get(trace, GSIM_COL_REQUESTS, job) > 0)
        return refuse(trace, job, log, "serves requests: gsim drive runs batch jobs", "");
    return GSIM_OK;
}

/* Each command's program, once however many jobs run it. */
static enum gsim_status check_programs(const struct gsim_trace *trace, struct gsim_log *log) {
    const struct gsim_names *commands = &trace->names[GSIM_COL_COMMAND];
    const int64_t *cells = trace->column[GSIM_COL_COMMAND];
    enum gsim_status status = GSIM_OK;
    for (uint32_t c = 0; cells && c < commands->n; c++) {
        char word[WORD_BYTES];
        uint32_t job = 0;
        while (job < trace->n_jobs && cells[job] != c)
            job++;
        if (job < trace->n_jobs && first_word(commands->name[c], word) && !shell_knows(word))
            status = refuse(trace, job, log, "has a command that is not there: ", word);
    }
    return status;
}

enum gsim_status gsim_rows_check(const struct gsim_trace *trace, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        enum gsim_status checked = check_row(trace, job, log);
        status = checked == GSIM_OK ? status : checked;
    }
    return status == GSIM_OK ? check_programs(trace, log) : status;
}

bool gsim_rows_need_work(const struct gsim_trace *trace) {
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (!gsim_start_command(trace, job))
            return true;
    return false;
}
