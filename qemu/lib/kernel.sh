# shellcheck shell=bash
# Kernels: stock is the suite's own; debug (for QEMU) and uml (a process) are
# linux-source-6.1 with qemu/config, built inside the bookworm root so that the
# result does not depend on the host. All boot the same small initramfs.
#
# A kernel's folder holds: image, release, initramfs.gz and, for debug and uml,
# tree (to build modules against) and mods (an overlay layer with its modules).

readonly KERNELS='stock debug uml'

kernel_configs() { # KERNEL
	printf '%s\n' "$QEMU/config/lab.config" "$QEMU/config/checks.config" \
		"$QEMU/config/$1.config"
}

kernel_dir() { # SUITE KERNEL
	local root
	case $2 in
	stock)
		root=$(root_dir "$1")
		printf '%s/kernel/stock-%s\n' "$CACHE" "${root##*/}"
		;;
	debug | uml)
		printf '%s/kernel/%s-%s\n' "$CACHE" "$2" "$(kernel_recipe "$2")"
		;;
	*) die $EX_USAGE "no such kernel: $2" ;;
	esac
}

# kernel_recipe KERNEL: script and configuration; and what the root brings,
# the kernel's source and the compiler, but not its other packages
kernel_recipe() {
	local -a configs
	mapfile -t configs < <(kernel_configs "$1")
	{
		cat "$QEMU/guest/build-kernel" "${configs[@]}"
		grep -A8 -xE 'Package: (linux-source-6.1|gcc-12|binutils)' \
			"$(root_dir bookworm)/var/lib/dpkg/status" | grep ^Version:
	} | hash_stdin
}

# kernel_need SUITE KERNEL: builds it unless the cache has it
kernel_need() {
	local dir
	dir=$(kernel_dir "$1" "$2")
	[[ -e $dir/.used ]] || with_lock "${dir##*/}" kernel_build "$@" "$dir" ||
		die $EX_BUILD "could not make the $2 kernel, see ${dir}.log"
	drop_old "${dir%-*}-" "$dir"
}

kernel_build() { # SUITE KERNEL DIR
	local tmp start=$SECONDS
	[[ -e $3/.used ]] && return 0
	tmp=$(fresh_tmp "$3")
	if [[ $2 == stock ]]; then
		kernel_extract "$(root_dir "$1")" "$tmp"
	else
		kernel_compile "$2" "$tmp" "$3.log"
	fi || return 1
	touch "$tmp/.used"
	mv -T "$tmp" "$3"
	say "$2 kernel ready in $((SECONDS - start)) s"
}

# kernel_extract ROOT DIR: the uncompressed image boots by PVH, 3 s sooner
kernel_extract() {
	local kver
	kver=$(root_kver "$1")
	extract_vmlinux "$1/boot/vmlinuz-$kver" >"$2/image" || return 1
	printf '%s\n' "$kver" >"$2/release"
}

# extract_vmlinux FILE: headers packages do not ship the kernel's own script.
# A bzImage holds the image compressed: find the magic, unpack, check for ELF.
extract_vmlinux() {
	local try magic tool offset tmp
	tmp=$(mktemp)
	for try in '\xfd7zXZ\x00:xz' '\x1f\x8b\x08:gzip' '\x28\xb5\x2f\xfd:zstd'; do
		magic=${try%:*} tool=${try##*:}
		while read -r offset; do
			tail -c "+$((offset + 1))" "$1" | "$tool" -dc >"$tmp" 2>/dev/null
			if [[ $(head -c 4 "$tmp" | tr -d '\0') == $'\x7fELF' ]]; then
				cat "$tmp"
				rm -f "$tmp"
				return 0
			fi
		done < <(LC_ALL=C grep -abohP "$magic" "$1" |
			LC_ALL=C cut -d: -f1)
	done
	rm -f "$tmp"
	return 1
}

kernel_compile() { # KERNEL DIR LOG
	local config
	local -a configs names=()
	mapfile -t configs < <(kernel_configs "$1")
	mkdir "$2/config"
	cp "$QEMU/guest/build-kernel" "${configs[@]}" "$2/config"
	for config in "${configs[@]}"; do
		names+=("/kernel/config/${config##*/}")
	done
	say "building the $1 kernel (5 minutes for uml, 15 for debug); log: $3"
	nice -n 10 bash -c '. "$QEMU/lib/root.sh"; in_root "$@"' kernel \
		"$(root_dir bookworm)" "$2:kernel" -- \
		/kernel/config/build-kernel "$1" "$(nproc)" "${names[@]}" \
		</dev/null >"$3" 2>&1
}

# initramfs_need SUITE KERNEL: init, the modules that lead to the root, and the
# lab's own guest scripts; prints its path
initramfs_need() {
	local dir out
	dir=$(kernel_dir "$1" "$2")
	out=$dir/initramfs-$(hash_of "$QEMU"/guest/* "$QEMU/lib/verdict.sh" \
		"$QEMU/lib/kernel.sh").gz
	[[ -e $out ]] || with_lock "${dir##*/}" initramfs_build "$@" "$out" ||
		die $EX_BUILD "could not make the initramfs"
	printf '%s\n' "$out"
}

initramfs_build() { # SUITE KERNEL OUT
	local tmp root kver name
	[[ -e $3 ]] && return 0
	root_need bookworm
	tmp=$(mktemp -d)
	mkdir -p "$tmp"/{dev,proc,sys,mod,lab,lower,rw,new}
	cp "$QEMU"/guest/{stage2,peer,peerd} "$QEMU/lib/verdict.sh" "$tmp/lab/"
	cp "$QEMU/guest/init.c" "$tmp/"
	in_root "$(root_dir bookworm)" "$tmp:build" -- \
		gcc -Wall -O2 -static -o /build/init /build/init.c || return 1
	: >"$tmp/mod/list"
	if [[ $2 == stock ]]; then
		root=$(root_dir "$1")
		kver=$(root_kver "$root")
		for name in virtio_pci 9pnet_virtio 9p overlay; do
			modprobe -d "$root" -S "$kver" --show-depends "$name" || return 1
		done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
			while read -r name; do
				cp "$name" "$tmp/mod/"
				printf '%s\n' "${name##*/}" >>"$tmp/mod/list"
			done
	fi
	(cd "$tmp" && find . ! -name init.c | cpio -o -H newc --quiet | gzip -1) \
		>"$3.tmp" && mv "$3.tmp" "$3"
	rm -rf "$tmp"
}
