#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What Slurm's backfill plans and which jobs it looks at (backfill.c), limits (acct_policy.c), and shares of accounts
# (sacctmgr(1), priority_multifactor.c): starts that follow by hand. $1 is gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
. tests/support/check.sh
cd "$tmp" || exit 1
starts() { # name, expected
    "$gsim" --policy slurm --device ideal --slurm-conf site.conf --quiet --jobs-csv jobs.csv --force jobs.in.csv >"$tmp/log" 2>&1
    check "$1" "$2" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s%s %d", sep, $at["job_id"], $at["start_s"]; sep = " " }' jobs.csv)"
}
site() { # keys, GPUs of the one node, tables
    printf "$1"'\nAccountingStorageEnforce=limits\nNodeName=n CPUs=64 Gres=gpu:%d\nPartitionName=gpu Nodes=n Default=YES MaxTime=1-0\n\n'"$3" "$2" >site.conf
}
jobs() {
    echo job_id,submit_s,duration_s,gpus,limit_s,qos,user,vc,array >jobs.in.csv
    printf '%s\n' "$@" >>jobs.in.csv
}

# --- plans ----------------------------------------------------------------------------------------------
# w, with four GPUs, is planned for 600 s, when r is over at its limit. s would end at 60 + 540 = 600 s, as the plan
# begins, and does not start in the pass of 60 s; t, a minute shorter, does. The plan of w, from 610 s, begins at 600 s,
# too: it is cut down to bf_resolution.
keys='SchedulerParameters=bf_interval=60,bf_resolution=60'
site "$keys" 4 ''
jobs r,0,300,2,600,,,, w,1,10,4,600,,,, s,2,50,2,540,,,,
starts "a job that would end as a plan begins waits" "r 0 w 300 s 310"
jobs r,0,300,2,600,,,, w,1,10,4,600,,,, t,2,50,2,480,,,,
starts "and one that would end before does not" "r 0 w 300 t 60"
jobs r,0,300,2,610,,,, w,1,10,4,600,,,, s,2,50,2,540,,,,
starts "a plan is cut down to bf_resolution" "r 0 w 300 s 310"
# A standby job holds no room for itself: w, before it, gets no plan, so that s starts at 60 s, for an hour.
lists='Name|Flags\nstandby|NoReserve\n'
site "$keys" 4 "$lists"
jobs r,0,300,2,600,,,, w,1,10,4,600,standby,,, s,2,3600,2,3600,,,,
starts "a job of a QOS with NoReserve has no plan" "r 0 w 3660 s 60"
# Where any job may be preempted a standby job is tested as one of a minute, and starts before the plan of w.
site "$keys\nPreemptType=preempt/qos\nPreemptMode=REQUEUE" 4 'Name|Flags|Preempt|Priority\nstandby|NoReserve||0\nhigh|||1\n'
jobs r,0,300,2,600,,,, w,1,10,4,600,,,, s,2,500,2,3600,standby,,,
starts "and fills what is planned where it may be preempted" "r 0 w 560 s 60"

# Below bf_min_age_reserve, or bf_min_prio_reserve, a job gets no plan either.
jobs r,0,300,2,600,,,, w,1,10,4,600,,,, s,2,3600,2,3600,,,,
site "$keys,bf_min_age_reserve=120" 4 ''
starts "a job that has waited for too short a time has no plan" "r 0 w 3660 s 60"
site "$keys,bf_min_age_reserve=59" 4 ''
starts "and one that has waited long enough has" "r 0 w 300 s 310"
site "$keys,bf_min_prio_reserve=2" 4 ''
starts "nor has a job of low priority" "r 0 w 3660 s 60"
site "$keys,bf_min_prio_reserve=1" 4 ''
starts "where priorities are 1 at least" "r 0 w 300 s 310"

# --- which jobs are looked at ---------------------------------------------------------------------------
# ann may have two GPUs at a time: r has them. h, of another user, comes first and waits for all four. One job of each
# user is looked at: b, which the limit holds back, is ann's, so that c, of a QOS without a limit, is not looked at.
lists='Name|MaxTRESPU\nnormal|gres/gpu=2\nfree|\n'
jobs r,0,300,2,600,normal,ann,, h,1,10,4,600,normal,eve,, b,2,60,2,120,normal,ann,, c,3,60,1,120,free,ann,,
site "$keys" 4 "$lists"
starts "a job behind one that a limit holds back is looked at" "r 0 h 300 b 310 c 60"
site "$keys,bf_max_job_user=1" 4 "$lists"
starts "but the latter counts for bf_max_job_user" "r 0 h 300 b 310 c 310"
# A limit on numbers of jobs is asked before.
site "$keys,bf_max_job_user=1" 4 'Name|MaxJobsPU\nnormal|1\nfree|\n'
jobs r,0,300,2,600,normal,ann,, h,1,10,4,600,normal,eve,, b,2,60,1,120,normal,ann,, c,3,60,1,120,free,ann,,
starts "and one that MaxJobsPU holds back does not" "r 0 h 300 b 310 c 60"
# Of an array that does not fit one task is looked at: with three jobs a pass c is the third.
site "$keys,bf_max_job_test=3,bf_max_job_array_resv=1" 4 ''
jobs r,0,300,2,600,,,, h,1,10,4,600,,,, 1,2,10,4,600,,,,x 2,2,10,4,600,,,,x 3,2,10,4,600,,,,x c,3,60,2,120,,,,
starts "of an array no tasks are looked at behind the last that is planned" "r 0 h 300 1 310 2 320 3 330 c 60"

# --- limits ---------------------------------------------------------------------------------------------
# The association lets ann run one job at a time; a QOS that says how many an account may run is asked instead.
table='Cluster|Account|User|Share|MaxJobs\nlab|bio||1|\nlab|bio|ann|1|1\n'
jobs a,0,100,1,100,normal,ann,bio, b,0,100,1,100,normal,ann,bio,
site "$keys" 4 "Name|MaxJobsPA\nnormal|\n\n$table"
starts "MaxJobs of an association" "a 0 b 100"
site "$keys" 4 "Name|MaxJobsPA\nnormal|5\n\n$table"
starts "MaxJobsPA of a QOS takes its place" "a 0 b 0"
# It is of one association: ann's other account has one of its own.
table='Cluster|Account|User|Share|MaxJobs\nlab|bio||1|\nlab|phy||1|\nlab|bio|ann|1|1\nlab|phy|ann|1|1\n'
jobs a,0,100,1,100,normal,ann,bio, b,0,100,1,100,normal,ann,phy, c,0,100,1,100,normal,ann,bio,
site "$keys" 4 "Name|MaxJobsPA\nnormal|\n\n$table"
starts "a user of two accounts has MaxJobs in each" "a 0 b 0 c 100"

# 20 minutes of GPUs may be left to run: 15 of r and 8 of b are more. At 200 s, when z comes, 11 are left of r, but they
# were counted last at 0 s; at 300 s they are 10.
site "PriorityWeightAge=1\nPriorityCalcPeriod=5" 4 'Name|GrpTRESRunMins\nnormal|gres/gpu=20\nfree|\n'
jobs r,0,900,1,900,normal,,, b,1,60,1,480,normal,,, z,200,10,1,60,free,,,
starts "minutes that have passed are taken off each PriorityCalcPeriod" "r 0 b 300 z 200"

# --- shares ---------------------------------------------------------------------------------------------
# f is ann's, g bob's; at 360 s ann has used 600 GPU seconds, bob 120, and there is room for one of x and y. By fair tree
# bob's account comes first, and he with it: fairshare=parent puts ann before others of her account alone. With it for
# both accounts she and bob are children of the root, where her level is the highest there is.
shares() { # name, expected, keys, shares of bio, phy, ann and bob
    site "PriorityWeightFairshare=1000\nPriorityCalcPeriod=1\n$3" 2 "Name|Priority\nnormal|0\nhigh|1\n\nCluster|Account|User|Share|ParentName\nlab|bio||$4|root\nlab|phy||$5|root\nlab|bio|ann|$6|\nlab|phy|bob|$7|\n"
    starts "$1" "$2"
}
jobs f,0,300,2,300,normal,ann,bio, g,1,60,2,60,normal,bob,phy, x,10,60,2,60,normal,ann,bio, y,11,60,2,60,normal,bob,phy,
shares "by fair tree an account that has used less comes first" "f 0 g 300 x 420 y 360" '' 1 1 1 1
shares "also before one whose users share as their parent" "f 0 g 300 x 420 y 360" '' 1 1 parent 1
shares "users of accounts that share as their parent share with each other" "f 0 g 300 x 420 y 360" '' parent parent 1 1
shares "and one who shares as the parent comes first of them" "f 0 g 300 x 360 y 420" '' parent parent parent 1
# The classic algorithm at 300 s: what bob's account, a child of the root, uses is its own usage, 0, and his factor is
# 2^0, with 1000 points; ann's is 2^(-1 / 0.5), with 250, to which the QOS adds 500.
jobs f,0,300,2,300,normal,ann,bio, x,10,60,2,60,high,ann,bio, y,11,60,2,60,normal,bob,phy,
shares "of a child of the root its own usage counts" "f 0 x 360 y 300" 'PriorityFlags=NO_FAIR_TREE\nPriorityWeightQOS=500' 1 1 1 1
# With fairshare=parent ann's factor is that of her account, 2^(-1 / 0.5), whatever others of it have.
shares "and a user who shares as the parent has the parent's factor" "f 0 x 360 y 300" 'PriorityFlags=NO_FAIR_TREE\nPriorityWeightQOS=500' 1 1 parent parent

shares "DEPTH_OBLIVIOUS is no fair tree either" "f 0 x 360 y 300" 'PriorityFlags=DEPTH_OBLIVIOUS\nPriorityWeightQOS=500' 1 1 1 1
# With FairShareDampeningFactor=4 ann's factor is 2^(-1 / 0.5 / 4), with 707 points, to which the QOS adds 500.
shares "FairShareDampeningFactor" "f 0 x 300 y 360" 'PriorityFlags=NO_FAIR_TREE\nPriorityWeightQOS=500\nFairShareDampeningFactor=4' 1 1 1 1

# Without JobRequeue, or sbatch --requeue, a job cannot be requeued, and ends as it gives way.
site "$keys\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\nJobRequeue=0" 4 'Name|Preempt|Priority\nlow||0\nhigh|low|1\n'
jobs l,0,300,4,300,low,,, h,10,50,4,100,high,,, z,20,10,4,10,low,,,
starts "a job that gives way ends with JobRequeue=0" "l 0 h 10 z 60"

# Priority of a partition, of older files, is both its PriorityTier and its PriorityJobFactor: y is looked at first.
printf 'PartitionName=low Nodes=n Priority=10\nPartitionName=top Nodes=n Priority=20 PriorityTier=1\nNodeName=n CPUs=8 Gres=gpu:2\n' >site.conf
printf 'job_id,submit_s,duration_s,gpus,limit_s,partition\nr,0,100,2,100,low\nx,1,10,2,10,low\ny,2,10,2,10,top\n' >jobs.in.csv
starts "Priority of a partition is its tier" "r 0 x 110 y 100"
