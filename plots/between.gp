# Between two figures that one gnuplot draws as SVG: the next one gets the bytes that a gnuplot of its own gives it.
# Settings and variables go with the session. gnuplot keeps the titles of curves until it draws a surface, and
# the width and colour of the last line until a picture without a line ends.
reset session
set terminal svg
set output '/dev/null'
splot 0 linewidth 1 notitle
set multiplot
unset multiplot
reset session
