# Tiresias restarts from a checkpoint (62 s), whether the trace gives memory or not. a 0-5, falls out of the first queue and gives way to b: 5-8; a back 8-70 and runs 70-75
--policy tiresias --set tiresias.queues=5 --device h200 --quiet --jobs-csv /dev/stdout tests/golden/two_mem.csv
