/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* pipe2 */
#include "sim/exec/scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsim/params.h"
#include "gsim/units.h"

/* MOST_WORDS: of a command. An answer of MOST_BYTES is surely none. A program has GOODBYE_MS to end
 * by itself. */
enum { MOST_WORDS = 256, MOST_BYTES = 256 << 20, FIRST_BYTES = 4096, GOODBYE_MS = 1000 };

extern char **environ;

static int64_t clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

/* --- the command ------------------------------------------------------------------------------ */

/* Takes the word at *from to `out`; false: a quote does not end. */
static bool take_word(const char **from, char *out) {
    char quote = '\0';
    for (; **from && (quote || (**from != ' ' && **from != '\t')); ++*from) {
        if (quote ? **from == quote : **from == '\'' || **from == '"')
            quote = quote ? '\0' : **from;
        else
            *out++ = **from;
    }
    *out = '\0';
    return !quote;
}

char **gsim_scheduler_words(const char *command, struct gsim_arena *arena, struct gsim_log *log) {
    char **word = gsim_arena_array(arena, MOST_WORDS + 1, sizeof *word);
    char *text = gsim_arena_alloc(arena, 2 * strlen(command) + 2);
    int n = 0;
    if (!word || !text) {
        (void)gsim_no_memory(log, "reading a command");
        return NULL;
    }
    for (const char *at = command + strspn(command, " \t"); *at; at += strspn(at, " \t")) {
        if (n == MOST_WORDS || !take_word(&at, text)) {
            (void)gsim_fail(log, GSIM_USAGE, NULL, 0, "exec:%s: %s", command,
                            n == MOST_WORDS ? "too many words" : "a quote does not end");
            return NULL;
        }
        word[n++] = text;
        text += strlen(text) + 1;
    }
    if (n > 0)
        return word;
    (void)gsim_fail(log, GSIM_USAGE, NULL, 0,
                    "exec: needs the command of a scheduler: --policy 'exec:python3 sched.py'");
    return NULL;
}

static int spawn(pid_t *pid, char **word, int input, int output) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    (void)sigemptyset(&usual);
    (void)sigaddset(&usual, SIGPIPE);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigdefault(&attributes, &usual);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(pid, word[0], &files, &attributes, word, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

enum gsim_status gsim_scheduler_start(struct gsim_scheduler *s, struct gsim_log *log) {
    char **word = gsim_scheduler_words(s->command, s->arena, log);
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    if (!word)
        return log->status;
    s->to = s->from = -1;
    int error = pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ? errno : 0;
    if (!error)
        error = spawn(&s->pid, word, in[0], out[1]);
    if (error)
        s->pid = 0;
    for (int i = 0; i < 2; i++) {
        int end = i ? out[1] : in[0];
        if (end >= 0)
            (void)close(end);
    }
    s->to = in[1];
    s->from = out[0];
    if (error)
        return gsim_fail(log, GSIM_BAD_INPUT, NULL, 0, "exec:%s: cannot start '%s': %s", s->command,
                         word[0], strerror(error));
    (void)fcntl(s->to, F_SETFL, O_NONBLOCK);
    return GSIM_OK;
}

/* --- a question ------------------------------------------------------------------------------- */

/* Its end, and how it came about. */
static enum gsim_status is_gone(struct gsim_scheduler *s, struct gsim_log *log) {
    int how = 0;
    pid_t pid = s->pid;
    (void)kill(pid, SIGKILL); /* if it has only closed its output */
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
    if (WIFSIGNALED(how) && WTERMSIG(how) != SIGKILL)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "exec:%s: the program ended by a signal instead of "
                         "answering: %s",
                         s->command, strsignal(WTERMSIG(how)));
    if (WIFEXITED(how))
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "exec:%s: the program ended (exit %d) instead of answering", s->command,
                         WEXITSTATUS(how));
    return gsim_fail(log, GSIM_FAILED, NULL, 0,
                     "exec:%s: the program closed its output instead of answering", s->command);
}

static enum gsim_status is_silent(const struct gsim_scheduler *s, struct gsim_log *log) {
    char limit[40];
    (void)gsim_param_format(limit, GSIM_PARAM_TIME, s->timeout_ns);
    return gsim_fail(log, GSIM_FAILED, NULL, 0,
                     "exec:%s: no answer within %s (--set timeout=TIME); each line wants one line, "
                     "written at once: print(..., flush=True)",
                     s->command, limit);
}

/* Waits for the other side of a pipe; false: it takes too long. */
static bool await(int end, short events, int64_t until_ns) {
    struct pollfd one = {.fd = end, .events = events};
    for (;;) {
        int64_t left_ms = (until_ns - clock_ns() + GSIM_NS_PER_MS - 1) / GSIM_NS_PER_MS;
        int n = left_ms > 0 ? poll(&one, 1, left_ms < 1000000 ? (int)left_ms : 1000000) : 0;
        if (n > 0 || (n == 0 && left_ms < 1000000))
            return n > 0;
    }
}

static enum gsim_status send_line(struct gsim_scheduler *s, const char *line, size_t length,
                                  int64_t until_ns, struct gsim_log *log) {
    while (length > 0) {
        ssize_t n = write(s->to, line, length);
        if (n < 0 && errno == EAGAIN && !await(s->to, POLLOUT, until_ns))
            return is_silent(s, log);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return is_gone(s, log);
        line += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return GSIM_OK;
}

static bool make_room(struct gsim_scheduler *s) {
    if (s->n_answer + 1 < s->capacity)
        return true;
    size_t capacity = s->capacity ? 2 * s->capacity : FIRST_BYTES;
    char *grown = capacity < MOST_BYTES ? gsim_arena_grow_raw(s->arena, s->answer, capacity) : NULL;
    if (!grown)
        return false;
    s->answer = grown;
    s->capacity = capacity;
    return true;
}

static enum gsim_status is_too_much(const struct gsim_scheduler *s, const char *more,
                                    struct gsim_log *log) {
    return gsim_fail(
        log, GSIM_FAILED, NULL, 0,
        "exec:%s: the program wrote more than one line as an answer: '%.*s' comes behind "
        "'%.60s'; notes belong to its standard error",
        s->command, (int)strcspn(more, "\n"), more, s->answer ? s->answer : "");
}

static enum gsim_status take_line(struct gsim_scheduler *s, int64_t until_ns,
                                  struct gsim_log *log) {
    char *end = NULL;
    while (!end) {
        if (!make_room(s))
            return gsim_fail(log, GSIM_FAILED, NULL, 0,
                             "exec:%s: the answer of the program does not end", s->command);
        if (!await(s->from, POLLIN, until_ns))
            return is_silent(s, log);
        ssize_t n = read(s->from, s->answer + s->n_answer, s->capacity - 1 - s->n_answer);
        if (n == 0 || (n < 0 && errno != EINTR))
            return is_gone(s, log);
        if (n < 0)
            continue;
        end = memchr(s->answer + s->n_answer, '\n', (size_t)n);
        s->n_answer += (size_t)n;
    }
    *end = '\0';
    s->answer[s->n_answer] = '\0';
    return end + 1 == s->answer + s->n_answer ? GSIM_OK : is_too_much(s, end + 1, log);
}

enum gsim_status gsim_scheduler_ask(struct gsim_scheduler *s, const char *line, size_t length,
                                    const char **answer, struct gsim_log *log) {
    int64_t until_ns = clock_ns() + s->timeout_ns;
    s->n_answer = 0;
    enum gsim_status status = send_line(s, line, length, until_ns, log);
    if (status == GSIM_OK)
        status = take_line(s, until_ns, log);
    *answer = s->answer;
    return status;
}

void gsim_scheduler_end(struct gsim_scheduler *s) {
    struct timespec moment = {.tv_nsec = GSIM_NS_PER_MS};
    if (s->to >= 0)
        (void)close(s->to);
    for (int ms = 0; s->pid > 0 && ms < GOODBYE_MS; ms++) {
        if (waitpid(s->pid, NULL, WNOHANG) != 0)
            s->pid = 0;
        else
            (void)nanosleep(&moment, NULL);
    }
    if (s->pid > 0) {
        (void)kill(s->pid, SIGKILL);
        (void)waitpid(s->pid, NULL, 0);
    }
    if (s->from >= 0)
        (void)close(s->from);
    s->pid = 0;
    s->to = s->from = -1;
}
