# a gang wider than the cluster
--policy fifo --nodes 1 --gpus-per-node 1 --quiet tests/golden/three.csv
