# be has 30 kernels of 0.1 s that fill the GPU. A request comes at 1 s, when the tenth has ended, and has three
# kernels of 0.1 s on half of the SMs: on the other half be does 0.05 s beside each. Its other 1.85 s of work
# follow, until 3.15 s; without padding it would be 3.3 s. The request takes 0.3 s either way
--policy reef --device ideal --quiet --jobs-csv /dev/stdout tests/golden/reef_padding.csv
