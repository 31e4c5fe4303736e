# shares are rounded up to whole GPUs: one after the other
--policy exclusive --device ideal --quiet --jobs-csv /dev/stdout tests/golden/shares.csv
