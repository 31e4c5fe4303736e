# Two nodes of a GPU, 10 GB/s between them. b is out at 2.158750991 (srtf_suspend.cmd) and comes back in a's place at 4, over the network: 2^33 B / 10 GB/s = 858993460 ns, then / 48.983 GB/s = 175365629 ns; 28 s are left
--policy srtf --set preempt=suspend --quiet --cluster tests/golden/moved.ini --jobs-csv /dev/stdout tests/golden/moved.csv
