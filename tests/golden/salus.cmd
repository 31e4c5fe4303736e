# a opens a lane of 100 GiB; b fits in (20 kept, 80 used in turn), c does not (20 + 10 + 80) and waits,
# d passes. Iterations of 1 s by the least memory x time since d came at 0.6: a until 1 (40 GiB s), b,
# d until 3 (b 80, d 50 and over), a until 4 (140), b until 5 and over, a until 7; then c has a lane.
# The host's 8 us between iterations are not waited for by the lane
--policy salus --device h200 --quiet --jobs-csv /dev/stdout tests/golden/salus.csv
