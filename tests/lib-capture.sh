# shellcheck shell=bash
# Sourced by the cases of ibctl capture, after lib-verbs.sh.

# start ARGUMENT...: a capture of shca0 to /tmp/c.pcapng
start() {
	rm -f /tmp/c*.pcapng
	ibctl capture "$DEV_A" -w /tmp/c.pcapng "$@" 2>/tmp/capture &
	CAPTURE=$!
	wait_until 20 grep -q '^capturing' /tmp/capture || fail "no capture: $(cat /tmp/capture)"
	snap "$DEV_A"
	snap "$DEV_B"
}

# stop: nothing was lost; WRITTEN is how many packets there are
stop() {
	kill -INT "$CAPTURE"
	wait "$CAPTURE" || fail "the capture ended with $?: $(cat /tmp/capture)"
	grep -qE '^[0-9]+ packets written, 0 lost$' /tmp/capture || fail "$(cat /tmp/capture)"
	WRITTEN=$(awk '/written/ { print $1 }' /tmp/capture)
}

# as_counted: WRITTEN is how many packets the device has counted since the start
as_counted() {
	local n
	n=$(($(grown "$DEV_A" tx_packets) + $(grown "$DEV_A" rx_packets)))
	((WRITTEN == n)) || fail "$WRITTEN packets written, the device has counted $n"
}

# fields FILE FIELD... : tshark's columns
fields() {
	local file=$1 f args=()
	shift
	for f; do
		args+=(-e "$f")
	done
	tshark -r "$file" -T fields -E separator=';' "${args[@]}" 2>/tmp/tshark || fail "tshark: $(cat /tmp/tshark)"
}
