# b alone 2-4 until it has the 2 s that a has; then both share: b has 1 s left, done at 6 (a then 3 s); a alone 6-13
--policy las --device ideal --quiet --jobs-csv /dev/stdout tests/golden/two.csv
