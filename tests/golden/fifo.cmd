# 2 GPUs: a 0-10; b needs both and blocks: 10-20; c and d behind it: 20-23, 20-40
--policy fifo --gpus-per-node 2 --device ideal --quiet --jobs-csv /dev/stdout tests/golden/three.csv
