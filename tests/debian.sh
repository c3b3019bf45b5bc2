# To be sourced by what prepares tests: Debian's packages, where they may be installed. It never fails: what is
# missing the tests say, and under CI=true they fail.

may_install() {
    command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]
}

# install_package PACKAGE FOR_WHAT
install_package() {
    echo "installing $1 for $2"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1"; } \
        >/dev/null 2>&1 || echo "$1 could not be installed: tests that need it will be skipped" >&2
}
