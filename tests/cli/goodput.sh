#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that learn (--goodput): what a table makes of a trace, what is refused, and Pollux' program beside it.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

header=row,application,placement,nodes,gpus,batch,step_s,sync_s,epoch,progress,grad_sqr,grad_var,iterations,max_batch,min_local,max_local,most_gpus
table() { # file, rows after those of the application m
    file=$1
    shift
    { echo "$header"
      # A GPU takes 1 s for a batch of 8 and 2 s for one of 16. Two GPUs on a node wait 0.5 s for each other in
      # each step, on two nodes 1 s, and four GPUs of two nodes 2 s.
      echo limits,m,,,,,,,,,,,,32,4,16,
      echo step,m,1,,,8,1,0,,,,,,,,,
      echo step,m,1,,,16,2,0,,,,,,,,,
      echo step,m,2,,,8,1.5,0.5,,,,,,,,,
      echo step,m,11,,,8,2,1,,,,,,,,,
      echo step,m,,2,4,4,2.5,2,,,,,,,,,
      # Epochs of 100 and 300 of progress. In the first all steps point one way, and a larger batch gains nothing;
      # in the second they scatter, and a batch that is twice as large gains twice as much.
      echo epoch,m,,,,8,,,0,100,1,0,100,,,,
      echo epoch,m,,,,8,,,1,400,0,1,400,,,,
      echo epoch,m,,,,16,,,0,100,1,0,100,,,,
      echo epoch,m,,,,16,,,1,400,0,1,250,,,,
      echo epoch,m,,,,32,,,0,100,1,0,100,,,,
      echo epoch,m,,,,32,,,1,500,0,1,200,,,,
      printf '%s\n' "$@"; } >"$tmp/$file"
}
trace() { # rows
    { echo "job_id,submit_s,gpus,model,batch"; printf '%s\n' "$@"; } >"$tmp/trace.csv"
}
run() { # arguments
    rm -f "$tmp/jobs.csv"
    "$gsim" run --device ideal --quiet --jobs-csv "$tmp/jobs.csv" --goodput "$tmp/m.csv" "$@" "$tmp/trace.csv"
}
ends() { # name, the ends in seconds, arguments
    name=$1 wanted=$2
    shift 2
    run "$@" >"$tmp/log" 2>&1
    got=$(awk -F, 'NR > 1 { printf "%s%g", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv")
    if [ "$got" = "$wanted" ]; then echo "ok $name"; else
        echo "not ok $name: '$got' instead of '$wanted'"
        sed 's/^/# /' "$tmp/log" | head -5
    fi
}

# --- what a table says ----------------------------------------------------------------------------
table m.csv
trace a,0,1,m,8
ends "an epoch is its progress over the goodput" 400 --policy fifo
trace a,0,2,m,16 # 8 on each: 1.5 s a step; 100 steps, then 150 of twice the gain
ends "a batch gains what the scatter of the gradients lets it gain" 375 --policy fifo --gpus-per-node 2
ends "replicas on two nodes wait longer for each other" 500 --policy fifo --gpus-per-node 1 --nodes 2
trace a,0,1,m,16 # two sums of 8: 2 s
ends "one GPU sums gradients over two steps at least beyond the smallest batch" 500 --policy fifo
trace a,0,2,m,24 # 12 on each: 1.5 s, the row's; gain 1, then 3
ends "a batch beyond the rows takes as long as the nearest row" 300 --policy fifo --gpus-per-node 2
trace a,0,4,m,16 # by nodes and GPUs: 2.5 s
ends "a placement without rows has those of as many nodes and GPUs" 625 --policy fifo --gpus-per-node 2 --nodes 2
trace a,0,3,m,24 # no rows of three: of those of two and of four, the rows of no placement in particular; 2.5 s
ends "else the rows with the nearest number of GPUs" 500 --policy fifo --gpus-per-node 2 --nodes 2
trace a,0,1,m,8 b,0,2,m,16
ends "ticks, and rescale_s for the first start too" "430 405" --policy adaptdl --assume rescale_s=30 --gpus-per-node 4
trace a,1,1,m,8
ends "a job waits for a tick" 460 --policy adaptdl --gpus-per-node 2
ends "of another length" 410 --policy adaptdl --gpus-per-node 2 --set interval=10s
# At 120 s a has had 240 s of GPU time and makes room for b; at 360 s so has b, and is behind a again, which has
# 255 s left. The tick after that, at 660 s, gives b its last 160 s.
trace a,0,2,m,16 b,100,1,m,8
ends "tiresias: a job with its share of GPU time goes behind one that comes later" "615 820" \
    --policy adaptdl --gpus-per-node 2 --set threshold=200s
trace a,0,1,m,16
ends "optimus: a lone job gets what makes it faster, and no more" 375 \
    --policy adaptdl --gpus-per-node 2 --nodes 2 --set rule=optimus
run --policy adaptdl --gpus-per-node 2 --nodes 2 --set rule=optimus --db "$tmp/widths.db" >"$tmp/log" 2>&1
expect "its results keep the laws of a run" 0 "" "$gsim" check "$tmp/widths.db"
# By the tick at 60 s a has made 40 of its first 100 steps on two GPUs. On one it takes 2 s for each: 60 more, then
# 150 of twice the gain.
trace a,0,1,m,16 b,30,1,m,8
ends "optimus: a job that comes later takes a GPU of a wider one" "480 460" \
    --policy adaptdl --gpus-per-node 2 --set rule=optimus
# --- pollux ---------------------------------------------------------------------------------------
# Alone on one GPU each step takes as long as its batch is large, and none gains more than that: 400 s with any batch.
trace a,0,1,m,8
ends "pollux: a job learns no faster by larger batches where each step takes as long as its batch" 400 \
    --policy pollux --gpus-per-node 1
trace a,0,1,m,8 b,0,1,m,8 c,100,1,m,8
run --policy pollux --gpus-per-node 2 --nodes 2 --seed 3 --assume rescale_s=5 >"$tmp/log" 2>&1 && mv "$tmp/jobs.csv" "$tmp/once.csv"
run --policy pollux --gpus-per-node 2 --nodes 2 --seed 3 --assume rescale_s=5 --db "$tmp/pollux.db" >"$tmp/log" 2>&1
cmp -s "$tmp/once.csv" "$tmp/jobs.csv" && echo "ok pollux: equal seeds, equal searches" || echo "not ok pollux: equal seeds, equal searches"
expect "pollux: its results keep the laws of a run" 0 "" "$gsim" check "$tmp/pollux.db"
awk -F, 'NR > 1 && $5 < 400 { n++ } END { exit n == 0 }' "$tmp/jobs.csv" &&
    echo "ok pollux: jobs get more GPUs than they ask for, and end earlier" ||
    echo "not ok pollux: jobs get more GPUs than they ask for, and end earlier"
expect "pollux: nodes that fail" 2 "pollux has no rule for nodes that fail" run --policy pollux --mtbf 1s --mttr 1s --set interval=1s
printf 'job_id,submit_s,gpus,model,batch,duration_s\na,0,1,m,8,\nb,0,2,other,,500\n' >"$tmp/trace.csv"
expect "pollux: a job of no application beside one that learns" 0 "JCT mean" run --policy pollux --gpus-per-node 2 --nodes 2

# Both have what they ask for from the tick at 60 s on, and no tick can give them more. 17 million searches would
# take days.
printf 'job_id,submit_s,duration_s,gpus\na,1,1000000000,1\nb,2,900000000,2\n' >"$tmp/long.csv"
timeout 100 "$gsim" run --device ideal --gpus-per-node 4 --quiet --policy pollux --jobs-csv "$tmp/long_jobs.csv" "$tmp/long.csv" >"$tmp/log" 2>&1
awk -F, 'NR > 1 && $4 == (NR == 2 ? 1000000060 : 900000060) { n++ } END { exit n != 2 }' "$tmp/long_jobs.csv"
say "pollux: jobs that have all that they could get need no ticks" $?

# Where jobs on several nodes may meet on one the search finds other placements (elastic/pollux_met, which CASES=all
# runs, holds how good they are).
elastic=$(dirname "$0")/../../experiments/validate/elastic
for way in avoid allow; do
    "$gsim" run --policy pollux --cluster "$elastic/pollux_servers.ini" --goodput "$elastic/pollux_search_goodput.csv" \
        --set reference=pollux --set interference=$way --until 1800 --quiet --jobs-csv "$tmp/$way.csv" "$elastic/pollux_160.csv" >"$tmp/log" 2>&1
    say "pollux: interference=$way" $?
done
! cmp -s "$tmp/avoid.csv" "$tmp/allow.csv"
say "pollux: jobs that may meet are placed otherwise" $?

printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\n' >"$tmp/plain.csv"
for policy in pollux sia; do
    expect "$policy: without a table the result says that no job adapts" 0 \
        '"deviation": *"no table .--goodput. says how jobs learn: each runs by its own columns' \
        "$gsim" run --policy $policy --device ideal --gpus-per-node 4 --format json "$tmp/plain.csv"
done

# --- sia ------------------------------------------------------------------------------------------
trace a,0,1,m,8
ends "sia: alone on one GPU a job learns as under pollux" 400 --policy sia --gpus-per-node 1
trace a,1,1,m,8 # s / (s + 30) to the power of -0.5 is 1.1 at s = 142.9: of the ticks, that at 180 s comes next
ends "sia: a job that a restart would cost too much for its age waits" 580 --policy sia --gpus-per-node 1
ends "sia: less so where restarts are short" 460 --policy sia --gpus-per-node 1 --set restart=5s
trace a,0,2,m,16
ends "sia: rigid jobs have the GPUs and the batch that they ask for" 375 --policy sia --gpus-per-node 2 --set adapts=type
trace a,0,2,m,8 b,0,2,m,8
ends "sia: two of them wait for each other" "600 1200" --policy sia --gpus-per-node 2 --set adapts=type
# Its batch of 8 has two parts of 4 or more; the job has its four GPUs as its trace says, and fifo moves none.
trace a,0,4,m,8
run --policy fifo --gpus-per-node 4 >"$tmp/log" 2>&1
alone=$(awk -F, 'NR == 2 { printf "%g", $4 }' "$tmp/jobs.csv")
ends "sia: a rigid job with more GPUs than its batch has parts" "$alone" --policy sia --gpus-per-node 4 --set adapts=type
trace a,0,1,m,8 b,0,1,m,8 c,100,1,m,8
run --policy sia --gpus-per-node 2 --nodes 2 --assume rescale_s=5 --db "$tmp/sia.db" >"$tmp/log" 2>&1
expect "sia: its results keep the laws of a run" 0 "" "$gsim" check "$tmp/sia.db"
awk -F, 'NR > 1 && $5 < 400 { n++ } END { exit n == 0 }' "$tmp/jobs.csv" &&
    echo "ok sia: jobs get more GPUs than they ask for, and end earlier" ||
    echo "not ok sia: jobs get more GPUs than they ask for, and end earlier"
expect "sia: nodes that fail" 2 "sia has no rule for nodes that fail" run --policy sia --mtbf 1s --mttr 1s --set interval=1s
# Two types of GPU: on b each step takes half the time, and on c none were measured.
printf '[node a]\ngpus = 1\ndevice = ideal\nrates_as = a\n[node b]\ngpus = 1\ndevice = ideal\nrates_as = b\n' >"$tmp/two.ini"
printf '[node c]\ngpus = 1\ndevice = ideal\nrates_as = c\n[node b]\ngpus = 1\ndevice = ideal\nrates_as = b\n' >"$tmp/other.ini"
devices() { # adds the column device: steps without one, and on b
    awk -F, -v OFS=, 'NF { print $0, (NR == 1 ? "device" : "") }
        $1 == "step" { $7 /= 2; $8 /= 2; print $0, "b" }' "$tmp/m.csv" >"$tmp/n.csv" && mv "$tmp/n.csv" "$tmp/m.csv"
}
on() { # cluster, arguments
    cluster=$1
    shift
    "$gsim" run --quiet --jobs-csv "$tmp/jobs.csv" --goodput "$tmp/m.csv" --cluster "$tmp/$cluster" "$@" "$tmp/trace.csv"
}
ended() { awk -F, 'NR > 1 { printf "%s%g", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv"; }
trace a,0,2,m,16
expect "sia: a rigid job wider than each type of GPU" 3 "job 'a' can run on no type of GPU alone: its 2 GPUs" \
    on two.ini --policy sia --set adapts=type
devices
trace a,0,1,m,8 b,0,1,m,8
on two.ini --policy fifo >"$tmp/log" 2>&1
check "a job is as fast as the device's steps say" "400 200" "$(ended)"
expect "optimus: steps of two types" 3 "one type of GPU, and job 'a' is unlike on 'a' and on 'b'" \
    on two.ini --policy adaptdl --set rule=optimus
expect "pollux: steps of two types" 3 "one type of GPU, and job 'a' is unlike on 'a' and on 'b'" on two.ini --policy pollux
expect "tiresias: it looks at no step" 0 "" on two.ini --policy adaptdl --set rule=tiresias
trace a,0,1,m,8 b,0,1,m,8
# One has b, and ends at 200 s. The other moves there in the next tick, at 240 s, with 160 s left on a.
on two.ini --policy sia >"$tmp/log" 2>&1
check "sia: of two equal jobs each keeps its GPU while the other has one" "200 320" "$(ended)"
trace a,0,1,m,8
on two.ini --policy sia --assume rescale_s=5 >"$tmp/log" 2>&1
check "sia: a job finds the faster type by comparison" "237.5" "$(ended)"
trace a,0,2,m,16
on two.ini --policy fifo --set placement=any >"$tmp/log" 2>&1
check "a gang of two types is as fast as on the slower one" 500 "$(ended)"
sed '/^step.*,$/d' "$tmp/m.csv" >"$tmp/n.csv" && mv "$tmp/n.csv" "$tmp/m.csv"
trace a,0,1,m,8
on other.ini --policy fifo >"$tmp/log" 2>&1
check "a job gets no GPU of a type on which it cannot run" 200 "$(ended)"
on other.ini --policy sia >"$tmp/log" 2>&1
check "sia: it gets none of that type" 200 "$(ended)"
printf '[node c]\ngpus = 1\ndevice = ideal\nrates_as = c\n' >"$tmp/only.ini"
expect "sia: it refuses a job with nothing else" 3 "or --goodput has no steps of it there" on only.ini --policy sia
table m.csv
printf 'job_id,submit_s,gpus,model,batch,duration_s\na,0,1,m,8,\nb,0,1,other,,5\n' >"$tmp/trace.csv"
ends "a job of no application runs by its own columns" "400 5" --policy fifo --gpus-per-node 2
expect "and the result says so" 0 "goodput=own columns (1 of 2 jobs are of no application" run --policy fifo --gpus-per-node 2

# --- in a reference mode --------------------------------------------------------------------------
table m.csv
sed 's/^step,m,1,,,8,1,/step,m,1,,,8,1.0043,/' "$tmp/m.csv" >"$tmp/n.csv" && mv "$tmp/n.csv" "$tmp/m.csv"
trace a,0,1,m,8 # 100.43 s and 301.29 s
ends "epochs end where they end" 401.72 --policy adaptdl
ends "reference=pollux: at the nearest second, and from the second tick on" 461 --policy adaptdl --set reference=pollux

# --- what is refused ------------------------------------------------------------------------------
trace a,0,1,m,8
bad() { # name, pattern, rows
    name=$1 pattern=$2
    shift 2
    table m.csv "$@"
    expect "$name" 3 "$pattern" run --policy fifo
}
bad "a row of no kind" "column 'row': 'pace' cannot be read; accepted: limits, step, epoch" pace,m,,,,,,,,,,,,,,,
bad "a step without its time" "a row 'step' needs batch, step_s and sync_s" step,m,1,,,4,,,,,,,,,,,
bad "a step of 0 s" "column 'step_s': '0' cannot be read; accepted: a number from 1e-09 to 1e+30 (seconds)" step,m,1,,,4,0,0,,,,,,,,,
bad "a step nowhere" "needs a placement, or nodes and gpus" step,m,,2,,4,1,0,,,,,,,,,
bad "a step that is nothing but waiting, and more" "has a sync_s above its step_s" step,m,1,,,4,1,2,,,,,,,,,
bad "a step that stands twice" "a step of 'm' with batch 8 on 1 GPUs of 1 nodes stands twice" step,m,1,,,8,1,0,,,,,,,,,
bad "an application without epochs" "application 'n' has no row 'epoch'" limits,n,,,,,,,,,,,,32,4,16, step,n,1,,,8,1,0,,,,,,,,,
bad "an application without limits" "application 'n' has no row 'limits'" step,n,1,,,8,1,0,,,,,,,,,
bad "limits that stand twice" "a row 'limits' stands twice" limits,m,,,,,,,,,,,,32,4,16,
bad "an epoch that is missing" "the epochs of 'm' with batch 24 are not 0, 1" epoch,m,,,,24,,,1,400,1,1,,,,,
bad "a gradient of 0" "a row 'epoch' has a gradient of 0" epoch,m,,,,24,,,0,400,0,0,,,,,
bad "a placement with 0" "column 'placement': '10' cannot be read; accepted: the GPUs on each node, at most 15 digits from 1 to 9" step,m,10,,,8,1,0,,,,,,,,,
table m.csv
trace a,0,1,m,64
expect "a batch beyond the application's" 3 "'m' has batches from 8 to 32, and not 64" run --policy fifo
trace a,0,1,m,4
expect "a batch below the smallest" 3 "'m' has batches from 8 to 32, and not 4" run --policy fifo
trace a,0,64,m,32
expect "more GPUs than a batch has parts" 3 "a batch of 'm' has no more than 32 parts" run --policy fifo
printf 'job_id,submit_s,gpus,model,duration_s\na,0,1,other,5\n' >"$tmp/trace.csv"
expect "optimus without a table of the job" 3 "rule=optimus counts iterations: job 'a' needs an application" \
    run --policy adaptdl --set rule=optimus
expect "nodes that fail" 2 "adaptdl has no rule for nodes that fail" run --policy adaptdl --mtbf 1s --mttr 1s --set interval=1s
expect "a policy that shares GPUs" 2 "policy 'timeslice' lets jobs share a GPU" run --policy timeslice
printf 'row,application\n' >"$tmp/m.csv"
expect "a table without columns" 3 "no column 'placement'" run --policy fifo
echo "$header" >"$tmp/m.csv"
expect "a table without a row" 3 "a table of goodput without a row" run --policy fifo

# --- the program itself, where its results are at hand --------------------------------------------
shared=$(dirname "$0")/../../../shared/validation/elastic
if [ ! -d "$shared" ]; then
    echo "# skipped: Pollux' runs job by job: no ../shared/validation/elastic"
    exit 0
fi
one_row() { # load, workload, policy
    case $1 in 1.0) folder=workloads ;; *) folder=workloads-$1 ;; esac
    GSIM=$gsim JOBS_CSV=$tmp/own.csv sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" pollux \
        "pollux/$folder/workload-$2.csv" "16 nodes x 4 GPUs" "$3" interval_s=60 interference=0.0 >"$tmp/log" 2>&1
    gzip -dc "$shared/visible/jobs/pollux.csv.gz" | awk -F, -v load="$1" -v workload="$2" -v policy="$3" '
        NR == FNR { if ($1 == load && $2 == workload && $3 == policy) jct[$4] = $5; next }
        FNR > 1 && (d = $4 - $2 - jct[$1]) * d > 1e-6 { n++ }
        FNR > 1 && jct[$1] != "" { had++ }
        END { exit n > 0 || had < 80 }' - "$tmp/own.csv" &&
        echo "ok every job of load $1, workload $2, under $3, ends at its second" ||
        echo "not ok the jobs of load $1, workload $2, under $3"
}
for policy in tiresias optimus; do
    one_row 0.5 1 $policy
    one_row 1.0 2 $policy
    one_row 1.5 7 $policy
    one_row 2.0 3 $policy
done
