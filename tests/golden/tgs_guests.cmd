# While p is measured alone each guest may launch one kernel of 1 ms in each 50 ms, also the second one,
# which comes in the instant in which the first ends: g1 has 20 kernels and ends at 19 x 0.05 + 0.001 =
# 0.951 s; g2 has 186 up to the end of p, since 0.951 + 185 x 0.05 = 10.201 is before it and 10.251 is
# not. So p ends at 10 + 0.020 + 0.186 = 10.206 s; g2 has 4 - 0.186 = 3.814 s left, and g3 4 s
--policy tgs --device ideal --quiet --jobs-csv /dev/stdout tests/golden/tgs_guests.csv
