# MSched, figure 7 and the ablation: what is left of the rate of all in memory.
set xlabel 'oversubscription of memory'
set ylabel '% of the rate in memory'
set xrange [1.3 : 3.2]
set yrange [0 : 100]
set xtics 0.5
set key maxcols 1
is_d(what) = strstrt(what, 'share of all') && strstrt(what, 'D at')
is_a(what) = strstrt(what, 'figure 7: A')
times(scenario) = real(scenario[4:4]) + real(scenario[6:6]) / 10 # at_1_5
at(what) = real(substr(what, strstrt(what, ' at ') + 4, strstrt(what, ' at ') + 6))
plot rows.'msched-rodinia.tsv' using (is_a(strcol(2)) ? times(strcol(1)) : NaN):4 with points lt 1 title 'A (Rodinia), published', \
     '' using (is_a(strcol(2)) ? times(strcol(1)) : NaN):3 with lines lt 1 dt solid title 'A, simulated', \
     rows.'msched-decoding.tsv' using (is_d(strcol(2)) ? at(strcol(2)) : NaN):4 with points lt 4 title 'D (decoding), published', \
     '' using (is_d(strcol(2)) ? at(strcol(2)) : NaN):3 with lines lt 4 dt (8,3) title 'D, simulated'
