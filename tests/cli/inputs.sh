#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Inputs that are almost surely not what was meant: units left out, columns nearly of a known name,
# profiles of another device. $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

expect() { # name, code, pattern, command
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>&1
    got=$?
    if [ $got -eq "$code" ] && grep -q -e "$pattern" "$tmp/out"; then
        echo "ok $name"
    else
        echo "not ok $name (exit $got, expected $code and '$pattern')"
        sed 's/^/# /' "$tmp/out" | head -5
    fi
}

# --- profiles -----------------------------------------------------------------------------------
sqlite3 "$tmp/run.sqlite" "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end)"
expect "an export of Nsight Systems" 3 "nsys stats .*--report cuda_gpu_kern_sum --format csv $tmp/run.sqlite" \
    "$gsim" import nsys "$tmp/run.sqlite" --device h200 --iterations 1
printf 'x\0y' >"$tmp/run.nsys-rep"
expect "a report of Nsight Systems" 3 "nsys stats .*--report cuda_gpu_kern_sum --format csv $tmp/run.nsys-rep" \
    "$gsim" import nsys "$tmp/run.nsys-rep" --device h200 --iterations 1
profile() { # a GPU's name
    printf '{"deviceProperties": [{"id": 0, "name": "%s"}], "traceEvents": [{"cat": "kernel", "name": "k", "ts": 0, "dur": 100, "args": {"device": 0}}]}\n' "$1" >"$tmp/profile.json"
}
profile "NVIDIA A100-SXM4-80GB"
expect "a profile of another device" 2 "measured on 'NVIDIA A100-SXM4-80GB', and --device says h200; did you mean 'a100-80'" \
    "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device h200
expect "a profile of another memory" 2 "did you mean 'a100-80'" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device a100-40
expect "a profile of its device" 0 "^kernel,k,1,100,a100-80" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device a100-80
profile "NVIDIA H100 80GB HBM3"
expect "a chip whose name says no more" 0 "^kernel,k,1,100,h100-sxm" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device h100-sxm
profile "NVIDIA A10"
expect "a chip that begins like another" 2 "and --device says a100-80; did you mean 'a10'?" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device a100-80
profile "NVIDIA GeForce RTX 4090"
expect "a chip of two words" 0 "^kernel,k,1,100,rtx4090" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device rtx4090
profile "Some GPU"
expect "a GPU that is not listed" 2 "'Some GPU', and --device says t4" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device t4
# Of several GPUs the one that the kernels ran on is meant, not the first.
event() { # category, name, ts, dur, arguments
    printf '{"cat": "%s", "name": "%s", "ts": %s, "dur": %s, "args": {%s}}' "$@"
}
printf '{"deviceProperties": [{"id": 0, "name": "NVIDIA T400"}, {"id": 1, "name": "NVIDIA H200"}], "traceEvents": [%s, %s, %s]}\n' \
    "$(event user_annotation ProfilerStep#1 0 200 '')" "$(event cuda_runtime cudaLaunchKernel 1 2 '"correlation": 1')" \
    "$(event kernel k 4 100 '"device": 1, "correlation": 1, "stream": 7')" >"$tmp/profile.json"
expect "a timeline of the second GPU" 0 "^kernel,k,,100,h200" "$gsim" import timeline "$tmp/profile.json" --device h200
expect "a timeline of no first GPU" 2 "measured on 'NVIDIA H200', and --device says t4" "$gsim" import timeline "$tmp/profile.json" --device t4
sqlite3 "$tmp/two.sqlite" "
    CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel'), (2, 'k');
    CREATE TABLE NVTX_EVENTS(start, end, text, textId); INSERT INTO NVTX_EVENTS VALUES(0, 200000, 'step', NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, correlationId, nameId);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1000, 3000, 1, 1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid, correlationId, streamId, gridX, gridY,
        gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, demangledName);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(4000, 104000, 0, 7 << 24, 1, 7, 1, 1, 1, 32, 1, 1, 8, 0, 0, 2);
    CREATE TABLE TARGET_INFO_GPU(id, name); INSERT INTO TARGET_INFO_GPU VALUES(0, 'NVIDIA T400'), (1, 'NVIDIA H200');
    CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(1, 0, 7)"
expect "a database of the second GPU" 0 "^kernel,k,,100,h200" "$gsim" import timeline "$tmp/two.sqlite" --device h200
expect "a database of no first GPU" 2 "measured on 'NVIDIA H200', and --device says t4" "$gsim" import timeline "$tmp/two.sqlite" --device t4
cp models/devices/t4.ini "$tmp/mine.ini"
expect "a device file of one's own" 0 "^kernel,k,1,100,$tmp/mine.ini" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device "$tmp/mine.ini"
printf 'kind,name,time_us,device\ntitle,t,,\nkernel,a,0,h200\nkernel,b,0,h200\n' >"$tmp/zero.csv"
printf 'job_id,submit_s,app,iterations\na,0,%s,10\n' "$tmp/zero.csv" >"$tmp/zero_trace.csv"
expect "an application that takes no time" 3 "zero.csv:3: kernel 'a' and all others last 0" "$gsim" --policy fifo "$tmp/zero_trace.csv"

# --- numbers whose unit was left out --------------------------------------------------------------
t=tests/golden/two.csv
expect "5 of memory" 2 "'5' has no unit; say 5GiB or 5B" "$gsim" --policy uvm --host-mem 5 --assume mem_gib=1 $t
expect "5 bytes, if one means it" 3 "host" "$gsim" --policy uvm --device rtx5080 --host-mem 5B --assume mem_gib=20 --assume iterations=5 --assume gpu_ms=1 $t
expect "bytes in full" 0 "JCT" "$gsim" --policy fifo --assume mem_gib=1GiB --host-mem 549755813888 $t
expect "a quantum of 5" 2 "timeslice.quantum: '5' has no unit; say 5ms, 5s or 5min" "$gsim" --policy timeslice --set quantum=5 $t
expect "a quantum of 3600 beside milliseconds" 2 "has no unit" "$gsim" --policy timeslice --set quantum=3600 $t
expect "a quantum of 5 where minutes are usual" 2 "las.quantum: '5' has no unit" "$gsim" --policy las --set quantum=5 $t
expect "a quantum of 3600 there" 0 "JCT" "$gsim" --policy las --set quantum=3600 $t
expect "a quantum with its unit" 0 "JCT" "$gsim" --policy las --set quantum=5s $t
expect "a half life of 7" 2 "the default is 7d" "$gsim" --policy fairshare --set half_life=7 $t
expect "a bound of 0 needs no unit" 0 "JCT" "$gsim" --policy fifo --set switch.preempt_ns=0 $t
expect "a limit of 5 per client" 2 "mem_limit: '5' has no unit; say 5GiB or 5B" "$gsim" --policy mps --set mem_limit=5 $t
expect "--mtbf 30" 2 "mtbf: '30' has no unit; say 30s, 30min or 30d" "$gsim" --policy fifo --mtbf 30 $t
expect "--mttr 30" 2 "mttr: '30' has no unit; say 30s, 30min or 30d" "$gsim" --policy fifo --mtbf 30d --mttr 30 $t
expect "--checkpoint 30" 2 "checkpoint: '30' has no unit; say 30s, 30min or 30d" "$gsim" --policy fifo --mtbf 30d --checkpoint 30 $t
expect "--mtbf in seconds" 0 "JCT" "$gsim" --policy fifo --mtbf 3600 $t
expect "--until in seconds of the trace" 0 "JCT" "$gsim" --policy fifo --until 30 $t
expect "a warm-up of 20" 2 "'20' has no unit; say 20% of the jobs, or 20s or 20h" "$gsim" compare --policies fifo,srtf --warmup 20 $t
expect "queues are seconds" 0 "JCT" "$gsim" --policy tiresias --set tiresias.queues=3250,7200 $t
expect "a device of 80 bytes" 2 "hbm_bytes: '80' has no unit and is far below .*; say 80GiB or 80B" "$gsim" --policy fifo --set hbm_bytes=80 $t
expect "a link of 25 bytes a second" 2 "say 25GB/s or 25B/s" "$gsim" --policy fifo --set pcie.h2d_bytes_per_s=25 $t
expect "a switch of 50" 2 "switch.preempt_ns: '50' has no unit .*50us" "$gsim" --policy fifo --set switch.preempt_ns=50 $t
expect "a switch of 50 us in full" 0 "JCT" "$gsim" --policy fifo --set switch.preempt_ns=50000 $t
expect "a share of 1" 2 "gang.nodes_ppm: '1' has no unit .*100%" "$gsim" --policy fifo --set gang.nodes_ppm=1 $t
gang() { "$gsim" --quiet --policy fifo --gpus-per-node 1 --nodes 2 --set gang.nodes_ppm="$1" tests/golden/gang.csv | grep JCT; }
gang 90% >"$tmp/percent"
gang 900000 >"$tmp/ppm"
gang 1000000 >"$tmp/all"
expect "a share in percent" 0 "JCT" sh -c "cmp '$tmp/percent' '$tmp/ppm' && ! cmp -s '$tmp/percent' '$tmp/all' && cat '$tmp/ppm'"
printf '[node a]\ngpus = 8\nhost_mem = 512\n' >"$tmp/c.ini"
expect "a host of 512 bytes" 3 "c.ini:3: host_mem: '512' has no unit; say 512GiB or 512B" "$gsim" --policy fifo --cluster "$tmp/c.ini" $t
printf '[node a]\ngpus = 8\nnetwork_bytes_per_s = 12.5\n' >"$tmp/c.ini"
expect "a network of 12.5" 3 "c.ini:3: network_bytes_per_s: '12.5' has no unit; say 12.5GB/s or 12.5B/s" "$gsim" --policy fifo --cluster "$tmp/c.ini" $t
printf 'trace = tests/golden/two.csv\npolicy = las\nset.las.quantum = 10ms, 5\n' >"$tmp/g.ini"
expect "a grid with 5" 3 "combination 2: las.quantum: '5' has no unit" "$gsim" sweep "$tmp/g.ini" -o "$tmp/g.db"

# --- columns nearly of a known name ----------------------------------------------------------------
column() { # name of the column, the known one
    printf 'job_id,submit_s,duration_s,%s\na,0,10,2\n' "$1" >"$tmp/column.csv"
    expect "a column $1" 3 "column.csv:1: unknown column '$1'; did you mean '$2'? .*begins with x_" "$gsim" --policy fifo "$tmp/column.csv"
}
column gpu gpus
column GPUs gpus
column gups gpus
column mem mem_gib
column mem_mb mem_gib
column "GPU ms" gpu_ms
column iterationns iterations
column cpu cpus
column users user
column prio priority
for own in node hostname color start_s x_gpu id; do
    printf 'job_id,submit_s,duration_s,%s\na,0,10,2\n' "$own" >"$tmp/column.csv"
    expect "a column $own of one's own" 0 "JCT" "$gsim" --policy fifo "$tmp/column.csv"
    [ $own = x_gpu ] || expect "is said to be passed over: $own" 0 "unknown column '$own' is ignored" "$gsim" --policy fifo "$tmp/column.csv"
done
expect "no word about x_gpu" 0 "^0$" sh -c "printf 'job_id,submit_s,duration_s,x_gpu\na,0,10,2\n' >'$tmp/column.csv'; '$gsim' --policy fifo '$tmp/column.csv' 2>&1 | grep -c x_gpu; true"
printf 'job_id,submit_s,duration_s,gpus,gpu,user,users\na,0,10,2,7,b,c\n' >"$tmp/column.csv"
expect "a column beside the one that it is like" 0 "unknown column 'gpu' is ignored" "$gsim" --policy fifo "$tmp/column.csv"
printf 'timestamp,duration,num_gpus,mem_gib\n2017-10-09 07:01:55,66.0,1,20\n' >"$tmp/column.csv"
expect "a column of gsim's in another format" 0 "column.csv:1: the column 'mem_gib' is not read: .*'philly'" "$gsim" --policy fifo "$tmp/column.csv"
echo "1 10 5 200 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1" >"$tmp/log.swf"
expect "columns of a format without a header" 0 "^0$" sh -c "'$gsim' --policy fifo '$tmp/log.swf' 2>&1 | grep -c 'not read' || true"
expect "columns of that format" 0 "^0$" sh -c "printf 'timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n' >'$tmp/column.csv'; '$gsim' --policy fifo '$tmp/column.csv' 2>&1 | grep -c 'not read' || true"
for unused in idle_after_s slo; do
    printf 'job_id,submit_s,duration_s,%s\na,0,10,2\n' $unused >"$tmp/column.csv"
    expect "a column that nothing uses: $unused" 0 "column.csv:1: column '$unused' is read, but nothing that is built in uses it" "$gsim" --policy fifo "$tmp/column.csv"
done
# max-min: two jobs of 36000 s on a GPU, of which b has three times a's weight: b is done after about 48000 s
printf 'job_id,submit_s,duration_s,weight\na,0,36000,1\nb,0,36000,3\n' >"$tmp/column.csv"
expect "a column that gavel uses: weight" 0 "JCT mean  *59[89]" "$gsim" --policy gavel --set gavel.objective=max-min --device ideal "$tmp/column.csv"
printf 'job_id,submit_time,duration_s\na,0,10\n' >"$tmp/column.csv"
expect "a column that is needed" 3 "did you mean 'submit_s'" "$gsim" --policy fifo "$tmp/column.csv"
printf 'model,mem_mib\nvgg,2\n' >"$tmp/models.csv"
expect "a table of models" 3 "models.csv:1: a trace has no column 'mem_mib'; did you mean 'mem_gib'" "$gsim" --policy fifo --by-model "$tmp/models.csv" $t
expect "--assume" 2 "no column 'mem'; did you mean 'mem_gib'" "$gsim" --policy fifo --assume mem=2 $t
printf 'kind,name,time,device\nkernel,a,1,h200\n' >"$tmp/app.csv"
printf 'job_id,submit_s,app,iterations\na,0,%s,10\n' "$tmp/app.csv" >"$tmp/app_trace.csv"
expect "a profile" 3 "app.csv:1: column 'time' .*did you mean 'time_us'" "$gsim" --policy fifo "$tmp/app_trace.csv"
for sample in traces/samples/*.csv; do
    expect "$sample" 0 "jobs" "$gsim" --quiet --policy fifo --device ideal --until 0.001 "$sample"
done

# --- what rows leave open, or say twice
printf 'job_id,submit_s,duration_s,iterations,gpu_ms\na,0,500,500,100\n' >"$tmp/gaps.csv"
expect "much longer than its iterations" 0 "1 of 1 jobs last more than 1.5 times as long as their iterations" "$gsim" --policy fifo "$tmp/gaps.csv"
printf 'job_id,submit_s,duration_s,num_gpus\na,0,500,4\n' >"$tmp/theirs.csv"
expect "a column in the words of others" 3 "unknown column 'num_gpus'; did you mean 'gpus'" "$gsim" --policy fifo "$tmp/theirs.csv"
printf 'job_id,arrival_time,runtime\na,0,500\n' >"$tmp/theirs.csv"
expect "a time in the words of others" 3 "unknown column 'arrival_time'; did you mean 'submit_s'" "$gsim" --policy fifo "$tmp/theirs.csv"
printf '[trace]\njobs = 1\n[memory]\nchoice = 1\n' >"$tmp/theirs.ini"
expect "a column that no trace has" 3 "columns of a native trace ('gsim list columns')" "$gsim" generate "$tmp/theirs.ini" -o "$tmp/drawn.csv"
printf 'job_id,submit_s,duration_s\na,1709366400000,5\n' >"$tmp/ms.csv"
expect "a time in milliseconds" 3 "ms.csv:2: column 'submit_s': '1709366400000' is not a time in seconds (.*are these milliseconds?)" "$gsim" --policy fifo "$tmp/ms.csv"
printf 'job_id;submit_s;duration_s\na;0;1,5\n' >"$tmp/spread.csv"
expect "a spreadsheet with semicolons" 3 "spread.csv:1: semicolons separate the names" "$gsim" --policy fifo "$tmp/spread.csv"
printf 'job_id\tsubmit_s\tduration_s\na\t0\t1\n' >"$tmp/spread.csv"
expect "a spreadsheet with tabs" 3 "spread.csv:1: tabs separate the names" "$gsim" --policy fifo "$tmp/spread.csv"
foreign() { printf "$2" >"$tmp/foreign"; expect "$1" 3 "foreign: .*: the file is $3" "$gsim" --policy fifo "$tmp/foreign"; }
foreign "a file of xz" '\3757zXZ\000' "compressed by xz"
foreign "a file of bzip2" 'BZh91AY' "compressed by bzip2"
foreign "a spreadsheet's own file" 'PK\003\004' "a zip archive or a spreadsheet"
foreign "text of a console of Windows" '\377\376j\000' "in UTF-16"
foreign "text in UTF-16, big end first" '\376\377\000j' "in UTF-16"
# Names that are not UTF-8: readers of CSV, of JSON and of SQLite refuse them.
cat >"$tmp/code.py" <<'P'
import json, sqlite3, subprocess, sys
gsim, tmp = sys.argv[1:]
CHUNK = 256 * 1024  # what gsim reads at a time
def gsim_of(*command):
    return subprocess.run([gsim, *command], capture_output=True)
def imported(name, content):
    with open(f"{tmp}/{name}", "wb") as file:
        file.write(content)
    got = gsim_of("import", "native", f"{tmp}/{name}")
    assert got.returncode == 0, got.stderr
    return got.stdout.decode("utf-8"), got.stderr.decode("utf-8")
head = "job_id,submit_s,duration_s,user\n"
body = "jé,0,60,jérôme\nb,1,60,ÿ\n"
utf8, said = imported("utf8.csv", (head + body).encode("utf-8"))
assert "jérôme" in utf8 and "UTF-8" not in said, said
latin, said = imported("latin.csv", (head + body).encode("latin-1"))
assert latin == utf8 and "(the first behind 'j') are taken for Latin-1" in said, said
# a character of each length, at each place about the end of a chunk; cut off by another one, or by the file's end
for name in "é", "€", "😀":
    for before in range(-4, 2):
        text = head + "#" + "x" * (CHUNK + before - len(head) - 11) + "\na,0,60,u"
        for rest in ",", "é,":
            out, said = imported("chunk.csv", (text + name + rest.replace(",", "") + "\n").encode("utf-8"))
            assert f"u{name}{rest.replace(',', '')}\n" in out and "UTF-8" not in said, (name, before)
        cut = name.encode("utf-8")[:-1]
        for end in "", "é\n":
            out, said = imported("chunk.csv", text.encode() + cut + end.encode("utf-8"))
            assert f"u{cut.decode('latin-1')}{end.strip()}\n" in out and "Latin-1" in said, (name, before, out)
files = ["--jobs-csv", f"{tmp}/code_jobs.csv", "--db", f"{tmp}/code.db", "--timeline", f"{tmp}/code.json"]
got = gsim_of("--policy", "fifo", "--gpus-per-node", "2", "--format", "json", "--by", "user", *files, f"{tmp}/latin.csv")
assert got.returncode == 0, got.stderr
json.loads(got.stdout.decode("utf-8"))
json.load(open(f"{tmp}/code.json", encoding="utf-8"))
assert "jérôme" in open(f"{tmp}/code_jobs.csv", encoding="utf-8").read()
db = sqlite3.connect(f"{tmp}/code.db")
for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall():
    db.execute(f"SELECT * FROM {table}").fetchall()
assert db.execute("SELECT text FROM input_text WHERE typeof(text) = 'blob'").fetchall() == [(open(f"{tmp}/latin.csv", "rb").read(),)]
print("read")
P
expect "names that are not UTF-8 are taken for Latin-1, and results can be read" 0 "^read$" python3 "$tmp/code.py" "$gsim" "$tmp"
expect "such a run can be repeated" 0 "is reproduced" "$gsim" repro "$tmp/code.db" 1
printf 'job_id,submit_s,duration_s,requests,period_ms,gpu_ms\ns,0,5000,1000,100,11\n' >"$tmp/served.csv"
expect "GPUs useful of requests is their kernels' time" 0 "GPUs useful (%)  *11.00" "$gsim" --policy srtf "$tmp/served.csv"
expect "paging with no manager" 2 "preempt=paging leaves a job's memory to a manager" "$gsim" --policy las --set preempt=paging $t

# --- files beside the result -----------------------------------------------------------------------
for option in --jobs-csv --timeline; do
    echo mine >"$tmp/mine.json"
    expect "$option does not overwrite" 2 "mine.json: the file is there already; --force overwrites it" "$gsim" --policy fifo $option "$tmp/mine.json" $t
    [ "$(cat "$tmp/mine.json")" = mine ]
    expect "$option left it as it was" 0 mine cat "$tmp/mine.json"
    expect "$option writes an earlier one anew" 0 "JCT" "$gsim" --policy fifo $option "$tmp/own$option" $t
    expect "$option writes it anew again" 0 "JCT" "$gsim" --policy fifo $option "$tmp/own$option" $t
    cp $t "$tmp/t.csv"
    expect "$option spares the trace" 2 "the file is there already" "$gsim" --policy fifo $option "$tmp/t.csv" $t
    expect "$option overwrites with --force" 0 "JCT" "$gsim" --policy fifo $option "$tmp/mine.json" --force $t
    # Before the run: nothing of a result is on standard output.
    expect "$option finds a missing folder before the run" 1 "^gsim: $tmp/no/where.json: the file cannot be written: No such file" "$gsim" --quiet --policy fifo $option "$tmp/no/where.json" $t
    cp "$tmp/out" "$tmp/said"
    expect "$option: nothing was run" 0 "^1$" grep -c '' "$tmp/said"
done
for left in "$tmp"/*.part; do
    if [ -e "$left" ]; then echo "not ok $left is left"; else echo "ok nothing half written is left"; fi
done

# --- the languages of specs and grids ----------------------------------------------------------------
"$gsim" generate --help | sed -n '/^a spec is/,$p' >"$tmp/language"
sed -n '/^a spec is/,/^```$/p' docs/specs.md | sed '$d' >"$tmp/documented"
expect "docs/specs.md has what generate --help says" 0 "distribution" sh -c "cmp '$tmp/language' '$tmp/documented' && cat '$tmp/language'"
sed -n '/^    \[trace\]/,/^    choice = amara/{p; /choice = amara/q}' docs/specs.md | sed 's/^    //' >"$tmp/spec.ini"
expect "the spec of docs/specs.md" 0 "^job_id,submit_s" "$gsim" generate "$tmp/spec.ini"
sed 's/^mu = .*/&\nmue = 3/' "$tmp/spec.ini" >"$tmp/wrong.ini"
expect "a key nearly right" 3 "no key 'mue'; did you mean 'mu'" "$gsim" generate "$tmp/wrong.ini"
expect "a key that stands twice" 3 "wrong.ini:[0-9]*: key 'mu' stands twice in section" \
    sh -c "sed 's/^mu = .*/&\nmu = 3/' '$tmp/spec.ini' >'$tmp/wrong.ini'; '$gsim' generate '$tmp/wrong.ini'"
expect "a key of another section" 3 "\[arrival\] has no key 'jobs'" sh -c "sed 's/^rate = .*/&\njobs = 5/' '$tmp/spec.ini' >'$tmp/wrong.ini'; '$gsim' generate '$tmp/wrong.ini'"
expect "sweep --help has the keys of a grid" 0 "gpus-per-node" "$gsim" sweep --help
expect "and ranges" 0 "1\.\.10" "$gsim" sweep --help

# --- logs with rows that cannot be read -------------------------------------------------------------
printf 'JobIDRaw|JobName|State|Submit|Start|End|ElapsedRaw|AllocTRES|TRESUsageInMax\n12|a|b|COMPLETED|0|5|65|60|gres/gpu=1|\n12.batch|batch|COMPLETED|0|5|65|60|gres/gpu=1|cpu=00:56:24,gres/gpumem=2048M,gres/gpuutil=100,mem=10372780K\n13|c|COMPLETED|then|5|65|60|gres/gpu=1|\n' >"$tmp/slurm.txt"
expect "GPU memory of Slurm's steps, start and end" 0 "^12,0,60,1,2,5,65$" "$gsim" import sacct --quiet "$tmp/slurm.txt"
expect "a row that cannot be read is counted" 0 "left out 1 row (the first is line 4): the column 'Submit' has no time" "$gsim" import sacct "$tmp/slurm.txt"
expect "an error with --strict" 3 "slurm.txt:4: column 'Submit': 'then' is not a time" "$gsim" import sacct --strict "$tmp/slurm.txt"
expect "and in a run" 3 "slurm.txt:4: column 'Submit': 'then' is not a time" "$gsim" --policy fifo --strict "$tmp/slurm.txt"
expect "where it is counted otherwise" 0 "left out 1 row (the first is line 4): the column 'Submit' has no time" "$gsim" --policy fifo "$tmp/slurm.txt"
# Samples of a node belong to the job that was alone there: jobs that are left out, in MIG instances, are beside it too,
# and so is job 24, which runs on. Parts of a heterogeneous job are one job on the nodes of both. A step is no other job.
printf 'JobIDRaw|JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n%s\n' '21|21|COMPLETED|0|0|100|100|gres/gpu=1|n1
21.0|21.0|COMPLETED|0|0|100|100|gres/gpu=1|n1
22|22|COMPLETED|0|40|60|20|gres/gpu:1g.10gb=1|n1
23|23|COMPLETED|0|0|100|100|gres/gpu=1|n2
24|24|RUNNING|0|70|Unknown|30|gres/gpu=1|n2
25|26+0|COMPLETED|0|0|100|100|gres/gpu=1|n3
26|26+1|COMPLETED|0|0|100|100|gres/gpu=1|n4
27|27|COMPLETED|0|0|100|100|cpu=4|n1' | sed 's/|26+/|25+/' >"$tmp/beside.txt"
printf 'hostname,timestamp,mem_mib\n%s\n' 'n1,10,1024
n1,50,9216
n2,10,2048
n2,80,9216
n3,10,3072
n4,20,4096' >"$tmp/nodes.csv"
expect "jobs that are left out are beside others on a node" 0 "left out 2 samples of nodes that several jobs shared, 0 when no job" \
    "$gsim" import sacct "$tmp/beside.txt" --gpu-mem "$tmp/nodes.csv" -o "$tmp/beside.csv"
expect "what is measured, and the nodes of both parts" 0 "^21 1 n1 23 2 n2 24  n2 25 4 n3,n4$" python3 -c 'import csv, sys
rows = csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#"))
print(*(row[k] for row in rows for k in ("job_id", "mem_gib", "logged_nodes")))' "$tmp/beside.csv"
expect "a system in place of its format" 2 "no trace format is called 'slurm'; 'sacct' reads jobs of Slurm that have ended" "$gsim" import slurm "$tmp/slurm.txt"
expect "and of another system" 2 "no trace format is called 'k8s'; 'kube' reads pods of Kubernetes" "$gsim" run --policy fifo --trace-format k8s "$tmp/slurm.txt"
expect "measured memory is no trace" 2 "--gpu-mem FILE reads measured memory beside a trace" "$gsim" import dcgm "$tmp/slurm.txt"
expect "what became of each row" 0 "^4,13,not readable,.*Submit.*,then$" sh -c "'$gsim' import sacct '$tmp/slurm.txt' --quiet --left-out '$tmp/left.csv' -o '$tmp/kept.csv' && cat '$tmp/left.csv'"
expect "a file of something else stays" 2 "slurm.txt: the file is there already; --force" "$gsim" import sacct "$tmp/slurm.txt" --left-out "$tmp/slurm.txt"
printf '{"kind":"List","items":[{"kind":"Event","involvedObject":{"kind":"Pod","name":"a","namespace":"m"},"reason":"Scheduled"}]}' >"$tmp/events.json"
printf 'NAME      READY   STATUS      RESTARTS   AGE\ntrain-0   1/1     Running     0          5h\n' >"$tmp/pods.txt"
expect "kubectl's table" 3 "pods.txt:1: this is what kubectl prints without -o, and -o json is read" "$gsim" import kube "$tmp/pods.txt"
printf 'LAST SEEN   TYPE     REASON      OBJECT        MESSAGE\n12m         Normal   Scheduled   pod/train-0   assigned\n' >"$tmp/events.txt"
expect "and that of events" 3 "events.txt:1: this is what kubectl prints without -o" "$gsim" import kube "$tmp/events.txt"
expect "known by its head" 3 "without -o, and -o json is read" "$gsim" run --policy fifo "$tmp/pods.txt"
printf 'apiVersion: v1\nitems: []\n' >"$tmp/pods.yaml"
expect "kubectl's YAML" 3 "this is what kubectl prints with -o yaml" "$gsim" import kube "$tmp/pods.yaml"
printf 'job,host,mem\na,n,1\n' >"$tmp/other.csv"
printf 'job_id,submit_s,duration_s,gpus\na,0,1,1\n' >"$tmp/a.csv"
expect "the columns of measured memory are named" 3 "and job_id, or hostname and timestamp; here are job, host, mem" "$gsim" import native "$tmp/a.csv" --gpu-mem "$tmp/other.csv"
: >"$tmp/nothing.json"
expect "an empty file in place of a profile" 3 "nothing.json: the file is empty; JSON is expected" "$gsim" import kineto "$tmp/nothing.json" --device h200
expect "an empty file in place of pods" 3 "nothing.json: the file is empty; JSON is expected" "$gsim" import kube "$tmp/nothing.json"
expect "events without their pods" 3 "events.json: the file has no pod" "$gsim" import kube "$tmp/events.json"
printf 'NSYSREP' >"$tmp/run.nsys-rep"
expect "a report of Nsight Systems" 3 "nsys export --type sqlite" "$gsim" import timeline "$tmp/run.nsys-rep" --device h200

# --- bytes of kernels, by Nsight Compute -----------------------------------------------------------
cat >"$tmp/rows.csv" <<'EOF'
what,t_ns,dur_ns,corr,stream,grid,block,regs,shared_bytes,name
iteration,0,20000,,,,,,,i
call,500,500,1,,,,,,cudaLaunchKernel
kernel,1000,5000,1,7,4x2x1,64x2x1,32,1024,void a::f<int>(b)
call,2000,1000,2,,,,,,cudaLaunchKernel
kernel,6000,1600,2,7,3x1x1,64x1x1,32,0,void a::g<float>(b)
EOF
cat >"$tmp/ncu.csv" <<'EOF'
==PROF== Connected to process 77 (/usr/bin/python3)
"ID","Kernel Name","Stream","Block Size","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"
"0","f","7","(64, 2, 1)","(4, 2, 1)","Command line profiler metrics","dram__bytes.sum","Kbyte","1,234.5"
"1","f","7","(64, 2, 1)","(4, 2, 1)","Command line profiler metrics","dram__bytes.sum","Mbyte","2"
"1","f","7","(64, 2, 1)","(4, 2, 1)","Command line profiler metrics","sm__cycles.sum","cycle","9"
"2","f","7","(64, 1, 1)","(9, 1, 1)","Command line profiler metrics","dram__bytes.sum","byte","64"
==PROF== Disconnected from process 77
EOF
rows="import timeline $tmp/rows.csv --device h200"
# shellcheck disable=SC2086
{
    expect "the mean bytes of a kernel, by name, grid and block" 0 "^kernel,f,,5,h200,8,128,32,1,,,1617250$" "$gsim" $rows --quiet --bytes "$tmp/ncu.csv"
    expect "a kernel that was not counted has none" 0 "^kernel,g,,1.6,h200,3,64,32,,,,$" "$gsim" $rows --quiet --bytes "$tmp/ncu.csv"
    expect "kernels without bytes are counted" 0 "1 of 2 kernels, with 1 of 6 us of an iteration, have no bytes" "$gsim" $rows --bytes "$tmp/ncu.csv"
    expect "and bytes without a kernel" 0 "left out 1 of its 2 kernels: the program has none" "$gsim" $rows --bytes "$tmp/ncu.csv"
    # Of the launches of f 400 and 0 bytes are stored, of g more than the 64 that another run counted.
    cat "$tmp/ncu.csv" - >"$tmp/stored.csv" <<'EOF'
"0","f","7","(64, 2, 1)","(4, 2, 1)","Command line profiler metrics","dram__bytes_write.sum","byte","400"
"1","f","7","(64, 2, 1)","(4, 2, 1)","Command line profiler metrics","dram__bytes_write.sum","byte","0"
"3","g","7","(64, 1, 1)","(3, 1, 1)","Command line profiler metrics","dram__bytes.sum","byte","64"
"3","g","7","(64, 1, 1)","(3, 1, 1)","Command line profiler metrics","dram__bytes_write.sum","byte","65"
EOF
    expect "the mean of what a kernel stores" 0 "^kernel,f,,5,h200,8,128,32,1,,,1617250,200$" "$gsim" $rows --quiet --bytes "$tmp/stored.csv"
    expect "which is at most what it moves" 0 "^kernel,g,,1.6,h200,3,64,32,,,,64,64$" "$gsim" $rows --quiet --bytes "$tmp/stored.csv"
    expect "and has a column" 0 "^kind,.*,host_us,dram_bytes,stored_bytes$" "$gsim" $rows --quiet --bytes "$tmp/stored.csv"
    grep -v 'dram__bytes.sum' "$tmp/stored.csv" >"$tmp/bad.csv"
    expect "what is stored without what is moved" 3 "bad.csv: no row has the metric dram__bytes.sum" "$gsim" $rows --bytes "$tmp/bad.csv"
    "$gsim" $rows --quiet --bytes "$tmp/ncu.csv" -o "$tmp/with.csv" 2>"$tmp/out"
    printf 'job_id,submit_s,iterations,app\na,0,9,%s\n' "$tmp/with.csv" >"$tmp/one.csv"
    expect "the program can be run" 0 "JCT mean" "$gsim" --policy timeslice --device h200 --gpus-per-node 1 "$tmp/one.csv"
    for bad in "64x2x1,32,1024/4096x1x1,32,1024/a block of kernel 'void a::f<int>(b)' has 4096 threads; device h200 launches blocks of at most 1024" \
        "64x2x1,32,1024/64x2x1,32,240000/has 241024 bytes of shared memory (with the system's), which no SM can hold" \
        "64x2x1,32,1024/1024x1x1,128,1024/has 524288 bytes of registers (whole warps, a thread's by eight), which no SM can hold"; do
        from=${bad%%/*} to=${bad#*/}
        sed "s/$from/${to%%/*}/" "$tmp/rows.csv" >"$tmp/bad.csv"
        expect "a block that the device cannot have" 3 "bad.csv:4: .*${to#*/}" "$gsim" import timeline "$tmp/bad.csv" --device h200
    done
    sed 's/^kernel,1000/kernel,100/' "$tmp/rows.csv" >"$tmp/bad.csv"
    expect "work before its launch is told" 0 "bad.csv:4: 1 kernels, copies and sets, this one first, begin before the call" "$gsim" import timeline "$tmp/bad.csv" --device h200
    grep -v '"(4, 2, 1)"' "$tmp/ncu.csv" >"$tmp/none.csv"
    expect "bytes of another program" 3 "none.csv: none of its 1 kernels has the name, grid and block" "$gsim" $rows --bytes "$tmp/none.csv" -o "$tmp/none_app.csv"
    expect "leave no file" 0 "gone" sh -c "test ! -e '$tmp/none_app.csv' && echo gone"
    sed 's/1,234.5/n\/a/' "$tmp/ncu.csv" >"$tmp/bad.csv"
    expect "bytes that are no number" 3 "bad.csv:3: Metric Value: 'n/a' is not a number of bytes" "$gsim" $rows --bytes "$tmp/bad.csv"
    for number in 1,5 12,34 1.234,5 ,500 1234,567 1,2345; do
        sed "s/1,234.5/$number/" "$tmp/ncu.csv" >"$tmp/bad.csv"
        expect "a comma that is no one of thousands: $number" 3 "bad.csv:3: Metric Value: '$number' is not a number of bytes" "$gsim" $rows --bytes "$tmp/bad.csv"
    done
    sed 's/Mbyte/MiB/' "$tmp/ncu.csv" >"$tmp/bad.csv"
    expect "a unit that ncu does not have" 3 "bad.csv:4: Metric Unit: 'MiB' is not byte, Kbyte" "$gsim" $rows --bytes "$tmp/bad.csv"
    sed 's/(9, 1, 1)/(9, x)/' "$tmp/ncu.csv" >"$tmp/bad.csv"
    expect "a grid that is none" 3 "bad.csv:6: Grid Size: '(9, x)' is not a size" "$gsim" $rows --bytes "$tmp/bad.csv"
    grep -v dram__ "$tmp/ncu.csv" >"$tmp/bad.csv"
    expect "another metric" 3 "bad.csv: no row has the metric dram__bytes.sum" "$gsim" $rows --bytes "$tmp/bad.csv"
    expect "another file" 3 "rows.csv:1: no column 'Kernel Name'" "$gsim" $rows --bytes "$tmp/rows.csv"
    expect "bytes of a profile" 2 "bytes is for a timeline" "$gsim" import kineto "$tmp/rows.csv" --device h200 --bytes "$tmp/ncu.csv"
}
# --- two files, as of two days, of a format that has one
printf 'job_id,submit_s,duration_s,gpus\na,0,1,1\n' >"$tmp/day1.csv"
expect "two files of a format of one" 2 "has one file, not also .*day2.csv; cat joins a log's files of rows" "$gsim" import helios "$tmp/day1.csv" "$tmp/day2.csv"
