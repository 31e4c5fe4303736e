#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a bad table of speeds (--rates) makes of a run: one error, whichever policy reads the speeds; and
# bad shares of gavel. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

printf 'job_id,submit_s,gpus,model,iterations\na,0,1,m,700\nb,0,2,m,700\nc,5,1,m,70\n' >"$tmp/trace.csv"
policies="gavel:objective=max-min gavel:objective=water-filling gavel:objective=max-sum
    gavel:objective=makespan gavel:objective=finish-time gavel:objective=isolated gavel:objective=fifo
    gavel:objective=allox themis:lease=20min shockwave:round=120s synergy:order=fifo synergy:mode=greedy
    elasticflow:mode=all elasticflow:mode=edf adaptdl:rule=tiresias adaptdl:rule=optimus pollux:interval=60s
    sia:interval=60s muri:rule=muri-s muri:rule=muri-l lucid:policy=lucid"

with_policy() { # POLICY:SETTING, arguments
    of=$1
    shift
    case $of in lucid:*) set -- --policy lucid "$@" ;; *) set -- --policy "${of%%:*}" --set "${of#*:}" "$@" ;; esac
    "$gsim" run "$@" --quiet --device ideal --gpus-per-node 4 "$tmp/trace.csv"
}

# Every policy refuses the table with the same sentence. The first table is read for all policies. Which policy it is for
# hardly matters to what reads a table: each other one is read for a third of the policies in turn, and with sanitizers
# for one; under CASES=all for all.
turn=0
picked() { # prints the policies of the next table
    every=3
    case ${CASES-},$gsim,$turn in
    all,* | *,0) every=1 ;;
    *-san-*) every=$(printf '%s\n' $policies | wc -l) ;;
    esac
    printf '%s\n' $policies | awk -v every="$every" -v turn=$turn 'NR % every == (turn + 1) % every'
}
all_refuse() { # name, pattern, rows of a table
    name=$1 pattern=$2
    shift 2
    { echo "device,model,gpus,iterations_per_s" && printf '%s\n' "$@"; } >"$tmp/bad.csv"
    others=
    for policy in $(picked); do
        with_policy "$policy" --rates "$tmp/bad.csv" >"$tmp/log" 2>&1
        status=$?
        [ $status -eq 3 ] && grep -q -e "$pattern" "$tmp/log" || others="$others $policy ($status)"
    done
    check "each policy refuses $name" "" "$others"
    turn=$((turn + 1))
}

speed="is not a number of iterations per second from 1e-9 to 1e9"
all_refuse "a speed of zero for a width that a job asks for" \
    "trace.csv:2: job 'a': by .*bad.csv, model 'm' cannot run on 1 GPUs of any device" ideal,m,1,0 ideal,m,2,3
all_refuse "a speed of zero for a gang" "trace.csv:3: job 'b': .* cannot run on 2 GPUs of any device" ideal,m,1,3 ideal,m,2,0
all_refuse "a speed below zero" "bad.csv:3: column 'iterations_per_s': '-1' $speed" ideal,m,1,3 ideal,m,2,-1
all_refuse "a speed that is no number" "bad.csv:2: column 'iterations_per_s': 'nan' $speed" ideal,m,1,nan
all_refuse "an infinite speed" "bad.csv:2: column 'iterations_per_s': 'inf' $speed" ideal,m,1,inf
all_refuse "a speed past the range of numbers" "bad.csv:2: column 'iterations_per_s': '1e400' $speed" ideal,m,1,1e400
all_refuse "a speed too small" "bad.csv:2: column 'iterations_per_s': '1e-30' $speed" ideal,m,1,1e-30
all_refuse "an empty cell" "bad.csv:2: column 'iterations_per_s': '' $speed" ideal,m,1,
all_refuse "a row with too few fields" "bad.csv:3: 3 fields; the header has 4 columns" ideal,m,1,2 ideal,m,2
all_refuse "a row for no GPUs" "bad.csv:2: column 'gpus': '0' is not a number of GPUs" ideal,m,0,1
all_refuse "a row for a part of a GPU" "bad.csv:2: column 'gpus': '1.5' is not a number of GPUs" ideal,m,1.5,1
all_refuse "a row of no model" "bad.csv:2: column 'model': '' is not a model's name" ideal,,1,1
all_refuse "a row of no device" "bad.csv:2: column 'device': '' is not a device's name" ,m,1,1
all_refuse "a row that stands twice" "bad.csv:4: model 'm' stands twice for 1 GPUs of ideal: also in line 2" \
    ideal,m,1,1 ideal,m,2,3 ideal,m,1,1
all_refuse "two speeds for one width" "bad.csv:3: model 'm' stands twice for 1 GPUs of ideal: also in line 2" \
    ideal,m,1,1 ideal,m,1,4
all_refuse "a model without a row" "trace.csv:2: job 'a' of model 'm' has neither .*, and its model no row in .*bad.csv" ideal,other,1,1
all_refuse "a gang wider than any row" "trace.csv:3: job 'b' asks for 2 GPUs; the widest row of model 'm' in .*bad.csv has 1" ideal,m,1,3
all_refuse "a table for other devices" "no row is of 'ideal', which nodes of the cluster have; the table has 'v100'" v100,m,1,1 v100,m,2,3
printf 'device,model,gpus,iterations_per_s\n' >"$tmp/none.csv"
for policy in $policies; do
    expect "$policy: a table without a row" 3 "none.csv: a table of speeds without a row" with_policy "$policy" --rates "$tmp/none.csv"
done

printf 'device,model,gpus,iterations_per_s\nideal,m,1,1\nideal,m,2,2\n' >"$tmp/rates.csv"
expect "gavel: a round of no length" 2 "gavel.round: '0s' is not a time" with_policy gavel:round=0s --rates "$tmp/rates.csv"
for row in 0,0,ideal,2 0,0,ideal,-1 0,0,ideal,nan 0,0,ideal,inf; do
    echo "$row" >"$tmp/shares"
    expect "gavel: a share outside of 0 to 1, $row" 3 "shares:1: .* a share is not in 0 to 1" \
        with_policy gavel:objective=shares --set "shares=$tmp/shares" --rates "$tmp/rates.csv"
done
printf 'device,model,gpus,beside,iterations_per_s\nideal,m,1,,1\nideal,m,2,,2\nideal,m,1,m,0.6\n' >"$tmp/pairs.csv"
bad_shares() { # name, pattern, row of a file of shares
    echo "$3" >"$tmp/shares"
    expect "gavel: shares of $1" 3 "shares:1: $2" \
        with_policy gavel:objective=shares --set packing=on --set "shares=$tmp/shares" --rates "$tmp/pairs.csv"
}
bad_shares "a job beside itself" "job 'a' shares GPUs with itself; a pair is two jobs" 0,0+0,ideal,0.3
bad_shares "a job that the trace lacks" "there is no job 3; those of the trace are 0 to 2" 0,3,ideal,0.3
bad_shares "a pair with such a job" "there is no job 7; those of the trace are 0 to 2" 0,0+7,ideal,0.3
bad_shares "a pair of unequal gangs" "jobs 'a' and 'b' share no GPUs: a pair has equally many GPUs each" 0,0+1,ideal,0.3

# --- hosts with less memory than any row was measured with
printf 'device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s\nideal,m,1,1,10,2\nideal,m,2,1,10,3\n' >"$tmp/hosts.csv"
printf '[node small]\ngpus = 4\nhost_mem = 32GiB\ndevice = ideal\n' >"$tmp/small.ini"
printf '[node large]\ngpus = 2\nhost_mem = 32GiB\ndevice = ideal\n' >"$tmp/large.ini"
for policy in fifo srtf exclusive; do
    expect "$policy: a model that needs more of a host than any GPU has" 3 \
        "trace.csv:2: job 'a': by .*hosts.csv its model needs more of a host's memory for each of 1 GPUs" \
        "$gsim" run --quiet --policy $policy --rates "$tmp/hosts.csv" --cluster "$tmp/small.ini" "$tmp/trace.csv"
    expect "$policy: it runs where the host has 16 GiB for each GPU" 0 "3 completed" "$gsim" run --quiet \
        --policy $policy --rates "$tmp/hosts.csv" --cluster "$tmp/large.ini" "$tmp/trace.csv"
done

# --- a gang as wide as no row of one device of the cluster
printf '[node x]\ndevice = ideal\ngpus = 2\nrates_as = wide\n[node y]\ndevice = ideal\ngpus = 2\nrates_as = narrow\n' >"$tmp/two.ini"
printf 'device,model,gpus,iterations_per_s\nwide,m,1,1\nwide,m,2,2\nnarrow,m,1,1\n' >"$tmp/narrow.csv"
expect "a device whose rows are narrower than a gang is named in the result" 0 "rates=widest row (some gang" "$gsim" run \
    --quiet --verbose --policy gavel --rates "$tmp/narrow.csv" --cluster "$tmp/two.ini" "$tmp/trace.csv"
printf 'narrow,m,2,2\n' >>"$tmp/narrow.csv"
"$gsim" run --quiet --policy gavel --rates "$tmp/narrow.csv" --cluster "$tmp/two.ini" "$tmp/trace.csv" >"$tmp/log" 2>&1
check "and not where it has such a row" 0 "$(grep -c 'widest row' "$tmp/log")"
printf 'device,model,gpus,iterations_per_s\nideal,m,1,1\nideal,m,2,2\n' >"$tmp/two.csv"
with_policy elasticflow:mode=all --rates "$tmp/two.csv" >"$tmp/log" 2>&1
check "nor where a policy gives a job more GPUs than it asks for" 0 "$(grep -c 'widest row' "$tmp/log")"

# --- a type of GPU on which a model cannot run
printf '[node a]\ndevice = ideal\ngpus = 4\nrates_as = none\n[node b]\ndevice = ideal\ngpus = 4\nrates_as = some\n' >"$tmp/types.ini"
printf 'device,model,gpus,iterations_per_s\nnone,m,1,0\nnone,m,2,0\nsome,m,1,1\nsome,m,2,2\n' >"$tmp/types.csv"
while IFS=: read -r policy setting code pattern; do
    expect "$policy: a type of GPU on which a model cannot run" "$code" "$pattern" "$gsim" run --quiet --policy "$policy" \
        --set "$setting" --rates "$tmp/types.csv" --cluster "$tmp/types.ini" "$tmp/trace.csv"
done <<'END'
gavel:objective=max-min:0:3 completed
sia:interval=60s:0:3 completed
slurm:kill=off:0:3 completed
elasticflow:mode=admit:3:job 'a' can run on no power of two of GPUs of each type
elasticflow:mode=edf:3:job 'a' can run on no power of two of GPUs of each type
themis:lease=20min:3:models cannot run on some nodes of the cluster, which have other GPUs
adaptdl:rule=tiresias:3:trace.csv:2: adaptdl: its rules know one type of GPU, and job 'a' is unlike on 'none' and on 'some'
END

# Of a cluster that has this type alone, each policy says so, in a sentence of its own or that of placement by shape.
printf '[node a]\ndevice = ideal\ngpus = 4\nrates_as = none\n' >"$tmp/none.ini"
for policy in gavel themis shockwave synergy elasticflow adaptdl pollux sia muri lucid fifo; do
    expect "$policy: a cluster on which a model cannot run" 3 "job 'a' .*can" "$gsim" run --quiet \
        --policy "$policy" --rates "$tmp/types.csv" --cluster "$tmp/none.ini" "$tmp/trace.csv"
done

# Jobs in phases, and rows of 0 for a host with a CPU for each GPU, meet the rule of jobs of one model: policies that
# let gsim choose GPUs run them on the other node, those that choose GPUs themselves are refused.
printf 'job_id,submit_s,gpus,phases\na,0,1,30 m;40 m\nb,0,2,100 m;40 m\nc,5,1,70 m\n' >"$tmp/in_phases.csv"
printf '[node a]\ndevice = ideal\ngpus = 4\ncpus = 4\n[node b]\ndevice = ideal\ngpus = 4\ncpus = 16\n' >"$tmp/cpus.ini"
printf 'device,model,gpus,cpus_per_gpu,iterations_per_s
ideal,m,1,1,0\nideal,m,1,4,1\nideal,m,2,1,0\nideal,m,2,4,2\n' >"$tmp/cpus.csv"
# A gang over both nodes has the lesser part of the memory beside each GPU, with which it cannot run on the second type,
# while each node alone can run it, and the two of the first type.
printf '[node a]\ndevice = ideal\ncount = 2\ngpus = 1\nhost_mem = 10GiB\nrates_as = little\n
[node b]\ndevice = ideal\ngpus = 1\nhost_mem = 40GiB\nrates_as = much\n' >"$tmp/memory.ini"
printf 'device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s
little,m,1,1,10,1\nlittle,m,2,1,10,2\nmuch,m,1,1,40,1\nmuch,m,2,1,40,2\n' >"$tmp/memory.csv"
printf 'job_id,submit_s,gpus,model,iterations\na,0,2,m,70\n' >"$tmp/across.csv"
refused="models cannot run on some nodes of the cluster, which have other GPUs"
while IFS=: read -r table trace policy code pattern; do
    expect "$policy: $trace where $table tells nodes apart" "$code" "$pattern" "$gsim" run --quiet --policy "$policy" \
        --rates "$tmp/$table.csv" --cluster "$tmp/$table.ini" "$tmp/$trace.csv"
done <<END
types:in_phases:fifo:0:3 completed
types:in_phases:las:0:3 completed
types:in_phases:lucid:3:$refused
types:in_phases:shockwave:3:$refused
cpus:trace:fifo:0:3 completed
cpus:trace:shockwave:3:$refused
cpus:in_phases:las:0:3 completed
memory:across:lucid:3:$refused
memory:across:shockwave:3:$refused
END

# --- reference=gavel, fifo without speeds: the last type by name is given to each job, be it as it may
printf '[node a]\ndevice = ideal\ngpus = 4\nrates_as = a\n[node b]\ndevice = ideal\ngpus = 1\nrates_as = b\n' >"$tmp/last.ini"
printf 'device,model,gpus,iterations_per_s\na,m,1,1\na,m,2,2\nb,m,1,0\nb,m,2,0\n' >"$tmp/no_b.csv"
printf 'device,model,gpus,iterations_per_s\na,m,1,1\na,m,2,2\nb,m,1,1\nb,m,2,2\n' >"$tmp/both.csv"
sed -i '/^a/d' "$tmp/trace.csv"
blind() { # table, arguments
    table=$1
    shift
    "$gsim" run --quiet --policy gavel --set objective=fifo --set sees_speed=off "$@" --rates "$tmp/$table.csv" \
        --cluster "$tmp/last.ini" "$tmp/trace.csv"
}
expect "a gang that the program gives a type of fewer GPUs" 3 \
    "trace.csv:2: job 'b' would wait for ever: it asks for 2 GPUs, .* gives it type 'b' alone, which has 1; run" \
    blind both --set reference=gavel
expect "jobs that the program gives a type without speed" 3 \
    "trace.csv:2: job 'b' would wait for ever: .* type 'b' alone, which has 1, and on which its speed is 0; run" \
    blind no_b --set reference=gavel
expect "gavel's own fifo draws a type that has the gang" 0 "2 completed" blind both
expect "gavel's own fifo draws a type on which the job runs" 0 "2 completed" blind no_b

# --- a gang wider than a node, on nodes of which each alone could run it: an a has no row with so little memory beside it as
# a b brings, and the bs are too few. A policy that may give it fewer GPUs tells so once it waits.
printf '[node a]\ndevice = ideal\ngpus = 1\ncpus = 16\nrates_as = a\n[node b]\ndevice = ideal\ncount = 3\ngpus = 2\nhost_mem = 64GiB\nrates_as = b\n' >"$tmp/wide.ini"
printf 'device,model,gpus,iterations_per_s,cpus_per_gpu,host_gib_per_gpu\na,m,7,0,1,10\na,m,7,9,4,40\nb,m,7,8,1,10\nb,m,7,0,4,40\n' >"$tmp/wide.csv"
for gpus in 6 7; do
    printf 'job_id,submit_s,gpus,mem_gib,model,iterations\ng,0,%s,1,m,80\n' $gpus >"$tmp/gang$gpus.csv"
done
wide() { # GPUs, arguments
    of=$1
    shift
    "$gsim" run --quiet --rates "$tmp/wide.csv" --cluster "$tmp/wide.ini" "$tmp/gang$of.csv" "$@"
}
for policy in fifo las slurm; do
    expect "a gang that is too wide for what a host has beside it, under $policy" 3 \
        "gang7.csv:2: job 'g' asks for 7 GPUs; by the table of speeds its model can run on at most 6 of the cluster's together" \
        wide 7 --policy $policy
    expect "a gang as wide as that, under $policy" 0 "1 completed" wide 6 --policy $policy
done
expect "why such a gang waits for ever" 1 "'elasticflow' leaves 1 job .* Job 'g' can never have its 7 GPUs: by the table of speeds" \
    wide 7 --policy elasticflow --set mode=edf
