# Two GPUs below a root of 60 GB/s, jobs of 8 GiB. c takes both: a and b go out together at 30 GB/s, 2^33 B in 286331154 ns, + 8 x 0.45 ms to free: c starts at 2.289931154. Both come back at 30 GB/s, with 8 s left: 5.289931154 + 0.286331154 + 8
--policy srtf --set preempt=suspend --quiet --cluster tests/golden/root.ini --jobs-csv /dev/stdout tests/golden/root.csv
