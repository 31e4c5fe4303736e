# H200, 8 GiB: out 0.158750991 s, in 0.175365629 s. a runs its quantum, 0-5, and gives way to b, which has had nothing; b starts at 5.158750991. c, more urgent, comes at 6, but b's quantum is not over: b ends at 8.158750991, c runs 2 s at once, then a comes in and has 5 s left
--policy suspend --set suspend.quantum=5s --quiet --jobs-csv /dev/stdout tests/golden/prio.csv
