/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "sim/app/results/placed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a file below the folder: "/home/a.csv" is home/a.csv, and "../a.csv" is up/a.csv. */
static const char *name_below(struct gsim_arena *arena, const char *path) {
    const char *name = "";
    while (*path && name) {
        size_t n = strcspn(path, "/");
        bool is_up = n == 2 && strncmp(path, "..", 2) == 0;
        bool is_nothing = n == 0 || (n == 1 && *path == '.');
        if (!is_nothing)
            name = gsim_arena_printf(arena, "%s%s%.*s", name, *name ? "/" : "", is_up ? 2 : (int)n,
                                     is_up ? "up" : path);
        path += n + (path[n] == '/');
    }
    return name;
}

/* Plain names stay as they are, so that a result names its files as the stored result does. */
static bool is_plain(const char *path) {
    return *path != '/' && strncmp(path, "../", 3) != 0 && !strstr(path, "/../");
}

static enum gsim_status fail(struct gsim_log *log, const char *what) {
    return gsim_fail(log, GSIM_FAILED, what, 0,
                     "the file cannot be put into a temporary folder: %s", strerror(errno));
}

/* Makes every folder on the way to the file. */
static bool make_folders(const char *path) {
    char folder[4096];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

static void remove_folders(const char *path) {
    char folder[4096];
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strrchr(folder, '/'); slash; slash = strrchr(folder, '/')) {
        *slash = '\0';
        (void)rmdir(folder);
    }
}

static bool put(const char *path, const struct gsim_db_file *file, const char *real) {
    if (!make_folders(path))
        return false;
    if (real)
        return symlink(real, path) == 0 || errno == EEXIST;
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool is_written = fwrite(file->bytes, 1, (size_t)file->size, out) == (size_t)file->size;
    return fclose(out) == 0 && is_written;
}

static enum gsim_status put_all(struct gsim_placed *placed, char **real, struct gsim_log *log) {
    for (int i = 0; i < placed->n; i++)
        if (!put(placed->name[i], &placed->file[i], real[i]))
            return fail(log, placed->file[i].path);
    return GSIM_OK;
}

static enum gsim_status enter(struct gsim_placed *placed, struct gsim_log *log) {
    const char *where = getenv("TMPDIR");
    placed->here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    placed->folder =
        gsim_arena_printf(placed->arena, "%s/gsim-XXXXXX", where && *where ? where : "/tmp");
    if (placed->here < 0 || !placed->folder || !mkdtemp(placed->folder)) {
        placed->folder = NULL;
        return fail(log, "the run's files");
    }
    return chdir(placed->folder) == 0 ? GSIM_OK : fail(log, placed->folder);
}

enum gsim_status gsim_placed_open(struct gsim_placed *placed, const struct gsim_db_file *file,
                                  int n, struct gsim_arena *arena, struct gsim_log *log) {
    *placed = (struct gsim_placed){.arena = arena, .file = file, .n = n, .here = -1};
    placed->name = gsim_arena_array(arena, (size_t)n, sizeof *placed->name);
    char **real = gsim_arena_array(arena, (size_t)n, sizeof *real);
    if (!placed->name || !real)
        return gsim_no_memory(log, "placing files");
    for (int i = 0; i < n; i++) {
        placed->name[i] = is_plain(file[i].path) ? file[i].path : name_below(arena, file[i].path);
        if (!file[i].bytes)
            real[i] = realpath(file[i].path, NULL);
    }
    enum gsim_status status = enter(placed, log);
    if (status == GSIM_OK)
        status = put_all(placed, real, log);
    for (int i = 0; i < n; i++)
        free(real[i]);
    return status;
}

void gsim_placed_close(struct gsim_placed *placed) {
    for (int i = 0; placed->folder && i < placed->n; i++)
        (void)unlink(placed->name[i]);
    for (int i = 0; placed->folder && i < placed->n; i++)
        remove_folders(placed->name[i]);
    if (placed->here >= 0) {
        (void)!fchdir(placed->here);
        (void)close(placed->here);
    }
    if (placed->folder)
        (void)rmdir(placed->folder);
    placed->folder = NULL;
    placed->here = -1;
}

const char *gsim_placed_name(const struct gsim_placed *placed, const char *path) {
    for (int i = 0; placed->folder && i < placed->n; i++)
        if (strcmp(placed->file[i].path, path) == 0)
            return placed->name[i];
    return path;
}

const char *gsim_placed_restore(const struct gsim_placed *placed, const char *text) {
    for (int i = 0; placed->folder && i < placed->n && text; i++) {
        const char *name = placed->name[i], *at = strstr(text, name);
        if (at && strcmp(name, placed->file[i].path) != 0)
            text = gsim_arena_printf(placed->arena, "%.*s%s%s", (int)(at - text), text,
                                     placed->file[i].path, at + strlen(name));
    }
    return text;
}
