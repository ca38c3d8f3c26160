# shellcheck shell=bash
# One guest's command line, for QEMU and for User-mode Linux.

readonly CPU=max,-erms,-fsrm # `rep movsb` goes byte by byte under TCG

# accel: kvm or tcg. KVM may open and still hang its guests: only a guest that
# has booted counts. The answer holds until the host boots or QEMU changes.
accel() {
	local key file=$CACHE/accel
	if [[ ${SOFTHCA_ACCEL:-} ]]; then
		printf '%s\n' "$SOFTHCA_ACCEL"
		return
	fi
	key="$(cat /proc/sys/kernel/random/boot_id) $(qemu-system-x86_64 --version | head -1)"
	if [[ $(sed 1q "$file" 2>/dev/null) != "$key" ]]; then
		with_lock accel accel_probe "$key" "$file"
	fi
	sed -n 2p "$file"
}

accel_probe() { # KEY FILE
	local kernel rc=0 found=tcg
	[[ $(sed 1q "$2" 2>/dev/null) == "$1" ]] && return 0
	if [[ -w /dev/kvm ]]; then
		root_need bookworm
		kernel_need bookworm stock
		kernel=$(kernel_dir bookworm stock)
		timeout -k 2 10 qemu-system-x86_64 "${QEMU_FIXED[@]}" -accel kvm \
			-cpu host,-arch-capabilities -smp 2 -m 512M -kernel "$kernel/image" \
			-initrd "$(initramfs_need bookworm stock)" \
			-append "console=ttyS0 quiet panic=-1 lab.probe" \
			-serial null </dev/null >"$2.log" 2>&1 || rc=$?
		((rc == 85)) && found=kvm # (0x2a << 1) | 1, written by guest/init
		say "KVM ${found/tcg/is not usable here: emulating}"
	fi
	printf '%s\n%s\n' "$1" "$found" >"$2"
}

readonly -a QEMU_FIXED=(-nodefaults -no-user-config -no-reboot -display none
	-M q35 -device isa-debug-exit,iobase=0xf4,iosize=0x4)
readonly CMDLINE='panic=-1 oops=panic loglevel=5 log_buf_len=4M'

# boot_qemu N LAYER=PATH...: sets BOOT, the command of guest N. Console (the
# kernel log) to a file, ttyS1 (what COMMAND prints) to standard output.
boot_qemu() {
	local n=$1 layer layers='' cmdline
	local -a accel cpu=(-cpu "$CPU")
	shift
	case $ICOUNT:$(accel) in
	1:*) accel=(-accel tcg -icount shift=0,sleep=off) ;;
	:kvm) accel=(-accel kvm) cpu=(-cpu host,-arch-capabilities) ;;
	*) accel=(-accel tcg,thread=multi) ;;
	esac
	BOOT=(qemu-system-x86_64 "${QEMU_FIXED[@]}" "${accel[@]}" "${cpu[@]}"
		-smp "$CPUS" -m "$MEM" -kernel "$KDIR/image" -initrd "$INITRAMFS"
		-chardev "file,id=console,path=$RUN/console.$n"
		-serial chardev:console
		-chardev 'stdio,id=out,signal=off' -serial chardev:out)
	for layer; do
		layers+=,${layer%%=*}
		BOOT+=(-virtfs "local,path=${layer#*=},mount_tag=${layer%%=*},security_model=none,multidevs=remap$(boot_ro "${layer%%=*}")")
	done
	((GUESTS == 1)) || boot_link "$n"
	cmdline="console=ttyS0 $CMDLINE mitigations=off nokaslr audit=0 apparmor=0"
	cmdline+=" tsc=reliable no_timer_check net.ifnames=0 lab.out=ttyS1"
	BOOT+=(-append "$cmdline lab.layers=${layers#,} $(boot_args "$n") $APPEND")
}

boot_ro() {
	case $1 in
	root | mods | inst | src) printf ',readonly=on' ;;
	esac
}

boot_link() { # N: one Ethernet between the two
	local server=off
	(($1 == 1)) && server=on
	BOOT+=(-netdev "stream,id=link,server=$server,addr.type=unix,addr.path=$SOCK"
		-device "virtio-net-pci,netdev=link,mac=52:54:00:00:00:0$1")
}

boot_args() { # N: what guest/stage2 reads
	local mode=$MODE
	(($1 > 1)) && mode=peer
	printf 'lab.mode=%s lab.guest=%s lab.guests=%s lab.suite=%s lab.kernel=%s lab.name=%s' \
		"$mode" "$1" "$GUESTS" "$SUITE" "$KERNEL" "guest$1"
	[[ $MODE == shell && -t 0 ]] &&
		printf ' lab.size=%s lab.term=%s' "$(stty size | tr ' ' x)" "${TERM:-linux}"
}

# boot_uml N LAYER=PATH...: the same as a process; its console goes to standard
# error, which is the console file
boot_uml() {
	local n=$1 layer layers='' input=null
	shift
	[[ $MODE == shell ]] && input=fd:0
	for layer; do
		layers+=",${layer%%=*}"
	done
	# shellcheck disable=SC2206,SC2207 # APPEND and the arguments are words
	BOOT=("$KDIR/image" "mem=$MEM" "initrd=$INITRAMFS" con=null con0=null,fd:2
		"con1=$input,fd:1" console=tty0 $CMDLINE lab.hostfs=1 lab.out=tty1
		"lab.layers=${layers#,}" "${@/#/lab.}" $(boot_args "$n") $APPEND)
}
