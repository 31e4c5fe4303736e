/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A group that came, or minus a group that went: writes of a pipe this short are never torn. */
static bool tell(const struct gsim_guard *guard, pid_t note) {
    ssize_t n;
    do
        n = write(guard->fd, &note, sizeof note);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof note;
}

struct groups {
    pid_t *group;
    size_t n, capacity;
};

static void add(struct groups *groups, pid_t group) {
    if (groups->n == groups->capacity) {
        size_t capacity = groups->capacity ? 2 * groups->capacity : 64;
        pid_t *more = realloc(groups->group, capacity * sizeof *more);
        if (!more)
            _exit(1); /* the next start finds its pipe without a reader, and says so */
        groups->group = more;
        groups->capacity = capacity;
    }
    groups->group[groups->n++] = group;
}

static void take_away(struct groups *groups, pid_t group) {
    for (size_t i = 0; i < groups->n; i++)
        if (groups->group[i] == group) {
            groups->group[i] = groups->group[--groups->n];
            return;
        }
}

/* Signals of a terminal go to `drive`, which ends its jobs in order; the guard waits for the end of
 * the pipe alone. */
static void watch(int fd, void (*clean)(const void *arg), const void *arg) {
    struct groups groups = {0};
    pid_t note;
    ssize_t n;
    (void)setsid();
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_IGN);
    while ((n = read(fd, &note, sizeof note)) == (ssize_t)sizeof note ||
           (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        if (note > 0)
            add(&groups, note);
        else
            take_away(&groups, -note);
    }
    for (size_t i = 0; i < groups.n; i++)
        (void)kill(-groups.group[i], SIGKILL);
    clean(arg);
    _exit(0);
}

enum gsim_status gsim_guard_open(struct gsim_guard *guard, void (*clean)(const void *arg),
                                 const void *arg, struct gsim_log *log) {
    int ends[2];
    *guard = (struct gsim_guard){.fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start the guard of the jobs: %s",
                         strerror(errno));
    guard->pid = fork();
    if (guard->pid == 0) {
        (void)close(ends[1]);
        watch(ends[0], clean, arg);
    }
    (void)close(ends[0]);
    guard->fd = ends[1];
    if (guard->pid > 0)
        return GSIM_OK;
    int error = errno;
    (void)close(ends[1]);
    *guard = (struct gsim_guard){.fd = -1};
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start the guard of the jobs: %s",
                     strerror(error));
}

bool gsim_guard_add(const struct gsim_guard *guard, pid_t group) {
    return tell(guard, group);
}

bool gsim_guard_remove(const struct gsim_guard *guard, pid_t group) {
    return tell(guard, -group);
}

/* A pipe that no process reads is in error. */
bool gsim_guard_is_there(const struct gsim_guard *guard) {
    struct pollfd pipe = {.fd = guard->fd};
    return poll(&pipe, 1, 0) == 0;
}

void gsim_guard_close(struct gsim_guard *guard) {
    if (guard->pid <= 0)
        return;
    (void)close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    guard->pid = 0;
}
