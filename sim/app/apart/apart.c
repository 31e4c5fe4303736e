/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The child makes the run and writes its result to a file in memory. The parent waits for its end,
 * passes a request to stop on, and looks at the notes of the hooks meanwhile. (A pipe would not do:
 * children that other threads fork at the time hold its end open.) What the child has started is in
 * its group of processes, and ends with it. */
#define _GNU_SOURCE /* memfd_create, waitid, MAP_ANONYMOUS, strsignal */
#include "sim/app/apart/apart.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/app/apart/port.h"
#include "sim/app/apart/watched.h"
#include "sim/core/loops.h"
#include "sim/base/units.h"

/* How often the parent looks, and how long a run that is to stop may take to do so. */
enum { LOOK_MS = 50, GRACE_MS = 2000 };

struct child {
    const struct gsim_apart *apart;
    const struct gsim_run_options *options;
    struct gsim_notes *notes;
    size_t notes_size;
    int file; /* of the result */
    pid_t pid;
    bool was_asked, is_late; /* to stop; longer than the time limit in a hook */
    int64_t asked_ns;
    unsigned long n_calls; /* as it was at called_ns */
    int64_t called_ns;
};

static int64_t clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

/* --- the child -------------------------------------------------------------------------------- */

static void note_progress(void *notes, uint32_t n_done, uint32_t n_jobs) {
    (void)n_jobs;
    ((struct gsim_notes *)notes)->n_done = n_done;
}

static bool make_run(const struct child *c, struct gsim_arena *arena) {
    struct gsim_watched *watched = gsim_arena_alloc(arena, sizeof *watched);
    struct gsim_result *result = gsim_arena_alloc(arena, sizeof *result);
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    struct gsim_port port = {.file = fdopen(c->file, "wb")};
    if (!watched || !result || !log || !port.file)
        return false;
    struct gsim_run_options options = *c->options;
    gsim_watched_make(watched, options.policy, c->notes);
    options.policy = &watched->table;
    options.stop = &c->notes->stop;
    options.progress = options.progress ? note_progress : NULL;
    options.progress_arg = c->notes;
    enum gsim_status status = c->apart->run(c->apart->arg, &options, arena, result, log);
    gsim_port_bytes(&port, &status, sizeof status);
    gsim_port_bytes(&port, log, sizeof *log);
    if (status == GSIM_OK || status == GSIM_INCOMPLETE)
        gsim_port_result(&port, result);
    return fclose(port.file) == 0 && !port.has_failed;
}

/* What the policy prints is seen also if it crashes: lines are written when they end. */
static void be_child(const struct child *c) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setvbuf(c->apart->io->out, NULL, _IOLBF, BUFSIZ);
    struct gsim_arena *arena = gsim_arena_new();
    bool is_fine = arena && make_run(c, arena);
    (void)fflush(c->apart->io->out);
    _exit(is_fine ? 0 : GSIM_FAILED);
}

static enum gsim_status begin(struct child *c, struct gsim_log *log) {
    uint32_t n = c->options->trace->n_jobs;
    c->notes_size = sizeof *c->notes + n * sizeof c->notes->job_of[0];
    c->notes = mmap(NULL, c->notes_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->notes == MAP_FAILED)
        return gsim_no_memory(log, "starting a run");
    c->notes->n_slots = n;
    (void)fflush(c->apart->io->out);
    c->file = memfd_create("gsim result", MFD_CLOEXEC);
    c->pid = c->file < 0 ? -1 : c->apart->io->fork ? c->apart->io->fork() : fork();
    if (c->pid == 0)
        be_child(c);
    if (c->pid > 0) {
        (void)setpgid(c->pid, c->pid); /* in both processes, since either may come first */
        return GSIM_OK;
    }
    int error = errno;
    if (c->file >= 0)
        (void)close(c->file);
    (void)munmap(c->notes, c->notes_size);
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start a process for a run: %s",
                     strerror(error));
}

/* --- the parent ------------------------------------------------------------------------------- */

/* Whether the child is to be ended: it was asked to stop and does not, or a hook takes too long. */
static bool is_over(struct child *c) {
    const volatile sig_atomic_t *stop = c->apart->io->stop;
    int64_t now_ns = clock_ns();
    unsigned long n_calls = atomic_load_explicit(&c->notes->n_calls, memory_order_relaxed);
    if (n_calls != c->n_calls) {
        c->n_calls = n_calls;
        c->called_ns = now_ns;
    }
    if (stop && *stop && !c->was_asked) {
        c->was_asked = true;
        c->asked_ns = now_ns;
        c->notes->stop = 1;
    }
    c->is_late = c->apart->timeout_ns > 0 && n_calls % 2 == 1 &&
                 now_ns - c->called_ns > c->apart->timeout_ns;
    return c->is_late || (c->was_asked && now_ns - c->asked_ns > GRACE_MS * GSIM_NS_PER_MS);
}

static bool has_ended(const struct child *c, siginfo_t *how) {
    how->si_pid = 0;
    int code = waitid(P_PID, (id_t)c->pid, how, WEXITED | WNOWAIT | WNOHANG);
    return code == 0 && how->si_pid == c->pid;
}

/* Waits for the child's end, and ends the rest of its group while the number of the group is still
 * the child's. Without pidfd_open (Linux 5.3) it looks a thousand times a second. */
static void await(struct child *c, siginfo_t *how) {
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, c->pid, 0), .events = POLLIN};
    c->called_ns = clock_ns();
    while (!has_ended(c, how)) {
        (void)poll(&end, end.fd >= 0, end.fd >= 0 ? LOOK_MS : 1);
        if (c->apart->bar)
            gsim_progress_set(c->apart->bar, c->notes->n_done);
        if (is_over(c))
            (void)kill(-c->pid, SIGKILL);
    }
    if (end.fd >= 0)
        (void)close(end.fd);
    (void)kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* "decide at 12.5 s, with job 'a' at hand" */
static void say_where(const struct child *c, char *text, size_t size) {
    const struct gsim_notes *notes = c->notes;
    char now[32];
    gsim_format_seconds(now, notes->now_ns, 9);
    bool has_job = notes->slot < notes->n_slots;
    (void)snprintf(text, size, "%s at %s s%s%.200s%s", gsim_hook_names[notes->hook], now,
                   has_job ? ", with job '" : "",
                   has_job ? gsim_trace_id(c->options->trace, notes->job_of[notes->slot]) : "",
                   has_job ? "' at hand" : "");
}

static enum gsim_status report(const struct child *c, const siginfo_t *how, struct gsim_log *log) {
    const char *name = c->options->policy->name;
    char where[320], limit[40];
    say_where(c, where, sizeof where);
    if (c->was_asked)
        return gsim_fail(log, GSIM_FAILED, c->apart->source, 0,
                         "interrupted: policy '%s' does not come back from %s", name, where);
    (void)gsim_param_format(limit, GSIM_PARAM_TIME, c->apart->timeout_ns);
    if (c->is_late)
        return gsim_fail(log, GSIM_FAILED, c->apart->source, 0,
                         "policy '%s' does not come back within %s (--policy-timeout) from %s",
                         name, limit, where);
    if (how->si_code == CLD_EXITED)
        return gsim_fail(log, GSIM_FAILED, c->apart->source, 0,
                         "policy '%s' ended the process (exit %d) in %s", name, how->si_status,
                         where);
    return gsim_fail(log, GSIM_FAILED, c->apart->source, 0, "policy '%s' crashed in %s: %s", name,
                     where, strsignal(how->si_status));
}

/* A hook has set ctx->status and left ctx->log as it was. */
static void report_silence(const struct child *c, enum gsim_status status, struct gsim_log *log) {
    char where[320];
    say_where(c, where, sizeof where);
    gsim_log_error(log, status, c->apart->source, 0,
                   "policy '%s' ends the run in %s, and ctx->log has no reason (gsim_fail)",
                   c->options->policy->name, where);
}

/* Reads what the child wrote; false: it did not write all of it. */
static bool collect(const struct child *c, struct gsim_arena *arena, enum gsim_status *status,
                    struct gsim_result *result, struct gsim_log *log) {
    struct gsim_port port = {.file = fdopen(c->file, "rb"), .arena = arena};
    struct gsim_log *own = gsim_arena_alloc(arena, sizeof *own);
    if (!port.file || !own) {
        (void)(port.file ? fclose(port.file) : close(c->file));
        return false;
    }
    rewind(port.file);
    gsim_port_bytes(&port, status, sizeof *status);
    gsim_port_bytes(&port, own, sizeof *own);
    if (!port.has_failed && (*status == GSIM_OK || *status == GSIM_INCOMPLETE))
        gsim_port_result(&port, result);
    (void)fclose(port.file);
    if (!port.has_failed)
        gsim_log_merge(log, own);
    return !port.has_failed;
}

/* The run's trace has the submissions that came of the run, where they did. false: no memory. */
static bool take_trace(const struct gsim_trace *trace, struct gsim_arena *arena,
                       struct gsim_result *result) {
    result->trace = trace;
    if (!result->jobs.submit_ns)
        return true;
    struct gsim_trace *own = gsim_arena_alloc(arena, sizeof *own);
    if (!own)
        return false;
    *own = *trace;
    own->submit_ns = result->jobs.submit_ns;
    uint32_t *order = gsim_arena_array(arena, own->n_jobs, sizeof *order);
    own->order = order;
    result->trace = own;
    return order && gsim_loops_sort(own->submit_ns, order, own->n_jobs, arena);
}

enum gsim_status gsim_apart_run(const struct gsim_apart *apart,
                                const struct gsim_run_options *options, struct gsim_arena *arena,
                                struct gsim_result *result, struct gsim_log *log) {
    struct child child = {.apart = apart, .options = options};
    enum gsim_status status = begin(&child, log);
    if (status != GSIM_OK)
        return status;
    siginfo_t how = {0};
    int64_t n_errors = log->n_errors;
    *result = (struct gsim_result){0};
    await(&child, &how);
    bool is_good = how.si_code == CLD_EXITED && how.si_status == 0;
    bool is_whole = collect(&child, arena, &status, result, log) && is_good;
    if (!is_whole)
        status = report(&child, &how, log);
    else if (status != GSIM_OK && status != GSIM_INCOMPLETE && log->n_errors == n_errors)
        report_silence(&child, status, log);
    if (!take_trace(options->trace, arena, result))
        status = gsim_no_memory(log, "taking over a run");
    (void)munmap(child.notes, child.notes_size);
    return status;
}
