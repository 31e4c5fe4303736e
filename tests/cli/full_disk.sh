#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk without room under each output of each command: the command says so and exits with 1, and leaves
# nothing that looks like a result. The limit of a file's size stands in for the disk, once at nothing and
# once a little short of what the output takes. Which outputs there are comes from the program's own help,
# so that a new one without a case is missed here. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
case $gsim in /*) ;; *) gsim=$PWD/$gsim ;; esac
trace=traces/samples/small_lab.csv
spec=traces/samples/cluster.ini
lab="--nodes 2 --gpus-per-node 4"
dry="--dry-run --speed-up 100 --gpus 0,1 --policy fifo --logs $tmp/logs"
printf 'trace = %s\npolicy = fifo, las\nnodes = 2\ngpus-per-node = 4\n' "$trace" >"$tmp/grid.ini"
printf '[m]\nparameters = 100\nlayers = 1\nhidden = 1\nheads = 1\nkv_heads = 1\nhead_dim = 1\nvocabulary = 1\nmemory = 1000B\n' >"$tmp/models.ini"
awk 'BEGIN { print "request_id,arrival_s,prompt_tokens,output_tokens"; for (i = 0; i < 200; i++) print "r" i "," i ",2,2" }' >"$tmp/requests.csv"
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,command"; for (i = 0; i < 40; i++) print "job-with-a-name-of-its-own-" i ",0,0.01,1,true" }' >"$tmp/jobs.csv"
awk 'BEGIN { print "job_id,num_gpu,submit_time,iterations,model_name,duration,interval"; for (i = 0; i < 100; i++) print i "," (i % 2 ? "1" : "none") "," i ",1,vgg,100,0" }' >"$tmp/dirty.csv"
"$gsim" --quiet --policy fifo $lab --db "$tmp/a.db" "$trace" >"$tmp/log" 2>&1 && "$gsim" --quiet --policy las $lab --db "$tmp/b.db" "$trace" >>"$tmp/log" 2>&1 &&
    timeout 60 "$gsim" drive --quiet $dry --db "$tmp/real.db" "$tmp/jobs.csv" >>"$tmp/log" 2>&1
say "databases to read from" $?

# Gnuplot is not built with sanitizers: there a figure is drawn in one format, and pages are made without figures.
formats="pdf svg png tex" bare=
if leaves_numbers; then formats=svg bare="env PATH=/nowhere"; fi
# run COMMAND OPTION FILE WORDS...: the command with the output in the folder $there
run() {
    command=$1 option=$2 file=$3
    shift 3
    without=
    case $file in *.html) without=$bare ;; esac
    $without "$gsim" $command --quiet "$@" "$option" "$there/$file"
}
# full COMMAND OPTION FILE WORDS...: with room for all of it, then with none, then with room for nearly all
full() {
    echo "$1 $2" >>"$tmp/tried"
    there=$tmp/room
    rm -rf "$there" && mkdir "$there"
    run "$@" >"$tmp/log" 2>&1
    say "$1 $2 $3 with room" $?
    [ -s "$there/$3" ] || return
    nearly=$((($(stat -c %s "$there/$3") - 1) / 512))
    [ "$1" != drive ] || nearly=$((nearly / 2)) # no two runs of drive take equal room
    for room in 0 $nearly; do
        there=$tmp/full
        rm -rf "$there" && mkdir "$there"
        # what is said goes through a pipe, since a log would have no room either
        words=$(
            trap '' XFSZ
            ulimit -f "$room"
            run "$@" 2>&1
        )
        code=$?
        { echo "exit $code"; echo "$words"; find "$there" -type f; } >"$tmp/log"
        [ $code -eq 1 ] && grep -q "gsim: .*\(File too large\|disk\|all of the file\)" "$tmp/log" && is_nothing "$there" "$3"
        say "$1 $2 $3 with room for $room blocks" $?
        there=$tmp/room
    done
}
# A database keeps runs that were written whole; any other output is there whole, or not at all.
is_nothing() { # folder, file
    case $2 in
    *.db) [ ! -s "$1/$2" ] || [ "$(sqlite3 "$1/$2" 'pragma integrity_check')" = ok ] ;;
    *) [ "$(find "$1" -type f ! -name '*.db' | wc -l)" -eq 0 ] ;;
    esac
}

full run --jobs-csv j.csv --policy fifo $lab $trace
full run --db r.db --policy fifo $lab $trace
full run --timeline t.json --policy fifo $lab $trace
full run --timeline t.json.gz --policy fifo $lab $trace
full compare --db r.db --policies fifo,las --no-what-if $lab $trace
full compare --output f.svg --real "$tmp/real.db" "$tmp/jobs.csv"
full advise --db r.db --policies fifo,las --no-what-if $lab $trace
full advise --output a.html --policies fifo,las --no-what-if $lab $trace
full drive --jobs-csv j.csv $dry "$tmp/jobs.csv"
full drive --db r.db $dry "$tmp/jobs.csv"
full drive --timeline t.json $dry "$tmp/jobs.csv"
full sweep --output r.db "$tmp/grid.ini"
full plan --output r.db --target 'wait_mean_s<1h' --policies fifo --nodes 2..3 --gpus-per-node 4 $trace
full serve --timeline t.json --device ideal --models "$tmp/models.ini" "$tmp/requests.csv"
full serve --requests-csv q.csv --device ideal --models "$tmp/models.ini" "$tmp/requests.csv"
full merge --output m.db "$tmp/a.db" "$tmp/b.db"
for kind in $formats; do
    full plot --output f.$kind --figure jct_cdf "$tmp/a.db"
done
full table --output t.csv --format csv "$tmp/a.db"
full report --output r.html "$tmp/a.db"
full validate --rows-csv v.csv preemption
full generate --output g.csv $spec
full resample --output g.csv $trace
full describe --output d.svg $trace
full import --left-out l.csv tiresias "$tmp/dirty.csv"
full import --output i.csv native $trace
full fit --output s.ini spec $trace

# Which outputs there are is said by the first build.
! leaves_numbers || exit 0
# calibrate needs a GPU (calibrate.sh has one that is not there); check-policy writes what breaks a rule alone; the logs
# of drive are written by the jobs
cat >>"$tmp/tried" <<'T'
calibrate --output
check-policy --output
drive --logs
T
# files that are read
read="policy|policies|device|cluster|slurm-conf|kueue-conf|by-model|gpu-mem|rates|goodput|models|real|replay|bytes"
for command in $("$gsim" help | sed -n '/^commands/,/^exit/p' | awk '/^  [a-z]/ { print $1 }'); do
    "$gsim" "$command" --help 2>"$tmp/log" | awk -v c="$command" '$1 ~ /^--/ && $2 ~ /FILE|DIR|\.csv|\.db|\.ini/ { print c, $1 }'
done | grep -Ev -e " --($read)$" | sort >"$tmp/outputs"
sort -u "$tmp/tried" | diff "$tmp/outputs" - >"$tmp/log"
say "each output of each command has a case here" $?
