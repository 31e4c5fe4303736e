/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/cli/progress.h"

#include <string.h>
#include <time.h>

#include "sim/study/output.h"

/* The interval at which a reader can still follow the numbers. */
static const double show_every_s = 0.1;

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void gsim_progress_begin(struct gsim_progress_bar *bar, const struct gsim_cli *cli,
                         const char *what, int64_t n) {
    bool is_terminal = cli->io->is_err_terminal;
    bool is_heard = !gsim_option_is_on(cli, GSIM_OPT_QUIET) && n > 0;
    *bar = (struct gsim_progress_bar){.what = what, .n = n, .begin_s = now_s()};
    (void)pthread_mutex_init(&bar->lock, NULL);
    if (is_heard && gsim_option_is_on(cli, GSIM_OPT_LIVE))
        bar->live = gsim_live_begin(cli->io->err, is_terminal);
    if (is_heard && is_terminal && !bar->live)
        bar->err = cli->io->err;
}

bool gsim_progress_is_shown(const struct gsim_progress_bar *bar) {
    return bar && (bar->err || bar->live);
}

/* Writes the time left, "12.3 min left", or "less than 1 s left"; a plus follows the time if part
 * of it is unknown. */
static void format_left(const struct gsim_progress_bar *bar, double now, char text[48]) {
    bool is_least = false;
    double share = (double)(bar->n - bar->n_done) / (double)bar->n_done;
    if (bar->share_left)
        share = bar->share_left(bar->arg, &is_least);
    double seconds = share * (now - bar->begin_s);
    *text = '\0';
    if (share < 0)
        return;
    if (seconds < 1 && !is_least)
        strcpy(text, "less than 1 s left");
    else
        strcpy(text + gsim_format_humane(text, seconds), is_least ? "+ left" : " left");
}

/* " slurm, srtf", as many as have room; nothing where no run has a name. */
static void format_running(const struct gsim_progress_bar *bar, char *text, size_t size) {
    size_t n = 0;
    *text = '\0';
    for (int i = 0; i < bar->n_running && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%.12s", i ? ", " : " ", bar->running[i]);
}

static void show(struct gsim_progress_bar *bar, double now) {
    enum { WIDTH = 30 };
    int filled = (int)(bar->n_done * WIDTH / bar->n);
    char text[WIDTH + 1], left[48] = "", running[64], line[160];
    memset(text, '-', WIDTH);
    memset(text, '#', (size_t)filled);
    text[WIDTH] = '\0';
    if (bar->n_done > 0)
        format_left(bar, now, left);
    format_running(bar, running, sizeof running);
    snprintf(line, sizeof line, "%.16s[%s] %lld/%lld%s %.20s", bar->what, text,
             (long long)bar->n_done, (long long)bar->n, running, left);
    if (bar->live) {
        gsim_live_note(bar->live, line);
        return;
    }
    fprintf(bar->err, "\r%s\033[K", line);
    (void)fflush(bar->err);
}

/* Once the last run has begun, the next change may be long to come: each is shown. */
static void show_at_times(struct gsim_progress_bar *bar) {
    double now = now_s();
    if (now < bar->shown_s + show_every_s && bar->n_done < bar->n && bar->n_begun < bar->n)
        return;
    bar->shown_s = now;
    show(bar, now);
}

void gsim_progress_set(struct gsim_progress_bar *bar, int64_t n_done) {
    if (!gsim_progress_is_shown(bar))
        return;
    bar->n_done = n_done;
    show_at_times(bar);
}

void gsim_progress_start(struct gsim_progress_bar *bar, const char *name) {
    if (!gsim_progress_is_shown(bar))
        return;
    (void)pthread_mutex_lock(&bar->lock);
    bar->n_begun++;
    if (bar->n_running < GSIM_PROGRESS_NAMED)
        bar->running[bar->n_running++] = name;
    show_at_times(bar);
    (void)pthread_mutex_unlock(&bar->lock);
}

/* A run that began when there was no room for its name leaves none. */
static void strike(struct gsim_progress_bar *bar, const char *name) {
    int at = 0;
    while (at < bar->n_running && bar->running[at] != name)
        at++;
    if (at == bar->n_running)
        return;
    for (bar->n_running--; at < bar->n_running; at++)
        bar->running[at] = bar->running[at + 1];
}

void gsim_progress_add(struct gsim_progress_bar *bar, const char *name) {
    if (!gsim_progress_is_shown(bar))
        return;
    (void)pthread_mutex_lock(&bar->lock);
    strike(bar, name);
    bar->n_done++;
    show_at_times(bar);
    (void)pthread_mutex_unlock(&bar->lock);
}

void gsim_progress_end(struct gsim_progress_bar *bar) {
    if (bar->err)
        fputs("\r\033[K", bar->err);
    gsim_live_end(bar->live);
    bar->err = NULL;
    bar->live = NULL;
}
