/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/calibrate/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsim/units.h"
#include "models/hardware/keys.h"
#include "sim/app/cli/output_file.h"
#include "sim/app/drive/image.h"
#include "sim/app/drive/work_gpu.h"
#include "sim/study/output.h"

enum {
    ROUNDS = 5,
    AT_ONCE = 4, /* processes of a round of several */
    SMALL_GIB = 1, /* what a process holds, and a larger state */
    LARGE_GIB = 9,
    LOCK_MS = 10000
};
#define SOON_NS                                                                                    \
    (100 * GSIM_NS_PER_MS) /* until all processes wait for a moment that they were told */
#define PATIENCE_NS (60 * GSIM_NS_PER_S)

/* Moments by CLOCK_MONOTONIC; processes and their parent share them. */
struct moments {
    volatile int64_t begin_ns, end_ns, ready_ns[AT_ONCE];
    volatile bool has_failed;
};

struct process {
    pid_t pid;
    int64_t gone_ns;
};

/* What rounds of some processes came to: from the moment at which all were told to start, or to
 * end, until the last one was ready, or gone. */
struct taken {
    int64_t start_ns, end_ns;
};

/* Of the state of a process. */
struct copies {
    int64_t out_ns, in_ns;
};

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t until_ns) {
    struct timespec until = {.tv_sec = until_ns / GSIM_NS_PER_S,
                             .tv_nsec = until_ns % GSIM_NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void nap(void) {
    const struct timespec a_ms = {.tv_nsec = GSIM_NS_PER_MS};
    (void)nanosleep(&a_ms, NULL);
}

/* As a job of gsim drive without a command, which says `begin` once its GPU is open. */
static void be_process(struct moments *moments, int nth, int64_t gib) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    sleep_until(moments->begin_ns);
    const struct gsim_work_memory memory = {.bytes = gib * GSIM_GIB};
    struct gsim_work_gpus *work = gsim_work_gpus_open(1, &memory, 0, GSIM_PPM);
    if (!work)
        moments->has_failed = true;
    moments->ready_ns[nth] = now_ns();
    while (moments->end_ns == 0)
        nap();
    sleep_until(moments->end_ns);
    gsim_work_gpus_close(work);
    _exit(work ? 0 : 1);
}

static bool await_ready(struct moments *moments, int n) {
    int64_t until_ns = now_ns() + PATIENCE_NS;
    for (int i = 0; i < n; i++)
        while (moments->ready_ns[i] == 0 && now_ns() < until_ns)
            nap();
    return !moments->has_failed && now_ns() < until_ns;
}

static struct moments *share_moments(void) {
    void *at = mmap(NULL, sizeof(struct moments), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool begin_processes(struct moments *moments, struct process *processes, int n,
                            int64_t gib) {
    moments->begin_ns = now_ns() + SOON_NS;
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)setpgid(0, 0); /* of which the driver takes the state */
            be_process(moments, i, gib);
        }
        processes[i].pid = pid;
        if (pid > 0)
            (void)setpgid(pid, pid);
        moments->has_failed |= pid < 0;
    }
    return await_ready(moments, n);
}

/* Ends all of them; whether each did as it should. */
static bool end_processes(struct moments *moments, struct process *processes, int n) {
    bool is_fine = true;
    moments->end_ns = now_ns() + SOON_NS;
    for (int i = 0; i < n; i++) {
        int how = 0;
        if (processes[i].pid <= 0)
            continue;
        while (waitpid(processes[i].pid, &how, 0) < 0 && errno == EINTR)
            ;
        processes[i].gone_ns = now_ns();
        is_fine &= WIFEXITED(how) && WEXITSTATUS(how) == 0;
    }
    return is_fine;
}

static bool take_round(int n, struct taken *out) {
    struct moments *moments = share_moments();
    struct process processes[AT_ONCE] = {{0}};
    if (!moments)
        return false;
    bool is_fine = begin_processes(moments, processes, n, SMALL_GIB);
    is_fine &= end_processes(moments, processes, n);
    *out = (struct taken){0};
    for (int i = 0; i < n; i++) {
        int64_t start_ns = moments->ready_ns[i] - moments->begin_ns;
        int64_t end_ns = processes[i].gone_ns - moments->end_ns;
        out->start_ns = start_ns > out->start_ns ? start_ns : out->start_ns;
        out->end_ns = end_ns > out->end_ns ? end_ns : out->end_ns;
    }
    (void)munmap(moments, sizeof *moments);
    return is_fine;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(int64_t times[ROUNDS]) {
    qsort(times, ROUNDS, sizeof *times, by_size);
    return times[ROUNDS / 2];
}

static bool take_rounds(int n, struct taken *out) {
    int64_t starts[ROUNDS], ends[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct taken taken;
        if (!take_round(n, &taken))
            return false;
        starts[round] = taken.start_ns;
        ends[round] = taken.end_ns;
    }
    *out = (struct taken){median(starts), median(ends)};
    return true;
}

/* --- states of processes ---------------------------------------------------------------------- */

/* Waits for the transfer; -1: it failed. */
static int64_t transfer(pid_t group, enum gsim_image_way way, struct gsim_log *log,
                        char words[GSIM_IMAGE_WORDS]) {
    const struct gsim_guard none = {.fd = -1};
    const struct gsim_image_order order = {.way = way, .group = group, .lock_ms = LOCK_MS};
    struct gsim_image image;
    bool is_fine = false;
    int64_t begin_ns = now_ns();
    if (gsim_image_begin(&image, &order, &none, log) != GSIM_OK)
        return -1;
    while (!gsim_image_ended(&image, &is_fine, words))
        if (now_ns() - begin_ns > PATIENCE_NS) {
            gsim_image_abandon(&image);
            return -1;
        } else
            nap();
    return is_fine ? now_ns() - begin_ns : -1;
}

static bool copy_round(int64_t gib, struct copies *out, struct gsim_log *log,
                       char words[GSIM_IMAGE_WORDS]) {
    struct moments *moments = share_moments();
    struct process process = {0};
    if (!moments)
        return false;
    bool is_fine = begin_processes(moments, &process, 1, gib);
    out->out_ns = is_fine ? transfer(process.pid, GSIM_IMAGE_TAKE, log, words) : -1;
    out->in_ns = out->out_ns >= 0 ? transfer(process.pid, GSIM_IMAGE_BRING_BACK, log, words) : -1;
    if (out->in_ns < 0 && process.pid > 0)
        (void)kill(process.pid, SIGKILL);
    is_fine &= end_processes(moments, &process, 1);
    (void)munmap(moments, sizeof *moments);
    return is_fine && out->in_ns >= 0;
}

static bool copy_rounds(int64_t gib, struct copies *out, struct gsim_log *log,
                        char words[GSIM_IMAGE_WORDS]) {
    int64_t outs[ROUNDS], ins[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct copies copies;
        if (!copy_round(gib, &copies, log, words))
            return false;
        outs[round] = copies.out_ns;
        ins[round] = copies.in_ns;
    }
    *out = (struct copies){median(outs), median(ins)};
    return true;
}

/* --- the keys --------------------------------------------------------------------------------- */

struct found {
    struct taken alone, beside, several;
    struct copies small, large;
    bool has_copies;
};

/* Beside another process, which holds the GPU up. */
static bool take_beside(struct found *found) {
    struct moments *moments = share_moments();
    struct process other = {0};
    if (!moments)
        return false;
    bool is_fine = begin_processes(moments, &other, 1, SMALL_GIB) &&
                   take_rounds(1, &found->beside) && take_rounds(AT_ONCE, &found->several);
    is_fine &= end_processes(moments, &other, 1);
    (void)munmap(moments, sizeof *moments);
    return is_fine;
}

static int64_t not_below_0(int64_t ns) {
    return ns > 0 ? ns : 0;
}

/* What each further process adds, at most what one takes beside the part of the GPU's first one, or
 * last one. */
static int64_t serial_ns(int64_t alone_ns, int64_t beside_ns, int64_t several_ns) {
    int64_t each_ns = not_below_0(several_ns - beside_ns) / (AT_ONCE - 1);
    int64_t most_ns = alone_ns < beside_ns ? alone_ns : beside_ns;
    return each_ns < most_ns ? each_ns : most_ns;
}

static void write_key(FILE *out, enum gsim_key key, int64_t ns) {
    fprintf(out, "--set %s=%lldns\n", gsim_key_name(key), (long long)ns);
}

/* The line through the times of two states. */
static void write_copies(FILE *out, enum gsim_key fixed, enum gsim_key per_gib, int64_t small_ns,
                         int64_t large_ns) {
    int64_t gib_ns = not_below_0(large_ns - small_ns) / (LARGE_GIB - SMALL_GIB);
    write_key(out, fixed, not_below_0(small_ns - SMALL_GIB * gib_ns));
    write_key(out, per_gib, gib_ns);
}

static void write_keys(FILE *out, const struct found *found) {
    const struct taken *alone = &found->alone, *beside = &found->beside, *several = &found->several;
    write_key(out, GSIM_KEY_START_NS, alone->start_ns);
    write_key(out, GSIM_KEY_START_SERIAL_NS,
              serial_ns(alone->start_ns, beside->start_ns, several->start_ns));
    write_key(out, GSIM_KEY_START_WAKE_NS, not_below_0(alone->start_ns - beside->start_ns));
    write_key(out, GSIM_KEY_RESTART_NS, alone->start_ns);
    write_key(out, GSIM_KEY_RESTART_STOP_NS, alone->end_ns);
    write_key(out, GSIM_KEY_END_NS, alone->end_ns);
    write_key(out, GSIM_KEY_END_SERIAL_NS,
              serial_ns(alone->end_ns, beside->end_ns, several->end_ns));
    write_key(out, GSIM_KEY_END_SLEEP_NS, not_below_0(alone->end_ns - beside->end_ns));
    if (!found->has_copies)
        return;
    write_copies(out, GSIM_KEY_CHECKPOINT_OUT_NS, GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB,
                 found->small.out_ns, found->large.out_ns);
    write_copies(out, GSIM_KEY_CHECKPOINT_IN_NS, GSIM_KEY_CHECKPOINT_IN_NS_PER_GIB,
                 found->small.in_ns, found->large.in_ns);
}

static enum gsim_status look(struct gsim_cli *cli, struct found *found) {
    char words[GSIM_IMAGE_WORDS] = "";
    const char *refusal = gsim_image_refusal();
    if (!take_rounds(1, &found->alone) || !take_beside(found))
        return gsim_fail(cli->log, GSIM_FAILED, NULL, 0,
                         "a process that was to open the GPU did not; is there a driver, and room "
                         "for %d GiB?",
                         SMALL_GIB * (AT_ONCE + 1));
    if (!refusal) {
        found->has_copies = copy_rounds(SMALL_GIB, &found->small, cli->log, words) &&
                            copy_rounds(LARGE_GIB, &found->large, cli->log, words);
        refusal = words[0] ? words : "a transfer failed";
    }
    if (!found->has_copies)
        gsim_warn(cli->log, NULL, 0, "states of processes were not measured: %s", refusal);
    return GSIM_OK;
}

enum gsim_status gsim_calibrate_processes(struct gsim_cli *cli) {
    struct found found = {.has_copies = false};
    struct gsim_outfile out;
    enum gsim_status status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    status = look(cli, &found);
    if (status != GSIM_OK) {
        gsim_outfile_abandon(&out);
        return status;
    }
    write_keys(out.file, &found);
    return gsim_output_file_close(cli, &out);
}
