# SPDX-License-Identifier: GPL-3.0-or-later
# A job of the tests of gsim drive that cooperates: it prints its iterations, and goes on where it saved its count.
# With a file's name it stands at its thirtieth iteration until that file is there, so that it is stopped before its end
# whatever the machine's load.
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gsim_job
i = int(open(gsim_job.state()).read()) if gsim_job.begin(40) else 0
while i < 40:
    time.sleep(0.02)
    if i != 30 or len(sys.argv) < 3 or os.path.exists(sys.argv[2]):
        i += 1
        print(i)
    if gsim_job.iteration(i):
        with open(gsim_job.state(), "w") as state:
            state.write(str(i))
        gsim_job.saved()
        sys.exit(0)
gsim_job.end()
