/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsim/units.h"

enum { TALK_FD = 3 /* the job's end of the socket, as GSIM_JOB_FD says */ };

/* --- the child -------------------------------------------------------------------------------- */

/* The command finds signals as a login shell would leave them, whatever started `drive`. */
static void reset_signals(void) {
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first) {
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
        return;
    for (long fd = first, most = sysconf(_SC_OPEN_MAX); fd < most; fd++)
        (void)close((int)fd);
}

/* The descriptors of a job: nothing to read, its log, the socket, and none of `drive`. */
static bool take_descriptors(const char *log_path, int talk) {
    int null = open("/dev/null", O_RDONLY);
    int out = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (null < 0 || out < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
        dup2(talk, TALK_FD) < 0 || fcntl(TALK_FD, F_SETFD, 0) < 0)
        return false;
    close_from(TALK_FD + 1);
    return true;
}

static void be_job(const struct gsim_start *start, char *const *environment,
                   const struct gsim_guard *guard, int talk) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!gsim_guard_add(guard, getpid()))
        _exit(126);
    reset_signals();
    if (!take_descriptors(start->log_path, talk))
        _exit(126);
    if (start->files)
        (void)setrlimit(RLIMIT_NOFILE, start->files);
    if (start->command) {
        char *const words[] = {"sh", "-c", (char *)start->command, NULL};
        (void)execve("/bin/sh", words, environment);
        _exit(127);
    }
    environ = (char **)environment;
    _exit(start->work(start->arg));
}

/* --- the parent ------------------------------------------------------------------------------- */

static void close_if_open(int *fd) {
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static enum gsim_status cannot_start(struct gsim_log *log, int error) {
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start a process for a job: %s",
                     strerror(error));
}

/* Whether a NAME=VALUE of the list has the name of this one. */
static bool is_named(const char *const *list, const char *variable) {
    size_t n = strcspn(variable, "=") + 1;
    for (; list && *list; list++)
        if (strncmp(*list, variable, n) == 0)
            return true;
    return false;
}

/* The environment of `drive`, with the job's variables in place of those of their names. To be
 * freed. */
static char **join_environments(const char *const *own) {
    size_t n = 1, at = 0;
    for (char **variable = environ; *variable; variable++)
        n++;
    for (const char *const *variable = own; variable && *variable; variable++)
        n++;
    char **list = malloc(n * sizeof *list);
    for (char **variable = environ; list && *variable; variable++)
        if (!is_named(own, *variable))
            list[at++] = *variable;
    for (; list && own && *own; own++)
        list[at++] = (char *)*own;
    if (list)
        list[at] = NULL;
    return list;
}

/* A command's process shares the memory of `drive` until it is the shell, and `drive` waits so
 * long: a copy of the tables of all pages takes longer than all else of a start. A function of this
 * program needs a copy. No signal is served in the shared memory. */
static pid_t begin(const struct gsim_start *start, char *const *environment,
                   const struct gsim_guard *guard, int talk) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = start->command ? vfork() : fork();
    if (pid == 0)
        be_job(start, environment, guard, talk);
    int error = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

enum gsim_status gsim_job_process_start(struct gsim_job_process *process,
                                        const struct gsim_start *start,
                                        const struct gsim_guard *guard, struct gsim_log *log) {
    int talk[2];
    close_if_open(&process->talk_fd); /* what an earlier process left to be read */
    *process = (struct gsim_job_process){.end_fd = -1, .talk_fd = -1};
    char **environment = join_environments(start->environment);
    if (!environment)
        return gsim_no_memory(log, "starting a job");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) != 0) {
        int error = errno;
        free(environment);
        return cannot_start(log, error);
    }
    pid_t pid = begin(start, environment, guard, talk[1]);
    int error = errno;
    free(environment);
    (void)close(talk[1]);
    if (pid < 0) {
        (void)close(talk[0]);
        return cannot_start(log, error);
    }
    (void)setpgid(pid, pid); /* in both processes, since either may come first */
    *process = (struct gsim_job_process){.pid = pid, .talk_fd = talk[0]};
    (void)fcntl(process->talk_fd, F_SETFL, O_NONBLOCK);
    process->end_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return gsim_guard_is_there(guard)
               ? GSIM_OK
               : gsim_fail(log, GSIM_FAILED, NULL, 0, "the guard of the jobs has died");
}

static int64_t own_cpu_ns(pid_t pid) {
    clockid_t clock;
    struct timespec took;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &took) != 0)
        return -1;
    return took.tv_sec * GSIM_NS_PER_S + took.tv_nsec;
}

static int64_t family_cpu_ns(pid_t pid, int generations);

/* Of the processes that a thread has begun. */
static int64_t children_cpu_ns(pid_t pid, const char *thread, int generations) {
    char path[64];
    int64_t sum = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    FILE *list = fopen(path, "re");
    for (int child; list && fscanf(list, "%d", &child) == 1;) {
        int64_t cpu_ns = family_cpu_ns(child, generations - 1);
        sum += cpu_ns > 0 ? cpu_ns : 0;
    }
    if (list)
        (void)fclose(list);
    return sum;
}

static int64_t family_cpu_ns(pid_t pid, int generations) {
    char path[32];
    int64_t sum = own_cpu_ns(pid);
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = sum >= 0 && generations > 0 ? opendir(path) : NULL;
    for (const struct dirent *thread; threads && (thread = readdir(threads));)
        if (thread->d_name[0] != '.')
            sum += children_cpu_ns(pid, thread->d_name, generations);
    if (threads)
        (void)closedir(threads);
    return sum;
}

/* The first process is a shell as a rule: its children do the work. */
int64_t gsim_job_process_cpu_ns(const struct gsim_job_process *process) {
    enum { GENERATIONS = 8 };
    return process->pid > 0 ? family_cpu_ns(process->pid, GENERATIONS) : -1;
}

void gsim_job_process_signal(const struct gsim_job_process *process, int number) {
    if (process->pid > 0)
        (void)kill(-process->pid, number);
}

/* The group is killed while the number of its first process cannot be given to another. */
bool gsim_job_process_ended(struct gsim_job_process *process, const struct gsim_guard *guard,
                            int *exit_code) {
    siginfo_t how = {0};
    if (process->pid <= 0 ||
        waitid(P_PID, (id_t)process->pid, &how, WEXITED | WNOWAIT | WNOHANG) != 0 ||
        how.si_pid != process->pid)
        return false;
    gsim_job_process_signal(process, SIGKILL);
    (void)gsim_guard_remove(guard, process->pid);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *exit_code = how.si_code == CLD_EXITED ? how.si_status : 128 + how.si_status;
    close_if_open(&process->end_fd);
    process->pid = 0;
    return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Takes what the socket has; the job has closed its end when that is nothing. */
static bool receive(struct gsim_job_process *process) {
    ssize_t n = recv(process->talk_fd, process->line + process->n,
                     sizeof process->line - process->n, MSG_DONTWAIT);
    if (n > 0)
        process->n += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_if_open(&process->talk_fd);
    return n > 0;
}

/* Moves the first line out of the buffer into `line`. */
static bool cut_line(struct gsim_job_process *process, char line[GSIM_LINE_BYTES]) {
    char *end = memchr(process->line, '\n', process->n);
    if (!end && process->n == sizeof process->line) /* no line of the protocol is so long */
        end = process->line + process->n - 1;
    if (!end)
        return false;
    size_t length = (size_t)(end - process->line);
    memcpy(line, process->line, length);
    line[length] = '\0';
    process->n -= length + 1;
    memmove(process->line, end + 1, process->n);
    return true;
}

bool gsim_job_process_line(struct gsim_job_process *process, char line[GSIM_LINE_BYTES]) {
    while (!cut_line(process, line))
        if (process->talk_fd < 0 || !receive(process))
            return false;
    return true;
}

bool gsim_job_process_say(const struct gsim_job_process *process, const char *line) {
    size_t n = strlen(line);
    return process->talk_fd >= 0 &&
           send(process->talk_fd, line, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}
