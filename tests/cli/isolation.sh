#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A service of high priority beside a best-effort training on one GPU, under policies that stop or hold
# back the training: GPreempt, Tally, and groups of SMs. Numbers follow by hand. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# latency OPTIONS...: the 99th percentile of the requests, in us, to 10 us; jobs.csv is written
latency() {
    "$gsim" run --quiet --gpus-per-node 1 --format csv --jobs-csv "$tmp/jobs.csv" --force "$@" >"$tmp/out" 2>"$tmp/log" || cat "$tmp/log"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { printf("%d", $at["latency_p99_s"] * 1e5 + 0.5) }' "$tmp/out"
    echo 0
}
end() { # JOB: when it ended, in us, to 10 us
    awk -F, -v job="$1" '$1 == job { printf("%d", $4 * 1e5 + 0.5) }' "$tmp/jobs.csv"
    echo 0
}

# The training has kernels of 2 ms, of eight waves of blocks of 0.25 ms; the request comes 0.1 ms after a
# kernel has begun, at 6.1 ms, and takes 0.5 ms.
cat >"$tmp/one.csv" <<'END'
job_id,submit_s,iterations,gpu_ms,kernels,kernel_ms,requests,period_ms,class,sm_fraction,mem_gib
train,0,5,2,1,0.25,,,,1,1
serve,0.0001,,0.5,1,,1,6,realtime,1,1
END
# A service that stays: its second request comes when the training is over.
sed 's/,1,6,realtime/,2,6,realtime/' "$tmp/one.csv" >"$tmp/two.csv"
head -1 "$tmp/one.csv" >"$tmp/alone.csv"
grep serve "$tmp/one.csv" >>"$tmp/alone.csv"

# GPreempt: a switch of 100 us to the service, and one of 80 us back, since it has nothing to run then.
switches="--device ideal --set switch.preempt_ns=100us --set switch.preempt_full_ns=100us --set switch.idle_ns=80us"
check "the service alone: its own 500 us" 500 "$(latency --policy gpreempt $switches "$tmp/alone.csv")"
check "gpreempt without a hint: and a switch" 600 "$(latency --policy gpreempt $switches --set hint=0 "$tmp/one.csv")"
check "which the training loses, with the request, and the switch back: 10 ms + 680 us" 10680 "$(end train)"
check "a hint of 40 us hides as much of the switch" 560 "$(latency --policy gpreempt $switches --set hint=40us "$tmp/one.csv")"
check "and costs the training nothing more" 10680 "$(end train)"
check "a hint of 100 us hides the switch" 500 "$(latency --policy gpreempt $switches "$tmp/one.csv")"
check "an earlier one hides no more" 500 "$(latency --policy gpreempt $switches --set hint=300us "$tmp/one.csv")"
check "and the GPU waits for the request meanwhile: 200 us" 10880 "$(end train)"
check "a slice of 3 ms of the training, which began at 6 ms, ends at 8 ms with its iteration, then a switch" 2480 \
    "$(latency --policy gpreempt $switches --set hint=0 --set slice=3ms "$tmp/one.csv")"

# A service that stops between two kernels of 0.1 ms, the second of which it launches 3.5 ms after the first one's end.
cat >"$tmp/stops.csv" <<'END'
kind,name,time_us,device,host_us
kernel,k,100,ideal,
launch,k,,,0
wait,device,,,0
launch,k,,,3500
END
printf '%s\n' job_id,submit_s,iterations,gpu_ms,kernels,app,class,mem_gib train,0,10,1,1,,,1 \
    serve,0.005,1,,,"$tmp/stops.csv",realtime,1 >"$tmp/stops_beside.csv"
latency --policy gpreempt --device ideal --set hint=0 "$tmp/stops_beside.csv" >/dev/null
check "gpreempt without a hint: the training has the GPU between the service's kernels, 10 ms + 200 us" 10200 "$(end train)"
latency --policy gpreempt --device ideal "$tmp/stops_beside.csv" >/dev/null
check "with one it has not, since the hint's kernel waits for both: 10 ms + 3.7 ms" 13700 "$(end train)"

# Tally: the wave of blocks that runs ends at 6.25 ms; the training goes on 100 us after the request's end.
check "tally: the running blocks, then the request" 650 "$(latency --policy tally --device ideal "$tmp/one.csv")"
check "as long as the service is there, the training loses the request and the wait" 10600 \
    "$(latency --policy tally --device ideal "$tmp/two.csv" >/dev/null; end train)"
check "without a wait it loses the request" 10500 \
    "$(latency --policy tally --device ideal --set wait=0 "$tmp/two.csv" >/dev/null; end train)"
check "and nothing else where the service has left" 10500 \
    "$(latency --policy tally --device ideal "$tmp/one.csv" >/dev/null; end train)"
# A service of one kernel of 0.5 ms that leaves 40 us after it, within the wait of 100 us. Of two trainings that fill all
# SMs in turns of 1 ms the second ends when both are done.
cat >"$tmp/leaves.csv" <<'END'
kind,name,time_us,device,host_us
kernel,k,500,ideal,
launch,k,,,0
host,gap,40,,
END
printf 'kind,name,time_us,device,host_us\nkernel,k,1000,ideal,\nlaunch,k,,,0\n' >"$tmp/trains.csv"
printf '%s\n' job_id,submit_s,iterations,app,class,mem_gib "serve,0,1,$tmp/leaves.csv,realtime,1" \
    "first,0.0001,10,$tmp/trains.csv,,1" "second,0.0002,10,$tmp/trains.csv,,1" >"$tmp/leaves_beside.csv"
latency --policy tally --device ideal "$tmp/leaves_beside.csv" >/dev/null
check "trainings wait for no service that has left: 500 us, 40 us, 2 x 10 ms" 20540 "$(end second)"
whole=$(latency --policy tally --device ideal --set bound=2ms "$tmp/one.csv")
check "a kernel within the bound runs out, 1.9 ms, and its last wave leaves its SMs bit by bit" yes \
    "$([ "$whole" -le 2400 ] && [ "$whole" -ge 2150 ] && echo yes || echo "$whole")"
check "side by side both run at half their speed" 1000 "$(latency --policy mps --device ideal "$tmp/one.csv")"
expect "columns stand for kernels: the result says so" 0 "program=columns" \
    "$gsim" run --policy tally --device h200 --gpus-per-node 1 "$tmp/one.csv"
expect "and that nothing of it was measured" 0 "outside what was validated: tally: kernels side by side" \
    "$gsim" run --policy tally --device h200 --gpus-per-node 1 "$tmp/one.csv"

# Three trainings of 20 kernels of 1 ms beside ten requests of 0.3 ms: Orion's scheduler lets one kernel begin at a time,
# of its clients by turns, so that they end within the last three kernels of 60 + 3 ms.
cat >"$tmp/short.csv" <<'END'
kind,name,time_us,device,host_us
kernel,k,1000,ideal,
launch,k,,,0
END
sed 's/1000/300/' "$tmp/short.csv" >"$tmp/request.csv"
printf '%s\n' job_id,submit_s,iterations,app,mem_gib,class,requests,period_ms "a,0,20,$tmp/short.csv,1,,," "b,0,20,$tmp/short.csv,1,,," \
    "c,0,20,$tmp/short.csv,1,,," "service,0,,$tmp/request.csv,1,realtime,10,5" >"$tmp/turns.csv"
latency --policy orion --device ideal "$tmp/turns.csv" >/dev/null
check "orion: best-effort jobs have kernels by turns" "61000 62000 63000" "$(end a) $(end b) $(end c)"

# However the host of a high-priority job waits, its iterations are those of its row: 10 ms, of which 2.5 % are less than a kernel of
# 1 ms, so that best-effort kernels run one at a time, and each of be and many has half of that time until many is done.
for sync in none iteration kernel; do
    printf 'job_id,submit_s,iterations,gpu_ms,kernels,sync,class,sm_fraction\nhp,0,100,10,10,%s,realtime,0.5\n' $sync >"$tmp/ahead.csv"
    printf 'be,0,2000,1,1,iteration,batch,0.4\nmany,0,20,10,10,none,batch,0.4\n' >>"$tmp/ahead.csv"
    latency --policy orion --device ideal "$tmp/ahead.csv" >/dev/null
    check "orion: ahead is a part of an iteration, sync=$sync" "1000000 2200000 400000" "$(end hp) $(end be) $(end many)"
done

# A host that waits for each of ten kernels of 1 ms, 0.8 ms before the next: an iteration is under way for 17.2 ms, and a kernel of 1 ms
# that needs all SMs begins in the 0.8 ms behind it, once for each of the 100: 100 x 17.2 + 99 x 1 + 0.8 ms; 200 are left then.
printf 'job_id,submit_s,iterations,gpu_ms,kernels,sync,host_ms,host_gap_ms,class,sm_fraction\nhp,0,100,10,10,kernel,5,3,realtime,0.5\n' >"$tmp/each.csv"
printf 'be,0,300,1,1,iteration,0,,batch,1\n' >>"$tmp/each.csv"
latency --policy orion --device ideal "$tmp/each.csv" >/dev/null
check "orion: no large kernel begins between two of an iteration" "1819800 2020000" "$(end hp) $(end be)"

# Programs under orion: a host that waits for its first kernel has not launched the second one, of all SMs, when the
# request comes after 5 ms, though nothing held either back before. So the second begins at 25 ms, when the request is
# over, and not beside it at 10 ms.
cat >"$tmp/waits_app.csv" <<'END'
kind,name,time_us,device,host_us,blocks,threads
kernel,half,10000,ideal,,50,1024
kernel,all,10000,ideal,,100,1024
launch,half,,,1,,
wait,device,,,0,,
launch,all,,,0,,
END
sed '/^wait/d; /all,/d; s/,10000/,20000/' "$tmp/waits_app.csv" >"$tmp/request_app.csv"
cat >"$tmp/waits.csv" <<END
job_id,submit_s,iterations,requests,period_ms,class,app,mem_gib
waits,0,1,,,,$tmp/waits_app.csv,1
serve,0,,1,5,realtime,$tmp/request_app.csv,1
END
latency --policy orion --device ideal --set sm.threads=1024 --set orion.ahead=100% "$tmp/waits.csv" >/dev/null
check "orion: a kernel that its host has not launched is not launched ahead" 35000 "$(end waits)"

# Programs: 2112 blocks of 1024 threads, of which 264 are on the 132 SMs of an H200 at a time: the same waves.
cat >"$tmp/train_app.csv" <<'END'
kind,name,time_us,device,host_us,blocks,threads
kernel,gemm,2000,h200,,2112,1024
launch,gemm,,,1,,
END
cat >"$tmp/serve_app.csv" <<'END'
kind,name,time_us,device,host_us,blocks,threads
kernel,gemm,500,h200,,264,1024
launch,gemm,,,1,,
END
cat >"$tmp/programs.csv" <<END
job_id,submit_s,iterations,requests,period_ms,class,app,mem_gib
train,0,5,,,,$tmp/train_app.csv,1
serve,0.0001,,2,6,realtime,$tmp/serve_app.csv,1
END
(head -1 "$tmp/programs.csv"; grep serve "$tmp/programs.csv") >"$tmp/program.csv"
plain="--set job.spread_ppm=0 --set job.memory_ppm=0 --set launch.host_gap_ns=0"
alone=$(latency --policy tally --device h200 $plain "$tmp/program.csv")
tally=$(latency --policy tally --device h200 $plain "$tmp/programs.csv")
mps=$(latency --policy mps --device h200 $plain "$tmp/programs.csv")
check "of programs, tally costs the service at most a block's time, and mps more" "yes" \
    "$([ "$tally" -gt "$alone" ] && [ "$tally" -le $((alone + 250)) ] && [ "$mps" -gt "$tally" ] && echo yes || echo "$alone $tally $mps")"

# Measured programs: a server beside a product that keeps all SMs for 1.65 ms. All three cost the server no less
# than being alone, and less than MPS, under which its kernels wait behind the product's.
cat >"$tmp/pair.csv" <<'END'
job_id,submit_s,requests,period_ms,iterations,app,mem_gib,class
a,0,200,3,,h200-dlrm-infer,10,realtime
b,0,,,100000,h200-gemm-chain,10,
END
grep -v ^b "$tmp/pair.csv" >"$tmp/server.csv"
least=$(latency --policy mps --device h200 --until 1s "$tmp/server.csv")
most=$(latency --policy mps --device h200 --until 1s "$tmp/pair.csv")
for policy in gpreempt tally green; do
    own=$(latency --policy $policy --device h200 --until 1s "$tmp/pair.csv")
    check "$policy keeps the server's latency below half of that under mps" yes \
        "$([ "$own" -ge "$least" ] && [ $((2 * own)) -lt "$most" ] && echo yes || echo "$least $own $most")"
done

# Groups of SMs: half of the 132 SMs of an H200 are 66, of which a group counts 64.
cat >"$tmp/groups.csv" <<'END'
job_id,submit_s,iterations,gpu_ms,kernels,sm_fraction,mem_gib
a,0,100,10,1,1,1
b,0,100,10,1,1,1
c,0,100,10,1,1,1
END
latency --policy green --device h200 $plain "$tmp/groups.csv" >/dev/null
check "green: a second of work on 64 of 132 SMs takes 132/64 of it, and the third job waits for a group" \
    "2062500 2062500 4125000" "$(end a) $(end b) $(end c)"
latency --policy green --device h200 --set part=30% $plain "$tmp/groups.csv" >/dev/null
check "three groups of 32 SMs (30 % are 39.6)" "4125000 4125000 4125000" "$(end a) $(end b) $(end c)"
latency --policy green --device a100-40 --set part=30% $plain "$tmp/groups.csv" >/dev/null
check "of an A100's 108 SMs 30 % are 32, by twos" "3375000" "$(end a)"
latency --policy green --device h200 --set part=1% $plain "$tmp/groups.csv" >/dev/null
check "the smallest group has 8 SMs" "16500000" "$(end a)"
check "a service in a group of its own does not feel the training" \
    "$(latency --policy green --device h200 --set job.memory_ppm=0 "$tmp/alone.csv")" \
    "$(latency --policy green --device h200 --set job.memory_ppm=0 "$tmp/one.csv")"
expect "a part that no group has" 2 "part" "$gsim" run --policy green --set part=101% "$tmp/groups.csv"

# Static partitions of MPS: 64 SMs each, where the third job shares the first one's. Two jobs on 64 SMs have half of
# them each: 2 x 132/64 s. Of 96 and 32 SMs the larger one is taken first: 132/96 and 132/32 s.
latency --policy green --device h200 --set partitions=8,8 $plain "$tmp/groups.csv" >/dev/null
check "green: a third client of two partitions shares the first one" "4125000 2062500 4125000" \
    "$(end a) $(end b) $(end c)"
grep -v ^c "$tmp/groups.csv" >"$tmp/two.csv"
latency --policy green --device h200 --set partitions=4,12 $plain "$tmp/two.csv" >/dev/null
check "the largest free partition is taken first" "1375000 4125000" "$(end a) $(end b)"
# Programs in a partition of all SMs (four chunks of 33), as under MPS: each kernel of 2 ms is 16 waves, which leave
# no block of 1 ms a place before the last of them, though 2048 - 2 x 704 threads of each SM are free.
cat >"$tmp/waves_app.csv" <<'END'
kind,name,time_us,device,host_us,blocks,threads
kernel,waves,2000,h200,,4224,700
launch,waves,,,1,,
END
cat >"$tmp/small_app.csv" <<'END'
kind,name,time_us,device,host_us,blocks,threads
kernel,small,1000,h200,,1,64
launch,small,,,1,,
END
cat >"$tmp/partition.csv" <<END
job_id,submit_s,iterations,app,mem_gib
waves,0,5,$tmp/waves_app.csv,1
small,0.0001,1,$tmp/small_app.csv,1
END
latency --policy mps --device h200 $plain "$tmp/partition.csv" >/dev/null
mps="$(end waves) $(end small)"
latency --policy green --device h200 --set partitions=4 --set green.sms=33 --set green.least_sms=33 $plain "$tmp/partition.csv" >/dev/null
check "a client of a partition waits behind another one's blocks as under mps" "$mps" "$(end waves) $(end small)"
check "which begin for nearly all of their kernel" yes \
    "$([ "$(end small)" -gt 2500 ] && echo yes || end small)"
expect "more chunks than any GPU has" 2 "the first GPU has 16 chunks" \
    "$gsim" run --policy green --device h200 --set partitions=8,9 "$tmp/groups.csv"
expect "a partition of no chunk" 2 "partitions" "$gsim" run --policy green --set partitions=0,4 "$tmp/groups.csv"

# Two GPUs, of 132 and of 40 SMs: 30 % are groups of 32 and of 12 by the devices' steps. The H200 has room for
# four, of which the last ends past the T4's SMs, and the T4 for three.
printf '[node big]\ngpus = 1\ndevice = h200\n\n[node small]\ngpus = 1\ndevice = t4\n' >"$tmp/mixed.ini"
awk 'BEGIN { print "job_id,submit_s,duration_s,sm_fraction,mem_gib"; for (i = 1; i <= 8; i++) printf("j%d,0,100,0.1,1\n", i) }' >"$tmp/eight.csv"
"$gsim" run --quiet --policy green --set part=30% --cluster "$tmp/mixed.ini" --jobs-csv "$tmp/jobs.csv" --force "$tmp/eight.csv" >"$tmp/log" 2>&1
check "groups of GPUs of two types: seven jobs at once, the eighth when one has ended" "7 1" \
    "$(awk -F, 'NR > 1 { n[$3 > 0]++ } END { print n[0], n[1] }' "$tmp/jobs.csv")"

# Orion, five jobs of each priority: kernels whose blocks leave their SMs in the instant in which they are served again. They
# counted twice there, an SM had less than no room, and the run did not end. All of the GPU's time is 3.79 s, and uneven
# ends of blocks let kernels overlap by half of their spread at most.
cat >"$tmp/ten.csv" <<'END'
job_id,submit_s,iterations,gpu_ms,kernels,mem_gib,priority
j0,0,4,60.016807,773,0.2,0
j1,0,7,64.943658,1172,0.2,1
j2,0,3,161.027544,623,0.2,0
j3,0,3,107.237709,965,0.2,1
j4,0,1,164.484492,687,0.2,0
j5,0,4,77.522503,829,0.2,1
j6,0,2,183.378840,603,0.2,0
j7,0,3,134.833169,1157,0.2,1
j8,0,3,197.129560,999,0.2,0
j9,0,7,64.280278,1135,0.2,1
END
(ulimit -t 60 && latency --policy orion --device h200 "$tmp/ten.csv" >/dev/null)
check "orion: ten jobs end, and do no more than the GPU can" yes \
    "$(awk -F, 'NR > 1 && $4 > end { end = $4 } END { print(NR == 11 && end > 3.79 * 0.965 && end < 3.79 * 1.2 ? "yes" : NR " rows, " end) }' "$tmp/jobs.csv")"

# Caps that sum to 160 % of ten SMs: a has eight of them for 1 ms at a time, and b's eight blocks fill two. So neither is in the
# other's way. The blocks of b counted as two where they began on two SMs, and six began once more.
printf 'kind,name,time_us,device,host_us,blocks,threads\nkernel,k,1000,ideal,,8,1024\nlaunch,k,,,5,,\n' >"$tmp/large_blocks.csv"
sed 's/1000,ideal,,8,1024/900,ideal,,8,256/' "$tmp/large_blocks.csv" >"$tmp/small_blocks.csv"
printf '%s\n' job_id,submit_s,gpus,iterations,app "a,0,0.8,100,$tmp/large_blocks.csv" "b,0,0.8,100,$tmp/small_blocks.csv" >"$tmp/over.csv"
latency --policy mps --device ideal --set sms=10 --set sm.threads=1024 --set mps.cap=100% --set mps.sms=1 --set mps.least_sms=1 "$tmp/over.csv" >/dev/null
check "caps of more than the GPU, several blocks on an SM: each is as fast as alone" "100500 90500" "$(end a) $(end b)"

# Two hosts that wait for each kernel of 1 ms and launch the next one at once: the queue is empty for an instant, so that
# the other one has its turn, whether a row says so or a program. Programs kept the GPU for the slice of 5 ms.
printf 'kind,name,time_us,device,host_us\nkernel,k,1000,ideal,\nlaunch,k,,,0\nwait,device,,,0\nlaunch,k,,,0\n' >"$tmp/waits.csv"
for policy in timeslice xsched reef gpreempt chimera; do
    for inside in ",2,2,kernel" "$tmp/waits.csv,,,"; do
        printf '%s\n' job_id,submit_s,iterations,app,gpu_ms,kernels,sync "a,0,10,$inside" "b,0,12,,2,2,kernel" >"$tmp/waits_beside.csv"
        latency --policy "$policy" --device ideal --set slice.quantum_ns=5ms "$tmp/waits_beside.csv" >/dev/null
        check "$policy: a host that waits gives up its turn" "39000 44000" "$(end a) $(end b)"
    done
done
