/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts how often a process waits and asks the kernel, for drive.sh (LD_PRELOAD): in the file
 * COUNT_CALLS it leaves the waits that something ended, those that were over in vain although they
 * were to last a ms or less, all waits, the questions after processes and lines, and the looks in
 * vain (waits for no time), which are no waits. Processes that the counted one starts are not
 * counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORT_NS = 1000000 };

static long n_woken, n_short, n_waits, n_questions, n_looks;
static char path[4096];
static pid_t counted;

__attribute__((constructor)) static void begin(void) {
    const char *named = getenv("COUNT_CALLS");
    counted = named ? getpid() : 0;
    (void)snprintf(path, sizeof path, "%s", named ? named : "");
    (void)unsetenv("COUNT_CALLS");
}

__attribute__((destructor)) static void end(void) {
    FILE *file = counted == getpid() ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld %ld %ld %ld %ld\n", n_woken, n_short, n_waits, n_questions, n_looks);
    (void)fclose(file);
}

/* The library's own function, as bytes: ISO C has no conversion to a pointer to a function. */
static void find(const char *name, void *function) {
    void *own = dlsym(RTLD_NEXT, name);
    memcpy(function, &own, sizeof own);
}

int ppoll(struct pollfd *list, nfds_t n, const struct timespec *wait, const sigset_t *mask) {
    int (*own)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    find("ppoll", &own);
    int result = own(list, n, wait, mask);
    bool is_short = wait && wait->tv_sec == 0 && wait->tv_nsec <= SHORT_NS;
    bool is_look = is_short && wait->tv_nsec == 0 && result == 0;
    n_looks += is_look;
    n_waits += !is_look;
    n_woken += result > 0;
    n_short += result == 0 && is_short && !is_look;
    return result;
}

int waitid(idtype_t type, id_t id, siginfo_t *how, int options) {
    int (*own)(idtype_t, id_t, siginfo_t *, int);
    find("waitid", &own);
    n_questions++;
    return own(type, id, how, options);
}

ssize_t recv(int socket, void *bytes, size_t n, int flags) {
    ssize_t (*own)(int, void *, size_t, int);
    find("recv", &own);
    n_questions++;
    return own(socket, bytes, n, flags);
}
