# a and b come together and are packed: by turns of 1 ms b ends at 4, a, with 2 s left, at 6
--policy gandiva --set packing=on --device ideal --quiet --jobs-csv /dev/stdout tests/golden/pair.csv
