#!/bin/sh
# What the tests of the bigger store need, where it can be had: Debian's postgresql, without a server that starts by
# itself. `make test` runs this. It does nothing twice and never fails: what is missing the tests say, and under
# CI=true they fail.
. "$(dirname "$0")/../../debian.sh"

if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; then
    exit 0
fi
if may_install; then
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] \
        || echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    install_package postgresql "the tests of stores"
fi
exit 0
