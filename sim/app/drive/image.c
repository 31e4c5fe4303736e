/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/image.h"
#include "sim/base/symbol.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 1024 };

/* --- the driver's calls ----------------------------------------------------------------------- */

/* CUcheckpoint...Args, as the driver's API has them (CUDA 13.0): 64 bytes each. */
struct lock_args {
    unsigned timeout_ms, reserved;
    uint64_t more[7];
};

struct restore_args {
    const struct gsim_image_pair *pairs;
    unsigned n_pairs, reserved;
    uint64_t more[6];
};

_Static_assert(sizeof(struct restore_args) == 64 && sizeof(struct gsim_image_pair) == 32,
               "as in the driver's API");

enum { MOVES_SINCE = 13000 /* CUDA 13.0: CUcheckpointRestoreArgs.gpuPairs */ };

enum { STATE_RUNNING = 0 /* CU_PROCESS_STATE_RUNNING: not locked, and its memory on the GPU */ };

/* CALL(field, symbol, parameters); a call returns 0 for success. `drive` itself calls no cuInit,
 * which would make a context's worth of state in it (driver 580.159). */
#define CALLS                                                                                      \
    CALL(init, "cuInit", (unsigned flags))                                                         \
    CALL(version, "cuDriverGetVersion", (int *version))                                            \
    CALL(state, "cuCheckpointProcessGetState", (int pid, int *state))                              \
    CALL(lock, "cuCheckpointProcessLock", (int pid, struct lock_args *args))                       \
    CALL(take, "cuCheckpointProcessCheckpoint", (int pid, void *args))                             \
    CALL(restore, "cuCheckpointProcessRestore", (int pid, const struct restore_args *args))        \
    CALL(unlock, "cuCheckpointProcessUnlock", (int pid, void *args))

struct calls {
#define CALL(field, symbol, parameters) int(*field) parameters;
    CALLS
#undef CALL
};

static bool open_calls(struct calls *calls) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
#define CALL(field, symbol, parameters)                                                            \
    if (!gsim_symbol(library, symbol, &calls->field, sizeof calls->field))                         \
        return false;
    CALLS
#undef CALL
    return true;
}

const char *gsim_image_refusal(void) {
    struct calls calls;
    return open_calls(&calls) ? NULL
                              : "the driver of this machine has no checkpoint calls, which came "
                                "with driver 570";
}

const char *gsim_image_move_refusal(void) {
    struct calls calls;
    int version = 0;
    bool can_move = open_calls(&calls) && calls.version(&version) == 0 && version >= MOVES_SINCE;
    return can_move ? NULL
                    : "the driver of this machine brings state back only to the GPU that it was "
                      "taken from; others came with driver 580 (CUDA 13.0)";
}

/* --- the process that makes them -------------------------------------------------------------- */

/* The group of a process, as its line in /proc says; 0: it is gone. */
static pid_t group_of(const char *pid) {
    char path[64], line[512];
    int group = 0;
    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (rest) /* behind the name: its state, its parent, its group */
        (void)sscanf(rest, ") %*c %*d %d", &group);
    (void)fclose(file);
    return group;
}

/* The processes of the group that have state on GPUs. */
static int list_processes(const struct calls *calls, pid_t group, int list[MOST_PROCESSES]) {
    DIR *folder = opendir("/proc");
    int n = 0, state;
    for (struct dirent *entry; folder && n < MOST_PROCESSES && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)*entry->d_name) || group_of(entry->d_name) != group)
            continue;
        int pid = atoi(entry->d_name);
        if (calls->state(pid, &state) == 0)
            list[n++] = pid;
    }
    if (folder)
        (void)closedir(folder);
    return n;
}

/* What `drive` is told of a transfer: nothing, or the call that failed. */
static int complain(int out, const char *call, int error) {
    char text[GSIM_IMAGE_WORDS];
    int n = snprintf(text, sizeof text, "%s: error %d of the driver", call, error);
    if (error != 0 && n > 0 && write(out, text, (size_t)n) != n)
        return -1;
    return error;
}

/* Locks all before it takes any, so that processes that wait for each other stand still together.
 * A failure gives the GPU back to them. */
static int take(const struct calls *calls, const int *pid, int n, int64_t lock_ms, int out) {
    struct lock_args lock = {.timeout_ms = lock_ms < INT32_MAX ? (unsigned)lock_ms : INT32_MAX};
    uint64_t args[8] = {0};
    int error = 0;
    for (int i = 0; i < n && error == 0; i++)
        error = complain(out, "cuCheckpointProcessLock", calls->lock(pid[i], &lock));
    for (int i = 0; i < n && error == 0; i++)
        error = complain(out, "cuCheckpointProcessCheckpoint", calls->take(pid[i], args));
    return error;
}

/* A move names all GPUs of the machine, so the driver is to show all of them to this process. */
static int see_gpus(const struct calls *calls, int out) {
    (void)unsetenv("CUDA_VISIBLE_DEVICES");
    return complain(out, "cuInit", calls->init(0));
}

static int bring_back(const struct calls *calls, const struct gsim_image_order *order,
                      const int *pid, int n, int out) {
    struct restore_args restore = {.pairs = order->pairs, .n_pairs = order->n_pairs};
    uint64_t args[8] = {0};
    int error = order->pairs ? see_gpus(calls, out) : 0;
    for (int i = 0; i < n && error == 0; i++)
        error = complain(out, "cuCheckpointProcessRestore", calls->restore(pid[i], &restore));
    for (int i = 0; i < n && error == 0; i++)
        error = complain(out, "cuCheckpointProcessUnlock", calls->unlock(pid[i], args));
    return error;
}

static int transfer(const struct gsim_image_order *order, int out) {
    int pid[MOST_PROCESSES];
    struct calls calls;
    int n = 0, error = 0;
    if (!order->is_dry && !open_calls(&calls))
        return 1;
    if (order->way == GSIM_IMAGE_BRING_BACK) /* first, since a stopped process answers no call */
        (void)kill(-order->group, SIGCONT);
    if (!order->is_dry)
        n = list_processes(&calls, order->group, pid);
    if (order->way == GSIM_IMAGE_BRING_BACK)
        return bring_back(&calls, order, pid, n, out);
    error = take(&calls, pid, n, order->lock_ms, out);
    if (error == 0)
        (void)kill(-order->group, SIGSTOP);
    return error;
}

/* --- the transfer as `drive` sees it ---------------------------------------------------------- */

static void forget(struct gsim_image *image) {
    if (image->end_fd >= 0)
        (void)close(image->end_fd);
    if (image->words_fd >= 0)
        (void)close(image->words_fd);
    *image = (struct gsim_image){.end_fd = -1, .words_fd = -1};
}

static enum gsim_status cannot_begin(struct gsim_log *log) {
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start a transfer of a job's state: %s",
                     strerror(errno));
}

enum gsim_status gsim_image_begin(struct gsim_image *image, const struct gsim_image_order *order,
                                  const struct gsim_guard *guard, struct gsim_log *log) {
    int ends[2];
    *image = (struct gsim_image){.end_fd = -1, .words_fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cannot_begin(log);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0); /* Ctrl-C of a terminal is the matter of `drive` */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(guard->fd); /* else it would hide the end of `drive` from the guard */
        _exit(transfer(order, ends[1]) == 0 ? 0 : 1);
    }
    (void)close(ends[1]);
    image->words_fd = ends[0];
    if (pid < 0) {
        enum gsim_status status = cannot_begin(log);
        forget(image);
        return status;
    }
    image->pid = pid;
    image->end_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return GSIM_OK;
}

bool gsim_image_ended(struct gsim_image *image, bool *is_fine, char words[GSIM_IMAGE_WORDS]) {
    int status = 0;
    if (image->pid <= 0 || waitpid(image->pid, &status, WNOHANG) != image->pid)
        return false;
    *is_fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ssize_t n = read(image->words_fd, words, GSIM_IMAGE_WORDS - 1);
    words[n > 0 ? n : 0] = '\0';
    forget(image);
    return true;
}

void gsim_image_abandon(struct gsim_image *image) {
    if (image->pid <= 0)
        return;
    (void)kill(image->pid, SIGKILL);
    while (waitpid(image->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    forget(image);
}
