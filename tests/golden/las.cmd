# quantum 5 s: a runs 0-5, is then 5 s ahead of b; b runs 5-8 and is done; a 8-13
--policy las --set las.quantum=5s --device ideal --quiet --jobs-csv /dev/stdout tests/golden/two.csv
