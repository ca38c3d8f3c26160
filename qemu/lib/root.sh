# shellcheck shell=bash
# Roots: one unpacked Debian a suite, made by mmdebstrap, never changed after.
#
# The guest sees it read-only under an overlay; module, provider and programs
# are built inside it. This file and the package lists are its recipe.

readonly SUITES='bookworm trixie sid'

# Modules no case can want: two thirds of the folder, and of depmod's time
readonly MODULES_OUT='sound drivers/gpu drivers/media drivers/staging
	drivers/iio drivers/hwmon drivers/input drivers/hid drivers/bluetooth
	drivers/usb drivers/mmc drivers/platform drivers/video drivers/firewire
	drivers/infiniband/hw drivers/net/ethernet drivers/net/wireless'

root_packages() { # SUITE
	local files=("$QEMU/config/packages")
	[[ -e $QEMU/config/packages.$1 ]] && files+=("$QEMU/config/packages.$1")
	sed 's/#.*//; /^ *$/d' "${files[@]}"
}

root_dir() { # SUITE
	printf '%s/root/%s-%s\n' "$CACHE" "$1" \
		"$({ root_packages "$1"; cat "$QEMU/lib/root.sh"; } | hash_stdin)"
}

# host_sources: the host's own Debian stanzas in deb822 form, whichever style
# they are written in; SOFTHCA_SOURCES names another file to take instead
host_sources() {
	local file codename
	codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	for file in ${SOFTHCA_SOURCES:-/etc/apt/sources.list \
		/etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources}; do
		[[ -e $file ]] || continue
		if [[ $file == *.sources ]]; then
			awk -v code="$codename" -f "$QEMU/lib/deb822.awk" "$file"
		else
			sed -n 's/^[[:blank:]]*deb[[:blank:]]\+/deb /p' "$file" |
				awk -v code="$codename" -f "$QEMU/lib/oneline.awk"
		fi
	done
}

# suite_sources SUITE: the same with the suite's name, for mmdebstrap
suite_sources() {
	local codename
	codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	host_sources | if [[ $1 == sid ]]; then
		awk -v RS= -v ORS='\n\n' '!/-security/' |
			sed "/^Suites:/s/.*/Suites: sid/"
	else
		sed "/^Suites:/s/\\b$codename/$1/g"
	fi
}

# root_need SUITE: builds the root unless the cache has it
root_need() {
	local dir
	[[ " $SUITES " == *" $1 "* ]] || die $EX_USAGE "no such suite: $1"
	dir=$(root_dir "$1")
	[[ -e $dir/.used ]] || with_lock "root-$1" root_build "$1" "$dir" ||
		die $EX_BUILD "could not make the root of $1"
	drop_old "$CACHE/root/$1-" "$dir"
}

root_build() { # SUITE DIR
	local tmp sources mod start=$SECONDS
	local -a opts=(--mode=root --variant=minbase --quiet
		'--aptopt=APT::Install-Recommends "false"'
		'--dpkgopt=path-exclude=/usr/share/man/*'
		'--dpkgopt=path-exclude=/usr/share/locale/*'
		'--dpkgopt=path-exclude=/usr/share/doc/*'
		'--dpkgopt=path-include=/usr/share/doc/rdma-core/tests/*')
	[[ -e $2/.used ]] && return 0
	sources=$(suite_sources "$1")
	[[ $sources == *Suites:* ]] || {
		say "no Debian entry in the host's apt sources (see SOFTHCA_SOURCES)"
		return 1
	}
	for mod in $MODULES_OUT; do
		opts+=("--dpkgopt=path-exclude=/lib/modules/*/kernel/$mod/*"
			"--dpkgopt=path-exclude=/usr/lib/modules/*/kernel/$mod/*")
	done
	opts+=('--dpkgopt=path-include=*/mac80211_hwsim.ko*')
	say "making the root of $1 (about 2 minutes)"
	tmp=$(fresh_tmp "$2")
	INITRD=No mmdebstrap "${opts[@]}" \
		"--include=$(root_packages "$1" | paste -sd,)" \
		"$1" "$tmp" - <<<"$sources" || return 1
	root_finish "$tmp" || return 1
	mv -T "$tmp" "$2"
	say "root of $1 ready in $((SECONDS - start)) s"
}

# root_finish DIR: plain modules (depmod need not unpack them at each build),
# unpacked pyverbs tests, no initramfs of Debian's
root_finish() {
	local kver
	rm -f "$1"/boot/initrd* "$1"/initrd* "$1"/vmlinuz*
	gunzip -f "$1"/usr/share/doc/rdma-core/tests/*.gz 2>/dev/null
	find "$1/usr/lib/modules" -name '*.ko.xz' -exec xz -dq {} +
	find "$1/usr/lib/modules" -name '*.ko.zst' -exec zstd -dq --rm {} +
	kver=$(root_kver "$1") && depmod -b "$1" "$kver" || return 1
	mkdir -p "$1/softhca" "$1/share" "$1/run/lab" "$1/build" "$1/kernel"
	touch "$1/.used"
}

# root_kver DIR: the release of the suite's own kernel
root_kver() {
	local -a dirs=("$1"/usr/lib/modules/*/kernel)
	[[ -d ${dirs[0]} ]] || return 1
	dirs[0]=${dirs[0]%/kernel}
	printf '%s\n' "${dirs[0]##*/}"
}

# in_root ROOT [SRC:DST]... -- COMMAND...: runs in the root, with folders bound
# into it, in a mount namespace of its own so that no mount outlives it
in_root() {
	local root=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount --propagation private -- bash -ec '
		root=$1; shift
		while [[ $1 != -- ]]; do
			mount --bind "${1%%:*}" "$root/${1#*:}"; shift
		done
		shift
		mount --bind /dev "$root/dev"
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin \
			HOME=/root LC_ALL=C "$@"' in_root "$root" "$@"
}
