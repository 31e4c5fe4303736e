/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log: formats "file:line: text" once, where the error is found. */
#include "gsim/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/decimal.h"

static void entry_write(struct gsim_log_entry *entry, const char *file, int64_t line,
                        const char *format, va_list args) {
    int used = 0;
    if (file && line > 0)
        used = snprintf(entry->text, sizeof entry->text, "%s:%lld: ", file, (long long)line);
    else if (file)
        used = snprintf(entry->text, sizeof entry->text, "%s: ", file);
    if (used < 0 || (size_t)used >= sizeof entry->text)
        return; /* the name fills the entry: there is no room for the text */
    (void)gsim_decimal_print(entry->text + used, sizeof entry->text - (size_t)used, format, args);
}

void gsim_log_error(struct gsim_log *log, enum gsim_status status, const char *file, int64_t line,
                    const char *format, ...) {
    if (log->n_errors == 0)
        log->status = status;
    if (log->n_errors < GSIM_LOG_ENTRIES) {
        va_list args;
        va_start(args, format);
        entry_write(&log->errors[log->n_errors], file, line, format, args);
        va_end(args);
    }
    log->n_errors++;
}

void gsim_warn(struct gsim_log *log, const char *file, int64_t line, const char *format, ...) {
    if (log->n_warnings < GSIM_LOG_ENTRIES) {
        struct gsim_log_entry *entry = &log->warnings[log->n_warnings];
        entry->is_warning = true;
        va_list args;
        va_start(args, format);
        entry_write(entry, file, line, format, args);
        va_end(args);
    }
    log->n_warnings++;
}

static bool has_warning(const struct gsim_log *log, const char *text) {
    for (int64_t i = 0; i < log->n_warnings && i < GSIM_LOG_ENTRIES; i++)
        if (strcmp(log->warnings[i].text, text) == 0)
            return true;
    return false;
}

void gsim_log_merge(struct gsim_log *into, const struct gsim_log *from) {
    for (int64_t i = 0; i < from->n_errors && i < GSIM_LOG_ENTRIES; i++)
        gsim_log_error(into, from->status, NULL, 0, "%s", from->errors[i].text);
    for (int64_t i = 0; i < from->n_warnings && i < GSIM_LOG_ENTRIES; i++)
        if (!has_warning(into, from->warnings[i].text))
            gsim_warn(into, NULL, 0, "%s", from->warnings[i].text);
}
