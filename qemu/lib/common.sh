# shellcheck shell=bash
# Messages, the cache, locks and the packages of the host.
#
# The cache, ${XDG_CACHE_HOME:-~/.cache}/softhca, is shared by every checkout of
# one user. Whatever is built into it is named by a hash of its recipe, built in
# a temporary folder beside it and renamed, so what exists is complete.

CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/softhca

readonly EX_USAGE=2 EX_BUILD=20
readonly EX_LOG=30 EX_DIED=31 EX_LEAK=32 EX_LOCKDEP=33 EX_TIMEOUT=124

say() { printf 'vm: %s\n' "$*" >&2; }

die() {
	local code=$1
	shift
	say "$*"
	exit "$code"
}

# hash_of FILE...: 12 hex digits that stand for the files' contents
hash_of() { cat -- "$@" | hash_stdin; }

hash_stdin() { sha256sum | cut -c1-12; }

# with_lock NAME COMMAND...: one at a time among all users of this cache
with_lock() {
	local name=$1 fd rc=0
	shift
	mkdir -p "$CACHE/lock"
	exec {fd}>"$CACHE/lock/$name"
	if ! flock -n "$fd"; then
		say "waiting for another qemu/vm that holds $name"
		flock "$fd"
	fi
	"$@" {fd}>&- || rc=$?
	exec {fd}>&-
	return "$rc"
}

# fresh_tmp DIR: the folder to build DIR in; left-overs of a killed build go
fresh_tmp() {
	local tmp=$1.tmp
	remove_tree "$tmp"
	mkdir -p "$tmp"
	printf '%s\n' "$tmp"
}

# remove_tree DIR: refuses while something of it is mounted
remove_tree() {
	[[ -e $1 ]] || return 0
	if grep -qF " $1/" /proc/self/mounts; then
		die $EX_BUILD "$1 has mounts under it: umount them first"
	fi
	rm -rf --one-file-system -- "$1"
}

# drop_old DIR-PREFIX KEEP: siblings of KEEP that nobody has used for a week
drop_old() {
	local dir
	touch -c "$2/.used"
	for dir in "$1"*; do
		[[ -d $dir && $dir != "$2" && $dir != *.tmp ]] || continue
		[[ -n $(find "$dir/.used" -mtime +7 2>/dev/null) ]] || continue
		say "removing $dir, unused for a week"
		remove_tree "$dir"
	done
}

# command:package pairs of Debian
readonly HOST_NEEDS='qemu-system-x86_64:qemu-system-x86 mmdebstrap:mmdebstrap
	busybox:busybox-static cpio:cpio rsync:rsync depmod:kmod flock:util-linux
	unshare:util-linux gzip:gzip xz:xz-utils zstd:zstd
	/usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring'

host_missing() {
	local need
	for need in $HOST_NEEDS; do
		if [[ $need == /* ]]; then
			[[ -e ${need%%:*} ]] || printf '%s\n' "${need#*:}"
		else
			command -v "${need%%:*}" >/dev/null || printf '%s\n' "${need#*:}"
		fi
	done
}

# host_ready: root, and what the lab runs on is installed
host_ready() {
	local -a missing
	PATH=$PATH:/usr/sbin:/sbin
	mapfile -t missing < <(host_missing | sort -u)
	if [[ $EUID != 0 ]]; then
		((${#missing[@]})) && say "missing packages: ${missing[*]}"
		die $EX_USAGE "must run as root (it unpacks Debian roots and mounts)"
	fi
	((${#missing[@]})) || return 0
	command -v apt-get >/dev/null ||
		die $EX_USAGE "missing packages: ${missing[*]}"
	say "installing ${missing[*]}"
	apt_install "${missing[@]}" ||
		die $EX_USAGE "could not install: ${missing[*]}"
}

apt_install() {
	local -a install=(apt-get install -qq -y --no-install-recommends)
	export DEBIAN_FRONTEND=noninteractive
	"${install[@]}" "$@" >/dev/null 2>&1 && return 0
	apt-get update -qq >/dev/null && "${install[@]}" "$@" >/dev/null
}
