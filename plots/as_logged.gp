set xrange [first : last]
set xlabel 'start later than in the log (h)'
set ylabel 'share of jobs'
set yrange [0:1]
curves = marked('steps')
plot @curves
