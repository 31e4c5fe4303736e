# limits 5 and 100 GPU s: a runs 0-5, falls into the second queue and gives way to b, which came at 2; b 5-8; a 8-13
--policy tiresias --set tiresias.queues=5,100 --device ideal --quiet --jobs-csv /dev/stdout tests/golden/two.csv
