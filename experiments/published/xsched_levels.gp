# XSched: how long an urgent kernel waits (P99), by level and threshold.
set ylabel 'P99 wait, µs'
set logscale y
set yrange [10 : 20000]
set xtics rotate by 35 right
set boxwidth 0.6
set key maxcols 1
plot rows.'preemption-xsched.tsv' using 0:4:xtic(1) with boxes fs solid 1 lc rgb '#D9D9D9' title 'published (GV100), or its law', \
     '' using 0:3 with points lt 1 ps 0.7 title 'simulated'
