#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One row of a reference table of elastic cluster schedulers, run by gsim in the reference mode of
# that program: prints a JSON object with avg_jct_s, last_end_s and jobs. DATA is a folder with
# tables/ and traces/; the other arguments are columns of the row.
#   gavel    CLUSTER is GPUs of v100:p100:k80; shares=FILE replays the shares of another solver
#            (time_s,job,device,share, may be compressed with gzip)
#   synergy  CLUSTER is "4 servers x 8 GPUs, 24 CPUs, 500 GB, ..."; mode=fair|greedy|tune,
#            arrivals=static|dynamic, placement="first fit"|placement
#   elasticflow  CLUSTER is "16 nodes x 8 GPUs"; device=A100|T4, slot_s=SECONDS
#   pollux   CLUSTER is "16 nodes x 4 GPUs"; interval_s=60; interference=0.25, what meeting on
#            a node costs gangs on several nodes
#   muri     CLUSTER is "8 nodes x 8 GPUs, yarn"
#   shockwave CLUSTER is "32" or "8 nodes x 4 GPUs"; round_s=120
#   sia      CLUSTER is "4 nodes x 4 GPUs" of its type aws
# TRACE may end in ", first 12 rows".
# [GSIM=./gsim] [JOBS_CSV=FILE] reference.sh DATA SIMULATOR TRACE CLUSTER POLICY [column=value ...]
set -eu
if [ $# -lt 5 ]; then
    sed -n 's/^# \(\[GSIM.*\)/usage: \1/p' "$0" >&2
    exit 2
fi
gsim=${GSIM:-./gsim}
data=$1 simulator=$2 trace=$3 cluster=$4 policy=$5
shift 5
shares='' mode=fair arrivals=dynamic placement='first fit' device=A100 slot_s=60 interval_s=60 interference=0 round_s=120
for column; do
    case $column in
    shares=*) shares=${column#shares=} ;;
    mode=*) mode=${column#mode=} ;;
    arrivals=*) arrivals=${column#arrivals=} ;;
    placement=*) placement=${column#placement=} ;;
    device=*) device=${column#device=} ;;
    slot_s=*) slot_s=${column#slot_s=} ;;
    round_s=*) round_s=${column#round_s=} ;;
    interval_s=*) interval_s=${column#interval_s=} ;;
    interference=*) interference=${column#interference=} ;;
    *=*) ;; # the other columns are results, or say nothing about the run
    *)
        echo "$0: '$column' is not column=value" >&2
        exit 2
        ;;
    esac
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

refuse() { # sentence
    echo "$0: $1" >&2
    exit 3
}

is_one_of() { # column, value, the values that it has
    case "|$3|" in *"|$2|"*) ;; *) refuse "$1 is one of $3, not '$2'" ;; esac
}

is_number() { # column, value, the least, the most
    awk -v value="$2" -v least="$3" -v most="$4" 'BEGIN {
        exit !(value ~ /^[0-9]+([.][0-9]*)?$/ && value + 0 >= least && value + 0 <= most) }' ||
        refuse "$1 is a number from $3 to $4, not '$2'"
}

check_cluster() {
    nodes='[0-9]+( nodes?)? ?x ?[0-9]+( GPUs?)?([ ,].*)?'
    case $simulator in
    gavel) form='[0-9]*[1-9][0-9]*:[0-9]+:[0-9]+|[0-9]+:[0-9]*[1-9][0-9]*:[0-9]+|[0-9]+:[0-9]+:[0-9]*[1-9][0-9]*' says='GPUs of v100:p100:k80, as 8:16:24, of which there are some' ;;
    shockwave) form="[0-9]+|$nodes" says='"32" or "8 nodes x 4 GPUs"' ;;
    synergy)
        form='[0-9]+ servers? x [0-9]+ GPUs?, [0-9]+ CPUs, [0-9]+ GB(,.*)?'
        says='"4 servers x 8 GPUs, 24 CPUs, 500 GB"'
        ;;
    *) form=$nodes says='"16 nodes x 4 GPUs"' ;;
    esac
    echo "$cluster" | grep -Eqx "$form" || refuse "a cluster of $simulator is $says, not '$cluster'"
    case $simulator,$cluster in
    shockwave,*x*) ;;
    shockwave,*) [ $((cluster % 4)) = 0 ] || refuse "nodes of shockwave have 4 GPUs each: '$cluster' is no multiple" ;;
    esac
}

# TRACE may end in ", first N rows". Traces of gavel, synergy and shockwave have no header.
take_first_rows() {
    rows=$(echo "$trace" | sed -n 's/.*, first \([0-9]*\) rows$/\1/p')
    trace=${trace%, first * rows}
    [ -f "$data/traces/$trace" ] || refuse "no trace $data/traces/$trace"
    trace_file=$data/traces/$trace
    [ -n "$rows" ] || return 0
    case $simulator in
    gavel | synergy | shockwave) ;;
    *) rows=$((rows + 1)) ;;
    esac
    mkdir "$folder/first"
    trace_file=$folder/first/${trace##*/}
    head -n "$rows" "$data/traces/$trace" >"$trace_file"
}

check_run() {
    is_one_of simulator "$simulator" 'gavel|synergy|elasticflow|pollux|muri|shockwave|sia'
    case $simulator in
    gavel) [ -z "$shares" ] || [ -r "$shares" ] || refuse "no file of shares $shares" ;;
    synergy)
        is_one_of mode "$mode" 'fair|greedy|tune'
        is_one_of arrivals "$arrivals" 'static|dynamic'
        is_one_of placement "$placement" 'first fit|placement'
        ;;
    elasticflow)
        is_one_of device "$device" 'A100|T4'
        is_number slot_s "$slot_s" 0.001 1000000
        ;;
    pollux)
        is_number interval_s "$interval_s" 0.001 1000000
        is_number interference "$interference" 0 1
        ;;
    shockwave) is_number round_s "$round_s" 0.001 1000000 ;;
    esac
    check_cluster
    take_first_rows
}

# A row of a pair says what both of its jobs make; of two of one model it says it twice. Only policies
# that pack jobs read these rows.
gavel_rates() {
    echo "device,model,gpus,beside,iterations_per_s"
    for device in v100 p100 k80; do
        awk -F, -v OFS=, -v device=$device '$1 == device { print $1, $2, $3, "", $4 }' \
            "$data/tables/gavel_solo.csv"
    done
    case $policy in *_packed | gandiva) ;; *) return ;; esac
    awk -F, -v OFS=, '/^#/ || $1 == "device" || $1 ~ /_unconsolidated$/ { next }
        {
            print $1, $3, $2, $4, $5
            if ($3 != $4)
                print $1, $4, $2, $3, $6
        }' "$data/tables/gavel_pairs.csv"
}

# v100:p100:k80 as nodes, in the order in which the program walks over them.
gavel_cluster() {
    echo "$cluster" | awk -F: '{
        split("v100 p100 k80", device, " ")
        for (d = 1; d <= 3; d++)
            if ($d > 0)
                printf "[node %s]\ngpus = %d\ndevice = ideal\nrates_as = %s\n", device[d], $d, device[d]
    }'
}

gavel() {
    gavel_rates >"$folder/rates.csv"
    gavel_cluster >"$folder/cluster.ini"
    case $policy in
    isolated) objective=isolated ;;
    fifo | fifo_perf | fifo_packed) objective=fifo ;;
    max_min_fairness | max_min_fairness_perf | max_min_fairness_packed) objective=max-min ;;
    max_min_fairness_water_filling | max_min_fairness_water_filling_perf | max_min_fairness_water_filling_packed) objective=water-filling ;;
    max_sum_throughput_perf) objective=max-sum ;;
    min_total_duration | min_total_duration_perf | min_total_duration_packed) objective=makespan ;;
    finish_time_fairness | finish_time_fairness_perf | finish_time_fairness_packed) objective=finish-time ;;
    allox) objective=allox ;;
    gandiva) objective=gandiva ;;
    *) objective=shares ;;
    esac
    if [ $objective = shares ] && [ -z "$shares" ]; then
        refuse "gavel's policy '$policy' is not known by name, and needs shares=FILE"
    fi
    set -- --policy gavel --seed 0 --set reference=gavel --set "objective=$objective"
    if [ -n "$shares" ]; then
        gzip -dcf "$shares" >"$folder/shares.csv"
        set -- "$@" --set "shares=$folder/shares.csv"
    fi
    # The program shuffles the device types under policies that do not know speeds, and reads those of
    # v100 where it needs any.
    case $policy in
    *_perf* | *_packed | allox | gandiva) ;;
    finish_time_fairness | min_total_duration)
        [ -n "$shares" ] || [ "${cluster%%:*}" -gt 0 ] || refuse "the program's $policy reads speeds on v100, of which '$cluster' has none"
        set -- "$@" --set sees_speed=off
        ;;
    *) set -- "$@" --set sees_speed=off ;;
    esac
    case $policy in *_packed | gandiva) set -- "$@" --set packing=on ;; esac
    set -- "$@" --rates "$folder/rates.csv" --cluster "$folder/cluster.ini"
    "$gsim" run "$@" --quiet --jobs-csv "$folder/jobs.csv" --format csv "$trace_file" >"$folder/result.csv"
}

# GPUs, CPUs and GB of a server, and how many there are.
synergy_servers() {
    echo "$cluster" | sed 's/[^0-9.]\{1,\}/ /g'
}

# What a gang wants is capped at a server, and speeds up by the CPUs that it then has; one that is
# wider than a server has its fair part. In mode fair no job is faster than with that part, however
# much it is. A job that wants no more than its part has what it wants, and its speed.
synergy_rates() {
    synergy_servers | cat - "$data/tables/synergy_models.csv" | awk -F, -v mode="$mode" '
        function floor_milli(x) { return int(x * 1000 + 1e-6) / 1000 }
        function row(g, c, m, per_s) {
            printf "v100,%s,%d,%.3f,%.6f,%.17g\n", $1, g, c, int(m * 1e6 + 1e-6) / 1e6, per_s
        }
        BEGIN { print "device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s" }
        NR == 1 { split($0, server, " "); gpus = server[2]; cpus = server[3]; gb = server[4]; next }
        /^#/ || $1 == "model" { next }
        {
            fair = cpus / gpus
            for (g = 1; g <= gpus + 1; g++) {
                speedup = $6
                has = $2 * g > cpus ? cpus : $2 * g
                if (has < $2 * g)
                    speedup = 1 + ($6 - 1) / ($2 * g - fair * g) * (has - fair * g)
                has_gb = $3 * g > gb ? gb : $3 * g
                is_own = g <= gpus && mode != "fair" && (has != fair * g || has_gb != gb / gpus * g)
                if (!is_own || has > fair * g || has_gb > gb / gpus * g)
                    row(g, floor_milli(fair), gb / gpus, 1 / $5)
                if (is_own)
                    row(g, floor_milli(has / g), has_gb / g, 1 / ($5 / speedup))
            }
            row(1024, floor_milli(fair), gb / gpus, 1 / $5)
        }'
}

synergy_cluster() {
    synergy_servers | awk '{
        printf "[node server]\ncount = %d\ngpus = %d\ncpus = %d\nhost_mem = %dGiB\n", $1, $2, $3, $4
        print "device = ideal\nrates_as = v100"
    }'
}

# The program gives a job what it wants also where that makes it no faster, and weighs its order by
# the speed with three CPUs and 62.5 GB on servers of any size; by the table of speeds a job wants the
# least with which it is fastest, and is as fast with its part as that part makes it.
check_synergy_models() {
    lacks=$(synergy_servers | cat - "$data/tables/synergy_models.csv" "$trace_file" | awk -F, -v policy="$policy" '
        NR == 1 { split($0, server, " "); cpus = server[3] / server[2]; gb = server[4] / server[2]; next }
        /^#/ || $1 == "model" { next }
        NF > 5 {
            is_more = $2 > cpus || $3 > gb
            wants_in_vain[$1] = $6 == 1 && is_more
            has_all[$1] = $6 > 1 && !is_more && policy == "FTF"
            next
        }
        $2 in has_all && (wants_in_vain[$2] || has_all[$2]) { print "job " $1 " is of " $2; exit }')
    [ -z "$lacks" ] || refuse "$lacks, of which mode=fair alone copies the program on servers with other parts than 3 CPUs and 62.5 GB a GPU"
}

synergy() {
    [ "$mode" = fair ] || check_synergy_models
    synergy_rates >"$folder/rates.csv"
    synergy_cluster >"$folder/cluster.ini"
    case $policy in
    FIFO | SRTF | LAS | FTF) ;;
    *)
        refuse "synergy has no policy '$policy'"
        ;;
    esac
    case $arrivals in static) first=1s ;; *) first=0s ;; esac
    case $placement in placement) consolidate=on ;; *) consolidate=off ;; esac
    "$gsim" run --policy synergy --set reference=synergy --set "mode=$mode" \
        --set "order=$(echo "$policy" | tr A-Z a-z)" --set "first=$first" \
        --set "consolidate=$consolidate" --rates "$folder/rates.csv" \
        --cluster "$folder/cluster.ini" --quiet --jobs-csv "$folder/jobs.csv" --format csv \
        "$trace_file" >"$folder/result.csv"
}

# A model is another one at each batch size. The widths that the program lets a job have
# (scheduler/models.py, get_max_gpu); edf all that were measured.
elasticflow_rates() {
    awk -F, -v device="$device" -v policy="$policy" '
        function most(model, batch) {
            if (policy == "edf")
                return batch < 64 ? batch : 64
            if (device == "T4") {
                if (model == "bert" || model == "cifar10") return 16
                if (model == "deepspeech2" && batch == 320) return 32
                return model == "yolov3" ? 4 : model == "ncf" ? 1 : 64
            }
            if (model == "bert") return batch == 64 ? 8 : 16
            if (model == "deepspeech2") return batch
            if (model == "gpt2" && batch == 128) return 16
            if (model == "gpt2" && batch == 256) return 32
            if (model == "inception3" && batch == 64) return 16
            if (model == "inception3" && batch == 128) return 32
            if ((model == "resnet50" || model == "vgg16") && batch == 64) return 32
            return batch < 64 ? batch : 64
        }
        BEGIN { print "device,model,gpus,iterations_per_s" }
        $1 == device && $5 != "nan" && $5 > 0 && $4 <= most($2, $3) { print $1 "," $2 "-" $3 "," $4 "," $5 }
    ' "$data/tables/elasticflow_width.csv"
}

# Jobs of las and gandiva have the GPUs and the duration of the trace, others iterations.
elasticflow_trace() {
    awk -F, -v mode="$mode" '
        BEGIN { timed = mode == "las" || mode == "gandiva" }
        NR == 1 {
            print "job_id,submit_s,gpus," (timed ? "duration_s" : "model,iterations") ",deadline_s"
            next
        }
        {
            work = timed ? $7 "," $8 : "1," $4 "-" $6 "," $3
            print $1 "," $2 "," work "," ($9 == 1 ? "" : $5)
        }' "$trace_file"
}

# Models were measured at other batch sizes on each device.
check_elasticflow_models() {
    lacks=$(awk -F, -v device="$device" '
        NR == FNR { if ($1 == device && $5 != "nan" && $5 > 0) has[$2 "-" $3] = 1; next }
        FNR > 1 && !(($4 "-" $6) in has) { print "job " $1 " is of " $4 " with batch " $6; exit }
        ' "$data/tables/elasticflow_width.csv" "$trace_file")
    [ -z "$lacks" ] || refuse "$lacks, which was not measured on device=$device: $trace is of the other one"
}

elasticflow() {
    case $policy in
    ef-accessctrl) mode=admit ;;
    ef) mode=all ;;
    edf) mode=edf ;;
    dlas-gpu) mode=las ;;
    gandiva) mode=gandiva ;;
    *)
        refuse "elasticflow has no policy '$policy'"
        ;;
    esac
    elasticflow_rates >"$folder/rates.csv"
    echo "$cluster" | sed 's/[^0-9]\{1,\}/ /g' | awk -v device="$device" '{
        printf "[node]\ncount = %d\ngpus = %d\ndevice = ideal\nrates_as = %s\n", $1, $2, device
    }' >"$folder/cluster.ini"
    elasticflow_trace >"$folder/trace.csv"
    set -- --policy elasticflow --set reference=elasticflow --set "mode=$mode" --set "slot=${slot_s}s"
    case $mode in
    las | gandiva) ;;
    *)
        check_elasticflow_models
        set -- "$@" --rates "$folder/rates.csv"
        ;;
    esac
    "$gsim" run "$@" --cluster "$folder/cluster.ini" --quiet --jobs-csv "$folder/jobs.csv" \
        --format csv "$folder/trace.csv" >"$folder/result.csv"
}

# One table of the measured steps and epochs. What the program answers for placements without rows is
# a table of its own, since its interpolation there is not a rule. It gives ncf one GPU.
# Placements without rows: for jobs with the batch of the trace, what the program answers; for
# pollux, which tries any batch, the rows by nodes and GPUs, of which gsim takes the nearest.
pollux_goodput() {
    elsewhere=offtable
    [ "$policy" = tiresias ] || [ "$policy" = optimus ] || elsewhere=scalability
    echo "row,application,placement,nodes,gpus,batch,step_s,sync_s,epoch,progress,grad_sqr,grad_var,iterations,max_batch,min_local,max_local,most_gpus"
    for table in applications placements $elsewhere validation; do
        awk -F, -v OFS=, -v table=$table '
            /^#/ || $1 == "application" { next }
            table == "applications" { print "limits", $1, "", "", "", "", "", "", "", "", "", "", "", $3, $4, $5, $1 == "ncf" ? 1 : "" }
            table == "placements" { print "step", $1, $2, "", "", $3, $4, $5, "", "", "", "", "", "", "", "", "" }
            (table == "offtable" || table == "scalability") && $5 != "nan" { print "step", $1, "", $2, $3, $4, $5, $6, "", "", "", "", "", "", "", "", "" }
            table == "validation" { print "epoch", $1, "", "", "", $2, "", "", $3, $4, $7, $8, $5, "", "", "", "" }
            ' "$data/tables/pollux_$table.csv"
    done
}

pollux_cluster() {
    echo "$cluster" | sed 's/[^0-9]\{1,\}/ /g' | awk '{ printf "[node g4dn]\ncount = %d\ngpus = %d\ndevice = ideal\n", $1, $2 }'
}

# How many GPUs a job asks for plays no part where a policy gives them by what the job learns: it may ask
# for more than there are.
cap_gpus() {
    awk -F, -v OFS=, -v cluster="$cluster" '
        BEGIN { gsub(/[^0-9]+/, " ", cluster); split(cluster, size, " "); most = size[1] * size[2] }
        NR > 1 && $4 > most { $4 = most }
        { print }' "$trace_file" >"$folder/trace.csv"
    trace_file=$folder/trace.csv
}

pollux() {
    [ "$policy" = tiresias ] || cap_gpus
    pollux_goodput >"$folder/goodput.csv"
    pollux_cluster >"$folder/cluster.ini"
    # What the program answers for placements without rows was asked on nodes of 4 GPUs alone.
    case $policy,$(sed -n 's/^gpus = //p' "$folder/cluster.ini") in
    tiresias,4 | optimus,4 | pollux*) ;;
    *) echo "$0: '$cluster' has placements without rows, for which the nearest rows hold; the program interpolates" >&2 ;;
    esac
    case $policy in
    tiresias | optimus) set -- --policy adaptdl --set "rule=$policy" ;;
    pollux) set -- --policy pollux ;;
    "pollux, interference not avoided") set -- --policy pollux --set interference=allow ;;
    *)
        refuse "no policy of gsim copies '$policy' of pollux"
        ;;
    esac
    met_ppm=$(awk -v lost="$interference" 'BEGIN { printf "%d\n", (1 - lost) * 1e6 + 0.5 }')
    "$gsim" run "$@" --set reference=pollux --set "gang.met_ppm=$met_ppm" \
        --set "interval=${interval_s}s" --assume rescale_s=30 --goodput "$folder/goodput.csv" \
        --cluster "$folder/cluster.ini" --quiet --jobs-csv "$folder/jobs.csv" --format csv \
        "$trace_file" >"$folder/result.csv"
}

muri() {
    case $policy in
    multi-resource-blossom-same-gpu) rule=muri-s ;;
    multi-resource-blossom-same-gpu-unaware) rule=muri-l ;;
    multi-resource-gpu-unaware) rule=in-order ;;
    dlas-gpu) rule=queues ;;
    shortest | shortest-gpu | themis | antman) rule=$policy ;;
    *)
        refuse "muri has no policy '$policy'"
        ;;
    esac
    case $cluster in
    *yarn) ;;
    *)
        refuse "muri places jobs as yarn does; '$cluster' does not end with yarn"
        ;;
    esac
    echo "$cluster" | sed 's/[^0-9]\{1,\}/ /g' |
        awk '{ printf "[node]\ncount = %d\ngpus = %d\ndevice = ideal\n", $1, $2 }' >"$folder/cluster.ini"
    "$gsim" run --policy muri --set reference=muri --set "rule=$rule" \
        --cluster "$folder/cluster.ini" --quiet --jobs-csv "$folder/jobs.csv" --format csv \
        "$trace_file" >"$folder/result.csv"
}

shockwave_cluster() {
    case $cluster in *x*) ;; *) cluster="$((cluster / 4)) x 4" ;; esac
    echo "$cluster" | sed 's/[^0-9]\{1,\}/ /g' | awk '{ printf "[node]\ncount = %d\ngpus = %d\ndevice = ideal\nrates_as = v100\n", $1, $2 }'
}

# The program's constants: shares anew after 1000 s at the soonest, and 20 s that a job loses which did
# not run in the round before.
shockwave() {
    case $policy in
    shockwave) set -- --policy shockwave ;;
    max_min_fairness | max_min_fairness_perf) set -- --policy gavel --set objective=max-min ;;
    finish_time_fairness | finish_time_fairness_perf) set -- --policy gavel --set objective=finish-time ;;
    min_total_duration | min_total_duration_perf) set -- --policy gavel --set objective=makespan ;;
    max_sum_throughput_perf) set -- --policy gavel --set objective=max-sum ;;
    allox | allox_perf) set -- --policy gavel --set objective=allox --set queued=20% ;;
    gandiva_fair) set -- --policy gavel --set objective=proportional ;;
    *)
        refuse "no policy of gsim stands for '$policy' of shockwave"
        ;;
    esac
    [ "$policy" != max_min_fairness ] || set -- "$@" --set sees_speed=off
    [ "$policy" = shockwave ] || set -- "$@" --set min_between=1000s --set newcomers=hold --set ends=tried
    { echo device,model,gpus,iterations_per_s && awk -F, '$1 == "v100" && $4 > 0' "$data/tables/shockwave_solo.csv"; } >"$folder/rates.csv"
    shockwave_cluster >"$folder/cluster.ini"
    "$gsim" run "$@" --seed 0 --set "round=${round_s}s" \
        --set start.first_ns=20s --set restart.resume_ns=20s --rates "$folder/rates.csv" \
        --cluster "$folder/cluster.ini" --quiet --jobs-csv "$folder/jobs.csv" --format csv \
        "$trace_file" >"$folder/result.csv"
}

# A job of Sia learns more slowly than its steps say, by a factor of its application, and starts anew in
# a time of its own (simulator/applications.py). Pollux' jobs would start in 30 s.
sia() {
    if [ "$policy" != sia ]; then
        refuse "no policy of gsim copies '$policy' of sia"
    fi
    pollux_goodput | awk -F, -v OFS=, '
        BEGIN { slower["cifar10"] = 1.8; slower["ncf"] = 1.5; n = split("imagenet yolov3 bert deepspeech2", app, " ")
            for (i = 1; i <= n; i++) slower[app[i]] = 1.2 }
        $1 == "step" { $7 = sprintf("%.17g", $7 * slower[$2]); $8 = sprintf("%.17g", $8 * slower[$2]) }
        { print }' >"$folder/goodput.csv"
    printf 'model,rescale_s\ncifar10,50\ndeepspeech2,25\nbert,120\nyolov3,80\nimagenet,250\nncf,15\n' >"$folder/models.csv"
    pollux_cluster >"$folder/cluster.ini"
    cap_gpus
    "$gsim" run --policy sia --set reference=sia --by-model "$folder/models.csv" --assume rescale_s=30 \
        --goodput "$folder/goodput.csv" --cluster "$folder/cluster.ini" --quiet --jobs-csv "$folder/jobs.csv" \
        --format csv "$trace_file" >"$folder/result.csv"
}

check_run
case $simulator in
gavel) gavel ;;
muri) muri ;;
shockwave) shockwave ;;
pollux) pollux ;;
sia) sia ;;
synergy) synergy ;;
elasticflow) elasticflow ;;
esac
[ -z "${JOBS_CSV:-}" ] || cp "$folder/jobs.csv" "$JOBS_CSV"
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["end_s"] != "" { n++; sum += $at["end_s"] - $at["submit_s"]; if ($at["end_s"] > last) last = $at["end_s"] }
    END { printf "{\"avg_jct_s\": %.6f, \"last_end_s\": %.6f, \"jobs\": %d}\n", n ? sum / n : 0, last, n }
' "$folder/jobs.csv"
