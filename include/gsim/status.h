/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Status and error record. Library code never exits and never prints: it returns a status and
 * records the error, its place, and the accepted values in a log that the program prints. */
#ifndef GSIM_STATUS_H
#define GSIM_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values are the program's exit codes (CLI contract). */
enum gsim_status {
    GSIM_OK = 0,
    GSIM_FAILED = 1, /* a run failed: no memory, a full disk, a policy that broke a rule */
    GSIM_USAGE = 2, /* a wrong flag, key or value on the command line */
    GSIM_BAD_INPUT = 3, /* a trace, profile or cluster file that cannot be used */
    GSIM_INCOMPLETE = 4, /* interrupted: complete results were kept */
};

enum { GSIM_LOG_ENTRIES = 20, GSIM_LOG_TEXT = 480 };

struct gsim_log_entry {
    bool is_warning;
    char text[GSIM_LOG_TEXT]; /* "file:line: error; accepted values", no newline */
};

/* Keeps the first 20 errors and the first 20 warnings; counts all. Zero-initialise it. */
struct gsim_log {
    enum gsim_status status; /* of the first error */
    int64_t n_errors;
    int64_t n_warnings;
    struct gsim_log_entry errors[GSIM_LOG_ENTRIES];
    struct gsim_log_entry warnings[GSIM_LOG_ENTRIES];
};

/* Records an error. file may be NULL (no place), line 0 (the file as a whole). */
__attribute__((cold, format(printf, 5, 6))) void gsim_log_error(struct gsim_log *log,
                                                                enum gsim_status status,
                                                                const char *file, int64_t line,
                                                                const char *format, ...);
/* Like gsim_log_error, with the status as its value, so that callers can `return gsim_fail(...)`. A
 * macro, so that compilers and analysers see the value of the status. */
#define gsim_fail(log, status, ...)                                                                \
    (gsim_log_error((log), (status), __VA_ARGS__), (enum gsim_status)(status))
#define gsim_no_memory(log, what)                                                                  \
    gsim_fail((log), GSIM_FAILED, NULL, 0, "out of memory while %s", (what))
__attribute__((format(printf, 4, 5))) void gsim_warn(struct gsim_log *log, const char *file,
                                                     int64_t line, const char *format, ...);
/* Appends the entries of `from`; a warning that `into` already has is left out. */
void gsim_log_merge(struct gsim_log *into, const struct gsim_log *from);

#endif
