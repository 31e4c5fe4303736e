# Copies over PCIe 5 by size, measured and by the model.
set xlabel 'bytes of a copy'
set ylabel 'GB/s'
set logscale x 2
set format x '%.0b %BB'
set xtics ('4 KiB' 2**12, '64 KiB' 2**16, '1 MiB' 2**20, '16 MiB' 2**24, '1 GiB' 2**30)
set xrange [2**11 : 2**31]
set yrange [0 : 120]
set key maxcols 1
unit(what) = strstrt(what, 'KiB') ? 1024 : 1048576
size(what) = real(word(what, 2)) * unit(what)
only(what, way) = word(what, 1) eq way ? size(what) : NaN
rate(what, us) = size(what) * (word(what, 1) eq 'duplex' ? 2 : 1) / us / 1000
file = rows.'h200-pcie.tsv'
plot file using (only(strcol(2), 'duplex')):(rate(strcol(2), $4)) with points lt 4 title 'both ways, measured', \
     file using (only(strcol(2), 'duplex')):(rate(strcol(2), $3)) with lines lt 4 dt (8,3) title 'both ways, model', \
     file using (only(strcol(2), 'h2d')):(rate(strcol(2), $4)) with points lt 1 title 'to the device, measured', \
     file using (only(strcol(2), 'h2d')):(rate(strcol(2), $3)) with lines lt 1 dt solid title 'to the device, model'
