#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs in phases (column phases, with --rates): their times, what is refused, what gavel makes of them,
# and rows of Shockwave's authors. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

printf 'device,model,gpus,iterations_per_s\nideal,small,1,2\nideal,small,2,4\nideal,large,1,5\n' >"$tmp/rates.csv"
cat >"$tmp/slow.ini" <<'END'
[node fast]
gpus = 1
device = ideal
END
phases() { # gpus, phases
    printf 'job_id,submit_s,gpus,phases\na,0,%s,%s\n' "$1" "$2" >"$tmp/trace.csv"
}
ends() { # name, the ends in seconds, arguments
    name=$1 wanted=$2
    shift 2
    rm -f "$tmp/jobs.csv"
    "$gsim" run --quiet --device ideal --rates "$tmp/rates.csv" --jobs-csv "$tmp/jobs.csv" "$@" "$tmp/trace.csv" >"$tmp/log" 2>&1
    got=$(awk -F, 'NR > 1 { printf "%s%s", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv" 2>/dev/null)
    if [ "$got" = "$wanted" ]; then echo "ok $name"; else
        echo "not ok $name: '$got' instead of '$wanted'"
        sed 's/^/# /' "$tmp/log" | head -5
    fi
}
refused() { # name, message, gpus, phases
    phases "$3" "$4"
    expect "$1" 3 "$2" "$gsim" run --policy fifo --device ideal --rates "$tmp/rates.csv" "$tmp/trace.csv"
}

# --- times ----------------------------------------------------------------------------------------
phases 1 '1000/500 small; 250/250 large'
ends "a part after the other, each at its own speed" 550.000000000 --policy fifo
phases 1 '10 small;10 large;10 small'
ends "back to a model that it had before" 12.000000000 --policy fifo
# Rounds of 4 s in turn; each has 3 s of small and 4 s of large. a runs from 0 and from 8, and b from 4 and
# from 11: both are stopped after 1 s of large, and keep it.
printf 'job_id,submit_s,gpus,phases\na,0,1,6 small;20 large\nb,0,1,6 small;20 large\n' >"$tmp/trace.csv"
ends "a phase goes on where it was stopped" "11.000000000 14.000000000" --policy gavel --gpus-per-node 1 \
    --set objective=max-min --set round=4s
printf 'job_id,submit_s,gpus,phases\na,0,1,6 small;20 large\nb,1,2,8 small\n' >"$tmp/trace.csv"
ends "gangs of other sizes have the times of their own rows" "7.000000000 9.000000000" --policy fifo --gpus-per-node 2
printf 'job_id,submit_s,duration_s,gpus,phases\na,0,9,1,6 small;20 large\n' >"$tmp/trace.csv"
expect "phases are written as they are read" 0 '^a,0,9,1,6 small;20 large$' "$gsim" import native "$tmp/trace.csv"
expect "without a table of speeds the duration holds" 0 'JCT mean  *9.000 s' "$gsim" run --quiet --policy fifo \
    --device ideal "$tmp/trace.csv"

# --- what is refused ------------------------------------------------------------------------------
refused "a model without a row" "trace.csv:2: column 'phases': part 2 of job 'a', '3 huge', is of a model without a row" 1 '1 small;3 huge'
refused "a model without a row for the gang" "has no row for as many GPUs as the job asks for" 2 '1 small;3 large'
refused "no number" "begins with no number of iterations above 0; a part is ITERATIONS/ITERATIONS_OF_AN_EPOCH MODEL" 1 'small'
refused "no iterations" "begins with no number of iterations above 0" 1 '0 small'
refused "an epoch of nothing" "has no number of iterations of an epoch, above 0, after the /" 1 '5/0 small'
refused "no model" "has no blank between its numbers and its model" 1 '5'
refused "an empty part" "part 2 of job 'a', '', begins with no number" 1 '5 small;'
refused "past the end of the clock" "lasts past the end of the clock" 1 '1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small;1000000000000 small'
printf 'job_id,submit_s,gpus,model,phases\na,0,1,large,5 small\n' >"$tmp/trace.csv"
expect "another model in the row" 3 "job 'a' begins with model 'small', and its column 'model' says 'large'" \
    "$gsim" run --policy fifo --device ideal --rates "$tmp/rates.csv" "$tmp/trace.csv"
phases 1 '1000/500 small; 250/250 large'
expect "Gavel's own program has one speed of a job" 2 "reference=gavel: jobs of Gavel have one speed on a device; job 'a' has phases" \
    "$gsim" run --policy gavel --set reference=gavel --set objective=fifo --device ideal --rates "$tmp/rates.csv" "$tmp/trace.csv"

# --- gavel ----------------------------------------------------------------------------------------
# a has 120 s of work and b 95 s. While a has the small batch, its two epochs count for 200 s, so that
# it has most rounds and ends first; without phases, its 120 s would end after b's 95. (With 100 s of b the
# jobs' claims to the ninth round are equal, and the last digits of the shares would decide.)
printf 'job_id,submit_s,gpus,phases\na,0,1,200/200 small;100/100 large\nb,0,1,190/190 small\n' >"$tmp/trace.csv"
ends "gavel follows the present batch size" "180.000000000 215.000000000" --policy gavel --gpus-per-node 1 \
    --set objective=makespan --set round=20s --set min_between=20s
# b comes in the round that began at 10, of which the shares are those of the first instant and keep b not
# waiting: new ones are computed at 30. c comes then, and others are due from 90 on.
printf 'job_id,submit_s,gpus,phases\na,10,1,200 small\nb,11,1,200 small\nc,31,1,200 small\n' >"$tmp/trace.csv"
ends "newcomers run where GPUs are left" "110.000000000 130.000000000 150.000000000" --policy gavel --gpus-per-node 3 \
    --set objective=max-min --set round=20s --set min_between=60s
ends "newcomers hold GPUs until shares are computed" "110.000000000 130.000000000 190.000000000" --policy gavel --gpus-per-node 3 \
    --set objective=max-min --set round=20s --set min_between=60s --set newcomers=hold

# --- shockwave ------------------------------------------------------------------------------------
# On one GPU, planned by two rounds of 60 s: with an equal part a (100 s) would end at 200 s and b (70 s) at
# 140 s, so that a may have 40 s left at 120 and b 10 s. Each gets one round, a first. At 120 both cannot
# be in time any more after two rounds; each gets one again, first b, which runs, until 130.
printf 'job_id,submit_s,gpus,phases\na,0,1,200/20 small\nb,0,1,140/20 small\n' >"$tmp/trace.csv"
ends "shockwave gives both jobs rounds" "170.000000000 130.000000000" --policy shockwave --gpus-per-node 1 --set round=60s --set rounds=2
# Two GPUs, three jobs without phases that come at once: none is later than with an equal part, so that the first two
# to come run, b until 186.027. c gets its GPU in the round that begins at 240.
printf 'job_id,submit_s,gpus,duration_s\na,0,1,267.573\nb,0,1,186.027\nc,0,1,308.994\n' >"$tmp/trace.csv"
ends "shockwave: jobs that are equally late run in their order" "267.573000000 186.027000000 548.994000000" \
    --policy shockwave --gpus-per-node 2 --set rounds=6 --set replan=3
for bad in rounds=0 rounds=1001 round=0s replan=0 lambda=-1 lambda=101; do
    expect "shockwave refuses $bad" 2 "shockwave.${bad%=*}: '${bad#*=}' is not a .*, [01].* to " \
        "$gsim" run --policy shockwave --set $bad --device ideal --rates "$tmp/rates.csv" "$tmp/trace.csv"
done

# --- two jobs that share their GPUs, of which one comes to another phase in the middle of a round ----
pair() { # name, the ends wanted, GPUs, speed of m1 beside m0, of m0 beside m1
    { echo device,model,gpus,beside,iterations_per_s
      printf 'ideal,%s\n' "m0,$3,,1" "m1,$3,,2" "m0,$3,m0,0.8" "m1,$3,m0,$4" "m0,$3,m1,$5"; } >"$tmp/beside.csv"
    printf 'job_id,submit_s,gpus,phases\na,0,%d,80 m0;100 m1\nb,0,%d,200 m0\n' "$3" "$3" >"$tmp/pair.csv"
    "$gsim" run --quiet --policy gavel --set objective=fifo --set packing=on --device ideal --gpus-per-node "$3" \
        --rates "$tmp/beside.csv" --jobs-csv "$tmp/pair_jobs.csv" --force "$tmp/pair.csv" >"$tmp/log" 2>&1
    check "$1" "$2" "$(awk -F, 'NR > 1 { printf "%s%s", (NR > 2 ? " " : ""), $4 }' "$tmp/pair_jobs.csv")"
}
# Both make 80 by 100 s. Then a makes 1 a second, to 200 s, and b 0.6, and the last 60 alone.
pair "the speeds of a pair change with a phase" "200.000000000 260.000000000" 1 1 0.6
# Beside b phase m1 cannot run: a waits from 100 s on, until b has made its 120 at 0.6, and makes its 100 alone in 50 s.
pair "a job that cannot run beside the other one in its new phase waits" "350.000000000 300.000000000" 1 0 0.6
# b cannot run beside m1: it waits until a has made its 100, and makes its 120 alone. They are gangs of two GPUs.
pair "a job beside which the other one's new phase cannot run waits" "200.000000000 320.000000000" 2 1 0

# --- rows of Shockwave's authors --------------------------------------------------------------------
shared=$(dirname "$0")/../../../shared/validation/elastic
if [ ! -d "$shared" ]; then
    echo "# skipped: rows of Shockwave's authors: no ../shared/validation/elastic"
    exit 0
fi
row() { # policy, mean JCT on the cluster
    GSIM=$gsim sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" shockwave \
        shockwave/120.trace 32 "$1" >"$tmp/row" 2>&1
    awk -v wanted="$2" -v name="$1" -F'[:,]' '{ got = $2 }
        END { ok = got > 0.9 * wanted && got < 1.1 * wanted
              print (ok ? "ok " : "not ok ") "within 10 % of the cluster: " name " (" got + 0 ")" }' "$tmp/row"
}
row max_min_fairness 12113.044
row finish_time_fairness 10929.856
row max_sum_throughput_perf 9703
row shockwave 10509.334

# --- two jobs on a GPU, of which one changes its model: a is 600 s alone, since m and n do not go together; then 900
# iterations of k beside n at 0.9, to 1600 s, in which b makes 900, and has 600 left alone.
{ echo device,model,gpus,beside,iterations_per_s; printf 'ideal,%s\n' m,1,,1 k,1,,1 n,1,,1 m,1,n,0 n,1,m,0 k,1,n,0.9 n,1,k,0.9; } >"$tmp/beside.csv"
printf 'job_id,submit_s,gpus,phases\na,0,1,600/60 m; 900/90 k\nb,0,1,1500/150 n\n' >"$tmp/later.csv"
"$gsim" run --quiet --policy gavel --set objective=fifo --set packing=on --set round=60s --set min_between=1s --device ideal \
    --gpus-per-node 1 --rates "$tmp/beside.csv" --jobs-csv "$tmp/later_jobs.csv" "$tmp/later.csv" >"$tmp/log" 2>&1
check "gavel: pairs follow the phases of their jobs" "1600.000000000 2200.000000000" \
    "$(awk -F, 'NR > 1 { printf "%s%s", (NR > 2 ? " " : ""), $4 }' "$tmp/later_jobs.csv")"

# 10 iterations of small take 5 s on b200, which has no speed for large: the job stands still there until the round ends
# at 20 s, and makes 10 of large in 2 s on ideal, which has no speed for small; so it is with any way to stop it.
printf 'device,model,gpus,iterations_per_s\nb200,small,1,2\nb200,large,1,0\nideal,small,1,0\nideal,large,1,5\n' >"$tmp/apart.csv"
printf '[node a]\ncount=1\ngpus=1\ndevice=b200\n[node b]\ncount=1\ngpus=1\ndevice=ideal\n' >"$tmp/apart.ini"
phases 1 '10 small;10 large'
for way in pause pause-iteration; do
    "$gsim" run --policy gavel --quiet --cluster "$tmp/apart.ini" --rates "$tmp/apart.csv" --set round=20s --set preempt=$way \
        --set min_between=1s --force --jobs-csv "$tmp/jobs.csv" "$tmp/trace.csv" >"$tmp/log" 2>&1
    check "gavel: a phase that cannot run where the job is waits for the next round (preempt=$way)" 22.0 \
        "$(awk -F, 'NR == 2 { printf("%.1f", $4) }' "$tmp/jobs.csv")"
done
# b has shares at 10, so that c, which comes at 20, waits for the next ones: these are due at 1010, or once nothing runs by
# those there are, at 100, when none is to come but d, which comes after c.
printf 'job_id,submit_s,duration_s,after\na,0,10,\nx,0,100,\nb,0,10,a\nc,0,10,b\nd,0,10,c\n' >"$tmp/trace.csv"
ends "gavel: newcomers are not held for jobs that come after them" "10.000000000 100.000000000 20.000000000 110.000000000 120.000000000" \
    --policy gavel --set newcomers=hold --set round=10s --set min_between=1000s --gpus-per-node 2 --nodes 1
