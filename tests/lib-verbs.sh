# shellcheck shell=bash
# Sourced by the cases that move data: what lib.sh has, and the verbs programs
# of tests/verbs between its two devices.
# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034 # for the cases
readonly MIB=1048576
readonly HW=/sys/class/infiniband

# what a verbs program shows when it fails, while its queue pairs live
export VT_ON_FAIL='for d in $(ls /sys/class/infiniband); do
	ibctl qp list $d | head -n 10
	ibctl stats $d | grep -v "[[:blank:]]0$"
done'

# netem DISCIPLINE...: on both ends of the wire
netem() {
	run A tc qdisc replace dev va root netem "$@"
	run B tc qdisc replace dev vb root netem "$@"
}

# topo [MTU]: both namespaces and both devices
topo() {
	topo_netns "${1:-1500}"
	dev_up
}

# both PROGRAM ARGUMENT...: a program with one end on each device
both() { run "$1" -d "$DEV_A" -g "$IP_A" -D "$DEV_B" -G "$IP_B" "${@:2}"; }

# alone PROGRAM ARGUMENT...: both ends on the first device, the local path
alone() { run "$1" -d "$DEV_A" -g "$IP_A" "${@:2}"; }

# xfer ARGUMENT...: vt_xfer from A (client) to B (server); back ARGUMENT... from
# B to A. server_args ARGUMENT...: what their server is to get besides.
SERVER_ARGS=()

server_args() { SERVER_ARGS=("$@"); }

xfer() {
	pair_of B "vt_xfer -d $DEV_B -g $IP_B -s ${SERVER_ARGS[*]}" \
		A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" "$@"
}

back() {
	pair_of A "vt_xfer -d $DEV_A -g $IP_A -s ${SERVER_ARGS[*]}" \
		B vt_xfer -d "$DEV_B" -g "$IP_B" -c "$IP_A" "$@"
}

# pair_of WHERE SERVER-COMMAND WHERE CLIENT...: both must succeed. WHERE is A,
# B or command (here).
pair_of() {
	local where=$1 server=$2 rc=0 pid
	shift 2
	# shellcheck disable=SC2086 # a command line
	$where $server >"/tmp/server.$$" 2>&1 &
	pid=$!
	"$@" || rc=$?
	if ((rc)); then
		kill "$pid" 2>/dev/null
		sed 's/^/server: /' "/tmp/server.$$"
		fail "${*:2:6} ended with $rc"
	fi
	wait "$pid" || {
		rc=$?
		cat "/tmp/server.$$"
		fail "$server ended with $rc"
	}
}

# snap DEVICE: remembers its counters; grown DEVICE NAME: by how much since
snap() {
	mkdir -p "/tmp/snap/$1"
	cp "$HW/$1"/ports/1/hw_counters/* "/tmp/snap/$1/" || fail "no counters of $1"
}

grown() {
	local now
	now=$(counter "$1" "$2") || fail "$1 has no counter $2"
	printf '%s\n' "$((now - $(cat "/tmp/snap/$1/$2")))"
}

# same DEVICE NAME...: these counters have not moved since snap
same() {
	local dev=$1 name n
	shift
	for name; do
		n=$(grown "$dev" "$name")
		((n == 0)) || fail "$dev: $name grew by $n"
	done
}

# healthy: nothing was lost, refused or broken on either device since snap
healthy() {
	local dev
	for dev in "$DEV_A" "$DEV_B"; do
		same "$dev" tx_retransmits ack_timeouts rx_out_of_sequence \
			rx_drop_icrc rx_drop_malformed rx_bad_response qp_errors
	done
}

# rping_pair SERVER-NS CLIENT-NS SERVER-IP ARGUMENT...: verified, -V
rping_pair() {
	local server=$1 client=$2 ip=$3 pid
	shift 3
	"$server" rping -s -a "$ip" -V "$@" >"/tmp/rping.$$" 2>&1 &
	pid=$!
	wait_until 30 cm_listening || {
		cat "/tmp/rping.$$"
		fail "rping -s does not listen"
	}
	if ! "$client" timeout 60 rping -c -a "$ip" -V "$@"; then
		kill "$pid"
		cat "/tmp/rping.$$"
		fail "rping to $ip"
	fi
	wait "$pid"
}

# cm_listening: some rdma_cm identifier waits for connections
cm_listening() { # [WHERE...]
	"${@:-command}" rdma resource show cm_id 2>/dev/null | grep -q LISTEN
}

# hold DEVICE ARGUMENT...: starts vt_hold and waits until it is ready; let_go
# lets it go on and wants it to end well
hold() {
	rm -f /tmp/hold.in
	mkfifo /tmp/hold.in
	vt_hold -d "$@" </tmp/hold.in >/tmp/hold.out 2>&1 &
	HOLD_PID=$!
	exec 9>/tmp/hold.in
	wait_until 30 grep -q '^ready' /tmp/hold.out || {
		cat /tmp/hold.out
		fail 'vt_hold is not ready'
	}
}

let_go() {
	local rc=0
	echo go >&9
	exec 9>&-
	wait "$HOLD_PID" || rc=$?
	cat /tmp/hold.out
	((rc == 0)) || fail "vt_hold ended with $rc"
}

# module_gone: unloads softhca; true when it is not there any more
module_gone() {
	modprobe -r softhca 2>/dev/null
	[[ ! -e /sys/module/softhca ]]
}

unload_now() { wait_until 5 module_gone || fail 'the module does not unload in 5 s'; }

# sent DEVICE N: more than N packets have left
sent() { (($(counter "$1" tx_packets 2>/dev/null || echo 0) > $2)); }

gone() { [[ ! -e $HW/$1 ]]; } # DEVICE

port_free() { [[ -z $(ss -Huln sport = :4791) ]]; }

no_devices() { [[ -z $(ls "$HW" 2>/dev/null) ]]; }
