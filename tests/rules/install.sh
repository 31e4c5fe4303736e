#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The files of `make install` are enough for another program: every installed header compiles on its
# own, and a small program builds with gsim.pc alone and runs. The user's ./gsim stays as it is.
set -u
. tests/support/check.sh
before=$(cksum gsim 2>&1)
make -s WERROR=1 install PREFIX=/opt/gsim DESTDIR="$tmp" >"$tmp/log" 2>&1
say "make install" $?
root=$tmp/opt/gsim
for header in "$root"/include/gsim/*.h; do
    header=${header##*/}
    echo "#include \"gsim/$header\"" >"$tmp/one.c"
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$root/include" -fsyntax-only "$tmp/one.c" ||
        echo "$header does not stand alone"
done >"$tmp/log" 2>&1
[ ! -s "$tmp/log" ]
say "installed headers stand alone" $?
n=$(find "$root/include" -name '*.h' | wc -l)
echo "$n headers" >"$tmp/log"
[ "$n" -le 15 ]
say "at most 15 headers are installed" $?
cat "$root"/include/gsim/*.h | grep -o 'gsim_[a-z0-9_]*' | sort -u >"$tmp/named"
# N is a place in debug information, which links to nothing.
names() { nm "$1" | awk '$2 ~ /^[A-MO-TV-Z]$/ { print $3 }' | sort -u; }
names "$root/lib/libgsim.a" | comm -23 - "$tmp/named" >"$tmp/log"
[ ! -s "$tmp/log" ] && names "$root/lib/libgsim.a" | grep -qx gsim_run
say "the library shows the names of its headers and no others" $?
shared=$root/lib/libgsim.so
nm -D --defined-only "$shared" | awk '{ print $3 }' | sort -u >"$tmp/shown"
names "$root/lib/libgsim.a" | comm -3 - "$tmp/shown" >"$tmp/log"
[ ! -s "$tmp/log" ] && objdump -p "$shared" | grep -q 'SONAME  *libgsim\.so\.[1-9]'
say "the shared library shows those names as well, and has the number of its interface" $?
config() {
    PKG_CONFIG_LIBDIR="$root/lib/pkgconfig:$(pkg-config --variable pc_path pkg-config)" \
        pkg-config --define-variable=prefix="$root" "$@" gsim 2>"$tmp/log"
}
flags=$(config --cflags --libs)
static=$(config --static --cflags --libs | sed 's/-lgsim/-l:libgsim.a/')
case $static in *sqlite* | *nettle*) false ;; *) [ -n "$flags" ] ;; esac
say "the library needs no database" $?
cat >"$tmp/job.c" <<'END'
#include <gsim_job.h>
int main(void) {
    int i = gsim_worker_begin(3);
    while (i < 3 && !gsim_worker_iteration(++i))
        ;
    gsim_worker_end();
    return i == 3 ? 0 : 1;
}
END
# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$tmp/job" "$tmp/job.c" \
    $(PKG_CONFIG_LIBDIR="$root/lib/pkgconfig" pkg-config --define-variable=prefix="$root" --cflags --libs gsim-job) >"$tmp/log" 2>&1 &&
    "$tmp/job" >>"$tmp/log" 2>&1 && (cd "$root/share/gsim/job" && PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" -c 'import gsim_job') >>"$tmp/log" 2>&1
say "a job builds with gsim-job.pc alone, and has the module for Python" $?
cp -r examples "$tmp"
example() { # flags, to build with: runs the example
    rm -f "$tmp/examples/compare"
    make -s -C "$tmp/examples" CC=gcc CFLAGS='-std=c11 -Wall -Wextra -Wpedantic -Werror' GSIM="$1" \
        >>"$tmp/log" 2>&1 &&
        LD_LIBRARY_PATH=$root/lib "$tmp/examples/compare" tests/golden/three.csv 2 2>>"$tmp/log"
}
: >"$tmp/log"
example "$static" >"$tmp/static" && example "$flags" >"$tmp/out" && cmp "$tmp/static" "$tmp/out" >>"$tmp/log" &&
    sed 's/ \{1,\}/ /g' "$tmp/out" >>"$tmp/log" &&
    [ "$(sed -n 's/^fifo  *mean JCT \([0-9.]*\) s$/\1/p' "$tmp/out")" = \
        "$("$root/bin/gsim" --policy fifo --device h200 --gpus-per-node 2 --quiet --format json tests/golden/three.csv |
            sed -n 's/.*"jct_mean_s": *\([0-9.]*\).*/\1/p' | awk '{ printf "%.1f", $1 }')" ] &&
    grep -q '^narrow-first  *mean JCT [0-9]' "$tmp/out"
say "the examples build against the installed files, and print the results of gsim" $?
for policy in narrow_first themis; do
    make -s -C "$tmp/examples" CC=gcc CFLAGS='-std=c11 -Wall -Wextra -Wpedantic -Werror' HEADERS="$(config --cflags)" \
        "$policy.so" >"$tmp/log" 2>&1 &&
        "$root/bin/gsim" compare --policies "fifo,$tmp/examples/$policy.so" --nodes 1 --gpus-per-node 4 --quiet \
            traces/samples/small_lab.csv >"$tmp/log" 2>&1 &&
        grep -q "^\(my-\)\{0,1\}$(echo $policy | tr _ -) " "$tmp/log"
    say "the policy $policy builds against the installed headers, and gsim loads it" $?
done
lines=$(wc -l <examples/themis/themis.c)
echo "$lines lines" >"$tmp/log"
[ "$lines" -lt 300 ]
say "Themis has fewer than 300 lines" $?
for file in bin/gsim lib/libgsim.a lib/libgsim.so share/man/man1/gsim.1 share/bash-completion/completions/gsim \
    share/zsh/site-functions/_gsim share/fish/vendor_completions.d/gsim.fish; do
    [ -s "$root/$file" ] || echo "no $file"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "program, library, man page and completions are there" $?

# Prints what a program or a shared library lacks of what keeps a number that is written past its end from
# becoming a result (HARDEN and SEALED in the Makefile).
unhardened() { # file
    readelf -W -h -l -d "$1" >"$tmp/elf" || echo "$1 cannot be read"
    nm -D "$1" >"$tmp/needed" || echo "$1 has no names"
    for mark in 'Type: *DYN' GNU_RELRO BIND_NOW 'GNU_STACK .* RW '; do
        grep -q -- "$mark" "$tmp/elf" || echo "$1 has no $mark"
    done
    for name in __stack_chk_fail "__[a-z]*_chk"; do
        grep -q " U $name\(@\|\$\)" "$tmp/needed" || echo "$1 does not call $name"
    done
}
for file in bin/gsim lib/libgsim.so; do unhardened "$root/$file"; done >"$tmp/log" 2>&1
[ ! -s "$tmp/log" ]
say "program and shared library guard their stacks and sizes, and are read-only once loaded" $?
echo 'int main(void) { return 0; }' | gcc -no-pie -Wl,-z,norelro,-z,lazy,-z,execstack -o "$tmp/open" -xc -
check "the rule finds a program without guards" 6 "$(unhardened "$tmp/open" 2>&1 | wc -l)"

# --- the Debian packages: unpacked, the program and the module run, and equal sources give equal bytes
if command -v dpkg-shlibdeps >/dev/null 2>&1; then
    export DPKG_DEB_COMPRESSOR_LEVEL=0 # how far they are compressed is no matter here
    make -s WERROR=1 deb >"$tmp/log" 2>&1 && cp -r build/deb "$tmp/deb"
    say "make deb" $?
    # Equal bytes of objects and programs are held by reproducible.sh; what packages add to that are times and orders,
    # for which a second make deb takes a third of this script.
    if [ "${CASES-}" = all ]; then
        make -s WERROR=1 deb >"$tmp/log" 2>&1 && (cd build/deb && sha256sum -- *.deb) >"$tmp/sums" &&
            (cd "$tmp/deb" && sha256sum --quiet -c "$tmp/sums") >>"$tmp/log" 2>&1
        say "and again, with the same bytes" $?
    fi
    for package in gsim libgsim-dev python3-gsim; do
        dpkg-deb -x "$tmp/deb/$package"_*.deb "$tmp/$package"
        dpkg-deb -f "$tmp/deb/$package"_*.deb Depends | grep -q 'libc6 (>= ' || echo "$package needs no libc6"
    done >"$tmp/log" 2>&1
    [ ! -s "$tmp/log" ] && "$tmp/gsim/usr/bin/gsim" --version >"$tmp/log" 2>&1
    say "packages say what they need, and the program runs" $?
    PYTHONPATH=$tmp/python3-gsim/usr/lib/python3/dist-packages "${PYTHON:-python3}" -W ignore -c '
import gsim
assert gsim.__file__.startswith("'"$tmp"'"), gsim.__file__
assert gsim.run("tests/golden/three.csv", "fifo")["completed"] == 4' >"$tmp/log" 2>&1 &&
        [ -e "$tmp/libgsim-dev/usr/include/gsim/policy.h" ] && [ -e "$tmp/libgsim-dev/usr/lib/libgsim.so" ]
    say "and so does the module" $?
    for file in "$tmp/gsim/usr/bin/gsim" "$tmp"/python3-gsim/usr/lib/python3/dist-packages/gsim/_gsim*.so; do
        unhardened "$file"
    done >"$tmp/log" 2>&1
    [ ! -s "$tmp/log" ]
    say "packages have the guards of what make install puts down" $?
else
    echo "not ok make deb # SKIP"
    echo "# skipped: dpkg-shlibdeps is not here (dpkg-dev)"
fi
check "./gsim is what it was" "$before" "$(cksum gsim 2>&1)"
