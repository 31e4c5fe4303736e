/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/start.h"

#include <stdio.h>
#include <string.h>

#include "sim/app/drive/work.h"

static const char *text_of(const struct gsim_trace *trace, enum gsim_column column, uint32_t job) {
    int64_t name = gsim_trace_get(trace, column, job);
    return name < 0 ? NULL : trace->names[column].name[name];
}

const char *gsim_start_command(const struct gsim_trace *trace, uint32_t job) {
    return text_of(trace, GSIM_COL_COMMAND, job);
}

const char *gsim_start_save_command(const struct gsim_executor *executor,
                                    const struct gsim_trace *trace, uint32_t job) {
    const char *own = text_of(trace, GSIM_COL_SAVE_COMMAND, job);
    if (!gsim_start_command(trace, job))
        return NULL; /* iterations of the row save themselves */
    return own || executor->cooperates ? own : executor->save_command;
}

bool gsim_start_cooperates(const struct gsim_executor *executor, const struct gsim_trace *trace,
                           uint32_t job) {
    return executor->cooperates || !gsim_start_command(trace, job);
}

bool gsim_start_counts_use(const struct gsim_executor *executor, const struct gsim_trace *trace) {
    bool counts = executor->asks_use;
    for (uint32_t job = 0; job < trace->n_jobs && !counts; job++)
        counts = !gsim_start_cooperates(executor, trace, job);
    return counts && executor->usage;
}

/* The job's number comes first, since ids may be equal or be no names of files. */
const char *gsim_start_log_path(const struct gsim_executor *executor, struct gsim_arena *arena,
                                const struct gsim_trace *trace, uint32_t job) {
    char id[64];
    (void)snprintf(id, sizeof id, "%s", gsim_trace_id(trace, job));
    for (char *p = id; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *p))
            *p = '_';
    return gsim_arena_printf(arena, "%s/%u-%s.log", executor->logs, job, id);
}

/* "CUDA_VISIBLE_DEVICES=0,3": the machine's numbers of the GPUs that the job is placed on; for a
 * client of MPS, their places among the GPUs of its server. */
static const char *visible_devices(const struct gsim_executor *executor, struct gsim_arena *arena,
                                   const struct gsim_job *about, const char *instance) {
    const char *text = "CUDA_VISIBLE_DEVICES=";
    if (instance)
        return gsim_arena_printf(arena, "%s%s", text, instance);
    for (uint32_t u = 0; u < about->n_units && text; u++)
        text = gsim_arena_printf(arena, "%s%s%u", text, u ? "," : "",
                                 executor->mps_folder ? about->units[u].gpu
                                                      : executor->gpus[about->units[u].gpu]);
    return text;
}

enum { VARIABLES = 8 };

static bool is_complete(const char *const *list, int n) {
    for (int i = 0; i < n; i++)
        if (!list[i])
            return false;
    return true;
}

static bool fill_environment(const struct gsim_executor *executor, struct gsim_arena *arena,
                             const struct gsim_trace *trace, const struct gsim_job *about,
                             bool is_resumed, uint32_t cap_percent, const char *instance,
                             const char *list[VARIABLES + 1]) {
    const char *log = gsim_start_log_path(executor, arena, trace, about->index);
    int n = 0;
    list[n++] = visible_devices(executor, arena, about, instance);
    list[n++] = "CUDA_DEVICE_ORDER=PCI_BUS_ID"; /* the numbers are those of nvidia-smi */
    list[n++] = "GSIM_JOB_FD=3";
    list[n++] = gsim_arena_printf(arena, "GSIM_JOB_ID=%s", gsim_trace_id(trace, about->index));
    list[n++] = log ? gsim_arena_printf(arena, "GSIM_JOB_STATE=%s.state", log) : NULL;
    if (is_resumed)
        list[n++] = "GSIM_JOB_RESUME=1";
    if (executor->mps_folder)
        list[n++] = gsim_arena_printf(arena, "CUDA_MPS_PIPE_DIRECTORY=%s", executor->mps_folder);
    if (cap_percent > 0)
        list[n++] = gsim_arena_printf(arena, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%u", cap_percent);
    list[n] = NULL;
    return is_complete(list, n);
}

static int do_work(const void *arg) {
    return gsim_work_do(arg);
}

/* Of a job on a part of a GPU, the UUID that CUDA takes; in a dry run a text in its place. NULL:
 * the run cuts no GPU. */
static enum gsim_status find_instance(const struct gsim_executor *executor,
                                      const struct gsim_job *about, struct gsim_arena *arena,
                                      const char **instance) {
    struct gsim_unit unit = about->units[0];
    *instance = NULL;
    if (executor->is_dry && unit.slot > 0)
        *instance = gsim_arena_printf(arena, "MIG-%u/%u", executor->gpus[unit.gpu], unit.slot);
    if (executor->is_dry || !executor->cutting->is_needed)
        return GSIM_OK;
    *instance = gsim_cutting_visible(executor->cutting, unit, executor->log);
    return *instance ? GSIM_OK : GSIM_FAILED;
}

/* Texts live as long as the call: the child has a copy of all of them. */
enum gsim_status gsim_start_job(const struct gsim_executor *executor,
                                const struct gsim_trace *trace, const struct gsim_job *about,
                                bool is_resumed, uint32_t cap_percent,
                                const struct gsim_guard *guard, struct gsim_job_process *process) {
    struct gsim_arena *arena = gsim_arena_new();
    const char *environment[VARIABLES + 1];
    struct gsim_work_load work = gsim_work_of(trace, about->index, executor);
    const char *instance = NULL;
    enum gsim_status status =
        arena ? find_instance(executor, about, arena, &instance) : GSIM_FAILED;
    if (status == GSIM_OK && fill_environment(executor, arena, trace, about, is_resumed,
                                              cap_percent, instance, environment)) {
        struct gsim_start start = {.command = gsim_start_command(trace, about->index),
                                   .work = do_work,
                                   .arg = &work,
                                   .environment = environment,
                                   .files = &executor->files,
                                   .log_path =
                                       gsim_start_log_path(executor, arena, trace, about->index)};
        status = start.log_path ? gsim_job_process_start(process, &start, guard, executor->log)
                                : gsim_no_memory(executor->log, "starting a job");
    } else if (!arena || status == GSIM_OK) {
        status = gsim_no_memory(executor->log, "starting a job");
    }
    gsim_arena_free(arena);
    return status;
}

enum gsim_status gsim_start_hook(const struct gsim_executor *executor,
                                 const struct gsim_trace *trace, uint32_t job, pid_t group,
                                 const struct gsim_guard *guard, struct gsim_job_process *hook) {
    struct gsim_arena *arena = gsim_arena_new();
    const char *log = arena ? gsim_start_log_path(executor, arena, trace, job) : NULL;
    const char *environment[4] = {NULL};
    if (log) {
        environment[0] = gsim_arena_printf(arena, "GSIM_JOB_ID=%s", gsim_trace_id(trace, job));
        environment[1] = gsim_arena_printf(arena, "GSIM_JOB_STATE=%s.state", log);
        environment[2] = gsim_arena_printf(arena, "GSIM_JOB_PID=%ld", (long)group);
    }
    struct gsim_start start = {.command = gsim_start_save_command(executor, trace, job),
                               .environment = environment,
                               .files = &executor->files,
                               .log_path = log};
    enum gsim_status status = is_complete(environment, 3)
                                  ? gsim_job_process_start(hook, &start, guard, executor->log)
                                  : gsim_no_memory(executor->log, "saving a job's state");
    gsim_arena_free(arena);
    return status;
}
