# what make demo prints, and the README shows
compare --policies fifo,backfill,easy-backfill,sjf,srtf,las --quiet --nodes 2 --gpus-per-node 8 traces/samples/cluster.csv
