#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# See that this machine can build the C tests that run on it: a compiler with
# its sanitizers, and libibverbs' headers. As root on Debian what is missing is
# installed; else a line says what it is.

set -eu

missing=
command -v "${CC:-cc}" >/dev/null || missing='gcc libc6-dev'
[ -e /usr/include/infiniband/verbs.h ] || missing="$missing libibverbs-dev"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "cc.sh: missing packages: $missing" >&2
	exit 1
fi
echo "cc.sh: installing $missing" >&2
export DEBIAN_FRONTEND=noninteractive
# Lists of packages may be missing or old; that is no reason to stop yet.
apt-get -qq update || echo "cc.sh: apt-get update had errors" >&2
# shellcheck disable=SC2086 # words
apt-get -qq -y --no-install-recommends install $missing >/dev/null || {
	echo "cc.sh: could not install: $missing" >&2
	exit 1
}
