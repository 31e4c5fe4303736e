/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands of gsim for a tool of valgrind to count (tests/cli/growth.sh): to start it, and to have it
 * translate what all commands pass through, takes longer than most of them. A line of standard input
 * is a file for the output of a command, and the words of the command, between tabs. The first one is
 * run, so that the tool knows the program; each of the others has a process of its own, with the
 * memory of that moment, at whose end the tool says what it counted. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/app/cli/cli.h"

enum { MOST_WORDS = 32, LINE_BYTES = 4096 };

static int command(char *line) {
    char *words[MOST_WORDS + 1] = {"gsim"}, *path = strtok(line, "\t\n");
    int n = 1;
    while (n < MOST_WORDS && (words[n] = strtok(NULL, "\t\n")))
        n++;
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return 1;
    struct gsim_io io = {.out = out, .err = out};
    int code = gsim_cli(n, words, &io);
    return fclose(out) != 0 || code != 0;
}

static int apart(char *line) {
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(command(line));
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

int main(void) {
    char line[LINE_BYTES];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    int failed = command(line);
    while (fgets(line, sizeof line, stdin))
        failed |= apart(line);
    return failed;
}
