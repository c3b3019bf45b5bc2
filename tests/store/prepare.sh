#!/bin/sh
# What the tests of the bigger store need, where it can be had: Debian's postgresql, without a server that starts by
# itself. `make test` runs this. It does nothing twice and never fails: what is missing the tests say, and under
# CI=true they fail.
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; then
    exit 0
fi
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing postgresql for the tests of stores"
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] \
        || echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; } \
        >/dev/null 2>&1 || echo "postgresql could not be installed: tests that need it will be skipped" >&2
fi
exit 0
