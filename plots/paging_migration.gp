set xlabel 'share of GPU time'
set xrange [0:1]
set yrange [rows1 + 0.6 : 0.4]
set ytics scale 0
set grid noytics xtics
set xtics 0.5
set mxtics 5
# Over the whole picture: long names leave the plot less room than the key needs.
set key at screen 0.5, screen 1 - 0.03 / height center top horizontal samplen 1 maxrows 2 width -1
set tmargin at screen 1 - 0.38 / height
set style fill solid 1 border lc rgb '#000000'
# "held": on GPUs and none of the others, such as gaps of hosts, or waiting for the slowest of a gang.
plot $data1 using 3:1:(0):3:($1 - 0.35):($1 + 0.35):ytic(2) with boxxyerror dt solid lw 0.75 lc rgb '#0072B2' title 'own work', \
     $data1 using 3:1:3:($3 + $4):($1 - 0.35):($1 + 0.35) with boxxyerror dt solid lw 0.75 lc rgb '#E69F00' title 'switching', \
     $data1 using 3:1:($3 + $4):($3 + $4 + $5):($1 - 0.35):($1 + 0.35) with boxxyerror dt solid lw 0.75 lc rgb '#000000' title 'paging', \
     $data1 using 3:1:($3 + $4 + $5):($3 + $4 + $5 > 1 - $6 ? $3 + $4 + $5 : 1 - $6):($1 - 0.35):($1 + 0.35) \
         with boxxyerror dt solid lw 0.75 lc rgb '#D9D9D9' title 'held', \
     $data1 using 3:1:(1 - $6):(1):($1 - 0.35):($1 + 0.35) with boxxyerror dt solid lw 0.75 lc rgb '#FFFFFF' title 'idle'
