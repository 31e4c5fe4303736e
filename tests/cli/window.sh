#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --warmup leaves jobs out of JCT, waiting and slowdown in each output, not in the summary alone: the rows "as logged",
# the waits of users in a report, and the figures that are drawn from jobs. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/check.sh
cd "$tmp" || exit 1

# On one GPU: a runs from 0, b waits 100 s, c 200 s, d 300 s; in the log 5, 110, 240 and 300 s. Without the first two
# jobs the mean waits are 250 s and 270 s: -7.4 %. Of all jobs they would be 150 s and 163.75 s.
printf 'job_id,submit_s,duration_s,gpus,user,logged_start_s\na,0,100,1,ann,5\nb,0,100,1,bob,110\nc,0,100,1,ann,240\nd,0,10,1,ann,300\n' >t.csv
"$gsim" compare --policies fifo --gpus-per-node 1 --device ideal --no-what-if --warmup 50% --cooldown 0% --quiet --db d.db t.csv >out 2>log
check "as logged: the jobs that count" "as logged: 2 of 2 jobs" "$(grep -o '^as logged: . of . jobs' out)"
check "and how far they are off" "-7.4 %" "$(grep -o '^fifo .* -7.4 %' out | grep -o '[-+][0-9.]* %')"
"$gsim" report d.db -o r.html --quiet >out 2>log
sed 's/<[^>]*>/|/g' r.html | tr -s '|\n' '|' >r.txt
check "in a report as well" "|2|4.5 min|4.17 min|-7.4 %|" "$(grep -o '|2|4.5 min|[^|]*|[^|]*|' r.txt)"
# ann's are c and d: 250 s, and 270 s in the log; a counts in her GPU hours, 210 s.
check "a user's waits are those of the jobs that count, GPU hours those of all" "|ann|fifo|3|0.1|-|4.5 min|4.17 min|" \
    "$(grep -o '|ann|fifo|[^|]*|[^|]*|[^|]*|[^|]*|[^|]*|' r.txt)"

# Two traces of which the first two jobs alone differ: one holds all GPUs, for 100 or 9000 s, and the other waits for it.
command -v gnuplot >/dev/null 2>&1 || exit 0
for long in 100 9000; do
    mkdir -p $long
    printf 'job_id,submit_s,duration_s,gpus\ny,0,%d,4\nz,1,100,1\nb,10000,100,1\nc,10001,30,1\nd,10002,10,1\n' $long >$long/t.csv
    for warmup in 40% 0%; do
        (cd $long && "$gsim" run --policy fifo --gpus-per-node 4 --device ideal --warmup $warmup --cooldown 0% --quiet --db d$warmup.db t.csv >out 2>log)
        for figure in jct_cdf fairness slowdown_size; do
            (cd $long && "$gsim" plot d$warmup.db --figure $figure -o $figure$warmup.svg >out 2>log)
        done
    done
done
for figure in jct_cdf fairness slowdown_size; do
    cmp -s 100/${figure}40%.svg 9000/${figure}40%.svg
    say "figure $figure has the jobs that count" $?
    ! cmp -s 100/${figure}0%.svg 9000/${figure}0%.svg
    say "which are all without --warmup" $?
done
