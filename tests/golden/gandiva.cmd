# H200, 8 GiB: out 0.158750991 s, in 0.175365629 s. Slices of 5 s from the end of the copy-in, no packing: a 0-5; b 5.158750991-8.158750991, all it needs; a comes in and has 5 s left
--policy gandiva --set gandiva.slice=5s --set packing=off --quiet --jobs-csv /dev/stdout tests/golden/two_mem.csv
