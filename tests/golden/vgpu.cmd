# Each has every fourth turn of 2 ms. What they touch does not fit L2: coming back after the two turns
# that pass unused takes a 0.135 + 0.064 ms of its turn, and b, which preempts a, 0.165 + 0.064. a has
# 2 ms, 554 turns of 1.801 ms, and the rest of 0.246 in the one that begins at 555 * 8 = 4440 ms: it ends
# at 4440.445. The rest of that turn passes unused. b has 555 turns of 1.771 ms, one of 1.801 from
# 4442, and then, alone, whole ones: seven, and 1.294 ms of the one that begins at 563 * 8 + 2 = 4506
--policy vgpu --set vgpu.scheduler=fixed-share --device h200 --quiet --jobs-csv /dev/stdout tests/golden/vgpu.csv
