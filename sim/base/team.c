/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/team.h"

#include <pthread.h>
#include <stdbool.h>

struct gsim_team {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t has_pieces, has_ended;
    pthread_t thread[GSIM_TEAM_MOST];
    int n_threads, n_wanted; /* beside the caller's */
    bool is_over;
    uint32_t n, next, n_done; /* pieces: of this loop, handed out, done */
    void (*work)(void *arg, uint32_t piece);
    void *arg;
};

struct gsim_team *gsim_team_new(int n_threads, struct gsim_arena *arena) {
    struct gsim_team *team = gsim_arena_alloc(arena, sizeof *team);
    if (!team)
        return NULL;
    (void)pthread_mutex_init(&team->lock, NULL);
    (void)pthread_cond_init(&team->has_pieces, NULL);
    (void)pthread_cond_init(&team->has_ended, NULL);
    team->n_wanted = n_threads < GSIM_TEAM_MOST ? n_threads - 1 : GSIM_TEAM_MOST - 1;
    return team;
}

/* Does pieces until none is left to hand out. The lock is held before and after. */
static void take_pieces(struct gsim_team *team) {
    while (team->next < team->n) {
        uint32_t piece = team->next++;
        (void)pthread_mutex_unlock(&team->lock);
        team->work(team->arg, piece);
        (void)pthread_mutex_lock(&team->lock);
        if (++team->n_done == team->n)
            (void)pthread_cond_signal(&team->has_ended);
    }
}

static void *stand_by(void *arg) {
    struct gsim_team *team = arg;
    (void)pthread_mutex_lock(&team->lock);
    while (!team->is_over) {
        take_pieces(team);
        if (!team->is_over)
            (void)pthread_cond_wait(&team->has_pieces, &team->lock);
    }
    (void)pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* Where the system gives fewer threads, these do the work. */
static void begin(struct gsim_team *team) {
    while (team->n_threads < team->n_wanted &&
           pthread_create(&team->thread[team->n_threads], NULL, stand_by, team) == 0)
        team->n_threads++;
    team->n_wanted = team->n_threads;
}

void gsim_team_do(struct gsim_team *team, uint32_t n, void (*work)(void *arg, uint32_t piece),
                  void *arg) {
    (void)pthread_mutex_lock(&team->lock);
    team->work = work;
    team->arg = arg;
    team->n = n;
    team->next = team->n_done = 0;
    begin(team);
    (void)pthread_cond_broadcast(&team->has_pieces);
    take_pieces(team);
    while (team->n_done < team->n)
        (void)pthread_cond_wait(&team->has_ended, &team->lock);
    (void)pthread_mutex_unlock(&team->lock);
}

void gsim_team_close(struct gsim_team *team) {
    if (!team)
        return;
    (void)pthread_mutex_lock(&team->lock);
    team->is_over = true;
    (void)pthread_cond_broadcast(&team->has_pieces);
    (void)pthread_mutex_unlock(&team->lock);
    while (team->n_threads > 0)
        (void)pthread_join(team->thread[--team->n_threads], NULL);
    (void)pthread_mutex_destroy(&team->lock);
    (void)pthread_cond_destroy(&team->has_pieces);
    (void)pthread_cond_destroy(&team->has_ended);
}
