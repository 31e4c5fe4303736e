# H200, the driver's checkpoint of 8 GiB: out 320.4 + 8 x 394.75 = 3478.4 ms, in 169 + 8 x 137.9 = 1272.2 ms. a stops at 2; b 5.4784-8.4784; a runs again at 9.7506 and has 8 s left
--policy srtf --set preempt=checkpoint --quiet --jobs-csv /dev/stdout tests/golden/two_mem.csv
