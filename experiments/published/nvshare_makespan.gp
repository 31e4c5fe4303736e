# nvshare: makespans of two trainings by quantum.
# wide
set ylabel 'makespan, s'
set logscale y
set yrange [500 : 20000]
set xtics rotate by 35 right noenhanced
set boxwidth 0.6
set key maxcols 2
plot rows.'nvshare-makespan.tsv' using 0:4:xtic(1) with boxes fs solid 1 lc rgb '#D9D9D9' title 'published (P100)', \
     '' using 0:3 with points lt 1 ps 0.7 title 'simulated'
