#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Copies to the host need no turn, and the kernel behind one waits for a turn of its own, as measured
# with two processes on one H100 (experiments/engines). $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh
cd "$tmp" || exit 1

head='kind,name,time_us,device,host_us\n'
printf "${head}kernel,k,125,h200,\nlaunch,k,,,2\nsync,none,,,\n" >busy.csv
# one NAME CALLS: ms that each of 100 iterations of these calls takes beside a process that always
# has kernels ready.
one() {
    printf "${head}kernel,k,10,h200,\n$2" >"$1.csv"
    printf 'job_id,submit_s,iterations,app\nbusy,0,20000,busy.csv\none,0.1,100,%s.csv\n' "$1" >t.csv
    "$gsim" --quiet --policy timeslice --device h200 --gpus-per-node 1 --jobs-csv jobs.csv t.csv \
        >log 2>&1 || cat log
    awk -F, '$1 == "one" {print int($5 * 10000 + 0.5) / 1000}' jobs.csv
}
host='host_copy,c,2,h200,\n'
launch='launch,k,,,3\n'
copy='launch,c,,,3\n'
wait='wait,device,,,5\n'

turn=$(one turn "$launch$wait")
echo "# a kernel and a wait take $turn ms beside slices of another process"
# takes N NAME CALLS SENTENCE: that many turns, but for 20 us.
takes() {
    ms=$(one "$2" "$3")
    awk -v turn="$turn" -v n="$1" -v ms="$ms" \
        'BEGIN {d = ms - n * turn; exit !(turn > 1 && d > -0.02 && d < 0.02)}'
    say "$4 ($ms ms)" $?
}
takes 1 behind "$host$launch$copy$wait" "a copy behind the kernel takes no turn"
takes 1 waits "$host$launch$wait$copy$wait" "nor does one between two waits"
takes 2 within "copy,c,2,h200,\n$launch$wait$copy$wait" "a copy within the GPU does"
takes 2 between "$host$launch$copy$launch$wait" "a kernel behind a copy has a turn of its own"
takes 2 long "host_copy,c,310,h200,\n$launch$copy$launch$wait" "whether the copy is short or long"

# Of a profile, copies to the host are such ones, and others are not.
event() { # category, name, begin, correlation
    printf '{"ph":"X","cat":"%s","name":"%s","ts":%s,"dur":2,"args":{"correlation":%s,"stream":7}}' "$@"
}
{
    echo '{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","ts":0,"dur":99},'
    echo "$(event cuda_runtime cudaLaunchKernel 1 1),$(event kernel k 5 1),"
    echo "$(event cuda_runtime cudaMemcpyAsync 20 2),$(event gpu_memcpy 'Memcpy DtoH' 25 2),"
    echo "$(event cuda_runtime cudaMemcpyAsync 40 3),$(event gpu_memcpy 'Memcpy HtoD' 45 3)]}"
} >profile.json
"$gsim" import timeline profile.json --device h200 -o profile.csv >log 2>&1
grep -q '^host_copy,DtoH,' profile.csv && grep -q '^copy,HtoD,' profile.csv
say "an importer tells copies to the host from others" $?
