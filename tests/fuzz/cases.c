/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cases: runs commands that it reads, each in a fork of its own, and checks what they wrote. To start
 * gsim twice for a run of some jobs, load its libraries and make the tables of a database takes ten
 * times as long as the run. A line is a folder, a limit of processor time in seconds, and the words
 * of `gsim run`, between tabs; the answer is a line: the exit codes of the run and of `gsim check`
 * (-1: not reached), the signal that ended the fork (0: none), and its processor time in seconds.
 * The folder has what was said.
 *
 * The database of the run (run.db) begins as one that has its tables, and is written without a
 * journal: what a crash of the machine leaves of it is of no interest here. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/app/cli/cli.h"
#include "sim/app/results/db.h"

enum { MAX_WORDS = 256, WAITS = 10 /* a fork may be there for so many times its processor time */ };

static const volatile sig_atomic_t never;

struct tables {
    char *bytes;
    size_t n;
};

/* What SQLite calls when it opens a database. */
static int without_journal(sqlite3 *db, char **message, const struct sqlite3_api_routines *api) {
    (void)api;
    return sqlite3_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL, NULL, message);
}

static bool read_all(const char *path, struct tables *to) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    bool is_read = fseek(file, 0, SEEK_END) == 0;
    long n = is_read ? ftell(file) : -1;
    to->n = n > 0 ? (size_t)n : 0;
    to->bytes = malloc(to->n + 1);
    rewind(file);
    is_read = n > 0 && to->bytes && fread(to->bytes, 1, to->n, file) == to->n;
    (void)fclose(file);
    return is_read;
}

/* A database of no run. */
static bool make_tables(struct tables *to) {
    char path[] = "/tmp/gsim-cases-XXXXXX";
    int file = mkstemp(path);
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {.n_errors = 0};
    struct gsim_db *db = NULL;
    bool is_made = file >= 0 && gsim_db_open(path, arena, &db, &log) == GSIM_OK;
    gsim_db_close(db);
    is_made = is_made && read_all(path, to);
    if (file >= 0) {
        (void)close(file);
        (void)unlink(path);
    }
    gsim_arena_free(arena);
    return is_made;
}

/* --- a case ------------------------------------------------------------------------------------- */

static bool put_tables(const struct tables *tables) {
    FILE *file = fopen("run.db", "wb");
    bool is_put = file && fwrite(tables->bytes, 1, tables->n, file) == tables->n;
    return file && fclose(file) == 0 && is_put;
}

static int call(int n, char **words, const char *out, const char *said) {
    struct gsim_io io = {.out = fopen(out, "w"), .err = fopen(said, "w"), .stop = &never};
    int code = io.out && io.err ? gsim_cli(n, words, &io) : GSIM_FAILED;
    if (io.out && fclose(io.out) != 0)
        code = GSIM_FAILED;
    if (io.err)
        (void)fclose(io.err);
    return code;
}

static void bound(unsigned limit_s) {
    struct rlimit limit = {limit_s, limit_s + 1};
    (void)setrlimit(RLIMIT_CPU, &limit);
    (void)alarm(WAITS * limit_s);
}

/* The database first: it says of which run the other files are. */
static int check(void) {
    char words[][16] = {"gsim", "check", "run.db", "run.json", "jobs.csv", "timeline.json"};
    char *list[] = {words[0], words[1], words[2], words[3], words[4], words[5], NULL};
    return call(6, list, "checked", "said");
}

/* In the fork: what gets done is told as it is done. */
static void serve(int to, const struct tables *tables, int n, char **words) {
    static char name[] = "gsim";
    int codes[2] = {-1, -1};
    if (chdir(words[0]) == 0 && put_tables(tables)) {
        bound((unsigned)strtoul(words[1], NULL, 10));
        words[1] = name;
        codes[0] = call(n - 1, words + 1, "run.json", "said");
        codes[1] = codes[0] == 0 ? check() : -1;
    }
    _exit(write(to, codes, sizeof codes) == sizeof codes ? 0 : 1);
}

static double seconds(const struct timeval *time) {
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void answer(const struct tables *tables, int n, char **words) {
    int codes[2] = {-1, -1}, ends[2], status = 0;
    struct rusage used;
    if (pipe2(ends, O_CLOEXEC) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0)
        serve(ends[1], tables, n, words);
    (void)close(ends[1]);
    ssize_t n_read = child > 0 ? read(ends[0], codes, sizeof codes) : -1;
    (void)close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &used) != child || n_read < 0)
        exit(1);
    printf("%d %d %d %.6f\n", codes[0], codes[1], WIFSIGNALED(status) ? WTERMSIG(status) : 0,
           seconds(&used.ru_utime) + seconds(&used.ru_stime));
    (void)fflush(stdout);
}

int main(void) {
    struct tables tables = {NULL, 0};
    char *line = NULL;
    size_t capacity = 0;
    /* a function of another type, as SQLite asks for it */
    if (sqlite3_auto_extension((void (*)(void))without_journal) != SQLITE_OK ||
        !make_tables(&tables))
        return 1;
    while (getline(&line, &capacity, stdin) > 0) {
        char *words[MAX_WORDS + 1] = {NULL};
        int n = 0;
        line[strcspn(line, "\n")] = '\0';
        for (char *word = strtok(line, "\t"); word && n < MAX_WORDS; word = strtok(NULL, "\t"))
            words[n++] = word;
        if (n < 3 || n == MAX_WORDS)
            return 1;
        answer(&tables, n, words);
    }
    free(line);
    free(tables.bytes);
    return 0;
}
