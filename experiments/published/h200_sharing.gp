# Jobs that share an H200: completion times, measured and simulated.
set xlabel 'measured completion time, s'
set ylabel 'simulated, s'
set logscale xy
set xrange [0.9 : 15]
set yrange [0.9 : 15]
set key maxcols 1
set grid xtics ytics
is_time(what) = what[1:3] eq 'JCT' ? 1 : NaN
plot x with lines lc rgb '#7F7F7F' lw 0.75 title 'equal', \
     rows.'h200-timeslice.tsv' using ($4 * is_time(strcol(2))):3 with points lt 1 title 'kernels, time slices', \
     rows.'h200-dl_shared.tsv' using ($4 * is_time(strcol(2))):3 with points lt 4 title 'PyTorch, time slices', \
     rows.'h200-suspend_resume.tsv' using ($4 * is_time(strcol(2))):3 with points lt 6 title 'suspended and resumed'
