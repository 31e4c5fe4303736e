/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles: the files that come with gsim, what is wrong in a file named by its line,
 * times by the roofline, and jobs that name a profile. */
#define _XOPEN_SOURCE 700
#include "tests/support/app_file.h"

#include "models/gpu/vgpu.h"
#include "sim/base/text.h"

enum { PPM = 1000000 };

static struct gsim_profile load_device(struct fixture *f, const char *name) {
    struct gsim_profile profile;
    assert_int_equal(gsim_profile_load(name, f->arena, &profile, &f->log), GSIM_OK);
    return profile;
}

/* --- those that come with gsim ---------------------------------------------------------------- */

/* The one device of a program's times. */
static const char *measured_on(const struct gsim_app *app) {
    for (uint32_t k = 0; k < app->n_kernels; k++)
        if (app->kernels[k].device)
            return app->kernels[k].device;
    return "";
}

static void every_profile_runs_on_every_device(void **state) {
    struct fixture *f = *state;
    char apps[64][48], devices[64][48];
    int n_apps = gsim_apps_names(apps, 64), n_devices = gsim_profile_names(devices, 64);
    assert_true(n_apps >= 19);
    for (int a = 0; a < n_apps; a++) {
        struct gsim_app app;
        assert_int_equal(gsim_apps_load(apps[a], NULL, 0, f->arena, &app, &f->log), GSIM_OK);
        assert_string_not_equal(app.title, app.path);
        assert_true(app.mem_bytes > 0);
        for (int d = 0; d < n_devices; d++) {
            struct gsim_profile profile = load_device(f, devices[d]);
            if (app.n_calls > 0 && strcmp(devices[d], measured_on(&app)) != 0)
                continue;
            struct gsim_roofline_cost cost;
            assert_int_equal(gsim_roofline_cost(&app, &profile, &cost, &f->log), GSIM_OK);
            assert_true(cost.gpu_ns > 0 || strcmp(devices[d], "ideal") == 0);
            assert_true(cost.longest_kernel_ns <= cost.gpu_ns);
            assert_true(cost.working_set_bytes <= app.mem_bytes);
            assert_true(cost.working_set_bytes > 0 || app.n_calls > 0); /* it saw no touches */
            assert_true(cost.hbm_bytes_per_s <= profile.value[GSIM_KEY_HBM_BYTES_PER_S]);
        }
    }
    assert_int_equal(f->log.n_errors, 0);
}

/* --- files ------------------------------------------------------------------------------------ */

#define HEAD "kind,name,count,flops,bytes,touches\n"

static void what_a_file_says(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    assert_int_equal(read_app(f,
                              "# a comment\n"
                              "kind,name,count,flops,bytes,precision,efficiency,time_us,device,"
                              "touches,sm_fraction,sms,registers_kib,shared_kib\n"
                              "title,\"mine, all mine\",,,,,,,,,,,,\n"
                              "buffer,w,,,1MiB,,,,,,,,,\n"
                              "buffer,kv,,,4096,,,,,,,,,\n"
                              "kernel,k,3,2e9,8e6,fp16,50%,12.5,h200,w kv:25%-50%,0.5,7,64,1.5\n"
                              "host,launch,,,,,,100,,,,,,\n"
                              "host,gap,,,,,,7,,,,,,\n"
                              "sync,kernel,,,,,,,,,,,,\n"
                              "idempotent,yes,,,,,,,,,,,,\n",
                              &app),
                     GSIM_OK);
    assert_string_equal(app.title, "mine, all mine");
    assert_int_equal(app.mem_bytes, GSIM_MIB + 4096);
    assert_int_equal(app.host_ns, 100000);
    assert_int_equal(app.gap_ns, 7000);
    assert_int_equal(app.sync, GSIM_SYNC_KERNEL);
    assert_true(app.is_idempotent);
    assert_int_equal(app.n_kernels, 1);
    const struct gsim_app_kernel *k = &app.kernels[0];
    assert_int_equal(k->line, 6);
    assert_int_equal(k->count, 3);
    assert_int_equal(k->flops, 2000000000);
    assert_int_equal(k->bytes, 8000000);
    assert_int_equal(k->precision, GSIM_PRECISION_FP16);
    assert_int_equal(k->efficiency_ppm, PPM / 2);
    assert_int_equal(k->time_ns, 12500);
    assert_string_equal(k->device, "h200");
    assert_int_equal(k->sm_ppm, PPM / 2);
    assert_int_equal(k->sms, 7);
    assert_int_equal(k->register_bytes, 65536);
    assert_int_equal(k->shared_bytes, 1536);
    assert_int_equal(k->n_touches, 2);
    assert_int_equal(k->touches[1].buffer, 1);
    assert_int_equal(k->touches[1].from_ppm, PPM / 4);
    assert_int_equal(k->touches[1].to_ppm, PPM / 2);
}

/* Counters say what a kernel moves, from which no time follows: of another device it has none. */
static void counters_give_no_time(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    struct gsim_profile h200 = load_device(f, "h200"), a10 = load_device(f, "a10");
    assert_int_equal(
        read_app(f,
                 "kind,name,time_us,device,dram_bytes,joules,small_l1_us,issue,tensor\n"
                 "energy,iteration,,,,0.25,,,\nkernel,k,5,h200,8e6,,7.5,60%,0.25\n"
                 "kernel,other,5,h200,,,,,100%\n",
                 &app),
        GSIM_OK);
    assert_int_equal(app.energy_uj, 250000);
    assert_int_equal(app.kernels[0].dram_bytes, 8000000);
    assert_int_equal(app.kernels[0].small_l1_ns, 7500);
    assert_int_equal(app.kernels[0].busy.issue_ppm, 600000);
    assert_int_equal(app.kernels[0].busy.tensor_ppm, 250000);
    assert_int_equal(app.kernels[1].busy.issue_ppm, 0); /* not known */
    assert_int_equal(app.kernels[1].busy.tensor_ppm, PPM);
    assert_int_equal(gsim_roofline_cost(&app, &h200, &cost, &f->log), GSIM_OK);
    assert_int_equal(cost.gpu_ns, 10000);
    assert_int_equal(gsim_roofline_cost(&app, &a10, &cost, &f->log), GSIM_BAD_INPUT);
}

/* A profiler tells 0 of a kernel that does not use the tensor cores. */
static void tensor_cores_may_rest(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    assert_int_equal(
        read_app(f, "kind,name,time_us,device,issue,tensor\nkernel,k,10,h200,40%,0\n", &app),
        GSIM_OK);
    assert_int_equal(app.kernels[0].busy.issue_ppm, 400000);
    assert_int_equal(app.kernels[0].busy.tensor_ppm, 0);
}

static void what_is_wrong_is_named_by_its_line(void **state) {
    struct fixture *f = *state;
    refuse_app(f, "", " the file is empty");
    refuse_app(f, HEAD, " an application profile has a row of kind kernel");
    refuse_app(f, "name,count\n", "1: an application profile has the columns kind and name");
    refuse_app(f, "kind,name,flop\n", "1: column 'flop' stands twice or is unknown; did you mean");
    refuse_app(f, "kind,name,name\n", "1: column 'name' stands twice");
    refuse_app(f, HEAD "colonel,k,1,1,1,\n", "2: kind: 'colonel' is not one of title|buffer");
    refuse_app(f, HEAD "kernel,,1,1,1,\n", "2: a row has a kind and a name");
    refuse_app(f, HEAD "kernel,k,0,1,1,\n", "2: count: '0' is not a number above zero");
    refuse_app(f, HEAD "kernel,k,1,-5,1,\n", "2: flops: '-5' is not a number of zero or more");
    refuse_app(f, HEAD "kernel,k,1,1,lots,\n", "2: bytes: 'lots' is not a number of bytes");
    refuse_app(f, HEAD "kernel,k,1,,,\n", "2: kernel 'k' has no flops, no bytes and no time_us");
    refuse_app(f, HEAD "kernel,k,1,1,1,w\n", "2: touches: 'w' is of no buffer that a row of");
    refuse_app(f, HEAD "buffer,w,,,1,\nkernel,k,1,1,1,w:5\n", "3: touches: 'w:5' is no part of");
    refuse_app(f, HEAD "buffer,w,,,1,\nkernel,k,1,1,1,w:50%-150%\n",
               "3: touches: 'w:50%-150%' is no part of a buffer: parts go from 0% to 100%");
    refuse_app(f, HEAD "buffer,w,,,1,\nkernel,k,1,1,1,w@x\n",
               "3: touches: 'w@x' is not read (@r), written (@w) or both (@rw)");
    refuse_app(f, HEAD "buffer,w,,,1,\nkernel,k,1,1,1,w:9%-5%\n",
               "3: touches: 'w:9%-5%' is no part");
    refuse_app(f, HEAD "buffer,w,,,1,\nbuffer,w,,,1,\n", "3: buffer 'w' stands twice");
    refuse_app(f, HEAD "buffer,w,,,,\n", "2: bytes: '' is not the size of a buffer, 1 byte");
    refuse_app(f, "kind,name,time_us\nkernel,k,5\n",
               "2: a kernel's time_us is its time on one device");
    refuse_app(f, "kind,name,bytes,threads,registers\nkernel,k,5,32,256\n",
               "2: registers: '256' is not a number of at most 255");
    refuse_app(f, "kind,name,bytes,clock\nkernel,k,5,0%\n", "2: clock: '0%' is not a share");
    refuse_app(f, "kind,name,bytes,issue\nkernel,k,5,1.2\n", "2: issue: '1.2' is not a part from");
    refuse_app(f, "kind,name,bytes,tensor\nkernel,k,5,-1%\n", "2: tensor: '-1%' is not a part");
    refuse_app(f, "kind,name,bytes,clock\nkernel,k,5,101%\n", "2: clock: '101%' is not a share");
    refuse_app(f, "kind,name,bytes,efficiency\nkernel,k,5,0%\n",
               "2: efficiency: '0%' is not a share");
    refuse_app(f, "kind,name,bytes,precision\nkernel,k,5,fp8\n",
               "2: precision: 'fp8' is not one of fp32|tf32|fp16|int8");
    refuse_app(f, "kind,name,joules\nenergy,kernel,3\n",
               "2: name: 'kernel' is not one of iteration");
    refuse_app(f, "kind,name,joules\nenergy,iteration,\n",
               "2: joules: '' is not the energy of an iteration in joules");
    refuse_app(f, "kind,name,joules\nenergy,iteration,0\n", "2: joules: '0' is not a number above");
    refuse_app(f, "kind,name,flops,dram_bytes\nkernel,k,1,x\n",
               "2: dram_bytes: 'x' is not a number");
    refuse_app(
        f, "kind,name,flops,dram_bytes,stored_bytes\nkernel,k,1,5,6\n",
        "2: stored_bytes are part of the dram_bytes of kernel 'k': they are at most as many");
    refuse_app(f, "kind,name,flops,stored_bytes\nkernel,k,1,6\n", "2: stored_bytes are part of");
    refuse_app(f, "kind,name,time_us,device,small_l1_us\nkernel,k,5,h200,4\n",
               "2: small_l1_us is what a launch takes with the smallest L1: at least its time_us");
    refuse_app(f, "kind,name,flops,small_l1_us\nkernel,k,1,4\n", "2: small_l1_us is what a");
    refuse_app(f, "kind,name,time_us,device,small_l1_us\nkernel,k,5,h200,5100\n",
               "2: small_l1_us is what a launch takes with the smallest L1: at least its time_us");
    refuse_app(f, "kind,name,flops,issue\nkernel,k,1,101%\n", "2: issue: '101%' is not a part");
    refuse_app(f, "kind,name,flops,tensor\nkernel,k,1,1.01\n", "2: tensor: '1.01' is not a part");
    refuse_app(f, "kind,name,flops,tensor\nkernel,k,1,busy\n", "2: tensor: 'busy' is not a part");
    refuse_app(f, HEAD "kernel,k,1,1\n", "2: 4 fields; the header has 6 columns");
}

/* --- the roofline ----------------------------------------------------------------------------- */

/* H200: 66.9 TFLOPS in FP32, 989.5 in FP16, 3975.8 GB/s, 3.1 us a launch. */
static void a_kernel_takes_what_the_lower_roof_allows(void **state) {
    struct fixture *f = *state;
    struct gsim_profile h200 = load_device(f, "h200");
    struct gsim_roofline kernel = {
        .flops = 66900000000, .bytes = 1000000, .sm_ppm = PPM, .efficiency_ppm = PPM};
    struct gsim_roofline_time time = gsim_roofline(&h200, &kernel);
    assert_int_equal(time.compute_ns, 1000000);
    assert_int_equal(time.memory_ns, 252); /* 1e6 / 3975.8e9 = 251.5 ns */
    assert_int_equal(time.whole_ns, 1003100);
    kernel.sm_ppm = PPM / 2;
    kernel.efficiency_ppm = PPM / 4;
    assert_int_equal(gsim_roofline(&h200, &kernel).compute_ns, 8000000);
    kernel.precision = GSIM_PRECISION_FP16;
    assert_int_equal(gsim_roofline(&h200, &kernel).compute_ns, 540880); /* 8e6 x 66.9 / 989.5 */
    kernel = (struct gsim_roofline){
        .flops = 1, .bytes = 3096500000, .sm_ppm = PPM / 2, .efficiency_ppm = PPM};
    assert_int_equal(gsim_roofline(&h200, &kernel).memory_ns, 1000000); /* 66 SMs: 3096.5 GB/s */
    struct gsim_profile ideal = load_device(f, "ideal");
    assert_int_equal(gsim_roofline(&ideal, &kernel).whole_ns, 0);
    kernel.bytes = INT64_MAX;
    kernel.efficiency_ppm = kernel.sm_ppm = 1;
    assert_true(gsim_roofline(&h200, &kernel).whole_ns == GSIM_TIME_MAX);
}

static void a_measured_time_is_true_of_its_device_only(void **state) {
    struct fixture *f = *state;
    struct gsim_profile h200 = load_device(f, "h200"), v100 = load_device(f, "v100");
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    assert_int_equal(read_app(f, "kind,name,count,time_us,device\nkernel,k,4,10,h200\n", &app),
                     GSIM_OK);
    assert_int_equal(gsim_roofline_cost(&app, &h200, &cost, &f->log), GSIM_OK);
    assert_int_equal(cost.gpu_ns, 40000);
    assert_int_equal(gsim_roofline_cost(&app, &v100, &cost, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "2: kernel 'k' has the time of device h200 only");
}

static void need(struct fixture *f, const char *text, const char *expected) {
    struct gsim_profile t4 = load_device(f, "t4"); /* 40 SMs, 64 KiB shared, 16 GB */
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    assert_int_equal(read_app(f, text, &app), GSIM_OK);
    assert_int_equal(gsim_roofline_cost(&app, &t4, &cost, &f->log), GSIM_BAD_INPUT);
    expect_error(f, expected);
}

static void a_kernel_that_needs_more_than_there_is(void **state) {
    struct fixture *f = *state;
    need(f, "kind,name,flops,sms\nkernel,ok,1,40\nkernel,k,1,41\n",
         "3: kernel 'k' needs 41 SMs; device t4 has 40");
    need(f, "kind,name,flops,registers_kib\nkernel,k,1,257\n",
         "2: kernel 'k' needs 263168 bytes of registers a block; device t4 has 262144");
    need(f, "kind,name,flops,shared_kib\nkernel,k,1,65\n",
         "2: kernel 'k' needs 66560 bytes of shared memory a block; device t4 has 65536");
    need(f,
         "kind,name,bytes,touches\nbuffer,a,10e9,\nbuffer,b,10e9,\nkernel,ok,1,a\n"
         "kernel,k,1,a b\n",
         "5: kernel 'k' needs 20000000000 bytes of device memory; device t4 has ");
}

static void sums_of_an_iteration(void **state) {
    struct fixture *f = *state;
    struct gsim_profile h200 = load_device(f, "h200");
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    /* 2 x 1 ms of arithmetic on half of the SMs, 4 x 1 ms of memory, 6 launches of 3.1 us */
    assert_int_equal(read_app(f,
                              "kind,name,count,flops,bytes,sm_fraction,touches\n"
                              "buffer,a,,,1000,,\n"
                              "kernel,x,2,33450000000,,0.5,a:10%-20%\n"
                              "kernel,y,4,,3975800000,,a:40%-50%\n",
                              &app),
                     GSIM_OK);
    assert_int_equal(gsim_roofline_cost(&app, &h200, &cost, &f->log), GSIM_OK);
    assert_int_equal(cost.gpu_ns, 6 * 1003100);
    assert_int_equal(cost.kernels, 6);
    assert_int_equal(cost.longest_kernel_ns, 1003100);
    assert_int_equal(cost.bytes, 4 * 3975800000);
    assert_int_equal(cost.sm_ppm, 833333); /* a third of the time 0.5 */
    assert_int_equal(cost.memory_ppm, 666666);
    assert_int_equal(cost.working_set_bytes, 400);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static const struct gsim_trace *resolve(struct fixture *f, const char *text) {
    static const struct gsim_trace *out;
    struct gsim_profile *h200 = gsim_arena_alloc(f->arena, sizeof *h200);
    const struct gsim_profile **profiles = gsim_arena_alloc(f->arena, sizeof *profiles);
    *h200 = load_device(f, "h200");
    profiles[0] = h200;
    struct gsim_cluster_spec cluster = {.profiles = profiles, .n_profiles = 1};
    assert_int_equal(read_text(f, text), GSIM_OK);
    enum gsim_status status = gsim_apps_resolve(&f->trace, &cluster, f->arena, &out, &f->log);
    return status == GSIM_OK ? out : NULL;
}

static int64_t gpu_ns_on_h200(struct fixture *f, const char *name) {
    struct gsim_profile h200 = load_device(f, "h200");
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    assert_int_equal(gsim_apps_load(name, NULL, 0, f->arena, &app, &f->log), GSIM_OK);
    assert_int_equal(gsim_roofline_cost(&app, &h200, &cost, &f->log), GSIM_OK);
    return cost.gpu_ns;
}

static void a_job_takes_its_profile(void **state) {
    struct fixture *f = *state;
    int64_t gpu_ns = gpu_ns_on_h200(f, "hotspot");
    const struct gsim_trace *t = resolve(f, "job_id,submit_s,iterations,app,gpu_ms,duration_s\n"
                                            "a,0,1000,hotspot,,\n"
                                            "b,0,1000,hotspot,5,\n"
                                            "c,0,1000,hotspot,,7\n"
                                            "d,0,,,,3\n");
    assert_non_null(t);
    assert_ptr_not_equal(t, &f->trace);
    assert_int_equal(t->column[GSIM_COL_GPU_NS][0], gpu_ns);
    assert_int_equal(t->service_ns[0], 1000 * gpu_ns);
    assert_int_equal(t->column[GSIM_COL_KERNELS][0], 1);
    assert_int_equal(t->column[GSIM_COL_MEM_BYTES][0], 12 << 20);
    assert_int_equal(t->column[GSIM_COL_SYNC][0], GSIM_SYNC_NONE);
    assert_int_equal(t->column[GSIM_COL_IDEMPOTENT][0], 1);
    assert_int_equal(t->service_ns[1], 5 * S); /* the row's own time wins */
    assert_int_equal(t->service_ns[2], 7 * S);
    assert_int_equal(t->service_ns[3], 3 * S);
    assert_int_equal(t->column[GSIM_COL_MEM_BYTES][3], -1);
    assert_int_equal(f->trace.service_ns[0], 0); /* the trace itself stays as it was */
    assert_null(f->trace.column[GSIM_COL_MEM_BYTES]);
}

static void requests_take_a_kernel_time(void **state) {
    struct fixture *f = *state;
    int64_t gpu_ns = gpu_ns_on_h200(f, "resnet50-infer");
    const struct gsim_trace *t =
        resolve(f, "job_id,submit_s,requests,period_ms,app\na,0,100,50,resnet50-infer\n");
    assert_non_null(t);
    int64_t kernels = t->column[GSIM_COL_KERNELS][0];
    assert_true(kernels > 100);
    assert_int_equal(t->column[GSIM_COL_GPU_NS][0], (gpu_ns + kernels - 1) / kernels);
}

static void a_trace_without_apps_is_left_alone(void **state) {
    struct fixture *f = *state;
    assert_ptr_equal(resolve(f, "job_id,submit_s,duration_s\na,0,1\n"), &f->trace);
}

static void jobs_that_cannot_be_resolved(void **state) {
    struct fixture *f = *state;
    assert_null(resolve(f, "job_id,submit_s,iterations,app\na,0,5,hotspot\nb,0,5,hotspott\n"));
    expect_error(f, "3: no application is called 'hotspott'; did you mean 'hotspot'?");
    assert_null(resolve(f, "job_id,submit_s,iterations,app\na,0,,hotspot\n"));
    expect_error(f, "2: job 'a' runs the application 'hotspot': it needs a number of iterations");
    assert_null(resolve(f, "job_id,submit_s,iterations,app\na,0,5,/nowhere/x.csv\n"));
    assert_true(f->log.n_errors == 1 && strstr(f->log.errors[0].text, "/nowhere/x.csv"));
}

/* --- vGPUs ------------------------------------------------------------------------------------ */

static void the_three_schedulers_of_vgpus(void **state) {
    struct fixture *f = *state;
    struct gsim_profile a100 = load_device(f, "a100-40");
    struct gsim_vgpu_rule rule = gsim_vgpu_rule(&a100, GSIM_VGPU_BEST_EFFORT, 2, 8, 0);
    assert_true(rule.is_work_conserving && rule.n_turns == 0 && rule.quantum_ns == 2000000);
    rule = gsim_vgpu_rule(&a100, GSIM_VGPU_EQUAL, 2, 9, 0);
    assert_true(!rule.is_work_conserving && rule.n_turns == 2 && rule.quantum_ns == 1000000);
    rule = gsim_vgpu_rule(&a100, GSIM_VGPU_FIXED, 2, 8, 5000000);
    assert_true(!rule.is_work_conserving && rule.n_turns == 8 && rule.quantum_ns == 5000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_profile_runs_on_every_device),
        TEST(what_a_file_says),
        TEST(counters_give_no_time),
        TEST(tensor_cores_may_rest),
        TEST(what_is_wrong_is_named_by_its_line),
        TEST(a_kernel_takes_what_the_lower_roof_allows),
        TEST(a_measured_time_is_true_of_its_device_only),
        TEST(a_kernel_that_needs_more_than_there_is),
        TEST(sums_of_an_iteration),
        TEST(a_job_takes_its_profile),
        TEST(requests_take_a_kernel_time),
        TEST(a_trace_without_apps_is_left_alone),
        TEST(jobs_that_cannot_be_resolved),
        TEST(the_three_schedulers_of_vgpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
