/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/mps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the service has to open its pipe, and to end after it was asked to. */
#define START_NS (20 * GSIM_NS_PER_S)
#define END_NS (5 * GSIM_NS_PER_S)
#define LOOK_NS (5 * GSIM_NS_PER_MS)

static const char program[] = "nvidia-cuda-mps-control";

const char *gsim_mps_refusal(void) {
    const char *path = getenv("PATH");
    for (const char *from = path ? path : ""; *from;) {
        size_t n = strcspn(from, ":");
        char file[512];
        int length = snprintf(file, sizeof file, "%.*s/%s", (int)n, from, program);
        if (n > 0 && length < (int)sizeof file && access(file, X_OK) == 0)
            return NULL;
        from += n + (from[n] == ':');
    }
    return "nvidia-cuda-mps-control, which comes with NVIDIA's driver, is not in PATH";
}

static void nap(void) {
    struct timespec time = {.tv_nsec = LOOK_NS};
    (void)nanosleep(&time, NULL);
}

/* The clients' environment has to name the pipe, and a pipe's name is short, so that it is none of
 * the folder of logs. */
enum gsim_status gsim_mps_open(struct gsim_mps *mps, struct gsim_log *log) {
    static const char pattern[] = "/tmp/gsim-mps-XXXXXX";
    *mps = (struct gsim_mps){.control = {.end_fd = -1, .talk_fd = -1}};
    memcpy(mps->folder, pattern, sizeof pattern);
    if (mkdtemp(mps->folder))
        return GSIM_OK;
    *mps->folder = '\0';
    return gsim_fail(log, GSIM_FAILED, "/tmp", 0, "cannot make a folder for the pipes of MPS: %s",
                     strerror(errno));
}

static const char *visible_devices(const struct gsim_executor *executor, struct gsim_arena *arena) {
    const char *text = "CUDA_VISIBLE_DEVICES=";
    for (uint32_t i = 0; i < executor->n_gpus && text; i++)
        text = gsim_arena_printf(arena, "%s%s%u", text, i ? "," : "", executor->gpus[i]);
    return text;
}

/* Whether the control process has made its pipe, and lives. */
static bool is_ready(struct gsim_mps *mps, const struct gsim_guard *guard) {
    char pipe[96];
    int exit_code;
    (void)snprintf(pipe, sizeof pipe, "%s/control", mps->folder);
    for (int64_t left_ns = START_NS; left_ns > 0; left_ns -= LOOK_NS) {
        if (gsim_job_process_ended(&mps->control, guard, &exit_code))
            return false;
        if (access(pipe, F_OK) == 0)
            return true;
        nap();
    }
    return false;
}

static enum gsim_status launch(struct gsim_mps *mps, const struct gsim_executor *executor,
                               const struct gsim_guard *guard, struct gsim_arena *arena) {
    const char *log = gsim_arena_printf(arena, "%s/mps.log", executor->logs);
    const char *environment[] = {
        visible_devices(executor, arena), "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        gsim_arena_printf(arena, "CUDA_MPS_PIPE_DIRECTORY=%s", mps->folder),
        gsim_arena_printf(arena, "CUDA_MPS_LOG_DIRECTORY=%s", mps->folder), NULL};
    /* in the foreground, so that it stays in its group */
    struct gsim_start start = {
        .command = "exec nvidia-cuda-mps-control -f", .environment = environment, .log_path = log};
    if (!log || !environment[0] || !environment[2] || !environment[3])
        return gsim_no_memory(executor->log, "starting MPS");
    enum gsim_status status = gsim_job_process_start(&mps->control, &start, guard, executor->log);
    if (status == GSIM_OK && !is_ready(mps, guard))
        status = gsim_fail(
            executor->log, GSIM_FAILED, log, 0,
            "the multi-process service did not start; the words of the service are in this file");
    return status;
}

/* Words for the control process go to it as its own program would say them: through that program.
 * What the script answers is its exit code; -1: it did not end by itself. */
static int by_its_program(const struct gsim_mps *mps, const char *script) {
    int state = 0;
    pid_t pid = fork();
    if (pid == 0) {
        (void)setenv("CUDA_MPS_PIPE_DIRECTORY", mps->folder, 1);
        (void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void say_quit(const struct gsim_mps *mps) {
    (void)by_its_program(mps, "echo quit | exec timeout 5 nvidia-cuda-mps-control >/dev/null 2>&1");
}

/* The control process starts a server when a client comes, which waits for it. So the server is
 * started before the first job, and is there when it comes; where that cannot be, the first job
 * waits as it would by itself. */
static void start_server(const struct gsim_mps *mps) {
    (void)by_its_program(mps,
                         "ask() { echo \"$*\" | timeout 5 nvidia-cuda-mps-control 2>/dev/null; }\n"
                         "ask start_server -uid $(id -u) >/dev/null || exit 1\n"
                         "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
                         "    server=$(ask get_server_list)\n"
                         "    case $(ask get_server_status $server) in ACTIVE) exit 0 ;; esac\n"
                         "    sleep 0.1\n"
                         "done\n"
                         "exit 1");
}

enum gsim_status gsim_mps_start(struct gsim_mps *mps, const struct gsim_executor *executor,
                                const struct gsim_guard *guard) {
    struct gsim_arena *arena = gsim_arena_new();
    enum gsim_status status =
        arena ? launch(mps, executor, guard, arena) : gsim_no_memory(executor->log, "starting MPS");
    gsim_arena_free(arena);
    if (status != GSIM_OK)
        gsim_mps_end(mps, guard);
    else
        start_server(mps);
    return status;
}

void gsim_mps_clean(const void *mps) {
    const char *folder = ((const struct gsim_mps *)mps)->folder;
    static const char *const files[] = {
        "control",    "control_lock", "control_privileged",         "control.log",
        "server.log", "log",          "nvidia-cuda-mps-control.pid"};
    char path[128];
    if (!*folder)
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder); /* what else it holds is none of ours, and stays */
}

void gsim_mps_end(struct gsim_mps *mps, const struct gsim_guard *guard) {
    int exit_code;
    if (mps->control.pid > 0)
        say_quit(mps);
    for (int64_t left_ns = END_NS; left_ns > 0 && mps->control.pid > 0 &&
                                   !gsim_job_process_ended(&mps->control, guard, &exit_code);
         left_ns -= LOOK_NS)
        nap();
    gsim_job_process_signal(&mps->control, SIGKILL);
    while (mps->control.pid > 0 && !gsim_job_process_ended(&mps->control, guard, &exit_code))
        nap();
    gsim_mps_clean(mps);
    *mps->folder = '\0';
}
