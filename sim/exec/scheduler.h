/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scheduler that is another program: lines go to its standard input, and each is answered by a
 * line on its standard output. */
#ifndef GSIM_EXEC_SCHEDULER_H
#define GSIM_EXEC_SCHEDULER_H

#include <stdint.h>
#include <sys/types.h>

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_scheduler {
    const char *command;
    int64_t timeout_ns; /* of an answer */
    struct gsim_arena *arena;
    pid_t pid; /* 0: it does not run */
    int to, from;
    char *answer; /* what it wrote so far */
    size_t n_answer, capacity;
};

/* The words of a command: separated by blanks, 'of several' or "of several" words where quoted.
 * Ends with NULL; NULL: the log says why. */
char **gsim_scheduler_words(const char *command, struct gsim_arena *arena, struct gsim_log *log);
/* Starts the program, without a shell. command, timeout_ns and arena are set. */
enum gsim_status gsim_scheduler_start(struct gsim_scheduler *scheduler, struct gsim_log *log);
/* Sends a line, which ends with a newline, and waits for the answer, which *answer shows without
 * its newline until the next question. */
enum gsim_status gsim_scheduler_ask(struct gsim_scheduler *scheduler, const char *line,
                                    size_t length, const char **answer, struct gsim_log *log);
/* Ends the program: the end of its input asks it to, and a signal does. */
void gsim_scheduler_end(struct gsim_scheduler *scheduler);

#endif
