# a and b come together and are packed: each at half speed, b ends at 4, a, with 2 s left, at 6
--policy gandiva --quiet --jobs-csv /dev/stdout tests/golden/pair.csv
