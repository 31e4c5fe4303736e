#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a result says about the device that it was computed for: which mechanisms lie outside what was
# validated, and which constants it rests on. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
outside() { # arguments of gsim: the field
    "$gsim" --quiet --format json "$@" 2>&1 | sed -n 's/.*"outside_validated": *"\([^"]*\)".*/\1/p'
}

printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,1000,10,4\nb,0,1000,10,4\n' >"$tmp/two.csv"
sed 's/,4$/,100/' "$tmp/two.csv" >"$tmp/large.csv"
cp models/devices/h200.ini "$tmp/mine.ini"

# what was validated follows from constants, not from names
for run in "timeslice two" "mps two" "vgpu two" "xsched two" "suspend two" "uvm large" "msched large"; do
    policy=${run% *} trace=$tmp/${run#* }.csv
    check "$policy: a copy says what the device says" \
        "$(outside --policy "$policy" "$trace" | sed 's/h200: /X: /g')" \
        "$(outside --policy "$policy" --device "$tmp/mine.ini" "$trace" | sed "s|$tmp/mine.ini: |X: |g")"
done
check "two time slices on an h200" "" "$(outside --policy timeslice "$tmp/two.csv")"
check "a constant given by hand" \
    "time slices and switches: validated with switch.preempt_ns=165000 (h200), not 50ms (given)" \
    "$(outside --policy timeslice --set switch.preempt_ns=50ms "$tmp/two.csv")"
check "given, but what it was" "" \
    "$(outside --policy timeslice --set switch.preempt_ns=165us "$tmp/two.csv")"
# a policy without what makes it one says so, in its heading and in the result
printf 'job_id,submit_s,duration_s,mem_gib\na,0,9,10\nb,1,9,9\n' >"$tmp/thrash.csv"
for lock in off on auto; do
    check "nvshare with its lock $lock" "$([ $lock = off ] && echo 3 || echo 0)" \
        "$({ "$gsim" --policy nvshare --device p100 --set anti_thrash=$lock "$tmp/thrash.csv"
            "$gsim" --quiet --format json --policy nvshare --device p100 --set anti_thrash=$lock "$tmp/thrash.csv"; } 2>&1 |
            grep -c 'without its lock, anti_thrash=off: uvm by another name')"
done
given() { # arguments of gsim: the field
    "$gsim" --quiet --format json "$@" 2>&1 | sed -n 's/.*"given": *"\([^"]*\)".*/\1/p'
}
check "an assumed constant given by hand is listed as given" "network.bytes_per_s=1GB/s (h200)" \
    "$(given --policy srtf --set network.bytes_per_s=1GB/s "$tmp/two.csv")"
check "nothing is given by default" "" "$(given --policy srtf "$tmp/two.csv")"
check "a key that no run reads" 1 \
    "$("$gsim" --policy fifo --set context.create_ns=10s "$tmp/two.csv" 2>&1 | grep -c 'context.create_ns: no run reads it')"
check "all reasons, not the first" 2 \
    "$(outside --policy msched --device t4 "$tmp/two.csv" | tr ';' '\n' | grep -c 'migration')"
check "an h200's eviction was never measured" 1 \
    "$(outside --policy uvm "$tmp/large.csv" | grep -c '^eviction under faults: never measured')"
check "the keys of a mechanism are listed" 1 \
    "$("$gsim" list devices h200 | grep -A1 '^validated.suspension = h200 on h200' | grep -c 'pcie.h2d_reused_bytes_per_s')"

# a limit of MPS is none of processes that take turns
awk 'BEGIN { print "job_id,submit_s,iterations,gpu_ms,mem_gib"; for (i = 0; i < 49; i++) print i ",0,20,1,0.05" }' >"$tmp/many.csv"
waiting() { # arguments of gsim: how many jobs wait to start
    "$gsim" --quiet --jobs-csv "$tmp/jobs.csv" "$@" >/dev/null 2>&1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { n += $at["start_s"] > 0 } END { print n + 0 }' "$tmp/jobs.csv"
}
for policy in timeslice msched uvm; do
    check "49 processes under $policy" 0 "$(waiting --policy $policy --device h200 "$tmp/many.csv")"
done
check "of 49 clients of MPS one waits" 1 "$(waiting --policy mps --device h200 "$tmp/many.csv")"
check "before Volta there are 16" 33 "$(waiting --policy mps --device p100 "$tmp/many.csv")"

# the link's generation is a what-if
check "half the link: half of what was measured on the whole" 1 \
    "$(outside --policy msched --set pcie.peak_bytes_per_s=31507692308 "$tmp/large.csv" \
        | grep -c 'migrate.out_bytes_per_s=52.73e9 (h200), not 26365')"
refused() { # arguments of gsim: exit code and message
    "$gsim" --quiet --policy uvm "$@" "$tmp/two.csv" 2>&1 >/dev/null
    echo "exit $?"
}
check "memory below one chunk" \
    "gsim: device 'p100': hbm_bytes=17071734784 is less than one chunk of memory, uvm.chunk_bytes=64GiB: nothing could ever be on it; give it a chunk at least exit 2" \
    "$(refused --device p100 --set uvm.chunk_bytes=64GiB | tr '\n' ' ' | sed 's/ $//')"

# each process has a context besides its memory: two of 69.8 GiB do not fit into 139.8 GiB
sed 's/,4$/,69.8/' "$tmp/two.csv" >"$tmp/halves.csv"
sed '3d; s/,4$/,139.7/' "$tmp/two.csv" >"$tmp/whole.csv"
for policy in timeslice mps xsched; do
    check "$policy: contexts take memory" 1 "$(waiting --policy $policy --device h200 "$tmp/halves.csv")"
    check "$policy: without contexts both fit" 0 \
        "$(waiting --policy $policy --device h200 --set context.bytes=0 "$tmp/halves.csv")"
    check "$policy: who filled the GPU alone does so still" 0 "$(waiting --policy $policy --device h200 "$tmp/whole.csv")"
done
sed 's/$/,production/; 1s/production/class/; 3s/production/opportunistic/' "$tmp/halves.csv" >"$tmp/guest.csv"
check "tgs: contexts take memory" 1 "$(waiting --policy tgs --device h200 "$tmp/guest.csv")"
check "tgs: without contexts both fit" 0 "$(waiting --policy tgs --device h200 --set context.bytes=0 "$tmp/guest.csv")"
check "tgs: where its memory pages both fit" 0 "$(waiting --policy tgs --device h200 --set tgs.memory=uvm "$tmp/guest.csv")"
check "where memory pages nothing waits" 0 "$(waiting --policy uvm --device h200 "$tmp/halves.csv")"
assumes() { # arguments of gsim: whether context.bytes is among what is assumed
    "$gsim" --quiet --format json "$@" 2>&1 | grep -c '"assumed":"[^"]*context.bytes=335544320 (a100-80)'
}
check "it is listed" 1 "$(assumes --policy timeslice --device a100-80 "$tmp/two.csv")"
check "where it was measured it is not" 0 "$(assumes --policy timeslice "$tmp/two.csv")"
check "where it was not counted it is not" 0 "$(assumes --policy timeslice --device a100-80 --set memory=uvm "$tmp/two.csv")"
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 4; i++) print i "," i ",100" }' >"$tmp/unknown.csv"
for policy in timeslice mps mig gandiva; do
    check "$policy: memory that no row says" 1 "$("$gsim" --quiet --format json --policy $policy --device h200 \
        "$tmp/unknown.csv" | grep -c '"assumed":"[^"]*mem_gib=0 (no row gives')"
done
check "alone it does not matter" 0 "$("$gsim" --quiet --format json --policy fifo --device h200 \
    "$tmp/unknown.csv" | grep -c 'mem_gib=0')"
check "nor where jobs are alone" 0 "$(assumes --policy fifo --device a100-80 "$tmp/two.csv")"

# on which device durations were measured is said by no trace
kernels() { # HEADER ROW: what two such jobs under timeslice are said to have taken for their number of kernels
    printf 'job_id,submit_s,iterations,gpu_ms,%s\na,0,10,10,%s\nb,0,10,10,%s\n' "$1" "$2" "$2" >"$tmp/kernels.csv"
    "$gsim" --quiet --format json --policy "${3:-timeslice}" --device h200 --gpus-per-node 1 --force "$tmp/kernels.csv" |
        grep -o 'kernels=[^ ]* (rows with sync=kernel[^,")]*'
}
check "a host that waits for each kernel: a number that is guessed by host_ms is said, and that it decides" \
    "kernels=host_ms/launch.kernel_ns (rows with sync=kernel do not give their number: beside other jobs the host loses its turn after each" \
    "$(kernels host_ms,sync 8,kernel)"
check "and so is one kernel an iteration, without host_ms" \
    "kernels=1 (rows with sync=kernel give neither their number nor host_ms" "$(kernels sync kernel)"
check "no number is guessed that the rows give, no host waits for, or no turns depend on" "" \
    "$(kernels kernels,sync 100,kernel; kernels host_ms 8; kernels sync kernel fifo)"
durations() { # arguments of gsim: the item in `assumed`, and how often it is said aloud
    "$gsim" --policy fifo --format json "$@" 2>"$tmp/said" | sed -n 's/.*"assumed":"[^"]*durations=\([^",]*\).*/\1/p'
    grep -c "durations are taken as measured" "$tmp/said"
}
printf 'job_id,submit_s,iterations,app\na,0,100,resnet50-train\n' >"$tmp/app.csv"
printf '[trace]\njobs = 2\n[arrival]\nprocess = poisson\nrate = 1\n[job/duration_s]\ndistribution = deterministic\nvalue = 9\n' >"$tmp/drawn.ini"
own="(the trace names no device)"
for device in t4 b200 mine.ini; do
    name=$device
    [ $device = mine.ini ] && name=$tmp/mine.ini
    check "durations on $device" "as on $name $own 1" "$(durations --device "$name" "$tmp/thrash.csv" | tr '\n' ' ' | sed 's/ $//')"
done
check "on a device that the command does not name they are listed" "as on h200 $own 0" "$(durations "$tmp/thrash.csv" | tr '\n' ' ' | sed 's/ $//')"
check "iterations that were measured" "as on t4 $own 1" "$(durations --device t4 "$tmp/two.csv" | tr '\n' ' ' | sed 's/ $//')"
check "not on the ideal device" 0 "$(durations --device ideal "$tmp/thrash.csv")"
check "nor where their ratio is given" 0 "$(durations --device t4 --set speed_milli=1000 "$tmp/thrash.csv")"
check "nor what applications take there" 0 "$(durations --device t4 "$tmp/app.csv")"
check "nor what a spec draws" 0 "$(durations --device t4 "$tmp/drawn.ini")"
check "they are no constant to vary" 0 "$("$gsim" compare --policies fifo,sjf --device t4 "$tmp/thrash.csv" 2>&1 | grep -c 'not varied')"
check "and compare says them once" 1 "$("$gsim" compare --policies fifo,sjf --device t4 "$tmp/thrash.csv" 2>&1 | grep -c 'durations are taken as measured')"

# --- kernels that share SMs block by block name the constants that move them
printf 'job_id,submit_s,iterations,app\na,0,300,%s\nb,0,900,h200-llama-decode\n' "$tmp/bare.csv" >"$tmp/kernels.csv"
# a program without counters of what its kernels move
printf 'kind,name,time_us,device,blocks,threads,host_us\nkernel,wide,400,h200,1000,256,\nlaunch,wide,,,,,5\nhost,gap,5,,,,\n' >"$tmp/bare.csv"
jct_of() { "$gsim" --policy mps --device h200 --format json --quiet "$@" "$tmp/kernels.csv" 2>/dev/null | grep -o '"jct_mean_s":[0-9.]*'; }
"$gsim" --policy mps --device h200 --format json --quiet "$tmp/kernels.csv" >"$tmp/named.json" 2>/dev/null
for key in job.memory_ppm job.spread_ppm; do
    [ "$(jct_of)" != "$(jct_of --set $key=900000)" ] && grep -q "\"assumed\":\"[^\"]*$key=" "$tmp/named.json"
    say "$key moves kernels side by side, and is named" $?
done
printf 'job_id,submit_s,iterations,app\na,0,300,h200-bert-infer\nb,0,900,h200-llama-decode\n' >"$tmp/counted.csv"
check "where counters say what kernels move, no part is supposed" 0 \
    "$("$gsim" --policy mps --device h200 --format json --quiet "$tmp/counted.csv" 2>/dev/null | grep -c 'job.memory_ppm=')"
# what others push out of L2 costs programs whose bytes are known, and none that is alone
counted() { "$gsim" --policy mps --device h200 --format json --quiet "$@" 2>/dev/null; }
mean_of() { counted "$@" | grep -o '"jct_mean_s":[0-9.]*'; }
for key in first_loads_milli=0 miss_ns=2000; do
    grep -v '^a' "$tmp/counted.csv" >"$tmp/lone.csv"
    [ "$(mean_of "$tmp/counted.csv")" != "$(mean_of --set l2.$key "$tmp/counted.csv")" ] &&
        [ "$(mean_of "$tmp/lone.csv")" = "$(mean_of --set l2.$key "$tmp/lone.csv")" ]
    say "l2.$key moves kernels side by side, and none alone" $?
done
counted "$tmp/counted.csv" | grep -q '"assumed":"[^"]*l2.first_loads_milli='
say "first loads that are carried over from another device are named" $?
check "and are not where a job is alone" 0 "$(counted "$tmp/lone.csv" | grep -c 'l2.first_loads_milli=')"
grep -q 'block by block: rates of real jobs' "$tmp/named.json"
say "and how far they are off is told" $?

# --- different kernels that crowd the same SMs are told, equal ones and those with room are not
unequal() { # sm_fraction and hbm_gbps of two jobs
    printf 'job_id,submit_s,iterations,gpu_ms,sm_fraction,hbm_gbps,mem_gib\na,0,1000,10,%s,%s,4\nb,0,1000,10,%s,%s,4\n' "$@" >"$tmp/pair.csv"
    outside --policy mps --device h200 "$tmp/pair.csv" | grep -c 'different kernels on the same SMs'
}
check "arithmetic beside copies, on the same SMs" 1 "$(unequal 1 0 1 3000)"
check "equal kernels on the same SMs" 0 "$(unequal 1 1000 1 1000)"
check "different kernels with SMs for both" 0 "$(unequal 0.4 0 0.5 1000)"
