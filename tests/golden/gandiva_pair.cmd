# Slices of 1 s: a 0-1, b 1-2, so both are profiled; then a pushes b out and is packed with it, 2-3, by turns of 1 ms. That did no more than slices do, which are free: a 3-4, b has its last half 4-4.5, a 4.5-6
--policy gandiva --set packing=on --set slice=1s --device ideal --quiet --jobs-csv /dev/stdout tests/golden/pair.csv
