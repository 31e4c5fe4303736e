/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/turn_memory.h"

#include "gsim/units.h"
#include "sim/base/hints.h"
#include "models/gpu/progress.h"

/* Logs how much memory of each member is resident, after some of it has moved: what one lane brings
 * in may push out memory of another. */
static void tell_residency(const struct gsim_lane_gpu *gpu, int64_t now_ns) {
    for (uint16_t place = 0; gpu->spans && place < gpu->n_places; place++) {
        const struct gsim_member *member = &gpu->members[place];
        if (member->is_present)
            gsim_slice_log_tell(gpu->spans, GSIM_SPAN_RESIDENT, member->how.job, now_ns, now_ns,
                                gsim_pager_resident_bytes(gpu->store, &member->tenant));
    }
}

int64_t gsim_turn_migrate(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                          bool is_planned, int64_t now_ns) {
    struct gsim_next_turn turns[GSIM_CONTEXTS_MAX];
    uint16_t place = lane->state.at, n = 0;
    do {
        struct gsim_member *member = &gpu->members[lane->spec.member[place]];
        member->tenant.whole.is_on = false; /* what was there before its sweep is there no more */
        if (!gsim_context_is_done(&member->context)) /* else it has no turn to come */
            turns[n++] = (struct gsim_next_turn){
                &member->tenant, gsim_gpu_lane_quantum_ns(lane, member),
                member->context.spec.gpu_ns, gsim_work_to_ns(member->context.done),
                gsim_context_is_in_last(&member->context)};
        place = (uint16_t)(place + 1 == lane->spec.n ? 0 : place + 1);
    } while (place != lane->state.at);
    struct gsim_store_move move = gsim_pager_switch(gpu->store, turns, n, is_planned, now_ns);
    const struct gsim_member *member = gsim_gpu_lane_present(gpu, lane);
    if (move.bytes_out > 0)
        gsim_slice_log_tell(gpu->spans, GSIM_SPAN_COPY_OUT, member->how.job, move.begins_ns,
                            move.ends_ns, move.bytes_out);
    if (move.bytes_in > 0)
        gsim_slice_log_tell(gpu->spans, GSIM_SPAN_COPY_IN, member->how.job, move.begins_ns,
                            move.ends_ns, move.bytes_in);
    tell_residency(gpu, move.begins_ns);
    return gsim_gang_memory_switch(gpu->gang, &turns[0], now_ns, move.starts_ns);
}

void gsim_turn_lengthen(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                        int64_t now_ns) {
    bool is_switching = lane->state.phase == GSIM_LANE_SWITCHING;
    if (lane->spec.n == 0 || !(is_switching || lane->state.phase == GSIM_LANE_RUNNING) ||
        !gsim_turn_ends_with_kernel(gpu, lane))
        return;
    int64_t from_ns = is_switching ? lane->times.switched_ns : now_ns;
    int64_t begins_ns = gsim_turn_migrate(gpu, lane, true, from_ns);
    if (is_switching)
        lane->marks.next_ns = lane->times.switched_ns = begins_ns;
    else
        gsim_gpu_lane_present(gpu, lane)->state.stall_ns += begins_ns - from_ns;
}

/* Memory was moved ahead for the kernels of a quantum. A turn that goes on past that, since no
 * other member is ready, or was when that quantum was over, has more moved, as for a turn of its
 * own; returns how long the part is that is touched now. */
GSIM_APART static int64_t move_for_more(const struct gsim_lane_gpu *gpu,
                                        const struct gsim_gpu_lane *lane,
                                        struct gsim_member *member, int64_t left_ns,
                                        int64_t now_ns) {
    int64_t quantum_ns = gsim_gpu_lane_quantum_ns(lane, member);
    bool goes_on = left_ns == GSIM_NEVER ||
                   (left_ns > 0 && now_ns - lane->marks.quantum_start_ns >= quantum_ns &&
                    gsim_pager_is_before_kernel(gpu->store, &member->tenant));
    if (gsim_pager_has_all(gpu->store, &member->tenant) || quantum_ns == 0 || !goes_on)
        return left_ns;
    int64_t start_ns = lane->marks.quantum_start_ns;
    /* for which memory has been moved; as an iteration begins more is */
    bool is_within = now_ns == start_ns ||
                     (now_ns - start_ns < quantum_ns && gsim_context_swept(&member->context) > 0);
    if (!is_within)
        member->state.stall_ns += gsim_turn_migrate(gpu, lane, true, now_ns) - now_ns;
    int64_t from_ns = now_ns + member->state.stall_ns;
    int64_t up_ns = (is_within && start_ns != now_ns ? start_ns : from_ns) + quantum_ns;
    int64_t end_ns =
        gsim_context_kernel_end_ns(&member->context, up_ns, from_ns, lane->state.rate_q32);
    return end_ns == GSIM_NEVER ? left_ns : gsim_sooner_ns(end_ns - now_ns, left_ns);
}

/* Side by side several sweeps may be under way, and a gang's on several GPUs. */
static struct gsim_pace pace_of(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                                const struct gsim_member *member, int64_t left_ns) {
    return (struct gsim_pace){
        .done = gsim_context_swept(&member->context),
        .all = gsim_context_sweep(&member->context),
        .rate_q32 = lane->state.rate_q32,
        .stall_ns = member->state.stall_ns,
        .left_ns = left_ns,
        .can_be_cut = gpu->n_lanes == 1 && gpu->gang->n == 0 &&
                      (!gsim_pager_is_proactive(gpu->store) || member->tenant.spec.order != NULL)};
}

void gsim_turn_sweep(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                     int64_t left_ns, int64_t now_ns) {
    struct gsim_member *member = gsim_gpu_lane_present(gpu, lane);
    bool waits_for_sms = lane->state.rate_q32 == 0;
    if (waits_for_sms || !gsim_pager_is_sweeping(gpu->store, &member->tenant))
        return;
    if (gsim_rarely(gsim_turn_moves_for_kernels(gpu, member)))
        left_ns = move_for_more(gpu, lane, member, left_ns, now_ns);
    struct gsim_pace pace = pace_of(gpu, lane, member, left_ns);
    struct gsim_swept swept = gsim_pager_sweep(gpu->store, &member->tenant, &pace);
    int64_t stall_ns = gsim_gang_memory_sweep(gpu->gang, &member->tenant, &swept, pace.stall_ns);
    if (stall_ns > 0)
        tell_residency(gpu, now_ns);
    member->state.stall_ns += stall_ns;
}

/* The context has run while it seemed to wait: up to where it has nothing to run, at most, which
 * its lane has to see. */
static void catch_up(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                     struct gsim_member *member, int64_t ran_ns, int64_t now_ns) {
    int64_t from_ns = now_ns - ran_ns;
    int64_t idle_ns =
        gsim_context_idle_ns(&member->context, from_ns, lane->state.rate_q32, GSIM_NEVER);
    int64_t to_ns = gsim_sooner_ns(now_ns, idle_ns - 1);
    if (to_ns > from_ns && gsim_gpu_lane_running(lane) == lane->spec.member[lane->state.at])
        gsim_progress_run(gpu, lane, member, from_ns, to_ns, lane->state.rate_q32);
}

static void cut(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                struct gsim_member *member, int64_t now_ns) {
    bool goes_on = lane->state.rate_q32 != 0 && !lane->state.is_halting;
    if (member->tenant.whole.is_on && goes_on) {
        struct gsim_pace pace = pace_of(gpu, lane, member, 0);
        struct gsim_cut cut = gsim_pager_cut(gpu->store, &member->tenant, &pace);
        member->state.stall_ns = cut.stall_ns;
        if (cut.ran_ns > 0)
            catch_up(gpu, lane, member, cut.ran_ns, now_ns);
        tell_residency(gpu, now_ns);
    }
    member->tenant.whole.is_on = false;
}

void gsim_turn_cut(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lanes,
                   int64_t now_ns) {
    for (uint16_t place = 0; gpu->store->pager && place < gpu->n_places; place++)
        if (gpu->members[place].is_present)
            cut(gpu, &lanes[gpu->members[place].how.lane], &gpu->members[place], now_ns);
}

bool gsim_turn_is_in_vain(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                          int64_t now_ns) {
    const struct gsim_tenant *tenant = &gsim_gpu_lane_present(gpu, lane)->tenant;
    return gsim_pager_is_sweeping(gpu->store, tenant) &&
           2 * tenant->last.stall_ns > now_ns - lane->marks.quantum_start_ns;
}

int64_t gsim_turn_touches_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    const struct gsim_member *member = gsim_gpu_lane_present(gpu, lane);
    const struct gsim_context *context = &member->context;
    bool waits_for_sms = lane->state.rate_q32 == 0;
    if (waits_for_sms || !gsim_pager_is_sweeping(gpu->store, &member->tenant))
        return GSIM_NEVER;
    gsim_work left = gsim_pager_reach(gpu->store, &member->tenant, gsim_context_sweep(context)) -
                     gsim_context_swept(context);
    return lane->times.since_ns + member->state.stall_ns +
           (left > 0 ? gsim_work_time(left, lane->state.rate_q32) : 0);
}
