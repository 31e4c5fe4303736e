set logscale y
set format y '%g'
set ylabel 'slowdown'
set xlabel 'GPU time of the job'
set xrange [first : last]
shift(i) = (i - (series1 - 1) / 2.0) * 0.09
set yrange [0.7:*]
if (last - first > 6) { set xtics rotate by 30 right }
plot for [i = 0 : series1 - 1] $data1 index i using ($2 + shift(i)):3:4:5 with yerrorbars lt i + 1 dt solid lw 0.75 pt -1, \
     for [i = 0 : series1 - 1] $data1 index i using ($2 + shift(i)):3 with linespoints lt i + 1 title columnheader(2), \
     $data2 using 1:(1):xtic(2) with points pt -1
