# b has 3 s left against 8 s: it runs 2-5, a ends at 13 after one preemption
--policy srtf --device ideal --quiet --jobs-csv /dev/stdout tests/golden/two.csv
