set logscale x
set xrange [first : last]
unset mxtics
set xlabel 'job completion time'
set ylabel 'share of jobs'
set yrange [0:1]
curves = marked('steps')
plot @curves, $data2 using 1:(0):xtic(2) with points pt -1
