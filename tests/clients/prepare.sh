#!/bin/sh
# What the tests of the starters need, where it can be had: Debian's Go and Ruby. The other languages are on most
# machines. `make test` runs this. It does nothing twice and never fails: a language that is missing is left out, and
# the tests say so.
. "$(dirname "$0")/../debian.sh"

if ! command -v go >/dev/null 2>&1 && may_install; then
    install_package golang-go "the starter in Go"
fi
if ! command -v ruby >/dev/null 2>&1 && may_install; then
    install_package ruby "the starter in Ruby"
fi
exit 0
