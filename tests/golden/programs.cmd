# Four programs measured on an H200 (models/apps): three that wait for their GPU after every fourth
# iteration, one of them five times within it too, and a server whose requests are iterations.
--policy timeslice --gpus-per-node 1 --device h200 --quiet --jobs-csv /dev/stdout tests/golden/programs.csv
