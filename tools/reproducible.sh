#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# reproducible.sh FOLDER: builds the Debian packages of the last commit in a clone, whose folder has a name
# of its own, without a compiler cache, and compares them with those of the folder (make deb of the same
# commit) byte for byte. Prints TAP.
set -u
debs=$(realpath "${1:-build/deb}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
clone=$tmp/a-folder-with-another-name
git clone -q . "$clone" || exit 1
(cd "$clone" && CCACHE_DISABLE=1 make -s -j"${JOBS:-2}" deb) >"$tmp/log" 2>&1 || {
    echo "not ok the clone builds"
    sed 's/^/# /' "$tmp/log" | tail -20
    exit 1
}
failed=0
for package in "$debs"/*.deb; do
    name=$(basename "$package")
    if cmp "$package" "$clone/build/deb/$name" >"$tmp/log" 2>&1; then
        echo "ok $name has equal bytes in two folders"
    else
        echo "not ok $name: $(cat "$tmp/log")"
        failed=1
    fi
done
exit $failed
