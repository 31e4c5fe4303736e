/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job's side of the protocol in docs/drive.md: lines of text over the socket in GSIM_JOB_FD. */
#define _POSIX_C_SOURCE 200809L
#include "gsim_job.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { LINE_BYTES = 32 /* the longest word of `drive` is far shorter */ };

/* Iterations may be microseconds long; `drive` hears of them this often, in ms. */
enum { SAY_EVERY_MS = 10 };

static int talk_fd(void) {
    const char *text = getenv("GSIM_JOB_FD");
    return text && *text ? atoi(text) : -1;
}

static void say(const char *word, long long number) {
    char line[64];
    int n = snprintf(line, sizeof line, "%s %lld\n", word, number);
    if (talk_fd() >= 0)
        (void)send(talk_fd(), line, (size_t)n, MSG_NOSIGNAL);
}

enum { AT_ONCE = 0, FOREVER = -1 };

/* Reads a line that comes within that time. 0: there is none. */
static int hear(char line[LINE_BYTES], int wait_ms) {
    struct pollfd from = {.fd = talk_fd(), .events = POLLIN};
    size_t n = 0;
    char byte;
    if (from.fd < 0 || poll(&from, 1, wait_ms) <= 0)
        return 0;
    while (recv(from.fd, &byte, 1, 0) == 1 && byte != '\n')
        if (n + 1 < LINE_BYTES)
            line[n++] = byte;
    line[n] = '\0';
    return n > 0;
}

static long long in_all; /* iterations; 0: not known */

int gsim_worker_begin(long long iterations) {
    in_all = iterations;
    say("pauses", 0);
    say("begin", iterations);
    return getenv("GSIM_JOB_RESUME") != NULL;
}

/* By the clock that all processes of a machine have. */
static long long clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Whether the last line about progress is long ago. */
static int is_due(void) {
    static long long said_ms = -SAY_EVERY_MS;
    long long now_ms = clock_ns() / 1000000;
    if (now_ms - said_ms < SAY_EVERY_MS)
        return 0;
    said_ms = now_ms;
    return 1;
}

/* The job stands still until `drive` has it go on, or is gone. */
static void pause_here(long long done) {
    char line[LINE_BYTES] = "";
    say("paused", done);
    while (strcmp(line, "go") != 0 && hear(line, FOREVER))
        ;
}

int gsim_worker_iteration(long long done) {
    char line[LINE_BYTES];
    int is_last = in_all > 0 && done >= in_all; /* behind it there is nothing to save or to do */
    if (is_due())
        say("iteration", done);
    while (hear(line, AT_ONCE)) {
        if (strcmp(line, "pause") == 0 && !is_last)
            pause_here(done);
        if (strcmp(line, "save") == 0)
            return !is_last;
    }
    return 0;
}

void gsim_worker_saved(void) {
    say("saved", 0);
}

void gsim_worker_end(void) {
    say("end", clock_ns());
}

const char *gsim_worker_state(void) {
    return getenv("GSIM_JOB_STATE");
}
