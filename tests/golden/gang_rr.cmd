# 2 GPUs, rows {a} and {b, c}: a 0-5; b and c 5-10, c is done at 9; a 10-15, done; b alone 15-20
--policy gang-rr --set gang-rr.slice=5s --gpus-per-node 2 --device ideal --quiet --jobs-csv /dev/stdout tests/golden/gang.csv
