set xlabel 'GPUs'
set ylabel value
set format xy '%g'
set xrange [0 : (near < last ? near : last) * 1.03]
top = has_target && target > 0 && most > 8 * target ? 8 * target : most
set yrange [0 : (top > 0 ? top * 1.1 : 1)]
if (has_target) set arrow 1 from graph 0, first target to graph 1, first target nohead lc rgb '#000000' lw 0.75 dt (2,2)
if (has_target) set label 1 'target' at graph 0.98, first target right offset 0, 0.5
bars = "for [i = 0 : series1 - 1] $data1 index i using 2:3:4:5 with yerrorbars lt i + 1 dt solid lw 0.75 pt -1"
lines = "for [i = 0 : series1 - 1] $data1 index i using 2:3 with linespoints lt i + 1 title columnheader(2)"
plot @bars, @lines
