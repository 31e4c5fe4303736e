# be has four kernels of 0.6 s. Requests come at 1 and 2 s and run for 0.1 s at once: they kill the
# second kernel after 0.4 s and the third after 0.3 s, so be ends at 2.4 + 0.2 + 0.4 + 0.3 = 3.3
--policy reef --device ideal --quiet --jobs-csv /dev/stdout tests/golden/reef.csv
