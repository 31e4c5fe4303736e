set xlabel has_intervals ? 'mean JCT ('.unit.'), 95 percent interval' : 'mean JCT ('.unit.')'
set xrange [0:*]
set yrange [rows1 + 0.6 : 0.4]
set ytics scale 0
set grid noytics xtics
set offsets 0, graph 0.05, 0, 0
plot $data1 using 3:1:(0):3:($1 - 0.35):($1 + 0.35):ytic(2) with boxxyerror lc rgb '#56B4E9' dt solid lw 0.75, \
     $data1 using 3:1:4:5 with xerrorbars lc rgb '#000000' lw 1 dt solid pt -1
