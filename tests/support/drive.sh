# SPDX-License-Identifier: GPL-3.0-or-later
# What the scripts of gsim drive begin with: `. tests/support/drive.sh`, with $gsim set. They run real processes, most
# in dry runs on GPUs that are not there. No check rests on how fast the machine is, but for bounds that only a stuck
# process passes; and several scripts run at once, so that each looks at what it began itself, and at no more.
. tests/support/check.sh
export PYTHONDONTWRITEBYTECODE=1
here=$PWD
cd "$tmp" || exit 1

ask() { sqlite3 -separator ' ' "$tmp/r.db" "$1" 2>/dev/null; }
# Every process of a run has the folder's name in its command line, but for what commands start.
left() { pgrep -f "$tmp/[a-z]" | wc -l; }
gone() { # seconds: waits until no process is left
    tries=$(($1 * 20))
    while [ "$(left)" -gt 0 ] && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    left
}
drive() { # arguments: a dry run into a new database and a new folder of logs
    rm -rf "$tmp/logs" "$tmp/r.db"
    timeout -k 5 600 "$gsim" drive --dry-run --db "$tmp/r.db" --logs "$tmp/logs" "$@"
}
run() { drive --quiet "$@" >"$tmp/out" 2>"$tmp/log"; }
beside() { # SQL over the object j of gsim compare --real, of which one row is a job
    sqlite3 :memory: "with o(j) as (select readfile('$tmp/beside.json')), job as (select value as v from o, json_each(j, '\$.by_job')) $1"
}
starts() { # trace, arguments: jobs by their first start, in a simulation
    "$gsim" --quiet --device ideal --jobs-csv sim.csv --force "$@" >/dev/null 2>&1
    tail -n +2 sim.csv | sort -t, -k3,3n -k1,1 | cut -d, -f1 | tr '\n' ' '
}

printf 'job_id,submit_s,duration_s,gpus\na,0,20,1\nb,1,10,1\nc,2,5,2\nd,3,8,1\ne,3,3,1\n' >"$tmp/t.csv"
printf 'job_id,submit_s,duration_s,gpus\na,0,30,1\nb,2,30,1\nc,4,4,1\n' >"$tmp/s.csv"
printf '%s\n' 'job_id,submit_s,duration_s,gpus,command' \
    'where,0,1,2,"echo $CUDA_VISIBLE_DEVICES $GSIM_JOB_ID"' 'fails,0,1,1,"echo oops >&2; exit 3"' \
    "dies,0,1,1,kill -9 \$\$" >"$tmp/c.csv"

# A program that cooperates, in C and in Python: it counts to forty, and goes on where it saved its count.
counting_programs() {
    cp "$here/tests/support/counts.py" job.py
    ${CC:-cc} -I "$here/sim/job" -o job "$here/tests/support/counts.c" "$here/sim/job/gsim_job.c" >log 2>&1
}
counts_in_c=$tmp/job
counts_in_python="python3 $tmp/job.py $here/sim/job"

# GPUs by drivers that are none, with numbers of this process, since a lock is the machine's: three numbers apart from
# those of a script that was begun at once with this one.
first=$(($$ % 15000 * 4))
second=$((first + 1))
third=$((second + 1))
no_drivers() {
    mkdir "$tmp/lib"
    ${CC:-cc} -shared -fPIC -o "$tmp/lib/libcuda.so.1" "$here/tests/cli/fake_cuda.c" &&
        ${CC:-cc} -shared -fPIC -o "$tmp/lib/libnvidia-ml.so.1" "$here/tests/cli/fake_nvml.c"
}
on_gpus() { # variable=value... arguments
    env LD_LIBRARY_PATH="$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" FAKE_GPUS=65000 "$@"
}
