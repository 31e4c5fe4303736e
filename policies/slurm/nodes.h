/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a job may have, when, and which it gets: fewest nodes, the lowest Weight, then the
 * node with the fewest free GPUs that has room, then the first. */
#ifndef GSIM_POLICIES_SLURM_NODES_H
#define GSIM_POLICIES_SLURM_NODES_H

#include "policies/slurm/state.h"

/* Reads the nodes and the windows of reservations. Expects the site's settings and origin_s. */
enum gsim_status gsim_slurm_nodes_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* The set of nodes that the job may have in the partition of its way, which is listed there, and
 * behind it, where there is more than one, a set for each choice of its constraint. false: no
 * memory. */
bool gsim_slurm_nodes_enter(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                            uint32_t listed, uint32_t n_choices, uint32_t *set);
/* The place of a name among the types of limits, counted from 1; 0: it is none of them. */
uint32_t gsim_slurm_nodes_type(const struct gsim_slurm *conf, const char *name);
/* Counts free GPUs anew, and opens all nodes. */
void gsim_slurm_nodes_look(struct gsim_slurm_state *state, const struct gsim_ctx *ctx);
/* No job starts on the nodes of the set until free GPUs are counted anew. */
void gsim_slurm_nodes_close(struct gsim_slurm_state *state, uint32_t set);
static inline bool gsim_slurm_nodes_is_closed(const struct gsim_slurm_state *state, uint32_t node) {
    return state->closed[node / 64] >> (node % 64) & 1;
}
/* Whether the free GPUs of nodes alone decide which node the job gets now. */
bool gsim_slurm_nodes_are_plain(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot);
/* Chooses the node for such a job; false: none has room. */
bool gsim_slurm_nodes_choose_plain(struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                                   uint32_t gpus);
/* Whether n nodes or more have that number of GPUs for the job now and until its limit; 0 GPUs: all
 * of a node's. Of jobs without shards. */
bool gsim_slurm_nodes_have_room(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot, uint32_t n, uint32_t gpus);
/* The most free GPUs of a node of the set. */
uint32_t gsim_slurm_nodes_most_free(const struct gsim_slurm_state *state, uint32_t set);
/* How many GPUs of a node the job could have from then on for as long as its limit. freed: by node,
 * what counts as free besides; NULL: none. */
uint32_t gsim_slurm_nodes_usable(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                 gsim_slot slot, uint32_t node, int64_t from_ns,
                                 const struct gsim_slurm_room *freed);
static inline void gsim_slurm_nodes_join(struct gsim_slurm_room *room,
                                         const struct gsim_slurm_room *more) {
    room->gpus += more->gpus;
    room->host.cpus_milli += more->host.cpus_milli;
    room->host.mem_bytes += more->host.mem_bytes;
}
/* How many GPUs the job could have of a room: CPUs and memory beside them may be fewer. */
static inline uint32_t gsim_slurm_nodes_fit(const struct gsim_slurm_job *job,
                                            const struct gsim_slurm_room *room) {
    int64_t n = room->gpus;
    if (job->way.each.cpus_milli > 0 && room->host.cpus_milli / job->way.each.cpus_milli < n)
        n = room->host.cpus_milli / job->way.each.cpus_milli;
    if (job->way.each.mem_bytes > 0 && room->host.mem_bytes / job->way.each.mem_bytes < n)
        n = room->host.mem_bytes / job->way.each.mem_bytes;
    return n > 0 ? (uint32_t)n : 0;
}
/* Of a job with shards, for which GPUs with shards in use have room too: 0, or the free whole GPUs
 * of a node's room by then and one. */
uint32_t gsim_slurm_nodes_fit_shards(const struct gsim_slurm_state *state,
                                     const struct gsim_ctx *ctx, const struct gsim_slurm_job *job,
                                     uint32_t node, const struct gsim_slurm_room *room,
                                     int64_t at_ns);
/* How many GPUs the job could have of a node's room by then. */
static inline uint32_t gsim_slurm_nodes_fit_at(const struct gsim_slurm_state *state,
                                               const struct gsim_ctx *ctx,
                                               const struct gsim_slurm_job *job, uint32_t node,
                                               const struct gsim_slurm_room *room, int64_t at_ns) {
    return job->share_ppm == 0 ? gsim_slurm_nodes_fit(job, room)
                               : gsim_slurm_nodes_fit_shards(state, ctx, job, node, room, at_ns);
}
/* Adds to a room, sign times, what a job has on that number of GPUs; of one with shards what it has
 * beside its GPU. */
void gsim_slurm_nodes_add(struct gsim_slurm_room *room, const struct gsim_slurm_job *job,
                          uint32_t gpus, int sign);
/* Books the nodes chosen as those where the job runs. false: no memory. */
bool gsim_slurm_nodes_take(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot);
/* Takes the job off its nodes; their GPUs are counted anew elsewhere. */
void gsim_slurm_nodes_leave(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot);
bool gsim_slurm_nodes_has(const struct gsim_slurm_state *state, uint32_t set, uint32_t node);
/* The first time from which on the node is in no window for as long as the job's limit, or a time
 * after last_ns that comes no later. */
int64_t gsim_slurm_nodes_clear(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                               gsim_slot slot, uint32_t node, int64_t from_ns, int64_t last_ns);
/* Finds out how a job may lie on the nodes of its way. false: they could not hold it if they were
 * empty; is_forced: memory that they lack does not count then. */
bool gsim_slurm_nodes_shape(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, bool is_forced);
/* Chooses the nodes that the job had when the log begins (column ran_on), of the site's file;
 * false: it arrives later, or they have no room. state->usable is written. */
bool gsim_slurm_nodes_choose_ran_on(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                    gsim_slot slot);
/* Chooses nodes for a job, by the GPUs that it could have of each (usable, by node), among n of
 * them, in any order, or among all (NULL): whole nodes and a part of one; for a job that nodes like
 * these could never hold so, any of them. */
bool gsim_slurm_nodes_choose_of(struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                                uint32_t gpus, const uint32_t *usable, const uint32_t *among,
                                uint32_t n);
static inline bool gsim_slurm_nodes_choose(struct gsim_slurm_state *state,
                                           const struct gsim_slurm_job *job, uint32_t gpus,
                                           const uint32_t *usable) {
    return gsim_slurm_nodes_choose_of(state, job, gpus, usable, NULL, state->n_nodes);
}
/* Adds a window to a node; plans that meet become one. false: no memory. */
bool gsim_slurm_nodes_plan(struct gsim_slurm_state *state, struct gsim_ctx *ctx, uint32_t node,
                           int64_t from_ns, int64_t to_ns, uint32_t reservation);
/* Drops all windows but those of reservations. */
void gsim_slurm_nodes_drop_plans(struct gsim_slurm_state *state, const struct gsim_ctx *ctx);
/* The next time after now at which a reservation begins or ends. */
int64_t gsim_slurm_nodes_next(const struct gsim_slurm_state *state, int64_t now_ns);

#endif
