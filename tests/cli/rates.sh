#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Measured speeds (--rates): what they make of a trace, what is refused, and Gavel's program beside it.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

ends() { # name, the ends in seconds, arguments
    name=$1 wanted=$2
    shift 2
    rm -f "$tmp/jobs.csv"
    "$gsim" run --policy "${policy:-fifo}" --quiet --jobs-csv "$tmp/jobs.csv" "$@" >"$tmp/log" 2>&1
    got=$(awk -F, 'NR > 1 { printf "%s%s", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv")
    if [ "$got" = "$wanted" ]; then echo "ok $name"; else
        echo "not ok $name: '$got' instead of '$wanted'"
        sed 's/^/# /' "$tmp/log" | head -5
    fi
}
table() { # file, rows
    file=$1
    shift
    { echo "device,model,gpus,iterations_per_s"; printf '%s\n' "$@"; } >"$tmp/$file"
}
trace() { # rows
    { echo "job_id,submit_s,gpus,model,iterations"; printf '%s\n' "$@"; } >"$tmp/trace.csv"
}

# --- what a table says ----------------------------------------------------------------------------
table rates.csv ideal,m,1,3 ideal,m,4,6 ideal,n,2,0.1
trace a,0,1,m,7 b,0,4,m,9 c,0,2,m,8 d,0,1,n,1
ends "iterations over speed, in proportion between rows, and below the narrowest" \
    "2.333333334 1.500000000 2.000000000 20.000000000" \
    --device ideal --gpus-per-node 8 --rates "$tmp/rates.csv" "$tmp/trace.csv"
expect "a run that has a row for each job assumes nothing" 0 '"assumed": *"",' \
    "$gsim" run --policy fifo --device ideal --format json --rates "$tmp/rates.csv" "$tmp/trace.csv"

cat >"$tmp/cluster.ini" <<'END'
[node fast]
gpus = 1
device = ideal
rates_as = fast
[node slow]
gpus = 1
device = ideal
rates_as = slow
END
table two.csv fast,m,1,0.5 slow,m,1,0.125
trace a,0,1,m,500000 b,0,1,m,500000
ends "another device is slower as its row says" "1000000.000000000 4000000.000000000" \
    --cluster "$tmp/cluster.ini" --rates "$tmp/two.csv" "$tmp/trace.csv"

{ echo "job_id,submit_s,gpus,model,iterations"; echo "a,0,1,m,7"; } >"$tmp/trace.csv"
{ echo "device,model,gpus,nodes,iterations_per_s"; echo "ideal,m,1,,7"; echo "ideal,m,2,1,14"; echo "ideal,m,2,2,7"; } >"$tmp/nodes.csv"
trace a,0,2,m,14
ends "a gang that is spread over nodes has the row of its nodes" "2.000000000" \
    --device ideal --nodes 2 --gpus-per-node 1 --rates "$tmp/nodes.csv" "$tmp/trace.csv"

printf 'job_id,submit_s,gpus,model,iterations,duration_s\na,0,1,m,6,\nb,0,1,other,,5\n' >"$tmp/trace.csv"
ends "a job without a row runs by its own columns" "2.000000000 5.000000000" \
    --device ideal --gpus-per-node 2 --rates "$tmp/rates.csv" "$tmp/trace.csv"
expect "and the result says so" 0 "rates=own columns (1 of 2 jobs have no row" \
    "$gsim" run --policy fifo --device ideal --gpus-per-node 2 --rates "$tmp/rates.csv" "$tmp/trace.csv"

{ echo "device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s"
  echo "ideal,m,1,3,60,1"; echo "ideal,m,1,6,60,2"; echo "ideal,m,1,12,120,4"; echo "ideal,m,8,3,60,1"; } >"$tmp/hosts.csv"
printf '[node]\ndevice = ideal\ngpus = 4\ncpus = 24\nhost_mem = 400GiB\n' >"$tmp/server.ini"
trace a,0,1,m,12
ends "a job has the part of its node that falls to its GPU" "6.000000000" \
    --rates "$tmp/hosts.csv" --cluster "$tmp/server.ini" "$tmp/trace.csv"
ends "a node that does not say has as much as any row wants" "3.000000000" \
    --rates "$tmp/hosts.csv" --device ideal "$tmp/trace.csv"
printf 'device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s\nideal,m,1,1,60,1\n' >"$tmp/one_host.csv"
# Two jobs want 12 CPUs and 120 GiB for one GPU; a third finds no CPUs left.
trace a,0,1,m,1200 b,0,1,m,1200 c,0,1,m,1200
for mode in tune greedy fair; do
    case $mode in
    tune) wanted="450.000000000 300.000000000 450.000000000" ;; # the first is put back for a round
    greedy) wanted="300.000000000 300.000000000 600.000000000" ;; # the third waits for its round
    fair) wanted="600.000000000 600.000000000 600.000000000" ;;
    esac
    policy=synergy ends "synergy, $mode: CPUs of a server for three jobs" "$wanted" --set mode=$mode \
        --rates "$tmp/hosts.csv" --cluster "$tmp/server.ini" "$tmp/trace.csv"
done
# With more CPUs and less memory the job is slower, by which its work counts: it makes two units of that in a unit of
# time. Its 120 iterations take 60 s; the program lets it end with its round.
printf 'device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s\nideal,m,1,3,120,2\nideal,m,1,6,60,1\n' >"$tmp/less.csv"
trace a,0,1,m,120
policy=synergy ends "synergy: the program's jobs end with their round, however fast" 300.000000000 --set mode=greedy \
    --set reference=synergy --rates "$tmp/less.csv" --cluster "$tmp/server.ini" "$tmp/trace.csv"

# Jobs with deadlines, on up to 4 GPUs at 1, 1.8 and 3 iterations a second.
due() { # rows
    { echo "job_id,submit_s,gpus,model,iterations,deadline_s"; printf '%s\n' "$@"; } >"$tmp/trace.csv"
}
meets() { # name, ends, arguments
    name=$1 wanted=$2
    shift 2
    policy=elasticflow ends "elasticflow: $name" "$wanted" --device ideal --gpus-per-node "${n:-4}" "$@" \
        --rates "$tmp/widths.csv" "$tmp/trace.csv"
}
table widths.csv ideal,m,1,1 ideal,m,2,1.8 ideal,m,4,3
due a,0,1,m,900,
meets "spare GPUs go to a job without a deadline" 300.000000000
due a,0,1,m,900,299 b,0,1,m,900,301
meets "a deadline that four GPUs miss by a second is declined" " 300.000000000"
meets "mode=all gives it what is left" "600.000000000 300.000000000" --set mode=all
meets "mode=edf serves it first" "300.000000000 600.000000000" --set mode=edf
due a,0,1,m,900,1200 b,60,1,m,900,400
meets "a job that can wait gives way, and goes on" "600.000000000 360.000000000"
"$gsim" run --policy elasticflow --quiet --device ideal --gpus-per-node 4 --rates "$tmp/widths.csv" \
    --db "$tmp/widths.db" "$tmp/trace.csv" >"$tmp/log" 2>&1
expect "its results keep the laws of a run" 0 "" "$gsim" check "$tmp/widths.db"
# The third needs all GPUs for 30 s, and the second can do without them for 40.
due a,0,1,m,900,1200 b,60,1,m,900,400 c,120,1,m,90,150
meets "shares are counted in whole slots" "600.000000000 360.000000000 " --set slot=60s
meets "shorter slots admit more" "630.000000000 390.000000000 150.000000000" --set slot=10s
due a,100,1,m,900,50
meets "a deadline before the submission is declined" ""
meets "without admission it is late" 400.000000000 --set mode=all
due a,0,1,m,900,1000 b,0,1,m,900,1000 c,0,1,m,900,1000 d,0,1,m,900,1000 e,0,1,m,900,1000
meets "as many are admitted as one GPU each serves" \
    "900.000000000 900.000000000 900.000000000 900.000000000 "
table widths.csv ideal,m,1,1 ideal,m,2,0.5 ideal,m,4,3
due a,0,1,m,900, b,0,1,m,900,
n=3 meets "a width that is slower than a narrower one is not used" "900.000000000 900.000000000"

# Shares are due anew 1920 s after the last ones at the soonest, but where nothing would run by those.
printf 'job_id,submit_s,duration_s,gpus\na,0.1,100,1\nb,0.1,100,1\n' >"$tmp/line.csv"
policy=gavel ends "the next in line does not wait for new shares" "100.100000000 200.100000000" \
    --set objective=fifo --device ideal --gpus-per-node 1 "$tmp/line.csv"

# The job of 100 s goes before that of 1000 s: that it makes more iterations in them says nothing.
printf 'job_id,submit_s,duration_s,gpus,iterations\nc,0,5000,1,5000\na,1,1000,1,10\nb,2,100,1,100000\n' >"$tmp/line.csv"
policy=gavel ends "AlloX counts seconds where there is no table" "5000.000000000 6100.000000000 5100.000000000" \
    --set objective=allox --device ideal --gpus-per-node 1 "$tmp/line.csv"

# Hierarchical water filling: alice has three of four GPUs, which her four jobs of 3000 s share, or of which the first
# three have one each; bob's four of 1000 s share the fourth, or have it one after another. With no work left for more
# than one GPU of alice, bob's last job has its own as before. A round of 10 s is what equal jobs may be apart.
{
    echo job_id,submit_s,duration_s,gpus,user
    for i in 1 2 3 4; do echo "a$i,0,3000,1,alice"; done
    for i in 1 2 3 4; do echo "b$i,0,1000,1,bob"; done
} >"$tmp/users.csv"
shared() { # name, ends, settings
    name=$1 wanted=$2
    shift 2
    policy=gavel ends "gavel: $name" "$wanted" --set objective=water-filling --set round=10s --set min_between=0s \
        --device ideal --gpus-per-node 4 "$@" "$tmp/users.csv"
}
four() { printf '%s.000000000 %s.000000000 %s.000000000 %s.000000000' "$@"; }
shared "users of equal weight share the GPUs as equal jobs do" "$(four 4000 4000 4000 4000) $(four 2000 2000 2000 2000)" \
    --set users=fair
shared "a user's weight is that of its jobs" "$(four 4000 4000 4000 4000) $(four 3990 3990 3990 3990)" \
    --set users=fair --set user_weights=alice:3
shared "the first of a user's jobs has its part" "$(four 3000 3000 3000 6000) $(four 1000 2000 3000 4000)" \
    --set users=fifo --set user_weights=alice:3+bob:1
unshared() { # name, exit code, what it says, settings
    name=$1 code=$2 says=$3
    shift 3
    expect "gavel: $name" "$code" "$says" "$gsim" run --policy gavel --set objective=water-filling --device ideal \
        --gpus-per-node 4 --quiet "$@" "$tmp/users.csv"
}
unshared "weights of users that are not there" 2 "the trace has no user 'carl'" --set users=fair --set user_weights=carl:3
unshared "two weights of one user" 2 "more than one weight of 'alice'" --set users=fair --set user_weights=alice:3+bob:1+alice:2
unshared "a user without a weight" 2 "no weight in 'bob:0'" --set users=fair --set user_weights=alice:2+bob:0
unshared "weights without users" 2 "needs users=fair or users=fifo" --set user_weights=bob:1
unshared "users of another objective" 2 "goes with objective=water-filling" --set users=fair --set objective=max-min
expect "gavel: users of a trace without any" 3 "needs a column 'user'" "$gsim" run --policy gavel --device ideal \
    --set objective=water-filling --set users=fair --quiet "$tmp/line.csv"

# When c comes, a has 22 s left: three slots by then, after which b would end at 281 + 30 + 74 = 385, though
# both were in time by the slots of the plan before. Without slots b ends at 377.
table widths.csv ideal,n,1,1
due a,0,1,n,303,310 b,108,1,n,74,382 c,281,1,n,1000,90000
n=1 meets "slots of a later plan break no promise" "303.000000000 377.000000000 1377.000000000" --set slot=10s
# Two nodes of two GPUs. The jobs of 100 s leave a GPU idle on each; at 200 s e needs two of one node to be
# done by 405 s, and gets them, since one of the long jobs moves beside the other at the end of an iteration.
table widths.csv ideal,n,1,1 ideal,m,1,1 ideal,m,2,2
due a,0,1,n,100,9000 b,0,1,n,1000,9000 c,0,1,n,100,9000 d,0,1,n,1000,9000 e,200,1,m,400,405
policy=elasticflow ends "elasticflow: jobs in the way move, so that idle GPUs are of one node" \
    "100.000000000 1000.000000000 100.000000000 1000.000000000 400.000000000" --device ideal --nodes 2 \
    --gpus-per-node 2 --rates "$tmp/widths.csv" --set slot=10s "$tmp/trace.csv"

# e needs 60 GiB on each of two GPUs: d moves away from the large ones. That b moves away from the small ones first is
# of no use to e, and is taken back.
table types.csv a100-40,n,1,1 a100-80,n,1,1 a100-40,m,1,1 a100-80,m,1,1 a100-40,m,2,2 a100-80,m,2,2
printf '[node small]\ndevice = a100-40\ngpus = 2\n[node large]\ndevice = a100-80\ngpus = 2\n' >"$tmp/types.ini"
{
    echo job_id,submit_s,gpus,model,iterations,deadline_s,mem_gib
    printf '%s\n' a,0,1,n,100,9000,1 b,0,1,n,1000,9000,1 c,0,1,n,100,9000,1 d,0,1,n,1000,9000,1 e,200,1,m,400,405,60
} >"$tmp/large.csv"
expect "elasticflow: no job moves off GPUs that are too small for the job in need" 0 '"migrations":1,' \
    "$gsim" run --policy elasticflow --cluster "$tmp/types.ini" --rates "$tmp/types.csv" --set slot=10s --format json \
    --quiet "$tmp/large.csv"
# No GPU beside the large one has the memory of a and b, which run one after the other, on it; a job of 60 GiB is not
# profiled where the profiler's GPU lacks that.
printf '[node large]\ndevice = a100-80\ngpus = 1\n[node small]\ndevice = a100-40\ngpus = 1\n' >"$tmp/roomy.ini"
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,1000,1,60\nb,0,1000,1,60\n' >"$tmp/roomy.csv"
policy=elasticflow ends "elasticflow: no job waits for more GPUs than have its memory" "2000.000000000 1000.000000000" \
    --cluster "$tmp/roomy.ini" "$tmp/roomy.csv"
printf 'c,0,1000,1,1\n' >>"$tmp/roomy.csv"
policy=shockwave ends "shockwave: other jobs have the GPUs that lack a job's memory" \
    "1000.000000000 2000.000000000 1000.000000000" --cluster "$tmp/roomy.ini" --set round=2000s "$tmp/roomy.csv"
expect "lucid: no job waits for a profiler without the memory" 0 "3 completed, 0 unfinished" \
    "$gsim" run --policy lucid --cluster "$tmp/roomy.ini" --quiet "$tmp/roomy.csv"
# Six nodes of four GPUs, each with an idle one. e needs a node of its own, which b and c would have to leave, and
# there is room for b alone. f needs two: b moves for it then, in that plan, where it was taken for moved already.
table pieces.csv ideal,n,1,1 ideal,m,1,1 ideal,m,2,2 ideal,w,1,1 ideal,w,3,3 ideal,x,1,1 ideal,x,2,2 ideal,x,4,4
due b,0,1,n,1000,1001 c,0,2,m,2000,1002 v,0,3,w,3000,1005 w,0,3,w,3000,1006 x,0,3,w,3000,1007 y,0,3,w,3000,1008 \
    z,0,3,w,3000,1009 e,200,4,x,1600,610 f,200,2,m,800,650
s=1000.000000000
policy=elasticflow ends "elasticflow: a move that was of no use to one job is for the next" \
    "$s $s $s $s $s $s $s 1400.000000000 600.000000000" --device ideal --nodes 6 --gpus-per-node 4 \
    --rates "$tmp/pieces.csv" --set slot=10s "$tmp/trace.csv"

# Eight GPUs lie on two nodes of four, where they make 4.4 a second: 800 iterations take 182 s, and not 100.
# On nodes of four and of two GPUs they lie on three, where they make 2 a second.
{
    echo "device,model,gpus,nodes,iterations_per_s"
    printf 'ideal,m,%s\n' 1,1,1 2,1,2 4,1,4 8,1,8 8,2,4.4 8,3,2
} >"$tmp/widths.csv"
due a,0,8,m,800,150
# Four jobs end and leave a GPU idle on each of four nodes; one of four GPUs needs two whole nodes by 350 s.
table scattered.csv ideal,narrow,1,100 ideal,wide,1,100 ideal,wide,2,200 ideal,wide,4,400
{
    echo job_id,submit_s,gpus,model,iterations,deadline_s
    for i in 0 2 4 6; do printf '%d,0,1,narrow,10000,5000\n%d,0,1,narrow,500000,6000\n' $i $((i + 1)); done
    echo 8,200,1,wide,40000,350
} >"$tmp/scattered_jobs.csv"
policy=elasticflow ends "elasticflow: jobs in the way move, so that whole nodes are idle" \
    "100.000000000 5000.000000000 100.000000000 5000.000000000 100.000000000 5000.000000000 100.000000000 5000.000000000 300.000000000" \
    --device ideal --nodes 4 --gpus-per-node 2 --rates "$tmp/scattered.csv" "$tmp/scattered_jobs.csv"
policy=elasticflow ends "elasticflow: no promise by nodes that the cluster lacks" "" --device ideal --nodes 2 \
    --gpus-per-node 4 --rates "$tmp/widths.csv" --set slot=10s "$tmp/trace.csv"
due a,0,8,m,800,190
policy=elasticflow ends "elasticflow: a promise by those that it has" 181.818181819 --device ideal --nodes 2 \
    --gpus-per-node 4 --rates "$tmp/widths.csv" --set slot=10s "$tmp/trace.csv"
printf '[node wide]\ndevice = ideal\ngpus = 4\n[node narrow]\ndevice = ideal\ngpus = 2\ncount = 2\n' >"$tmp/unlike.ini"
policy=elasticflow ends "elasticflow: of unlike nodes the widest come first" 200.000000000 --cluster "$tmp/unlike.ini" \
    --rates "$tmp/widths.csv" --set slot=10s --set mode=all "$tmp/trace.csv"
policy=elasticflow ends "elasticflow: and there the promise is none" "" --cluster "$tmp/unlike.ini" \
    --rates "$tmp/widths.csv" --set slot=10s "$tmp/trace.csv"

# At 293 s the first job is to have four GPUs, and the two that are idle lie on the other node, since the third has
# just moved beside it: it moves again. Neither takes time, and the first stayed on two GPUs until it was late.
table promises.csv ideal,a,1,4000 ideal,a,2,8000 ideal,a,4,16000 ideal,b,1,1000 ideal,b,2,2000 ideal,b,4,4000 \
    ideal,c,1,4000 ideal,c,2,5000 ideal,d,1,1000 ideal,d,2,1500 ideal,d,4,3500
due a,173.316,1,a,14916007,1239.047 b,202.514,4,b,54208,992.079 c,202.514,1,c,12570805, d,202.514,1,d,6106708,4006.209
expect "elasticflow: a job that has just moved moves again for a wider one" 0 '"deadlines_met":3' \
    "$gsim" run --policy elasticflow --device ideal --nodes 2 --gpus-per-node 4 --format json --quiet \
    --rates "$tmp/promises.csv" "$tmp/trace.csv"

# --- GPUs of two types ----------------------------------------------------------------------------
cat >"$tmp/types.ini" <<'END'
[node fast]
gpus = 1
device = ideal
rates_as = fast
[node slow]
gpus = 1
device = ideal
rates_as = slow
END
# Synergy's rules know one type. What they do not look at may differ.
{
    echo "device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s"
    printf '%s\n' fast,m,1,1,9,2 fast,m,1,2,9,4 slow,m,1,1,9,1 slow,m,1,2,9,2 fast,n,1,1,9,2 fast,n,1,2,9,4 slow,n,1,1,9,1
} >"$tmp/unlike.csv"
trace a,0,1,m,4
synergy() { # settings
    "$gsim" run --policy synergy --cluster "$tmp/types.ini" --rates "$tmp/unlike.csv" --quiet "$@" "$tmp/trace.csv"
}
expect "synergy: speeds of two types, which the order looks at" 3 \
    "one type of GPU, and job 'a' is unlike on 'fast' and on 'slow'" synergy --set order=srtf
expect "synergy: an order that does not look at them" 0 "" synergy
trace a,0,1,n,4
expect "synergy: another part of a host on one type" 3 "job 'a' is unlike on 'fast' and on 'slow'" synergy
expect "synergy: mode=fair gives the part that falls to a GPU" 0 "" synergy --set mode=fair

# By their columns jobs take 1000 s on the type on which their model has no row.
table types.csv fast,m,1,1 slow,n,1,1
trace a,0,1,m,1000 b,0,1,m,1000
policy=gavel ends "gavel: jobs run by their columns where they have no row" "1000.000000000 1000.000000000" \
    --cluster "$tmp/types.ini" --rates "$tmp/types.csv" "$tmp/trace.csv"
table types.csv fast,m,1,1 slow,m,1,0.5
# A job alone runs where its share is, and not on the slow GPU because its node comes first in the file. A part of
# the cluster is half of its time on each: 15 iterations in 20 s.
{ sed -n '/slow/,$p' "$tmp/types.ini" && sed '/slow/,$d' "$tmp/types.ini"; } >"$tmp/turned.ini"
trace a,0,1,m,900
for cluster in types turned; do
    for objective in max-min water-filling max-sum makespan finish-time allox isolated:1200; do
        wanted=900.000000000
        case $objective in *:*) wanted=${objective#*:}.000000000 ;; esac
        policy=gavel ends "gavel: nodes in the order of $cluster.ini, ${objective%:*}" "$wanted" --set round=10s \
            --set "objective=${objective%:*}" --cluster "$tmp/$cluster.ini" --rates "$tmp/types.csv" "$tmp/trace.csv"
    done
done
# With a second job each has its share of both types, by max-min one half: 1.5 iterations in 2 s.
trace a,0,1,m,900 b,0,1,m,900
policy=gavel ends "gavel: two jobs have half of each type" "1200.000000000 1200.000000000" --set round=10s \
    --set objective=max-min --cluster "$tmp/turned.ini" --rates "$tmp/types.csv" "$tmp/trace.csv"
# 900 s on the one, 1800 s on the other: a promise has to hold on either.
for due in 1000 1900; do
    printf 'job_id,submit_s,gpus,model,iterations,deadline_s\na,0,1,m,900,%s\nb,0,1,m,900,%s\n' $due $due >"$tmp/due.csv"
    says=$([ $due = 1900 ] && echo '"declined":0,"deadlines_met":2' || echo '"declined":2,')
    expect "elasticflow promises what the slowest GPUs keep, until $due s" 0 "$says" \
        "$gsim" run --policy elasticflow --set slot=10s --format json --quiet \
        --cluster "$tmp/types.ini" --rates "$tmp/types.csv" "$tmp/due.csv"
done

# --- two jobs on the same GPUs --------------------------------------------------------------------
# Alone m makes 4 iterations a second and n 2; beside each other 3 and 1, m beside m 2 each. Two jobs
# are paired by shares of a file.
pairs() { # file, rows
    file=$1
    shift
    { echo "device,model,gpus,beside,iterations_per_s"; printf '%s\n' "$@"; } >"$tmp/$file"
}
beside() { # name, ends, shares, arguments
    name=$1 wanted=$2 printf_shares=$3
    shift 3
    printf '%b' "$printf_shares" >"$tmp/pair.shares"
    policy=gavel ends "$name" "$wanted" --set objective=shares --set packing=on --set "shares=$tmp/pair.shares" \
        --device ideal --rates "$tmp/pairs.csv" "$@" "$tmp/trace.csv"
}
pairs pairs.csv ideal,m,1,,4 ideal,n,1,,2 ideal,m,1,n,3 ideal,n,1,m,1 ideal,m,1,m,2 \
    ideal,m,2,,8 ideal,n,2,,4 ideal,m,2,n,5 ideal,n,2,m,2 ideal,m,2,m,0 ideal,n,1,n,0
trace a,0,1,m,300 b,0,1,n,150
beside "two jobs of a pair, then one alone" "100.000000000 125.000000000" '0,0+1,ideal,1\n' # 100 s at 3 and 1; then 50 at 2
trace a,0,1,m,200 b,0,1,m,200
beside "two jobs of one model" "100.000000000 100.000000000" '0,0+1,ideal,1\n'
trace a,0,2,m,500 b,0,2,n,400
beside "a pair of gangs" "100.000000000 150.000000000" '0,0+1,ideal,1\n' --gpus-per-node 2 # 100 s at 5 and 2; then 200 at 4
trace a,0,1,m,1200 b,0,1,m,1200 c,0,1,n,300 d,0,1,n,300
# 3/4 + 1.6/2 is more than 1.5: c joins a, and d b, for 187.5 s; then a and b have 637.5 left, at 4.
sed 's/^ideal,n,1,m,1$/ideal,n,1,m,1.6/' "$tmp/pairs.csv" >"$tmp/close.csv"
policy=gavel ends "packing=on: the next of the queue join jobs beside which they lose little" \
    "346.875000000 346.875000000 187.500000000 187.500000000" --set objective=fifo --set packing=on \
    --device ideal --gpus-per-node 2 --rates "$tmp/close.csv" "$tmp/trace.csv"
policy=gavel ends "but wait where a pair is worth less" \
    "300.000000000 300.000000000 450.000000000 450.000000000" --set objective=fifo --set packing=on \
    --device ideal --gpus-per-node 2 --rates "$tmp/pairs.csv" "$tmp/trace.csv"
for objective in max-min water-filling max-sum makespan finish-time gandiva; do
    "$gsim" run --policy gavel --quiet --set "objective=$objective" --set packing=on --device ideal --gpus-per-node 1 \
        --rates "$tmp/pairs.csv" --db "$tmp/$objective.db" "$tmp/trace.csv" >"$tmp/log" 2>&1
    expect "packing=on: shares of $objective, by the laws of a run" 0 "" "$gsim" check "$tmp/$objective.db"
done
# Two models are as fast alone, and lose much beside their like, little beside each other: 800 iterations at 0.8 a second.
{ echo device,model,gpus,beside,iterations_per_s; printf 'ideal,%s\n' m,1,,1 n,1,,1 m,1,n,0.8 n,1,m,0.8 m,1,m,0.4 n,1,n,0.4; } >"$tmp/like.csv"
printf 'job_id,submit_s,gpus,model,iterations\na,0,1,m,800\nb,0,1,n,800\nc,0,1,m,800\nd,0,1,n,800\n' >"$tmp/like_trace.csv"
for objective in max-min water-filling max-sum makespan; do
    policy=gavel ends "$objective: models as fast alone are told apart by their pairs" \
        "1000.000000000 1000.000000000 1000.000000000 1000.000000000" --set "objective=$objective" --set packing=on \
        --device ideal --gpus-per-node 2 --rates "$tmp/like.csv" "$tmp/like_trace.csv"
done
packed() { # arguments
    "$gsim" run --policy gavel --set packing=on --device ideal --gpus-per-node 2 --rates "$tmp/pairs.csv" "$@" "$tmp/trace.csv"
}
trace a,0,1,m,300 b,0,2,n,150
printf '0,0+1,ideal,1\n' >"$tmp/pair.shares"
expect "a pair of unequal gangs" 3 "pair.shares:1: jobs 'a' and 'b' share no GPUs: a pair has equally many GPUs each" \
    packed --set objective=shares --set "shares=$tmp/pair.shares"
expect "shares of pairs without packing" 3 "a file with pairs needs packing=on" \
    "$gsim" run --policy gavel --set objective=shares --set "shares=$tmp/pair.shares" --device ideal --gpus-per-node 2 \
    --rates "$tmp/pairs.csv" "$tmp/trace.csv"
expect "packing where each job has a part of its own" 2 "packing=on goes with any objective but isolated, proportional and allox" packed
expect "packing without speeds" 2 "packing=on needs sees_speed=on" packed --set objective=max-min --set sees_speed=off
expect "random pairs without packing" 2 "objective=gandiva is of pairs: it needs packing=on" \
    "$gsim" run --policy gavel --set objective=gandiva --device ideal --gpus-per-node 2 --rates "$tmp/pairs.csv" "$tmp/trace.csv"
expect "packing without rows of pairs" 2 "with rows of a model 'beside' another" \
    "$gsim" run --policy gavel --set objective=max-min --set packing=on --device ideal --gpus-per-node 2 \
    --rates "$tmp/rates.csv" "$tmp/trace.csv"
pairs bad.csv ideal,m,1,,4 ideal,m,1,n,3
expect "a pair with a model that has no row alone" 3 "bad.csv:3: model 'n' beside another has no row without 'beside'" \
    "$gsim" run --policy fifo --device ideal --rates "$tmp/bad.csv" "$tmp/trace.csv"
pairs bad.csv ideal,m,1,,4 ideal,m,1,m,3 ideal,m,1,m,2
expect "a pair that stands twice" 3 "model 'm' beside 'm' stands twice for 1 GPUs of ideal" \
    "$gsim" run --policy fifo --device ideal --rates "$tmp/bad.csv" "$tmp/trace.csv"

# Where all devices are equal, an objective that does not know how fast they are gives what it gives else.
printf 'job_id,submit_s,gpus,model,iterations\na,0,1,fast,100000\nb,0,1,slow,10000\nc,0,1,slow,20000\nd,500,1,fast,400000\n' >"$tmp/unlike.csv"
printf 'device,model,gpus,iterations_per_s\nideal,fast,1,100\nideal,slow,1,1\n' >"$tmp/unlike_rates.csv"
while read -r objective until; do
    for sees in on off; do
        policy=gavel ends "$objective of equal devices, sees_speed=$sees" "$until" --set "objective=$objective" \
            --set "sees_speed=$sees" --device ideal --gpus-per-node 2 --rates "$tmp/unlike_rates.csv" "$tmp/unlike.csv"
    done
done <<'O'
makespan 4600.000000000 15400.000000000 20000.000000000 13360.000000000
finish-time 1360.000000000 12520.000000000 22880.000000000 6880.000000000
max-sum 1000.000000000 11800.000000000 23600.000000000 4720.000000000
max-min 1360.000000000 12520.000000000 22880.000000000 7240.000000000
O

# A policy from outside, which lets all jobs share: each on its own number of GPUs, from GPU 0 on.
cat >"$tmp/share.py" <<'P'
import json, sys
print(json.dumps({"n": json.loads(sys.stdin.readline())["n"]}), flush=True)
for line in sys.stdin:
    s = json.loads(line)
    arrived = s.get("arrived", [])
    plan = [{"arrange": [0, 1], "lanes": [{"discipline": "pair"}]}] if any(j["job"] == 0 for j in arrived) else []
    plan += [{"place": j["job"], "on": list(range(j.get("gpus", 1)))} for j in arrived]
    print(json.dumps({"n": s["n"], "plan": plan}), flush=True)
P
shared_by() { # name, status, pattern, jobs
    name=$1 status=$2 pattern=$3
    shift 3
    trace "$@"
    expect "a policy from outside: $name" "$status" "$pattern" "$gsim" run --policy "exec-sharing:python3 $tmp/share.py" \
        --device ideal --gpus-per-node 2 --rates "$tmp/pairs.csv" "$tmp/trace.csv"
}
if command -v python3 >/dev/null; then
    shared_by "a pair by the table" 0 "JCT mean *112.500 s" a,0,1,m,300 b,0,1,n,150
    shared_by "unequal gangs" 1 "job 'b' (queued): beside job 'a': two jobs that share GPUs .* have equally many" \
        a,0,1,m,300 b,0,2,n,150
    shared_by "models that do not share" 1 "beside job 'a': by the table of speeds (--rates) their models do not run" \
        a,0,1,n,300 b,0,1,n,150
fi

# --- what is refused ------------------------------------------------------------------------------
run() { # arguments
    "$gsim" run --policy fifo --device ideal --gpus-per-node 8 "$@" "$tmp/trace.csv"
}
trace a,0,1,m,7
table bad.csv ideal,m,1,-3
expect "a speed below 0" 3 "bad.csv:2: column 'iterations_per_s': '-3' is not a number" run --rates "$tmp/bad.csv"
table bad.csv ideal,m,one,3
expect "a gang that is no number" 3 "bad.csv:2: column 'gpus': 'one' is not a number of GPUs" run --rates "$tmp/bad.csv"
table bad.csv ideal,m,1,3 ideal,m,1,4
expect "a row that stands twice" 3 "model 'm' stands twice for 1 GPUs of ideal" run --rates "$tmp/bad.csv"
table bad.csv ideal,m,1,0
expect "a speed of 0 everywhere" 3 "model 'm' cannot run on 1 GPUs of any device" run --rates "$tmp/bad.csv"
table bad.csv v100,m,1,3
expect "a table without the cluster's device" 3 "no row is of 'ideal', which nodes of the cluster have; the table has 'v100'" \
    run --rates "$tmp/bad.csv"
head -2 "$tmp/hosts.csv" >"$tmp/bad.csv"; echo "ideal,m,1,,60,2" >>"$tmp/bad.csv"
expect "rows of which some say CPUs" 3 "model 'm' for 1 GPUs of ideal some say cpus_per_gpu and others do not" run --rates "$tmp/bad.csv"
sed 's/,3,60,/,-3,60,/' "$tmp/hosts.csv" >"$tmp/bad.csv"
expect "CPUs below 0" 3 "bad.csv:2: column 'cpus_per_gpu': '-3' is not a number of CPUs" run --rates "$tmp/bad.csv"
printf '[node]\ndevice = ideal\ngpus = 8\ncpus = 24\nhost_mem = 100GiB\n' >"$tmp/small.ini"
needs="job 'a': by .*hosts.csv its model needs more of a host's memory for each of 1 GPUs than falls to any GPU"
expect "less memory than in any row" 3 "$needs" \
    "$gsim" run --policy fifo --rates "$tmp/hosts.csv" --cluster "$tmp/small.ini" "$tmp/trace.csv"
expect "and where the policy gives it out" 3 "$needs" \
    "$gsim" run --policy synergy --rates "$tmp/hosts.csv" --cluster "$tmp/small.ini" "$tmp/trace.csv"
table bad.csv other,m,1,3 ideal,n,1,3
expect "an order that counts iterations" 3 "synergy: this order counts iterations: job 'a' needs a row" \
    "$gsim" run --policy synergy --set order=srtf --assume gpu_ms=10ms --device ideal --rates "$tmp/bad.csv" "$tmp/trace.csv"
printf 'device,gpus,iterations_per_s\nideal,1,3\n' >"$tmp/bad.csv"
due a,0,1,other,90, && cp "$tmp/trace.csv" "$tmp/other.csv"
trace a,0,1,m,7
expect "widths of a model without a row" 3 "elasticflow: reference=elasticflow counts iterations: job 'a' needs a row" \
    "$gsim" run --policy elasticflow --set reference=elasticflow --assume gpu_ms=10ms --device ideal \
    --rates "$tmp/widths.csv" "$tmp/other.csv"
printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\n' >"$tmp/plain.csv"
expect "widths without any table" 0 '"deviation": *"no table of speeds .--rates. says how jobs scale' \
    "$gsim" run --policy elasticflow --device ideal --gpus-per-node 4 --format json "$tmp/plain.csv"
expect "a slot that is shorter than a tick" 2 "elasticflow: slot= is shorter than a millisecond" \
    "$gsim" run --policy elasticflow --set slot=10us --device ideal --rates "$tmp/widths.csv" "$tmp/trace.csv"
expect "a table without models" 3 "no column 'model'" run --rates "$tmp/bad.csv"
printf 'device,model,gpus,speed\nideal,m,1,3\n' >"$tmp/bad.csv"
expect "a column that it does not have" 3 "has no column 'speed'" run --rates "$tmp/bad.csv"
trace a,0,8,m,7
printf '[node a]\ngpus = 2\ndevice = ideal\n[node b]\ngpus = 2\ndevice = h200\n' >"$tmp/two.ini"
printf 'job_id,submit_s,duration_s,gpus\na,0,5,1\nb,1,5,3\n' >"$tmp/wide.csv"
expect "a gang that no type of device has room for" 3 "wide.csv:3: job 'b' asks for 3 GPUs; gavel runs a gang on one type" \
    "$gsim" run --policy gavel --cluster "$tmp/two.ini" "$tmp/wide.csv"
expect "a gang that is wider than any row" 3 "asks for 8 GPUs; the widest row of model 'm' in .*rates.csv has 4" \
    run --rates "$tmp/rates.csv"
table zero.csv fast,m,1,0.5 slow,m,1,0
trace a,0,1,m,7 b,0,1,m,7
unset policy
# 7 iterations at 0.5 a second; the second job waits, though the slow GPU is free.
ends "jobs wait for GPUs on which their model can run" "14.000000000 28.000000000" \
    --cluster "$tmp/cluster.ini" --rates "$tmp/zero.csv" "$tmp/trace.csv"
expect "a policy that shares GPUs knows of none" 3 "by the table of speeds .* models cannot run on some nodes .*policy 'mps' shares" \
    "$gsim" run --policy mps --cluster "$tmp/cluster.ini" --rates "$tmp/zero.csv" "$tmp/trace.csv"
expect "nor does one that chooses them" 3 "policy 'gang-rr' chooses GPUs without regard to that" \
    "$gsim" run --policy gang-rr --cluster "$tmp/cluster.ini" --rates "$tmp/zero.csv" "$tmp/trace.csv"
trace a,0,2,m,7
table zero.csv fast,m,2,0.7 slow,m,2,0
expect "a gang for which such GPUs are too few" 3 "job 'a' asks for 2 GPUs, on which its model can run by the table of speeds; the cluster has 1 such" \
    "$gsim" run --policy fifo --cluster "$tmp/cluster.ini" --rates "$tmp/zero.csv" "$tmp/trace.csv"
# Of two nodes with 4 GPUs each, a job of 6 iterations needs 60 GiB beside its GPU: only b has that.
printf '[node a]\ndevice = ideal\ngpus = 4\nhost_mem = 100GiB\n[node b]\ndevice = ideal\ngpus = 1\nhost_mem = 100GiB\n' >"$tmp/hosts.ini"
trace a,0,1,m,6 b,0,1,m,6
ends "jobs wait for a host with memory enough" "6.000000000 12.000000000" \
    --rates "$tmp/one_host.csv" --cluster "$tmp/hosts.ini" "$tmp/trace.csv"
expect "gavel looks at the least host of a type" 3 "gavel: by the table of speeds, job 'a' cannot run on 1 GPUs of any type" \
    "$gsim" run --policy gavel --rates "$tmp/one_host.csv" --cluster "$tmp/hosts.ini" "$tmp/trace.csv"
printf '[node %s]\ndevice = ideal\ngpus = 1\nrates_as = %s\n' s s t t >"$tmp/two.ini"
trace a,0,2,m,6
table types.csv s,m,2,3 t,m,2,3
expect "gavel: a gang for which there are GPUs enough, but of no type" 3 "asks for 2 GPUs; gavel runs a gang on one type" \
    "$gsim" run --policy gavel --rates "$tmp/types.csv" --cluster "$tmp/two.ini" "$tmp/trace.csv"
printf '[node u]\ndevice = ideal\ngpus = 2\nrates_as = u\n' | cat "$tmp/two.ini" - >"$tmp/three.ini"
table types.csv s,m,2,3 t,m,2,3 u,m,2,0
expect "gavel: a gang for which no type has both GPUs and speed" 3 "trace.csv:2: .* job 'a' cannot run on 2 GPUs of any type" \
    "$gsim" run --policy gavel --rates "$tmp/types.csv" --cluster "$tmp/three.ini" "$tmp/trace.csv"
# 99.9 s are less than the 100 s from which on Gavel's program tries ends; its solver's tolerances take the speed for none.
trace a,0,1,m,9160682
table fast.csv ideal,m,1,91686
policy=gavel ends "makespan: an end that can be met at a speed of many iterations" "99.913640033" --set objective=makespan \
    --set ends=tried --rates "$tmp/fast.csv" --device ideal "$tmp/trace.csv"
trace a,0,1,m,300 b,0,1,m,300
pairs types.csv s,m,1,,4 t,m,1,,0 s,m,1,m,3 t,m,1,m,3
policy=gavel ends "packing=on: no pair where its jobs cannot run alone" "100.000000000 100.000000000" --set objective=max-min \
    --set packing=on --rates "$tmp/types.csv" --cluster "$tmp/two.ini" "$tmp/trace.csv"
# Its row of two nodes is 0: with one GPU of each node left, the gang waits for b's end.
printf 'device,model,gpus,nodes,iterations_per_s\nideal,m,2,1,1\nideal,m,2,2,0\n' >"$tmp/nodes.csv"
printf 'job_id,submit_s,duration_s,gpus,model,iterations\nb,0,5,1,,\nc,0,9,1,,\na,1,,2,m,3\n' >"$tmp/trace.csv"
ends "a gang waits for a node on which it can be whole" "5.000000000 9.000000000 8.000000000" \
    --device ideal --nodes 2 --gpus-per-node 2 --set placement=spread --rates "$tmp/nodes.csv" "$tmp/trace.csv"

printf '[node a]\ngpus = 2\ndevice = ideal\npartitions = x\n[node b]\ngpus = 2\ndevice = ideal\npartitions = y\n' >"$tmp/parts.ini"
printf 'job_id,submit_s,duration_s,gpus,partition\na,0,5,2,y\n' >"$tmp/parts.csv"
for policy in gavel synergy gang-rr; do
    expect "$policy knows of no partitions" 2 "policy '$policy' chooses GPUs, of any partition and type" \
        "$gsim" run --policy "$policy" --cluster "$tmp/parts.ini" "$tmp/parts.csv"
done
unset policy

# --- gangs that meet ------------------------------------------------------------------------------
# On 2 nodes of 2 GPUs, b and a have one GPU of each node. At half speed b needs 100 s for its 50,
# in which a does 50 of its 100.
printf 'job_id,submit_s,duration_s,gpus\na,0,100,2\nb,0,50,2\n' >"$tmp/pair.csv"
met() { # arguments
    gsim_met="--device ideal --nodes 2 --gpus-per-node 2 --set gang.met_ppm=500000"
    # shellcheck disable=SC2086
    ends "$1" "$2" $gsim_met --set "placement=$3" ${4:+--set "$4"} "$tmp/pair.csv"
}
met "gangs over nodes that meet on one slow each other" "150.000000000 100.000000000" spread
met "gangs that are on one node each do not" "100.000000000 50.000000000" consolidate
met "without the device's word meeting costs nothing" "100.000000000 50.000000000" spread gang.met_ppm=1000000
expect "jobs that met keep the laws of a run" 0 "" sh -c "'$gsim' run --policy fifo --quiet --device ideal --nodes 2 \
    --gpus-per-node 2 --set gang.met_ppm=500000 --set placement=spread --db '$tmp/met.db' '$tmp/pair.csv' && '$gsim' check '$tmp/met.db'"
printf 'job_id,submit_s,duration_s,gpus\na,0,100,4\n' >"$tmp/pair.csv"
met "a gang that meets none is as fast as alone" 100.000000000 spread

# --- baselines of a reference --------------------------------------------------------------------
printf 'job_id,submit_s,duration_s,gpus\na,0,100,4\n' >"$tmp/timed.csv"
for mode in las:tiresias gandiva:gandiva; do
    expect "mode=${mode%:*} without its reference" 2 "without it, policy ${mode#*:}" \
        "$gsim" run --policy elasticflow --set "mode=${mode%:*}" --device ideal "$tmp/timed.csv"
done

# On the only node, the second waits for the end of the first (dlas-gpu); or both take turns of a slot from
# 0 on: the second has done its 50 s at 110, when its turn began at 60, and the first goes on at 120.
printf 'job_id,submit_s,duration_s,gpus\na,0,100,4\nb,0,50,4\n' >"$tmp/timed.csv"
baseline() { # name, ends, mode
    policy=elasticflow ends "$1" "$2" --set reference=elasticflow --set "mode=$3" --set slot=60s \
        --device ideal --gpus-per-node 4 "$tmp/timed.csv"
}
baseline "mode=las: a job that does not fit waits" "100.000000000 150.000000000" las
baseline "mode=gandiva: jobs take turns on their node" "160.000000000 110.000000000" gandiva
# A start of 1 GPU takes 4 s, which dlas-gpu counts at the next event: at 60, when b comes, a has 44 s left; at
# 120, the first event a slot later, b has 14.
printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\nb,60,70,1\n' >"$tmp/timed.csv"
baseline "mode=las: what a start takes is counted at the next event" "104.000000000 134.000000000" las

for mode in las gandiva; do
    expect "mode=$mode on nodes that fail" 2 "has no rule for nodes that fail; run it without --mtbf" \
        "$gsim" run --policy elasticflow --set reference=elasticflow --set "mode=$mode" --device ideal \
        --mtbf 10s --mttr 10s "$tmp/timed.csv"
done

# --- a policy in rounds ---------------------------------------------------------------------------
trace a,0,1,m,7000 b,0,1,m,7000 c,100,1,m,7000
expect "gavel gives jobs their shares in rounds" 0 "3 completed" \
    "$gsim" run --policy gavel --cluster "$tmp/cluster.ini" --rates "$tmp/two.csv" "$tmp/trace.csv"
for objective in max-min water-filling max-sum makespan finish-time allox proportional; do
    expect "gavel finds the shares of $objective" 0 "3 completed" \
        "$gsim" run --policy gavel --set "objective=$objective" --cluster "$tmp/cluster.ini" --rates "$tmp/two.csv" "$tmp/trace.csv"
done
# Each is the first on a GPU of its own: the gang has half of the time, the single job all of it. Rounds go to the
# job farther behind: to b, then to a, which has 1/2 of the time and had 1/4 of it, then to b, which ends; then to a.
printf 'job_id,submit_s,gpus,duration_s,iterations\na,0,2,300,300\nb,0,1,200,200\n' >"$tmp/timed.csv"
printf '[node]\ngpus = 2\ndevice = ideal\n' >"$tmp/two.ini"
policy=gavel ends "allox queues a gang as a job of one GPU" "500.000000000 300.000000000" \
    --set objective=allox --set round=100s --cluster "$tmp/two.ini" "$tmp/timed.csv"
# Each has all of its time as its share; half a round counts as had. The gang came first; rounds go to the job that has
# had less: a, b, and at equal times to the first, a, then b, which ends at 400 s, then a.
policy=gavel ends "proportional shares do not count the GPUs of a gang" "500.000000000 400.000000000" \
    --set objective=proportional --set round=100s --cluster "$tmp/two.ini" "$tmp/timed.csv"
# One GPU: the mean time to the end is least with the shorter job first, which is not considered where only the first
# to come is: a fifth of two jobs is none, and there is one free GPU.
printf 'job_id,submit_s,gpus,duration_s,iterations\na,0,1,300,300\nb,0,1,100,100\n' >"$tmp/timed.csv"
printf '[node]\ngpus = 1\ndevice = ideal\n' >"$tmp/one.ini"
policy=gavel ends "allox lets the shorter job go first" "400.000000000 100.000000000" \
    --set objective=allox --set round=100s --cluster "$tmp/one.ini" "$tmp/timed.csv"
policy=gavel ends "allox considers a part of the jobs that wait" "300.000000000 400.000000000" \
    --set objective=allox --set queued=20% --set round=100s --cluster "$tmp/one.ini" "$tmp/timed.csv"
expect "shares of another run are refused" 3 "it is of another trace, cluster or policy" \
    sh -c 'echo 5,0,fast,1 >"$1/s.csv" && "$2" run --policy gavel --set objective=shares --set "shares=$1/s.csv" \
        --cluster "$1/cluster.ini" --rates "$1/two.csv" "$1/trace.csv"' - "$tmp" "$gsim"
expect "a reference needs the table" 3 "needs a row in --rates, and a number of iterations" \
    "$gsim" run --policy gavel --set reference=gavel --assume gpu_ms=10ms --cluster "$tmp/cluster.ini" "$tmp/trace.csv"

{ echo device,model,gpus,iterations_per_s; echo fast,m,2,1; echo slow,m,2,1; } >"$tmp/gangs.csv"
printf 'job_id,submit_s,gpus,model,iterations\na,0,2,m,7000\n' >"$tmp/trace.csv"
for setting in seed=0 set=reference=gavel; do
    expect "gavel: a gang wider than any type of device, $setting" 3 \
        "trace.csv:2: job 'a' asks for 2 GPUs; gavel runs a gang on one type of device, and no type .* has more than 1" \
        "$gsim" run --policy gavel "--${setting%%=*}" "${setting#*=}" --cluster "$tmp/cluster.ini" --rates "$tmp/gangs.csv" "$tmp/trace.csv"
done

# --- the program itself, where its results are at hand --------------------------------------------
shared=$(dirname "$0")/../../../shared/validation/elastic
if [ ! -d "$shared" ]; then
    echo "# skipped: Gavel's runs job by job: no ../shared/validation/elastic"
    exit 0
fi
one_row() { # trace, cluster, policy, name of its jobs and shares
    shares=$shared/visible/allocations/gavel.$4.$3.csv.gz
    set -- "$1" "$2" "$3" "$4" "$(if [ -e "$shares" ]; then echo "shares=$shares"; else echo "kind=rule"; fi)"
    GSIM=$gsim JOBS_CSV=$tmp/own.csv sh "$(dirname "$0")/../../experiments/elastic/reference.sh" \
        "$shared" gavel "gavel/$1" "$2" "$3" "$5" >"$tmp/log" 2>&1
    gzip -dc "$shared/visible/jobs/gavel.$4.$3.csv.gz" | grep -v '^#' | awk -F, '
        NR == FNR { if (FNR > 1) end[$1] = $3; next }
        FNR > 1 && (d = $4 - end[$1]) * d > 1e-6 && !($4 == "" && end[$1] == "") { n++ }
        END { exit n > 0 || FNR < 50 }' - "$tmp/own.csv" &&
        echo "ok every job of $4 under $3 ends within 1 ms" || echo "not ok the jobs of $4 under $3"
}
one_row max_min_fairness.trace 8:16:24 isolated mmf81624
one_row max_min_fairness.trace 8:16:24 gandiva mmf81624
one_row minimize_makespan.trace 12:12:12 fifo mm12
one_row minimize_makespan.trace 12:12:12 fifo_packed mm12
one_row single60.trace 3:3:3 fifo_packed single60
one_row single60.trace 3:3:3 gandiva single60
one_row single60.trace 3:3:3 max_min_fairness_packed single60
one_row multi400.trace 24:24:24 fifo_perf multi400
one_row single300.trace 8:8:8 allox single300
one_row multi400.trace 24:24:24 max_min_fairness_perf multi400
# Synergy's: the name of the file of jobs says the run.
for jobs in "$shared"/visible/jobs/synergy.*.csv.gz; do
    IFS=. read -r _ name order mode placement _ <<END
$(basename "$jobs")
END
    case $name in dyn120) run=dyn120.csv arrivals=dynamic ;; *) run=static_100job_6_3_1100.0 arrivals=static ;; esac
    case $placement in place) placement=placement ;; *) placement="first fit" ;; esac
    GSIM=$gsim JOBS_CSV=$tmp/own.csv sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" synergy \
        "synergy/$run" "4 servers x 8 GPUs, 24 CPUs, 500 GB, 500 MB/s" "$order" \
        "mode=$mode" "arrivals=$arrivals" "placement=$placement" >"$tmp/log" 2>&1
    gzip -dc "$jobs" | grep -v '^#' | awk -F, '
        NR == FNR { if (FNR > 1) end[$1] = $5; next }
        FNR > 1 && (d = $4 - end[$1]) * d > 1e-6 { n++ }
        END { exit n > 0 || FNR < 100 }' - "$tmp/own.csv" &&
        echo "ok every job of $name under $order, $mode, $placement, ends in its round" ||
        echo "not ok the jobs of $name under $order, $mode, $placement"
done
# ElasticFlow's: declined jobs are in no file of jobs.
deadlines() { # trace, cluster, policy, device, slot, jobs
    GSIM=$gsim JOBS_CSV=$tmp/own.csv sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" elasticflow \
        "elasticflow/$1" "$2" "$3" "device=$4" "slot_s=$5" >"$tmp/log" 2>&1
    gzip -dc "$shared/visible/jobs/elasticflow.$6.$3.csv.gz" | grep -v '^#' | awk -F, '
        NR == FNR { if (FNR > 1) end[$1] = $5; next }
        FNR > 1 && ($4 == "") != (end[$1] == "") { n++; next }
        FNR > 1 && $4 != "" && (d = $4 - end[$1]) * d > 1e-6 { n++ }
        END { exit n > 0 || FNR < 100 }' - "$tmp/own.csv" &&
        echo "ok every job of $6 under $3 ends in its second, or is declined" ||
        echo "not ok the jobs of $6 under $3"
}
refuses() { # name, what it says, arguments
    name=$1 says=$2
    shift 2
    expect "reference.sh: $name" 3 "$says" env "GSIM=$gsim" \
        sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" "$@"
}
refuses "a trace of the other device" "cifar10 with batch 4096, which was not measured on device=A100" \
    elasticflow elasticflow/elasticVpollux_e.csv "16 nodes x 4 GPUs" edf device=A100
refuses "a cluster without GPUs" "not '0:0:0'" gavel gavel/single60.trace 0:0:0 allox
refuses "servers on which the table of speeds is not the program's" "job 13 is of deepspeech, of which mode=fair alone" \
    synergy synergy/dyn120.csv "4 servers x 8 GPUs, 20 CPUs, 500 GB" FIFO mode=tune
# 384 iterations of 0.78 s a round: 800 are made in the third, although a GPU has the four CPUs with which it would be faster.
mkdir -p "$tmp/data/traces" && ln -s "$(cd "$shared" && pwd)/tables" "$tmp/data/tables"
echo 0,res50,0,800,1 >"$tmp/data/traces/one.csv"
got=$(GSIM=$gsim sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$tmp/data" synergy one.csv \
    "1 servers x 8 GPUs, 40 CPUs, 600 GB" FIFO mode=fair)
case $got in *'"last_end_s": 900.0'*) echo "ok CPUs beyond three do not count in mode=fair" ;; *)
    echo "not ok CPUs beyond three do not count in mode=fair: $got" ;;
esac
# Some traces have a header, which is no row.
while read -r simulator trace policy cluster; do
    got=$(GSIM=$gsim sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" "$simulator" "$trace, first 3 rows" \
        "$cluster" "$policy")
    case $got in *'"jobs": 3}') echo "ok the first rows of a trace of $simulator" ;; *) echo "not ok the first rows of a trace of $simulator: $got" ;; esac
done <<'R'
gavel gavel/single60.trace isolated 3:3:3
synergy synergy/dyn120.csv FIFO 4 servers x 8 GPUs, 24 CPUs, 500 GB
elasticflow elasticflow/100jobs_1500lam.csv ef 16 nodes x 8 GPUs
pollux pollux/workloads/workload-1.csv tiresias 16 nodes x 4 GPUs
R
# The floors of one programme, from the one before, are beyond what it reaches by rounding.
got=$(GSIM=$gsim sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" gavel "gavel/multi400.trace, first 14 rows" \
    12:12:12 max_min_fairness_water_filling_packed 2>&1)
case $got in *'"jobs": 14}') echo "ok water filling with pairs of gangs, programme after programme" ;; *)
    echo "not ok water filling with pairs of gangs, programme after programme: $got" ;;
esac
deadlines elasticVpollux_e.csv "16 nodes x 4 GPUs" edf T4 60 ep
deadlines elasticVpollux_e.csv "16 nodes x 4 GPUs" ef T4 60 ep
deadlines 100jobs_1500lam.csv "16 nodes x 8 GPUs" edf A100 240 100jobs_1500lam
deadlines 100jobs_1500lam.csv "16 nodes x 8 GPUs" ef-accessctrl A100 240 100jobs_1500lam
deadlines 120jobs_600lam.csv "8 nodes x 8 GPUs" ef-accessctrl A100 240 120jobs_600lam
deadlines elasticVpollux_e.csv "16 nodes x 4 GPUs" gandiva T4 60 ep
deadlines 100jobs_1500lam.csv "16 nodes x 8 GPUs" dlas-gpu A100 240 100jobs_1500lam
deadlines 120jobs_600lam.csv "8 nodes x 8 GPUs" dlas-gpu A100 240 120jobs_600lam
# Own shares, by the path of the program's solver: equal but where equal jobs are told apart by its last digits.
own_row() { # trace, cluster, policy, column of the table, per cent
    wanted=$(awk -F, -v t="gavel/$1" -v c="$2" -v p="$3" -v column="$4" '
        /^#/ { next }
        !has { for (i = 1; i <= NF; i++) at[$i] = i; has = 1; next }
        $2 == t && $3 == c && $4 == p { print $at[column] }' "$shared/visible/gavel.csv")
    got=$(GSIM=$gsim sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" gavel "gavel/$1" "$2" "$3" |
        sed "s/.*\"$4\": \([0-9.]*\).*/\1/")
    if awk "BEGIN { off = $got / $wanted - 1; exit !(off < $5 / 100 && off > -$5 / 100) }"; then
        echo "ok $4 of $1 under $3 is within $5 % of Gavel's"
    else
        echo "not ok $4 of $1 under $3: $got, Gavel's $wanted"
    fi
}
# Numbers alone: with sanitizers each objective finds its shares above, and the rows before these are of these traces.
! leaves_numbers || exit 0
own_row minimize_makespan.trace 12:12:12 max_min_fairness avg_jct_s 1
own_row max_min_fairness.trace 8:16:24 max_min_fairness_perf avg_jct_s 0.01
own_row multi400.trace 24:24:24 max_min_fairness_perf avg_jct_s 0.01
own_row single60.trace 3:3:3 max_min_fairness_water_filling_perf avg_jct_s 4
own_row max_min_fairness.trace 8:16:24 finish_time_fairness_perf avg_jct_s 0.5
own_row single60.trace 3:3:3 finish_time_fairness_perf avg_jct_s 0.0000001
own_row single60.trace 3:3:3 max_min_fairness_perf avg_jct_s 0.0001
own_row multi400.trace 24:24:24 max_sum_throughput_perf avg_jct_s 0.001
own_row minimize_makespan.trace 12:12:12 max_sum_throughput_perf avg_jct_s 0.2
own_row minimize_makespan.trace 12:12:12 min_total_duration_perf avg_jct_s 0.0000001
own_row single60.trace 3:3:3 max_min_fairness_packed avg_jct_s 0.1
own_row single300.trace 8:8:8 allox avg_jct_s 0.0000001
own_row single60.trace 3:3:3 gandiva avg_jct_s 0.0000001
own_row minimize_makespan.trace 12:12:12 fifo_packed avg_jct_s 0.0000001
