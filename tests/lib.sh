# shellcheck shell=bash
# Sourced by every case (tests/cases/NAME.sh), in the guest, as root.
#
#	namespace A                      namespace B
#	va 10.0.0.1/24 fd00::1/64 <veth> vb 10.0.0.2/24 fd00::2/64
#	device shca0 (dev_up)            device shca1 (dev_up)
#
# With two guests (configuration ...:pair) the first is 10.0.0.1, the second
# 10.0.0.2, both on eth0, and `peer COMMAND` runs on the second.
#
# A case ends with 0 (passed), by `fail` or by `skip`. It needs no clean-up:
# tests/guest kills what it left, removes devices and namespaces and unloads.
set -u

readonly DEV_A=shca0 DEV_B=shca1
# shellcheck disable=SC2034 # for the cases
readonly IP_A=10.0.0.1 IP_B=10.0.0.2 IP6_A=fd00::1 IP6_B=fd00::2

ok() { printf 'ok: %s (%s s)\n' "$*" "$SECONDS"; } # SECONDS since the case began

fail() {
	printf 'FAIL (line %s): %s\n' "${BASH_LINENO[0]}" "$*"
	exit 1
}

skip() { # REASON: allowed only where tests/SKIPS lists it
	printf 'SKIP: %s\n' "$*"
	exit 77
}

# run COMMAND...: must succeed
run() { "$@" || fail "$* ended with $?"; }

# refused COMMAND...: must fail, but not by a signal, by timeout, or for want of it
refused() {
	local rc=0
	"$@" || rc=$?
	((rc != 0)) || fail "$* was to be refused and was not"
	((rc < 124)) || fail "$* ended with $rc"
}

# by_kernel STOCK UML DEBUG: what fits the speed of the kernel that runs
by_kernel() {
	case ${LAB_KERNEL:-stock} in
	uml) printf '%s\n' "$2" ;;
	debug) printf '%s\n' "$3" ;;
	*) printf '%s\n' "$1" ;;
	esac
}

# wait_until SECONDS COMMAND...: tries it ten times a second; false in the end
wait_until() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@"; do
		((${EPOCHREALTIME/./} < end)) || return 1
		sleep 0.1
	done
}

A() { ip netns exec A "$@"; }
B() { ip netns exec B "$@"; }

# topo_netns [MTU]: the picture above, without devices
topo_netns() {
	local mtu=${1:-1500}
	modprobe -qa veth
	run ip netns add A
	run ip netns add B
	run ip link add va netns A mtu "$mtu" type veth peer name vb netns B mtu "$mtu"
	netns_end A va 1
	netns_end B vb 2
}

netns_end() { # NETNS INTERFACE N
	run ip -n "$1" addr add "10.0.0.$3/24" dev "$2"
	run ip -n "$1" addr add "fd00::$3/64" dev "$2" nodad
	run ip -n "$1" link set lo up
	run ip -n "$1" link set "$2" up
}

# dev_up: a RoCE device on each end of topo_netns
dev_up() {
	run A ibctl dev add "$DEV_A" netdev va
	run B ibctl dev add "$DEV_B" netdev vb
	wait_until 5 port_active "$DEV_A" || fail "$DEV_A is not active"
	wait_until 5 port_active "$DEV_B" || fail "$DEV_B is not active"
	wait_until 5 gid_index "$DEV_A" "$IP_A" >/dev/null || fail "$DEV_A: no GID of $IP_A"
	wait_until 5 gid_index "$DEV_B" "$IP_B" >/dev/null || fail "$DEV_B: no GID of $IP_B"
}

# port_is DEVICE STATE: INIT, ACTIVE, ...
port_is() {
	local state
	read -r state <"/sys/class/infiniband/$1/ports/1/state" && [[ $state == *": $2" ]]
} 2>/dev/null

port_active() { port_is "$1" ACTIVE; } # DEVICE

# gid_index DEVICE IP [PORT]: the index of the RoCE v2 GID of that address
gid_index() {
	local want dir=/sys/class/infiniband/$1/ports/${3:-1} file
	want=$(gid_of "$2")
	for file in $(cd "$dir/gids" 2>/dev/null && grep -lx "$want" -- *); do
		[[ $(cat "$dir/gid_attrs/types/$file" 2>/dev/null) == 'RoCE v2' ]] || continue
		printf '%s\n' "$file"
		return 0
	done
	return 1
}

# gid_of IP: as sysfs writes it, eight groups of four digits
gid_of() {
	local ip=$1 left right groups=() part
	if [[ $ip != *:* ]]; then
		# shellcheck disable=SC2086 # four words
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' ${ip//./ }
		return
	fi
	left=${ip%%::*} right=''
	[[ $ip == *::* ]] && right=${ip#*::}
	local -a l r
	IFS=: read -ra l <<<"$left"
	IFS=: read -ra r <<<"$right"
	groups=("${l[@]}")
	for ((part = ${#l[@]} + ${#r[@]}; part < 8; part++)); do
		groups+=(0)
	done
	groups+=("${r[@]}")
	printf -v left '%04x:' "${groups[@]/#/0x}"
	printf '%s\n' "${left%:}"
}

# listening PORT [NETNS]: a TCP server is there
listening() {
	[[ -n $(${2:+ip netns exec "$2"} ss -Hltn "sport = :$1") ]]
}

# counter DEVICE NAME: one of hw_counters
counter() {
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}
