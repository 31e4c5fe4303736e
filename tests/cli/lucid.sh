#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Lucid: the profiler, the order, and which jobs share a GPU.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

run() { # arguments
    rm -f "$tmp/jobs.csv"
    "$gsim" run --policy lucid --quiet --jobs-csv "$tmp/jobs.csv" "$@" "$tmp/trace.csv"
}
ends() { # name, the ends in seconds, arguments
    name=$1 wanted=$2
    shift 2
    run --device ideal "$@" >"$tmp/log" 2>&1
    check "$name" "$wanted" "$(awk -F, 'NR > 1 { printf "%s%g", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv")"
}

# --- the profiler: of two GPUs the last one -------------------------------------------------------
printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\nb,0,500,1\n' >"$tmp/trace.csv"
# a ends there. b has it from 100 to 300 s, loses that, and needs 500 s more.
ends "short jobs end in the profiler; what others did there is lost" "100 800" --gpus-per-node 2
ends "unless they keep it" "100 600" --gpus-per-node 2 --set keeps=on
ends "a job is profiled for a time of one's own" "150 650" --gpus-per-node 2 --set profile=50s
expect "a pool of all GPUs" 2 "lucid.pool=2 leaves no GPU of 2" run --gpus-per-node 2 --set pool=2
ends "pool=0: nothing is profiled" "100 600" --gpus-per-node 1 --set pool=0
printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\nb,0,300,4\nc,0,100,2\n' >"$tmp/trace.csv"
# The pool is the second node. b is wider than it, so that nothing is to be learned of it there, and wider than the
# other one, so that it takes both. From 300 s on a has one GPU of the pool, and c needs two.
ends "the fewest GPUs come first; a gang wider than the rest has the pool too" "400 300 500" --gpus-per-node 2 --nodes 2

# --- the order ------------------------------------------------------------------------------------
{
    echo job_id,submit_s,duration_s,gpus,user
    echo x,0,100,1,ann # ann's jobs take 100 s, as far as is known
    echo y,0,10,1,bob # and bob's 10 s
    echo z,120,50,1,cid
    echo p,130,30,1,ann
    echo q,140,30,1,bob
} >"$tmp/trace.csv"
ends "the least estimated time goes first" "100 110 170 230 200" --gpus-per-node 1 --set pool=0
sed 's/^p,130,30,1,ann/p,130,30,1,bob/; s/^q,140,30,1/q,140,30,2/' "$tmp/trace.csv" >"$tmp/t.csv" && mv "$tmp/t.csv" "$tmp/trace.csv"
ends "times the GPUs" "100 10 170 160 200" --gpus-per-node 2 --set pool=0

# --- sharing --------------------------------------------------------------------------------------
printf 'job_id,submit_s,gpus,iterations,gpu_ms,host_gap_ms\n' >"$tmp/trace.csv"
for job in a b c; do echo "$job,0,1,400,400,600" >>"$tmp/trace.csv"; done
# Each has kernels in two fifths of its time, so that two of them fit. Profiled until 200, 400 and 600 s.
ends "binder=off: each waits for the one before it" "600 1000 1400" --gpus-per-node 2 --set binder=off
run --device ideal --gpus-per-node 2 --set binder=on >"$tmp/log" 2>&1
awk -F, 'NR > 1 { end[NR] = $4 } END { exit !(end[2] < 800 && end[3] < 1000 && end[4] < 1200) }' "$tmp/jobs.csv" &&
    echo "ok binder=on: two share a GPU" || echo "not ok binder=on: two share a GPU"
# With three on the GPU c would begin at 600 s, and end before b and it had done 800 s of kernels and gaps.
awk -F, 'NR > 1 { end[NR] = $4 } END { exit !(end[4] >= end[2] + 400) }' "$tmp/jobs.csv" &&
    echo "ok and no third one" || echo "not ok and no third one"
sed 's/,400,600$/,900,100/' "$tmp/trace.csv" >"$tmp/t.csv" && mv "$tmp/t.csv" "$tmp/trace.csv"
ends "jobs that would slow each other do not" "600 1000 1400" --gpus-per-node 2 --set binder=on
printf 'job_id,submit_s,duration_s,gpus\na,0,400,1\nb,0,400,1\n' >"$tmp/trace.csv"
ends "nor do jobs of which nothing is known" "600 1000" --gpus-per-node 2 --set binder=on
grep -q "no column of the trace says how jobs use a GPU" "$tmp/log" && echo "ok and the result says so" || echo "not ok and the result says so"

# --- many jobs: never more than two on a GPU, nor more memory than it has --------------------------
cat >"$tmp/many.ini" <<'S'
[trace]
jobs = 80
seed = 3
[arrival]
process = poisson
load = 2
gpus = 4
[iterations]
distribution = uniform
lo = 20
hi = 300
[gpu_ms]
distribution = uniform
lo = 10
hi = 40
[host_gap_ms]
distribution = uniform
lo = 500
hi = 3000
[mem_gib]
distribution = uniform
lo = 20
hi = 100
[gpus]
choice = 1, 2
weights = 8, 1
S
"$gsim" generate "$tmp/many.ini" --force -o "$tmp/trace.csv"
run --device h200 --gpus-per-node 4 --set binder=on --set profile=20s --db "$tmp/many.db" --timeline "$tmp/many.json" >"$tmp/log" 2>&1
expect "its results keep the laws of a run" 0 "" "$gsim" check "$tmp/many.db"
# By the first and the last turn that a job has on a GPU that is shared.
overlaps() {
    awk -v most="$1" '
        FILENAME ~ /csv$/ { split($0, cell, ","); mem[cell[1]] = cell[7]; next }
        /"cat":"slice"/ {
            pid = $0; sub(/.*"pid":/, "", pid); sub(/,.*/, "", pid)
            ts = $0; sub(/.*"ts":/, "", ts); sub(/,.*/, "", ts)
            dur = $0; sub(/.*"dur":/, "", dur); sub(/,.*/, "", dur)
            name = $0; sub(/.*"name":"/, "", name); sub(/".*/, "", name)
            key = pid "," name
            if (!(key in first)) { first[key] = ts + 0; n++ }
            if (ts + dur > last[key]) last[key] = ts + dur
        }
        END {
            for (a in first) {
                split(a, x, ","); jobs = 0; gib = 0
                for (b in first) {
                    split(b, y, ",")
                    if (x[1] == y[1] && first[b] <= first[a] && last[b] > first[a]) { jobs++; gib += mem[y[2]] }
                }
                if (jobs == 2) pairs++
                if (jobs > 2 || gib > most) bad++
            }
            print (n > 20 && pairs > 5 ? "pairs" : "too few"), bad + 0
        }' "$tmp/trace.csv" "$tmp/many.json"
}
check "two jobs on a GPU at most, and no more than 141 GiB" "pairs 0" "$(overlaps 141)"
check "and the count can fail" 1 "$(overlaps 60 | grep -c '^pairs [1-9]')"

# --- sharing by a table of pairs ------------------------------------------------------------------
printf 'device,model,gpus,beside,iterations_per_s\nideal,m,1,,1\nideal,m,1,m,0.9\nideal,n,1,,1\nideal,n,1,n,0.5\n' >"$tmp/pairs.csv"
for job in a b c; do echo "$job,0,1,m,400"; done | sed '1i job_id,submit_s,gpus,model,iterations' >"$tmp/trace.csv"
# Profiled until 200, 400 and 600 s. b joins a at 400 s, which has made 200 iterations then and makes the others at 0.9 a
# second, until 622.2; so does c beside b, until 844.4, and then c is alone with 200 left. 0.9 is class 1, and 1 + 1 = 2.
ends "two share a GPU at the speeds of the table" "622.222 844.444 1044.44" --gpus-per-node 2 --set binder=on --rates "$tmp/pairs.csv"
ends "score=1: two of class 1 do not" "600 1000 1400" --gpus-per-node 2 --set binder=on --set score=1 --rates "$tmp/pairs.csv"
sed -i 's/,m,/,n,/' "$tmp/trace.csv"
ends "models that the table has slow beside each other do not" "600 1000 1400" --gpus-per-node 2 --set binder=on --rates "$tmp/pairs.csv"
# The table has no row of m beside n: with score=4, which lets all classes share, they still do not. a and c would.
sed -i 's/^[ac],0,1,n/&x/; s/nx/m/' "$tmp/trace.csv"
ends "nor do models without a row beside each other" "600 1000 1400" --gpus-per-node 2 --set binder=on --set score=4 --rates "$tmp/pairs.csv"
