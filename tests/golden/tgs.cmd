# While p is measured alone o may launch one kernel of 1 ms in each 50 ms: 41 of them before p ends at
# 2 + 0.041 s; then o has the rest of its 0.1 s and ends at 2.1, and q, for which there is no place
# beside them, at 2.2
--policy tgs --device ideal --quiet --jobs-csv /dev/stdout tests/golden/tgs.csv
