# H200, 8 GiB, as in srtf_suspend: out 158750991 ns, in 175365629 ns. a 0-5, then out; b runs its 3 s when the GPU is clear; a comes in and has 5 s left
--policy gang-rr --set gang-rr.slice=5s --quiet --jobs-csv /dev/stdout tests/golden/two_mem.csv
