#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What gsim says of the readings of chains.py: the ms of an iteration whose host is ahead, and times as long as beside a kernel
that computes on as many SMs.

    python3 against.py GSIM chains_h200.csv
"""
import csv
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.join(HERE, "..", "..", "models", "apps")
READS = ("llama_decode", "llama_prefill", "dlrm_infer", "mobilenet_infer")  # programs of twelve.py read no number
ITERATIONS, NEIGHBOUR_S = 20, 10
NEIGHBOUR = """kind,name,time_us,device,blocks,threads,registers,shared_kib,host_us,dram_bytes,stored_bytes
kernel,n,{us},h200,{blocks},1024,64,0,,{bytes},{stored}
launch,n,,,,,,,1,,
sync,iteration,,,,,,,,,
"""


def write_program(kind, path):
    """The file's program without waits."""
    with open(os.path.join(APPS, f"h200-{kind.replace('_', '-')}.csv")) as f:
        columns, *rows = csv.reader(line for line in f if not line.startswith("#"))
    rows = [row for row in rows if row[0] not in ("wait", "sync") and row[:2] != ["host", "launch"]
            and not (kind in READS and row[1].startswith("Memcpy_DtoH"))]
    rows.append(["sync", "iteration", str(ITERATIONS)] + [""] * (len(columns) - 3))
    with open(path, "w") as f:
        csv.writer(f, lineterminator="\n").writerows([columns, *rows])


def iteration_ms(gsim, reading, folder):
    program, trace, out = (os.path.join(folder, name) for name in (reading["kind"] + ".csv", "trace.csv", "jobs.csv"))
    write_program(reading["kind"], program)
    rows = ["job_id,submit_s,iterations,host_ms,app"]
    if int(reading["blocks"]):
        moved = round(float(reading["gb_per_s"]) * 1e9 * NEIGHBOUR_S)
        stored = moved // 2 if reading["beside"] == "copies" else 0
        beside = os.path.join(folder, "neighbour.csv")
        with open(beside, "w") as f:
            f.write(NEIGHBOUR.format(us=NEIGHBOUR_S * 1000000, blocks=reading["blocks"], bytes=moved, stored=stored))
        rows.append(f"neighbour,0,4,0.01,{beside}")
    rows.append(f"subject,0.1,{ITERATIONS},0.05,{program}")
    with open(trace, "w") as f:
        f.write("\n".join(rows) + "\n")
    subprocess.run([gsim, "--policy", "mps", "--device", "h200", "--quiet", "--jobs-csv", out, trace], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out) as f:
        return next(float(row["jct_s"]) for row in csv.DictReader(f) if row["job_id"] == "subject") * 1e3 / ITERATIONS


def main():
    gsim, path = sys.argv[1:]
    computes = {}
    print("kind,beside,blocks,gb_per_s,measured_ms,gsim_ms,measured_times,gsim_times")
    with tempfile.TemporaryDirectory() as folder, open(path) as f:
        for reading in csv.DictReader(f):
            ms = float(reading["ms"]), iteration_ms(gsim, reading, folder)
            if reading["beside"] in ("alone", "computes"):
                computes[reading["kind"], reading["blocks"]] = ms
            of = computes[reading["kind"], reading["blocks"]]
            print(",".join(reading[c] for c in ("kind", "beside", "blocks", "gb_per_s")),
                  *(f"{x:.3f}" for x in (*ms, ms[0] / of[0], ms[1] / of[1])), sep=",", flush=True)


if __name__ == "__main__":
    main()
