# MSched, figure 1: all instances' tokens a second by how many there are.
set xlabel 'instances of 8.5 GB on a card of 16 GB'
set ylabel 'tokens/s'
set xrange [0.5 : 8.5]
set logscale y
set yrange [0.5 : 200]
set key maxcols 1
instances(scenario) = real(scenario[10:*])
paged(scenario, value) = scenario[1:6] eq 'paging' ? value : NaN
count(scenario) = real(scenario[7:*])
plot rows.'msched-figure1.tsv' using (instances(strcol(1))):4 with points lt 1 title 'MSched, published', \
     '' using (instances(strcol(1))):3 with lines lt 1 dt solid title 'MSched, simulated', \
     rows.'msched-decoding.tsv' using (strcol(2)[1:8] eq 'figure 1' ? count(strcol(1)) : NaN):4 with points lt 4 title 'paging, published', \
     '' using (strcol(2)[1:8] eq 'figure 1' ? count(strcol(1)) : NaN):3 with lines lt 4 dt (8,3) title 'paging, simulated'
