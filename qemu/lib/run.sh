# shellcheck shell=bash
# One run: the guests, their time limit, what came out of it.
#
# out/vm/RUN/ of the checkout holds, for guest N, console.N (kernel log as it
# was printed) and ctlN (its /lab/ctl: command, rc, dmesg, kmemleak, lockdep).

readonly KEEP_RUNS=60

run_folder() {
	local -a old
	mkdir -p "$CHECKOUT/out/vm"
	RUN=$CHECKOUT/out/vm/$(date +%m%d-%H%M%S)-$SUITE-$KERNEL-$$
	mkdir -p "$RUN/peer"
	mapfile -t old < <(cd "$CHECKOUT/out/vm" && ls -1t)
	for old in "${old[@]:KEEP_RUNS}"; do
		rm -rf "$CHECKOUT/out/vm/$old"
	done
}

run_command_file() { # COMMAND...: as ssh would, one argument is shell text
	if (($# == 1)); then
		printf 'cd /root\n%s\n' "$1"
	else
		printf 'cd /root\n'
		printf '%q ' "$@"
		printf '\n'
	fi
}

run_start() { # N: starts guest N in the background, sets PID_N
	local n=$1
	local -a layers=("root=$ROOT" "inst=$INST" "src=$CHECKOUT" "ctl=$RUN/ctl$n")
	mkdir -p "$RUN/ctl$n"
	[[ -d $KDIR/mods ]] && layers+=("mods=$KDIR/mods")
	[[ $SHARE ]] && layers+=("share=$SHARE")
	((GUESTS > 1)) && layers+=("peer=$RUN/peer")
	if [[ $KERNEL == uml ]]; then
		boot_uml "$n" "${layers[@]}"
	else
		boot_qemu "$n" "${layers[@]}"
	fi
	printf '%q ' "${BOOT[@]}" >"$RUN/boot.$n"
}

# run_guest N LIMIT: runs BOOT; UML's stderr is its console. QEMU would set its
# standard output non-blocking, for everyone who shares it: hence the pipe.
run_guest() {
	local log=$RUN/qemu.$1
	if [[ $KERNEL == uml ]]; then
		log=$RUN/console.$1
		# at a reboot UML starts its name again: with this one it cannot
		# shellcheck disable=SC2016 # expanded by the inner shell
		BOOT=(bash -c 'exec -a no-such-file "$@"' uml "${BOOT[@]}")
	fi
	if [[ $MODE == shell && $1 == 1 ]]; then
		"${BOOT[@]}" 2>"$log"
	else
		# in the foreground: it stays in its job's process group
		timeout --foreground -k 5 "$2" "${BOOT[@]}" </dev/null 2>"$log"
	fi
}

# run_first: guest 1, booted again if its kernel dies before anything of ours
# runs: with two CPUs QEMU at times executes code that the kernel is patching. Not
# where another guest is at the other end of its link already.
run_first() {
	local rc try
	for try in 1 2 3; do
		rc=0
		run_guest 1 "$TIMEOUT" || rc=$?
		[[ -e $RUN/ctl1/booted ]] && break
		((GUESTS > 1 || rc == 124 || rc == 137 || try == 3)) && break
		say "the kernel died before it ran anything (see $RUN/console.1.$try), booting once more"
		mv "$RUN/console.1" "$RUN/console.1.$try"
	done
	echo "$rc" >"$RUN/exit.1"
}

# run_end: nothing of this run stays behind. A guest is a process group, whose
# leader may be gone before UML's helper processes are.
run_end() {
	local group i
	for group in "${JOBS[@]}"; do
		kill -TERM -- "-$group" 2>/dev/null || continue
		for ((i = 0; i < 20; i++)); do
			kill -0 -- "-$group" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$group" 2>/dev/null
	done
	[[ ${SOCK:-} ]] && rm -rf "${SOCK%/*}"
	[[ ${TTY_STATE:-} ]] && stty "$TTY_STATE"
	return 0
}

run() { # COMMAND...
	local rc1 rc2=0 second='' code
	run_folder
	ROOT=$(root_dir "$SUITE") KDIR=$(kernel_dir "$SUITE" "$KERNEL")
	INITRAMFS=$(initramfs_need "$SUITE" "$KERNEL") || exit
	mkdir -p "$RUN/ctl1"
	[[ $MODE == run ]] && run_command_file "$@" >"$RUN/ctl1/command"
	[[ $KERNEL == uml ]] || accel >/dev/null
	JOBS=()
	trap run_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	set -m # a process group for each guest
	if ((GUESTS > 1)); then
		SOCK=$(mktemp -d)/link
	fi
	run_start 1
	if [[ $MODE == shell ]]; then
		run_shell
		rc1=$?
	else
		run_first | cat &
		JOBS+=("$(jobs -p %%)")
		if ((GUESTS > 1)); then
			run_second &
			second=$!
			JOBS+=("$second")
		fi
		wait %1
		rc1=$(cat "$RUN/exit.1")
	fi
	: >"$RUN/peer/quit" # where the first one died and could not say it
	if [[ $second ]]; then
		wait "$second" || rc2=$?
	fi
	run_verdict 1 "$rc1"
	code=$?
	if ((GUESTS > 1)); then
		run_verdict 2 "$rc2" || { ((code)) || code=$?; }
	fi
	return "$code"
}

# run_second: boots once the first one listens; tells the first if it dies
run_second() {
	local i rc=0
	for ((i = 0; i < 200; i++)); do
		[[ -S $SOCK ]] && break
		sleep 0.05
	done
	run_start 2
	run_guest 2 "$TIMEOUT" || rc=$?
	: >"$RUN/peer/dead"
	return "$rc"
}

run_shell() {
	if [[ -t 0 ]]; then
		TTY_STATE=$(stty -g)
		[[ $KERNEL == uml ]] || stty raw -echo
	fi
	set +m
	run_guest 1 0
}

# run_verdict N RC: what guest N's end means; prints why it is not good, and
# returns COMMAND's status or the code of what is worse
run_verdict() {
	local n=$1 rc=$2 ctl=$RUN/ctl$1 lines code
	if [[ -e $ctl/rc ]]; then
		code=$(cat "$ctl/rc")
		[[ $KERNEL != uml ]] && ((rc == 0)) && code=$EX_DIED
	elif ((rc == 124 || rc == 137)); then
		code=$EX_TIMEOUT
	else
		code=$EX_DIED
	fi
	[[ $code == "$EX_TIMEOUT" && ! -e $ctl/rc ]] &&
		say "FAIL guest $n: stopped at its time limit of $TIMEOUT s"
	[[ $code == "$EX_DIED" && (! -e $ctl/rc || $rc == 0) ]] &&
		say "FAIL guest $n: it died (its emulator ended with $rc)"

	lines=$(verdict_lines "$RUN/console.$n" "$ctl/dmesg" | sed 's/\r$//' |
		awk '{ text = $0; sub(/^\[[ 0-9.]*\] /, "", text) } !seen[text]++')
	if [[ $lines ]]; then
		code=$EX_LOG
		say "FAIL guest $n: the kernel complained:"
		verdict_excerpt "$RUN/console.$n" "$ctl/dmesg" >&2
	elif [[ -s $ctl/kmemleak ]]; then
		code=$EX_LEAK
		say "FAIL guest $n: kmemleak found:"
		head -n 60 "$ctl/kmemleak" >&2
	elif [[ -s $ctl/lockdep ]] && ! grep -qE 'debug_locks: *1$' "$ctl/lockdep"; then
		code=$EX_LOCKDEP
		say "FAIL guest $n: lockdep has switched itself off"
	elif ((code == EX_TIMEOUT || code == EX_DIED)) && [[ ! -e $ctl/rc || $rc == 0 ]]; then
		say "last lines of its console:"
		tail -n 15 "$RUN/console.$n" >&2
	fi
	if ((code)); then
		say "kernel log: $RUN/console.$n$([[ -e $ctl/dmesg ]] && printf ' and %s' "$ctl/dmesg")"
	fi
	return "$code"
}
