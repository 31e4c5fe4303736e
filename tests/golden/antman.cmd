# Until p's pace is known its guests o and q rest: one kernel of 1 ms each in 10 s, so p ends at 2.002; then
# they take turns for the 2 x 0.099 s that are left, to 2.199 and 2.2
--policy antman --device ideal --quiet --jobs-csv /dev/stdout tests/golden/antman.csv
