# c and d pass b: c 2-5, d 5-25 on the second GPU; b waits for both: 25-35
--policy backfill --gpus-per-node 2 --device ideal --quiet --jobs-csv /dev/stdout tests/golden/three.csv
