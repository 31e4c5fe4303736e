/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/app/drive/nvml.h"
#include "sim/base/units.h"

/* --- numbers ---------------------------------------------------------------------------------- */

static enum gsim_status bad_list(const char *text, struct gsim_log *log) {
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "--gpus: '%s' is not a list of up to %d different numbers of GPUs, such as "
                     "0,1",
                     text, GSIM_DRIVE_GPUS);
}

static bool has(const struct gsim_gpus *gpus, int64_t number) {
    for (uint32_t i = 0; i < gpus->n; i++)
        if (gpus->number[i] == number)
            return true;
    return false;
}

enum gsim_status gsim_gpus_read(const char *text, struct gsim_gpus *gpus, struct gsim_log *log) {
    for (const char *p = text; p; p = strchr(p, ',')) {
        char word[16];
        int64_t number;
        p += *p == ',';
        size_t length = strcspn(p, ",");
        if (length >= sizeof word || gpus->n == GSIM_DRIVE_GPUS)
            return bad_list(text, log);
        memcpy(word, p, length);
        word[length] = '\0';
        if (gsim_parse_int(word, &number) != GSIM_PARSE_OK || number < 0 || number > UINT16_MAX ||
            has(gpus, number))
            return bad_list(text, log);
        gpus->number[gpus->n++] = (uint32_t)number;
    }
    return GSIM_OK;
}

/* --- locks ------------------------------------------------------------------------------------ */

/* A file of another user can be locked too, and is not created again. */
static int open_lock(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 || errno != ENOENT
               ? fd
               : open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
}

/* A lock of the kernel's, which ends with the process in whatever way that ends. */
enum gsim_status gsim_gpus_lock_file(struct gsim_gpus *gpus, const char *path, const char *what,
                                     struct gsim_log *log) {
    int fd = gpus->n_locks <= GSIM_DRIVE_GPUS ? open_lock(path) : -1;
    if (fd < 0)
        return gsim_fail(log, GSIM_FAILED, path, 0, "the file cannot be opened: %s",
                         strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        gpus->lock[gpus->n_locks++] = fd;
        return GSIM_OK;
    }
    (void)close(fd);
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "%s is in use by another gsim drive (it holds %s)",
                     what, path);
}

static enum gsim_status lock_gpus(struct gsim_gpus *gpus, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < gpus->n && status == GSIM_OK; i++) {
        char path[64], what[32];
        (void)snprintf(path, sizeof path, "/tmp/gsim-drive-gpu%u.lock", gpus->number[i]);
        (void)snprintf(what, sizeof what, "GPU %u", gpus->number[i]);
        status = gsim_gpus_lock_file(gpus, path, what, log);
    }
    return status;
}

void gsim_gpus_release(struct gsim_gpus *gpus) {
    while (gpus->n_locks > 0)
        (void)close(gpus->lock[--gpus->n_locks]);
}

/* --- the driver ------------------------------------------------------------------------------- */

/* Refuses a GPU on which other processes compute, by their numbers. */
static enum gsim_status check_free(const struct gsim_nvml *nvml, void *device, uint32_t number,
                                   struct gsim_log *log) {
    struct gsim_nvml_process list[32];
    unsigned n = sizeof list / sizeof *list;
    char pids[256] = "";
    size_t length = 0;
    int error = nvml->processes(device, &n, list);
    if (error != 0)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "the driver does not tell which processes use GPU %u (error %d)", number,
                         error);
    for (unsigned i = 0; i < n && length < sizeof pids; i++)
        length += (size_t)snprintf(pids + length, sizeof pids - length, "%s%u", i ? ", " : "",
                                   list[i].pid);
    return n == 0 ? GSIM_OK
                  : gsim_fail(log, GSIM_FAILED, NULL, 0,
                              "GPU %u is in use by other processes (%s); a run needs it alone",
                              number, pids);
}

static enum gsim_status look_at(const struct gsim_nvml *nvml, struct gsim_gpus *gpus,
                                uint32_t number, struct gsim_arena *arena, struct gsim_log *log) {
    char name[128] = "";
    void *device;
    int error = nvml->device(number, &device);
    if (error == 0)
        error = nvml->name(device, name, sizeof name);
    if (error != 0)
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "GPU %u: the driver gives error %d", number,
                         error);
    if (gpus->product && strcmp(gpus->product, name) != 0)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "GPU %u is '%s', and others are '%s': --gpus names GPUs of one product",
                         number, name, gpus->product);
    gpus->product = gsim_arena_strdup(arena, name);
    return gpus->product ? check_free(nvml, device, number, log)
                         : gsim_no_memory(log, "looking at GPUs");
}

/* "GPU-f6222090-cffa-06d6-2ad8-cdefcfafe916". */
static bool read_uuid(const char *text, struct gsim_gpu_uuid *uuid) {
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    if (strncmp(text, "GPU-", 4) != 0)
        return false;
    for (const char *p = text + 4; *p; p++) {
        const char *digit = strchr(digits, *p);
        if (*p == '-')
            continue;
        if (!digit || n == 2 * sizeof uuid->bytes)
            return false;
        uuid->bytes[n / 2] = (uint8_t)(uuid->bytes[n / 2] << 4 | (digit - digits));
        n++;
    }
    return n == 2 * sizeof uuid->bytes;
}

/* Only moves of jobs need the UUIDs: a GPU that does not tell its own is no reason to stop. */
static enum gsim_status list_uuids(const struct gsim_nvml *nvml, struct gsim_gpus *gpus, unsigned n,
                                   struct gsim_arena *arena, struct gsim_log *log) {
    void *device;
    char text[96]; /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
    bool is_told = true;
    gpus->uuids = gsim_arena_array(arena, n, sizeof *gpus->uuids);
    if (!gpus->uuids)
        return gsim_no_memory(log, "listing GPUs");
    for (unsigned i = 0; i < n && is_told; i++)
        is_told = nvml->device(i, &device) == 0 && nvml->uuid(device, text, sizeof text) == 0 &&
                  read_uuid(text, &gpus->uuids[i]);
    gpus->n_uuids = is_told ? n : 0;
    return GSIM_OK;
}

static enum gsim_status find(const struct gsim_nvml *nvml, struct gsim_gpus *gpus,
                             struct gsim_arena *arena, struct gsim_log *log) {
    unsigned n = 0;
    if (nvml->count(&n) != 0 || n == 0)
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "the driver shows no GPU");
    enum gsim_status status = list_uuids(nvml, gpus, n, arena, log);
    for (unsigned i = 0; gpus->n == 0 && i < n && i < GSIM_DRIVE_GPUS; i++)
        gpus->number[i] = i;
    gpus->n = gpus->n ? gpus->n : n < GSIM_DRIVE_GPUS ? n : GSIM_DRIVE_GPUS;
    for (uint32_t i = 0; i < gpus->n; i++)
        if (gpus->number[i] >= n)
            return gsim_fail(log, GSIM_USAGE, NULL, 0,
                             "--gpus: this machine has no GPU %u; it has %u", gpus->number[i], n);
    if (status == GSIM_OK) /* first, since jobs of another run are processes as well */
        status = lock_gpus(gpus, log);
    for (uint32_t i = 0; i < gpus->n && status == GSIM_OK; i++)
        status = look_at(nvml, gpus, gpus->number[i], arena, log);
    return status;
}

enum gsim_status gsim_gpus_find(struct gsim_gpus *gpus, struct gsim_arena *arena,
                                struct gsim_log *log) {
    struct gsim_nvml nvml;
    enum gsim_status status = gsim_nvml_open(&nvml, log);
    if (status != GSIM_OK)
        return status;
    status = find(&nvml, gpus, arena, log);
    gsim_nvml_close(&nvml);
    return status;
}
