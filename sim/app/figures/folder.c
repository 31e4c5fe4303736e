/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700
#include "sim/app/figures/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum gsim_status gsim_folder_open(struct gsim_folder *folder, const char *file,
                                  struct gsim_arena *arena, struct gsim_log *log) {
    const char *slash = strrchr(file, '/');
    int n = slash ? (int)(slash - file + 1) : 0;
    folder->arena = arena;
    folder->path = gsim_arena_printf(arena, "%.*s.gsim-XXXXXX", n, file);
    if (!folder->path)
        return gsim_no_memory(log, "making a folder");
    if (mkdtemp(folder->path))
        return GSIM_OK;
    folder->path = NULL;
    return gsim_fail(log, GSIM_FAILED, file, 0, "cannot write there: %s", strerror(errno));
}

char *gsim_folder_path(const struct gsim_folder *folder, const char *name) {
    return gsim_arena_printf(folder->arena, "%s/%s", folder->path, name);
}

enum gsim_status gsim_folder_put(const struct gsim_folder *folder, const char *name,
                                 const void *bytes, size_t n, struct gsim_log *log) {
    const char *path = gsim_folder_path(folder, name);
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return gsim_fail(log, GSIM_FAILED, path, 0, "the file cannot be written: %s",
                         strerror(errno));
    bool is_written = fwrite(bytes, 1, n, file) == n;
    if (fclose(file) == 0 && is_written)
        return GSIM_OK;
    return gsim_fail(log, GSIM_FAILED, path, 0, "the file cannot be written: %s", strerror(errno));
}

void gsim_folder_close(struct gsim_folder *folder) {
    DIR *entries = folder->path ? opendir(folder->path) : NULL;
    if (!entries)
        return;
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    (void)closedir(entries);
    (void)rmdir(folder->path);
    folder->path = NULL;
}
