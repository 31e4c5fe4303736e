#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deb.sh FOLDER: Debian packages of what is built, in the folder: gsim (the program), libgsim-dev (headers
# and libraries) and python3-gsim. Equal sources give equal bytes: times are those of the last commit.
# Needs dpkg-dev. Variables: PYTHON, the interpreter that the module was built for;
# DEBEMAIL and DEBFULLNAME, the maintainer.
set -eu
out=$1
python=${PYTHON:-python3}
version=$(sed -n 's/^#define GSIM_VERSION "\(.*\)"/\1/p' sim/app/identity/program.h)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
# The person or team that builds the packages, as for Debian's own tools; else the last commit's author.
maintainer=$(git log -1 --format='%an <%ae>' 2>/dev/null) || maintainer="unknown <root@localhost>"
[ -z "${DEBEMAIL:-}" ] || maintainer="${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
umask 022

# --- files -----------------------------------------------------------------------------------------
make -s install PREFIX=/usr DESTDIR="$tmp/all" >/dev/null
move() { # package, path...: from what `make install` puts down
    package=$1
    shift
    for path in "$@"; do
        mkdir -p "$tmp/$package/$(dirname "$path")"
        mv "$tmp/all/$path" "$tmp/$package/$path"
    done
}
move libgsim-dev usr/include usr/lib usr/share/gsim
move gsim usr/bin usr/share
[ -z "$(find "$tmp/all" ! -type d)" ] || {
    echo "deb: make install puts down files that belong to no package:" >&2
    find "$tmp/all" ! -type d >&2
    exit 1
}
gzip -9n "$tmp/gsim/usr/share/man/man1/gsim.1"
site=$tmp/python3-gsim/usr/lib/python3/dist-packages/gsim
mkdir -p "$site"
cp sim/job/gsim_job.py "$site/.."
cp python/gsim/*.py python/gsim/*.pyi python/gsim/py.typed \
    "python/gsim/_gsim$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')" "$site"
strip --strip-unneeded "$tmp/gsim/usr/bin/gsim" "$site"/*.so "$tmp"/libgsim-dev/usr/lib/libgsim.so.*
strip --strip-debug "$tmp/libgsim-dev/usr/lib/libgsim.a"

# --- what each needs: the packages of the libraries that its files are linked with, by version ----
libraries() { # file
    mkdir -p "$tmp/needs/debian"
    printf 'Source: gsim\n\nPackage: gsim\nArchitecture: any\n' >"$tmp/needs/debian/control"
    (cd "$tmp/needs" && dpkg-shlibdeps -O "$1") | sed -n 's/^shlibs:Depends=//p'
}
# RECOMMENDS: what some of its users need besides.
pack() { # package, section, depends, summary, description
    mkdir -p "$tmp/$1/DEBIAN" "$tmp/$1/usr/share/doc/$1"
    cat >"$tmp/$1/usr/share/doc/$1/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gsim

Files: *
Copyright: the authors of gsim
License: GPL-3.0-or-later
 /usr/share/common-licenses/GPL-3 has the text.
EOF
    cat >"$tmp/$1/DEBIAN/control" <<EOF
Package: $1
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tmp/$1/usr" | cut -f1)
Section: $2
Priority: optional
Depends: $3${RECOMMENDS:+
Recommends: $RECOMMENDS}
Description: $4
 $5
EOF
    dpkg-deb --root-owner-group --build "$tmp/$1" "$out/$1_${version}_$architecture.deb" >/dev/null
}
mkdir -p "$out"
interpreter=$("$python" -c 'import sys; print("python3 (>= 3.%d), python3 (<< 3.%d)" % (sys.version_info[1], sys.version_info[1] + 1))')
pack gsim science "$(libraries "$tmp/gsim/usr/bin/gsim")" \
    "trace-driven simulator of how jobs share GPUs" \
    "Runs a trace of jobs under scheduling policies, and says what of the result was assumed."
RECOMMENDS='libgsl-dev, zlib1g-dev, libzstd-dev, libinih-dev, libcsv-dev, libyajl-dev' \
    pack libgsim-dev libdevel "libc6-dev, $(libraries "$tmp"/libgsim-dev/usr/lib/libgsim.so.[0-9]*)" \
    "simulator of how jobs share GPUs: headers and libraries" \
    "For programs that embed gsim, and for policies outside of its tree."
# Modules are compiled when they are installed, and what was compiled goes with them, as in packages of
# dh_python3.
mkdir -p "$tmp/python3-gsim/DEBIAN"
printf '#!/bin/sh\nset -e\nif [ "$1" = configure ] && command -v py3compile >/dev/null; then\n    py3compile -p python3-gsim\nfi\n' \
    >"$tmp/python3-gsim/DEBIAN/postinst"
printf '#!/bin/sh\nset -e\nif command -v py3clean >/dev/null; then\n    py3clean -p python3-gsim\nfi\n' \
    >"$tmp/python3-gsim/DEBIAN/prerm"
chmod 755 "$tmp/python3-gsim/DEBIAN/postinst" "$tmp/python3-gsim/DEBIAN/prerm"
pack python3-gsim python "$interpreter, $(libraries "$(echo "$site"/_gsim*.so)")" \
    "simulator of how jobs share GPUs, for Python" \
    "The program as a module of Python: runs, comparisons, sweeps, and policies as classes."
ls "$out"
