#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The program as a user meets it: exit codes, messages, and nothing lost. $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>&1
    got=$?
    if [ $got -ne "$code" ]; then
        echo "not ok $name: exit $got, not $code"
        sed 's/^/# /' "$tmp/out" | head -5
    elif ! grep -q -e "$pattern" "$tmp/out"; then
        echo "not ok $name: no '$pattern' in"
        sed 's/^/# /' "$tmp/out" | head -5
    else
        echo "ok $name"
    fi
}

t=traces/samples/cluster.csv
expect "no arguments" 2 "gsim --policy" "$gsim"
expect "help" 0 "compare" "$gsim" --help
expect "help of a command" 0 "--policies" "$gsim" compare --help
expect "version" 0 "^gsim " "$gsim" --version
expect "bare run" 0 "JCT mean" "$gsim" --policy fifo $t
expect "run" 0 "JCT mean" "$gsim" run --policy fifo $t
expect "options after the trace, with =" 0 "2 nodes x 8 GPUs" "$gsim" $t --policy=fifo --nodes=2 --gpus-per-node 8
serving() { # requests, kernels, gpu_ms: every 50 ms
    printf 'job_id,submit_s,requests,period_ms,kernels,gpu_ms\na,0,%s,50,%s,%s\nb,1,%s,50,%s,%s\n' "$@" "$@" >"$tmp/serving.csv"
}
serving 100 50 2
expect "requests that one GPU cannot serve" 0 "fifo: requests of jobs 'a' (line 2), 'b' (line 3) come faster than they are served: they take 2 times what a GPU can do, 50 kernels of 2 ms (gpu_ms is the time of one kernel) every 50 ms" \
    "$gsim" --policy fifo --gpus-per-node 2 "$tmp/serving.csv"
serving 100 10 4
expect "requests that the GPUs cannot serve" 0 "mps: requests of jobs 'a' (line 2), 'b' (line 3) come faster than they are served; requests ask for 1.6 GPUs at once, and there is 1 (offered load 1.60)" \
    "$gsim" compare --policies timeslice,mps "$tmp/serving.csv"
serving 19 10 4 # a's are over when b's begin
if "$gsim" --policy timeslice "$tmp/serving.csv" 2>&1 | grep -q "requests"; then
    echo "not ok requests that a GPU can serve: warned"
else
    echo "ok requests that a GPU can serve"
fi
# three services, each with 0.9 of a GPU's time in requests and a quarter of one in its row: where quarters
# lie beside each other they are served, where they take turns they are not
printf 'job_id,submit_s,requests,period_ms,gpu_ms,gpus\na,0,200,10,9,0.25\nb,0,200,10,9,0.25\nc,0,200,10,9,0.25\n' >"$tmp/quarters.csv"
for policy in fifo gandiva mps; do
    if "$gsim" --policy $policy "$tmp/quarters.csv" 2>&1 | grep -q "come faster"; then
        echo "not ok requests on quarters of a GPU under $policy: warned"
    else
        echo "ok requests on quarters of a GPU under $policy"
    fi
done
expect "requests on quarters that take turns" 0 "timeslice: requests of jobs 'a' (line 2), 'b' (line 3), 'c' (line 4) come faster than they are served: they take 0.9 of a GPU, and the row asks for 0.25 of one; requests ask for 2.7 GPUs at once" \
    "$gsim" --policy timeslice "$tmp/quarters.csv"
# whole GPUs, one job after the other: as submitted three services would ask for 2.7 GPUs, as served for 0.9
sed 's/,0.25$/,1/' "$tmp/quarters.csv" >"$tmp/whole.csv"
if "$gsim" --policy fifo "$tmp/whole.csv" 2>&1 | grep -q "come faster"; then
    echo "not ok requests of one service after the other: warned"
else
    echo "ok requests of one service after the other"
fi
unsaid() { # policy, of which more bytes have to move than a GPU has, in more turns than jobs
    head -81 $t | "$gsim" --policy "$1" --nodes 1 --gpus-per-node 8 --format csv - 2>/dev/null |
        awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { ok = $at["bytes_in"] > 1e12 && $at["turns"] > 100 * $at["jobs"] && /job.iteration_ns_per_gib=/ }
            END { print (ok ? "ok " : "not ok ") name " moves memory of jobs without iterations" }'
}
unsaid msched
unsaid nvshare
printf 'job_id,submit_s,duration_s\na,0,60\nb,0,60\n' >"$tmp/no_memory.csv"
expect "moving memory that nobody knows" 3 "column 'mem_gib'.*--assume mem_gib=" "$gsim" --policy msched "$tmp/no_memory.csv"
expect "iterations that contradict durations" 3 "two.csv:2: job 'a': duration_s is 60 s, but iterations (7200).*come to 3600 s.*leave out iterations" \
    sh -c "printf 'job_id,submit_s,duration_s,mem_gib\na,0,60,60\nb,0,60,60\n' >'$tmp/two.csv'; '$gsim' --policy fifo --assume iterations=7200 --assume gpu_ms=500 '$tmp/two.csv'"
expect "a length of iterations for a log" 0 "assumed: gpu_ms=500" "$gsim" --policy msched --assume gpu_ms=500 "$tmp/two.csv"
printf 'job_id,submit_s,duration_s,model\na,0,60,bert\nb,0,60,none\n' >"$tmp/models.csv"
printf 'model,gpu_ms\nbert,100\n' >"$tmp/by_model.csv"
expect "a length of iterations by model" 0 "^a,0,60,1,600,100,bert$" \
    sh -c "'$gsim' import native '$tmp/models.csv' --by-model '$tmp/by_model.csv' -o '$tmp/filled.csv' && cat '$tmp/filled.csv'"
printf 'job_id,submit_s,duration_s,app\na,0,60,resnet50-train\nb,0,60,resnet50-train\n' >"$tmp/with_app.csv"
expect "a length of iterations by application" 0 "no length is assumed" \
    sh -c "'$gsim' --policy msched --format json '$tmp/with_app.csv' | grep -v job.iteration | grep -q turns && echo no length is assumed"
expect "unknown option" 2 "did you mean '--policy'" "$gsim" --polcy fifo $t
expect "unknown policy" 2 "did you mean 'srtf'" "$gsim" --policy srft $t
expect "unknown command" 2 "did you mean 'compare'" "$gsim" comapre
expect "unknown device" 2 "did you mean 'h200'" "$gsim" --policy fifo --device h20 $t
expect "unknown key" 2 "did you mean 'quantum'" "$gsim" --policy las --set las.quantm=3s $t
expect "key of another policy" 2 "neither the policy nor the device" "$gsim" --policy fifo --set frobnicate=3s $t
expect "value that does not fit" 2 "is not a time" "$gsim" --policy las --set quantum=soon $t
expect "profile key" 0 "JCT" "$gsim" --policy fifo --set hbm_bytes=200GB $t
expect "reference the policy has not" 2 "has no reference" "$gsim" --policy las --set reference=pai $t
expect "option without value" 2 "needs a value" "$gsim" --policy
expect "zero nodes" 2 "from 1 to" "$gsim" --policy fifo --nodes 0 $t
expect "no policy" 2 "which policy" "$gsim" $t
expect "two traces" 2 "one trace" "$gsim" --policy fifo $t $t
expect "missing trace" 3 "No such file" "$gsim" --policy fifo "$tmp/nothing.csv"
expect "a directory" 3 "directory" "$gsim" --policy fifo "$tmp/"
: >"$tmp/empty.csv"
expect "an empty file" 3 "empty" "$gsim" --policy fifo "$tmp/empty.csv"
echo 'job_id,submit_s,duration_s' >"$tmp/header.csv"
expect "a header only" 3 "no jobs" "$gsim" --policy fifo "$tmp/header.csv"
printf 'job_id,duration_s\na,1\n' >"$tmp/missing.csv"
expect "a missing column" 3 "no column 'submit_s'" "$gsim" --policy fifo "$tmp/missing.csv"
printf 'job_id,submit_s,duration_s\na,0,-5\n' >"$tmp/negative.csv"
expect "a negative time" 3 "negative.csv:2: column 'duration_s'" "$gsim" --policy fifo "$tmp/negative.csv"
printf 'job_id,submit_s,duration_s\na,0,9999999999999\n' >"$tmp/over.csv"
expect "an overflowing time" 3 "over.csv:2:" "$gsim" --policy fifo "$tmp/over.csv"
printf 'job_id,submit_s,duration_s\na,0,5\nb,0,5\na,1,5\n' >"$tmp/twice.csv"
expect "a duplicate id" 3 "twice.csv:4:.*line 2" "$gsim" --policy fifo "$tmp/twice.csv"
printf 'job_id,submit_s,duration_s\na,0,\0005\n' >"$tmp/nul.csv"
expect "a NUL byte" 3 "nul.csv:2: a NUL byte" "$gsim" --policy fifo "$tmp/nul.csv"
printf '\357\273\277job_id,submit_s,duration_s\r\na,0,5\r\n' >"$tmp/bom.csv"
expect "a BOM and CRLF" 0 "1 completed" "$gsim" --policy fifo "$tmp/bom.csv"
awk 'BEGIN { printf "job_id,"; for (i = 0; i < 10000000; i++) printf "c,"; print "c" }' >"$tmp/wide.csv"
expect "ten million columns" 3 "columns" "$gsim" --policy fifo "$tmp/wide.csv"
expect "a job wider than the cluster" 3 "asks for" "$gsim" --policy fifo --nodes 1 --gpus-per-node 1 $t
gzip -c $t >"$tmp/t.csv.gz"
expect "gzip" 0 "JCT mean" "$gsim" --policy fifo "$tmp/t.csv.gz"
zstd -q -c $t >"$tmp/t.csv.zst"
expect "zstd" 0 "JCT mean" "$gsim" --policy fifo "$tmp/t.csv.zst"
head -c 200 "$tmp/t.csv.gz" >"$tmp/cut.csv.gz"
expect "a cut gzip file" 3 "ends too early" "$gsim" --policy fifo "$tmp/cut.csv.gz"
expect "standard input" 0 "JCT mean" sh -c "'$gsim' --policy fifo - <$t"
expect "standard output full" 1 "cannot be written" sh -c "'$gsim' --policy fifo $t >/dev/full"
expect "--jobs-csv to a full disk" 1 "No space left" "$gsim" --policy fifo --jobs-csv /dev/full $t
expect "--jobs-csv to nowhere" 1 "No such file" "$gsim" --policy fifo --jobs-csv "$tmp/no/where.csv" $t
expect "--jobs-csv to standard output" 2 "name a file" "$gsim" --policy fifo --jobs-csv - $t
expect "until" 0 "did not finish" "$gsim" --policy fifo --until 1h $t
expect "json" 0 '"schema":"gsim-result-1"' "$gsim" --policy fifo --format json $t
expect "unknown format" 2 "table, csv, json" "$gsim" --policy fifo --format xml $t
expect "compare" 0 "verdict:" "$gsim" compare --policies fifo,srtf $t
expect "compare with replications" 0 "Johnson" "$gsim" compare --policies fifo,srtf --reps 3 traces/samples/heavy_tail.ini
expect "by user" 0 "JCT" "$gsim" --policy fifo --by user traces/samples/users.csv
expect "by a missing column" 3 "no column 'user'" "$gsim" --policy fifo --by user tests/golden/two.csv
expect "memory that is assumed" 0 "mem_gib=10GiB" "$gsim" --verbose --policy srtf --assume mem_gib=10GiB tests/golden/two.csv
expect "suspension without memory" 0 "suspend.unknown_ns=1" "$gsim" --policy srtf --set preempt=suspend tests/golden/two.csv
expect "a driver's checkpoint without memory" 3 "mem_gib" "$gsim" --policy srtf --set preempt=checkpoint tests/golden/two.csv
expect "how jobs gave way" 0 "srtf .*[0-9] restart$" "$gsim" compare --policies fifo,srtf --quiet tests/golden/two.csv
expect "paging without memory" 3 "column 'mem_gib'" "$gsim" --policy uvm tests/golden/two.csv
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,10,100,20\n' >"$tmp/large.csv"
expect "a job larger than its GPU" 3 "keeps jobs resident" "$gsim" --policy timeslice --device rtx5080 "$tmp/large.csv"
expect "a job larger than its GPU, paged" 0 "1 completed" "$gsim" --policy uvm --device rtx5080 "$tmp/large.csv"
expect "a job larger than its GPU, migrated" 0 "1 completed" "$gsim" --policy msched --device rtx5080 "$tmp/large.csv"
expect "a job larger than its GPU and host" 3 "--host-mem" "$gsim" --policy uvm --device rtx5080 --host-mem 4GiB "$tmp/large.csv"
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,20,50,4\nb,0,20,50,4\n' >"$tmp/lock.csv"
expect "a lock for less than paging in takes" 0 "thrashing" "$gsim" --policy nvshare --device rtx5080 --set nvshare.quantum=0.1s --set hbm_bytes=6GiB "$tmp/lock.csv"
expect "list policies" 0 "^srtf" "$gsim" list policies
# sharing one GPU: what cannot be, by its parameter or line
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib,gpus,sm_fraction\na,0,10,5,4,0.6,1\nb,0,10,5,60,0.6,1\n' >"$tmp/parts.csv"
expect "a slice of nothing" 2 "timeslice.quantum: '0'.*1us" "$gsim" --policy timeslice --set timeslice.quantum=0 "$tmp/parts.csv"
expect "a quantum of nothing" 2 "slice.quantum_ns: 0 is out of range" "$gsim" --policy timeslice --set slice.quantum_ns=0 "$tmp/parts.csv"
expect "a vGPU's turn of nothing" 2 "vgpu.slice: '0'.*1ms to 30ms" "$gsim" --policy vgpu --set vgpu.slice=0 "$tmp/parts.csv"
expect "a cap of more than all" 2 "mps.cap: '120%'.*1% to 100%" "$gsim" --policy mps --set mps.cap=120% "$tmp/parts.csv"
expect "caps may sum past 100 %" 0 "2 completed" "$gsim" --policy mps --set mps.cap=80% "$tmp/parts.csv"
expect "instances past 100 %" 2 "mig.layout: '3g+3g+1g' does not fit: .* room for nothing" "$gsim" --policy mig --set mig.layout=3g+3g+1g "$tmp/parts.csv"
expect "an instance that is not" 2 "mig.layout: .*'5g'; accepted: 7g.141gb, 4g" "$gsim" --policy mig --set mig.layout=5g "$tmp/parts.csv"
expect "an instance that does not start there" 2 "mig.layout: .*3g may not begin at '2'" "$gsim" --policy mig --set mig.layout=3g@2 "$tmp/parts.csv"
expect "a job that fits no instance" 3 "parts.csv:2: job 'a' .*mig.layout=2g+2g.*2g.35gb. has 33024 MiB and 25 % of a GPU" "$gsim" --policy mig --set mig.layout=2g+2g "$tmp/parts.csv"
# layouts follow from memory: a trace without it has the smallest instances, of 16 of 132 SMs, and says so
printf 'job_id,submit_s,duration_s,gpus\na,0,3600,1\nb,0,3600,1\nc,0,3600,0.5\nd,0,3600,2\n' >"$tmp/sizes.csv"
head -3 "$tmp/sizes.csv" >"$tmp/alike.csv"
expect "instances for jobs of unknown memory" 0 "sizes.csv: policy 'mig': 2 of 4 jobs give neither .*1g.18gb" "$gsim" --policy mig --gpus-per-node 4 "$tmp/sizes.csv"
expect "instances for jobs of known memory" 0 "^0$" sh -c "'$gsim' --policy mig --gpus-per-node 4 --assume mem_gib=16 '$tmp/sizes.csv' 2>&1 | grep -c 'give neither'; true"
expect "one layout whatever the memory" 0 "^0$" sh -c "'$gsim' --policy mig --gpus-per-node 4 --set layout=7g '$tmp/alike.csv' 2>&1 | grep -c 'give neither'; true"
expect "a job that fits no vGPU" 3 "parts.csv:3: .*'mem_gib': job 'b'.*vgpu.per_gpu=4" "$gsim" --policy vgpu "$tmp/parts.csv"
expect "a job that fits no GPU" 3 "parts.csv:3: .*'mem_gib': job 'b'.*the largest GPU has 39.394GiB" "$gsim" --policy mps --device a100-40 "$tmp/parts.csv"
printf 'job_id,submit_s,duration_s,sm_fraction\na,0,1,1.2\n' >"$tmp/wide.csv"
expect "more than all SMs" 3 "wide.csv:2: column 'sm_fraction': '1.2'" "$gsim" --policy mps "$tmp/wide.csv"
expect "list a policy" 0 "las.quantum" "$gsim" list policies las
expect "list devices" 0 "^h200" "$gsim" list devices
expect "list a device" 0 "measured" "$gsim" list devices h200
expect "list apps" 0 "^resnet50-train" "$gsim" list apps
expect "list an app" 0 "an iteration on an h200: 28" "$gsim" list apps resnet50-train
expect "unknown app" 2 "did you mean 'hotspot'" "$gsim" list apps hotspo
printf 'job_id,submit_s,iterations,app\na,0,100,resnet50-train\nb,0,100,%s/mine.csv\n' "$tmp" >"$tmp/apps.csv"
printf 'kind,name,count,flops\nkernel,k,10,1e9\n' >"$tmp/mine.csv"
expect "jobs that name apps" 0 "JCT mean" "$gsim" --policy fifo --device a100-40 "$tmp/apps.csv"
printf 'kind,name,flops,sms\nkernel,k,1e9,500\n' >"$tmp/mine.csv"
expect "an app that is too large" 3 "mine.csv:2: kernel 'k' needs 500 SMs; device a100-40 has 108" "$gsim" --policy fifo --device a100-40 "$tmp/apps.csv"
expect "list formats" 0 "^tiresias" "$gsim" list formats
expect "generate" 0 "job_id" "$gsim" generate traces/samples/bursty.ini
expect "fit" 0 "lognormal(mu=" "$gsim" fit lognormal traces/samples/cluster.csv
expect "fit: what" 2 "weibull" "$gsim" fit normal traces/samples/cluster.csv
expect "generate does not overwrite" 2 "force" "$gsim" generate traces/samples/bursty.ini -o "$tmp/empty.csv"
printf 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,2,5,0,vgg,60,0\n' >"$tmp/t60.csv"
expect "import says which sacct command" 0 "sacct --allusers.*--parsable2" "$gsim" import --help
expect "notes of a format" 0 "gsim import sacct jobs.txt" "$gsim" list formats sacct
printf 'JobID|Submit|State|Elapsed|AllocTRES\n7|0|COMPLETED|1:00|gres/gpu=2\n8|0|COMPLETED|1:00|cpu=2\n' >"$tmp/jobs.txt"
expect "import says what it left out" 0 "left out 1 row (the first is line 3): they had no GPU" "$gsim" import sacct "$tmp/jobs.txt"
printf 'job_id,mem_mib\n7,2048\n' >"$tmp/usage.csv"
expect "import joins measured memory" 0 "^7,0,60,2,2$" "$gsim" import sacct --gpu-mem "$tmp/usage.csv" "$tmp/jobs.txt"
expect "a table of models" 0 "^0,5,60,2,3,vgg$" sh -c "printf 'model,mem_gib\\nvgg,3\\n' >'$tmp/models.csv'; '$gsim' import tiresias --by-model '$tmp/models.csv' '$tmp/t60.csv'"
expect "a run reads it as well" 0 "1 completed" "$gsim" --policy fifo "$tmp/jobs.txt"
printf 'Total Time (ns),Instances,Name\n4000000,20,k\n' >"$tmp/kernels.csv"
expect "a profile needs its device" 2 "--device NAME" "$gsim" import nsys "$tmp/kernels.csv" --iterations 10
expect "two profiles" 2 "a profile of nsys is one file, not also b.csv" "$gsim" import nsys "$tmp/kernels.csv" b.csv --device h200
expect "a profile is no trace" 2 "--assume is for traces, which nsys is not" "$gsim" import nsys "$tmp/kernels.csv" --assume mem_gib=1
expect "a trace is no profile" 2 "--iterations is for profiles" "$gsim" import tiresias "$tmp/t60.csv" --iterations 10
expect "import a profile" 0 "^kernel,k,2,200,h200$" "$gsim" import nsys "$tmp/kernels.csv" --iterations 10 --device h200
"$gsim" import nsys "$tmp/kernels.csv" --iterations 10 --device h200 -o "$tmp/app.csv"
printf 'job_id,submit_s,iterations,app\na,0,1000,%s/app.csv\n' "$tmp" >"$tmp/profiled.csv"
expect "a job that runs it" 0 "JCT mean  *0.400 s" "$gsim" --policy fifo "$tmp/profiled.csv"
expect "import" 0 "^0,5,60,2" "$gsim" import tiresias "$tmp/t60.csv"
expect "database" 0 "JCT" "$gsim" --policy fifo --db "$tmp/r.db" $t
expect "a run that is there" 0 "already" "$gsim" --policy fifo --db "$tmp/r.db" $t
expect "another run" 0 "JCT" "$gsim" --policy srtf --db "$tmp/r.db" $t
expect "two runs in the database" 0 "^2$" sqlite3 "$tmp/r.db" "select count(*) from run"
expect "its identity" 0 "^1735616877$" sqlite3 "$tmp/r.db" "pragma application_id"
expect "jobs in the database" 0 "^0$" sqlite3 "$tmp/r.db" "select sum(end_ns < submit_ns + service_ns) from job"
expect "GPUs in the database" 0 "^8$" sqlite3 "$tmp/r.db" "select count(*) from gpu where run_id = 1 and busy_ns > 0"
before=$(sqlite3 "$tmp/r.db" "select count(*) from job; select count(*) from gpu; select count(*) from setting")
expect "a run again" 0 "JCT" "$gsim" --policy fifo --db "$tmp/r.db" --force $t
expect "takes the place of the first" 0 "^$(echo $before)\$" sh -c "echo \$(sqlite3 '$tmp/r.db' \
    'select count(*) from job; select count(*) from gpu; select count(*) from setting; pragma foreign_key_check')"
# a disk that is full: the limit of a file's size stands in for it
before=$(sqlite3 "$tmp/r.db" "select group_concat(jct_mean_s) from run")
expect "--db on a full disk" 1 "earlier runs are untouched" \
    sh -c "ulimit -f $(($(wc -c <"$tmp/r.db") / 512)); trap '' XFSZ; '$gsim' --policy sjf --db '$tmp/r.db' $t"
if [ "$before" = "$(sqlite3 "$tmp/r.db" "select group_concat(jct_mean_s) from run")" ]; then
    echo "ok nothing is lost on a full disk"
else
    echo "not ok nothing is lost on a full disk"
fi
echo text >"$tmp/text.db"
expect "a file that is no database" 3 "not a database" "$gsim" --policy fifo --db "$tmp/text.db" $t
sqlite3 "$tmp/other.db" "create table x (y)"
expect "another program's database" 3 "not one of gsim" "$gsim" --policy fifo --db "$tmp/other.db" $t
printf '[node a]\ncount = 2\ngpus = 8\n[node b]\ngpus = 4\ndevice = v100\n' >"$tmp/c.ini"
expect "a cluster file" 0 "JCT mean" "$gsim" --policy fifo --cluster "$tmp/c.ini" $t
printf '[node a]\ngups = 8\n' >"$tmp/bad.ini"
expect "a wrong cluster file" 3 "bad.ini:2:.*gpus" "$gsim" --policy fifo --cluster "$tmp/bad.ini" $t
wrong_links() { # what it is, lines below a node of 8 GPUs, the message
    printf '[node a]\ngpus = 8\n%b\n' "$2" >"$tmp/bad.ini"
    expect "a cluster file: $1" 3 "$3" "$gsim" --policy fifo --cluster "$tmp/bad.ini" $t
}
wrong_links "a root without a rate" 'pcie_root_gpus = 2' 'bad.ini:3: .*both pcie_root_gpus and pcie_root_bytes_per_s'
wrong_links "a rate without a root" 'cpus = 8\npcie_root_bytes_per_s = 63 GB/s' 'bad.ini:4: .*both'
wrong_links "a root wider than its node" 'pcie_root_bytes_per_s = 1e9\npcie_root_gpus = 9' 'bad.ini:4: .*9 GPUs below one root'
wrong_links "a network of nothing" 'network_bytes_per_s = 0' "bad.ini:3: .*'0' is not a rate above 0"
wrong_links "a mistyped link" 'network_bytes_per_sec = 1e9' 'bad.ini:3: .*did you mean .network_bytes_per_s.'
printf '[node a]\ncount = 2\ngpus = 8\npcie_root_gpus = 2\npcie_root_bytes_per_s = 63 GB/s\nnetwork_bytes_per_s = 12.5 GB/s\n' >"$tmp/c.ini"
expect "a cluster file with links" 0 "JCT mean" "$gsim" --policy fifo --cluster "$tmp/c.ini" $t
# jobs of 150 s on one GPU in turns of 60 s, at each end of which all is lost
printf 'job_id,submit_s,duration_s,gpus\na,0,150,1\nb,0,150,1\n' >"$tmp/turns.csv"
for turns in gandiva "las --set quantum=60s"; do
    # What counts the moves is the engine's. Under gandiva it takes twice as long, and with sanitizers las has it alone.
    case ${CASES-}$gsim,$turns in all*) ;; *-san-*,gandiva) continue ;; esac
    expect "jobs that begin anew in each turn ($turns)" 1 "moves 2 jobs about.*'a'. Each stop discards what a job has done" \
        "$gsim" --policy $turns --set preempt=discard --device ideal --gpus-per-node 1 "$tmp/turns.csv"
    expect "and end where a turn is kept ($turns)" 0 "2 completed" \
        "$gsim" --policy $turns --set preempt=restart --device ideal --gpus-per-node 1 "$tmp/turns.csv"
done
# Nodes of a job's partition that lack what it needs, where others have it: the first of the jobs that waits for that is named.
printf '[node a]\ndevice = ideal\ngpus = 2\ncpus = 4\npartitions = a\n[node b]\ndevice = h200\ngpus = 2\ncpus = 32\npartitions = b\n' >"$tmp/lack.ini"
printf 'job_id,submit_s,duration_s,gpus,partition,cpus,mem_gib\nr,0,60,2,a,4,1\nw,1,60,2,b,4,200\nn,2,60,1,b,,\n' >"$tmp/lack.csv"
expect "a job that waits for memory for ever" 1 "leaves 2 jobs .* Job 'w' can never have its 2 GPUs: of the idle cluster's 0 have the memory" \
    "$gsim" --policy fifo --cluster "$tmp/lack.ini" "$tmp/lack.csv"
sed 's/b,4,200/a,20,1/' "$tmp/lack.csv" >"$tmp/lack_cpus.csv"
expect "a job that waits for CPUs for ever" 1 "leaves 2 jobs .* Job 'w' can never have its 2 GPUs: of the idle cluster's 0 have the CPUs" \
    "$gsim" --policy fifo --cluster "$tmp/lack.ini" "$tmp/lack_cpus.csv"
expect "and is told at once where the policy looks again each quantum" 1 "'las' leaves 1 job waiting for ever at 32[0-9]* *.*Job 'w' can never" \
    "$gsim" --policy las --cluster "$tmp/lack.ini" "$tmp/lack_cpus.csv"
if "$gsim" man | cmp -s - man/gsim.1; then echo "ok the man page is up to date"; else echo "not ok the man page is up to date (make man)"; fi
