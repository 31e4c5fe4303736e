/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

static bool set_environment(const char *const *environment) {
    for (; environment && *environment; environment++) {
        char *own = strdup(*environment);
        if (!own || putenv(own) != 0)
            return false;
    }
    return true;
}

/* Waits until the guard knows the group; the end of `drive` before that ends the child. */
static bool is_let_go(int go) {
    char byte;
    ssize_t n;
    do
        n = read(go, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static void be_job(const struct gsim_start *start, int go, int talk) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    reset_signals();
    if (!is_let_go(go) || !take_descriptors(start->log_path, talk) ||
        !set_environment(start->environment))
        _exit(126);
    if (!start->command)
        _exit(start->work(start->arg));
    (void)execl("/bin/sh", "sh", "-c", start->command, (char *)NULL);
    _exit(127);
}

/* --- the parent ------------------------------------------------------------------------------- */

static void close_if_open(int *fd) {
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void close_both(int fds[2]) {
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static enum gsim_status cannot_start(struct gsim_log *log, int error) {
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start a process for a job: %s",
                     strerror(error));
}

/* Lets the child run once the guard knows it. */
static bool let_go(const struct gsim_job_process *process, const struct gsim_guard *guard, int go) {
    (void)setpgid(process->pid, process->pid); /* in both processes, since either may come first */
    return gsim_guard_add(guard, process->pid) && write(go, "", 1) == 1;
}

enum gsim_status gsim_job_process_start(struct gsim_job_process *process,
                                        const struct gsim_start *start,
                                        const struct gsim_guard *guard, struct gsim_log *log) {
    int go[2], talk[2];
    close_if_open(&process->talk_fd); /* what an earlier process left to be read */
    *process = (struct gsim_job_process){.end_fd = -1, .talk_fd = -1};
    if (pipe2(go, O_CLOEXEC) != 0)
        return cannot_start(log, errno);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) != 0) {
        int error = errno;
        close_both(go);
        return cannot_start(log, error);
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[1]);
        (void)close(guard->fd); /* else a child that waits would hide the end of `drive` */
        be_job(start, go[0], talk[1]);
    }
    int error = errno;
    process->pid = pid > 0 ? pid : 0;
    process->talk_fd = talk[0];
    (void)close(talk[1]);
    bool is_gone = pid > 0 && !let_go(process, guard, go[1]);
    close_both(go);
    if (pid < 0 || is_gone) {
        (void)close(talk[0]);
        return is_gone ? gsim_fail(log, GSIM_FAILED, NULL, 0, "the guard of the jobs has died")
                       : cannot_start(log, error);
    }
    (void)fcntl(process->talk_fd, F_SETFL, O_NONBLOCK);
    process->end_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return GSIM_OK;
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
