# H200, 8 GiB of 140: nobody needs a's memory, so at 5 a is left resident, which takes an idle switch, 135 us: b runs 5.000135-8.000135, a goes on at once and has 5 s left
--policy adaptive --set adaptive.quantum=5s --quiet --jobs-csv /dev/stdout tests/golden/two_mem.csv
