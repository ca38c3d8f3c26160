#!/bin/bash
# The tracepoints, by tracefs alone: their formats are those of docs/TRACING.md,
# what they add up to are the device's counters, and an error has its trace.
#
# A process costs much on uml, so one awk looks at a trace and the shell asks
# what it found.
. "$(dirname "$0")/../lib-verbs.sh"

readonly T=/sys/kernel/tracing
readonly DOC=/softhca/docs/TRACING.md
declare -A SUM

trace_on() {
	echo >$T/trace
	echo 1 >$T/events/softhca/enable
}

# trace_off: reads what was traced into SUM (see trace.awk)
trace_off() {
	local key value
	echo 0 >$T/events/softhca/enable
	cat $T/trace >/tmp/trace
	SUM=()
	while read -r key value; do
		SUM[$key]=$value
	done < <(awk '/^# entries-in-buffer/ { split($3, n, "/"); print "lost", n[2] - n[1] }' /tmp/trace
		awk -f "$(dirname "$0")/../probes/trace.awk" /tmp/trace)
	[[ ${SUM[lost]} == 0 ]] || fail "the buffer was too small: ${SUM[lost]} events lost"
}

# equal KEY N
equal() { ((${SUM[$1]:-0} == $2)) || fail "$op: $1 is ${SUM[$1]:-0}, not $2"; }

# counted KEY DEVICE COUNTER: the key is what the counter grew by
counted() {
	local was now
	read -r was <"/tmp/snap/$2/$3"
	read -r now <"$HW/$2/ports/1/hw_counters/$3"
	equal "$1" $((now - was))
}

# seen KEY...: each at least once
seen() {
	local key
	for key; do
		((${SUM[$key]:-0} > 0)) || fail "$op: $key was not seen"
	done
}

# anywhere EVENT.WORD...: on either device
anywhere() {
	local key
	for key; do
		((${SUM[${key/./.$DEV_A.}]:-0} + ${SUM[${key/./.$DEV_B.}]:-0} > 0)) ||
			fail "$op: $key was not seen"
	done
}

# --- formats: EVENT FIELD... of the page and of tracefs -------------------------

modprobe softhca || fail 'no module'
# shellcheck disable=SC2016 # the page's backticks
sed -n 's/^| `\([a-z_]*\)` | \([a-z_ ]*\) |.*/\1 dev \2/p' $DOC | sort >/tmp/documented
awk '
	FNR == 1 { if (NR > 1) print line; line = $2 }
	/field:/ && !/common_/ {
		split($0, part, ";")
		name = part[1]
		sub(/.* /, "", name); sub(/\[.*/, "", name)
		sub(/.*:/, "", part[2])
		if (name == "dev" && part[2] != 8 || name == "qpn" && part[2] != 24)
			print "misplaced: " line, name
		line = line " " name
	}
	END { print line }' $T/events/softhca/*/format | sort >/tmp/there
diff /tmp/documented /tmp/there || fail "$DOC (<) and tracefs (>) differ"
ok "$(wc -l </tmp/there) events are as documented"

# --- sums -----------------------------------------------------------------------

total=$(by_kernel $((4 * MIB)) $((MIB / 2)) $((MIB / 2)))
echo 32768 >$T/buffer_size_kb
topo 1500
for op in WRITE READ SEND; do
	snap "$DEV_A"
	snap "$DEV_B"
	trace_on
	xfer -o $op -n 65536 -T "$total" -m 1024
	trace_off
	for dev in "$DEV_A" "$DEV_B"; do
		counted "burst.$dev.packets" "$dev" tx_packets
		counted "burst.$dev.referenced" "$dev" tx_bytes_referenced
		counted "burst.$dev.copied" "$dev" tx_bytes_copied
		counted "burst.$dev.again" "$dev" tx_retransmits
		counted "packet.$dev" "$dev" rx_packets
		counted "doorbell.$dev.how=system" "$dev" doorbells
		counted "ack_receive.$dev.ACK" "$dev" rx_acks
		equal "mr_deregister.$dev" "${SUM[mr_register.$dev]}"
		seen "qp_create.$dev.comm=vt_xfer" "qp_state.$dev.to=RTR" "qp_connect.$dev.mtu=1024" "qp_destroy.$dev" \
			"mr_register.$dev.error=0"
	done
	# (qpn, index) is a message, in each of its three events once
	n=${SUM[send_fetch.$DEV_A]}
	for key in send_fetch.$DEV_A.messages send_wire.$DEV_A send_wire.$DEV_A.messages \
		send_done.$DEV_A send_done.$DEV_A.messages send_done.$DEV_A.status=SUCCESS; do
		equal $key "$n"
	done
	equal "cqe.$DEV_A.opcode=RECV" 0
	equal "cqe.$DEV_A" "${SUM[send_done.$DEV_A.cqe]}"
	ok "$op: $n messages, $(wc -l </tmp/trace) events add up to the counters"
done
seen "recv_fetch.$DEV_B" "cqe.$DEV_B.opcode=RECV"
equal "recv_fetch.$DEV_B.messages" "${SUM[cqe.$DEV_B.opcode=RECV]}"

# A queue that is too short for a burst takes the first of its messages, and those are
# on the wire.
op='full queue'
run A tc qdisc add dev va root tbf rate 4mbit burst 5kb limit 8kb
snap "$DEV_A"
trace_on
xfer -o SEND -n 4096 -T $((MIB / 4)) -m 1024
trace_off
run A tc qdisc del dev va root
(($(grown "$DEV_A" tx_local_drops) > 0)) || fail "$op: it was never full"
n=${SUM[send_fetch.$DEV_A]}
for key in send_wire.$DEV_A send_wire.$DEV_A.messages send_done.$DEV_A.status=SUCCESS; do
	equal $key "$n"
done
ok "$op: $n messages, each on the wire once"

# --- errors ---------------------------------------------------------------------

op='refused access'
trace_on
both vt_errors access
trace_off
anywhere ack_send.syndrome=0x62 ack_receive.syndrome=0x62 qp_state.reason=remote-access \
	qp_state.reason=peer-access qp_state.reason=local-protection \
	cqe.status=REM_ACCESS_ERR cqe.reason=remote-access cqe.status=LOC_PROT_ERR \
	send_done.status=REM_ACCESS_ERR
ok "$op: NAK, state and CQE"

op='receiver not ready'
trace_on
# its timing is for verbs-errors to judge; here it only makes the peer wait
vt_errors -d "$DEV_A" -g "$IP_A" -D "$DEV_B" -G "$IP_B" rnr || :
trace_off
anywhere ack_send.RNR ack_receive.RNR rnr_wait.wait_us rnr_wait.retries go_back.from
ok "$op: NAK and waits"

op='black hole'
trace_on
both vt_errors -x 'ip netns exec A tc qdisc add dev va root netem loss 100%' blackhole
trace_off
anywhere ack_timeout.retries=7 ack_timeout.retries=0 burst.again go_back.from \
	qp_state.reason=retry-exceeded cqe.status=RETRY_EXC_ERR \
	cqe.status=WR_FLUSH_ERR
run A tc qdisc del dev va root
ok "$op: timeouts, repeats and the end"

op=garbage
snap "$DEV_B"
trace_on
printf 'this is no packet of InfiniBand' | A socat - "UDP:$IP_B:4791"
dropped() { (($(grown "$DEV_B" rx_drop_malformed) == 1)); }
wait_until 5 dropped || fail 'the packet was not counted'
trace_off
equal "drop.$DEV_B.reason=rx_drop_malformed" 1
equal "drop.$DEV_B.opcode=0xff" 1
ok "$op: a drop with its reason"

# a kernel without BPF says so, and one with it does not
op='ibctl trace'
if [[ -e /proc/sys/kernel/unprivileged_bpf_disabled ]]; then
	run ibctl trace latency --duration 10ms
else
	refused ibctl trace latency --duration 10ms 2>/tmp/refusal
	grep -q 'this kernel runs no BPF programs' /tmp/refusal || fail "refused with: $(cat /tmp/refusal)"
fi
ok "$op: $(cat /tmp/refusal 2>/dev/null || echo runs)"
