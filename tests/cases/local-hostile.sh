#!/bin/bash
# The local path under attack: source and target overlap, queue pairs, regions
# and processes go in the middle of a message, queues are full.
. "$(dirname "$0")/../lib-verbs.sh"

kills=$(by_kernel 10 10 4)

# moving N: more than N bytes went from region to region
moving() { (($(counter "$DEV_A" local_bytes_copied) > $1)); }

# no_qps: of programs, not the one for the connection manager
no_qps() { rdma -j resource show qp | jq -e 'map(select(.pid)) == []' >/dev/null; }

topo 1500
snap "$DEV_A"
alone vt_local overlap
same "$DEV_A" tx_packets rx_packets qp_errors
ok 'overlapping buffers, as memmove() has it'

for test in vanish dereg stop; do
	alone vt_local -n "$(by_kernel 4 4 2)" $test
done
ok 'queue pairs and regions gone in mid-message'

alone vt_seat
ok 'a full send queue does not keep a modify_qp waiting'

snap "$DEV_A"
alone vt_local -n 8 late
# what was asked over the wire is little: the stream behind it was local
(($(grown "$DEV_A" local_bytes_copied) >= 8 * 90 * 5000)) ||
	fail "of 101 messages of 5000 bytes, 8 times, only $(grown "$DEV_A" local_bytes_copied) bytes went the short way"
ok 'a peer that is late'

alone vt_local corrupt
ok 'a peer with a corrupt receive queue'

flapping() { # PID: the port goes down and up until that ends
	local down=0
	while kill -0 "$1" 2>/dev/null; do
		run ip -n A link set va down
		sleep 0.0$((RANDOM % 9 + 1))
		run ip -n A link set va up
		((down += 1))
		sleep 0.0$((RANDOM % 9 + 1))
	done
	printf 'the port went down %d times\n' "$down"
	((down > 2)) || fail 'it did not flap'
}
RANDOM=1
snap "$DEV_A"
before=$(counter "$DEV_A" local_bytes_copied)
ip netns exec A vt_local -d "$DEV_A" -g "$IP_A" \
	-n "$(by_kernel 100 40 4)" flap &
pid=$!
wait_until 30 moving "$before" || fail 'vt_local flap: no traffic'
flapping $pid
wait $pid || fail 'vt_local flap failed'
wait_until 5 port_active "$DEV_A" || fail "$DEV_A is not active"
(($(grown "$DEV_A" tx_packets) > 0)) || fail 'the wire took over no message'
ok 'the port flaps under long messages'

for ((k = 0; k < kills; k++)); do
	ip netns exec A vt_xfer -d "$DEV_A" -g "$IP_A" -s -w 60000 >/dev/null 2>&1 &
	server=$!
	ip netns exec A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_A" -n 1,4096,1048576 \
		-T $((1 << 34)) -b 16 -w 60000 >/dev/null 2>&1 &
	client=$!
	before=$(counter "$DEV_A" local_bytes_copied)
	wait_until 30 moving $((before + 4 * MIB)) || fail "kill $k: no traffic"
	victim=$server
	((RANDOM % 2)) && victim=$client
	kill -9 "$victim"
	wait "$server" "$client"
done
wait_until 10 no_qps || fail 'queue pairs of dead programs are left'
rdma -j resource show mr | jq -e 'map(select(.pid)) == []' >/dev/null ||
	fail 'memory regions of dead programs are left'
ok "$kills programs killed"

# the port's own counters know these bytes, in words of four, both ways
port() { cat "$HW/$DEV_A/ports/1/counters/port_$1"; }
xmit=$(port xmit_data) rcv=$(port rcv_data)
pair_of A "vt_xfer -d $DEV_A -g $IP_A -s" \
	A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_A" -o WRITE -n 65536 -T $MIB
(($(port xmit_data) - xmit == MIB / 4 && $(port rcv_data) - rcv == MIB / 4)) ||
	fail "port_xmit_data grew by $(($(port xmit_data) - xmit)), port_rcv_data by $(($(port rcv_data) - rcv)), not $((MIB / 4))"
ok 'port counters include it'
unload_now
