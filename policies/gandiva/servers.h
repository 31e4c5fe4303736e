/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gandiva's servers: which jobs are allotted to which server, their turns there, and the moves
 * between servers. Source: Xiao et al., "Gandiva: Introspective Cluster Scheduling for Deep
 * Learning", OSDI 2018, sections 3 and 4. A server is a node; in the variants, which copy
 * simulators that know no nodes, the cluster as a whole is the only server. */
#ifndef GSIM_POLICIES_GANDIVA_SERVERS_H
#define GSIM_POLICIES_GANDIVA_SERVERS_H

#include "policies/lib/settings.h"
#include "policies/lib/slices.h"
#include "policies/lib/eviction.h"
#include "policies/lib/misfits.h"
#include "policies/lib/random.h"
#include "policies/lib/taken.h"
#include "sim/base/bitset.h"
#include "sim/base/index.h"

/* GPUs of a job on one server. */
struct gsim_gandiva_part {
    uint32_t server, gpus;
    uint32_t number; /* of a gang that waits or runs on several servers: its place in a line */
};

enum gsim_turn_list {
    GSIM_TURN_NONE = 0, /* on its way to GPUs or from them */
    GSIM_TURN_LINE, /* waits on its server */
    GSIM_TURN_RUNS,
    GSIM_TURN_WIDE_LINE, /* waits for GPUs of several servers */
    GSIM_TURN_WIDE_RUNS, /* runs on several servers */
    GSIM_TURN_UNPLACED, /* no server that is up can hold it */
};

/* The part of the state of a job that servers need; the first member of the policy's. */
struct gsim_gandiva_turn {
    gsim_slot before, after; /* in its list, which is in order of since_ns */
    int64_t since_ns; /* when the job began to wait, or when its slice began */
    /* on the server that it is allotted to, in waits that are over, less what of the wait under way
     * was elsewhere */
    int64_t waited_ns;
    /* it has been pushed out, and pushes out no other job before this time */
    int64_t rests_until_ns;
    struct gsim_gandiva_part *parts; /* NULL: `only` */
    uint32_t n_parts; /* 0: it is allotted to no server */
    struct gsim_gandiva_part only;
    uint32_t next_gpus; /* while jobs grow: on how many it will be */
    uint8_t list; /* enum gsim_turn_list */
    bool is_stopping; /* while a plan looks for GPUs: it is a victim already */
    bool is_leaving; /* it has been pushed out, and is on its way off its GPUs */
    bool is_guest; /* runs on GPUs that a job which waits longer has claimed */
};

struct gsim_turns_list {
    gsim_slot first, last;
    uint32_t n;
};

/* A pass over the line of a server: the facts about its jobs that cannot be placed. */
struct gsim_line_pass {
    struct gsim_misfits misfits;
    uint32_t smallest_unforced; /* the smallest gang that lacks GPUs even by force */
    gsim_slot next; /* the job that is looked at next; GSIM_NO_SLOT: the pass is over */
};

struct gsim_server {
    struct gsim_turns_list line, running;
    struct gsim_line_pass at;
    gsim_slot next_due; /* the first of `running` with a slice that was not over at the last look */
    uint32_t n_gpus;
    uint32_t affinity; /* the size of the gang that found it empty; 0: it is empty */
    int64_t load_ppm; /* GPUs of the jobs allotted to it, in shares */
    int64_t waiting_gpus; /* GPUs for which its line waits */
    int64_t wanted; /* while jobs shrink: GPUs that are to be idle here */
    uint32_t n_wide_waiting, n_wide_running, n_guests, n_pairs;
    uint64_t pass; /* the last one over lines of servers that has come here */
    gsim_slot claimant; /* the job that has waited too long for another job to push out any here */
    bool is_up;
    bool is_dirty; /* its lines are to be served */
    bool has_placed; /* a job, in this decide */
    bool is_changed; /* it stands in `changed`, each of which is looked at when a decide ends */
    bool is_touched; /* it stands in `touched` */
    uint32_t next_part; /* while gangs of several servers are served: the next that is looked at */
};

/* Gangs of several servers, in a line of each of them. */
struct gsim_wide_lines {
    /* numbers of parts, one server after the other, each in the order of since_ns; those that wait
     * are sized by their GPUs */
    struct gsim_index waiting, running;
    gsim_slot *job; /* by number; of a number that is not used, the next such number */
    uint32_t unused, n_numbers, capacity;
    /* servers without a claim by the first gang that waits there, or by a job that has waited
     * longer, by when to look whether a gang claims them; more servers than these at times */
    struct gsim_index unclaimed;
    /* while gangs are served: servers by the gang that is looked at next on each, and the time and
     * arrival behind the gang that was looked at last */
    struct gsim_index next;
    int64_t since_ns;
    uint64_t nth;
};

struct gsim_servers {
    /* Settings, before gsim_servers_init. */
    int64_t slice_ns;
    bool is_one; /* the cluster as a whole is the only server */
    bool scatters; /* a gang that cannot be placed by its rule takes any idle GPUs */
    bool is_balancing; /* waiting jobs move between servers */
    bool is_packing; /* jobs of one GPU may be packed */
    struct gsim_preemption preemption;
    bool (*yields)(const struct gsim_ctx *ctx, gsim_slot victim); /* NULL: always */
    /* Told which job was placed last, and where the plan stood before; may undo that to place the
     * job with others. NULL: nothing to do. */
    void (*placed)(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t mark);
    /* Told which job is being stopped, or has come to its GPUs or left them. NULL: none is told. */
    void (*profile)(const struct gsim_ctx *ctx, gsim_slot slot);

    enum gsim_rule rule;
    int64_t patience;
    struct gsim_server *of;
    uint32_t n;
    struct gsim_index loads; /* servers that are up, by load */
    struct gsim_index *akin; /* servers that are up, by affinity and load */
    struct gsim_index timed; /* servers by when they want to look again */
    /* jobs in the lines of servers, one server after the other, sized by their GPUs: it tells a
     * job's place in its line, and the next job that is narrow enough */
    struct gsim_index lines;
    struct gsim_index scattered; /* gangs of several servers that are off their GPUs, not in line */
    uint32_t *dirty, n_dirty, *changed, n_changed;
    struct gsim_bitset served; /* the servers of which the lines are being served */
    uint32_t idle_elsewhere; /* GPUs that the other ones leave idle */
    uint32_t *touched, n_touched; /* since a gang of several servers was served */
    struct gsim_wide_lines wide;
    struct gsim_turns_list wide_line, wide_running, unplaced;
    uint32_t n_waiting; /* in lines, the wide one included */
    uint32_t n_leaving; /* pushed out, and not in line yet */
    uint32_t *n_of_width; /* jobs that wait, by GPUs; the last entry: as many or more */
    uint32_t widths;
    uint32_t n_failures, n_repairs; /* failures and repairs booked so far */
    bool has_freed; /* a job has ended or a node has come back since the last balancing */
    int64_t pays_ns; /* when a move to GPUs that are idle now will begin to pay */
    uint64_t n_passes; /* over the lines of servers, in search of jobs for idle GPUs */
    uint32_t mark; /* where the plan stood before the last placement */
    struct gsim_eviction eviction;
    struct gsim_taken taken;
};

static inline struct gsim_gandiva_turn *gsim_turn_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}
static inline const struct gsim_gandiva_part *
gsim_turn_parts(const struct gsim_gandiva_turn *turn) {
    return turn->parts ? turn->parts : &turn->only;
}

/* Whether the job asks for one GPU, and all of it. */
static inline bool gsim_turn_is_single(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.gpus[slot] == 1 && ctx->view->jobs.share_ppm[slot] == GSIM_PPM;
}

/* A server, a time and an arrival in one number of 128 bits, 32 of server, 63 of time, 32 of
 * arrival: the place of a job in the line of a server. */
struct gsim_turn_place {
    int64_t key;
    uint64_t tie;
};
static inline struct gsim_turn_place gsim_turn_place(uint32_t server, int64_t since_ns,
                                                     uint64_t nth) {
    uint64_t since = (uint64_t)since_ns;
    return (struct gsim_turn_place){(int64_t)((uint64_t)server << 32 | since >> 31),
                                    (since & INT32_MAX) << 32 | nth};
}

/* Whether job a has waited longer than b, or come before it in the trace. */
static inline bool gsim_turn_is_older(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b) {
    int64_t since_a = gsim_turn_of(ctx, a)->since_ns, since_b = gsim_turn_of(ctx, b)->since_ns;
    return since_a != since_b ? since_a < since_b : gsim_nth(ctx->view, a) < gsim_nth(ctx->view, b);
}

/* --- servers.c: servers, their loads and lists ------------------------------------ */

enum gsim_status gsim_servers_init(struct gsim_servers *servers, struct gsim_ctx *ctx);
/* Books the changes since the last decide, and allots waiting jobs of nodes that are down anew. */
void gsim_servers_book(struct gsim_servers *servers, struct gsim_ctx *ctx);
void gsim_servers_completed(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot);
/* The server is to be looked at in this decide. */
void gsim_servers_touch(struct gsim_servers *servers, uint32_t server);
/* Puts the job into a list, at the place of its since_ns, and takes it out of its list. */
void gsim_servers_enlist(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                         enum gsim_turn_list list);
/* The first job from this one on, in its line, that asks for most_gpus or fewer. */
gsim_slot gsim_servers_narrow(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                              gsim_slot slot, int64_t most_gpus);
/* Rounds in which the jobs of a server have a turn each, with a further load of more_ppm. */
int64_t gsim_server_height(const struct gsim_server *server, int64_t more_ppm);
int64_t gsim_servers_need_ppm(const struct gsim_ctx *ctx, gsim_slot slot);
/* Whether the server could run the job if it were empty. */
bool gsim_servers_can_hold(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                           uint32_t server, gsim_slot slot);
/* Allots the job to the least loaded server, or to several, and puts it in line there. */
void gsim_servers_allot(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_servers_allot_to(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                           uint32_t server);
/* The plan has placed or moved the job: it is allotted to where it is now. */
void gsim_servers_note_units(struct gsim_servers *servers, struct gsim_ctx *ctx,
                             const struct gsim_plan *plan, gsim_slot slot);
static inline uint32_t gsim_servers_idle(const struct gsim_servers *servers,
                                         const struct gsim_view *view, uint32_t server) {
    return servers->is_one ? view->cluster.n_idle_gpus : gsim_node_idle_gpus(view, server);
}

/* Places the job on any idle GPUs of the cluster, by the rule, else scattered. */
bool gsim_servers_place_anywhere(struct gsim_servers *servers, struct gsim_ctx *ctx,
                                 struct gsim_plan *plan, gsim_slot slot);
/* After a placement: takes the job out of the line, and allots it to where it is. */
void gsim_servers_has_placed(struct gsim_servers *servers, struct gsim_ctx *ctx,
                             struct gsim_plan *plan, gsim_slot slot);
/* The job may run on its servers at once, so that these are looked at again a slice from now. */
void gsim_servers_is_coming(struct gsim_servers *servers, const struct gsim_ctx *ctx,
                            gsim_slot slot);
/* Takes the job out of the list of running jobs, after the plan has stopped it to be moved, or has
 * pushed it out. */
void gsim_servers_has_stopped(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_servers_is_pushed_out(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot);
/* Whether no job waits for GPUs, and none is on its way off its own to do so. */
bool gsim_servers_suffice(const struct gsim_servers *servers);

/* --- claims.c: servers claimed by jobs that have waited long --------------- */

/* When the job claims its servers; GSIM_NEVER: it does not. */
int64_t gsim_claims_at_ns(const struct gsim_servers *servers, const struct gsim_gandiva_turn *turn);
bool gsim_claims_now(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                     gsim_slot slot);
/* Whether a job that has waited longer than this one has claimed the server. */
bool gsim_claims_before(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                        uint32_t server, gsim_slot slot);
/* So on one of its servers: it pushes out no other job. */
bool gsim_claims_keep_out(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                          gsim_slot slot);
/* Claims those servers of the job that no job claims which has waited longer. */
void gsim_claims_make(struct gsim_servers *servers, const struct gsim_ctx *ctx, gsim_slot slot);
/* The claims of a job that does not wait any more end. */
void gsim_claims_end(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot);
/* A gang that waits there may claim the server. */
void gsim_claims_may_be(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server);

/* --- wide.c: lines of gangs of several servers ----------------------------- */

void gsim_wide_init(struct gsim_servers *servers, struct gsim_arena *arena);
/* The gang stands in this line of each of its servers. */
void gsim_wide_enter(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot,
                     struct gsim_index *line);
void gsim_wide_leave(struct gsim_servers *servers, const struct gsim_gandiva_turn *turn,
                     struct gsim_index *line);
/* The first gang of the server that runs since this time or later, and the one behind; GSIM_NO_ID:
 * there is none. */
uint32_t gsim_wide_running_since(const struct gsim_servers *servers, uint32_t server,
                                 int64_t since_ns);
uint32_t gsim_wide_running_after(const struct gsim_servers *servers, uint32_t server,
                                 uint32_t part);
/* Gangs that wait and for which a touched server may do something, the one that has waited longest
 * first: each once. After gsim_wide_begin, until GSIM_NO_SLOT. */
void gsim_wide_begin(struct gsim_servers *servers, struct gsim_ctx *ctx);
gsim_slot gsim_wide_next(struct gsim_servers *servers, struct gsim_ctx *ctx);

/* --- turns.c: turns on a server ------------------------------------------- */

/* When the job is due to give way; GSIM_NEVER when it does not run. */
int64_t gsim_turn_end_ns(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                         gsim_slot slot);
/* Serves the lines of all touched servers, and sets when to look again. */
void gsim_servers_serve(struct gsim_servers *servers, struct gsim_ctx *ctx, struct gsim_plan *plan);

/* --- moves.c: moves between servers --------------------------------------- */

/* The way by which a running job is moved. */
struct gsim_preemption gsim_servers_way(const struct gsim_servers *servers);
/* As gsim_plan_move, by that way. */
bool gsim_servers_move(const struct gsim_servers *servers, struct gsim_plan *plan, gsim_slot slot,
                       const struct gsim_shape *shape);
/* Waiting jobs go to idle GPUs of other servers where that pays. */
void gsim_servers_use_idle(struct gsim_servers *servers, struct gsim_ctx *ctx,
                           struct gsim_plan *plan);
/* Waiting jobs of the most loaded server are allotted to the least loaded one where that pays. */
void gsim_servers_balance(struct gsim_servers *servers, struct gsim_ctx *ctx);
/* Moves one running gang to fewer nodes, if any can be moved; one gang a decide: the next one may
 * need the GPUs that it leaves. */
bool gsim_servers_gather(struct gsim_servers *servers, struct gsim_ctx *ctx,
                         struct gsim_plan *plan);

struct gsim_growth {
    int64_t after_ns; /* how long no job must have waited or come */
    int64_t calm_ns; /* since when no job has waited or come */
    bool is_short; /* jobs waited as the last decide ended: they have until this one */
};
/* While a job waits: jobs with more GPUs than they asked for give them back. Before any is
 * placed. */
void gsim_servers_shrink(struct gsim_servers *servers, struct gsim_ctx *ctx,
                         struct gsim_plan *plan);
/* While no job waits: jobs that could use idle GPUs beside their own get as many again. Sets the
 * timer, which servers leave alone while no job waits. */
void gsim_servers_grow(struct gsim_growth *growth, struct gsim_servers *servers,
                       struct gsim_ctx *ctx, struct gsim_plan *plan);

/* --- pairs.c: packing ----------------------------------------------------- */

struct gsim_pair {
    gsim_slot member[2]; /* GSIM_NO_SLOT: the job has left */
    uint32_t gpu;
    int64_t since_ns, work_ns[2]; /* since when both run, and the work that each had done by then */
    bool joins_later; /* the second job is still on its way off the GPU */
    bool is_over; /* both jobs are told to leave */
};

struct gsim_pairs {
    struct gsim_servers *servers;
    struct gsim_pair *of;
    uint32_t n;
    struct gsim_random random;
    bool is_on, is_spatial;
    /* as in the paper: jobs are profiled; else partners are drawn at random */
    bool is_introspective;
    bool is_hopeless; /* no column says that GPUs idle: no job is packed where slices are free */
    bool have_costs; /* a slice of some job that has come costs time */
};

/* The facts about a job that packing goes by. */
struct gsim_packable {
    uint32_t friend; /* the slot of the job with which packing paid + 1; 0: none */
    uint32_t foe; /* the job with which packing last did not pay: its place in the trace + 1 */
    uint8_t n_foes;
    bool is_packed;
    int64_t busy_ns, ran_ns; /* alone, so far */
    int64_t seen_busy_ns, seen_ran_ns; /* its counters when it was last asked */
};

struct gsim_gandiva_job {
    struct gsim_gandiva_turn turn; /* first */
    struct gsim_packable packable;
};

enum gsim_status gsim_pairs_init(struct gsim_pairs *pairs, struct gsim_ctx *ctx);
/* After servers have booked, before they serve: pairs end, are renewed and taken apart. */
void gsim_pairs_keep(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan);
/* After servers have served: jobs may wait now that have just come, and no end of a slice is to
 * follow. */
void gsim_pairs_end_slices(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan);
/* The job has got its turn on one GPU: packs another with it if there is one. mark: before it was
 * placed. */
bool gsim_pairs_pack(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot, uint32_t mark);
void gsim_pairs_profile(const struct gsim_ctx *ctx, gsim_slot slot);
void gsim_pairs_completed(struct gsim_pairs *pairs, const struct gsim_ctx *ctx, gsim_slot slot);

#endif
