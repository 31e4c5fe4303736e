/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each of n processes in the driver of a node has 1/n of it. What the driver has done for a
 * process since the node was first used is one number for all of them, so that a process knows
 * at its entry by which value of it its part is done. */
#include "models/jobs/host_driver.h"

#include <assert.h>

/* A start, or an end, where no other process starts or ends. */
struct host_time {
    int64_t all_ns;
    int64_t driver_ns; /* of that, the driver's work for one GPU */
};

/* The driver of a node. */
struct gsim_host_driver {
    uint32_t n; /* processes in it */
    gsim_slot first; /* of them; the others by next_in_driver */
    gsim_work done; /* for each process that was in it all the time */
    int64_t since_ns; /* done counts until then */
};

static bool has_any(const struct gsim_model_setup *setup, enum gsim_key a, enum gsim_key b) {
    bool has = false;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        has |= setup->profiles[type]->value[a] > 0 || setup->profiles[type]->value[b] > 0;
    return has;
}

bool gsim_host_driver_init(struct gsim_model *model) {
    const struct gsim_model_setup *setup = &model->setup;
    uint32_t n_nodes = setup->wiring.n_nodes;
    bool is_shared = has_any(setup, GSIM_KEY_START_SERIAL_NS, GSIM_KEY_END_SERIAL_NS);
    bool is_counted = has_any(setup, GSIM_KEY_START_WAKE_NS, GSIM_KEY_END_SLEEP_NS);
    if (is_shared && n_nodes > 0)
        model->drivers = gsim_arena_array(setup->arena, n_nodes, sizeof *model->drivers);
    if (is_counted)
        model->processes = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *model->processes);
    return (model->drivers || !is_shared || n_nodes == 0) && (model->processes || !is_counted);
}

/* --- processes on GPUs ------------------------------------------------------------------------ */

/* The units with the job's process: where it is, or where it waits to go on. */
static uint32_t units_of(const struct gsim_model *model, gsim_slot slot,
                         const struct gsim_unit **units) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    const struct gsim_machine_job *job = &model->jobs[slot];
    bool waits = job->phase == IDLE || (job->phase == LOADING && job->is_carried);
    *units = waits ? about->left_units : about->units;
    return waits ? about->n_left_units : about->n_units;
}

static void count_units(struct gsim_model *model, const struct gsim_unit *units, uint32_t n_units,
                        uint32_t more) {
    for (uint32_t u = 0; u < n_units; u++) {
        assert(more == 1 || model->processes[units[u].gpu] > 0);
        model->processes[units[u].gpu] += more;
    }
}

void gsim_host_driver_has_none(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_unit *units;
    if (!model->processes || !model->jobs[slot].has_process)
        return;
    uint32_t n_units = units_of(model, slot, &units);
    count_units(model, units, n_units, UINT32_MAX); /* one less */
    model->jobs[slot].has_process = false;
}

/* A job that comes back to other units leaves those that it had. */
static void has_process(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (!model->processes)
        return;
    gsim_host_driver_has_none(model, slot);
    count_units(model, about->units, about->n_units, 1);
    model->jobs[slot].has_process = true;
}

/* Whether one of the units has no process but perhaps the job's own. */
static bool is_alone(const struct gsim_model *model, gsim_slot slot, const struct gsim_unit *units,
                     uint32_t n_units) {
    const struct gsim_unit *own = NULL;
    uint32_t n_own = model->jobs[slot].has_process ? units_of(model, slot, &own) : 0;
    for (uint32_t u = 0; model->processes && u < n_units; u++) {
        uint32_t others = model->processes[units[u].gpu];
        for (uint32_t o = 0; o < n_own; o++)
            others -= own[o].gpu == units[u].gpu;
        if (others == 0)
            return true;
    }
    return !model->processes || n_units == 0;
}

/* The driver brings a GPU up, and lets it rest, for one process at a time as well. */
static struct host_time time_of(int64_t all_ns, int64_t serial_ns, int64_t lone_ns, bool is_lone) {
    lone_ns = lone_ns < all_ns ? lone_ns : all_ns;
    if (is_lone)
        serial_ns += lone_ns;
    else
        all_ns -= lone_ns;
    return (struct host_time){all_ns, serial_ns < all_ns ? serial_ns : all_ns};
}

static struct host_time start_of(const struct gsim_model *model, gsim_slot slot,
                                 const struct gsim_unit *units, uint32_t n_units, int64_t all_ns) {
    const int64_t *value = gsim_machine_profile(model, units, n_units)->value;
    return time_of(all_ns, value[GSIM_KEY_START_SERIAL_NS], value[GSIM_KEY_START_WAKE_NS],
                   is_alone(model, slot, units, n_units));
}

static struct host_time time_at_end(const struct gsim_model *model, gsim_slot slot,
                                    const struct gsim_unit *units, uint32_t n_units,
                                    int64_t all_ns) {
    const int64_t *value = gsim_machine_profile(model, units, n_units)->value;
    return time_of(all_ns, value[GSIM_KEY_END_SERIAL_NS], value[GSIM_KEY_END_SLEEP_NS],
                   is_alone(model, slot, units, n_units));
}

/* --- the driver's work ------------------------------------------------------------------------ */

/* A process has a context on each GPU of the job, one made after the other. The process of a gang
 * on several nodes that has most GPUs is taken to be that of its first node. */
static int64_t contexts(const struct gsim_model *model, const struct gsim_unit *units,
                        uint32_t n_units) {
    const uint32_t *node_of_gpu = model->setup.wiring.node_of_gpu;
    int64_t n = 0;
    for (uint32_t u = 0; u < n_units; u++)
        n += node_of_gpu[units[u].gpu] == node_of_gpu[units[0].gpu];
    return n;
}

static struct gsim_host_driver *driver_of(const struct gsim_model *model,
                                          const struct gsim_unit *units, uint32_t n_units) {
    return model->drivers && n_units > 0
               ? &model->drivers[model->setup.wiring.node_of_gpu[units[0].gpu]]
               : NULL;
}

static gsim_work done_by(const struct gsim_host_driver *driver, int64_t now_ns) {
    return driver->n > 0
               ? driver->done + gsim_work_of_ns(now_ns - driver->since_ns) / (gsim_work)driver->n
               : driver->done;
}

/* How much longer than alone the driver's part takes there. */
static int64_t wait_ns(const struct gsim_model *model, const struct gsim_unit *units,
                       uint32_t n_units, int64_t driver_ns, int64_t now_ns) {
    const struct gsim_host_driver *driver = driver_of(model, units, n_units);
    if (!driver || driver_ns == 0)
        return 0;
    int64_t more = contexts(model, units, n_units) - 1;
    gsim_work own = gsim_work_of_ns(driver_ns * (more + 1)), done = done_by(driver, now_ns);
    gsim_work all = 0;
    gsim_slot slot = driver->first;
    for (uint32_t i = 0; i < driver->n; i++, slot = model->jobs[slot].next_in_driver) {
        gsim_work left = model->jobs[slot].passes_at - done;
        all += left < own ? left : own;
    }
    return gsim_work_to_ns(all) + driver_ns * more;
}

int64_t gsim_host_driver_end_ns(const struct gsim_model *model, gsim_slot slot, int64_t all_ns,
                                int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct host_time end = time_at_end(model, slot, about->units, about->n_units, all_ns);
    return end.all_ns + wait_ns(model, about->units, about->n_units, end.driver_ns, now_ns);
}

int64_t gsim_host_driver_start_ns(const struct gsim_model *model, gsim_slot slot,
                                  const struct gsim_unit *units, uint32_t n_units, int64_t all_ns,
                                  int64_t now_ns) {
    struct host_time start = start_of(model, slot, units, n_units, all_ns);
    return start.all_ns + wait_ns(model, units, n_units, start.driver_ns, now_ns);
}

/* --- processes in it -------------------------------------------------------------------------- */

static void settle(struct gsim_host_driver *driver, int64_t now_ns) {
    driver->done = done_by(driver, now_ns);
    driver->since_ns = now_ns;
}

static void expect_again(struct gsim_model *model, const struct gsim_host_driver *driver,
                         int64_t now_ns) {
    gsim_slot slot = driver->first;
    for (uint32_t i = 0; i < driver->n; i++, slot = model->jobs[slot].next_in_driver) {
        gsim_work left = (model->jobs[slot].passes_at - driver->done) * (gsim_work)driver->n;
        int64_t in_ns = left > 0 ? gsim_work_time(left, GSIM_RATE_ONE) : 0;
        gsim_machine_expect(model, slot, PASSES, now_ns + in_ns);
    }
}

static void take_out(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    struct gsim_host_driver *driver = &model->drivers[job->driver];
    gsim_slot *link = &driver->first;
    settle(driver, now_ns);
    while (*link != slot)
        link = &model->jobs[*link].next_in_driver;
    *link = job->next_in_driver;
    driver->n--;
    job->is_in_driver = false;
    expect_again(model, driver, now_ns);
}

/* Puts the job into the driver, for that work on each of its GPUs. */
static void put_in(struct gsim_model *model, gsim_slot slot, struct gsim_host_driver *driver,
                   int64_t driver_ns, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    model->has_key[job->after_driver == RUNS ? GSIM_KEY_START_SERIAL_NS : GSIM_KEY_END_SERIAL_NS] =
        true;
    settle(driver, now_ns);
    job->driver = (uint32_t)(driver - model->drivers);
    job->is_in_driver = true;
    job->passes_at =
        driver->done + gsim_work_of_ns(driver_ns * contexts(model, about->units, about->n_units));
    job->next_in_driver = driver->first;
    driver->first = slot;
    driver->n++;
    expect_again(model, driver, now_ns);
}

void gsim_host_driver_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                             int64_t process_ns, int64_t at_ns, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_host_driver *driver = driver_of(model, about->units, about->n_units);
    struct host_time time = {process_ns, 0};
    if (process_ns > 0)
        time = ahead == RUNS ? start_of(model, slot, about->units, about->n_units, process_ns)
                             : time_at_end(model, slot, about->units, about->n_units, process_ns);
    at_ns -= process_ns - time.all_ns;
    if (ahead == RUNS)
        has_process(model, slot);
    job->after_driver = (uint8_t)ahead;
    job->after_ns = at_ns - now_ns - time.driver_ns;
    if (driver && time.driver_ns > 0)
        put_in(model, slot, driver, time.driver_ns, now_ns);
    else
        gsim_machine_expect(model, slot, ahead, at_ns);
}

void gsim_host_driver_pass(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    take_out(model, slot, now_ns);
    gsim_machine_expect(model, slot, (enum ahead)job->after_driver, now_ns + job->after_ns);
}

void gsim_host_driver_forget(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    gsim_host_driver_has_none(model, slot);
    if (model->drivers && model->jobs[slot].is_in_driver)
        take_out(model, slot, now_ns);
}
