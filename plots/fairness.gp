set logscale xy
set xrange [first : last]
unset mxtics
set format y '%g'
set xlabel 'slowdown (in the key: Jain''s index)'
set ylabel 'share of jobs above'
# Down to below the last job, where no decade need end.
set yrange [least:1]
curves = marked('fsteps')
plot @curves, $data2 using 1:(1):xtic(2) with points pt -1
