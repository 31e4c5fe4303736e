# One H200. small and large are cut 1g.18gb and 3g.71gb: 16 and 60 of 132 SMs, so 82.5 and 22 s. half was timed with 66 SMs and has 3g's 60 from 22 s on: 11 s. big needs 7g.141gb: the GPU drains until 82.5, is cut in 4 s, and big has all SMs until 96.5. tenth was timed with 13.2 SMs and has 16 after another 4 s: 10 s
--policy mig --device h200 --quiet --jobs-csv /dev/stdout tests/golden/mig.csv
