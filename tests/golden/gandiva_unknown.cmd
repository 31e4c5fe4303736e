# No memory in the trace: a suspension takes 1 s in all (suspend.unknown_ns), paid when the job comes back. a 0-4, b 4-7, a back 7-8 and runs 8-14
--policy gandiva --set gandiva.slice=4s --device h200 --quiet --jobs-csv /dev/stdout tests/golden/two.csv
