/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "sim/app/figures/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char between_name[] = "between.gp", error_name[] = "gnuplot.err";

extern char **environ;

/* The environment for gnuplot, without the variables that would change its output. */
static char **clean_environment(struct gsim_arena *arena) {
    static const char *const out[] = {"LC_", "LANG", "GNUPLOT", "GNUTERM=", "GDFONTPATH="};
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **list = gsim_arena_array(arena, n + 2, sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        bool is_out = false;
        for (size_t k = 0; k < sizeof out / sizeof *out; k++)
            is_out |= strncmp(environ[i], out[k], strlen(out[k])) == 0;
        if (!is_out)
            list[kept++] = environ[i];
    }
    if (list)
        list[kept] = gsim_arena_strdup(arena, "LC_ALL=C.UTF-8");
    return list;
}

/* gnuplot's arguments: the scripts of the drawings, with the one between each two. */
static char **arguments(const struct gsim_folder *folder, const struct gsim_drawing *drawings,
                        int n) {
    char **argv = gsim_arena_array(folder->arena, 2 * (size_t)n + 2, sizeof *argv);
    int to = 0;
    if (!argv)
        return NULL;
    argv[to++] = gsim_arena_strdup(folder->arena, "gnuplot");
    argv[to++] = gsim_arena_strdup(folder->arena, "-d");
    for (int i = 0; i < n; i++) {
        if (i > 0)
            argv[to++] = gsim_arena_strdup(folder->arena, between_name);
        argv[to++] = gsim_arena_strdup(folder->arena, drawings[i].script);
    }
    for (int i = 0; i < to; i++)
        if (!argv[i])
            return NULL;
    argv[to] = NULL;
    return argv;
}

/* Starts gnuplot in the folder, with its messages in a file there. Returns an errno. */
static int start(const struct gsim_folder *folder, const struct gsim_drawing *drawings, int n,
                 pid_t *pid) {
    char **argv = arguments(folder, drawings, n);
    char **environment = clean_environment(folder->arena);
    posix_spawn_file_actions_t actions;
    if (!argv || !environment)
        return ENOMEM;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_addchdir_np(&actions, folder->path);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 2, error_name,
                                                 O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, 2, 1);
    if (!error)
        error = posix_spawnp(pid, "gnuplot", &actions, NULL, argv, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads gnuplot's first message, as one line. */
static void read_message(const struct gsim_folder *folder, char *out, size_t size) {
    const char *path = gsim_folder_path(folder, error_name);
    FILE *file = path ? fopen(path, "rb") : NULL;
    size_t n = file ? fread(out, 1, size - 1, file) : 0;
    out[n] = '\0';
    if (file)
        (void)fclose(file);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)out[i] < 32)
            out[i] = ' ';
}

bool gsim_gnuplot_is_there(void) {
    const char *path = getenv("PATH");
    char file[4096];
    while (path && *path) {
        size_t n = strcspn(path, ":");
        int length = snprintf(file, sizeof file, "%.*s/gnuplot", (int)n, n ? path : ".");
        if (length > 0 && (size_t)length < sizeof file && access(file, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* Waits until gnuplot ends. A request to stop ends gnuplot too: a terminal's Ctrl-C reaches both
 * processes, a `kill` only gsim. */
static enum gsim_status wait_for(pid_t pid, const volatile sig_atomic_t *stop, int *state,
                                 struct gsim_log *log) {
    bool is_stopped = false;
    for (;;) {
        if (stop && *stop && !is_stopped) {
            is_stopped = true;
            (void)kill(pid, SIGTERM);
        }
        if (waitpid(pid, state, 0) >= 0)
            break;
        if (errno != EINTR)
            return gsim_fail(log, GSIM_FAILED, NULL, 0, "lost gnuplot: %s", strerror(errno));
    }
    if (is_stopped || (stop && *stop))
        return gsim_fail(log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is drawn");
    return GSIM_OK;
}

static bool is_drawn(const struct gsim_folder *folder, const struct gsim_drawing *drawing) {
    struct stat about;
    const char *path = gsim_folder_path(folder, drawing->output);
    return path && stat(path, &about) == 0 && about.st_size > 0;
}

/* Draws all by one gnuplot. Where one drawing fails, gnuplot draws none of those after it. */
static enum gsim_status run_gnuplot(const struct gsim_folder *folder,
                                    const struct gsim_drawing *drawings, int n,
                                    const volatile sig_atomic_t *stop, struct gsim_log *log) {
    pid_t pid;
    int state = 0, error = start(folder, drawings, n, &pid), n_drawn = 0;
    if (error == ENOENT)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "gnuplot is not installed and draws the figures: apt-get install "
                         "gnuplot-nox (Debian, Ubuntu), dnf install gnuplot, brew install gnuplot");
    if (error)
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "cannot start gnuplot: %s", strerror(error));
    enum gsim_status status = wait_for(pid, stop, &state, log);
    if (status != GSIM_OK)
        return status;
    while (n_drawn < n && is_drawn(folder, &drawings[n_drawn]))
        n_drawn++;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0 && n_drawn == n)
        return GSIM_OK;
    char message[300];
    read_message(folder, message, sizeof message);
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "gnuplot failed: %s",
                     *message ? message : "gnuplot says nothing; is the disk full?");
}

/* Draws by one gnuplot; false: some drawing may be missing, or half of it. */
static bool draw_together(const struct gsim_folder *folder, struct gsim_drawing *drawings, int n,
                          const volatile sig_atomic_t *stop, enum gsim_status *status) {
    struct gsim_log unheard = {0};
    const char *between = gsim_figure_file(between_name, folder->arena);
    *status = between ? gsim_folder_put(folder, between_name, between, strlen(between), &unheard)
                      : GSIM_FAILED;
    if (*status == GSIM_OK)
        *status = run_gnuplot(folder, drawings, n, stop, &unheard);
    return *status == GSIM_OK || *status == GSIM_INCOMPLETE;
}

/* What the gnuplot of all left of a drawing does not pass for what its own draws. */
static void remove_output(const struct gsim_folder *folder, const struct gsim_drawing *drawing) {
    const char *path = gsim_folder_path(folder, drawing->output);
    if (path)
        (void)unlink(path);
}

enum gsim_status gsim_gnuplot_draw_all(const struct gsim_folder *folder,
                                       struct gsim_drawing *drawings, int n,
                                       const volatile sig_atomic_t *stop) {
    enum gsim_status status = GSIM_OK;
    if (n > 1 && draw_together(folder, drawings, n, stop, &status))
        return status;
    for (int i = 0; i < n; i++) {
        struct gsim_log log = {0};
        remove_output(folder, &drawings[i]);
        status = run_gnuplot(folder, &drawings[i], 1, stop, &log);
        if (status == GSIM_INCOMPLETE)
            return status;
        if (status != GSIM_OK)
            drawings[i].error = gsim_arena_strdup(folder->arena, log.errors[0].text);
        if (status != GSIM_OK && !drawings[i].error)
            drawings[i].error = "out of memory while drawing";
    }
    return GSIM_OK;
}

enum gsim_status gsim_gnuplot_draw(const struct gsim_folder *folder, const char *script,
                                   const char *output, const volatile sig_atomic_t *stop,
                                   struct gsim_log *log) {
    return run_gnuplot(folder, &(struct gsim_drawing){.script = script, .output = output}, 1, stop,
                       log);
}

enum gsim_status gsim_gnuplot_write(const struct gsim_folder *folder, const char *script,
                                    const struct gsim_figure *figure, struct gsim_db *db,
                                    const struct gsim_figure_request *request, int *n_pages,
                                    struct gsim_log *log) {
    const char *path = gsim_folder_path(folder, script);
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return gsim_fail(log, GSIM_FAILED, path, 0, "the file cannot be written: %s",
                         strerror(errno));
    enum gsim_status status =
        gsim_figure_write(figure, db, request, folder->arena, file, n_pages, log);
    bool is_bad = ferror(file) != 0;
    if ((fclose(file) != 0 || is_bad) && status == GSIM_OK)
        status =
            gsim_fail(log, GSIM_FAILED, path, 0, "the file cannot be written: %s", strerror(errno));
    return status;
}
