# b is reserved for 10: c (limit 3) ends before that and starts at 2; d (limit 20) does not, and starts at 20
--policy easy-backfill --gpus-per-node 2 --device ideal --quiet --jobs-csv /dev/stdout tests/golden/three.csv
