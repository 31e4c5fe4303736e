# GPUs of half the speed: service is time, not work. a is a quantum of 4 s ahead of b at 4 s and gives way; b 4-10, never 4 s ahead of the 4 s that a has had by more than 2; a 10-26
--policy las --set las.quantum=4s --device ideal --set speed_milli=500 --quiet --jobs-csv /dev/stdout tests/golden/two.csv
