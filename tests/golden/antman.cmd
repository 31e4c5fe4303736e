# Until p's pace is known its guests o and q launch one kernel of 1 ms each in 50 ms: 42 times before p
# ends at 2 + 2 x 0.042 s; then they take turns for the 2 x 0.058 s that are left, to 2.199 and 2.2
--policy antman --device ideal --quiet --jobs-csv /dev/stdout tests/golden/antman.csv
