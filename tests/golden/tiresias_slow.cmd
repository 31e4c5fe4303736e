# gangs over nodes run at half speed: service is time, not work. g has had 6 GPU s at 3 s and gives way to h, which falls at 6 too and stays, since nobody preempts within a queue: h 3-7, g 7-24 with 8.5 s of work left
--policy tiresias --set tiresias.queues=6 --device ideal --set gang.nodes_ppm=500000 --nodes 2 --gpus-per-node 1 --quiet --jobs-csv /dev/stdout tests/golden/slow.csv
