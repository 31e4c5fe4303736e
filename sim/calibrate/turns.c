/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two processes of this very program keep the GPU busy at once (gsim_watch_turns). Each process is
 * off the GPU for the other's slice and two switches. */
#define _POSIX_C_SOURCE 200809L
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/calibrate/calibrate.h"
#include "sim/base/sort.h"

enum { PROCESSES = 2, MOST_TURNS = 20000, FEWEST_TURNS = 50 };

extern char **environ;

struct turns {
    double on_ns[MOST_TURNS], off_ns[MOST_TURNS];
    size_t n;
};

struct child {
    pid_t pid;
    FILE *says;
};

static bool start(struct child *child, char *program) {
    char *argv[] = {(char[]){"gsim"}, (char[]){"calibrate"}, (char[]){"turns"}, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    bool ok = posix_spawn_file_actions_init(&actions) == 0;
    if (ok) {
        ok = posix_spawn_file_actions_addclose(&actions, ends[0]) == 0 &&
             posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
             posix_spawn(&child->pid, program, &actions, NULL, argv, environ) == 0;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    child->says = ok ? fdopen(ends[0], "r") : NULL;
    if (!child->says)
        (void)close(ends[0]);
    return child->says != NULL;
}

static void listen_to(struct child *child, struct turns *turns) {
    double on_ns, off_ns;
    while (turns->n < MOST_TURNS && fscanf(child->says, "%lf %lf", &on_ns, &off_ns) == 2) {
        turns->on_ns[turns->n] = on_ns;
        turns->off_ns[turns->n++] = off_ns;
    }
    (void)fclose(child->says);
    (void)waitpid(child->pid, NULL, 0);
}

/* The source of a median over turns. `ns` is sorted. */
static const char *how(const struct gsim_measurement *m, const char *what, const double *ns,
                       size_t n) {
    return gsim_arena_printf(m->arena, "%s; median of %zu turns, middle half within %.1f %%", what,
                             n, 100 * (ns[3 * n / 4] - ns[n / 4]) / ns[n / 2]);
}

static void take_medians(struct gsim_measurement *m, struct turns *turns) {
    if (turns->n < FEWEST_TURNS || !gsim_sort_f64(turns->on_ns, turns->n) ||
        !gsim_sort_f64(turns->off_ns, turns->n)) {
        gsim_warn(m->log, NULL, 0, "two processes took %zu turns: too few to tell a time slice",
                  turns->n);
        return;
    }
    double slice_ns = turns->on_ns[turns->n / 2], off_ns = turns->off_ns[turns->n / 2];
    gsim_measured_say(
        m, GSIM_KEY_SLICE_QUANTUM_NS, slice_ns,
        how(m, "two processes of one thread each, time on the GPU", turns->on_ns, turns->n));
    gsim_measured_say(m, GSIM_KEY_SWITCH_PREEMPT_NS, (off_ns - slice_ns) / 2,
                      how(m, "these processes, half of the time off the GPU less a slice",
                          turns->off_ns, turns->n));
}

void gsim_measure_turns(struct gsim_measurement *m) {
    struct turns *turns = gsim_arena_alloc(m->arena, sizeof *turns);
    struct child child[PROCESSES];
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    int n_started = 0;
    if (!turns || n <= 0)
        return;
    program[n] = '\0';
    while (n_started < PROCESSES && start(&child[n_started], program))
        n_started++;
    for (int i = 0; i < n_started; i++)
        listen_to(&child[i], turns);
    take_medians(m, turns);
}
