/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs: what a file says and what is wrong in it, and programs made from timelines. */
#define _XOPEN_SOURCE 700
#include "tests/support/programs.h"

#include <sqlite3.h>

#include "models/gpu/roofline.h"
#include "sim/study/nsight.h"
#include "traces/timeline.h"

/* --- files ------------------------------------------------------------------------------------ */

/* A kernel of 8 MB in 10 us, launched twice, the second time for 5 us: 12 MB an iteration. */
static void what_an_iteration_moves(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program =
        program_on(f, &profile,
                   "kind,name,time_us,device,dram_bytes,host_us\nkernel,k,10,h200,8000000,\n"
                   "launch,k,,,,1\nlaunch,k,5,,,1\n");
    assert_int_equal(program->hbm_bytes, 12000000);
}

/* Of 8 MB 1 is stored: half of 2 goes as copies do, and 6 of 8 as loads do. A kernel that stores more
 * than half of its bytes, or of which that is not known, goes as copies do. */
static void what_a_kernel_stores(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program =
        program_on(f, &profile,
                   "kind,name,time_us,device,dram_bytes,stored_bytes,host_us\n"
                   "kernel,k,10,h200,8000000,1000000,\nkernel,l,10,h200,8000000,0,\n"
                   "kernel,m,10,h200,8000000,5000000,\nkernel,n,10,h200,8000000,,\n"
                   "launch,k,,,,,1\nlaunch,l,,,,,1\nlaunch,m,,,,,1\nlaunch,n,,,,,1\n");
    static const uint32_t loads_ppm[] = {750000, 1000000, 0, 0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(program->kernels[i].loads_ppm, loads_ppm[i]);
}

static void what_a_program_says(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program =
        program_on(f, &profile,
                   HEAD "buffer,w,,,,,,,,1000,\n"
                        "kernel,k,,10,h200,128,32,,,,w:10%-20%@rw w\n"
                        "copy,c,,2,h200,,,,,,\n"
                        "launch,k,,,,,,a,5,,\nrecord,e,,,,,,a,1,,\nafter,e,,,,,,b,1,,\n"
                        "launch,c,,3,,,,b,1,,\nwait,stream,,,,,,a,1,,\nwait,e,,,,,,,1,,\n"
                        "launch,k,,,,,,a,1,,\nhost,gap,,4,,,,,,,\nsync,iteration,3,,,,,,,,\n");
    assert_int_equal(program->n_calls, 7);
    assert_int_equal(program->n_kernels, 3);
    assert_int_equal(program->n_streams, 2);
    assert_int_equal(program->n_events, 1);
    assert_int_equal(program->sync_every, 3);
    assert_int_equal(program->host_ns, 15 * US);
    assert_int_equal(program->gpu_ns, 23 * US);
    assert_int_equal(program->kernels[0].register_bytes, 4 * 32 * 128);
    assert_int_equal(program->kernels[1].unit, GSIM_APP_COPY);
    assert_int_equal(program->kernels[1].ns, 3 * US);
    /* bytes 100 to 200 of the one chunk, written, then all 1000, of which that is not known */
    assert_int_equal(program->order->n_parts, 4);
    assert_int_equal(program->order_bytes, 1000);
    assert_true(program->order->parts[2].is_written);
    assert_false(program->order->parts[3].is_written);
    /* the wait for stream a, at 5 + 1 + 1 + 1 + 1 us of the host, is over with the first launch, and
     * so is the wait for the event behind it */
    assert_int_equal(program->steps[0].wait_ns, 9 * US);
    assert_int_equal(program->steps[1].wait_ns, -1);
}

#define KERNEL HEAD "kernel,k,,10,h200,,,,,,\n"

static void what_is_wrong_is_named_by_its_line(void **state) {
    struct fixture *f = *state;
    refuse_app(f, KERNEL "launch,x,,,,,,,1,,\n",
               "3: the row launches 'x'; accepted: a kernel, copy or set of a row before it");
    refuse_app(f, HEAD "kernel,k,,10,h200,,,,,,\nkernel,l,,10,h200,,,,,,\nlaunch,k,,,,,,,1,,\n",
               "3: kernel 'l' is launched by no row");
    refuse_app(f, KERNEL "launch,k,,,,,,,1,,\nwait,e,,,,,,,1,,\n",
               "4: the row waits for event 'e', which no row before it records: the program would "
               "wait for ever");
    refuse_app(f, KERNEL "launch,k,,,,,,,1,,\nafter,e,,,,,,b,1,,\nrecord,e,,,,,,a,1,,\n",
               "4: the row waits for event 'e', which no row before it records");
    refuse_app(f, KERNEL "launch,k,,,,,,,-1,,\n",
               "3: host_us: '-1' is not a number of zero or more");
    refuse_app(f, KERNEL "sync,iteration,4,,,,,,,,\n", " a wait after several iterations");
    refuse_app(f, KERNEL "launch,k,,,,,,,1,,\nsync,kernel,,,,,,,,,\n",
               " a program says where its host waits");
    refuse_app(f, HEAD "kernel,k,,10,h200,,32,,,,\n", "2: registers are those of a thread");
    refuse_app(f, HEAD "kernel,k,,0,h200,,,,,,\nlaunch,k,,0,,,,,0,,\n",
               "2: kernel 'k' and all others last 0");
    refuse_app(
        f, HEAD "kernel,k,,0,h200,,,,,,\nlaunch,k,,0,,,,,9,,\n",
        "2: kernel 'k' and all others last 0, so an iteration would take no time on the GPU");
    refuse_app(f, HEAD "buffer,w,,,,,,,,9,\nkernel,k,,1,h200,,,,,,w@x\n",
               "3: touches: 'w@x' is not read");
    refuse_app(f, HEAD "kernel,k,,,,,,,,9,\nlaunch,k,,1,,,,,1,,\n",
               "3: the time of a launch is one on the device of its kernel");
}

/* --- phases ----------------------------------------------------------------------------------- */

#define PHASES "kind,name,count,time_us,device,host_us,grow_us\n"
#define TWO_KERNELS "kernel,p,,100,h200,,\nkernel,d,,10,h200,,\n"

static void assert_same_programs(const struct gsim_program *a, const struct gsim_program *b) {
    assert_int_equal(a->n_calls, b->n_calls);
    assert_int_equal(a->n_kernels, b->n_kernels);
    assert_int_equal(a->host_ns, b->host_ns);
    assert_int_equal(a->gpu_ns, b->gpu_ns);
    for (uint32_t c = 0; c < a->n_calls; c++) {
        assert_int_equal(a->calls[c].kind, b->calls[c].kind);
        assert_int_equal(a->calls[c].host_ns, b->calls[c].host_ns);
        assert_int_equal(a->calls[c].kernel, b->calls[c].kernel);
    }
    for (uint32_t k = 0; k < a->n_kernels; k++) {
        assert_int_equal(a->kernels[k].ns, b->kernels[k].ns);
        assert_int_equal(a->kernels[k].kind, b->kernels[k].kind);
        assert_int_equal(a->steps[k].wait_ns, b->steps[k].wait_ns);
        assert_int_equal(a->steps[k].launched_ns, b->steps[k].launched_ns);
    }
}

/* A phase is what its calls written out are. */
static void phases_follow_each_other(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *phases =
        program_on(f, &profile,
                   PHASES TWO_KERNELS "launch,d,,,,3,\nphase,prefill,2,,,,\nlaunch,p,,,,5,\n"
                                      "phase,decode,3,,,,\nlaunch,d,,,,4,2.5\nlaunch,p,,20,,1,1\n"
                                      "wait,device,,,,1,\nphase,end,,,,,\nlaunch,d,,,,6,\n");
    const struct gsim_program *written_out =
        program_on(f, &profile,
                   PHASES TWO_KERNELS
                   "launch,d,,,,3,\nlaunch,p,,,,5,\nlaunch,p,,,,5,\n"
                   "launch,d,,10,,4,\nlaunch,p,,20,,1,\nwait,device,,,,1,\n"
                   "launch,d,,12.5,,4,\nlaunch,p,,21,,1,\nwait,device,,,,1,\n"
                   "launch,d,,15,,4,\nlaunch,p,,22,,1,\nwait,device,,,,1,\nlaunch,d,,,,6,\n");
    assert_int_equal(phases->n_kernels, 10);
    assert_same_programs(phases, written_out);
}

#define MEMORY "kind,name,count,time_us,device,host_us,bytes,touches,phase,grow_bytes\n"
#define OPTIMIZER "buffer,w,,,,,1000,,,\nbuffer,o,,,,,4000,,train,\nbuffer,kv,,,,,100,,answer,10\n"
#define TOUCHING "kernel,step,,9,h200,,,w o@rw,,\nkernel,token,,2,h200,,,w@r kv@rw,,\n"
#define TRAIN "phase,train,3,,,,,,,\nlaunch,step,,,,1,,,,\n"
#define ANSWER "phase,answer,301,,,,,,,\nlaunch,token,,,,1,,,,\n"

/* Weights of 1000 are always there. In one phase an optimizer of 4000 is there, in the other a cache of 100
 * that is 300 times 10 larger at the end: 3100. So there are 5000 at most. */
static void memory_is_that_of_the_largest_phase(void **state) {
    struct fixture *f = *state;
    struct gsim_app *app = gsim_arena_alloc(f->arena, sizeof *app);
    assert_int_equal(read_app(f, MEMORY OPTIMIZER TOUCHING TRAIN ANSWER, app), GSIM_OK);
    assert_int_equal(app->mem_bytes, 5000);
    assert_int_equal(app->buffers[2].bytes, 3100);
    assert_int_equal(read_app(f,
                              MEMORY OPTIMIZER TOUCHING TRAIN
                              "phase,answer,501,,,,,,,\nlaunch,token,,,,1,,,,\n",
                              app),
                     GSIM_OK);
    assert_int_equal(app->mem_bytes, 1000 + 100 + 5000);
}

/* A cache of one chunk of 2 MiB, which is one larger each time, behind weights of one chunk. A token touches
 * the weights and all of the cache: two chunks, three, four. Of kernels that touch its second half the first
 * touches from 1 MiB on, the last up to 6 MiB. */
static void a_buffer_is_touched_in_the_size_that_it_has(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program =
        program_on(f, &profile,
                   MEMORY "buffer,w,,,,,2MiB,,,\nbuffer,kv,,,,,2MiB,,answer,2MiB\n"
                          "kernel,token,,2,h200,,,w@r kv@rw,,\n"
                          "phase,answer,3,,,,,,,\nlaunch,token,,,,1,,,,\n");
    const struct gsim_touch_order *order = program->order;
    assert_int_equal(order->n_chunks, 4);
    assert_int_equal(order->n_parts, 6);
    for (uint32_t nth = 0; nth < 3; nth++) {
        const struct gsim_touch_part *weights = &order->parts[2 * nth], *cache = weights + 1;
        assert_int_equal(weights->n, 1);
        assert_false(weights->is_written);
        assert_int_equal(cache->first, 1);
        assert_int_equal(cache->n, 1 + nth);
        assert_true(cache->is_written);
    }
    struct gsim_roofline_cost cost;
    program = program_on(f, &profile,
                         MEMORY "buffer,kv,,,,,2MiB,,answer,2MiB\n"
                                "kernel,token,,2,h200,,,kv:50%-100%@rw,,\n"
                                "phase,answer,3,,,,,,,\nlaunch,token,,,,1,,,,\n");
    assert_int_equal(program->order_bytes, 5 << 20);
    assert_int_equal(gsim_roofline_cost(program->app, &profile, &cost, &f->log), GSIM_OK);
    assert_int_equal(cost.working_set_bytes, 5 << 20);
}

static void memory_of_phases_that_cannot_be(void **state) {
    struct fixture *f = *state;
    refuse_app(f, MEMORY "buffer,w,,,,,10,,,5\n" TOUCHING TRAIN ANSWER,
               "2: grow_bytes is of a buffer of a phase, and buffer 'w' names none");
    refuse_app(f,
               MEMORY "buffer,w,,,,,10,,nap,\nkernel,k,,1,h200,,,,,\n"
                      "phase,a,,,,,,,,\nlaunch,k,,,,1,,,,\n",
               "2: buffer 'w' is of phase 'nap', which no row names");
    refuse_app(f, MEMORY "buffer,w,,,,,10,,nap,\nkernel,k,,1,h200,,,,,\nlaunch,k,,,,1,,,,\n",
               "2: buffer 'w' is of phase 'nap', and the file has no phases");
    refuse_app(f, MEMORY OPTIMIZER TOUCHING TRAIN ANSWER "launch,step,,,,1,,,,\n",
               "11: the row launches 'step', which touches buffer 'o', and that is there in phase "
               "'train' only");
    refuse_app(f,
               MEMORY "buffer,kv,,,,,1,,a,1000000000000000000\nkernel,k,,1,h200,,,,,\n"
                      "phase,a,9,,,,,,,\nlaunch,k,,,,1,,,,\n",
               "2: buffer 'kv' grows past 2^60 bytes while phase 'a' lasts");
    refuse_app(f, MEMORY "buffer,kv,,,,,1,,a,lots\nkernel,k,,1,h200,,,,,\n",
               "2: grow_bytes: 'lots' is not a number of bytes");
}

static void phases_that_cannot_be(void **state) {
    struct fixture *f = *state;
    refuse_app(f, PHASES TWO_KERNELS "phase,a,2,,,,\nphase,b,,,,,\nlaunch,p,,,,1,\n",
               "4: phase 'a' has no calls");
    refuse_app(f, PHASES TWO_KERNELS "launch,p,,,,1,\nlaunch,d,,,,1,\nphase,a,2,,,,\n",
               "6: phase 'a' has no calls");
    refuse_app(f, PHASES TWO_KERNELS "phase,a,0,,,,\nlaunch,p,,,,1,\n",
               "4: count: '0' is not a number above zero");
    refuse_app(f, PHASES TWO_KERNELS "phase,a,600000,,,,\nlaunch,p,,,,1,\nlaunch,d,,,,1,\n",
               "4: with phase 'a' an iteration has more calls than a program may have");
    refuse_app(f, PHASES TWO_KERNELS "phase,a,,,,,\nlaunch,p,,,,1,\nphase,a,,,,,\nlaunch,d,,,,1,\n",
               "6: phase 'a' stands twice");
    refuse_app(f, PHASES TWO_KERNELS "launch,p,,,,1,3\nlaunch,d,,,,1,\n",
               "4: grow_us is of a launch in a phase");
    refuse_app(f, PHASES TWO_KERNELS "phase,a,,,,,\nlaunch,p,,,,1,\nwait,device,,,,1,3\n",
               "6: grow_us is of a launch in a phase");
    refuse_app(f, PHASES "kernel,d,,10,h200,,\nphase,a,90000,,,,\nlaunch,d,,,,1,1000000\n",
               "3: phase 'a' lets a launch grow past a day");
    refuse_app(f,
               "kind,name,count,flops,host_us,grow_us\nkernel,d,,1000,,\nphase,a,9,,,\n"
               "launch,d,,,1,1\n",
               "4: grow_us adds to a time: kernel 'd' has no time_us");
}

static void a_block_that_no_sm_holds(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program;
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    profile.value[GSIM_KEY_SM_THREADS] = 768;
    assert_int_equal(read_app(f, HEAD "kernel,k,,10,h200,1024,,,,,\nlaunch,k,,,,,,,1,,\n", &app),
                     GSIM_OK);
    assert_int_equal(gsim_program_of(&app, &profile, f->arena, &program, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "2: a block of kernel 'k' has 1024 threads, which no SM can hold");
    profile = h200(f);
    assert_int_equal(read_app(f, HEAD "kernel,k,,10,h200,1024,65,,,,\nlaunch,k,,,,,,,1,,\n", &app),
                     GSIM_OK);
    assert_int_equal(gsim_roofline_cost(&app, &profile, &cost, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "2: kernel 'k' needs 266240 bytes of registers a block");
    /* 1000 threads of 65 registers are 260000 bytes; given out to 32 warps, 72 a thread, 294912 */
    assert_int_equal(read_app(f, HEAD "kernel,k,,10,h200,1000,65,,,,\nlaunch,k,,,,,,,1,,\n", &app),
                     GSIM_OK);
    assert_int_equal(gsim_program_of(&app, &profile, f->arena, &program, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "2: a block of kernel 'k' has 294912 bytes of registers");
}

/* An SM has 2048 threads in two blocks of 1024, the largest that CUDA launches. */
static void a_block_that_cannot_be_launched(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program;
    struct gsim_app app;
    assert_int_equal(read_app(f, HEAD "kernel,k,,10,h200,1024,,,,,\nlaunch,k,,,,,,,1,,\n", &app),
                     GSIM_OK);
    assert_int_equal(gsim_program_of(&app, &profile, f->arena, &program, &f->log), GSIM_OK);
    assert_int_equal(read_app(f, HEAD "kernel,k,,10,h200,1025,,,,,\nlaunch,k,,,,,,,1,,\n", &app),
                     GSIM_OK);
    assert_int_equal(gsim_program_of(&app, &profile, f->arena, &program, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "2: a block of kernel 'k' has 1025 threads; device h200 launches blocks of at "
                    "most 1024");
}

/* An SM has 228 KiB, of which each block takes one for the system. */
static void shared_memory_that_no_sm_holds(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program;
    struct gsim_app app;
    static const char *const texts[] = {"kind,name,time_us,device,threads,shared_kib,host_us\n"
                                        "kernel,k,10,h200,32,227,\nlaunch,k,,,,,1\n",
                                        "kind,name,time_us,device,threads,shared_kib,host_us\n"
                                        "kernel,k,10,h200,32,228,\nlaunch,k,,,,,1\n"};
    assert_int_equal(read_app(f, texts[0], &app), GSIM_OK);
    assert_int_equal(gsim_program_of(&app, &profile, f->arena, &program, &f->log), GSIM_OK);
    assert_int_equal(read_app(f, texts[1], &app), GSIM_OK);
    assert_int_equal(gsim_program_of(&app, &profile, f->arena, &program, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "2: a block of kernel 'k' has 234496 bytes of shared memory");
}

/* --- timelines -------------------------------------------------------------------------------- */

#define ROWS "what,t_ns,dur_ns,corr,stream,grid,block,regs,shared_bytes,name\n"

/* Writes the timeline's program where the timeline was. */
static enum gsim_status write_app(struct fixture *f, struct gsim_timeline *timeline,
                                  int64_t sync_every) {
    enum gsim_status status = gsim_timeline_fold(timeline);
    if (status != GSIM_OK)
        return status;
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(gsim_timeline_write(timeline, "h200", sync_every, NULL, file), GSIM_OK);
    assert_int_equal(fclose(file), 0);
    return GSIM_OK;
}

static enum gsim_status import(struct fixture *f, const char *text, struct gsim_app *app) {
    struct gsim_timeline timeline;
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_timeline_init(&timeline, f->path, NULL, f->arena, &f->log), GSIM_OK);
    enum gsim_status status = gsim_timeline_read(&timeline);
    if (status == GSIM_OK)
        status = write_app(f, &timeline, 4);
    if (status != GSIM_OK)
        return status;
    return gsim_apps_load(f->path, NULL, 0, f->arena, app, &f->log);
}

/* The second iteration is 10 us slower before its first call, and its kernels 2 us longer; the third
 * has another call. Launches count up to the end of their calls: 1, 3 us. The wait begins at 10 us
 * and ends with the kernel, at 12 us; the host learns of that and is done at 20 us. */
static void a_timeline_becomes_a_program(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    assert_int_equal(
        import(f,
               ROWS "iteration,0,20000,,,,,,,i\ncall,500,500,1,,,,,,cudaLaunchKernel\n"
                    "kernel,1000,5000,1,7,4x2x1,64x2x1,32,1024,void a::f<int>(b)\n"
                    "call,2000,1000,2,,,,,,cudaMemsetAsync\nset,6000,6000,2,7,,,,,Memset\n"
                    "call,10000,3000,3,,,,,,cudaStreamSynchronize\n"
                    "call,25000,1000,9,,,,,,cudaLaunchKernel\nkernel,26000,90,9,7,1,1,1,0,o\n"
                    "iteration,30000,30000,,,,,,,i\ncall,40500,500,4,,,,,,cudaLaunchKernel\n"
                    "kernel,41000,7000,4,7,4x2x1,64x2x1,32,1024,void a::f<int>(b)\n"
                    "call,42000,1000,5,,,,,,cudaMemsetAsync\nset,48000,6000,5,7,,,,,Memset\n"
                    "call,50000,5000,6,,,,,,cudaStreamSynchronize\n"
                    "iteration,60000,10000,,,,,,,i\ncall,61000,500,7,,,,,,cudaLaunchKernel\n"
                    "kernel,62000,5000,7,7,1,1,1,0,g\n",
               &app),
        GSIM_OK);
    assert_int_equal(app.n_kernels, 2);
    assert_string_equal(app.kernels[0].name, "f");
    assert_int_equal(app.kernels[0].blocks, 8);
    assert_int_equal(app.kernels[0].threads, 128);
    assert_int_equal(app.kernels[0].register_bytes, 4 * 32 * 128);
    assert_int_equal(app.kernels[0].shared_bytes, 1024);
    assert_int_equal(app.kernels[1].unit, GSIM_APP_SET);
    assert_int_equal(app.n_calls, 3);
    assert_int_equal(app.calls[0].host_ns, (1000 + 11000) / 2);
    assert_int_equal(app.calls[0].time_ns, 6000);
    assert_int_equal(app.calls[1].host_ns, 2000);
    assert_int_equal(app.calls[2].kind, GSIM_CALL_WAIT_DEVICE);
    assert_int_equal(app.calls[2].host_ns, 7000);
    assert_int_equal(app.gap_ns, (8000 + 6000) / 2);
    assert_int_equal(app.sync_every, 4);
    assert_int_equal(f->log.n_warnings, 2);
    assert_non_null(strstr(f->log.warnings[0].text, "left out 1 of 3 iterations"));
    assert_non_null(strstr(f->log.warnings[1].text, "left out 1 calls outside"));
}

static void a_chrome_trace_becomes_a_program(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    static const char text[] = /* PyTorch begins with an empty line */
        "\n  {\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\"}], \"traceEvents\": [\n"
        "{\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"ts\": 10, \"dur\": 50},\n"
        "{\"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"ts\": 12.5, \"dur\": 1.5,"
        " \"args\": {\"correlation\": 5}},\n"
        "{\"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 14, \"dur\": 20, \"args\": {"
        "\"correlation\": 5, \"stream\": 7, \"registers per thread\": 40, \"shared memory\": 2048,"
        " \"grid\": [3, 2, 1], \"block\": [128, 1, 1]}},\n"
        "{\"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": 11, \"dur\": 4}]}";
    assert_int_equal(import(f, text, &app), GSIM_OK);
    assert_int_equal(app.n_calls, 1);
    assert_int_equal(app.calls[0].host_ns, 4 * US);
    assert_int_equal(app.calls[0].time_ns, 20 * US);
    assert_int_equal(app.kernels[0].blocks, 6);
    assert_int_equal(app.kernels[0].register_bytes, 4 * 40 * 128);
    assert_int_equal(app.gap_ns, 46 * US);
}

/* The tables of an export of Nsight Systems, with the columns that are read. */
#define NSIGHT                                                                                     \
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"                                  \
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, text TEXT, textId INT);"                         \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, correlationId INT, nameId INT);" \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(correlationId INT, syncType INT, "           \
    "streamId INT);"
#define NSIGHT_KERNELS                                                                             \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, correlationId INT, streamId INT," \
    "gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, registersPerThread INT," \
    "staticSharedMemory INT, dynamicSharedMemory INT, demangledName INT);"
/* Two steps, the second named by a number of StringIds, and a range within the first. */
#define NSIGHT_ROWS                                                                                \
    "INSERT INTO StringIds VALUES(1,'cudaLaunchKernel_v7000'),(2,'cudaStreamSynchronize_v3020'),"  \
    "(3,'void ns::gemm<int>(float)'),(4,'step_2');"                                                \
    "INSERT INTO NVTX_EVENTS VALUES(1000,50000,'step_1',NULL),(60000,109000,NULL,4),"              \
    "(2000,3000,'aten::mm',NULL),(4000,NULL,'mark',NULL);"                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(2000,4000,5,1),(10000,31000,6,2),"             \
    "(61000,63000,7,1),(69000,90000,8,2);"                                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(6,3,7),(8,3,7);"                       \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(4000,30000,5,7,3,2,1,128,1,1,40,1024,2048,3),"  \
    "(63000,89000,7,7,3,2,1,128,1,1,40,1024,2048,3);"

static enum gsim_status import_database(struct fixture *f, const char *sql, const char *kind) {
    struct gsim_timeline timeline;
    sqlite3 *db;
    (void)unlink(f->path);
    f->log = (struct gsim_log){0};
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(gsim_nsight_is_database(f->path));
    assert_int_equal(gsim_timeline_init(&timeline, f->path, kind, f->arena, &f->log), GSIM_OK);
    enum gsim_status status = gsim_nsight_read(&timeline);
    return status == GSIM_OK ? write_app(f, &timeline, 0) : status;
}

static void a_database_of_nsight_becomes_a_program(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    assert_int_equal(import_database(f, NSIGHT NSIGHT_KERNELS NSIGHT_ROWS, "step"), GSIM_OK);
    assert_int_equal(gsim_apps_load(f->path, NULL, 0, f->arena, &app, &f->log), GSIM_OK);
    assert_int_equal(app.n_calls, 2);
    assert_string_equal(app.kernels[0].name, "gemm");
    assert_int_equal(app.kernels[0].blocks, 6);
    assert_int_equal(app.kernels[0].shared_bytes, 3072);
    assert_int_equal(app.calls[0].host_ns, 3 * US);
    assert_int_equal(app.calls[0].time_ns, 26 * US);
    assert_int_equal(app.calls[1].kind, GSIM_CALL_WAIT_STREAM);
    assert_int_equal(app.calls[1].host_ns, 6 * US);
    assert_int_equal(app.gap_ns, 20 * US); /* from the kernels' ends, at 30 and 89 us */
    assert_int_equal(app.sync, GSIM_SYNC_NONE);
    assert_int_equal(import_database(f, NSIGHT NSIGHT_KERNELS NSIGHT_ROWS, NULL), GSIM_BAD_INPUT);
    expect_error(f, " an iteration begins before the one before it has ended; of ranges within");
    assert_int_equal(import_database(f, NSIGHT, "step"), GSIM_BAD_INPUT);
    expect_error(
        f, " the database has no table CUPTI_ACTIVITY_KIND_KERNEL: profile with nsys profile");
}

#define NSIGHT_OPEN(at)                                                                            \
    NSIGHT NSIGHT_KERNELS NSIGHT_ROWS "ALTER TABLE NVTX_EVENTS ADD eventType INT;"                 \
                                      "UPDATE NVTX_EVENTS SET eventType = 59;"                     \
                                      "INSERT INTO NVTX_EVENTS VALUES(" at ",NULL,'step',NULL,59)"

/* A push without a pop before another iteration is an error; behind the last one the profile was
 * cut off. */
static void a_range_that_never_ends(void **state) {
    struct fixture *f = *state;
    assert_int_equal(import_database(f, NSIGHT_OPEN("55000"), "step"), GSIM_BAD_INPUT);
    expect_error(f, " the range of NVTX 'step' that begins at 55000 ns never ends");
    assert_int_equal(import_database(f, NSIGHT_OPEN("120000"), "step"), GSIM_OK);
    assert_int_equal(
        import_database(f, NSIGHT_OPEN("900") ";DELETE FROM NVTX_EVENTS WHERE end > 0", "step"),
        GSIM_BAD_INPUT);
    expect_error(f, " the range of NVTX 'step' that begins at 900 ns never ends, and no other is");
}

/* An iteration of each name, 20 us apart and 15 us long: a call that ends after 1 us launches the
 * kernel of that name, which lasts 2 us in every second iteration and 4 us in the others; with
 * growth, 2 us the first time in a row, and so much longer each time after that. */
static void growing_phases_of(struct fixture *f, const char *names, int grow_ns,
                              struct gsim_app *app) {
    struct gsim_timeline timeline;
    char text[1 << 14] = ROWS;
    for (int i = 0, place = 0; names[i] != '\0'; i++) {
        place = i > 0 && names[i] == names[i - 1] ? place + 1 : 0;
        int grown = grow_ns > 0 ? 2000 + place * grow_ns : i % 2 ? 2000 : 4000;
        (void)snprintf(&text[strlen(text)], sizeof text - strlen(text),
                       "iteration,%d,15000,,,,,,,i\ncall,%d,500,%d,,,,,,cudaLaunchKernel\n"
                       "kernel,%d,%d,%d,7,1,32,8,0,%c\n",
                       i * 20000, i * 20000 + 500, i, i * 20000 + 1000, grown, i, names[i]);
    }
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_timeline_init(&timeline, f->path, NULL, f->arena, &f->log), GSIM_OK);
    timeline.has_phases = true;
    assert_int_equal(gsim_timeline_read(&timeline), GSIM_OK);
    assert_int_equal(write_app(f, &timeline, 0), GSIM_OK);
    assert_int_equal(gsim_apps_load(f->path, NULL, 0, f->arena, app, &f->log), GSIM_OK);
}

static void phases_of(struct fixture *f, const char *names, struct gsim_app *app) {
    growing_phases_of(f, names, 0, app);
}

static void expect_calls(struct fixture *f, const char *names, const char *calls) {
    struct gsim_app app;
    phases_of(f, names, &app);
    assert_int_equal(app.n_calls, strlen(calls));
    for (uint32_t c = 0; c < app.n_calls; c++)
        assert_int_equal(app.kernels[app.calls[c].kernel].name[0], calls[c]);
}

/* A warm-up comes once and is left out; a cycle that the end of the file cuts off is, too. Cycles of
 * two, three and four b have three in the mean. Where nothing comes again, all is one cycle. */
static void sequences_that_change_are_phases(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    expect_calls(f, "wwabbabbab", "abb");
    assert_non_null(strstr(f->log.warnings[0].text, "left out 4 of 10 iterations"));
    expect_calls(f, "abbabbbabbbb", "abbb");
    expect_calls(f, "abcbabcb", "abcb");
    expect_calls(f, "wwwabb", "wwwabb");
    expect_calls(f, "aaaa", "a");
    phases_of(f, "abab", &app);
    assert_int_equal(app.n_calls, 2);
    assert_int_equal(app.calls[0].time_ns, 4 * US);
    assert_int_equal(app.calls[1].time_ns, 2 * US);
    assert_int_equal(app.calls[1].host_ns, 15 * US); /* the rest of 14 us, and 1 us to the call */
    assert_int_equal(app.gap_ns, 0);
}

/* Of one prefill and sixteen tokens, twice: each token lasts 30 ns longer than the one before, and
 * the two prefills, one a cycle, as long as they do. Eight tokens a cycle, twice, are sixteen too;
 * seven are too few, and have their mean of 2 us and three times 30 ns. Times of 2 and 4 us by turns
 * grow by nothing, and have their mean: in one cycle the even tokens last 2 us, in the other the odd
 * ones. */
static void times_that_grow_with_the_token(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    growing_phases_of(f, "abbbbbbbbbbbbbbbbabbbbbbbbbbbbbbbb", 30, &app);
    assert_int_equal(app.n_calls, 17);
    assert_int_equal(app.calls[0].time_ns, 2 * US);
    for (int token = 0; token < 16; token++)
        assert_int_equal(app.calls[1 + token].time_ns, 2 * US + token * 30);
    growing_phases_of(f, "abbbbbbbbabbbbbbbb", 30, &app);
    assert_int_equal(app.calls[8].time_ns, 2 * US + 7 * 30);
    growing_phases_of(f, "abbbbbbbabbbbbbb", 30, &app);
    assert_int_equal(app.calls[1].time_ns, 2 * US + 3 * 30);
    assert_int_equal(app.calls[7].time_ns, 2 * US + 3 * 30);
    phases_of(f, "abbbbbbbbbbbbbbbbabbbbbbbbbbbbbbbb", &app);
    assert_int_equal(app.calls[1].time_ns, 3 * US);
    assert_int_equal(app.calls[16].time_ns, 3 * US);
}

static void refuse_timeline(struct fixture *f, const char *text, const char *expected) {
    struct gsim_app app;
    assert_int_equal(import(f, text, &app), GSIM_BAD_INPUT);
    expect_error(f, expected);
}

static void timelines_that_are_no_program(void **state) {
    struct fixture *f = *state;
    refuse_timeline(f, "what,t_ns,dur_ns,corr\n", "1: no column 'name'");
    refuse_timeline(f, ROWS "call,0,1,1,,,,,,cudaLaunchKernel\n",
                    " the timeline has no iterations");
    refuse_timeline(
        f, ROWS "iteration,0,9,,,,,,,i\ncall,0,1,1,,,,,,cudaLaunchKernel\n",
        "3: the timeline has 1 calls that launch, and no kernel, copy or set on the GPU");
    refuse_timeline(f, ROWS "iteration,0,9,,,,,,,i\nkernel,0,1,1,7,1,1,1,0,k\n",
                    "3: 1 of 1 kernels, copies and sets, this one first, are joined to no call");
    refuse_timeline(f,
                    ROWS "iteration,0,9,,,,,,,i\ncall,0,1,1,,,,,,cudaLaunchKernel\n"
                         "kernel,0,0,1,7,1,1,1,0,k\n",
                    "4: this kernel and all others last 0 ns");
    refuse_timeline(f,
                    ROWS "iteration,0,9,,,,,,,i\ncall,20,1,1,,,,,,cudaLaunchKernel\n"
                         "kernel,0,5,1,7,1,1,1,0,k\n",
                    " no call within an iteration has work on the GPU");
    refuse_timeline(f, ROWS "iteration,0,9,,,,,,,i\niteration,5,9,,,,,,,i\n",
                    "3: an iteration begins before the one before it has ended");
    refuse_timeline(f, ROWS "kernel,0,-1,1,7,1,1,1,0,k\n", "2: dur_ns: '-1' is not");
    refuse_timeline(f, ROWS "kernel,0,1,1,7,3x0,1,1,0,k\n", "2: grid: '3x0' is not a size");
    refuse_timeline(f, ROWS "wait,0,1,1,7,1,1,1,0,k\n", "2: what: 'wait' is not iteration");
}

/* A call at the instant in which its iteration begins is in the iteration, wherever the file has the
 * rows. Its two kernels overlap from 5 to 9 us: 16 us in all, in 12 us of the GPU. */
static void work_of_streams_that_ran_beside_each_other(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    static const char one[] = "call,0,1000,1,,,,,,cudaLaunchKernel\n"
                              "kernel,1000,8000,1,7,1,1,1,0,k\n"
                              "call,2000,1000,2,,,,,,cudaLaunchKernel\n"
                              "kernel,%d,8000,2,8,1,1,1,0,k\n"
                              "iteration,0,20000,,,,,,,i\n";
    char text[sizeof one + sizeof ROWS + 16];
    for (int begin_ns = 5000; begin_ns <= 9000; begin_ns += 4000) {
        (void)strcpy(text, ROWS);
        (void)snprintf(text + sizeof ROWS - 1, sizeof one + 16, one, begin_ns);
        assert_int_equal(import(f, text, &app), GSIM_OK);
        assert_int_equal(app.n_calls, 2);
        assert_int_equal(app.calls[0].host_ns, 1000);
        assert_int_equal(f->log.n_warnings, begin_ns == 5000);
    }
    (void)snprintf(text + sizeof ROWS - 1, sizeof one + 16, one, 5000);
    assert_int_equal(import(f, text, &app), GSIM_OK);
    assert_non_null(strstr(f->log.warnings[0].text, "they last 16 us in all, in 12 us of the GPU"));
}

/* The driver's call within one of the runtime, of one correlation: the kernel is launched once. */
static void two_calls_of_one_correlation(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    assert_int_equal(import(f,
                            ROWS "iteration,0,20000,,,,,,,i\ncall,0,2000,1,,,,,,cudaLaunchKernel\n"
                                 "call,500,1000,1,,,,,,cuLaunchKernel\n"
                                 "kernel,3000,5000,1,7,1,1,1,0,k\n",
                            &app),
                     GSIM_OK);
    assert_int_equal(app.n_calls, 1);
    assert_int_equal(app.calls[0].host_ns, 2000);
    assert_int_equal(app.gap_ns, 18000);
    assert_int_equal(f->log.n_warnings, 0);
}

#define ON_GPU(gpu)                                                                                \
    "{\"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"dur\": 1, \"args\": {\"device\": " gpu "}}"

/* Kernels of two GPUs, or of two processes with correlations of their own, are no one program. */
static void a_program_is_of_one_gpu(void **state) {
    struct fixture *f = *state;
    refuse_timeline(f, "[" ON_GPU("1") ",\n" ON_GPU("0") "]",
                    "2: a kernel of GPU 0 after kernels of GPU 1; a program is of one GPU");
    refuse_timeline(f, "[" ON_GPU("1") ",\n" ON_GPU("1") "]", " the timeline has no iterations");
#define TWO(column)                                                                                \
    NSIGHT NSIGHT_KERNELS NSIGHT_ROWS "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD " column " INT;" \
                                      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET " column " = "
    assert_int_equal(import_database(f, TWO("globalPid") "start < 9000", "step"), GSIM_BAD_INPUT);
    expect_error(f, " the database has kernels of 2 processes; a program is of one process on one");
    assert_int_equal(import_database(f, TWO("deviceId") "start < 9000", "step"), GSIM_BAD_INPUT);
    expect_error(f, " the database has kernels of 2 GPUs");
    assert_int_equal(import_database(f, TWO("deviceId") "3", "step"), GSIM_OK);
    assert_int_equal(f->log.n_warnings, 0);
    assert_int_equal(
        import_database(f,
                        TWO("deviceId") "3;CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT);"
                                        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1)",
                        "step"),
        GSIM_OK);
    assert_non_null(
        strstr(f->log.warnings[0].text, "1 CUDA graphs ran of which the database does"));
}

#define OF_PROCESS(table, column, sql)                                                             \
    "ALTER TABLE " table " ADD " column " INT;UPDATE " table " SET " column " = 1677721600" sql ";"
/* The process 100, which has the kernels. */
#define OF_100                                                                                     \
    OF_PROCESS("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid", "")                                      \
    OF_PROCESS("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid", " + 100")                               \
    OF_PROCESS("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "globalPid", "")                             \
    OF_PROCESS("NVTX_EVENTS", "globalTid", " + 101")
/* A worker, process 200: correlations that process 100 has as well, waits, and a step. */
#define OF_200                                                                                     \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1100,1200,5,1,3355443400),(1300,1400,9,2,"     \
    "3355443400),(60100,60200,7,1,3355443400);"                                                    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(6,3,9,3355443200);"                    \
    "INSERT INTO NVTX_EVENTS VALUES(1500,1600,'step_1',NULL,3355443400);"

static void processes_without_kernels_are_left_out(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    assert_int_equal(import_database(f, NSIGHT NSIGHT_KERNELS NSIGHT_ROWS OF_100 OF_200, "step"),
                     GSIM_OK);
    assert_int_equal(f->log.n_warnings, 0);
    assert_int_equal(gsim_apps_load(f->path, NULL, 0, f->arena, &app, &f->log), GSIM_OK);
    assert_int_equal(app.n_calls, 2);
    assert_int_equal(app.calls[0].host_ns, 3 * US);
    assert_int_equal(app.calls[0].time_ns, 26 * US);
    assert_int_equal(app.calls[1].kind, GSIM_CALL_WAIT_STREAM);
    assert_int_equal(app.gap_ns, 20 * US);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(processes_without_kernels_are_left_out),
        TEST(what_an_iteration_moves),
        TEST(what_a_kernel_stores),
        TEST(what_a_program_says),
        TEST(phases_follow_each_other),
        TEST(phases_that_cannot_be),
        TEST(memory_is_that_of_the_largest_phase),
        TEST(a_buffer_is_touched_in_the_size_that_it_has),
        TEST(memory_of_phases_that_cannot_be),
        TEST(what_is_wrong_is_named_by_its_line),
        TEST(a_block_that_no_sm_holds),
        TEST(sequences_that_change_are_phases),
        TEST(times_that_grow_with_the_token),
        TEST(a_block_that_cannot_be_launched),
        TEST(a_range_that_never_ends),
        TEST(shared_memory_that_no_sm_holds),
        TEST(a_timeline_becomes_a_program),
        TEST(a_chrome_trace_becomes_a_program),
        TEST(a_database_of_nsight_becomes_a_program),
        TEST(timelines_that_are_no_program),
        TEST(work_of_streams_that_ran_beside_each_other),
        TEST(a_program_is_of_one_gpu),
        TEST(two_calls_of_one_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
