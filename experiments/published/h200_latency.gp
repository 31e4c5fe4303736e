# A small kernel among long ones on an H200: latencies by quantile.
# wide
set ylabel 'latency, µs'
set logscale y
set yrange [100 : 20000]
set xtics rotate by 35 right
set boxwidth 0.6
set key maxcols 2
label(scenario, what) = (scenario eq 'drain_0_2ms' ? '0.2 ms blocks' : scenario eq 'drain_4ms' ? '4 ms blocks' : scenario eq 'among_1' ? '1 process' : '3 processes').', '.(what eq 'mean latency' ? 'mean' : what)
plot rows.'h200-realtime_latency.tsv' using 0:4:xtic(label(strcol(1), strcol(2))) with boxes fs solid 1 lc rgb '#D9D9D9' title 'measured', \
     '' using 0:3 with points lt 1 ps 0.7 title 'simulated'
