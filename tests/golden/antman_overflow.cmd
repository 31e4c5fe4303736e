# 50 of the guest's 100 GiB have room beside the guaranteed job, which needs the GPU for 1 ms and its memory
# for 20 s; the other 50 cross a bus of 50 GiB/s each way in each iteration, which takes 1 + 2 s. Of the
# fourth one half is done at 3.5: the other half and six more end at 3.5 + 1.5 + 6 x 3 + 0.001
--policy antman --device ideal --set hbm_bytes=150GiB --set pcie.h2d_bytes_per_s=53.6870912e9 --set pcie.d2h_bytes_per_s=53.6870912e9 --set window=100ms --quiet --jobs-csv /dev/stdout tests/golden/overflow.csv
