#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Print the path of a go command that is good for go.mod. If the machine has
# none and this runs as root on Debian, install one, from the suite or its
# backports, both derived from the machine's own apt sources. A go from 1.21 on
# fetches the version that go.mod names by itself.
#
#   GO=$(scripts/go.sh)
#
# Only the path goes to standard output. Nothing is written outside of /usr and
# the go command's own caches; the machine's apt configuration stays as it is.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
want=$(awk '$1 == "go" { print $2; exit }' "$root/go.mod")
bootstrap=1.21

say() { echo "go.sh: $*" >&2; }
die() {
	say "$*"
	exit 1
}

# at_least A B: version A is B or later.
at_least() {
	[ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

version_of() {
	(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) | sed 's/^go//; s/ .*//'
}

# good GO: print the path of a go that is new enough: GO itself, or the
# one that it fetches. Debian's go does not fetch on its own, so the path is that
# of the fetched one.
good() {
	have=$(version_of "$1")
	[ -n "$have" ] || return 1
	if at_least "$have" "$want"; then
		echo "$1"
		return 0
	fi
	at_least "$have" "$bootstrap" || return 1
	say "$1 is $have, go.mod wants $want: fetching it"
	goroot=$(cd "$root" && GOTOOLCHAIN=auto "$1" env GOROOT) || {
		say "$1 cannot fetch go $want"
		return 1
	}
	echo "$goroot/bin/go"
}

# present: the go commands of this machine, newest first after $GO and $PATH.
present() {
	[ -z "${GO:-}" ] || command -v "$GO" || true
	command -v go || true
	for go in /usr/local/go/bin/go /usr/lib/go-*/bin/go /usr/lib/go/bin/go; do
		[ -x "$go" ] && echo "$(version_of "$go") $go"
	done | sort -rV | cut -d ' ' -f 2
}

find_go() {
	present | (
		while read -r go; do
			good "$go" && exit 0
		done
		exit 1
	)
}

# install_go: install the newest go that the suite or its backports have.
install_go() {
	[ -r /etc/os-release ] || die "no go $want here, and this is not Debian: install it and set GO"
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	if ! command -v apt-get >/dev/null || [ -z "$codename" ]; then
		die "no go $want here, and this is not Debian: install it and set GO"
	fi
	if [ "$(id -u)" -ne 0 ]; then
		die "no go $want here: install go $bootstrap or later (Debian: golang-go of $codename-backports), or run this as root"
	fi

	tmp=$(mktemp -d)
	chmod 755 "$tmp" # apt downloads as a user of its own
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial"

	# Where the machine gets this suite from, that place has its backports too.
	# apt knows where that is only after an update, which goes to a place of
	# our own.
	private="-o Dir::State::lists=$tmp/lists -o Dir::Cache=$tmp/cache -o DPkg::Lock::Timeout=600"
	key=/usr/share/keyrings/debian-archive-keyring.gpg
	by=
	[ ! -e $key ] || by="[signed-by=$key] "
	# The options have no blanks in them, and apt expands the format.
	# shellcheck disable=SC2086,SC2016
	{
		apt-get -q $private update >&2 || say "apt-get update had errors"
		apt-get $private indextargets --format '$(CODENAME)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
			awk -F '|' -v suite="$codename" -v by="$by" '
				$1 == suite && $2 == "main" && !seen[$3]++ {
					print "deb " by $3 " " suite " main"
					print "deb " by $3 " " suite "-backports main"
				}' >"$tmp/sources.list"
	}
	[ -s "$tmp/sources.list" ] || die "apt has no source for $codename main: add one, or install go $want and set GO"

	private="$private -o Dir::Etc::sourcelist=$tmp/sources.list -o Dir::Etc::sourceparts=/dev/null"
	# shellcheck disable=SC2086
	{
		apt-get -q $private update >&2 || die "apt-get update failed"
		pkg=$(apt-cache $private search --names-only '^golang-1\.[0-9]+-go$' |
			cut -d ' ' -f 1 | sort -V | tail -n 1)
		[ -n "$pkg" ] || die "$codename and its backports have no go"
		say "installing $pkg"
		DEBIAN_FRONTEND=noninteractive \
			apt-get -q -y --no-install-recommends $private install "$pkg" ca-certificates >&2 ||
			die "apt-get install $pkg failed"
	}
}

[ -n "$want" ] || die "$root/go.mod has no go line"
find_go && exit 0
install_go
find_go || die "no go that is good for $want, even after installing one: set GO to one"
