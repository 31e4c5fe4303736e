# one GPU: a and d fill it (0.5 + 0.5) only if b (0.6) is passed over; strictly: a runs, b does not fit beside it and blocks. a 0-10; b and c (0.6 + 0.4) 10-20; d 20-30
--policy fifo --device ideal --quiet --jobs-csv /dev/stdout tests/golden/shares.csv
