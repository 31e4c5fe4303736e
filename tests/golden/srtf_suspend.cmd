# H200, 8 GiB: out 2^33 B / 55.365 GB/s = 155150991 ns + 8 x 0.45 ms to free = 158750991 ns; in 2^33 B / 48.983 GB/s = 175365629 ns. b starts when a is out and ends 3 s later; a comes back then, has 8 s left
--policy srtf --set preempt=suspend --quiet --jobs-csv /dev/stdout tests/golden/two_mem.csv
