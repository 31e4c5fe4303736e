/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE 1 /* struct winsize */
#include "sim/app/live/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "gsim/arena.h"
#include "sim/app/cli/language.h"
#include "sim/app/live/draw.h"

/* Intervals of the view: on a terminal as often as the progress bar, at which a reader can still
 * follow the numbers; in a log a few lines a minute. A terminal that does not tell its size is
 * 80 x 24, as the first ones were. */
enum { DRAW_MS = 100, SAY_MS = 10000, COLUMNS = 80, ROWS = 24, MOST_SHOWN = 64, NOTE = 128 };

struct gsim_live {
    struct gsim_arena *arena;
    FILE *err;
    bool is_terminal, is_over;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below, and of the faces that runs have handed over */
    pthread_cond_t is_end;
    atomic_uint question; /* counts up: a run answers each new value with a face */
    struct gsim_live_seat *first, *last;
    uint32_t n_runs;
    char note[NOTE];
    struct gsim_live_face ended; /* the run that was taken out last; without jobs: none was */
    struct gsim_live_face faces[MOST_SHOWN];
    int n_lines; /* on the terminal */
};

/* --- runs ------------------------------------------------------------------------------------- */

void gsim_live_enter(struct gsim_live *live, struct gsim_live_seat *seat,
                     const struct gsim_live_face *face) {
    (void)pthread_mutex_lock(&live->lock);
    *seat = (struct gsim_live_seat){.shown = *face, .before = live->last};
    *(live->last ? &live->last->next : &live->first) = seat;
    live->last = seat;
    live->n_runs++;
    (void)pthread_mutex_unlock(&live->lock);
}

void gsim_live_leave(struct gsim_live *live, struct gsim_live_seat *seat) {
    (void)pthread_mutex_lock(&live->lock);
    *(seat->before ? &seat->before->next : &live->first) = seat->next;
    *(seat->next ? &seat->next->before : &live->last) = seat->before;
    live->n_runs--;
    live->ended = seat->shown;
    (void)pthread_mutex_unlock(&live->lock);
}

bool gsim_live_is_asked(struct gsim_live *live, struct gsim_live_seat *seat) {
    unsigned question = atomic_load_explicit(&live->question, memory_order_relaxed);
    bool is_asked = question != seat->answered;
    seat->answered = question;
    return is_asked;
}

void gsim_live_hand_over(struct gsim_live *live, struct gsim_live_seat *seat,
                         const struct gsim_live_face *face) {
    (void)pthread_mutex_lock(&live->lock);
    seat->shown = *face;
    (void)pthread_mutex_unlock(&live->lock);
}

void gsim_live_note(struct gsim_live *live, const char *text) {
    (void)pthread_mutex_lock(&live->lock);
    snprintf(live->note, sizeof live->note, "%s", text);
    (void)pthread_mutex_unlock(&live->lock);
}

/* --- the thread that shows them --------------------------------------------------------------- */

static uint32_t gather(struct gsim_live *live) {
    uint32_t n = 0;
    for (const struct gsim_live_seat *seat = live->first; seat && n < MOST_SHOWN; seat = seat->next)
        live->faces[n++] = seat->shown;
    return n;
}

static void wipe(struct gsim_live *live) {
    if (live->n_lines > 0)
        fprintf(live->err, "\033[%dA\033[J", live->n_lines);
    live->n_lines = 0;
}

static void draw(struct gsim_live *live) {
    struct winsize size = {0};
    int file = fileno(live->err);
    bool is_known = file >= 0 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
    struct gsim_live_page page = {.note = live->note,
                                  .faces = live->faces,
                                  .n_shown = gather(live),
                                  .n = live->n_runs,
                                  .columns = is_known ? size.ws_col : COLUMNS,
                                  .rows = is_known ? size.ws_row : ROWS};
    wipe(live);
    live->n_lines = gsim_live_draw(live->err, &page);
}

static void say(struct gsim_live *live) {
    if (*live->note)
        fprintf(live->err, "gsim: %s\n", live->note);
    uint32_t n = gather(live);
    for (uint32_t i = 0; i < n; i++)
        gsim_live_say(live->err, &live->faces[i]);
    if (live->is_over && n == 0 && live->ended.n_jobs > 0)
        gsim_live_say(live->err, &live->ended);
}

static void show(struct gsim_live *live) {
    if (!live->is_terminal)
        say(live);
    else if (!live->is_over)
        draw(live);
    else
        wipe(live);
    (void)fflush(live->err);
}

static void wait(struct gsim_live *live, int64_t ms) {
    enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / MS_PER_S;
    until.tv_nsec += ms % MS_PER_S * NS_PER_MS;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    (void)pthread_cond_timedwait(&live->is_end, &live->lock, &until);
}

static void *show_runs(void *arg) {
    struct gsim_live *live = arg;
    void *language = gsim_language_begin();
    (void)pthread_mutex_lock(&live->lock);
    while (!live->is_over) {
        (void)atomic_fetch_add(&live->question, 1);
        wait(live, live->is_terminal ? DRAW_MS : SAY_MS);
        if (!live->is_over)
            show(live);
    }
    show(live);
    (void)pthread_mutex_unlock(&live->lock);
    gsim_language_end(language);
    return NULL;
}

/* --- the view --------------------------------------------------------------------------------- */

struct gsim_live *gsim_live_begin(FILE *err, bool is_terminal) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_live *live = arena ? gsim_arena_alloc(arena, sizeof *live) : NULL;
    if (!live) {
        gsim_arena_free(arena);
        return NULL;
    }
    live->arena = arena;
    live->err = err;
    live->is_terminal = is_terminal;
    (void)pthread_mutex_init(&live->lock, NULL);
    (void)pthread_cond_init(&live->is_end, NULL);
    if (pthread_create(&live->thread, NULL, show_runs, live) == 0)
        return live;
    gsim_arena_free(arena);
    return NULL;
}

void gsim_live_end(struct gsim_live *live) {
    if (!live)
        return;
    (void)pthread_mutex_lock(&live->lock);
    live->is_over = true;
    (void)pthread_cond_signal(&live->is_end);
    (void)pthread_mutex_unlock(&live->lock);
    (void)pthread_join(live->thread, NULL);
    (void)pthread_cond_destroy(&live->is_end);
    (void)pthread_mutex_destroy(&live->lock);
    gsim_arena_free(live->arena);
}
