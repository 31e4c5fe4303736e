/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process for each run: the kernel counts its processor time and its memory apart. */
#define _DEFAULT_SOURCE /* wait4: the peak of one child, not of all so far */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/process.h"

double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double field(const char *json, const char *name) {
    char key[64];
    (void)snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static _Noreturn void be(const char *const *argv, const char *out_path, unsigned most_cpu_s) {
    const struct rlimit most = {most_cpu_s, most_cpu_s};
    if (most_cpu_s && setrlimit(RLIMIT_CPU, &most) != 0)
        _exit(127);
    if (!freopen(out_path, "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(127);
    execv(argv[0], (char *const *)(void *)(size_t)argv);
    _exit(127);
}

static void read_json(const char *path, struct outcome *outcome) {
    char json[8192] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    json[fread(json, 1, sizeof json - 1, file)] = '\0';
    (void)fclose(file);
    outcome->run_s = field(json, "wall_s");
    outcome->events = field(json, "events");
}

struct outcome process_run(const char *const *argv, const char *out_path, unsigned most_cpu_s) {
    struct outcome outcome = {0};
    struct rusage usage;
    int status = 0;
    (void)fflush(NULL); /* the child must not print what is still buffered here */
    double begin = now_s();
    pid_t child = fork();
    if (child == 0)
        be(argv, out_path, most_cpu_s);
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return outcome;
    outcome.wall_s = now_s() - begin;
    outcome.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    outcome.peak_kib = usage.ru_maxrss;
    outcome.is_done = status == 0;
    outcome.is_out_of_time =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU);
    if (outcome.is_done)
        read_json(out_path, &outcome);
    return outcome;
}
