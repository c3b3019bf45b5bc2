#!/bin/sh
# What the tests of docs/deploy/ run, where it can be had: Debian's nginx, caddy and promtool (of prometheus). They
# are unpacked into a folder of the checkout instead of being installed: an installed server starts by itself.
# `make test` runs this. It does nothing twice and never fails: what is missing the tests say, and under CI=true
# they fail.
. "$(dirname "$0")/../debian.sh"

tools=$(dirname "$0")/../../.cache/debian

# unpack_package COMMAND PACKAGE...: the command is in the first of them, or in what this one needs beside libraries
unpack_package() {
    command=$1
    shift
    if command -v "$command" >/dev/null 2>&1 || [ -x "$tools/usr/bin/$command" ] || [ -x "$tools/usr/sbin/$command" ]; then
        return
    fi
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
unpack_package caddy caddy
exit 0
