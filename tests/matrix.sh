#!/bin/sh
# The tests on every Python from 3.11 on that is there: those on the PATH, and those that pyenv keeps.
# Each has an environment of its own (.venv-3.12, …), so nothing is installed twice.
set -u
cd "$(dirname "$0")/.." || exit 1
versions=$(pyenv root 2>/dev/null)/versions
tried=""
failed=""
for minor in 11 12 13 14 15 16; do
    for python in "python3.$minor" "$versions"/3."$minor".*/bin/python3; do
        [ "$("$python" -c 'import sys; print(sys.version_info.minor)' 2>/dev/null)" = "$minor" ] || continue
        tried="$tried 3.$minor"
        echo "== Python 3.$minor"
        make test PYTHON="$python" VENV=".venv-3.$minor" || failed="$failed 3.$minor"
        break
    done
done
echo "tried:${tried:- none} - failed:${failed:- none}"
[ -n "$tried" ] && [ -z "$failed" ]
