# every bad row is named, with its line; nothing is run
--policy fifo tests/golden/bad.csv
