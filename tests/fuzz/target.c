/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/fuzz/target.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/app/cli/cli.h"

#define MARK "\n=== "
enum { MAX_WORDS = 48, MAX_FILES = 8, MAX_NAME = 32, MOMENT_US = 500000 };

static char folder[] = "/tmp/gsim-fuzz-XXXXXX";
static bool is_in_folder;
static volatile sig_atomic_t stop;

static void on_alarm(int signal_number) {
    stop = signal_number;
}

bool fuzz_begin(void) {
    struct sigaction action = {.sa_handler = on_alarm};
    (void)sigemptyset(&action.sa_mask);
    is_in_folder = sigaction(SIGALRM, &action, NULL) == 0 && mkdtemp(folder) && chdir(folder) == 0;
    return is_in_folder;
}

/* Never a folder that was there before. */
static void empty_folder(void) {
    DIR *dir = is_in_folder ? opendir(".") : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            (void)unlink(entry->d_name);
    if (dir)
        (void)closedir(dir);
}

void fuzz_end(void) {
    empty_folder();
    if (is_in_folder)
        (void)rmdir(folder);
}

/* --- the input -------------------------------------------------------------------------------- */

struct input {
    char *word[MAX_WORDS + 2];
    int n_words;
    char *file[MAX_FILES]; /* each begins with its name, and a newline */
    int n_files;
};

/* Commands that neither start programs nor take minutes by design, and nothing outside the folder. */
static bool is_harmless(const struct input *in) {
    static const char *const commands[] = {"run", "compare", "generate", "import", "list",
                                           "fit", "sweep",   "merge",    "--help", "--version"};
    for (int i = 1; i < in->n_words; i++)
        if (strchr(in->word[i], '/') || strstr(in->word[i], "--emit"))
            return false;
    for (size_t i = 0; in->n_words > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(in->word[1], commands[i]) == 0)
            return true;
    return false;
}

/* The text is cut into pieces, in place. */
static void split(struct input *in, char *text) {
    static char program[] = "gsim";
    for (char *mark = text; (mark = strstr(mark, MARK)) && in->n_files < MAX_FILES;) {
        *mark = '\0';
        in->file[in->n_files++] = mark += sizeof MARK - 1;
    }
    text[strcspn(text, "\n")] = '\0';
    in->word[in->n_words++] = program;
    for (char *word = strtok(text, " "); word && in->n_words <= MAX_WORDS; word = strtok(NULL, " "))
        in->word[in->n_words++] = word;
}

static void write_file(char *file, const char *end) {
    char *line_end = file + strcspn(file, "\n");
    if (*line_end == '\0' || line_end == file || file[0] == '.' || line_end - file > MAX_NAME)
        return;
    *line_end = '\0';
    FILE *out = strchr(file, '/') ? NULL : fopen(file, "wb");
    if (!out)
        return;
    (void)fwrite(line_end + 1, 1, (size_t)(end - line_end - 1), out);
    (void)fclose(out);
}

/* --- running it --------------------------------------------------------------------------------- */

static int run(struct input *in, char **said, size_t *n_said) {
    struct gsim_io io = {
        .out = fopen("/dev/null", "w"), .err = open_memstream(said, n_said), .stop = &stop};
    struct itimerval moment = {.it_value = {.tv_usec = MOMENT_US}}, never = {{0}, {0}};
    stop = 0;
    (void)setitimer(ITIMER_REAL, &moment, NULL);
    int code = io.out && io.err ? gsim_cli(in->n_words, in->word, &io) : 0;
    (void)setitimer(ITIMER_REAL, &never, NULL);
    if (io.err)
        (void)fclose(io.err);
    if (io.out)
        (void)fclose(io.out);
    return code;
}

/* Kept until the next input. */
static const char *said_so(const char *said) {
    static char text[512];
    (void)snprintf(text, sizeof text, "%s", said);
    return text;
}

/* A file may hold any bytes, but none comes after one with a NUL. */
const char *fuzz_one(const uint8_t *bytes, size_t n, int *code) {
    struct input in = {.n_words = 0};
    char *said = NULL, *text = malloc(n + 1);
    size_t n_said = 0;
    const char *wrong = NULL;
    *code = -1;
    if (!text)
        return NULL;
    memcpy(text, bytes, n);
    text[n] = '\0';
    split(&in, text);
    if (is_harmless(&in)) {
        for (int i = 0; i < in.n_files; i++)
            write_file(in.file[i],
                       i + 1 < in.n_files ? in.file[i + 1] - (sizeof MARK - 1) : text + n);
        *code = run(&in, &said, &n_said);
        if (*code < 0 || *code > 4)
            wrong = "an exit code that nobody documents";
        else if (*code != 0 && n_said == 0)
            wrong = "it failed without a word";
        else if (*code == GSIM_FAILED &&
                 (strstr(said, "broke a rule") || strstr(said, "does not settle")))
            wrong = said_so(said);
        empty_folder();
    }
    free(said);
    free(text);
    return wrong;
}
