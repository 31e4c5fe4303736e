# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site of plain_slurm.py would have of its jobs: a native trace of what they ask for, and the log that sacct
prints."""
from plain_slurm import GRES


def share_of(site, job):
    return f"{job['part'] * (1000000 // site.shards) / 1000000:.6f}" if job["part"] else job["gpus"]


def trace_of(site, jobs):
    rows = ["job_id,submit_s,duration_s,gpus,limit_s,user,vc,partition,qos,cpus,host_mem_gib,gpu_type,features,array,"
            "array_limit,after,after_begin,think_s,num_nodes"]
    for j in jobs:
        cells = [j["id"], int(j["submit"]), j["run"], share_of(site, j), j["limit"] if j["says_limit"] else "", j["user"], j["account"], "|".join(j["named"]), j["qos"],
                 j["cpus"], j["mem"] // 1024, j["type"], f'"{j["features"]}"', j["array"], j["at_once"] or "",
                 j["after"]["id"] if j["after"] else "", int(j.get("is_begin", 0)) if j["after"] else "",
                 60 * j["minutes"] if j["after"] and j["minutes"] else "", j["lies_on"] or ""]
        rows.append(",".join(map(str, cells)))
    return "\n".join(rows) + "\n"


def name_of(job):
    """As Slurm names it: a task by its array, whose number alone stands for all of its tasks."""
    return f"{job['array']}_{job['index']}" if job["array"] else job["id"]


def submit_line(job):
    """What the user typed, in the forms that sbatch takes."""
    line = ["sbatch", "-p", ",".join(job["named"])]
    line += [f"--constraint={job['features']}"] if job["features"] else []
    line += [f"--array=0-99%{job['at_once']}"] if job["array"] else []
    if job["after"]:
        kind, delay = "after" if job["is_begin"] else "afterok", f"+{job['minutes']}" if job["minutes"] else ""
        line += [f"--dependency={kind}:{name_of(job['after'])}{delay}"]
    return " ".join(line + ["--gres", f"shard:{job['part']}" if job["part"] else f"gpu:{job['gpus']}", "run.sh", "-p", "other"])


def log_of(site, jobs):
    """What sacct --parsable2 would print."""
    rows = ["JobIDRaw|JobID|User|Account|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES|AllocCPUS|"
            "Partition|QOS|Priority|SubmitLine"]
    for j in jobs:
        cells = [j["id"], name_of(j), j["user"], j["account"], "COMPLETED", site.clock(j["asked"]), site.clock(j["eligible"]),
                 site.clock(j["start"]), site.clock(j["end"]), j["run"], j["limit"] // 60,
                 f"cpu={j['cpus']},mem={j['mem']}M," + (f"gres/shard={j['part']}" if j["part"] else
                                                         f"{GRES}={j['gpus']},{GRES}:a100={j['gpus']}"),
                 f"gres/shard={j['part']}" if j["part"] else
                 f"{GRES}{':' if j['type'] else ''}{j['type']}={j['gpus']}", j["cpus"], j["partition"], j["qos"],
                 j["priority"][j["partition"]], submit_line(j)]
        rows.append("|".join(map(str, cells)))
    return "\n".join(rows) + "\n"
