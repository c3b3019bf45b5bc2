#!/bin/sh
# What the tests of docs/deploy/ run, where it can be had: Debian's nginx, apache2, caddy, haproxy and promtool (of
# prometheus); and libfaketime, for hosts in `tests/cluster` whose clock is wrong. They are unpacked into a folder of
# the checkout instead of being installed: an installed server starts by itself.
# `make test` runs this. It does nothing twice and never fails: what is missing the tests say, and under CI=true
# they fail.
. "$(dirname "$0")/../debian.sh"

tools=$(dirname "$0")/../../.cache/debian

# unpack_package COMMAND PACKAGE...: the command is in the first of them; the others are what it needs that few systems have
unpack_package() {
    command=$1
    shift
    if command -v "$command" >/dev/null 2>&1 || [ -x "$tools/usr/bin/$command" ] || [ -x "$tools/usr/sbin/$command" ]; then
        return
    fi
    unpack "$@"
}

# unpack_library FILE PACKAGE: the file is in a folder of the package under usr/lib
unpack_library() {
    for place in /usr/lib/*/"$1" "$tools"/usr/lib/*/"$1"; do
        [ -e "$place" ] && return
    done
    unpack "$2"
}

unpack() {
    command -v apt-get >/dev/null 2>&1 && command -v dpkg >/dev/null 2>&1 || return
    echo "fetching $1 for the tests of docs/deploy"
    mkdir -p "$tools"
    for package in "$@"; do
        (
            cd "$tools" || exit
            rm -f "$package"_*.deb
            apt-get download "$package" >/dev/null 2>&1 \
                || { may_install && apt-get update >/dev/null 2>&1 && apt-get download "$package" >/dev/null 2>&1; }
            dpkg -x "$package"_*.deb . 2>/dev/null && rm -f "$package"_*.deb
        ) || echo "$package could not be had: tests that need it will be skipped" >&2
    done
}

unpack_package promtool prometheus
unpack_package nginx nginx libnginx-mod-stream
unpack_package apache2 apache2-bin libapr1 libaprutil1
unpack_package caddy caddy
unpack_package haproxy haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1
unpack_library faketime/libfaketime.so.1 libfaketime
exit 0
