#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# setup.sh build|test: names the Debian packages that are missing, then installs them. If none is
# missing, it changes nothing.
set -eu
mode=${1:-build}
packages='gcc make libc6-dev libgsl-dev libsqlite3-dev libcsv-dev libyajl-dev libinih-dev nettle-dev zlib1g-dev libzstd-dev'
if [ "$mode" = test ]; then
    packages="$packages libcmocka-dev clang libclang-rt-14-dev sqlite3 zstd gzip gnuplot-nox binutils pkgconf dpkg-dev valgrind cppcheck"
    # python3-dev builds the Python package; the others are what its tests try it with
    packages="$packages python3-dev python3-pip python3-numpy python3-pandas"
    packages="$packages mypy jupyter-nbconvert python3-ipykernel"
fi
command -v dpkg-query >/dev/null 2>&1 || {
    echo "setup: this is no Debian; install what provides: $packages" >&2
    exit 0
}
missing=
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case $state in ii*) ;; *) missing="$missing $package" ;; esac
done
# a program that was installed without its package will do
for pair in pkg-config:pkgconf clang:clang zstd:zstd sqlite3:sqlite3 gnuplot:gnuplot-nox; do
    command -v "${pair%%:*}" >/dev/null 2>&1 && missing=$(printf '%s' "$missing" | sed "s/ ${pair#*:}\( \|\$\)/\1/")
done
[ -n "$(printf '%s' "$missing" | tr -d ' ')" ] || exit 0
run=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup: missing:$missing; install them as root (no sudo here)" >&2
        exit 1
    }
    run='sudo env DEBIAN_FRONTEND=noninteractive'
fi
echo "setup: about to install:$missing"
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -qq || { echo "setup: apt-get update failed" >&2; exit 1; }
# shellcheck disable=SC2086
$run apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
    echo "setup: could not install:$missing" >&2
    exit 1
}
